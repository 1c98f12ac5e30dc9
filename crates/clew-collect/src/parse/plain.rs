//! Any text. A time at the start of the line is used, or where many programs have it (`elsewhere.rs`), a level in its first words
//! too; the rest is left to whoever searches.

use jiff::tz::TimeZone;

use super::elsewhere;
use super::stamp::{iso, iso_ms};
use super::token::{level, text_start, word};
use super::{Record, Times};

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let start = line.strip_prefix('[').unwrap_or(line);
    let rest = match iso_ms(start, times) {
        Some((ms, rest)) => {
            record.timestamp_ms = Some(ms);
            rest
        }
        None => match elsewhere::find(line, times) {
            Some(found) => {
                record.timestamp_ms = found.ms;
                record.level = found.level;
                found.rest
            }
            None => line,
        },
    };
    record.level = record
        .level
        .or_else(|| level_behind_comma(rest))
        .or_else(|| leading_level(rest));
    Some(())
}

/// Whether a line begins as those of logs do: with a time, with a level among its first words, or as an object or a message of
/// syslog.
pub(crate) fn begins_as_log(line: &[u8]) -> bool {
    /// Enough for a time and a level.
    const BYTES_MAX: usize = 256;
    let text = text_start(line, BYTES_MAX);
    if text.starts_with(['{', '<']) {
        return true;
    }
    // Whether there is a time is asked, and not which: any zone will do.
    let (mut times, mut record) = (Times::new(TimeZone::UTC), Record::default());
    parse(text, &mut times, &mut record).is_some()
        && (record.timestamp_ms.is_some() || record.level.is_some())
}

/// The level that Windows writes behind the time and a comma: `, Info   CBS`.
fn level_behind_comma(rest: &str) -> Option<&'static str> {
    level(word(rest.strip_prefix(", ")?)?.0)
}

/// A level among the first words: in capitals or in brackets, so that prose does not count, or the first word of all with a colon.
fn leading_level(text: &str) -> Option<&'static str> {
    const WORDS: usize = 6;
    const WORD_BYTES_MAX: usize = 24;
    /// Words may be long; a level is not looked for behind more than this.
    const BYTES_MAX: usize = 128;
    let bytes = text.as_bytes();
    let bytes = &bytes[..bytes.len().min(BYTES_MAX)];
    let mut from = 0;
    for number in 0..WORDS {
        from += bytes[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let near = &bytes[from..bytes.len().min(from + WORD_BYTES_MAX + 1)];
        let (word, end) = match near.iter().position(u8::is_ascii_whitespace) {
            Some(length) => (text.get(from..from + length), from + length),
            None if bytes.len() - from <= WORD_BYTES_MAX => (text.get(from..), bytes.len()),
            // Too long to be a level.
            None => (None, from + memchr::memchr(b' ', &bytes[from..])?),
        };
        let first = word.filter(|_| number == 0).and_then(opening_level);
        if let Some(level) = first.or_else(|| word.and_then(level_word)) {
            return Some(level);
        }
        from = end;
    }
    None
}

/// The level that a line begins with in small letters, `warn: `. Others of their names begin prose, too.
fn opening_level(word: &str) -> Option<&'static str> {
    const NAMES: [&str; 13] = [
        "info", "warn", "warning", "error", "fail", "fatal", "crit", "critical", "debug", "dbug",
        "trce", "trace", "panic",
    ];
    let name = word.strip_suffix(':')?;
    NAMES.contains(&name).then(|| level(name)).flatten()
}

/// Whether a sign may stand around a level.
fn is_around(sign: u8) -> bool {
    matches!(
        sign,
        b'[' | b']' | b':' | b'|' | b'<' | b'>' | b'(' | b')' | b','
    )
}

/// The level that a word says, if it is one: `[WARN]`, `ERROR:root:text`, `app.ERROR:`, `[main][error][12]`, `INFO/MainProcess]`.
pub(super) fn level_word(word: &str) -> Option<&'static str> {
    if word.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return level(word);
    }
    if !may_be_level(word) {
        return None;
    }
    if word.contains("][") {
        let mut parts = word.split("][");
        return parts.find_map(|part| level(part.trim_matches(['[', ']'])));
    }
    let word = match word.split_once(':') {
        Some((name, behind)) if !behind.is_empty() => name,
        _ => word,
    };
    let word = match word.split_once('/') {
        Some((name, _)) if name.bytes().all(|byte| byte.is_ascii_uppercase()) => name,
        _ => word,
    };
    let word = match word.rsplit_once('.') {
        Some((_, name)) if word.ends_with(':') => name,
        _ => word,
    };
    let bare = word.trim_matches(|sign: char| u8::try_from(sign).is_ok_and(is_around));
    let capitals = !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_uppercase());
    let enclosed = word.starts_with(['[', '<', '(']) && bare.len() + 2 <= word.len();
    match capitals || enclosed {
        true => level(bare),
        false => None,
    }
}

/// Whether a word may say a level by [`level_word`]: most words of lines do not, as those of numbers, and are known by their
/// bytes. Names of levels begin with a letter, in front of which stands what may be around them, unless the word has parts.
fn may_be_level(word: &str) -> bool {
    let bytes = word.as_bytes();
    let first = bytes.iter().find(|byte| !is_around(**byte));
    let may_begin = first.is_some_and(u8::is_ascii_alphabetic);
    let has_parts = bytes.last() == Some(&b':') || bytes.contains(&b']');
    (may_begin || has_parts)
        && bytes
            .iter()
            .any(|byte| matches!(byte, b'A'..=b'Z' | b'[' | b'<' | b'('))
}

/// apt's `term.log`: only the lines around each run say when it was.
pub(crate) fn parse_apt_term(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let stamp = ["Log started: ", "Log ended: "]
        .into_iter()
        .find_map(|start| iso(line.strip_prefix(start)?));
    if let Some((stamp, _)) = stamp {
        record.timestamp_ms = Some(stamp.epoch_ms(times));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::parse::{ParserName, testing};

    #[test]
    fn times_and_levels_are_found_only_where_they_belong() {
        let check = |line, expected| testing::check(ParserName::Plain, line, Some(expected));
        check("hello", " - {}");
        check("", " - {}");
        check(
            "2026-01-02 03:04:05,678 WARN a - b",
            "2026-01-02T03:04:05.678Z warning {}",
        );
        check(
            "[2026-01-02T03:04:05Z INFO  x::y] z",
            "2026-01-02T03:04:05.000Z info {}",
        );
        check("[error] broken", " error {}");
        check("ERROR: broken", " error {}");
        check("an error and no log", " - {}");
        check("it was on 2026-01-02 03:04:05", " - {}");
        check("WARNING:root:careful", " warning {}");
        check("warn: Microsoft.Hosting[14]", " warning {}");
        check("log: an error", " - {}");
        check(
            "[2026-01-02T03:04:05.678Z] app.ERROR: boom",
            "2026-01-02T03:04:05.678Z error {}",
        );
        check(
            "[2026-01-02 03:04:05.678][12][info][main] [a.cc:404] x",
            "2026-01-02T03:04:05.678Z info {}",
        );
        check(
            "2026.01.02 03:04:05.678901 [ 12 ] {} <Error> x: y",
            "2026-01-02T03:04:05.678Z error {}",
        );
        check(
            "2026-01-02 03:04:05 +01:00 [INF] x",
            "2026-01-02T02:04:05.000Z info {}",
        );
        check("host:80 [10:20] x", " - {}");
        testing::check(
            ParserName::AptTerm,
            "Log ended: 2025-06-24  14:36:25",
            Some("2025-06-24T14:36:25.000Z - {}"),
        );
        testing::check(ParserName::AptTerm, "Unpacking x ...", Some(" - {}"));
    }
}
