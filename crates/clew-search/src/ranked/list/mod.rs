//! One word's documents in a segment, read block by block: 128 documents that lie bit-packed one after the
//! other, and an entry for each in a table before them with its last document, its size and its best document.
//! What remains after the last full block is written as variable-length numbers.

mod bounds;
mod lookup;
mod unpack;

use bitpacking::{BitPacker, BitPacker4x};
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, TERMINATED};

use super::bm25::{BlockBounds, NO_NORMS, NormTable, Weight, factor};
use super::files::{FieldFiles, Lengths};
use super::impacts::Impacts;
use super::layout::{Layout, WIDTH, number, variable};

pub(super) const BLOCK: usize = BitPacker4x::BLOCK_LEN;
/// Bytes of a block for each bit of its numbers.
pub(super) const BYTES_A_BIT: usize = BLOCK / 8;
const WIDTH_MASK: u8 = 0x1f;
/// Set when differences are stored less one, as they can never be zero.
const STRICT: u8 = 1 << 6;

/// How much of the current block is decompressed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Loaded {
    Nothing,
    Docs,
    Frequencies,
}

/// Documents from the current one on that are looked at before all of a block are.
const NEAR: usize = 8;

/// A reader of one list; it only goes forward.
pub(super) struct List<'a> {
    pub(super) weight: Weight,
    table: &'a NormTable,
    lengths: Lengths<'a>,
    bounds: BlockBounds,
    layout: Layout,
    entries: &'a [u8],
    data: &'a [u8],
    /// Documents of the list.
    pub(super) count: u32,
    /// Full blocks.
    blocks: usize,
    block: usize,
    /// The last document that the current block may hold, and the one before it begins.
    last: DocId,
    last_before: DocId,
    /// Where the block `summed` begins in `data`, and how many positions come before it.
    summed: usize,
    offset: usize,
    positions_before: u64,
    loaded: Loaded,
    docs: [DocId; BLOCK],
    frequencies: [u32; BLOCK],
    len: usize,
    at: usize,
    /// A place in the current block, and how many positions come before it there.
    counted: (usize, u32),
    /// The greatest factor in the current block, once it was asked for.
    block_best: Option<f32>,
    /// The greatest factor behind the last full block, when it is known without reading it.
    pub(super) tail_best: Option<f32>,
    /// What is known of the documents one by one.
    pub(super) impacts: Option<Impacts<'a>>,
}

impl Default for List<'_> {
    fn default() -> Self {
        List {
            weight: Weight::new(0.0, 1.0),
            table: &NO_NORMS,
            lengths: Lengths::One,
            bounds: BlockBounds::new(&NO_NORMS, 1, 1),
            layout: Layout::of(IndexRecordOption::Basic),
            entries: &[],
            data: &[],
            count: 0,
            blocks: 0,
            block: 0,
            last: TERMINATED,
            last_before: 0,
            summed: 0,
            offset: 0,
            positions_before: 0,
            loaded: Loaded::Nothing,
            docs: [TERMINATED; BLOCK],
            frequencies: [1; BLOCK],
            len: 0,
            at: 0,
            counted: (0, 0),
            block_best: None,
            tail_best: None,
            impacts: None,
        }
    }
}

impl<'a> List<'a> {
    /// Goes to the beginning of a list; what was read before is forgotten, its memory is used again. `false` when it is
    /// damaged; nothing may be read then.
    #[must_use]
    #[inline]
    pub(super) fn open(
        &mut self,
        files: &'a FieldFiles,
        info: &TermInfo,
        weight: Weight,
        (table, bounds): (&'a NormTable, BlockBounds),
    ) -> bool {
        let Some(bytes) = files.postings(info) else {
            return false;
        };
        let blocks = info.doc_freq as usize / BLOCK;
        (self.entries, self.data) = if blocks == 0 {
            (&bytes[..0], bytes)
        } else {
            let (size, used) = variable(bytes);
            bytes[used..].split_at(size as usize)
        };
        // A word of a field that keeps frequencies may itself be without.
        self.layout = if self.entries.len() < 8 * blocks {
            Layout::of(IndexRecordOption::Basic)
        } else {
            Layout::of(files.option)
        };
        self.weight = weight;
        self.table = table;
        self.bounds = bounds;
        self.lengths = files.lengths();
        self.count = info.doc_freq;
        self.blocks = blocks;
        self.tail_best = None;
        self.impacts = None;
        (self.summed, self.offset, self.positions_before) = (0, 0, 0);
        self.len = 0;
        self.go_to(0);
        true
    }

    fn last_of(&self, block: usize) -> DocId {
        if block < self.blocks {
            number(&self.entries[block * self.layout.size..])
        } else {
            TERMINATED
        }
    }

    /// The last document that the current block may hold.
    pub(super) fn last(&self) -> DocId {
        self.last
    }

    fn go_to(&mut self, block: usize) {
        self.last_before = if block == 0 {
            0
        } else {
            self.last_of(block - 1)
        };
        self.last = self.last_of(block);
        self.block = block;
        self.loaded = Loaded::Nothing;
        self.at = 0;
        self.counted = (0, 0);
        self.block_best = None;
    }

    /// Goes to the block that may hold a document, without decompressing it.
    #[inline]
    pub(super) fn shallow(&mut self, target: DocId) {
        if self.last < target {
            self.jump(target);
        }
    }

    /// Goes to the next block without decompressing it; `false` when this is the last one.
    pub(super) fn next_block(&mut self) -> bool {
        let is_last = self.last == TERMINATED;
        if !is_last {
            self.shallow(self.last + 1);
        }
        !is_last
    }

    /// The block is mostly near: steps double until it is passed, and are halved then.
    fn jump(&mut self, target: DocId) {
        let (mut low, mut step) = (self.block + 1, 1);
        while self.last_of(low + step - 1) < target {
            low += step;
            step *= 2;
        }
        let mut high = (low + step - 1).min(self.blocks);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.last_of(middle) < target {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.go_to(low);
    }

    /// The first document that may come next, as far as is known without decompressing.
    pub(super) fn next_at_least(&self) -> DocId {
        if self.loaded > Loaded::Nothing {
            return self.doc();
        }
        if self.block == 0 {
            return 0;
        }
        self.last_before + 1
    }

    /// The first document from `target` on that may come next, as far as is known without decompressing.
    pub(super) fn next_from(&mut self, target: DocId) -> DocId {
        self.shallow(target);
        if self.loaded > Loaded::Nothing {
            return self.seek(target);
        }
        self.next_at_least().max(target)
    }

    /// Whether no document is left; exact once the last block is decompressed.
    pub(super) fn is_over(&self) -> bool {
        self.block >= self.blocks
            && (self.tail_len() == 0 || (self.loaded > Loaded::Nothing && self.at >= self.len))
    }

    fn tail_len(&self) -> usize {
        self.count as usize % BLOCK
    }

    /// Finds where the current block begins.
    fn sum_up(&mut self) {
        let size = self.layout.size;
        let passed = &self.entries[self.summed * size..self.block.min(self.blocks) * size];
        let (mut bits, mut positions) = (0, 0);
        for entry in passed.chunks_exact(size) {
            bits += usize::from(entry[WIDTH] & WIDTH_MASK);
            bits += self
                .layout
                .frequencies
                .map_or(0, |at| usize::from(entry[at]));
            positions += self
                .layout
                .occurrences
                .map_or(0, |at| u64::from(number(&entry[at..])));
        }
        self.offset += bits * BYTES_A_BIT;
        self.positions_before += positions;
        self.summed = self.block;
    }

    #[inline]
    fn load(&mut self, wanted: Loaded) {
        if self.loaded < wanted {
            self.decompress(wanted);
        }
    }

    /// The current document; the block must be decompressed.
    pub(super) fn doc(&self) -> DocId {
        if self.at < self.len {
            self.docs[self.at]
        } else if self.block >= self.blocks {
            TERMINATED
        } else {
            self.last + 1
        }
    }

    /// Goes to the first document from `target` on.
    #[inline]
    pub(super) fn seek(&mut self, target: DocId) -> DocId {
        self.shallow(target);
        self.load(Loaded::Docs);
        if self.docs[self.at % BLOCK] < target {
            self.at = match self.docs[self.at % BLOCK..].first_chunk::<NEAR>() {
                // Words that come together come together again: often it is near.
                Some(near) if near[NEAR - 1] >= target => {
                    let before = near.iter().map(|doc| u32::from(*doc < target));
                    self.at + before.sum::<u32>() as usize
                }
                _ => place_of(&self.docs, target),
            };
        }
        self.docs[self.at % BLOCK]
    }

    /// The rest of the current block up to a document, and its frequencies; the place moves behind it.
    pub(super) fn take_until(&mut self, end: DocId) -> (&[DocId], &[u32]) {
        self.load(Loaded::Frequencies);
        let from = self.at;
        let found = self.place_until(end);
        self.at = found;
        (&self.docs[from..found], &self.frequencies[from..found])
    }

    /// The same with the scores, which are written to `scores`.
    pub(super) fn score_until(&mut self, end: DocId, scores: &mut [f32; BLOCK]) -> &[DocId] {
        let (table, lengths, weight) = (self.table, self.lengths, self.weight);
        let (docs, frequencies) = self.take_until(end);
        lengths.contributions(docs, table, scores);
        for (score, frequency) in scores.iter_mut().zip(frequencies) {
            *score = weight.times(factor(*frequency, *score));
        }
        docs
    }

    /// The frequency of the current document.
    pub(super) fn frequency(&mut self) -> u32 {
        self.load(Loaded::Frequencies);
        self.frequencies[self.at]
    }

    /// The documents from here on, block by block, for as long as `goes_on` says so.
    pub(super) fn walk(&mut self, goes_on: &mut dyn FnMut(&[DocId]) -> bool) {
        loop {
            self.load(Loaded::Docs);
            if !goes_on(&self.docs[self.at..self.len]) || self.block >= self.blocks {
                return;
            }
            self.go_to(self.block + 1);
        }
    }

    /// Marks the documents before `end`, the first bit being that of `from`, which no document from here on comes
    /// before; goes to the first that is left.
    pub(super) fn mark_until(&mut self, (from, end): (DocId, DocId), marks: &mut [u64]) {
        loop {
            self.load(Loaded::Docs);
            let after = self.place_until(end);
            for doc in &self.docs[self.at..after] {
                let place = (doc - from) as usize;
                marks[place / 64] |= 1 << (place % 64);
            }
            self.at = after;
            if self.at < self.len || self.block >= self.blocks {
                return;
            }
            self.go_to(self.block + 1);
            if self.last_before.saturating_add(1) >= end {
                return;
            }
        }
    }

    /// The score of the current document.
    pub(super) fn score(&mut self) -> f32 {
        let norm = self.table.of(self.lengths.id(self.docs[self.at]));
        let frequency = self.frequency();
        self.weight.times(factor(frequency, norm))
    }

    /// The rest of the current block, and for each document the score it would have by this list alone; the
    /// place moves to the block's end.
    pub(super) fn score_block(&mut self, scores: &mut [f32; BLOCK]) -> std::ops::Range<usize> {
        self.load(Loaded::Docs);
        let from = self.at;
        let found = self.score_until(TERMINATED, scores).len();
        from..from + found
    }

    /// The places from the current one on in its block, which must be decompressed.
    pub(super) fn places(&self) -> std::ops::Range<usize> {
        self.at..self.len
    }

    /// The place behind the current one and those before `end` in its block, which must be decompressed.
    fn place_until(&self, end: DocId) -> usize {
        let place = if self.last >= end {
            place_of(&self.docs, end)
        } else {
            self.len
        };
        place.clamp(self.at, self.len)
    }

    /// The documents from the current one on up to `end` in its block, and the place of the first of them; the block is
    /// decompressed.
    fn docs_until(&mut self, end: DocId) -> (u32, &[DocId]) {
        self.load(Loaded::Docs);
        (
            place_in_block(self.at),
            &self.docs[self.at..self.place_until(end)],
        )
    }

    /// The document at a place of the current block.
    pub(super) fn doc_at(&self, at: usize) -> DocId {
        self.docs[at]
    }

    /// Goes to a place of the current block, which must be decompressed.
    pub(super) fn place_at(&mut self, at: usize) {
        self.at = at;
    }

    /// How many positions come before those of the current document.
    pub(super) fn positions_before(&mut self) -> u64 {
        self.load(Loaded::Frequencies);
        let (place, count) = self.counted;
        // Places are mostly asked for in their order.
        let count = if place <= self.at {
            count + self.frequencies[place..self.at].iter().sum::<u32>()
        } else {
            self.frequencies[..self.at].iter().sum()
        };
        self.counted = (self.at, count);
        self.positions_before + u64::from(count)
    }
}

#[allow(clippy::cast_possible_truncation, reason = "blocks are small")]
fn place_in_block(place: usize) -> u32 {
    place as u32
}

/// The place of the first document from `target` on, of which there is one: a block ends with the document that
/// its table entry names, and what remains of the last one is filled with [`TERMINATED`]. Without branches, as
/// these could not be foreseen.
#[inline]
fn place_of(docs: &[DocId; BLOCK], target: DocId) -> usize {
    let mut place = 0;
    for step in [64, 32, 16, 8, 4, 2, 1] {
        place += step * usize::from(docs[(place + step - 1) % BLOCK] < target);
    }
    place
}

const _: () = assert!(BLOCK == 128, "the steps add up to a place in the block");
