//! Automata over term dictionaries: wildcard patterns and edit distances.
//!
//! The dictionary feeds bytes; both automata work on characters, so a state carries the bytes of
//! the character that is not complete yet.

use clew_query::QueryError;
use tantivy_fst::Automaton;

/// Longest pattern, in tokens.
const PATTERN_TOKENS_MAX: usize = 255;
const SET_WORDS: usize = 4;
const _: () = assert!(PATTERN_TOKENS_MAX < SET_WORDS * 64);

/// Bytes of a character that has begun.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Partial {
    code: u32,
    missing: u8,
}

impl Partial {
    pub(super) fn is_complete(self) -> bool {
        self.missing == 0
    }

    /// Takes a byte; the character when it is complete.
    pub(super) fn push(&mut self, byte: u8) -> Option<char> {
        if self.missing > 0 && byte & 0xC0 == 0x80 {
            self.code = self.code << 6 | u32::from(byte & 0x3F);
            self.missing -= 1;
        } else {
            (self.code, self.missing) = match byte {
                0xC0..=0xDF => (u32::from(byte & 0x1F), 1),
                0xE0..=0xEF => (u32::from(byte & 0x0F), 2),
                0xF0..=0xFF => (u32::from(byte & 0x07), 3),
                _ => (u32::from(byte), 0),
            };
        }
        if self.missing > 0 {
            return None;
        }
        Some(char::from_u32(self.code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}

/// Whether two characters are the same when case does not count.
fn same_letter(a: char, b: char) -> bool {
    a == b || a.to_lowercase().eq(b.to_lowercase())
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token {
    Literal(char),
    One,
    Many,
}

/// Terms that match a pattern as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Wildcard {
    tokens: Vec<Token>,
    ignore_case: bool,
}

/// The pattern's places that may come next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WildcardState {
    places: [u64; SET_WORDS],
    partial: Partial,
}

impl WildcardState {
    fn has(&self, place: usize) -> bool {
        self.places[place / 64] >> (place % 64) & 1 == 1
    }
    fn is_empty(&self) -> bool {
        self.places == [0; SET_WORDS]
    }
}

impl Wildcard {
    /// `*` stands for any characters, `?` for one, a backslash takes the next one as it is.
    pub(crate) fn parse(pattern: &str, ignore_case: bool) -> Result<Self, QueryError> {
        let mut tokens = Vec::new();
        let mut characters = pattern.chars();
        while let Some(character) = characters.next() {
            let token = match character {
                '*' => Token::Many,
                '?' => Token::One,
                '\\' => Token::Literal(characters.next().unwrap_or('\\')),
                other => Token::Literal(other),
            };
            if token != Token::Many || tokens.last() != Some(&Token::Many) {
                tokens.push(token);
            }
        }
        Self::of(tokens, ignore_case)
    }

    /// Terms that are a text in any case.
    pub(crate) fn in_any_case(text: &str) -> Result<Self, QueryError> {
        Self::of(text.chars().map(Token::Literal).collect(), true)
    }

    /// Terms that begin with a text.
    pub(crate) fn prefix(text: &str, ignore_case: bool) -> Result<Self, QueryError> {
        let letters = text.chars().map(Token::Literal);
        Self::of(letters.chain([Token::Many]).collect(), ignore_case)
    }

    fn of(tokens: Vec<Token>, ignore_case: bool) -> Result<Self, QueryError> {
        if tokens.len() > PATTERN_TOKENS_MAX {
            return Err(QueryError::create(format!(
                "a pattern may have at most {PATTERN_TOKENS_MAX} characters"
            )));
        }
        Ok(Wildcard {
            tokens,
            ignore_case,
        })
    }

    /// Whether the whole text matches.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let mut state = self.start();
        for byte in text.bytes() {
            state = self.accept(&state, byte);
        }
        self.is_match(&state)
    }

    /// Adds a place, and the one behind it when the place may stand for nothing.
    fn enter(&self, state: &mut WildcardState, mut place: usize) {
        loop {
            state.places[place / 64] |= 1 << (place % 64);
            if self.tokens.get(place) != Some(&Token::Many) {
                return;
            }
            place += 1;
        }
    }
}

impl Automaton for Wildcard {
    type State = WildcardState;

    fn start(&self) -> WildcardState {
        let mut state = WildcardState {
            places: [0; SET_WORDS],
            partial: Partial::default(),
        };
        self.enter(&mut state, 0);
        state
    }

    fn is_match(&self, state: &WildcardState) -> bool {
        state.partial.missing == 0 && state.has(self.tokens.len())
    }

    fn can_match(&self, state: &WildcardState) -> bool {
        !state.is_empty()
    }

    fn accept(&self, state: &WildcardState, byte: u8) -> WildcardState {
        let mut next = *state;
        let Some(character) = next.partial.push(byte) else {
            return next;
        };
        next.places = [0; SET_WORDS];
        for (place, token) in self.tokens.iter().enumerate() {
            if !state.has(place) {
                continue;
            }
            match token {
                Token::Many => self.enter(&mut next, place),
                Token::One => self.enter(&mut next, place + 1),
                Token::Literal(literal) => {
                    let same = if self.ignore_case {
                        same_letter(*literal, character)
                    } else {
                        *literal == character
                    };
                    if same {
                        self.enter(&mut next, place + 1);
                    }
                }
            }
        }
        next
    }
}

/// Terms within an edit distance of a word.
#[derive(Clone, Debug)]
pub(crate) struct Nearby {
    word: Vec<char>,
    edits: u8,
    prefix_length: usize,
    transpositions: bool,
}

/// Rows of the edit-distance table: the last one and the one before.
#[derive(Clone, Debug)]
pub(crate) struct NearbyState {
    row: Vec<u8>,
    before: Vec<u8>,
    last: Option<char>,
    depth: usize,
    partial: Partial,
}

impl Nearby {
    pub(crate) fn new(word: &str, fuzziness: &clew_query::Fuzziness) -> Self {
        let word: Vec<char> = word.chars().collect();
        Nearby {
            edits: fuzziness.edits(word.len()),
            prefix_length: fuzziness.prefix_length.min(word.len()),
            word,
            transpositions: fuzziness.transpositions,
        }
    }

    /// The distance of a term, when it is near enough.
    pub(crate) fn distance(&self, term: &str) -> Option<u8> {
        let mut state = self.start();
        for byte in term.bytes() {
            state = self.accept(&state, byte);
        }
        self.is_match(&state)
            .then(|| state.row.last().copied().unwrap_or(0))
    }

    fn dead(&self) -> NearbyState {
        NearbyState {
            row: Vec::new(),
            before: Vec::new(),
            last: None,
            depth: 0,
            partial: Partial::default(),
        }
    }
}

impl Automaton for Nearby {
    type State = NearbyState;

    fn start(&self) -> NearbyState {
        NearbyState {
            row: (0..=self.word.len())
                .map(|n| u8::try_from(n).unwrap_or(u8::MAX))
                .collect(),
            before: Vec::new(),
            last: None,
            depth: 0,
            partial: Partial::default(),
        }
    }

    fn is_match(&self, state: &NearbyState) -> bool {
        state.partial.missing == 0
            && state.depth >= self.prefix_length
            && state.row.last().is_some_and(|last| *last <= self.edits)
    }

    fn can_match(&self, state: &NearbyState) -> bool {
        state.row.iter().any(|distance| *distance <= self.edits)
    }

    fn accept(&self, state: &NearbyState, byte: u8) -> NearbyState {
        let mut partial = state.partial;
        let Some(character) = partial.push(byte) else {
            return NearbyState {
                partial,
                ..state.clone()
            };
        };
        let fixed = state.depth < self.prefix_length;
        if fixed && self.word.get(state.depth) != Some(&character) {
            return self.dead();
        }
        if state.row.is_empty() {
            return self.dead();
        }
        let mut row = Vec::with_capacity(state.row.len());
        row.push(state.row[0].saturating_add(1));
        for (at, wanted) in self.word.iter().enumerate() {
            let change = u8::from(*wanted != character);
            let mut best = state.row[at]
                .saturating_add(change)
                .min(state.row[at + 1].saturating_add(1))
                .min(row[at].saturating_add(1));
            let swapped = self.transpositions
                && at > 0
                && state.last == Some(*wanted)
                && self.word[at - 1] == character;
            if swapped && let Some(before) = state.before.get(at - 1) {
                best = best.min(before.saturating_add(1));
            }
            row.push(best);
        }
        NearbyState {
            row,
            before: state.row.clone(),
            last: Some(character),
            depth: state.depth + 1,
            partial,
        }
    }
}
