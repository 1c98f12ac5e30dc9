//! Which documents of the current block are in another list or have an impact that counts, and the scores of those.
//!
//! Ways through several lists choose documents first, by their numbers and impacts alone: frequencies are decompressed
//! only in blocks where some were chosen.

use tantivy::DocId;

use super::{BLOCK, List, Loaded, place_in_block, place_of};
use crate::ranked::bm25::factor;
use crate::ranked::impacts::Impacts;

/// So few documents are looked up in a block one by one.
const FEW: usize = 8;

impl<'a> List<'a> {
    /// Writes the places of documents before `end` that two lists have in their current blocks, from where they stand on,
    /// and returns how many they are; both blocks are decompressed.
    pub(in crate::ranked) fn find_common(
        &mut self,
        other: &mut List<'_>,
        end: DocId,
        [places, others]: &mut [[u32; BLOCK]; 2],
    ) -> usize {
        let ((first, docs), (first_other, other_docs)) =
            (self.docs_until(end), other.docs_until(end));
        if docs.len() > FEW {
            let count = clew_kernels::kernels().intersect(docs, other_docs, [places, others]);
            places[..count].iter_mut().for_each(|place| *place += first);
            others[..count]
                .iter_mut()
                .for_each(|place| *place += first_other);
            return count;
        }
        let mut count = 0;
        for (doc, place) in docs.iter().zip(first..) {
            let there = place_of(&other.docs, *doc) % BLOCK;
            (places[count], others[count]) = (place, place_in_block(there));
            count += usize::from(other.docs[there] == *doc);
        }
        count
    }

    /// Writes the places of documents before `end` that have at least this impact.
    pub(in crate::ranked) fn find_impacts(
        &mut self,
        impacts: Impacts<'_>,
        least: u8,
        end: DocId,
        places: &mut [u32; BLOCK],
    ) -> usize {
        let (first, docs) = self.docs_until(end);
        let mut count = 0;
        for (doc, place) in docs.iter().zip(first..) {
            places[count] = place;
            count += usize::from(impacts.share(*doc) >= least);
        }
        count
    }

    /// The impacts, if there are any, and the least one of a document that may score more than this.
    pub(in crate::ranked) fn impacts_from(&self, score: f64) -> Option<(Impacts<'a>, u8)> {
        let impacts = self.impacts?;
        Some((
            impacts,
            impacts.least_above(score / f64::from(self.weight.times(1.0))),
        ))
    }

    /// The scores of some documents of the current block that are at these places.
    pub(in crate::ranked) fn score_at(
        &mut self,
        places: &[u32],
        docs: &[DocId],
        scores: &mut [f32; BLOCK],
    ) {
        if places.is_empty() {
            return;
        }
        self.load(Loaded::Frequencies);
        self.lengths.contributions(docs, self.table, scores);
        for (score, place) in scores.iter_mut().zip(places) {
            let frequency = self.frequencies[*place as usize % BLOCK];
            *score = self.weight.times(factor(frequency, *score));
        }
    }
}
