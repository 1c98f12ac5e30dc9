//! Cutting terms where letters, digits and signs meet.

use std::ops::Range;

use super::Term;
use super::part::Part;

/// What is made of the parts of a term.
#[derive(Clone, Debug)]
pub(super) struct Delimiter {
    words: bool,
    numbers: bool,
    joined_words: bool,
    joined_numbers: bool,
    joined_all: bool,
    at_case: bool,
    at_digits: bool,
    keep: bool,
    possessive: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Upper,
    Lower,
    Digit,
    Sign,
}

fn class(character: char) -> Class {
    if character.is_numeric() {
        Class::Digit
    } else if character.is_uppercase() {
        Class::Upper
    } else if character.is_alphabetic() {
        Class::Lower
    } else {
        Class::Sign
    }
}

impl Delimiter {
    pub(super) fn compile(part: &Part<'_>) -> Result<Self, String> {
        Ok(Delimiter {
            words: part.flag("generate_word_parts", true)?,
            numbers: part.flag("generate_number_parts", true)?,
            joined_words: part.flag("catenate_words", false)?,
            joined_numbers: part.flag("catenate_numbers", false)?,
            joined_all: part.flag("catenate_all", false)?,
            at_case: part.flag("split_on_case_change", true)?,
            at_digits: part.flag("split_on_numerics", true)?,
            keep: part.flag("preserve_original", false)?,
            possessive: part.flag("stem_english_possessive", true)?,
        })
    }

    /// Where the parts of a word lie.
    fn parts(&self, word: &str) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let mut start: Option<usize> = None;
        let mut before = Class::Sign;
        for (at, character) in word.char_indices() {
            let now = class(character);
            let is_cut = match (before, now) {
                (_, Class::Sign) => true,
                (Class::Lower, Class::Upper) => self.at_case,
                (Class::Digit, Class::Upper | Class::Lower)
                | (Class::Upper | Class::Lower, Class::Digit) => self.at_digits,
                _ => false,
            };
            if is_cut && let Some(from) = start.take() {
                parts.push(from..at);
            }
            if now != Class::Sign && start.is_none() {
                start = Some(at);
            }
            before = now;
        }
        parts.extend(start.map(|from| from..word.len()));
        parts
    }

    pub(super) fn apply(&self, terms: Vec<Term>) -> Vec<Term> {
        let mut out = Vec::with_capacity(terms.len());
        let mut shift = 0;
        for mut term in terms {
            term.token.position += shift;
            let mut word = term.token.text.as_str();
            if self.possessive {
                word = word
                    .strip_suffix("'s")
                    .or(word.strip_suffix("'S"))
                    .unwrap_or(word);
            }
            let parts = self.parts(word);
            if parts.len() <= 1 && parts.first().is_some_and(|part| part.len() == word.len()) {
                let text = word.to_string();
                term.token.text = text;
                out.push(term);
                continue;
            }
            shift += self.push_parts(&term, word, &parts, &mut out);
        }
        out
    }

    /// Adds the parts of a term; by how many places more than one it takes.
    fn push_parts(
        &self,
        term: &Term,
        word: &str,
        parts: &[Range<usize>],
        out: &mut Vec<Term>,
    ) -> usize {
        let add = |out: &mut Vec<Term>, text: String, place: usize, range: Range<usize>| {
            let mut part = term.clone();
            // Where a filter has changed a term's length, its parts have the whole term's place.
            if term.token.offset_to - term.token.offset_from == term.token.text.len() {
                part.token.offset_to = term.token.offset_from + range.end;
                part.token.offset_from = term.token.offset_from + range.start;
            }
            part.token.text = text;
            part.token.position = term.token.position + place;
            out.push(part);
        };
        let whole = 0..word.len();
        if self.keep {
            add(out, word.to_string(), 0, whole.clone());
        }
        let is_number = |part: &Range<usize>| word[part.clone()].chars().all(char::is_numeric);
        let joined = |wanted: &dyn Fn(&Range<usize>) -> bool| -> String {
            let wanted = parts.iter().filter(|part| wanted(part));
            wanted.map(|part| &word[part.clone()]).collect()
        };
        if self.joined_all {
            add(out, joined(&|_| true), 0, whole);
        } else {
            for (wants, numbers) in [(self.joined_words, false), (self.joined_numbers, true)] {
                let of_kind = |part: &Range<usize>| is_number(part) == numbers;
                if wants && parts.iter().filter(|part| of_kind(part)).count() > 1 {
                    add(out, joined(&of_kind), 0, whole.clone());
                }
            }
        }
        let mut place = 0;
        for part in parts {
            let wanted = if is_number(part) {
                self.numbers
            } else {
                self.words
            };
            if wanted {
                add(out, word[part.clone()].to_string(), place, part.clone());
                place += 1;
            }
        }
        place.saturating_sub(1)
    }
}
