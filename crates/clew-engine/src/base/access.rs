//! Who asks, and what indexes are opened for.

use std::sync::Arc;

use clew_schema::glob::matches;

use crate::base::blocks::BlockLevel;
use crate::base::error::EngineError;

/// What indexes are opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Their documents are read.
    Read,
    /// Their documents are copied all together, whatever blocks say: snapshots, and indexes of another size.
    Copy,
    /// Their documents are written.
    Write,
    /// What they are is shown: mappings, aliases.
    Show,
    /// What they are, or how they are kept, is changed, or they are deleted.
    Change,
    /// Figures about them are shown, and their health; nothing in them.
    Watch,
}

impl Purpose {
    /// What a block of an index would have to forbid. What changes an index asks for blocks itself, at a moment when nobody
    /// else can set one.
    pub(crate) fn blocked_by(self) -> Option<BlockLevel> {
        match self {
            Purpose::Read => Some(BlockLevel::Read),
            Purpose::Show => Some(BlockLevel::MetadataRead),
            Purpose::Copy | Purpose::Write | Purpose::Change | Purpose::Watch => None,
        }
    }

    /// Its name in errors.
    pub fn name(self) -> &'static str {
        match self {
            Purpose::Read => "read",
            Purpose::Copy => "copy",
            Purpose::Write => "write",
            Purpose::Show => "show",
            Purpose::Change => "change",
            Purpose::Watch => "watch",
        }
    }
}

/// What somebody may do with indexes and with the node. Every name that a request gives becomes an index by one of these.
#[derive(Clone, Debug)]
pub struct Access {
    /// Every index without them.
    grants: Option<Arc<[Grant]>>,
    /// Whether what belongs to no index may be changed: templates, scripts, pipelines, policies, settings of the node.
    node: bool,
    /// Whether a write makes the index that it misses, where the engine's options allow that at all.
    makes_indexes: bool,
}

/// A right to some indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Their names; `*` stands for any text.
    pub pattern: String,
    /// What for.
    pub purposes: Vec<Purpose>,
}

impl Access {
    /// The right to everything.
    pub fn everything() -> Self {
        Access {
            grants: None,
            node: true,
            makes_indexes: true,
        }
    }

    /// These rights and no others; none to change what belongs to no index.
    pub fn only(grants: Vec<Grant>) -> Self {
        Access {
            grants: Some(grants.into()),
            node: false,
            makes_indexes: true,
        }
    }

    /// The same, and the right to change what belongs to no index.
    #[must_use]
    pub fn and_the_node(mut self) -> Self {
        self.node = true;
        self
    }

    /// The same, but a write to an index that is not there is an error: for protocols in which nobody makes one by writing.
    #[must_use]
    pub fn to_what_is_there(mut self) -> Self {
        self.makes_indexes = false;
        self
    }

    /// Whether a write makes the index that it misses.
    pub(crate) fn makes_indexes(&self) -> bool {
        self.makes_indexes
    }

    /// Refuses who may not change what belongs to no index.
    ///
    /// # Errors
    /// [`EngineError::NodeAccessDenied`].
    pub fn check_node(&self) -> Result<(), EngineError> {
        if self.node {
            return Ok(());
        }
        Err(EngineError::NodeAccessDenied)
    }

    /// Whether an index may be opened for a purpose, by its own name.
    pub fn allows(&self, index: &str, purpose: Purpose) -> bool {
        let Some(grants) = &self.grants else {
            return true;
        };
        let mut grants = grants.iter();
        grants.any(|grant| grant.purposes.contains(&purpose) && matches(&grant.pattern, index))
    }
}

/// Refuses what the access does not allow.
pub(crate) fn check_access(
    index: &str,
    access: &Access,
    purpose: Purpose,
) -> Result<(), EngineError> {
    if access.allows(index, purpose) {
        return Ok(());
    }
    Err(EngineError::AccessDenied {
        index: index.to_string(),
        purpose,
    })
}
