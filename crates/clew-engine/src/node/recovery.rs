//! Opening a data folder: the catalog and the shards as they were last saved, then the log's
//! entries beyond them, in order, read once.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clew_log::{EntryRef, Glsn, Log, StreamId};

use crate::base::error::EngineError;
use crate::base::operation::{self, CATALOG_STREAM};
use crate::catalog::record::{AliasEntry, Catalog, CatalogOperation, set_alias};
use crate::index::handle::Index;
use crate::node::engine::{Inner, first_error};
use crate::node::{alias_change, data_folder};

/// The indexes by unique id, and which shard each stream is.
#[derive(Default)]
struct Recovering {
    indices: HashMap<String, Arc<Index>>,
    streams: HashMap<StreamId, (Arc<Index>, usize)>,
}

impl Recovering {
    fn add(&mut self, index: Index) {
        let index = Arc::new(index);
        for (at, shard) in index.shards.iter().enumerate() {
            self.streams.insert(shard.place.stream, (index.clone(), at));
        }
        self.indices.insert(index.uuid.clone(), index);
    }
    fn remove(&mut self, uuid: &str) {
        self.indices.remove(uuid);
        self.streams.retain(|_, (index, _)| index.uuid != uuid);
    }
}

/// Brings every view up to the end of the log, from the catalog that was saved last, if any was.
pub(crate) fn recover(inner: &Inner, saved: Option<Catalog>) -> Result<(), EngineError> {
    let mut recovering = Recovering::default();
    let (catalog, was_saved) = match saved {
        Some(catalog) => (catalog, true),
        None => (Catalog::default(), false),
    };
    *inner.catalog.write() = catalog.clone();
    for record in catalog.indices.values() {
        recovering.add(inner.open_index(record)?);
    }
    let replayed = replay(inner, &mut recovering, catalog.applied())?;
    let bytes = inner.catalog.read().counted_bytes();
    inner.catalog.write().set_bytes(bytes);
    data_folder::check_end_of_log(inner, &catalog, &recovering.indices)?;
    data_folder::check_streams(inner)?;
    let shards = recovering.indices.values().flat_map(|index| &index.shards);
    shards.for_each(|shard| data_folder::check_operations(&inner.log, shard));
    let shards = recovering.indices.values().flat_map(|index| {
        let mapping = index.mapping();
        let shards = index.shards.iter();
        shards.map(move |shard| (shard, mapping.clone()))
    });
    let caught_up = shards.map(|(shard, mapping)| shard.catch_up(&mapping));
    if let Err(error) = first_error(caught_up) {
        tracing::error!(%error, "a shard could not be recovered; the others serve");
    }
    data_folder::remove_leftovers(inner, &recovering.indices, was_saved)?;
    let count = recovering.indices.len();
    let indices = recovering
        .indices
        .into_values()
        .map(|index| (index.name().to_string(), index));
    let indices: std::collections::BTreeMap<_, _> = indices.collect();
    inner
        .aliases
        .store(Arc::new(alias_change::table(indices.values())));
    inner.look_for_slow_limits(indices.values());
    *inner.indices.change(inner.indices.upgradable_read()) = indices;
    tracing::info!(
        indices = count,
        replayed,
        last = inner.log.last().get(),
        "recovered"
    );
    Ok(())
}

/// Replays the log from the oldest position that some view still needs; the number of entries.
fn replay(
    inner: &Inner,
    recovering: &mut Recovering,
    catalog_applied: Glsn,
) -> Result<u64, EngineError> {
    // A checkpoint of `None` means that the shard has applied all it ever logged, so only what
    // comes later can concern it; its own filter finds out what that is.
    let oldest = recovering
        .indices
        .values()
        .flat_map(|index| &index.shards)
        .map(|shard| shard.recovered_from())
        .chain([catalog_applied])
        .min()
        .unwrap_or_default();
    // Users' own streams may keep the log far longer than any view needs it.
    let needed = oldest.max(inner.catalog.read().covered());
    let from = needed.next().max(inner.log.first());
    let mut replayed = 0;
    let mut scan = inner.log.scan_unnamed(from)?;
    while let Some(entry) = scan.next() {
        let entry = entry?;
        if entry.stream.get() == CATALOG_STREAM {
            if entry.glsn > catalog_applied {
                replay_catalog(inner, recovering, &entry)?;
            }
        } else {
            replay_document(&inner.log, recovering, &entry)?;
            inner.relieve_buffers(|| recovering.indices.values().cloned().collect());
        }
        replayed += 1;
    }
    Ok(replayed)
}

fn replay_catalog(
    inner: &Inner,
    recovering: &mut Recovering,
    entry: &EntryRef<'_>,
) -> Result<(), EngineError> {
    let operation = CatalogOperation::decode(entry.payload)?;
    inner.catalog.write().apply(operation.clone(), entry.glsn)?;
    follow_catalog(inner, recovering, operation)
}

/// Does to the indexes what a change says that the catalog has taken in.
fn follow_catalog(
    inner: &Inner,
    recovering: &mut Recovering,
    operation: CatalogOperation,
) -> Result<(), EngineError> {
    match operation {
        CatalogOperation::CreateIndex(record) => recovering.add(inner.open_index(&record)?),
        CatalogOperation::DeleteIndex { uuid } => recovering.remove(&uuid),
        CatalogOperation::PutMapping { uuid, .. }
        | CatalogOperation::GrowMapping { uuid, .. }
        | CatalogOperation::PutSettings { uuid, .. } => {
            let catalog = inner.catalog.read();
            // The catalog has it whole by now.
            if let (Some(index), Some(record)) =
                (recovering.indices.get(&uuid), catalog.indices.get(&uuid))
            {
                index.follow(record, &inner.options)?;
            }
        }
        CatalogOperation::ChangeAliases { entries, deleted } => {
            for AliasEntry { uuid, name, alias } in entries {
                if let Some(index) = recovering.indices.get(&uuid) {
                    let mut aliases = (*index.aliases()).clone();
                    set_alias(&mut aliases, name, alias);
                    index.aliases.store(Arc::new(aliases));
                }
            }
            deleted.iter().for_each(|uuid| recovering.remove(uuid));
        }
        CatalogOperation::SetClosed { uuids, closed } => {
            for index in uuids.iter().filter_map(|uuid| recovering.indices.get(uuid)) {
                index.closed.store(closed, Ordering::SeqCst);
            }
        }
        CatalogOperation::RenameIndex { uuid, name } => {
            if let Some(index) = recovering.indices.get(&uuid) {
                index.name.change(&name);
            }
        }
        // The catalog has taken them in.
        CatalogOperation::Define { .. } => {}
        CatalogOperation::Together(operations) => {
            for operation in operations {
                follow_catalog(inner, recovering, operation)?;
            }
        }
    }
    Ok(())
}

fn replay_document(
    log: &Log,
    recovering: &Recovering,
    entry: &EntryRef<'_>,
) -> Result<(), EngineError> {
    // Streams of indexes that are deleted by now have no shard.
    let Some((index, shard)) = recovering.streams.get(&entry.stream) else {
        return Ok(());
    };
    let shard = &index.shards[*shard];
    let operation = operation::decode(entry.payload)?;
    let seq_no = operation.seq_no;
    match shard.replay(operation, &index.mapping(), entry.glsn) {
        // The shard has said why when it failed.
        Ok(()) | Err(EngineError::ShardFailed { .. }) => Ok(()),
        Err(EngineError::Corrupt { .. }) if seq_no != shard.operations() => {
            let gap = (shard.operations(), seq_no);
            shard.damaged(&data_folder::lack_of_operations(log, shard, gap));
            Ok(())
        }
        Err(error) => {
            tracing::error!(index = index.name(), shard = shard.place.number, %error, "replay failed");
            shard.fail(&error);
            Ok(())
        }
    }
}
