//! The write side of a shard: the buffers, the segments, and where a document's current version
//! lies, found by its id in the buffers' map or in the id postings of the segments.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use clew_log::{Glsn, Log, StreamId};
use clew_platform::{Clock, MemoryAccount};
use clew_schema::Mapping;
use clew_search::Snapshot;
use tantivy::index::SegmentId;
use tantivy::store::{Compressor, ZstdCompressor};
use tantivy::{DocId, Index, IndexSettings, SegmentPlugin, TantivyError};

use super::apply::Target;
use super::filling::{Buffer, Turn};
use super::health::{Remedy, ShardHealth};
use super::merge_job::MergeJob;
use super::row_plugin::RowPlugin;
use super::sealing::Sealing;
use super::segment::{SegmentRows, SegmentView, empty_searcher};
use super::source_plugin::SourcePlugin;
use super::vector_plugin::VectorPlugin;
use super::{AliveBits, Located, ShardDirectory, ShardPlace, View};
use crate::base::error::EngineError;
use crate::base::operation::decode;
use crate::shard::update::with_vectors;

/// tantivy's own document store has no fields to keep, one empty entry for each document: blocks of many.
const STORE_BLOCK_BYTES: usize = 64 << 10;
/// How long the version of a deleted document is remembered.
const TOMBSTONE_LIFE: Duration = Duration::from_secs(60);

/// A segment as the writer knows it: ahead of the published view by the latest deletes.
pub(super) struct WriterSegment {
    pub(super) view: SegmentView,
    pub(super) alive: Option<AliveBits>,
    /// Deletes have come since the view's reader was opened.
    pub(super) dirty: bool,
}

impl WriterSegment {
    pub(super) fn new(view: SegmentView) -> Self {
        let alive = view.alive.as_deref().cloned();
        WriterSegment {
            view,
            alive,
            dirty: false,
        }
    }
    pub(super) fn alive_count(&self) -> u32 {
        self.alive
            .as_ref()
            .map_or(self.view.doc_count(), AliveBits::alive_count)
    }
    /// Kills a document with its nested objects.
    pub(super) fn kill(&mut self, doc: DocId) {
        for row in self.view.rows_of(doc) {
            self.kill_row(row);
        }
    }
    pub(super) fn kill_row(&mut self, row: DocId) {
        let count = self.view.doc_count();
        let alive = self.alive.get_or_insert_with(|| AliveBits::full(count));
        self.dirty |= alive.kill(row);
    }
    fn find(&self, id: &str) -> tantivy::Result<Option<DocId>> {
        self.view.find_where(id, |doc| {
            self.alive.as_ref().is_none_or(|alive| alive.is_alive(doc))
        })
    }
}

/// Something of each document by its id. Each document is looked for once and put in once, which the standard library's hash
/// made a thirtieth of writing; this one is seeded as well.
pub(super) type ById<T> = HashMap<String, T, foldhash::quality::RandomState>;

/// How much of a shard may be in its buffers, and what that is booked on.
#[derive(Clone, Debug)]
pub(super) struct BufferLimits {
    /// A buffer that has grown to this is sealed into a segment.
    pub(super) buffer_bytes_max: usize,
    /// So many groups of writes fill buffers at once.
    pub(super) writers: usize,
    pub(super) memory: Arc<MemoryAccount>,
}

/// Whether the buffers have to become segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fullness {
    HasRoom,
    /// As soon as nobody makes another one.
    IsDue,
    /// Who writes waits for it.
    IsOver,
}

/// A document that is in a buffer, or will be.
#[derive(Clone, Copy)]
pub(super) struct Buffered {
    /// The buffer's place among those that are filled, or were taken out, together.
    pub(super) buffer: usize,
    /// The first of its nested objects, or itself.
    pub(super) first: DocId,
    pub(super) doc: DocId,
    pub(super) glsn: Glsn,
    pub(super) seq_no: u64,
    pub(super) version: u64,
}

/// The living version of a document.
#[derive(Clone, Copy)]
pub(super) struct Current {
    pub(super) seq_no: u64,
    pub(super) version: u64,
    pub(super) place: DocumentPlace,
}

#[derive(Clone, Copy)]
pub(super) enum DocumentPlace {
    Buffer { glsn: Glsn },
    Segment { position: usize, doc: DocId },
}

pub(super) struct Tombstone {
    pub(super) version: u64,
    pub(super) at: Duration,
}

/// The write side of a shard.
pub(crate) struct Writer {
    pub(super) log: Log,
    pub(super) stream: StreamId,
    pub(super) directory: ShardDirectory,
    pub(super) limits: BufferLimits,
    pub(super) mapping: Arc<Mapping>,
    /// Opens segments under the mapping's schema.
    pub(super) index: Index,
    pub(super) buffers: Vec<Buffer>,
    /// Where the documents of the buffers are.
    pub(super) buffered: ById<Buffered>,
    /// What the present group of writes fills.
    pub(super) turn: Option<Turn>,
    /// That group is worth a buffer of its own.
    pub(super) has_large_group: bool,
    /// The numbers of its operations of whose documents, as far as they were put in at once, analysis has left something out.
    pub(super) left_out: Vec<u64>,
    pub(super) sealing: Option<Sealing>,
    /// How often buffers were sealed under the lock.
    pub(super) seals: u64,
    pub(super) segments: Vec<WriterSegment>,
    pub(super) tombstones: ById<Tombstone>,
    pub(super) next_seq_no: u64,
    /// The last operation applied.
    pub(super) applied: Glsn,
    pub(super) first_invisible: Option<Glsn>,
    /// The segment list differs from the published view's.
    pub(super) changed: bool,
    /// Bytes of operations since the last flush.
    pub(super) unflushed_bytes: u64,
    /// Their number.
    pub(super) unflushed_operations: u64,
    pub(super) health: Arc<ShardHealth>,
    /// Rises when the shard is rebuilt: what was under way then, like a merge, is of another life.
    pub(super) life: u64,
}

/// A tantivy index over the shard's files under a mapping. Each segment is written through an
/// index of its own, because tantivy's list of managed files only grows.
pub(super) fn open_index(
    directory: ShardDirectory,
    mapping: &Arc<Mapping>,
) -> tantivy::Result<Index> {
    let vectors = VectorPlugin::new(mapping.clone());
    open_with(directory, mapping, vectors)
}

/// The same for segments that a job merges.
pub(super) fn open_index_to_merge(
    directory: ShardDirectory,
    mapping: &Arc<Mapping>,
    job: Arc<MergeJob>,
) -> tantivy::Result<Index> {
    let vectors = VectorPlugin::merging(mapping.clone(), job);
    open_with(directory, mapping, vectors)
}

fn open_with(
    directory: ShardDirectory,
    mapping: &Arc<Mapping>,
    vectors: VectorPlugin,
) -> tantivy::Result<Index> {
    let settings = IndexSettings {
        docstore_compression: Compressor::Zstd(ZstdCompressor::default()),
        docstore_blocksize: STORE_BLOCK_BYTES,
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    };
    let mut index = Index::create(directory, mapping.schema().clone(), settings)?;
    index.set_tokenizers(mapping.tokenizers());
    index.set_fast_field_tokenizers(mapping.tokenizers());
    let plugins: [Arc<dyn SegmentPlugin>; 3] = [
        Arc::new(RowPlugin),
        Arc::new(SourcePlugin),
        Arc::new(vectors),
    ];
    for plugin in plugins {
        index.register_plugin(plugin);
    }
    Ok(index)
}

impl Writer {
    pub(super) fn new(
        log: Log,
        stream: StreamId,
        directory: ShardDirectory,
        mapping: Arc<Mapping>,
        (limits, health): (BufferLimits, Arc<ShardHealth>),
    ) -> tantivy::Result<Self> {
        let index = open_index(directory.fork(HashMap::new()), &mapping)?;
        Ok(Writer {
            log,
            stream,
            directory,
            limits,
            mapping,
            index,
            buffers: Vec::new(),
            buffered: ById::default(),
            turn: None,
            has_large_group: false,
            left_out: Vec::new(),
            sealing: None,
            seals: 0,
            segments: Vec::new(),
            tombstones: ById::default(),
            next_seq_no: 0,
            applied: Glsn::ZERO,
            first_invisible: None,
            changed: true,
            unflushed_bytes: 0,
            unflushed_operations: 0,
            health,
            life: 0,
        })
    }

    /// From here on memory lacks something that the log has: nothing is served before it was rebuilt.
    pub(super) fn fail(&self, cause: &dyn std::fmt::Display) {
        tracing::error!(stream = self.stream.get(), %cause, "shard failed, it will be rebuilt");
        self.health.fail(Remedy::Rebuild, &cause.to_string());
    }
    pub(super) fn first_invisible(&self) -> Option<Glsn> {
        let sealing = self.sealing.as_ref();
        let sealing = sealing.and_then(|sealing| sealing.first_invisible);
        sealing.or(self.first_invisible)
    }
    /// Segments, those included that searches do not see yet.
    pub(crate) fn segment_count(&self) -> usize {
        self.segments.len()
    }
    /// Bytes of operations since the last flush.
    pub(crate) fn unflushed_bytes(&self) -> u64 {
        self.unflushed_bytes
    }
    pub(super) fn mapping(&self) -> &Arc<Mapping> {
        &self.mapping
    }

    pub(super) fn tantivy_error(&self, source: TantivyError) -> EngineError {
        EngineError::Tantivy {
            place: format!("stream {}", self.stream.get()),
            source,
        }
    }

    pub(super) fn current(&self, id: &str) -> Result<Option<Current>, EngineError> {
        self.find(id).map_err(|source| self.tantivy_error(source))
    }

    fn find(&self, id: &str) -> tantivy::Result<Option<Current>> {
        let sealing = || self.sealing.as_ref()?.buffered.get(id);
        if let Some(found) = self.buffered.get(id).or_else(sealing) {
            let glsn = found.glsn;
            return Ok(Some(Current {
                seq_no: found.seq_no,
                version: found.version,
                place: DocumentPlace::Buffer { glsn },
            }));
        }
        for (position, segment) in self.segments.iter().enumerate().rev() {
            if let Some(doc) = segment.find(id)? {
                let row = segment.view.row(doc)?;
                let place = DocumentPlace::Segment { position, doc };
                return Ok(Some(Current {
                    seq_no: row.seq_no,
                    version: row.version,
                    place,
                }));
            }
        }
        Ok(None)
    }

    /// The ids of the segments that are being filled and written, of which files are on the disk already.
    pub(super) fn unfinished_segments(&self) -> HashSet<String> {
        let filling = self.buffers.iter().map(|buffer| buffer.segment.id());
        let sealing = self.sealing.iter().flat_map(Sealing::segments);
        let both = filling.chain(sealing);
        both.map(|id| id.uuid_string()).collect()
    }

    /// Memory of the segments being filled and written, those documents included that are not there yet.
    pub(crate) fn buffer_bytes(&self) -> usize {
        let filling = self.buffers.iter().map(|buffer| buffer.contents.bytes());
        let sealing = self.sealing.as_ref();
        filling.sum::<usize>() + sealing.map_or(0, |sealing| sealing.bytes)
    }

    /// Where a document's living version lies.
    pub(super) fn locate(&self, id: &str) -> tantivy::Result<Option<Located>> {
        Ok(self.find(id)?.map(|current| match current.place {
            DocumentPlace::Buffer { glsn } => Located::Log(glsn),
            DocumentPlace::Segment { position, doc } => {
                Located::Segment(Box::new(self.segments[position].view.clone()), doc)
            }
        }))
    }

    /// The target of an update, and the source of the document that is there: it stays routed by the key that it has, whichever
    /// one led to it.
    pub(super) fn there(
        &self,
        target: Target,
        current: Option<Current>,
    ) -> Result<(Target, Option<Vec<u8>>), EngineError> {
        let Some(current) = current else {
            return Ok((target, None));
        };
        let (source, routing) = self.kept(current)?;
        Ok((Target { routing, ..target }, Some(source)))
    }

    /// A document's source, and the key that it is routed by.
    fn kept(&self, current: Current) -> Result<(Vec<u8>, Option<String>), EngineError> {
        match current.place {
            DocumentPlace::Buffer { glsn } => {
                let entry = self.log.read(glsn)?;
                let operation = decode(&entry.payload)?;
                let routing = operation.routing.map(str::to_string);
                Ok((with_vectors(&self.mapping, operation.body), routing))
            }
            DocumentPlace::Segment { position, doc } => {
                let view = &self.segments[position].view;
                let read = || -> tantivy::Result<_> {
                    let routing = view.row(doc)?.routing.map(str::to_string);
                    Ok((view.source(doc, &self.mapping)?, routing))
                };
                read().map_err(|source| EngineError::Tantivy {
                    place: format!("stream {}", self.stream.get()),
                    source,
                })
            }
        }
    }

    /// Goes over to a later mapping: the buffers are sealed and every segment opened anew.
    pub(super) fn adopt(&mut self, mapping: &Arc<Mapping>) -> tantivy::Result<()> {
        if !mapping.is_later_than(&self.mapping) {
            return Ok(());
        }
        self.seal()?;
        self.mapping = mapping.clone();
        self.index = open_index(self.directory.fork(HashMap::new()), mapping)?;
        for segment in &mut self.segments {
            segment.view = segment
                .view
                .reopen(&self.index, segment.view.alive.clone())?;
        }
        self.changed = true;
        Ok(())
    }

    /// Opens segments again whose files were written anew.
    pub(super) fn read_anew(&mut self, ids: &[SegmentId]) -> tantivy::Result<()> {
        for segment in &mut self.segments {
            let view = &segment.view;
            if ids.contains(&view.files.id) {
                let (id, count) = (view.files.id, view.doc_count());
                let alive = view.alive.clone();
                segment.view = SegmentView::open(&self.index, id, count, alive, view.bytes())?;
                self.changed = true;
            }
        }
        Ok(())
    }

    /// Documents that have died by now are dead in the next view.
    pub(super) fn settle_deletes(&mut self, clock: &Arc<dyn Clock>) -> tantivy::Result<()> {
        let now = clock.monotonic();
        self.tombstones
            .retain(|_, stone| now.saturating_sub(stone.at) < TOMBSTONE_LIFE);
        for segment in self.segments.iter_mut().filter(|segment| segment.dirty) {
            let alive = segment.alive.clone().map(Arc::new);
            segment.view = segment.view.reopen(&self.index, alive)?;
            segment.dirty = false;
            self.changed = true;
        }
        Ok(())
    }

    /// Seals the buffers and gives the view that shows everything, as one of a shard; `None` when nothing changed.
    pub(super) fn publish(
        &mut self,
        place: &ShardPlace,
        clock: &Arc<dyn Clock>,
        before: Option<&View>,
    ) -> tantivy::Result<Option<View>> {
        self.seal()?;
        self.settle_deletes(clock)?;
        self.first_invisible = None;
        self.show(place, before)
    }

    /// The view that shows what the segments' own views do; `None` when nothing changed.
    pub(super) fn show(
        &mut self,
        place: &ShardPlace,
        before: Option<&View>,
    ) -> tantivy::Result<Option<View>> {
        if !std::mem::take(&mut self.changed) {
            return Ok(None);
        }
        self.segments
            .retain(|segment| segment.view.alive_count() > 0);
        let segments: Vec<SegmentView> = self.segments.iter().map(|s| s.view.clone()).collect();
        let readers = segments
            .iter()
            .map(|segment| segment.reader.clone())
            .collect();
        let stub = empty_searcher(&self.index)?;
        let mapping = self.mapping.clone();
        let snapshot = match before {
            Some(view) => view.snapshot.successor(mapping, readers, stub),
            None => Snapshot::new(mapping, readers, stub),
        };
        let blocks = segments.iter().map(|segment| segment.blocks().cloned());
        let snapshot = snapshot.with_blocks(blocks.collect());
        let files = segments.iter().map(|segment| segment.files.clone());
        let rows = SegmentRows(files.collect());
        let snapshot = snapshot.in_index(place.index.clone(), place.number);
        let snapshot = snapshot.with_rows(Arc::new(rows));
        Ok(Some(View { snapshot, segments }))
    }
}
