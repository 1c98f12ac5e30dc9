//! The ids of a segment's documents in their order, for sorting: they have no column, so their
//! dictionary is walked once, when the first request sorts by them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clew_platform::{Pace, stopped};
use clew_schema::Mapping;
use parking_lot::Mutex;
use tantivy::index::SegmentId;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, InvertedIndexReader, SegmentReader, TERMINATED};

/// The ids that were read, for as long as their segments live.
#[derive(Default)]
pub(crate) struct KeptIds(Mutex<BTreeMap<SegmentId, Arc<Ids>>>);

impl KeptIds {
    pub(crate) fn of(&self, reader: &SegmentReader) -> tantivy::Result<Arc<Ids>> {
        // Whoever else wants them waits, rather than to read them too.
        let mut kept = self.0.lock();
        let segment = reader.segment_id();
        if let Some(ids) = kept.get(&segment) {
            return Ok(ids.clone());
        }
        let ids = Arc::new(Ids::read(reader)?);
        // Those of a request that is over may be half of them.
        if !stopped() {
            kept.insert(segment, ids.clone());
        }
        Ok(ids)
    }

    /// The same for these segments alone.
    pub(crate) fn kept(&self, living: &BTreeSet<SegmentId>) -> Self {
        let mut kept = self.0.lock().clone();
        kept.retain(|segment, _| living.contains(segment));
        KeptIds(Mutex::new(kept))
    }
}

/// For each document the rank of its id in the segment. Takes four bytes a document.
pub struct Ids {
    ranks: Vec<u32>,
    inverted: Arc<InvertedIndexReader>,
}

impl Ids {
    /// Walks over the dictionary of a segment and the places of each id. Leaves off, with those that it has, once the
    /// request is over.
    ///
    /// # Errors
    /// A segment that cannot be read.
    pub fn read(reader: &SegmentReader) -> tantivy::Result<Self> {
        let inverted = reader.inverted_index(Mapping::ID)?;
        let mut ranks = vec![u32::MAX; reader.max_doc() as usize];
        let mut stream = inverted.terms().stream()?;
        let mut rank = 0;
        let mut pace = Pace::default();
        while !pace.is_over() && stream.advance() {
            let option = IndexRecordOption::Basic;
            let mut postings = inverted.read_postings_from_terminfo(stream.value(), option)?;
            while postings.doc() != TERMINATED {
                ranks[postings.doc() as usize] = rank;
                postings.advance();
            }
            rank += 1;
        }
        drop(stream);
        Ok(Ids { ranks, inverted })
    }

    /// The rank of a document's id; nested objects have none.
    pub fn rank(&self, doc: DocId) -> Option<u32> {
        let rank = self.ranks.get(doc as usize).copied();
        rank.filter(|rank| *rank != u32::MAX)
    }

    /// How many ids there are; their ranks are below.
    pub fn count(&self) -> u64 {
        self.inverted.terms().num_terms() as u64
    }

    /// The id of a rank.
    ///
    /// # Errors
    /// A segment that cannot be read.
    pub fn id(&self, rank: u64) -> tantivy::Result<String> {
        let mut bytes = Vec::new();
        self.inverted.terms().ord_to_term(rank, &mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// How many ids of the segment come before one, and whether it is among them.
    ///
    /// # Errors
    /// A segment that cannot be read.
    pub fn before(&self, id: &str) -> tantivy::Result<(u64, bool)> {
        let dictionary = self.inverted.terms();
        let (mut low, mut high) = (0, self.count());
        let mut bytes = Vec::new();
        while low < high {
            let middle = low + (high - low) / 2;
            bytes.clear();
            dictionary.ord_to_term(middle, &mut bytes)?;
            match bytes.as_slice().cmp(id.as_bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok((middle, true)),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok((low, false))
    }
}
