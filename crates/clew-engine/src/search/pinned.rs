//! Shards as they were at one moment. Searches that belong together (the pages of a scroll, those at
//! a point in time) see the same documents, whatever is written meanwhile: a view keeps its
//! segments' files open for as long as somebody holds it.

use std::sync::{Arc, OnceLock};

use clew_log::Glsn;
use clew_platform::{Pace, fnv1a_32};
use clew_profile::Attribute;
use clew_query::go_on_in_set;
use clew_schema::Mapping;
use clew_search::{SegmentBits, Snapshot};
use parking_lot::{Mutex, MutexGuard};

use crate::base::access::Purpose;
use crate::base::blocks::BlockLevel;
use crate::base::error::EngineError;
use crate::index::handle::Index;
use crate::node::engine::Engine;
use crate::node::index_handle::IndexHandle;
use crate::search::knn::ViewKnn;
use crate::shard::{Shard, View};

/// A shard as one search sees it.
#[derive(Clone)]
pub struct PinnedShard {
    /// Its place among those that were pinned with it.
    pub(crate) at: usize,
    pub(crate) index: Arc<Index>,
    pub(crate) shard: Arc<Shard>,
    pub(crate) view: Arc<View>,
    /// Whether its index was still being filled then: the view lacks what came later, also once it is whole.
    was_unfinished: bool,
    sliced: LastSlice,
}

/// The part of a shard's documents that was asked for last, the same for all clones; it is made where somebody asks for one, or
/// clones are to share it.
#[derive(Default)]
struct LastSlice(OnceLock<Arc<Mutex<Option<Sliced>>>>);

impl LastSlice {
    fn lock(&self) -> MutexGuard<'_, Option<Sliced>> {
        self.0.get_or_init(Arc::default).lock()
    }
}

impl Clone for LastSlice {
    fn clone(&self) -> Self {
        LastSlice(self.0.get_or_init(Arc::default).clone().into())
    }
}

struct Sliced {
    slice: Slice,
    documents: Arc<[SegmentBits]>,
}

/// Documents of a shard of whose parts the last one is kept: a bit for each, up to a megabyte.
const SLICED_MAX: u64 = 8 << 20;

impl PinnedShard {
    /// Fails when an answer would lack something, or have what was refused: the shard has failed, or its index was still
    /// being filled when it was pinned.
    pub(crate) fn check_readable(&self) -> Result<(), EngineError> {
        self.shard.check_readable()?;
        match self.was_unfinished {
            true => Err(self.shard.not_active(Purpose::Read)),
            false => Ok(()),
        }
    }

    /// The living documents that belong to a part. To find them all ids are read, once for all pages of a search.
    ///
    /// # Errors
    /// When the ids cannot be read.
    pub(crate) fn in_slice(&self, slice: Slice) -> tantivy::Result<Arc<[SegmentBits]>> {
        let known = self.sliced.lock();
        if let Some(known) = known.as_ref().filter(|known| known.slice == slice) {
            return Ok(known.documents.clone());
        }
        // Others need not wait for what is found meanwhile.
        drop(known);
        let documents: Arc<[SegmentBits]> = slice_of(&self.view, slice)?.into();
        let readers = self.view.snapshot.readers.iter();
        let all: u64 = readers.map(|reader| u64::from(reader.max_doc())).sum();
        if all <= SLICED_MAX {
            let documents = documents.clone();
            *self.sliced.lock() = Some(Sliced { slice, documents });
        }
        Ok(documents)
    }

    /// The index that the shard belongs to.
    pub fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// The shard's number in its index.
    pub fn number(&self) -> u32 {
        self.shard.place.number
    }

    /// What queries run over; outside the engine only benchmarks want to see it.
    ///
    /// # Errors
    /// When the shard has failed: what it holds is not all there is, or not what was written.
    #[doc(hidden)]
    pub fn snapshot(&self) -> Result<&Snapshot, EngineError> {
        self.check_readable()?;
        Ok(&self.view.snapshot)
    }

    /// The mapping that the shard is searched under.
    pub fn mapping(&self) -> &Mapping {
        &self.view.snapshot.mapping
    }

    /// The id of a document at a place.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn id(&self, (segment, doc): (usize, tantivy::DocId)) -> Result<&str, EngineError> {
        let id = self.view.segments[segment].row_id(doc);
        id.map_err(|source| self.shard.tantivy_error(source))
    }

    /// The source of a document at a place.
    ///
    /// # Errors
    /// When the stored sources cannot be read.
    pub(crate) fn source(
        &self,
        (segment, doc): (usize, tantivy::DocId),
    ) -> Result<Vec<u8>, EngineError> {
        let mapping = &self.view.snapshot.mapping;
        self.view.segments[segment]
            .source(doc, mapping)
            .map_err(|source| self.shard.tantivy_error(source))
    }

    /// The same as it is stored, without its vectors.
    ///
    /// # Errors
    /// When the stored sources cannot be read.
    pub(crate) fn stored_source(
        &self,
        (segment, doc): (usize, tantivy::DocId),
    ) -> Result<Vec<u8>, EngineError> {
        self.view.segments[segment]
            .stored_source(doc)
            .map_err(|source| self.shard.tantivy_error(source))
    }

    /// What answers the clauses of queries that need vectors.
    pub(crate) fn knn(&self) -> ViewKnn<'_> {
        ViewKnn {
            view: &self.view,
            ef_search: self.index.settings().ef_search,
            profiles: None,
            shared: None,
        }
    }

    /// Where a living document is: its segment's place in the snapshot and its number there.
    ///
    /// # Errors
    /// When the shard has failed, or the id postings cannot be read.
    pub(crate) fn find(&self, id: &str) -> Result<Option<(usize, tantivy::DocId)>, EngineError> {
        self.check_readable()?;
        for (place, segment) in self.view.segments.iter().enumerate() {
            let found = segment
                .find(id)
                .map_err(|source| self.shard.tantivy_error(source))?;
            if let Some(doc) = found {
                return Ok(Some((place, doc)));
            }
        }
        Ok(None)
    }
}

/// The same shards with their terms weighed as if they were one, as far as they can be read.
pub(crate) fn weighed_together(shards: &[PinnedShard]) -> Vec<PinnedShard> {
    let readable = shards.iter().filter(|shard| shard.check_readable().is_ok());
    let all: Arc<[Snapshot]> = readable
        .map(|shard| shard.view.snapshot.reopened())
        .collect();
    let weighed = shards.iter().map(|shard| PinnedShard {
        view: Arc::new(View {
            snapshot: shard.view.snapshot.weighed_with(&all),
            segments: shard.view.segments.clone(),
        }),
        ..shard.clone()
    });
    weighed.collect()
}

/// Shards as they were when they were pinned.
#[derive(Clone)]
pub struct Pinned {
    pub(crate) shards: Arc<[PinnedShard]>,
}

impl std::fmt::Debug for Pinned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pinned({} shards)", self.shards.len())
    }
}

impl Pinned {
    /// What spans say of a part that all of it was asked at once.
    pub(crate) fn attributes(&self) -> Vec<Attribute> {
        let shards = u32::try_from(self.shards.len()).unwrap_or(u32::MAX);
        let index = self.shards.first().map(|shard| shard.index.name());
        let index = index.map(|name| ("clew.index", name.to_string().into()));
        let shards = ("clew.shards", shards.into());
        index.into_iter().chain([shards]).collect()
    }

    /// The shards.
    pub fn shards(&self) -> &[PinnedShard] {
        &self.shards
    }

    /// The indexes of the shards, each once, in their order.
    pub fn indices(&self) -> Vec<Arc<Index>> {
        self.each_index().cloned().collect()
    }

    /// The same, one after the other.
    pub fn each_index(&self) -> impl Iterator<Item = &Arc<Index>> {
        // Those of an index stand together.
        let is_same = |one: &PinnedShard, next: &PinnedShard| Arc::ptr_eq(&one.index, &next.index);
        let each = self.shards.chunk_by(is_same);
        each.filter_map(|shards| shards.first().map(|first| &first.index))
    }

    /// The one shard of an index that a routing key leads to.
    pub fn shard_of(&self, index: &Index, key: &str) -> Option<&PinnedShard> {
        let number = index.shard_of(key).place.number;
        self.shards
            .iter()
            .find(|pinned| std::ptr::eq(&*pinned.index, index) && pinned.number() == number)
    }
}

impl Engine {
    /// A position up to which searches over these indexes see every write.
    pub fn visible(&self, indices: &[Arc<Index>]) -> Glsn {
        // Read before the shards are looked at: what is appended meanwhile lies behind it.
        let end = self.log().last();
        let shards = indices.iter().flat_map(|index| &index.shards);
        let pending = shards.filter_map(|shard| shard.first_invisible());
        pending.min().map_or(end, |first| first.previous().min(end))
    }

    /// Pins what searches over these indexes see now. Whoever has what is pinned may search it for as long as it is held.
    ///
    /// # Errors
    /// When one was not opened to be read, or is blocked.
    pub fn pin(&self, handles: &[IndexHandle]) -> Result<Pinned, EngineError> {
        for handle in handles {
            handle.check_purpose(Purpose::Read)?;
            handle.check_block(BlockLevel::Read)?;
        }
        let shards = handles
            .iter()
            .flat_map(|handle| handle.shards.iter().map(move |shard| (handle, shard)))
            .enumerate()
            .map(|(at, (handle, shard))| PinnedShard {
                at,
                index: handle.index().clone(),
                shard: shard.clone(),
                // Before the view: what is whole by then has all of it.
                was_unfinished: shard.is_unfinished(),
                view: shard.view(),
                sliced: LastSlice::default(),
            });
        Ok(Pinned {
            shards: shards.collect(),
        })
    }
}

/// One of several parts that a search is cut into. A document's part is decided by its id alone,
/// so that it does not matter when each part's search begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Which part, from 0.
    pub id: u32,
    /// How many parts there are.
    pub max: u32,
}

impl Slice {
    /// The number of the part that a document belongs to, of so many; 0 where there are none.
    pub fn of(id: &str, parts: u32) -> u32 {
        part_of(id, parts)
    }
}

/// The living documents of a view that belong to a part.
///
/// # Errors
/// When the ids cannot be read; once the request is over.
fn slice_of(view: &View, slice: Slice) -> tantivy::Result<Vec<SegmentBits>> {
    let segments = view.segments.iter().zip(&view.snapshot.readers);
    let mut pace = Pace::of_blocks();
    segments
        .map(|(segment, reader)| {
            let mut bits = SegmentBits::empty(reader.max_doc());
            for doc in SegmentBits::alive(reader).iter() {
                go_on_in_set(&mut pace)?;
                if part_of(segment.row_id(doc)?, slice.max) == slice.id {
                    bits.insert(doc);
                }
            }
            Ok(bits)
        })
        .collect()
}

/// FNV-1a, with its high bits folded in: neighbouring ids must not fall into neighbouring parts.
fn part_of(id: &str, parts: u32) -> u32 {
    let hash = fnv1a_32(id.as_bytes());
    (hash ^ hash >> 16) % parts.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_last_part() {
        let first = LastSlice::default();
        assert!(first.0.get().is_none());
        let second = first.clone();
        let slice = Slice { id: 0, max: 2 };
        let documents = Arc::default();
        *second.lock() = Some(Sliced { slice, documents });
        assert!(first.lock().is_some());
    }

    #[test]
    fn every_id_has_one_part_and_the_parts_are_about_equal() {
        let mut counts = [0_u32; 4];
        for number in 0..4000 {
            counts[part_of(&number.to_string(), 4) as usize] += 1;
        }
        assert!(
            counts.iter().all(|count| (800..1200).contains(count)),
            "{counts:?}"
        );
        assert_eq!(part_of("x", 1), 0);
    }
}
