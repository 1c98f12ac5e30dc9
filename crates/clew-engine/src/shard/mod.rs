//! A shard: one log stream's documents as searchable segments.
//!
//! Writes go through [`Writer`], under one lock: number, log, apply to the buffer. A
//! refresh seals the buffer into a segment and publishes a [`View`]; searches only ever see views.
//! A flush makes the segments durable and moves the checkpoint; a merge replaces segments by one.
//! Built on tantivy without its `IndexWriter`: `docs/decisions/0002-shard-without-index-writer.md`.

mod alive;
mod apply;
mod directory;
mod document;
mod flush;
mod manifest;
mod merge;
mod merge_choice;
mod merge_job;
mod norms;
mod recovery;
mod reorder;
mod row_plugin;
mod segment;
mod source_plugin;
mod vector_plugin;
mod writer;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use clew_log::{Glsn, Log, StreamId};
use clew_platform::{Clock, Disk};
use clew_text::{QueryReader, Snapshot};
use parking_lot::{Mutex, MutexGuard};
use tantivy::DocId;
use tokio::sync::watch;

use crate::activity::Timed;
use crate::error::EngineError;

pub(crate) use alive::AliveBits;
pub(crate) use apply::{Prepared, ShardAction, ShardWrite, Target};
pub(crate) use manifest::io_error;
pub(crate) use merge::{MergeGoal, MergeOrder};
pub(crate) use merge_job::{MergeLimits, MergeState};
pub(crate) use segment::SegmentView;
pub(crate) use writer::Writer;

use directory::ShardDirectory;

/// Where a shard belongs.
#[derive(Clone, Debug)]
pub(crate) struct ShardPlace {
    pub(crate) index: String,
    pub(crate) number: u32,
    pub(crate) stream: StreamId,
    pub(crate) dir: PathBuf,
}

/// What a shard needs of the node.
#[derive(Clone, Debug)]
pub(crate) struct ShardContext {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) log: Log,
    /// A buffer that has grown to this is sealed into a segment.
    pub(crate) buffer_bytes_max: usize,
    /// Reads the queries that documents store.
    pub(crate) query_reader: Option<QueryReader>,
    pub(crate) merges: MergeLimits,
}

/// A searchable state of a shard.
pub(crate) struct View {
    /// What queries run over.
    pub(crate) snapshot: Snapshot,
    /// Our files beside it, in the same order.
    pub(crate) segments: Vec<SegmentView>,
}

/// Counts of what a shard has done since it was opened.
#[derive(Debug, Default)]
pub(crate) struct ShardCounters {
    pub(crate) indexed: AtomicU64,
    pub(crate) deleted: AtomicU64,
    pub(crate) refreshes: Timed,
    pub(crate) flushes: Timed,
    pub(crate) merges: Timed,
    /// What the parts of all merges held.
    pub(crate) merged_docs: AtomicU64,
    pub(crate) merged_bytes: AtomicU64,
}

impl ShardCounters {
    fn add(counter: &AtomicU64, count: u64) {
        counter.fetch_add(count, Ordering::Relaxed);
    }
}

/// One shard. Lock order: `flushing`, `merging`, `writer`.
pub(crate) struct Shard {
    pub(crate) place: ShardPlace,
    pub(crate) counters: ShardCounters,
    /// Why nothing of the shard can be read, when its files are damaged.
    damage: Option<String>,
    context: ShardContext,
    directory: ShardDirectory,
    writer: Mutex<Writer>,
    view: ArcSwap<View>,
    /// Rises with every published view.
    published: watch::Sender<u64>,
    flushing: Mutex<flush::FlushState>,
    merging: Mutex<()>,
    /// How the running merge is getting on.
    pub(crate) merge_state: Arc<MergeState>,
}

/// Where the living version of a document lies.
pub(crate) enum Located {
    /// Not yet in a segment: it is read from the log.
    Log(Glsn),
    /// In a segment.
    Segment(Box<SegmentView>, DocId),
}

impl Shard {
    /// What searches see now.
    pub(crate) fn view(&self) -> Arc<View> {
        self.view.load_full()
    }

    /// Takes the write lock; fails when the shard has failed.
    pub(crate) fn writer(&self) -> Result<MutexGuard<'_, Writer>, EngineError> {
        let writer = self.writer.lock();
        match writer.failure() {
            None => Ok(writer),
            Some(reason) => Err(self.failed(reason)),
        }
    }

    /// Fails when the shard's files are damaged: an empty answer would be a lie.
    pub(crate) fn check_readable(&self) -> Result<(), EngineError> {
        self.damage
            .as_ref()
            .map_or(Ok(()), |damage| Err(self.failed(damage)))
    }

    fn failed(&self, reason: &str) -> EngineError {
        let (index, reason) = (self.place.index.clone(), reason.to_string());
        EngineError::ShardFailed {
            index,
            shard: self.place.number,
            reason,
        }
    }

    /// The first failure, after which the shard takes no more writes.
    pub(crate) fn failure(&self) -> Option<String> {
        self.writer.lock().failure().map(str::to_string)
    }

    /// Finds the living version of a document, whether searches see it already or not.
    pub(crate) fn locate(&self, id: &str) -> Result<Option<Located>, EngineError> {
        self.check_readable()?;
        self.writer
            .lock()
            .locate(id)
            .map_err(|source| self.tantivy_error(source))
    }

    /// Makes all writes visible to searches.
    pub(crate) fn refresh(&self) -> Result<(), EngineError> {
        let mut writer = self.writer()?;
        self.publish(&mut writer)
    }

    /// Seals the buffer and shows searches the writer's segments, when anything has changed.
    fn publish(&self, writer: &mut Writer) -> Result<(), EngineError> {
        let started = self.context.clock.monotonic();
        let view = writer
            .publish(&self.context.clock, Some(&self.view()))
            .map_err(|source| {
                writer.fail(&source);
                self.tantivy_error(source)
            })?;
        if let Some(view) = view {
            self.view.store(Arc::new(view));
            self.counters.refreshes.add(self.since(started));
            self.published.send_modify(|count| *count += 1);
        }
        Ok(())
    }

    /// Time that has passed since a moment of the clock.
    fn since(&self, started: Duration) -> Duration {
        self.context.clock.monotonic().saturating_sub(started)
    }

    /// Whether searches see everything up to a position.
    pub(crate) fn is_visible(&self, glsn: Glsn) -> bool {
        self.writer
            .lock()
            .first_invisible()
            .is_none_or(|first| first > glsn)
    }

    /// The first position that searches do not see yet; `None` when they see everything.
    pub(crate) fn first_invisible(&self) -> Option<Glsn> {
        self.writer.lock().first_invisible()
    }

    /// Whether there is something a refresh would show.
    pub(crate) fn is_dirty(&self) -> bool {
        let writer = self.writer.lock();
        writer.failure().is_none() && writer.first_invisible().is_some()
    }

    /// Stops the shard: it refuses writes from now on, what searches see stays.
    pub(crate) fn fail(&self, cause: &EngineError) {
        self.writer.lock().fail(cause);
    }

    /// Lets the running merge fail as soon as it can, and every later one at once.
    pub(crate) fn stop_merging(&self) {
        self.merge_state.progress.cancel();
    }

    /// Bytes of the documents that are in no segment yet.
    pub(crate) fn buffer_bytes(&self) -> usize {
        self.writer.lock().buffer_bytes()
    }

    /// Ends the shard's life with its index: writes, flushes and merges fail from now on.
    pub(crate) fn retire(&self) {
        self.stop_merging();
        self.writer.lock().refuse("the index was deleted");
    }

    /// Changes whenever a view is published.
    pub(crate) fn published(&self) -> watch::Receiver<u64> {
        self.published.subscribe()
    }

    pub(crate) fn tantivy_error(&self, source: tantivy::TantivyError) -> EngineError {
        let place = format!("[{}][{}]", self.place.index, self.place.number);
        EngineError::Tantivy { place, source }
    }
}
