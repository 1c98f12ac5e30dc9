//! A log as readers find it at one moment: its files, what of them is shown, and where it ends. What is read of it is begun in
//! `scan`.

use std::collections::VecDeque;
use std::sync::Arc;

use clew_platform::{Disk, Mapped};
use parking_lot::Mutex;

use crate::error::LogError;
use crate::file::LogFile;
use crate::header;
use crate::position::{Glsn, Llsn, StreamId};
use crate::registry::Hidden;

/// Files whose postings are kept: each takes up to 8 bytes a frame.
const INDEXED_FILES_MAX: usize = 8;

/// What all scans of a moment share. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) disk: Arc<dyn Disk>,
    /// Oldest first; never empty.
    pub(crate) files: Arc<Vec<Arc<LogFile>>>,
    pub(crate) hidden: Arc<Hidden>,
    pub(crate) indexed: Arc<IndexedFiles>,
    /// The lowest entry retained; one after `last` when there is none.
    pub(crate) first: Glsn,
    pub(crate) last: Glsn,
}

/// The files that have postings, the latest used last.
#[derive(Debug, Default)]
pub(crate) struct IndexedFiles(Mutex<VecDeque<Arc<LogFile>>>);

impl View {
    /// The first file from an index on that holds entries of streams without a name, by the
    /// counters of it and of the file after it; or the last file.
    pub(crate) fn first_with_unnamed(&self, mut index: usize) -> Result<usize, LogError> {
        while let Some(after) = self.files.get(index + 1) {
            let before = self.files[index].map(&self.disk)?;
            let behind = after.map(&self.disk)?;
            let mut unnamed = header::counters(&behind).filter(|(stream, _)| !stream.is_named());
            if unnamed.any(|(stream, next)| header::counter(&before, stream) != next) {
                break;
            }
            index += 1;
        }
        Ok(index)
    }

    /// From which entry on a stream is shown.
    pub(crate) fn visible_from(&self, stream: StreamId) -> Llsn {
        match self.hidden.is_empty() {
            true => Llsn::ZERO,
            false => self.hidden.get(&stream).copied().unwrap_or(Llsn::ZERO),
        }
    }

    /// Makes sure that a file's postings reach to the end of its map.
    pub(crate) fn index_by_stream(
        &self,
        file: &Arc<LogFile>,
        map: &Mapped,
    ) -> Result<(), LogError> {
        let mut postings = file.postings.lock();
        let new = postings.is_empty();
        postings.extend(file, map)?;
        drop(postings);
        if new {
            self.indexed.add(file);
        }
        Ok(())
    }

    pub(crate) fn trimmed(&self) -> LogError {
        LogError::Trimmed { first: self.first }
    }
}

impl IndexedFiles {
    fn add(&self, file: &Arc<LogFile>) {
        let mut files = self.0.lock();
        files.retain(|other| !Arc::ptr_eq(other, file));
        files.push_back(file.clone());
        if files.len() > INDEXED_FILES_MAX
            && let Some(oldest) = files.pop_front()
        {
            oldest.postings.lock().clear(&oldest);
        }
    }
}
