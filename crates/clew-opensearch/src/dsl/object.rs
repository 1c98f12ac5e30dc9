//! Reading a query's parameters: each one is taken at most once, and what is left is unknown.

use clew_query::{MinimumShouldMatch, Operator};
pub(super) use clew_schema::text_of as plain;
use serde_json::{Map, Value};

use super::DslError;

/// The parameters of one query, and the query's name for errors.
pub(super) struct Parameters<'a> {
    query: &'static str,
    entries: Vec<(&'a str, &'a Value)>,
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
        }
    }

    pub(super) fn take(&mut self, name: &str) -> Option<&'a Value> {
        let at = self.entries.iter().position(|(have, _)| *have == name)?;
        Some(self.entries.remove(at).1)
    }

    /// Whether it was given and not taken yet.
    pub(super) fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|(have, _)| *have == name)
    }

    /// The next one, whatever its name.
    pub(super) fn take_any(&mut self) -> Option<(&'a str, &'a Value)> {
        (!self.entries.is_empty()).then(|| self.entries.remove(0))
    }

    /// Parameters that are accepted and change nothing here.
    pub(super) fn ignore(&mut self, names: &[&str]) {
        self.entries.retain(|(name, _)| !names.contains(name));
    }

    /// The first name that nobody has taken.
    pub(super) fn first_name(&self) -> Option<&'a str> {
        self.entries.first().map(|(name, _)| *name)
    }

    /// Fails when something is left.
    pub(super) fn finish(self) -> Result<(), DslError> {
        match self.entries.first() {
            None => Ok(()),
            Some((name, value)) if value.is_object() || value.is_array() => {
                let token = if value.is_object() {
                    "START_OBJECT"
                } else {
                    "START_ARRAY"
                };
                Err(DslError::parsing(format!(
                    "[{}] unknown token [{token}] after [{name}]",
                    self.query
                )))
            }
            Some((name, _)) => Err(DslError::parsing(format!(
                "[{}] query does not support [{name}]",
                self.query
            ))),
        }
    }

    /// The same, in the words of those readers that know their members by name.
    pub(super) fn finish_by_name(self) -> Result<(), DslError> {
        match self.first_name() {
            None => Ok(()),
            Some(name) => Err(DslError::content(format!(
                "[{}] unknown field [{name}]",
                self.query
            ))),
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
        let number = number.ok_or_else(|| self.wrong(value))?;
        #[allow(
            clippy::cast_possible_truncation,
            reason = "scores and boosts are 32 bits wide"
        )]
        let number = number as f32;
        if name == "boost" {
            check_boost(number, self.query)?;
        }
        Ok(Some(number))
    }

    pub(super) fn whole(&mut self, name: &str) -> Result<Option<usize>, DslError> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        whole(value).map(Some).ok_or_else(|| self.wrong(value))
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>, DslError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(truth)) => Ok(Some(*truth)),
            Some(Value::String(text)) if text == "true" => Ok(Some(true)),
            Some(Value::String(text)) if text == "false" => Ok(Some(false)),
            Some(other) => Err(DslError::illegal(format!(
                "Failed to parse value [{}] as only [true] or [false] are allowed.",
                plain(other)
            ))),
        }
    }

    /// A scalar as text.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, DslError> {
        match self.take(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value @ (Value::Object(_) | Value::Array(_))) => Err(self.wrong(value)),
            Some(value) => Ok(Some(plain(value))),
        }
    }

    pub(super) fn operator(&mut self, name: &str) -> Result<Operator, DslError> {
        match self.text(name)? {
            None => Ok(Operator::Or),
            Some(text) if text.eq_ignore_ascii_case("or") => Ok(Operator::Or),
            Some(text) if text.eq_ignore_ascii_case("and") => Ok(Operator::And),
            Some(text) => Err(DslError::illegal(format!(
                "No enum constant org.opensearch.index.query.Operator.{}",
                text.to_uppercase()
            ))),
        }
    }

    pub(super) fn minimum_should_match(&mut self) -> Result<Option<MinimumShouldMatch>, DslError> {
        self.text("minimum_should_match")?
            .map(|text| text.parse().map_err(DslError::illegal))
            .transpose()
    }

    fn wrong(&self, value: &Value) -> DslError {
        if let Value::String(text) = value {
            return DslError::no_number(text);
        }
        DslError::illegal(format!(
            "[{}] failed to parse value [{}]",
            self.query,
            plain(value)
        ))
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
            "term" | "range" => DslError::illegal("field name is null or empty"),
            _ => DslError::illegal(format!("[{query}] requires fieldName")),
        });
    };
    if let Some((second, _)) = fields.next() {
        return Err(DslError::parsing(format!(
            "[{query}] query doesn't support multiple fields, found [{field}] and [{second}]"
        )));
    }
    if value.is_array() && query == "term" {
        return Err(DslError::parsing(
            "[term] query does not support array of values",
        ));
    }
    if value.is_array() {
        return Err(DslError::parsing(format!(
            "[{query}] unknown token [START_ARRAY] after [{field}]"
        )));
    }
    Ok((field, value))
}

/// The parameters of a field: an object as it is, a scalar as `key`.
pub(super) fn long_form(key: &str, value: &Value) -> Value {
    match value {
        Value::Object(_) => value.clone(),
        scalar => {
            let mut object = Map::new();
            object.insert(key.to_string(), scalar.clone());
            Value::Object(object)
        }
    }
}
