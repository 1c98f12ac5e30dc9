//! The steps that change a search before it runs.

use clew_ingest::{DefinitionError, members};
use serde_json::{Map, Value, json};

use super::script::SearchScript;
use super::step::{Refused, unknown_step};
use super::{Context, two_phase};
use crate::dsl;
use crate::http::error::ApiError;

/// Hits that are asked for unless a search says otherwise.
const SIZE_DEFAULT: u64 = 10;
/// What the size that was asked for is called, for later steps.
const SIZE_BEFORE: &str = "original_size";

/// A step that changes the search.
#[derive(Debug)]
pub(super) enum Before {
    FilterQuery(Value),
    Oversample {
        factor: f64,
        /// What the size that was asked for is kept as.
        key: String,
    },
    Script(Box<SearchScript>),
    /// Weights that count little are looked at last. All are looked at here anyway.
    TwoPhase,
}

impl Before {
    /// Reads one step; the members that it knows are taken.
    pub(super) fn read(name: &str, config: &mut Map<String, Value>) -> Result<Self, Refused> {
        match name {
            "filter_query" => {
                let query = config.remove("query").ok_or_else(|| {
                    ApiError::illegal_argument(
                        "Did not specify the query property in processor of type filter_query",
                    )
                })?;
                dsl::parse_query(&query)?;
                Ok(Before::FilterQuery(query))
            }
            "oversample" => {
                let factor = members::number(config, "sample_factor")?;
                if factor.is_nan() || factor < 1.0 {
                    let reason = "Value must be >= 1.0";
                    return Err(DefinitionError::refused("sample_factor", reason).into());
                }
                Ok(Before::Oversample {
                    factor,
                    key: size_key(config)?,
                })
            }
            "script" => Ok(Before::Script(Box::new(SearchScript::read(config)?))),
            "neural_sparse_two_phase_processor" => {
                two_phase::check(config)?;
                Ok(Before::TwoPhase)
            }
            other => Err(unknown_step(other).into()),
        }
    }

    /// Changes a search's body, which is an object.
    pub(super) fn apply(
        &self,
        body: &mut Value,
        (context, now_ms): (&mut Context, i64),
    ) -> Result<(), ApiError> {
        match self {
            Before::FilterQuery(filter) => {
                let query = body.get("query").cloned();
                body["query"] = filtered(query, filter);
            }
            Before::TwoPhase => {}
            Before::Oversample { factor, key } => {
                let size = body.get("size").and_then(Value::as_u64);
                let size = size.unwrap_or(SIZE_DEFAULT);
                context.insert(key.clone(), size.into());
                body["size"] = times(size, *factor).into();
            }
            Before::Script(script) => script.apply(body, context, now_ms)?,
        }
        Ok(())
    }
}

/// What the size that was asked for is called with the prefix of a step.
pub(super) fn size_key(config: &mut Map<String, Value>) -> Result<String, DefinitionError> {
    let prefix = members::optional(config, "context_prefix")?;
    Ok(match prefix.filter(|prefix| !prefix.is_empty()) {
        None => SIZE_BEFORE.to_string(),
        Some(prefix) => format!("{prefix}.{SIZE_BEFORE}"),
    })
}

/// A query within a filter; one of several queries takes it into each.
fn filtered(query: Option<Value>, filter: &Value) -> Value {
    let Some(mut query) = query else {
        return json!({"bool": {"filter": [filter]}});
    };
    if let Some(Value::Object(hybrid)) = query.get_mut("hybrid") {
        let both: Vec<Value> = hybrid
            .remove("filter")
            .into_iter()
            .chain([filter.clone()])
            .collect();
        hybrid.insert("filter".to_string(), json!({"bool": {"filter": both}}));
        return query;
    }
    json!({"bool": {"must": [query], "filter": [filter]}})
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the conversion saturates, and sizes are checked against the window"
)]
fn times(size: u64, factor: f64) -> u64 {
    (size as f64 * factor).ceil() as u64
}
