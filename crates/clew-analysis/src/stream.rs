//! What all tokenizers share: numbering, lower case, and cutting words that are too long. A
//! tokenizer itself only says where words lie.

use std::ops::Range;

use tantivy::tokenizer::{Token, TokenStream};

use super::TOKEN_LENGTH_MAX;

/// What happens to the letters of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    Lower,
    Kept,
}

/// Byte ranges of words become numbered tokens.
pub(super) struct WordStream<'a, W> {
    text: &'a str,
    words: W,
    case: Case,
    /// What is left of a word longer than a token may be.
    rest: Range<usize>,
    token: &'a mut Token,
}

impl<'a, W: Iterator<Item = Range<usize>>> WordStream<'a, W> {
    pub(super) fn new(text: &'a str, words: W, case: Case, token: &'a mut Token) -> Self {
        token.reset();
        WordStream {
            text,
            words,
            case,
            rest: 0..0,
            token,
        }
    }

    fn next_range(&mut self) -> Option<Range<usize>> {
        if self.rest.is_empty() {
            self.rest = self.words.next()?;
        }
        let start = self.rest.start;
        let end = start + piece_length(&self.text[self.rest.clone()]);
        self.rest.start = end;
        Some(start..end)
    }
}

/// Bytes of the longest beginning of the word that is still one token.
pub(super) fn piece_length(word: &str) -> usize {
    piece_within(word, TOKEN_LENGTH_MAX)
}

/// Bytes of the longest beginning of the word that has at most so many UTF-16 units; one character at least.
pub(super) fn piece_within(word: &str, most: usize) -> usize {
    // A character has at least as many bytes as UTF-16 units, so short words need no count.
    if word.len() <= most {
        return word.len();
    }
    let mut units = 0;
    for (at, character) in word.char_indices() {
        units += character.len_utf16();
        if units > most && at > 0 {
            return at;
        }
    }
    word.len()
}

impl<W: Iterator<Item = Range<usize>>> TokenStream for WordStream<'_, W> {
    fn advance(&mut self) -> bool {
        let Some(range) = self.next_range() else {
            return false;
        };
        let word = &self.text[range.clone()];
        let token = &mut *self.token;
        token.position = token.position.wrapping_add(1);
        token.offset_from = range.start;
        token.offset_to = range.end;
        token.text.clear();
        match self.case {
            Case::Kept => token.text.push_str(word),
            Case::Lower => push_lower(&mut token.text, word),
        }
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

/// A text in lower case.
pub(super) fn lower(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_lower(&mut out, text);
    out
}

/// Lower case character by character, one for one, as Lucene does: the only character whose lower
/// case is two (a dotted capital I) keeps the first.
pub(super) fn push_lower(out: &mut String, word: &str) {
    if word.is_ascii() {
        out.push_str(word);
        out.make_ascii_lowercase();
    } else {
        out.extend(word.chars().filter_map(|c| c.to_lowercase().next()));
    }
}
