//! Which part of the log nothing needs any more, and giving its space back.

use std::sync::Arc;

use clew_log::{Durability, Glsn, Trim};

use crate::base::error::{EngineError, io_error};
use crate::index::handle::Index;
use crate::node::data_folder;
use crate::node::engine::{Inner, first_error, flush_shards};
use crate::shard::Shard;

impl Inner {
    /// The position up to which no view needs the log.
    pub(crate) fn covered(&self) -> Glsn {
        // Read first: what is appended meanwhile, also to an index that is made meanwhile, lies behind it.
        self.covered_up_to(self.log.last())
    }

    /// The same of a position that the log had reached before this was asked: an index that has something up to there is
    /// known by now.
    fn covered_up_to(&self, end: Glsn) -> Glsn {
        let indices: Vec<Arc<Index>> = self.indices.read().values().cloned().collect();
        let shards = indices.iter().flat_map(|index| &index.shards);
        let pending = shards.filter_map(|shard| shard.checkpoint());
        pending.min().unwrap_or(end).min(end)
    }

    /// Flushes every shard and saves the catalog, then trims the log.
    pub(crate) fn flush_all(&self) -> Result<(), EngineError> {
        let indices: Vec<Arc<Index>> = self.indices.read().values().cloned().collect();
        let shards: Vec<&Arc<Shard>> = indices.iter().flat_map(|index| &index.shards).collect();
        let flushed = first_error(flush_shards(&shards).into_iter());
        self.trim_log()?;
        flushed
    }

    /// Saves the catalog and removes what no view needs any more from the log.
    pub(crate) fn trim_log(&self) -> Result<(), EngineError> {
        let life = self.log.life();
        let needed = self.covered();
        let gone = self.removed_folders()?;
        let mut catalog = {
            // Whoever has appended a change that counts as covered has also followed it.
            let turn = self.catalog_turn();
            self.catalog.write().removed(&gone);
            turn.catalog().clone()
        };
        catalog.cover(needed);
        // What a crash takes back is given out again, to entries that must not pass for covered.
        let saved = needed.max(catalog.applied());
        self.log.wait_in(life, saved, Durability::Sync)?;
        let _saving = self.saving_catalog.lock();
        catalog.save(&*self.disk, &data_folder::catalog_path(&self.options.data))?;
        let released = self.behind_readers(needed);
        Ok(self.log.trim(Trim::Unnamed(released))?)
    }

    /// The deleted indexes whose folders are gone, and stay so after a crash.
    fn removed_folders(&self) -> Result<Vec<String>, EngineError> {
        let mut gone: Vec<String> = self.catalog.read().removing().iter().cloned().collect();
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;
    use std::time::Duration;

    use clew_platform::{FixedClock, SimDisk};
    use clew_schema::Mapping;
    use serde_json::{Value, json};

    use super::*;
    use crate::base::access::Access;
    use crate::base::settings::IndexSettings;
    use crate::catalog::definitions::DefinitionChange;
    use crate::node::engine::Engine;
    use crate::node::options::EngineOptions;

    #[test]
    fn what_is_made_after_the_log_was_looked_at_is_not_covered() {
        let clock = Arc::new(FixedClock::at(Duration::from_secs(1_790_000_000)));
        let options = EngineOptions::new("/data");
        let engine = Engine::start(options, Arc::new(SimDisk::new()), clock).unwrap();
        let make = |name: &str| {
            let (settings, mapping) = (IndexSettings::default(), Mapping::new());
            let made = engine.create_index(&Access::everything(), name, settings, mapping);
            made.unwrap().1
        };
        let before = make("before");
        let end = engine.inner.log.last();
        assert_eq!(end, before);
        let after = make("after");
        // An index whose documents a list of the indexes that was made before lacks has all of them behind that.
        assert_eq!(engine.inner.covered_up_to(end), end);
        assert_eq!(engine.inner.covered(), after);
        engine.close().unwrap();
    }

    #[test]
    fn the_durable_catalog_is_read_whole_while_the_log_is_trimmed() {
        let clock = Arc::new(FixedClock::at(Duration::from_secs(1_790_000_000)));
        let mut options = EngineOptions::new("/data");
        // Each change has a file of its own.
        options.log.file_bytes_max = 1;
        options.changes_retention_bytes = 0;
        let engine = Engine::start(options, Arc::new(SimDisk::new()), clock).unwrap();
        let acknowledged = AtomicU64::new(0);
        let put = |number: u64| {
            let change = DefinitionChange::put("kind", "name", json!(number));
            let everything = Access::everything();
            let put =
                engine.change_definitions(&everything, |_| Ok::<_, EngineError>(vec![change]));
            put.unwrap();
            acknowledged.store(number, Ordering::SeqCst);
        };
        thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for number in 1..=600 {
                    put(number);
                    if number % 3 == 0 {
                        engine.inner.trim_log().unwrap();
                    }
                }
            });
            while !writer.is_finished() {
                let known = acknowledged.load(Ordering::SeqCst);
                let read = engine.inner.durable_catalog().unwrap();
                let value = read.definitions.get("kind", "name");
                assert!(value.and_then(Value::as_u64).unwrap_or(0) >= known);
            }
        });
        engine.close().unwrap();
    }
}
