//! What scripts compute with.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::sync::Arc;

use clew_schema::fraction_text;
use clew_schema::geo::GeoPoint;
use serde_json::{Number, Value};

use super::containers::{Held, Kind, Members};
use super::dates;
use super::days::CalendarPart;
use super::doing::Doing;
use super::failures::CLASS;
use super::matcher::Matcher;
use super::moments::{self, Clock};
use super::pattern::Pattern;
use crate::error::{ScriptError, ScriptErrorKind};

/// How long a text may become.
pub(super) const TEXT_BYTES_MAX: usize = 64 << 10;
/// Bytes of a text that are gone through, or copied, in one step.
pub(super) const STEP_BYTES: usize = 1 << 10;
/// Items of a list that are gone through in one step.
pub(super) const STEP_ITEMS: usize = 16;
/// What JSON writes for a value, about, beside the letters of a text.
const VALUE_BYTES: usize = 8;
/// No script may go through as many items.
const WEIGHT_MAX: usize = 1 << 20;

/// A value of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptValue<'a> {
    /// None.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Whole(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(Cow<'a, str>),
    /// A moment, in milliseconds since the epoch.
    Date(i64),
    /// A moment of one of Java's classes, in milliseconds since the epoch.
    Moment(i64, Clock),
    /// What lies between two moments, in milliseconds.
    Lapse(i64),
    /// A day of the week, a month, or a period.
    Calendar(CalendarPart),
    /// A place.
    Point(GeoPoint),
    /// Several values.
    List(Arc<[ScriptValue<'a>]>),
    /// A list or an object of a parameter, or of the source.
    Json(&'a Value),
    /// A list that the script can change.
    Items(Held<Vec<ScriptValue<'a>>>),
    /// A map that the script can change.
    Members(Held<Members<'a>>),
    /// A regular expression.
    Pattern(&'a Pattern),
    /// A text that is looked through with one.
    Matcher(Matcher<'a>),
    /// A letter, or half of one, in UTF-16.
    Char(u16),
    /// A function that is handed on.
    Doing(Arc<Doing<'a>>),
}

impl<'a> ScriptValue<'a> {
    /// A value of JSON.
    pub fn of_json(value: &'a Value) -> Self {
        match value {
            Value::Null => ScriptValue::Null,
            Value::Bool(truth) => ScriptValue::Bool(*truth),
            Value::Number(number) => ScriptValue::of_number(number),
            Value::String(text) => ScriptValue::Text(Cow::Borrowed(text)),
            Value::Array(_) | Value::Object(_) => ScriptValue::Json(value),
        }
    }

    fn of_number(number: &Number) -> Self {
        match number.as_i64() {
            Some(whole) => ScriptValue::Whole(whole),
            None => ScriptValue::Float(number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    /// A value of JSON that may live longer than that.
    ///
    /// # Errors
    /// When it is nested too deep for a script.
    pub fn copied(value: &Value) -> Result<Self, ScriptError> {
        Ok(match value {
            Value::Null => ScriptValue::Null,
            Value::Bool(truth) => ScriptValue::Bool(*truth),
            Value::Number(number) => ScriptValue::of_number(number),
            Value::String(text) => ScriptValue::Text(Cow::Owned(text.clone())),
            Value::Array(items) => {
                let items = items.iter().map(ScriptValue::copied);
                ScriptValue::listed(items.collect::<Result<Vec<_>, _>>()?)?
            }
            Value::Object(members) => {
                let mut pairs = Vec::with_capacity(members.len());
                for (name, value) in members {
                    pairs.push((Cow::Owned(name.clone()), ScriptValue::copied(value)?));
                }
                ScriptValue::mapped(pairs)?
            }
        })
    }

    /// The same as JSON; what JSON has no number for is null.
    pub fn to_json(&self) -> Value {
        match self {
            ScriptValue::Null => Value::Null,
            ScriptValue::Bool(truth) => Value::Bool(*truth),
            ScriptValue::Whole(number) => Value::from(*number),
            ScriptValue::Float(number) => {
                Number::from_f64(*number).map_or(Value::Null, Value::Number)
            }
            ScriptValue::Text(text) => Value::from(&**text),
            ScriptValue::Date(millis)
            | ScriptValue::Moment(millis, Clock::Instant | Clock::Zoned(_)) => {
                Value::from(dates::shown(*millis))
            }
            ScriptValue::Point(point) => serde_json::json!({"lat": point.lat, "lon": point.lon}),
            ScriptValue::List(items) => items.iter().map(ScriptValue::to_json).collect(),
            ScriptValue::Json(value) => (*value).clone(),
            ScriptValue::Items(items) if items.kind() == Kind::Builder => items.text().into(),
            ScriptValue::Items(items) => items.to_json(),
            ScriptValue::Members(members) => members.to_json(),
            ScriptValue::Moment(..)
            | ScriptValue::Lapse(_)
            | ScriptValue::Calendar(_)
            | ScriptValue::Pattern(_)
            | ScriptValue::Matcher(_)
            | ScriptValue::Char(_)
            | ScriptValue::Doing(_) => Value::from(&*self.shown()),
        }
    }

    /// Takes what it has inside off what is left, in bytes; whether there was enough.
    pub(super) fn fits(&self, left: &mut usize) -> bool {
        let own = match self {
            ScriptValue::Text(text) => VALUE_BYTES + text.len(),
            ScriptValue::Json(value) => json_bytes(value),
            _ => VALUE_BYTES,
        };
        *left = left.saturating_sub(own);
        if *left == 0 {
            return false;
        }
        match self {
            ScriptValue::List(items) => items.iter().all(|item| item.fits(left)),
            ScriptValue::Items(items) => items.fits(left),
            ScriptValue::Members(members) => members.fits(left),
            _ => true,
        }
    }

    /// Its number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            #[allow(
                clippy::cast_precision_loss,
                reason = "where fractions are wanted, this precision is what there is"
            )]
            ScriptValue::Whole(number) => Some(*number as f64),
            ScriptValue::Float(number) => Some(*number),
            ScriptValue::Char(unit) => Some(f64::from(*unit)),
            _ => None,
        }
    }

    /// Its truth, if it is a truth value.
    pub fn truth(&self) -> Option<bool> {
        match self {
            ScriptValue::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// As it stands in a text.
    pub fn shown(&self) -> Cow<'_, str> {
        match self {
            ScriptValue::Null => Cow::Borrowed("null"),
            ScriptValue::Bool(truth) => Cow::Owned(truth.to_string()),
            ScriptValue::Whole(number) => Cow::Owned(number.to_string()),
            ScriptValue::Float(number) => Cow::Owned(fraction_text(*number)),
            ScriptValue::Char(unit) => Cow::Owned(String::from_utf16_lossy(&[*unit])),
            ScriptValue::Text(text) => Cow::Borrowed(&**text),
            ScriptValue::Date(millis) => Cow::Owned(dates::shown(*millis)),
            ScriptValue::Moment(millis, clock) => Cow::Owned(moments::shown(*millis, *clock)),
            ScriptValue::Lapse(millis) => Cow::Owned(moments::shown_lapse(*millis)),
            ScriptValue::Calendar(part) => Cow::Owned(part.shown()),
            ScriptValue::Point(point) => Cow::Owned(format!("{:?}, {:?}", point.lat, point.lon)),
            ScriptValue::Pattern(pattern) => Cow::Borrowed(pattern.text()),
            ScriptValue::Matcher(_) | ScriptValue::Doing(_) => Cow::Borrowed(self.type_name()),
            ScriptValue::List(_)
            | ScriptValue::Json(_)
            | ScriptValue::Items(_)
            | ScriptValue::Members(_) => {
                let mut beginning = Beginning(String::new());
                // An error says that there is enough of it.
                let _ = self.write_to(&mut beginning);
                Cow::Owned(beginning.0)
            }
        }
    }

    fn write_to(&self, out: &mut Beginning) -> fmt::Result {
        match self {
            ScriptValue::List(items) => written(out, items),
            ScriptValue::Items(items) => match items.kind() {
                Kind::Builder => out.write_str(&items.text()),
                Kind::Optional => match items.at(0) {
                    Some(item) => {
                        out.write_str("Optional[")?;
                        item.write_to(out)?;
                        out.write_char(']')
                    }
                    None => out.write_str("Optional.empty"),
                },
                _ => written(out, &items.all()),
            },
            ScriptValue::Members(members) if members.kind() == Kind::Entry => {
                let part = |name| members.get(name).unwrap_or(ScriptValue::Null);
                part("key").write_to(out)?;
                out.write_char('=')?;
                part("value").write_to(out)
            }
            ScriptValue::Members(members) if members.kind() == Kind::Failure => {
                let part = |name| members.get(name).unwrap_or(ScriptValue::Null);
                out.write_str("java.lang.")?;
                part(CLASS).write_to(out)?;
                match part("message") {
                    ScriptValue::Null => Ok(()),
                    message => {
                        out.write_str(": ")?;
                        message.write_to(out)
                    }
                }
            }
            ScriptValue::Members(members) => {
                out.write_char('{')?;
                for (at, (name, value)) in members.all().iter().enumerate() {
                    if at > 0 {
                        out.write_str(", ")?;
                    }
                    out.write_str(name)?;
                    out.write_char('=')?;
                    value.write_to(out)?;
                }
                out.write_char('}')
            }
            ScriptValue::Json(value) => write!(out, "{value}"),
            other => out.write_str(&other.shown()),
        }
    }

    /// How many steps it takes to go through all of it, or to copy it: none where that is little.
    pub(super) fn steps(&self) -> usize {
        self.weight() / STEP_ITEMS
    }

    /// How many items it has inside, up to more than a script may go through; a piece of a long text is some.
    fn weight(&self) -> usize {
        match self {
            ScriptValue::Text(text) => text.len() / STEP_BYTES * STEP_ITEMS,
            ScriptValue::List(items) => {
                let mut weight = items.len();
                for item in items.iter() {
                    if weight > WEIGHT_MAX {
                        break;
                    }
                    weight = weight.saturating_add(item.weight());
                }
                weight
            }
            ScriptValue::Json(Value::Array(items)) => items.len(),
            _ => 0,
        }
    }

    /// How many values lie in it on all levels: `None` where those are more than a script may go through.
    pub(super) fn inside(&self) -> Option<usize> {
        let mut left = WEIGHT_MAX;
        self.counted_off(&mut left).then(|| WEIGHT_MAX - left)
    }

    /// Takes the values that lie in it off what is left; whether there were enough.
    pub(super) fn counted_off(&self, left: &mut usize) -> bool {
        let size = self.size().unwrap_or(0);
        if size > *left {
            return false;
        }
        *left -= size;
        match self {
            ScriptValue::List(items) => items.iter().all(|item| item.counted_off(left)),
            ScriptValue::Items(items) => items.counted_off(left),
            ScriptValue::Members(members) => members.counted_off(left),
            _ => true,
        }
    }

    /// A text that was made, unless it is too long.
    pub(super) fn made(text: String) -> Result<Self, ScriptError> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(ScriptError::new(
                ScriptErrorKind::Limit,
                format!("a text of a script would be longer than [{TEXT_BYTES_MAX}] bytes"),
            ));
        }
        Ok(ScriptValue::Text(Cow::Owned(text)))
    }

    /// The name of its type in errors.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            ScriptValue::Null => "null",
            ScriptValue::Bool(_) => "boolean",
            ScriptValue::Whole(_) => "long",
            ScriptValue::Float(_) => "double",
            ScriptValue::Text(_) => "java.lang.String",
            ScriptValue::Date(_) => "java.time.ZonedDateTime",
            ScriptValue::Moment(_, clock) => clock.type_name(),
            ScriptValue::Lapse(_) => "java.time.Duration",
            ScriptValue::Calendar(part) => part.type_name(),
            ScriptValue::Point(_) => "GeoPoint",
            ScriptValue::List(_) | ScriptValue::Json(Value::Array(_)) => "java.util.List",
            ScriptValue::Json(_) => "java.util.Map",
            ScriptValue::Items(items) => match items.kind() {
                Kind::Plain => "java.util.ArrayList",
                Kind::Wholes => "java.util.stream.IntStream",
                Kind::Stack => "java.util.Stack",
                Kind::Set => "java.util.HashSet",
                Kind::Sorted => "java.util.TreeSet",
                Kind::Builder => "java.lang.StringBuilder",
                Kind::Iterator => "java.util.Iterator",
                Kind::Optional => "java.util.Optional",
                Kind::Entry => "java.util.Map.Entry",
                Kind::Failure => "java.lang.Exception",
            },
            ScriptValue::Members(_) => "java.util.HashMap",
            ScriptValue::Pattern(_) => "java.util.regex.Pattern",
            ScriptValue::Matcher(_) => "java.util.regex.Matcher",
            ScriptValue::Char(_) => "char",
            ScriptValue::Doing(_) => "java.util.function.Function",
        }
    }

    /// The error of what cannot be had from it.
    pub(super) fn no_cast(&self, to: &str) -> ScriptError {
        let from = self.type_name();
        ScriptError::cast(format!("Cannot cast from [{from}] to [{to}]."))
    }

    pub(super) fn want_number(&self) -> Result<f64, ScriptError> {
        self.number().ok_or_else(|| self.no_cast("double"))
    }

    pub(super) fn want_whole(&self) -> Result<i64, ScriptError> {
        match self {
            ScriptValue::Whole(number) => Ok(*number),
            ScriptValue::Char(unit) => Ok(i64::from(*unit)),
            other => Err(other.no_cast("int")),
        }
    }

    pub(super) fn want_truth(&self) -> Result<bool, ScriptError> {
        self.truth().ok_or_else(|| self.no_cast("boolean"))
    }

    pub(super) fn want_text(&self) -> Result<&str, ScriptError> {
        match self {
            ScriptValue::Text(text) => Ok(text),
            other => Err(other.no_cast("java.lang.String")),
        }
    }

    /// What is in a list, if it is one.
    pub fn items(&self) -> Option<Vec<ScriptValue<'a>>> {
        match self {
            ScriptValue::List(items) => Some(items.to_vec()),
            ScriptValue::Json(Value::Array(items)) => {
                Some(items.iter().map(ScriptValue::of_json).collect())
            }
            ScriptValue::Items(items) => Some(items.all()),
            _ => None,
        }
    }

    /// How many values or members there are in it.
    pub(super) fn size(&self) -> Option<usize> {
        match self {
            ScriptValue::List(items) => Some(items.len()),
            ScriptValue::Json(Value::Array(items)) => Some(items.len()),
            ScriptValue::Json(Value::Object(members)) => Some(members.len()),
            ScriptValue::Items(items) => Some(items.len()),
            ScriptValue::Members(members) => Some(members.len()),
            _ => None,
        }
    }

    /// A place of a list, which may be counted from its end: the last one is -1.
    pub(super) fn counted_back(&self, place: i64) -> i64 {
        let size = self.size().and_then(|size| i64::try_from(size).ok());
        match size {
            Some(size) if place < 0 && place >= -size => place + size,
            _ => place,
        }
    }

    /// The value at a place of a list.
    pub(super) fn at(&self, place: i64) -> Result<ScriptValue<'a>, ScriptError> {
        let found = usize::try_from(place).ok().and_then(|at| match self {
            ScriptValue::List(items) => items.get(at).cloned(),
            ScriptValue::Json(Value::Array(items)) => items.get(at).map(ScriptValue::of_json),
            ScriptValue::Items(items) => items.at(at),
            _ => None,
        });
        found.ok_or_else(|| {
            let length = self.size().unwrap_or(0);
            ScriptError::new(
                ScriptErrorKind::Bounds,
                format!("Index {place} out of bounds for length {length}"),
            )
        })
    }

    /// A member of an object; null where there is none.
    pub(super) fn get(&self, name: &str) -> Option<ScriptValue<'a>> {
        match self {
            ScriptValue::Json(Value::Object(members)) => Some(
                members
                    .get(name)
                    .map_or(ScriptValue::Null, ScriptValue::of_json),
            ),
            ScriptValue::Members(members) => Some(members.get(name).unwrap_or(ScriptValue::Null)),
            _ => None,
        }
    }
}

/// Items as they stand in a text.
fn written(out: &mut Beginning, items: &[ScriptValue<'_>]) -> fmt::Result {
    out.write_char('[')?;
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.write_str(", ")?;
        }
        item.write_to(out)?;
    }
    out.write_char(']')
}

/// About how long a value of JSON is as a text, in bytes.
pub fn json_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => VALUE_BYTES,
        Value::String(text) => VALUE_BYTES + text.len(),
        Value::Array(items) => VALUE_BYTES + items.iter().map(json_bytes).sum::<usize>(),
        Value::Object(members) => {
            let members = members.iter();
            VALUE_BYTES
                + members
                    .map(|(name, value)| name.len() + json_bytes(value))
                    .sum::<usize>()
        }
    }
}

/// The beginning of a text, and a little more of it than a script may have.
struct Beginning(String);

impl Write for Beginning {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        if self.0.len() > TEXT_BYTES_MAX {
            return Err(fmt::Error);
        }
        self.0.push_str(more);
        Ok(())
    }
}
