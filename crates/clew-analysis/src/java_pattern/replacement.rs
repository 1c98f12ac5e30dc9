//! What stands for a match, as Java writes it: `$1` and `${name}` are groups, and a backslash says that the next one means itself.

use std::ops::Range;

use super::{JavaPattern, Places, TooManySteps};

/// Text and groups in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Group(usize),
}

impl Replacement {
    /// Reads what stands for matches of an expression.
    ///
    /// # Errors
    /// A reason in Java's words, when it names no group or one that the expression does not have.
    pub fn read(written: &str, pattern: &JavaPattern) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut letters = written.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => match letters.next() {
                    None => return Err("character to be escaped is missing".to_string()),
                    Some(other) => text.push(other),
                },
                '$' => {
                    if !text.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut text)));
                    }
                    let group = if letters.next_if_eq(&'{').is_some() {
                        let mut name = String::new();
                        while let Some(letter) = letters.next_if(|letter| *letter != '}') {
                            name.push(letter);
                        }
                        if letters.next().is_none() {
                            return Err("named capturing group is missing trailing '}'".to_string());
                        }
                        named(&name, pattern)?
                    } else {
                        let Some(first) = letters.next() else {
                            return Err(
                                "Illegal group reference: group index is missing".to_string()
                            );
                        };
                        let mut number = digit(first).ok_or("Illegal group reference")?;
                        if number >= pattern.group_count() {
                            return Err(format!("No group {number}"));
                        }
                        // A number goes on while there is such a group.
                        while let Some(longer) = letters
                            .peek()
                            .and_then(|next| Some(number * 10 + digit(*next)?))
                            && longer < pattern.group_count()
                        {
                            number = longer;
                            letters.next();
                        }
                        number
                    };
                    pieces.push(Piece::Group(group));
                }
                other => text.push(other),
            }
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        Ok(Replacement(pieces))
    }

    /// Writes what stands for a match.
    pub fn push(&self, text: &str, places: &Places, out: &mut String) {
        for piece in &self.0 {
            match piece {
                Piece::Text(piece) => out.push_str(piece),
                Piece::Group(group) => {
                    let matched = places.get(*group).and_then(|range| text.get(range));
                    out.push_str(matched.unwrap_or_default());
                }
            }
        }
    }

    /// The text with it in place of the first matches, at most so many, or `None` where nothing matches; and whether matches
    /// were looked for to the end, or that took too many steps. From where it would have more bytes than are given, it stays as it is.
    pub fn replaced(
        &self,
        (text, bytes_max): (&str, usize),
        pattern: &JavaPattern,
        most: usize,
    ) -> (Option<String>, Result<(), TooManySteps>) {
        let mut out = String::new();
        let mut at = 0;
        let mut count = 0;
        let ended = each_match(text, pattern, most, |range, places| {
            let rest = text.len().saturating_sub(range.end);
            let between = range.start.saturating_sub(at);
            let bytes = out.len() + between + self.bytes(places) + rest;
            if bytes > bytes_max {
                return false;
            }
            out.push_str(text.get(at..range.start).unwrap_or_default());
            self.push(text, places, &mut out);
            at = range.end;
            count += 1;
            true
        });
        if count == 0 {
            return (None, ended);
        }
        out.push_str(text.get(at..).unwrap_or_default());
        (Some(out), ended)
    }
}

/// Why a text is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotReplaced {
    /// Matches take too many steps to be found.
    TooHard(TooManySteps),
    /// It would become longer than is allowed.
    TooLong {
        /// Bytes that it would have up to the match with which it becomes too long.
        bytes: usize,
    },
}

impl Replacement {
    /// The text with it in place of all matches, or `None` where nothing matches. No more is made than so many bytes and
    /// what stands behind the last match.
    ///
    /// # Errors
    /// When it would become longer, or that takes too many steps.
    pub fn replaced_within(
        &self,
        text: &str,
        pattern: &JavaPattern,
        bytes_max: usize,
    ) -> Result<Option<String>, NotReplaced> {
        let mut places = pattern.places();
        let mut found = pattern.find_all(text);
        let (mut out, mut at, mut count) = (String::new(), 0, 0_usize);
        while (found.next_places(&mut places)).map_err(NotReplaced::TooHard)? {
            let Some(range) = places.get(0) else {
                continue;
            };
            let between = text.get(at..range.start).unwrap_or_default();
            let bytes = (out.len() + between.len()).saturating_add(self.bytes(&places));
            if bytes > bytes_max {
                return Err(NotReplaced::TooLong { bytes });
            }
            out.push_str(between);
            self.push(text, &places, &mut out);
            at = range.end;
            count += 1;
        }
        if count == 0 {
            return Ok(None);
        }
        out.push_str(text.get(at..).unwrap_or_default());
        Ok(Some(out))
    }

    /// How long what stands for a match is.
    pub(crate) fn bytes(&self, places: &Places) -> usize {
        let of_piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.len(),
            Piece::Group(group) => places.get(*group).map_or(0, |range| range.len()),
        };
        self.0.iter().map(of_piece).sum()
    }
}

/// Hands over the first matches, at most so many, as long as more are wanted: where each lies, and its groups.
///
/// # Errors
/// When that takes too many steps; those before have been handed over.
pub(crate) fn each_match(
    text: &str,
    pattern: &JavaPattern,
    most: usize,
    mut sink: impl FnMut(Range<usize>, &Places) -> bool,
) -> Result<(), TooManySteps> {
    let mut places = pattern.places();
    let mut found = pattern.find_all(text);
    for _ in 0..most {
        if !found.next_places(&mut places)? {
            break;
        }
        if let Some(range) = places.get(0)
            && !sink(range, &places)
        {
            break;
        }
    }
    Ok(())
}

fn digit(letter: char) -> Option<usize> {
    letter
        .to_digit(10)
        .and_then(|digit| usize::try_from(digit).ok())
}

/// The number of a group by its name.
fn named(name: &str, pattern: &JavaPattern) -> Result<usize, String> {
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(format!(
            "capturing group name {{{name}}} starts with digit character"
        ));
    }
    let group = pattern.group_names().position(|known| known == Some(name));
    group.ok_or_else(|| format!("No group with name {{{name}}}"))
}
