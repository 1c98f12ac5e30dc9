//! The node: its log, its catalog of indexes, and the threads that look after them.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use arc_swap::ArcSwap;
use clew_log::{Durability, Glsn, Log, LogStats};
use clew_platform::{Clock, Disk, MemoryAccount, MemoryLimits, MemoryPurpose, Task};
use clew_search::Threads;
use parking_lot::{Mutex, RwLock};

use crate::base::auto_creation::AutoCreation;
use crate::base::disk::DiskGuard;
use crate::base::error::{EngineError, io_error};
use crate::base::names::IdGenerator;
use crate::base::search_pool::{SearchPool, SearchStats};
use crate::base::settings::TranslogDurability;
use crate::base::signal::Signal;
use crate::base::slow::SlowRequests;
use crate::catalog::planner::IndexPlanner;
use crate::catalog::record::Catalog;
use crate::index::handle::Index;
use crate::node::alias_change::AliasTable;
use crate::node::index_table::IndexTable;
use crate::node::options::EngineOptions;
use crate::node::{data_folder, maintenance, recovery};
use crate::shard::{MergeLimits, Shard};

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
        self.inner.healer.wake();
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
    pub(crate) catalog: RwLock<Catalog>,
    pub(crate) changing_catalog: Mutex<()>,
    /// Held while the saved catalog takes in what then goes from the log, and while both are read together.
    pub(crate) saving_catalog: Mutex<()>,
    pub(crate) indices: IndexTable,
    /// The indexes of each alias; follows `indices` while that is held for writing.
    pub(crate) aliases: ArcSwap<AliasTable>,
    /// Wakes the refresher.
    pub(crate) signal: Arc<Signal>,
    /// Wakes the flushes.
    pub(crate) upkeep: Arc<Signal>,
    /// Wakes the merges.
    pub(crate) merger: Arc<Signal>,
    /// Wakes what mends failures.
    pub(crate) healer: Arc<Signal>,
    pub(crate) merges: MergeLimits,
    /// Says whether there is room for what makes data.
    pub(crate) space: Arc<DiskGuard>,
    pub(crate) pool: SearchPool,
    /// Held by the one measurement of recall that may run.
    pub(crate) measuring: Arc<tokio::sync::Semaphore>,
    pub(crate) ids: IdGenerator,
    /// How an index is made that a write misses; none makes them with the defaults.
    pub(crate) planner: OnceLock<Arc<dyn IndexPlanner>>,
    /// Which indexes writes make that find none, where the options let them.
    pub(crate) auto_creation: ArcSwap<AutoCreation>,
    /// Buckets that the aggregations of one search may have.
    pub(crate) buckets_max: AtomicUsize,
    /// Whether any index has limits for what is slow.
    pub(crate) slow_told: AtomicBool,
    /// From which times on whole calls are told as slow, of protocols that have no settings for that themselves.
    slow_calls: ArcSwap<SlowRequests>,
    pub(crate) closed: AtomicBool,
    /// What memory is taken for.
    pub(crate) memory: Arc<MemoryAccount>,
    /// Held by the one who makes segments of buffers because these take too much.
    pub(crate) relieving: Mutex<()>,
}

impl Engine {
    /// Opens a data folder, or makes a new one: loads the newest views and replays the log.
    ///
    /// # Errors
    /// When another process owns the folder, when the log or the catalog is damaged, or when something is missing
    /// without which what is left would pass for all. A damaged shard fails alone: it refuses requests, the others
    /// serve.
    pub fn start(
        options: EngineOptions,
        disk: Arc<dyn Disk>,
        clock: Arc<dyn Clock>,
    ) -> Result<Engine, EngineError> {
        let made = disk.create_dir_all_durable(&options.data);
        made.map_err(io_error("create", &options.data))?;
        let space = disk.space(&options.data);
        let options = options.fitted_to(space.unwrap_or_default());
        let data = &options.data;
        data_folder::check_log(&*disk, data)?;
        let log_dir = data_folder::log_dir(data);
        let log = Log::open(disk.clone(), clock.clone(), &log_dir, options.log)?;
        let saved = data_folder::load_catalog(&*disk, data, &log)?;
        let pool = SearchPool::new(
            options.search_threads,
            options.search_queue_max,
            clock.clone(),
        );
        let guard = DiskGuard::new(disk.clone(), data.clone(), options.disk);
        clew_search::size_caches(options.memory_bytes);
        let memory = MemoryAccount::new(options.memory);
        let inner = Arc::new(Inner {
            catalog: RwLock::new(Catalog::default()),
            changing_catalog: Mutex::default(),
            saving_catalog: Mutex::default(),
            indices: IndexTable::default(),
            aliases: ArcSwap::default(),
            signal: Arc::default(),
            upkeep: Arc::default(),
            merger: Arc::default(),
            healer: Arc::default(),
            merges: MergeLimits {
                memory: memory.clone(),
                threads: options.merge_threads,
                asked_threads: options.asked_merge_threads,
                save_every: options.merge_save_every,
            },
            space: Arc::new(guard),
            pool,
            measuring: Arc::new(tokio::sync::Semaphore::new(1)),
            ids: IdGenerator::new(clock.since_epoch(), clock.identity()),
            planner: OnceLock::new(),
            auto_creation: ArcSwap::default(),
            buckets_max: AtomicUsize::new(clew_aggregation::AggLimits::default().buckets_max),
            slow_told: AtomicBool::new(false),
            slow_calls: ArcSwap::default(),
            closed: AtomicBool::new(false),
            memory,
            relieving: Mutex::default(),
            options,
            disk,
            clock,
            log,
        });
        recovery::recover(&inner, saved)?;
        inner.look_at_disk();
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

    /// From which times on whole calls are told as slow, of protocols that have no settings for that themselves. Costs no lock.
    pub fn slow_calls(&self) -> Arc<SlowRequests> {
        self.inner.slow_calls.load_full()
    }

    /// Tells slow calls from these times on.
    pub fn set_slow_calls(&self, limits: SlowRequests) {
        self.inner.slow_calls.store(Arc::new(limits));
    }

    /// Whether any index has limits from which on something is told as slow ([`SlowLog`](crate::SlowLog)). Costs no lock.
    pub fn tells_slow(&self) -> bool {
        self.inner.slow_told.load(Ordering::Relaxed)
    }

    /// The account of the memory that requests and upkeep take.
    pub fn memory(&self) -> &Arc<MemoryAccount> {
        &self.inner.memory
    }

    /// Memory whose shares the limits of the account are.
    pub fn memory_bytes(&self) -> u64 {
        self.inner.options.memory_bytes
    }

    /// The limits that the account began with.
    pub fn memory_limits(&self) -> MemoryLimits {
        self.inner.options.memory
    }

    /// The data folder.
    pub fn data_dir(&self) -> &std::path::Path {
        &self.inner.options.data
    }

    /// The clock that the engine was opened with.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.clock
    }

    /// Time since the Unix epoch by that clock.
    pub fn now(&self) -> Duration {
        self.inner.clock.since_epoch()
    }

    /// The same in milliseconds, as dates have it.
    pub fn now_ms(&self) -> i64 {
        self.inner.now_ms()
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

    /// Makes all writes to an index visible to searches; does nothing with one that was deleted meanwhile.
    ///
    /// # Errors
    /// The first failure; the other shards are refreshed all the same.
    pub fn refresh(&self, index: &Index) -> Result<(), EngineError> {
        first_error(self.refresh_each(index).into_iter())
    }

    /// The same, with what became of each shard.
    pub fn refresh_each(&self, index: &Index) -> Vec<Result<(), EngineError>> {
        let refreshed = index.shards.iter().map(|shard| shard.refresh()).collect();
        self.inner.wake_upkeep();
        each_unless_deleted(index, refreshed)
    }

    /// Makes all writes to one shard of an index visible to searches, likewise.
    ///
    /// # Errors
    /// When the shard has failed; a number that it does not have does nothing.
    pub fn refresh_shard(&self, index: &Index, number: u32) -> Result<(), EngineError> {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        let refreshed = index.shards.get(place).map(|shard| shard.refresh());
        self.inner.wake_upkeep();
        unless_deleted(index, refreshed.unwrap_or(Ok(())))
    }

    /// Makes all writes to an index durable in its segments; does nothing with one that was deleted meanwhile.
    ///
    /// # Errors
    /// The first failure; the other shards are flushed all the same.
    pub fn flush(&self, index: &Index) -> Result<(), EngineError> {
        first_error(self.flush_each(index).into_iter())
    }

    /// The same, with what became of each shard.
    pub fn flush_each(&self, index: &Index) -> Vec<Result<(), EngineError>> {
        let shards: Vec<&Arc<Shard>> = index.shards.iter().collect();
        each_unless_deleted(index, flush_shards(&shards))
    }

    /// Merges the segments that each shard of an index has now into at most so many without
    /// deletes. Writes that come meanwhile may add segments. Does nothing with an index that was deleted meanwhile.
    ///
    /// # Errors
    /// The first failure, as those of [`Engine::force_merge_each`].
    pub fn force_merge(&self, index: &Index, segments_max: usize) -> Result<(), EngineError> {
        first_error(self.force_merge_each(index, segments_max).into_iter())
    }

    /// The same, with what became of each shard: [`EngineError::Closed`] when the engine closes first,
    /// [`EngineError::DiskFull`] when the disk has no room for it.
    pub fn force_merge_each(
        &self,
        index: &Index,
        segments_max: usize,
    ) -> Vec<Result<(), EngineError>> {
        let goal = crate::shard::MergeGoal::AtMost(segments_max);
        let order = index.settings().merge_order;
        let merge = |shard: &Arc<Shard>| {
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
            shard.flush()
        };
        let merged = index.shards.iter().map(merge).collect();
        // It has left off for these merges, and may have something to do still.
        self.inner.wake_upkeep();
        each_unless_deleted(index, merged)
    }

    /// Waits until searches over these indexes see everything up to a position.
    ///
    /// # Errors
    /// [`EngineError::Timeout`]; [`EngineError::ShardFailed`] when a shard that has not reached it has failed.
    pub async fn wait_visible(
        &self,
        indices: &[Arc<Index>],
        glsn: Glsn,
        timeout: Duration,
    ) -> Result<(), EngineError> {
        let wait = async {
            for shard in indices.iter().flat_map(|index| &index.shards) {
                let mut published = shard.published();
                while !shard.is_visible(glsn) && !shard.is_retired() {
                    shard.check_sound()?;
                    published.borrow_and_update();
                    self.inner.signal.request_refresh();
                    // Published between the two looks: do not wait for the next one.
                    if shard.is_visible(glsn) || published.changed().await.is_err() {
                        break;
                    }
                }
            }
            Ok(())
        };
        tokio::time::timeout(timeout, wait)
            .await
            .map_err(|_| EngineError::Timeout { glsn })?
    }

    /// Figures of the node.
    pub fn stats(&self) -> EngineStats {
        let log = &self.inner.log;
        let merges = self.inner.memory.figures(MemoryPurpose::Merges);
        EngineStats {
            log: log.stats(),
            last: log.last(),
            durable: log.durable(),
            search: self.inner.pool.stats(),
            merge_memory_bytes: merges.used as u64,
            merge_memory_bytes_max: merges.limit as u64,
        }
    }
}

/// An entry of the log that is to be waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Logged {
    pub(crate) glsn: Glsn,
    /// The life of the log in which it was given its position.
    pub(crate) life: u64,
}

/// What fails because its index goes meanwhile is not missed by anybody.
fn unless_deleted(index: &Index, done: Result<(), EngineError>) -> Result<(), EngineError> {
    if index.is_deleted() { Ok(()) } else { done }
}

/// The same for each shard.
fn each_unless_deleted(
    index: &Index,
    done: Vec<Result<(), EngineError>>,
) -> Vec<Result<(), EngineError>> {
    let each = done.into_iter();
    each.map(|done| unless_deleted(index, done)).collect()
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

/// Shards that are flushed at once where there are many: what they wait for is the disk, which stores what they give it together.
const FLUSHES_AT_ONCE: usize = 8;
/// So few are flushed one after the other.
const FLUSHED_IN_TURN: usize = 16;

/// Flushes shards, and says for each what became of it.
pub(crate) fn flush_shards(shards: &[&Arc<Shard>]) -> Vec<Result<(), EngineError>> {
    fn in_turn(shards: &[&Arc<Shard>]) -> Vec<Result<(), EngineError>> {
        shards.iter().map(|shard| shard.flush()).collect()
    }
    if shards.len() <= FLUSHED_IN_TURN {
        return in_turn(shards);
    }
    thread::scope(|scope| {
        let begin = |shards| {
            let named = thread::Builder::new().name("clew-flush".to_string());
            (shards, named.spawn_scoped(scope, move || in_turn(shards)))
        };
        let share = shards.len().div_ceil(FLUSHES_AT_ONCE);
        let begun: Vec<_> = shards.chunks(share).map(begin).collect();
        let ended = begun.into_iter().flat_map(|(shards, begun)| match begun {
            Ok(begun) => begun.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => in_turn(shards),
        });
        ended.collect()
    })
}

impl Inner {
    /// There may be something to merge or flush.
    pub(crate) fn wake_upkeep(&self) {
        self.upkeep.wake();
        self.merger.wake();
    }

    /// Waits until an entry is durable.
    pub(crate) fn settle(&self, logged: Logged) -> Result<Glsn, EngineError> {
        let Logged { glsn, life } = logged;
        let settled = self.log.wait_in(life, glsn, Durability::Sync);
        // It takes back what is lost; the caller may hold locks that it needs.
        settled.inspect_err(|_| self.healer.wake())?;
        Ok(glsn)
    }

    pub(crate) fn index(&self, name: &str) -> Result<Arc<Index>, EngineError> {
        let found = self.indices.read().get(name).cloned();
        found.ok_or_else(|| EngineError::IndexNotFound {
            index: name.to_string(),
        })
    }

    /// The durability that a log position must have before a write is acknowledged.
    pub(crate) fn log_durability(durability: TranslogDurability) -> Durability {
        match durability {
            TranslogDurability::Request => Durability::Sync,
            TranslogDurability::Async => Durability::Os,
        }
    }
}
