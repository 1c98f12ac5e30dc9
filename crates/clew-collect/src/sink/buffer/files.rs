//! The buffer's files: blocks are appended to the last one, read from the first one, and a file goes when all of it was sent.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clew_platform::{Disk, DiskFile};

use super::block::{HEAD_BYTES, body_bytes, decode};
use crate::event::Event;

/// Bytes after which another file is begun.
const FILE_BYTES: u64 = 8 << 20;
const ENDING: &str = ".buffer";

/// The files, oldest first.
pub(super) struct BufferFiles {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    files: VecDeque<BufferFile>,
    /// The last file, if this process has begun it.
    open: Option<Box<dyn DiskFile>>,
    next_number: u64,
    /// The block that was read last, until it is passed: the number of its file, and its events.
    in_flight: Option<(u64, u64)>,
    /// Bytes that could not be read, since the folder was opened.
    damaged_bytes: u64,
    _lock: Box<dyn Any + Send + Sync>,
}

#[derive(Debug)]
struct BufferFile {
    number: u64,
    bytes: u64,
    /// Up to where it was sent.
    sent: u64,
    /// Events behind that, as far as they are known.
    events: u64,
}

/// An open file, the head of a block in it, and where that says that the block ends.
type Head = (Box<dyn DiskFile>, [u8; HEAD_BYTES], u64);

/// A block that was read, and where it ends.
#[derive(Debug)]
pub(super) struct Unread {
    number: u64,
    end: u64,
    events: u64,
}

impl fmt::Debug for BufferFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferFiles")
            .field("folder", &self.folder)
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

impl BufferFiles {
    pub(super) fn open(disk: Arc<dyn Disk>, folder: &Path) -> io::Result<Self> {
        disk.create_dir_all_durable(folder)?;
        let lock = disk.lock(&folder.join("lock"))?;
        let numbers = numbers(&*disk, folder)?;
        let mut files = VecDeque::new();
        for number in &numbers {
            files.push_back(BufferFile {
                number: *number,
                bytes: disk.len(&path_of(folder, *number))?,
                sent: 0,
                events: 0,
            });
        }
        Ok(BufferFiles {
            disk,
            folder: folder.to_owned(),
            files,
            open: None,
            next_number: numbers.last().map_or(1, |last| last + 1),
            in_flight: None,
            damaged_bytes: 0,
            _lock: lock,
        })
    }

    /// Bytes on disk.
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Bytes on disk that were not sent yet.
    pub(super) fn unread_bytes(&self) -> u64 {
        let left = |file: &BufferFile| file.bytes.saturating_sub(file.sent);
        self.files.iter().map(left).sum()
    }

    /// Bytes that were left out, since the folder was opened, as they were damaged or broken off.
    pub(super) fn damaged_bytes(&self) -> u64 {
        self.damaged_bytes
    }

    /// Whether something was not sent yet.
    pub(super) fn has_unread(&self) -> bool {
        self.files.iter().any(|file| file.sent < file.bytes)
    }

    /// Removes every file.
    pub(super) fn remove_all(&mut self) -> io::Result<()> {
        while !self.files.is_empty() {
            self.remove_first()?;
        }
        Ok(())
    }

    /// Adds a block and makes it durable.
    pub(super) fn append(&mut self, block: &[u8], events: u64) -> io::Result<()> {
        let full = self
            .files
            .back()
            .is_none_or(|file| file.bytes >= FILE_BYTES);
        if full || self.open.is_none() {
            self.begin_file()?;
        }
        let (Some(open), Some(file)) = (&mut self.open, self.files.back_mut()) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let written = open
            .write_all_at(block, file.bytes)
            .and_then(|()| open.sync_data());
        if written.is_err() {
            // What is behind the last whole block is not trusted again.
            self.open = None;
            if file.bytes == 0 {
                // Or a new file would stay for each attempt at a full disk; where it cannot go, it is skipped.
                let path = path_of(&self.folder, file.number);
                self.files.pop_back();
                let _ = self.disk.remove_file(&path);
            }
            return written;
        }
        file.bytes += block.len() as u64;
        file.events += events;
        Ok(())
    }

    /// Begins the next file. One that fails leaves the others as they were, and its number is not used again.
    fn begin_file(&mut self) -> io::Result<()> {
        let number = self.next_number;
        self.next_number += 1;
        let path = path_of(&self.folder, number);
        let file = self.disk.create_new(&path)?;
        if let Err(error) = self.disk.sync_dir(&self.folder) {
            // Where it cannot go, it is an empty one.
            let _ = self.disk.remove_file(&path);
            return Err(error);
        }
        self.open = Some(file);
        self.files.push_back(BufferFile {
            number,
            bytes: 0,
            sent: 0,
            events: 0,
        });
        Ok(())
    }

    /// The oldest block that was not sent yet. One that is damaged is left out, and with it the rest of its file where
    /// nothing tells where the next begins; that is said.
    pub(super) fn unread(&mut self) -> io::Result<Option<(Unread, Vec<Event>)>> {
        while let Some(file) = self.files.front() {
            if file.sent < file.bytes {
                let place = self.place(file);
                let (read, next) = match place.read_block(file.sent)? {
                    Some(read) => (Some(read), None),
                    None => (None, place.block_behind(file.sent)?),
                };
                if let Some((end, events)) = read {
                    let unread = Unread {
                        number: file.number,
                        end,
                        events: events.len() as u64,
                    };
                    self.in_flight = Some((unread.number, unread.events));
                    return Ok(Some((unread, events)));
                }
                if let Some(next) = next {
                    let (path, at_byte) = (path_of(&self.folder, file.number), file.sent);
                    let bytes = next - at_byte;
                    tracing::warn!(file = %path.display(), at_byte, bytes, "a block of the buffer is damaged, and its events are lost");
                    self.damaged_bytes += bytes;
                    if let Some(file) = self.files.front_mut() {
                        file.sent = next;
                    }
                    continue;
                }
                self.damaged_bytes += file.bytes - file.sent;
                let (file, at_byte) = (path_of(&self.folder, file.number), file.sent);
                tracing::warn!(file = %file.display(), at_byte, "the rest of a file of the buffer is broken off or damaged");
            } else if self.files.len() == 1 && self.open.is_some() {
                return Ok(None);
            }
            self.remove_first()?;
        }
        Ok(None)
    }

    fn place(&self, file: &BufferFile) -> Place<'_> {
        Place {
            disk: &*self.disk,
            path: path_of(&self.folder, file.number),
            bytes: file.bytes,
        }
    }

    /// A block was sent. One that made room meanwhile is no longer there.
    pub(super) fn pass(&mut self, unread: &Unread) -> io::Result<()> {
        self.in_flight = None;
        let Some(file) = self.files.front_mut() else {
            return Ok(());
        };
        if file.number != unread.number {
            return Ok(());
        }
        file.sent = unread.end;
        file.events = file.events.saturating_sub(unread.events);
        let (done, full) = (file.sent >= file.bytes, file.bytes >= FILE_BYTES);
        if done && (full || self.files.len() > 1) {
            self.remove_first()?;
        }
        Ok(())
    }

    /// Removes the oldest file; returns how many events in it were not sent, as far as they are known: those of an earlier
    /// process are not counted, and those that are on their way are not lost yet ([`BufferFiles::lost`]).
    pub(super) fn drop_oldest(&mut self) -> io::Result<u64> {
        let events = self.files.front().map_or(0, |file| {
            let is_here = |(number, _): &(u64, u64)| *number == file.number;
            let on_their_way = self
                .in_flight
                .filter(is_here)
                .map_or(0, |(_, events)| events);
            file.events.saturating_sub(on_their_way)
        });
        self.remove_first()?;
        Ok(events)
    }

    /// How many events are lost where a block was not sent: all of them if its file has made room meanwhile.
    pub(super) fn lost(&self, unread: &Unread) -> u64 {
        let is_there = self.files.iter().any(|file| file.number == unread.number);
        if is_there { 0 } else { unread.events }
    }

    fn remove_first(&mut self) -> io::Result<()> {
        if let Some(file) = self.files.pop_front() {
            if self.files.is_empty() {
                self.open = None;
            }
            self.disk.remove_file(&path_of(&self.folder, file.number))?;
        }
        Ok(())
    }
}

/// A file, as long as it is known to be.
struct Place<'a> {
    disk: &'a dyn Disk,
    path: PathBuf,
    bytes: u64,
}

impl Place<'_> {
    /// The events of the block at a place, and where it ends; `None` if there is no whole one.
    fn read_block(&self, at: u64) -> io::Result<Option<(u64, Vec<Event>)>> {
        let Some((source, head, end)) = self.read_head(at)? else {
            return Ok(None);
        };
        let body_at = at + HEAD_BYTES as u64;
        let mut body = vec![0; usize::try_from(end - body_at).unwrap_or_default()];
        source.read_exact_at(&mut body, body_at)?;
        Ok(decode(head, &body).map(|events| (end, events)))
    }

    /// Where the block behind the one at a place begins, if it is whole and the head of the one at the place tells.
    fn block_behind(&self, at: u64) -> io::Result<Option<u64>> {
        let Some((_, _, end)) = self.read_head(at)? else {
            return Ok(None);
        };
        Ok(self.read_block(end)?.map(|_| end))
    }

    /// The file, the head of the block at a place, and where the head says that the block ends; `None` if that is not in
    /// the file.
    fn read_head(&self, at: u64) -> io::Result<Option<Head>> {
        let left = self.bytes.saturating_sub(at);
        if left < HEAD_BYTES as u64 {
            return Ok(None);
        }
        let source = self.disk.open(&self.path)?;
        let mut head = [0; HEAD_BYTES];
        source.read_exact_at(&mut head, at)?;
        let bytes = body_bytes(head).map(|bytes| (bytes + HEAD_BYTES) as u64);
        let bytes = bytes.filter(|bytes| *bytes <= left);
        Ok(bytes.map(|bytes| (source, head, at + bytes)))
    }

    /// What is in the whole file.
    fn look(&self) -> io::Result<Waiting> {
        let mut found = Waiting {
            bytes: self.bytes,
            ..Waiting::default()
        };
        let mut at = 0;
        while at < self.bytes {
            let end = match self.read_block(at)? {
                Some((end, events)) => {
                    found.events += events.len() as u64;
                    end
                }
                None => {
                    let end = self.block_behind(at)?.unwrap_or(self.bytes);
                    found.damaged_bytes += end - at;
                    end
                }
            };
            at = end;
        }
        Ok(found)
    }
}

/// What lies in a buffer's folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Bytes on disk.
    pub bytes: u64,
    /// Events that can be read. Those that were sent and whose file is still there are among them.
    pub events: u64,
    /// Bytes that will be left out, as they are damaged or broken off.
    pub damaged_bytes: u64,
}

/// Looks at all that lies in a buffer's folder, without taking it: a collector may be using it. Reads every byte.
///
/// # Errors
/// What the disk says, but for files that go meanwhile. A folder that is not there is an error, too.
pub fn waiting(disk: &dyn Disk, folder: &Path) -> io::Result<Waiting> {
    let mut all = Waiting::default();
    for number in numbers(disk, folder)? {
        let path = path_of(folder, number);
        let found = disk.len(&path).and_then(|bytes| {
            let place = Place { disk, path, bytes };
            place.look()
        });
        match found {
            Ok(found) => {
                all.bytes += found.bytes;
                all.events += found.events;
                all.damaged_bytes += found.damaged_bytes;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}

/// The numbers of the files in a folder, in order.
fn numbers(disk: &dyn Disk, folder: &Path) -> io::Result<Vec<u64>> {
    let number = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?;
        name.strip_suffix(ENDING)?.parse::<u64>().ok()
    };
    let mut numbers: Vec<u64> = disk.list(folder)?.iter().filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

fn path_of(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:012}{ENDING}"))
}
