//! Reading a query's parameters: each one is taken at most once, and what is left is unknown.

use clew_query::{MinimumShouldMatch, Operator};
pub(super) use clew_schema::text_of as plain;
use serde_json::{Map, Value};

use super::{DslError, flag_in, integer_in};
use crate::http::place::{Spot, token};

/// The parameters of one query, and the query's name for errors.
pub(super) struct Parameters<'a> {
    query: &'static str,
    reader: Reader,
    entries: Vec<(&'a str, &'a Value)>,
    /// The one that was taken last: what is wrong is wrong with it, unless something else is said.
    last: Option<&'a Value>,
    /// What is wrong with the parameters together.
    late: Option<DslError>,
}

/// How OpenSearch reads parameters, which shows in its words for what is wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// By hand, each query in its own way.
    ByHand,
    /// By a table of the fields that the object has.
    ByFields,
}

/// Queries of which OpenSearch takes no parameter that is null.
const OF_WORDS: [&str; 7] = [
    "match",
    "match_bool_prefix",
    "match_phrase",
    "match_phrase_prefix",
    "multi_match",
    "query_string",
    "simple_query_string",
];

/// Refuses parameters that are null; of the text itself it is told when the others are read.
fn refuse_nulls(query: &str, object: &Map<String, Value>) -> Result<(), DslError> {
    let mut nulls = object.iter().filter(|(_, value)| value.is_null());
    let Some((name, value)) = nulls.find(|(name, _)| name.as_str() != "query") else {
        return Ok(());
    };
    let reason = format!("[{query}] unknown token [VALUE_NULL] after [{name}]");
    Err(DslError::parsing(reason).at(Spot::start_of(value)))
}

/// The refusal of an object that lacks some of what must be in it, which are told together.
pub(super) fn lacking(given: &[(&str, Option<&Value>)]) -> DslError {
    let missing = given.iter().filter(|(_, value)| value.is_none());
    let missing: Vec<&str> = missing.map(|(name, _)| *name).collect();
    DslError::illegal(format!("Required [{}]", missing.join(", ")))
}

/// Scores are added and compared as numbers that are not negative.
pub(super) fn check_boost(boost: f32, query: &str) -> Result<(), DslError> {
    if boost >= 0.0 {
        return Ok(());
    }
    Err(DslError::illegal(format!(
        "negative [boost] are not allowed in [{query}], use a value between 0 and 1 to deboost"
    )))
}

impl<'a> Parameters<'a> {
    pub(super) fn new(query: &'static str, body: &'a Value) -> Result<Self, DslError> {
        let Value::Object(object) = body else {
            return Err(DslError::parsing(format!(
                "[{query}] query malformed, no start_object after query name"
            )));
        };
        if OF_WORDS.contains(&query) {
            refuse_nulls(query, object)?;
        }
        Ok(Self::of(query, object))
    }

    pub(super) fn of(query: &'static str, object: &'a Map<String, Value>) -> Self {
        let entries = object.iter().map(|(name, value)| (name.as_str(), value));
        Self::over(query, entries.collect())
    }

    /// The parameters of a field: an object as it is, a scalar as `key`.
    pub(super) fn of_field(
        query: &'static str,
        key: &'static str,
        value: &'a Value,
    ) -> Result<Self, DslError> {
        match value {
            Value::Object(_) => Self::new(query, value),
            scalar => Ok(Self::over(query, vec![(key, scalar)])),
        }
    }

    fn over(query: &'static str, entries: Vec<(&'a str, &'a Value)>) -> Self {
        Parameters {
            query,
            reader: Reader::ByHand,
            entries,
            last: None,
            late: None,
        }
    }

    /// The same as what OpenSearch reads by a table of the fields of an object that it calls so.
    pub(super) fn by_fields(self, object: &'static str) -> Self {
        Parameters {
            query: object,
            reader: Reader::ByFields,
            ..self
        }
    }

    /// Keeps what is wrong with the parameters together, as that one is missing, which is told when all are read and known.
    /// Whoever reads goes on with a value that stands in.
    pub(super) fn late(&mut self, error: DslError) {
        self.late.get_or_insert(error);
    }

    pub(super) fn take(&mut self, name: &str) -> Option<&'a Value> {
        let at = self.entries.iter().position(|(have, _)| *have == name)?;
        self.last = Some(self.entries.remove(at).1);
        self.last
    }

    /// Whether it was given and not taken yet.
    pub(super) fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|(have, _)| *have == name)
    }

    /// The next one, whatever its name.
    pub(super) fn take_any(&mut self) -> Option<(&'a str, &'a Value)> {
        let any = (!self.entries.is_empty()).then(|| self.entries.remove(0))?;
        self.last = Some(any.1);
        Some(any)
    }

    /// Parameters that are accepted and change nothing here.
    pub(super) fn ignore(&mut self, names: &[&str]) {
        self.entries.retain(|(name, _)| !names.contains(name));
    }

    /// The error at the value that was taken last.
    pub(super) fn of_last(&self, error: DslError) -> DslError {
        match self.last {
            Some(value) => error.or_at(Spot::start_of(value)),
            None => error,
        }
    }

    /// The error as it is told of the parameter that was taken last.
    pub(super) fn in_field(&self, field: &str, error: DslError) -> DslError {
        self.of_last(error).in_field(self.query, field)
    }

    /// The first one that nobody has taken.
    pub(super) fn first(&self) -> Option<(&'a str, &'a Value)> {
        self.entries.first().copied()
    }

    /// The first name that nobody has taken.
    pub(super) fn first_name(&self) -> Option<&'a str> {
        self.first().map(|(name, _)| name)
    }

    /// Fails when something is left.
    pub(super) fn finish(self) -> Result<(), DslError> {
        let Some((name, value)) = self.first() else {
            return self.late.map_or(Ok(()), Err);
        };
        if self.reader == Reader::ByFields {
            let reason = format!("[{}] unknown field [{name}]", self.query);
            return Err(DslError::content(reason).at(Spot::name_of(value)));
        }
        if value.is_object() || value.is_array() {
            return Err(self.unknown_token(name, value));
        }
        let reason = match self.query {
            "function_score" => {
                format!("failed to parse [function_score] query. field [{name}] is not supported")
            }
            query @ ("field_value_factor" | "random_score") => {
                format!("{query} query does not support [{name}]")
            }
            "simple_query_string" => format!("[simple_query_string] unsupported field [{name}]"),
            "_geo_distance" => format!("[_geo_distance] does not support [{name}]"),
            query => format!("[{query}] query does not support [{name}]"),
        };
        Err(DslError::parsing(reason).at(Spot::start_of(value)))
    }

    /// The same, in the words of those readers that know their members by name.
    pub(super) fn finish_by_name(self) -> Result<(), DslError> {
        let object = self.query;
        self.by_fields(object).finish()
    }

    pub(super) fn boost(&mut self) -> Result<f32, DslError> {
        self.ignore(&["_name"]);
        Ok(self.float("boost")?.unwrap_or(1.0))
    }

    /// A factor; it must not be negative.
    pub(super) fn float(&mut self, name: &str) -> Result<Option<f32>, DslError> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        let number = number.ok_or_else(|| self.wrong(name, value))?;
        #[allow(
            clippy::cast_possible_truncation,
            reason = "scores and boosts are 32 bits wide"
        )]
        let number = number as f32;
        if name == "boost" {
            check_boost(number, self.query).map_err(|error| error.at(Spot::start_of(value)))?;
        }
        Ok(Some(number))
    }

    /// A whole number of 32 bits that is not negative; what stands behind a point is cut off.
    pub(super) fn whole(&mut self, name: &str) -> Result<Option<usize>, DslError> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let number = integer_in(value).ok().flatten();
        let number = number.and_then(|number| i32::try_from(number).ok());
        let number = number.and_then(|number| usize::try_from(number).ok());
        number.map(Some).ok_or_else(|| self.wrong(name, value))
    }

    /// A whole number that is not below the least, and what is told of one that is.
    pub(super) fn at_least<R: Into<String>>(
        &mut self,
        name: &str,
        least: i64,
        reason: impl FnOnce() -> R,
    ) -> Result<Option<usize>, DslError> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let number = integer_in(value).map_err(|error| self.of_last(error))?;
        let number = number.ok_or_else(|| self.wrong(name, value))?;
        if number < least {
            return Err(DslError::illegal(reason()));
        }
        Ok(usize::try_from(number).ok())
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>, DslError> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let flag = flag_in(value).ok().flatten();
        flag.map(Some).ok_or_else(|| match (self.reader, value) {
            (Reader::ByFields, Value::String(text)) => self.in_field(name, DslError::no_flag(text)),
            (Reader::ByFields, _) => self.other_sort(name, value),
            (Reader::ByHand, Value::String(text)) => {
                DslError::no_flag(text).at(Spot::start_of(value))
            }
            (Reader::ByHand, Value::Object(_) | Value::Array(_)) if !self.reads_at_once() => {
                self.unknown_token(name, value)
            }
            (Reader::ByHand, _) => DslError::not_boolean(value),
        })
    }

    /// A scalar as text.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, DslError> {
        match self.take(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value @ (Value::Object(_) | Value::Array(_))) => Err(match self.reader {
                Reader::ByFields => self.other_sort(name, value),
                Reader::ByHand => self.unknown_token(name, value),
            }),
            Some(value) => Ok(Some(plain(value))),
        }
    }

    pub(super) fn operator(&mut self, name: &str) -> Result<Operator, DslError> {
        match self.text(name)? {
            None => Ok(Operator::Or),
            Some(text) if text.eq_ignore_ascii_case("or") => Ok(Operator::Or),
            Some(text) if text.eq_ignore_ascii_case("and") => Ok(Operator::And),
            Some(text) => Err(self.of_last(DslError::illegal(format!(
                "No enum constant org.opensearch.index.query.Operator.{}",
                text.to_uppercase()
            )))),
        }
    }

    pub(super) fn minimum_should_match(&mut self) -> Result<Option<MinimumShouldMatch>, DslError> {
        self.text("minimum_should_match")?
            .map(|text| text.parse().map_err(DslError::found_by_shards))
            .transpose()
    }

    /// The refusal of an object or an array where none can stand.
    pub(super) fn unknown_token(&self, name: &str, value: &Value) -> DslError {
        let found = token(value);
        if matches!(self.query, "bool" | "field_sort" | "_score" | "_script") {
            return self.other_sort(name, value);
        }
        let is_array = value.is_array();
        let reason = match self.query {
            query @ ("term" | "prefix" | "wildcard" | "regexp" | "range" | "constant_score"
            | "geo_distance" | "terms_set" | "mlt" | "span_near") => {
                format!("[{query}] query does not support [{name}]")
            }
            query @ ("query_string" | "simple_query_string") if is_array => {
                format!("[{query}] query does not support [{name}]")
            }
            "function_score" if is_array => {
                format!("failed to parse [function_score] query. array [{name}] is not supported")
            }
            "fuzzy" => format!("[fuzzy] unexpected token [{found}] after [{name}]"),
            query => format!("[{query}] unknown token [{found}] after [{name}]"),
        };
        DslError::parsing(reason).at(Spot::start_of(value))
    }

    /// The refusal of a value of another sort than the field of a table takes.
    pub(super) fn other_sort(&self, name: &str, value: &Value) -> DslError {
        let (query, found) = (self.query, token(value));
        let reason = format!("[{query}] {name} doesn't support values of type: {found}");
        DslError::content(reason).at(Spot::start_of(value))
    }

    /// The refusal of a value that is not the number which a parameter takes.
    fn wrong(&self, name: &str, value: &Value) -> DslError {
        let by_fields = self.reader == Reader::ByFields;
        if let Value::String(text) = value {
            let error = DslError::no_number(text).at(Spot::start_of(value));
            return if by_fields {
                self.in_field(name, error)
            } else {
                error
            };
        }
        if by_fields {
            return self.other_sort(name, value);
        }
        let is_nested = value.is_object() || value.is_array();
        if is_nested && !self.reads_at_once() || value.is_null() && self.query == "fuzzy" {
            return self.unknown_token(name, value);
        }
        if !value.is_number() {
            return DslError::not_numeric(value);
        }
        DslError::illegal(format!(
            "[{}] failed to parse value [{}]",
            self.query,
            plain(value)
        ))
        .at(Spot::start_of(value))
    }

    /// Whether OpenSearch does not look at what stands in place of a value before it reads that.
    fn reads_at_once(&self) -> bool {
        matches!(
            self.query,
            "term" | "prefix" | "wildcard" | "regexp" | "range" | "span_term" | "span_not"
        )
    }

    pub(super) fn query(&self) -> &'static str {
        self.query
    }
}

/// A whole number that is not negative.
pub(super) fn whole(value: &Value) -> Option<usize> {
    let number = match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    number.and_then(|number| usize::try_from(number).ok())
}

/// The one field that a query like `{"match": {"title": …}}` names, and what is said of it.
pub(super) fn one_field<'a>(
    query: &'static str,
    body: &'a Value,
) -> Result<(&'a str, &'a Value), DslError> {
    let Value::Object(object) = body else {
        return Err(DslError::parsing(format!(
            "[{query}] query malformed, no start_object after query name"
        )));
    };
    let is_beside = |name: &str| matches!(name, "boost" | "_name");
    let beside = object
        .iter()
        .find(|(name, value)| is_beside(name) && !value.is_object() && !value.is_null());
    if let Some((name, value)) = beside
        && query == "range"
    {
        let reason = format!("[range] query does not support [{name}]");
        return Err(DslError::parsing(reason).at(Spot::start_of(value)));
    }
    // These read whatever stands beside the field as another one.
    let is_strict = matches!(query, "match" | "term");
    let mut fields = object
        .iter()
        .filter(|(name, _)| is_strict || !is_beside(name));
    let Some((field, value)) = fields.next() else {
        return Err(match query {
            "match" => DslError::parsing("No text specified for text query"),
            "term" | "range" | "prefix" | "wildcard" | "regexp" | "span_term" => {
                DslError::illegal("field name is null or empty")
            }
            "fuzzy" => DslError::illegal("field name cannot be null or empty"),
            "intervals" => DslError::parsing("Expected [FIELD_NAME] but got [END_OBJECT]"),
            "terms_set" => DslError::parsing("[terms_set] unknown token [END_OBJECT]"),
            _ => DslError::illegal(format!("[{query}] requires fieldName")),
        });
    };
    if let Some((second, second_value)) = fields.next() {
        let reason = format!(
            "[{query}] query doesn't support multiple fields, found [{field}] and [{second}]"
        );
        return Err(DslError::parsing(reason).at(Spot::start_of(second_value)));
    }
    if value.is_null() && matches!(query, "term" | "range") {
        return Err(DslError::illegal("field name is null or empty"));
    }
    if value.is_array() {
        let reason = match query {
            "term" => "[term] query does not support array of values".to_string(),
            "range" => format!("[range] query does not support [{field}]"),
            _ => format!("[{query}] unknown token [START_ARRAY] after [{field}]"),
        };
        return Err(DslError::parsing(reason).at(Spot::start_of(value)));
    }
    Ok((field, value))
}
