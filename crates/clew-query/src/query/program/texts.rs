//! Further methods of texts, and those of letters.

use super::value::ScriptValue;
use super::written;
use crate::error::ScriptError;

/// What can be asked of texts, with how many arguments.
pub(super) const METHODS: &[(&str, usize)] = &[
    ("chars", 0),
    ("codePointAt", 1),
    ("codePointCount", 2),
    ("compareToIgnoreCase", 1),
    ("contentEquals", 1),
    ("decodeBase64", 0),
    ("encodeBase64", 0),
    ("lastIndexOf", 2),
    ("regionMatches", 4),
    ("regionMatches", 5),
    ("startsWith", 2),
    ("subSequence", 2),
    ("toCharArray", 0),
    ("toLowerCase", 1),
    ("toUpperCase", 1),
];

/// What a text answers; `None` where it has no such method.
pub(super) fn method<'a>(
    text: &str,
    name: &str,
    arguments: &[ScriptValue<'a>],
) -> Result<Option<ScriptValue<'a>>, ScriptError> {
    let units = || text.encode_utf16();
    Ok(Some(match (name, arguments) {
        ("toLowerCase", [_]) => ScriptValue::made(text.to_lowercase())?,
        ("toUpperCase", [_]) => ScriptValue::made(text.to_uppercase())?,
        ("toCharArray", []) => ScriptValue::listed(units().map(ScriptValue::Char).collect())?,
        ("chars", []) => {
            let codes = units().map(|unit| ScriptValue::Whole(i64::from(unit)));
            ScriptValue::kept(super::containers::Kind::Wholes, codes.collect())?
        }
        ("codePointAt", [at]) => {
            let letter = part(text, at.want_whole()?)?.chars().next();
            ScriptValue::Whole(letter.map_or(-1, |letter| i64::from(u32::from(letter))))
        }
        ("codePointCount", [_, _]) => {
            let whole = ScriptValue::Text(text.to_string().into());
            let piece = super::members::call(&whole, "substring", arguments)?;
            let letters = piece.want_text()?.chars().count();
            ScriptValue::Whole(i64::try_from(letters).unwrap_or(i64::MAX))
        }
        ("regionMatches", [at, other, from, length]) => {
            let places = [at.want_whole()?, from.want_whole()?, length.want_whole()?];
            let (one, other) = regions(text, other.want_text()?, places);
            ScriptValue::Bool(one.is_some() && one == other)
        }
        ("regionMatches", [ignores_case, at, other, from, length]) => {
            let places = [at.want_whole()?, from.want_whole()?, length.want_whole()?];
            let (mut one, mut other) = regions(text, other.want_text()?, places);
            if ignores_case.want_truth()? {
                one = one.map(|one| one.to_lowercase());
                other = other.map(|other| other.to_lowercase());
            }
            ScriptValue::Bool(one.is_some() && one == other)
        }
        ("compareToIgnoreCase", [other]) => {
            let other = other.want_text()?.to_lowercase();
            difference(&text.to_lowercase(), &other)
        }
        ("decodeBase64", []) => ScriptValue::made(written::of_base64(text)?)?,
        ("encodeBase64", []) => ScriptValue::made(written::base64_of(text))?,
        ("subSequence", [_, _]) => {
            let text = ScriptValue::Text(text.to_string().into());
            super::members::call(&text, "substring", arguments)?
        }
        ("contentEquals", [other]) => ScriptValue::Bool(text == &*other.shown()),
        ("startsWith", [beginning, from]) => {
            let rest = part(text, from.want_whole()?);
            let beginning = beginning.want_text()?;
            ScriptValue::Bool(rest.is_ok_and(|rest| rest.starts_with(beginning)))
        }
        ("lastIndexOf", [wanted, to]) => {
            let wanted: Vec<u16> = wanted.want_text()?.encode_utf16().collect();
            let units: Vec<u16> = units().collect();
            let to = usize::try_from(to.want_whole()?).unwrap_or(0);
            let mut places = (0..=units.len().min(to)).rev();
            let found = places.find(|at| {
                let rest = units.get(*at..).unwrap_or_default();
                rest.starts_with(&wanted)
            });
            ScriptValue::Whole(found.map_or(-1, |at| i64::try_from(at).unwrap_or(-1)))
        }
        _ => return Ok(None),
    }))
}

/// Pieces of one length of two texts, each from a place on; none where a text has no such piece.
fn regions(
    text: &str,
    other: &str,
    [at, from, length]: [i64; 3],
) -> (Option<String>, Option<String>) {
    let piece = |text: &str, from: i64| {
        let units: Vec<u16> = text.encode_utf16().collect();
        let from = usize::try_from(from).ok()?;
        let end = from.checked_add(usize::try_from(length).unwrap_or(0))?;
        units.get(from..end).map(String::from_utf16_lossy)
    };
    (piece(text, at), piece(other, from))
}

/// How two texts stand to each other, as Java says it: by the first letters that differ, else by how long they are.
pub(super) fn difference<'a>(text: &str, other: &str) -> ScriptValue<'a> {
    let (mut left, mut right) = (text.encode_utf16(), other.encode_utf16());
    loop {
        match (left.next(), right.next()) {
            (None, None) => return ScriptValue::Whole(0),
            (Some(left), Some(right)) if left == right => {}
            (Some(left), Some(right)) => {
                return ScriptValue::Whole(i64::from(left) - i64::from(right));
            }
            (rest, None) => {
                let more = left.count() + usize::from(rest.is_some());
                return ScriptValue::Whole(i64::try_from(more).unwrap_or(i64::MAX));
            }
            (None, rest) => {
                let more = right.count() + usize::from(rest.is_some());
                return ScriptValue::Whole(-i64::try_from(more).unwrap_or(i64::MAX));
            }
        }
    }
}

/// A text from a place on, which is counted in UTF-16.
fn part(text: &str, from: i64) -> Result<String, ScriptError> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let rest = usize::try_from(from)
        .ok()
        .and_then(|from| units.get(from..));
    match rest {
        Some(rest) => Ok(String::from_utf16_lossy(rest)),
        None => Err(ScriptError::new(
            crate::error::ScriptErrorKind::TextBounds,
            format!("Index {from} out of bounds for length {}", units.len()),
        )),
    }
}
