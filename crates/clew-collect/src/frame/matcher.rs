//! Patterns that are asked about every line of a file. Most lines are told apart by their first byte; only those that may
//! match are given to the regular expression.

use regex::bytes::Regex;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// A pattern and the bytes that a match may begin with.
#[derive(Clone, Debug)]
pub(crate) struct Matcher {
    regex: Regex,
    first: Box<[bool; 256]>,
    /// Whether a line without bytes may match.
    empty: bool,
}

impl Matcher {
    /// Compiles a pattern of the `regex` crate's syntax. One that begins with `^` costs least.
    ///
    /// # Errors
    /// What is wrong with the pattern.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let regex = Regex::new(pattern).map_err(|error| error.to_string())?;
        let hir = regex_syntax::ParserBuilder::new()
            .utf8(false)
            .build()
            .parse(pattern)
            .map_err(|error| error.to_string())?;
        let mut first = Box::new([false; 256]);
        let anchored = hir.properties().look_set_prefix().contains(Look::Start);
        let empty = collect_first(&hir, &mut first);
        if empty || !anchored {
            first.fill(true);
        }
        Ok(Matcher {
            regex,
            first,
            empty: empty || !anchored,
        })
    }

    pub(crate) fn matches(&self, line: &[u8]) -> bool {
        let may = line
            .first()
            .map_or(self.empty, |&byte| self.first[usize::from(byte)]);
        may && self.regex.is_match(line)
    }
}

/// Marks the bytes that a match may begin with; returns whether it may also be empty.
fn collect_first(hir: &Hir, first: &mut [bool; 256]) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => {
            if let Some(&byte) = literal.0.first() {
                first[usize::from(byte)] = true;
            }
            literal.0.is_empty()
        }
        HirKind::Class(Class::Bytes(class)) => {
            for range in class.ranges() {
                first[usize::from(range.start())..=usize::from(range.end())].fill(true);
            }
            false
        }
        HirKind::Class(Class::Unicode(class)) => {
            for range in class.ranges() {
                let last_ascii = u32::from(range.end()).min(0x7f);
                for code in u32::from(range.start())..=last_ascii {
                    first[code as usize] = true;
                }
                // Beyond ASCII all bytes that begin a character, which is wide enough here.
                if u32::from(range.end()) > 0x7f {
                    first[0xc2..=0xf4].fill(true);
                }
            }
            false
        }
        HirKind::Repetition(repetition) => {
            let empty = collect_first(&repetition.sub, first);
            empty || repetition.min == 0
        }
        HirKind::Capture(capture) => collect_first(&capture.sub, first),
        HirKind::Concat(parts) => parts.iter().all(|part| collect_first(part, first)),
        HirKind::Alternation(parts) => {
            let mut empty = false;
            for part in parts {
                empty |= collect_first(part, first);
            }
            empty
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_never_hide_a_match() {
        let patterns = [
            r"^\d{4}-",
            r"^\[?\d+",
            r"^(INFO|WARN|\w+:)",
            r"^\s+at ",
            r"^$",
            r"^x*",
            r"^é",
            r"^(?i)caused",
            r"error",
            r"^(a|)b",
            r"(?:^a)|(?:^b)",
            r"^\PL",
            r"(?-u)^[\x80-\xff]",
        ];
        let lines: [&[u8]; 14] = [
            b"",
            b"2026-01",
            b"[17] x",
            b"INFO",
            b"x",
            b" at y",
            b"\xc3\xa9t",
            b"CAUSED",
            b"Caused",
            b"an error",
            b"b",
            b"ab",
            b"\xff",
            b"?",
        ];
        for pattern in patterns {
            let matcher = Matcher::new(pattern).unwrap();
            let regex = Regex::new(pattern).unwrap();
            for line in lines {
                assert_eq!(
                    matcher.matches(line),
                    regex.is_match(line),
                    "{pattern} {line:?}"
                );
            }
        }
        assert!(Matcher::new("(").is_err());
        assert!(!Matcher::new(r"^\d").unwrap().first[usize::from(b'\t')]);
    }
}
