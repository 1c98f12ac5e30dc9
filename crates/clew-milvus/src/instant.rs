//! Instants: what fields of type `Timestamptz` hold, in microseconds since the epoch, and how clients write them.
//!
//! They lie in columns of whole numbers, which keep every microsecond of all years that have four digits; the engine's
//! dates keep milliseconds, or begin in 1970.

use std::collections::BTreeMap;

use clew_schema::parse_zone;
use jiff::civil::{DateTime, Time, date};
use jiff::fmt::temporal::Pieces;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{SignedDuration, Span, Timestamp};

use crate::error::{MilvusError, Result};

/// The property of a collection, and the parameter of a request, that names a time zone.
pub(crate) const ZONE: &str = "timezone";
/// The parameter of a request that names the parts of instants that are told in the place of texts.
pub(crate) const PARTS: &str = "time_fields";
/// Most parts that one request names: each is told of each row.
const PARTS_MAX: usize = 64;
/// The years whose instants are kept.
const YEARS: std::ops::RangeInclusive<i16> = 0..=9999;
/// What instants are counted from.
const EPOCH: DateTime = date(1970, 1, 1).at(0, 0, 0, 0);
/// How far clocks are ahead of UTC, in seconds; other offsets are refused, as in Milvus.
const OFFSETS: std::ops::RangeInclusive<i32> = -12 * 3_600..=14 * 3_600;

/// The time zone in which instants are written that say none.
///
/// # Errors
/// [`MilvusError::Invalid`] for a zone that nobody knows.
pub(crate) fn zone_of(named: &BTreeMap<String, String>) -> Result<TimeZone> {
    let name = named.get(ZONE).filter(|name| !name.is_empty());
    parse_zone(name.map(String::as_str)).map_err(|_| {
        let name = name.map_or("", String::as_str);
        MilvusError::invalid(format!("unknown or invalid IANA Time Zone ID: {name}"))
    })
}

/// The zone that a request names, if it names one.
///
/// # Errors
/// As [`zone_of`].
pub(crate) fn zone_asked(named: &BTreeMap<String, String>) -> Result<Option<TimeZone>> {
    match named.get(ZONE).is_some_and(|name| !name.is_empty()) {
        true => zone_of(named).map(Some),
        false => Ok(None),
    }
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
    let read = Pieces::parse(text.trim()).map_err(|_| wrong())?;
    if read.time_zone_annotation().is_some() {
        return Err(wrong());
    }
    let time = read.time().unwrap_or_else(Time::midnight);
    let local = read.date().to_datetime(time);
    let seconds = match read.to_numeric_offset() {
        Some(offset) if !OFFSETS.contains(&offset.seconds()) => return Err(wrong()),
        Some(offset) => offset.seconds(),
        None => offset_of(local, zone).seconds(),
    };
    kept(micros_of(local) - i64::from(seconds) * 1_000_000).ok_or_else(wrong)
}

/// The offset of what a zone's calendar and clock show. Of an hour that there was twice the first is meant, and one that
/// was left out is an hour later.
fn offset_of(local: DateTime, zone: &TimeZone) -> Offset {
    match zone.to_ambiguous_timestamp(local).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset,
        AmbiguousOffset::Gap { before, .. } | AmbiguousOffset::Fold { before, .. } => before,
    }
}

/// The instant at which UTC's calendar and clock show this; what is less than a microsecond is left out.
fn micros_of(utc: DateTime) -> i64 {
    let nanos = utc.duration_since(EPOCH).as_nanos();
    i64::try_from(nanos.div_euclid(1_000)).unwrap_or(i64::MAX)
}

/// What UTC's calendar and clock show at an instant, if it has a day.
fn civil(micros: i64) -> Option<DateTime> {
    EPOCH.checked_add(SignedDuration::from_micros(micros)).ok()
}

/// An instant in microseconds, if it is one that is kept: from the year 0 to the end of 9999.
pub(crate) fn kept(micros: i64) -> Option<i64> {
    let year = civil(micros)?.year();
    YEARS.contains(&year).then_some(micros)
}

/// How many seconds the clocks of a zone are ahead of UTC. In the last hours of 9999, of which zones say nothing, it is as
/// it was before.
fn offset_at(micros: i64, zone: &TimeZone) -> i32 {
    let last = if micros < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    };
    let at = Timestamp::from_microsecond(micros).unwrap_or(last);
    zone.to_offset(at).seconds()
}

/// What calendar and clock show that are so many seconds ahead of UTC, and how many these are: none where the year would
/// have five digits.
fn ahead(micros: i64, seconds: i32) -> Option<(DateTime, i32)> {
    let utc = civil(micros)?;
    let there = utc.checked_add(SignedDuration::from_secs(seconds.into()));
    Some(there.map_or((utc, 0), |there| (there, seconds)))
}

/// An instant as clients are told of it, with the offset of a zone.
pub(crate) fn instant_text(micros: i64, zone: &TimeZone) -> String {
    // Texts have no seconds of an offset, which zones had before there were railways: told is the same moment beside it.
    let seconds = offset_at(micros, zone);
    let Some((local, seconds)) = ahead(micros, seconds - seconds % 60) else {
        return micros.to_string();
    };
    let minutes = seconds.unsigned_abs() / 60;
    let (hours, minutes) = (minutes / 60, minutes % 60);
    match seconds {
        0 => format!("{local}Z"),
        ..0 => format!("{local}-{hours:02}:{minutes:02}"),
        _ => format!("{local}+{hours:02}:{minutes:02}"),
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
    let Some((at, _)) = ahead(micros, offset_at(micros, zone)) else {
        return Vec::new();
    };
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
    kept(micros_of(civil(micros)?.checked_add(by).ok()?))
}

#[cfg(test)]
mod tests;
