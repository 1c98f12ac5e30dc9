//! Reading entries in order, forwards or backwards, of all streams or some, straight out of
//! mapped files.
//!
//! A scan is begun by what a view of the log has (`begin`); it is a walk over frames (`linear`, `picked`) and over the entries of
//! the frame at hand (`cursor`).

mod begin;
mod cursor;
mod linear;
mod picked;

use std::io;
use std::ops::Range as Span;
use std::sync::Arc;

use clew_platform::Mapped;

use crate::entry::EntryRef;
use crate::error::LogError;
use crate::file::LogFile;
use crate::frame::{self, FramePlace, Head};
use crate::options::Compression;
use crate::position::{Glsn, Llsn, StreamId};
use crate::view::View;
use cursor::Cursor;
use linear::{Backwards, Forwards};
use picked::Picked;

/// Which entries a scan gives, and in which order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Their positions.
    pub range: Range,
    /// Their streams; empty for all. Left empty where the range names the stream. Of named streams
    /// a position above 0 that was trimmed is an error; a scan of all streams passes over what
    /// single streams have trimmed.
    pub streams: Vec<StreamId>,
    /// From which end.
    pub order: Order,
}

/// A range of positions. `from` 0 stands for the lowest retained; `to` is exclusive and is cut to
/// the end the log has when the scan begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// By the place in the log.
    Glsn {
        /// The lowest.
        from: Glsn,
        /// One above the highest.
        to: Glsn,
    },
    /// By the place in one stream.
    Llsn {
        /// The stream.
        stream: StreamId,
        /// The lowest.
        from: Llsn,
        /// One above the highest.
        to: Llsn,
    },
}

/// The order of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// From the lowest position up.
    #[default]
    Forward,
    /// From the highest position down.
    Backward,
}

impl Selection {
    /// All entries from a position on, forwards.
    pub fn from(from: Glsn) -> Self {
        let range = Range::Glsn {
            from,
            to: Glsn::new(u64::MAX),
        };
        Selection {
            range,
            streams: Vec::new(),
            order: Order::Forward,
        }
    }
}

/// What the entries of a scan have in common. Both ranges apply.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    pub(crate) glsns: Span<u64>,
    pub(crate) llsns: Span<u64>,
    /// Frames before this time are passed over.
    pub(crate) time_ms: u64,
    /// Whether entries in these ranges that were trimmed are an error, or passed over.
    pub(crate) trimmed: Trimmed,
    /// Which files a walk over all streams reads.
    pub(crate) files: Files,
}

/// Which files a walk over all streams reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Files {
    /// All.
    All,
    /// Those that hold entries of streams without a name, and the one it begins with.
    WithUnnamed,
}

/// What a scan does when it meets entries that were trimmed and are still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trimmed {
    /// Goes on behind them.
    PassedOver,
    /// Ends: whoever named the position and the stream must learn that something is missing.
    AnError,
}

/// Reads entries up to the end the log had when the scan began.
///
/// Allocates nothing per entry; every checksum is checked. Trimming may overtake a scan, which
/// then ends with [`LogError::Trimmed`]. After an error it gives nothing more.
#[derive(Debug)]
pub struct Scan {
    view: View,
    bounds: Bounds,
    walk: Walk,
    /// The file being read; `None` only when there is nothing to read.
    open: Option<Open>,
    cursor: Cursor,
}

/// Which frame comes next.
#[derive(Debug)]
enum Walk {
    Forwards(Forwards),
    Backwards(Backwards),
    Picked(Picked),
    Done,
}

/// A frame of entries found by a walk: where they stand, and where their block lies in the open
/// file.
#[derive(Debug)]
struct FoundFrame {
    place: FramePlace,
    compression: Compression,
    block: Span<usize>,
    /// Of the frame, to name the place when the block turns out to be damaged.
    offset: usize,
}

impl Scan {
    /// A scan by position in the log; the view has been found to hold what is asked for.
    pub(crate) fn by_glsn(
        view: View,
        bounds: Bounds,
        streams: &[StreamId],
        order: Order,
    ) -> Result<Self, LogError> {
        let walk = match order {
            _ if bounds.glsns.is_empty() => (Walk::Done, None),
            Order::Forward if streams.is_empty() => {
                let (walk, open) = Forwards::begin(&view, Glsn::new(bounds.glsns.start))?;
                (Walk::Forwards(walk), Some(open))
            }
            Order::Backward if streams.is_empty() => {
                let (walk, open) = Backwards::begin(&view, Glsn::new(bounds.glsns.end - 1))?;
                (Walk::Backwards(walk), Some(open))
            }
            _ => {
                let (walk, open) = Picked::by_glsn(&view, &bounds, streams, order)?;
                (Walk::Picked(walk), Some(open))
            }
        };
        Ok(Scan::along(walk, (view, bounds), order))
    }

    /// A scan by position in one stream; the view has been found to hold what is asked for.
    pub(crate) fn by_llsn(
        view: View,
        bounds: Bounds,
        stream: StreamId,
        order: Order,
    ) -> Result<Self, LogError> {
        let walk = match bounds.llsns.is_empty() {
            true => (Walk::Done, None),
            false => {
                let (walk, open) = Picked::by_llsn(&view, &bounds, stream, order)?;
                (Walk::Picked(walk), Some(open))
            }
        };
        Ok(Scan::along(walk, (view, bounds), order))
    }

    /// A scan along a walk that has begun, with the file that it begins in.
    fn along(
        (walk, open): (Walk, Option<Open>),
        (view, bounds): (View, Bounds),
        order: Order,
    ) -> Self {
        Scan {
            view,
            bounds,
            walk,
            open,
            cursor: Cursor::new(order),
        }
    }

    /// The last position of the log that this scan can give.
    pub fn end(&self) -> Glsn {
        Glsn::new(self.bounds.glsns.end).previous()
    }

    /// The next entry, or `None` at the end.
    #[allow(
        clippy::should_implement_trait,
        reason = "an iterator cannot lend its items"
    )]
    #[inline]
    pub fn next(&mut self) -> Option<Result<EntryRef<'_>, LogError>> {
        if self.cursor.is_done() {
            match self.load() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.walk = Walk::Done;
                    self.cursor.clear();
                    return Some(Err(error));
                }
            }
        }
        Some(self.cursor.next(self.open.as_ref()?))
    }

    /// Moves the cursor to the next frame that has entries to give; false at the end.
    fn load(&mut self) -> Result<bool, LogError> {
        let (Some(open), view, bounds) = (&mut self.open, &self.view, &self.bounds) else {
            return Ok(false);
        };
        loop {
            let found = match &mut self.walk {
                Walk::Forwards(walk) => walk.next(open, view, bounds)?,
                Walk::Backwards(walk) => walk.next(open, view, bounds)?,
                Walk::Picked(walk) => walk.next(open, view, bounds)?,
                Walk::Done => None,
            };
            let Some(found) = found else {
                self.walk = Walk::Done;
                return Ok(false);
            };
            let wanted = bounds.of(&found.place, view)?;
            if !wanted.is_empty() {
                self.cursor.load(open, found, wanted)?;
                return Ok(true);
            }
        }
    }
}

impl Bounds {
    /// Which of a frame's entries to give.
    fn of(&self, place: &FramePlace, view: &View) -> Result<Span<u32>, LogError> {
        if place.time_ms < self.time_ms {
            return Ok(0..0);
        }
        let (glsn, llsn) = (place.glsn.get(), place.llsn.get());
        let start =
            (self.glsns.start.saturating_sub(glsn)).max(self.llsns.start.saturating_sub(llsn));
        let end = (self.glsns.end.saturating_sub(glsn)).min(self.llsns.end.saturating_sub(llsn));
        let first = view.visible_from(place.stream);
        let visible = first.get().saturating_sub(llsn);
        if visible > start && start < end && self.trimmed == Trimmed::AnError {
            return Err(LogError::TrimmedStream {
                stream: place.stream,
                first,
            });
        }
        let index = |n: u64| u32::try_from(n).unwrap_or(u32::MAX).min(place.count);
        Ok(index(start.max(visible))..index(end))
    }
}

/// A file with its bytes.
#[derive(Debug)]
struct Open {
    file: Arc<LogFile>,
    map: Mapped,
}

impl Open {
    /// Opens the file with this index in the view.
    fn at(view: &View, index: usize) -> Result<Self, LogError> {
        let file = view.files[index].clone();
        let map = file.map(&view.disk).map_err(|error| match error {
            LogError::Io { ref source, .. } if source.kind() == io::ErrorKind::NotFound => {
                let later = view.files.get(index + 1);
                LogError::Trimmed {
                    first: later.map_or(file.first.next(), |file| file.first),
                }
            }
            other => other,
        })?;
        Ok(Open { file, map })
    }
}

impl FoundFrame {
    #[inline]
    fn new(head: &Head, block: &[u8], offset: usize) -> Self {
        let start = offset + frame::entries_start(head.producer);
        let (place, compression) = (head.place, head.compression);
        FoundFrame {
            place,
            compression,
            block: start..start + block.len(),
            offset,
        }
    }
}
