//! The impacts of a segment's frequent words (Anh, de Kretser, Moffat: "Vector-space ranking with effective early
//! termination", 2001): of each document a word's share, rounded up to a byte; zero where the word is not. `dense` adds
//! those of several words without reading their lists, and a document that is looked up in a word's list is mostly
//! dropped by its impact instead.
//!
//! They are read for a field of a segment under the average length of that moment, beside the searches: those go on
//! without them until they are there. Under another average length they tell a little less; once it is too far off they
//! are read anew.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use tantivy::DocId;
use tantivy::postings::TermInfo;

use super::bm25::{BlockBounds, NormTable, ROUNDING, Weight};
use super::files::FieldFiles;
use super::list::{BLOCK, List};
use crate::cache_room::cache_bytes;

/// Words that are in one of so many documents are frequent.
pub(super) const RARITY: u32 = 32;
/// Of smaller segments the lists are read in less time.
pub(super) const DOCS_MIN: u32 = 4096;
/// Bytes of all impacts of a field of a segment: those of the 32 most frequent words of a million documents.
const BYTES_MAX: usize = 1 << 25;
/// Bytes of all impacts of the process. Where there is no room for a field's, its lists are read as before.
const ALL_BYTES_MAX: usize = 1 << 28;
/// Under an average length that makes more of a difference to the shares, impacts tell too little.
const CHANGE_MAX: f32 = 1.1;

/// The room that is left for impacts.
static ROOM: LazyLock<AtomicUsize> = LazyLock::new(|| AtomicUsize::new(cache_bytes(ALL_BYTES_MAX)));

/// A part of a room; it is given back.
#[derive(Debug)]
struct Part {
    room: &'static AtomicUsize,
    bytes: usize,
}

impl Part {
    fn take(room: &'static AtomicUsize, bytes: usize) -> Option<Self> {
        let order = Ordering::Relaxed;
        let rest = room.fetch_update(order, order, |left| left.checked_sub(bytes));
        rest.ok().map(|_| Part { room, bytes })
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.room.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

/// The impacts of some words of a segment.
#[derive(Debug)]
pub(super) struct FrequentWords {
    /// The average length that they were read under.
    average: f32,
    /// By where the words' postings begin.
    words: Vec<(usize, Shares)>,
    /// What they take of the room; `None` when there was none, and then there are no words.
    part: Option<Part>,
}

/// One byte for each document.
#[derive(Debug)]
struct Shares {
    all: Box<[u8]>,
    greatest: u8,
}

impl FrequentWords {
    /// Reads the lists of the most frequent words: some ns for each of their postings.
    pub(super) fn read(files: &FieldFiles, table: &NormTable) -> Self {
        let least = files.docs / RARITY;
        let mut words: Vec<(u32, u64)> = files
            .dictionary
            .frequencies(0..files.dictionary.len())
            .zip(0..)
            .filter(|(frequency, _)| *frequency >= least)
            .collect();
        words.sort_unstable_by(|a, b| b.cmp(a));
        words.truncate(BYTES_MAX / (files.docs as usize).max(1));
        let part = Part::take(&ROOM, words.len() * files.docs as usize);
        if part.is_none() {
            words.clear();
        }
        let bounds = BlockBounds::new(table, files.tokens, files.docs);
        let mut list = List::default();
        let infos = words
            .into_iter()
            .filter_map(|(_, number)| files.dictionary.numbered(number));
        let mut words: Vec<(usize, Shares)> = infos
            .filter_map(|info| {
                let is_open = list.open(files, &info, Weight::ONE, (table, bounds));
                is_open.then(|| {
                    (
                        info.postings_range.start,
                        Shares::read(&mut list, files.docs),
                    )
                })
            })
            .collect();
        words.sort_unstable_by_key(|(begin, _)| *begin);
        FrequentWords {
            average: table.average(),
            words,
            part,
        }
    }

    /// The memory that they take.
    pub(super) fn bytes(&self) -> usize {
        self.part.as_ref().map_or(0, |part| part.bytes)
    }

    /// Whether they tell enough under another average length.
    pub(super) fn fit(&self, table: &NormTable) -> bool {
        let (more, less) = table.change_from(self.average);
        more <= CHANGE_MAX && less <= CHANGE_MAX
    }

    /// The impacts of a word under an average length that they [fit](FrequentWords::fit); `None` where they are not there.
    pub(super) fn get(&self, info: &TermInfo, table: &NormTable) -> Option<Impacts<'_>> {
        let begin = info.postings_range.start;
        let at = self.words.binary_search_by_key(&begin, |(begin, _)| *begin);
        let (_, shares) = self.words.get(at.ok()?)?;
        let (more, less) = table.change_from(self.average);
        Some(Impacts { shares, more, less })
    }
}

impl Shares {
    /// Reads them off a list from its beginning on, whose scores are shares.
    fn read(list: &mut List<'_>, docs: u32) -> Self {
        let mut all = vec![0; docs as usize].into_boxed_slice();
        let mut factors = [0.0; BLOCK];
        let mut greatest = 0;
        loop {
            let found = list.score_until(tantivy::TERMINATED, &mut factors);
            for (doc, factor) in found.iter().zip(&factors) {
                let share = up(*factor);
                greatest = share.max(greatest);
                if let Some(place) = all.get_mut(*doc as usize) {
                    *place = share;
                }
            }
            if !list.next_block() {
                return Shares { all, greatest };
            }
        }
    }
}

/// A word's impacts under an average length.
#[derive(Clone, Copy)]
pub(super) struct Impacts<'a> {
    shares: &'a Shares,
    /// How many times as great, or as small, as it was a share may be.
    more: f32,
    less: f32,
}

impl<'a> Impacts<'a> {
    /// A byte for each document.
    pub(super) fn shares(&self) -> &'a [u8] {
        &self.shares.all
    }

    /// The same from a document on.
    pub(super) fn shares_from(&self, doc: DocId) -> &'a [u8] {
        self.shares.all.get(doc as usize..).unwrap_or_default()
    }

    /// Whether the word is in a document.
    #[inline]
    pub(super) fn has(&self, doc: DocId) -> bool {
        self.share(doc) > 0
    }

    /// The impact of a document; zero where the word is not.
    #[inline]
    pub(super) fn share(&self, doc: DocId) -> u8 {
        self.shares.all.get(doc as usize).copied().unwrap_or(0)
    }

    /// What the word's factor in a document does not exceed; zero where it is not.
    #[inline]
    pub(super) fn factor(&self, doc: DocId) -> f32 {
        factor(self.share(doc)) * self.more
    }

    /// What its factor in any document does not exceed.
    pub(super) fn greatest_factor(&self) -> f32 {
        factor(self.shares.greatest) * self.more
    }

    /// What a full impact stands for at most.
    pub(super) fn full(&self) -> f32 {
        ROUNDING * self.more
    }

    /// The least impact that a document has whose factor is more than this.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "what is too large or too small becomes the greatest or least number"
    )]
    pub(super) fn least_above(&self, factor: f64) -> u8 {
        ((factor * 255.0 / f64::from(self.full())) as u8).max(1)
    }

    /// By which part of [`Impacts::full`] what an impact stands for may be smaller, besides its rounding.
    pub(super) fn slack(&self) -> f32 {
        1.0 - 1.0 / (self.more * self.less)
    }
}

/// The impact of a document with this factor, which is between zero and one.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a factor is not greater than one"
)]
fn up(factor: f32) -> u8 {
    ((factor * 255.0).ceil() as u8).max(1)
}

fn factor(share: u8) -> f32 {
    f32::from(share) * (ROUNDING / 255.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_room_is_given_back() {
        static ROOM: AtomicUsize = AtomicUsize::new(10);
        let first = Part::take(&ROOM, 7).unwrap();
        assert!(Part::take(&ROOM, 4).is_none());
        let second = Part::take(&ROOM, 3).unwrap();
        assert!(Part::take(&ROOM, 1).is_none());
        drop(first);
        assert!(Part::take(&ROOM, 8).is_none());
        drop(second);
        assert!(Part::take(&ROOM, 10).is_some());
    }

    #[test]
    fn no_document_exceeds_its_impact() {
        for step in 1..=10_000u16 {
            let share = f32::from(step) / 10_000.0;
            assert!(share <= factor(up(share)), "{share}");
            assert!(factor(up(share) - 1) < share * ROUNDING, "{share}");
        }
    }
}
