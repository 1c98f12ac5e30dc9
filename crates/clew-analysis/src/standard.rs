//! The `standard` analyzer: words of Unicode's annex 29 that hold a letter, a digit or a picture,
//! in lower case.
//!
//! Most text is ASCII, where a word goes on to the next byte that is no letter, digit or underscore, which a kernel
//! marks for 64 bytes at once; only at a sign that may join two parts of a word the rules need to look at its two
//! neighbours. A stretch between spaces that holds anything else goes to the full rules; spaces always end words, so
//! nothing is lost by deciding stretch by stretch.

use std::ops::Range;

use clew_kernels::{WORD_BLOCK, WordMarks, kernels};
use tantivy::tokenizer::{Token, Tokenizer};
use unicode_segmentation::{UWordBoundIndices, UnicodeSegmentation};

use super::scripts::{is_complex, is_emoji, makes_word};
use super::stream::{Case, WordStream, piece_length, push_lower};

/// Bytes behind the last one of the text in lower case.
const PADDING: usize = 16;

/// The `standard` analyzer, and its tokenizer, which leaves the case as it is.
#[derive(Clone, Default)]
pub(super) struct StandardTokenizer {
    token: Token,
    marks: Vec<WordMarks>,
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
        let words = StandardWords::new(text, &mut self.marks);
        let case = if self.keeps_case {
            Case::Kept
        } else {
            Case::Lower
        };
        WordStream::new(text, words, case, &mut self.token)
    }
}

/// The `standard` analyzer for those who want nothing but the terms: they are where they stand in the text, which is
/// brought into lower case as a whole.
#[derive(Default)]
pub struct StandardTerms {
    marks: Vec<WordMarks>,
    /// The text with its ASCII letters in lower case, and zeros behind it.
    lower: Vec<u8>,
    /// A term that is not ASCII, and zeros behind it.
    other: String,
}

impl StandardTerms {
    /// Memory that it holds: some five quarters of the longest text.
    pub fn mem_usage(&self) -> usize {
        let marks = self.marks.capacity() * size_of::<WordMarks>();
        marks + self.lower.capacity() + self.other.capacity()
    }

    /// Calls `sink` with each term in turn: the bytes from its first one on, of which there are more than its own, and
    /// how many are its own.
    ///
    /// # Errors
    /// Those of `sink`, which then is not called again.
    pub fn each<E>(
        &mut self,
        text: &str,
        mut sink: impl FnMut(&[u8], usize) -> Result<(), E>,
    ) -> Result<(), E> {
        self.lower.clear();
        self.lower.extend_from_slice(text.as_bytes());
        self.lower.make_ascii_lowercase();
        self.lower.extend_from_slice(&[0; PADDING]);
        let is_ascii = text.is_ascii();
        for mut word in StandardWords::new(text, &mut self.marks) {
            while !word.is_empty() {
                let piece = &text[word.clone()];
                let piece = &piece[..piece_length(piece)];
                let start = word.start;
                word.start += piece.len();
                if is_ascii || piece.is_ascii() {
                    sink(&self.lower[start..], piece.len())?;
                } else {
                    self.other.clear();
                    push_lower(&mut self.other, piece);
                    let length = self.other.len();
                    self.other.extend(['\0'; PADDING]);
                    sink(self.other.as_bytes(), length)?;
                }
            }
        }
        Ok(())
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
    marks: &'a [WordMarks],
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
    /// The words of a text, whose marks take the place of those given.
    fn new(text: &'a str, marks: &'a mut Vec<WordMarks>) -> Self {
        kernels().mark_words(text.as_bytes(), marks);
        StandardWords {
            text,
            marks,
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

    /// The first byte from there on that one of the marks has, which `mark` makes of those of a block.
    fn next_marked(&self, from: usize, mark: impl Fn(&WordMarks) -> u64) -> Option<usize> {
        let first = from / WORD_BLOCK;
        let mut behind = !0 << (from % WORD_BLOCK);
        for (block, marks) in (first..).zip(self.marks.get(first..)?) {
            let marked = mark(marks) & std::mem::replace(&mut behind, !0);
            if marked != 0 {
                return Some(block * WORD_BLOCK + marked.trailing_zeros() as usize);
            }
        }
        None
    }

    /// The first byte from there on that is no letter, digit or underscore, or the end.
    fn next_outside(&self, from: usize) -> usize {
        let found = self.next_marked(from, |marks| !marks.inside);
        found.unwrap_or(self.text.len())
    }

    /// The next word, as long as all is ASCII.
    fn next_ascii(&mut self) -> Found {
        loop {
            let start = match self.skip_to_word() {
                Found::Word(range) => range.start,
                other => return other,
            };
            let mut end = self.next_outside(start);
            loop {
                let class = self.class(end);
                if class == Class::Other {
                    break;
                }
                let (last, next) = (self.class(end - 1), self.class(end + 1));
                if class == Class::NotAscii || next == Class::NotAscii {
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
                end = self.next_outside(end + 1);
            }
            self.at = end;
            let word = &self.text.as_bytes()[start..end];
            if word.iter().any(|byte| *byte != b'_') {
                return Found::Word(start..end);
            }
        }
    }

    /// Goes to the byte where a word may start.
    fn skip_to_word(&mut self) -> Found {
        let bytes = self.text.as_bytes();
        while let Some(at) = self.next_marked(self.at, |marks| marks.inside | marks.special) {
            match CLASSES[usize::from(bytes[at])] {
                Class::Letter | Class::Digit | Class::Underscore => return Found::Word(at..at),
                Class::NotAscii => {
                    // A keycap picture starts with one of two signs that are no word otherwise.
                    let keycap = at > 0 && matches!(bytes[at - 1], b'#' | b'*');
                    return Found::NotAscii(at - usize::from(keycap));
                }
                _ => self.at = at + 1,
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
