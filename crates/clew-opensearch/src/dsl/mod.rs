//! OpenSearch's query and sort JSON, read into the query tree.
//!
//! Everything a client may get wrong has the error type and, as far as clients look at it, the
//! text that OpenSearch gives it. Whether fields exist and values fit is not known here.

mod bitmap;
mod compound;
mod feature;
mod fields;
mod function;
mod geo;
mod hybrid;
mod intervals;
mod knn;
mod leaf;
mod multi;
mod named;
mod nested;
mod object;
mod percolate;
mod relatives;
mod script;
mod similar;
mod sort;
mod span;
mod told;

use base64::Engine as _;
use clew_text::Query;
use serde_json::Value;

use crate::http::suggestion::did_you_mean;

pub(crate) use bitmap::numbers as bitmap_numbers;
pub use hybrid::{HybridQuery, parse_search_query};
pub use percolate::query_reader;
pub use sort::parse_sort;

/// Which kind of error a client is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DslErrorKind {
    /// `parsing_exception`.
    Parsing,
    /// `illegal_argument_exception`.
    IllegalArgument,
    /// `x_content_parse_exception`.
    XContentParse,
    /// `parse_exception`.
    Malformed,
}

impl DslErrorKind {
    /// The error's `type`.
    pub fn type_name(self) -> &'static str {
        match self {
            DslErrorKind::Parsing => "parsing_exception",
            DslErrorKind::IllegalArgument => "illegal_argument_exception",
            DslErrorKind::XContentParse => "x_content_parse_exception",
            DslErrorKind::Malformed => "parse_exception",
        }
    }
}

/// Why JSON is not a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct DslError {
    /// Which kind of error a client is told.
    pub kind: DslErrorKind,
    /// What is wrong.
    pub reason: String,
    /// What is wrong inside the part that the reason names.
    pub within: Option<Box<DslError>>,
}

impl DslError {
    fn content(reason: impl Into<String>) -> Self {
        DslError {
            kind: DslErrorKind::XContentParse,
            reason: reason.into(),
            within: None,
        }
    }

    /// The error as it is told of a member whose value has it.
    fn in_field(self, query: &str, field: &str) -> Self {
        DslError {
            within: Some(Box::new(self)),
            ..Self::content(format!("[{query}] failed to parse field [{field}]"))
        }
    }

    fn parsing(reason: impl Into<String>) -> Self {
        DslError {
            kind: DslErrorKind::Parsing,
            reason: reason.into(),
            within: None,
        }
    }

    fn illegal(reason: impl Into<String>) -> Self {
        DslError {
            kind: DslErrorKind::IllegalArgument,
            reason: reason.into(),
            within: None,
        }
    }
}

/// How deep queries may be nested.
const DEPTH_MAX: usize = 30;

/// Reads a query.
///
/// # Errors
/// When the JSON is not a query; the reason is OpenSearch's.
pub fn parse_query(value: &Value) -> Result<Query, DslError> {
    query(value, 0)
}

fn too_deep() -> DslError {
    DslError::illegal(format!(
        "The nested depth of the query exceeds the maximum nested depth of [{DEPTH_MAX}]"
    ))
}

/// Reads a query at a depth.
fn query(value: &Value, depth: usize) -> Result<Query, DslError> {
    if depth > DEPTH_MAX {
        return Err(too_deep());
    }
    let Value::Object(object) = value else {
        return Err(DslError::parsing(
            "[_na] query malformed, must start with start_object",
        ));
    };
    let mut entries = object.iter();
    let Some((name, body)) = entries.next() else {
        return Err(DslError::illegal("query malformed, empty clause"));
    };
    if !body.is_object() {
        return Err(DslError::parsing(format!(
            "[{name}] query malformed, no start_object after query name"
        )));
    }
    let parsed = dispatch(name, body, depth)?;
    if entries.next().is_some() {
        return Err(DslError::parsing(format!(
            "[{name}] malformed query, expected [END_OBJECT] but found [FIELD_NAME]"
        )));
    }
    Ok(match name_of(body) {
        Some(name) => Query::Named {
            name: name.to_string(),
            query: Box::new(parsed),
        },
        None => parsed,
    })
}

/// `_name`, which stands beside a query's parameters or under its only field.
fn name_of(body: &Value) -> Option<&str> {
    let members = body.as_object()?;
    let own = members.get("_name").or_else(|| match members.len() {
        1 => members.values().next()?.get("_name"),
        _ => None,
    });
    own?.as_str()
}

/// A query inside a text, in base 64.
fn wrapper(body: &Value, depth: usize) -> Result<Query, DslError> {
    let mut parameters = object::Parameters::new("wrapper", body)?;
    let text = parameters
        .text("query")?
        .ok_or_else(|| DslError::parsing("[wrapper] query malformed"))?;
    parameters.boost()?;
    parameters.finish()?;
    let wrong = |reason: String| DslError::illegal(format!("failed to parse wrapper: {reason}"));
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(text)
        .map_err(|error| wrong(error.to_string()))?;
    let inner = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
    query(&inner, depth + 1)
}

/// The queries there are, for those who misspell one.
const NAMES: &[&str] = &[
    "match_all",
    "match_none",
    "match",
    "match_phrase",
    "match_phrase_prefix",
    "match_bool_prefix",
    "multi_match",
    "query_string",
    "simple_query_string",
    "term",
    "terms",
    "range",
    "exists",
    "ids",
    "prefix",
    "wildcard",
    "regexp",
    "fuzzy",
    "bool",
    "constant_score",
    "dis_max",
    "boosting",
    "knn",
];

fn dispatch(name: &str, body: &Value, depth: usize) -> Result<Query, DslError> {
    match name {
        "match_all" => leaf::match_all(body),
        "match_none" => leaf::match_none(body),
        "match" => fields::matches(body),
        "match_phrase" => fields::match_phrase(body, false),
        "match_phrase_prefix" => fields::match_phrase(body, true),
        "match_bool_prefix" => fields::match_bool_prefix(body),
        "multi_match" => multi::multi_match(body),
        "query_string" => multi::query_string(body),
        "simple_query_string" => multi::simple_query_string(body),
        "term" => leaf::term(body),
        "terms" => leaf::terms(body),
        "range" => leaf::range(body),
        "exists" => leaf::exists(body),
        "ids" => leaf::ids(body),
        "prefix" => leaf::prefix(body),
        "wildcard" => leaf::wildcard(body),
        "regexp" => leaf::regexp(body),
        "fuzzy" => leaf::fuzzy(body),
        "bool" => compound::bool(body, depth),
        "constant_score" => compound::constant_score(body, depth),
        "dis_max" => compound::dis_max(body, depth),
        "boosting" => compound::boosting(body, depth),
        "knn" => knn::knn(body, depth),
        "nested" => nested::nested(body, depth),
        "percolate" => percolate::percolate(body),
        "has_child" => relatives::has_child(body, depth),
        "has_parent" => relatives::has_parent(body, depth),
        "parent_id" => relatives::parent_id(body),
        "geo_distance" => geo::geo_distance(body),
        "geo_bounding_box" => geo::geo_bounding_box(body),
        "geo_polygon" => geo::geo_polygon(body),
        "geo_shape" => geo::geo_shape(body),
        "function_score" => function::function_score(body, depth),
        "rank_feature" => feature::rank_feature(body),
        "neural_sparse" => feature::neural_sparse(body),
        "distance_feature" => function::distance_feature(body),
        "more_like_this" | "mlt" => similar::more_like_this(body),
        "terms_set" => similar::terms_set(body),
        "script_score" => script::script_score(body, depth),
        "wrapper" => wrapper(body, depth),
        "hybrid" => Err(hybrid::inside_another()),
        "intervals" => intervals::intervals(body),
        name if span::NAMES.contains(&name) => span::span(name, body, depth),
        _ => {
            let meant = did_you_mean(name, NAMES);
            Err(DslError::parsing(format!("unknown query [{name}]{meant}")))
        }
    }
}

#[cfg(test)]
mod tests;
