//! Reading entries, one or many, straight out of mapped files.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use clew_platform::{Disk, Mapped};

use crate::error::LogError;
use crate::file::{self, LogFile};
use crate::frame::{Frame, HEADER_BYTES, Place};
use crate::position::{Glsn, Llsn, StreamId};

/// An entry with its own copy of the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its place in the log.
    pub glsn: Glsn,
    /// Its place in its stream.
    pub llsn: Llsn,
    /// Its stream.
    pub stream: StreamId,
    /// What was appended.
    pub payload: Bytes,
}

/// An entry whose payload still lies in the log file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryRef<'a> {
    /// Its place in the log.
    pub glsn: Glsn,
    /// Its place in its stream.
    pub llsn: Llsn,
    /// Its stream.
    pub stream: StreamId,
    /// What was appended.
    pub payload: &'a [u8],
}

impl EntryRef<'_> {
    /// The entry with its own copy of the payload.
    pub fn to_entry(&self) -> Entry {
        let payload = Bytes::copy_from_slice(self.payload);
        Entry {
            glsn: self.glsn,
            llsn: self.llsn,
            stream: self.stream,
            payload,
        }
    }
}

/// Reads entries in order up to the end the log had when the scan began.
///
/// Allocates nothing per entry; every checksum is checked. Trimming may overtake a scan, which
/// then ends with [`LogError::Trimmed`]. After an error it gives nothing more.
#[derive(Debug)]
pub struct Scan {
    disk: Arc<dyn Disk>,
    files: std::vec::IntoIter<Arc<LogFile>>,
    /// The file being read; `None` only when there is nothing to read.
    open: Option<OpenFile>,
    next: Glsn,
    end: Glsn,
}

#[derive(Debug)]
struct OpenFile {
    file: Arc<LogFile>,
    map: Mapped,
    offset: usize,
    end: usize,
}

impl Scan {
    /// A scan of `from..=end`, all of which the files hold.
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        mut files: Vec<Arc<LogFile>>,
        from: Glsn,
        end: Glsn,
    ) -> Result<Self, LogError> {
        let index = file::holding(&files, from).ok_or_else(|| trimmed(&files, Glsn::FIRST))?;
        files.drain(..index);
        let mut files = files.into_iter();
        let open = match files.next() {
            Some(file) if from <= end => Some(OpenFile::at(file, &*disk, from, files.as_slice())?),
            _ => None,
        };
        Ok(Scan {
            disk,
            files,
            open,
            next: from,
            end,
        })
    }

    /// The position of the last entry this scan will give.
    pub fn end(&self) -> Glsn {
        self.end
    }

    /// The next entry, or `None` at the end.
    #[allow(
        clippy::should_implement_trait,
        reason = "an iterator cannot lend its items"
    )]
    pub fn next(&mut self) -> Option<Result<EntryRef<'_>, LogError>> {
        if self.next > self.end {
            return None;
        }
        let (place, start, bytes) = match self.advance() {
            Ok(found) => found,
            Err(error) => {
                self.end = Glsn::ZERO;
                return Some(Err(error));
            }
        };
        let payload = self.open.as_ref()?.map.get(start..start + bytes)?;
        Some(Ok(EntryRef {
            glsn: place.glsn,
            llsn: place.llsn,
            stream: place.stream,
            payload,
        }))
    }

    /// Steps over one entry; gives where its payload begins and how long it is.
    fn advance(&mut self) -> Result<(Place, usize, usize), LogError> {
        loop {
            let Some(open) = self.open.as_mut().filter(|open| open.offset < open.end) else {
                self.open_next()?;
                continue;
            };
            let frame = open.file.frame(&open.map, open.offset, self.next)?;
            let start = open.offset + HEADER_BYTES;
            open.offset += frame.bytes();
            if let Frame::Entry { place, payload } = frame {
                self.next = self.next.next();
                return Ok((place, start, payload.len()));
            }
        }
    }

    fn open_next(&mut self) -> Result<(), LogError> {
        let done = self.open.take();
        let Some(file) = self.files.next() else {
            let (path, end) = done
                .map(|open| (open.file.path.clone(), open.end))
                .unwrap_or_default();
            return Err(LogError::corrupt(
                &path,
                end,
                "file ends before an entry it should hold",
            ));
        };
        self.open = Some(OpenFile::at(
            file,
            &*self.disk,
            self.next,
            self.files.as_slice(),
        )?);
        Ok(())
    }
}

impl OpenFile {
    /// Opens a file where an entry lies. `later` are the files after it.
    fn at(
        file: Arc<LogFile>,
        disk: &dyn Disk,
        glsn: Glsn,
        later: &[Arc<LogFile>],
    ) -> Result<Self, LogError> {
        let map = file.map(disk).map_err(|error| match error {
            LogError::Io { ref source, .. } if source.kind() == io::ErrorKind::NotFound => {
                trimmed(later, file.first.next())
            }
            other => other,
        })?;
        let offset = file.locate(&map, glsn)?;
        let end = file.end();
        Ok(OpenFile {
            offset,
            end: end.min(map.len()),
            map,
            file,
        })
    }
}

/// Reads one entry that the files should hold.
pub(crate) fn read_one(
    disk: &dyn Disk,
    files: &[Arc<LogFile>],
    glsn: Glsn,
) -> Result<Entry, LogError> {
    let index = file::holding(files, glsn).ok_or_else(|| trimmed(files, Glsn::FIRST))?;
    let OpenFile {
        file, map, offset, ..
    } = OpenFile::at(files[index].clone(), disk, glsn, &files[index + 1..])?;
    match file.frame(&map, offset, glsn)? {
        Frame::Entry {
            place: Place { stream, llsn, .. },
            payload,
        } => Ok(EntryRef {
            glsn,
            llsn,
            stream,
            payload,
        }
        .to_entry()),
        Frame::Mark { .. } => Err(LogError::corrupt(&file.path, offset, "a mark is no entry")),
    }
}

fn trimmed(files: &[Arc<LogFile>], otherwise: Glsn) -> LogError {
    LogError::Trimmed {
        first: files.first().map_or(otherwise, |file| file.first),
    }
}
