//! Any text. A time at the start of the line is used, a level in its first words too; the rest
//! is left to whoever searches.

use super::stamp::{iso, iso_ms};
use super::token::level;
use super::{Record, Times};

pub(crate) fn parse(line: &str, times: &mut Times, record: &mut Record) -> Option<()> {
    let start = line.strip_prefix('[').unwrap_or(line);
    let rest = match iso_ms(start, times) {
        Some((ms, rest)) => {
            record.timestamp_ms = Some(ms);
            rest
        }
        None => line,
    };
    record.level = leading_level(rest);
    Some(())
}

/// A level among the first words: in capitals or in brackets, so that prose does not count.
fn leading_level(text: &str) -> Option<&'static str> {
    const WORDS: usize = 4;
    const WORD_BYTES_MAX: usize = 16;
    /// Words may be long; a level is not looked for behind more than this.
    const BYTES_MAX: usize = 128;
    let bytes = text.as_bytes();
    let bytes = &bytes[..bytes.len().min(BYTES_MAX)];
    let mut from = 0;
    for _ in 0..WORDS {
        from += bytes[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let mut near = bytes[from..].iter().take(WORD_BYTES_MAX + 1);
        let (word, end) = match near.position(u8::is_ascii_whitespace) {
            Some(length) => (text.get(from..from + length), from + length),
            None if bytes.len() - from <= WORD_BYTES_MAX => (text.get(from..), bytes.len()),
            // Too long to be a level.
            None => (None, from + memchr::memchr(b' ', &bytes[from..])?),
        };
        if let Some(level) = word.and_then(level_word) {
            return Some(level);
        }
        from = end;
    }
    None
}

/// The level that a word says, if it is one.
fn level_word(word: &str) -> Option<&'static str> {
    let bare = word.trim_matches(['[', ']', ':', '|', '<', '>', '(', ')', ',']);
    let capitals = !bare.is_empty() && bare.bytes().all(|byte| byte.is_ascii_uppercase());
    let enclosed = word.starts_with(['[', '<', '(']) && bare.len() + 2 <= word.len();
    match capitals || enclosed {
        true => level(bare),
        false => None,
    }
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
        testing::check(
            ParserName::AptTerm,
            "Log ended: 2025-06-24  14:36:25",
            Some("2025-06-24T14:36:25.000Z - {}"),
        );
        testing::check(ParserName::AptTerm, "Unpacking x ...", Some(" - {}"));
    }
}
