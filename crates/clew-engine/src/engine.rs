//! The node: its log, its catalog of indexes, and the threads that look after them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use clew_log::{Durability, Glsn, Log, LogOptions, LogStats, NewEntry, StreamId, Trim};
use clew_platform::{Clock, Disk, Task, memory_bytes};
use clew_text::{Mapping, NewFields, QueryReader, Threads};
use clew_vector::MemoryBudget;
use parking_lot::{Mutex, RwLock};

use crate::activity::Activity;
use crate::alias::{self, AliasTable, Aliases};
use crate::blocks::BlockLevel;
use crate::catalog::{CATALOG_STREAM, Catalog, CatalogOperation, IndexRecord};
use crate::date_names::resolve_date;
use crate::error::EngineError;
use crate::index::Index;
use crate::maintenance::{self, Signal};
use crate::names::{IdGenerator, check_alias_name, check_alias_routing, check_name};
use crate::planner::IndexPlanner;
use crate::recovery;
use crate::search_pool::{SearchPool, SearchStats};
use crate::settings::{IndexSettings, TranslogDurability};
use crate::shard::{MergeLimits, Shard, ShardContext, ShardPlace, io_error};

const SHARDS_MAX: u32 = 1024;
/// Merges may take this part of the memory; the rest is for buffers, and for the system to keep
/// mapped files in.
const MERGE_MEMORY_SHARE: u64 = 4;

/// How an engine is set up.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// The data folder; one process at a time owns it.
    pub data: PathBuf,
    /// Threads that searches run on.
    pub search_threads: usize,
    /// Searches that may wait for a thread; more are refused.
    pub search_queue_max: usize,
    /// Size of a shard's buffer at which it is sealed into a segment.
    pub write_buffer_bytes: usize,
    /// Whether a write creates a missing index.
    pub auto_create_index: bool,
    /// Size of the log at which the shards that hold it back are flushed.
    pub log_bytes_max: u64,
    /// So much of the log's newest files is kept for readers of changes, needed or not.
    pub changes_retention_bytes: u64,
    /// Memory that all merges together may take for vectors, graphs and the order of documents.
    pub merge_memory_bytes: usize,
    /// Threads that build the graph of one merge.
    pub merge_threads: usize,
    /// A graph in the making is saved this often, so that a restart goes on with it.
    pub merge_save_every: Duration,
    /// Reads the queries that documents store; without it no document can store any.
    pub query_reader: Option<QueryReader>,
    /// How the log is laid out.
    pub log: LogOptions,
}

impl EngineOptions {
    /// The defaults over a data folder.
    pub fn new(data: impl Into<PathBuf>) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let memory = memory_bytes().map(|bytes| usize::try_from(bytes / MERGE_MEMORY_SHARE));
        EngineOptions {
            data: data.into(),
            search_threads: cores,
            search_queue_max: 1000,
            write_buffer_bytes: 64 << 20,
            auto_create_index: true,
            log_bytes_max: 1 << 30,
            changes_retention_bytes: 0,
            merge_memory_bytes: memory.map_or(1 << 30, |bytes| bytes.unwrap_or(usize::MAX)),
            merge_threads: (cores / 2).max(1),
            merge_save_every: Duration::from_secs(60),
            query_reader: None,
            log: LogOptions::default(),
        }
    }
}

/// Figures of a node.
#[derive(Clone, Debug)]
pub struct EngineStats {
    /// The log's.
    pub log: LogStats,
    /// The last position given.
    pub last: Glsn,
    /// The last position that is durable.
    pub durable: Glsn,
    /// The search pool's.
    pub search: SearchStats,
    /// Bytes that running merges have taken for vectors and graphs.
    pub merge_memory_bytes: u64,
    /// Bytes that they may take.
    pub merge_memory_bytes_max: u64,
}

/// A node; clones are handles of the same one. The last handle that goes away closes it.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
    /// Closes the node with the last handle; the threads hold only `inner`.
    _owner: Arc<Owner>,
}

struct Owner {
    inner: Arc<Inner>,
    tasks: Mutex<Vec<Task>>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            tracing::error!(%error, "closing failed; the log has everything acknowledged");
        }
    }
}

impl Owner {
    fn close(&self) -> Result<(), EngineError> {
        // First, so that whoever sees that the node closes knows that no merge goes on.
        for index in self.inner.indices.read().values() {
            index.shards.iter().for_each(|shard| shard.stop_merging());
        }
        if self.inner.closed.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        self.inner.signal.wake();
        self.inner.wake_upkeep();
        for task in self.tasks.lock().drain(..) {
            task.join();
        }
        let flushed = self.inner.flush_all();
        self.inner.log.close()?;
        flushed
    }
}

/// What the engine's threads share.
pub(crate) struct Inner {
    pub(crate) options: EngineOptions,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) log: Log,
    pub(crate) catalog: Mutex<Catalog>,
    pub(crate) indices: RwLock<BTreeMap<String, Arc<Index>>>,
    /// The indexes of each alias; follows `indices` while that is held for writing.
    pub(crate) aliases: ArcSwap<AliasTable>,
    /// Wakes the refresher.
    pub(crate) signal: Arc<Signal>,
    /// Wakes the flushes.
    pub(crate) upkeep: Arc<Signal>,
    /// Wakes the merges.
    pub(crate) merger: Arc<Signal>,
    pub(crate) merges: MergeLimits,
    pub(crate) pool: SearchPool,
    /// Held by the one measurement of recall that may run.
    pub(crate) measuring: Arc<tokio::sync::Semaphore>,
    pub(crate) ids: IdGenerator,
    /// How an index is made that a write misses; none makes them with the defaults.
    pub(crate) planner: OnceLock<Arc<dyn IndexPlanner>>,
    /// Buckets that the aggregations of one search may have.
    pub(crate) buckets_max: AtomicUsize,
    pub(crate) closed: AtomicBool,
}

impl Engine {
    /// Opens a data folder, or makes a new one: loads the newest views and replays the log.
    ///
    /// # Errors
    /// When another process owns the folder, or the log or the catalog is damaged. A damaged
    /// shard fails alone: it refuses requests, the others serve.
    pub fn open(
        options: EngineOptions,
        disk: Arc<dyn Disk>,
        clock: Arc<dyn Clock>,
    ) -> Result<Engine, EngineError> {
        let data = &options.data;
        disk.create_dir_all_durable(data)
            .map_err(io_error("create", data))?;
        let log = Log::open(disk.clone(), clock.clone(), &data.join("log"), options.log)?;
        let pool = SearchPool::new(options.search_threads, options.search_queue_max)?;
        let inner = Arc::new(Inner {
            catalog: Mutex::new(Catalog::load(&*disk, &data.join("catalog.json"))?),
            indices: RwLock::default(),
            aliases: ArcSwap::default(),
            signal: Arc::default(),
            upkeep: Arc::default(),
            merger: Arc::default(),
            merges: MergeLimits {
                memory: Arc::new(MemoryBudget::new(options.merge_memory_bytes)),
                threads: options.merge_threads,
                save_every: options.merge_save_every,
            },
            pool,
            measuring: Arc::new(tokio::sync::Semaphore::new(1)),
            ids: IdGenerator::new(clock.since_epoch()),
            planner: OnceLock::new(),
            buckets_max: AtomicUsize::new(clew_text::AggLimits::default().buckets_max),
            closed: AtomicBool::new(false),
            options,
            disk,
            clock,
            log,
        });
        recovery::recover(&inner)?;
        let tasks = maintenance::start(&inner)?;
        let owner = Owner {
            inner: inner.clone(),
            tasks: Mutex::new(tasks),
        };
        Ok(Engine {
            inner,
            _owner: Arc::new(owner),
        })
    }

    /// The node's log, for those who use it directly. Its streams without names are the engine's:
    /// they may be read, but an entry from elsewhere would not be understood by recovery.
    pub fn log(&self) -> &Log {
        &self.inner.log
    }

    /// The data folder.
    pub fn data_dir(&self) -> &std::path::Path {
        &self.inner.options.data
    }

    /// Time since the Unix epoch, by the clock that the engine was opened with.
    pub fn now(&self) -> Duration {
        self.inner.clock.since_epoch()
    }

    /// Every index, by name.
    pub fn indices(&self) -> Vec<Arc<Index>> {
        self.inner.indices.read().values().cloned().collect()
    }

    /// The threads that searches run on, as help for a search that is run elsewhere: in a measurement, say.
    pub fn search_threads(&self) -> &dyn Threads {
        &self.inner.pool
    }

    /// Flushes everything, stops the threads and closes the log. Later calls do nothing.
    ///
    /// # Errors
    /// When flushing fails; the log then still has everything acknowledged.
    pub fn close(&self) -> Result<(), EngineError> {
        self._owner.close()
    }

    /// Creates an index; durable when it returns.
    ///
    /// # Errors
    /// When the name breaks the rules or is taken, or the settings are out of bounds.
    pub fn create_index(
        &self,
        name: &str,
        settings: IndexSettings,
        mapping: Mapping,
    ) -> Result<(Arc<Index>, Glsn), EngineError> {
        self.create_index_with_aliases(name, settings, mapping, Aliases::new())
    }

    /// Creates an index that has aliases from the start.
    ///
    /// # Errors
    /// As [`Engine::create_index`], and when an alias's name breaks the rules or is an index's.
    pub fn create_index_with_aliases(
        &self,
        name: &str,
        settings: IndexSettings,
        mapping: Mapping,
        aliases: Aliases,
    ) -> Result<(Arc<Index>, Glsn), EngineError> {
        let name = resolve_date(name, self.inner.now_ms())?;
        let (index, glsn) = self.inner.create_index(&name, settings, mapping, aliases)?;
        self.inner.log.wait(glsn, Durability::Sync)?;
        Ok((index, glsn))
    }

    /// Checks that an index of this name could be made now.
    ///
    /// # Errors
    /// When the name breaks the rules or is taken.
    pub fn check_new_name(&self, name: &str) -> Result<(), EngineError> {
        check_name(name)?;
        match self.inner.indices.read().get(name) {
            None => Ok(()),
            Some(existing) => Err(EngineError::IndexExists {
                index: name.to_string(),
                uuid: existing.uuid.clone(),
            }),
        }
    }

    /// Deletes an index and its files; durable when it returns.
    ///
    /// # Errors
    /// When there is no such index.
    pub fn delete_index(&self, name: &str) -> Result<Glsn, EngineError> {
        let glsn = self.inner.delete_index(name)?;
        self.inner.log.wait(glsn, Durability::Sync)?;
        Ok(glsn)
    }

    /// The index of a name.
    ///
    /// # Errors
    /// [`EngineError::IndexNotFound`].
    pub fn index(&self, name: &str) -> Result<Arc<Index>, EngineError> {
        self.inner.index(name)
    }

    /// Merges fields into an index's mapping; durable when it returns.
    ///
    /// # Errors
    /// When the mapping is malformed or would change a field's type.
    pub fn put_mapping(&self, name: &str, body: &serde_json::Value) -> Result<Glsn, EngineError> {
        let index = self.inner.index(name)?;
        index.check_block(BlockLevel::MetadataWrite)?;
        let glsn = self
            .inner
            .change_mapping(&index, |mapping| Ok(mapping.merge_opensearch(body)?))?;
        self.inner.log.wait(glsn, Durability::Sync)?;
        Ok(glsn)
    }

    /// Replaces an index's settings; durable when it returns.
    ///
    /// # Errors
    /// When they are out of bounds or would change the number of shards.
    pub fn put_settings(&self, name: &str, settings: IndexSettings) -> Result<Glsn, EngineError> {
        let index = self.inner.index(name)?;
        check_settings(&settings)?;
        let _changing = index.changing.lock();
        if settings.shards != index.settings().shards {
            let reason = "final index setting [index.number_of_shards], not updateable".to_string();
            return Err(EngineError::InvalidSetting { reason });
        }
        if !only_blocks_change(&index.settings(), &settings) {
            index.check_block(BlockLevel::MetadataWrite)?;
        }
        let uuid = index.uuid.clone();
        let operation = CatalogOperation::PutSettings {
            uuid,
            settings: settings.clone(),
        };
        let glsn = self.inner.append_catalog(operation)?;
        index.settings.store(Arc::new(settings));
        self.inner.signal.wake();
        self.inner.log.wait(glsn, Durability::Sync)?;
        Ok(glsn)
    }

    /// Makes all writes to an index visible to searches.
    ///
    /// # Errors
    /// The first failure; the other shards are refreshed all the same.
    pub fn refresh(&self, index: &Index) -> Result<(), EngineError> {
        let refreshed = first_error(index.shards.iter().map(|shard| shard.refresh()));
        self.inner.wake_upkeep();
        refreshed
    }

    /// Makes all writes to one shard of an index visible to searches.
    ///
    /// # Errors
    /// When the shard has failed; a number that it does not have does nothing.
    pub fn refresh_shard(&self, index: &Index, number: u32) -> Result<(), EngineError> {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        let refreshed = index.shards.get(place).map(|shard| shard.refresh());
        self.inner.wake_upkeep();
        refreshed.unwrap_or(Ok(()))
    }

    /// Makes all writes to an index durable in its segments.
    ///
    /// # Errors
    /// The first failure; the other shards are flushed all the same.
    pub fn flush(&self, index: &Index) -> Result<(), EngineError> {
        first_error(index.shards.iter().map(|shard| shard.flush()))
    }

    /// Merges the segments that each shard of an index has now into at most so many without
    /// deletes. Writes that come meanwhile may add segments.
    ///
    /// # Errors
    /// The first failure; [`EngineError::Closed`] when the engine closes first.
    pub fn force_merge(&self, index: &Index, segments_max: usize) -> Result<(), EngineError> {
        let goal = crate::shard::MergeGoal::AtMost(segments_max);
        let order = index.settings().merge_order();
        for shard in &index.shards {
            // One pass brings the number down, the others each take the deletes out of one
            // segment; without the bound, steady writes would always leave one more to do.
            let passes_max = shard.view().segments.len() + 1;
            for _ in 0..passes_max {
                if self.inner.closed.load(Ordering::SeqCst) {
                    return Err(EngineError::Closed);
                }
                if !shard.merge(goal, order)? {
                    break;
                }
            }
            shard.flush()?;
        }
        Ok(())
    }

    /// Waits until searches over these indexes see everything up to a position.
    ///
    /// # Errors
    /// [`EngineError::Timeout`].
    pub async fn wait_visible(
        &self,
        indices: &[Arc<Index>],
        glsn: Glsn,
        timeout: Duration,
    ) -> Result<(), EngineError> {
        let wait = async {
            for shard in indices.iter().flat_map(|index| &index.shards) {
                let mut published = shard.published();
                while !shard.is_visible(glsn) {
                    published.borrow_and_update();
                    self.inner.signal.request_refresh();
                    // Published between the two looks: do not wait for the next one.
                    if shard.is_visible(glsn) || published.changed().await.is_err() {
                        break;
                    }
                }
            }
        };
        tokio::time::timeout(timeout, wait)
            .await
            .map_err(|_| EngineError::Timeout { glsn })
    }

    /// Figures of the node.
    pub fn stats(&self) -> EngineStats {
        let log = &self.inner.log;
        EngineStats {
            log: log.stats(),
            last: log.last(),
            durable: log.durable(),
            search: self.inner.pool.stats(),
            merge_memory_bytes: self.inner.merges.memory.used() as u64,
            merge_memory_bytes_max: self.inner.merges.memory.max() as u64,
        }
    }
}

/// Goes through all of them, whatever they say.
pub(crate) fn first_error(
    results: impl Iterator<Item = Result<(), EngineError>>,
) -> Result<(), EngineError> {
    let mut first = Ok(());
    for result in results {
        first = first.and(result);
    }
    first
}

/// A block must not forbid that it is taken away.
fn only_blocks_change(before: &IndexSettings, after: &IndexSettings) -> bool {
    let (before, after) = (&before.given, &after.given);
    let mut names = before.keys().chain(after.keys());
    names.all(|name| name.starts_with("index.blocks.") || before.get(name) == after.get(name))
}

fn check_settings(settings: &IndexSettings) -> Result<(), EngineError> {
    let reason = if !(1..=SHARDS_MAX).contains(&settings.shards) {
        format!(
            "Failed to parse value [{}] for setting [index.number_of_shards] must be >= 1 and <= {SHARDS_MAX}",
            settings.shards
        )
    } else if settings.max_result_window == 0 {
        "Failed to parse value [0] for setting [index.max_result_window] must be >= 1".to_string()
    } else if settings.ef_search < 2 {
        let ef = settings.ef_search;
        format!(
            "Failed to parse value [{ef}] for setting [index.knn.algo_param.ef_search] must be >= 2"
        )
    } else {
        return Ok(());
    };
    Err(EngineError::InvalidSetting { reason })
}

impl Inner {
    /// There may be something to merge or flush.
    pub(crate) fn wake_upkeep(&self) {
        self.upkeep.wake();
        self.merger.wake();
    }

    pub(crate) fn index(&self, name: &str) -> Result<Arc<Index>, EngineError> {
        let found = self.indices.read().get(name).cloned();
        found.ok_or_else(|| EngineError::IndexNotFound {
            index: name.to_string(),
        })
    }

    pub(crate) fn create_index(
        &self,
        name: &str,
        settings: IndexSettings,
        mapping: Mapping,
        aliases: Aliases,
    ) -> Result<(Arc<Index>, Glsn), EngineError> {
        check_name(name)?;
        check_settings(&settings)?;
        let mut indices = self.indices.write();
        if let Some(existing) = indices.get(name) {
            let (index, uuid) = (name.to_string(), existing.uuid.clone());
            return Err(EngineError::IndexExists { index, uuid });
        }
        self.check_new_aliases(name, &indices, &aliases)?;
        let record = IndexRecord {
            name: name.to_string(),
            uuid: self.ids.next_uuid(),
            created_ms: u64::try_from(self.clock.since_epoch().as_millis()).unwrap_or(u64::MAX),
            settings,
            mapping: mapping.encode(),
            first_stream: self.catalog.lock().next_stream(),
            aliases,
            closed: false,
        };
        // The shards are made first: an index in the log must never lack its folders.
        let index = Arc::new(self.open_index(&record)?);
        let glsn = self.append_catalog(CatalogOperation::CreateIndex(record))?;
        let aliased = !index.aliases().is_empty();
        indices.insert(name.to_string(), index.clone());
        if aliased {
            self.aliases.store(Arc::new(alias::table(indices.values())));
        }
        Ok((index, glsn))
    }

    /// Checks the names that a new index would add.
    fn check_new_aliases(
        &self,
        name: &str,
        indices: &BTreeMap<String, Arc<Index>>,
        aliases: &Aliases,
    ) -> Result<(), EngineError> {
        let table = self.aliases.load();
        if table.contains_key(name) {
            return Err(EngineError::InvalidIndexName {
                index: name.to_string(),
                reason: "already exists as alias",
            });
        }
        for (alias, says) in aliases {
            check_alias_name(alias)?;
            check_alias_routing(alias, says)?;
            if alias == name || indices.contains_key(alias) {
                let uuid = indices.get(alias).map_or("_na_", |index| index.uuid());
                return Err(EngineError::AliasIsIndex {
                    alias: alias.clone(),
                    uuid: uuid.to_string(),
                });
            }
            let mut holders = vec![(name, says.clone())];
            for index in table.get(alias).into_iter().flatten() {
                holders.extend(
                    index
                        .aliases
                        .load()
                        .get(alias)
                        .map(|says| (index.name(), says.clone())),
                );
            }
            alias::check_holders(alias, &holders)?;
        }
        Ok(())
    }

    /// Opens the index of a catalog record.
    pub(crate) fn open_index(&self, record: &IndexRecord) -> Result<Index, EngineError> {
        let mut mapping = record.decode_mapping()?;
        mapping.set_limits(record.settings.mapping_limits());
        let mapping = Arc::new(mapping);
        let shard = |number: u32| {
            let dir = self.index_dir(&record.uuid).join(number.to_string());
            let stream = record.stream(number);
            let place = ShardPlace {
                index: record.name.clone(),
                number,
                stream,
                dir,
            };
            let context = ShardContext {
                disk: self.disk.clone(),
                clock: self.clock.clone(),
                log: self.log.clone(),
                buffer_bytes_max: self.options.write_buffer_bytes,
                query_reader: self.options.query_reader,
                merges: self.merges.clone(),
            };
            Shard::open(place, context, mapping.clone()).map(Arc::new)
        };
        Ok(Index {
            name: record.name.clone(),
            uuid: record.uuid.clone(),
            created_ms: record.created_ms,
            settings: ArcSwap::from_pointee(record.settings.clone()),
            mapping: ArcSwap::new(mapping.clone()),
            aliases: ArcSwap::from_pointee(record.aliases.clone()),
            closed: AtomicBool::new(record.closed),
            changing: Mutex::new(()),
            routing_slots: record.settings.routing_slots(),
            shards: (0..record.settings.shards)
                .map(shard)
                .collect::<Result<_, _>>()?,
            activity: Activity::default(),
        })
    }

    pub(crate) fn index_dir(&self, uuid: &str) -> PathBuf {
        self.options.data.join("indices").join(uuid)
    }

    fn delete_index(&self, name: &str) -> Result<Glsn, EngineError> {
        let mut indices = self.indices.write();
        let index = indices.get(name).cloned();
        let index = index.ok_or_else(|| EngineError::IndexNotFound {
            index: name.to_string(),
        })?;
        index.check_block(BlockLevel::Delete)?;
        let operation = CatalogOperation::DeleteIndex {
            uuid: index.uuid.clone(),
        };
        let glsn = self.append_catalog(operation)?;
        // Only a durable deletion may take the files: after a crash the index might come back.
        self.log.wait(glsn, Durability::Sync)?;
        indices.remove(name);
        if !index.aliases().is_empty() {
            self.aliases.store(Arc::new(alias::table(indices.values())));
        }
        self.forget_index(&index);
        Ok(glsn)
    }

    /// Removes what a deleted index has on disk and in the log.
    pub(crate) fn forget_index(&self, index: &Index) {
        for shard in &index.shards {
            shard.retire();
        }
        let streams: Vec<StreamId> = index.shards.iter().map(|s| s.place.stream).collect();
        if let Err(error) = self.log.delete_streams(&streams) {
            tracing::warn!(%error, "cannot forget the streams of a deleted index");
        }
        let dir = self.index_dir(&index.uuid);
        if let Err(error) = self.disk.remove_dir_all(&dir) {
            tracing::warn!(dir = %dir.display(), %error, "cannot remove a deleted index");
        }
    }

    /// Appends a change of the catalog to the log and follows it.
    pub(crate) fn append_catalog(&self, operation: CatalogOperation) -> Result<Glsn, EngineError> {
        self.append_to_catalog(&mut self.catalog.lock(), operation)
    }

    /// The same under the catalog's lock, for changes that depend on what it says.
    pub(crate) fn append_to_catalog(
        &self,
        catalog: &mut Catalog,
        operation: CatalogOperation,
    ) -> Result<Glsn, EngineError> {
        let payload = serde_json::to_vec(&operation).expect("operations have only plain fields");
        let parts: [&[u8]; 1] = [&payload];
        let entry = NewEntry::new(StreamId::new(CATALOG_STREAM), &parts);
        let glsn = self.log.append(&[entry], Durability::Sync)?.first;
        catalog.apply(operation, glsn);
        Ok(glsn)
    }

    /// Changes an index's mapping; the change stands in the log before any document that needs it.
    pub(crate) fn change_mapping(
        &self,
        index: &Index,
        change: impl FnOnce(&mut Mapping) -> Result<(), EngineError>,
    ) -> Result<Glsn, EngineError> {
        let _changing = index.changing.lock();
        let mut mapping = (*index.mapping()).clone();
        mapping.set_limits(index.settings().mapping_limits());
        change(&mut mapping)?;
        let uuid = index.uuid.clone();
        let operation = CatalogOperation::PutMapping {
            uuid,
            mapping: mapping.encode(),
        };
        let glsn = self.append_catalog(operation)?;
        index.mapping.store(Arc::new(mapping));
        Ok(glsn)
    }

    /// Adds fields that a document brought; those that are there by now are kept.
    pub(crate) fn grow_mapping(&self, index: &Index, fields: NewFields) -> Result<(), EngineError> {
        self.change_mapping(index, |mapping| Ok(mapping.grow(fields)?))
            .map(|_| ())
    }

    /// Flushes every shard and saves the catalog, then trims the log.
    pub(crate) fn flush_all(&self) -> Result<(), EngineError> {
        let indices: Vec<Arc<Index>> = self.indices.read().values().cloned().collect();
        let shards = indices.iter().flat_map(|index| &index.shards);
        let flushed = first_error(shards.map(|shard| shard.flush()));
        self.trim_log()?;
        flushed
    }

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
        let needed = self.covered();
        let mut catalog = self.catalog.lock().clone();
        catalog.cover(needed);
        // What a crash takes back is given out again, to entries that must not pass for covered.
        self.log
            .wait(needed.max(catalog.applied()), Durability::Sync)?;
        catalog.save(&*self.disk, &self.options.data.join("catalog.json"))?;
        let released = self.behind_readers(needed);
        Ok(self.log.trim(Trim::Unnamed(released))?)
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

    /// The durability that a log position must have before a write is acknowledged.
    pub(crate) fn log_durability(durability: TranslogDurability) -> Durability {
        match durability {
            TranslogDurability::Request => Durability::Sync,
            TranslogDurability::Async => Durability::Os,
        }
    }
}
