//! Where each stream's frames lie in one file, so that reading one stream of thousands touches
//! only its own frames. Built by walking the file once, on the first read by stream.

use std::collections::BTreeMap;

use super::LogFile;
use crate::error::LogError;
use crate::frame::{ALIGNMENT, Frame};
use crate::position::{Glsn, Llsn, StreamId};
use crate::registry::Change;

/// The frames of all streams in one file.
#[derive(Debug)]
pub(crate) struct Postings {
    streams: BTreeMap<StreamId, Vec<Posting>>,
    /// The file was walked up to here.
    end: usize,
    next: Glsn,
}

/// One frame of a stream. Eight bytes, because a log of single small entries has many.
#[derive(Clone, Copy, Debug)]
struct Posting {
    /// Lower half of the first entry's position; the files' counters tell the rest.
    llsn: u32,
    /// Offset in the file in units of the frames' alignment.
    place: u32,
}

impl Postings {
    /// Those of a file that was not walked yet.
    pub(crate) fn new(first: Glsn, header_bytes: usize) -> Self {
        Postings {
            streams: BTreeMap::new(),
            end: header_bytes,
            next: first,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.streams.is_empty()
    }

    /// Forgets everything, to free memory.
    pub(crate) fn clear(&mut self, file: &LogFile) {
        *self = Postings::new(file.first, file.header_bytes);
    }

    /// Takes in what the file has beyond the part that was walked. Checks every frame there.
    pub(crate) fn extend(&mut self, file: &LogFile, map: &[u8]) -> Result<(), LogError> {
        while self.end < map.len() {
            let (frame, bytes) = file.frame(map, self.end, self.next)?;
            match frame {
                Frame::Entries(head, _) => {
                    let llsn = lower_half(head.place.llsn);
                    let place = u32::try_from(self.end / ALIGNMENT).expect("files are limited");
                    self.streams
                        .entry(head.place.stream)
                        .or_default()
                        .push(Posting { llsn, place });
                }
                Frame::Control { record, .. } => {
                    if let Some(Change::Forget(stream)) = Change::decode(record) {
                        self.streams.remove(&stream);
                    }
                }
                Frame::Mark { .. } => {}
            }
            self.next = frame.next();
            self.end += bytes;
            file.note(self.next, self.end);
        }
        Ok(())
    }

    /// The offset of a stream's frame by its index in the file.
    pub(crate) fn offset(&self, stream: StreamId, index: usize) -> Option<usize> {
        let posting = self.streams.get(&stream)?.get(index)?;
        Some(posting.place as usize * ALIGNMENT)
    }

    /// How many of a stream's frames begin below an offset.
    pub(crate) fn below(&self, stream: StreamId, offset: usize) -> usize {
        let postings = self.streams.get(&stream).map_or(&[][..], Vec::as_slice);
        postings.partition_point(|posting| (posting.place as usize * ALIGNMENT) < offset)
    }

    /// How many of a stream's frames begin at or before an entry of it.
    pub(crate) fn up_to(&self, stream: StreamId, llsn: Llsn) -> usize {
        let postings = self.streams.get(&stream).map_or(&[][..], Vec::as_slice);
        let Some(first) = postings.first() else {
            return 0;
        };
        // Differences from the first are right even where the lower half has wrapped around.
        let target = lower_half(llsn).wrapping_sub(first.llsn);
        postings.partition_point(|posting| posting.llsn.wrapping_sub(first.llsn) <= target)
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the lower half is what is wanted"
)]
fn lower_half(llsn: Llsn) -> u32 {
    llsn.get() as u32
}
