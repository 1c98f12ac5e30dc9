//! Making indexes that nobody created, as the planner says.

use std::sync::Arc;

use clew_log::Glsn;

use crate::base::access::{Access, Purpose, check_access};
use crate::base::auto_creation::AutoCreation;
use crate::base::date_names::resolve_date;
use crate::base::error::EngineError;
use crate::base::settings::IndexSettings;
use crate::catalog::alias::AliasAction;
use crate::catalog::planner::{IndexPlan, IndexPlanner};
use crate::index::handle::Index;
use crate::node::alias_change::{NamesNow, check_changes};
use crate::node::engine::{Engine, Inner};

impl Engine {
    /// Creates an index as planned; durable when it returns.
    ///
    /// # Errors
    /// As [`Engine::create_index`], and when an alias's name breaks the rules or is an index's.
    pub fn create_planned(
        &self,
        access: &Access,
        name: &str,
        plan: IndexPlan,
    ) -> Result<(Arc<Index>, Glsn), EngineError> {
        self.create_and_move_aliases(access, name, plan, |_| Ok(Vec::new()))
    }

    /// Creates an index as planned and changes aliases, which may be aliases of it, by what they are at that moment, as one
    /// change; durable when it returns. `decide` asks the engine for nothing, as for [`Engine::change_aliases_by`].
    ///
    /// # Errors
    /// What `decide` refuses, and as [`Engine::create_planned`] and [`Engine::change_aliases`]; nothing was changed then.
    pub fn create_and_move_aliases(
        &self,
        access: &Access,
        name: &str,
        plan: IndexPlan,
        decide: impl FnOnce(&NamesNow<'_>) -> Result<Vec<AliasAction>, EngineError>,
    ) -> Result<(Arc<Index>, Glsn), EngineError> {
        let name = resolve_date(name, || self.inner.now_ms())?;
        check_access(
            plan.name.as_deref().unwrap_or(&name),
            access,
            Purpose::Change,
        )?;
        let (index, logged) = self.inner.create_index(&name, plan, |names| {
            let actions = decide(names)?;
            check_changes(access, &actions)?;
            Ok(actions)
        })?;
        Ok((index, self.inner.settle(logged)?))
    }

    /// What a new index of this name would begin with if a write made it.
    ///
    /// # Errors
    /// When no such index may be made.
    pub fn plan_index(&self, name: &str) -> Result<IndexPlan, EngineError> {
        self.inner.plan_index(name)
    }

    /// The settings that a write to this name meets: those of the index that takes it, or of the one that it makes.
    /// None where no index would take it; the write itself says why.
    pub fn settings_of_writes(&self, name: &str) -> Option<Arc<IndexSettings>> {
        let inner = &self.inner;
        let name = resolve_date(name, || inner.now_ms()).ok()?;
        match inner.written_index(&name) {
            Ok(index) => Some(index.settings()),
            Err(EngineError::IndexNotFound { .. }) if inner.makes_index(&name) => {
                let plan = inner.plan_index(&name).ok()?;
                Some(Arc::new(plan.settings))
            }
            Err(_) => None,
        }
    }

    /// Refuses a name that no index has and that writes are not to make; whatever else is wrong with it the write says.
    ///
    /// # Errors
    /// [`EngineError::IndexNotMade`], and when a date in the name cannot be read.
    pub fn check_made(&self, name: &str) -> Result<(), EngineError> {
        let inner = &self.inner;
        let name = resolve_date(name, || inner.now_ms())?;
        match inner.written_index(&name) {
            Err(EngineError::IndexNotFound { .. }) => inner.check_made(&name),
            _ => Ok(()),
        }
    }

    /// A name with its dates put in.
    ///
    /// # Errors
    /// When a date in it cannot be read.
    pub fn dated_name(&self, name: &str) -> Result<String, EngineError> {
        Ok(resolve_date(name, || self.inner.now_ms())?.into_owned())
    }

    /// Sets which indexes writes make that find none. Where the options say that they make none, they make none.
    pub fn set_auto_creation(&self, creation: AutoCreation) {
        self.inner.auto_creation.store(Arc::new(creation));
    }

    /// Sets how indexes are made that writes miss. The first planner stays.
    pub fn set_planner(&self, planner: Arc<dyn IndexPlanner>) {
        // A second one comes with a second router over the same engine, which plans the same.
        let _ = self.inner.planner.set(planner);
    }
}

impl Inner {
    /// Whether a write makes an index of this name that is not there.
    pub(crate) fn makes_index(&self, name: &str) -> bool {
        self.options.auto_create_index && self.auto_creation.load().makes(name)
    }

    /// Refuses a name that writes are not to make.
    pub(crate) fn check_made(&self, name: &str) -> Result<(), EngineError> {
        match self.auto_creation.load().refusal(name) {
            None => Ok(()),
            Some(why) => Err(EngineError::IndexNotMade {
                index: name.to_string(),
                why,
            }),
        }
    }

    pub(crate) fn plan_index(&self, name: &str) -> Result<IndexPlan, EngineError> {
        let Some(planner) = self.planner.get() else {
            return Ok(IndexPlan::default());
        };
        let definitions = self.catalog.read().definitions.clone();
        planner.plan(&definitions, name)
    }
}
