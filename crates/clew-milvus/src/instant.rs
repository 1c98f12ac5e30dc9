//! Instants: what fields of type `Timestamptz` hold, in microseconds since the epoch, and how clients write them.
//!
//! They lie in columns of whole numbers, which keep every microsecond of all years that have four digits; the engine's
//! dates keep milliseconds, or begin in 1970.

use std::collections::BTreeMap;

use clew_schema::parse_zone;
use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};
use jiff::{Span, Timestamp, Zoned};

use crate::error::{MilvusError, Result};

/// The property of a collection, and the parameter of a request, that names a time zone.
pub(crate) const ZONE: &str = "timezone";
/// The parameter of a request that names the parts of instants that are told in the place of texts.
pub(crate) const PARTS: &str = "time_fields";
/// Most parts that one request names: each is told of each row.
const PARTS_MAX: usize = 64;
/// The years whose instants are kept.
const YEARS: std::ops::RangeInclusive<i16> = 0..=9999;

/// The time zone in which instants are written that say none.
///
/// # Errors
/// [`MilvusError::Invalid`] for a zone that nobody knows.
pub(crate) fn zone_of(named: &BTreeMap<String, String>) -> Result<TimeZone> {
    let name = named.get(ZONE).filter(|name| !name.is_empty());
    parse_zone(name.map(String::as_str)).map_err(|_| {
        let name = name.map_or("", String::as_str);
        MilvusError::invalid(format!(
            "invalid timezone, should be a IANA timezone name: {name}"
        ))
    })
}

/// An instant as clients write it: ISO 8601 with or without an offset, a day alone being its first moment.
///
/// # Errors
/// [`MilvusError::Invalid`] with the text.
pub(crate) fn parse_instant(text: &str, zone: &TimeZone) -> Result<i64> {
    let wrong = || {
        MilvusError::invalid(format!(
            "invalid timestamp string: '{text}'. Does not match any known format"
        ))
    };
    let text = text.trim();
    let at = match text.parse::<Timestamp>() {
        Ok(at) => at,
        Err(_) => {
            let local: DateTime = text.parse().map_err(|_| wrong())?;
            let zoned = zone.to_zoned(local).map_err(|_| wrong())?;
            zoned.timestamp()
        }
    };
    kept(at.as_microsecond()).ok_or_else(wrong)
}

/// An instant in microseconds, if it is one that is kept: from the year 0 to nearly the end of 9999.
pub(crate) fn kept(micros: i64) -> Option<i64> {
    let at = Timestamp::from_microsecond(micros).ok()?;
    let year = at.to_zoned(TimeZone::UTC).year();
    YEARS.contains(&year).then_some(micros)
}

/// An instant as clients are told of it, with the offset of a zone.
pub(crate) fn instant_text(micros: i64, zone: &TimeZone) -> String {
    let Ok(at) = Timestamp::from_microsecond(micros) else {
        return micros.to_string();
    };
    // Texts have no seconds of an offset, which zones had before there were railways: told is the same moment beside it.
    let seconds = at.to_zoned(zone.clone()).offset().seconds();
    match Offset::from_seconds(seconds - seconds % 60) {
        Ok(offset) if !offset.is_zero() => at.display_with_offset(offset).to_string(),
        _ => at.to_string(),
    }
}

/// A part of an instant, as a calendar and a clock have it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum InstantPart {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Microsecond,
}

/// The parts of instants that a request names, with commas or blanks between them.
///
/// # Errors
/// [`MilvusError::Invalid`] for a name of none, and for too many.
pub(crate) fn parts_of(named: &str) -> Result<Vec<InstantPart>> {
    let names = named.split([',', ' ']).filter(|name| !name.is_empty());
    let read = |name: &str| match name.to_ascii_lowercase().as_str() {
        "year" => Ok(InstantPart::Year),
        "month" => Ok(InstantPart::Month),
        "day" => Ok(InstantPart::Day),
        "hour" => Ok(InstantPart::Hour),
        "minute" => Ok(InstantPart::Minute),
        "second" => Ok(InstantPart::Second),
        "microsecond" => Ok(InstantPart::Microsecond),
        _ => Err(MilvusError::invalid(format!(
            "unsupported field for extraction: {name}, fields should be seprated by ',' or ' '"
        ))),
    };
    if names.clone().count() > PARTS_MAX {
        return Err(MilvusError::invalid(format!(
            "{PARTS} names more than {PARTS_MAX} parts"
        )));
    }
    names.map(read).collect()
}

/// Parts of an instant in a zone.
pub(crate) fn instant_parts(micros: i64, parts: &[InstantPart], zone: &TimeZone) -> Vec<i64> {
    let Ok(at) = Timestamp::from_microsecond(micros) else {
        return Vec::new();
    };
    let at = at.to_zoned(zone.clone());
    let told = parts.iter().map(|part| match part {
        InstantPart::Year => i64::from(at.year()),
        InstantPart::Month => i64::from(at.month()),
        InstantPart::Day => i64::from(at.day()),
        InstantPart::Hour => i64::from(at.hour()),
        InstantPart::Minute => i64::from(at.minute()),
        InstantPart::Second => i64::from(at.second()),
        InstantPart::Microsecond => i64::from(at.subsec_nanosecond() / 1_000),
    });
    told.collect()
}

/// A length of time as expressions write it: `P1DT2H`.
pub(crate) fn parse_interval(text: &str) -> Option<Span> {
    text.trim().parse().ok()
}

/// The instant so much later than another, by the calendar of UTC; none where there is none.
pub(crate) fn shifted(micros: i64, by: Span) -> Option<i64> {
    let at: Zoned = Timestamp::from_microsecond(micros)
        .ok()?
        .to_zoned(TimeZone::UTC);
    kept(at.checked_add(by).ok()?.timestamp().as_microsecond())
}

#[cfg(test)]
mod tests;
