//! Times of lines that begin with something else, or write them in other ways: pairs of logfmt, the audit log, Redis, PHP, Tomcat,
//! Squid, Ruby, MySQL's slow log, layouts that have the level first, and times in few signs (`compact.rs`). Nothing is looked for
//! in prose.

use jiff::tz::TimeZone;

use super::Times;
use super::compact;
use super::plain::level_word;
use super::redis;
use super::stamp::{Stamp, apache_error, day_first, iso_ms, rfc3164};
use super::token::{level, quoted, split, word};

/// How far into a line pairs are looked at.
const PAIRS_BYTES_MAX: usize = 512;

/// What a line says of itself, and what stands behind it.
pub(super) struct LineHead<'a> {
    pub(super) ms: Option<i64>,
    pub(super) level: Option<&'static str>,
    pub(super) rest: &'a str,
}

/// What is found in a line that does not begin with a time as nearly all write it.
pub(super) fn find<'a>(line: &'a str, times: &mut Times) -> Option<LineHead<'a>> {
    match line.as_bytes().first()? {
        b'0'..=b'9' => number_first(line, times).or_else(|| compact::number_first(line, times)),
        b'[' => {
            let stamped = day_first(&line[1..]);
            let (stamp, rest) = stamped.or_else(|| compact::bracketed(&line[1..], times))?;
            let ms = match (stamp, named_zone(rest)) {
                (Stamp::Local(civil), Some(zone)) => Times::new(zone).local_ms(civil),
                _ => stamp.epoch_ms(times),
            };
            Some(timed((ms, rest)))
        }
        // As syslog has it, with no host behind it.
        b'A'..=b'Z' => match rfc3164(line, times).or_else(|| apache_error(line)) {
            Some((stamp, rest)) => Some(timed((stamp.epoch_ms(times), rest))),
            None => match compact::labelled(line) {
                Some(found) => Some(timed(found)),
                None => level_first(line, times),
            },
        },
        b'a'..=b'z' | b'@' => match line.starts_with("type=") {
            true => audited(line),
            false => pairs(line, times).or_else(|| compact::behind_a_word(line, times).map(timed)),
        },
        // MySQL's slow log.
        b'#' => {
            let text = line.strip_prefix("# Time: ")?;
            match iso_ms(text, times) {
                Some(found) => Some(timed(found)),
                None => {
                    compact::mysql(text).map(|(stamp, rest)| timed((stamp.epoch_ms(times), rest)))
                }
            }
        }
        b'-' => compact::labelled(line).map(timed),
        b'=' => compact::erlang(line, times),
        _ => None,
    }
}

pub(super) fn timed((ms, rest): (i64, &str)) -> LineHead<'_> {
    LineHead {
        ms: Some(ms),
        level: None,
        rest,
    }
}

/// The zone that PHP names behind its times: ` Europe/Berlin]`.
fn named_zone(behind: &str) -> Option<TimeZone> {
    /// No zone has a longer name.
    const NAME_BYTES_MAX: usize = 40;
    let (name, _) = behind.strip_prefix(' ')?.split_once(']')?;
    let is_name = name.len() <= NAME_BYTES_MAX && name.contains('/');
    is_name.then(|| TimeZone::get(name).ok()).flatten()
}

/// `10-Oct-2026 12:34:56.789 INFO x`, `1791635696.789 x`, and Redis: `1234:M 10 Oct 2026 12:34:56.789 # x`.
fn number_first<'a>(line: &'a str, times: &mut Times) -> Option<LineHead<'a>> {
    if let Some((stamp, rest)) = day_first(line) {
        return Some(timed((stamp.epoch_ms(times), rest)));
    }
    if let Some(found) = epoch(line).filter(|(_, rest)| rest.starts_with(' ')) {
        return Some(timed(found));
    }
    let head = redis::Head::of(line, times)?;
    Some(LineHead {
        ms: Some(head.ms),
        level: head.level,
        rest: head.rest,
    })
}

/// Seconds since the epoch with a fraction.
fn epoch(text: &str) -> Option<(i64, &str)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    // From 2001 to 2286.
    (digits(text) == 10 && !text.starts_with('0')).then_some(())?;
    let seconds: i64 = text.get(..10)?.parse().ok()?;
    let fraction = text.get(10..)?.strip_prefix('.')?;
    let places = digits(fraction);
    let ms: i64 = fraction.get(..3).filter(|_| places >= 3)?.parse().ok()?;
    Some((seconds * 1_000 + ms, fraction.get(places..)?))
}

/// `WARN  [main] 2026-10-10 12:34:56,789 x`, and Ruby's `I, [2026-10-10T12:34:56.789012 #12]  INFO -- : x`.
fn level_first<'a>(line: &'a str, times: &mut Times) -> Option<LineHead<'a>> {
    if let Some(stamped) = line.get(1..)?.strip_prefix(", [") {
        return iso_ms(stamped, times).map(timed);
    }
    let (first, mut behind) = word(line)?;
    let level = level_word(first)?;
    // What the thread is called may stand between them.
    for _ in 0..2 {
        let stamped = behind.strip_prefix(['[', '(']).unwrap_or(behind);
        if let Some((ms, rest)) = iso_ms(stamped, times) {
            return Some(LineHead {
                ms: Some(ms),
                level: Some(level),
                rest,
            });
        }
        let (_, rest) = behind.strip_prefix('[')?.split_once("] ")?;
        behind = rest.trim_start();
    }
    None
}

/// The audit log: `type=SYSCALL msg=audit(1791635696.789:4321): x`.
fn audited(line: &str) -> Option<LineHead<'_>> {
    let (_, behind) = line.split_once(" msg=audit(")?;
    epoch(behind)
        .filter(|(_, rest)| rest.starts_with(':'))
        .map(timed)
}

/// Pairs: `time="2026-10-10T12:34:56Z" level=error msg=x`.
fn pairs<'a>(line: &'a str, times: &mut Times) -> Option<LineHead<'a>> {
    let (mut ms, mut found) = (None, None);
    let mut rest = line;
    while line.len() - rest.len() < PAIRS_BYTES_MAX {
        // A key is a word up to its sign: anything else is no logfmt from there on.
        let Some((key, behind)) = split(rest, b'=').filter(|(key, _)| !key.contains(' ')) else {
            break;
        };
        let (value, behind) = match quoted(behind) {
            Some((value, behind)) => (value, behind),
            None => split(behind, b' ').unwrap_or((behind, "")),
        };
        match key {
            "time" | "ts" | "t" | "timestamp" | "@timestamp" if ms.is_none() => {
                let whole = |(ms, rest): (i64, &str)| rest.is_empty().then_some(ms);
                let stamp = iso_ms(value, times).or_else(|| epoch(value));
                ms = stamp.and_then(whole);
            }
            "level" | "lvl" | "severity" if found.is_none() => found = level(value),
            _ => {}
        }
        rest = behind.trim_start_matches(' ');
    }
    (ms.is_some() || found.is_some()).then_some(LineHead {
        ms,
        level: found,
        rest: "",
    })
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    #[allow(clippy::too_many_lines, reason = "a table")]
    fn lines_say_when_they_are_from_in_the_ways_of_their_programs() {
        let time = "2026-10-10T12:34:56.789Z";
        let second = "2026-10-10T12:34:56.000Z";
        for (line, time, level) in [
            (
                r#"time="2026-10-10T12:34:56Z" level=error msg="a b" n=1"#,
                second,
                "error",
            ),
            (
                "ts=2026-10-10T12:34:56.789Z caller=x.go:1 level=warn msg=x",
                time,
                "warning",
            ),
            ("level=INFO ts=1791635696.789 msg=x", time, "info"),
            ("t=soon lvl=dbug x", "", "debug"),
            ("1234:M 10 Oct 2026 12:34:56.789 * Ready", time, "notice"),
            (
                "1234:C 10 Oct 2026 12:34:56.789 # WARNING x",
                time,
                "warning",
            ),
            ("[10-Oct-2026 12:34:56 UTC] PHP Warning:  x", second, "-"),
            (
                "[10-Oct-2026 14:34:56 Europe/Berlin] PHP Warning:  x",
                second,
                "-",
            ),
            (
                r#"[10/Oct/2026 12:34:56] "GET / HTTP/1.1" 200 1"#,
                second,
                "-",
            ),
            ("10-Oct-2026 12:34:56.789 INFO [main] x", time, "info"),
            ("1791635696.789    123 1.2.3.4 TCP_MISS/200", time, "-"),
            (
                "type=SYSCALL msg=audit(1791635696.789:4321): arch=c000003e",
                time,
                "-",
            ),
            (
                "WARN  [main] 2026-10-10 12:34:56,789 X.java:12 - text",
                time,
                "warning",
            ),
            ("ERROR 2026-10-10 12:34:56,789 text", time, "error"),
            (
                "I, [2026-10-10T12:34:56.789012 #12]  INFO -- : x",
                time,
                "info",
            ),
            ("# Time: 2026-10-10T12:34:56.789012Z", time, "-"),
            (
                "# Time: 2026-10-10T12:34:56.789012Z\n# User@Host: a[a] @ b []  Id: 8\nSELECT 1;",
                time,
                "-",
            ),
            ("Oct 10 2026 12:34:56 ERROR text", second, "error"),
            (
                "Jun 14 09:08:07.25 WARN text",
                "2026-06-14T09:08:07.250Z",
                "warning",
            ),
            ("0000000000.000 x", "", "-"),
            ("# Time is 2026-10-10T12:34:56Z", "", "-"),
            ("ERROR text of 2026-10-10 12:34:56,789", "", "error"),
            ("a=1 b=2", "", "-"),
            ("time flies = 2026-10-10T12:34:56Z", "", "-"),
            ("1234567890 x", "", "-"),
            ("1234567890.5 x", "", "-"),
        ] {
            let expected = format!("{time} {level} {{}}");
            testing::check(ParserName::Plain, line, Some(&expected));
        }
    }
}
