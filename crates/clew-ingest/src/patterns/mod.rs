//! Lines grouped by the pattern that wrote them, as they pass: `user <*> logged in from <ip>`.
//!
//! The idea is Drain's (He, Zhu, Zheng, Lyu: "Drain: An Online Log Parsing Approach with Fixed Depth Tree", 2017): a line is
//! compared only with the patterns that have as many words and begin with the same ones, and belongs to the one with which it
//! has most words in common, if these are enough; words that differ are then no part of the pattern any more.
//!
//! Nothing is random: the same lines in the same order have the same patterns, with the same ids. Memory is bounded: where no
//! more patterns are kept, a line that belongs to none is its own, and is not remembered.

mod kept;
mod leaf;
mod mask;

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

use clew_platform::{FNV1A_64, fnv1a_64};
use foldhash::fast::FixedState;

pub use kept::KeptPattern;
use leaf::Leaf;

/// What stands for a word that differs.
const WILD: &str = "<*>";
/// What it is among the hashes of a pattern's words; no word has it.
const WILD_HASH: u32 = 0;
/// What it is among those of a line: it is like no word of a pattern.
const VARIES_HASH: u32 = 1;
/// Bytes and words of a line that are looked at.
const LINE_BYTES_MAX: usize = 4 << 10;
const WORDS_MAX: usize = 100;
/// Different words with which the patterns of one length may go on; further ones are alike.
const CHILDREN_MAX: u32 = 100;
/// Patterns that a line is compared with.
const LEAF_PATTERNS_MAX: usize = 200;

/// How lines are grouped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PatternOptions {
    /// The share of words that a line must have in common with a pattern.
    pub(crate) similarity: f64,
    /// First words without variable parts that all lines of a pattern have in common.
    pub(crate) first_words: usize,
    /// Patterns that are kept.
    pub(crate) patterns_max: usize,
}

/// The patterns so far.
#[derive(Debug)]
pub(crate) struct Patterns {
    options: PatternOptions,
    patterns: Vec<Pattern>,
    /// How often one came or changed.
    changes: u64,
    /// By the number of words and the first of them that are constant.
    leaves: HashMap<u64, Leaf, FixedState>,
    /// How many different words follow what a key stands for.
    children: HashMap<u64, u32, FixedState>,
    /// The present line, masked, its words apart by one blank.
    line: String,
    /// Where its words end.
    ends: Vec<usize>,
    /// Their hashes.
    words: Vec<u32>,
}

#[derive(Debug)]
struct Pattern {
    id: u64,
    /// The line that it began with.
    first: Box<str>,
    text: String,
}

/// What a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed<'a> {
    /// The same for all its lines.
    pub(crate) id: u64,
    /// The pattern as it is with this line.
    pub(crate) text: &'a str,
    /// Whether the line is the first of it, which is not known of a line that is not remembered.
    pub(crate) is_new: bool,
}

impl Patterns {
    pub(crate) fn new(options: PatternOptions) -> Self {
        Patterns {
            options,
            patterns: Vec::new(),
            changes: 0,
            leaves: HashMap::default(),
            children: HashMap::default(),
            line: String::new(),
            ends: Vec::new(),
            words: Vec::new(),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.patterns.len()
    }

    /// How often one came or changed: as long as it stays the same, so do they.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Finds the pattern of a line, or makes it one. Allocates only where a pattern is new or changes.
    pub(crate) fn place(&mut self, line: &str) -> Placed<'_> {
        self.cut(line);
        let (key, enough) = (self.leaf(), self.enough());
        let leaf = self.leaves.get_mut(&key);
        let neighbours = leaf.as_ref().map_or(0, |leaf| leaf.len());
        if let Some(leaf) = leaf
            && let Some(at) = leaf.nearest(&self.words, enough)
        {
            let pattern = &mut self.patterns[leaf.number(at)];
            if leaf.take(at, &self.words) {
                self.changes += 1;
                pattern.rewrite(&self.line, leaf.words(at));
            }
            return Placed {
                id: pattern.id,
                text: &pattern.text,
                is_new: false,
            };
        }
        let id = id(&self.line);
        let is_room = self.patterns.len() < self.options.patterns_max;
        let is_new = is_room && neighbours < LEAF_PATTERNS_MAX;
        if is_new {
            self.changes += 1;
            let leaf = self.leaves.entry(key).or_default();
            leaf.add(self.patterns.len(), self.words.iter().copied());
            self.patterns.push(Pattern {
                id,
                first: self.line.as_str().into(),
                text: self.line.clone(),
            });
        }
        Placed {
            id,
            text: &self.line,
            is_new,
        }
    }

    /// Masks a line and cuts it into words.
    fn cut(&mut self, line: &str) {
        self.line.clear();
        self.ends.clear();
        let end = line.floor_char_boundary(LINE_BYTES_MAX);
        mask::mask(&line[..end], &mut self.line, &mut self.ends);
        if let Some(last) = self.ends.get(WORDS_MAX - 2).copied()
            && self.ends.len() >= WORDS_MAX
        {
            // What is behind so many words differs.
            self.ends.truncate(WORDS_MAX - 1);
            self.line.truncate(last + 1);
            self.line.push_str(WILD);
            self.ends.push(self.line.len());
        }
        self.hash_words();
    }

    /// The hashes of the words of a line that is cut.
    fn hash_words(&mut self) {
        self.words.clear();
        let mut begin = 0;
        for end in &self.ends {
            self.words.push(word_hash(&self.line[begin..*end]));
            begin = end + 1;
        }
    }

    /// The key of the patterns that the present line is compared with.
    fn leaf(&mut self) -> u64 {
        let mut key = self.words.len() as u64;
        let mut begin = 0;
        let places = self.ends.iter().map(|end| {
            let place = begin..*end;
            begin = end + 1;
            place
        });
        let firsts = places.zip(&self.words);
        let firsts = firsts.filter(|(place, _)| !is_variable(&self.line[place.clone()]));
        for (_, word) in firsts.take(self.options.first_words) {
            let mut next = mixed(key, *word);
            if !self.children.contains_key(&next) {
                let count = self.children.entry(key).or_default();
                if *count < CHILDREN_MAX {
                    *count += 1;
                    self.children.insert(next, 0);
                } else {
                    next = mixed(key, WILD_HASH);
                }
            }
            key = next;
        }
        key
    }

    /// How many words the present line must have in common with its pattern. One word of three or more may always differ.
    fn enough(&self) -> usize {
        let words = self.words.len();
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "a share of a hundred words at most"
        )]
        let share = (self.options.similarity * words as f64).ceil() as usize;
        match words {
            0..3 => share,
            _ => share.min(words - 1),
        }
    }
}

impl Pattern {
    /// Its text anew, by a line that belongs to it and the hashes of the words that it still has.
    fn rewrite(&mut self, line: &str, words: &[u32]) {
        self.text.clear();
        for (number, (word, hash)) in line.split(' ').zip(words).enumerate() {
            if number > 0 {
                self.text.push(' ');
            }
            self.text
                .push_str(if *hash == WILD_HASH { WILD } else { word });
        }
    }
}

/// Whether a word differs from line to line, or is likely to.
fn is_variable(word: &str) -> bool {
    word.bytes()
        .any(|byte| byte.is_ascii_digit() || byte == b'<')
}

/// The name of a pattern, by its first line: FNV-1a, so that other builds give the same.
fn id(line: &str) -> u64 {
    fnv1a_64(FNV1A_64, line.as_bytes())
}

/// The hash of a word of a line. Thirty-two bits are compared four at a time by every processor, and one in billions of words is
/// taken for another.
fn word_hash(word: &str) -> u32 {
    if word == WILD {
        return VARIES_HASH;
    }
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(word.as_bytes());
    #[allow(
        clippy::cast_possible_truncation,
        reason = "half of a hash is one, too"
    )]
    let hash = hasher.finish() as u32;
    hash.max(VARIES_HASH + 1)
}

fn mixed(key: u64, word: u32) -> u64 {
    FixedState::default().hash_one((key, word))
}

#[cfg(test)]
mod tests;
