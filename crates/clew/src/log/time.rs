//! Moments on the command line and in what is printed.

use anyhow::{Context, bail};
use jiff::{SignedDuration, Timestamp};

/// Reads RFC 3339 (`2026-01-02T03:04:05Z`) or a span before now (`90s`, `10m`, `2h`, `1d`), in
/// milliseconds since 1970.
pub(crate) fn parse(text: &str, now: Timestamp) -> anyhow::Result<u64> {
    let moment = match span(text) {
        Some(span) => now.checked_sub(span).context("the span is too long")?,
        None => text.parse().with_context(|| {
            format!("[{text}] is neither RFC 3339 nor a span such as 90s, 10m, 2h or 1d")
        })?,
    };
    match u64::try_from(moment.as_millisecond()) {
        Ok(ms) => Ok(ms),
        Err(_) => bail!("[{text}] is before 1970"),
    }
}

fn span(text: &str) -> Option<SignedDuration> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let seconds = match &text[digits.len()..] {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return None,
    };
    let count: u32 = digits.parse().ok()?;
    Some(SignedDuration::from_secs(i64::from(count) * seconds))
}

/// RFC 3339 in UTC, to the millisecond.
pub(crate) fn format(time_ms: u64) -> String {
    let moment = i64::try_from(time_ms).ok().map(Timestamp::from_millisecond);
    match moment {
        Some(Ok(moment)) => format!("{moment:.3}"),
        _ => format!("{time_ms}ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_spans_are_read() {
        let now: Timestamp = "2026-01-02T00:00:00Z".parse().unwrap();
        for (text, expected) in [
            ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z"),
            ("2026-01-01T02:00:00+02:00", "2026-01-01T00:00:00.000Z"),
            ("2026-01-01T00:00:00.25Z", "2026-01-01T00:00:00.250Z"),
            ("90s", "2026-01-01T23:58:30.000Z"),
            ("10m", "2026-01-01T23:50:00.000Z"),
            ("2h", "2026-01-01T22:00:00.000Z"),
            ("1d", "2026-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(format(parse(text, now).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn other_things_are_refused() {
        for text in [
            "",
            "d",
            "-1d",
            "10",
            "10x",
            "99999999999999999999d",
            "99999999d",
            "1969-01-01T00:00:00Z",
            "2026-01-01",
        ] {
            assert!(parse(text, Timestamp::UNIX_EPOCH).is_err(), "{text}");
        }
    }
}
