//! `strict_date_optional_time` and its lenient sister: ISO 8601 from the year down to fractions of
//! a second, cut off anywhere. Nearly every date in a log is one of these, so they are not run
//! through a pattern.

use jiff::tz::TimeZone;

use super::civil::{
    DAY_MS, DateReader, Fields, civil_from_days, offset_ms, to_local, write_offset,
};
use super::nanos::Instant;

/// Whether leading zeros may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strictness {
    Strict,
    Lenient,
}

/// Reads as far as the text goes; `None` when it is not such a date.
pub(super) fn read(
    reader: &mut DateReader<'_>,
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
    // Without the machinery of formats: buckets of histograms and columns of dates have thousands of these.
    let mut text = String::with_capacity(24);
    text.push_str(match year {
        ..0 => "-",
        0..=9999 => "",
        _ => "+",
    });
    let year = year.abs();
    push_digits(
        &mut text,
        year,
        year.checked_ilog10().map_or(4, |top| 4.max(top + 1)),
    );
    for (before, part) in [
        ('-', month),
        ('-', day),
        ('T', time / 3_600_000),
        (':', time / 60_000 % 60),
        (':', time / 1000 % 60),
    ] {
        text.push(before);
        push_digits(&mut text, part, 2);
    }
    text.push('.');
    push_digits(&mut text, time % 1000, 3);
    if at.sub_nanos > 0 {
        push_digits(&mut text, at.sub_nanos, 6);
        text.truncate(text.trim_end_matches('0').len());
    }
    match offset_ms(millis, zone) {
        0 => text.push('Z'),
        offset => text.push_str(&write_offset(offset, true)),
    }
    text
}

/// So many decimal digits of a number that is not negative.
fn push_digits(text: &mut String, number: i64, width: u32) {
    for place in (0..width).rev() {
        let digit = u32::try_from(number / 10_i64.pow(place) % 10);
        text.extend(digit.ok().and_then(|digit| char::from_digit(digit, 10)));
    }
}
