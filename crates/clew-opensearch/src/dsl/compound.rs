//! Queries made of queries, and nearest neighbours with their filter.

use clew_text::{Bool, Boosting, KnnQuery, Query};
use serde_json::Value;

use super::DslError;
use super::object::{Parameters, one_field};

/// One query, or an array of them.
fn list(value: Option<&Value>, depth: usize) -> Result<Vec<Query>, DslError> {
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(values)) => values
            .iter()
            .map(|value| super::query(value, depth + 1))
            .collect(),
        Some(one) => Ok(vec![super::query(one, depth + 1)?]),
    }
}

pub(super) fn bool(body: &Value, depth: usize) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("bool", body)?;
    let clauses = Bool {
        must: list(parameters.take("must"), depth)?,
        should: list(parameters.take("should"), depth)?,
        must_not: list(
            parameters.take("must_not").or(parameters.take("mustNot")),
            depth,
        )?,
        filter: list(parameters.take("filter"), depth)?,
        minimum_should_match: parameters.minimum_should_match()?,
        boost: parameters.boost()?,
    };
    parameters.ignore(&["adjust_pure_negative"]);
    parameters.finish()?;
    Ok(Query::Bool(clauses))
}

fn one(parameters: &mut Parameters<'_>, name: &str, depth: usize) -> Result<Box<Query>, DslError> {
    match parameters.take(name) {
        Some(value) => Ok(Box::new(super::query(value, depth + 1)?)),
        None => Err(DslError::parsing(format!(
            "[{}] requires a '{name}' element",
            parameters.query()
        ))),
    }
}

pub(super) fn constant_score(body: &Value, depth: usize) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("constant_score", body)?;
    let boost = parameters.boost()?;
    let filter = one(&mut parameters, "filter", depth)?;
    parameters.finish()?;
    Ok(Query::ConstantScore { filter, boost })
}

pub(super) fn dis_max(body: &Value, depth: usize) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("dis_max", body)?;
    let boost = parameters.boost()?;
    let tie_breaker = parameters.float("tie_breaker")?.unwrap_or(0.0);
    let queries = list(parameters.take("queries"), depth)?;
    parameters.finish()?;
    if queries.is_empty() {
        return Err(DslError::parsing(
            "[dis_max] requires 'queries' field with at least one clause",
        ));
    }
    Ok(Query::DisMax {
        queries,
        tie_breaker,
        boost,
    })
}

pub(super) fn boosting(body: &Value, depth: usize) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("boosting", body)?;
    let boost = parameters.boost()?;
    let positive = one(&mut parameters, "positive", depth)?;
    let negative = one(&mut parameters, "negative", depth)?;
    let negative_boost = parameters.float("negative_boost")?;
    parameters.finish()?;
    let negative_boost = negative_boost
        .filter(|boost| *boost >= 0.0)
        .ok_or_else(|| {
            DslError::parsing(
                "[boosting] query requires 'negative_boost' to be set to be a positive value",
            )
        })?;
    Ok(Query::Boosting(Boosting {
        positive,
        negative,
        negative_boost,
        boost,
    }))
}

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
    let ef_search = match parameters.take("method_parameters") {
        None => None,
        Some(inner) => {
            let mut inner = Parameters::new("knn", inner)?;
            let ef_search = inner.whole("ef_search")?;
            inner.ignore(&["nprobes"]);
            inner.finish()?;
            if ef_search == Some(0) {
                return Err(DslError::illegal("ef_search must be greater than 0"));
            }
            ef_search
        }
    };
    let filter = match parameters.take("filter") {
        None | Some(Value::Null) => None,
        Some(filter) => Some(Box::new(super::query(filter, depth + 1)?)),
    };
    parameters.ignore(&["ignore_unmapped", "rescore", "expand_nested_docs"]);
    parameters.finish()?;
    Ok(Query::Knn(KnnQuery {
        field: field.to_string(),
        vector,
        k,
        ef_search,
        filter,
        min_score,
        max_distance,
        boost,
    }))
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
