//! Queries made of queries.

use clew_text::{Bool, Boosting, Query};
use serde_json::Value;

use super::DslError;
use super::object::Parameters;

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
                "[boosting] query requires 'negative_boost' to be set to be a positive value'",
            )
        })?;
    Ok(Query::Boosting(Boosting {
        positive,
        negative,
        negative_boost,
        boost,
    }))
}
