//! Which part of the log nothing needs any more, and giving its space back.

use std::sync::Arc;

use clew_log::{Durability, Glsn, Trim};

use crate::base::error::{EngineError, io_error};
use crate::index::handle::Index;
use crate::node::data_folder;
use crate::node::engine::Inner;

impl Inner {
    /// The position up to which no view needs the log.
    pub(crate) fn covered(&self) -> Glsn {
        let indices: Vec<Arc<Index>> = self.indices.read().values().cloned().collect();
        // Read before the checkpoints: what is appended meanwhile lies behind it.
        let end = self.log.last();
        let shards = indices.iter().flat_map(|index| &index.shards);
        let pending = shards.filter_map(|shard| shard.checkpoint());
        pending.min().unwrap_or(end).min(end)
    }

    /// Saves the catalog and removes what no view needs any more from the log.
    pub(crate) fn trim_log(&self) -> Result<(), EngineError> {
        let life = self.log.life();
        let needed = self.covered();
        let gone = self.removed_folders()?;
        let mut catalog = {
            let mut catalog = self.catalog.lock();
            catalog.removed(&gone);
            catalog.clone()
        };
        catalog.cover(needed);
        // What a crash takes back is given out again, to entries that must not pass for covered.
        let saved = needed.max(catalog.applied());
        self.log.wait_in(life, saved, Durability::Sync)?;
        catalog.save(&*self.disk, &data_folder::catalog_path(&self.options.data))?;
        let released = self.behind_readers(needed);
        Ok(self.log.trim(Trim::Unnamed(released))?)
    }

    /// The deleted indexes whose folders are gone, and stay so after a crash.
    fn removed_folders(&self) -> Result<Vec<String>, EngineError> {
        let mut gone: Vec<String> = self.catalog.lock().removing().iter().cloned().collect();
        gone.retain(|uuid| !self.disk.exists(&self.index_dir(uuid)));
        let dir = data_folder::indices_dir(&self.options.data);
        if !gone.is_empty() && self.disk.exists(&dir) {
            self.disk.sync_dir(&dir).map_err(io_error("sync", &dir))?;
        }
        Ok(gone)
    }

    /// The highest position up to a limit behind which as much of the log is left as readers of
    /// changes are promised.
    fn behind_readers(&self, limit: Glsn) -> Glsn {
        let promised = self.options.changes_retention_bytes;
        if promised == 0 {
            return limit;
        }
        // What is left falls as the position grows.
        let (mut kept, mut gone) = (self.log.first().previous(), limit.next());
        while kept.next() < gone {
            let middle = Glsn::new(kept.get() + (gone.get() - kept.get()) / 2);
            if self.log.bytes_from(middle.next()) >= promised {
                kept = middle;
            } else {
                gone = middle;
            }
        }
        kept
    }
}
