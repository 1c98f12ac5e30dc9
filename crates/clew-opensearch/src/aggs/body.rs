//! One aggregation's settings, taken out one by one; what is left over at the end is unknown.

use clew_query::aggregation::{Bounds, OrderBy, Scalar, Source};
use clew_query::{Script, ScriptPurpose};
use serde_json::{Map, Value};

use super::AggDslError;
use super::order::one_order;
use super::own_words::own_words;
use super::plain::{scalar, whole_number};
use crate::dsl::{WrittenScript, check_zone, flag_in};
use crate::http::place::{Spot, token};
use crate::http::suggestion::did_you_mean;

/// Aggregations whose values are a field's, never a script's.
const FIELD_ONLY: &[&str] = &["ip_range", "geohash_grid", "geotile_grid", "geo_bounds"];

/// Aggregations whose results are no values, so that there is no format of them.
const WITHOUT_FORMAT: &[&str] = &["cardinality", "geo_bounds", "geo_centroid"];

/// Settings that OpenSearch reads as numbers of 64 bits: it refuses texts that are none as other illegal arguments.
const LONG_NUMBERS: &[&str] = &[
    "min_doc_count",
    "shard_min_doc_count",
    "max_doc_count",
    "precision_threshold",
];

/// What values may be taken for.
#[rustfmt::skip]
const VALUE_TYPES: &[&str] = &[
    "string", "double", "float", "number", "numeric", "long", "integer", "short", "byte", "unsigned_long", "date", "ip",
    "boolean",
];

/// The least that a count may be.
enum Least {
    Zero,
    One,
}

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
    known: Vec<&'static str>,
    /// The first setting of a whole aggregation that is null, which none may be.
    null: Option<(&'a str, &'a Value)>,
    /// What is wrong with the settings together.
    late: Option<AggDslError>,
}

impl<'a> Body<'a> {
    /// The settings of a part of an aggregation.
    pub(super) fn new(kind: &'a str, name: &'a str, settings: &'a Map<String, Value>) -> Self {
        let settings = settings.iter().map(|(key, value)| (key.as_str(), value));
        Body::of((kind, name), settings.collect(), None)
    }

    /// All settings of an aggregation, which are an object.
    pub(super) fn of_aggregation(kind: &'a str, name: &'a str, value: &'a Value) -> Self {
        let settings = value.as_object().into_iter().flatten();
        let settings = settings.map(|(key, value)| (key.as_str(), value));
        Body::of((kind, name), settings.collect(), Some(value))
    }

    fn of(
        (kind, name): (&'a str, &'a str),
        settings: Vec<(&'a str, &'a Value)>,
        whole: Option<&'a Value>,
    ) -> Self {
        Body {
            kind,
            name,
            settings,
            whole,
            last: None,
            documents: None,
            known: Vec::new(),
            null: None,
            late: None,
        }
    }

    pub(super) fn take(&mut self, key: &'static str) -> Option<&'a Value> {
        self.known.push(key);
        let at = self.settings.iter().position(|(name, _)| *name == key)?;
        let (name, value) = self.settings.swap_remove(at);
        self.last = Some(value);
        if value.is_null() && self.whole.is_some() {
            self.null.get_or_insert((name, value));
        }
        (!value.is_null()).then_some(value)
    }

    /// Refuses what nobody took, and then what is wrong with the settings together.
    pub(super) fn end(self) -> Result<(), AggDslError> {
        if let Some((key, value)) = self.settings.first() {
            return Err(self.unknown(key, value));
        }
        if let Some((key, null)) = self.null {
            return Err(self.of_null(key, null));
        }
        self.late.map_or(Ok(()), Err)
    }

    /// The refusal of a setting that is null.
    fn of_null(&self, key: &str, null: &Value) -> AggDslError {
        if key != "missing" || !self.has_fields() {
            return self.wrong(key, null);
        }
        let reason = format!("[missing] must not be null: [{}]", self.name);
        self.told_of(key, AggDslError::illegal(reason).at(Spot::start_of(null)))
    }

    /// Keeps what is wrong with the settings together, as that one is missing: OpenSearch looks at it when it has read them
    /// all, so that one which is unknown is told before. Whoever reads goes on with a value that stands in.
    pub(super) fn late(&mut self, error: AggDslError) {
        self.late.get_or_insert(error);
    }

    /// Refuses settings that this one has not, where most have them and their reader takes them.
    pub(super) fn lack(&self, keys: &[&str]) -> Result<(), AggDslError> {
        let mut given = self.settings.iter();
        match given.find(|(name, _)| keys.contains(name)) {
            Some((key, value)) => Err(self.unknown(key, value)),
            None => Ok(()),
        }
    }

    /// Settings that must be there.
    pub(super) fn require(&mut self, keys: &[&str]) {
        let missing = keys.iter().copied().filter(|key| {
            let mut given = self.settings.iter();
            !given.any(|(name, _)| name == key)
        });
        let missing: Vec<&str> = missing.collect();
        if !missing.is_empty() {
            let reason = format!("Required [{}]", missing.join(", "));
            self.late(AggDslError::illegal(reason));
        }
    }

    /// Reads the object that a setting is, or one of those in its list, which OpenSearch calls by a name of its own. What is
    /// wrong inside it is told of the setting, too.
    pub(super) fn part<T>(
        &self,
        (key, called): (&str, &str),
        value: &Value,
        read: impl FnOnce(&mut Body<'_>) -> Result<T, AggDslError>,
    ) -> Result<T, AggDslError> {
        let settings = value.as_object().ok_or_else(|| self.wrong(key, value))?;
        let mut part = Body::new(called, self.name, settings);
        let read = read(&mut part).and_then(|read| part.end().map(|()| read));
        read.map_err(|error| {
            let error = error.or_at(Spot::end_of(value));
            self.told_of(key, error)
        })
    }

    /// The refusal of a setting that there is not, as OpenSearch's reader of the aggregation has it: most of them read by a
    /// table of fields.
    fn unknown(&self, key: &str, value: &Value) -> AggDslError {
        if let Some(reason) = self.in_own_words(key, value) {
            return AggDslError::parsing(reason).at(Spot::start_of(value));
        }
        let meant = did_you_mean(key, &self.known);
        let reason = format!("[{}] unknown field [{key}]{meant}", self.kind);
        AggDslError::content(reason).at(Spot::name_of(value))
    }

    /// What the older readers say each in words of its own: of a setting that there is not, and of a value of another sort
    /// than one takes.
    fn in_own_words(&self, key: &str, value: &Value) -> Option<String> {
        own_words((self.kind, self.name), key, token(value))
    }

    /// Whether OpenSearch reads the aggregation by a table of its fields, and so tells of which one something is wrong.
    fn has_fields(&self) -> bool {
        self.in_own_words("", &Value::Null).is_none()
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
        self.told_of(key, error)
    }

    /// The error as it is told of a setting.
    fn told_of(&self, key: &str, error: AggDslError) -> AggDslError {
        if self.has_fields() {
            error.in_field(self.kind, key)
        } else {
            error
        }
    }

    /// A list of numbers.
    pub(super) fn numbers(&mut self, key: &str) -> Result<Option<Vec<f64>>, AggDslError> {
        let found = self.settings.iter().find(|(name, _)| *name == key);
        match found.map(|(_, value)| *value) {
            Some(Value::Array(_)) | None => self.numbers_or_one(key),
            Some(other) => Err(self.wrong(key, other)),
        }
    }

    /// A list of numbers, or a number that stands alone.
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
        list.iter().map(number).collect::<Result<_, _>>().map(Some)
    }

    /// A flag that is on unless the request says otherwise.
    pub(super) fn flag_or(
        &mut self,
        key: &'static str,
        default: bool,
    ) -> Result<bool, AggDslError> {
        let given = self.settings.iter().any(|(name, _)| *name == key);
        if given { self.flag(key) } else { Ok(default) }
    }

    /// The script that makes values, where there is one.
    pub(super) fn value_script(&mut self) -> Result<Option<Box<Script>>, AggDslError> {
        let written = match self.take("script") {
            None => return Ok(None),
            Some(script @ (Value::Object(_) | Value::String(_))) => {
                WrittenScript::of("script", script)
            }
            Some(other) => return Err(self.wrong("script", other)),
        };
        let written = written.map_err(|error| self.in_field("script", error))?;
        let read = written.read(ScriptPurpose::Values);
        Ok(Some(Box::new(read.map_err(AggDslError::of_shards)?)))
    }

    pub(super) fn source(&mut self) -> Result<Source, AggDslError> {
        let field_only = FIELD_ONLY.contains(&self.kind);
        let script = match field_only {
            true => None,
            false => self.value_script()?,
        };
        let field = self.only_text("field")?;
        if field.is_none() && script.is_none() {
            let either = match field_only {
                true => "[field]",
                false => "[field, script]",
            };
            self.late(AggDslError::illegal(format!(
                "Required one of fields {either}, but none were specified. "
            )));
        }
        let value_type = self.value_type("value_type")?;
        Ok(Source {
            field: field.unwrap_or_default(),
            script,
            value_type: value_type.or(self.value_type("valueType")?),
            missing: self.scalar("missing")?,
            format: match WITHOUT_FORMAT.contains(&self.kind) {
                true => None,
                false => self.only_text("format")?,
            },
        })
    }

    /// What values are taken for.
    fn value_type(&mut self, key: &'static str) -> Result<Option<String>, AggDslError> {
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

    /// The name of a time zone that there is; a number is hours before or behind UTC.
    pub(super) fn time_zone(&mut self) -> Result<Option<String>, AggDslError> {
        let key = "time_zone";
        let name = match self.take(key) {
            None => None,
            Some(Value::String(name)) => Some(name.clone()),
            Some(value @ Value::Number(_)) => whole_number(value).map(|hours| {
                let sign = if hours < 0 { '-' } else { '+' };
                format!("{sign}{:02}:00", hours.unsigned_abs())
            }),
            Some(other) => return Err(self.wrong(key, other)),
        };
        check_zone(name.as_deref()).map_err(|error| self.in_field(key, error))?;
        Ok(name)
    }

    /// A text where a number is none.
    pub(super) fn only_text(&mut self, key: &'static str) -> Result<Option<String>, AggDslError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(self.wrong(key, other)),
        }
    }

    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<String>, AggDslError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(other) => Err(self.wrong(key, other)),
        }
    }

    pub(super) fn flag(&mut self, key: &'static str) -> Result<bool, AggDslError> {
        let Some(value) = self.take(key) else {
            return Ok(false);
        };
        if !self.has_fields() && value.is_string() {
            return Err(self.wrong(key, value));
        }
        let flag = flag_in(value).map_err(|error| self.in_field(key, error))?;
        flag.ok_or_else(|| self.wrong(key, value))
    }

    pub(super) fn number(&mut self, key: &'static str) -> Result<Option<f64>, AggDslError> {
        match self.take(key) {
            None => Ok(None),
            // The older readers tell numbers from texts.
            Some(text @ Value::String(_)) if !self.has_fields() => Err(self.wrong(key, text)),
            Some(value) => value
                .as_f64()
                .or_else(|| value.as_str().and_then(|text| text.parse().ok()))
                .map(Some)
                .ok_or_else(|| self.no_number(key, value)),
        }
    }

    /// A number without its fraction, as the older readers have it.
    pub(super) fn whole(&mut self, key: &'static str) -> Result<Option<i64>, AggDslError> {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "OpenSearch cuts fractions off, and the cast saturates"
        )]
        let cut = |number: f64| number as i64;
        Ok(self.number(key)?.map(cut))
    }

    /// A count that must not be negative.
    pub(super) fn count(&mut self, key: &'static str) -> Result<Option<u64>, AggDslError> {
        self.count_called(key, key)
    }

    /// The same, which OpenSearch calls otherwise where it is refused.
    pub(super) fn count_called(
        &mut self,
        key: &'static str,
        called: &str,
    ) -> Result<Option<u64>, AggDslError> {
        self.count_from(Least::Zero, key, called)
    }

    /// A count of at least one, which OpenSearch calls so where it is refused.
    pub(super) fn some_count(
        &mut self,
        key: &'static str,
        called: &str,
    ) -> Result<Option<u64>, AggDslError> {
        self.count_from(Least::One, key, called)
    }

    fn count_from(
        &mut self,
        least: Least,
        key: &'static str,
        called: &str,
    ) -> Result<Option<u64>, AggDslError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let number = whole_number(value).ok_or_else(|| self.no_number(key, value))?;
        let (bound, words) = match least {
            Least::Zero => (0, "greater than or equal to 0"),
            Least::One => (1, "greater than 0"),
        };
        let count = u64::try_from(number).ok().filter(|count| *count >= bound);
        count.map(Some).ok_or_else(|| {
            let name = self.name;
            let reason = format!("[{called}] must be {words}. Found [{number}] in [{name}]");
            self.in_field(key, AggDslError::illegal(reason))
        })
    }

    pub(super) fn scalar(&mut self, key: &'static str) -> Result<Option<Scalar>, AggDslError> {
        self.take(key)
            .map(|value| scalar(value).ok_or_else(|| self.wrong(key, value)))
            .transpose()
    }

    pub(super) fn bounds(&mut self, key: &'static str) -> Result<Option<Bounds>, AggDslError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let called = match self.kind {
            "date_histogram" => "long_bounds",
            _ => "double_bounds",
        };
        let bounds = self.part((key, called), value, |part| {
            Ok(Bounds {
                min: part.scalar("min")?,
                max: part.scalar("max")?,
            })
        });
        bounds.map(Some)
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
                let error = match LONG_NUMBERS.contains(&key) {
                    true => AggDslError::no_long(text),
                    false => AggDslError::no_number(text),
                };
                self.told_of(key, error.at(Spot::start_of(value)))
            }
            other => self.wrong(key, other),
        }
    }

    /// The refusal of a value of another sort than the setting takes.
    pub(super) fn wrong(&self, key: &str, value: &Value) -> AggDslError {
        if let Some(reason) = self.in_own_words(key, value) {
            return AggDslError::parsing(reason).at(Spot::start_of(value));
        }
        let found = token(value);
        AggDslError::content(format!(
            "[{}] {key} doesn't support values of type: {found}",
            self.kind
        ))
        .at(Spot::start_of(value))
    }
}
