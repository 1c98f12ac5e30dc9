//! The impacts of a frequent word in a segment (Anh, de Kretser, Moffat: "Vector-space ranking with effective early
//! termination", 2001): the share of each document, rounded up to a byte; zero where the word is not. `dense` adds
//! those of several words without reading their lists, and a document that is looked up in the word's list is mostly
//! dropped by its impact instead.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tantivy::DocId;

use super::bm25::ROUNDING;
use super::list::{BLOCK, List};

/// They are made where the word is in one of so many documents.
const RARITY: u32 = 32;
/// A shorter list is read in less time than its impacts.
const FREQUENCY_MIN: u32 = 256;
/// Bytes that the impacts of a field's words may take: those of the 32 most frequent words of a million documents. The
/// lists of words for which there is no room are read as those of rare words are.
const BYTES_MAX: usize = 1 << 25;

/// What is left of the memory for impacts.
#[derive(Debug)]
pub(super) struct Budget(AtomicUsize);

impl Default for Budget {
    fn default() -> Self {
        Budget(AtomicUsize::new(BYTES_MAX))
    }
}

impl Budget {
    fn take(&self, bytes: usize) -> bool {
        let rest = |left: usize| left.checked_sub(bytes);
        let order = Ordering::Relaxed;
        self.0.fetch_update(order, order, rest).is_ok()
    }
}

/// One byte for each document of a segment.
#[derive(Debug)]
pub(super) struct Impacts {
    shares: Box<[u8]>,
    greatest: u8,
    budget: Arc<Budget>,
}

impl Drop for Impacts {
    fn drop(&mut self) {
        self.budget
            .0
            .fetch_add(self.shares.len(), Ordering::Relaxed);
    }
}

impl Impacts {
    /// Reads them off a list from its beginning on, whose scores are shares, in a segment of so many documents. `None`
    /// where the word is not frequent, or there is no room.
    pub(super) fn read(list: &mut List<'_>, docs: u32, budget: &Arc<Budget>) -> Option<Self> {
        if list.count < FREQUENCY_MIN || list.count < docs / RARITY || !budget.take(docs as usize) {
            return None;
        }
        let mut shares = vec![0; docs as usize].into_boxed_slice();
        let mut factors = [0.0; BLOCK];
        let mut greatest = 0;
        loop {
            let end = list.last();
            let found = list.score_until(tantivy::TERMINATED, &mut factors);
            for (doc, factor) in found.iter().zip(&factors) {
                let share = up(*factor);
                greatest = share.max(greatest);
                if let Some(place) = shares.get_mut(*doc as usize) {
                    *place = share;
                }
            }
            if end == tantivy::TERMINATED {
                return Some(Impacts {
                    shares,
                    greatest,
                    budget: budget.clone(),
                });
            }
            list.shallow(end + 1);
        }
    }

    /// A byte for each document.
    pub(super) fn shares(&self) -> &[u8] {
        &self.shares
    }

    /// Whether the word is in a document.
    #[inline]
    pub(super) fn has(&self, doc: DocId) -> bool {
        self.share(doc) > 0
    }

    #[inline]
    fn share(&self, doc: DocId) -> u8 {
        self.shares.get(doc as usize).copied().unwrap_or(0)
    }

    /// What the word's factor in a document does not exceed; zero where it is not.
    #[inline]
    pub(super) fn factor(&self, doc: DocId) -> f32 {
        factor(self.share(doc))
    }

    /// What its factor in any document does not exceed.
    pub(super) fn greatest_factor(&self) -> f32 {
        factor(self.greatest)
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
    fn no_document_exceeds_its_impact() {
        for step in 1..=10_000u16 {
            let share = f32::from(step) / 10_000.0;
            assert!(share <= factor(up(share)), "{share}");
            assert!(factor(up(share) - 1) < share * ROUNDING, "{share}");
        }
    }

    #[test]
    fn a_budget_is_given_back() {
        let budget = Arc::new(Budget::default());
        let take = |bytes| {
            budget.take(bytes).then(|| Impacts {
                shares: vec![0; bytes].into(),
                greatest: 0,
                budget: budget.clone(),
            })
        };
        let first = take(BYTES_MAX - 1).unwrap();
        assert!(take(2).is_none());
        let second = take(1).unwrap();
        assert!(take(1).is_none());
        drop(first);
        assert!(take(BYTES_MAX - 1).is_some());
        drop(second);
        assert!(take(BYTES_MAX).is_some());
    }
}
