//! Moments as texts: in patterns, and in the formats that Java's `DateTimeFormatter` has by names.

use clew_schema::{DateFormat, parse_zone};

use super::moments::{Clock, not_parsed, of_class, read, shown_offset};
use super::value::ScriptValue;
use crate::error::ScriptError;

/// What a format with a name says of the offset of a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offset {
    /// Nothing.
    Left,
    /// What is known of it.
    Known,
    /// The same without a colon.
    Short,
    /// What must be known of it.
    Needed,
    /// It is made a moment in UTC.
    Utc,
    /// The same as mails have it.
    Mail,
}

/// Formats by their names: how they are written, whether with a part of a second, and what they say of the offset.
const FORMATS: &[(&str, &str, bool, Offset)] = &[
    ("BASIC_ISO_DATE", "yyyyMMdd", false, Offset::Short),
    ("ISO_DATE", "yyyy-MM-dd", false, Offset::Known),
    ("ISO_DATE_TIME", DATE_TIME, true, Offset::Known),
    ("ISO_INSTANT", DATE_TIME, true, Offset::Utc),
    ("ISO_LOCAL_DATE", "yyyy-MM-dd", false, Offset::Left),
    ("ISO_LOCAL_DATE_TIME", DATE_TIME, true, Offset::Left),
    ("ISO_LOCAL_TIME", "HH:mm:ss", true, Offset::Left),
    ("ISO_OFFSET_DATE", "yyyy-MM-dd", false, Offset::Needed),
    ("ISO_OFFSET_DATE_TIME", DATE_TIME, true, Offset::Needed),
    ("ISO_OFFSET_TIME", "HH:mm:ss", true, Offset::Needed),
    ("ISO_ORDINAL_DATE", "yyyy-DDD", false, Offset::Known),
    ("ISO_TIME", "HH:mm:ss", true, Offset::Known),
    ("ISO_WEEK_DATE", "strict_week_date", false, Offset::Known),
    ("ISO_ZONED_DATE_TIME", DATE_TIME, true, Offset::Needed),
    (
        "RFC_1123_DATE_TIME",
        "EEE, d MMM yyyy HH:mm:ss",
        false,
        Offset::Mail,
    ),
];

const DATE_TIME: &str = "yyyy-MM-dd'T'HH:mm:ss";

/// The format with a name: in scripts it is this name, as a pattern is its text.
pub(super) fn named(name: &str) -> Option<&'static str> {
    let known = FORMATS.iter().find(|(known, ..)| *known == name);
    known.map(|(known, ..)| *known)
}

fn pattern(text: &str) -> Result<DateFormat, ScriptError> {
    DateFormat::parse(text).map_err(|error| ScriptError::argument(error.to_string()))
}

/// A moment of a class in a format.
pub(super) fn formatted<'a>(
    format: &str,
    millis: i64,
    clock: Clock,
) -> Result<ScriptValue<'a>, ScriptError> {
    let offset = match clock {
        Clock::Zoned(offset) => Some(offset),
        Clock::Instant => Some(0),
        Clock::Local | Clock::Day | Clock::Time => None,
    };
    let known = FORMATS.iter().find(|(known, ..)| *known == format);
    let Some((_, written, has_fraction, told)) = known else {
        let format = pattern(format)?;
        let text = match offset.filter(|offset| *offset != 0) {
            None => format.format_millis(millis),
            Some(offset) => {
                let shown = shown_offset(offset);
                let zone = parse_zone(Some(shown.as_str()));
                let zone = zone.map_err(|_| ScriptError::argument("Unknown time-zone ID"))?;
                format.format_millis_in(millis, &zone)
            }
        };
        return ScriptValue::made(text);
    };
    let local = match told {
        Offset::Utc => millis,
        _ => millis.saturating_add(offset.unwrap_or(0)),
    };
    let mut text = pattern(written)?.format_millis(local);
    let of_second = local.rem_euclid(1_000);
    if *has_fraction && of_second > 0 {
        let digits = format!(".{of_second:03}");
        text.push_str(match told {
            Offset::Utc => digits.as_str(),
            _ => digits.trim_end_matches('0'),
        });
    }
    text.push_str(&offset_told(*told, offset)?);
    ScriptValue::made(text)
}

/// What a format says of an offset, if there is one.
fn offset_told(told: Offset, offset: Option<i64>) -> Result<String, ScriptError> {
    let lacks = |field: &str| Err(ScriptError::argument(format!("Unsupported field: {field}")));
    let Some(offset) = offset else {
        return match told {
            Offset::Left | Offset::Known | Offset::Short => Ok(String::new()),
            Offset::Needed | Offset::Mail => lacks("OffsetSeconds"),
            Offset::Utc => lacks("InstantSeconds"),
        };
    };
    let shown = shown_offset(offset);
    Ok(match told {
        Offset::Left => String::new(),
        Offset::Known | Offset::Needed => shown,
        Offset::Short => shown.replace(':', ""),
        Offset::Utc => "Z".to_string(),
        Offset::Mail if offset == 0 => " GMT".to_string(),
        Offset::Mail => format!(" {}", shown.replace(':', "")),
    })
}

/// A moment that a text names in a format, of the class that a function makes.
pub(super) fn parsed<'a>(
    name: &str,
    text: &str,
    format: &str,
) -> Result<ScriptValue<'a>, ScriptError> {
    let known = FORMATS.iter().find(|(known, ..)| *known == format);
    let written = match known {
        // What documents' dates are read by by themselves.
        Some((_, "yyyy-MM-dd" | DATE_TIME, ..)) => return read(name, text),
        Some((_, written, ..)) => *written,
        None => format,
    };
    let millis = pattern(written)?.parse_value(text);
    let millis = millis.map_err(|error| not_parsed(text, error))?;
    Ok(of_class(name, millis, 0))
}
