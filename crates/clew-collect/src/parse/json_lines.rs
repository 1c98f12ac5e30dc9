//! One JSON object a line. The object goes into the document as it stands, under `json`, so that
//! its names cannot collide with the collector's own; time and level are also read from it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::stamp::{common_log, iso};
use super::token::level;
use super::{Record, Times};

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let line = line.trim_ascii();
    if !line.starts_with('{') || !is_shallow(line.as_bytes()) {
        return None;
    }
    let found: Found<'_> = serde_json::from_str(line).ok()?;
    let mut read = |value: Option<&RawValue>| epoch_ms(value?.get(), times);
    record.timestamp_ms = read(found.time).or_else(|| read(found.perhaps_time));
    let level = found.level.or_else(|| found.log?.level);
    let level = level.or(found.perhaps_level);
    record.level = match (level, found.is_compact) {
        (Some(value), _) => level_of(value.get()),
        // Serilog's compact events say no level where it is that of information.
        (None, true) => Some("info"),
        (None, false) => None,
    };
    // A document is one line; whitespace inside the object may be a carriage return at most, and
    // that is as harmless to a reader of lines as it is in JSON.
    record.fields.raw("json", line);
    Some(())
}

/// A level by its name, by the number that pino and bunyan give it, or Monolog, or syslog (of which GELF has it), or by the letter
/// of MongoDB.
fn level_of(json: &str) -> Option<&'static str> {
    let is_number =
        |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // The journal's numbers are texts.
    let unquoted = json
        .strip_prefix('"')
        .and_then(|json| json.strip_suffix('"'));
    Some(match unquoted.filter(is_number).unwrap_or(json) {
        "10" => "trace",
        "20" | "100" | "7" => "debug",
        "30" | "200" | "6" => "info",
        "250" | "5" => "notice",
        "40" | "300" | "4" => "warning",
        "50" | "400" | "3" => "error",
        "500" | "2" => "critical",
        "550" | "1" => "alert",
        "600" | "0" => "emergency",
        "60" => "fatal",
        "\"I\"" => "info",
        "\"W\"" => "warning",
        "\"E\"" => "error",
        "\"F\"" => "fatal",
        _ => return named_level(&serde_json::from_str::<Cow<'_, str>>(json).ok()?),
    })
}

/// A level by its name, as other programs have it, or these libraries alone: zap, winston, structlog, log15, and Go's slog, which
/// counts from the nearest name, `ERROR+4`.
fn named_level(name: &str) -> Option<&'static str> {
    const OTHERS: [(&str, &str); 5] = [
        ("dpanic", "critical"),
        ("silly", "trace"),
        ("http", "info"),
        ("exception", "error"),
        ("eror", "error"),
    ];
    let is_count = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let counted = name.split_once(['+', '-']);
    let name = counted
        .filter(|(_, count)| is_count(count))
        .map_or(name, |(name, _)| name);
    level(name).or_else(|| {
        let mut others = OTHERS.into_iter();
        let found = others.find(|(other, _)| name.eq_ignore_ascii_case(other));
        found.map(|(_, level)| level)
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

/// An ISO 8601 text, or seconds, milliseconds, microseconds or nanoseconds since the epoch, or an object that has one of these.
fn epoch_ms(json: &str, times: &mut Times) -> Option<i64> {
    if json.starts_with('{') {
        return serde_json::from_str::<Instant>(json).ok()?.epoch_ms(times);
    }
    let number: f64 = if json.starts_with('"') {
        let text = serde_json::from_str::<Cow<'_, str>>(json).ok()?;
        if let Some((stamp, _)) = iso(&text).or_else(|| common_log(&text)) {
            return Some(stamp.epoch_ms(times));
        }
        text.parse().ok()?
    } else {
        json.parse().ok()?
    };
    let milliseconds = match number {
        seconds if seconds < 1e11 => seconds * 1e3,
        milliseconds if milliseconds < 1e14 => milliseconds,
        microseconds if microseconds < 1e17 => microseconds / 1e3,
        nanoseconds => nanoseconds / 1e6,
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

/// A time as Log4j, Google's Protobuf, MongoDB and Monolog write it.
#[derive(Deserialize)]
struct Instant {
    #[serde(rename = "epochSecond", alias = "seconds")]
    seconds: Option<i64>,
    #[serde(rename = "nanoOfSecond", alias = "nanos", default)]
    nanos: i64,
    #[serde(rename = "$date", alias = "date")]
    date: Option<String>,
}

impl Instant {
    fn epoch_ms(self, times: &mut Times) -> Option<i64> {
        if let Some(date) = self.date {
            return Some(iso(&date)?.0.epoch_ms(times));
        }
        let ms = self.seconds?.checked_mul(1_000)?;
        ms.checked_add(self.nanos / 1_000_000)
            .filter(|ms| (1_000_000_000_000..100_000_000_000_000).contains(ms))
    }
}

/// The values of well-known names; everything else is only checked to be JSON.
#[derive(Default)]
struct Found<'a> {
    time: Option<&'a RawValue>,
    /// What may be the time, if nothing else is.
    perhaps_time: Option<&'a RawValue>,
    level: Option<&'a RawValue>,
    /// What may be the level, if nothing else is.
    perhaps_level: Option<&'a RawValue>,
    /// The level of loggers that follow the Elastic Common Schema.
    log: Option<Log<'a>>,
    /// Whether it is one of Serilog's compact events.
    is_compact: bool,
}

/// `log` of an event of the Elastic Common Schema.
#[derive(Clone, Copy, Deserialize)]
struct Log<'a> {
    #[serde(borrow)]
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
            found.is_compact |= name == "@t";
            let slot = match name.as_ref() {
                "@timestamp"
                | "timestamp"
                | "time"
                | "ts"
                | "@t"
                | "Timestamp"
                | "timeMillis"
                | "instant"
                | "datetime"
                | "asctime"
                | "requestReceivedTimestamp" => &mut found.time,
                // Of Windows' events, AWS, nginx, Traefik, Fluent Bit, the journal and zap; others have other things there.
                "EventTime"
                | "TimeCreated"
                | "SystemTime"
                | "eventTime"
                | "time_iso8601"
                | "time_local"
                | "StartUTC"
                | "date"
                | "Time"
                | "__REALTIME_TIMESTAMP"
                | "dt"
                | "T"
                | "TIME"
                | "eventTimestamp" => &mut found.perhaps_time,
                "L" | "lev" | "LEVEL" | "logLevel" | "log_level" => &mut found.perhaps_level,
                "level" | "severity" | "log.level" | "lvl" | "@l" | "Level" | "LogLevel"
                | "levelname" | "level_name" | "loglevel" | "@level" | "Severity" | "PRIORITY" => {
                    &mut found.level
                }
                "log" => {
                    let value: &'de RawValue = map.next_value()?;
                    if value.get().starts_with('{') {
                        found.log = serde_json::from_str(value.get()).ok();
                    }
                    continue;
                }
                // MongoDB's, which are too short to be told by their names alone.
                "t" | "s" => {
                    let value: &'de RawValue = map.next_value()?;
                    let slot = match value.get() {
                        json if json.starts_with("{\"$date\"") => &mut found.time,
                        "\"I\"" | "\"W\"" | "\"E\"" | "\"F\"" => &mut found.level,
                        _ => continue,
                    };
                    *slot = slot.or(Some(value));
                    continue;
                }
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
mod tests;
