//! What collectors on several threads have counted, segment by segment, until one of them takes it over in the order
//! of the segments: sums of fractions depend on the order, and so are those of a single thread.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use parking_lot::Mutex;
use tantivy::SegmentReader;

use crate::counted::Partial;

/// What a segment holds.
pub(crate) struct Counted {
    pub(super) partials: Vec<Partial>,
    /// The segment, where it is needed again at the end.
    pub(super) reader: Option<SegmentReader>,
}

/// Where forks leave what they counted.
#[derive(Default)]
pub(crate) struct Deposit {
    counted: Mutex<BTreeMap<usize, Counted>>,
    bytes: Arc<AtomicUsize>,
}

impl Deposit {
    /// The memory of all forks together.
    pub(super) fn bytes(&self) -> Arc<AtomicUsize> {
        self.bytes.clone()
    }

    pub(super) fn put(&self, segment: usize, counted: Counted) {
        self.counted.lock().insert(segment, counted);
    }

    /// By the places of the segments.
    pub(super) fn take(&self) -> BTreeMap<usize, Counted> {
        std::mem::take(&mut *self.counted.lock())
    }
}
