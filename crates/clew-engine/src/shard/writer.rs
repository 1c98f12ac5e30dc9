//! The write side of a shard, under the shard's lock: number an operation, append it to the log,
//! apply it to the buffer. A document's current state is found by its id in the buffer's map or in
//! the id postings of the segments.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use clew_log::{Durability, Glsn, Log, NewEntry, StreamId};
use clew_platform::Clock;
use clew_text::{FieldId, Mapping, Snapshot, analyzers};
use tantivy::index::Segment;
use tantivy::indexer::{AddOperation, SegmentWriter};
use tantivy::schema::{Field, OwnedValue};
use tantivy::store::Compressor;
use tantivy::{DocId, Index, IndexSettings, SegmentPlugin, TantivyError};

use super::document::{Row, SegmentDocument};
use super::row_plugin::RowPlugin;
use super::segment::{SegmentView, empty_searcher};
use super::vector_plugin::VectorPlugin;
use super::{AliveBits, Located, ShardDirectory, View};
use crate::error::EngineError;
use crate::operation::{Body, DocumentOperation, decode, encode_head};
use crate::request::{Condition, OpType, UpdateSpec, WriteResult};
use crate::update::{Merged, merge_source, with_vectors};

/// Sizes the term hash table of a segment writer; not a limit.
const TERM_TABLE_BUDGET_BYTES: usize = 16 << 20;
/// Sources are compressed in blocks of this size: small enough that one hit costs microseconds.
const STORE_BLOCK_BYTES: usize = 4096;
/// How long the version of a deleted document is remembered.
const TOMBSTONE_LIFE: Duration = Duration::from_secs(60);
/// The buffer's size is asked for after this many documents.
const BUFFER_CHECK_DOCS: u32 = 32;
/// There is one writer of a shard for ever: the term is fixed.
pub(crate) const PRIMARY_TERM: u64 = 1;

/// A document that has been parsed under a mapping.
pub(crate) struct Prepared {
    pub(crate) mapping: Arc<Mapping>,
    pub(crate) fields: Vec<(Field, OwnedValue)>,
    pub(crate) vectors: Vec<(FieldId, Vec<f32>)>,
    /// JSON without the vectors.
    pub(crate) source: Vec<u8>,
}

/// One write to a shard.
pub(crate) struct ShardWrite {
    pub(crate) id: String,
    /// The id was generated just now, so no other document can have it.
    pub(crate) fresh_id: bool,
    pub(crate) routing: Option<String>,
    pub(crate) action: ShardAction,
    pub(crate) condition: Option<Condition>,
}

/// What a write does to its document.
pub(crate) enum ShardAction {
    Index { document: Prepared, op_type: OpType },
    Update(UpdateSpec),
    Delete,
}

/// What a write did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShardWritten {
    pub(crate) version: u64,
    pub(crate) seq_no: u64,
    pub(crate) glsn: Glsn,
    pub(crate) result: WriteResult,
}

/// Parses a document that came out of an update; may let the mapping grow.
pub(crate) type Prepare<'a> = dyn Fn(&str, &[u8]) -> Result<Prepared, EngineError> + 'a;

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
        WriterSegment { view, alive, dirty: false }
    }
    pub(super) fn alive_count(&self) -> u32 {
        self.alive.as_ref().map_or(self.view.doc_count(), AliveBits::alive_count)
    }
    pub(super) fn kill(&mut self, doc: DocId) {
        let count = self.view.doc_count();
        self.dirty |= self.alive.get_or_insert_with(|| AliveBits::full(count)).kill(doc);
    }
    fn find(&self, id: &str) -> tantivy::Result<Option<DocId>> {
        self.view.find_where(id, |doc| self.alive.as_ref().is_none_or(|alive| alive.is_alive(doc)))
    }
}

/// The segment being filled.
struct Buffer {
    segment: Segment,
    writer: SegmentWriter,
    ids: HashMap<String, Buffered>,
    dead: Vec<DocId>,
}

#[derive(Clone, Copy)]
struct Buffered {
    doc: DocId,
    glsn: Glsn,
    seq_no: u64,
    version: u64,
}

/// The living version of a document.
#[derive(Clone, Copy)]
struct Current {
    seq_no: u64,
    version: u64,
    place: Place,
}

#[derive(Clone, Copy)]
enum Place {
    Buffer { doc: DocId, glsn: Glsn },
    Segment { position: usize, doc: DocId },
}

struct Tombstone {
    version: u64,
    at: Duration,
}

/// The write side of a shard.
pub(crate) struct Writer {
    log: Log,
    stream: StreamId,
    directory: ShardDirectory,
    buffer_bytes_max: usize,
    mapping: Arc<Mapping>,
    /// Opens segments under the mapping's schema.
    pub(super) index: Index,
    buffer: Option<Buffer>,
    pub(super) segments: Vec<WriterSegment>,
    tombstones: HashMap<String, Tombstone>,
    pub(super) next_seq_no: u64,
    /// The last operation applied.
    pub(super) applied: Glsn,
    first_invisible: Option<Glsn>,
    /// The segment list differs from the published view's.
    pub(super) changed: bool,
    /// Bytes of operations since the last flush.
    pub(super) unflushed_bytes: u64,
    failure: Option<String>,
}

/// A tantivy index over the shard's files under a mapping. Each segment is written through an
/// index of its own, because tantivy's list of managed files only grows.
pub(super) fn open_index(directory: ShardDirectory, mapping: &Arc<Mapping>) -> tantivy::Result<Index> {
    let settings = IndexSettings {
        docstore_compression: Compressor::Lz4,
        docstore_blocksize: STORE_BLOCK_BYTES,
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    };
    let mut index = Index::create(directory, mapping.schema().clone(), settings)?;
    index.set_tokenizers(analyzers());
    let plugins: [Arc<dyn SegmentPlugin>; 2] =
        [Arc::new(RowPlugin), Arc::new(VectorPlugin::new(mapping.clone()))];
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
        buffer_bytes_max: usize,
    ) -> tantivy::Result<Self> {
        let index = open_index(directory.fork(HashMap::new()), &mapping)?;
        Ok(Writer {
            log,
            stream,
            directory,
            buffer_bytes_max,
            mapping,
            index,
            buffer: None,
            segments: Vec::new(),
            tombstones: HashMap::new(),
            next_seq_no: 0,
            applied: Glsn::ZERO,
            first_invisible: None,
            changed: true,
            unflushed_bytes: 0,
            failure: None,
        })
    }

    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
    pub(super) fn fail(&mut self, cause: &dyn std::fmt::Display) {
        tracing::error!(stream = self.stream.get(), %cause, "shard failed");
        self.refuse(&cause.to_string());
    }
    pub(super) fn refuse(&mut self, reason: &str) {
        self.failure.get_or_insert_with(|| reason.to_string());
    }
    pub(super) fn first_invisible(&self) -> Option<Glsn> {
        self.first_invisible
    }
    pub(super) fn mapping(&self) -> &Arc<Mapping> {
        &self.mapping
    }

    /// Does one write: checks its condition, numbers it, appends it to the log and applies it.
    /// It is acknowledged only when the log is durable at the position returned.
    pub(crate) fn write(
        &mut self,
        write: ShardWrite,
        prepare: &Prepare<'_>,
        now: Duration,
    ) -> Result<ShardWritten, EngineError> {
        let current = if write.fresh_id { None } else { self.current(&write.id)? };
        check_condition(&write, current.as_ref())?;
        let ShardWrite { id, routing, action, .. } = write;
        match action {
            ShardAction::Index { document, op_type } => {
                if let (OpType::Create, Some(current)) = (op_type, &current) {
                    let version = current.version;
                    let reason = format!("document already exists (current version [{version}])");
                    return Err(EngineError::VersionConflict { id, reason });
                }
                self.index(id, routing, document, current)
            }
            ShardAction::Update(spec) => self.update(id, routing, &spec, current, prepare),
            ShardAction::Delete => self.delete(id, routing, current, now),
        }
    }

    fn index(
        &mut self,
        id: String,
        routing: Option<String>,
        document: Prepared,
        current: Option<Current>,
    ) -> Result<ShardWritten, EngineError> {
        let row = Row { seq_no: self.next_seq_no, version: self.next_version(&id, current), id, routing };
        let operation = DocumentOperation {
            id: &row.id,
            routing: row.routing.as_deref(),
            seq_no: row.seq_no,
            version: row.version,
            body: Body::Index { vectors: Vec::new(), source: &document.source },
        };
        let head = encode_head(&operation, &document.vectors);
        let glsn = self.append(&[&head, &document.source])?;
        let result = if current.is_some() { WriteResult::Updated } else { WriteResult::Created };
        let written = ShardWritten { version: row.version, seq_no: row.seq_no, glsn, result };
        self.apply_index(row, document, current, glsn)?;
        Ok(written)
    }

    fn update(
        &mut self,
        id: String,
        routing: Option<String>,
        spec: &UpdateSpec,
        current: Option<Current>,
        prepare: &Prepare<'_>,
    ) -> Result<ShardWritten, EngineError> {
        let existing = current.map(|current| self.source(current)).transpose()?;
        match merge_source(spec, existing.as_deref())? {
            Merged::Missing => Err(EngineError::DocumentMissing { id }),
            Merged::Noop => {
                let current = current.expect("only an existing document can stay as it is");
                let Current { seq_no, version, .. } = current;
                let result = WriteResult::Noop;
                Ok(ShardWritten { version, seq_no, glsn: self.applied, result })
            }
            Merged::Source(source) => {
                let document = prepare(&id, &source)?;
                self.index(id, routing, document, current)
            }
        }
    }

    fn delete(
        &mut self,
        id: String,
        routing: Option<String>,
        current: Option<Current>,
        now: Duration,
    ) -> Result<ShardWritten, EngineError> {
        let (seq_no, version) = (self.next_seq_no, self.next_version(&id, current));
        let routing = routing.as_deref();
        let operation = DocumentOperation { id: &id, routing, seq_no, version, body: Body::Delete };
        let glsn = self.append(&[&encode_head(&operation, &[])])?;
        let result = if current.is_some() { WriteResult::Deleted } else { WriteResult::NotFound };
        self.apply_delete(id, version, current, glsn, now);
        Ok(ShardWritten { version, seq_no, glsn, result })
    }

    fn next_version(&self, id: &str, current: Option<Current>) -> u64 {
        let last = current.map(|current| current.version);
        last.or_else(|| self.tombstones.get(id).map(|stone| stone.version)).unwrap_or(0) + 1
    }

    fn append(&mut self, parts: &[&[u8]]) -> Result<Glsn, EngineError> {
        let entry = NewEntry { stream: self.stream, parts };
        // The group is synced once, when its last position is waited for.
        let appended = self.log.append(&[entry], Durability::Os)?;
        self.unflushed_bytes += parts.iter().map(|part| part.len() as u64).sum::<u64>();
        self.next_seq_no += 1;
        Ok(appended.first)
    }

    /// Applies an operation read back from the log.
    pub(super) fn replay(
        &mut self,
        operation: DocumentOperation<'_>,
        document: Option<Prepared>,
        glsn: Glsn,
        now: Duration,
    ) -> Result<(), EngineError> {
        let current = self.current(operation.id)?;
        self.next_seq_no = operation.seq_no + 1;
        let (id, routing) = (operation.id.to_string(), operation.routing.map(str::to_string));
        match document {
            Some(document) => {
                let row = Row { id, routing, seq_no: operation.seq_no, version: operation.version };
                self.apply_index(row, document, current, glsn)
            }
            None => {
                self.apply_delete(id, operation.version, current, glsn, now);
                Ok(())
            }
        }
    }

    fn apply_index(
        &mut self,
        row: Row,
        document: Prepared,
        current: Option<Current>,
        glsn: Glsn,
    ) -> Result<(), EngineError> {
        // The log has the operation: from here on an error means that the buffer lacks it.
        self.try_apply_index(row, document, current, glsn).map_err(|source| {
            self.fail(&source);
            EngineError::Tantivy { place: format!("stream {}", self.stream.get()), source }
        })
    }

    fn try_apply_index(
        &mut self,
        row: Row,
        document: Prepared,
        current: Option<Current>,
        glsn: Glsn,
    ) -> tantivy::Result<()> {
        // Adopting a mapping seals the buffer, which moves the current version: kill it first.
        self.kill(&row.id, current);
        self.adopt(&document.mapping)?;
        self.tombstones.remove(&row.id);
        let Prepared { mut fields, vectors, source, .. } = document;
        let source = String::from_utf8(source)
            .map_err(|error| TantivyError::InvalidArgument(error.to_string()))?;
        fields.push((Mapping::ID, OwnedValue::Str(row.id.clone())));
        fields.push((Mapping::SOURCE, OwnedValue::Str(source)));
        let buffer = self.buffer()?;
        let doc = buffer.writer.max_doc();
        let buffered = Buffered { doc, glsn, seq_no: row.seq_no, version: row.version };
        buffer.ids.insert(row.id.clone(), buffered);
        let document = SegmentDocument { fields, vectors, row };
        buffer.writer.add_document(AddOperation { opstamp: 0, document })?;
        let full = (doc + 1).is_multiple_of(BUFFER_CHECK_DOCS)
            && buffer.writer.mem_usage() >= self.buffer_bytes_max;
        self.advance(glsn);
        if full { self.seal() } else { Ok(()) }
    }

    fn apply_delete(
        &mut self,
        id: String,
        version: u64,
        current: Option<Current>,
        glsn: Glsn,
        now: Duration,
    ) {
        self.kill(&id, current);
        self.tombstones.insert(id, Tombstone { version, at: now });
        self.advance(glsn);
    }

    fn advance(&mut self, glsn: Glsn) {
        assert!(glsn > self.applied, "operations are applied in the log's order");
        self.applied = glsn;
        self.first_invisible.get_or_insert(glsn);
    }

    fn kill(&mut self, id: &str, current: Option<Current>) {
        match current.map(|current| current.place) {
            None => {}
            Some(Place::Segment { position, doc }) => self.segments[position].kill(doc),
            Some(Place::Buffer { doc, .. }) => {
                let buffer = self.buffer.as_mut().expect("the document was found there");
                buffer.ids.remove(id);
                buffer.dead.push(doc);
            }
        }
    }

    fn current(&self, id: &str) -> Result<Option<Current>, EngineError> {
        self.find(id).map_err(|source| EngineError::Tantivy {
            place: format!("stream {}", self.stream.get()),
            source,
        })
    }

    fn find(&self, id: &str) -> tantivy::Result<Option<Current>> {
        if let Some(found) = self.buffer.as_ref().and_then(|buffer| buffer.ids.get(id)) {
            let Buffered { doc, glsn, seq_no, version } = *found;
            return Ok(Some(Current { seq_no, version, place: Place::Buffer { doc, glsn } }));
        }
        for (position, segment) in self.segments.iter().enumerate().rev() {
            if let Some(doc) = segment.find(id)? {
                let row = segment.view.row(doc);
                let place = Place::Segment { position, doc };
                return Ok(Some(Current { seq_no: row.seq_no, version: row.version, place }));
            }
        }
        Ok(None)
    }

    /// The id of the segment being filled, whose store file is on disk already.
    pub(super) fn buffer_segment(&self) -> Option<String> {
        self.buffer.as_ref().map(|buffer| buffer.segment.id().uuid_string())
    }

    /// Where a document's living version lies.
    pub(super) fn locate(&self, id: &str) -> tantivy::Result<Option<Located>> {
        Ok(self.find(id)?.map(|current| match current.place {
            Place::Buffer { glsn, .. } => Located::Log(glsn),
            Place::Segment { position, doc } => {
                Located::Segment(self.segments[position].view.clone(), doc)
            }
        }))
    }

    fn source(&self, current: Current) -> Result<Vec<u8>, EngineError> {
        match current.place {
            Place::Buffer { glsn, .. } => {
                let entry = self.log.read(glsn)?;
                let operation = decode(&entry.payload)?;
                Ok(with_vectors(&self.mapping, operation.body))
            }
            Place::Segment { position, doc } => {
                let view = &self.segments[position].view;
                view.source(doc, &self.mapping, true).map_err(|source| EngineError::Tantivy {
                    place: format!("stream {}", self.stream.get()),
                    source,
                })
            }
        }
    }

    fn buffer(&mut self) -> tantivy::Result<&mut Buffer> {
        if self.buffer.is_none() {
            let index = open_index(self.directory.fork(HashMap::new()), &self.mapping)?;
            let segment = index.new_segment();
            let writer = SegmentWriter::for_segment(TERM_TABLE_BUDGET_BYTES, segment.clone())?;
            let (ids, dead) = (HashMap::new(), Vec::new());
            self.buffer = Some(Buffer { segment, writer, ids, dead });
        }
        Ok(self.buffer.as_mut().expect("it was made above"))
    }

    /// Goes over to a longer mapping: the buffer is sealed and every segment opened anew.
    fn adopt(&mut self, mapping: &Arc<Mapping>) -> tantivy::Result<()> {
        if mapping.fields().len() <= self.mapping.fields().len() {
            return Ok(());
        }
        self.seal()?;
        self.mapping = mapping.clone();
        self.index = open_index(self.directory.fork(HashMap::new()), mapping)?;
        for segment in &mut self.segments {
            segment.view = segment.view.reopen(&self.index, segment.view.alive.clone())?;
        }
        self.changed = true;
        Ok(())
    }

    /// Turns the buffer into a segment that the next published view shows.
    pub(super) fn seal(&mut self) -> tantivy::Result<()> {
        let Some(Buffer { segment, writer, dead, .. }) = self.buffer.take() else { return Ok(()) };
        let doc_count = writer.max_doc();
        writer.finalize()?;
        let alive = (!dead.is_empty()).then(|| {
            let mut alive = AliveBits::full(doc_count);
            for doc in dead {
                alive.kill(doc);
            }
            Arc::new(alive)
        });
        let bytes = self.directory.segment_bytes(&segment.id());
        let view = SegmentView::open(&self.index, segment.id(), doc_count, alive, bytes)?;
        self.segments.push(WriterSegment::new(view));
        self.changed = true;
        Ok(())
    }

    /// Seals the buffer and gives the view that shows everything; `None` when nothing changed.
    pub(super) fn publish(
        &mut self,
        clock: &Arc<dyn Clock>,
        before: Option<&View>,
    ) -> tantivy::Result<Option<View>> {
        self.seal()?;
        let now = clock.monotonic();
        self.tombstones.retain(|_, stone| now.saturating_sub(stone.at) < TOMBSTONE_LIFE);
        for segment in self.segments.iter_mut().filter(|segment| segment.dirty) {
            let alive = segment.alive.clone().map(Arc::new);
            segment.view = segment.view.reopen(&self.index, alive)?;
            segment.dirty = false;
            self.changed = true;
        }
        self.first_invisible = None;
        if !std::mem::take(&mut self.changed) {
            return Ok(None);
        }
        self.segments.retain(|segment| segment.alive_count() > 0);
        let segments: Vec<SegmentView> = self.segments.iter().map(|s| s.view.clone()).collect();
        let readers = segments.iter().map(|segment| segment.reader.clone()).collect();
        let stub = empty_searcher(&self.index)?;
        let mapping = self.mapping.clone();
        let snapshot = match before {
            Some(view) => view.snapshot.successor(mapping, readers, stub),
            None => Snapshot::new(mapping, readers, stub),
        };
        Ok(Some(View { snapshot, segments }))
    }
}

fn check_condition(write: &ShardWrite, current: Option<&Current>) -> Result<(), EngineError> {
    let Some(Condition { seq_no, primary_term }) = write.condition else { return Ok(()) };
    let required = format!("required seqNo [{seq_no}], primary term [{primary_term}].");
    let reason = match current {
        Some(current) if current.seq_no == seq_no && primary_term == PRIMARY_TERM => return Ok(()),
        Some(Current { seq_no, .. }) => format!(
            "{required} current document has seqNo [{seq_no}] and primary term [{PRIMARY_TERM}]"
        ),
        None => format!("{required} but no document was found"),
    };
    Err(EngineError::VersionConflict { id: write.id.clone(), reason })
}
