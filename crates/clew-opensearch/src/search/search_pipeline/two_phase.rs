//! The settings of `neural_sparse_two_phase_processor`. They trade exactness for time in a search
//! by sparse vectors; such a search is exact here, so that they are only checked.

use serde_json::{Map, Value};

use crate::http::error::ApiError;

const WINDOW_MIN: i64 = 50;

/// Refuses settings that OpenSearch refuses; those that are known are taken.
pub(super) fn check(members: &mut Map<String, Value>) -> Result<(), ApiError> {
    match members.remove("enabled") {
        None | Some(Value::Bool(_)) => {}
        Some(other) => {
            return Err(super::step::malformed(format!(
                "[enabled] property isn't a boolean, but of value [{other}]"
            )));
        }
    }
    let Some(parameters) = members.remove("two_phase_parameter") else {
        return Ok(());
    };
    let Value::Object(mut parameters) = parameters else {
        return Err(super::step::malformed(
            "[two_phase_parameter] property isn't a map".to_string(),
        ));
    };
    let kind = parameters.remove("prune_type");
    let kind = kind
        .as_ref()
        .and_then(Value::as_str)
        .unwrap_or("max_ratio")
        .to_string();
    let mut number = |name: &str| match parameters.remove(name) {
        None => Ok(None),
        Some(value) => value.as_f64().map(Some).ok_or_else(|| {
            ApiError::illegal_argument(format!("[{name}] must be a number, found [{value}]"))
        }),
    };
    if let Some(rate) = number("expansion_rate")?.filter(|rate| *rate < 1.0) {
        return Err(ApiError::illegal_argument(format!(
            "The two_phase_parameter.expansion_rate must >= 1.0. Received: {rate:.6}"
        )));
    }
    let window = number("max_window_size")?;
    #[allow(clippy::cast_precision_loss, reason = "the limit is a small number")]
    if let Some(size) = window.filter(|size| *size < WINDOW_MIN as f64) {
        return Err(ApiError::illegal_argument(format!(
            "The two_phase_parameter.max_window_size must >= {WINDOW_MIN}. Received: {size}"
        )));
    }
    let ratio = number("prune_ratio")?.unwrap_or(0.4);
    let fits = match kind.as_str() {
        "none" | "abs_value" => ratio >= 0.0,
        "top_k" => ratio > 0.0 && ratio.fract() == 0.0,
        "alpha_mass" | "max_ratio" => (0.0..1.0).contains(&ratio),
        other => {
            return Err(ApiError::illegal_argument(format!(
                "Unknown prune type: {other}"
            )));
        }
    };
    if !fits {
        return Err(ApiError::illegal_argument(format!(
            "Illegal prune_ratio {ratio:.6} for prune_type: {kind}."
        )));
    }
    match parameters.keys().next() {
        None => Ok(()),
        Some(other) => Err(ApiError::illegal_argument(format!(
            "[two_phase_parameter] does not know [{other}]"
        ))),
    }
}
