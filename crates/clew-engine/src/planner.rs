//! How an index is made that nobody created: a protocol crate may have templates for it.

use std::sync::Arc;

use clew_log::Glsn;
use clew_text::Mapping;

use crate::alias::Aliases;
use crate::date_names::resolve_date;
use crate::definitions::Definitions;
use crate::engine::{Engine, Inner};
use crate::error::EngineError;
use crate::index::Index;
use crate::settings::IndexSettings;

/// What a new index begins with.
#[derive(Clone, Debug, Default)]
pub struct IndexPlan {
    /// Its own name, when it is not the one asked for: that is an alias of it then.
    pub name: Option<String>,
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
    /// Creates an index as planned; durable when it returns.
    ///
    /// # Errors
    /// As [`Engine::create_index_with_aliases`].
    pub fn create_planned(
        &self,
        name: &str,
        plan: IndexPlan,
    ) -> Result<(Arc<Index>, Glsn), EngineError> {
        let IndexPlan {
            name: own,
            settings,
            mapping,
            aliases,
        } = plan;
        let name = own.as_deref().unwrap_or(name);
        self.create_index_with_aliases(name, settings, mapping, aliases)
    }

    /// What a new index of this name would begin with if a write made it.
    ///
    /// # Errors
    /// When no such index may be made.
    pub fn plan_index(&self, name: &str) -> Result<IndexPlan, EngineError> {
        self.inner.plan_index(name)
    }

    /// A name with its dates put in.
    ///
    /// # Errors
    /// When a date in it cannot be read.
    pub fn dated_name(&self, name: &str) -> Result<String, EngineError> {
        Ok(resolve_date(name, self.inner.now_ms())?.into_owned())
    }

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
