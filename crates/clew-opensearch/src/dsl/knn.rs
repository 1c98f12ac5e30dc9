//! The clause of nearest neighbours.

use clew_query::{KnnQuery, Query};
use serde_json::Value;

use super::DslError;
use super::object::{Parameters, one_field, plain, whole};

pub(super) fn knn(body: &Value, depth: usize) -> Result<Query, DslError> {
    let (field, value) = one_field("knn", body)?;
    let mut parameters = Parameters::new("knn", value)?;
    let boost = parameters.boost()?;
    let vector = vector(&mut parameters)?;
    let k = parameters.whole("k")?;
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
    if k == Some(0) {
        return Err(DslError::illegal("[knn] requires k > 0"));
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
    parameters.ignore(&["ignore_unmapped"]);
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
        filter,
        min_score,
        max_distance,
        boost,
    }))
}

/// `ef_search` and `nprobes`: how hard to try, by a graph or by inverted lists.
fn method_parameters(
    parameters: &mut Parameters<'_>,
) -> Result<(Option<usize>, Option<usize>), DslError> {
    let Some(inner) = parameters.take("method_parameters") else {
        return Ok((None, None));
    };
    let mut inner = Parameters::new("knn", inner)?;
    let ef_search = positive("ef_search", inner.take("ef_search"))?;
    let probes = positive("nprobes", inner.take("nprobes"))?;
    inner.finish()?;
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
            match factor {
                Some(factor) if !(1.0..=100.0).contains(&factor) => Err(DslError::illegal(
                    format!("Oversample factor [{factor:?}] must be from 1.0 to 100.0"),
                )),
                factor => Ok(factor),
            }
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
    let Some(Value::Array(values)) = parameters.take("vector") else {
        return Err(DslError::illegal("[knn] requires query vector"));
    };
    if values.is_empty() {
        return Err(DslError::illegal("[knn] query vector is empty"));
    }
    values
        .iter()
        .map(|value| {
            let number = value.as_f64().ok_or_else(|| {
                DslError::illegal(format!("[knn] query vector holds [{value}], not a number"))
            })?;
            #[allow(clippy::cast_possible_truncation, reason = "vectors are 32 bits wide")]
            Ok(number as f32)
        })
        .collect()
}
