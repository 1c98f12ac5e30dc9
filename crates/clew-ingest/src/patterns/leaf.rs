//! The patterns that a line is compared with.

use super::{VARIES_HASH, WILD_HASH};

/// Patterns of as many words that begin with the same ones.
#[derive(Debug, Default)]
pub(super) struct Leaf {
    /// Their numbers, and how many of their words differ.
    patterns: Vec<(usize, u32)>,
    /// The hashes of their words, those of each behind those of the one before: comparing reads nothing else.
    words: Vec<u32>,
}

impl Leaf {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.patterns.len()
    }

    /// The number of the pattern at a place.
    pub(super) fn number(&self, at: usize) -> usize {
        self.patterns[at].0
    }

    /// The words of the pattern at a place.
    pub(super) fn words(&self, at: usize) -> &[u32] {
        let count = self.words.len() / self.patterns.len().max(1);
        &self.words[at * count..(at + 1) * count]
    }

    /// Adds a pattern of these words, as a line has them.
    pub(super) fn add(&mut self, number: usize, words: impl Iterator<Item = u32>) {
        let before = self.words.len();
        self.words.extend(words.map(|word| match word {
            VARIES_HASH => WILD_HASH,
            word => word,
        }));
        let wild = self.words[before..].iter().map(is_wild).sum();
        self.patterns.push((number, wild));
    }

    /// The place of the pattern that has most words in common with a line, if they are enough; among equals the one that has
    /// fewest words that are known.
    pub(super) fn nearest(&self, line: &[u32], enough: usize) -> Option<usize> {
        if line.is_empty() {
            return (!self.patterns.is_empty()).then_some(0);
        }
        let mut best: Option<((u32, u32), usize)> = None;
        let all = self.words.chunks_exact(line.len()).zip(&self.patterns);
        for (at, (words, (_, wild))) in all.enumerate() {
            let alike = words.iter().zip(line);
            let alike = alike.map(|(own, other)| u32::from(own == other)).sum();
            if best.is_none_or(|(most, _)| (alike, *wild) > most) {
                best = Some(((alike, *wild), at));
            }
        }
        let ((alike, _), at) = best?;
        (alike as usize >= enough).then_some(at)
    }

    /// Leaves out the words of the pattern at a place that differ in a line that belongs to it; returns whether there are some that
    /// did not before.
    pub(super) fn take(&mut self, at: usize, line: &[u32]) -> bool {
        let words = &mut self.words[at * line.len()..][..line.len()];
        for (own, other) in words.iter_mut().zip(line) {
            if own != other {
                *own = WILD_HASH;
            }
        }
        let wild = words.iter().map(is_wild).sum();
        let before = std::mem::replace(&mut self.patterns[at].1, wild);
        wild != before
    }
}

fn is_wild(word: &u32) -> u32 {
    u32::from(*word == WILD_HASH)
}
