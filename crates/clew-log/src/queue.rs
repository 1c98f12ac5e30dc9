//! What callers have appended and the disk has not taken yet.
//!
//! While the writer is busy with one batch of groups the next ones fill here, so that a slow disk
//! makes larger groups and not more of them. The buffers go round between here and the writer.

use std::collections::VecDeque;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::block::{BLOCK_BYTES, Block};
use crate::file::INDEX_BYTES;
use crate::frame::{self, FramePlace, HEADER_BYTES, Head};
use crate::header::LogState;
use crate::options::{Compression, LogOptions, NewEntry};
use crate::position::Glsn;
use crate::progress::Controls;

/// Larger writes gain nothing, and make those who wait for them wait longer.
const GROUP_BYTES_MAX: usize = 1 << 20;
const SPARE_GROUPS_MAX: usize = 16;
/// The writer is woken for so many bytes also while more calls are to follow, so that the disk works
/// meanwhile.
const HELD_BYTES_MAX: usize = 64 << 10;

/// Frames that are written with one call, behind a mark.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// Begins with room for the mark. Empty when nothing was put into the group.
    pub(crate) bytes: Vec<u8>,
    /// The position of the next entry before and after this group.
    pub(crate) first: Glsn,
    pub(crate) next: Glsn,
    /// The last control record put in here or earlier.
    pub(crate) controls: Controls,
    /// When the first call was put in here, since the Unix epoch; and how many there are.
    pub(crate) begun: Duration,
    pub(crate) calls: u64,
    /// Places for the file's index, as offsets in `bytes`.
    pub(crate) points: Vec<(Glsn, usize)>,
    /// Set when this group begins a new file: the state for its header.
    pub(crate) begins_file: Option<Box<LogState>>,
    /// The last frame, while small calls may still join it.
    open: Option<OpenFrame>,
}

/// A frame that is not closed yet. Calls of one moment and one stream share it, so that many
/// small calls cost what one batch costs.
#[derive(Debug)]
struct OpenFrame {
    start: usize,
    head: Head,
    block_bytes: usize,
}

#[derive(Debug)]
pub(crate) struct Queue {
    file_bytes_max: usize,
    pending_bytes_max: usize,
    state: Mutex<Pending>,
    /// Signals the one caller who waits for room; the others wait for their turn.
    room: Condvar,
    work: Condvar,
}

#[derive(Debug, Default)]
struct Pending {
    full: VecDeque<Group>,
    filling: Group,
    spare: Vec<Group>,
    /// Bytes in `full`, in `filling` and in the batch that the writer holds.
    pending_bytes: usize,
    /// Length of the file that `filling` will be written to, and the first entry in its name.
    file_bytes: usize,
    file_first: Glsn,
    controls: Controls,
    /// Up to here somebody asked for durability.
    sync_target: Glsn,
    controls_target: Controls,
    phase: Phase,
    /// The writer waits for work; nobody else need be woken.
    writer_waits: bool,
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
pub(crate) struct WriterWork {
    pub(crate) sync_target: Glsn,
    pub(crate) controls_target: Controls,
    pub(crate) closing: bool,
}

/// The queue with room for one call.
pub(crate) struct Room<'a> {
    queue: &'a Queue,
    state: MutexGuard<'a, Pending>,
    now: Duration,
}

impl Queue {
    /// An empty queue in front of a file that has `file_bytes` by now.
    pub(crate) fn new(options: &LogOptions, file_first: Glsn, file_bytes: usize) -> Self {
        Queue {
            file_bytes_max: usize::try_from(options.file_bytes_max).unwrap_or(usize::MAX),
            pending_bytes_max: options.pending_bytes_max,
            state: Mutex::new(Pending {
                file_bytes,
                file_first,
                ..Pending::default()
            }),
            room: Condvar::new(),
            work: Condvar::new(),
        }
    }

    /// Waits until a call of `bytes`, which came `now`, may be queued. Only one caller at a time
    /// may do so.
    pub(crate) fn reserve(&self, bytes: usize, now: Duration) -> Result<Room<'_>, Phase> {
        let mut state = self.state.lock();
        let fits = |state: &Pending| {
            state.pending_bytes == 0 || state.pending_bytes + bytes <= self.pending_bytes_max
        };
        if state.phase == Phase::Open && !fits(&state) {
            state.waits += 1;
        }
        while state.phase == Phase::Open && !fits(&state) {
            // What was held back must go out, or there will never be room.
            if state.writer_waits {
                self.work.notify_one();
            }
            self.room.wait(&mut state);
        }
        if state.phase != Phase::Open {
            return Err(state.phase);
        }
        if state.filling.bytes.len() + bytes > GROUP_BYTES_MAX.min(self.file_bytes_max) {
            state.seal_group();
        }
        Ok(Room {
            queue: self,
            state,
            now,
        })
    }

    /// Takes all that is pending, after waiting for something to do.
    pub(crate) fn take(
        &self,
        batch: &mut Vec<Group>,
        (written, durable): (Glsn, Glsn),
        durable_controls: Controls,
    ) -> WriterWork {
        let mut state = self.state.lock();
        while state.phase == Phase::Open
            && state.full.is_empty()
            && state.filling.bytes.is_empty()
            // Nothing is on its way: an entry behind the written ones was lost, or is yet to come.
            && state.sync_target.min(written) <= durable
            && state.controls_target <= durable_controls
        {
            state.writer_waits = true;
            self.work.wait(&mut state);
            state.writer_waits = false;
        }
        state.seal_group();
        batch.extend(state.full.drain(..));
        WriterWork {
            sync_target: state.sync_target,
            controls_target: state.controls_target,
            closing: state.phase == Phase::Closing,
        }
    }

    /// Takes a written group back.
    pub(crate) fn give_back(&self, mut group: Group) {
        let usual = group.bytes.capacity() <= 2 * GROUP_BYTES_MAX;
        let bytes = group.bytes.len();
        group.bytes.clear();
        group.points.clear();
        let mut state = self.state.lock();
        state.pending_bytes -= bytes - HEADER_BYTES;
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
            self.wake_writer(state);
        }
    }

    /// Hands over the calls that were held back.
    pub(crate) fn hand_over(&self) {
        let state = self.state.lock();
        if !state.full.is_empty() || !state.filling.bytes.is_empty() {
            self.wake_writer(state);
        }
    }

    /// Begins anew, in front of a file that has `file_bytes` by now: what was pending is lost. Control records are
    /// counted on from those that are durable.
    pub(crate) fn reopen(&self, file_first: Glsn, file_bytes: usize, controls: Controls) {
        let mut state = self.state.lock();
        let (spare, waits) = (std::mem::take(&mut state.spare), state.waits);
        *state = Pending {
            file_bytes,
            file_first,
            controls,
            controls_target: controls,
            spare,
            waits,
            ..Pending::default()
        };
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

    fn wake_writer(&self, state: MutexGuard<'_, Pending>) {
        let waits = state.writer_waits;
        drop(state);
        if waits {
            self.work.notify_one();
        }
    }
}

impl Room<'_> {
    /// Whether a call of `bytes`, whose first entry is `next`, needs a new file to be begun first.
    /// A file without entries is never followed by another, which would have the same name.
    pub(crate) fn needs_file(&self, next: Glsn, bytes: usize) -> bool {
        let mark = if self.state.filling.bytes.is_empty() {
            HEADER_BYTES
        } else {
            0
        };
        let grown = self.state.file_bytes + mark + bytes;
        grown > self.queue.file_bytes_max && self.state.file_first < next
    }

    /// Lets what follows go into a new file; `header_bytes` estimates its header.
    pub(crate) fn begin_file(&mut self, first: Glsn, state: LogState, header_bytes: usize) {
        self.state.seal_group();
        self.state.filling.begins_file = Some(Box::new(state));
        (self.state.file_bytes, self.state.file_first) = (header_bytes, first);
        self.begin_group(first);
    }

    /// Queues entries of a call; `entries` are the block's.
    pub(crate) fn push(&mut self, head: &Head, block: &Block, entries: &[NewEntry<'_>]) {
        self.begin_group(head.place.glsn);
        let joins = self
            .state
            .filling
            .open
            .as_ref()
            .is_some_and(|open| open.takes(head, block));
        if !joins {
            self.state.close_frame();
            self.note_point(head.place.glsn);
            let group = &mut self.state.filling;
            let start = group.bytes.len();
            frame::begin_entries(&mut group.bytes, head);
            let place = FramePlace {
                count: 0,
                ..head.place
            };
            group.open = Some(OpenFrame {
                start,
                head: Head { place, ..*head },
                block_bytes: 0,
            });
            self.state.grown(start);
        }
        let group = &mut self.state.filling;
        let start = group.bytes.len();
        block.push(&mut group.bytes, entries);
        group.next = head.place.last().next();
        if let Some(open) = &mut group.open {
            open.head.place.count += block.count;
            open.block_bytes += block.bytes;
        }
        self.state.grown(start);
    }

    /// Queues a control record and gives its number.
    pub(crate) fn push_control(&mut self, next: Glsn, record: &[u8]) -> Controls {
        self.begin_group(next);
        self.state.controls += 1;
        let controls = self.state.controls;
        self.state.close_frame();
        let group = &mut self.state.filling;
        group.controls = controls;
        let start = group.bytes.len();
        frame::push_control(&mut group.bytes, next, record);
        self.state.grown(start);
        controls
    }

    /// Hands the call over to the writer; with a target, to be synced up to there.
    pub(crate) fn commit(mut self, sync_target: Option<Glsn>, controls_target: Controls) {
        self.state.sync_target = self
            .state
            .sync_target
            .max(sync_target.unwrap_or(Glsn::ZERO));
        self.state.controls_target = self.state.controls_target.max(controls_target);
        self.state.filling.calls += 1;
        self.queue.wake_writer(self.state);
    }

    /// Leaves the call in the queue, where more are to follow, unless much is there by now.
    pub(crate) fn hold(mut self) {
        self.state.filling.calls += 1;
        if !self.state.full.is_empty() || self.state.filling.bytes.len() > HELD_BYTES_MAX {
            self.queue.wake_writer(self.state);
        }
    }

    fn begin_group(&mut self, next: Glsn) {
        let Pending {
            filling,
            file_bytes,
            controls,
            ..
        } = &mut *self.state;
        if filling.bytes.is_empty() {
            filling.bytes.resize(HEADER_BYTES, 0);
            (filling.first, filling.next, filling.controls) = (next, next, *controls);
            (filling.begun, filling.calls) = (self.now, 0);
            *file_bytes += HEADER_BYTES;
        }
    }

    fn note_point(&mut self, glsn: Glsn) {
        let group = &mut self.state.filling;
        let offset = group.bytes.len();
        if group
            .points
            .last()
            .is_none_or(|(_, last)| offset >= last + INDEX_BYTES)
        {
            group.points.push((glsn, offset));
        }
    }
}

impl Pending {
    fn seal_group(&mut self) {
        if !self.filling.bytes.is_empty() {
            self.close_frame();
            let empty = self.spare.pop().unwrap_or_default();
            self.full
                .push_back(std::mem::replace(&mut self.filling, empty));
        }
    }

    fn close_frame(&mut self) {
        if let Some(open) = self.filling.open.take() {
            let end = self.filling.bytes.len();
            frame::finish_entries(&mut self.filling.bytes, open.start, open.head.place.count);
            self.grown(end);
        }
    }

    /// Counts what was put behind `start` in the group.
    fn grown(&mut self, start: usize) {
        let bytes = self.filling.bytes.len() - start;
        self.pending_bytes += bytes;
        self.file_bytes += bytes;
    }
}

impl OpenFrame {
    /// Whether a call may join. Calls that are cut, compressed or have a producer stay alone.
    fn takes(&self, head: &Head, block: &Block) -> bool {
        let plain = |head: &Head| {
            head.ends_call && head.producer.is_none() && head.compression == Compression::None
        };
        let (mine, new) = (&self.head.place, &head.place);
        plain(&self.head)
            && plain(head)
            && (mine.stream, mine.time_ms) == (new.stream, new.time_ms)
            && mine.next_llsn() == new.llsn
            && self.block_bytes + block.bytes <= BLOCK_BYTES
    }
}
