//! Walks over all frames of a log.

use super::{Bounds, Files, FoundFrame, Open};
use crate::error::LogError;
use crate::file::{self, INDEX_BYTES};
use crate::frame::{self, Frame};
use crate::position::Glsn;
use crate::view::View;

/// From an entry to the end.
#[derive(Debug)]
pub(super) struct Forwards {
    /// Of the open file, in the view.
    index: usize,
    offset: usize,
    next: Glsn,
}

impl Forwards {
    pub(super) fn begin(view: &View, from: Glsn) -> Result<(Self, Open), LogError> {
        let index = file::holding(&view.files, from).ok_or_else(|| view.trimmed())?;
        let open = Open::at(view, index)?;
        let (next, offset) = open.file.locate(&open.map, from)?;
        Ok((
            Forwards {
                index,
                offset,
                next,
            },
            open,
        ))
    }

    #[inline]
    pub(super) fn next(
        &mut self,
        open: &mut Open,
        view: &View,
        bounds: &Bounds,
    ) -> Result<Option<FoundFrame>, LogError> {
        while self.next.get() < bounds.glsns.end {
            if self.offset >= open.map.len() {
                if self.index + 1 >= view.files.len() {
                    return Err(open.file.too_short(self.offset));
                }
                self.index += 1;
                if bounds.files == Files::WithUnnamed {
                    self.index = view.first_with_unnamed(self.index)?;
                }
                *open = Open::at(view, self.index)?;
                (self.offset, self.next) = (open.file.header_bytes, open.file.first);
                continue;
            }
            let offset = self.offset;
            let bytes = open.map.get(offset..).unwrap_or_default();
            // Not through `LogFile::frame`: its large error costs more than a small frame does.
            let (frame, frame_bytes) = match frame::decode(bytes) {
                Ok((frame, bytes)) if frame.glsn() == self.next => (frame, bytes),
                Ok(_) => return Err(open.file.damaged(offset, "entry is out of sequence")),
                Err(reason) => return Err(open.file.damaged(offset, reason)),
            };
            self.next = frame.next();
            self.offset += frame_bytes;
            if let Frame::Entries(head, block) = frame {
                return Ok(Some(FoundFrame::new(&head, block, offset)));
            }
        }
        Ok(None)
    }
}

/// From an entry to the beginning. Frames cannot be walked backwards, so a stretch between two
/// indexed frames is walked forwards and its frames remembered.
#[derive(Debug)]
pub(super) struct Backwards {
    /// Of the open file, in the view.
    index: usize,
    /// The stretches at and behind this offset are done.
    end: usize,
    /// Frames of the present stretch still to give, with the position each begins with.
    frames: Vec<(usize, Glsn)>,
}

impl Backwards {
    pub(super) fn begin(view: &View, last: Glsn) -> Result<(Self, Open), LogError> {
        let index = file::holding(&view.files, last).ok_or_else(|| view.trimmed())?;
        let open = Open::at(view, index)?;
        // One behind the frame's beginning, so that the frame is part of the first stretch.
        let end = open.file.locate(&open.map, last)?.1 + 1;
        Ok((
            Backwards {
                index,
                end,
                frames: Vec::new(),
            },
            open,
        ))
    }

    pub(super) fn next(
        &mut self,
        open: &mut Open,
        view: &View,
        bounds: &Bounds,
    ) -> Result<Option<FoundFrame>, LogError> {
        loop {
            if let Some((offset, glsn)) = self.frames.pop() {
                let (frame, _) = open.file.frame(&open.map, offset, glsn)?;
                if frame.next().get() <= bounds.glsns.start {
                    return Ok(None);
                }
                if let Frame::Entries(head, block) = frame {
                    return Ok(Some(FoundFrame::new(&head, block, offset)));
                }
            } else if self.end > open.file.header_bytes {
                self.stretch(open)?;
            } else if self.index > 0 && bounds.glsns.start < open.file.first.get() {
                self.index -= 1;
                *open = Open::at(view, self.index)?;
                self.end = open.map.len();
            } else {
                return Ok(None);
            }
        }
    }

    /// Fills `frames` with those of the stretch before `end`.
    fn stretch(&mut self, open: &Open) -> Result<(), LogError> {
        let (_, start) = open.file.indexed_below(self.end);
        if self.end - start > 2 * INDEX_BYTES {
            // Nobody has passed here yet: doing so fills the index.
            self.walk(open)?;
        }
        self.walk(open)?;
        self.end = self
            .frames
            .first()
            .map_or(open.file.header_bytes, |(offset, _)| *offset);
        Ok(())
    }

    fn walk(&mut self, open: &Open) -> Result<(), LogError> {
        self.frames.clear();
        let (mut glsn, mut offset) = open.file.indexed_below(self.end);
        while offset < self.end.min(open.map.len()) {
            self.frames.push((offset, glsn));
            let (frame, bytes) = open.file.frame(&open.map, offset, glsn)?;
            glsn = frame.next();
            offset += bytes;
            open.file.note(glsn, offset);
        }
        Ok(())
    }
}
