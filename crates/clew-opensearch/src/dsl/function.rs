//! Scores changed by functions: `function_score`, `distance_feature`.

use clew_platform::java_hash;
use clew_query::{
    BoostMode, Decay, DecayShape, DistanceFeature, FieldModifier, FunctionKind, FunctionScore,
    Query, ScoreFunction, ScoreMode, ValueMode,
};
use serde_json::Value;

use super::DslError;
use super::object::{Parameters, lacking, plain};
use crate::http::place::Spot;

/// Names of functions, and of what is said beside them.
const FUNCTIONS: [&str; 6] = [
    "field_value_factor",
    "random_score",
    "gauss",
    "exp",
    "linear",
    "script_score",
];

pub(super) fn function_score(body: &Value, depth: usize) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("function_score", body)?;
    let query = match parameters.take("query") {
        None | Some(Value::Null) => Query::match_all(),
        Some(query) => super::query(query, depth + 1)?,
    };
    let score_mode = match parameters.text("score_mode")? {
        None => ScoreMode::default(),
        Some(text) => score_mode(&text)?,
    };
    let boost_mode = match parameters.text("boost_mode")? {
        None => BoostMode::default(),
        Some(text) => boost_mode(&text)?,
    };
    let max_boost = parameters.float("max_boost")?.unwrap_or(f32::MAX);
    let min_score = parameters.float("min_score")?;
    let boost = parameters.boost()?;
    let mut functions = Vec::new();
    if let Some(listed) = parameters.take("functions") {
        let Value::Array(listed) = listed else {
            let reason = match listed {
                Value::Object(_) => "[functions] must be an array",
                _ => "field [functions] is not supported",
            };
            let reason = format!("failed to parse [function_score] query. {reason}");
            return Err(DslError::parsing(reason).at(Spot::start_of(listed)));
        };
        for value in listed {
            let mut inner = Parameters::new("function_score", value)?;
            // Explanations alone would tell it.
            inner.ignore(&["_name"]);
            let read = function(&mut inner, depth, None);
            functions.push(read.map_err(|error| error.or_at(Spot::end_of(value)))?);
            inner.finish()?;
        }
        let named = FUNCTIONS.iter().chain(&["weight"]);
        if let Some(name) = named
            .into_iter()
            .find(|name| parameters.take(name).is_some())
        {
            return Err(DslError::parsing(format!(
                "failed to parse [function_score] query. already found [functions] array, now \
                 encountering [{name}]."
            )));
        }
    } else if let Some(only) = alone(&mut parameters, depth)? {
        functions.push(only);
    }
    parameters.finish()?;
    // One that is alone is joined with none: its weight is a factor, and no share of a mean.
    let score_mode = match &functions[..] {
        [only] if matches!(only.filter, None | Some(Query::MatchAll { .. })) => ScoreMode::First,
        _ => score_mode,
    };
    Ok(Query::FunctionScore(Box::new(FunctionScore {
        query: Box::new(query),
        functions,
        score_mode,
        boost_mode,
        max_boost,
        min_score,
        boost,
    })))
}

/// A function that stands beside the query instead of in a list.
fn alone(parameters: &mut Parameters<'_>, depth: usize) -> Result<Option<ScoreFunction>, DslError> {
    let weight = parameters.float("weight")?;
    let has_function = FUNCTIONS.iter().any(|name| parameters.has(name));
    if !has_function && weight.is_none() {
        return Ok(None);
    }
    if let (Some(name), Some(_)) = (FUNCTIONS.iter().find(|name| parameters.has(name)), weight) {
        return Err(DslError::parsing(format!(
            "failed to parse [function_score] query. already found function [{name}], now \
             encountering [weight]. use [functions] array if you want to define several functions."
        )));
    }
    function(parameters, depth, weight).map(Some)
}

fn function(
    parameters: &mut Parameters<'_>,
    depth: usize,
    weight: Option<f32>,
) -> Result<ScoreFunction, DslError> {
    let filter = match parameters.take("filter") {
        None | Some(Value::Null) => None,
        Some(filter) => Some(super::query(filter, depth + 1)?),
    };
    let weight = match weight {
        Some(weight) => Some(weight),
        None => parameters.float("weight")?,
    };
    if weight.is_some_and(|weight| weight < 0.0) {
        return Err(DslError::illegal(
            "[weight] cannot be negative for a filtering function",
        ));
    }
    let mut kind = None;
    for name in FUNCTIONS {
        let Some(value) = parameters.take(name) else {
            continue;
        };
        if kind.is_some() {
            return Err(DslError::parsing(format!(
                "failed to parse [function_score] query. already found a function, now \
                 encountering [{name}]. did you mean to use [functions] array instead?"
            )));
        }
        let read = match name {
            "field_value_factor" => field_value(value),
            "random_score" => random(value),
            "gauss" => decay(DecayShape::Gauss, name, value),
            "exp" => decay(DecayShape::Exp, name, value),
            "linear" => decay(DecayShape::Linear, name, value),
            _ => super::script::function(value),
        };
        kind = Some(read.map_err(|error| error.or_at(Spot::end_of(value)))?);
    }
    if kind.is_none() && weight.is_none() {
        return Err(DslError::parsing(
            "failed to parse [function_score] query. an entry in functions list is missing a \
             function.",
        ));
    }
    Ok(ScoreFunction {
        filter,
        weight,
        kind: kind.unwrap_or(FunctionKind::Constant),
    })
}

fn score_mode(text: &str) -> Result<ScoreMode, DslError> {
    Ok(match text.to_ascii_lowercase().as_str() {
        "multiply" => ScoreMode::Multiply,
        "sum" => ScoreMode::Sum,
        "avg" => ScoreMode::Avg,
        "first" => ScoreMode::First,
        "max" => ScoreMode::Max,
        "min" => ScoreMode::Min,
        _ => {
            return Err(DslError::illegal(format!(
                "No enum constant org.opensearch.common.lucene.search.function.\
                 FunctionScoreQuery.ScoreMode.{}",
                text.to_uppercase()
            )));
        }
    })
}

fn boost_mode(text: &str) -> Result<BoostMode, DslError> {
    Ok(match text.to_ascii_lowercase().as_str() {
        "multiply" => BoostMode::Multiply,
        "replace" => BoostMode::Replace,
        "sum" => BoostMode::Sum,
        "avg" => BoostMode::Avg,
        "max" => BoostMode::Max,
        "min" => BoostMode::Min,
        _ => {
            return Err(DslError::illegal(format!(
                "No enum constant org.opensearch.common.lucene.search.function.CombineFunction.{}",
                text.to_uppercase()
            )));
        }
    })
}

fn double(parameters: &mut Parameters<'_>, name: &str) -> Result<Option<f64>, DslError> {
    let query = parameters.query();
    let Some(value) = parameters.take(name) else {
        return Ok(None);
    };
    let text = plain(value);
    text.parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
        .map(Some)
        .ok_or_else(|| {
            DslError::illegal(format!("[{query}] failed to parse [{name}] value [{text}]"))
        })
}

fn field_value(value: &Value) -> Result<FunctionKind, DslError> {
    let mut parameters = Parameters::new("field_value_factor", value)?;
    let field = parameters
        .text("field")?
        .ok_or_else(|| DslError::parsing("[field_value_factor] required field 'field' missing"))?;
    let modifier = match parameters.text("modifier")? {
        None => FieldModifier::None,
        Some(name) => FieldModifier::parse(&name).ok_or_else(|| {
            DslError::illegal(format!(
                "No enum constant org.opensearch.common.lucene.search.function.\
                 FieldValueFactorFunction.Modifier.{}",
                name.to_uppercase()
            ))
        })?,
    };
    let kind = FunctionKind::FieldValue {
        field,
        factor: double(&mut parameters, "factor")?.unwrap_or(1.0),
        modifier,
        missing: double(&mut parameters, "missing")?,
    };
    parameters.finish()?;
    Ok(kind)
}

fn random(value: &Value) -> Result<FunctionKind, DslError> {
    let mut parameters = Parameters::new("random_score", value)?;
    let seed = match parameters.take("seed") {
        None | Some(Value::Null) => None,
        Some(Value::Number(number)) => Some(number.as_i64().ok_or_else(|| {
            DslError::parsing(format!(
                "random_score seed must be an int or long, found [{number}]"
            ))
        })?),
        Some(Value::String(text)) => Some(i64::from(java_hash(text).cast_signed())),
        Some(other) => {
            return Err(DslError::parsing(format!(
                "random_score seed must be an int/long or string, not '{other}'"
            )));
        }
    };
    let field = parameters.text("field")?;
    parameters.finish()?;
    // Without a seed the place of a document decides alone.
    let field = seed.map(|_| field.unwrap_or_else(|| "_id".to_string()));
    Ok(FunctionKind::Random { seed, field })
}

fn decay(shape: DecayShape, name: &'static str, value: &Value) -> Result<FunctionKind, DslError> {
    let mut parameters = Parameters::new(name, value)?;
    let mode = match parameters.text("multi_value_mode")? {
        None => ValueMode::Min,
        Some(text) => match text.to_ascii_lowercase().as_str() {
            "min" => ValueMode::Min,
            "max" => ValueMode::Max,
            "avg" => ValueMode::Avg,
            "sum" => ValueMode::Sum,
            _ => {
                return Err(DslError::illegal(format!("Illegal sort mode: {text}")));
            }
        },
    };
    let Some((field, inner)) = parameters.take_any() else {
        return Err(DslError::parsing(
            "malformed score function score parameters.",
        ));
    };
    parameters.finish()?;
    let mut inner = Parameters::new(name, inner)?;
    let origin = inner.take("origin").cloned();
    let scale = inner.take("scale").cloned().ok_or_else(|| {
        DslError::parsing(format!(
            "scale must be set for function [{name}] of field [{field}]"
        ))
    })?;
    let offset = inner.take("offset").cloned();
    let at_scale = double(&mut inner, "decay")?.unwrap_or(0.5);
    inner.finish()?;
    if at_scale <= 0.0 || at_scale >= 1.0 {
        return Err(DslError::found_by_shards(
            "function_score : decay must be in the range [0..1].",
        ));
    }
    Ok(FunctionKind::Decay(Box::new(Decay {
        field: field.to_string(),
        shape,
        origin,
        scale,
        offset,
        decay: at_scale,
        mode,
    })))
}

pub(super) fn distance_feature(body: &Value) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("distance_feature", body)?.by_fields("distance_feature");
    let boost = parameters.boost()?;
    let field = parameters.text("field")?.map(Value::from);
    let (origin, pivot) = (parameters.take("origin"), parameters.take("pivot"));
    parameters.finish()?;
    let (Some(Value::String(field)), Some(origin), Some(pivot)) = (&field, origin, pivot) else {
        return Err(lacking(&[
            ("field", field.as_ref()),
            ("origin", origin),
            ("pivot", pivot),
        ]));
    };
    Ok(Query::DistanceFeature(DistanceFeature {
        field: field.clone(),
        origin: origin.clone(),
        pivot: pivot.clone(),
        boost,
    }))
}
