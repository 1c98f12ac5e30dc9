//! A buffer on disk in front of a sink: what it has taken is safe, and goes on to the sink in the same order, now or after a
//! restart. For inputs that cannot wait or go back; files are their own buffer.
//!
//! Everything goes through the disk: one way, in the same order, whether the sink is there or not. What was delivered when the
//! process dies may be delivered once more, under the same ids; one that is closed when all was sent leaves nothing behind. A
//! buffer that is there for the other outputs' sake ([`BufferOptions::only_after`]) is passed by for as long as its sink takes
//! what it is given, and is empty as soon as it has taken everything.

mod block;
mod files;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use clew_platform::Disk;
use parking_lot::{Condvar, Mutex, MutexGuard};
use serde::{Deserialize, Serialize};

use super::{BufferCounts, BufferFigures, Delivery, Sink, SinkError};
use crate::dead_letter::DeadLetters;
use crate::event::Event;
use crate::patient_disk::{PatientDisk, passes, with_room};
use crate::stop::StopToken;
use files::{BufferFiles, Unread};
pub use files::{Waiting, waiting};

/// The stop is looked at this often while there is no room.
const STOP_LOOK: Duration = Duration::from_millis(50);
/// What was sent is removed when nothing has followed for so long.
const SENT_KEPT: Duration = Duration::from_secs(1);
/// After so many looks it is told that the end of a run waits for an output: about two seconds.
const LOOKS_UNTOLD: u32 = 40;

/// What happens to events for which there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// They wait, and their senders with them.
    Block,
    /// The oldest ones make room, a few megabytes at a time, and are counted.
    DropOldest,
}

/// A buffer's place and size.
#[derive(Clone, Debug)]
pub struct BufferOptions {
    /// Its folder, for nothing else.
    pub folder: PathBuf,
    /// Bytes on disk at most.
    pub bytes_max: u64,
    /// What happens when they are reached.
    pub when_full: WhenFull,
    /// If given, batches go straight on to the sink, and to the disk only from when it has not taken one within this time
    /// until it has taken everything that is there.
    pub only_after: Option<Duration>,
    /// The output, as people know it.
    pub output: String,
    /// Where events are kept that the sink refuses for good; `rejected.ndjson` in the folder if nothing else is said.
    pub rejected_in: Option<PathBuf>,
}

impl BufferOptions {
    /// Where events are kept that the sink refuses for good.
    fn rejected_path(&self) -> PathBuf {
        let own = || self.folder.join("rejected.ndjson");
        self.rejected_in.clone().unwrap_or_else(own)
    }
}

/// The buffer. Dropping it leaves on disk what the sink has not taken.
#[derive(Debug)]
pub struct BufferSink {
    shared: Arc<Shared>,
    options: BufferOptions,
    stop: StopToken,
    sender: Option<JoinHandle<()>>,
    block: Vec<u8>,
}

/// Whoever appends holds the state while the disk syncs, and comes again at once: with a lock that is not fair the thread that
/// sends would get it only when the buffer is full.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Whether there is something on disk only while the sink takes nothing.
    only_while_away: bool,
}

#[derive(Debug)]
struct State {
    files: BufferFiles,
    counts: BufferCounts,
    /// Why the sink gave up.
    failure: Option<SinkError>,
    closed: bool,
    direct: Direct,
    /// Whether the thread that sends has left off.
    has_left_off: bool,
}

/// A batch on its way past the disk.
#[derive(Debug)]
enum Direct {
    /// There is none.
    Nothing,
    /// The thread that sends is to take it.
    Given(Vec<Event>),
    /// It is being sent, and somebody waits for what becomes of it.
    Sent,
    /// It is being sent, and nobody waits any more: it is the oldest block on disk, too.
    Spilled,
    /// What became of it.
    Done(Result<Delivery, SinkError>),
}

/// What the thread that sends is to do next.
enum Work {
    /// To send a block that is on disk.
    Block(Unread, Vec<Event>),
    /// To send a batch that somebody waits for.
    Direct(Vec<Event>),
}

impl BufferSink {
    /// Opens the folder and starts to send what is left in it.
    ///
    /// # Errors
    /// [`SinkError::Unusable`] when the folder cannot be used, or another process uses it.
    pub fn open(
        disk: Arc<dyn Disk>,
        options: BufferOptions,
        inner: Box<dyn Sink + Send>,
        stop: StopToken,
    ) -> Result<BufferSink, SinkError> {
        let files = BufferFiles::open(Arc::clone(&disk), &options.folder)
            .map_err(|error| unusable(&error.to_string()))?;
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                files,
                counts: BufferCounts::default(),
                failure: None,
                closed: false,
                direct: Direct::Nothing,
                has_left_off: false,
            }),
            changed: Condvar::new(),
            only_while_away: options.only_after.is_some(),
        });
        // What is kept there is kept by the thread that sends, which holds no lock meanwhile.
        let patient = Arc::new(PatientDisk::new(disk, stop.clone()));
        let dead_letters = DeadLetters::new(patient, options.rejected_path());
        let own = Arc::clone(&shared);
        let sender = std::thread::Builder::new()
            .name("collect-buffer".to_owned())
            .spawn(move || own.send_all(inner, dead_letters))
            .map_err(|error| unusable(&error.to_string()))?;
        Ok(BufferSink {
            shared,
            options,
            stop,
            sender: Some(sender),
            block: Vec::new(),
        })
    }

    /// How full it is, and what became of events.
    pub fn counts(&self) -> BufferCounts {
        let state = self.shared.state();
        BufferCounts {
            bytes: state.files.bytes(),
            damaged_bytes: state.files.damaged_bytes(),
            ..state.counts
        }
    }

    /// Has a batch sent past the disk, and waits so long for what becomes of it. Nothing comes of that where older ones are
    /// on disk, or it takes longer, or it was stopped: then the batch belongs on the disk.
    fn send_directly(
        &self,
        batch: &[Event],
        at_most: Duration,
    ) -> Option<Result<Delivery, SinkError>> {
        let mut state = self.shared.state();
        let is_free = matches!(state.direct, Direct::Nothing) && state.failure.is_none();
        if !is_free || state.has_left_off || state.files.has_unread() {
            return None;
        }
        // All of it was sent: after a restart it must not be sent again.
        if let Err(error) = state.files.remove_all() {
            return Some(Err(unusable(&error.to_string())));
        }
        state.direct = Direct::Given(batch.to_vec());
        self.shared.changed.notify_all();
        let is_waited_for = |state: &mut State| {
            !state.has_left_off && matches!(state.direct, Direct::Given(_) | Direct::Sent)
        };
        self.shared
            .changed
            .wait_while_for(&mut state, is_waited_for, at_most);
        state.direct.settled()
    }

    /// Waits for room for so many bytes, or makes it.
    fn room(&self, bytes: u64) -> Result<MutexGuard<'_, State>, SinkError> {
        let mut state = self.shared.state();
        if bytes > self.options.bytes_max {
            let limit = self.options.bytes_max;
            return Err(unusable(&format!(
                "a batch of {bytes} bytes does not fit a buffer of {limit}"
            )));
        }
        loop {
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            if state.files.bytes() + bytes <= self.options.bytes_max {
                return Ok(state);
            }
            if self.options.when_full == WhenFull::DropOldest {
                let dropped = state
                    .files
                    .drop_oldest()
                    .map_err(|e| unusable(&e.to_string()))?;
                state.counts.dropped += dropped;
                tracing::warn!(
                    events = dropped,
                    "the buffer is full, its oldest events are dropped"
                );
                continue;
            }
            if self.stop.is_stopped() {
                return Err(SinkError::Stopped);
            }
            self.shared.changed.wait_for(&mut state, STOP_LOOK);
        }
    }
}

fn unusable(reason: &str) -> SinkError {
    SinkError::Unusable {
        reason: format!("its buffer: {reason}"),
    }
}

/// What is told of events that stay on disk.
fn left(output: &str, folder: &Path, files: &BufferFiles, failure: &SinkError) -> SinkError {
    SinkError::Left {
        output: output.to_owned(),
        folder: folder.to_owned(),
        bytes: files.unread_bytes(),
        reason: failure.to_string(),
    }
}

impl Sink for BufferSink {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        let direct = self
            .options
            .only_after
            .and_then(|at_most| self.send_directly(batch, at_most));
        if let Some(done) = direct {
            return done;
        }
        let mut encoded = std::mem::take(&mut self.block);
        block::encode(batch, &mut encoded);
        // While the disk is full the state is free, so that what is sent makes room.
        let appended = with_room(&self.options.folder, &self.stop, || {
            match self.room(encoded.len() as u64) {
                Err(error) => Ok(Err(error)),
                Ok(mut state) => state.append(&encoded, batch.len() as u64).map(Ok),
            }
        });
        let sent_meanwhile = appended.map_err(|error| unusable(&error.to_string()))??;
        self.shared.changed.notify_all();
        self.block = encoded;
        sent_meanwhile.unwrap_or_else(|| {
            Ok(Delivery {
                acked: batch.len() as u64,
                ..Delivery::default()
            })
        })
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        let (output, folder) = (&self.options.output, &self.options.folder);
        let mut state = self.shared.state();
        let mut looks = 0_u32;
        loop {
            if let Some(failure) = &state.failure {
                return Err(left(output, folder, &state.files, failure));
            }
            if !state.files.has_unread() {
                return Ok(());
            }
            if state.has_left_off || self.stop.is_stopped() {
                return Err(SinkError::Stopped);
            }
            if looks == LOOKS_UNTOLD {
                let (folder, bytes) = (folder.display(), state.files.unread_bytes());
                tracing::warn!(output, %folder, bytes, "everything is read, and the run ends once the output has taken what waits for it");
            }
            looks = looks.saturating_add(1);
            self.shared.changed.wait_for(&mut state, STOP_LOOK);
        }
    }

    fn buffers(&self) -> Vec<BufferFigures> {
        vec![BufferFigures {
            output: self.options.output.clone(),
            counts: self.counts(),
            rejected_in: self.options.rejected_path(),
        }]
    }
}

impl Direct {
    /// What became of the batch, once that is known; then there is none any more. One that was stopped was not given to anybody.
    fn settled(&mut self) -> Option<Result<Delivery, SinkError>> {
        match std::mem::replace(self, Direct::Nothing) {
            Direct::Done(Err(SinkError::Stopped)) => None,
            Direct::Done(done) => Some(done),
            other => {
                *self = other;
                None
            }
        }
    }
}

impl State {
    /// Adds a block, unless it is a batch that was sent past the disk meanwhile; then returns what became of it.
    #[allow(
        clippy::type_complexity,
        reason = "what the disk says, and what the sink has said"
    )]
    fn append(
        &mut self,
        block: &[u8],
        events: u64,
    ) -> io::Result<Option<Result<Delivery, SinkError>>> {
        if let Some(done) = self.direct.settled() {
            return Ok(Some(done));
        }
        self.files.append(block, events)?;
        self.direct = match std::mem::replace(&mut self.direct, Direct::Nothing) {
            Direct::Sent => {
                tracing::warn!(
                    "an output takes nothing for now: what is for it waits on disk, and the others go on"
                );
                Direct::Spilled
            }
            // Nobody has taken it yet: it will be found on the disk.
            Direct::Given(_) => Direct::Nothing,
            other => other,
        };
        Ok(None)
    }
}

impl Drop for BufferSink {
    fn drop(&mut self) {
        self.shared.state().closed = true;
        self.shared.changed.notify_all();
        if let Some(sender) = self.sender.take() {
            // A thread that panicked has said so.
            let _ = sender.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// The thread that sends, what is on disk or is given to it.
    fn send_all(&self, mut inner: Box<dyn Sink + Send>, mut dead_letters: DeadLetters) {
        while let Some(next) = self.next() {
            let sent = next.and_then(|work| self.send(work, &mut *inner, &mut dead_letters));
            if let Err(error) = sent {
                if error != SinkError::Stopped {
                    tracing::error!(%error, "what is in the buffer cannot be sent");
                    self.state().failure = Some(error);
                }
                break;
            }
            self.changed.notify_all();
        }
        self.state().has_left_off = true;
        self.changed.notify_all();
    }

    fn send(
        &self,
        work: Work,
        inner: &mut dyn Sink,
        dead_letters: &mut DeadLetters,
    ) -> Result<(), SinkError> {
        let (unread, events) = match work {
            Work::Block(unread, events) => (Some(unread), events),
            Work::Direct(events) => (None, events),
        };
        let sent = inner.deliver(&events);
        if unread.is_none() && self.hand_over(&sent) {
            return sent.map(drop);
        }
        let delivery = sent.inspect_err(|_| {
            let mut state = self.state();
            let lost = unread.as_ref().map_or(0, |block| state.files.lost(block));
            state.counts.dropped += lost;
        })?;
        let failed = |error: io::Error| unusable(&error.to_string());
        let kept = dead_letters.keep(&events, &delivery.rejected);
        kept.map_err(failed)?;
        let mut state = self.state();
        let unread = match unread {
            Some(unread) => Some(unread),
            // What went past the disk is the oldest block there by now.
            None => state.files.unread().map_err(failed)?.map(|oldest| oldest.0),
        };
        if let Some(unread) = unread {
            state.files.pass(&unread).map_err(failed)?;
        }
        if self.only_while_away && !state.files.has_unread() {
            // The next batch may be long in coming, and a process that dies until then would send all of this again.
            state.files.remove_all().map_err(failed)?;
        }
        state.counts.delivered += delivery.acked + delivery.duplicates;
        state.counts.rejected += delivery.rejected.len() as u64;
        state.counts.retries += delivery.retries;
        Ok(())
    }

    /// Gives what became of a batch to who waits for it; false if nobody does, as it is on disk.
    fn hand_over(&self, sent: &Result<Delivery, SinkError>) -> bool {
        let mut state = self.state();
        let is_waited_for = !matches!(state.direct, Direct::Spilled);
        state.direct = match is_waited_for {
            true => Direct::Done(sent.clone()),
            false => Direct::Nothing,
        };
        is_waited_for
    }

    /// Waits for something to send; nothing when the buffer is closed and empty, or its sink is stopped by what has closed it.
    fn next(&self) -> Option<Result<Work, SinkError>> {
        let mut state = self.state();
        loop {
            if let Direct::Given(events) = &mut state.direct {
                let events = std::mem::take(events);
                state.direct = Direct::Sent;
                return Some(Ok(Work::Direct(events)));
            }
            match state.files.unread() {
                Ok(Some((unread, events))) => {
                    return Some(Ok(Work::Block(unread, events)));
                }
                Ok(None) if state.closed => {
                    // All of it was sent: after a restart it must not be sent again.
                    let removed = state.files.remove_all();
                    return removed.err().map(|error| Err(unusable(&error.to_string())));
                }
                Ok(None) if state.files.bytes() == 0 => self.changed.wait(&mut state),
                Ok(None) => {
                    // The next event may be long in coming, and a process that dies until then would send the last ones again.
                    let waited = self.changed.wait_for(&mut state, SENT_KEPT);
                    if waited.timed_out()
                        && !state.files.has_unread()
                        && let Err(error) = state.files.remove_all()
                    {
                        return Some(Err(unusable(&error.to_string())));
                    }
                }
                // The state is free meanwhile, so that others go on.
                Err(error) if passes(&error) && !state.closed => {
                    self.changed.wait_for(&mut state, STOP_LOOK);
                }
                Err(error) => return Some(Err(unusable(&error.to_string()))),
            }
        }
    }
}

#[cfg(test)]
mod tests;
