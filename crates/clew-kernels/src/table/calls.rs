//! What is asked of a table besides distances and codes: centroids, blocks of fast codes, impacts, numbers in order, words.

use crate::Kernels;
use crate::centroids::{CENTROIDS, ProductSpans};
use crate::fast_scan::{FastQuery, FastScores};
use crate::impacts::WordImpacts;
use crate::words::{WORD_BLOCK, WordMarks};

impl Kernels {
    /// Writes for each part of a vector, of `part` numbers but for the last, which of its sixteen centroids is nearest by
    /// squared distance; of centroids within a millionth of the least, any. `book` has the entry of each centroid for each
    /// number. Panics when the lengths do not fit together.
    #[inline]
    pub fn nearest_centroids(
        &self,
        vector: &[f32],
        (book, part): (&[[f32; CENTROIDS]], usize),
        codes: &mut [u8],
    ) {
        (self.centroids.nearest)(vector, book, part, codes);
    }

    /// Writes the products of each part of a query with its centroids, less the least of them. Panics when the lengths do
    /// not fit together.
    #[inline]
    pub fn centroid_products(
        &self,
        query: &[f32],
        (book, part): (&[[f32; CENTROIDS]], usize),
        tables: &mut [[f32; CENTROIDS]],
    ) -> ProductSpans {
        (self.centroids.products)(query, book, part, tables)
    }

    /// Rounds tables to steps of one size, given by its inverse, as bytes; what does not fit is 255. Panics when there is
    /// too little room.
    #[inline]
    pub fn table_steps(&self, tables: &[[f32; CENTROIDS]], inverse_step: f32, entries: &mut [u8]) {
        (self.centroids.steps)(tables, inverse_step, entries);
    }

    /// Scores all rows of `blocks`: `base + add + scale * (step * sum - offset)`, where the sum is that
    /// of the table entries of a row's codes.
    ///
    /// Sums are the same in every instruction set, scores within rounding. Panics when the lengths do
    /// not fit together.
    #[inline]
    pub fn fast_scan(&self, query: &FastQuery<'_>, blocks: &[u8], out: FastScores<'_>) {
        (self.codes.fast_scan)(query, blocks, out);
    }

    /// [`Kernels::fast_scan`] by two queries at once, each with the same answer to the bit: where registers are enough,
    /// a block is read and taken apart once for both.
    #[inline]
    pub fn fast_scan_pair(
        &self,
        queries: [&FastQuery<'_>; 2],
        blocks: &[u8],
        outs: [FastScores<'_>; 2],
    ) {
        (self.codes.fast_scan_pair)(queries, blocks, outs);
    }

    /// Writes the sum of `impacts[i] * factor / 256`, rounded down, of all words to `sums[i]`, modulo 2^16, and the
    /// greatest sum of each [`IMPACTS_CHUNK`](crate::IMPACTS_CHUNK) documents to `greatest`. Where `needs_all`, the sum of a document that a
    /// word is not in is zero. What a word has no impacts for is taken for zero.
    ///
    /// All instruction sets answer the same.
    #[inline]
    pub fn sum_impacts(
        &self,
        words: &[WordImpacts<'_>],
        needs_all: bool,
        sums: &mut [u16],
        greatest: &mut [u16],
    ) {
        (self.impacts.sum)(words, needs_all, sums, greatest);
    }

    /// Sets bit `i % 64` of `marks[i / 64]` where `impacts[i]` is not zero, for as long as both go on.
    ///
    /// All instruction sets answer the same.
    #[inline]
    pub fn mark_impacts(&self, impacts: &[u8], marks: &mut [u64]) {
        let count = impacts.len().div_ceil(64).min(marks.len());
        (self.impacts.mark)(
            &impacts[..impacts.len().min(count * 64)],
            &mut marks[..count],
        );
    }

    /// Finds the numbers that two strictly ascending lists have in common: writes their places in `a` and in `b` and
    /// returns how many they are. Each number of both is read, so it is for lists of similar lengths.
    ///
    /// All instruction sets answer the same.
    ///
    /// # Panics
    /// When there is not room for so many places as the shorter list has numbers.
    #[inline]
    pub fn intersect(&self, a: &[u32], b: &[u32], places: [&mut [u32]; 2]) -> usize {
        let most = a.len().min(b.len());
        (self.sorted.intersect)(a, b, places.map(|places| &mut places[..most]))
    }

    /// Replaces `marks` by those of a text, one for each block that it has begun.
    ///
    /// All instruction sets answer the same.
    #[inline]
    pub fn mark_words(&self, text: &[u8], marks: &mut Vec<WordMarks>) {
        marks.resize(text.len().div_ceil(WORD_BLOCK), WordMarks::default());
        (self.words.mark)(text, marks);
    }
}
