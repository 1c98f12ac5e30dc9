//! Walks over the frames of some streams, by the files' postings.

use std::ops::Range as Span;

use super::{Bounds, FoundFrame, Open, Order};
use crate::error::LogError;
use crate::file;
use crate::frame::{Frame, FramePlace};
use crate::header;
use crate::position::{Glsn, Llsn, StreamId};
use crate::view::View;

/// The streams' frames in the order of the log.
#[derive(Debug)]
pub(super) struct Picked {
    order: Order,
    /// Of the open file, in the view.
    index: usize,
    streams: Vec<Remaining>,
}

/// A stream's frames in the open file that are still to come, by their index.
#[derive(Debug)]
struct Remaining {
    stream: StreamId,
    frames: Span<usize>,
}

impl Picked {
    pub(super) fn by_glsn(
        view: &View,
        bounds: &Bounds,
        streams: &[StreamId],
        order: Order,
    ) -> Result<(Self, Open), LogError> {
        let target = Glsn::new(match order {
            Order::Forward => bounds.glsns.start,
            Order::Backward => bounds.glsns.end - 1,
        });
        let index = file::holding(&view.files, target).ok_or_else(|| view.trimmed())?;
        let (mut picked, open) = Picked::in_file(view, index, streams, order)?;
        let (_, offset) = open.file.locate(&open.map, target)?;
        let postings = open.file.postings.lock();
        for Remaining { stream, frames } in &mut picked.streams {
            match order {
                Order::Forward => frames.start = postings.below(*stream, offset),
                Order::Backward => frames.end = postings.below(*stream, offset + 1),
            }
        }
        drop(postings);
        Ok((picked, open))
    }

    pub(super) fn by_llsn(
        view: &View,
        bounds: &Bounds,
        stream: StreamId,
        order: Order,
    ) -> Result<(Self, Open), LogError> {
        let target = Llsn::new(match order {
            Order::Forward => bounds.llsns.start,
            Order::Backward => bounds.llsns.end - 1,
        });
        let index = holding(view, stream, target)?;
        let (mut picked, open) = Picked::in_file(view, index, &[stream], order)?;
        let up_to = open.file.postings.lock().up_to(stream, target);
        let frames = &mut picked.streams[0].frames;
        match order {
            Order::Forward => frames.start = up_to.saturating_sub(1),
            Order::Backward => frames.end = up_to,
        }
        Ok((picked, open))
    }

    /// All frames of the streams in one file.
    fn in_file(
        view: &View,
        index: usize,
        streams: &[StreamId],
        order: Order,
    ) -> Result<(Self, Open), LogError> {
        let open = Open::at(view, index)?;
        view.index_by_stream(&open.file, &open.map)?;
        let postings = open.file.postings.lock();
        let all = |stream: &StreamId| Remaining {
            stream: *stream,
            frames: 0..postings.below(*stream, open.map.len()),
        };
        let streams = streams.iter().map(all).collect();
        drop(postings);
        Ok((
            Picked {
                order,
                index,
                streams,
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
            if let Some(offset) = self.take(open, view)? {
                let (frame, _) = open.file.any_frame(&open.map, offset)?;
                let Frame::Entries(head, block) = frame else {
                    return Err(open.file.damaged(offset, "a frame of entries was due"));
                };
                let found = FoundFrame::new(&head, block, offset);
                return Ok((!self.is_past(&found.place, bounds)).then_some(found));
            }
            let Some(index) = self.next_file(view, bounds)? else {
                return Ok(None);
            };
            let streams: Vec<StreamId> = self.streams.iter().map(|one| one.stream).collect();
            (*self, *open) = Picked::in_file(view, index, &streams, self.order)?;
        }
    }

    /// Whether a frame, and so all that follow, lies beyond what is wanted.
    fn is_past(&self, place: &FramePlace, bounds: &Bounds) -> bool {
        let (glsn, llsn) = (place.glsn.get(), place.llsn.get());
        match self.order {
            Order::Forward => glsn >= bounds.glsns.end || llsn >= bounds.llsns.end,
            Order::Backward => {
                place.last().get() < bounds.glsns.start
                    || place.next_llsn().get() <= bounds.llsns.start
            }
        }
    }

    /// Takes the next frame of the open file, of whichever stream has it.
    fn take(&mut self, open: &Open, view: &View) -> Result<Option<usize>, LogError> {
        // Again, because the file's postings may have been dropped for those of other files.
        view.index_by_stream(&open.file, &open.map)?;
        let postings = open.file.postings.lock();
        let place = |one: &Remaining| {
            let index = match self.order {
                Order::Forward => one.frames.start,
                Order::Backward => one.frames.end.wrapping_sub(1),
            };
            let offset = postings.offset(one.stream, index)?;
            (!one.frames.is_empty()).then_some(offset)
        };
        let places = self.streams.iter().enumerate();
        let places = places.filter_map(|(index, one)| Some((place(one)?, index)));
        let chosen = match self.order {
            Order::Forward => places.min(),
            Order::Backward => places.max(),
        };
        drop(postings);
        Ok(chosen.map(|(offset, index)| {
            let frames = &mut self.streams[index].frames;
            match self.order {
                Order::Forward => frames.start += 1,
                Order::Backward => frames.end -= 1,
            }
            offset
        }))
    }

    /// The next file that holds entries of one of the streams.
    fn next_file(&self, view: &View, bounds: &Bounds) -> Result<Option<usize>, LogError> {
        let mut index = self.index;
        loop {
            index = match self.order {
                Order::Forward if index + 1 < view.files.len() => index + 1,
                Order::Backward if index > 0 => index - 1,
                _ => return Ok(None),
            };
            let first = view.files[index].first.get();
            let beyond = match self.order {
                Order::Forward => first >= bounds.glsns.end,
                Order::Backward => view
                    .files
                    .get(index + 1)
                    .is_some_and(|after| after.first.get() <= bounds.glsns.start),
            };
            if beyond {
                return Ok(None);
            }
            let Some(after) = view.files.get(index + 1) else {
                return Ok(Some(index));
            };
            let (begin, end) = (Open::at(view, index)?.map, after.map(&view.disk)?);
            let grown = |one: &Remaining| {
                header::counter(&begin, one.stream) != header::counter(&end, one.stream)
            };
            if self.streams.iter().any(grown) {
                return Ok(Some(index));
            }
        }
    }
}

/// The file that holds an entry of a stream: the last that begins at or before it.
fn holding(view: &View, stream: StreamId, llsn: Llsn) -> Result<usize, LogError> {
    let (mut low, mut high) = (0, view.files.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if header::counter(&Open::at(view, middle)?.map, stream) <= llsn {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low.saturating_sub(1))
}
