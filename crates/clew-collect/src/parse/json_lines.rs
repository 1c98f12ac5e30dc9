//! One JSON object a line. The object goes into the document as it stands, under `json`, so that
//! its names cannot collide with the collector's own; time and level are also read from it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::stamp::iso;
use super::token::level;
use super::{Record, Times};

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let line = line.trim_ascii();
    if !line.starts_with('{') || !is_shallow(line.as_bytes()) {
        return None;
    }
    let found: Found<'_> = serde_json::from_str(line).ok()?;
    record.timestamp_ms = found.time.and_then(|value| epoch_ms(value.get(), times));
    record.level = found.level.and_then(|value| level_of(value.get()));
    // A document is one line; whitespace inside the object may be a carriage return at most, and
    // that is as harmless to a reader of lines as it is in JSON.
    record.fields.raw("json", line);
    Some(())
}

/// A level by its name, or by the number that pino and bunyan give it.
fn level_of(json: &str) -> Option<&'static str> {
    Some(match json {
        "10" => "trace",
        "20" => "debug",
        "30" => "info",
        "40" => "warning",
        "50" => "error",
        "60" => "fatal",
        _ => return level(&serde_json::from_str::<Cow<'_, str>>(json).ok()?),
    })
}

/// Objects nested deeper than servers accept are not taken: as plain text they are.
fn is_shallow(json: &[u8]) -> bool {
    const DEPTH_MAX: usize = 60;
    if memchr::memchr2_iter(b'{', b'[', json)
        .nth(DEPTH_MAX)
        .is_none()
    {
        return true;
    }
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => depth += 1,
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_MAX {
            return false;
        }
    }
    true
}

/// An ISO 8601 text, or seconds or milliseconds since the epoch.
fn epoch_ms(json: &str, times: &mut Times) -> Option<i64> {
    if json.starts_with('"') {
        let text = serde_json::from_str::<Cow<'_, str>>(json).ok()?;
        return Some(iso(&text)?.0.epoch_ms(times));
    }
    let number: f64 = json.parse().ok()?;
    let milliseconds = if number < 1e11 {
        number * 1000.0
    } else {
        number
    };
    // 1e9 seconds is 2001 and 1e14 milliseconds is the year 5138: outside it is no time stamp.
    if !(1e12..1e14).contains(&milliseconds) {
        return None;
    }
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the range was checked above"
    )]
    let milliseconds = milliseconds.round() as i64;
    Some(milliseconds)
}

/// The values of well-known names; everything else is only checked to be JSON.
#[derive(Default)]
struct Found<'a> {
    time: Option<&'a RawValue>,
    level: Option<&'a RawValue>,
}

impl<'de> Deserialize<'de> for Found<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FoundVisitor)
    }
}

struct FoundVisitor;

impl<'de> Visitor<'de> for FoundVisitor {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found<'de>, A::Error> {
        let mut found = Found::default();
        while let Some(Name(name)) = map.next_key()? {
            let slot = match name.as_ref() {
                "@timestamp" | "timestamp" | "time" | "ts" => &mut found.time,
                "level" | "severity" | "log.level" | "lvl" => &mut found.level,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *slot = slot.or(Some(map.next_value()?));
        }
        Ok(found)
    }
}

/// A name borrowed from the line, except where it holds escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    fn objects_with_and_without_a_time() {
        let check = |line, expected| testing::check(ParserName::Json, line, expected);
        check(
            r#"{"ts":"2026-01-02T03:04:05.678Z","level":"WARN","a":{"b":[1,2]}}"#,
            Some(
                r#"2026-01-02T03:04:05.678Z warning {"json":{"ts":"2026-01-02T03:04:05.678Z","level":"WARN","a":{"b":[1,2]}}}"#,
            ),
        );
        check(
            r#" {"tim\u0065":1767323045,"level":30} "#,
            Some(r#"2026-01-02T03:04:05.000Z info {"json":{"tim\u0065":1767323045,"level":30}}"#),
        );
        check(
            r#"{"time":1767323045678.4}"#,
            Some(r#"2026-01-02T03:04:05.678Z - {"json":{"time":1767323045678.4}}"#),
        );
        check(r#"{"level":60}"#, Some(r#" fatal {"json":{"level":60}}"#));
        check(r#"{"level":35}"#, Some(r#" - {"json":{"level":35}}"#));
        check(
            r#"{"ts":7,"ts":null}"#,
            Some(r#" - {"json":{"ts":7,"ts":null}}"#),
        );
        check("{}", Some(r#" - {"json":{}}"#));
        check(r#"{"a":1"#, None);
        check(r#"{"a":1} x"#, None);
        check("[1]", None);
        check("7", None);
        let nested = |depth| format!("{}1{}", "{\"a\":[".repeat(depth), "]}".repeat(depth));
        assert!(testing::parsed(ParserName::Json, &nested(30)).is_some());
        assert!(testing::parsed(ParserName::Json, &nested(31)).is_none());
        assert!(testing::parsed(ParserName::Json, &nested(9_999)).is_none());
        let wide = format!(
            "{{\"a\":[{}{{}}],\"b\":\"{}\"}}",
            "[],".repeat(99),
            "[".repeat(99)
        );
        assert!(testing::parsed(ParserName::Json, &wide).is_some());
    }
}
