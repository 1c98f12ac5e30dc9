//! Reading a query's parameters: each one is taken at most once, and what is left is unknown.

use std::borrow::Cow;

use clew_query::{MinimumShouldMatch, Operator};
pub(super) use clew_schema::text_of as plain;
use serde_json::{Map, Value};

use super::{DslError, flag_in};
use crate::http::place::{Spot, token};

/// The parameters of one query, and the query's name for errors.
pub(super) struct Parameters<'a> {
    query: &'static str,
    entries: Vec<(&'a str, &'a Value)>,
    /// The one that was taken last: what is wrong is wrong with it, unless something else is said.
    last: Option<&'a Value>,
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
        Ok(Self::of(query, object))
    }

    pub(super) fn of(query: &'static str, object: &'a Map<String, Value>) -> Self {
        let entries = object.iter().map(|(name, value)| (name.as_str(), value));
        Parameters {
            query,
            entries: entries.collect(),
            last: None,
        }
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
        match self.entries.first() {
            None => Ok(()),
            Some((name, value)) if value.is_object() || value.is_array() => {
                Err(self.unknown_token(name, value))
            }
            Some((name, value)) => {
                let reason = format!("[{}] query does not support [{name}]", self.query);
                Err(DslError::parsing(reason).at(Spot::start_of(value)))
            }
        }
    }

    /// The same, in the words of those readers that know their members by name.
    pub(super) fn finish_by_name(self) -> Result<(), DslError> {
        match self.entries.first() {
            None => Ok(()),
            Some((name, value)) => {
                let reason = format!("[{}] unknown field [{name}]", self.query);
                Err(DslError::content(reason).at(Spot::name_of(value)))
            }
        }
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

    pub(super) fn whole(&mut self, name: &str) -> Result<Option<usize>, DslError> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        whole(value)
            .map(Some)
            .ok_or_else(|| self.wrong(name, value))
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>, DslError> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let flag = flag_in(value).ok().flatten();
        flag.map(Some)
            .ok_or_else(|| DslError::no_flag(&plain(value)).at(Spot::start_of(value)))
    }

    /// A scalar as text.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, DslError> {
        match self.take(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value @ (Value::Object(_) | Value::Array(_))) => Err(self.wrong(name, value)),
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
            .map(|text| text.parse().map_err(DslError::illegal))
            .transpose()
    }

    /// The refusal of an object or an array where none can stand.
    fn unknown_token(&self, name: &str, value: &Value) -> DslError {
        let found = token(value);
        if matches!(self.query, "bool" | "field_sort" | "_score" | "_script") {
            let reason = format!(
                "[{}] {name} doesn't support values of type: {found}",
                self.query
            );
            return DslError::content(reason).at(Spot::start_of(value));
        }
        let reason = match self.query {
            "term" | "prefix" | "wildcard" | "regexp" | "range" => {
                format!("[{}] query does not support [{name}]", self.query)
            }
            "fuzzy" => format!("[fuzzy] unexpected token [{found}] after [{name}]"),
            query => format!("[{query}] unknown token [{found}] after [{name}]"),
        };
        DslError::parsing(reason).at(Spot::start_of(value))
    }

    /// The refusal of a value that is not what a parameter takes.
    fn wrong(&self, name: &str, value: &Value) -> DslError {
        if let Value::String(text) = value {
            return DslError::no_number(text).at(Spot::start_of(value));
        }
        if value.is_object() || value.is_array() {
            return self.unknown_token(name, value);
        }
        DslError::illegal(format!(
            "[{}] failed to parse value [{}]",
            self.query,
            plain(value)
        ))
        .at(Spot::start_of(value))
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
    let mut fields = object
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "boost" | "_name"));
    let Some((field, value)) = fields.next() else {
        return Err(match query {
            "match" => DslError::parsing("No text specified for text query"),
            "term" | "range" | "prefix" | "wildcard" | "regexp" | "span_term" => {
                DslError::illegal("field name is null or empty")
            }
            "fuzzy" => DslError::illegal("field name cannot be null or empty"),
            _ => DslError::illegal(format!("[{query}] requires fieldName")),
        });
    };
    if let Some((second, second_value)) = fields.next() {
        let reason = format!(
            "[{query}] query doesn't support multiple fields, found [{field}] and [{second}]"
        );
        return Err(DslError::parsing(reason).at(Spot::start_of(second_value)));
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

/// The parameters of a field: an object as it is, a scalar as `key`.
pub(super) fn long_form<'a>(key: &str, value: &'a Value) -> Cow<'a, Value> {
    match value {
        Value::Object(_) => Cow::Borrowed(value),
        scalar => {
            let mut object = Map::new();
            object.insert(key.to_string(), scalar.clone());
            Cow::Owned(Value::Object(object))
        }
    }
}
