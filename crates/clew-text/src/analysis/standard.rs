//! The `standard` analyzer: words of Unicode's annex 29 that hold a letter, a digit or a picture,
//! in lower case.
//!
//! Most text is ASCII, where the rules need a byte's class and its two neighbours. A stretch
//! between spaces that holds anything else goes to the full rules; spaces always end words, so
//! nothing is lost by deciding stretch by stretch.

use std::ops::Range;

use tantivy::tokenizer::{Token, Tokenizer};
use unicode_segmentation::{UWordBoundIndices, UnicodeSegmentation};

use super::scripts::{is_complex, is_emoji, makes_word};
use super::stream::{Case, WordStream};

/// The `standard` analyzer, and its tokenizer, which leaves the case as it is.
#[derive(Clone, Default)]
pub(super) struct StandardTokenizer {
    token: Token,
    keeps_case: bool,
}

impl StandardTokenizer {
    /// The tokenizer by itself.
    pub(super) fn keeping_case() -> Self {
        StandardTokenizer {
            keeps_case: true,
            ..Self::default()
        }
    }
}

impl Tokenizer for StandardTokenizer {
    type TokenStream<'a> = WordStream<'a, StandardWords<'a>>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        let words = StandardWords::new(text);
        let case = if self.keeps_case {
            Case::Kept
        } else {
            Case::Lower
        };
        WordStream::new(text, words, case, &mut self.token)
    }
}

/// What a byte is to the word rules.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Ends a word.
    Other,
    Letter,
    Digit,
    /// Joins like a letter or a digit, but makes no word alone.
    Underscore,
    /// Joins two letters.
    MidLetter,
    /// Joins two digits.
    MidNumber,
    /// Joins two letters or two digits.
    MidBoth,
    NotAscii,
}

const CLASSES: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut table = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte {
            0x30..=0x39 => Class::Digit,
            0x41..=0x5a | 0x61..=0x7a => Class::Letter,
            0x5f => Class::Underscore,
            0x3a => Class::MidLetter,
            0x2c | 0x3b => Class::MidNumber,
            0x2e | 0x27 => Class::MidBoth,
            0x80.. => Class::NotAscii,
            _ => Class::Other,
        };
        byte += 1;
    }
    table
}

/// Byte ranges of the words of a text.
pub(super) struct StandardWords<'a> {
    text: &'a str,
    at: usize,
    /// The rest of a stretch that is not ASCII, and where it begins.
    stretch: Option<Stretch<'a>>,
}

struct Stretch<'a> {
    start: usize,
    bounds: std::iter::Peekable<UWordBoundIndices<'a>>,
}

/// What the fast rules found.
enum Found {
    Word(Range<usize>),
    /// The full rules are needed from here on.
    NotAscii(usize),
    End,
}

impl<'a> StandardWords<'a> {
    fn new(text: &'a str) -> Self {
        StandardWords {
            text,
            at: 0,
            stretch: None,
        }
    }

    fn class(&self, at: usize) -> Class {
        self.text
            .as_bytes()
            .get(at)
            .map_or(Class::Other, |byte| CLASSES[usize::from(*byte)])
    }

    /// The next word, as long as all is ASCII.
    fn next_ascii(&mut self) -> Found {
        loop {
            let start = match self.skip_to_word() {
                Found::Word(range) => range.start,
                other => return other,
            };
            let mut end = start;
            let mut is_word = false;
            let mut last = Class::Other;
            loop {
                let class = self.class(end);
                match class {
                    Class::Letter | Class::Digit => is_word = true,
                    Class::Underscore => {}
                    Class::NotAscii => return Found::NotAscii(start),
                    Class::Other => break,
                    Class::MidLetter | Class::MidNumber | Class::MidBoth => {
                        let next = self.class(end + 1);
                        if next == Class::NotAscii {
                            return Found::NotAscii(start);
                        }
                        let joins = match class {
                            Class::MidLetter => last == Class::Letter,
                            Class::MidNumber => last == Class::Digit,
                            _ => last == Class::Letter || last == Class::Digit,
                        };
                        if !joins || next != last {
                            break;
                        }
                    }
                }
                last = class;
                end += 1;
            }
            self.at = end;
            if is_word {
                return Found::Word(start..end);
            }
        }
    }

    /// Goes to the byte where a word may start.
    fn skip_to_word(&mut self) -> Found {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match CLASSES[usize::from(*byte)] {
                Class::Letter | Class::Digit | Class::Underscore => {
                    return Found::Word(self.at..self.at);
                }
                Class::NotAscii => {
                    // A keycap picture starts with one of two signs that are no word otherwise.
                    let keycap = self.at > 0 && matches!(bytes[self.at - 1], b'#' | b'*');
                    return Found::NotAscii(self.at - usize::from(keycap));
                }
                _ => self.at += 1,
            }
        }
        Found::End
    }

    fn enter_stretch(&mut self, start: usize) {
        let rest = &self.text[start..];
        let length = rest
            .bytes()
            .position(|b| b.is_ascii_whitespace())
            .unwrap_or(rest.len());
        self.at = start + length;
        self.stretch = Some(Stretch {
            start,
            bounds: rest[..length].split_word_bound_indices().peekable(),
        });
    }
}

impl Stretch<'_> {
    fn next_word(&mut self) -> Option<Range<usize>> {
        while let Some((at, segment)) = self.bounds.next() {
            let start = self.start + at;
            let mut end = start + segment.len();
            if segment.chars().all(is_complex) {
                while let Some((_, more)) = self
                    .bounds
                    .next_if(|(_, next)| next.chars().all(is_complex))
                {
                    end += more.len();
                }
                return Some(start..end);
            }
            if segment.chars().any(makes_word) || segment.chars().any(is_emoji) {
                return Some(start..end);
            }
        }
        None
    }
}

impl Iterator for StandardWords<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            if let Some(stretch) = &mut self.stretch {
                if let Some(word) = stretch.next_word() {
                    return Some(word);
                }
                self.stretch = None;
            }
            match self.next_ascii() {
                Found::Word(range) => return Some(range),
                Found::NotAscii(start) => self.enter_stretch(start),
                Found::End => return None,
            }
        }
    }
}
