//! Changes of the catalog follow each other: what one decides by still holds when it stands in the log, and the catalog takes
//! changes in the order in which the log has them.
//!
//! The log may keep who appends waiting until the disk has room for more. Whoever only looks at the catalog, as searches do for
//! scripts and pipelines, does not wait for that: the catalog itself is held for no longer than it takes to follow.

use clew_log::{Durability, NewEntry, StreamId};
use clew_platform::{MemoryExceeded, MemoryPurpose, MemoryScope};
use clew_schema::parsed_json_bytes;
use parking_lot::{MutexGuard, RwLockReadGuard};

use crate::base::error::EngineError;
use crate::base::operation::CATALOG_STREAM;
use crate::catalog::record::{Catalog, CatalogOperation};
use crate::node::engine::{Inner, Logged};

/// A change of no more than this is taken whatever there is: what makes room again, as a setting of the cluster, must not need room.
const SMALL_BYTES: usize = 1 << 10;
/// The catalog may take one in so many bytes of the memory that there is for all.
const MEMORY_SHARE: usize = 4;

/// The right to change the catalog, until it is dropped.
pub(crate) struct CatalogTurn<'i> {
    inner: &'i Inner,
    _turn: MutexGuard<'i, ()>,
}

impl Inner {
    /// Waits for the changes that were begun before.
    pub(crate) fn catalog_turn(&self) -> CatalogTurn<'_> {
        CatalogTurn {
            inner: self,
            _turn: self.changing_catalog.lock(),
        }
    }

    /// Appends a change of the catalog to the log and follows it.
    pub(crate) fn append_catalog(
        &self,
        operation: CatalogOperation,
    ) -> Result<Logged, EngineError> {
        self.catalog_turn().append(operation)
    }
}

impl CatalogTurn<'_> {
    /// What the catalog says, and goes on saying until something is appended. Not to be held while that is done.
    pub(crate) fn catalog(&self) -> RwLockReadGuard<'_, Catalog> {
        self.inner.catalog.read()
    }

    /// Refuses a change with which the catalog would take more than its share of the memory; what it takes with it.
    fn check_room(
        &self,
        operation: &CatalogOperation,
        payload: &[u8],
    ) -> Result<usize, EngineError> {
        let is_taken = payload.len() <= SMALL_BYTES || operation.only_takes_away();
        let wanted = parsed_json_bytes(payload);
        let limit = self.inner.memory.total().limit / MEMORY_SHARE;
        let mut used = self.catalog().bytes();
        if !is_taken && used.saturating_add(wanted) > limit {
            used = self.catalog().counted_bytes();
            self.inner.catalog.write().set_bytes(used);
        }
        let would_be = used.saturating_add(wanted);
        if is_taken || would_be <= limit {
            return Ok(would_be);
        }
        Err(EngineError::Memory(MemoryExceeded {
            purpose: MemoryPurpose::Bodies,
            scope: MemoryScope::Total,
            // Others do not give back what they have of it: to try again is of no use.
            wanted: would_be,
            used,
            would_be,
            limit,
        }))
    }

    /// Appends a change to the log, and follows it.
    ///
    /// # Errors
    /// When there is no room for it in memory, or the log has lost its disk.
    pub(crate) fn append(&self, operation: CatalogOperation) -> Result<Logged, EngineError> {
        let payload = serde_json::to_vec(&operation).expect("operations have only plain fields");
        let bytes = self.check_room(&operation, &payload)?;
        let parts: [&[u8]; 1] = [&payload];
        let entry = NewEntry::new(StreamId::new(CATALOG_STREAM), &parts);
        let appended = self.inner.log.append(&[entry], Durability::Sync);
        // What has failed may have been an entry that nobody waits for, as of streams that are deleted.
        let appended = appended.inspect_err(|_| self.inner.healer.wake())?;
        let (glsn, life) = (appended.first, appended.life);
        let mut catalog = self.inner.catalog.write();
        catalog.set_bytes(bytes);
        catalog.apply(operation, glsn)?;
        Ok(Logged { glsn, life })
    }
}
