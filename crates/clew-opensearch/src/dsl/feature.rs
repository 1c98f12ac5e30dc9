//! Queries over features: `rank_feature`, and `neural_sparse` with the tokens of a query.

use clew_query::{FeatureCurve, Query, RankFeature, SparseVector};
use serde_json::Value;

use super::DslError;
use super::object::Parameters;
use crate::http::place::Spot;

/// Most that a token of a query may weigh.
const WEIGHT_MAX: f64 = 64.0;

pub(super) fn rank_feature(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("rank_feature", body)?.by_fields("feature");
    let boost = parameters.boost()?;
    let field = parameters.text("field")?;
    let mut curves = Vec::new();
    for name in ["log", "saturation", "sigmoid", "linear"] {
        if let Some(written) = parameters.take(name) {
            let curve = curve(name, written).map_err(|error| {
                let error = error.or_at(Spot::end_of(written));
                parameters.in_field(name, error)
            })?;
            curves.push(curve);
        }
    }
    parameters.finish()?;
    let field = field.ok_or_else(|| DslError::illegal("Required [field]"))?;
    if curves.len() > 1 {
        let reason = "Can only specify one of [log], [saturation], [sigmoid] and [linear]";
        return Err(DslError::illegal(reason).not_built("feature"));
    }
    Ok(Query::RankFeature(RankFeature {
        field,
        curve: curves
            .pop()
            .unwrap_or(FeatureCurve::Saturation { pivot: None }),
        boost,
    }))
}

fn curve(name: &'static str, written: &Value) -> Result<FeatureCurve, DslError> {
    let mut parameters = Parameters::new("rank_feature", written)?.by_fields(name);
    let positive = |shown: &str, number: f32| {
        if number > 0.0 && number.is_finite() {
            return Ok(number);
        }
        Err(DslError::illegal(format!(
            "{shown} must be > 0, got: {number:?}"
        )))
    };
    let required = |name: &str, found: Option<f32>| {
        found.ok_or_else(|| DslError::illegal(format!("Required [{name}]")))
    };
    let curve = match name {
        "log" => {
            let factor = required("scaling_factor", parameters.float("scaling_factor")?)?;
            if factor < 1.0 || !factor.is_finite() {
                return Err(DslError::illegal(format!(
                    "scalingFactor must be >= 1, got: {factor:?}"
                )));
            }
            FeatureCurve::Log {
                scaling_factor: factor,
            }
        }
        "sigmoid" => FeatureCurve::Sigmoid {
            pivot: positive("pivot", required("pivot", parameters.float("pivot")?)?)?,
            exponent: positive("exp", required("exponent", parameters.float("exponent")?)?)?,
        },
        "saturation" => FeatureCurve::Saturation {
            pivot: match parameters.float("pivot")? {
                None => None,
                Some(pivot) => Some(positive("pivot", pivot)?),
            },
        },
        _ => FeatureCurve::Linear,
    };
    parameters.finish()?;
    Ok(curve)
}

pub(super) fn neural_sparse(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("neural_sparse", body)?;
    let own_boost = parameters.boost()?;
    let Some((field, inner)) = parameters.take_any() else {
        return Err(DslError::parsing(
            "[neural_sparse] query malformed, no field name",
        ));
    };
    if let Some((other, _)) = parameters.take_any() {
        return Err(DslError::parsing(format!(
            "[neural_sparse] query doesn't support multiple fields, found [{field}] and [{other}]"
        )));
    }
    let mut inner = Parameters::new("neural_sparse", inner)?;
    let boost = inner.boost()? * own_boost;
    // Says how large a weight may be, which nothing here depends on.
    inner.ignore(&["max_token_score"]);
    let tokens = inner.take("query_tokens");
    let needs_model = ["query_text", "model_id", "analyzer"]
        .into_iter()
        .find(|name| inner.has(name));
    if let (Some(name), None) = (needs_model, tokens) {
        return Err(DslError::illegal(format!(
            "[neural_sparse] [{name}] needs a model, and there is none here: [query_tokens] must be \
             given"
        )));
    }
    inner.ignore(&["query_text", "model_id", "analyzer"]);
    inner.finish()?;
    let Some(Value::Object(tokens)) = tokens else {
        return Err(DslError::illegal(
            "Either query_text or query_tokens must be provided",
        ));
    };
    if tokens.is_empty() {
        return Err(DslError::illegal("query_tokens field can not be empty"));
    }
    let token = |(name, weight): (&String, &Value)| {
        let weight = weight.as_f64().ok_or_else(|| {
            DslError::illegal(format!(
                "[query_tokens] maps tokens to numbers, found [{weight}] for [{name}]"
            ))
        })?;
        if !(weight > 0.0 && weight <= WEIGHT_MAX) {
            return Err(DslError::illegal(format!(
                "weight must be in ]0, {WEIGHT_MAX:?}], got: {weight:?}"
            )));
        }
        #[allow(clippy::cast_possible_truncation, reason = "weights have 32 bits")]
        Ok((name.clone(), weight as f32))
    };
    Ok(Query::SparseVector(SparseVector {
        field: field.to_string(),
        tokens: tokens.iter().map(token).collect::<Result<_, DslError>>()?,
        boost,
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn curves_are_read() {
        let curve = |body: Value| match rank_feature(&body).unwrap() {
            Query::RankFeature(feature) => feature.curve,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            curve(json!({"field": "f"})),
            FeatureCurve::Saturation { pivot: None }
        );
        assert_eq!(
            curve(json!({"field": "f", "saturation": {"pivot": 8}})),
            FeatureCurve::Saturation { pivot: Some(8.0) }
        );
        assert_eq!(
            curve(json!({"field": "f", "log": {"scaling_factor": 4}})),
            FeatureCurve::Log {
                scaling_factor: 4.0
            }
        );
        assert_eq!(
            curve(json!({"field": "f", "linear": {}})),
            FeatureCurve::Linear
        );
        for wrong in [
            json!({}),
            json!({"field": "f", "linear": {}, "log": {"scaling_factor": 4}}),
            json!({"field": "f", "log": {}}),
            json!({"field": "f", "log": {"scaling_factor": 0.5}}),
            json!({"field": "f", "sigmoid": {"pivot": 1}}),
            json!({"field": "f", "saturation": {"pivot": -1}}),
            json!({"field": "f", "saturation": {"x": 1}}),
        ] {
            assert!(rank_feature(&wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn tokens_are_read() {
        let query = json!({"f": {"query_tokens": {"a": 0.5, "b": 2}, "boost": 3.0}});
        let Query::SparseVector(vector) = neural_sparse(&query).unwrap() else {
            panic!("not a sparse vector");
        };
        assert_eq!(vector.field, "f");
        assert_eq!(vector.tokens.len(), 2);
        assert_eq!(vector.boost, 3.0);
        for wrong in [
            json!({}),
            json!({"f": {}}),
            json!({"f": {"query_tokens": {}}}),
            json!({"f": {"query_tokens": {"a": 0}}}),
            json!({"f": {"query_tokens": {"a": 65}}}),
            json!({"f": {"query_tokens": {"a": "x"}}}),
            json!({"f": {"query_text": "a", "model_id": "m"}}),
            json!({"f": {"query_tokens": {"a": 1}}, "g": {"query_tokens": {"a": 1}}}),
        ] {
            assert!(neural_sparse(&wrong).is_err(), "{wrong}");
        }
    }
}
