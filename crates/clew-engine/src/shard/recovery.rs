//! Opening a shard: the newest manifest's segments. What the log has beyond its checkpoint is
//! replayed by the engine, which reads the log once for all shards.

use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arc_swap::ArcSwap;
use clew_log::Glsn;
use clew_platform::{Disk, TEMPORARY_SUFFIX};
use clew_query::index_disk_error;
use clew_schema::{Mapping, Parsed};
use parking_lot::Mutex;
use tantivy::index::SegmentId;
use tokio::sync::watch;

use super::file_names::is_shard_file;
use super::flush::FlushState;
use super::health::{Remedy, ShardHealth};
use super::manifest::{Manifest, read_alive};
use super::merge_job::{forget, interrupted};
use super::price::RecentPrice;
use super::segment::SegmentView;
use super::writer::{BufferLimits, WriterSegment};
use super::{
    CopyMemory, Prepared, Shard, ShardContext, ShardCounters, ShardDirectory, ShardPlace, Writer,
};
use crate::base::error::{EngineError, io_error};
use crate::base::operation::{Body, DocumentOperation};
use crate::base::waiting::Seats;

/// What the newest manifest of a shard says, opened.
pub(super) struct Loaded {
    pub(super) writer: Writer,
    pub(super) flushed: FlushState,
}

impl Shard {
    /// Opens a shard, or makes an empty one where there is none. A shard whose files are damaged, or whose
    /// folder cannot be had, is there too, but answers every request with the reason.
    pub(crate) fn open(
        place: ShardPlace,
        context: ShardContext,
        mapping: Arc<Mapping>,
    ) -> Result<Shard, EngineError> {
        remove_temporary(&*context.disk, &place.dir);
        let health = Arc::new(ShardHealth::new(context.healer.clone()));
        let directory =
            ShardDirectory::new(context.disk.clone(), place.dir.clone(), health.clone());
        let opening = Opening {
            place: &place,
            context: &context,
            directory: &directory,
            health: &health,
        };
        // Nothing is read that was not checked; should something stumble over it all the same, the node must start.
        let loaded = catch_unwind(AssertUnwindSafe(|| opening.load(&mapping)));
        let loaded = loaded.unwrap_or_else(|_| {
            let reason = "to open it ran into a defect of the program".to_string();
            Err(EngineError::Corrupt {
                path: opening.place.dir.clone(),
                reason,
            })
        });
        let loaded = loaded.or_else(|error| {
            tracing::error!(index = place.index.get(), shard = place.number, %error, "shard is damaged");
            // What was found damaged is known by its own words already.
            health.fail(remedy_of(&error), &reason_of(&error));
            opening.empty(mapping)
        })?;
        let Loaded {
            mut writer,
            flushed,
        } = loaded;
        let published = writer.publish(&place, &context.clock, None);
        let view = published
            .map_err(|source| opening.tantivy_error(source))?
            .expect("a new writer always has something to publish");
        let shard = Shard {
            counters: ShardCounters::default(),
            candidate_price: RecentPrice::default(),
            fetch_price: RecentPrice::default(),
            health,
            directory,
            writers: Seats::new(context.writers),
            writer: Mutex::new(writer),
            sealing: Mutex::new(()),
            view: ArcSwap::from_pointee(view),
            published: watch::channel(0).0,
            flushing: Mutex::new(flushed),
            merging: Mutex::new(()),
            unwritten: AtomicU64::new(0),
            merge_state: Arc::default(),
            place,
            context,
        };
        shard.find_interrupted_merge();
        Ok(shard)
    }

    /// A merge that was interrupted goes on only with the very segments that it began with.
    fn find_interrupted_merge(&self) {
        if self.remedy().is_some() {
            return;
        }
        let (disk, dir) = (&*self.context.disk, &self.place.dir);
        let saved = interrupted(disk, dir);
        let segments = &self.flushing.lock().segments;
        if !saved.is_empty() && saved.iter().all(|id| segments.contains_key(id)) {
            *self.merge_state.interrupted.lock() = saved;
        } else {
            forget(disk, dir);
        }
    }

    /// Publishes what was recovered, under the mapping as the log has left it: the catalog may have been
    /// saved before fields were added that segments already have.
    pub(crate) fn catch_up(&self, mapping: &Arc<Mapping>) -> Result<(), EngineError> {
        let mut writer = self.writer()?;
        let adopted = writer.adopt(mapping);
        self.applied_all(&writer, adopted)?;
        drop(writer);
        self.refresh()
    }

    /// Applies an operation of the log unless the checkpoint covers it.
    pub(crate) fn replay(
        &self,
        operation: DocumentOperation<'_>,
        mapping: &Arc<Mapping>,
        glsn: Glsn,
    ) -> Result<(), EngineError> {
        let mut writer = self.writer()?;
        // The log is read from the least checkpoint of all shards; this one may have more.
        if glsn <= writer.applied {
            return Ok(());
        }
        let document = self.prepare_logged(&operation, mapping)?;
        let replayed = writer.replay(&operation, document, glsn, self.context.clock.monotonic());
        replayed.map_err(|error| self.told(error))
    }

    /// Parses a logged document; none where one was removed. The mapping is at least as long as it was when the document was
    /// accepted; fields that it did not know then stay unknown, whatever `dynamic` says today.
    pub(super) fn prepare_logged(
        &self,
        operation: &DocumentOperation<'_>,
        mapping: &Arc<Mapping>,
    ) -> Result<Option<Prepared>, EngineError> {
        let Body::Index { vectors, source } = &operation.body else {
            return Ok(None);
        };
        let mut copies = CopyMemory::of_logged(&self.context.merges.memory);
        let text = (*source, vectors.clone());
        let Parsed::Document(document) = copies.parse(mapping, operation.id, text)? else {
            let reason = format!(
                "logged document [{}] does not fit its mapping",
                operation.id
            );
            return Err(EngineError::InvalidRequest { reason });
        };
        let mut document = Prepared::of(mapping.clone(), document, copies.into_taken());
        document.restore_queries(self.context.query_reader);
        Ok(Some(document))
    }
}

/// What helps a shard that could not be opened: a disk that refuses now may answer later, as may a process that has no
/// descriptor to spare.
fn remedy_of(error: &EngineError) -> Remedy {
    match refusal(error) {
        Some(source) => match source.kind() {
            // Something is gone, or another thing is in its place.
            ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
                Remedy::Repair
            }
            _ => Remedy::Rebuild,
        },
        None => Remedy::Repair,
    }
}

/// What is told of a shard that could not be opened: also what the system has said.
fn reason_of(error: &EngineError) -> String {
    match error {
        EngineError::Io { source, .. } => format!("{error}: {source}"),
        _ => error.to_string(),
    }
}

/// What the system has said, where that is what is wrong; what was found in a file has no number of the system's.
fn refusal(error: &EngineError) -> Option<&io::Error> {
    match error {
        EngineError::Io { source, .. } => Some(source),
        EngineError::Tantivy { source, .. } => {
            index_disk_error(source).filter(|source| source.raw_os_error().is_some())
        }
        _ => None,
    }
}

/// What a shard is made of when it is opened, for the first time or again.
pub(super) struct Opening<'a> {
    pub(super) place: &'a ShardPlace,
    pub(super) context: &'a ShardContext,
    pub(super) directory: &'a ShardDirectory,
    pub(super) health: &'a Arc<ShardHealth>,
}

impl Opening<'_> {
    /// The newest manifest's segments. A folder that is missing is made.
    pub(super) fn load(&self, mapping: &Arc<Mapping>) -> Result<Loaded, EngineError> {
        let (disk, dir) = (&*self.context.disk, &self.place.dir);
        let made = disk.create_dir_all_durable(dir);
        made.map_err(io_error("create", dir))?;
        let manifest = Manifest::newest(disk, dir)?;
        let mut loaded = self.empty(mapping.clone())?;
        let Some(manifest) = manifest else {
            return Ok(loaded);
        };
        let Loaded { writer, flushed } = &mut loaded;
        flushed.number = manifest.number;
        flushed.checkpoint = Glsn::new(manifest.checkpoint);
        writer.applied = flushed.checkpoint;
        writer.next_seq_no = manifest.next_seq_no;
        for named in manifest.segments {
            let corrupt = || EngineError::Corrupt {
                path: dir.clone(),
                reason: format!("the manifest names a segment [{}]", named.id),
            };
            let id = SegmentId::from_uuid_string(&named.id).map_err(|_| corrupt())?;
            let read = |name: &String| read_alive(disk, &dir.join(name), named.doc_count);
            let alive = named.alive.as_ref().map(read).transpose()?.map(Arc::new);
            let bytes = named.files.iter().map(|file| file.bytes).sum();
            for file in &named.files {
                self.directory.expect(&file.name, file.sum);
            }
            let view = SegmentView::open(&writer.index, id, named.doc_count, alive, bytes)
                .map_err(|source| self.tantivy_error(source))?;
            flushed
                .segments
                .insert(id, (view.alive_count(), named.alive));
            writer.segments.push(WriterSegment::new(view));
        }
        Ok(loaded)
    }

    /// A shard without segments.
    fn empty(&self, mapping: Arc<Mapping>) -> Result<Loaded, EngineError> {
        let context = self.context;
        let buffers = BufferLimits {
            buffer_bytes_max: context.buffer_bytes_max,
            writers: context.writers,
            memory: context.merges.memory.clone(),
        };
        let writer = Writer::new(
            context.log.clone(),
            self.place.stream,
            self.directory.clone(),
            mapping,
            (buffers, self.health.clone()),
        );
        Ok(Loaded {
            writer: writer.map_err(|source| self.tantivy_error(source))?,
            flushed: FlushState::default(),
        })
    }

    fn tantivy_error(&self, source: tantivy::TantivyError) -> EngineError {
        let place = format!("[{}][{}]", self.place.index, self.place.number);
        EngineError::Tantivy { place, source }
    }
}

/// Removes what a crash has left of files that were being written. Failing is no error: nothing refers to them.
fn remove_temporary(disk: &dyn Disk, dir: &Path) {
    for path in disk.list(dir).unwrap_or_default() {
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| name.ends_with(TEMPORARY_SUFFIX) && is_shard_file(name))
            && let Err(error) = disk.remove_file(&path)
        {
            tracing::warn!(path = %path.display(), %error, "cannot remove an unfinished file");
        }
    }
}
