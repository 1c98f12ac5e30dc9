//! All indexes by their names, and word to whoever waits for that to change. A change stands in the log before it takes
//! effect, so that whoever waits for the log alone looks too early, and would not be woken again.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{RwLock, RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard};
use tokio::sync::watch;

use crate::base::error::EngineError;
use crate::index::handle::Index;
use crate::node::engine::Engine;

/// All indexes, by name.
type ByName = BTreeMap<String, Arc<Index>>;

/// The indexes of a node. Who changes them reads them upgradably until the change stands in the log: who looks for an
/// index does not wait for the disk.
pub(crate) struct IndexTable {
    indices: RwLock<ByName>,
    /// How many shards those that are open may have; 0 if nobody has said.
    shards_max: AtomicU64,
    changed: watch::Sender<()>,
}

impl Default for IndexTable {
    fn default() -> Self {
        IndexTable {
            indices: RwLock::default(),
            shards_max: AtomicU64::new(0),
            changed: watch::channel(()).0,
        }
    }
}

impl IndexTable {
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, ByName> {
        self.indices.read()
    }

    /// None while somebody changes them.
    pub(crate) fn try_read(&self) -> Option<RwLockReadGuard<'_, ByName>> {
        self.indices.try_read()
    }

    pub(crate) fn upgradable_read(&self) -> RwLockUpgradableReadGuard<'_, ByName> {
        self.indices.upgradable_read()
    }

    /// To change what was read; whoever waits for a change hears of it once that is done.
    pub(crate) fn change<'t>(
        &'t self,
        read: RwLockUpgradableReadGuard<'t, ByName>,
    ) -> ChangingIndices<'t> {
        ChangingIndices {
            indices: RwLockUpgradableReadGuard::upgrade(read),
            changed: &self.changed,
        }
    }

    /// How many shards open indexes may have together, where somebody has said so.
    pub(crate) fn shards_max(&self) -> Option<u64> {
        let max = self.shards_max.load(Ordering::Relaxed);
        (max > 0).then_some(max)
    }

    pub(crate) fn set_shards_max(&self, max: Option<u64>) {
        self.shards_max
            .store(max.unwrap_or_default(), Ordering::Relaxed);
    }

    /// Under the same names something else is let through: an index was opened or closed, or has other blocks.
    pub(crate) fn others_let_through(&self) {
        self.changed.send_replace(());
    }
}

/// All indexes while they are changed.
pub(crate) struct ChangingIndices<'t> {
    indices: RwLockWriteGuard<'t, ByName>,
    changed: &'t watch::Sender<()>,
}

impl Deref for ChangingIndices<'_> {
    type Target = ByName;

    fn deref(&self) -> &ByName {
        &self.indices
    }
}

impl DerefMut for ChangingIndices<'_> {
    fn deref_mut(&mut self) -> &mut ByName {
        &mut self.indices
    }
}

impl Drop for ChangingIndices<'_> {
    fn drop(&mut self) {
        // Still under the lock: whoever looks now waits for its end, which is next.
        self.changed.send_replace(());
    }
}

/// Word of changes of what names mean.
#[derive(Clone, Debug)]
pub struct NamesWatch(watch::Receiver<()>);

impl NamesWatch {
    /// Waits until names may mean something else than when this was made or last returned: an index was made, deleted,
    /// renamed, opened or closed, or has other aliases or settings. What has happened since makes it return at once.
    ///
    /// # Errors
    /// [`EngineError::Closed`] when the engine has gone.
    pub async fn changed(&mut self) -> Result<(), EngineError> {
        let changed = self.0.changed().await;
        changed.map_err(|_| EngineError::Closed)
    }
}

impl Engine {
    /// Hears of every change of what names mean from now on. One is made before names are looked up, so that no change in
    /// between is missed.
    pub fn watch_names(&self) -> NamesWatch {
        NamesWatch(self.inner.indices.changed.subscribe())
    }
}
