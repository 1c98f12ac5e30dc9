//! Reading one document by id: from the log while no segment has it yet, else from its segment.

use bytes::Bytes;

use crate::base::access::Purpose;
use crate::base::error::EngineError;
use crate::base::operation::decode;
use crate::base::write_request::{Document, Freshness};
use crate::index::handle::Index;
use crate::node::engine::Engine;
use crate::node::index_handle::IndexHandle;
use crate::shard::update::with_vectors;
use crate::shard::{Located, SegmentView, Shard};

impl Engine {
    /// Reads a document.
    ///
    /// # Errors
    /// When the index was not opened to be read, or the shard's files or the log cannot be read.
    pub fn get(
        &self,
        index: &IndexHandle,
        id: &str,
        routing: Option<&str>,
        freshness: Freshness,
    ) -> Result<Option<Document>, EngineError> {
        index.check_purpose(Purpose::Read)?;
        let started = self.inner.clock.monotonic();
        let found = self.find(index, id, routing, freshness)?;
        let took = self.inner.clock.monotonic().saturating_sub(started);
        match &found {
            Some(_) => index.activity.gets_found.add(took),
            None => index.activity.gets_missing.add(took),
        }
        Ok(found)
    }

    /// The same whatever the index was opened for, and not counted.
    pub(crate) fn find(
        &self,
        index: &Index,
        id: &str,
        routing: Option<&str>,
        freshness: Freshness,
    ) -> Result<Option<Document>, EngineError> {
        index.check_routing(id, routing)?;
        let shard = index.shard_of(routing.unwrap_or(id));
        if freshness == Freshness::Searchable {
            return find_visible(index, shard, id);
        }
        match shard.locate(id)? {
            None => Ok(None),
            Some(Located::Segment(segment, doc)) => read(index, shard, &segment, doc).map(Some),
            Some(Located::Log(glsn)) => {
                let entry = self.inner.log.read(glsn)?;
                let operation = decode(&entry.payload)?;
                Ok(Some(Document {
                    id: id.to_string(),
                    version: operation.version,
                    seq_no: operation.seq_no,
                    routing: operation.routing.map(str::to_string),
                    source: Bytes::from(with_vectors(&index.mapping(), operation.body)),
                }))
            }
        }
    }
}

fn find_visible(index: &Index, shard: &Shard, id: &str) -> Result<Option<Document>, EngineError> {
    shard.check_readable()?;
    for segment in &shard.view().segments {
        let found = segment
            .find(id)
            .map_err(|source| shard.tantivy_error(source))?;
        if let Some(doc) = found {
            return read(index, shard, segment, doc).map(Some);
        }
    }
    Ok(None)
}

fn read(
    index: &Index,
    shard: &Shard,
    segment: &SegmentView,
    doc: tantivy::DocId,
) -> Result<Document, EngineError> {
    let source = segment
        .source(doc, &index.mapping())
        .map_err(|source| shard.tantivy_error(source))?;
    let row = segment.row(doc);
    let row = row.map_err(|source| shard.tantivy_error(source))?;
    Ok(Document {
        id: row.id.to_string(),
        version: row.version,
        seq_no: row.seq_no,
        routing: row.routing.map(str::to_string),
        source: Bytes::from(source),
    })
}
