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
mod object_parser;
mod percolate;
mod relatives;
mod script;
mod similar;
mod sort;
mod span;
mod told;

use base64::Engine as _;
use clew_query::{Query, ScriptError, number_refusal};
use serde_json::{Map, Value};

use crate::http::error::{EMPTY_CLAUSE, NOT_BUILT};
use crate::http::place::{Spot, token};
use crate::http::suggestion::did_you_mean;

pub(crate) use bitmap::numbers as bitmap_numbers;
pub(crate) use geo::{bounding_box, shape_area};
pub use hybrid::{HybridQuery, parse_search_query};
pub(crate) use leaf::check_zone;
pub(crate) use object_parser::{Field, flag_in, integer_in, number_in};
pub use percolate::query_reader;
pub(crate) use script::Written as WrittenScript;
pub use sort::parse_sort;
pub(crate) use sort::parse_uri_sort;

/// Which kind of error a client is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DslErrorKind {
    /// `parsing_exception`.
    Parsing,
    /// `illegal_argument_exception`.
    IllegalArgument,
    /// `x_content_parse_exception`.
    XContentParse,
    /// `number_format_exception`.
    NumberFormat,
    /// `parse_exception`.
    Malformed,
    /// `script_exception`.
    Script,
    /// `named_object_not_found_exception`.
    NamedObject,
    /// `json_parse_exception`.
    Json,
    /// `illegal_state_exception`.
    State,
    /// `date_time_exception`.
    DateTime,
    /// `zone_rules_exception`.
    ZoneRules,
    /// `query_shard_exception`.
    Create,
    /// `parse_exception` of Java's own, which is no root of what it is the cause of.
    JavaParse,
    /// `aggregation_initialization_exception`.
    Initialization,
}

impl DslErrorKind {
    /// The error's `type`.
    pub fn type_name(self) -> &'static str {
        match self {
            DslErrorKind::Parsing => "parsing_exception",
            DslErrorKind::IllegalArgument => "illegal_argument_exception",
            DslErrorKind::XContentParse => "x_content_parse_exception",
            DslErrorKind::NumberFormat => "number_format_exception",
            DslErrorKind::Malformed => "parse_exception",
            DslErrorKind::Script => "script_exception",
            DslErrorKind::NamedObject => "named_object_not_found_exception",
            DslErrorKind::Json => "json_parse_exception",
            DslErrorKind::State => "illegal_state_exception",
            DslErrorKind::DateTime => "date_time_exception",
            DslErrorKind::ZoneRules => "zone_rules_exception",
            DslErrorKind::Create => "query_shard_exception",
            DslErrorKind::JavaParse => "parse_exception",
            DslErrorKind::Initialization => "aggregation_initialization_exception",
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
    /// The script that was not understood, and where.
    pub script: Option<Box<ScriptError>>,
    /// Where in the body it is.
    pub(crate) spot: Option<Spot>,
    /// When OpenSearch finds it.
    pub(crate) found: Found,
}

/// When OpenSearch finds what is wrong with a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Found {
    /// When the request is read, or, for some kinds of errors, by the shards that it goes to.
    #[default]
    Asked,
    /// By the shards that it goes to, whatever kind it is of.
    Shards,
    /// When what the shards have found is put together.
    Reducing,
}

impl DslError {
    /// An error of this kind, with nothing within it.
    pub(crate) fn of(kind: DslErrorKind, reason: impl Into<String>) -> Self {
        DslError {
            kind,
            reason: reason.into(),
            within: None,
            script: None,
            spot: None,
            found: Found::Asked,
        }
    }

    /// A name in the place of a kind of query or aggregation of which there is none, with the reason that says so.
    pub(crate) fn unknown_name(name: &str, spot: Option<Spot>, reason: String) -> Self {
        let kind = DslErrorKind::NamedObject;
        let within = DslError {
            spot,
            ..Self::of(kind, format!("unknown field [{name}]"))
        };
        DslError {
            spot,
            within: Some(Box::new(within)),
            ..Self::parsing(reason)
        }
    }

    /// Says where it is.
    pub(crate) fn at(mut self, spot: Spot) -> Self {
        self.spot = Some(spot);
        self
    }

    /// Says where it is, unless that is said already.
    pub(crate) fn or_at(mut self, spot: Spot) -> Self {
        self.spot.get_or_insert(spot);
        self
    }

    pub(crate) fn content(reason: impl Into<String>) -> Self {
        Self::of(DslErrorKind::XContentParse, reason)
    }

    /// What is wrong with a query that can be read: shards find it when they make it.
    pub(crate) fn found_by_shards(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let told = format!("failed to create query: {reason}");
        DslError {
            within: Some(Box::new(Self::of_length(reason))),
            ..Self::of(DslErrorKind::Create, told)
        }
    }

    /// The same as something that only shards find, when they make what was read.
    pub(crate) fn of_shards(self) -> Self {
        let found = match self.found {
            Found::Asked | Found::Shards => Found::Shards,
            Found::Reducing => Found::Reducing,
        };
        DslError { found, ..self }
    }

    /// A text that is no number, where one must stand.
    pub(crate) fn no_number(text: &str) -> Self {
        Self::of(DslErrorKind::NumberFormat, number_refusal(text))
    }

    /// The same where OpenSearch reads 64 bits: as of other illegal arguments.
    pub(crate) fn no_long(text: &str) -> Self {
        Self::illegal(format!("For input string: \"{text}\""))
    }

    /// A text that is neither of the two words where one of them must stand.
    pub(crate) fn no_flag(text: &str) -> Self {
        Self::illegal(format!(
            "Failed to parse value [{text}] as only [true] or [false] are allowed."
        ))
    }

    /// A value that is neither a number nor a text, where the reader of JSON itself is asked for a number.
    pub(crate) fn not_numeric(value: &Value) -> Self {
        let found = json_token(value);
        let reason =
            format!("Current token ({found}) not numeric, can not use numeric value accessors");
        Self::of(DslErrorKind::Json, reason).at(Spot::first_token_of(value))
    }

    /// The same where it is asked for yes or no.
    pub(crate) fn not_boolean(value: &Value) -> Self {
        let reason = format!("Current token ({}) not of boolean type", json_token(value));
        Self::of(DslErrorKind::Json, reason).at(Spot::first_token_of(value))
    }

    /// A text that names no time zone, as Java says which it is not.
    pub(crate) fn no_zone(text: &str) -> Self {
        let is_name = text.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && text
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "~/._+-".contains(letter));
        if text.len() < 2 || text.starts_with(['+', '-']) {
            let reason = format!("Invalid ID for ZoneOffset, invalid format: {text}");
            Self::of(DslErrorKind::DateTime, reason)
        } else if is_name {
            Self::of(
                DslErrorKind::ZoneRules,
                format!("Unknown time-zone ID: {text}"),
            )
        } else {
            let reason = format!("Invalid ID for region-based ZoneId, invalid format: {text}");
            Self::of(DslErrorKind::DateTime, reason)
        }
    }

    /// What is wrong with something that has a number in it: the number, or all of it.
    pub(crate) fn of_length(reason: String) -> Self {
        if reason.starts_with("For input string: ") {
            Self::of(DslErrorKind::NumberFormat, reason)
        } else {
            Self::illegal(reason)
        }
    }

    /// The error as those queries hand it on that are read by a table of their fields inside a reader by hand.
    pub(crate) fn handed_on(self) -> Self {
        match self.kind {
            DslErrorKind::XContentParse => DslError {
                spot: self.spot.map(Spot::past_name),
                reason: self.reason.clone(),
                within: Some(Box::new(self)),
                ..Self::parsing("")
            },
            _ => self,
        }
    }

    /// The error as it is told of a member whose value has it. A member that is unknown is told at its name, and what it is
    /// in where the reader has come to: at its value.
    pub(crate) fn in_field(self, query: &str, field: &str) -> Self {
        // Scripts are compiled, and queries made, by shards, once all has been read.
        let is_of_shards = self.found == Found::Shards;
        if is_of_shards || matches!(self.kind, DslErrorKind::Script | DslErrorKind::Create) {
            return self;
        }
        DslError {
            spot: self.spot.map(Spot::past_name),
            within: Some(Box::new(self)),
            ..Self::content(format!("[{query}] failed to parse field [{field}]"))
        }
    }

    /// The error as it is told where it is found when all of an object is read that must be there.
    pub(crate) fn not_built(self, object: &str) -> Self {
        let reason = format!("{NOT_BUILT}{object}] after last required field arrived");
        DslError {
            within: Some(Box::new(self)),
            ..Self::content(reason)
        }
    }

    pub(crate) fn parsing(reason: impl Into<String>) -> Self {
        Self::of(DslErrorKind::Parsing, reason)
    }

    pub(crate) fn illegal(reason: impl Into<String>) -> Self {
        Self::of(DslErrorKind::IllegalArgument, reason)
    }
}

/// A value's first token as the reader of JSON itself calls it.
fn json_token(value: &Value) -> &'static str {
    match value {
        Value::Bool(true) => "VALUE_TRUE",
        Value::Bool(false) => "VALUE_FALSE",
        Value::Number(number) if number.is_f64() => "VALUE_NUMBER_FLOAT",
        Value::Number(_) => "VALUE_NUMBER_INT",
        other => token(other),
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
        let reason = "[_na] query malformed, must start with start_object";
        return Err(DslError::parsing(reason).at(Spot::start_of(value)));
    };
    let mut entries = object.iter();
    let Some((name, body)) = entries.next() else {
        let error = DslError::illegal(EMPTY_CLAUSE);
        return Err(error.at(Spot::end_of(value)));
    };
    if !body.is_object() {
        let reason = format!("[{name}] query malformed, no start_object after query name");
        return Err(DslError::parsing(reason).at(Spot::start_of(body)));
    }
    // What readers find only when they have read everything is told at the end of it.
    let parsed = dispatch(name, body, depth).map_err(|error| error.or_at(Spot::end_of(body)))?;
    if let Some((_, second)) = entries.next() {
        let reason =
            format!("[{name}] malformed query, expected [END_OBJECT] but found [FIELD_NAME]");
        return Err(DslError::parsing(reason).at(Spot::name_of(second)));
    }
    // A query that only holds another one has its name for its own.
    let is_called = |wanted: &str| matches!(&parsed, Query::Named { name, .. } if name == wanted);
    Ok(match name_of(body) {
        Some(name) if !is_called(name) => Query::Named {
            name: name.to_string(),
            query: Box::new(parsed),
        },
        _ => parsed,
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
    if let Some((name, value)) = parameters.first()
        && !parameters.has("query")
    {
        let reason = format!("[wrapper] query malformed, expected `query` but was {name}");
        return Err(DslError::parsing(reason).at(Spot::name_of(value)));
    }
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

/// A query with places that steps of a search pipeline fill before it is read. The only step that fills any runs models
/// (`ml_inference`), of which there are none here, so that it is read as it stands.
fn template(body: &Value, depth: usize) -> Result<Query, DslError> {
    if body.as_object().is_some_and(Map::is_empty) {
        return Err(DslError::illegal(
            "Template string cannot be empty. A valid template must be provided.",
        ));
    }
    query(body, depth + 1).map_err(|error| DslError {
        within: Some(Box::new(error)),
        ..DslError::illegal(format!("Failed to rewrite template query: {body}"))
    })
}

/// Reads what stands under a query's name, at a depth.
type Reader = fn(&Value, usize) -> Result<Query, DslError>;

/// The queries there are, but for spans.
const QUERIES: &[(&str, Reader)] = &[
    ("match_all", |body, _| leaf::match_all(body)),
    ("match_none", |body, _| leaf::match_none(body)),
    ("match", |body, _| fields::matches(body)),
    ("common", |body, _| fields::common(body)),
    ("match_phrase", |body, _| fields::match_phrase(body, false)),
    ("match_phrase_prefix", |body, _| {
        fields::match_phrase(body, true)
    }),
    ("match_bool_prefix", |body, _| {
        fields::match_bool_prefix(body)
    }),
    ("multi_match", |body, _| multi::multi_match(body)),
    ("query_string", |body, _| multi::query_string(body)),
    ("simple_query_string", |body, _| {
        multi::simple_query_string(body)
    }),
    ("term", |body, _| leaf::term(body)),
    ("terms", |body, _| leaf::terms(body)),
    ("range", |body, _| leaf::range(body)),
    ("exists", |body, _| leaf::exists(body)),
    ("ids", |body, _| leaf::ids(body)),
    ("prefix", |body, _| leaf::prefix(body)),
    ("wildcard", |body, _| leaf::wildcard(body)),
    ("regexp", |body, _| leaf::regexp(body)),
    ("fuzzy", |body, _| leaf::fuzzy(body)),
    ("bool", compound::bool),
    ("constant_score", compound::constant_score),
    ("dis_max", compound::dis_max),
    ("boosting", compound::boosting),
    ("knn", knn::knn),
    ("neural", |_, _| Err(knn::neural())),
    ("nested", nested::nested),
    ("percolate", |body, _| percolate::percolate(body)),
    ("has_child", relatives::has_child),
    ("has_parent", relatives::has_parent),
    ("parent_id", |body, _| relatives::parent_id(body)),
    ("geo_distance", |body, _| geo::geo_distance(body)),
    ("geo_bounding_box", |body, _| geo::geo_bounding_box(body)),
    ("geo_polygon", |body, _| geo::geo_polygon(body)),
    ("geo_shape", |body, _| geo::geo_shape(body)),
    ("function_score", function::function_score),
    ("rank_feature", |body, _| feature::rank_feature(body)),
    ("neural_sparse", |body, _| feature::neural_sparse(body)),
    ("distance_feature", |body, _| {
        function::distance_feature(body)
    }),
    ("more_like_this", |body, _| similar::more_like_this(body)),
    ("mlt", |body, _| similar::more_like_this(body)),
    ("terms_set", |body, _| similar::terms_set(body)),
    ("script_score", script::script_score),
    ("script", |body, _| script::script(body)),
    ("wrapper", wrapper),
    ("template", template),
    ("hybrid", |_, _| Err(hybrid::inside_another())),
    ("intervals", |body, _| intervals::intervals(body)),
];

fn dispatch(name: &str, body: &Value, depth: usize) -> Result<Query, DslError> {
    if let Some((_, read)) = QUERIES.iter().find(|(known, _)| *known == name) {
        return read(body, depth);
    }
    if let Some(span) = span::span(name, body, depth)? {
        return Ok(span);
    }
    let known = QUERIES.iter().map(|(known, _)| *known);
    let known: Vec<&str> = known.chain(span::names()).collect();
    let meant = did_you_mean(name, &known);
    let reason = format!("unknown query [{name}]{meant}");
    let start = Spot::start_of(body);
    Err(DslError::unknown_name(name, Some(start), reason))
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod written;
