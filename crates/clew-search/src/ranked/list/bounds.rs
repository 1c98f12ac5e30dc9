//! How much the documents of a list, a block or a stretch can score at most.

use tantivy::DocId;

use super::{List, Loaded};
use crate::ranked::bm25::factor;
use crate::ranked::files::Lengths;
use crate::ranked::layout::number;

impl List<'_> {
    /// The greatest factor that a table entry allows.
    #[inline]
    fn best_of(&self, entry: &[u8]) -> f32 {
        match self.layout.best {
            Some(at) => {
                let frequency = match entry[at + 1] {
                    u8::MAX => u32::MAX,
                    few => u32::from(few),
                };
                self.bounds.factor(self.table, frequency, entry[at])
            }
            None => match self.lengths {
                Lengths::One => factor(1, self.table.of(self.lengths.id(0))),
                Lengths::Stored(_) => 1.0,
            },
        }
    }

    fn entry(&self, block: usize) -> &[u8] {
        &self.entries[block * self.layout.size..][..self.layout.size]
    }

    /// The greatest score that a document may have, none when it is known not to be in the list; it is not before the
    /// current block.
    #[inline]
    pub(in crate::ranked) fn bound_of(&mut self, doc: DocId) -> f32 {
        if let Some(impacts) = self.impacts {
            return self.weight.times(impacts.factor(doc));
        }
        self.shallow(doc);
        self.block_bound()
    }

    /// The greatest score of all documents, when it is known by their impacts.
    pub(in crate::ranked) fn best_of_impacts(&self) -> Option<f32> {
        let impacts = self.impacts?;
        Some(self.weight.times(impacts.greatest_factor()))
    }

    /// The greatest score in the current block.
    #[inline]
    pub(in crate::ranked) fn block_bound(&mut self) -> f32 {
        self.weight.times(self.block_factor())
    }

    /// The greatest factor in the current block.
    #[inline]
    pub(in crate::ranked) fn block_factor(&mut self) -> f32 {
        if let Some(best) = self.block_best {
            return best;
        }
        let best = if self.block < self.blocks {
            self.best_of(self.entry(self.block))
        } else {
            self.tail_factor()
        };
        self.block_best = Some(best);
        best
    }

    fn tail_factor(&mut self) -> f32 {
        if let Some(known) = self.tail_best {
            return known;
        }
        self.load(Loaded::Frequencies);
        let docs = self.docs[..self.len].iter().zip(&self.frequencies);
        docs.map(|(doc, frequency)| factor(*frequency, self.table.of(self.lengths.id(*doc))))
            .fold(0.0, f32::max)
    }

    /// The greatest factor from the current block to the one that may hold `end`.
    pub(in crate::ranked) fn factor_until(&mut self, end: DocId) -> f32 {
        let mut best = self.block_factor();
        if self.last >= end {
            return best;
        }
        let size = self.layout.size;
        for entry in self.entries[(self.block + 1) * size..].chunks_exact(size) {
            best = best.max(self.best_of(entry));
            if number(entry) >= end {
                return best;
            }
        }
        // The last block is not there yet, and it may never be needed.
        match self.tail_best {
            Some(tail) => best.max(tail),
            None if self.tail_len() == 0 => best,
            None => 1.0,
        }
    }

    /// Tells of every full block a factor that none of its documents exceeds; the last is that of the documents behind
    /// the full blocks.
    pub(in crate::ranked) fn factors(&mut self, told: &mut dyn FnMut(f32)) {
        for entry in self
            .entries
            .chunks_exact(self.layout.size)
            .take(self.blocks)
        {
            told(self.best_of(entry));
        }
        if self.tail_len() > 0 {
            self.go_to(self.blocks);
            told(self.tail_factor());
        }
    }
}
