//! Time zones as requests write them.

use jiff::tz::{Offset, TimeZone};

/// A text that names no time zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown time zone [{0}]")]
pub struct UnknownZone(pub String);

/// The zone of an IANA name, `Z`, or an offset such as `+02:00`, `-0530` or `+2`.
///
/// # Errors
/// [`UnknownZone`] for anything else.
pub fn parse_zone(text: Option<&str>) -> Result<TimeZone, UnknownZone> {
    let Some(text) = text else {
        return Ok(TimeZone::UTC);
    };
    if matches!(text, "Z" | "UTC" | "GMT" | "UT") {
        return Ok(TimeZone::UTC);
    }
    let name = text
        .strip_prefix("UTC")
        .or_else(|| text.strip_prefix("GMT"))
        .filter(|rest| rest.starts_with(['+', '-']))
        .unwrap_or(text);
    if name.starts_with(['+', '-']) {
        return parse_offset(name)
            .map(TimeZone::fixed)
            .ok_or_else(|| unknown(text));
    }
    TimeZone::get(text).map_err(|_| unknown(text))
}

fn parse_offset(text: &str) -> Option<Offset> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let digits: String = text[1..].chars().filter(|c| *c != ':').collect();
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part =
        |range: std::ops::Range<usize>| digits.get(range).map_or(Some(0), |d| d.parse().ok());
    let (hours, minutes): (i32, i32) = match digits.len() {
        1 | 2 => (digits.parse().ok()?, 0),
        4 | 6 => (part(0..2)?, part(2..4)?),
        _ => return None,
    };
    let seconds = if digits.len() == 6 { part(4..6)? } else { 0 };
    (minutes < 60 && seconds < 60)
        .then(|| Offset::from_seconds(sign * (hours * 3_600 + minutes * 60 + seconds)).ok())
        .flatten()
}

fn unknown(text: &str) -> UnknownZone {
    UnknownZone(text.to_string())
}
