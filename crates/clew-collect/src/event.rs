//! The unit a sink receives, and the batch whose memory is used again and again.

use clew_ingest::json_text::push_hex;

/// Milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct EpochMillis(pub i64);

/// Some of a run's outputs, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputSet(u64);

impl OutputSet {
    /// Outputs that can be told apart.
    pub const OUTPUTS_MAX: usize = 64;
    /// Every output.
    pub const ALL: OutputSet = OutputSet(u64::MAX);
    /// None of them.
    pub const NONE: OutputSet = OutputSet(0);

    /// The same and this one.
    #[must_use]
    pub fn with(self, output: usize) -> Self {
        debug_assert!(output < OutputSet::OUTPUTS_MAX);
        OutputSet(self.0 | 1 << output)
    }

    /// Whether this one is among them.
    pub fn has(self, output: usize) -> bool {
        self.0 >> output & 1 == 1
    }
}

impl Default for OutputSet {
    /// Every output: to be sent to some only is the exception.
    fn default() -> Self {
        OutputSet::ALL
    }
}

/// One log event, ready to be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The same for the same line of the same file in every run, and for no other line.
    pub id: String,
    /// When it happened, or when it was read if the line does not say.
    pub timestamp: EpochMillis,
    /// A JSON object on one line.
    pub document: Vec<u8>,
    /// What goes with it and is not in its document, `@metadata`: an object of JSON, or nothing.
    pub metadata: String,
    /// Which of the run's outputs take it.
    pub outputs: OutputSet,
}

impl Event {
    /// Names the event after its file, its place and everything in the file up to its end: even
    /// when a file's identity is mistaken, another line never gets a used name.
    pub(crate) fn set_id(&mut self, file_key: u64, offset: u64, checksum: u32) {
        self.id.clear();
        push_hex(&mut self.id, file_key, 16);
        self.id.push('-');
        push_hex(&mut self.id, offset, 1);
        self.id.push('-');
        push_hex(&mut self.id, u64::from(checksum), 8);
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
        event.metadata.clear();
        event.outputs = OutputSet::ALL;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_as_the_standard_library_writes_them() {
        let mut event = Event::default();
        let numbers = (0..64)
            .map(|bits| 1_u64 << bits)
            .flat_map(|one| [one - 1, one, one | 5]);
        for number in numbers.chain([0, u64::MAX]) {
            let checksum = u32::try_from(number >> 32).unwrap();
            event.set_id(number, number, checksum);
            assert_eq!(event.id, format!("{number:016x}-{number:x}-{checksum:08x}"));
        }
    }
}
