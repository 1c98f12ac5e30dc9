//! The unfinished end of the last file: how far it can be trusted, and whether what follows is a
//! torn write or damage.
//!
//! A power cut may leave any part of the writes that were never synced, so a bad frame there is
//! expected and is cut off with all that follows it. What was synced may not be bad. The file
//! itself tells the two apart: each write begins with a mark that says what was durable by then,
//! so a mark behind a bad frame that vouches for the frame's position proves damage.

use crate::file::LogFile;
use crate::frame::{self, ALIGNMENT, Frame};
use crate::header::Streams;
use crate::position::{Glsn, Llsn, StreamId};

/// The trusted end of the last file.
#[derive(Debug)]
pub(crate) struct Tail {
    /// The next entry's position.
    pub(crate) next: Glsn,
    /// The counters after the last entry.
    pub(crate) streams: Streams,
    /// The highest position that a mark or the file's header vouches for as durable.
    pub(crate) vouched: Glsn,
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
        let mut call: Vec<(StreamId, Llsn)> = Vec::new();
        let (mut offset, mut next) = (file.end(), self.next);
        while offset < bytes.len() {
            match frame::decode(&bytes[offset..]) {
                Ok(frame) if frame.glsn() == next => {
                    offset += frame.bytes();
                    match frame {
                        Frame::Mark { synced, .. } => self.vouched = self.vouched.max(synced),
                        Frame::Entry { place, .. } => {
                            call.push((place.stream, place.llsn.next()));
                            next = next.next();
                            if !place.ends_call {
                                continue;
                            }
                        }
                    }
                    self.streams.extend(call.drain(..));
                    self.next = next;
                    file.set_end(offset);
                    file.note(next, offset);
                }
                Ok(_) => return Err(stop(bytes, offset, next, "entry is out of sequence")),
                Err(reason) => return Err(stop(bytes, offset, next, reason)),
            }
        }
        if call.is_empty() {
            Ok(())
        } else {
            Err(Stop::Torn)
        }
    }
}

/// Judges a bad frame in the place of entry `glsn`.
fn stop(bytes: &[u8], offset: usize, glsn: Glsn, reason: &'static str) -> Stop {
    let mut places = (offset..bytes.len())
        .step_by(ALIGNMENT)
        .map(|place| &bytes[place..]);
    let vouched = places.any(|bytes| {
        frame::may_be_mark(bytes)
            && matches!(frame::decode(bytes), Ok(Frame::Mark { synced, .. }) if synced >= glsn)
    });
    if vouched {
        Stop::Damaged { offset, reason }
    } else {
        Stop::Torn
    }
}
