//! What callers have appended and the disk has not taken yet.
//!
//! While the writer is busy with one batch of groups the next ones fill here, so that a slow disk
//! makes larger groups and not more of them. The buffers go round between here and the writer.

use std::collections::VecDeque;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::file::INDEX_BYTES;
use crate::frame::{self, HEADER_BYTES, PayloadLen, Place};
use crate::position::{Glsn, Llsn, StreamId};

/// Larger writes gain nothing, and make those who wait for them wait longer.
const GROUP_BYTES_MAX: usize = 1 << 20;
const SPARE_GROUPS_MAX: usize = 16;

/// Frames that are written with one call, behind a mark.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// Begins with room for the mark. Empty when the group holds no entries.
    pub(crate) bytes: Vec<u8>,
    pub(crate) first: Glsn,
    pub(crate) last: Glsn,
    /// Places for the file's index, as offsets in `bytes`.
    pub(crate) points: Vec<(Glsn, usize)>,
    /// Counters after this group in the order of their changes; `None` where one was dropped.
    pub(crate) streams: Vec<(StreamId, Option<Llsn>)>,
}

#[derive(Debug)]
pub(crate) struct Queue {
    group_bytes_max: usize,
    pending_bytes_max: usize,
    state: Mutex<State>,
    /// Signals the one caller who waits for room; the others wait for their turn.
    room: Condvar,
    work: Condvar,
}

#[derive(Debug, Default)]
struct State {
    full: VecDeque<Group>,
    filling: Group,
    spare: Vec<Group>,
    /// Bytes in `full`, in `filling` and in the batch that the writer holds.
    pending_bytes: usize,
    /// Up to here somebody asked for durability.
    sync_target: Glsn,
    phase: Phase,
    waits: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    #[default]
    Open,
    Closing,
    /// The writer is gone.
    Broken,
}

/// What the writer has to do with the batch it took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Work {
    pub(crate) sync_target: Glsn,
    pub(crate) closing: bool,
}

/// The queue with room for one call.
pub(crate) struct Room<'a> {
    queue: &'a Queue,
    state: MutexGuard<'a, State>,
}

impl Queue {
    pub(crate) fn new(file_bytes_max: u64, pending_bytes_max: usize) -> Self {
        let file_bytes_max = usize::try_from(file_bytes_max).unwrap_or(usize::MAX);
        Queue {
            group_bytes_max: GROUP_BYTES_MAX.min(file_bytes_max),
            pending_bytes_max,
            state: Mutex::default(),
            room: Condvar::new(),
            work: Condvar::new(),
        }
    }

    /// Waits until a call of `bytes` may be queued. Only one caller at a time may do so.
    pub(crate) fn reserve(&self, bytes: usize) -> Result<Room<'_>, Phase> {
        let mut state = self.state.lock();
        let fits = |state: &State| {
            state.pending_bytes == 0 || state.pending_bytes + bytes <= self.pending_bytes_max
        };
        if state.phase == Phase::Open && !fits(&state) {
            state.waits += 1;
        }
        while state.phase == Phase::Open && !fits(&state) {
            self.room.wait(&mut state);
        }
        if state.phase != Phase::Open {
            return Err(state.phase);
        }
        if state.filling.bytes.len() + bytes > self.group_bytes_max {
            state.seal_group();
        }
        Ok(Room { queue: self, state })
    }

    /// Takes all that is pending, after waiting for something to do.
    pub(crate) fn take(&self, batch: &mut Vec<Group>, durable: Glsn) -> Work {
        let mut state = self.state.lock();
        while state.phase == Phase::Open
            && state.full.is_empty()
            && state.filling.bytes.is_empty()
            && state.sync_target <= durable
        {
            self.work.wait(&mut state);
        }
        state.seal_group();
        batch.extend(state.full.drain(..));
        Work {
            sync_target: state.sync_target,
            closing: state.phase == Phase::Closing,
        }
    }

    /// Takes a written group back.
    pub(crate) fn give_back(&self, mut group: Group) {
        let mut state = self.state.lock();
        state.pending_bytes -= group.bytes.len() - HEADER_BYTES;
        group.bytes.clear();
        group.points.clear();
        group.streams.clear();
        let usual = group.bytes.capacity() <= 2 * self.group_bytes_max;
        if usual && state.spare.len() < SPARE_GROUPS_MAX {
            state.spare.push(group);
        }
        drop(state);
        self.room.notify_one();
    }

    /// Asks the writer to make entries durable that nobody asked for when they were appended.
    pub(crate) fn request_sync(&self, target: Glsn) {
        let mut state = self.state.lock();
        if state.sync_target < target {
            state.sync_target = target;
            self.work.notify_one();
        }
    }

    /// Records that a stream's counter is forgotten after what was appended so far.
    pub(crate) fn drop_stream(&self, stream: StreamId) {
        self.state.lock().filling.streams.push((stream, None));
    }

    /// Takes no more calls; `Closing` lets the writer finish what is pending.
    pub(crate) fn end(&self, phase: Phase) {
        let mut state = self.state.lock();
        if state.phase != Phase::Broken {
            state.phase = phase;
        }
        self.work.notify_one();
        self.room.notify_one();
    }

    /// Bytes that wait for the disk, and how often a call had to wait for room.
    pub(crate) fn pressure(&self) -> (usize, u64) {
        let state = self.state.lock();
        (state.pending_bytes, state.waits)
    }
}

impl Room<'_> {
    pub(crate) fn push(&mut self, length: PayloadLen, place: Place, parts: &[&[u8]]) {
        let group = &mut self.state.filling;
        if group.bytes.is_empty() {
            group.bytes.resize(HEADER_BYTES, 0);
            group.first = place.glsn;
        }
        let offset = group.bytes.len();
        if group
            .points
            .last()
            .is_none_or(|(_, last)| offset >= last + INDEX_BYTES)
        {
            group.points.push((place.glsn, offset));
        }
        match group.streams.last_mut() {
            Some((stream, next)) if *stream == place.stream => *next = Some(place.llsn.next()),
            _ => group.streams.push((place.stream, Some(place.llsn.next()))),
        }
        group.last = place.glsn;
        frame::push_entry(&mut group.bytes, length, place, parts);
        self.state.pending_bytes += length.frame_bytes();
    }

    /// Hands the call over to the writer; with a target, to be synced up to there.
    pub(crate) fn commit(mut self, sync_target: Option<Glsn>) {
        if let Some(target) = sync_target {
            self.state.sync_target = self.state.sync_target.max(target);
        }
        drop(self.state);
        self.queue.work.notify_one();
    }
}

impl State {
    fn seal_group(&mut self) {
        if !self.filling.bytes.is_empty() {
            let empty = self.spare.pop().unwrap_or_default();
            self.full
                .push_back(std::mem::replace(&mut self.filling, empty));
        }
    }
}
