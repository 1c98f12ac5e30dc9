//! The one thread that writes: group commit, because the disk, not the CPU, limits us.
//!
//! Order was decided before this module; it only ever writes groups in the order they came. The
//! first failure ends the thread: what the disk then holds is unknown until the log is opened
//! again.

use std::io;
use std::sync::Arc;

use clew_platform::{Clock, DiskFile, RealClock};

use crate::error::LogError;
use crate::file::LogFile;
use crate::frame;
use crate::header::{Header, Streams};
use crate::log::Shared;
use crate::position::Glsn;
use crate::progress::Poison;
use crate::queue::{Group, Phase, Work};
use crate::recover;

pub(crate) struct Writer {
    pub(crate) shared: Arc<Shared>,
    pub(crate) file: Arc<LogFile>,
    pub(crate) handle: Box<dyn DiskFile>,
    /// The counters after what is written, for the next file's header.
    pub(crate) streams: Streams,
    /// The highest position that the active file itself vouches for as durable.
    pub(crate) vouched: Glsn,
    /// Measures syncs for the statistics; decides nothing.
    pub(crate) clock: RealClock,
}

impl Writer {
    pub(crate) fn run(mut self) {
        let shared = self.shared.clone();
        let _last_words = LastWords(&shared);
        let mut batch = Vec::new();
        loop {
            let work = shared.queue.take(&mut batch, shared.progress.durable());
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

    fn commit(&mut self, batch: &mut Vec<Group>, work: Work) -> Result<(), LogError> {
        for mut group in batch.drain(..) {
            self.write(&mut group)?;
            self.shared.queue.give_back(group);
        }
        let durable = self.shared.progress.durable();
        if work.sync_target > durable || (work.closing && self.written() > durable) {
            self.sync()?;
        }
        if work.closing && self.vouched < self.written() {
            self.vouch()?;
        }
        Ok(())
    }

    fn write(&mut self, group: &mut Group) -> Result<(), LogError> {
        let grown = (self.file.end() + group.bytes.len()) as u64;
        let has_entries = self.file.first < group.first;
        if grown > self.shared.options.file_bytes_max && has_entries {
            self.begin_file(group.first)?;
        }
        let durable = self.shared.progress.durable();
        let mark = frame::mark(group.first, durable);
        group.bytes[..mark.len()].copy_from_slice(&mark);
        let offset = self.file.end();
        self.append(&group.bytes)?;
        self.vouched = durable;

        for (glsn, place) in &group.points {
            self.file.note(*glsn, offset + place);
        }
        for (stream, next) in &group.streams {
            match next {
                Some(next) => self.streams.insert(*stream, *next),
                None => self.streams.remove(stream),
            };
        }
        let entries = group.last.get() - group.first.get() + 1;
        self.shared.counters.group(entries, group.bytes.len());
        self.shared.progress.set_written(group.last);
        Ok(())
    }

    /// Finishes the active file and begins the next, whose first entry is `first`.
    fn begin_file(&mut self, first: Glsn) -> Result<(), LogError> {
        if self.shared.progress.durable() < self.written() {
            self.sync()?;
        }
        let previous = Some(recover::link_to(&self.file));
        let header = Header {
            first,
            previous,
            streams: self.streams.clone(),
        };
        let (disk, dir) = (&*self.shared.disk, &self.shared.dir);
        let (file, handle) = recover::create_file(disk, dir, &header)?;
        self.file = Arc::new(file);
        self.handle = handle;
        self.vouched = first.previous();
        self.shared.files.write().push(self.file.clone());
        Ok(())
    }

    fn sync(&mut self) -> Result<(), LogError> {
        let start = self.clock.monotonic();
        self.handle
            .sync_data()
            .map_err(LogError::io("sync", &self.file.path))?;
        self.shared
            .counters
            .sync(self.clock.monotonic().saturating_sub(start));
        self.shared.progress.set_durable(self.written());
        Ok(())
    }

    /// Ends a closed log with a mark for all of it, so that later damage cannot be taken for a
    /// torn write.
    fn vouch(&mut self) -> Result<(), LogError> {
        let last = self.written();
        self.append(&frame::mark(last.next(), last))?;
        self.handle
            .sync_data()
            .map_err(LogError::io("sync", &self.file.path))?;
        self.vouched = last;
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), LogError> {
        let offset = self.file.end();
        let written = self.handle.write_all_at(bytes, offset as u64);
        written.map_err(LogError::io("write", &self.file.path))?;
        self.file.set_end(offset + bytes.len());
        Ok(())
    }

    fn written(&self) -> Glsn {
        self.shared.progress.written()
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
