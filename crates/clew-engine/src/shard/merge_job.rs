//! What a merge needs beside the segments: who watches it, how much memory it may take, and where
//! the graphs that it builds are saved, so that a restart goes on with them.
//!
//! One file for each vector field, `merge-<field>.savepoint` in the shard's folder. Its first line
//! names the segments that are merged; the rest is what `clew-vector` wrote. It is no format: a
//! program that cannot read it builds the graph anew.

use std::io::{self, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use clew_platform::{Clock, Disk, DiskFile, MemoryAccount, MemoryPurpose, Reservation};
use clew_schema::FieldId;
use clew_vector::{
    BuildProgress, BuildWatch, ColumnOptions, GraphChoice, Savepoint, VectorError, WriteSavepoint,
    memory_needed, sparse_memory_needed,
};
use parking_lot::Mutex;
use tantivy::index::SegmentId;

use super::centres::IndexCentres;
use super::left_off::LeftOffPlace;
use super::merge::MergeGoal;

/// Ends the names of files that hold graphs in the making.
pub(super) const SAVEPOINT_PREFIX: &str = "merge-";
pub(super) const SAVEPOINT_SUFFIX: &str = ".savepoint";
/// Saving may take this share of a build's time: all its threads wait meanwhile.
const SAVE_SHARE: u32 = 20;

/// How vectors are merged; the same for all shards of a node.
#[derive(Clone, Debug)]
pub(crate) struct MergeLimits {
    /// Memory that all merges may take together for vectors, graphs and the order of documents.
    pub(crate) memory: Arc<MemoryAccount>,
    /// Threads that build one graph.
    pub(crate) threads: usize,
    /// The same where somebody waits for it.
    pub(crate) asked_threads: usize,
    /// A graph in the making is saved this often.
    pub(crate) save_every: Duration,
}

impl MergeLimits {
    /// The same for a merge, by what it is for. The upkeep leaves half of the machine to others; who waits for a merge would
    /// wait nearly twice as long while that half has nothing to do.
    pub(super) fn of(&self, goal: MergeGoal) -> MergeLimits {
        let threads = match goal {
            MergeGoal::Upkeep => self.threads,
            MergeGoal::AtMost(_) => self.asked_threads,
        };
        MergeLimits {
            threads,
            ..self.clone()
        }
    }

    /// Takes memory as soon as others have given back enough. Whoever holds some already must not ask for more
    /// here: two could wait for each other.
    ///
    /// # Errors
    /// [`VectorError::Memory`] at once where merges may never take so much, [`VectorError::Cancelled`].
    pub(super) fn admit(
        &self,
        needed: usize,
        progress: &BuildProgress,
    ) -> Result<Reservation, VectorError> {
        let wanted = || !progress.is_cancelled();
        match self.memory.wait(MemoryPurpose::Merges, needed, wanted) {
            Ok(Some(taken)) => Ok(taken),
            Ok(None) => Err(VectorError::Cancelled),
            Err(exceeded) => Err(VectorError::Memory {
                needed,
                allowed: exceeded.limit,
            }),
        }
    }
}

/// What merges of a shard have to say for themselves.
#[derive(Debug, Default)]
pub(crate) struct MergeState {
    /// How far the running merge is; cancelled for ever when the shard's life ends.
    pub(crate) progress: Arc<BuildProgress>,
    /// Whether a merge is running.
    pub(crate) running: AtomicBool,
    turns: Mutex<Turns>,
    /// The segments whose merge was interrupted after it had saved something.
    pub(super) interrupted: Mutex<Vec<SegmentId>>,
    /// What the upkeep was building when it left off.
    pub(super) left_off: LeftOffPlace,
    /// Graphs that were not built because they would not have fitted into the memory allowed.
    pub(crate) graphs_refused: AtomicU64,
    /// Graphs that went on from a savepoint.
    pub(crate) graphs_resumed: AtomicU64,
}

/// Who merges a shard.
#[derive(Debug, Default)]
struct Turns {
    /// Whether it is the upkeep.
    upkeep: bool,
    /// How many wait that somebody has asked for.
    waiting: usize,
}

impl MergeState {
    /// Asks for the next merge, of somebody who waits for it. The upkeep, which yields to everything else on the machine
    /// and may therefore take a hundred times as long, leaves off what it does: what it merges is mostly what was
    /// asked for. It begins nothing until the result is dropped.
    #[must_use = "the upkeep goes on when this is dropped"]
    pub(super) fn ask_for_turn(&self) -> AskedTurn<'_> {
        let mut turns = self.turns.lock();
        turns.waiting += 1;
        if turns.upkeep {
            self.progress.interrupt();
        }
        AskedTurn(self)
    }

    /// Begins a merge of the upkeep, by whoever alone may merge now; `None` when somebody waits for one.
    pub(super) fn begin_upkeep(&self) -> Option<UpkeepTurn<'_>> {
        let mut turns = self.turns.lock();
        if turns.waiting > 0 {
            return None;
        }
        turns.upkeep = true;
        Some(UpkeepTurn(self))
    }

    /// Whether somebody waits for the next merge.
    pub(super) fn is_waited_for(&self) -> bool {
        self.turns.lock().waiting > 0
    }

    /// Says that a merge is running.
    #[must_use = "the merge has ended when this is dropped"]
    pub(super) fn begin_running(&self) -> RunningTurn<'_> {
        self.running.store(true, Ordering::Relaxed);
        RunningTurn(self)
    }
}

/// A merge is running, until this is dropped, be it by a panic.
#[derive(Debug)]
pub(super) struct RunningTurn<'a>(&'a MergeState);

impl Drop for RunningTurn<'_> {
    fn drop(&mut self) {
        self.0.running.store(false, Ordering::Relaxed);
        self.0.progress.rest();
    }
}

/// Somebody waits for the next merge.
#[derive(Debug)]
pub(super) struct AskedTurn<'a>(&'a MergeState);

impl Drop for AskedTurn<'_> {
    fn drop(&mut self) {
        self.0.turns.lock().waiting -= 1;
    }
}

/// The upkeep merges.
#[derive(Debug)]
pub(super) struct UpkeepTurn<'a>(&'a MergeState);

impl Drop for UpkeepTurn<'_> {
    fn drop(&mut self) {
        // Under the lock: nobody interrupts what comes after it.
        let mut turns = self.0.turns.lock();
        turns.upkeep = false;
        self.0.progress.resume();
    }
}

/// One merge of a shard.
#[derive(Debug)]
pub(super) struct MergeJob {
    pub(super) limits: MergeLimits,
    /// Around which lists are formed.
    pub(super) centres: Arc<IndexCentres>,
    pub(super) state: Arc<MergeState>,
    pub(super) place: SavePlace,
}

/// Where a merge's graphs are saved.
#[derive(Clone, Debug)]
pub(super) struct SavePlace {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) dir: PathBuf,
    /// The segments that are merged.
    pub(super) parts: Vec<SegmentId>,
}

/// A column that may be built.
#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) graph: GraphChoice,
    /// Whether lists may be formed around the centres that shards have in common.
    pub(super) shares_centres: bool,
    /// Held until it is built.
    pub(super) _memory: Reservation,
}

impl MergeJob {
    /// Takes memory for a column of so many rows, and says how it shall be built: of the ways, the dearest first, the first that
    /// merges may ever take enough for. Lists as many as shards with common centres have are left out before the graph, and that
    /// last: scans find everything, too.
    ///
    /// # Errors
    /// As [`MergeLimits::admit`]; of memory, what the cheapest way needs.
    pub(super) fn admit(
        &self,
        options: &ColumnOptions,
        rows: usize,
    ) -> Result<Admitted, VectorError> {
        let (built, never) = (GraphChoice::WhenWorthIt, GraphChoice::Never);
        // A column that gets no graph needs as much in each of them.
        let ways = [
            (
                built,
                true,
                self.centres.memory_needed(options, rows, built),
            ),
            (built, false, memory_needed(options, rows, built)),
            (never, false, memory_needed(options, rows, never)),
        ];
        let mut refused = (0, 0);
        for (graph, shares_centres, needed) in ways {
            match self.limits.admit(needed, &self.state.progress) {
                Err(VectorError::Memory { needed, allowed }) => refused = (needed, allowed),
                taken => {
                    let memory = taken?;
                    if graph == GraphChoice::Never {
                        self.note_refused_graph(rows, refused);
                    }
                    return Ok(Admitted {
                        graph,
                        shares_centres,
                        _memory: memory,
                    });
                }
            }
        }
        let (needed, allowed) = refused;
        Err(VectorError::Memory { needed, allowed })
    }

    fn note_refused_graph(&self, rows: usize, (needed, allowed): (usize, usize)) {
        let dir = self.place.dir.display();
        tracing::warn!(%dir, rows, needed, allowed, "merging without a graph, which needs more memory than it may take");
        self.state.graphs_refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes memory for a column of so many sparse vectors.
    pub(super) fn admit_sparse(
        &self,
        rows: usize,
        weights: usize,
    ) -> Result<Reservation, VectorError> {
        let needed = sparse_memory_needed(rows, weights);
        self.limits.admit(needed, &self.state.progress)
    }

    /// Watches the build of a field's column.
    pub(super) fn watch(&self, field: FieldId) -> BuildWatch {
        let place = self.place.clone();
        let savepoint = SaveFile {
            path: place.dir.join(file_name(field)),
            due_at: Mutex::new(place.clock.monotonic() + self.limits.save_every),
            save_every: self.limits.save_every,
            state: self.state.clone(),
            place,
        };
        BuildWatch {
            progress: self.state.progress.clone(),
            savepoint: Some(Arc::new(savepoint)),
        }
    }
}

fn file_name(field: FieldId) -> String {
    format!("{SAVEPOINT_PREFIX}{}{SAVEPOINT_SUFFIX}", field.get())
}

/// A field's graph in the making, as a file.
#[derive(Debug)]
struct SaveFile {
    place: SavePlace,
    path: PathBuf,
    save_every: Duration,
    due_at: Mutex<Duration>,
    state: Arc<MergeState>,
}

impl SaveFile {
    fn try_store(&self, write: WriteSavepoint<'_>) -> io::Result<()> {
        let disk = &*self.place.disk;
        let temporary = self.path.with_extension("savepoint.tmp");
        if disk.exists(&temporary) {
            disk.remove_file(&temporary)?;
        }
        let mut out = Output {
            file: disk.create_new(&temporary)?,
            offset: 0,
        };
        out.write_all(head_of(&self.place.parts).as_bytes())?;
        write(&mut out)?;
        out.file.sync_data()?;
        drop(out);
        disk.rename(&temporary, &self.path)?;
        disk.sync_dir(&self.place.dir)
    }
}

impl Savepoint for SaveFile {
    fn is_due(&self) -> bool {
        self.place.clock.monotonic() >= *self.due_at.lock()
    }

    fn store(&self, write: WriteSavepoint<'_>) {
        let start = self.place.clock.monotonic();
        if let Err(error) = self.try_store(write) {
            tracing::warn!(path = %self.path.display(), %error, "cannot save a graph in the making");
        }
        let end = self.place.clock.monotonic();
        let pause = self.save_every.max(end.saturating_sub(start) * SAVE_SHARE);
        *self.due_at.lock() = end + pause;
    }

    fn load(&self) -> Option<Box<dyn Deref<Target = [u8]>>> {
        if !self.place.disk.exists(&self.path) {
            return None;
        }
        let bytes = match self.place.disk.map(&self.path) {
            Ok(bytes) => bytes,
            Err(error) => {
                tracing::warn!(path = %self.path.display(), %error, "cannot read a saved graph");
                return None;
            }
        };
        let head = head_of(&self.place.parts);
        // Of other segments: they are gone, or merged another way.
        bytes.starts_with(head.as_bytes()).then(|| {
            let behind: Box<dyn Deref<Target = [u8]>> = Box::new(Behind {
                bytes,
                start: head.len(),
            });
            behind
        })
    }

    fn refuse(&self, reason: &'static str) {
        tracing::warn!(path = %self.path.display(), reason, "a saved graph is of no use, building anew");
    }

    fn resumed(&self, rows: usize) {
        tracing::info!(path = %self.path.display(), rows, "going on with a saved graph");
        self.state.graphs_resumed.fetch_add(1, Ordering::Relaxed);
    }
}

/// The first line of a file: the segments in the order in which they are merged.
fn head_of(parts: &[SegmentId]) -> String {
    let names: Vec<String> = parts.iter().map(SegmentId::uuid_string).collect();
    format!("{}\n", names.join(","))
}

/// The segments whose merge was interrupted after it had saved something, in the order in which they
/// were merged; none when nothing, or nothing readable, is there.
pub(super) fn interrupted(disk: &dyn Disk, dir: &Path) -> Vec<SegmentId> {
    let files = savepoints(disk, dir);
    let heads = files.iter().filter_map(|path| {
        let bytes = disk.map(path).ok()?;
        let line = bytes.split(|&byte| byte == b'\n').next()?;
        let names = std::str::from_utf8(line).ok()?.split(',');
        names
            .map(|name| SegmentId::from_uuid_string(name).ok())
            .collect::<Option<Vec<_>>>()
    });
    heads.into_iter().next().unwrap_or_default()
}

/// Removes what interrupted merges have saved. Failing is no error: whoever looks at it next finds
/// that it is of other segments.
pub(super) fn forget(disk: &dyn Disk, dir: &Path) {
    for path in savepoints(disk, dir) {
        if let Err(error) = disk.remove_file(&path) {
            tracing::warn!(path = %path.display(), %error, "cannot remove a saved graph");
        }
    }
}

fn savepoints(disk: &dyn Disk, dir: &Path) -> Vec<PathBuf> {
    let is_savepoint = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.ends_with(SAVEPOINT_SUFFIX))
    };
    let mut files = disk.list(dir).unwrap_or_default();
    files.retain(is_savepoint);
    files
}

/// Writes a file from its start.
struct Output {
    file: Box<dyn DiskFile>,
    offset: u64,
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all_at(bytes, self.offset)?;
        self.offset += bytes.len() as u64;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes behind a head.
struct Behind<B> {
    bytes: B,
    start: usize,
}

impl<B: Deref<Target = [u8]>> Deref for Behind<B> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use clew_platform::MemoryLimits;

    use super::*;

    #[test]
    fn a_merge_that_somebody_waits_for_has_threads_of_its_own_number() {
        let limits = MergeLimits {
            memory: MemoryAccount::new(MemoryLimits::none()),
            threads: 2,
            asked_threads: 4,
            save_every: Duration::from_secs(60),
        };
        assert_eq!(limits.of(MergeGoal::Upkeep).threads, 2);
        assert_eq!(limits.of(MergeGoal::AtMost(1)).threads, 4);
    }

    #[test]
    fn the_upkeep_leaves_off_for_a_merge_that_somebody_waits_for() {
        let state = MergeState::default();
        let upkeep = state.begin_upkeep();
        assert!(upkeep.is_some() && !state.progress.is_cancelled());
        let asked = state.ask_for_turn();
        assert!(state.progress.is_cancelled());
        drop(upkeep);
        // Now it is the turn of what was asked for, and whoever asks meanwhile interrupts nobody.
        assert!(!state.progress.is_cancelled());
        let another = state.ask_for_turn();
        drop(asked);
        assert!(!state.progress.is_cancelled() && state.begin_upkeep().is_none());
        drop(another);
        assert!(state.begin_upkeep().is_some());
    }

    #[test]
    fn a_shard_at_its_end_merges_nothing_more_although_somebody_waited() {
        let state = MergeState::default();
        let upkeep = state.begin_upkeep();
        let asked = state.ask_for_turn();
        state.progress.cancel();
        drop((upkeep, asked));
        assert!(state.progress.is_cancelled());
    }
}
