//! Where the reading of a text stops that is no date of a format.

use super::civil::{DateReader, Fields};
use super::pattern::{Pattern, PatternItem, is_before_number, read_item};
use super::{Alternative, DateFormat, iso};

/// Where it stops, in units of UTF-16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateStop {
    /// What stands there is not what the format wants next.
    At(usize),
    /// All that the format wants stands before.
    Behind(usize),
    /// Somewhere, as there are several ways to read.
    Anywhere,
}

impl DateFormat {
    /// Where the reading of a text stops; `None` where that is not known, or all of it is read and makes no date.
    pub fn stop(&self, text: &str) -> Option<DateStop> {
        let [alternative] = self.alternatives.as_slice() else {
            return Some(DateStop::Anywhere);
        };
        let (mut reader, mut fields) = (DateReader::new(text), Fields::default());
        let is_whole = match alternative {
            Alternative::EpochMillis | Alternative::EpochSecond => return Some(DateStop::Anywhere),
            Alternative::Iso(strictness) => {
                let begins = text.starts_with(|first: char| first.is_ascii_digit());
                let read = iso::read(&mut reader, &mut fields, *strictness);
                match read {
                    // Where it stops within depends on what may be left out.
                    None if begins => return None,
                    None => return Some(DateStop::At(0)),
                    Some(()) => true,
                }
            }
            Alternative::Pattern(pattern) => read_on(pattern, &mut reader, &mut fields),
            Alternative::Named { reads, .. } if self.as_str().starts_with("strict_") => {
                read_on(reads, &mut reader, &mut fields)
            }
            Alternative::Named { .. } => return None,
        };
        let at = text.len().saturating_sub(reader.left());
        let at = text
            .get(..at)
            .map_or(at, |read| read.encode_utf16().count());
        match (is_whole, reader.is_at_end()) {
            (false, _) => Some(DateStop::At(at)),
            (true, false) => Some(DateStop::Behind(at)),
            (true, true) => None,
        }
    }
}

/// Reads as far as the text fits; whether all of the pattern is there. The reader then stands where it is not.
fn read_on(pattern: &Pattern, reader: &mut DateReader<'_>, fields: &mut Fields) -> bool {
    for index in 0..pattern.0.len() {
        let items = pattern.0.get(index..).unwrap_or_default();
        let before = reader.clone();
        let is_too_long = match items.first() {
            Some(PatternItem::Part {
                letter: 'y' | 'u',
                width,
            }) if *width > 2 && !is_before_number(items) => {
                let digits = reader.clone().take_while(|byte| byte.is_ascii_digit());
                digits.len() > *width
            }
            _ => false,
        };
        if is_too_long || read_item(items, reader, fields).is_none() {
            *reader = before;
            return false;
        }
    }
    true
}
