//! Going on after the disk has failed: the file on which that happened is left as it is, and a new one begins behind
//! what is durable. What was written behind that, or was on its way, is lost; nobody was told that it is safe.
//!
//! The old file keeps its bytes, as readers have mapped them; its successor says where it ends.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::writer::Writer;
use super::{Log, Sequencer, Shown};
use crate::error::LogError;
use crate::file::LogFile;
use crate::header::Header;
use crate::position::Glsn;
use crate::queue::Phase;
use crate::recover;

impl Log {
    /// Why the log takes nothing, when its disk has failed. Costs an atomic read when it has not.
    pub fn poisoned(&self) -> Option<LogError> {
        self.shared().progress.poisoned()
    }

    /// How often the log went on after a failure. Positions that were not durable before may be others' since.
    pub fn life(&self) -> u64 {
        self.shared().progress.life()
    }

    /// Lets a poisoned log go on behind its last durable entry, whose position is given. Does nothing when it is
    /// not poisoned. Reads the active file as a whole.
    ///
    /// # Errors
    /// When the disk refuses a new file, or cannot read the old one: the log stays as it was, and this can be
    /// tried again. [`LogError::Closed`].
    pub fn resume(&self) -> Result<Glsn, LogError> {
        let shared = self.shared();
        let mut task = self.0.writer.lock();
        if self.0.lock.lock().is_none() {
            return Err(LogError::Closed);
        }
        if self.poisoned().is_none() {
            return Ok(self.durable());
        }
        if let Some(ended) = task.take() {
            ended.join();
        }
        // Nobody is given a position, and nobody gives up entries, until all agree again.
        let _trimming = shared.trimming.lock();
        let mut sequencer = shared.sequencer.lock();
        let files = shared.files.read().clone();
        let retired = files.last().expect("a log has a file");
        let (disk, dir) = (&*shared.disk, &shared.dir);
        let mut successor = shared.successor.lock();
        let (old, header) = match successor.take() {
            Some(header) => (None, header),
            None => self.find_end(retired.first)?,
        };
        let durable = header.first.previous();
        if old.is_none() {
            // A file without entries has the very name of the next one, which takes its place: perhaps also when that
            // fails in the end.
            *successor = Some(header.clone());
        }
        let (file, handle) = recover::create_file(disk, dir, &header)?;
        *successor = None;
        let file = Arc::new(file.growing_to(shared.options.file_bytes_max));
        let mut files = files[..files.len() - 1].to_vec();
        files.extend(old.map(Arc::new));
        files.push(file.clone());
        let controls = shared.progress.durable_controls();
        let end = file.end();
        let writer = Writer {
            shared: self.0.shared.clone(),
            file: file.clone(),
            handle,
            synced: end,
            started: end,
            vouched: end as u64,
            controls,
            wrote: true,
        };
        *shared.durable_bytes.lock() = end;
        // Before the files change: a reader must not look in the new one for what is lost.
        shared.progress.give_up_undurable();
        *shared.files.write() = Arc::new(files);
        *shared.shown.write() = Shown::of(&header.state);
        *sequencer = Sequencer {
            next: header.first,
            state: header.state,
        };
        shared.last.store(durable.get(), Ordering::Release);
        shared.queue.reopen(file.first, end, controls);
        let started = writer.spawn();
        *task = Some(started.inspect_err(|_| shared.queue.end(Phase::Broken))?);
        shared.progress.revive();
        Ok(durable)
    }

    /// Where what is durable ends: the active file up to there, or none when it has no entries, and the header of the
    /// next one.
    fn find_end(&self, active: Glsn) -> Result<(Option<LogFile>, Header), LogError> {
        let shared = self.shared();
        let durable_bytes = *shared.durable_bytes.lock();
        let found = recover::reopen(&*shared.disk, &shared.dir, active, durable_bytes)?;
        let (old, tail, before) = found;
        if tail.next.previous() != self.durable() {
            let reason = "the last durable entry is another one than was acknowledged";
            return Err(LogError::corrupt(&old.path, old.end(), reason));
        }
        let has_entries = tail.next > old.first;
        let header = Header {
            first: tail.next,
            previous: match has_entries {
                true => Some(recover::link_to(&old)),
                false => before,
            },
            state: tail.state,
        };
        Ok((has_entries.then_some(old), header))
    }
}
