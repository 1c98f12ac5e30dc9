//! Appending: checks a call against its stream, gives positions, and queues it for the writer.

use std::sync::atomic::Ordering;
use std::time::Duration;

use clew_platform::whole_ms;
use parking_lot::MutexGuard;

use super::Log;
use crate::block::{self, Block};
use crate::error::LogError;
use crate::frame::{self, FramePlace, Head};
use crate::header::LogState;
use crate::options::{AppendOptions, Durability, NewEntry};
use crate::position::{Glsn, Llsn, StreamId};
use crate::progress::Controls;
use crate::queue::Room;
use crate::registry::Change;

/// Room for what a file header needs beside the counters, when the length of the next is guessed.
const HEADER_BYTES_GUESS: usize = 256;

/// Gives positions. Whoever holds it is the next in the log's order.
#[derive(Debug)]
pub(super) struct Sequencer {
    pub(super) next: Glsn,
    pub(super) state: LogState,
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
    /// When it was ordered, in milliseconds since the Unix epoch.
    pub time_ms: u64,
    /// Whether this is a retry of a producer's call that was taken before; nothing was added.
    pub replayed: bool,
    /// The [life](Log::life) of the log that the positions are of.
    pub life: u64,
}

impl Appended {
    /// The position of the entry with this index in the call.
    pub fn glsn(&self, index: usize) -> Glsn {
        self.first.plus(index as u64)
    }
}

impl Log {
    /// Appends entries as one call: they get consecutive positions, and after a crash all of them
    /// are there or none.
    ///
    /// Returns as soon as the order is decided, without waiting for the disk; blocks only while
    /// `pending_bytes_max` is reached. Wait for the acknowledgement with [`wait`](Self::wait).
    ///
    /// # Errors
    /// When an entry or its headers are too large, its stream is unknown, sealed, at another epoch or another end than the
    /// options name, a producer's sequence does not go on, or the log is poisoned or closed. Nothing was appended then.
    pub fn append(
        &self,
        entries: &[NewEntry<'_>],
        options: impl Into<AppendOptions>,
    ) -> Result<Appended, LogError> {
        let options = options.into();
        let shared = self.shared();
        let blocks = block::plan(entries, options.compression, shared.options.entry_bytes_max)?;
        if options.need_one_stream() && blocks.iter().any(|b| b.stream != blocks[0].stream) {
            return Err(LogError::MixedStreams);
        }
        let frames = blocks
            .iter()
            .map(|b| frame::entries_bytes(b.bytes, options.producer));
        let bytes = frames.sum();
        // Whoever has seen the log fail must not see it take anything after that.
        if let Some(error) = shared.progress.poisoned() {
            return Err(error);
        }
        let mut sequencer = shared.sequencer.lock();
        if let Some(replayed) = sequencer.admit(&blocks, entries.len(), &options)? {
            let life = self.life();
            drop(sequencer);
            self.request_as(&options, replayed.last);
            return Ok(Appended { life, ..replayed });
        }
        let now = shared.clock.since_epoch();
        let (mut room, begun) = self.room(&mut sequencer, bytes, now)?;
        let appended = Appended {
            // The log goes on after a failure only while nobody orders anything.
            life: self.life(),
            ..sequencer.push(entries, &blocks, &options, &mut room)
        };
        shared.last.store(appended.last.get(), Ordering::Release);
        match options.durability {
            Durability::Sync => room.commit(Some(appended.last), 0),
            _ if options.more_follows => room.hold(),
            _ => room.commit(None, 0),
        }
        drop(sequencer);
        if begun && shared.options.retains_less() {
            // The call itself has been taken. What could not be given up now will be next time.
            let _ = self.apply_retention();
        }
        Ok(appended)
    }

    fn request_as(&self, options: &AppendOptions, last: Glsn) {
        if options.durability == Durability::Sync {
            self.request_sync(last);
        }
    }

    /// Waits for room in the queue, and begins a new file where the call does not fit into the
    /// present one; tells whether it did.
    fn room<'a>(
        &'a self,
        sequencer: &mut MutexGuard<'_, Sequencer>,
        bytes: usize,
        now: Duration,
    ) -> Result<(Room<'a>, bool), LogError> {
        let shared = self.shared();
        let room = shared.queue.reserve(bytes, now);
        let mut room = room.map_err(|phase| self.refusal(phase))?;
        let time_ms = whole_ms(now);
        // Clocks go back; the log's time does not.
        sequencer.state.time_ms = sequencer.state.time_ms.max(time_ms);
        let begin = room.needs_file(sequencer.next, bytes);
        if begin {
            let oldest = shared.files.read()[0].first;
            sequencer.state.registry.purge(oldest);
            let header_bytes = HEADER_BYTES_GUESS + 16 * sequencer.state.registry.counters().len();
            room.begin_file(sequencer.next, sequencer.state.clone(), header_bytes);
        }
        Ok((room, begin))
    }

    /// Orders a change that is no entry; gives what to wait for until it is durable.
    pub(super) fn change(
        &self,
        sequencer: &mut MutexGuard<'_, Sequencer>,
        change: Change,
    ) -> Result<Changed, LogError> {
        let record = change.encode();
        let now = self.shared().clock.since_epoch();
        let (mut room, _) = self.room(sequencer, frame::frame_bytes(record.len()), now)?;
        let controls = room.push_control(sequencer.next, &record);
        room.commit(None, controls);
        sequencer.state.registry.apply(change);
        // As in `append`.
        let life = self.life();
        Ok(Changed { life, controls })
    }
}

/// A change that was ordered, to be waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changed {
    life: u64,
    controls: Controls,
}

impl Changed {
    /// Waits until it is durable.
    pub(super) fn wait(self, log: &Log) -> Result<(), LogError> {
        log.shared()
            .progress
            .wait_controls(self.life, self.controls)
    }
}

impl Sequencer {
    /// Checks that a call may be made; gives its positions when it was made before.
    fn admit(
        &self,
        blocks: &[Block],
        count: usize,
        options: &AppendOptions,
    ) -> Result<Option<Appended>, LogError> {
        let Some(block) = blocks.first() else {
            return Ok(None);
        };
        if let Some(producer) = options.producer
            && let Some(run) = self.state.producers.check(producer, block.stream, count)?
        {
            return Ok(Some(Appended::replay(run)));
        }
        for block in blocks {
            self.admit_stream(block.stream, options)?;
        }
        Ok(None)
    }

    fn admit_stream(&self, stream: StreamId, options: &AppendOptions) -> Result<(), LogError> {
        let registry = &self.state.registry;
        let epoch = if stream.is_named() {
            let unknown = || LogError::UnknownStream {
                name: stream.to_string(),
            };
            let record = registry.record(stream).ok_or_else(unknown)?;
            if record.sealed {
                return Err(LogError::Sealed {
                    stream,
                    epoch: record.epoch,
                });
            }
            record.epoch
        } else {
            0
        };
        if options.epoch.is_some_and(|expected| expected != epoch) {
            return Err(LogError::Fenced { stream, epoch });
        }
        let last = registry.next(stream).previous();
        if options.expect_last.is_some_and(|expected| expected != last) {
            return Err(LogError::Conflict { stream, last });
        }
        Ok(())
    }

    /// Gives a call that was admitted its positions and puts it into the queue.
    fn push(
        &mut self,
        entries: &[NewEntry<'_>],
        blocks: &[Block],
        options: &AppendOptions,
        room: &mut Room<'_>,
    ) -> Appended {
        let (first, time_ms) = (self.next, self.state.time_ms);
        let mut llsns = Vec::with_capacity(entries.len());
        let mut start = 0;
        for (index, block) in blocks.iter().enumerate() {
            let llsn = self.state.registry.next(block.stream);
            let (stream, count) = (block.stream, block.count);
            let place = FramePlace {
                stream,
                glsn: self.next,
                llsn,
                count,
                time_ms,
            };
            let head = Head {
                place,
                ends_call: index + 1 == blocks.len(),
                producer: options.producer,
                compression: block.compression(),
            };
            room.push(&head, block, &entries[start..block.end]);
            self.state.note(&head);
            self.next = place.last().next();
            start = block.end;
            llsns.extend((0..u64::from(count)).map(|n| llsn.plus(n)));
        }
        let last = self.next.previous();
        Appended {
            first,
            last,
            llsns,
            time_ms,
            replayed: false,
            life: 0,
        }
    }
}

impl Appended {
    /// The positions of a call that was made before.
    fn replay(run: FramePlace) -> Self {
        Appended {
            first: run.glsn,
            last: run.last(),
            llsns: (0..u64::from(run.count))
                .map(|n| run.llsn.plus(n))
                .collect(),
            time_ms: run.time_ms,
            replayed: true,
            life: 0,
        }
    }
}
