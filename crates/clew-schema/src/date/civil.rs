//! Calendar arithmetic on milliseconds, and the parts of a date on their way to one number.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

use super::Rounding;

pub(super) const DAY_MS: i64 = 86_400_000;

/// The names of the months in English, January first.
pub const MONTH_NAMES: &[&str] = &[
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The names of the days of a week in English, Monday first.
pub const DAY_NAMES: &[&str] = &[
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

/// Largest year that is read, so that no arithmetic on milliseconds can overflow.
const YEAR_MAX: i64 = 200_000_000;

/// Days from 1970-01-01 to a date of the proleptic Gregorian calendar: months are 1 to 12, and years far from the ends of
/// 64 bits. A few instructions.
#[inline]
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years start in March, so that the leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The date that many days after 1970-01-01: year, month from 1, day from 1. For days far from the ends of 64 bits; a few
/// instructions.
#[inline]
pub fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// A day by the calendar, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CivilDate {
    /// The year.
    pub year: i64,
    /// From 1 to 12.
    pub month: i64,
    /// From 1 to 31.
    pub day: i64,
    /// From 1 to 366.
    pub day_of_year: i64,
}

/// The day that a moment is on, in milliseconds since the epoch.
pub fn civil_date(millis: i64) -> CivilDate {
    let days = millis.div_euclid(DAY_MS);
    let (year, month, day) = civil_from_days(days);
    CivilDate {
        year,
        month,
        day,
        day_of_year: days - days_from_civil(year, 1, 1) + 1,
    }
}

/// The week that a day after 1970-01-01 is in, as ISO 8601 counts them: the year that the week is of, its number, and the day's
/// number in it, from Monday, 1.
pub(super) fn week_from_days(days: i64) -> (i64, i64, i64) {
    let day = (days + 3).rem_euclid(7);
    // A week is of the year that its Thursday is in.
    let (year, ..) = civil_from_days(days - day + 3);
    let week = (days - days_from_week_year(year)).div_euclid(7);
    (year, week + 1, day + 1)
}

/// Days from 1970-01-01 to the first Monday of a year of weeks: its first week has January 4 in it.
pub(super) fn days_from_week_year(year: i64) -> i64 {
    let fourth = days_from_civil(year, 1, 4);
    fourth - (fourth + 3).rem_euclid(7)
}

/// Whether a year has a February 29.
#[inline]
pub fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// How many days a month has, from 1 to 12.
pub fn days_in_month(month: i64, in_leap_year: bool) -> i64 {
    match month {
        2 if in_leap_year => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// What clocks of the zone show, in milliseconds as if it were UTC.
pub(super) fn to_local(millis: i64, zone: &TimeZone) -> i64 {
    millis.saturating_add(offset_ms(millis, zone))
}

/// Milliseconds by which clocks of the zone are ahead of UTC at that time.
pub(super) fn offset_ms(millis: i64, zone: &TimeZone) -> i64 {
    if *zone == TimeZone::UTC {
        return 0;
    }
    Timestamp::from_millisecond(millis)
        .map_or(0, |at| i64::from(zone.to_offset(at).seconds()) * 1000)
}

/// The time at which clocks of the zone show `local`; in a gap the later, in an overlap the
/// earlier one.
pub(super) fn from_local(local: i64, zone: &TimeZone) -> i64 {
    if *zone == TimeZone::UTC {
        return local;
    }
    Timestamp::from_millisecond(local)
        .and_then(|at| zone.to_timestamp(Offset::UTC.to_datetime(at)))
        .map_or(local, Timestamp::as_millisecond)
}

/// Parts of a date, as far as a text names them.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) year: Option<i64>,
    pub(super) month: Option<i64>,
    pub(super) day: Option<i64>,
    pub(super) day_of_year: Option<i64>,
    /// The year that a week is of, where dates are named by weeks.
    pub(super) week_year: Option<i64>,
    pub(super) week: Option<i64>,
    pub(super) week_day: Option<i64>,
    pub(super) hour: Option<i64>,
    /// Hour of a half day, 1 to 12, and which half.
    pub(super) half_hour: Option<i64>,
    pub(super) afternoon: Option<bool>,
    pub(super) minute: Option<i64>,
    pub(super) second: Option<i64>,
    pub(super) nanos: Option<i64>,
    pub(super) zone: Option<TimeZone>,
}

impl Fields {
    /// The time they name. Parts of the day that are missing after the last one named are the first
    /// or the last possible, as `rounding` says; `None` when a part is out of its range.
    pub(super) fn resolve(&self, rounding: Rounding, zone: &TimeZone) -> Option<i64> {
        let up = rounding == Rounding::Up;
        let year = self.year.unwrap_or(1970);
        let years = -YEAR_MAX..=YEAR_MAX;
        if !years.contains(&year) {
            return None;
        }
        let days = match self.week_year {
            Some(year) if years.contains(&year) => self.days_of_week(year)?,
            Some(_) => return None,
            None => self.days(year)?,
        };
        // A time of day without minutes ends with its hour, but a date alone with its day.
        let or = |value: Option<i64>, last: i64| value.unwrap_or(if up { last } else { 0 });
        let hour = or(self.hour_of_day()?, 23);
        let minute = or(self.minute, 59);
        let second = or(self.second, 59);
        let millis = or(self.nanos.map(|nanos| nanos / 1_000_000), 999);
        let in_range = (0..24).contains(&hour)
            && (0..60).contains(&minute)
            && (0..60).contains(&second)
            && (0..1000).contains(&millis);
        if !in_range {
            return None;
        }
        let local = days * DAY_MS + hour * 3_600_000 + minute * 60_000 + second * 1000 + millis;
        Some(from_local(local, self.zone.as_ref().unwrap_or(zone)))
    }

    /// Nanoseconds beyond the millisecond that [`Fields::resolve`] gives.
    pub(super) fn sub_nanos(&self, rounding: Rounding) -> i64 {
        let last = if rounding == Rounding::Up { 999_999 } else { 0 };
        self.nanos.map_or(last, |nanos| nanos % 1_000_000)
    }

    fn days(&self, year: i64) -> Option<i64> {
        if let Some(day) = self.day_of_year {
            let last = 365 + i64::from(is_leap(year));
            return (1..=last)
                .contains(&day)
                .then(|| days_from_civil(year, 1, 1) + day - 1);
        }
        // A month and a day that are not named are the first whatever the rounding: only the time
        // of day is rounded.
        let month = self.month.unwrap_or(1);
        if !(1..=12).contains(&month) {
            return None;
        }
        let last = days_in_month(month, is_leap(year));
        let day = self.day.unwrap_or(1);
        (1..=last)
            .contains(&day)
            .then(|| days_from_civil(year, month, day))
    }

    fn days_of_week(&self, year: i64) -> Option<i64> {
        let (first, next) = (days_from_week_year(year), days_from_week_year(year + 1));
        let week = self.week.unwrap_or(1);
        let day = self.week_day.unwrap_or(1);
        let days = first + (week - 1) * 7 + day - 1;
        (week >= 1 && (1..=7).contains(&day) && days < next).then_some(days)
    }

    /// The hour, if one is named; the outer `None` says that its parts are out of range.
    fn hour_of_day(&self) -> Option<Option<i64>> {
        let Some(half_hour) = self.half_hour else {
            return Some(self.hour);
        };
        if !(1..=12).contains(&half_hour) {
            return None;
        }
        let afternoon = self.afternoon.unwrap_or(false);
        Some(Some(half_hour % 12 + if afternoon { 12 } else { 0 }))
    }
}

/// A text being read from left to right.
#[derive(Clone)]
pub(super) struct DateReader<'a> {
    rest: &'a [u8],
}

impl<'a> DateReader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        DateReader {
            rest: text.as_bytes(),
        }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Bytes that are not read yet.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Takes the byte if it is next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    /// Takes the text if it is next, in any case of its ASCII letters.
    pub(super) fn take_text(&mut self, text: &str) -> bool {
        let found = self
            .rest
            .get(..text.len())
            .is_some_and(|next| next.eq_ignore_ascii_case(text.as_bytes()));
        if found {
            self.rest = &self.rest[text.len()..];
        }
        found
    }

    /// Takes bytes as long as they belong.
    pub(super) fn take_while(&mut self, belongs: impl Fn(u8) -> bool) -> &'a [u8] {
        let length = self.rest.iter().take_while(|b| belongs(**b)).count();
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    /// A number of `min` to `max` digits; takes as many as there are.
    pub(super) fn number(&mut self, min: usize, max: usize) -> Option<i64> {
        let digits = self
            .rest
            .iter()
            .take(max)
            .take_while(|b| b.is_ascii_digit())
            .count();
        if digits < min {
            return None;
        }
        let (taken, rest) = self.rest.split_at(digits);
        self.rest = rest;
        Some(taken.iter().fold(0, |n, b| n * 10 + i64::from(b - b'0')))
    }

    /// A year: `min` to 4 digits, or a sign and up to 9.
    pub(super) fn year(&mut self, min: usize) -> Option<i64> {
        if self.take(b'-') {
            return self.number(4, 9).map(|year| -year);
        }
        let max = if self.take(b'+') { 9 } else { 4 };
        self.number(min, max)
    }

    /// Digits after a decimal sign, as nanoseconds.
    pub(super) fn fraction(&mut self, min: usize, max: usize) -> Option<i64> {
        let before = self.rest.len();
        let value = self.number(min, max)?;
        let digits = before - self.rest.len();
        Some((digits..9).fold(value, |n, _| n * 10))
    }

    /// `Z`, or an offset such as `+01`, `+0130`, `-01:30`.
    pub(super) fn offset(&mut self) -> Option<TimeZone> {
        if self.take(b'Z') || self.take(b'z') {
            return Some(TimeZone::UTC);
        }
        let negative = self.peek() == Some(b'-');
        if !self.take(b'+') && !self.take(b'-') {
            return None;
        }
        let hours = self.number(2, 2)?;
        let minutes = if self.take(b':') {
            self.number(2, 2)?
        } else {
            self.number(2, 2).unwrap_or(0)
        };
        if hours > 18 || minutes > 59 {
            return None;
        }
        let seconds = i32::try_from(hours * 3600 + minutes * 60).ok()?;
        let offset = Offset::from_seconds(if negative { -seconds } else { seconds }).ok()?;
        Some(if seconds == 0 {
            TimeZone::UTC
        } else {
            TimeZone::fixed(offset)
        })
    }
}

/// An offset as `+01:30` (or without the colon).
pub(super) fn write_offset(offset_ms: i64, colon: bool) -> String {
    let minutes = offset_ms.abs() / 60_000;
    format!(
        "{}{:02}{}{:02}",
        if offset_ms < 0 { '-' } else { '+' },
        minutes / 60,
        if colon { ":" } else { "" },
        minutes % 60
    )
}
