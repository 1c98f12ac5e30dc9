//! Methods and members of values.

use clew_platform::java_hash;
use clew_schema::geo::GeoPoint;
use serde_json::Value;

use super::calendar;
use super::collections;
use super::dates;
use super::days;
use super::matcher;
use super::moments;
use super::operators::is_same;
use super::texts;
use super::value::ScriptValue;
use crate::error::ScriptError;

/// What can be asked of texts, lists, objects, numbers and points, with how many arguments.
const METHODS: &[(&str, usize)] = &[
    ("size", 0),
    ("isEmpty", 0),
    ("length", 0),
    ("contains", 1),
    ("get", 1),
    ("containsKey", 1),
    ("getOrDefault", 2),
    ("indexOf", 1),
    ("indexOf", 2),
    ("equals", 1),
    ("equalsIgnoreCase", 1),
    ("compareTo", 1),
    ("startsWith", 1),
    ("endsWith", 1),
    ("toLowerCase", 0),
    ("toUpperCase", 0),
    ("trim", 0),
    ("charAt", 1),
    ("concat", 1),
    ("splitOnToken", 1),
    ("splitOnToken", 2),
    ("join", 1),
    ("substring", 1),
    ("substring", 2),
    ("replace", 2),
    ("toString", 0),
    ("hashCode", 0),
    ("intValue", 0),
    ("longValue", 0),
    ("doubleValue", 0),
    ("floatValue", 0),
    ("booleanValue", 0),
    ("getValue", 0),
    ("getValues", 0),
    ("getLat", 0),
    ("getLon", 0),
    ("getLength", 0),
    ("arcDistance", 2),
    ("planeDistance", 2),
    ("arcDistanceWithDefault", 3),
    ("min", 0),
    ("max", 0),
    ("sum", 0),
    ("avg", 0),
    ("median", 0),
    ("count", 0),
];

/// Whether some value has such a method.
pub(super) fn is_method(name: &str, arguments: usize) -> bool {
    let own = METHODS.iter().chain(dates::METHODS);
    let own = own.chain(texts::METHODS).chain(calendar::METHODS);
    let own = own.chain(moments::METHODS).chain(days::METHODS);
    let mut all = own.chain(collections::METHODS).chain(matcher::METHODS);
    all.any(|(known, count)| *known == name && *count == arguments)
}

/// The error of a method that a value does not have.
pub(super) fn refused(of: &ScriptValue<'_>, name: &str, count: usize) -> ScriptError {
    let kind = of.type_name();
    ScriptError::argument(format!("dynamic method [{kind}, {name}/{count}] not found"))
}

/// What a value answers.
pub(super) fn call<'a>(
    of: &ScriptValue<'a>,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<ScriptValue<'a>, ScriptError> {
    let found = match of {
        ScriptValue::Null => return Err(ScriptError::null(name)),
        ScriptValue::Text(text) => match text_method(text, name, arguments)? {
            None if name == "between" => {
                calendar::of_text(text, name, &moments::plain(arguments, 0))?
            }
            None if name == "format" => calendar::of_text(text, name, arguments)?,
            None if name == "parse" || name == "setTimeZone" => {
                moments::of_pattern(text, name, arguments)?
            }
            None => texts::method(text, name, arguments)?,
            found => found,
        },
        ScriptValue::Date(millis) => moments::of_date(*millis, name, arguments)?,
        ScriptValue::Moment(millis, clock) => moments::method((*millis, *clock), name, arguments)?,
        ScriptValue::Lapse(millis) => moments::of_lapse(*millis, name, arguments)?,
        ScriptValue::Calendar(part) => part.method(name, arguments)?,
        ScriptValue::Point(point) => point_method(*point, name, arguments)?,
        ScriptValue::List(_) | ScriptValue::Items(_) | ScriptValue::Json(Value::Array(_)) => {
            list_method(of, name, arguments)?
        }
        ScriptValue::Json(Value::Object(_)) => object_method(of, name, arguments)?,
        ScriptValue::Bool(_) | ScriptValue::Whole(_) | ScriptValue::Float(_) => {
            number_method(of, name)
        }
        ScriptValue::Json(_)
        | ScriptValue::Members(_)
        | ScriptValue::Pattern(_)
        | ScriptValue::Matcher(_)
        | ScriptValue::Char(_)
        | ScriptValue::Doing(_) => None,
    };
    match (found, name, arguments) {
        (Some(found), ..) => Ok(found),
        (None, "equals", [other]) => Ok(ScriptValue::Bool(is_same(of, other))),
        (None, "compareTo", [other]) if of.number().is_some() => {
            let order = of.want_number()?.total_cmp(&other.want_number()?);
            Ok(ScriptValue::Whole(match order {
                std::cmp::Ordering::Less => -1,
                std::cmp::Ordering::Equal => 0,
                std::cmp::Ordering::Greater => 1,
            }))
        }
        (None, "hashCode", []) => code_of(of),
        (None, "toString", []) => ScriptValue::made(of.shown().into_owned()),
        (None, ..) => Err(refused(of, name, arguments.len())),
    }
}

/// What Java's `hashCode` makes of a value, none of which holds itself.
pub(super) fn code_of<'a>(value: &ScriptValue<'a>) -> Result<ScriptValue<'a>, ScriptError> {
    let of_bits = |bits: u64| cut_int(i64::from_ne_bytes((bits ^ (bits >> 32)).to_ne_bytes()));
    Ok(ScriptValue::Whole(match value {
        ScriptValue::Null => 0,
        ScriptValue::Bool(true) => 1231,
        ScriptValue::Bool(false) => 1237,
        ScriptValue::Whole(number) if i32::try_from(*number).is_ok() => *number,
        ScriptValue::Whole(number) => of_bits(u64::from_ne_bytes(number.to_ne_bytes())),
        ScriptValue::Float(number) => of_bits(number.to_bits()),
        ScriptValue::Char(unit) => i64::from(*unit),
        ScriptValue::Members(members) => {
            let mut code = 0_i64;
            for (name, value) in members.all() {
                let name = code_of(&ScriptValue::Text(name))?.want_whole()?;
                let value = code_of(&value)?.want_whole()?;
                code = cut_int(code.wrapping_add(name ^ value));
            }
            code
        }
        &ScriptValue::Json(json) if json.is_object() => {
            return code_of(&ScriptValue::changeable(json));
        }
        ScriptValue::Text(_)
        | ScriptValue::List(_)
        | ScriptValue::Items(_)
        | ScriptValue::Json(Value::Array(_)) => return call(value, "hashCode", &[]),
        other => return Err(refused(other, "hashCode", 0)),
    }))
}

/// A member of a value.
pub(super) fn member<'a>(of: &ScriptValue<'a>, name: &str) -> Result<ScriptValue<'a>, ScriptError> {
    if let Some(found) = of.get(name) {
        return Ok(found);
    }
    match (of, name) {
        (ScriptValue::Null, _) => Err(ScriptError::null(name)),
        (_, "length") => call(of, "size", &[]),
        (_, "empty") => call(of, "isEmpty", &[]),
        // What has a getter has a member of that name.
        _ => {
            let mut letters = name.chars();
            let first = letters.next().map(|first| first.to_ascii_uppercase());
            let getter = format!("get{}{}", first.unwrap_or('_'), letters.as_str());
            call(of, &getter, &[])
        }
    }
}

fn length<'a>(length: usize) -> ScriptValue<'a> {
    ScriptValue::Whole(i64::try_from(length).unwrap_or(i64::MAX))
}

fn text_method<'a>(
    text: &str,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    Ok(Some(match (name, arguments) {
        ("length", []) => length(text.encode_utf16().count()),
        ("isEmpty", []) => ScriptValue::Bool(text.is_empty()),
        ("contains", [part]) => ScriptValue::Bool(text.contains(part.want_text()?)),
        ("startsWith", [part]) => ScriptValue::Bool(text.starts_with(part.want_text()?)),
        ("endsWith", [part]) => ScriptValue::Bool(text.ends_with(part.want_text()?)),
        ("equalsIgnoreCase", [other]) => {
            ScriptValue::Bool(text.to_lowercase() == other.want_text()?.to_lowercase())
        }
        ("compareTo", [other]) => texts::difference(text, other.want_text()?),
        ("indexOf", [part]) => {
            let found = text.find(part.want_text()?);
            let before = found.and_then(|at| text.get(..at));
            before.map_or(ScriptValue::Whole(-1), |before| {
                length(before.encode_utf16().count())
            })
        }
        ("lastIndexOf", [part]) => {
            let found = text.rfind(part.want_text()?);
            let before = found.and_then(|at| text.get(..at));
            before.map_or(ScriptValue::Whole(-1), |before| {
                length(before.encode_utf16().count())
            })
        }
        ("charAt", [at]) => {
            let place = at.want_whole()?;
            let at = usize::try_from(place).ok();
            let unit = at.and_then(|at| text.encode_utf16().nth(at));
            ScriptValue::Char(unit.ok_or_else(|| {
                let length = text.encode_utf16().count();
                ScriptError::new(
                    crate::error::ScriptErrorKind::TextBounds,
                    format!("Index {place} out of bounds for length {length}"),
                )
            })?)
        }
        ("concat", [more]) => ScriptValue::made(format!("{text}{}", more.want_text()?))?,
        ("indexOf", [part, from]) => index_from(text, part.want_text()?, from.want_whole()?),
        ("splitOnToken", [token]) => split(text, token.want_text()?, 0)?,
        ("splitOnToken", [token, most]) => split(text, token.want_text()?, most.want_whole()?)?,
        ("toLowerCase", []) => ScriptValue::made(text.to_lowercase())?,
        ("toUpperCase", []) => ScriptValue::made(text.to_uppercase())?,
        ("trim", []) => ScriptValue::made(text.trim().to_string())?,
        ("replace", [from, to]) => replaced(text, from.want_text()?, to.want_text()?)?,
        ("substring", [from]) => substring(text, from.want_whole()?, None)?,
        ("substring", [from, to]) => substring(text, from.want_whole()?, Some(to.want_whole()?))?,
        ("hashCode", []) => ScriptValue::Whole(i64::from(java_hash(text).cast_signed())),
        _ => return Ok(None),
    }))
}

/// Where a part of a text begins first from a place on; both are counted in UTF-16.
fn index_from<'a>(text: &str, part: &str, from: i64) -> ScriptValue<'a> {
    let from = usize::try_from(from).unwrap_or(0);
    let mut units = 0;
    let mut letters = text.char_indices();
    let start = letters.find_map(|(byte, letter)| {
        let is_there = units >= from;
        units += letter.len_utf16();
        is_there.then_some(byte)
    });
    let start = start.unwrap_or(text.len());
    let found = text.get(start..).and_then(|rest| rest.find(part));
    let before = found.and_then(|at| text.get(..start + at));
    before.map_or(ScriptValue::Whole(-1), |before| {
        length(before.encode_utf16().count())
    })
}

/// The parts of a text between those that are a token: at most so many, or all where that is no limit.
fn split<'a>(text: &str, token: &str, most: i64) -> Result<ScriptValue<'a>, ScriptError> {
    let part = |part: &str| ScriptValue::Text(part.to_string().into());
    if token.is_empty() {
        return ScriptValue::listed(vec![part(text)]);
    }
    let parts = match usize::try_from(most) {
        Ok(most) if most > 0 => text.splitn(most, token).map(part).collect(),
        _ => text.split(token).map(part).collect(),
    };
    ScriptValue::listed(parts)
}

/// A text with all of one part made another; refused before it is made where it would be too long.
fn replaced<'a>(text: &str, from: &str, to: &str) -> Result<ScriptValue<'a>, ScriptError> {
    let count = text.matches(from).count();
    let more = count.saturating_mul(to.len());
    if text.len().saturating_add(more) > 1 << 20 {
        return Err(ScriptError::argument(
            "a text of a script would be too long",
        ));
    }
    ScriptValue::made(text.replace(from, to))
}

/// Places are counted in UTF-16, as lengths are; half a letter is shown as what stands for those.
fn substring<'a>(text: &str, from: i64, to: Option<i64>) -> Result<ScriptValue<'a>, ScriptError> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let letters = units.len();
    let end = match to {
        Some(to) => usize::try_from(to).ok(),
        None => Some(letters),
    };
    let part = usize::try_from(from).ok().zip(end);
    match part.and_then(|(from, to)| units.get(from..to)) {
        Some(part) => ScriptValue::made(String::from_utf16_lossy(part)),
        None => Err(ScriptError::new(
            crate::error::ScriptErrorKind::TextBounds,
            match to {
                Some(to) => format!("begin {from}, end {to}, length {letters}"),
                None => format!("Range [{from}, {letters}) out of bounds for length {letters}"),
            },
        )),
    }
}

fn list_method<'a>(
    of: &ScriptValue<'a>,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let size = of.size().unwrap_or(0);
    Ok(Some(match (name, arguments) {
        ("size" | "length" | "getLength" | "count", []) => length(size),
        ("isEmpty", []) => ScriptValue::Bool(size == 0),
        ("get", [place]) => of.at(place.want_whole()?)?,
        ("getValues", []) => of.clone(),
        // A list of a field's values stands for the first of them.
        ("getValue", []) => of.at(0)?,
        ("contains", [value]) => {
            let items = of.items().unwrap_or_default();
            ScriptValue::Bool(items.iter().any(|item| is_same(item, value)))
        }
        ("indexOf", [value]) => {
            let items = of.items().unwrap_or_default();
            let found = items.iter().position(|item| is_same(item, value));
            found.map_or(ScriptValue::Whole(-1), length)
        }
        ("getLat" | "getLon" | "arcDistance" | "planeDistance", _) => {
            call(&of.at(0)?, name, arguments)?
        }
        // As expressions ask for parts of a date.
        ("getDate", []) => of.at(0)?,
        (part, []) if dates::METHODS.contains(&(part, 0)) => call(&of.at(0)?, part, &[])?,
        ("arcDistanceWithDefault", [lat, lon, default]) => match of.at(0) {
            Ok(point) => call(&point, "arcDistance", &[lat.clone(), lon.clone()])?,
            Err(_) => default.clone(),
        },
        ("hashCode", []) => {
            let items = of.items().unwrap_or_default();
            let mut code = 1_i64;
            for item in &items {
                let inner = code_of(item)?.want_whole()?;
                code = cut_int(code.wrapping_mul(31).wrapping_add(inner));
            }
            ScriptValue::Whole(code)
        }
        ("min" | "max" | "sum" | "avg" | "median", []) => {
            folded(&of.items().unwrap_or_default(), name)?
        }
        _ => return Ok(None),
    }))
}

/// The lowest 32 bits of a number.
#[allow(
    clippy::cast_possible_truncation,
    reason = "codes are 32 bits wide, and wrap"
)]
fn cut_int(number: i64) -> i64 {
    i64::from(number as i32)
}

/// One number for several, which expressions ask for; of none it is zero.
pub(super) fn folded<'a>(
    items: &[ScriptValue<'a>],
    name: &str,
) -> Result<ScriptValue<'a>, ScriptError> {
    let numbers = items.iter().map(ScriptValue::want_number);
    let mut numbers = numbers.collect::<Result<Vec<f64>, _>>()?;
    if numbers.is_empty() {
        return Ok(ScriptValue::Float(0.0));
    }
    numbers.sort_by(f64::total_cmp);
    #[allow(clippy::cast_precision_loss, reason = "a document has few values")]
    let count = numbers.len() as f64;
    let sum: f64 = numbers.iter().sum();
    let at = |place: usize| numbers.get(place).copied().unwrap_or(0.0);
    Ok(ScriptValue::Float(match name {
        "min" => at(0),
        "max" => at(numbers.len() - 1),
        "sum" => sum,
        "avg" => sum / count,
        _ => f64::midpoint(at((numbers.len() - 1) / 2), at(numbers.len() / 2)),
    }))
}

fn object_method<'a>(
    of: &ScriptValue<'a>,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let key = |key: &ScriptValue<'a>| match key {
        ScriptValue::Text(text) => text.clone().into_owned(),
        other => other.shown().into_owned(),
    };
    let ScriptValue::Json(Value::Object(members)) = of else {
        return Ok(None);
    };
    Ok(Some(match (name, arguments) {
        ("size", []) => length(members.len()),
        ("isEmpty", []) => ScriptValue::Bool(members.is_empty()),
        ("containsKey", [name]) => ScriptValue::Bool(members.contains_key(&key(name))),
        ("get", [name]) => of.get(&key(name)).unwrap_or(ScriptValue::Null),
        ("getOrDefault", [name, default]) => match members.get(&key(name)) {
            Some(value) => ScriptValue::of_json(value),
            None => default.clone(),
        },
        _ => return Ok(None),
    }))
}

fn number_method<'a>(of: &ScriptValue<'a>, name: &str) -> Option<ScriptValue<'a>> {
    match name {
        "intValue" | "longValue" => Some(ScriptValue::Whole(super::operators::cut(of.number()?))),
        "doubleValue" | "floatValue" => Some(ScriptValue::Float(of.number()?)),
        "booleanValue" | "getValue" => Some(of.clone()),
        _ => None,
    }
}

fn point_method<'a>(
    point: GeoPoint,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    Ok(Some(ScriptValue::Float(match (name, arguments) {
        ("getLat", []) => point.lat,
        ("getLon", []) => point.lon,
        ("arcDistance" | "planeDistance", [lat, lon]) => {
            let other = GeoPoint {
                lat: lat.want_number()?,
                lon: lon.want_number()?,
            };
            point.metres_to(other)
        }
        _ => return Ok(None),
    })))
}
