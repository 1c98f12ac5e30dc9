//! One log file as readers see it: where it is, how far it is written, and a sparse index into it.
//!
//! The index is filled by whoever passes by (the writer, recovery, the first reader of an old
//! file) and is never stored: it can only be as right as the checked frames it was built from.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use clew_platform::{Disk, Mapped};
use parking_lot::Mutex;

use crate::error::LogError;
use crate::frame::{self, Frame};
use crate::position::Glsn;

/// A reader walks at most this far, plus one call's frames, to reach an indexed entry.
pub(crate) const INDEX_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) struct LogFile {
    pub(crate) path: PathBuf,
    pub(crate) first: Glsn,
    /// Everything below is written and holds whole calls only. Grows while the file is active.
    end: AtomicUsize,
    map: Mutex<Option<Mapped>>,
    index: Mutex<SparseIndex>,
}

/// Where to find some of a file's entries. Always holds the first.
#[derive(Debug)]
struct SparseIndex(Vec<(Glsn, usize)>);

impl LogFile {
    pub(crate) fn new(path: PathBuf, first: Glsn, header_bytes: usize, end: usize) -> Self {
        let index = Mutex::new(SparseIndex(vec![(first, header_bytes)]));
        LogFile {
            path,
            first,
            end: AtomicUsize::new(end),
            map: Mutex::default(),
            index,
        }
    }

    /// Where the first frame begins.
    pub(crate) fn header_bytes(&self) -> usize {
        self.index.lock().0[0].1
    }

    pub(crate) fn end(&self) -> usize {
        self.end.load(Ordering::Acquire)
    }

    pub(crate) fn set_end(&self, end: usize) {
        self.end.store(end, Ordering::Release);
    }

    /// The file's bytes up to its present end or further. Shared by all readers, and renewed only
    /// when the file has grown.
    pub(crate) fn map(&self, disk: &dyn Disk) -> Result<Mapped, LogError> {
        let needed = self.end();
        let mut cached = self.map.lock();
        if let Some(map) = cached.as_ref().filter(|map| map.len() >= needed) {
            return Ok(map.clone());
        }
        let map = disk
            .map(&self.path)
            .map_err(LogError::io("map", &self.path))?;
        if map.len() < needed {
            return Err(LogError::corrupt(
                &self.path,
                map.len(),
                "file has become shorter",
            ));
        }
        *cached = Some(map.clone());
        Ok(map)
    }

    /// Adds a place to the index, if the last one is far enough away.
    pub(crate) fn note(&self, glsn: Glsn, offset: usize) {
        self.index.lock().note(glsn, offset);
    }

    /// The offset of an entry that lies in this file below its end.
    pub(crate) fn locate(&self, map: &[u8], target: Glsn) -> Result<usize, LogError> {
        let mut index = self.index.lock();
        let (mut glsn, mut offset) = index.at_or_before(target);
        let end = self.end();
        while offset < end {
            match self.frame(map, offset, glsn)? {
                Frame::Entry { .. } if glsn == target => return Ok(offset),
                frame @ Frame::Entry { .. } => {
                    offset += frame.bytes();
                    glsn = glsn.next();
                    index.note(glsn, offset);
                }
                frame @ Frame::Mark { .. } => offset += frame.bytes(),
            }
        }
        Err(LogError::corrupt(
            &self.path,
            end,
            "file ends before an entry it should hold",
        ))
    }

    /// The frame at an offset, which must be the one for `expected`.
    #[inline]
    pub(crate) fn frame<'a>(
        &self,
        map: &'a [u8],
        offset: usize,
        expected: Glsn,
    ) -> Result<Frame<'a>, LogError> {
        match frame::decode(map.get(offset..).unwrap_or_default()) {
            Ok(frame) if frame.glsn() == expected => Ok(frame),
            Ok(_) => Err(LogError::corrupt(
                &self.path,
                offset,
                "entry is out of sequence",
            )),
            Err(reason) => Err(LogError::corrupt(&self.path, offset, reason)),
        }
    }
}

impl SparseIndex {
    fn note(&mut self, glsn: Glsn, offset: usize) {
        let far = self
            .0
            .last()
            .is_none_or(|(_, last)| offset >= last.saturating_add(INDEX_BYTES));
        if far {
            self.0.push((glsn, offset));
        }
    }

    fn at_or_before(&self, target: Glsn) -> (Glsn, usize) {
        let after = self.0.partition_point(|(glsn, _)| *glsn <= target);
        self.0[after.saturating_sub(1)]
    }
}

/// Which of a log's files holds an entry: the last that begins at or before it.
pub(crate) fn holding(files: &[std::sync::Arc<LogFile>], glsn: Glsn) -> Option<usize> {
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
        let at = |glsn| index.at_or_before(Glsn::new(glsn)).0.get();
        assert_eq!(
            [at(10), at(19), at(20), at(29), at(30), at(99)],
            [10, 10, 20, 20, 30, 30]
        );
    }
}
