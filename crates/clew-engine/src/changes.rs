//! The changes of indexes' documents, read back from the log: all that was acknowledged and is
//! still retained, in its order, and nothing that a crash could take back.
//!
//! A reader holds a position and nothing else, so a slow one costs no memory and holds up nobody.
//! Deliberately absent: what a change looks like to a client.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use clew_log::{Durability, Glsn, LogError, Order, Range, Scan, Selection, StreamId};

use crate::base::access::Purpose;
use crate::base::error::EngineError;
use crate::base::operation::{Body, decode};
use crate::index::handle::Index;
use crate::node::engine::Engine;
use crate::node::index_handle::IndexHandle;
use crate::shard::update::with_vectors;

/// One page covers at most so many positions of the log, so that a page of few changes among many
/// of other indexes stays short work.
const POSITIONS_MAX: u64 = 1 << 16;

/// A document was written or removed.
#[derive(Clone, Debug)]
pub struct Change {
    /// Its place in the log.
    pub glsn: Glsn,
    /// The document's index.
    pub index: Arc<Index>,
    /// The document's id.
    pub id: String,
    /// The routing key that it was written with.
    pub routing: Option<String>,
    /// Its sequence number in its shard.
    pub seq_no: u64,
    /// The document's version from then on.
    pub version: u64,
    /// The document; `None` when it was removed.
    pub source: Option<Bytes>,
}

/// How much a page may hold. One change is always given, however long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeLimits {
    /// Changes.
    pub changes_max: usize,
    /// Bytes of their entries in the log.
    pub bytes_max: usize,
}

/// Changes that follow each other.
#[derive(Clone, Debug)]
pub struct ChangePage {
    /// In the order of their positions.
    pub changes: Vec<Change>,
    /// Where the next page begins: everything below it has been given.
    pub next: Glsn,
}

impl Engine {
    /// Reads changes from a position on; 0 stands for the lowest retained. A page without changes
    /// may still move on. A position that the log has not reached gives an empty page.
    ///
    /// # Errors
    /// [`EngineError::Trimmed`] when the log has given up the position; [`EngineError::AccessDenied`] for an index that was
    /// not opened to be read.
    pub fn changes(
        &self,
        indices: &[IndexHandle],
        from: Glsn,
        limits: ChangeLimits,
    ) -> Result<ChangePage, EngineError> {
        for index in indices {
            index.check_purpose(Purpose::Read)?;
        }
        let log = self.log();
        let first = log.first();
        if from > Glsn::ZERO && from < first {
            return Err(EngineError::Trimmed { from, first });
        }
        let from = from.max(first);
        let to = log.durable().next().min(from.plus(POSITIONS_MAX));
        let mut page = ChangePage {
            changes: Vec::new(),
            next: from.max(to),
        };
        let streams: HashMap<StreamId, &Arc<Index>> = indices
            .iter()
            .flat_map(|index| index.shards.iter().map(move |shard| (shard, index.index())))
            .map(|(shard, index)| (shard.place.stream, index))
            .collect();
        if to <= from || streams.is_empty() {
            return Ok(page);
        }
        let mut wanted: Vec<StreamId> = streams.keys().copied().collect();
        wanted.sort_unstable();
        let scan = log.scan_with(&Selection {
            range: Range::Glsn { from, to },
            streams: wanted,
            order: Order::Forward,
        });
        let trimmed = |error: LogError| match error {
            LogError::Trimmed { first } => EngineError::Trimmed { from, first },
            other => EngineError::Log(other),
        };
        fill(&mut page, scan.map_err(trimmed)?, &streams, limits).map_err(|error| match error {
            EngineError::Log(error) => trimmed(error),
            other => other,
        })?;
        Ok(page)
    }

    /// Waits until there may be changes at a position or behind it.
    ///
    /// # Errors
    /// When the log has ended.
    pub async fn wait_changes(&self, from: Glsn) -> Result<(), EngineError> {
        Ok(self.log().wait_async(from, Durability::Sync).await?)
    }
}

/// Reads until the scan or the page is at its end.
fn fill(
    page: &mut ChangePage,
    mut scan: Scan,
    streams: &HashMap<StreamId, &Arc<Index>>,
    limits: ChangeLimits,
) -> Result<(), EngineError> {
    let mut bytes = 0usize;
    while let Some(entry) = scan.next() {
        let entry = entry?;
        let Some(index) = streams.get(&entry.stream) else {
            continue;
        };
        bytes = bytes.saturating_add(entry.payload.len());
        let is_full = page.changes.len() >= limits.changes_max || bytes > limits.bytes_max;
        if is_full && !page.changes.is_empty() {
            page.next = entry.glsn;
            return Ok(());
        }
        let operation = decode(entry.payload)?;
        let source = match operation.body {
            Body::Delete => None,
            body @ Body::Index { .. } => Some(Bytes::from(with_vectors(&index.mapping(), body))),
        };
        page.changes.push(Change {
            glsn: entry.glsn,
            index: Arc::clone(index),
            id: operation.id.to_string(),
            routing: operation.routing.map(str::to_string),
            seq_no: operation.seq_no,
            version: operation.version,
            source,
        });
    }
    Ok(())
}
