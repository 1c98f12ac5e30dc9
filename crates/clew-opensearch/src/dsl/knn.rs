//! The clause of nearest neighbours.

use clew_query::{KnnQuery, Query};
use serde_json::Value;

use super::DslError;
use super::object::{Parameters, one_field, plain, whole};

/// Most neighbours a query may ask for.
const K_MAX: usize = 10_000;

pub(super) fn knn(body: &Value, depth: usize) -> Result<Query, DslError> {
    let (field, value) = one_field("knn", body)?;
    let mut parameters = Parameters::new("knn", value)?;
    let boost = parameters.boost()?;
    let vector = vector(&mut parameters)?;
    let k = neighbours(&mut parameters)?;
    let max_distance = parameters.float("max_distance")?;
    let min_score = parameters.float("min_score")?;
    let wanted = usize::from(k.is_some())
        + usize::from(max_distance.is_some())
        + usize::from(min_score.is_some());
    if wanted != 1 {
        return Err(DslError::illegal(
            "[knn] requires exactly one of k, distance or score to be set",
        ));
    }
    if min_score.is_some_and(|score| score <= 0.0) {
        return Err(DslError::illegal(
            "[knn] requires minScore to be greater than 0",
        ));
    }
    let (ef_search, probes) = method_parameters(&mut parameters)?;
    let target_recall = target_recall(&mut parameters)?;
    if ef_search.is_some() && target_recall.is_some() {
        return Err(DslError::illegal(
            "[knn] requires at most one of [target_recall] and [method_parameters.ef_search]",
        ));
    }
    let filter = match parameters.take("filter") {
        None | Some(Value::Null) => None,
        Some(filter) => Some(Box::new(super::query(filter, depth + 1)?)),
    };
    let oversample = oversample(&mut parameters)?;
    let expand_nested = parameters.flag("expand_nested_docs")?.unwrap_or(false);
    let ignore_unmapped = parameters.flag("ignore_unmapped")?.unwrap_or(false);
    parameters.finish()?;
    Ok(Query::Knn(KnnQuery {
        field: field.to_string(),
        vector,
        k,
        ef_search,
        probes,
        target_recall,
        oversample,
        expand_nested,
        ignore_unmapped,
        filter,
        min_score,
        max_distance,
        boost,
    }))
}

/// A query by what only a model could make of a text or a picture.
pub(super) fn neural() -> DslError {
    DslError::illegal("[neural] needs a model, and there is none here: [knn] takes the vector")
}

/// `k`, where the search is not for all that is near enough.
fn neighbours(parameters: &mut Parameters<'_>) -> Result<Option<usize>, DslError> {
    let Some(written) = parameters.take("k") else {
        return Ok(None);
    };
    // What is written as a number that is none of these is out of bounds, whatever it is.
    let is_number = match written {
        Value::Number(number) => number.is_i64() || number.is_u64(),
        Value::String(text) => text.parse::<i64>().is_ok(),
        _ => false,
    };
    match whole(written) {
        Some(k) if (1..=K_MAX).contains(&k) => Ok(Some(k)),
        _ if is_number => Err(DslError::illegal(format!(
            "[knn] requires k to be in the range (0, {K_MAX}]"
        ))),
        _ => Err(DslError::illegal(format!(
            "[knn] failed to parse value [{}]",
            plain(written)
        ))),
    }
}

/// `ef_search` and `nprobes`: how hard to try, by a graph or by inverted lists.
fn method_parameters(
    parameters: &mut Parameters<'_>,
) -> Result<(Option<usize>, Option<usize>), DslError> {
    let Some(inner) = parameters.take("method_parameters") else {
        return Ok((None, None));
    };
    let mut inner = Parameters::new("method_parameters", inner)?;
    if inner.first_name().is_none() {
        return Err(DslError::parsing("method_parameters cannot be empty"));
    }
    let ef_search = positive("ef_search", inner.take("ef_search"))?;
    let probes = positive("nprobes", inner.take("nprobes"))?;
    if let Some(name) = inner.first_name() {
        return Err(DslError::parsing(format!(
            "[knn] unknown method parameter found [{name}]"
        )));
    }
    Ok((ef_search, probes))
}

/// `rescore`: every answer is ranked by the stored vectors anyway, so that all it changes is how many
/// candidates there are at least.
fn oversample(parameters: &mut Parameters<'_>) -> Result<Option<f32>, DslError> {
    match parameters.take("rescore") {
        None | Some(Value::Null | Value::Bool(_)) => Ok(None),
        Some(written @ Value::Object(_)) => {
            let mut inner = Parameters::new("rescore", written)?;
            let factor = inner.float("oversample_factor")?;
            inner.finish()?;
            let bound = match factor {
                Some(factor) if factor < 1.0 => "less than [1.000000]",
                Some(factor) if factor.is_nan() || factor > 100.0 => "more than [100.000000]",
                factor => return Ok(factor),
            };
            Err(DslError::illegal(format!(
                "[knn] errors in rescore parameter [Validation Failed: 1: Oversample factor [{:.6}] cannot be {bound};]",
                factor.unwrap_or_default()
            )))
        }
        Some(other) => Err(DslError::illegal(format!(
            "[knn] requires [rescore] to be true, false or an object, found [{}]",
            plain(other)
        ))),
    }
}

fn positive(name: &str, written: Option<&Value>) -> Result<Option<usize>, DslError> {
    let Some(written) = written else {
        return Ok(None);
    };
    match whole(written) {
        Some(number) if number > 0 => Ok(Some(number)),
        _ => Err(DslError::illegal(format!(
            "[knn] requires [{name}] to be a whole number greater than 0, found [{}]",
            plain(written)
        ))),
    }
}

fn target_recall(parameters: &mut Parameters<'_>) -> Result<Option<f32>, DslError> {
    let Some(written) = parameters.take("target_recall") else {
        return Ok(None);
    };
    let number = match written {
        Value::String(text) => text.parse().ok(),
        other => other.as_f64(),
    };
    #[allow(clippy::cast_possible_truncation, reason = "a share needs no 64 bits")]
    let target = number.map(|number| number as f32);
    match target {
        Some(target) if target > 0.0 && target <= 1.0 => Ok(Some(target)),
        _ => Err(DslError::illegal(format!(
            "[knn] requires [target_recall] to be above 0 and no more than 1, found [{}]",
            plain(written)
        ))),
    }
}

fn vector(parameters: &mut Parameters<'_>) -> Result<Vec<f32>, DslError> {
    let values = match parameters.take("vector") {
        Some(Value::Array(values)) => values.as_slice(),
        // A vector of one value may be that value, as in documents.
        Some(value @ Value::Number(_)) => std::slice::from_ref(value),
        _ => return Err(DslError::illegal("[knn] requires query vector")),
    };
    if values.is_empty() {
        return Err(DslError::illegal("[knn] query vector is empty"));
    }
    values
        .iter()
        .map(|value| {
            let number = match value {
                Value::String(text) => text.parse().ok(),
                other => other.as_f64(),
            };
            let number = number.ok_or_else(|| {
                DslError::illegal(format!("[knn] query vector holds [{value}], not a number"))
            })?;
            #[allow(clippy::cast_possible_truncation, reason = "vectors are 32 bits wide")]
            Ok(number as f32)
        })
        .collect()
}
