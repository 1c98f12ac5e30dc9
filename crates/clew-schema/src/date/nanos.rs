//! Dates to the nanosecond, for fields of type `date_nanos`: nanoseconds since the epoch in 64 bits,
//! from 1970 to 2262.

use jiff::tz::TimeZone;

use super::{Alternative, DateError, DateFormat, Rounding, iso};

const NANOS_PER_MILLI: i64 = 1_000_000;

/// A time, and how far it is beyond its millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instant {
    pub(super) millis: i64,
    /// From 0 to 999,999.
    pub(super) sub_nanos: i64,
}

impl Instant {
    /// The beginning of a millisecond.
    pub(super) fn at(millis: i64) -> Self {
        Instant {
            millis,
            sub_nanos: 0,
        }
    }

    /// Nanoseconds since the epoch.
    fn nanos(self) -> Result<i64, DateError> {
        let nanos = self.millis.checked_mul(NANOS_PER_MILLI);
        let nanos = nanos.and_then(|nanos| nanos.checked_add(self.sub_nanos));
        nanos.filter(|nanos| *nanos >= 0).ok_or_else(|| {
            let text = iso::format(self, &TimeZone::UTC).replace(".000Z", "Z");
            if self.millis < 0 {
                DateError::BeforeNanos { text }
            } else {
                DateError::AfterNanos { text }
            }
        })
    }
}

impl DateFormat {
    /// Nanoseconds since the epoch.
    ///
    /// # Errors
    /// [`DateError::Value`] when no alternative fits; [`DateError::BeforeNanos`] before 1970, and
    /// [`DateError::AfterNanos`] after 2262.
    pub fn parse_nanos(&self, text: &str) -> Result<i64, DateError> {
        self.instant(text, Rounding::Down, &TimeZone::UTC)?.nanos()
    }

    /// Nanoseconds in text.
    pub fn format_nanos(&self, nanos: i64) -> String {
        let at = Instant {
            millis: nanos.div_euclid(NANOS_PER_MILLI),
            sub_nanos: nanos.rem_euclid(NANOS_PER_MILLI),
        };
        let zone = TimeZone::UTC;
        match self.alternatives.first() {
            Some(Alternative::EpochMillis) if at.sub_nanos > 0 => {
                let digits = format!("{}.{:06}", at.millis, at.sub_nanos);
                digits.trim_end_matches('0').to_string()
            }
            Some(Alternative::EpochSecond) if at.sub_nanos > 0 => {
                let second = 1_000 * NANOS_PER_MILLI;
                let (whole, rest) = (nanos.div_euclid(second), nanos.rem_euclid(second));
                let digits = format!("{whole}.{rest:09}");
                digits.trim_end_matches('0').to_string()
            }
            Some(Alternative::EpochMillis | Alternative::EpochSecond) => {
                self.format_millis(at.millis)
            }
            Some(other) => other.format(at, &zone),
            None => iso::format(at, &zone),
        }
    }

    /// Reads a date or an expression, as [`DateFormat::parse_with_math_in`] does, to nanoseconds.
    ///
    /// # Errors
    /// [`DateError::Value`] or [`DateError::Math`]; [`DateError::BeforeNanos`] before 1970, and
    /// [`DateError::AfterNanos`] after 2262.
    pub fn parse_nanos_with_math_in(
        &self,
        text: &str,
        now_ms: i64,
        rounding: Rounding,
        zone: &TimeZone,
    ) -> Result<i64, DateError> {
        let is_plain = !text.starts_with("now") && !text.contains("||");
        let at = if is_plain {
            self.instant(text, rounding, zone)?
        } else {
            let rounds_up = rounding == Rounding::Up && text.contains('/');
            Instant {
                millis: self.parse_with_math_in(text, now_ms, rounding, zone)?,
                sub_nanos: if rounds_up { NANOS_PER_MILLI - 1 } else { 0 },
            }
        };
        at.nanos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_survive_reading_and_writing() {
        for (format, text, nanos) in [
            (
                "strict_date_optional_time",
                "2019-10-21T08:30:04.828733Z",
                1_571_646_604_828_733_000,
            ),
            (
                "yyyy-MM-dd HH:mm:ss.SSSSSS",
                "2019-10-21 08:30:04.828733",
                1_571_646_604_828_733_000,
            ),
            (
                "epoch_millis",
                "1571646604828.733",
                1_571_646_604_828_733_000,
            ),
            (
                "strict_date_optional_time",
                "1970-01-01T00:00:00.000000001Z",
                1,
            ),
        ] {
            let format = DateFormat::parse(format).unwrap();
            assert_eq!(format.parse_nanos(text), Ok(nanos), "{text}");
            assert_eq!(format.format_nanos(nanos), text);
        }
        let seconds = DateFormat::parse("epoch_second").unwrap();
        for (nanos, text) in [
            (1_571_646_604_000_000_120, "1571646604.00000012"),
            (5, "0.000000005"),
            (2_500_000_000, "2.5"),
        ] {
            assert_eq!(seconds.format_nanos(nanos), text);
        }
    }

    #[test]
    fn times_that_64_bits_of_nanoseconds_lack_are_refused() {
        for (written, reason) in [
            (
                "1969-12-31T23:59:59.999Z",
                "date[1969-12-31T23:59:59.999Z] is before the epoch in 1970 and cannot",
            ),
            (
                "2300-01-01",
                "date[2300-01-01T00:00:00Z] is after 2262-04-11T23:47:16.854775807 and cannot",
            ),
        ] {
            let refused = DateFormat::default().parse_nanos(written).unwrap_err();
            assert!(refused.to_string().starts_with(reason), "{refused}");
            let down = |text: &str| {
                let format = DateFormat::default();
                format.parse_nanos_with_math_in(text, 0, Rounding::Down, &TimeZone::UTC)
            };
            assert_eq!(down(written), Err(refused));
        }
        let up = |text: &str| {
            let format = DateFormat::default();
            format.parse_nanos_with_math_in(text, 0, Rounding::Up, &TimeZone::UTC)
        };
        assert_eq!(up("2262-04-11T23:47:16.854775807Z"), Ok(i64::MAX));
        assert_eq!(up("1970-01-01"), Ok(86_399_999_999_999));
        let refused = up("1969-01-01").unwrap_err().to_string();
        assert!(
            refused.starts_with("date[1969-01-01T23:59:59.999999999Z] is before"),
            "{refused}"
        );
        assert!(matches!(up("now-1d"), Err(DateError::BeforeNanos { .. })));
    }
}
