//! Closing and opening indexes. A closed index keeps everything and serves neither reads nor
//! writes of documents.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use clew_log::Glsn;

use crate::base::access::Purpose;
use crate::base::blocks::BlockLevel;
use crate::base::error::EngineError;
use crate::catalog::record::CatalogOperation;
use crate::index::index_state::IndexState;
use crate::node::engine::Engine;
use crate::node::index_handle::IndexHandle;

impl Engine {
    /// Opens or closes indexes, all of them as one change; durable when it returns. Those that
    /// are in the state already are left as they are. What was written to an index that is closed
    /// is in its segments afterwards, as far as its shards and the disk are well.
    ///
    /// # Errors
    /// When one was not opened to be changed, is blocked, or was deleted.
    pub fn set_index_state(
        &self,
        indices: &[IndexHandle],
        state: IndexState,
    ) -> Result<Option<Glsn>, EngineError> {
        for index in indices {
            index.check_purpose(Purpose::Change)?;
            // Also where there is nothing to be done.
            index.check_own_blocks(BlockLevel::MetadataWrite)?;
        }
        let closed = state == IndexState::Closed;
        let changing = indices.iter().filter(|index| index.is_open() == closed);
        let changing: Vec<&IndexHandle> = changing.collect();
        if changing.is_empty() {
            return Ok(None);
        }
        if !closed {
            let shards = changing.iter().map(|index| index.shards.len() as u64);
            self.inner.check_opened_shards(shards.sum())?;
        }
        // Held so that no index is deleted between the check and the entry in the log.
        let known = self.inner.indices.upgradable_read();
        for index in &changing {
            index.check_block(BlockLevel::MetadataWrite)?;
            if !known
                .get(index.name())
                .is_some_and(|known| Arc::ptr_eq(known, index.index()))
            {
                return Err(EngineError::IndexNotFound {
                    index: index.name().to_string(),
                });
            }
        }
        let uuids = changing.iter().map(|index| index.uuid.clone()).collect();
        let operation = CatalogOperation::SetClosed { uuids, closed };
        let logged = self.inner.append_catalog(operation)?;
        for index in &changing {
            index.closed.store(closed, Ordering::SeqCst);
        }
        self.inner.indices.others_let_through();
        drop(known);
        let glsn = self.inner.settle(logged)?;
        if closed {
            for index in changing {
                let stored = self.refresh(index).and_then(|()| self.flush(index));
                if let Err(error) = stored {
                    // It is closed all the same, and what could not be stored the log has.
                    tracing::warn!(index = index.name(), %error, "an index was closed that cannot be flushed");
                }
            }
        }
        Ok(Some(glsn))
    }
}
