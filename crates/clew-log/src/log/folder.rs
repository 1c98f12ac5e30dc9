//! A log's folder: its lock, its first file, and what a crash left in it.

use std::any::Any;
use std::io;
use std::path::Path;
use std::sync::Arc;

use clew_platform::{Disk, DiskFile};

use crate::error::LogError;
use crate::header::{Header, LogState};
use crate::position::Glsn;
use crate::recover::{self, FoundLog};
use crate::tail::Tail;

/// Makes the first file of a log.
pub(super) fn begin(
    disk: &dyn Disk,
    dir: &Path,
) -> Result<(FoundLog, Box<dyn DiskFile>), LogError> {
    let header = Header {
        first: Glsn::FIRST,
        previous: None,
        state: LogState::default(),
    };
    let (file, handle) = recover::create_file(disk, dir, &header)?;
    let tail = Tail {
        next: header.first,
        state: header.state,
        vouched: file.header_bytes as u64,
    };
    let files = vec![Arc::new(file)];
    Ok((FoundLog { files, tail }, handle))
}

pub(super) fn take_lock(
    disk: &dyn Disk,
    path: &Path,
) -> Result<Box<dyn Any + Send + Sync>, LogError> {
    disk.lock(path).map_err(|source| match source.kind() {
        io::ErrorKind::WouldBlock => LogError::Locked {
            path: path.to_owned(),
        },
        _ => LogError::io("lock", path)(source),
    })
}

/// Removes what a crash left of files that were being made: no entry was ever in them.
pub(super) fn remove_unfinished(disk: &dyn Disk, dir: &Path) -> Result<(), LogError> {
    for path in disk.list(dir).map_err(LogError::io("list", dir))? {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if name.ends_with(".log.tmp") {
            disk.remove_file(&path)
                .map_err(LogError::io("remove", &path))?;
        }
    }
    Ok(())
}
