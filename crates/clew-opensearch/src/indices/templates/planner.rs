//! Templates for indexes that writes make.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use clew_analysis::Analysis;
use clew_engine::{Alias, Definitions, EngineError, IndexPlan, IndexPlanner, IndexSettings};
use clew_opensearch_mapping::{error_type, merge, merge_in_space, reason};
use clew_schema::similarity::{Similarities, SimilarityError};
use clew_schema::{Mapping, MappingError};
use serde_json::Value;

use super::compose::{Composed, Request, compose, data_stream_template};
use crate::http::error::{ApiError, Cause};
use crate::http::error_table::mapping_cause;
use crate::indices::aliases::check_filters;
use crate::indices::{analyze, data_streams, index_sort, settings};

/// Plans missing indexes by the templates.
#[derive(Debug)]
pub(crate) struct Planner;

impl IndexPlanner for Planner {
    fn plan(&self, definitions: &Definitions, name: &str) -> Result<IndexPlan, EngineError> {
        let refused = |error: ApiError| EngineError::InvalidRequest {
            reason: error.reason(),
        };
        if let Some(stream) = data_stream_template(definitions, name) {
            return data_streams::first_index(definitions, name, stream).map_err(refused);
        }
        let composed = compose(definitions, name, Request::default()).map_err(refused)?;
        plan_index(&composed).map_err(refused)
    }
}

/// Checks what an index is to begin with that is about to be made.
pub(crate) fn plan_index(composed: &Composed) -> Result<IndexPlan, ApiError> {
    let plan = plan_of(composed)?;
    index_sort::check(&plan.settings.given, &plan.mapping)?;
    check_filters(&plan.aliases, &plan.mapping)?;
    Ok(plan)
}

/// Checks what an index could begin with. The order of its documents may be by fields that only others know: of a
/// template, say.
pub(super) fn plan_of(composed: &Composed) -> Result<IndexPlan, ApiError> {
    let settings = settings::create(&composed.settings)?;
    let mapping = parse_mapping(&composed.mappings, &settings)?;
    let aliases = composed.aliases.iter().map(|(name, says)| {
        let alias: Alias = serde_json::from_value(says.clone()).map_err(|error| {
            ApiError::illegal_argument(format!("cannot read the alias [{name}]: {error}"))
        })?;
        Ok((name.clone(), alias))
    });
    let aliases = aliases.collect::<Result<_, ApiError>>()?;
    Ok(IndexPlan {
        name: None,
        any_case: false,
        settings,
        mapping,
        aliases,
    })
}

/// Reads a `mappings` object under the limits that the settings set.
pub(crate) fn parse_mapping(body: &Value, settings: &IndexSettings) -> Result<Mapping, ApiError> {
    let mut mapping = Mapping::new();
    mapping.set_limits(settings.mapping_limits);
    if let Some(source) = settings::analysis_of(&settings.given) {
        let limits = analyze::part_limits(&settings.given);
        Analysis::check(&source, limits).map_err(ApiError::illegal_argument)?;
        let analysis = Analysis::read(&source).map_err(ApiError::illegal_argument)?;
        mapping.set_analysis(analysis);
    }
    mapping.set_similarities(similarities(&settings.given)?);
    let merged = match settings.given.get(settings::SPACE_TYPE) {
        Some(space) => merge_in_space(&mut mapping, body, space),
        None => merge(&mut mapping, body),
    };
    merged.map_err(|error| {
        let inner = mapping_cause(&error);
        if matches!(
            error,
            MappingError::AliasTarget { .. } | MappingError::Copy { .. }
        ) {
            // It is found when the mapping has been read.
            return ApiError::new(StatusCode::BAD_REQUEST, inner);
        }
        let text = format!("Failed to parse mapping [_doc]: {}", reason(&error));
        let cause = Cause::new("mapper_parsing_exception", text).caused_by(inner.clone());
        let refused = ApiError::new(StatusCode::BAD_REQUEST, cause);
        match error_type(&error) {
            "mapper_parsing_exception" | "parse_exception" => refused.with_root(inner),
            _ => refused,
        }
    })?;
    Ok(mapping)
}

/// The similarities that the settings name.
fn similarities(given: &BTreeMap<String, String>) -> Result<Similarities, ApiError> {
    let named = given.iter().filter_map(|(name, value)| {
        let name = name.strip_prefix(settings::SIMILARITY)?;
        Some((name.to_string(), value.clone()))
    });
    Similarities::read(named.collect()).map_err(|error| match &error {
        SimilarityError::NotANumber { value, .. } => {
            let inner = format!("For input string: \"{value}\"");
            let cause = Cause::new("settings_exception", error.to_string())
                .caused_by(Cause::new("number_format_exception", inner));
            // OpenSearch takes it for a failure of its own.
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, cause)
        }
        _ => ApiError::illegal_argument(error.to_string()),
    })
}
