//! A log's folder read from outside, while a server may be writing to it.
//!
//! Takes no lock and writes nothing. What a call to `append` has only partly written is not seen
//! until it is whole.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clew_platform::Disk;

use crate::error::LogError;
use crate::file::LogFile;
use crate::header;
use crate::position::{Glsn, Llsn, StreamId};
use crate::recover::{self, Found};
use crate::scan::{self, Entry, Scan};

/// How often a look at the folder is repeated when files were trimmed away under it.
const OPEN_ATTEMPTS: usize = 5;

/// A read-only view of a log, as of the last [`refresh`](Self::refresh).
///
/// The view may hold entries that were written but not synced.
#[derive(Debug)]
pub struct LogReader {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    found: Found,
}

impl LogReader {
    pub(crate) fn open(disk: Arc<dyn Disk>, dir: &Path) -> Result<Self, LogError> {
        let mut attempts = 1;
        let found = loop {
            match recover::find(&*disk, dir) {
                Err(LogError::Io {
                    action: "map",
                    source,
                    ..
                }) if source.kind() == std::io::ErrorKind::NotFound && attempts < OPEN_ATTEMPTS => {
                    attempts += 1;
                }
                other => break other?,
            }
        };
        let missing = || LogError::Io {
            action: "find a log in",
            path: dir.to_owned(),
            source: std::io::ErrorKind::NotFound.into(),
        };
        let found = found.ok_or_else(missing)?;
        Ok(LogReader {
            disk,
            dir: dir.to_owned(),
            found,
        })
    }

    /// Takes in what was appended since; gives the last entry.
    pub fn refresh(&mut self) -> Result<Glsn, LogError> {
        loop {
            // Looked for first: once it exists, the file before it does not grow any more.
            let next_path = header::file_path(&self.dir, self.found.tail.next);
            let finished =
                self.active().first < self.found.tail.next && self.disk.exists(&next_path);
            let active = self.active().clone();
            recover::extend(&*self.disk, &mut self.found.tail, &active)?;
            let next_path_now = header::file_path(&self.dir, self.found.tail.next);
            if next_path_now != next_path {
                continue;
            }
            if !finished {
                return Ok(self.last());
            }
            let first = self.found.tail.next;
            let (file, header) = recover::open_file(&*self.disk, &self.dir, first)?;
            recover::check_link(&active, &file, &header)?;
            file.set_end(file.header_bytes());
            self.found.tail.streams = header.streams;
            self.found.tail.vouched = first.previous();
            self.found.files.push(Arc::new(file));
        }
    }

    /// The lowest entry that was retained when this view was opened.
    pub fn first(&self) -> Glsn {
        self.found.files[0].first
    }

    /// The last entry of this view; `first` minus one when it is empty.
    pub fn last(&self) -> Glsn {
        self.found.tail.next.previous()
    }

    /// The bytes of this view's files.
    pub fn bytes(&self) -> u64 {
        self.found.files.iter().map(|file| file.end() as u64).sum()
    }

    /// The streams and the last position given in each.
    pub fn streams(&self) -> Vec<(StreamId, Llsn)> {
        let streams = self.found.tail.streams.iter();
        streams
            .map(|(stream, next)| (*stream, next.previous()))
            .collect()
    }

    /// Reads one entry.
    pub fn read(&self, glsn: Glsn) -> Result<Entry, LogError> {
        self.check(glsn, self.last())?;
        scan::read_one(&*self.disk, &self.found.files, glsn)
    }

    /// Reads all entries from `from` on; one past the last entry gives an empty scan.
    pub fn scan(&self, from: Glsn) -> Result<Scan, LogError> {
        self.check(from, self.last().next())?;
        Scan::new(
            self.disk.clone(),
            self.found.files.clone(),
            from,
            self.last(),
        )
    }

    fn check(&self, glsn: Glsn, highest: Glsn) -> Result<(), LogError> {
        if glsn < self.first() {
            return Err(LogError::Trimmed {
                first: self.first(),
            });
        }
        if glsn > highest {
            return Err(LogError::NotFound {
                glsn,
                last: self.last(),
            });
        }
        Ok(())
    }

    fn active(&self) -> &Arc<LogFile> {
        self.found
            .files
            .last()
            .expect("a log that was found has a file")
    }
}
