//! Indexes that are made out of other documents: copies of an index, restored snapshots. Until all
//! documents are in, the index carries a mark; one that still has it when the node starts was
//! never finished, and is removed rather than taken for whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use clew_engine::{Aliases, Engine, EngineError, Index, IndexPlan};
use clew_text::Mapping;

use crate::error::ApiError;
use crate::settings::{self, Flat};

/// The mark: a setting that no request may set.
pub(crate) const UNFINISHED: &str = "index.clew.unfinished";

/// What an index is to be when it is full.
pub(crate) struct Filled {
    pub(crate) name: String,
    /// All settings, flat.
    pub(crate) settings: Flat,
    pub(crate) mapping: Mapping,
    pub(crate) aliases: Aliases,
    /// Settings that only the server itself gives.
    pub(crate) private: BTreeMap<String, String>,
}

/// Makes an index and lets `fill` put its documents in. It gets its blocks only afterwards, and
/// is removed when filling it fails.
pub(crate) fn make(
    engine: &Engine,
    filled: Filled,
    fill: impl FnOnce(&Engine, &Arc<Index>) -> Result<(), EngineError>,
) -> Result<Arc<Index>, ApiError> {
    let mut whole = settings::create(&filled.settings)?;
    whole.given.extend(filled.private);
    let open: Flat = filled
        .settings
        .into_iter()
        .filter(|(name, _)| !name.starts_with("index.blocks."))
        .collect();
    let mut begin = settings::create(&open)?;
    begin
        .given
        .insert(UNFINISHED.to_string(), "true".to_string());
    let mut mapping = filled.mapping;
    mapping.set_limits(whole.mapping_limits());
    let plan = IndexPlan {
        name: None,
        settings: begin,
        mapping,
        aliases: filled.aliases,
    };
    let (index, _) = engine.create_planned(&filled.name, plan)?;
    let done = fill(engine, &index).and_then(|()| engine.put_settings(index.name(), whole));
    if let Err(error) = done {
        if let Err(left) = engine.delete_index(index.name()) {
            tracing::warn!(%left, index = index.name(), "cannot remove an unfinished index");
        }
        return Err(error.into());
    }
    Ok(index)
}

/// Removes indexes whose filling was cut short by the end of the process.
pub(crate) fn remove_unfinished(engine: &Engine, indices: &[Arc<Index>]) {
    let unfinished = indices
        .iter()
        .filter(|index| index.settings().given.contains_key(UNFINISHED));
    for index in unfinished {
        tracing::warn!(
            index = index.name(),
            "removing an index that was never finished"
        );
        if let Err(error) = engine.delete_index(index.name()) {
            tracing::warn!(%error, index = index.name(), "cannot remove it");
        }
    }
}
