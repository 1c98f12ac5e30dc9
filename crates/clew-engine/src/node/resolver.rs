//! What the names and patterns of an expression mean, one after the other, among the indexes and aliases there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use clew_query::unless_stopped;
use clew_schema::glob::matches;

use crate::base::access::{Access, Purpose, check_access};
use crate::base::error::EngineError;
use crate::index::handle::Index;
use crate::node::alias_change::AliasTable;
use crate::node::index_handle::IndexHandle;
use crate::node::resolve::{AliasNames, ClosedNames, ResolveOptions};

/// So many names are looked at for one expression: a thousand patterns are held against thousands of indexes. It comes in bodies, too,
/// which have room for millions, and no index can be made or deleted meanwhile.
const LOOKS_MAX: usize = 1 << 22;
/// Between so many of them the request is asked whether it is over: some milliseconds.
const LOOKS_BETWEEN: usize = 1 << 16;

/// What an expression means, name by name.
pub(super) struct Resolver<'a> {
    pub(super) indices: &'a BTreeMap<String, Arc<Index>>,
    pub(super) aliases: &'a AliasTable,
    pub(super) options: ResolveOptions,
    pub(super) access: &'a Access,
    pub(super) purpose: Purpose,
    pub(super) found: BTreeMap<&'a str, IndexHandle>,
    /// Names that were looked at.
    pub(super) looks: usize,
}

impl<'a> Resolver<'a> {
    pub(super) fn include(&mut self, part: &str) -> Result<(), EngineError> {
        self.look_at(1)?;
        if part == "_all" || part == "*" {
            return self.include_all();
        }
        if part.contains('*') {
            let matched = self.include_pattern(part)?;
            if matched == 0 && !self.options.allow_no_indices {
                return Err(EngineError::IndexNotFound {
                    index: part.to_string(),
                });
            }
            return Ok(());
        }
        self.include_name(part)
    }

    /// Counts names that are looked at next.
    fn look_at(&mut self, names: usize) -> Result<(), EngineError> {
        let before = self.looks / LOOKS_BETWEEN;
        self.looks = self.looks.saturating_add(names);
        if self.looks / LOOKS_BETWEEN > before {
            unless_stopped()?;
        }
        if self.looks <= LOOKS_MAX {
            return Ok(());
        }
        let (indices, aliases) = (self.indices.len(), self.aliases.len());
        Err(EngineError::InvalidRequest {
            reason: format!(
                "an expression has too many names and patterns for [{indices}] indexes and [{aliases}] aliases: \
                 more than [{LOOKS_MAX}] of their names would be looked at"
            ),
        })
    }

    fn include_all(&mut self) -> Result<(), EngineError> {
        self.look_at(self.indices.len())?;
        for index in self.indices.values() {
            // A stream is no hidden name, though its indexes are.
            let is_of_stream =
                self.options.aliases == AliasNames::Follow && index.data_stream().is_some();
            let is_shown = self.options.wildcards.hidden || !index.is_hidden() || is_of_stream;
            if is_shown && self.wildcards_take(index) {
                self.add_named(index, None)?;
            }
        }
        Ok(())
    }

    /// How many names a pattern fits, all of which are taken.
    fn include_pattern(&mut self, pattern: &str) -> Result<usize, EngineError> {
        self.look_at(self.indices.len() + self.aliases.len())?;
        let shows = |name: &str, hidden: bool| {
            let dots = pattern.starts_with('.') && name.starts_with('.');
            matches(pattern, name) && (!hidden || dots || self.options.wildcards.hidden)
        };
        let mut taken: Vec<(&'a Arc<Index>, Option<&'a str>)> = Vec::new();
        for (name, index) in self.indices {
            if self.wildcards_take(index) && shows(name, index.is_hidden()) {
                taken.push((index, None));
            }
        }
        for (name, indices) in self.aliases {
            if !self.follows(name, indices) || !shows(name, alias_is_hidden(name, indices)) {
                continue;
            }
            let open = indices.iter().filter(|index| self.wildcards_take(index));
            taken.extend(open.map(|index| (index, Some(name.as_str()))));
        }
        let matched = taken.len();
        for (index, alias) in taken {
            self.add_named(index, alias)?;
        }
        Ok(matched)
    }

    fn include_name(&mut self, name: &str) -> Result<(), EngineError> {
        if name.starts_with('_') {
            return Err(EngineError::InvalidIndexName {
                index: name.to_string(),
                reason: "must not start with '_'.",
            });
        }
        if let Some(index) = self.indices.get(name) {
            return self.add_named(index, None);
        }
        match self.aliases.get(name) {
            Some(indices) if self.follows(name, indices) => {
                self.look_at(indices.len())?;
                for index in indices {
                    self.add_named(index, Some(name))?;
                }
                Ok(())
            }
            _ if self.options.ignore_unavailable => Ok(()),
            Some(indices) if !is_stream(name, indices) => Err(EngineError::InvalidRequest {
                reason: format!(
                    "The provided expression [{name}] matches an alias, specify the \
                     corresponding concrete indices instead."
                ),
            }),
            _ => Err(EngineError::IndexNotFound {
                index: name.to_string(),
            }),
        }
    }

    /// Whether an alias stands for its indexes.
    fn follows(&self, name: &str, indices: &[Arc<Index>]) -> bool {
        match self.options.aliases {
            AliasNames::Follow => true,
            AliasNames::FollowButStreams => !is_stream(name, indices),
            AliasNames::Refuse => false,
        }
    }

    pub(super) fn exclude(&mut self, pattern: &str) -> Result<(), EngineError> {
        self.look_at(self.found.len() + 1)?;
        let by_alias = |resolved: &IndexHandle| {
            let own = resolved.index().aliases.load();
            own.keys().any(|name| matches(pattern, name))
        };
        self.found.retain(|name, resolved| {
            !(pattern == "_all" || matches(pattern, name) || by_alias(resolved))
        });
        Ok(())
    }

    fn wildcards_take(&self, index: &Index) -> bool {
        if !self.access.allows(index.name(), self.purpose) {
            false
        } else if index.is_open() {
            self.options.wildcards.open
        } else {
            // Where closed ones are forbidden, who asks for them is told so.
            self.options.wildcards.closed
        }
    }

    fn add_named(&mut self, index: &'a Arc<Index>, alias: Option<&str>) -> Result<(), EngineError> {
        check_access(index.name(), self.access, self.purpose)?;
        if self.options.closed == ClosedNames::Forbid
            && let Err(error) = index.check_open()
        {
            return if self.options.ignore_unavailable {
                Ok(())
            } else {
                Err(error)
            };
        }
        self.add(index, alias);
        Ok(())
    }

    fn add(&mut self, index: &'a Arc<Index>, alias: Option<&str>) {
        let resolved = self.found.entry(index.name());
        let resolved = resolved.or_insert_with(|| IndexHandle::new(index, self.purpose));
        resolved.found_by(alias);
    }
}

/// Whether a name is that of a data stream: the indexes of a stream say so themselves.
pub(crate) fn is_stream(name: &str, indices: &[Arc<Index>]) -> bool {
    let mut streams = indices.iter().filter_map(|index| index.data_stream());
    streams.any(|stream| stream == name)
}

fn alias_is_hidden(name: &str, indices: &[Arc<Index>]) -> bool {
    indices.iter().any(|index| {
        let aliases = index.aliases.load();
        aliases.get(name).and_then(|alias| alias.is_hidden) == Some(true)
    })
}
