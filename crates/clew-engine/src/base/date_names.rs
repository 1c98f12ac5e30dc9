//! Names with a date in them: `<logs-{now/d{yyyy.MM.dd|+02:00}}>` stands for the name of that day.

use std::borrow::Cow;

use clew_schema::{DateFormat, Rounding};
use jiff::tz::{Offset, TimeZone};

use crate::base::error::EngineError;

const FORMAT_DEFAULT: &str = "uuuu.MM.dd";

/// The name that an expression stands for; other names stand for themselves.
pub(crate) fn resolve_date(
    name: &str,
    now_ms: impl FnOnce() -> i64,
) -> Result<Cow<'_, str>, EngineError> {
    let inner = name
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'));
    let Some(inner) = inner else {
        return Ok(Cow::Borrowed(name));
    };
    let now_ms = now_ms();
    let mut resolved = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => resolved.extend(chars.next()),
            '{' => resolved.push_str(&evaluate(&placeholder(&mut chars, name)?, name, now_ms)?),
            '}' => {
                return Err(invalid(name, "missing '{' for '}'"));
            }
            other => resolved.push(other),
        }
    }
    if resolved.is_empty() {
        return Err(invalid(name, "nothing captured"));
    }
    Ok(Cow::Owned(resolved))
}

/// What stands between `{` and its `}`.
fn placeholder(chars: &mut std::str::Chars<'_>, name: &str) -> Result<String, EngineError> {
    let mut text = String::new();
    let mut depth = 1;
    for char in chars.by_ref() {
        match char {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok(text);
        }
        text.push(char);
    }
    Err(invalid(name, "date math placeholder is open ended"))
}

fn evaluate(text: &str, name: &str, now_ms: i64) -> Result<String, EngineError> {
    let (math, format) = match text.split_once('{') {
        None => (text, FORMAT_DEFAULT),
        Some((math, rest)) => {
            let format = rest.strip_suffix('}').filter(|format| !format.is_empty());
            let reason = "missing date format";
            (math, format.ok_or_else(|| invalid(name, reason))?)
        }
    };
    let (format, zone) = match format.split_once('|') {
        None => (format, TimeZone::UTC),
        Some((format, zone)) => (
            format,
            read_zone(zone).ok_or_else(|| invalid(name, &format!("unknown time zone [{zone}]")))?,
        ),
    };
    let parsed = DateFormat::parse(format).map_err(|error| invalid(name, &error.to_string()))?;
    let millis = parsed
        .parse_with_math_in(math, now_ms, Rounding::Down, &zone)
        .map_err(|error| invalid(name, &error.to_string()))?;
    Ok(parsed.format_millis_in(millis, &zone))
}

/// An offset like `+02:00`, or a name of the time zone database.
fn read_zone(text: &str) -> Option<TimeZone> {
    if matches!(text, "UTC" | "Z") {
        return Some(TimeZone::UTC);
    }
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return TimeZone::get(text).ok(),
    };
    let (hours, minutes) = rest.split_once(':').unwrap_or((rest, "0"));
    let (hours, minutes) = (hours.parse::<i32>().ok()?, minutes.parse::<i32>().ok()?);
    if !(0..=18).contains(&hours) || !(0..60).contains(&minutes) {
        return None;
    }
    let offset = Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()?;
    Some(TimeZone::fixed(offset))
}

fn invalid(name: &str, reason: &str) -> EngineError {
    EngineError::InvalidDateName {
        name: name.to_string(),
        reason: reason.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-03-22T22:30:00Z.
    const NOW_MS: i64 = 1_774_218_600_000;

    #[test]
    fn dates_are_put_into_names() {
        for (name, want) in [
            ("logs", "logs"),
            ("<logs>", "logs"),
            ("<logs-{now/d}>", "logs-2026.03.22"),
            ("<logs-{now/M}-x>", "logs-2026.03.01-x"),
            ("<{now/M{yyyy-MM}}>", "2026-03"),
            ("<logs-{now/d-1M{yyyy.MM}}>", "logs-2026.02"),
            ("<logs-{now/d{yyyy.MM.dd|+12:00}}>", "logs-2026.03.23"),
            ("<logs-{now/d{yyyy.MM.dd|-02:30}}>", "logs-2026.03.22"),
            ("<a\\{b\\}-{now{yyyy}}>", "a{b}-2026"),
        ] {
            assert_eq!(resolve_date(name, || NOW_MS).unwrap(), want, "{name}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for name in [
            "<>",
            "<logs-{now/d>",
            "<logs-now}>",
            "<logs-{now/d{}}>",
            "<logs-{now/d{yyyy|nowhere}}>",
            "<logs-{now*d}>",
            "<logs-{now/d{qqq#}}>",
        ] {
            assert!(resolve_date(name, || NOW_MS).is_err(), "{name}");
        }
    }
}
