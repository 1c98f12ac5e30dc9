//! `strict_date_optional_time` and its lenient sister: ISO 8601 from the year down to fractions of
//! a second, cut off anywhere. Nearly every date in a log is one of these, so they are not run
//! through a pattern.

use jiff::tz::TimeZone;

use super::civil::{DAY_MS, Fields, Reader, civil_from_days, offset_ms, to_local, write_offset};
use super::nanos::Instant;

/// Whether leading zeros may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strictness {
    Strict,
    Lenient,
}

/// Reads as far as the text goes; `None` when it is not such a date.
pub(super) fn read(
    reader: &mut Reader<'_>,
    fields: &mut Fields,
    strictness: Strictness,
) -> Option<()> {
    let (year_min, min) = match strictness {
        Strictness::Strict => (4, 2),
        Strictness::Lenient => (1, 1),
    };
    fields.year = Some(reader.year(year_min)?);
    if reader.take(b'-') {
        fields.month = Some(reader.number(min, 2)?);
        if reader.take(b'-') {
            fields.day = Some(reader.number(min, 2)?);
        }
    }
    if !reader.take(b'T') || reader.is_at_end() {
        return Some(());
    }
    fields.hour = Some(reader.number(min, 2)?);
    if reader.take(b':') {
        fields.minute = Some(reader.number(min, 2)?);
        if reader.take(b':') {
            fields.second = Some(reader.number(min, 2)?);
            if reader.take(b'.') || reader.take(b',') {
                fields.nanos = Some(reader.fraction(1, 9)?);
            }
        }
    }
    if !reader.is_at_end() {
        fields.zone = Some(reader.offset()?);
    }
    Some(())
}

/// Always down to milliseconds, further as far as there is something, with `Z` or the zone's
/// offset.
pub(super) fn format(at: Instant, zone: &TimeZone) -> String {
    let millis = at.millis;
    let local = to_local(millis, zone);
    let (year, month, day) = civil_from_days(local.div_euclid(DAY_MS));
    let time = local.rem_euclid(DAY_MS);
    let offset = match offset_ms(millis, zone) {
        0 => "Z".to_string(),
        offset => write_offset(offset, true),
    };
    let beyond = format!("{:06}", at.sub_nanos);
    let beyond = beyond.trim_end_matches('0');
    let sign = match year {
        ..0 => "-",
        0..=9999 => "",
        _ => "+",
    };
    format!(
        "{sign}{:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}{beyond}{offset}",
        year.abs(),
        time / 3_600_000,
        time / 60_000 % 60,
        time / 1000 % 60,
        time % 1000
    )
}
