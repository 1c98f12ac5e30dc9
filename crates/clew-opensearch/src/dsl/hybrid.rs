//! `hybrid`: a few queries that rank together. It stands at the top of a search or nowhere.

use clew_query::{Bool, KnnQuery, Query};
use serde_json::Value;

use super::object::Parameters;
use super::{DEPTH_MAX, DslError};

/// Queries that may rank together.
const QUERIES_MAX: usize = 5;

/// Queries that rank together.
#[derive(Clone, Debug, PartialEq)]
pub struct HybridQuery {
    /// The queries, each with the filter of all.
    pub queries: Vec<Query>,
    /// How many documents of each query every shard gives, where the search says.
    pub pagination_depth: Option<i64>,
}

impl HybridQuery {
    /// Every document that one of the queries finds; its best score counts.
    pub fn union(&self) -> Query {
        Query::DisMax {
            queries: self.queries.clone(),
            tie_breaker: 0.0,
            boost: 1.0,
        }
    }
}

/// Reads a search's query; a `hybrid` one comes as the union of its queries and by itself.
///
/// # Errors
/// When the JSON is not a query; the reason is OpenSearch's.
pub fn parse_search_query(value: &Value) -> Result<(Query, Option<HybridQuery>), DslError> {
    let body = match value.as_object() {
        Some(members) if members.len() == 1 => members.get("hybrid"),
        _ => None,
    };
    let Some(body) = body else {
        return Ok((super::parse_query(value)?, None));
    };
    let hybrid = read(body)?;
    let union = hybrid.union();
    let union = match super::name_of(body) {
        Some(name) => Query::Named {
            name: name.to_string(),
            query: Box::new(union),
        },
        None => union,
    };
    Ok((union, Some(hybrid)))
}

/// What a `hybrid` query inside another one is told.
pub(super) fn inside_another() -> DslError {
    DslError::illegal(
        "hybrid query must be a top level query and cannot be wrapped into other queries",
    )
}

fn read(body: &Value) -> Result<HybridQuery, DslError> {
    let mut parameters = Parameters::new("hybrid", body)?;
    let filter = match parameters.take("filter") {
        None => None,
        Some(filter @ Value::Object(_)) => Some(super::query(filter, 1)?),
        Some(_) => {
            return Err(DslError::parsing(
                "[hybrid] query's [filter] field must be a query object",
            ));
        }
    };
    let boost = parameters.boost()?;
    if (boost - 1.0).abs() > f32::EPSILON {
        return Err(DslError::parsing("[hybrid] query does not support [boost]"));
    }
    let pagination_depth = match parameters.take("pagination_depth") {
        None => None,
        Some(value) => Some(value.as_i64().ok_or_else(|| {
            DslError::parsing(format!(
                "[pagination_depth] must be a whole number, found [{value}]"
            ))
        })?),
    };
    let written: Vec<&Value> = match parameters.take("queries") {
        Some(Value::Array(queries)) => queries.iter().collect(),
        Some(one @ Value::Object(_)) => vec![one],
        _ => Vec::new(),
    };
    if parameters.finish().is_err() {
        return Err(DslError::parsing(
            "Field is not supported by [hybrid] query",
        ));
    }
    if written.is_empty() {
        return Err(DslError::parsing(
            "[hybrid] requires 'queries' field with at least one clause",
        ));
    }
    if written.len() > QUERIES_MAX {
        return Err(DslError::parsing(
            "Number of sub-queries exceeds maximum supported by [hybrid] query",
        ));
    }
    let one = |written: &Value| {
        let query = super::query(written, 1)?;
        Ok(match &filter {
            Some(filter) => filtered(query, filter, 0),
            None => query,
        })
    };
    Ok(HybridQuery {
        queries: written
            .into_iter()
            .map(one)
            .collect::<Result<_, DslError>>()?,
        pagination_depth,
    })
}

/// The query within a filter. Neighbours are looked for among what passes, so that as many are
/// found as are asked for.
fn filtered(query: Query, filter: &Query, depth: usize) -> Query {
    match query {
        Query::Knn(knn) => {
            let own = knn.filter.map(|own| *own).into_iter();
            let both = Bool {
                filter: own.chain([filter.clone()]).collect(),
                ..Bool::default()
            };
            Query::Knn(KnnQuery {
                filter: Some(Box::new(Query::Bool(both))),
                ..knn
            })
        }
        Query::Named { name, query } if depth < DEPTH_MAX => Query::Named {
            name,
            query: Box::new(filtered(*query, filter, depth + 1)),
        },
        other => Query::Bool(Bool {
            must: vec![other],
            filter: vec![filter.clone()],
            ..Bool::default()
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(body: &Value) -> String {
        parse_search_query(&json!({"hybrid": body}))
            .unwrap_err()
            .reason
    }

    #[test]
    fn the_filter_holds_for_every_query() {
        let query = json!({"hybrid": {
            "queries": [{"match": {"t": "x"}}, {"knn": {"v": {"vector": [1.0], "k": 3}}}],
            "filter": {"term": {"a": 1}},
            "pagination_depth": 7,
        }});
        let (union, hybrid) = parse_search_query(&query).unwrap();
        let hybrid = hybrid.unwrap();
        assert_eq!(hybrid.pagination_depth, Some(7));
        assert_eq!(union, hybrid.union());
        let [Query::Bool(words), Query::Knn(knn)] = &hybrid.queries[..] else {
            panic!("{hybrid:?}");
        };
        assert_eq!(words.filter, [Query::term("a", 1)]);
        assert!(knn.filter.is_some());
    }

    #[test]
    fn what_is_wrong_is_told() {
        let all = json!({"match_all": {}});
        let cases = [
            (json!({}), "requires 'queries' field"),
            (json!({"queries": []}), "requires 'queries' field"),
            (
                json!({"queries": [all, all, all, all, all, all]}),
                "exceeds maximum supported",
            ),
            (
                json!({"queries": [all], "boost": 2.0}),
                "does not support [boost]",
            ),
            (
                json!({"queries": [all], "x": 2.0}),
                "Field is not supported by [hybrid]",
            ),
            (
                json!({"queries": [all], "filter": []}),
                "must be a query object",
            ),
            (
                json!({"queries": [{"hybrid": {"queries": [all]}}]}),
                "must be a top level query",
            ),
        ];
        for (body, expected) in cases {
            let reason = refused(&body);
            assert!(reason.contains(expected), "{body}: {reason}");
        }
        let wrapped = json!({"bool": {"must": [{"hybrid": {"queries": [all]}}]}});
        assert!(parse_search_query(&wrapped).is_err());
        assert!(parse_search_query(&all).unwrap().1.is_none());
    }
}
