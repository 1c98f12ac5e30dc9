//! What the node does by itself after its disk has failed it: a shard whose memory and log differ is made anew, what the
//! log has lost is taken back everywhere, and what the disk refused is tried again. Nothing acknowledged is touched:
//! that is in the log, and is what everything is made from.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use clew_log::{Order, Range, Selection, StreamId};

use crate::base::error::{EngineError, ErrorKind};
use crate::base::operation::CATALOG_STREAM;
use crate::catalog::record::{Catalog, CatalogOperation, IndexRecord};
use crate::index::handle::{Index, in_lock_order};
use crate::node::alias_change;
use crate::node::data_folder::catalog_path;
use crate::node::engine::Inner;
use crate::node::options::EngineOptions;
use crate::shard::{Remedy, Shard};

/// Mends what can be mended; how long until the next try when something is left.
pub(crate) fn heal(inner: &Inner) -> Option<Duration> {
    let mut left = !heal_log(inner);
    let indices: Vec<Arc<Index>> = inner.indices.read().values().cloned().collect();
    for index in &indices {
        for shard in &index.shards {
            left |= !heal_shard(index, shard);
        }
    }
    left.then_some(inner.options.retry_every)
}

/// Whether the log takes writes again.
fn heal_log(inner: &Inner) -> bool {
    if inner.log.poisoned().is_none() {
        return true;
    }
    let resumed = inner
        .take_back_undurable()
        .and_then(|()| Ok(inner.log.resume()?));
    match resumed {
        Ok(_) => {
            tracing::info!(last = inner.log.last().get(), "the log goes on");
            true
        }
        Err(error) => {
            tracing::warn!(%error, "the log cannot go on yet");
            false
        }
    }
}

/// Whether a shard needs nothing more of what can be done here.
fn heal_shard(index: &Index, shard: &Shard) -> bool {
    if shard.remedy() == Some(Remedy::Rebuild)
        && let Err(error) = rebuild(index, shard)
    {
        tracing::error!(index = index.name(), shard = shard.place.number, %error, "a shard cannot be rebuilt yet");
        if error.kind() == ErrorKind::Corrupt {
            shard.damaged(&error.to_string());
        }
    }
    if shard.has_spilled()
        && let Err(error) = EngineError::caught(|| shard.flush())
    {
        tracing::warn!(index = index.name(), shard = shard.place.number, %error, "the disk still refuses segments");
    }
    shard.remedy() != Some(Remedy::Rebuild) && !shard.has_spilled()
}

/// Rebuilds a shard. A defect that it runs into is that shard's: the others are mended all the same.
fn rebuild(index: &Index, shard: &Shard) -> Result<(), EngineError> {
    let rebuilt = catch_unwind(AssertUnwindSafe(|| shard.rebuild(&index.mapping())));
    rebuilt.unwrap_or_else(|_| {
        Err(EngineError::Corrupt {
            path: shard.place.dir.clone(),
            reason: "to rebuild it ran into a defect of the program".into(),
        })
    })
}

impl Index {
    /// Becomes what the catalog says.
    pub(super) fn follow(
        &self,
        record: &IndexRecord,
        options: &EngineOptions,
    ) -> Result<(), EngineError> {
        let settings = record.typed_settings(options.settings_reader)?;
        let mapping = record.decode_mapping(&settings, options.mapping_reader)?;
        // What its shards have under the one before is read anew where that says something else.
        let mapping = mapping.in_place_of(&self.mapping());
        self.mapping.store(Arc::new(mapping));
        self.store_settings(settings);
        self.aliases.store(Arc::new(record.aliases.clone()));
        self.closed.store(record.closed, Ordering::SeqCst);
        self.name.change(&record.name);
        Ok(())
    }
}

impl Inner {
    /// The log has refused something. When its disk has failed, nothing that it may have lost is answered from now
    /// on, and the healer gets to work.
    pub(crate) fn log_refused(&self) {
        if self.log.poisoned().is_none() {
            return;
        }
        for index in self.indices.read().values() {
            index
                .shards
                .iter()
                .for_each(|shard| shard.forget_undurable());
        }
        self.healer.wake();
    }

    /// Takes back what a failed log has taken and lost: the operations of documents, by rebuilding their shards, and
    /// the changes of the catalog.
    fn take_back_undurable(&self) -> Result<(), EngineError> {
        self.log_refused();
        {
            // Whoever has appended to the catalog has also followed. A log that has failed takes nothing more.
            let turn = self.catalog_turn();
            if turn.catalog().applied() <= self.log.durable() {
                return Ok(());
            }
        }
        // What is durable stays the same until the log goes on, so it is read before anybody has to wait for this.
        let durable = self.durable_catalog()?;
        let indices = self.indices.upgradable_read();
        let mut all: Vec<Arc<Index>> = indices.values().cloned().collect();
        let is_there = |record: &&IndexRecord| all.iter().any(|index| index.uuid == record.uuid);
        // Their deletion is taken back.
        let gone = durable.indices.values().filter(|record| !is_there(record));
        let open = |record: &IndexRecord| -> Result<Arc<Index>, EngineError> {
            let index = Arc::new(self.open_index(record)?);
            let shards = index.shards.iter();
            shards.for_each(|shard| shard.fail(&"it is read from the log again"));
            Ok(index)
        };
        let back = gone.map(open).collect::<Result<Vec<_>, _>>()?;
        // Their creation was refused. The folders stay until the next start, which finds out about them.
        let is_refused = |index: &&Arc<Index>| !durable.indices.contains_key(&index.uuid);
        let refused: Vec<Arc<Index>> = all.iter().filter(is_refused).cloned().collect();
        in_lock_order(&mut all);
        let mut indices = self.indices.change(indices);
        // Nobody changes what an index is while it is made what the log says of it.
        let changing: Vec<_> = all.iter().map(|index| index.changing.lock()).collect();
        let turn = self.catalog_turn();
        let mut next: BTreeMap<String, Arc<Index>> = BTreeMap::new();
        for index in &all {
            if let Some(record) = durable.indices.get(&index.uuid) {
                index.follow(record, &self.options)?;
                next.insert(index.name().to_string(), Arc::clone(index));
            }
        }
        next.extend(
            back.into_iter()
                .map(|index| (index.name().to_string(), index)),
        );
        self.aliases
            .store(Arc::new(alias_change::table(next.values())));
        *indices = next;
        *self.catalog.write() = durable;
        self.look_for_slow_limits(indices.values());
        drop((indices, changing, turn));
        // Not under these: who is about to write to such a shard may wait for one of them.
        let shards = refused.iter().flat_map(|index| &index.shards);
        shards.for_each(|shard| shard.retire());
        Ok(())
    }

    /// The catalog as the durable part of the log has it.
    pub(super) fn durable_catalog(&self) -> Result<Catalog, EngineError> {
        // What a trim takes from the log is in no catalog that was read before.
        let _saving = self.saving_catalog.lock();
        let path = catalog_path(&self.options.data);
        let mut catalog = Catalog::load(&*self.disk, &path)?.unwrap_or_default();
        let mut scan = self.log.scan_with(&Selection {
            range: Range::Glsn {
                from: catalog.applied().next().max(self.log.first()),
                to: self.log.durable().next(),
            },
            streams: vec![StreamId::new(CATALOG_STREAM)],
            order: Order::Forward,
        })?;
        while let Some(entry) = scan.next() {
            let entry = entry?;
            catalog.apply(CatalogOperation::decode(entry.payload)?, entry.glsn)?;
        }
        catalog.set_bytes(catalog.counted_bytes());
        Ok(catalog)
    }
}
