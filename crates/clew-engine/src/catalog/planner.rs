//! How an index is made that nobody created: a protocol crate may have templates for it.

use clew_schema::Mapping;

use crate::base::error::EngineError;
use crate::base::settings::IndexSettings;
use crate::catalog::alias::Aliases;
use crate::catalog::definitions::Definitions;

/// What a new index begins with.
#[derive(Clone, Debug, Default)]
pub struct IndexPlan {
    /// Its own name, when it is not the one asked for: that is an alias of it then.
    pub name: Option<String>,
    /// Whether its name may have capital letters and begin with `_`, as names of protocols other than OpenSearch do.
    pub any_case: bool,
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
