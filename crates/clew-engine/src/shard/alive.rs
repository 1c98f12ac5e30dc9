//! Which documents of a segment live, as plain words: the form that tantivy, the vector search and
//! filters all take.

use tantivy::DocId;
use tantivy::directory::OwnedBytes;
use tantivy::fastfield::AliveBitSet;

/// One bit for each document of a segment, set while it lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AliveBits {
    words: Vec<u64>,
    doc_count: u32,
    alive_count: u32,
}

impl AliveBits {
    /// All documents living.
    pub(crate) fn full(doc_count: u32) -> Self {
        let mut words = vec![u64::MAX; (doc_count as usize).div_ceil(64)];
        if let (Some(last), rest @ 1..) = (words.last_mut(), doc_count % 64) {
            *last = (1 << rest) - 1;
        }
        AliveBits {
            words,
            doc_count,
            alive_count: doc_count,
        }
    }

    /// Bits as [`AliveBits::words`] gave them; `None` when they do not fit the count.
    pub(crate) fn from_words(words: Vec<u64>, doc_count: u32) -> Option<Self> {
        if words.len() != (doc_count as usize).div_ceil(64) {
            return None;
        }
        let mut bits = AliveBits::full(doc_count);
        let mut pairs = words.iter().zip(&bits.words);
        let fits = pairs.all(|(word, mask)| word & !mask == 0);
        let alive: u32 = words.iter().map(|word| word.count_ones()).sum();
        bits.words = words;
        bits.alive_count = alive;
        fits.then_some(bits)
    }

    pub(crate) fn is_alive(&self, doc: DocId) -> bool {
        self.words[doc as usize / 64] >> (doc % 64) & 1 == 1
    }

    /// Marks a document dead; whether it was living.
    pub(crate) fn kill(&mut self, doc: DocId) -> bool {
        let word = &mut self.words[doc as usize / 64];
        let bit = 1 << (doc % 64);
        let was_alive = *word & bit != 0;
        *word &= !bit;
        self.alive_count -= u32::from(was_alive);
        was_alive
    }

    /// Marks dead what is not in a set of the same size, given as words.
    pub(crate) fn keep(&mut self, words: &[u64]) {
        assert_eq!(words.len(), self.words.len(), "sets of one segment");
        self.alive_count = 0;
        for (mine, theirs) in self.words.iter_mut().zip(words) {
            *mine &= theirs;
            self.alive_count += mine.count_ones();
        }
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }
    pub(crate) fn doc_count(&self) -> u32 {
        self.doc_count
    }
    pub(crate) fn alive_count(&self) -> u32 {
        self.alive_count
    }

    /// The same bits in tantivy's own form: the size, then the words.
    pub(crate) fn to_tantivy(&self) -> AliveBitSet {
        let mut bytes = Vec::with_capacity(4 + self.words.len() * 8);
        bytes.extend_from_slice(&self.doc_count.to_le_bytes());
        for word in &self.words {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        AliveBitSet::open(OwnedBytes::new(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_tantivy_agree_on_every_document() {
        for doc_count in [1u32, 63, 64, 65, 200] {
            let mut bits = AliveBits::full(doc_count);
            for doc in (0..doc_count).step_by(3) {
                assert!(bits.kill(doc));
                assert!(!bits.kill(doc));
            }
            let tantivy = bits.to_tantivy();
            for doc in 0..doc_count {
                assert_eq!(bits.is_alive(doc), doc % 3 != 0);
                assert_eq!(tantivy.is_alive(doc), bits.is_alive(doc));
            }
            assert_eq!(tantivy.num_alive_docs(), bits.alive_count() as usize);
            let again = AliveBits::from_words(bits.words().to_vec(), doc_count);
            assert_eq!(again.as_ref(), Some(&bits));
        }
    }

    #[test]
    fn words_beyond_the_count_are_refused() {
        assert!(AliveBits::from_words(vec![1 << 5], 5).is_none());
        assert!(AliveBits::from_words(vec![1, 0], 5).is_none());
    }
}
