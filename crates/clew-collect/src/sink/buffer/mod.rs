//! A buffer on disk in front of a sink: what it has taken is safe, and goes on to the sink in the same order, now or after a
//! restart. For inputs that cannot wait or go back; files are their own buffer.
//!
//! Everything goes through the disk: one way, in the same order, whether the sink is there or not. What was delivered when the
//! process dies may be delivered once more, under the same ids.

mod block;
mod files;

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use clew_platform::Disk;
use parking_lot::{Condvar, Mutex, MutexGuard};
use serde::{Deserialize, Serialize};

use super::{Delivery, Sink, SinkError};
use crate::dead_letter::DeadLetters;
use crate::event::Event;
use crate::patient_disk::{PatientDisk, with_room};
use crate::stop::StopToken;
use files::{BufferFiles, Unread};

/// The stop is looked at this often while there is no room.
const STOP_LOOK: Duration = Duration::from_millis(50);

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
}

/// How full a buffer is, and what became of events since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferCounts {
    /// Bytes on disk.
    pub bytes: u64,
    /// Events that made room for others.
    pub dropped: u64,
    /// Events that the sink took or had already.
    pub delivered: u64,
    /// Events that the sink refused for good; they are in `rejected.ndjson` in the buffer's folder.
    pub rejected: u64,
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
}

#[derive(Debug)]
struct State {
    files: BufferFiles,
    counts: BufferCounts,
    /// Why the sink gave up.
    failure: Option<SinkError>,
    closed: bool,
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
            }),
            changed: Condvar::new(),
        });
        // What is kept there is kept by the thread that sends, which holds no lock meanwhile.
        let patient = Arc::new(PatientDisk::new(disk, stop.clone()));
        let dead_letters = DeadLetters::new(patient, options.folder.join("rejected.ndjson"));
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
            ..state.counts
        }
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

impl Sink for BufferSink {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        let mut encoded = std::mem::take(&mut self.block);
        block::encode(batch, &mut encoded);
        // While the disk is full the state is free, so that what is sent makes room.
        let appended = with_room(&self.options.folder, &self.stop, || {
            match self.room(encoded.len() as u64) {
                Err(error) => Ok(Err(error)),
                Ok(mut state) => state.files.append(&encoded, batch.len() as u64).map(Ok),
            }
        });
        appended.map_err(|error| unusable(&error.to_string()))??;
        self.shared.changed.notify_all();
        self.block = encoded;
        Ok(Delivery {
            acked: batch.len() as u64,
            ..Delivery::default()
        })
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

    /// The thread that sends what is on disk.
    fn send_all(&self, mut inner: Box<dyn Sink + Send>, mut dead_letters: DeadLetters) {
        loop {
            let Some(next) = self.next() else {
                return;
            };
            let sent = next.and_then(|(unread, events)| {
                let delivery = inner.deliver(&events)?;
                let kept = dead_letters.keep(&events, &delivery.rejected);
                kept.map_err(|error| unusable(&error.to_string()))?;
                Ok((unread, delivery))
            });
            let mut state = self.state();
            let sent = sent.and_then(|(unread, delivery)| {
                let passed = state.files.pass(&unread);
                passed.map_err(|error| unusable(&error.to_string()))?;
                Ok(delivery)
            });
            match sent {
                Ok(delivery) => {
                    state.counts.delivered += delivery.acked + delivery.duplicates;
                    state.counts.rejected += delivery.rejected.len() as u64;
                }
                Err(error) => {
                    if error != SinkError::Stopped {
                        tracing::error!(%error, "what is in the buffer cannot be sent");
                        state.failure = Some(error);
                    }
                    self.changed.notify_all();
                    return;
                }
            }
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Waits for a block; nothing when the buffer is closed and empty, or its sink is stopped by what has closed it.
    #[allow(
        clippy::type_complexity,
        reason = "a block and what it holds, or why there is none"
    )]
    fn next(&self) -> Option<Result<(Unread, Vec<Event>), SinkError>> {
        let mut state = self.state();
        loop {
            match state.files.unread() {
                Ok(Some(unread)) => {
                    return Some(Ok(unread));
                }
                Ok(None) if state.closed => return None,
                Ok(None) => self.changed.wait(&mut state),
                Err(error) => return Some(Err(unusable(&error.to_string()))),
            }
        }
    }
}

#[cfg(test)]
mod tests;
