//! Changes of the catalog follow each other: what one decides by still holds when it stands in the log, and the catalog takes
//! changes in the order in which the log has them.
//!
//! The log may keep who appends waiting until the disk has room for more. Whoever only looks at the catalog, as searches do for
//! scripts and pipelines, does not wait for that: the catalog itself is held for no longer than it takes to follow.

use clew_log::{Durability, NewEntry, StreamId};
use parking_lot::{MutexGuard, RwLockReadGuard};

use crate::base::error::EngineError;
use crate::base::operation::CATALOG_STREAM;
use crate::catalog::record::{Catalog, CatalogOperation};
use crate::node::engine::{Inner, Logged};

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

    /// Appends a change to the log, and follows it.
    pub(crate) fn append(&self, operation: CatalogOperation) -> Result<Logged, EngineError> {
        let payload = serde_json::to_vec(&operation).expect("operations have only plain fields");
        let parts: [&[u8]; 1] = [&payload];
        let entry = NewEntry::new(StreamId::new(CATALOG_STREAM), &parts);
        let appended = self.inner.log.append(&[entry], Durability::Sync);
        // What has failed may have been an entry that nobody waits for, as of streams that are deleted.
        let appended = appended.inspect_err(|_| self.inner.healer.wake())?;
        let (glsn, life) = (appended.first, appended.life);
        self.inner.catalog.write().apply(operation, glsn)?;
        Ok(Logged { glsn, life })
    }
}
