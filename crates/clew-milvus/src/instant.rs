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
            "got invalid timestamptz string '{text}': it is no date or time of ISO 8601 in the years 0 to 9999"
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
mod tests {
    use super::*;

    fn zone(name: &str) -> TimeZone {
        zone_of(&BTreeMap::from([(ZONE.to_string(), name.to_string())])).unwrap()
    }

    /// Texts in a zone, and as they are told in UTC and in that zone.
    const READ: [(&str, &str, &str, &str); 12] = [
        (
            "2025-01-01T00:00:00+08:00",
            "UTC",
            "2024-12-31T16:00:00Z",
            "2024-12-31T16:00:00Z",
        ),
        (
            "2025-01-01 00:00:00",
            "Asia/Shanghai",
            "2024-12-31T16:00:00Z",
            "2025-01-01T00:00:00+08:00",
        ),
        (
            " 2025-07-01 ",
            "America/New_York",
            "2025-07-01T04:00:00Z",
            "2025-07-01T00:00:00-04:00",
        ),
        (
            "2025-01-01T00:00:00",
            "+05:30",
            "2024-12-31T18:30:00Z",
            "2025-01-01T00:00:00+05:30",
        ),
        // An hour that there was not is told an hour later; of one that there was twice the first is meant.
        (
            "2025-03-09T02:30:00",
            "America/New_York",
            "2025-03-09T07:30:00Z",
            "2025-03-09T03:30:00-04:00",
        ),
        (
            "2025-11-02T01:30:00",
            "America/New_York",
            "2025-11-02T05:30:00Z",
            "2025-11-02T01:30:00-04:00",
        ),
        (
            "2025-11-02T01:30:00-05:00",
            "America/New_York",
            "2025-11-02T06:30:00Z",
            "2025-11-02T01:30:00-05:00",
        ),
        // A day that there was not.
        (
            "2011-12-30T12:00:00",
            "Pacific/Apia",
            "2011-12-30T22:00:00Z",
            "2011-12-31T12:00:00+14:00",
        ),
        // Microseconds are kept, what is less is not.
        (
            "2025-01-01T00:00:00.123456789Z",
            "UTC",
            "2025-01-01T00:00:00.123456Z",
            "2025-01-01T00:00:00.123456Z",
        ),
        (
            "1900-02-03T04:05:06.123456Z",
            "Asia/Shanghai",
            "1900-02-03T04:05:06.123456Z",
            "1900-02-03T12:10:06.123456+08:05",
        ),
        (
            "0000-01-01",
            "UTC",
            "0000-01-01T00:00:00Z",
            "0000-01-01T00:00:00Z",
        ),
        (
            "9999-12-30T21:59:59.999999Z",
            "UTC",
            "9999-12-30T21:59:59.999999Z",
            "9999-12-30T21:59:59.999999Z",
        ),
    ];

    #[test]
    fn instants_are_read_in_a_zone_and_told_in_one() {
        for (text, name, utc, local) in READ {
            let zone = zone(name);
            let micros = parse_instant(text, &zone).unwrap();
            assert_eq!(instant_text(micros, &TimeZone::UTC), utc, "{text} {name}");
            assert_eq!(instant_text(micros, &zone), local, "{text} {name}");
            assert_eq!(
                parse_instant(local, &TimeZone::UTC).unwrap(),
                micros,
                "{text} {name}"
            );
        }
    }

    #[test]
    fn what_is_no_instant_is_refused_with_its_text() {
        for text in [
            "",
            "soon",
            "2025-13-01",
            "2025-01-01T25:00:00Z",
            "12025-01-01",
            "-000001-01-01T00:00:00Z",
        ] {
            let refused = parse_instant(text, &TimeZone::UTC).unwrap_err();
            assert_eq!(refused.code(), 1100, "{text}");
            assert!(
                refused.to_string().contains(&format!("'{text}'")),
                "{refused}"
            );
        }
        let nowhere = BTreeMap::from([(ZONE.to_string(), "Mars/Base".to_string())]);
        assert_eq!(zone_of(&nowhere).unwrap_err().code(), 1100);
    }

    #[test]
    fn instants_are_told_by_their_parts() {
        let all = parts_of("year, Month day,hour minute second microsecond,").unwrap();
        for (text, name, want) in [
            (
                "2025-01-01T00:00:00.5+08:00",
                "UTC",
                [2024, 12, 31, 16, 0, 0, 500_000],
            ),
            (
                "2025-01-01T00:00:00.5+08:00",
                "Asia/Shanghai",
                [2025, 1, 1, 0, 0, 0, 500_000],
            ),
            (
                "1969-12-31T23:59:59.999999Z",
                "UTC",
                [1969, 12, 31, 23, 59, 59, 999_999],
            ),
        ] {
            let micros = parse_instant(text, &TimeZone::UTC).unwrap();
            assert_eq!(
                instant_parts(micros, &all, &zone(name)),
                want,
                "{text} {name}"
            );
        }
        assert!(parts_of(" , ").unwrap().is_empty());
        for (wrong, said) in [
            (
                "year,yeer".to_string(),
                "unsupported field for extraction: yeer",
            ),
            (
                "year;month".to_string(),
                "unsupported field for extraction: year;month",
            ),
            ("day,".repeat(PARTS_MAX + 1), "more than 64 parts"),
        ] {
            let refused = parts_of(&wrong).unwrap_err();
            assert_eq!(refused.code(), 1100);
            assert!(refused.to_string().contains(said), "{refused}");
        }
    }

    #[test]
    fn intervals_move_instants() {
        for (from, interval, to) in [
            ("2024-02-28T12:00:00Z", "P1DT2H", "2024-02-29T14:00:00Z"),
            ("2024-02-28T12:00:00Z", "-P1M", "2024-01-28T12:00:00Z"),
            ("2024-02-29T00:00:00Z", "P1Y", "2025-02-28T00:00:00Z"),
            ("2024-01-31T00:00:00Z", "P1M", "2024-02-29T00:00:00Z"),
            ("2024-01-31T00:00:00Z", "P2W", "2024-02-14T00:00:00Z"),
            ("2024-12-31T23:59:59Z", "PT1.5S", "2025-01-01T00:00:00.5Z"),
            (
                "1969-12-31T23:59:59.999999Z",
                "PT1M",
                "1970-01-01T00:00:59.999999Z",
            ),
        ] {
            let at = parse_instant(from, &TimeZone::UTC).unwrap();
            let moved = shifted(at, parse_interval(interval).unwrap()).unwrap();
            assert_eq!(instant_text(moved, &TimeZone::UTC), to, "{from} {interval}");
        }
        for text in ["", "1 day or so", "P", "P1X", "PT", "P1D2H"] {
            assert!(parse_interval(text).is_none(), "{text}");
        }
        let late = parse_instant("9999-12-01", &TimeZone::UTC).unwrap();
        assert!(shifted(late, parse_interval("P1Y").unwrap()).is_none());
    }
}
