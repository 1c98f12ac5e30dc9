//! One log file as readers see it: where it is, how far it is written, and indexes into it.
//!
//! The indexes are filled by whoever passes by (the writer, recovery, the first reader of an old
//! file) and never stored: they can only be as right as the checked frames they were built from.

mod postings;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use clew_platform::{Disk, GrowingMap, Mapped};
use parking_lot::Mutex;

use crate::error::LogError;
use crate::frame::{self, Frame};
use crate::position::Glsn;
use postings::Postings;

/// A reader walks at most this far, plus one frame, to reach an indexed frame.
pub(crate) const INDEX_BYTES: usize = 4 * 1024;

#[derive(Debug)]
pub(crate) struct LogFile {
    pub(crate) path: PathBuf,
    pub(crate) first: Glsn,
    /// Where the first frame begins.
    pub(crate) header_bytes: usize,
    /// Everything below is written and holds whole calls only. Grows while the file is active.
    end: AtomicUsize,
    /// Bytes the file may grow to, as far as is known.
    capacity: usize,
    map: Mutex<Option<GrowingMap>>,
    index: Mutex<SparseIndex>,
    /// Where each stream's frames are; empty until somebody reads by stream.
    pub(crate) postings: Mutex<Postings>,
}

/// Where to find some of a file's frames. Always holds the first.
#[derive(Debug)]
struct SparseIndex(Vec<(Glsn, usize)>);

impl LogFile {
    pub(crate) fn new(path: PathBuf, first: Glsn, header_bytes: usize, end: usize) -> Self {
        LogFile {
            path,
            first,
            header_bytes,
            end: AtomicUsize::new(end),
            capacity: end,
            map: Mutex::default(),
            index: Mutex::new(SparseIndex(vec![(first, header_bytes)])),
            postings: Mutex::new(Postings::new(first, header_bytes)),
        }
    }

    /// The same, for a file that will grow up to about `capacity`.
    pub(crate) fn growing_to(mut self, capacity: u64) -> Self {
        self.capacity = self
            .capacity
            .max(usize::try_from(capacity).unwrap_or(usize::MAX));
        self
    }

    pub(crate) fn end(&self) -> usize {
        self.end.load(Ordering::Acquire)
    }

    pub(crate) fn set_end(&self, end: usize) {
        self.end.store(end, Ordering::Release);
    }

    /// The file's bytes up to its present end. All readers share one map, which is made anew only
    /// when the file outgrows it.
    pub(crate) fn map(&self, disk: &Arc<dyn Disk>) -> Result<Mapped, LogError> {
        let end = self.end();
        let mut cached = self.map.lock();
        if let Some(bytes) = cached.as_ref().and_then(|map| map.prefix(end).transpose()) {
            return bytes.map_err(|error| self.unreadable(error, end));
        }
        let map = disk.clone().map_growing(&self.path, self.capacity.max(end));
        let map = cached.insert(map.map_err(LogError::io("map", &self.path))?);
        let bytes = map
            .prefix(end)
            .map_err(|error| self.unreadable(error, end))?;
        Ok(bytes.expect("the map was made large enough"))
    }

    fn unreadable(&self, error: io::Error, end: usize) -> LogError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                LogError::corrupt(&self.path, end, "file has become shorter")
            }
            _ => LogError::io("map", &self.path)(error),
        }
    }

    /// Adds a frame to the index, if the last one is far enough away.
    pub(crate) fn note(&self, glsn: Glsn, offset: usize) {
        self.index.lock().note(glsn, offset);
    }

    /// The last indexed frame that begins at or before an entry.
    fn indexed_at(&self, target: Glsn) -> (Glsn, usize) {
        self.index.lock().last_where(|(glsn, _)| *glsn <= target)
    }

    /// The last indexed frame that begins below an offset, or the file's first.
    pub(crate) fn indexed_below(&self, offset: usize) -> (Glsn, usize) {
        self.index.lock().last_where(|(_, place)| *place < offset)
    }

    /// The last indexed frame for which `matches` holds; it must hold for a first part of them.
    pub(crate) fn indexed_where(&self, matches: impl Fn(usize) -> bool) -> (Glsn, usize) {
        self.index.lock().last_where(|(_, place)| matches(*place))
    }

    /// The frame that holds an entry, which must lie in this file below its end: the position it
    /// begins with and its offset.
    pub(crate) fn locate(&self, map: &[u8], target: Glsn) -> Result<(Glsn, usize), LogError> {
        let (mut glsn, mut offset) = self.indexed_at(target);
        while offset < map.len() {
            let (frame, bytes) = self.frame(map, offset, glsn)?;
            if let Frame::Entries(head, _) = frame
                && target <= head.place.last()
            {
                return Ok((glsn, offset));
            }
            glsn = frame.next();
            offset += bytes;
            self.note(glsn, offset);
        }
        Err(self.too_short(offset))
    }

    /// The frame at an offset, which must be the one for `expected`; and its length.
    #[inline]
    pub(crate) fn frame<'a>(
        &self,
        map: &'a [u8],
        offset: usize,
        expected: Glsn,
    ) -> Result<(Frame<'a>, usize), LogError> {
        let (frame, bytes) = self.any_frame(map, offset)?;
        match frame.glsn() == expected {
            true => Ok((frame, bytes)),
            false => Err(self.damaged(offset, "entry is out of sequence")),
        }
    }

    /// The frame at an offset, whatever its position; and its length.
    #[inline]
    pub(crate) fn any_frame<'a>(
        &self,
        map: &'a [u8],
        offset: usize,
    ) -> Result<(Frame<'a>, usize), LogError> {
        let frame = frame::decode(map.get(offset..).unwrap_or_default());
        frame.map_err(|reason| self.damaged(offset, reason))
    }

    pub(crate) fn damaged(&self, offset: usize, reason: &'static str) -> LogError {
        LogError::corrupt(&self.path, offset, reason)
    }

    pub(crate) fn too_short(&self, offset: usize) -> LogError {
        self.damaged(offset, "file ends before an entry it should hold")
    }
}

impl SparseIndex {
    fn note(&mut self, glsn: Glsn, offset: usize) {
        let far = |(_, last): &(Glsn, usize)| offset >= last.saturating_add(INDEX_BYTES);
        if self.0.last().is_none_or(far) {
            self.0.push((glsn, offset));
        }
    }

    fn last_where(&self, matches: impl Fn(&(Glsn, usize)) -> bool) -> (Glsn, usize) {
        let after = self.0.partition_point(matches);
        self.0[after.saturating_sub(1)]
    }
}

/// Which of a log's files holds an entry: the last that begins at or before it.
pub(crate) fn holding(files: &[Arc<LogFile>], glsn: Glsn) -> Option<usize> {
    files
        .partition_point(|file| file.first <= glsn)
        .checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_keeps_places_apart_and_finds_the_one_below() {
        let mut index = SparseIndex(vec![(Glsn::new(10), 48)]);
        index.note(Glsn::new(11), 100);
        index.note(Glsn::new(20), 48 + INDEX_BYTES);
        index.note(Glsn::new(15), 60);
        index.note(Glsn::new(30), 50 + 2 * INDEX_BYTES);
        let at = |target| index.last_where(|(glsn, _)| glsn.get() <= target).0.get();
        assert_eq!(
            [at(10), at(19), at(20), at(29), at(30), at(99)],
            [10, 10, 20, 20, 30, 30]
        );
        assert_eq!(
            index.last_where(|(_, offset)| *offset < 48),
            (Glsn::new(10), 48)
        );
    }
}
