//! Times as SQL writes them: `2024-05-01 12:30:00.5`, in UTC, without zeros at the end.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// The moment that a text tells, in one of the ways that SQL or a mapping write it.
fn moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment);
    }
    let local: DateTime = text.parse().ok()?;
    local
        .to_zoned(TimeZone::UTC)
        .ok()
        .map(|zoned| zoned.timestamp())
}

/// A time in full, so that nothing of it is left to be rounded.
pub(crate) fn full(text: &str) -> Option<String> {
    moment(text).map(|moment| format!("{moment:.9}"))
}

/// A time as answers show it.
pub(crate) fn shown(text: &str) -> Option<String> {
    moment(text).map(written)
}

/// The same of milliseconds since 1970.
pub(crate) fn of_millis(millis: i64) -> Option<String> {
    Timestamp::from_millisecond(millis).ok().map(written)
}

/// Milliseconds since 1970.
pub(crate) fn millis(text: &str) -> Option<i64> {
    moment(text).map(Timestamp::as_millisecond)
}

/// The length of an interval that is the same everywhere in time.
pub(crate) fn fixed_millis(interval: &str) -> Option<i64> {
    let digits = interval.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let count: i64 = digits.parse().ok()?;
    let unit = match interval.get(digits.len()..)? {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    count.checked_mul(unit).filter(|millis| *millis > 0)
}

fn written(moment: Timestamp) -> String {
    let text = moment.to_string();
    text.trim_end_matches('Z').replacen('T', " ", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_sql_writes_them() {
        for (text, expected) in [
            ("2024-05-01", "2024-05-01 00:00:00"),
            ("2024-05-01T10:20:30Z", "2024-05-01 10:20:30"),
            ("2024-05-01 10:20:30.500", "2024-05-01 10:20:30.5"),
            ("2024-05-01T10:20:30+02:00", "2024-05-01 08:20:30"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(
            full("2024-05-01").as_deref(),
            Some("2024-05-01T00:00:00.000000000Z")
        );
        assert_eq!(of_millis(1_500).as_deref(), Some("1970-01-01 00:00:01.5"));
        assert_eq!(millis("1970-01-01 00:00:01.5"), Some(1_500));
        assert_eq!(shown("today"), None);
    }
}
