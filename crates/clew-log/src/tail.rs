//! The unfinished end of the last file: how far it can be trusted, and whether what follows is a
//! torn write or damage.
//!
//! A power cut may leave any part of the writes that were never synced, so a bad frame there is
//! expected and is cut off with all that follows it. What was synced may not be bad. The file
//! itself tells the two apart: each write begins with a mark that says what was durable by then,
//! so a mark behind a bad frame that vouches for the frame's place proves damage.

use crate::file::LogFile;
use crate::frame::{self, ALIGNMENT, Frame, Head};
use crate::header::LogState;
use crate::position::Glsn;
use crate::registry::Change;

/// The trusted end of the last file.
#[derive(Debug)]
pub(crate) struct Tail {
    /// The next entry's position.
    pub(crate) next: Glsn,
    /// The state after the last entry.
    pub(crate) state: LogState,
    /// Offset in the file below which a mark, or the file's header, vouches for everything.
    pub(crate) vouched: u64,
}

/// Why the walk over a tail stopped early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A write that did not arrive as a whole.
    Torn,
    /// Bytes that were durable are damaged.
    Damaged { offset: usize, reason: &'static str },
}

impl Tail {
    /// Takes in all whole calls that follow the file's end, and moves that end behind them.
    pub(crate) fn extend(&mut self, file: &LogFile, bytes: &[u8]) -> Result<(), Stop> {
        let mut call: Vec<Head> = Vec::new();
        let (mut offset, mut next) = (file.end(), self.next);
        while offset < bytes.len() {
            let (frame, frame_bytes) = match frame::decode(&bytes[offset..]) {
                Ok((frame, frame_bytes)) if frame.glsn() == next => (frame, frame_bytes),
                Ok(_) => return Err(stop(bytes, offset, "entry is out of sequence")),
                Err(reason) => return Err(stop(bytes, offset, reason)),
            };
            match frame {
                Frame::Mark { synced, .. } => self.vouched = self.vouched.max(synced),
                Frame::Control { record, .. } => match Change::decode(record) {
                    Some(change) => self.state.registry.apply(change),
                    None => return Err(stop(bytes, offset, "control record is unknown")),
                },
                Frame::Entries(head, _) => {
                    call.push(head);
                    next = frame.next();
                    if !head.ends_call {
                        offset += frame_bytes;
                        continue;
                    }
                }
            }
            call.drain(..).for_each(|head| self.state.note(&head));
            offset += frame_bytes;
            self.next = next;
            file.set_end(offset);
            file.note(next, offset);
        }
        if call.is_empty() {
            Ok(())
        } else {
            Err(Stop::Torn)
        }
    }
}

/// Judges a bad frame.
pub(crate) fn stop(bytes: &[u8], offset: usize, reason: &'static str) -> Stop {
    let mut places = (offset..bytes.len())
        .step_by(ALIGNMENT)
        .map(|place| &bytes[place..]);
    let vouched = places.any(|bytes| {
        frame::may_be_mark(bytes)
            && matches!(frame::decode(bytes), Ok((Frame::Mark { synced, .. }, _)) if synced > offset as u64)
    });
    if vouched {
        Stop::Damaged { offset, reason }
    } else {
        Stop::Torn
    }
}
