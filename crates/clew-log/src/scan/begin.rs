//! Where reading begins: what of a [`View`] is asked for is held against what it has, and becomes a scan.

use super::{Bounds, Files, Order, Range, Scan, Selection, Trimmed};
use crate::entry::Entry;
use crate::error::LogError;
use crate::file;
use crate::frame::{self, Frame};
use crate::header;
use crate::position::{Glsn, Llsn, StreamId};
use crate::registry::StreamInfo;
use crate::view::View;

impl View {
    pub(crate) fn read(&self, glsn: Glsn) -> Result<Entry, LogError> {
        self.check(glsn, self.last)?;
        let range = Range::Glsn {
            from: glsn,
            to: glsn.next(),
        };
        let selection = Selection {
            range,
            streams: Vec::new(),
            order: Order::Forward,
        };
        if let Some(entry) = self.clone().scan(&selection)?.next() {
            return Ok(entry?.to_entry());
        }
        // It is there, but its stream does not show it.
        let stream = self.stream_of(glsn)?;
        match self.visible_from(stream) {
            Llsn::MAX => Err(LogError::UnknownStream {
                name: stream.to_string(),
            }),
            first => Err(LogError::TrimmedStream { stream, first }),
        }
    }

    pub(crate) fn read_at(&self, stream: &StreamInfo, llsn: Llsn) -> Result<Entry, LogError> {
        if llsn > stream.last || llsn == Llsn::ZERO {
            return Err(LogError::EntryNotFound {
                stream: stream.id,
                llsn,
                last: stream.last,
            });
        }
        let mut scan = self
            .clone()
            .scan_stream(stream, llsn, llsn.next(), Order::Forward)?;
        let missing = LogError::EntryNotFound {
            stream: stream.id,
            llsn,
            last: stream.last,
        };
        let entry = scan.next().ok_or(missing)??;
        Ok(entry.to_entry())
    }

    /// A scan by position in the log.
    pub(crate) fn scan(self, selection: &Selection) -> Result<Scan, LogError> {
        let Range::Glsn { from, to } = selection.range else {
            return Err(LogError::Options {
                field: "range",
                reason: "must be of GLSNs",
            });
        };
        let trimmed = match from == Glsn::ZERO || selection.streams.is_empty() {
            true => Trimmed::PassedOver,
            false => Trimmed::AnError,
        };
        let from = if from == Glsn::ZERO { self.first } else { from };
        self.check(from, self.last.next())?;
        let to = to.min(self.last.next()).max(from);
        let bounds = Bounds {
            glsns: from.get()..to.get(),
            llsns: 0..u64::MAX,
            time_ms: 0,
            trimmed,
            files: Files::All,
        };
        Scan::by_glsn(self, bounds, &selection.streams, selection.order)
    }

    /// A scan of all that may be entries of streams without a name.
    pub(crate) fn scan_unnamed(self, from: Glsn) -> Result<Scan, LogError> {
        self.check(from, self.last.next())?;
        let bounds = Bounds {
            glsns: from.get()..self.last.next().get(),
            llsns: 0..u64::MAX,
            time_ms: 0,
            trimmed: Trimmed::PassedOver,
            files: Files::WithUnnamed,
        };
        Scan::by_glsn(self, bounds, &[], Order::Forward)
    }

    /// A scan by position in a stream.
    pub(crate) fn scan_stream(
        self,
        stream: &StreamInfo,
        from: Llsn,
        to: Llsn,
        order: Order,
    ) -> Result<Scan, LogError> {
        let from = if from == Llsn::ZERO {
            stream.first
        } else {
            from
        };
        if from < stream.first {
            return Err(LogError::TrimmedStream {
                stream: stream.id,
                first: stream.first,
            });
        }
        if from > stream.last.next() {
            let last = stream.last;
            return Err(LogError::EntryNotFound {
                stream: stream.id,
                llsn: from,
                last,
            });
        }
        let to = to.min(stream.last.next()).max(from);
        let oldest = header::counter(&self.files[0].map(&self.disk)?, stream.id);
        if from < oldest && from < to {
            return Err(LogError::TrimmedStream {
                stream: stream.id,
                first: oldest,
            });
        }
        let glsns = 0..self.last.next().get();
        let bounds = Bounds {
            glsns,
            llsns: from.get()..to.get(),
            time_ms: 0,
            trimmed: Trimmed::PassedOver,
            files: Files::All,
        };
        Scan::by_llsn(self, bounds, stream.id, order)
    }

    /// The first entry of the streams (all, if none are named) that is not older than a time.
    pub(crate) fn first_at_or_after(
        self,
        time_ms: u64,
        streams: &[StreamId],
    ) -> Result<Option<Glsn>, LogError> {
        let from = self.indexed_before(time_ms)?.max(self.first);
        let bounds = Bounds {
            glsns: from.get()..self.last.next().get(),
            llsns: 0..u64::MAX,
            time_ms,
            trimmed: Trimmed::PassedOver,
            files: Files::All,
        };
        let mut scan = Scan::by_glsn(self, bounds, streams, Order::Forward)?;
        scan.next().map(|entry| Ok(entry?.glsn)).transpose()
    }

    /// A position that is known to have no later entry than `time_ms` before it, close to the
    /// first such.
    fn indexed_before(&self, time_ms: u64) -> Result<Glsn, LogError> {
        let (mut low, mut high) = (0, self.files.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if header::time_ms(&self.files[middle].map(&self.disk)?) < time_ms {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let file = &self.files[low.saturating_sub(1)];
        let map = file.map(&self.disk)?;
        let earlier = |offset: usize| match frame::decode(map.get(offset..).unwrap_or_default()) {
            Ok((Frame::Entries(head, _), _)) => head.place.time_ms < time_ms,
            // Marks have no time. Taking one for earlier could pass the entry that is looked for;
            // taking it for later only makes the walk longer.
            _ => false,
        };
        Ok(file.indexed_where(earlier).0)
    }

    fn check(&self, glsn: Glsn, highest: Glsn) -> Result<(), LogError> {
        if glsn < self.first {
            return Err(self.trimmed());
        }
        if glsn > highest {
            return Err(LogError::NotFound {
                glsn,
                last: self.last,
            });
        }
        Ok(())
    }

    fn stream_of(&self, glsn: Glsn) -> Result<StreamId, LogError> {
        let index = file::holding(&self.files, glsn).ok_or_else(|| self.trimmed())?;
        let file = &self.files[index];
        let map = file.map(&self.disk)?;
        let (_, offset) = file.locate(&map, glsn)?;
        match file.any_frame(&map, offset)?.0 {
            Frame::Entries(head, _) => Ok(head.place.stream),
            Frame::Mark { .. } | Frame::Control { .. } => {
                Err(file.damaged(offset, "a frame of entries was due"))
            }
        }
    }
}
