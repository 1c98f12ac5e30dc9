//! An index: its name, mapping and settings, and the shards that hold its documents.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use arc_swap::ArcSwap;
use clew_schema::Mapping;
use clew_search::FilterCacheFigures;
use clew_vector::BuildStatus;
use parking_lot::Mutex;

use crate::base::activity::{Activity, Counted, SearchActivity};
use crate::base::disk::DiskGuard;
use crate::base::error::EngineError;
use crate::base::index_name::IndexName;
use crate::base::routing::shard_of;
use crate::base::settings::IndexSettings;
use crate::base::write_request::WriteResult;
use crate::catalog::alias::Aliases;
use crate::shard::{Shard, has_old_columns};

/// An index that is open. Handles stay usable after the index is deleted: reads go on over what
/// they hold, writes fail.
pub struct Index {
    pub(crate) name: Arc<IndexName>,
    pub(crate) uuid: String,
    pub(crate) created_ms: u64,
    pub(crate) settings: ArcSwap<IndexSettings>,
    pub(crate) mapping: ArcSwap<Mapping>,
    /// Changed only while the engine's map of indexes is held for writing.
    pub(crate) aliases: ArcSwap<Aliases>,
    pub(crate) closed: AtomicBool,
    /// Held while the mapping or the settings are changed, so that changes follow each other.
    pub(crate) changing: Mutex<()>,
    /// How many slots routing keys are spread over; each shard has as many as the others.
    pub(crate) routing_slots: u32,
    pub(crate) shards: Vec<Arc<Shard>>,
    pub(crate) activity: Activity,
    /// How many indexes are being filled to take its place.
    pub(crate) successors: AtomicUsize,
    /// Says whether writes are refused because the disk is nearly full.
    pub(crate) space: Arc<DiskGuard>,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Index({}/{})", self.name(), self.uuid)
    }
}

/// An index waits for another one that will take its place.
#[derive(Debug)]
pub struct AwaitedSuccessor(Arc<Index>);

impl Drop for AwaitedSuccessor {
    fn drop(&mut self) {
        self.0.successors.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Brings indexes, each of which comes once, into the order in which everybody locks several; names change.
pub(crate) fn in_lock_order(indices: &mut [Arc<Index>]) {
    indices.sort_unstable_by(|a, b| a.uuid.cmp(&b.uuid));
}

/// Counts of an index over all its shards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexStats {
    /// Living documents that searches see.
    pub docs: u64,
    /// Dead documents still in segments.
    pub deleted: u64,
    /// Bytes of segment files.
    pub bytes: u64,
    /// Segments that searches see.
    pub segments: u64,
    /// Dense vectors that searches see.
    pub vectors: u64,
    /// Vectors that a graph or lists lead to.
    pub structured_vectors: u64,
    /// Sparse vectors that searches see.
    pub sparse_vectors: u64,
    /// Shards.
    pub shards: u32,
    /// Shards that take no writes any more.
    pub failed_shards: u32,
    /// Documents written since the index was opened.
    pub indexed_total: u64,
    /// Documents deleted since the index was opened.
    pub deleted_total: u64,
    /// Updates since the index was opened that changed nothing.
    pub noops_total: u64,
    /// Searches since the index was opened.
    pub searches: SearchActivity,
    /// Documents read by id that were there.
    pub gets_found: Counted,
    /// Documents read by id that were not.
    pub gets_missing: Counted,
    /// Groups of writes to a shard, and the time they took.
    pub writes: Counted,
    /// Writes that only the log has, as no flush came after them.
    pub unflushed_operations: u64,
    /// Their bytes.
    pub unflushed_bytes: u64,
    /// Refreshes that showed something new.
    pub refreshes: Counted,
    /// Flushes.
    pub flushes: Counted,
    /// Merges.
    pub merges: Counted,
    /// Documents of the segments that merges have replaced.
    pub merged_docs: u64,
    /// Bytes of these segments.
    pub merged_bytes: u64,
    /// Merges that are running.
    pub merges_running: u64,
    /// Rows that they are through with in their present phase; see [`Index::running_merges`].
    pub merge_rows_done: u64,
    /// Rows of that phase.
    pub merge_rows_total: u64,
    /// Graphs that merges left out for want of memory.
    pub graphs_refused_total: u64,
    /// Graphs whose building went on after a restart.
    pub graphs_resumed_total: u64,
    /// Memory of the documents that are in no segment yet.
    pub buffer_bytes: u64,
    /// Memory of what frequent words add to the score of each document.
    pub impacts_bytes: u64,
    /// What filters left, kept for the next search.
    pub filters: FilterCacheFigures,
}

impl IndexStats {
    /// Adds the counts of another index, or of another shard.
    pub fn add(&mut self, other: &IndexStats) {
        self.docs += other.docs;
        self.deleted += other.deleted;
        self.bytes += other.bytes;
        self.segments += other.segments;
        self.vectors += other.vectors;
        self.structured_vectors += other.structured_vectors;
        self.sparse_vectors += other.sparse_vectors;
        self.shards += other.shards;
        self.failed_shards += other.failed_shards;
        self.indexed_total += other.indexed_total;
        self.deleted_total += other.deleted_total;
        self.noops_total += other.noops_total;
        self.searches.queries.add(other.searches.queries);
        self.searches.fetches.add(other.searches.fetches);
        self.gets_found.add(other.gets_found);
        self.gets_missing.add(other.gets_missing);
        self.writes.add(other.writes);
        self.unflushed_operations += other.unflushed_operations;
        self.unflushed_bytes += other.unflushed_bytes;
        self.refreshes.add(other.refreshes);
        self.flushes.add(other.flushes);
        self.merges.add(other.merges);
        self.merged_docs += other.merged_docs;
        self.merged_bytes += other.merged_bytes;
        self.merges_running += other.merges_running;
        self.merge_rows_done += other.merge_rows_done;
        self.merge_rows_total += other.merge_rows_total;
        self.graphs_refused_total += other.graphs_refused_total;
        self.graphs_resumed_total += other.graphs_resumed_total;
        self.buffer_bytes += other.buffer_bytes;
        self.impacts_bytes += other.impacts_bytes;
        self.filters.add(other.filters);
    }
}

/// A merge that is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningMerge {
    /// Number of its shard.
    pub shard: u32,
    /// How far it is with the vectors of the present field; idle while it merges text.
    pub vectors: BuildStatus,
}

impl Index {
    /// The name now; it may change, see [`Engine::rename_index`](crate::Engine::rename_index).
    pub fn name(&self) -> &str {
        self.name.get()
    }
    /// An id that no other index ever has.
    pub fn uuid(&self) -> &str {
        &self.uuid
    }
    /// When it was created, in milliseconds since the epoch.
    pub fn created_ms(&self) -> u64 {
        self.created_ms
    }
    /// Whether it is still being filled with documents from elsewhere: its shards serve nothing yet.
    pub fn is_unfinished(&self) -> bool {
        self.settings.load().unfinished
    }
    /// Whether its documents are on their way: it is still being filled itself, or another index is that will take its
    /// place.
    pub fn is_initializing(&self) -> bool {
        self.is_unfinished() || self.successors.load(Ordering::SeqCst) > 0
    }
    /// Says that another index is being filled to take its place, until what this gives is dropped.
    pub fn await_successor(self: &Arc<Self>) -> AwaitedSuccessor {
        self.successors.fetch_add(1, Ordering::SeqCst);
        AwaitedSuccessor(self.clone())
    }
    /// Gives it other settings.
    pub(crate) fn store_settings(&self, settings: IndexSettings) {
        let unfinished = settings.unfinished;
        self.settings.store(Arc::new(settings));
        let shards = self.shards.iter();
        shards.for_each(|shard| shard.set_unfinished(unfinished));
    }
    /// The settings now.
    pub fn settings(&self) -> Arc<IndexSettings> {
        self.settings.load_full()
    }
    /// The mapping now.
    pub fn mapping(&self) -> Arc<Mapping> {
        self.mapping.load_full()
    }

    /// Whether it was deleted meanwhile: nobody waits for what would have to be done with it.
    pub(crate) fn is_deleted(&self) -> bool {
        self.shards.iter().all(|shard| shard.is_retired())
    }

    /// Refuses a document without a routing key where the mapping wants one.
    ///
    /// # Errors
    /// [`EngineError::RoutingMissing`].
    pub fn check_routing(&self, id: &str, routing: Option<&str>) -> Result<(), EngineError> {
        if routing.is_none() && self.mapping.load().is_routing_required() {
            return Err(EngineError::RoutingMissing {
                index: self.name().to_string(),
                id: id.to_string(),
            });
        }
        Ok(())
    }

    /// The aliases now.
    pub fn aliases(&self) -> Arc<Aliases> {
        self.aliases.load_full()
    }

    /// The data stream that it is a part of.
    pub fn data_stream(&self) -> Option<String> {
        self.settings.load().data_stream.clone()
    }

    /// Number of the last flush that wrote anything, by shard; 0 where there was none.
    pub fn commits(&self) -> Vec<u64> {
        self.shards.iter().map(|shard| shard.commit()).collect()
    }

    /// Operations that each shard has ever had; their sequence numbers begin at 0 and have no gaps.
    pub fn operations(&self) -> Vec<u64> {
        let shards = self.shards.iter();
        shards.map(|shard| shard.operations()).collect()
    }

    /// Counts what the shards hold and have done.
    pub fn stats(&self) -> IndexStats {
        let mut all = IndexStats::default();
        for shard in self.shard_stats() {
            all.add(&shard);
        }
        all
    }

    /// The same by shard, in their order. Searches, reads and times of writes are counted for the whole
    /// index, and told of the first shard.
    pub fn shard_stats(&self) -> Vec<IndexStats> {
        let mut shards: Vec<IndexStats> = self.shards.iter().map(|shard| stats_of(shard)).collect();
        if let Some(first) = shards.first_mut() {
            first.searches = self.activity.searches();
            first.gets_found = self.activity.gets_found.read();
            first.gets_missing = self.activity.gets_missing.read();
            first.writes = self.activity.writes.read();
        }
        shards
    }

    /// Forgets what filters have left.
    pub fn clear_caches(&self) {
        for shard in self.shards.iter() {
            shard.view().snapshot.filters().clear();
        }
    }

    /// Searches since the index was opened, by the groups that they named; at most a thousand groups.
    pub fn search_groups(&self) -> BTreeMap<String, SearchActivity> {
        self.activity.groups()
    }

    /// Rows that searches see in columns of other options than their fields have now: until they are written anew, they
    /// are searched without a graph if they were meant for another space.
    pub fn rows_to_rewrite(&self) -> u64 {
        let mapping = self.mapping();
        let of_shard = |shard: &Arc<Shard>| -> u64 {
            let view = shard.view();
            let old = view.segments.iter();
            let old = old.filter(|segment| has_old_columns(segment, &mapping));
            old.map(|segment| u64::from(segment.reader.num_docs()))
                .sum()
        };
        self.shards.iter().map(of_shard).sum()
    }

    /// The merges that are running now.
    pub fn running_merges(&self) -> Vec<RunningMerge> {
        let merges = self.shards.iter().filter_map(|shard| running_merge(shard));
        merges.collect()
    }

    /// Why a shard serves nothing, when it has failed.
    pub fn shard_failure(&self, number: u32) -> Option<String> {
        let mut shards = self.shards.iter();
        shards.find(|shard| shard.place.number == number)?.failure()
    }

    /// Whether a shard has failed, so that it serves no more.
    pub fn has_shard_failed(&self, number: u32) -> bool {
        let shard = self
            .shards
            .iter()
            .find(|shard| shard.place.number == number);
        shard.is_some_and(|shard| shard.failure().is_some())
    }

    /// The number of the shard that a routing key leads to.
    pub fn shard_number(&self, key: &str) -> u32 {
        self.shard_of(key).place.number
    }

    /// The shard of a routing key.
    pub(crate) fn shard_of(&self, key: &str) -> &Arc<Shard> {
        let count = u32::try_from(self.shards.len()).expect("shard counts are limited");
        &self.shards[shard_of(key, count, self.routing_slots) as usize]
    }
}

fn stats_of(shard: &Shard) -> IndexStats {
    let view = shard.view();
    let counters = &shard.counters;
    let merges = &shard.merge_state;
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let (unflushed_operations, unflushed_bytes) = shard.unflushed();
    let mut stats = IndexStats {
        shards: 1,
        failed_shards: u32::from(shard.failure().is_some()),
        segments: view.segments.len() as u64,
        indexed_total: read(&counters.indexed),
        deleted_total: read(&counters.deleted),
        noops_total: read(&counters.noops),
        refreshes: counters.refreshes.read(),
        flushes: counters.flushes.read(),
        merges: counters.merges.read(),
        merged_docs: read(&counters.merged_docs),
        merged_bytes: read(&counters.merged_bytes),
        graphs_refused_total: read(&merges.graphs_refused),
        graphs_resumed_total: read(&merges.graphs_resumed),
        buffer_bytes: shard.buffer_bytes() as u64,
        impacts_bytes: view.snapshot.impacts_bytes() as u64,
        filters: view.snapshot.filters().figures(),
        unflushed_operations,
        unflushed_bytes,
        ..IndexStats::default()
    };
    for segment in &view.segments {
        let alive = u64::from(segment.reader.num_docs());
        stats.docs += alive;
        stats.deleted += u64::from(segment.root_count()) - alive;
        stats.bytes += segment.bytes();
        for (_, column) in segment.vectors().columns() {
            let count = column.len() as u64;
            stats.vectors += count;
            stats.structured_vectors += if column.has_graph() || column.has_lists() {
                count
            } else {
                0
            };
        }
        for (_, column) in segment.vectors().sparse_columns() {
            stats.sparse_vectors += column.len() as u64;
        }
    }
    if let Some(merge) = running_merge(shard) {
        stats.merges_running = 1;
        stats.merge_rows_done = merge.vectors.rows_done as u64;
        stats.merge_rows_total = merge.vectors.rows_total as u64;
    }
    stats
}

fn running_merge(shard: &Shard) -> Option<RunningMerge> {
    let state = &shard.merge_state;
    let running = state.running.load(Ordering::Relaxed);
    running.then(|| RunningMerge {
        shard: shard.place.number,
        vectors: state.progress.status(),
    })
}

/// Counts a write in its shard's statistics.
pub(crate) fn count_write(shard: &Shard, result: WriteResult) {
    match result {
        WriteResult::Created | WriteResult::Updated => {
            shard.counters.indexed.fetch_add(1, Ordering::Relaxed);
        }
        WriteResult::Deleted => {
            shard.counters.deleted.fetch_add(1, Ordering::Relaxed);
        }
        WriteResult::Noop => {
            shard.counters.noops.fetch_add(1, Ordering::Relaxed);
        }
        WriteResult::NotFound => {}
    }
}
