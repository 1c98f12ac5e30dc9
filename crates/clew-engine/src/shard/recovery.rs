//! Opening a shard: the newest manifest's segments. What the log has beyond its checkpoint is
//! replayed by the engine, which reads the log once for all shards.

use std::sync::Arc;

use arc_swap::ArcSwap;
use clew_log::Glsn;
use clew_text::{Mapping, Parsed};
use parking_lot::Mutex;
use tantivy::index::SegmentId;
use tokio::sync::watch;

use super::flush::FlushState;
use super::manifest::{Manifest, io_error, read_alive};
use super::merge_job::{forget, interrupted};
use super::segment::SegmentView;
use super::writer::WriterSegment;
use super::{Prepared, Shard, ShardContext, ShardCounters, ShardDirectory, ShardPlace, Writer};
use crate::error::EngineError;
use crate::operation::{Body, DocumentOperation};

impl Shard {
    /// Opens a shard, or makes an empty one where there is none. A shard whose files are damaged
    /// is there too, but answers every request with the reason.
    pub(crate) fn open(
        place: ShardPlace,
        context: ShardContext,
        mapping: Arc<Mapping>,
    ) -> Result<Shard, EngineError> {
        match Shard::open_sound(&place, &context, &mapping) {
            Ok(shard) => Ok(shard),
            Err(error) => {
                tracing::error!(index = place.index, shard = place.number, %error, "shard is damaged");
                Shard::assemble(place, context, mapping, Some(error.to_string()))
            }
        }
    }

    fn open_sound(
        place: &ShardPlace,
        context: &ShardContext,
        mapping: &Arc<Mapping>,
    ) -> Result<Shard, EngineError> {
        let (disk, dir) = (&context.disk, &place.dir);
        disk.create_dir_all_durable(dir)
            .map_err(io_error("create", dir))?;
        let manifest = Manifest::newest(&**disk, dir)?;
        let shard = Shard::assemble(place.clone(), context.clone(), mapping.clone(), None)?;
        let Some(manifest) = manifest else {
            forget(&**disk, dir);
            return Ok(shard);
        };
        let saved = interrupted(&**disk, dir);
        let mut writer = shard.writer()?;
        let mut state = FlushState {
            number: manifest.number,
            checkpoint: Glsn::new(manifest.checkpoint),
            ..FlushState::default()
        };
        writer.applied = state.checkpoint;
        writer.next_seq_no = manifest.next_seq_no;
        for named in manifest.segments {
            let corrupt = || EngineError::Corrupt {
                path: dir.clone(),
                reason: format!("the manifest names a segment [{}]", named.id),
            };
            let id = SegmentId::from_uuid_string(&named.id).map_err(|_| corrupt())?;
            let read = |name: &String| read_alive(&**disk, &dir.join(name), named.doc_count);
            let alive = named.alive.as_ref().map(read).transpose()?.map(Arc::new);
            let bytes = named.files.iter().map(|(_, bytes)| bytes).sum();
            let view = SegmentView::open(&writer.index, id, named.doc_count, alive, bytes)
                .map_err(|source| shard.tantivy_error(source))?;
            state.segments.insert(id, (view.alive_count(), named.alive));
            writer.segments.push(WriterSegment::new(view));
        }
        writer.changed = true;
        shard.publish(&mut writer)?;
        if !saved.is_empty() && saved.iter().all(|id| state.segments.contains_key(id)) {
            *shard.merge_state.interrupted.lock() = saved;
        } else {
            forget(&**disk, dir);
        }
        *shard.flushing.lock() = state;
        drop(writer);
        Ok(shard)
    }

    /// A shard without segments.
    fn assemble(
        place: ShardPlace,
        context: ShardContext,
        mapping: Arc<Mapping>,
        damage: Option<String>,
    ) -> Result<Shard, EngineError> {
        let directory = ShardDirectory::new(context.disk.clone(), place.dir.clone());
        let (log, max) = (context.log.clone(), context.buffer_bytes_max);
        let empty = || {
            let mut writer = Writer::new(log, place.stream, directory.clone(), mapping, max)?;
            let view = writer.publish(&context.clock, None)?;
            if let Some(damage) = &damage {
                writer.refuse(damage);
            }
            Ok((
                writer,
                view.expect("a new writer always has something to publish"),
            ))
        };
        let (writer, view) = empty().map_err(|source| {
            let place = format!("[{}][{}]", place.index, place.number);
            EngineError::Tantivy { place, source }
        })?;
        Ok(Shard {
            place,
            counters: ShardCounters::default(),
            damage,
            context,
            directory,
            writer: Mutex::new(writer),
            view: ArcSwap::from_pointee(view),
            published: watch::channel(0).0,
            flushing: Mutex::default(),
            merging: Mutex::new(()),
            merge_state: Arc::default(),
        })
    }

    /// Publishes what was recovered, under the mapping as the log has left it: the catalog may have been
    /// saved before fields were added that segments already have.
    pub(crate) fn catch_up(&self, mapping: &Arc<Mapping>) -> Result<(), EngineError> {
        self.writer()?
            .adopt(mapping)
            .map_err(|source| self.tantivy_error(source))?;
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
        if glsn <= writer.applied {
            return Ok(());
        }
        let document = match &operation.body {
            Body::Delete => None,
            Body::Index { vectors, source } => {
                let mut document = prepare_logged(mapping, source, vectors.clone(), operation.id)?;
                document.restore_queries(self.context.query_reader);
                Some(document)
            }
        };
        writer.replay(&operation, document, glsn, self.context.clock.monotonic())
    }
}

/// Parses a logged document. The mapping is at least as long as it was when the document was
/// accepted; fields that it did not know then stay unknown, whatever `dynamic` says today.
fn prepare_logged(
    mapping: &Arc<Mapping>,
    source: &[u8],
    vectors: Vec<(clew_text::FieldId, Vec<f32>)>,
    id: &str,
) -> Result<Prepared, EngineError> {
    let document_error = |source| EngineError::Document {
        id: id.to_string(),
        source,
    };
    let mut parsed = mapping
        .parse_stripped(source, vectors.clone())
        .map_err(document_error);
    if !matches!(parsed, Ok(Parsed::Document(_))) {
        parsed = mapping
            .frozen()
            .parse_stripped(source, vectors)
            .map_err(document_error);
    }
    match parsed? {
        Parsed::Document(document) => Ok(Prepared::of(mapping.clone(), document)),
        Parsed::NeedsMapping(_) => Err(EngineError::InvalidRequest {
            reason: format!("logged document [{id}] does not fit its mapping"),
        }),
    }
}
