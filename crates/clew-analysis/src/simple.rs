//! The analyzers `simple` (runs of letters, in lower case), `alphanumeric` (of letters and digits) and `whitespace` (what
//! lies between white space, as it is).

use std::ops::Range;
use std::str::CharIndices;

use tantivy::tokenizer::{Token, Tokenizer};

use super::stream::{Case, WordStream};

/// Runs of characters that belong to words.
pub(super) struct Runs<'a> {
    characters: CharIndices<'a>,
    end: usize,
    belongs: fn(char) -> bool,
}

impl<'a> Runs<'a> {
    fn new(text: &'a str, belongs: fn(char) -> bool) -> Self {
        Runs {
            characters: text.char_indices(),
            end: text.len(),
            belongs,
        }
    }
}

impl Iterator for Runs<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let belongs = self.belongs;
        let (start, _) = self.characters.find(|(_, c)| belongs(*c))?;
        let end = self.characters.find(|(_, c)| !belongs(*c));
        Some(start..end.map_or(self.end, |(at, _)| at))
    }
}

/// Runs of characters of a kind, in lower case.
#[derive(Clone)]
pub(super) struct LowerRuns {
    belongs: fn(char) -> bool,
    token: Token,
}

impl LowerRuns {
    pub(super) fn of(belongs: fn(char) -> bool) -> Self {
        LowerRuns {
            belongs,
            token: Token::default(),
        }
    }
}

impl Tokenizer for LowerRuns {
    type TokenStream<'a> = WordStream<'a, Runs<'a>>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        let words = Runs::new(text, self.belongs);
        WordStream::new(text, words, Case::Lower, &mut self.token)
    }
}

/// Runs of anything but white space.
#[derive(Clone, Default)]
pub(super) struct WhitespaceTokenizer {
    token: Token,
}

impl Tokenizer for WhitespaceTokenizer {
    type TokenStream<'a> = WordStream<'a, Runs<'a>>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        let words = Runs::new(text, |c| !is_space(c));
        WordStream::new(text, words, Case::Kept, &mut self.token)
    }
}

/// White space as Java counts it: the separators of information too, no-break spaces not.
fn is_space(c: char) -> bool {
    match c {
        '\u{a0}' | '\u{2007}' | '\u{202f}' | '\u{85}' => false,
        '\u{1c}'..='\u{1f}' => true,
        c => c.is_whitespace(),
    }
}
