//! Dates and times of day by hand: log stamps have fixed shapes, and a general date parser would
//! cost more than the rest of the line. Only the time zone itself is left to `jiff`.

use std::cell::Cell;
use std::ops::Range;

use clew_schema::{civil_from_days, days_from_civil};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// A date and a time of day that exist in the calendar, in no particular zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    /// 1 to 9999.
    pub year: i16,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// 0 to 999.
    pub millisecond: u16,
}

impl Civil {
    /// The first instant of a day, which [`Civil::checked`] knows to be in the calendar or not.
    pub fn day(year: i16, month: u8, day: u8) -> Civil {
        Civil {
            year,
            month,
            day,
            hour: 0,
            minute: 0,
            second: 0,
            millisecond: 0,
        }
    }

    /// `None` when a part is out of range; a leap second becomes the second before it.
    pub fn checked(mut self) -> Option<Civil> {
        self.second = if self.second == 60 { 59 } else { self.second };
        let fits = (1..=12).contains(&self.month)
            && (1..=month_days(self.year, self.month)).contains(&self.day)
            && self.hour < 24
            && self.minute < 60
            && self.second < 60
            && self.millisecond < 1000
            && (1..=9999).contains(&self.year);
        fits.then_some(self)
    }

    /// Milliseconds since the epoch if this were UTC.
    pub fn as_utc_ms(self) -> i64 {
        let (year, month, day) = (self.year.into(), self.month.into(), self.day.into());
        let days = days_from_civil(year, month, day);
        let minutes = (days * 24 + i64::from(self.hour)) * 60 + i64::from(self.minute);
        (minutes * 60 + i64::from(self.second)) * 1000 + i64::from(self.millisecond)
    }

    /// The UTC date and time of an epoch time; years outside 1..=9999 are clamped to the epoch.
    pub fn from_utc_ms(ms: i64) -> Civil {
        let (days, in_day) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
        let (year, month, day) = civil_from_days(days);
        let Ok(year) = i16::try_from(year) else {
            return Civil::from_utc_ms(0);
        };
        if !(1..=9999).contains(&year) {
            return Civil::from_utc_ms(0);
        }
        let part = |divisor: i64, modulus: i64| {
            u8::try_from(in_day / divisor % modulus).expect("parts of a day are below 60")
        };
        Civil {
            year,
            month: u8::try_from(month).expect("months are below 13"),
            day: u8::try_from(day).expect("days of a month are below 32"),
            hour: part(3_600_000, 24),
            minute: part(60_000, 60),
            second: part(1000, 60),
            millisecond: u16::try_from(in_day % 1000).expect("a remainder of 1000"),
        }
    }

    /// Appends `2026-01-02T03:04:05.678Z`.
    pub fn push_iso(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.iso());
    }

    /// `2026-01-02T03:04:05.678Z`.
    fn iso(self) -> [u8; ISO_BYTES] {
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let mut put = |at: usize, width: usize, value: u16| {
            let mut rest = value;
            for place in (at..at + width).rev() {
                text[place] = b'0' + u8::try_from(rest % 10).expect("a digit is below ten");
                rest /= 10;
            }
        };
        put(0, 4, self.year.unsigned_abs());
        put(5, 2, u16::from(self.month));
        put(8, 2, u16::from(self.day));
        put(11, 2, u16::from(self.hour));
        put(14, 2, u16::from(self.minute));
        put(17, 2, u16::from(self.second));
        put(20, 3, self.millisecond);
        text
    }
}

/// Writes times as [`Civil::push_iso`] does, and remembers the second of the last one: lines that follow each other are mostly
/// of the same.
#[derive(Debug, Default)]
pub struct IsoTimes {
    /// It in milliseconds since the epoch, and its text with zeros behind, so that it is copied as a block.
    last: Cell<(i64, [u8; 32])>,
}

/// `2026-01-02T03:04:05.678Z`, and where its milliseconds are.
const ISO_BYTES: usize = 24;
const MILLISECONDS: Range<usize> = 20..23;

impl IsoTimes {
    /// Appends a time in milliseconds since the epoch.
    #[inline]
    pub fn push(&self, ms: i64, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.text(ms)[..ISO_BYTES]);
    }

    /// The text of a time, which has [`ISO_BYTES`].
    #[inline]
    fn text(&self, ms: i64) -> [u8; 32] {
        let (second, mut text) = self.last.get();
        match u16::try_from(ms.wrapping_sub(second)) {
            Ok(mut rest @ 0..1000) if text[0] != 0 => {
                for digit in text[MILLISECONDS].iter_mut().rev() {
                    *digit = b'0' + u8::try_from(rest % 10).unwrap_or(0);
                    rest /= 10;
                }
                text
            }
            _ => self.look_up(ms),
        }
    }

    /// The text of a time of another second, which is remembered from now on.
    #[cold]
    fn look_up(&self, ms: i64) -> [u8; 32] {
        let civil = Civil::from_utc_ms(ms);
        let mut text = [0; 32];
        text[..ISO_BYTES].copy_from_slice(&civil.iso());
        // Times beyond the calendar are written as the epoch, which is not their second.
        if civil.as_utc_ms() == ms {
            self.last.set((ms - i64::from(civil.millisecond), text));
        }
        text
    }
}

/// The month of its first three letters, as logs write them: `Jan`.
#[inline]
pub fn short_month(letters: [u8; 3]) -> Option<u8> {
    const MONTHS: [[u8; 3]; 12] = [
        *b"Jan", *b"Feb", *b"Mar", *b"Apr", *b"May", *b"Jun", *b"Jul", *b"Aug", *b"Sep", *b"Oct",
        *b"Nov", *b"Dec",
    ];
    let mut all = (1..).zip(MONTHS);
    let found = all.find(|(_, month)| *month == letters);
    found.map(|(number, _)| number)
}

/// Days of a month.
pub(crate) fn month_days(year: i16, month: u8) -> u8 {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    match month {
        2 => 28 + u8::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Turns local times into epoch times and guesses missing years.
#[derive(Debug)]
pub struct Times {
    zone: TimeZone,
    /// Now, for lines that do not say when they happened.
    pub now_ms: i64,
    /// The newest time the lines being parsed can have (their file's modification time).
    pub newest_ms: i64,
    /// The last hour seen and its distance from UTC, when that is the same all hour long.
    hour_offset: Option<(i64, i64)>,
    /// The last second seen, as it was written, and its epoch time.
    second: Option<([u8; SECOND_BYTES], i64)>,
}

/// `2026-01-02T03:04:05`.
pub const SECOND_BYTES: usize = 19;

impl Times {
    /// Times of a zone.
    pub fn new(zone: TimeZone) -> Self {
        Times {
            zone,
            now_ms: 0,
            newest_ms: 0,
            hour_offset: None,
            second: None,
        }
    }

    /// The epoch time of the last second that was remembered, if it was written like this.
    #[inline]
    pub fn known_second(&self, written: &[u8; SECOND_BYTES]) -> Option<i64> {
        let (known, ms) = self.second.as_ref()?;
        (known == written).then_some(*ms)
    }

    /// Remembers the epoch time of a second by how it is written.
    pub fn remember_second(&mut self, written: [u8; SECOND_BYTES], ms: i64) {
        self.second = Some((written, ms));
    }

    /// The epoch time of a local date and time. In the hour that a clock change repeats, the
    /// first pass is taken; a time that a change skips is moved by the gap.
    pub fn local_ms(&mut self, civil: Civil) -> i64 {
        let as_utc = civil.as_utc_ms();
        let hour = as_utc.div_euclid(3_600_000);
        if let Some((cached, offset)) = self.hour_offset
            && cached == hour
        {
            return as_utc - offset;
        }
        let first = self.zone_offset_ms(Civil {
            minute: 0,
            second: 0,
            ..civil
        });
        let last = self.zone_offset_ms(Civil {
            minute: 59,
            second: 59,
            ..civil
        });
        if let (Ok(first), Ok(last)) = (first, last)
            && first == last
        {
            self.hour_offset = Some((hour, first));
            return as_utc - first;
        }
        match self.zone_offset_ms(civil) {
            Ok(offset) | Err(offset) => as_utc - offset,
        }
    }

    /// The distance from UTC, as an error when the time is ambiguous or does not exist.
    fn zone_offset_ms(&self, civil: Civil) -> Result<i64, i64> {
        let field = |value: u8| i8::try_from(value).expect("checked parts are below 60");
        let local = DateTime::new(
            civil.year,
            field(civil.month),
            field(civil.day),
            field(civil.hour),
            field(civil.minute),
            field(civil.second),
            0,
        );
        let Ok(local) = local else { return Err(0) };
        let found = self.zone.to_ambiguous_timestamp(local);
        let ambiguous = found.is_ambiguous();
        let Ok(timestamp) = found.compatible() else {
            return Err(0);
        };
        let whole = Civil {
            millisecond: 0,
            ..civil
        }
        .as_utc_ms();
        let offset = whole - timestamp.as_second() * 1000;
        if ambiguous { Err(offset) } else { Ok(offset) }
    }

    /// Completes a stamp without a year: the latest year that does not put the line more than a
    /// day after the newest time it can have.
    pub fn guess_year(&self, civil: Civil) -> Option<Civil> {
        let limit = self.newest_ms + 86_400_000;
        let newest_year = Civil::from_utc_ms(limit).year;
        (newest_year - 8..=newest_year)
            .rev()
            .filter_map(|year| Civil { year, ..civil }.checked())
            .find(|candidate| candidate.as_utc_ms() <= limit)
    }
}

#[cfg(test)]
mod tests;
