//! Aliases: other names of indexes, kept with the index that they name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::base::names::check_alias_name;

/// What an alias says of one index.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Alias {
    /// Only documents that match are found through the alias; a query as its client wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<serde_json::Value>,
    /// Routing key of writes and reads by id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_routing: Option<String>,
    /// Routing keys of searches, separated by commas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_routing: Option<String>,
    /// Whether writes go to this index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_write_index: Option<bool>,
    /// Whether wildcards pass it over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_hidden: Option<bool>,
}

/// The aliases of one index, by name.
pub type Aliases = BTreeMap<String, Alias>;

/// One change of aliases.
#[derive(Clone, Debug)]
pub enum AliasAction {
    /// Gives an index an alias, or replaces what it says.
    Add {
        /// The index's own name.
        index: String,
        /// The alias.
        name: String,
        /// What it says.
        alias: Alias,
    },
    /// Takes an alias from an index; nothing happens when the index does not have it.
    Remove {
        /// The index's own name.
        index: String,
        /// The alias.
        name: String,
    },
    /// Deletes an index together with the other changes.
    RemoveIndex {
        /// The index's own name.
        index: String,
    },
}

/// Refuses an alias that no index can have: for its name, or because it has several keys for writes, while a document goes to
/// one shard.
///
/// # Errors
/// Why it cannot be.
pub fn check_alias(name: &str, alias: &Alias) -> Result<(), EngineError> {
    check_alias_name(name)?;
    match &alias.index_routing {
        Some(routing) if routing.contains(',') => Err(EngineError::InvalidRequest {
            reason: format!("alias [{name}] has several index routing values associated with it"),
        }),
        _ => Ok(()),
    }
}

/// Checks what the indexes of one alias say of it together.
pub(crate) fn check_holders(name: &str, holders: &[(&str, Alias)]) -> Result<(), EngineError> {
    let named = |keep: &dyn Fn(&Alias) -> bool| -> Vec<&str> {
        let kept = holders.iter().filter(|(_, alias)| keep(alias));
        kept.map(|(index, _)| *index).collect()
    };
    let writers = named(&|alias| alias.is_write_index == Some(true));
    if writers.len() > 1 {
        return Err(EngineError::AliasConflict {
            reason: format!(
                "alias [{name}] has more than one write index [{}]",
                writers.join(",")
            ),
        });
    }
    let hidden = named(&|alias| alias.is_hidden == Some(true));
    let shown = named(&|alias| alias.is_hidden != Some(true));
    if !hidden.is_empty() && !shown.is_empty() {
        return Err(EngineError::AliasConflict {
            reason: format!(
                "alias [{name}] has is_hidden set to true on indices [{}] but does not have \
                 is_hidden set to true on indices [{}]; alias must have the same is_hidden \
                 setting on all indices",
                hidden.join(","),
                shown.join(",")
            ),
        });
    }
    Ok(())
}
