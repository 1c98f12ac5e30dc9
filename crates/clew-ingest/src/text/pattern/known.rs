//! Shortcuts for named patterns that most expressions are made of: what they match of an ordinary text is told by a function,
//! in one step instead of dozens. A shortcut answers only where its answer is the first that the pattern itself would find;
//! for everything else, and for whatever else could still be tried, the pattern is there.

use super::usual::usual_patterns;
use crate::text::short_month;

/// A pattern that has a shortcut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// `10.0.0.7`.
    Quad,
    /// `02/Jan/2026:03:04:05 +0100`.
    HttpDate,
    /// `2026-01-02T03:04:05.678+01:00`, the fraction and the zone if they are there.
    Iso8601,
    /// `Jan  2 03:04:05`.
    SyslogTime,
    /// `-12.5`.
    Number,
    /// `"a text"` without escapes.
    Quoted,
    /// A level in capitals.
    Level,
}

/// The patterns that have one, and those that they are made of.
const PATTERNS: [(&str, Known, &[&str]); 11] = [
    ("IPV4", Known::Quad, &[]),
    ("IP", Known::Quad, &["IPV4", "IPV6"]),
    ("IPORHOST", Known::Quad, &["IP", "IPV4", "IPV6", "HOSTNAME"]),
    (
        "HTTPDATE",
        Known::HttpDate,
        &[
            "MONTHDAY", "MONTH", "YEAR", "TIME", "HOUR", "MINUTE", "SECOND", "INT",
        ],
    ),
    (
        "TIMESTAMP_ISO8601",
        Known::Iso8601,
        &[
            "YEAR",
            "MONTHNUM",
            "MONTHDAY",
            "ISO8601_HOUR",
            "HOUR",
            "MINUTE",
            "SECOND",
            "ISO8601_TIMEZONE",
        ],
    ),
    (
        "SYSLOGTIMESTAMP",
        Known::SyslogTime,
        &["MONTH", "MONTHDAY", "TIME", "HOUR", "MINUTE", "SECOND"],
    ),
    ("BASE10NUM", Known::Number, &[]),
    ("NUMBER", Known::Number, &["BASE10NUM"]),
    ("QUOTEDSTRING", Known::Quoted, &[]),
    ("QS", Known::Quoted, &["QUOTEDSTRING"]),
    ("LOGLEVEL", Known::Level, &[]),
];

impl Known {
    /// The shortcut of a pattern, as long as nobody has defined it, or one that it is made of, in a way of their own.
    pub(super) fn of<'d>(name: &str, named: &dyn Fn(&str) -> Option<&'d str>) -> Option<Known> {
        let (_, known, parts) = PATTERNS.iter().find(|(pattern, ..)| *pattern == name)?;
        let is_usual = |name: &str| usual_patterns().get(name).copied() == named(name);
        (is_usual(name) && parts.iter().all(|part| is_usual(part))).then_some(*known)
    }

    /// Where its match from a byte on ends, if that is easily told.
    pub(super) fn end(self, line: &[u8], at: usize) -> Option<usize> {
        let before = at.checked_sub(1).map(|before| line[before]);
        let text = line.get(at..)?;
        let bytes = match self {
            Known::Quad => match before {
                Some(b'0'..=b'9') => None,
                _ => quad(text),
            },
            Known::HttpDate => http_date(text),
            Known::Iso8601 => iso8601(text),
            Known::SyslogTime => match before {
                Some(byte) if super::parse::is_word(byte) => None,
                _ => syslog_time(text),
            },
            Known::Number => match before {
                Some(b'0'..=b'9' | b'.' | b'+' | b'-') => None,
                _ => number(text),
            },
            Known::Quoted => match before {
                Some(b'\\') => None,
                _ => quoted(text),
            },
            Known::Level => level(text),
        };
        bytes.map(|bytes| at + bytes)
    }
}

/// Digits from a place on.
fn digits(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Two digits at a place that are a number of a range.
fn two(text: &[u8], at: usize, range: std::ops::RangeInclusive<u8>) -> Option<()> {
    let [tens, ones] = *text.get(at..)?.first_chunk()?;
    let is_number = tens.is_ascii_digit() && ones.is_ascii_digit();
    let number = tens
        .wrapping_sub(b'0')
        .wrapping_mul(10)
        .wrapping_add(ones.wrapping_sub(b'0'));
    (is_number && range.contains(&number)).then_some(())
}

fn byte(text: &[u8], at: usize, wanted: u8) -> Option<()> {
    (text.get(at) == Some(&wanted)).then_some(())
}

fn quad(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    for part in 0..4 {
        if part > 0 {
            byte(text, at, b'.')?;
            at += 1;
        }
        let length = digits(text, at);
        let fits = matches!(
            text.get(at..at + length)?,
            [_] | [_, _] | [b'0' | b'1', _, _] | [b'2', b'0'..=b'4', _] | [b'2', b'5', b'0'..=b'5']
        );
        if !fits {
            return None;
        }
        at += length;
    }
    Some(at)
}

/// A month by its first three letters, and what stands behind it.
fn month(text: &[u8], at: usize, behind: u8) -> Option<()> {
    let name: &[u8; 3] = text.get(at..)?.first_chunk()?;
    byte(text, at + 3, behind)?;
    short_month(*name)?;
    Some(())
}

/// `03:04:05`, in this shape alone.
fn time(text: &[u8], at: usize) -> Option<usize> {
    two(text, at, 0..=23)?;
    byte(text, at + 2, b':')?;
    two(text, at + 3, 0..=59)?;
    byte(text, at + 5, b':')?;
    two(text, at + 6, 0..=59)?;
    Some(at + 8)
}

/// A fraction of a second, as far as there is one.
fn fraction(text: &[u8], at: usize) -> usize {
    match text.get(at) {
        Some(b':' | b'.' | b',') => match digits(text, at + 1) {
            0 => at,
            length => at + 1 + length,
        },
        _ => at,
    }
}

fn http_date(text: &[u8]) -> Option<usize> {
    two(text, 0, 1..=31)?;
    byte(text, 2, b'/')?;
    month(text, 3, b'/')?;
    if digits(text, 7) != 4 {
        return None;
    }
    byte(text, 11, b':')?;
    let at = time(text, 12)?;
    byte(text, at, b' ')?;
    let at = at + 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
    match digits(text, at) {
        0 => None,
        length => Some(at + length),
    }
}

fn iso8601(text: &[u8]) -> Option<usize> {
    if digits(text, 0) != 4 {
        return None;
    }
    byte(text, 4, b'-')?;
    two(text, 5, 1..=12)?;
    byte(text, 7, b'-')?;
    two(text, 8, 1..=31)?;
    matches!(text.get(10), Some(b'T' | b' ')).then_some(())?;
    let at = fraction(text, time(text, 11)?);
    match text.get(at) {
        Some(b'Z') => Some(at + 1),
        Some(b'+' | b'-') => {
            two(text, at + 1, 0..=23)?;
            let minutes = at + 3 + usize::from(text.get(at + 3) == Some(&b':'));
            two(text, minutes, 0..=59)?;
            Some(minutes + 2)
        }
        _ => Some(at),
    }
}

fn syslog_time(text: &[u8]) -> Option<usize> {
    month(text, 0, b' ')?;
    let rest = &text[3..];
    let day = 3 + rest.iter().take_while(|byte| **byte == b' ').count();
    let at = match digits(text, day) {
        1 => matches!(text[day], b'1'..=b'9').then_some(day + 1)?,
        _ => {
            two(text, day, 1..=31)?;
            day + 2
        }
    };
    byte(text, at, b' ')?;
    let at = fraction(text, time(text, at + 1)?);
    // Digits right behind it are somebody else's to think about.
    (digits(text, at) == 0).then_some(at)
}

fn number(text: &[u8]) -> Option<usize> {
    let start = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let whole = digits(text, start);
    if whole == 0 {
        return None;
    }
    let at = start + whole;
    if text.get(at) != Some(&b'.') {
        return Some(at);
    }
    match digits(text, at + 1) {
        0 => Some(at),
        length => Some(at + 1 + length),
    }
}

fn quoted(text: &[u8]) -> Option<usize> {
    byte(text, 0, b'"')?;
    let inside = &text[1..];
    let end = memchr::memchr2(b'"', b'\\', inside)?;
    (inside[end] == b'"').then_some(end + 2)
}

fn level(text: &[u8]) -> Option<usize> {
    const LEVELS: [&[u8]; 7] = [
        b"INFO", b"ERROR", b"DEBUG", b"WARNING", b"TRACE", b"FATAL", b"NOTICE",
    ];
    if text.starts_with(b"WARN") && !text.starts_with(b"WARNI") {
        return Some(4);
    }
    LEVELS
        .iter()
        .find(|level| text.starts_with(level))
        .map(|level| level.len())
}
