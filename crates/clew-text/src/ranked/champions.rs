//! The best documents of a word over all segments of a snapshot: its champion list (Manning, Raghavan, Schütze:
//! Introduction to Information Retrieval, 7.1.3). The best of the word alone are read off it, and those of several words
//! score at least what its documents do; `best` finds those of several frequent words in longer lists.

use tantivy::DocId;

use super::list::{BLOCK, List};

/// Documents that are kept of a word: ten are mostly left of them where a filter lets a tenth pass.
pub(super) const CHAMPIONS_MAX: usize = 128;
/// Documents that are kept of the most frequent words.
pub(super) const MANY_CHAMPIONS_MAX: usize = 2048;

/// How many documents are kept of a frequent word: an eighth, which suffices for nine of ten searches.
pub(super) fn many_champions(frequency: u64) -> usize {
    let share = usize::try_from(frequency / 8).unwrap_or(MANY_CHAMPIONS_MAX);
    share.clamp(MANY_CHAMPIONS_MAX / 2, MANY_CHAMPIONS_MAX)
}

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

/// The champions of a frequent word, ascending. A document is known by its number in the whole snapshot, in which the
/// segments follow each other.
#[derive(Debug, Default)]
pub(super) struct ManyChampions {
    pub(super) docs: Vec<u32>,
    pub(super) factors: Vec<f32>,
    /// What any other document has at most; `None` when there is no other one.
    pub(super) rest: Option<f32>,
}

/// Looks for champions in one segment after the other, in their order.
pub(super) struct Contest {
    max: usize,
    best: Vec<Champion>,
    seen: u64,
    /// Enough have this or more.
    floor: Option<f32>,
}

impl Contest {
    /// Keeps `max` champions.
    pub(super) fn new(max: usize) -> Self {
        Contest {
            max,
            best: Vec::new(),
            seen: 0,
            floor: None,
        }
    }

    /// Takes the documents of a segment, whose scores are their factors.
    pub(super) fn take(&mut self, segment: usize, list: &mut List<'_>) {
        self.seen += u64::from(list.count);
        let Ok(segment) = u32::try_from(segment) else {
            return;
        };
        let mut factors = [0.0; BLOCK];
        while !list.is_over() {
            let end = list.last();
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
                if self.best.len() >= 2 * self.max {
                    self.cut();
                }
            }
            if end == tantivy::TERMINATED {
                return;
            }
            list.shallow(end + 1);
        }
    }

    fn admits(&self, factor: f32) -> bool {
        self.floor.is_none_or(|floor| factor > floor)
    }

    fn cut(&mut self) {
        if self.best.len() <= self.max {
            return;
        }
        self.best
            .select_nth_unstable_by(self.max - 1, Champion::order);
        self.best.truncate(self.max);
        self.floor = self.best.last().map(|last| last.factor);
    }

    /// The champions where the segments' first documents have these numbers.
    pub(super) fn end_ascending(mut self, bases: &[u32]) -> ManyChampions {
        self.cut();
        self.best.sort_unstable_by_key(|one| (one.segment, one.doc));
        let number = |one: &Champion| bases[one.segment()] + one.doc;
        ManyChampions {
            docs: self.best.iter().map(number).collect(),
            factors: self.best.iter().map(|one| one.factor).collect(),
            rest: self.floor,
        }
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
