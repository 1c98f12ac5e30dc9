//! The log itself: gives positions, hands entries to the writer, and lets callers wait and read.

use std::any::Any;
use std::collections::btree_map::Entry as Slot;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use clew_platform::{Disk, RealClock};
use parking_lot::{Mutex, RwLock};

use crate::error::LogError;
use crate::file::LogFile;
use crate::frame::{PayloadLen, Place};
use crate::header::{Header, Streams};
use crate::options::{Durability, LogOptions, NewEntry};
use crate::position::{Glsn, Llsn, StreamId};
use crate::progress::{Goal, Progress};
use crate::queue::{Phase, Queue, Room};
use crate::reader::LogReader;
use crate::recover::{self, Found};
use crate::scan::{self, Entry, Scan};
use crate::stats::{Counters, LogStats};
use crate::tail::Tail;
use crate::writer::Writer;

const LOCK_NAME: &str = "lock";

/// A durable append-only log with one total order. Clones share one log; it is closed when
/// [`close`](Self::close) is called or the last clone is dropped.
#[derive(Clone)]
pub struct Log(Arc<Owner>);

/// What the clones share, and what ends with the last of them.
struct Owner {
    shared: Arc<Shared>,
    writer: Mutex<Option<JoinHandle<()>>>,
    /// Keeps other processes out.
    lock: Mutex<Option<Box<dyn Any + Send + Sync>>>,
}

/// What callers and the writer share.
///
/// Lock order: `trimming`, `sequencer`, the queue's own, `files`. The writer holds at most one.
pub(crate) struct Shared {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) dir: PathBuf,
    pub(crate) options: LogOptions,
    pub(crate) queue: Queue,
    pub(crate) progress: Progress,
    pub(crate) counters: Counters,
    /// Oldest first; the last is the active one. Never empty.
    pub(crate) files: RwLock<Vec<Arc<LogFile>>>,
    sequencer: Mutex<Sequencer>,
    /// The last position given. Stored only once its entry is in the queue.
    last: AtomicU64,
    trimming: Mutex<()>,
}

/// Gives positions. Whoever holds it is the next in the log's order.
struct Sequencer {
    next: Glsn,
    streams: Streams,
}

/// The positions a call to [`Log::append`] was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The first entry's position; the others follow without gaps.
    pub first: Glsn,
    /// The last entry's position. For a call without entries: the last position given before.
    pub last: Glsn,
    /// Each entry's position in its stream, in the order of the call.
    pub llsns: Vec<Llsn>,
}

impl Appended {
    /// The position of the entry with this index in the call.
    pub fn glsn(&self, index: usize) -> Glsn {
        Glsn::new(self.first.get() + index as u64)
    }
}

impl Log {
    /// Opens the log in a folder, or begins one there.
    ///
    /// Cuts what a crash left unfinished at the end of the last file, and makes the rest durable.
    /// Any other damage that this finds is [`LogError::Corrupt`]. Reads the last file as a whole,
    /// and only the headers of the others: their entries are checked when they are read.
    pub fn open(disk: Arc<dyn Disk>, dir: &Path, options: LogOptions) -> Result<Log, LogError> {
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
            None => {
                let header = Header {
                    first: Glsn::FIRST,
                    previous: None,
                    streams: Streams::new(),
                };
                let (file, handle) = recover::create_file(&*disk, dir, &header)?;
                let (next, streams) = (header.first, header.streams);
                let tail = Tail {
                    next,
                    streams,
                    vouched: Glsn::ZERO,
                };
                (
                    Found {
                        files: vec![Arc::new(file)],
                        tail,
                    },
                    handle,
                )
            }
        };
        let Found { files, tail } = found;
        let file = files.last().expect("a log has a file").clone();
        let last = tail.next.previous();
        let sequencer = Sequencer {
            next: tail.next,
            streams: tail.streams.clone(),
        };
        let shared = Arc::new(Shared {
            queue: Queue::new(options.file_bytes_max, options.pending_bytes_max),
            disk,
            dir: dir.to_owned(),
            options,
            progress: Progress::new(last),
            counters: Counters::default(),
            files: RwLock::new(files),
            sequencer: Mutex::new(sequencer),
            last: AtomicU64::new(last.get()),
            trimming: Mutex::new(()),
        });
        let writer = Writer {
            shared: shared.clone(),
            file,
            handle,
            streams: tail.streams,
            vouched: tail.vouched,
            clock: RealClock::new(),
        };
        let thread = std::thread::Builder::new().name("clew-log-writer".to_owned());
        let thread = thread.spawn(move || writer.run());
        let thread = thread.map_err(LogError::io("start the writer of", dir))?;
        let (writer, lock) = (Mutex::new(Some(thread)), Mutex::new(Some(lock)));
        Ok(Log(Arc::new(Owner {
            shared,
            writer,
            lock,
        })))
    }

    /// Opens a log's folder for reading only, also while a server holds it.
    pub fn open_read_only(disk: Arc<dyn Disk>, dir: &Path) -> Result<LogReader, LogError> {
        LogReader::open(disk, dir)
    }

    /// Appends entries as one call: they get consecutive positions, and after a crash all of them
    /// are there or none.
    ///
    /// Returns as soon as the order is decided, without waiting for the disk; blocks only while
    /// `pending_bytes_max` is reached. Wait for the acknowledgement with [`wait`](Self::wait).
    pub fn append(
        &self,
        entries: &[NewEntry<'_>],
        durability: Durability,
    ) -> Result<Appended, LogError> {
        let max = self.shared().options.entry_bytes_max;
        let measure = |entry| PayloadLen::new(entry, max);
        let lengths: Result<Vec<PayloadLen>, usize> = entries.iter().map(measure).collect();
        let lengths = lengths.map_err(|bytes| LogError::EntryTooLarge { bytes, max })?;
        let bytes = lengths.iter().map(|length| length.frame_bytes()).sum();

        // Whoever has seen the log fail must not see it take anything after that.
        if let Some(error) = self.shared().progress.poisoned() {
            return Err(error);
        }
        let mut sequencer = self.shared().sequencer.lock();
        let mut room = self
            .shared()
            .queue
            .reserve(bytes)
            .map_err(|phase| self.refusal(phase))?;
        let first = sequencer.next;
        let llsns = sequencer.push(entries, &lengths, &mut room);
        let last = sequencer.next.previous();
        self.shared().last.store(last.get(), Ordering::Release);
        room.commit((durability == Durability::Sync).then_some(last));
        Ok(Appended { first, last, llsns })
    }

    /// Blocks until an entry is written (not synced).
    pub fn written(&self, glsn: Glsn) -> Result<(), LogError> {
        self.wait(glsn, Durability::Os)
    }

    /// Blocks until an entry, and all before it, is as safe as asked; asks for a sync where none
    /// is under way. An entry that does not exist yet is waited for.
    pub fn wait(&self, glsn: Glsn, durability: Durability) -> Result<(), LogError> {
        let progress = &self.shared().progress;
        if durability == Durability::Os {
            return progress.wait(glsn, Goal::Written);
        }
        if glsn > self.last() {
            progress.wait(glsn, Goal::Written)?;
        }
        self.request_sync(glsn);
        progress.wait(glsn, Goal::Durable)
    }

    /// As [`wait`](Self::wait), for tasks. Giving up waiting changes nothing for the entry.
    pub async fn wait_async(&self, glsn: Glsn, durability: Durability) -> Result<(), LogError> {
        let progress = &self.shared().progress;
        if durability == Durability::Os {
            return progress.wait_async(glsn, Goal::Written).await;
        }
        if glsn > self.last() {
            progress.wait_async(glsn, Goal::Written).await?;
        }
        self.request_sync(glsn);
        progress.wait_async(glsn, Goal::Durable).await
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
        self.shared().files.read()[0].first
    }

    /// Reads one entry. Blocks while it is on its way to the disk; walks over up to 64 KiB of
    /// entries to find it.
    pub fn read(&self, glsn: Glsn) -> Result<Entry, LogError> {
        self.check(glsn, self.last())?;
        self.shared().progress.wait(glsn, Goal::Readable)?;
        let files = self.shared().files.read().clone();
        scan::read_one(&*self.shared().disk, &files, glsn)
    }

    /// Reads all entries from `from` up to the last one written now; one past the last entry
    /// gives an empty scan.
    pub fn scan(&self, from: Glsn) -> Result<Scan, LogError> {
        self.check(from, self.last().next())?;
        // Before the files: then they hold at least this much.
        let end = self.shared().progress.written();
        let files = self.shared().files.read().clone();
        Scan::new(self.shared().disk.clone(), files, from, end)
    }

    /// Removes all files whose entries are all at or below `until`. The active file stays.
    pub fn trim(&self, until: Glsn) -> Result<(), LogError> {
        let shared = self.shared();
        let _one_at_a_time = shared.trimming.lock();
        loop {
            let oldest = {
                let mut files = shared.files.write();
                match files.get(1) {
                    Some(second) if second.first.previous() <= until => files.remove(0),
                    _ => return Ok(()),
                }
            };
            if let Err(source) = shared.disk.remove_file(&oldest.path) {
                let error = LogError::io("remove", &oldest.path)(source);
                shared.files.write().insert(0, oldest);
                return Err(error);
            }
            // One by one: a crash must not bring back a file and leave a gap behind it.
            shared
                .disk
                .sync_dir(&shared.dir)
                .map_err(LogError::io("sync", &shared.dir))?;
        }
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

    /// The streams and the last position given in each.
    pub fn streams(&self) -> Vec<(StreamId, Llsn)> {
        let sequencer = self.shared().sequencer.lock();
        sequencer
            .streams
            .iter()
            .map(|(stream, next)| (*stream, next.previous()))
            .collect()
    }

    /// Forgets a stream's counter: its next entry gets LLSN 1. Durable once a new file begins;
    /// opening the log before that may bring the old counter back.
    pub fn drop_stream(&self, stream: StreamId) {
        let mut sequencer = self.shared().sequencer.lock();
        if sequencer.streams.remove(&stream).is_some() {
            self.shared().queue.drop_stream(stream);
        }
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
            ..shared.counters.stats()
        }
    }

    /// Makes everything durable, ends the writer and gives the folder free. Reads go on; the
    /// other clones cannot append any more.
    pub fn close(&self) -> Result<(), LogError> {
        self.0.close()
    }

    fn shared(&self) -> &Shared {
        &self.0.shared
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

    fn check(&self, glsn: Glsn, highest: Glsn) -> Result<(), LogError> {
        let first = self.first();
        if glsn < first {
            return Err(LogError::Trimmed { first });
        }
        if glsn > highest {
            return Err(LogError::NotFound {
                glsn,
                last: self.last(),
            });
        }
        Ok(())
    }
}

impl Sequencer {
    /// Gives each entry its positions and puts it into the queue.
    fn push(
        &mut self,
        entries: &[NewEntry<'_>],
        lengths: &[PayloadLen],
        room: &mut Room<'_>,
    ) -> Vec<Llsn> {
        let mut llsns = Vec::with_capacity(entries.len());
        let mut run: Option<(StreamId, Llsn)> = None;
        for (index, (entry, length)) in entries.iter().zip(lengths).enumerate() {
            let llsn = match run {
                Some((stream, next)) if stream == entry.stream => next,
                _ => {
                    self.store(run);
                    self.streams
                        .get(&entry.stream)
                        .copied()
                        .unwrap_or(Llsn::FIRST)
                }
            };
            run = Some((entry.stream, llsn.next()));
            let ends_call = index + 1 == entries.len();
            let place = Place {
                stream: entry.stream,
                glsn: self.next,
                llsn,
                ends_call,
            };
            room.push(*length, place, entry.parts);
            self.next = self.next.next();
            llsns.push(llsn);
        }
        self.store(run);
        llsns
    }

    fn store(&mut self, run: Option<(StreamId, Llsn)>) {
        let Some((stream, next)) = run else { return };
        match self.streams.entry(stream) {
            Slot::Occupied(mut slot) => *slot.get_mut() = next,
            Slot::Vacant(slot) => {
                slot.insert(next);
            }
        }
    }
}

impl Owner {
    fn close(&self) -> Result<(), LogError> {
        self.shared.queue.end(Phase::Closing);
        // Held while joining, so that a second caller returns only when the first is done.
        let mut writer = self.writer.lock();
        if let Some(thread) = writer.take() {
            // A panic of the writer has poisoned the log.
            let _ = thread.join();
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

fn take_lock(disk: &dyn Disk, path: &Path) -> Result<Box<dyn Any + Send + Sync>, LogError> {
    disk.lock(path).map_err(|source| match source.kind() {
        io::ErrorKind::WouldBlock => LogError::Locked {
            path: path.to_owned(),
        },
        _ => LogError::io("lock", path)(source),
    })
}

/// Removes what a crash left of files that were being made: no entry was ever in them.
fn remove_unfinished(disk: &dyn Disk, dir: &Path) -> Result<(), LogError> {
    for path in disk.list(dir).map_err(LogError::io("list", dir))? {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if name.ends_with(".log.tmp") {
            disk.remove_file(&path)
                .map_err(LogError::io("remove", &path))?;
        }
    }
    Ok(())
}
