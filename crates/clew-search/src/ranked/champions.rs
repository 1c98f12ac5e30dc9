//! The best documents of a word over all segments of a snapshot: its champion list (Manning, Raghavan, Schütze:
//! Introduction to Information Retrieval, 7.1.3). The best of the word alone are read off it, and those of several words
//! score at least what its documents do.

use tantivy::DocId;

use super::list::{BLOCK, List};

/// Documents that are kept of a word: ten are mostly left of them where a filter lets a tenth pass.
pub(super) const CHAMPIONS_MAX: usize = 128;

/// A document and the word's share of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Champion {
    pub(super) factor: f32,
    segment: u32,
    pub(super) doc: DocId,
}

/// The best first; those that are alike in the order of the index.
#[derive(Debug)]
pub(super) struct Champions {
    pub(super) best: Box<[Champion]>,
    /// Whether these are all documents of the word. Another one that has as much as the last comes behind it.
    pub(super) are_all: bool,
}

/// Looks for champions in one segment after the other, in their order.
#[derive(Default)]
pub(super) struct Contest {
    best: Vec<Champion>,
    seen: u64,
    /// Enough have this or more.
    floor: Option<f32>,
}

impl Contest {
    /// Takes the documents of a segment, whose scores are their factors.
    pub(super) fn take(&mut self, segment: usize, list: &mut List<'_>) {
        self.seen += u64::from(list.count);
        let Ok(segment) = u32::try_from(segment) else {
            return;
        };
        let mut factors = [0.0; BLOCK];
        while !list.is_over() {
            if self.admits(list.block_factor()) {
                let docs = list.score_until(tantivy::TERMINATED, &mut factors);
                for (doc, factor) in docs.iter().zip(factors) {
                    if self.admits(factor) {
                        self.best.push(Champion {
                            factor,
                            segment,
                            doc: *doc,
                        });
                    }
                }
                if self.best.len() >= 2 * CHAMPIONS_MAX {
                    self.cut();
                }
            }
            if !list.next_block() {
                return;
            }
        }
    }

    /// Documents come in the order of the index: one that has as much as the last of the kept comes behind it.
    fn admits(&self, factor: f32) -> bool {
        self.floor.is_none_or(|floor| factor > floor)
    }

    fn cut(&mut self) {
        if self.best.len() <= CHAMPIONS_MAX {
            return;
        }
        self.best
            .select_nth_unstable_by(CHAMPIONS_MAX - 1, Champion::order);
        self.best.truncate(CHAMPIONS_MAX);
        self.floor = self.best.last().map(|last| last.factor);
    }

    pub(super) fn end(mut self) -> Champions {
        self.cut();
        self.best.sort_unstable_by(Champion::order);
        Champions {
            are_all: self.best.len() as u64 == self.seen,
            best: self.best.into(),
        }
    }
}

impl Champion {
    pub(super) fn segment(&self) -> usize {
        self.segment as usize
    }

    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let place = |one: &Self| (one.segment, one.doc);
        other
            .factor
            .total_cmp(&self.factor)
            .then(place(self).cmp(&place(other)))
    }
}
