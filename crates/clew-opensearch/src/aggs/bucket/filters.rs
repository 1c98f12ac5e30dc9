//! `filter`, `filters` and `adjacency_matrix`: buckets of the documents that queries match.

use clew_aggregation::Bucket;
use clew_query::Query;
use clew_query::aggregation::{AggSpec, FilterShape, FiltersSpec};
use serde_json::{Map, Value, json};

use crate::aggs::AggDslError;
use crate::aggs::body::Body;
use crate::aggs::render::{Rendering, TypeName, add_all};
use crate::aggs::shown::{insert_keyed, while_wanted};
use crate::aggs::table::{NO_VALUES, Row};
use crate::dsl;
use crate::http::error::ApiError;

/// How many filters there may be.
const FILTERS_MAX: usize = 1_000;
/// How many an adjacency matrix may have, as it has a bucket for each pair.
const ADJACENCY_MAX: usize = 100;

/// By name: the values it reads, and its reader.
pub(crate) const ROWS: &[Row] = &[
    Row::new("filter", NO_VALUES, |body| {
        filter(body).map(AggSpec::Filters)
    }),
    Row::new("filters", NO_VALUES, |body| {
        filters(body).map(AggSpec::Filters)
    }),
    Row::new("adjacency_matrix", NO_VALUES, |body| {
        adjacency(body).map(AggSpec::Filters)
    }),
];

/// The whole of its settings is a query.
fn filter(body: &mut Body<'_>) -> Result<FiltersSpec, AggDslError> {
    let query = match body.take_whole() {
        Some(settings) => dsl::parse_query(settings)?,
        None => Query::match_all(),
    };
    Ok(FiltersSpec {
        filters: vec![(String::new(), query)],
        shape: FilterShape::Single,
    })
}

fn filters(body: &mut Body<'_>) -> Result<FiltersSpec, AggDslError> {
    let given = body.take("filters");
    let other_key = body.only_text("other_bucket_key")?;
    let other = body.flag_or("other_bucket", other_key.is_some())?;
    let keyed = body.flag_or("keyed", true)?;
    let (filters, named) = match given {
        Some(Value::Object(object)) => {
            let queries = named_queries(object).map_err(|(_, error)| error)?;
            (queries, true)
        }
        Some(Value::Array(list)) => {
            let query = |(at, value)| -> Result<(String, Query), AggDslError> {
                let at: usize = at;
                Ok((at.to_string(), dsl::parse_query(value)?))
            };
            let queries = list.iter().enumerate().map(query);
            (queries.collect::<Result<Vec<_>, _>>()?, false)
        }
        Some(other) => return Err(body.wrong("filters", other)),
        None => (Vec::new(), false),
    };
    if filters.is_empty() {
        body.late(AggDslError::illegal("[filters] cannot be empty."));
    }
    check_count(filters.len(), FILTERS_MAX, body)?;
    let other_key = other_key.unwrap_or_else(|| "_other_".to_string());
    Ok(FiltersSpec {
        filters,
        shape: FilterShape::Named {
            keyed: named && keyed,
            other: other.then_some(other_key),
        },
    })
}

/// Queries by their names; beside what is wrong with one the name of that.
fn named_queries(object: &Map<String, Value>) -> Result<Vec<(String, Query)>, (&str, AggDslError)> {
    let mut filters = Vec::with_capacity(object.len());
    for (name, value) in object {
        let query = dsl::parse_query(value).map_err(|error| (name.as_str(), error))?;
        filters.push((name.clone(), query));
    }
    filters.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(filters)
}

fn check_count(count: usize, max: usize, body: &Body<'_>) -> Result<(), AggDslError> {
    if count > max {
        return Err(AggDslError::illegal(format!(
            "Number of filters is too large, must be less than or equal to: [{max}] but was \
             [{count}] in [{}].",
            body.name
        )));
    }
    Ok(())
}

fn adjacency(body: &mut Body<'_>) -> Result<FiltersSpec, AggDslError> {
    let separator = body.text("separator")?.unwrap_or_else(|| "&".to_string());
    let filters = match body.take("filters") {
        Some(Value::Object(object)) => named_queries(object)
            .map_err(|(name, error)| body.in_field("filters", error.in_field("filters", name)))?,
        Some(other) => return Err(body.wrong("filters", other)),
        None => Vec::new(),
    };
    if filters.is_empty() {
        let reason = format!("[filters] is missing : [{}]", body.name);
        body.late(AggDslError::illegal(reason));
    }
    check_count(filters.len(), ADJACENCY_MAX, body)?;
    Ok(FiltersSpec {
        filters,
        shape: FilterShape::Adjacency { separator },
    })
}

/// Buckets that have a name or only a place.
pub(crate) fn write(
    body: &mut Map<String, Value>,
    buckets: &[Bucket],
    keyed: bool,
    how: Rendering<'_>,
) -> Result<TypeName, ApiError> {
    let one = |bucket: &Bucket| {
        let mut object = Map::new();
        object.insert("doc_count".to_string(), json!(bucket.doc_count));
        add_all(&mut object, &bucket.subs, how)?;
        Ok((bucket.key.to_string(), Value::Object(object)))
    };
    let buckets = while_wanted(buckets).map(one);
    insert_keyed(body, buckets, keyed)?;
    Ok("filters")
}
