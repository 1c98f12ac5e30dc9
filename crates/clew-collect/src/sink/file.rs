//! The sink that writes documents as lines of a file, closed and renamed when it is large.
//!
//! A batch counts as taken once it is in the file, and on the disk where [`FileSinkOptions::sync`] says so. What was written
//! of a batch when the collector was killed is cut off at the next start, as far as it is no whole line; whole lines of it
//! are written again, so that a crash may repeat a batch in the file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clew_platform::{Disk, DiskFile};

use super::compression::Compression;
use super::{Delivery, Sink, SinkError};
use crate::event::Event;

/// What is written at once.
const PIECE_BYTES: usize = 64 << 10;

/// How a [`FileSink`] writes.
#[derive(Clone, Debug)]
pub struct FileSinkOptions {
    /// The file.
    pub path: PathBuf,
    /// Size above which the file is renamed `PATH.1` and a new one begun. A larger batch goes into one file alone.
    pub rotate_bytes: u64,
    /// Renamed files that are kept.
    pub files_kept: usize,
    /// How renamed files are compressed, which the collector waits for.
    pub compression: Compression,
    /// Whether a batch is on the disk before it counts as taken.
    pub sync: bool,
}

/// Writes documents as lines of a file.
#[derive(Debug)]
pub struct FileSink {
    disk: Arc<dyn Disk>,
    options: FileSinkOptions,
    open: Option<Open>,
    lines: Vec<u8>,
}

#[derive(Debug)]
struct Open {
    file: Box<dyn DiskFile>,
    bytes: u64,
}

impl Open {
    fn append(&mut self, lines: &mut Vec<u8>) -> io::Result<()> {
        self.file.write_all_at(lines, self.bytes)?;
        self.bytes += lines.len() as u64;
        lines.clear();
        Ok(())
    }
}

impl FileSink {
    /// A sink that opens its file at the first batch.
    pub fn new(disk: Arc<dyn Disk>, options: FileSinkOptions) -> Self {
        FileSink {
            disk,
            options,
            open: None,
            lines: Vec::new(),
        }
    }

    /// Finds out whether the file can be written, and leaves none behind that was not there.
    ///
    /// # Errors
    /// [`SinkError::Unusable`] with the file and the reason.
    pub fn check(&self) -> Result<(), SinkError> {
        let path = &self.options.path;
        let checked = match self.disk.exists(path) {
            true => self.disk.open(path).map(drop),
            false => self
                .opened()
                .map(drop)
                .and_then(|()| self.disk.remove_file(path)),
        };
        checked.map_err(|error| self.cannot_write(&error))
    }

    fn cannot_write(&self, error: &io::Error) -> SinkError {
        SinkError::Unusable {
            reason: format!("cannot write {}: {error}", self.options.path.display()),
        }
    }

    fn write(&mut self, batch: &[Event]) -> io::Result<()> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.opened()?,
        };
        let bytes = batch.iter().map(|event| event.document.len() as u64 + 1);
        let more: u64 = bytes.sum();
        if open.bytes > 0 && open.bytes + more > self.options.rotate_bytes {
            open.file.sync_data()?;
            drop(open);
            self.rotate()?;
            open = self.opened()?;
        }
        // In pieces, so that what is written is still in the processor's cache.
        for event in batch {
            push_line(&mut self.lines, event);
            if self.lines.len() >= PIECE_BYTES {
                open.append(&mut self.lines)?;
            }
        }
        open.append(&mut self.lines)?;
        if self.options.sync {
            open.file.sync_data()?;
        }
        self.open = Some(open);
        Ok(())
    }

    fn opened(&self) -> io::Result<Open> {
        let path = &self.options.path;
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        if !self.disk.exists(path) {
            self.disk.create_dir_all_durable(folder)?;
            let file = self.disk.create_new(path)?;
            self.disk.sync_dir(folder)?;
            return Ok(Open { file, bytes: 0 });
        }
        // It may be one whose name could not be made durable.
        self.disk.sync_dir(folder)?;
        let mut file = self.disk.open(path)?;
        let bytes = whole_lines(file.as_ref())?;
        if bytes < file.len()? {
            file.set_len(bytes)?;
        }
        Ok(Open { file, bytes })
    }

    /// Renames the file, and those before it one further; the oldest beyond what is kept goes.
    fn rotate(&self) -> io::Result<()> {
        let path = &self.options.path;
        let kept = self.options.files_kept;
        for number in (1..=kept.max(1)).rev() {
            for suffix in ["", ".gz", ".zst"] {
                let old = numbered(path, number, suffix);
                if !self.disk.exists(&old) {
                    continue;
                }
                if number >= kept {
                    self.disk.remove_file(&old)?;
                } else {
                    self.disk
                        .rename(&old, &numbered(path, number + 1, suffix))?;
                }
            }
        }
        if kept == 0 {
            return self.disk.remove_file(path);
        }
        let first = numbered(path, 1, "");
        self.disk.rename(path, &first)?;
        self.compress(&first)
    }

    fn compress(&self, path: &Path) -> io::Result<()> {
        let suffix = match self.options.compression {
            Compression::None => return Ok(()),
            Compression::Gzip => ".gz",
            Compression::Zstd => ".zst",
        };
        let bytes = self.disk.read(path)?;
        let compressed = match self.options.compression {
            Compression::Zstd => zstd::bulk::compress(&bytes, zstd::DEFAULT_COMPRESSION_LEVEL)?,
            _ => {
                let level = flate2::Compression::default();
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
                encoder.write_all(&bytes)?;
                encoder.finish()?
            }
        };
        self.disk
            .write_atomic(&numbered(&self.options.path, 1, suffix), &compressed)?;
        self.disk.remove_file(path)
    }
}

impl Sink for FileSink {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        // What is left of a batch that could not be written.
        self.lines.clear();
        self.write(batch)
            .map_err(|error| self.cannot_write(&error))?;
        Ok(taken(batch))
    }

    fn reads_ids(&self) -> bool {
        false
    }
}

/// A document and a line end.
pub(super) fn push_line(out: &mut Vec<u8>, event: &Event) {
    out.extend_from_slice(&event.document);
    out.push(b'\n');
}

/// A batch of which everything was taken.
pub(super) fn taken(batch: &[Event]) -> Delivery {
    Delivery {
        acked: batch.len() as u64,
        ..Delivery::default()
    }
}

fn numbered(path: &Path, number: usize, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(format!(".{number}{suffix}"));
    name.into()
}

/// How many bytes of a file are whole lines.
fn whole_lines(file: &dyn DiskFile) -> io::Result<u64> {
    let mut end = file.len()?;
    let mut block = vec![0; 64 << 10];
    while end > 0 {
        let start = end.saturating_sub(block.len() as u64);
        let part = &mut block[..usize::try_from(end - start).expect("at most a block")];
        file.read_exact_at(part, start)?;
        if let Some(at) = memchr::memrchr(b'\n', part) {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests;
