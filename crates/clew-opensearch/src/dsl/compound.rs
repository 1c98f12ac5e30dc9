//! Queries made of queries.

use clew_query::{Bool, Boosting, Query};
use serde_json::Value;

use super::DslError;
use super::object::Parameters;
use crate::http::place::{Spot, token};
use crate::http::suggestion::did_you_mean;

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

/// The clauses of a `bool` of one kind.
fn clauses(
    parameters: &mut Parameters<'_>,
    name: &str,
    depth: usize,
) -> Result<Vec<Query>, DslError> {
    let value = parameters.take(name);
    let Some(scalar @ (Value::Number(_) | Value::String(_) | Value::Bool(_))) = value else {
        return list(value, depth).map_err(|error| error.in_field("bool", name));
    };
    let found = token(scalar);
    let reason = format!("[bool] {name} doesn't support values of type: {found}");
    Err(parameters.of_last(DslError::content(reason)))
}

/// What a `bool` may hold.
const BOOL_FIELDS: &[&str] = &[
    "must",
    "should",
    "must_not",
    "filter",
    "minimum_should_match",
    "boost",
    "_name",
    "adjust_pure_negative",
];

pub(super) fn bool(body: &Value, depth: usize) -> Result<Query, DslError> {
    let mut parameters = Parameters::new("bool", body)?;
    let mut query = Bool {
        must: clauses(&mut parameters, "must", depth)?,
        should: clauses(&mut parameters, "should", depth)?,
        must_not: if parameters.has("mustNot") {
            clauses(&mut parameters, "mustNot", depth)?
        } else {
            clauses(&mut parameters, "must_not", depth)?
        },
        filter: clauses(&mut parameters, "filter", depth)?,
        minimum_should_match: parameters.minimum_should_match()?,
        boost: parameters
            .boost()
            .map_err(|error| error.in_field("bool", "boost"))?,
    };
    let adjusts = parameters.flag("adjust_pure_negative");
    let adjusts = adjusts.map_err(|error| error.in_field("bool", "adjust_pure_negative"))?;
    if let Some((name, value)) = parameters.first() {
        let meant = did_you_mean(name, BOOL_FIELDS);
        let reason = format!("[bool] unknown field [{name}]{meant}");
        return Err(DslError::content(reason).at(Spot::name_of(value)));
    }
    let wanted = [&query.must, &query.should, &query.filter];
    let only_excludes = !query.must_not.is_empty() && wanted.iter().all(|wanted| wanted.is_empty());
    if adjusts == Some(false) && only_excludes {
        // What nothing is taken from is nothing, unless that is all documents.
        query.must.push(Query::MatchNone);
    }
    super::script::behind_others(&mut query);
    Ok(Query::Bool(query))
}

/// A query that must be there; one that matches all stands in until its absence is told.
fn one(parameters: &mut Parameters<'_>, name: &str, depth: usize) -> Result<Box<Query>, DslError> {
    let query = parameters.query();
    match parameters.take(name) {
        Some(value) if is_plain(value) => Err(unsupported(query, name, value)),
        Some(value @ Value::Array(_)) if query == "constant_score" => {
            let reason = "unexpected token [START_ARRAY]";
            Err(DslError::parsing(reason).at(Spot::start_of(value)))
        }
        Some(value) => Ok(Box::new(super::query(value, depth + 1)?)),
        None => {
            parameters.late(DslError::parsing(match query {
                "boosting" => format!("[boosting] query requires '{name}' query to be set'"),
                _ => format!("[{query}] requires a '{name}' element"),
            }));
            Ok(Box::new(Query::match_all()))
        }
    }
}

/// Whether a value is neither an object nor a list.
fn is_plain(value: &Value) -> bool {
    matches!(
        value,
        Value::Number(_) | Value::String(_) | Value::Bool(_) | Value::Null
    )
}

/// The refusal of a plain value in the place of a query.
fn unsupported(query: &str, name: &str, value: &Value) -> DslError {
    let reason = format!("[{query}] query does not support [{name}]");
    DslError::parsing(reason).at(Spot::start_of(value))
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
    let queries = match parameters.take("queries") {
        Some(value) if is_plain(value) => return Err(unsupported("dis_max", "queries", value)),
        queries => list(queries, depth)?,
    };
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
