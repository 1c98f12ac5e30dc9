//! `phase_results_processors`: how the rankings of a `hybrid` query become one.

use clew_engine::{Bound, BoundMode, Bounds, Combination, Fusion, Normalization};
use clew_schema::java_class;
use serde_json::{Map, Value};

use crate::http::error::ApiError;

/// Bounds of queries.
const BOUNDS_MAX: usize = 5;
/// What a bound's score may be, to both sides of 0.
const BOUND_SCORE_MAX: f64 = 10_000.0;
/// How far the sum of weights may be from 1.
const WEIGHTS_OFF_MAX: f32 = 0.01;
/// What ranks are added to unless a pipeline says otherwise.
const RANK_CONSTANT: u32 = 60;

/// Reads one processor; the members that it knows are taken.
pub(super) fn read(name: &str, members: &mut Map<String, Value>) -> Result<Fusion, ApiError> {
    match name {
        "normalization-processor" => normalization_processor(members),
        "score-ranker-processor" => score_ranker(members),
        other => Err(super::step::unknown_step(other)),
    }
}

/// Refuses a fusion that does not fit so many queries.
pub(super) fn check(fusion: &Fusion, queries: usize) -> Result<(), ApiError> {
    let weights = fusion.weights.len();
    if weights > 0 && weights != queries {
        return Err(ApiError::illegal_argument(format!(
            "number of weights [{weights}] must match number of sub-queries [{queries}] in hybrid \
             query"
        )));
    }
    let Normalization::MinMax(bounds) = &fusion.normalization else {
        return Ok(());
    };
    for list in [&bounds.lower, &bounds.upper] {
        if !list.is_empty() && list.len() != queries {
            return Err(ApiError::illegal_argument(format!(
                "expected bounds array to contain {queries} elements matching the number of \
                 sub-queries, but found a mismatch"
            )));
        }
    }
    Ok(())
}

fn normalization_processor(members: &mut Map<String, Value>) -> Result<Fusion, ApiError> {
    let (technique, parameters) = clause(members, "normalization")?;
    let technique = technique.unwrap_or_else(|| "min_max".to_string());
    let normalization = match technique.as_str() {
        "min_max" => Normalization::MinMax(bounds(&parameters)?),
        "l2" if parameters.is_empty() => Normalization::L2,
        "z_score" if parameters.is_empty() => Normalization::ZScore,
        "rrf" => Normalization::Rank(rank_constant(parameters.get("rank_constant"))?),
        "l2" | "z_score" => return Err(unknown_parameters()),
        _ => {
            return Err(ApiError::illegal_argument(
                "provided normalization technique is not supported",
            ));
        }
    };
    let (combining, parameters) = clause(members, "combination")?;
    let combining = combining.unwrap_or_else(|| "arithmetic_mean".to_string());
    let combination = combination(&combining)?;
    let fits = match normalization {
        Normalization::ZScore => combination == Combination::Arithmetic,
        _ => combination != Combination::Sum,
    };
    if !fits {
        let supported = match normalization {
            Normalization::ZScore => "arithmetic_mean",
            _ => "arithmetic_mean, geometric_mean, harmonic_mean",
        };
        return Err(ApiError::illegal_argument(format!(
            "provided combination technique {combining} is not supported for normalization \
             technique {technique}. Supported techniques are: {supported}"
        )));
    }
    Ok(Fusion {
        normalization,
        combination,
        weights: weights(&parameters)?,
    })
}

fn score_ranker(members: &mut Map<String, Value>) -> Result<Fusion, ApiError> {
    let constant = match members.get_mut("combination") {
        Some(Value::Object(clause)) => clause.remove("rank_constant"),
        _ => None,
    };
    let (technique, parameters) = clause(members, "combination")?;
    Ok(Fusion {
        normalization: Normalization::Rank(rank_constant(constant.as_ref())?),
        combination: combination(technique.as_deref().unwrap_or("rrf"))?,
        weights: weights(&parameters)?,
    })
}

/// The technique and the parameters that a clause names.
fn clause(
    members: &mut Map<String, Value>,
    name: &str,
) -> Result<(Option<String>, Map<String, Value>), ApiError> {
    let object = |key: &str, value: Value| match value {
        Value::Object(members) => Ok(members),
        other => Err(super::step::malformed(format!(
            "[{key}] property isn't a map, but of type [{}]",
            java_class(&other)
        ))),
    };
    let Some(clause) = members.remove(name) else {
        return Ok((None, Map::new()));
    };
    let mut clause = object(name, clause)?;
    let technique = match clause.remove("technique") {
        None => None,
        Some(Value::String(technique)) => Some(technique),
        Some(other) => {
            return Err(super::step::malformed(format!(
                "[technique] property isn't a string, but of type [{}]",
                java_class(&other)
            )));
        }
    };
    let parameters = match clause.remove("parameters") {
        None => Map::new(),
        Some(parameters) => object("parameters", parameters)?,
    };
    Ok((technique, parameters))
}

fn combination(technique: &str) -> Result<Combination, ApiError> {
    Ok(match technique {
        "arithmetic_mean" => Combination::Arithmetic,
        "geometric_mean" => Combination::Geometric,
        "harmonic_mean" => Combination::Harmonic,
        "rrf" => Combination::Sum,
        _ => {
            return Err(ApiError::illegal_argument(
                "provided combination technique is not supported",
            ));
        }
    })
}

fn rank_constant(value: Option<&Value>) -> Result<u32, ApiError> {
    let Some(value) = value else {
        return Ok(RANK_CONSTANT);
    };
    let number = match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_i64(),
    };
    let Some(number) = number else {
        return Err(ApiError::illegal_argument(
            "parameter [rank_constant] must be an integer",
        ));
    };
    u32::try_from(number)
        .ok()
        .filter(|constant| (1..=10_000).contains(constant))
        .ok_or_else(|| {
            ApiError::illegal_argument(format!(
                "rank constant must be in the interval between 1 and 10000, submitted rank \
                 constant: {number}"
            ))
        })
}

fn weights(parameters: &Map<String, Value>) -> Result<Vec<f32>, ApiError> {
    if parameters.keys().any(|key| key != "weights") {
        return Err(ApiError::illegal_argument(
            "provided parameter for combination technique is not supported. supported parameters \
             are [weights]",
        ));
    }
    let Some(value) = parameters.get("weights") else {
        return Ok(Vec::new());
    };
    #[allow(clippy::cast_possible_truncation, reason = "weights have 32 bits")]
    let number = |value: &Value| value.as_f64().map(|number| number as f32);
    let numbers = value
        .as_array()
        .map(|items| items.iter().map(number).collect());
    let Some(Some(weights)): Option<Option<Vec<f32>>> = numbers else {
        return Err(ApiError::illegal_argument(
            "parameter [weights] must be a collection of numbers",
        ));
    };
    if weights.iter().any(|weight| !(0.0..=1.0).contains(weight)) {
        return Err(ApiError::illegal_argument(format!(
            "all weights must be in range [0.0 ... 1.0], submitted weights: {weights:?}"
        )));
    }
    let sum: f32 = weights.iter().sum();
    if !weights.is_empty() && (sum - 1.0).abs() > WEIGHTS_OFF_MAX {
        return Err(ApiError::illegal_argument(format!(
            "sum of weights for combination must be equal to 1.0, submitted weights: {weights:?}"
        )));
    }
    Ok(weights)
}

fn unknown_parameters() -> ApiError {
    ApiError::illegal_argument("unrecognized parameters in normalization technique")
}

fn bounds(parameters: &Map<String, Value>) -> Result<Bounds, ApiError> {
    let known = ["lower_bounds", "upper_bounds"];
    if parameters.keys().any(|key| !known.contains(&key.as_str())) {
        return Err(unknown_parameters());
    }
    let list = |key: &str, score: &str, usual: f32| -> Result<Vec<Bound>, ApiError> {
        let Some(value) = parameters.get(key) else {
            return Ok(Vec::new());
        };
        let Value::Array(items) = value else {
            return Err(ApiError::illegal_argument(format!("{key} must be a List")));
        };
        if items.len() > BOUNDS_MAX {
            return Err(ApiError::illegal_argument(format!(
                "{key} size {} should be less than or equal to {BOUNDS_MAX}",
                items.len()
            )));
        }
        items.iter().map(|item| bound(item, score, usual)).collect()
    };
    Ok(Bounds {
        lower: list("lower_bounds", "min_score", 0.0)?,
        upper: list("upper_bounds", "max_score", 1.0)?,
    })
}

fn bound(item: &Value, score_key: &str, usual: f32) -> Result<Bound, ApiError> {
    let Value::Object(members) = item else {
        return Err(unknown_parameters());
    };
    if members.keys().any(|key| key != "mode" && key != score_key) {
        return Err(unknown_parameters());
    }
    let written = members.get("mode").and_then(Value::as_str).unwrap_or("");
    let mode = match written.to_ascii_lowercase().as_str() {
        "" | "apply" => BoundMode::Apply,
        "clip" => BoundMode::Clip,
        "ignore" => BoundMode::Ignore,
        _ => {
            return Err(ApiError::illegal_argument(format!(
                "invalid mode: {written}, valid values are: apply, clip, ignore"
            )));
        }
    };
    let score = match members.get(score_key) {
        None | Some(Value::Null) => usual,
        Some(value) => score_of(value, score_key)?,
    };
    Ok(Bound { mode, score })
}

fn score_of(value: &Value, key: &str) -> Result<f32, ApiError> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    let number: f64 = number.ok_or_else(|| {
        ApiError::illegal_argument(format!(
            "invalid format for {key}: must be a valid float value"
        ))
    })?;
    if !(-BOUND_SCORE_MAX..=BOUND_SCORE_MAX).contains(&number) {
        return Err(ApiError::illegal_argument(format!(
            "{key} must be a valid finite number between {:.6} and {BOUND_SCORE_MAX:.6}",
            -BOUND_SCORE_MAX
        )));
    }
    #[allow(clippy::cast_possible_truncation, reason = "scores have 32 bits")]
    Ok(number as f32)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(name: &str, body: &Value) -> Result<Fusion, ApiError> {
        read(name, &mut body.as_object().unwrap().clone())
    }

    #[test]
    fn both_processors_have_their_defaults() {
        let fusion = parsed("normalization-processor", &json!({})).unwrap();
        assert_eq!(
            fusion.normalization,
            Normalization::MinMax(Bounds::default())
        );
        assert_eq!(fusion.combination, Combination::Arithmetic);
        let fusion = parsed("score-ranker-processor", &json!({})).unwrap();
        assert_eq!(fusion.normalization, Normalization::Rank(60));
        assert_eq!(fusion.combination, Combination::Sum);
    }

    #[test]
    fn what_is_said_is_read() {
        let fusion = parsed(
            "normalization-processor",
            &json!({
                "normalization": {"technique": "min_max", "parameters": {"lower_bounds": [
                    {"mode": "clip", "min_score": 0.5}, {"mode": "ignore"}]}},
                "combination": {"technique": "geometric_mean",
                                "parameters": {"weights": [0.3, 0.7]}},
            }),
        )
        .unwrap();
        let Normalization::MinMax(bounds) = &fusion.normalization else {
            panic!("{fusion:?}");
        };
        assert_eq!(bounds.lower[0].mode, BoundMode::Clip);
        assert_eq!(bounds.lower[1].score, 0.0);
        assert_eq!(fusion.weights, [0.3, 0.7]);
        assert!(check(&fusion, 2).is_ok());
        assert!(check(&fusion, 3).is_err());
        let ranker = json!({"combination": {"technique": "rrf", "rank_constant": 10}});
        let fusion = parsed("score-ranker-processor", &ranker).unwrap();
        assert_eq!(fusion.normalization, Normalization::Rank(10));
    }

    #[test]
    fn what_is_wrong_is_refused() {
        let normalization = "normalization-processor";
        let combined = |parameters: Value| json!({"combination": {"parameters": parameters}});
        for (name, body) in [
            ("x-processor", json!({})),
            (normalization, json!({"normalization": {"technique": "x"}})),
            (normalization, json!({"normalization": []})),
            (
                normalization,
                json!({"normalization": {"technique": "l2", "parameters": {"a": 1}}}),
            ),
            (normalization, json!({"combination": {"technique": "x"}})),
            (normalization, json!({"combination": {"technique": "rrf"}})),
            (normalization, combined(json!({"weights": [0.5, 0.2]}))),
            (normalization, combined(json!({"weights": [1.5, -0.5]}))),
            (normalization, combined(json!({"weights": "a"}))),
            (normalization, combined(json!({"weight": [1.0]}))),
            (
                "score-ranker-processor",
                json!({"combination": {"rank_constant": 0}}),
            ),
        ] {
            assert!(parsed(name, &body).is_err(), "{name} {body}");
        }
    }
}
