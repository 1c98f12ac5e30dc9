//! The time stamps log lines begin with, recognised at the start of a text; each function returns
//! the time and the rest.

use clew_ingest::{named_zone_ms, short_month};

use super::{Civil, SECOND_BYTES, Times};

/// A stamp with what it said about its zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stamp {
    Local(Civil),
    /// With its distance from UTC.
    Zoned(Civil, i64),
}

impl Stamp {
    pub(crate) fn epoch_ms(self, times: &mut Times) -> i64 {
        match self {
            Stamp::Local(civil) => times.local_ms(civil),
            Stamp::Zoned(civil, offset_ms) => civil.as_utc_ms() - offset_ms,
        }
    }
}

/// Two digits at a place.
pub(super) fn two(text: &[u8], at: usize) -> Option<u8> {
    let (tens, ones) = (
        text.get(at)?.wrapping_sub(b'0'),
        text.get(at + 1)?.wrapping_sub(b'0'),
    );
    (tens < 10 && ones < 10).then(|| tens * 10 + ones)
}

pub(super) fn four(text: &[u8], at: usize) -> Option<i16> {
    Some(i16::from(two(text, at)?) * 100 + i16::from(two(text, at + 2)?))
}

pub(super) fn expect(text: &[u8], at: usize, byte: u8) -> Option<()> {
    (*text.get(at)? == byte).then_some(())
}

/// `hh:mm:ss` at a place, put into a date.
pub(super) fn time_of_day(text: &[u8], at: usize, date: Civil) -> Option<Civil> {
    expect(text, at + 2, b':')?;
    expect(text, at + 5, b':')?;
    Civil {
        hour: two(text, at)?,
        minute: two(text, at + 3)?,
        second: two(text, at + 6)?,
        ..date
    }
    .checked()
}

/// A fraction of a second (after `.` or `,`) at a place: milliseconds and its length.
pub(super) fn fraction(text: &[u8], at: usize) -> (u16, usize) {
    if !matches!(text.get(at), Some(b'.' | b',')) {
        return (0, 0);
    }
    let digits = text[at + 1..]
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .take(12)
        .count();
    if digits == 0 {
        return (0, 0);
    }
    let milliseconds = (0..3).fold(0, |sum: u16, place| {
        let digit = if place < digits {
            text[at + 1 + place] - b'0'
        } else {
            0
        };
        sum * 10 + u16::from(digit)
    });
    (milliseconds, digits + 1)
}

/// A zone at a place: `Z`, `+hh:mm`, `+hhmm`, `+hh`. Offset in milliseconds and length.
pub(super) fn zone(text: &[u8], at: usize) -> Option<(i64, usize)> {
    let sign = match text.get(at)? {
        b'Z' | b'z' => return Some((0, 1)),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let hours = i64::from(two(text, at + 1)?);
    let colon = usize::from(text.get(at + 3) == Some(&b':'));
    let (minutes, length) = match two(text, at + 3 + colon) {
        Some(minutes) => (i64::from(minutes), 5 + colon),
        None => (0, 3),
    };
    (hours < 24 && minutes < 60).then_some((sign * (hours * 60 + minutes) * 60_000, length))
}

/// A zone behind a space: ` UTC`, ` CEST`, ` +0100`, ` -05:00`, and its length with the space. An hour alone may be any number.
fn spaced_zone(text: &str) -> Option<(i64, usize)> {
    /// No clock is farther from UTC.
    const OFFSET_MS_MAX: i64 = 14 * 3_600_000;
    if text.starts_with(" UTC") {
        return Some((0, 4));
    }
    let bytes = text.as_bytes();
    if matches!(bytes, [b' ', b'A'..=b'Z', ..]) {
        return named_zone(text);
    }
    if !matches!(bytes, [b' ', b'+' | b'-', ..]) {
        return None;
    }
    let (offset, length) = zone(bytes, 1)?;
    let goes_on = bytes.get(1 + length).is_some_and(u8::is_ascii_digit);
    let is_zone = length >= 5 && !goes_on && offset.abs() <= OFFSET_MS_MAX;
    is_zone.then_some((offset, 1 + length))
}

/// A stamp of no zone with the one that stands behind it, in front of another word; `CST` says nothing, and such times are local ones.
pub(super) fn with_zone_behind((stamp, rest): (Stamp, &str)) -> Option<(Stamp, &str)> {
    let Stamp::Local(civil) = stamp else {
        return None;
    };
    let found = spaced_zone(rest).or_else(|| zone(rest.as_bytes(), 0));
    let (stamp, behind) = match found {
        Some((offset, length)) => (Stamp::Zoned(civil, offset), rest.get(length..)?),
        None => (stamp, rest.strip_prefix(" CST")?),
    };
    behind.starts_with(' ').then_some((stamp, behind))
}

/// A zone by its name behind a space, as `PostgreSQL` writes it. `CST` is China's and America's, and says nothing.
fn named_zone(text: &str) -> Option<(i64, usize)> {
    let bytes = text.as_bytes();
    let letters = bytes.iter().skip(1);
    let end = 1 + letters.take_while(|byte| byte.is_ascii_uppercase()).count();
    let goes_on = bytes
        .get(end)
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let name = text.get(1..end).filter(|_| !goes_on)?;
    // No level, which is what mostly stands there, ends like a zone.
    let ends_as_one = matches!(name.as_bytes(), [.., b'T' | b'K']);
    let may_be_one = matches!(name.len(), 3 | 4) && ends_as_one && name != "CST";
    let offset = may_be_one.then(|| named_zone_ms(name)).flatten()?;
    Some((offset, end))
}

/// Whether a line begins with a day, `2026-01-02`.
pub(super) fn begins_with_day(line: &[u8]) -> bool {
    let dashed = expect(line, 4, b'-').and_then(|()| expect(line, 7, b'-'));
    dashed.is_some() && four(line, 0).and(two(line, 5)).and(two(line, 8)).is_some()
}

/// `2026-01-02T03:04:05[.678][Z|+01:00]`; the date may use `/` or `.`, and one or two spaces, or a tab, may
/// stand for the `T`. ` UTC` and ` +0100` after it count as zones.
pub(crate) fn iso(text: &str) -> Option<(Stamp, &str)> {
    let bytes = text.as_bytes();
    let year = four(bytes, 0)?;
    let separator = *bytes.get(4)?;
    if !matches!(separator, b'-' | b'/' | b'.') {
        return None;
    }
    expect(bytes, 7, separator)?;
    let date = Civil::day(year, two(bytes, 5)?, two(bytes, 8)?);
    let at = match (bytes.get(10)?, bytes.get(11)?) {
        (b' ', b' ') => 12,
        (b'T' | b't' | b' ' | b'\t', _) => 11,
        _ => return None,
    };
    let mut civil = time_of_day(bytes, at, date)?;
    let (milliseconds, length) = fraction(bytes, at + 8);
    civil.millisecond = milliseconds;
    let end = at + 8 + length;
    if let Some((offset, length)) = zone(bytes, end) {
        return Some((Stamp::Zoned(civil, offset), &text[end + length..]));
    }
    let rest = &text[end..];
    Some(match spaced_zone(rest) {
        Some((offset, length)) => (Stamp::Zoned(civil, offset), &rest[length..]),
        None => (Stamp::Local(civil), rest),
    })
}

/// As [`iso`], where a zone is known to follow behind a blank: it may be the hours alone, ` +03`, as `PostgreSQL` writes those that have
/// no name, or a name that says nothing, ` CST`, whose times are local ones.
pub(super) fn iso_zoned(text: &str) -> Option<(Stamp, &str)> {
    const NAME_BYTES: std::ops::RangeInclusive<usize> = 3..=5;
    let (stamp, rest) = iso(text)?;
    let (Stamp::Local(civil), Some(behind)) = (stamp, rest.strip_prefix(' ')) else {
        return Some((stamp, rest));
    };
    let bytes = behind.as_bytes();
    let ends = |at: usize| matches!(bytes.get(at), None | Some(b' ' | b','));
    if let Some((offset, length)) = zone(bytes, 0).filter(|(_, length)| *length == 3 && ends(3)) {
        return Some((Stamp::Zoned(civil, offset), &behind[length..]));
    }
    let letters = bytes.iter().take_while(|byte| byte.is_ascii_uppercase());
    let letters = letters.count();
    let is_name = NAME_BYTES.contains(&letters) && ends(letters);
    Some((stamp, if is_name { &behind[letters..] } else { rest }))
}

/// The time of a stamp as [`iso`] finds it, in milliseconds since the epoch. Lines that follow each other are mostly of the
/// same second, which is then known by its text.
pub(crate) fn iso_ms<'a>(text: &'a str, times: &mut Times) -> Option<(i64, &'a str)> {
    let bytes = text.as_bytes();
    let second = bytes.first_chunk::<SECOND_BYTES>();
    if let Some(second) = second
        && let Some(start_ms) = times.known_second(second)
    {
        let (milliseconds, length) = fraction(bytes, SECOND_BYTES);
        let rest = &text[SECOND_BYTES + length..];
        if !matches!(rest.as_bytes().first(), Some(b'Z' | b'z' | b'+' | b'-'))
            && spaced_zone(rest).is_none()
        {
            return Some((start_ms + i64::from(milliseconds), rest));
        }
    }
    let (stamp, rest) = iso(text)?;
    let ms = stamp.epoch_ms(times);
    if let (Stamp::Local(civil), Some(second)) = (stamp, second)
        && matches!(second[10], b'T' | b't' | b' ')
        && second[11] != b' '
    {
        times.remember_second(*second, ms - i64::from(civil.millisecond));
    }
    Some((ms, rest))
}

fn month(text: &[u8], at: usize) -> Option<u8> {
    text.get(at..)?
        .first_chunk()
        .and_then(|name| short_month(*name))
}

/// Stands in for a year that is not said: a leap year, since 29 February must pass.
pub(super) const NO_YEAR: i16 = 4;

/// Where `Jan  2 03:04:05` ends.
const MONTH_FIRST_BYTES: usize = 15;

/// `Jan  2 03:04:05` without a year, as RFC 3164 has it, `Jan 2 03:04:05` and `Jan  2 2026 03:04:05`, as devices of the network
/// write it, and where it ends.
fn month_first(bytes: &[u8]) -> Option<(Civil, usize)> {
    expect(bytes, 3, b' ')?;
    let from = 4 + usize::from(bytes.get(4) == Some(&b' '));
    let (day, end) = match two(bytes, from) {
        Some(day) => (day, from + 2),
        None => (two(&[b'0', *bytes.get(from)?], 0)?, from + 1),
    };
    expect(bytes, end, b' ')?;
    let year = four(bytes, end + 1);
    let at = end + 1 + year.map_or(0, |_| 5);
    expect(bytes, at - 1, b' ')?;
    let date = Civil::day(year.unwrap_or(NO_YEAR), month(bytes, 0)?, day);
    Some((time_of_day(bytes, at, date)?, at + 8))
}

/// A time with its milliseconds, its year guessed where it has none.
pub(super) fn with_year(civil: Civil, millisecond: u16, times: &Times) -> Option<Stamp> {
    let civil = Civil {
        millisecond,
        ..civil
    };
    let civil = match civil.year {
        NO_YEAR => times.guess_year(civil)?,
        _ => civil,
    };
    Some(Stamp::Local(civil))
}

/// `Jan  2 03:04:05`, the year guessed unless it is there; a fraction may follow.
pub(crate) fn rfc3164<'a>(text: &'a str, times: &Times) -> Option<(Stamp, &'a str)> {
    let bytes = text.as_bytes();
    let (civil, end) = month_first(bytes)?;
    let (millisecond, length) = fraction(bytes, end);
    let stamp = with_year(civil, millisecond, times)?;
    Some((stamp, &text[end + length..]))
}

/// `2026 Jan  2 03:04:05`, as some switches write it; a fraction may follow.
pub(crate) fn year_first(text: &str) -> Option<(Stamp, &str)> {
    let bytes = text.as_bytes();
    let year = four(bytes, 0)?;
    expect(bytes, 4, b' ')?;
    let (civil, end) = month_first(bytes.get(5..)?)?;
    let end = 5 + end;
    let (millisecond, length) = fraction(bytes, end);
    let civil = Civil {
        year,
        millisecond,
        ..civil
    }
    .checked()?;
    Some((Stamp::Local(civil), text.get(end + length..)?))
}

/// `0102 03:04:05.678901`, the year guessed; glog's own are `20260102 03:04:05.678901` unless it is told otherwise.
pub(crate) fn glog<'a>(text: &'a str, times: &Times) -> Option<(Stamp, &'a str)> {
    let bytes = text.as_bytes();
    let (year, at) = match bytes.get(4)? {
        b' ' => (NO_YEAR, 0),
        _ => (four(bytes, 0)?, 4),
    };
    expect(bytes, at + 4, b' ')?;
    let date = Civil::day(year, two(bytes, at)?, two(bytes, at + 2)?);
    let civil = time_of_day(bytes, at + 5, date)?;
    let (millisecond, length) = fraction(bytes, at + 13);
    let stamp = with_year(civil, millisecond, times)?;
    Some((stamp, text.get(at + 13 + length..)?))
}

/// `Fri Sep 09 10:42:29.902022 2011`, Apache's error log; the fraction may be missing.
pub(crate) fn apache_error(text: &str) -> Option<(Stamp, &str)> {
    let bytes = text.as_bytes();
    expect(bytes, 3, b' ')?;
    let (civil, end) = month_first(bytes.get(4..)?)?;
    if end != MONTH_FIRST_BYTES {
        return None;
    }
    let (millisecond, length) = fraction(bytes, 19);
    expect(bytes, 19 + length, b' ')?;
    let year = four(bytes, 20 + length)?;
    let civil = Civil {
        year,
        millisecond,
        ..civil
    }
    .checked()?;
    Some((Stamp::Local(civil), text.get(24 + length..)?))
}

/// The beginning of `02 Jan 2026`, whatever stands between the parts.
pub(super) fn named_day(bytes: &[u8]) -> Option<Civil> {
    Some(Civil::day(
        four(bytes, 7)?,
        month(bytes, 3)?,
        two(bytes, 0)?,
    ))
}

/// `02 Jan 2026 03:04:05`, the date also with `-` or `/`; a fraction and a zone behind a space may follow.
pub(crate) fn day_first(text: &str) -> Option<(Stamp, &str)> {
    let bytes = text.as_bytes();
    let separator = *bytes.get(2)?;
    matches!(separator, b' ' | b'-' | b'/').then_some(())?;
    expect(bytes, 6, separator)?;
    expect(bytes, 11, b' ')?;
    let mut civil = time_of_day(bytes, 12, named_day(bytes)?)?;
    let (millisecond, length) = fraction(bytes, 20);
    civil.millisecond = millisecond;
    let rest = &text[20 + length..];
    Some(match spaced_zone(rest) {
        Some((offset, length)) => (Stamp::Zoned(civil, offset), &rest[length..]),
        None => (Stamp::Local(civil), rest),
    })
}

/// `02 Jan 03:04:05`, the year guessed; a fraction may follow.
pub(crate) fn day_and_month<'a>(text: &'a str, times: &Times) -> Option<(Stamp, &'a str)> {
    let bytes = text.as_bytes();
    expect(bytes, 2, b' ')?;
    expect(bytes, 6, b' ')?;
    let date = Civil::day(NO_YEAR, month(bytes, 3)?, two(bytes, 0)?);
    let civil = time_of_day(bytes, 7, date)?;
    let (millisecond, length) = fraction(bytes, 15);
    let stamp = with_year(civil, millisecond, times)?;
    Some((stamp, text.get(15 + length..)?))
}

/// `02/Jan/2026:03:04:05`.
fn slashed(bytes: &[u8]) -> Option<Civil> {
    expect(bytes, 2, b'/')?;
    expect(bytes, 6, b'/')?;
    expect(bytes, 11, b':')?;
    time_of_day(bytes, 12, named_day(bytes)?)
}

/// `02/Jan/2026:03:04:05.678`, as HAProxy has it.
pub(crate) fn common_log_local(text: &str) -> Option<(Stamp, &str)> {
    let bytes = text.as_bytes();
    let mut civil = slashed(bytes)?;
    let (millisecond, length) = fraction(bytes, 20);
    civil.millisecond = millisecond;
    Some((Stamp::Local(civil), &text[20 + length..]))
}

/// `02/Jan/2026:03:04:05 +0100`, the access logs' format.
pub(crate) fn common_log(text: &str) -> Option<(Stamp, &str)> {
    let bytes = text.as_bytes();
    expect(bytes, 20, b' ')?;
    let civil = slashed(bytes)?;
    let (offset, length) = zone(bytes, 21)?;
    Some((Stamp::Zoned(civil, offset), &text[21 + length..]))
}

#[cfg(test)]
mod tests;
