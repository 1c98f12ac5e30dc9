//! The one thread that writes: group commit, because the disk, not the CPU, limits us.
//!
//! Order was decided before this module; it only ever writes groups in the order they came. The
//! first failure ends the thread: what the disk then holds behind the last sync is unknown, and the
//! file is never written again (`log/resume.rs`).

use std::io;
use std::sync::Arc;

use clew_platform::{DiskFile, Task};

use super::Shared;
use crate::error::LogError;
use crate::file::LogFile;
use crate::frame;
use crate::header::{Header, LogState};
use crate::position::Glsn;
use crate::progress::{Controls, Poison};
use crate::queue::{Group, Phase, WriterWork};
use crate::recover;

/// Unsynced bytes after which the disk is told to begin with them: a file that was only written
/// has to be synced as a whole before the next one begins, and nobody should wait for all of it.
const WRITEBACK_BYTES: usize = 4 << 20;

pub(crate) struct Writer {
    pub(crate) shared: Arc<Shared>,
    pub(crate) file: Arc<LogFile>,
    pub(crate) handle: Box<dyn DiskFile>,
    /// Length of the active file at its last sync.
    pub(crate) synced: usize,
    /// Length up to which the disk was told to begin storing the active file.
    pub(crate) started: usize,
    /// Offset below which the active file itself vouches for everything.
    pub(crate) vouched: u64,
    /// The last control record written.
    pub(crate) controls: Controls,
    /// Whether anything was written since the log was opened.
    pub(crate) wrote: bool,
}

impl Writer {
    /// Starts the thread.
    pub(crate) fn spawn(self) -> Result<Task, LogError> {
        let dir = self.shared.dir.clone();
        let task = Task::spawn("clew-log-writer", move || self.run());
        task.map_err(LogError::io("start the writer of", &dir))
    }

    fn run(mut self) {
        let shared = self.shared.clone();
        let _last_words = LastWords(&shared);
        let mut batch = Vec::new();
        loop {
            let progress = &shared.progress;
            let reached = (progress.written(), progress.durable());
            let work = shared
                .queue
                .take(&mut batch, reached, progress.durable_controls());
            match self.commit(&mut batch, work) {
                Ok(()) if work.closing => return shared.progress.close(),
                Ok(()) => {}
                Err(error) => {
                    shared.progress.poison(Poison::from(error));
                    return shared.queue.end(Phase::Broken);
                }
            }
        }
    }

    fn commit(&mut self, batch: &mut Vec<Group>, work: WriterWork) -> Result<(), LogError> {
        let mut calls = Vec::with_capacity(batch.len());
        for mut group in batch.drain(..) {
            self.write(&mut group)?;
            calls.push((group.begun, group.calls));
            self.shared.queue.give_back(group);
        }
        let progress = &self.shared.progress;
        let asked = work.sync_target > progress.durable()
            || work.controls_target > progress.durable_controls();
        if asked || (work.closing && self.synced < self.file.end()) {
            self.sync()?;
        }
        let now = self.shared.clock.since_epoch();
        for (begun, calls) in calls {
            self.shared
                .counters
                .acknowledged(now.saturating_sub(begun), calls);
        }
        if work.closing && self.needs_mark() {
            self.vouch()?;
        }
        Ok(())
    }

    fn write(&mut self, group: &mut Group) -> Result<(), LogError> {
        if let Some(state) = group.begins_file.take() {
            self.begin_file(group.first, *state)?;
        }
        let synced = self.synced as u64;
        let mark = frame::mark(group.first, synced);
        group.bytes[..mark.len()].copy_from_slice(&mark);
        let offset = self.file.end();
        self.append(&group.bytes)?;
        self.vouched = synced;
        self.wrote = true;
        self.controls = group.controls;
        for (glsn, place) in &group.points {
            self.file.note(*glsn, offset + place);
        }
        let entries = group.next.get() - group.first.get();
        self.shared.counters.group(entries, group.bytes.len());
        self.shared.progress.set_written(group.next.previous());
        Ok(())
    }

    /// Finishes the active file and begins the next, whose first entry is `first`.
    fn begin_file(&mut self, first: Glsn, state: LogState) -> Result<(), LogError> {
        if self.synced < self.file.end() {
            self.sync()?;
        }
        let previous = Some(recover::link_to(&self.file));
        let header = Header {
            first,
            previous,
            state,
        };
        let shared = &self.shared;
        let (file, handle) = recover::create_file(&*shared.disk, &shared.dir, &header)?;
        let file = Arc::new(file.growing_to(shared.options.file_bytes_max));
        (self.synced, self.started, self.vouched) = (file.end(), file.end(), file.end() as u64);
        (self.file, self.handle) = (file.clone(), handle);
        *shared.durable_bytes.lock() = self.synced;
        Arc::make_mut(&mut shared.files.write()).push(file);
        Ok(())
    }

    fn sync(&mut self) -> Result<(), LogError> {
        let (clock, end) = (&self.shared.clock, self.file.end());
        let start = clock.monotonic();
        self.shared.progress.begin_sync();
        self.handle
            .sync_data()
            .map_err(LogError::io("sync", &self.file.path))?;
        self.shared
            .counters
            .sync(clock.monotonic().saturating_sub(start));
        (self.synced, self.started) = (end, end);
        *self.shared.durable_bytes.lock() = end;
        let progress = &self.shared.progress;
        progress.set_durable(progress.written(), self.controls);
        Ok(())
    }

    /// Ends a closed log with a mark for all of it, so that later damage cannot be taken for a
    /// torn write.
    fn vouch(&mut self) -> Result<(), LogError> {
        let synced = self.synced as u64;
        let next = self.shared.progress.written().next();
        self.append(&frame::mark(next, synced))?;
        self.handle
            .sync_data()
            .map_err(LogError::io("sync", &self.file.path))?;
        self.vouched = synced;
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), LogError> {
        let offset = self.file.end();
        let written = self.handle.write_all_at(bytes, offset as u64);
        written.map_err(LogError::io("write", &self.file.path))?;
        let end = offset + bytes.len();
        self.file.set_end(end);
        if end - self.started >= WRITEBACK_BYTES {
            self.handle
                .start_writeback(self.started as u64, (end - self.started) as u64);
            self.started = end;
        }
        Ok(())
    }

    /// Whether the active file ends with anything but a mark for all before it. A log that was only opened is left as
    /// it was found: when its newest file is missing, that one can still be put back.
    fn needs_mark(&self) -> bool {
        self.wrote
            && self.file.end() > self.file.header_bytes
            && self.vouched + (frame::HEADER_BYTES as u64) < self.file.end() as u64
    }
}

/// Poisons the log when the writer panics, so that nobody waits for it forever.
struct LastWords<'a>(&'a Shared);

impl Drop for LastWords<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let source = Arc::new(io::Error::other("the writer thread panicked"));
            let path = self.0.dir.clone();
            self.0.progress.poison(Poison {
                action: "write",
                path,
                source,
            });
            self.0.queue.end(Phase::Broken);
        }
    }
}
