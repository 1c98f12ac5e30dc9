//! Looking at a log's files as they are: every frame, and whether every byte is right.
//!
//! Works on a folder that nobody, or another process, has open, and changes nothing.

use std::fmt;
use std::path::{Path, PathBuf};

use clew_platform::Disk;

use crate::error::LogError;
use crate::frame::{self, Frame};
use crate::header::{self, Header};
use crate::options::{Compression, Producer};
use crate::position::{Glsn, Llsn, StreamId};
use crate::registry::Change;
use crate::tail::{self, Stop};

/// A frame in its file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FrameInfo<'a> {
    /// The file.
    pub path: &'a Path,
    /// Where in it the frame begins.
    pub offset: usize,
    /// Its length.
    pub bytes: usize,
    /// What it holds.
    pub kind: FrameKind,
}

/// What a frame holds.
#[derive(Clone, Debug)]
pub enum FrameKind {
    /// Entries of one stream.
    Entries {
        /// The stream.
        stream: StreamId,
        /// The first entry's place in the log.
        glsn: Glsn,
        /// The first entry's place in the stream.
        llsn: Llsn,
        /// How many there are.
        count: u32,
        /// When they were ordered.
        time_ms: u64,
        /// Whether the call ends here.
        ends_call: bool,
        /// Who appended them, if they said so.
        producer: Option<Producer>,
        /// How they are stored.
        compression: Compression,
    },
    /// What was durable when it was written: all below this offset.
    Mark {
        /// The offset.
        synced: u64,
    },
    /// A change of a stream, in words.
    Control(String),
}

impl fmt::Display for FrameInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>10} {:>8}  ", self.offset, self.bytes)?;
        match &self.kind {
            FrameKind::Mark { synced } => write!(f, "mark     synced below {synced}"),
            FrameKind::Control(words) => write!(f, "control  {words}"),
            FrameKind::Entries {
                stream,
                glsn,
                llsn,
                count,
                time_ms,
                ends_call,
                producer,
                compression,
            } => {
                write!(
                    f,
                    "entries  glsn {glsn} stream {stream} llsn {llsn} count {count} time_ms {time_ms}"
                )?;
                if let Some(Producer { id, sequence }) = producer {
                    write!(f, " producer {id}:{sequence}")?;
                }
                if *compression != Compression::None {
                    write!(f, " {compression}")?;
                }
                if *ends_call {
                    Ok(())
                } else {
                    write!(f, " call goes on")
                }
            }
        }
    }
}

/// What [`verify`] found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct VerifyReport {
    /// Log files.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Entries that were found right.
    pub entries: u64,
    /// The first entry; 0 when there is none.
    pub first: Glsn,
    /// The last entry that was found right.
    pub last: Glsn,
    /// Bytes at the end that a crash left unfinished; the next opening for writing cuts them.
    pub torn_bytes: u64,
    /// What is damaged, the first place of each file.
    pub damage: Vec<LogError>,
}

/// Reads every byte of a log and checks it: checksums, positions, the chain of the files, and
/// that compressed blocks can be restored. `progress` is told the bytes done so far.
///
/// # Errors
/// When the folder or a file cannot be read; damage is part of the report.
pub fn verify(
    disk: &dyn Disk,
    dir: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<VerifyReport, LogError> {
    let mut report = VerifyReport::default();
    let files = log_files(disk, dir)?;
    let mut previous: Option<(Glsn, u64)> = None;
    let mut due = None;
    for (index, (first, path)) in files.iter().enumerate() {
        let map = disk.map(path).map_err(LogError::io("map", path))?;
        report.files += 1;
        if index == 0 {
            report.first = *first;
        }
        let is_last = index + 1 == files.len();
        let end = end_of(disk, &files[index..], &map);
        let mut check = FileCheck {
            path,
            bytes: &map[..end],
            is_last,
            report: &mut report,
        };
        let next = check.run(*first, previous, due);
        if let Err(error) = next {
            report.damage.push(error);
            due = None;
        } else {
            due = next.ok();
        }
        previous = Some((*first, end as u64));
        report.bytes += map.len() as u64;
        progress(report.bytes);
    }
    Ok(report)
}

/// Tells every frame of a log, until one is damaged or `each` answers false.
///
/// # Errors
/// When a file cannot be read or is damaged.
pub fn dump(
    disk: &dyn Disk,
    dir: &Path,
    each: &mut dyn FnMut(&FrameInfo<'_>) -> bool,
) -> Result<(), LogError> {
    let files = log_files(disk, dir)?;
    for (index, (_, path)) in files.iter().enumerate() {
        let map = disk.map(path).map_err(LogError::io("map", path))?;
        let (_, mut offset) = Header::decode(&map, path)?;
        let end = end_of(disk, &files[index..], &map);
        while offset < end {
            let (frame, bytes) = frame::decode(&map[offset..end])
                .map_err(|reason| LogError::corrupt(path, offset, reason))?;
            let info = FrameInfo {
                path,
                offset,
                bytes,
                kind: FrameKind::of(&frame),
            };
            if !each(&info) {
                return Ok(());
            }
            offset += bytes;
        }
    }
    Ok(())
}

fn log_files(disk: &dyn Disk, dir: &Path) -> Result<Vec<(Glsn, PathBuf)>, LogError> {
    let names = disk.list(dir).map_err(LogError::io("list", dir))?;
    let named = |path: PathBuf| header::first_of_name(&path).map(|first| (first, path));
    let mut files: Vec<_> = names.into_iter().filter_map(named).collect();
    files.sort();
    if files.is_empty() {
        let source = std::io::ErrorKind::NotFound.into();
        return Err(LogError::Io {
            action: "find a log in",
            path: dir.to_owned(),
            source,
        });
    }
    Ok(files)
}

/// Where the first of some files ends: its successor says so when the disk failed while it was written.
fn end_of(disk: &dyn Disk, files: &[(Glsn, PathBuf)], bytes: &[u8]) -> usize {
    let told = || {
        let [(first, _), (_, after), ..] = files else {
            return None;
        };
        let (header, _) = Header::decode(&disk.map(after).ok()?, after).ok()?;
        let link = header.previous.filter(|link| link.first == *first)?;
        usize::try_from(link.bytes).ok()
    };
    told().map_or(bytes.len(), |end| end.min(bytes.len()))
}

/// One file under examination.
struct FileCheck<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    is_last: bool,
    report: &'a mut VerifyReport,
}

impl FileCheck<'_> {
    /// Checks the file; gives the position due after it. `previous` is the file before, with its
    /// length, and `due` the position this file has to begin with, if that is known.
    fn run(
        &mut self,
        first: Glsn,
        previous: Option<(Glsn, u64)>,
        due: Option<Glsn>,
    ) -> Result<Glsn, LogError> {
        let (header, header_bytes) = Header::decode(self.bytes, self.path)?;
        if header.first != first {
            return Err(self.damaged(0, "file name and header name different entries"));
        }
        let link = header.previous.map(|link| (link.first, link.bytes));
        if previous.is_some() && link != previous {
            return Err(self.damaged(
                0,
                "the file before this one is not the one its header names",
            ));
        }
        if due.is_some_and(|due| due != first) {
            return Err(self.damaged(0, "entries before this file are missing"));
        }
        let mut registry = header.state.registry;
        let (mut offset, mut next, mut plain) = (header_bytes, first, Vec::new());
        let mut whole = (offset, next);
        while offset < self.bytes.len() {
            let (frame, bytes) = match frame::decode(&self.bytes[offset..]) {
                Ok((frame, bytes)) if frame.glsn() == next => (frame, bytes),
                Ok(_) => return self.stop(offset, whole, "entry is out of sequence"),
                Err(reason) => return self.stop(offset, whole, reason),
            };
            next = frame.next();
            let mut ends_call = true;
            match frame {
                Frame::Entries(head, block) => {
                    if head.place.llsn != registry.next(head.place.stream) {
                        return Err(
                            self.damaged(offset, "position in the stream is out of sequence")
                        );
                    }
                    registry.set_next(head.place.stream, head.place.next_llsn());
                    crate::block::check(head, block, &mut plain)
                        .map_err(|reason| self.damaged(offset, reason))?;
                    ends_call = head.ends_call;
                    self.report.entries += u64::from(head.place.count);
                    self.report.last = head.place.last();
                }
                Frame::Control { record, .. } => match Change::decode(record) {
                    Some(change) => registry.apply(change),
                    None => return Err(self.damaged(offset, "control record is unknown")),
                },
                Frame::Mark { .. } => {}
            }
            offset += bytes;
            if ends_call {
                whole = (offset, next);
            }
        }
        match whole.0 == offset {
            true => Ok(next),
            false => self.stop(offset, whole, "the last call is cut off"),
        }
    }

    /// Judges a bad frame: the end of the last file may be torn.
    fn stop(
        &mut self,
        offset: usize,
        whole: (usize, Glsn),
        reason: &'static str,
    ) -> Result<Glsn, LogError> {
        if self.is_last && matches!(tail::stop(self.bytes, offset, reason), Stop::Torn) {
            self.report.torn_bytes = (self.bytes.len() - whole.0) as u64;
            return Ok(whole.1);
        }
        Err(self.damaged(offset, reason))
    }

    fn damaged(&self, offset: usize, reason: &'static str) -> LogError {
        LogError::corrupt(self.path, offset, reason)
    }
}

impl FrameKind {
    fn of(frame: &Frame<'_>) -> Self {
        match frame {
            Frame::Mark { synced, .. } => FrameKind::Mark { synced: *synced },
            Frame::Control { record, .. } => FrameKind::Control(match Change::decode(record) {
                Some(change) => change.to_string(),
                None => "unknown".to_owned(),
            }),
            Frame::Entries(head, _) => FrameKind::Entries {
                stream: head.place.stream,
                glsn: head.place.glsn,
                llsn: head.place.llsn,
                count: head.place.count,
                time_ms: head.place.time_ms,
                ends_call: head.ends_call,
                producer: head.producer,
                compression: head.compression,
            },
        }
    }
}
