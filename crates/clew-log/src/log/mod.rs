//! The log itself: opening, waiting, reading, closing. Appending gives positions and is in
//! `append`; what changes streams is in `streams`, what gives space back in `trim`. The one thread that
//! writes is `writer`.

mod append;
mod folder;
mod resume;
mod streams;
mod trim;
mod writer;

use std::any::Any;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use clew_platform::{Clock, Disk, Task};
use parking_lot::{Mutex, RwLock};

use crate::entry::Entry;
use crate::error::LogError;
use crate::file::{self, LogFile};
use crate::header::{Header, LogState};
use crate::options::{Durability, LogOptions};
use crate::position::{Glsn, Llsn, StreamId};
use crate::progress::{Goal, Progress};
use crate::queue::{Phase, Queue};
use crate::reader::LogReader;
use crate::recover::{self, FoundLog};
use crate::registry::Hidden;
use crate::scan::{Range, Scan, Selection};
use crate::stats::{Counters, LogStats};
use crate::subscribers::{Subscriber, SubscriberStats};
use crate::view::{IndexedFiles, View};
pub use append::Appended;
use append::Sequencer;
use folder::{begin, remove_unfinished, take_lock};
use writer::Writer;

const LOCK_NAME: &str = "lock";

/// A durable append-only log with one total order. Clones share one log; it is closed when
/// [`close`](Self::close) is called or the last clone is dropped.
#[derive(Clone)]
pub struct Log(Arc<Owner>);

/// What the clones share, and what ends with the last of them.
struct Owner {
    shared: Arc<Shared>,
    writer: Mutex<Option<Task>>,
    /// Keeps other processes out.
    lock: Mutex<Option<Box<dyn Any + Send + Sync>>>,
}

/// What callers and the writer share.
///
/// Lock order: `trimming`, `sequencer`, the queue's own, `files`, `shown`. The writer holds at
/// most one.
pub(crate) struct Shared {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) dir: PathBuf,
    pub(crate) options: LogOptions,
    pub(crate) queue: Queue,
    pub(crate) progress: Progress,
    pub(crate) counters: Counters,
    /// Oldest first; the last is the active one. Never empty.
    pub(crate) files: RwLock<Arc<Vec<Arc<LogFile>>>>,
    pub(crate) subscribers: Mutex<Vec<Weak<Subscriber>>>,
    sequencer: Mutex<Sequencer>,
    /// The last position given. Stored only once its entry is in the queue.
    last: AtomicU64,
    shown: RwLock<Shown>,
    indexed: Arc<IndexedFiles>,
    /// The streams without names need nothing up to here.
    unnamed_floor: AtomicU64,
    trimming: Mutex<()>,
    /// The length of the active file at its last sync.
    pub(crate) durable_bytes: Mutex<usize>,
    /// Of a poisoned log whose active file has no entries: the header of the one that takes its place, once that may
    /// have happened.
    successor: Mutex<Option<Header>>,
}

/// What readers see of the files.
#[derive(Debug, Default)]
struct Shown {
    hidden: Arc<Hidden>,
    low: Glsn,
}

impl Log {
    /// Opens the log in a folder, or begins one there.
    ///
    /// Cuts what a crash left unfinished at the end of the last file, and makes the rest durable.
    /// Any other damage that this finds is [`LogError::Corrupt`]. Reads the last file as a whole,
    /// and only the headers of the others: their entries are checked when they are read.
    pub fn open(
        disk: Arc<dyn Disk>,
        clock: Arc<dyn Clock>,
        dir: &Path,
        options: LogOptions,
    ) -> Result<Log, LogError> {
        options.validate()?;
        disk.create_dir_all_durable(dir)
            .map_err(LogError::io("create", dir))?;
        let lock = take_lock(&*disk, &dir.join(LOCK_NAME))?;
        remove_unfinished(&*disk, dir)?;
        let (found, handle) = match recover::find(&*disk, dir)? {
            Some(found) => {
                let handle = recover::adopt(&*disk, &found)?;
                (found, handle)
            }
            None => begin(&*disk, dir)?,
        };
        let FoundLog { mut files, tail } = found;
        let file = files.pop().expect("a log has a file");
        let file = Arc::into_inner(file).expect("nobody else has it yet");
        let file = Arc::new(file.growing_to(options.file_bytes_max));
        files.push(file.clone());
        let last = tail.next.previous();
        let shown = Shown::of(&tail.state);
        let shared = Arc::new(Shared {
            queue: Queue::new(&options, file.first, file.end()),
            disk,
            clock,
            dir: dir.to_owned(),
            options,
            progress: Progress::new(last),
            counters: Counters::default(),
            files: RwLock::new(Arc::new(files)),
            subscribers: Mutex::default(),
            sequencer: Mutex::new(Sequencer {
                next: tail.next,
                state: tail.state,
            }),
            last: AtomicU64::new(last.get()),
            shown: RwLock::new(shown),
            indexed: Arc::default(),
            unnamed_floor: AtomicU64::new(0),
            trimming: Mutex::new(()),
            durable_bytes: Mutex::new(file.end()),
            successor: Mutex::default(),
        });
        let (synced, vouched) = (file.end(), tail.vouched);
        let writer = Writer {
            shared: shared.clone(),
            file,
            handle,
            synced,
            started: synced,
            vouched,
            controls: 0,
            wrote: false,
        };
        let task = writer.spawn()?;
        let (writer, lock) = (Mutex::new(Some(task)), Mutex::new(Some(lock)));
        Ok(Log(Arc::new(Owner {
            shared,
            writer,
            lock,
        })))
    }

    /// Keeps everybody from opening a log's folder for writing for as long as what it returns is held.
    ///
    /// # Errors
    /// [`LogError::Locked`] when somebody has it open.
    pub fn lock_folder(
        disk: &dyn Disk,
        dir: &Path,
    ) -> Result<Box<dyn Any + Send + Sync>, LogError> {
        take_lock(disk, &dir.join(LOCK_NAME))
    }

    /// Opens a log's folder for reading only, also while a server holds it. Fails when it cannot be read, or is damaged
    /// before its end.
    pub fn open_read_only(disk: Arc<dyn Disk>, dir: &Path) -> Result<LogReader, LogError> {
        LogReader::open(disk, dir)
    }

    /// Blocks until an entry is written (not synced). Fails as [`wait`](Self::wait) does.
    pub fn written(&self, glsn: Glsn) -> Result<(), LogError> {
        self.wait(glsn, Durability::Os)
    }

    /// Blocks until an entry, and all before it, is as safe as asked; asks for a sync where none
    /// is under way. An entry that does not exist yet is waited for, unless all that is asked for
    /// is that it is in memory.
    ///
    /// # Errors
    /// [`LogError::Poisoned`], [`LogError::Closed`] or [`LogError::Lost`] when it will never be.
    pub fn wait(&self, glsn: Glsn, durability: Durability) -> Result<(), LogError> {
        self.wait_in(self.life(), glsn, durability)
    }

    /// As [`wait`](Self::wait), for an entry that was appended in a [life](Self::life) of the log, which has to be
    /// asked for before the append. Whoever acknowledges something must wait so: of another life, the position
    /// may be another entry's.
    ///
    /// # Errors
    /// [`LogError::Lost`] when the log has gone on without the entry.
    pub fn wait_in(&self, life: u64, glsn: Glsn, durability: Durability) -> Result<(), LogError> {
        let progress = &self.shared().progress;
        match durability {
            Durability::Memory => Ok(()),
            Durability::Os => {
                self.request_write(glsn);
                progress.wait(life, glsn, Goal::Written)
            }
            Durability::Sync => {
                if glsn > self.last() {
                    progress.wait(life, glsn, Goal::Written)?;
                }
                self.request_sync(glsn);
                progress.wait(life, glsn, Goal::Durable)
            }
        }
    }

    /// As [`wait`](Self::wait), for tasks. Giving up waiting changes nothing for the entry.
    pub async fn wait_async(&self, glsn: Glsn, durability: Durability) -> Result<(), LogError> {
        self.wait_async_in(self.life(), glsn, durability).await
    }

    /// As [`wait_in`](Self::wait_in), for tasks.
    pub async fn wait_async_in(
        &self,
        life: u64,
        glsn: Glsn,
        durability: Durability,
    ) -> Result<(), LogError> {
        let progress = &self.shared().progress;
        match durability {
            Durability::Memory => Ok(()),
            Durability::Os => {
                self.request_write(glsn);
                progress.wait_async(life, glsn, Goal::Written).await
            }
            Durability::Sync => {
                if glsn > self.last() {
                    progress.wait_async(life, glsn, Goal::Written).await?;
                }
                self.request_sync(glsn);
                progress.wait_async(life, glsn, Goal::Durable).await
            }
        }
    }

    /// Lets the writer write what calls left that more were to follow
    /// ([`AppendOptions::more_follows`](crate::AppendOptions::more_follows)).
    pub fn hand_over(&self) {
        self.shared().queue.hand_over();
    }

    /// The last position given; its entry may still be on its way to the disk.
    pub fn last(&self) -> Glsn {
        Glsn::new(self.shared().last.load(Ordering::Acquire))
    }

    /// The last entry that is durable.
    pub fn durable(&self) -> Glsn {
        self.shared().progress.durable()
    }

    /// The lowest entry retained; one after [`last`](Self::last) when there is none.
    pub fn first(&self) -> Glsn {
        let low = self.shared().shown.read().low;
        self.shared().files.read()[0].first.max(low)
    }

    /// Reads one entry. Blocks while it is on its way to the disk; walks over up to 4 KiB of
    /// frames and as much of entries to find it. Fails with [`LogError::Trimmed`] or [`LogError::NotFound`], or when it
    /// cannot be read or is damaged.
    pub fn read(&self, glsn: Glsn) -> Result<Entry, LogError> {
        if glsn <= self.last() {
            self.readable(glsn)?;
        }
        self.view().read(glsn)
    }

    /// Waits until an entry that was appended can be read.
    fn readable(&self, glsn: Glsn) -> Result<(), LogError> {
        self.request_write(glsn);
        self.shared()
            .progress
            .wait(self.life(), glsn, Goal::Readable)
    }

    /// Reads one entry of a stream. The first read by stream of an older file walks it once. Fails with
    /// [`LogError::UnknownStream`], [`LogError::TrimmedStream`] or [`LogError::EntryNotFound`], or as [`read`](Self::read).
    pub fn read_at(&self, stream: StreamId, llsn: Llsn) -> Result<Entry, LogError> {
        let stream = self.stream_info(stream)?;
        self.readable(self.last())?;
        self.view().read_at(&stream, llsn)
    }

    /// Reads all entries from `from` up to the last one written now; one past the last entry
    /// gives an empty scan. Fails as [`scan_with`](Self::scan_with) does.
    pub fn scan(&self, from: Glsn) -> Result<Scan, LogError> {
        self.scan_with(&Selection::from(from))
    }

    /// As [`scan`](Self::scan), for the program that embeds the log and wants only the streams it
    /// has numbered itself: files without entries of those are left out, by their headers. Entries
    /// of other streams may still be among those given. Beyond the end it is empty, too.
    pub fn scan_unnamed(&self, from: Glsn) -> Result<Scan, LogError> {
        let view = self.view();
        let from = from.min(view.last.next());
        view.scan_unnamed(from)
    }

    /// Reads a selection of the entries that are written now.
    ///
    /// # Errors
    /// When its beginning was trimmed or lies beyond the end, its stream is unknown, or the first file cannot be read. What
    /// comes later tells of its own when it is reached.
    pub fn scan_with(&self, selection: &Selection) -> Result<Scan, LogError> {
        match selection.range {
            Range::Glsn { from, to } => {
                let (given, view) = (self.last(), self.view());
                // What is given and not yet written is no error, only not there yet.
                let from = if from <= given.next() {
                    from.min(view.last.next())
                } else {
                    from
                };
                let range = Range::Glsn { from, to };
                view.scan(&Selection {
                    range,
                    ..selection.clone()
                })
            }
            Range::Llsn { stream, from, to } => {
                let stream = self.stream_info(stream)?;
                self.readable(self.last())?;
                self.view().scan_stream(&stream, from, to, selection.order)
            }
        }
    }

    /// The first entry of the streams (of all, if none are named) that was ordered at a time or
    /// later; `None` when there is none yet. Searches by the files' times and walks at most one
    /// file. Fails when one that it looks into cannot be read, or is damaged.
    pub fn first_at_or_after(
        &self,
        time_ms: u64,
        streams: &[StreamId],
    ) -> Result<Option<Glsn>, LogError> {
        self.view().first_at_or_after(time_ms, streams)
    }

    /// The limits the log was opened with.
    pub fn options(&self) -> &LogOptions {
        &self.shared().options
    }

    /// The bytes of all log files.
    pub fn bytes(&self) -> u64 {
        self.shared()
            .files
            .read()
            .iter()
            .map(|file| file.end() as u64)
            .sum()
    }

    /// The bytes of the log files from the one that holds a position on.
    pub fn bytes_from(&self, glsn: Glsn) -> u64 {
        let files = self.shared().files.read().clone();
        let index = file::holding(&files, glsn).unwrap_or(0);
        files[index..].iter().map(|file| file.end() as u64).sum()
    }

    /// Figures since the log was opened.
    pub fn stats(&self) -> LogStats {
        let shared = self.shared();
        let (pending_bytes, append_waits) = shared.queue.pressure();
        LogStats {
            pending_bytes,
            append_waits,
            files: shared.files.read().len(),
            poisoned: shared.progress.poisoned().is_some(),
            resumptions: shared.progress.life(),
            ..shared.counters.stats()
        }
    }

    /// How far each subscriber has come.
    pub fn subscribers(&self) -> Vec<SubscriberStats> {
        let last = self.last();
        let mut subscribers = self.shared().subscribers.lock();
        subscribers.retain(|subscriber| subscriber.strong_count() > 0);
        let alive = subscribers.iter().filter_map(Weak::upgrade);
        alive.map(|subscriber| subscriber.stats(last)).collect()
    }

    /// Makes everything durable, ends the writer and gives the folder free. Reads go on; the
    /// other clones cannot append any more. Fails when what was appended last could not be made durable.
    pub fn close(&self) -> Result<(), LogError> {
        self.0.close()
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0.shared
    }

    /// The log as it can be read now.
    pub(crate) fn view(&self) -> View {
        let shared = self.shared();
        // Before the files: then they hold at least this much.
        let last = shared.progress.written();
        let (hidden, low) = {
            let shown = shared.shown.read();
            (shown.hidden.clone(), shown.low)
        };
        let files = shared.files.read().clone();
        let first = files[0].first.max(low);
        let (disk, indexed) = (shared.disk.clone(), shared.indexed.clone());
        View {
            disk,
            files,
            hidden,
            indexed,
            first,
            last,
        }
    }

    /// Has an entry written that may be held back.
    fn request_write(&self, glsn: Glsn) {
        if self.shared().progress.written() < glsn {
            self.hand_over();
        }
    }

    fn request_sync(&self, glsn: Glsn) {
        if self.shared().progress.durable() < glsn {
            self.shared().queue.request_sync(glsn);
        }
    }

    fn refusal(&self, phase: Phase) -> LogError {
        match phase {
            Phase::Broken => self
                .shared()
                .progress
                .poisoned()
                .unwrap_or(LogError::Closed),
            Phase::Open | Phase::Closing => LogError::Closed,
        }
    }
}

impl Shown {
    fn of(state: &LogState) -> Self {
        Shown {
            hidden: Arc::new(state.registry.hidden()),
            low: state.registry.low(),
        }
    }
}

impl Owner {
    fn close(&self) -> Result<(), LogError> {
        self.shared.queue.end(Phase::Closing);
        // Held while joining, so that a second caller returns only when the first is done.
        let mut writer = self.writer.lock();
        if let Some(task) = writer.take() {
            // A panic of the writer has poisoned the log.
            task.join();
        }
        self.lock.lock().take();
        match self.shared.progress.poisoned() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // Nobody is left to tell; whoever needs to know calls `close` and looks at its answer.
        let _ = self.close();
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shared = self.shared();
        f.debug_struct("Log")
            .field("dir", &shared.dir)
            .field("last", &self.last())
            .field("durable", &self.durable())
            .finish_non_exhaustive()
    }
}
