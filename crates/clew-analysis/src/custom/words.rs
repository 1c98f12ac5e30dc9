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
    /// Whether what is joined takes as many places as its parts.
    is_graph: bool,
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
            is_graph: part.type_name() == "word_delimiter_graph",
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
        let (shown, place) = self.pieces(word, parts);
        let whole = (0, place.max(1));
        let mut made: Vec<(usize, Rank, Term)> = Vec::new();
        let mut add =
            |text: String, rank: Rank, (at, length): (usize, usize), range: Range<usize>| {
                let mut part = term.clone();
                // Where a filter has changed a term's length, its parts have the whole term's place.
                if term.token.offset_to - term.token.offset_from == term.token.text.len() {
                    part.token.offset_to = term.token.offset_from + range.end;
                    part.token.offset_from = term.token.offset_from + range.start;
                }
                part.token.text = text;
                part.token.position = term.token.position + at;
                if self.is_graph {
                    part.token.position_length = length;
                }
                made.push((at, rank, part));
            };
        if self.keep {
            add(word.to_string(), Rank::Whole, whole, 0..word.len());
        }
        let text = |parts: &[Range<usize>]| -> String {
            parts.iter().map(|part| &word[part.clone()]).collect()
        };
        if self.joined_all {
            add(text(parts), self.rank_joined(), whole, 0..word.len());
        } else {
            let mut from = 0;
            for run in shown.chunk_by(|a, b| a.numbers == b.numbers) {
                let parts = &parts[from..from + run.len()];
                from += run.len();
                let wants = if run[0].numbers {
                    self.joined_numbers
                } else {
                    self.joined_words
                };
                if wants && run.len() > 1 {
                    let length: usize = run.iter().map(|piece| piece.places).sum();
                    let range = parts[0].start..parts[parts.len() - 1].end;
                    let rank = self.rank_joined();
                    add(text(parts), rank, (run[0].place, length.max(1)), range);
                }
            }
        }
        for (part, piece) in parts.iter().zip(&shown) {
            if piece.places > 0 {
                let text = word[part.clone()].to_string();
                add(text, Rank::Part, (piece.place, 1), part.clone());
            }
        }
        made.sort_by_key(|(at, rank, _)| (*at, *rank));
        out.extend(made.into_iter().map(|(_, _, term)| term));
        place.saturating_sub(1)
    }

    /// Where the parts of a term go, and how many places they take.
    fn pieces(&self, word: &str, parts: &[Range<usize>]) -> (Vec<Piece>, usize) {
        let mut pieces = Vec::with_capacity(parts.len());
        let mut place = 0;
        for part in parts {
            let numbers = word[part.clone()].chars().all(char::is_numeric);
            let places = usize::from(if numbers { self.numbers } else { self.words });
            pieces.push(Piece {
                numbers,
                place,
                places,
            });
            place += places;
        }
        (pieces, place)
    }

    /// In a graph joined parts come before the parts, else behind them.
    fn rank_joined(&self) -> Rank {
        if self.is_graph {
            Rank::JoinedFirst
        } else {
            Rank::JoinedLast
        }
    }
}

/// A part among the others.
struct Piece {
    numbers: bool,
    place: usize,
    /// How many places it takes: none where parts of its kind are not wanted.
    places: usize,
}

/// The order of what stands at one place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Whole,
    JoinedFirst,
    Part,
    JoinedLast,
}
