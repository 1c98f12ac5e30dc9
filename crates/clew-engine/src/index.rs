//! An index: its name, mapping and settings, and the shards that hold its documents.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use arc_swap::ArcSwap;
use clew_text::{Mapping, NewField, Parsed};
use clew_vector::BuildStatus;
use parking_lot::Mutex;

use crate::error::EngineError;
use crate::request::WriteResult;
use crate::routing::shard_of;
use crate::settings::IndexSettings;
use crate::shard::{Prepared, Shard};

/// A document can ask for new fields only so often: each round adds all that it lacks, and other
/// documents may add between two rounds.
const MAPPING_ROUNDS_MAX: usize = 8;

/// An index that is open. Handles stay usable after the index is deleted: reads go on over what
/// they hold, writes fail.
pub struct Index {
    pub(crate) name: String,
    pub(crate) uuid: String,
    pub(crate) created_ms: u64,
    pub(crate) settings: ArcSwap<IndexSettings>,
    pub(crate) mapping: ArcSwap<Mapping>,
    /// Held while the mapping or the settings are changed, so that changes follow each other.
    pub(crate) changing: Mutex<()>,
    pub(crate) shards: Vec<Arc<Shard>>,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Index({}/{})", self.name, self.uuid)
    }
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
    /// Vectors that searches see.
    pub vectors: u64,
    /// Vectors that a graph covers.
    pub graph_vectors: u64,
    /// Shards.
    pub shards: u32,
    /// Shards that take no writes any more.
    pub failed_shards: u32,
    /// Documents written since the index was opened.
    pub indexed_total: u64,
    /// Documents deleted since the index was opened.
    pub deleted_total: u64,
    /// Refreshes that showed something new.
    pub refreshes_total: u64,
    /// Flushes that wrote a checkpoint.
    pub flushes_total: u64,
    /// Merges.
    pub merges_total: u64,
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
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// An id that no other index ever has.
    pub fn uuid(&self) -> &str {
        &self.uuid
    }
    /// When it was created, in milliseconds since the epoch.
    pub fn created_ms(&self) -> u64 {
        self.created_ms
    }
    /// The settings now.
    pub fn settings(&self) -> Arc<IndexSettings> {
        self.settings.load_full()
    }
    /// The mapping now.
    pub fn mapping(&self) -> Arc<Mapping> {
        self.mapping.load_full()
    }

    /// Counts what the shards hold and have done.
    pub fn stats(&self) -> IndexStats {
        let mut stats = IndexStats::default();
        for shard in &self.shards {
            let view = shard.view();
            stats.shards += 1;
            stats.failed_shards += u32::from(shard.failure().is_some());
            stats.segments += view.segments.len() as u64;
            for segment in &view.segments {
                let alive = u64::from(segment.reader.num_docs());
                stats.docs += alive;
                stats.deleted += u64::from(segment.root_count()) - alive;
                stats.bytes += segment.bytes();
                for (_, column) in segment.vectors().columns() {
                    stats.vectors += column.len() as u64;
                    stats.graph_vectors += if column.has_graph() {
                        column.len() as u64
                    } else {
                        0
                    };
                }
            }
            let counters = &shard.counters;
            stats.indexed_total += counters.indexed.load(Ordering::Relaxed);
            stats.deleted_total += counters.deleted.load(Ordering::Relaxed);
            stats.refreshes_total += counters.refreshes.load(Ordering::Relaxed);
            stats.flushes_total += counters.flushes.load(Ordering::Relaxed);
            stats.merges_total += counters.merges.load(Ordering::Relaxed);
            let merges = &shard.merge_state;
            stats.graphs_refused_total += merges.graphs_refused.load(Ordering::Relaxed);
            stats.graphs_resumed_total += merges.graphs_resumed.load(Ordering::Relaxed);
            stats.buffer_bytes += shard.buffer_bytes() as u64;
        }
        for merge in self.running_merges() {
            stats.merges_running += 1;
            stats.merge_rows_done += merge.vectors.rows_done as u64;
            stats.merge_rows_total += merge.vectors.rows_total as u64;
        }
        stats
    }

    /// The merges that are running now.
    pub fn running_merges(&self) -> Vec<RunningMerge> {
        let running = self.shards.iter().filter(|shard| {
            let state = &shard.merge_state;
            state.running.load(Ordering::Relaxed)
        });
        let merge = |shard: &Arc<Shard>| RunningMerge {
            shard: shard.place.number,
            vectors: shard.merge_state.progress.status(),
        };
        running.map(merge).collect()
    }

    /// The shard of a routing key.
    pub(crate) fn shard_of(&self, key: &str) -> &Arc<Shard> {
        let count = u32::try_from(self.shards.len()).expect("shard counts are limited");
        &self.shards[shard_of(key, count) as usize]
    }

    /// Parses a document under the mapping, which grows first by the fields that the document
    /// brings; `grow` makes that durable.
    pub(crate) fn prepare(
        &self,
        id: &str,
        source: &[u8],
        grow: &dyn Fn(Vec<NewField>) -> Result<(), EngineError>,
    ) -> Result<Prepared, EngineError> {
        for _ in 0..MAPPING_ROUNDS_MAX {
            let mapping = self.mapping();
            let parsed =
                mapping
                    .parse_document(source)
                    .map_err(|source| EngineError::Document {
                        id: id.to_string(),
                        source,
                    })?;
            match parsed {
                Parsed::NeedsMapping(fields) => grow(fields)?,
                Parsed::Document(document) => {
                    let (fields, vectors) = (document.fields, document.vectors);
                    let nested = document.nested;
                    let source = document.source.into_owned();
                    return Ok(Prepared {
                        mapping,
                        fields,
                        vectors,
                        source,
                        nested,
                    });
                }
            }
        }
        Err(EngineError::InvalidRequest {
            reason: format!("[{id}]: the mapping keeps changing, try again"),
        })
    }
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
        WriteResult::NotFound | WriteResult::Noop => {}
    }
}
