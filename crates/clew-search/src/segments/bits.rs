//! A set of documents of one segment, in words of 64.

use tantivy::{DocId, SegmentReader};

/// Documents of one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentBits {
    words: Vec<u64>,
    count: u32,
}

impl SegmentBits {
    /// No document of a segment of `max_doc` documents.
    pub fn empty(max_doc: u32) -> Self {
        SegmentBits {
            words: vec![0; (max_doc as usize).div_ceil(64)],
            count: 0,
        }
    }

    /// The documents of a segment that are not deleted.
    pub fn alive(reader: &SegmentReader) -> Self {
        let Some(alive) = reader.alive_bitset() else {
            return SegmentBits::all(reader);
        };
        let mut bits = SegmentBits::empty(reader.max_doc());
        alive.iter_alive().for_each(|doc| bits.insert(doc));
        bits
    }

    /// All rows of a segment: documents, nested objects, and what was deleted and is not merged away yet.
    pub fn all(reader: &SegmentReader) -> Self {
        let mut bits = SegmentBits::empty(reader.max_doc());
        bits.words.fill(u64::MAX);
        let rest = reader.max_doc() % 64;
        if let (Some(last), true) = (bits.words.last_mut(), rest > 0) {
            *last = (1 << rest) - 1;
        }
        bits.count = reader.max_doc();
        bits
    }

    /// Adds a document.
    pub fn insert(&mut self, doc: DocId) {
        let word = &mut self.words[doc as usize / 64];
        let bit = 1 << (doc % 64);
        self.count += u32::from(*word & bit == 0);
        *word |= bit;
    }

    /// The first document of the set from one on.
    pub fn next_from(&self, doc: DocId) -> Option<DocId> {
        let mut at = doc as usize / 64;
        let mut word = self.words.get(at)? & (u64::MAX << (doc % 64));
        while word == 0 {
            at += 1;
            word = *self.words.get(at)?;
        }
        DocId::try_from(at * 64 + word.trailing_zeros() as usize).ok()
    }

    /// The last document of the set before one.
    pub fn last_before(&self, doc: DocId) -> Option<DocId> {
        let before = doc.checked_sub(1)?;
        let mut at = before as usize / 64;
        let mut word = self.words.get(at)? & (u64::MAX >> (63 - before % 64));
        while word == 0 {
            at = at.checked_sub(1)?;
            word = self.words[at];
        }
        DocId::try_from(at * 64 + 63 - word.leading_zeros() as usize).ok()
    }

    /// Whether the document belongs to the set.
    pub fn contains(&self, doc: DocId) -> bool {
        self.words
            .get(doc as usize / 64)
            .is_some_and(|word| word >> (doc % 64) & 1 == 1)
    }

    /// How many documents there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The words: document `d` is bit `d % 64` of word `d / 64`.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The documents, ascending.
    pub fn iter(&self) -> impl Iterator<Item = DocId> + '_ {
        (0u32..)
            .step_by(64)
            .zip(&self.words)
            .flat_map(|(base, word)| {
                let mut word = *word;
                std::iter::from_fn(move || {
                    (word != 0).then(|| {
                        let bit = word.trailing_zeros();
                        word &= word - 1;
                        base + bit
                    })
                })
            })
    }
}
