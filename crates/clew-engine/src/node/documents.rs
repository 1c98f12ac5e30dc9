//! All documents of a shard, read one after another from one view, and the way back: many
//! documents written into an index as fast as the write path takes them.

use std::sync::Arc;

use crate::base::access::{Access, Purpose, check_access};
use crate::base::error::EngineError;
use crate::base::write_request::{Action, Condition, Document, OpType, WriteOperation};
use crate::index::handle::Index;
use crate::node::destination::Destination;
use crate::node::engine::{Engine, Logged};
use crate::node::index_handle::IndexHandle;
use crate::shard::{Shard, View};

/// Documents that are written together.
const BATCH_DOCUMENTS: usize = 500;
/// Bytes of sources that are written together.
const BATCH_BYTES: usize = 8 << 20;

/// The documents of one shard as searches saw them at one moment; later writes do not show.
pub struct ShardDocuments {
    index: Arc<Index>,
    shard: Arc<Shard>,
    view: Arc<View>,
    segment: usize,
    doc: u32,
}

impl Engine {
    /// The documents of a shard, everything written until now among them.
    ///
    /// # Errors
    /// When the index was not opened to be copied, the shard's files are damaged, or what was written cannot be made visible.
    pub fn shard_documents(
        &self,
        index: &IndexHandle,
        number: u32,
    ) -> Result<ShardDocuments, EngineError> {
        index.check_purpose(Purpose::Copy)?;
        let shard = usize::try_from(number)
            .ok()
            .and_then(|number| index.shards.get(number));
        let shard = shard.ok_or_else(|| EngineError::InvalidRequest {
            reason: format!("index [{}] has no shard [{number}]", index.name()),
        })?;
        shard.check_readable()?;
        shard.refresh()?;
        Ok(ShardDocuments {
            index: index.index().clone(),
            shard: shard.clone(),
            view: shard.view(),
            segment: 0,
            doc: 0,
        })
    }

    /// The documents of all shards of an index, in the order of these. What is written from now on shows in none of them,
    /// and they are there to their end, also where the index is deleted or closed meanwhile.
    ///
    /// # Errors
    /// As [`Engine::shard_documents`].
    pub fn index_documents(&self, index: &IndexHandle) -> Result<Vec<ShardDocuments>, EngineError> {
        let numbers = 0..index.settings().shards;
        numbers
            .map(|number| self.shard_documents(index, number))
            .collect()
    }

    /// Writes documents into an index that has none of their ids yet, each in the version that it
    /// brings, and makes all durable in the index's segments. Neither its blocks nor its being unfinished
    /// ([`IndexSettings::unfinished`](crate::IndexSettings::unfinished)) hold them up. The number of documents.
    ///
    /// # Errors
    /// When the index is closed, was deleted, or may not be written to by who asks; the first document that cannot be read
    /// or written, and those before it stay. Documents of one id from two shards cannot lie in the same one: the second is a version conflict.
    pub fn fill_index(
        &self,
        access: &Access,
        index: &Arc<Index>,
        documents: impl Iterator<Item = Result<Document, EngineError>>,
    ) -> Result<u64, EngineError> {
        check_access(index.name(), access, Purpose::Write)?;
        let mut written = 0;
        let mut batch = Vec::new();
        let mut bytes = 0;
        for document in documents {
            let document = document?;
            bytes += document.source.len();
            batch.push(WriteOperation {
                index: index.name().to_string(),
                require_alias: false,
                id: Some(document.id),
                routing: document.routing,
                action: Action::index(document.source, OpType::Create),
                condition: Some(Condition::External {
                    version: document.version,
                    or_equal: true,
                }),
            });
            if batch.len() >= BATCH_DOCUMENTS || bytes >= BATCH_BYTES {
                written += self.write_batch(index, std::mem::take(&mut batch))?;
                bytes = 0;
            }
        }
        written += self.write_batch(index, batch)?;
        self.refresh(index)?;
        self.flush(index)?;
        Ok(written)
    }

    fn write_batch(
        &self,
        index: &Arc<Index>,
        batch: Vec<WriteOperation>,
    ) -> Result<u64, EngineError> {
        if batch.is_empty() {
            return Ok(0);
        }
        let destination = Destination::Filled(index);
        let outcome = self.inner.write(destination, batch, &|| None);
        let mut written = 0;
        for result in outcome.results {
            result?;
            written += 1;
        }
        if let Some(last) = outcome.last {
            let life = outcome.life;
            self.inner.settle(Logged { glsn: last, life })?;
        }
        Ok(written)
    }
}

impl Iterator for ShardDocuments {
    type Item = Result<Document, EngineError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let segment = self.view.segments.get(self.segment)?;
            if self.doc >= segment.doc_count() {
                self.segment += 1;
                self.doc = 0;
                continue;
            }
            let doc = self.doc;
            self.doc += 1;
            // To the reader, rows of nested objects are dead: they are parts of documents, without
            // ids, and come back with the source of theirs.
            if segment.reader.is_deleted(doc) {
                continue;
            }
            let read = segment.document(doc, &self.index.mapping());
            return Some(read.map_err(|source| self.shard.tantivy_error(source)));
        }
    }
}
