//! How an index is made that nobody created: a protocol crate may have templates for it.

use std::sync::Arc;

use clew_text::Mapping;

use crate::alias::Aliases;
use crate::definitions::Definitions;
use crate::engine::{Engine, Inner};
use crate::error::EngineError;
use crate::settings::IndexSettings;

/// What a new index begins with.
#[derive(Clone, Debug, Default)]
pub struct IndexPlan {
    /// Its settings.
    pub settings: IndexSettings,
    /// Its mapping.
    pub mapping: Mapping,
    /// Its aliases.
    pub aliases: Aliases,
}

/// Plans the indexes that writes miss.
pub trait IndexPlanner: Send + Sync + 'static {
    /// The plan for an index of this name.
    ///
    /// # Errors
    /// When no such index may be made; the write fails with it.
    fn plan(&self, definitions: &Definitions, name: &str) -> Result<IndexPlan, EngineError>;
}

impl Engine {
    /// Sets how indexes are made that writes miss. The first planner stays.
    pub fn set_planner(&self, planner: Arc<dyn IndexPlanner>) {
        // A second one comes with a second router over the same engine, which plans the same.
        let _ = self.inner.planner.set(planner);
    }
}

impl Inner {
    pub(crate) fn plan_index(&self, name: &str) -> Result<IndexPlan, EngineError> {
        let Some(planner) = self.planner.get() else {
            return Ok(IndexPlan::default());
        };
        let definitions = self.catalog.lock().definitions.clone();
        planner.plan(&definitions, name)
    }
}
