//! The entries of one frame, one after the other.

use std::ops::Range as Span;

use super::{FoundFrame, Open, Order};
use crate::block::{self, Content};
use crate::compression as codec;
use crate::entry::EntryRef;
use crate::error::LogError;
use crate::frame::FramePlace;
use crate::options::Compression;
use crate::position::{Glsn, Llsn, StreamId};

const CUT_OFF: &str = "frame ends before its entries do";

/// Where a scan stands inside a frame.
#[derive(Debug)]
pub(super) struct Cursor {
    order: Order,
    place: FramePlace,
    /// The block in the open file; `None` when it was decompressed into `plain`.
    block: Option<Span<usize>>,
    plain: Vec<u8>,
    /// Entries still to give, by their index in the frame.
    left: Span<u32>,
    /// Where the next entry begins in the block.
    at: usize,
    /// Backwards only: where each entry begins.
    starts: Vec<usize>,
    /// The frame's offset in the file, to name it in an error.
    offset: usize,
}

impl Cursor {
    pub(super) fn new(order: Order) -> Self {
        let (stream, glsn, llsn) = (StreamId::new(0), Glsn::ZERO, Llsn::ZERO);
        Cursor {
            order,
            place: FramePlace {
                stream,
                glsn,
                llsn,
                count: 0,
                time_ms: 0,
            },
            block: None,
            plain: Vec::new(),
            left: 0..0,
            at: 0,
            starts: Vec::new(),
            offset: 0,
        }
    }

    #[inline]
    pub(super) fn is_done(&self) -> bool {
        self.left.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.left = 0..0;
    }

    /// Begins with a frame of the open file, of which the entries `wanted` are to be given.
    pub(super) fn load(
        &mut self,
        open: &Open,
        found: FoundFrame,
        wanted: Span<u32>,
    ) -> Result<(), LogError> {
        let FoundFrame {
            place,
            compression,
            block,
            offset,
        } = found;
        if compression == Compression::None {
            self.block = Some(block);
        } else {
            let stored = open.map.get(block).unwrap_or_default();
            codec::decompress(compression, stored, &mut self.plain)
                .map_err(|reason| open.file.damaged(offset, reason))?;
            self.block = None;
        }
        (self.place, self.offset, self.at) = (place, offset, 0);
        self.starts.clear();
        let passed = match self.order {
            Order::Forward => wanted.start,
            Order::Backward => wanted.end,
        };
        for _ in 0..passed {
            if self.order == Order::Backward {
                self.starts.push(self.at);
            }
            let block = match &self.block {
                Some(block) => &open.map[block.clone()],
                None => &self.plain,
            };
            let entry = block::entry_at(block, self.at);
            self.at = entry.ok_or_else(|| open.file.damaged(offset, CUT_OFF))?.1;
        }
        self.left = wanted;
        Ok(())
    }

    /// The next entry of a cursor that is not done.
    #[inline]
    pub(super) fn next<'a>(&'a mut self, open: &'a Open) -> Result<EntryRef<'a>, LogError> {
        let index = match self.order {
            Order::Forward => {
                self.left.start += 1;
                self.left.start - 1
            }
            Order::Backward => {
                self.left.end -= 1;
                self.at = self.starts[self.left.end as usize];
                self.left.end
            }
        };
        let block = match &self.block {
            Some(block) => &open.map[block.clone()],
            None => &self.plain,
        };
        let Some((Content { headers, payload }, next)) = block::entry_at(block, self.at) else {
            self.left = 0..0;
            return Err(open.file.damaged(self.offset, CUT_OFF));
        };
        self.at = next;
        Ok(EntryRef {
            glsn: self.place.glsn.plus(u64::from(index)),
            llsn: self.place.llsn.plus(u64::from(index)),
            stream: self.place.stream,
            time_ms: self.place.time_ms,
            headers,
            payload,
        })
    }
}
