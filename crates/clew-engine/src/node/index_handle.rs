//! Indexes that were opened. Everything that reads documents, or changes an index by itself, takes these.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

use crate::base::access::Purpose;
use crate::base::error::EngineError;
use crate::catalog::alias::Alias;
use crate::index::handle::Index;

/// An index that was opened: what it was opened for, and the names that it was found by. Nobody else makes one, so
/// whoever has it was allowed to open it.
#[derive(Clone, Debug)]
pub struct IndexHandle {
    index: Arc<Index>,
    purpose: Purpose,
    by_name: bool,
    aliases: BTreeSet<String>,
}

impl Deref for IndexHandle {
    type Target = Index;

    fn deref(&self) -> &Index {
        &self.index
    }
}

impl IndexHandle {
    pub(super) fn new(index: &Arc<Index>, purpose: Purpose) -> Self {
        IndexHandle {
            index: index.clone(),
            purpose,
            by_name: false,
            aliases: BTreeSet::new(),
        }
    }

    /// It was found by its own name, or by an alias.
    pub(super) fn found_by(&mut self, alias: Option<&str>) {
        match alias {
            None => self.by_name = true,
            Some(alias) => {
                self.aliases.insert(alias.to_string());
            }
        }
    }

    /// The index, for what is told of it: nobody reads or changes anything with that alone.
    pub fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// Whether it was found by its own name, or by a wildcard over it.
    pub fn is_found_by_name(&self) -> bool {
        self.by_name
    }

    /// The aliases that it was found by.
    pub fn found_by_aliases(&self) -> &BTreeSet<String> {
        &self.aliases
    }

    /// Refuses what it was not opened for.
    pub(crate) fn check_purpose(&self, purpose: Purpose) -> Result<(), EngineError> {
        if self.purpose == purpose {
            return Ok(());
        }
        Err(EngineError::AccessDenied {
            index: self.index.name().to_string(),
            purpose,
        })
    }

    /// What the aliases that it was found by say; none when it was found by its own name, which
    /// takes precedence over whatever an alias restricts.
    pub fn through(&self) -> Vec<Alias> {
        if self.by_name {
            return Vec::new();
        }
        let all = self.index.aliases();
        let named = self.aliases.iter().filter_map(|name| all.get(name));
        named.cloned().collect()
    }
}
