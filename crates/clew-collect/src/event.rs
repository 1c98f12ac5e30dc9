//! The unit a sink receives, and the batch whose memory is used again and again.

use std::fmt::Write as _;

/// Milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EpochMillis(pub i64);

/// One log event, ready to be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The same for the same line of the same file in every run, and for no other line.
    pub id: String,
    /// When it happened, or when it was read if the line does not say.
    pub timestamp: EpochMillis,
    /// A JSON object on one line.
    pub document: Vec<u8>,
}

impl Event {
    /// Names the event after its file, its place and everything in the file up to its end: even
    /// when a file's identity is mistaken, another line never gets a used name.
    pub(crate) fn set_id(&mut self, file_key: u64, offset: u64, checksum: u32) {
        self.id.clear();
        write!(self.id, "{file_key:016x}-{offset:x}-{checksum:08x}")
            .expect("writing to a string cannot fail");
    }
}

/// Events on their way to the sink. Emptied events keep their buffers.
#[derive(Debug)]
pub(crate) struct Batch {
    events: Vec<Event>,
    used: usize,
    bytes: usize,
    lines_max: usize,
    bytes_max: usize,
}

impl Batch {
    pub(crate) fn new(lines_max: usize, bytes_max: usize) -> Self {
        Batch {
            events: Vec::new(),
            used: 0,
            bytes: 0,
            lines_max,
            bytes_max,
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.used >= self.lines_max || self.bytes >= self.bytes_max
    }

    /// A cleared event to fill; [`Batch::commit`] then makes it part of the batch.
    pub(crate) fn slot(&mut self) -> &mut Event {
        if self.used == self.events.len() {
            self.events.push(Event::default());
        }
        let event = &mut self.events[self.used];
        event.document.clear();
        event
    }

    pub(crate) fn commit(&mut self) {
        self.bytes += self.events[self.used].document.len();
        self.used += 1;
    }

    pub(crate) fn events(&self) -> &[Event] {
        &self.events[..self.used]
    }

    pub(crate) fn clear(&mut self) {
        /// One huge line must not pin its memory for the rest of the run.
        const KEPT_BYTES_MAX: usize = 64 << 10;
        for event in &mut self.events[..self.used] {
            if event.document.capacity() > KEPT_BYTES_MAX {
                event.document = Vec::new();
            }
        }
        self.used = 0;
        self.bytes = 0;
    }
}
