//! One aggregation's settings, taken out one by one; what is left over at the end is unknown.

use clew_query::ScriptPurpose;
use clew_query::aggregation::{Bounds, Direction, OrderBy, OrderKey, Scalar, Source};
use serde_json::{Map, Value};

use super::AggDslError;
use crate::dsl::{WrittenScript, flag_in};
use crate::http::place::{Spot, token};
use crate::http::suggestion::did_you_mean;

/// Aggregations whose values are a field's, never a script's.
const FIELD_ONLY: &[&str] = &["ip_range", "geohash_grid", "geotile_grid", "geo_bounds"];

/// What values may be taken for.
const VALUE_TYPES: &[&str] = &[
    "string",
    "double",
    "float",
    "number",
    "numeric",
    "long",
    "integer",
    "short",
    "byte",
    "unsigned_long",
    "date",
    "ip",
    "boolean",
];

/// The settings of one aggregation.
pub(super) struct Body<'a> {
    pub(super) kind: &'a str,
    pub(super) name: &'a str,
    settings: Vec<(&'a str, &'a Value)>,
    /// The object that the settings are members of, where they are all of an aggregation.
    whole: Option<&'a Value>,
    /// The setting that was taken last: what is wrong is wrong with it, unless something else is said.
    last: Option<&'a Value>,
    /// How documents are shown, which is of concern only to whoever does.
    pub(super) documents: Option<Map<String, Value>>,
    /// Settings that were asked for: what may be meant by unknown ones.
    known: Vec<String>,
}

impl<'a> Body<'a> {
    /// The settings of a part of an aggregation.
    pub(super) fn new(kind: &'a str, name: &'a str, settings: &'a Map<String, Value>) -> Self {
        let settings = settings.iter().map(|(key, value)| (key.as_str(), value));
        Body {
            kind,
            name,
            settings: settings.collect(),
            whole: None,
            last: None,
            documents: None,
            known: Vec::new(),
        }
    }

    /// All settings of an aggregation, which are an object.
    pub(super) fn of_aggregation(kind: &'a str, name: &'a str, value: &'a Value) -> Self {
        let settings = value.as_object().into_iter().flatten();
        Body {
            kind,
            name,
            settings: settings.map(|(key, value)| (key.as_str(), value)).collect(),
            whole: Some(value),
            last: None,
            documents: None,
            known: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, key: &str) -> Option<&'a Value> {
        self.known.push(key.to_string());
        let at = self.settings.iter().position(|(name, _)| *name == key)?;
        let (_, value) = self.settings.swap_remove(at);
        self.last = Some(value);
        (!value.is_null()).then_some(value)
    }

    /// Refuses what nobody took.
    pub(super) fn end(self) -> Result<(), AggDslError> {
        match self.settings.first() {
            None => Ok(()),
            Some((key, value)) => Err(self.unknown(key, value)),
        }
    }

    /// The refusal of a setting that there is not, as OpenSearch's reader of the aggregation has it: most of them read by a
    /// table of fields, the older ones each in words of its own.
    fn unknown(&self, key: &str, value: &Value) -> AggDslError {
        let (name, found) = (self.name, token(value));
        let reason = match self.kind {
            "sampler" => format!("Unsupported property \"{key}\" for aggregation \"{name}"),
            "nested" | "reverse_nested" | "children" | "parent" | "derivative"
            | "bucket_selector" => {
                format!("Unexpected token {found} in [{name}].")
            }
            "filters" | "moving_avg" | "serial_diff" => {
                format!("Unknown key for a {found} in [{name}]: [{key}].")
            }
            "global" => format!(
                "Expected [FIELD_NAME] under a [START_OBJECT], but got a [{found}] in [{name}]"
            ),
            "matrix_stats" => format!("Unexpected token {found} [{key}] in [{name}]."),
            "top_hits" => format!("Unknown key for a {found} in [{key}]."),
            kind if kind.ends_with("_bucket") => {
                format!("Unexpected token {found} [{key}] in [{name}]")
            }
            kind => {
                let known: Vec<&str> = self.known.iter().map(String::as_str).collect();
                let meant = did_you_mean(key, &known);
                let reason = format!("[{kind}] unknown field [{key}]{meant}");
                return AggDslError::content(reason).at(Spot::name_of(value));
            }
        };
        AggDslError::parsing(reason).at(Spot::start_of(value))
    }

    /// Where the settings of a whole aggregation begin.
    pub(super) fn start(&self) -> Option<Spot> {
        self.whole.map(Spot::start_of)
    }

    /// The settings as the object that they are; none of them is left.
    pub(super) fn take_whole(&mut self) -> Option<&'a Value> {
        self.settings.clear();
        self.whole
    }

    /// The error as it is told of the setting that was taken last.
    pub(super) fn in_field(&self, key: &str, error: AggDslError) -> AggDslError {
        let error = match self.last {
            Some(value) => error.or_at(Spot::start_of(value)),
            None => error,
        };
        error.in_field(self.kind, key)
    }

    /// A list of numbers, which must not be empty where it is given.
    pub(super) fn numbers(&mut self, key: &str) -> Result<Option<Vec<f64>>, AggDslError> {
        let found = self.settings.iter().find(|(name, _)| *name == key);
        match found.map(|(_, value)| *value) {
            Some(Value::Array(_)) | None => self.numbers_or_one(key),
            Some(other) => Err(self.wrong(key, other)),
        }
    }

    /// The same, or a number that stands alone.
    pub(super) fn numbers_or_one(&mut self, key: &str) -> Result<Option<Vec<f64>>, AggDslError> {
        let found = self.settings.iter().position(|(name, _)| *name == key);
        let Some(found) = found else {
            return Ok(None);
        };
        let (_, value) = self.settings.swap_remove(found);
        let list = match value {
            Value::Array(list) => list.as_slice(),
            Value::Number(_) | Value::String(_) => std::slice::from_ref(value),
            other => return Err(self.wrong(key, other)),
        };
        let number = |value: &Value| {
            let number = value.as_f64().or_else(|| value.as_str()?.parse().ok());
            number.ok_or_else(|| self.no_number(key, value))
        };
        let numbers: Vec<f64> = list.iter().map(number).collect::<Result<_, _>>()?;
        if numbers.is_empty() {
            return Err(AggDslError::illegal(format!(
                "[{key}] must not be empty: [{}]",
                self.name
            )));
        }
        Ok(Some(numbers))
    }

    /// A flag that is on unless the request says otherwise.
    pub(super) fn flag_or(&mut self, key: &str, default: bool) -> Result<bool, AggDslError> {
        let given = self.settings.iter().any(|(name, _)| *name == key);
        if given { self.flag(key) } else { Ok(default) }
    }

    pub(super) fn source(&mut self) -> Result<Source, AggDslError> {
        let script = match self.take("script") {
            None => None,
            Some(script) => {
                let written = WrittenScript::of("script", script);
                let written = written.map_err(|error| self.in_field("script", error))?;
                Some(Box::new(written.read(ScriptPurpose::Values)?))
            }
        };
        let field = self.only_text("field")?;
        if field.is_none() && script.is_none() {
            let either = if FIELD_ONLY.contains(&self.kind) {
                "[field]"
            } else {
                "[field, script]"
            };
            return Err(AggDslError::illegal(format!(
                "Required one of fields {either}, but none were specified. "
            )));
        }
        let value_type = self.value_type("value_type")?;
        Ok(Source {
            field: field.unwrap_or_default(),
            script,
            value_type: value_type.or(self.value_type("valueType")?),
            missing: self.scalar("missing")?,
            format: self.only_text("format")?,
        })
    }

    /// What values are taken for.
    fn value_type(&mut self, key: &str) -> Result<Option<String>, AggDslError> {
        let named = self.only_text(key)?;
        if let Some(other) = named
            .as_ref()
            .filter(|name| !VALUE_TYPES.contains(&name.as_str()))
        {
            let reason = format!("Unknown value type [{other}]");
            return Err(self.in_field(key, AggDslError::illegal(reason)));
        }
        Ok(named)
    }

    /// A text where a number is none.
    pub(super) fn only_text(&mut self, key: &str) -> Result<Option<String>, AggDslError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(self.wrong(key, other)),
        }
    }

    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>, AggDslError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(other) => Err(self.wrong(key, other)),
        }
    }

    pub(super) fn flag(&mut self, key: &str) -> Result<bool, AggDslError> {
        let Some(value) = self.take(key) else {
            return Ok(false);
        };
        let flag = flag_in(value).map_err(|error| self.in_field(key, error))?;
        flag.ok_or_else(|| self.wrong(key, value))
    }

    pub(super) fn number(&mut self, key: &str) -> Result<Option<f64>, AggDslError> {
        match self.take(key) {
            None => Ok(None),
            Some(value) => value
                .as_f64()
                .or_else(|| value.as_str().and_then(|text| text.parse().ok()))
                .map(Some)
                .ok_or_else(|| self.no_number(key, value)),
        }
    }

    /// A count that must not be negative.
    pub(super) fn count(&mut self, key: &str) -> Result<Option<u64>, AggDslError> {
        self.count_called(key, key)
    }

    /// The same, which OpenSearch calls otherwise where it is refused.
    pub(super) fn count_called(
        &mut self,
        key: &str,
        called: &str,
    ) -> Result<Option<u64>, AggDslError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let number = value
            .as_i64()
            .or_else(|| value.as_str().and_then(|text| text.parse().ok()))
            .ok_or_else(|| self.no_number(key, value))?;
        u64::try_from(number).map(Some).map_err(|_| {
            let reason = format!(
                "[{called}] must be greater than or equal to 0. Found [{number}] in [{}]",
                self.name
            );
            self.in_field(key, AggDslError::illegal(reason))
        })
    }

    pub(super) fn scalar(&mut self, key: &str) -> Result<Option<Scalar>, AggDslError> {
        self.take(key)
            .map(|value| scalar(value).ok_or_else(|| self.wrong(key, value)))
            .transpose()
    }

    pub(super) fn bounds(&mut self, key: &str) -> Result<Option<Bounds>, AggDslError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let settings = value.as_object().ok_or_else(|| self.wrong(key, value))?;
        let mut body = Body::new(key, self.name, settings);
        let bounds = Bounds {
            min: body.scalar("min")?,
            max: body.scalar("max")?,
        };
        body.end()?;
        Ok(Some(bounds))
    }

    pub(super) fn order(&mut self) -> Result<Vec<OrderBy>, AggDslError> {
        let read: Result<Vec<OrderBy>, AggDslError> = match self.take("order") {
            None => Ok(Vec::new()),
            Some(Value::Array(list)) => list.iter().map(one_order).collect(),
            Some(one @ Value::Object(_)) => one_order(one).map(|one| vec![one]),
            Some(other) => return Err(self.wrong("order", other)),
        };
        read.map_err(|error| self.in_field("order", error))
    }

    /// The refusal of a value that is no number: by its text, or by its sort.
    fn no_number(&self, key: &str, value: &Value) -> AggDslError {
        match value {
            Value::String(text) => {
                let error = AggDslError::no_number(text).at(Spot::start_of(value));
                error.in_field(self.kind, key)
            }
            other => self.wrong(key, other),
        }
    }

    pub(super) fn wrong(&self, key: &str, value: &Value) -> AggDslError {
        let found = token(value);
        AggDslError::content(format!(
            "[{}] {key} doesn't support values of type: {found}",
            self.kind
        ))
        .at(Spot::start_of(value))
    }
}

/// A plain value.
pub(super) fn scalar(value: &Value) -> Option<Scalar> {
    Some(match value {
        Value::Bool(value) => Scalar::Boolean(*value),
        Value::String(text) => Scalar::Text(text.clone()),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Scalar::Integer(whole),
            None => match number.as_u64() {
                Some(whole) => Scalar::Unsigned(whole),
                None => Scalar::Float(number.as_f64()?),
            },
        },
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    })
}

fn one_order(value: &Value) -> Result<OrderBy, AggDslError> {
    let only = value
        .as_object()
        .filter(|object| object.len() == 1)
        .and_then(|object| object.iter().next());
    let Some((key, direction)) = only else {
        return Err(AggDslError::parsing(
            "Must specify at least one field for [order]",
        ));
    };
    let direction = match direction.as_str().map(str::to_ascii_lowercase).as_deref() {
        Some("asc") => Direction::Ascending,
        Some("desc") => Direction::Descending,
        _ => {
            let reason = format!(
                "Unknown order direction [{}]",
                direction.as_str().unwrap_or("?")
            );
            return Err(AggDslError::parsing(reason).at(Spot::start_of(direction)));
        }
    };
    let key = match key.as_str() {
        "_count" => OrderKey::Count,
        "_key" | "_term" | "_time" => OrderKey::Key,
        path => OrderKey::Metric(path.to_string()),
    };
    Ok(OrderBy { key, direction })
}
