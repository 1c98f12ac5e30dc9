//! What of a query stands in the URI.

use serde_json::{Value, json};

use crate::http::error::ApiError;
use crate::http::params::Params;

/// `q` and the parameters that say how to read it, as a query.
pub(crate) fn query_of_params(params: &Params) -> Result<Option<Value>, ApiError> {
    let Some(text) = params.get("q") else {
        return Ok(None);
    };
    let mut query = json!({"query": text});
    for (param, key) in [
        ("df", "default_field"),
        ("default_operator", "default_operator"),
        ("analyzer", "analyzer"),
    ] {
        if let Some(value) = params.get(param) {
            query[key] = Value::from(value);
        }
    }
    for name in ["lenient", "analyze_wildcard"] {
        if params.has(name) {
            query[name] = Value::from(params.flag(name, false)?);
        }
    }
    Ok(Some(json!({"query_string": query})))
}

pub(super) fn min_score_of_params(params: &Params) -> Result<Option<f32>, ApiError> {
    let Some(text) = params.get("min_score") else {
        return Ok(None);
    };
    text.parse().map(Some).map_err(|_| {
        ApiError::illegal_argument(format!(
            "Failed to parse float parameter [min_score] with value [{text}]"
        ))
    })
}
