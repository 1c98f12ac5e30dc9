//! A log's folder read from outside, while a server may be writing to it.
//!
//! Takes no lock and writes nothing. What a call to `append` has only partly written is not seen
//! until it is whole.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clew_platform::Disk;

use crate::entry::Entry;
use crate::error::LogError;
use crate::file::LogFile;
use crate::header;
use crate::position::{Glsn, Llsn, StreamId};
use crate::recover::{self, FoundLog};
use crate::registry::StreamInfo;
use crate::scan::{Range, Scan, Selection};
use crate::view::{IndexedFiles, View};

/// Bytes at the end of what was read that are compared before more is: they have the checksum of the last entries.
const MARK_BYTES: usize = 64;
/// How often a look at the folder is repeated when files were trimmed away under it.
const OPEN_ATTEMPTS: usize = 5;

/// A read-only view of a log, as of the last [`refresh`](Self::refresh).
///
/// The view may hold entries that were written but not synced.
#[derive(Debug)]
pub struct LogReader {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    found: FoundLog,
    indexed: Arc<IndexedFiles>,
    /// The last bytes of this view.
    mark: Vec<u8>,
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
        let mut reader = LogReader {
            disk,
            dir: dir.to_owned(),
            found,
            indexed: Arc::default(),
            mark: Vec::new(),
        };
        reader.mark = reader.last_bytes()?.unwrap_or_default();
        Ok(reader)
    }

    /// Takes in what was appended since; gives the last entry.
    ///
    /// # Errors
    /// [`LogError::Lost`] when the log's disk has failed, and the log went on without entries of this view: open another.
    pub fn refresh(&mut self) -> Result<Glsn, LogError> {
        if self.last_bytes()?.as_ref() != Some(&self.mark) {
            return Err(LogError::Lost { glsn: self.last() });
        }
        let last = self.follow()?;
        self.mark = self.last_bytes()?.unwrap_or_default();
        Ok(last)
    }

    /// The bytes at the end of this view, as they are on disk now: a file that had nothing durable in it is begun anew
    /// under its name. `None` when they are not there any more.
    fn last_bytes(&self) -> Result<Option<Vec<u8>>, LogError> {
        let active = self.active();
        let map = self.disk.map(&active.path);
        let map = map.map_err(LogError::io("map", &active.path))?;
        let end = active.end();
        Ok(map
            .get(end.saturating_sub(MARK_BYTES)..end)
            .map(<[u8]>::to_vec))
    }

    fn follow(&mut self) -> Result<Glsn, LogError> {
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
                self.check_not_overtaken()?;
                return Ok(self.last());
            }
            let first = self.found.tail.next;
            let (file, header) = recover::open_file(&*self.disk, &self.dir, first)?;
            recover::check_link(&active, &file, &header)?;
            file.set_end(file.header_bytes);
            self.found.tail.state = header.state;
            self.found.tail.vouched = file.header_bytes as u64;
            self.found.files.push(Arc::new(file));
        }
    }

    /// Fails when the log went on, after its disk had failed, behind an entry before the last one of this view.
    fn check_not_overtaken(&self) -> Result<(), LogError> {
        let names = self.disk.list(&self.dir);
        let names = names.map_err(LogError::io("list", &self.dir))?;
        let behind = self.active().first.next()..self.found.tail.next;
        let mut firsts = names.iter().filter_map(|name| header::first_of_name(name));
        match firsts.find(|first| behind.contains(first)) {
            Some(glsn) => Err(LogError::Lost { glsn }),
            None => Ok(()),
        }
    }

    /// The lowest entry that was retained when this view was opened.
    pub fn first(&self) -> Glsn {
        self.found.files[0]
            .first
            .max(self.found.tail.state.registry.low())
    }

    /// The last entry of this view; `first` minus one when it is empty.
    pub fn last(&self) -> Glsn {
        self.found.tail.next.previous()
    }

    /// The bytes of this view's files.
    pub fn bytes(&self) -> u64 {
        self.found.files.iter().map(|file| file.end() as u64).sum()
    }

    /// All streams, by number.
    pub fn streams(&self) -> Vec<StreamInfo> {
        self.found.tail.state.registry.infos()
    }

    /// The stream of a name, or of a number in digits.
    ///
    /// # Errors
    /// [`LogError::UnknownStream`].
    pub fn stream(&self, name: &str) -> Result<StreamInfo, LogError> {
        let registry = &self.found.tail.state.registry;
        let info = registry.find(name).and_then(|id| registry.info(id));
        info.ok_or_else(|| LogError::UnknownStream {
            name: name.to_owned(),
        })
    }

    /// The stream of a number.
    ///
    /// # Errors
    /// [`LogError::UnknownStream`].
    pub fn stream_info(&self, id: StreamId) -> Result<StreamInfo, LogError> {
        let info = self.found.tail.state.registry.info(id);
        info.ok_or_else(|| LogError::UnknownStream {
            name: id.to_string(),
        })
    }

    /// Reads one entry.
    ///
    /// # Errors
    /// As [`Log::read`](crate::Log::read).
    pub fn read(&self, glsn: Glsn) -> Result<Entry, LogError> {
        self.view().read(glsn)
    }

    /// Reads one entry of a stream.
    ///
    /// # Errors
    /// As [`Log::read_at`](crate::Log::read_at).
    pub fn read_at(&self, stream: StreamId, llsn: Llsn) -> Result<Entry, LogError> {
        self.view().read_at(&self.stream_info(stream)?, llsn)
    }

    /// Reads all entries from `from` on; one past the last entry gives an empty scan.
    ///
    /// # Errors
    /// As [`Log::scan_with`](crate::Log::scan_with).
    pub fn scan(&self, from: Glsn) -> Result<Scan, LogError> {
        self.scan_with(&Selection::from(from))
    }

    /// Reads a selection of the entries.
    ///
    /// # Errors
    /// As [`Log::scan_with`](crate::Log::scan_with).
    pub fn scan_with(&self, selection: &Selection) -> Result<Scan, LogError> {
        match selection.range {
            Range::Glsn { .. } => self.view().scan(selection),
            Range::Llsn { stream, from, to } => {
                let stream = self.stream_info(stream)?;
                self.view().scan_stream(&stream, from, to, selection.order)
            }
        }
    }

    /// The first entry of the streams (of all, if none are named) that was ordered at a time or
    /// later.
    ///
    /// # Errors
    /// When a file that it looks into cannot be read, or is damaged.
    pub fn first_at_or_after(
        &self,
        time_ms: u64,
        streams: &[StreamId],
    ) -> Result<Option<Glsn>, LogError> {
        self.view().first_at_or_after(time_ms, streams)
    }

    fn view(&self) -> View {
        View {
            disk: self.disk.clone(),
            files: Arc::new(self.found.files.clone()),
            hidden: Arc::new(self.found.tail.state.registry.hidden()),
            indexed: self.indexed.clone(),
            first: self.first(),
            last: self.last(),
        }
    }

    fn active(&self) -> &Arc<LogFile> {
        self.found
            .files
            .last()
            .expect("a log that was found has a file")
    }
}
