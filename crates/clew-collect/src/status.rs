//! How far a registry says that its files were read, beside how long they are now. Looks only: a collector may be running.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clew_platform::{Clock, Disk};

use crate::error::CollectError;
use crate::file_system::stat;
use crate::parse::Fit;
use crate::registry::read_records;

/// One file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStatus {
    /// Where it was last seen.
    pub path: PathBuf,
    /// The parser, once one was chosen.
    pub parser: Option<String>,
    /// How well it fits, if it was chosen by the first lines.
    pub fit: Option<Fit>,
    /// Up to where it was read and delivered, in (decompressed) bytes.
    pub offset_bytes: u64,
    /// Bytes that are not delivered yet; nothing for a file that is compressed, or no longer there.
    pub lag_bytes: Option<u64>,
    /// How long ago the position last moved, if there is more to read: how far the file is behind.
    pub lag: Duration,
}

/// The files of a registry that are still followed, by path.
///
/// # Errors
/// As a run's, but a registry in use is read, as it was last saved.
pub fn status(
    disk: &dyn Disk,
    clock: &dyn Clock,
    registry: &Path,
) -> Result<Vec<FileStatus>, CollectError> {
    let now_ms = clock.epoch_ms();
    let records = read_records(disk, registry)?.into_iter();
    let mut files: Vec<FileStatus> = records
        .filter(|record| record.retired_ms.is_none())
        .map(|record| {
            let path = PathBuf::from(&record.path);
            let there = stat(record.place())
                .ok()
                .filter(|stat| stat.file == record.file);
            let offset_bytes = record.position.offset;
            // What is shorter than its position is compressed, or will be found to begin again.
            let lag_bytes = there.and_then(|stat| stat.size_bytes.checked_sub(offset_bytes));
            let behind = lag_bytes.is_some_and(|bytes| bytes > 0);
            let age_ms = now_ms.saturating_sub(record.updated_ms);
            FileStatus {
                path,
                parser: record.parser,
                fit: record.fit,
                offset_bytes,
                lag_bytes,
                lag: Duration::from_millis(if behind { age_ms } else { 0 }),
            }
        })
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}
