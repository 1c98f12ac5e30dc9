//! The file of the records: the checksum of the JSON on a line of its own, then the JSON, written as a whole or not at all.

use std::path::Path;

use clew_platform::Disk;
use serde::{Deserialize, Serialize};

use crate::error::AccessError;
use crate::record::Records;

/// The format that this build writes and reads.
const FORMAT: u32 = 1;
/// Largest file.
const BYTES_MAX: usize = 16 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    format: u32,
    records: Records,
}

#[derive(Serialize)]
struct Written<'r> {
    format: u32,
    records: &'r Records,
}

fn io_error(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> AccessError {
    let path = path.to_path_buf();
    move |source| AccessError::Io {
        action,
        path,
        source,
    }
}

/// Reads the records; `None` where there is no file.
///
/// # Errors
/// [`AccessError::Corrupt`] for anything that was not written so.
pub(crate) fn load(disk: &dyn Disk, path: &Path) -> Result<Option<Records>, AccessError> {
    if !disk.exists(path) {
        return Ok(None);
    }
    let corrupt = |reason: String| AccessError::Corrupt {
        path: path.to_path_buf(),
        reason,
    };
    let bytes = disk.len(path).map_err(io_error("read", path))?;
    if bytes > BYTES_MAX as u64 {
        return Err(corrupt(format!("{bytes} bytes are too many")));
    }
    let bytes = disk.read(path).map_err(io_error("read", path))?;
    let (sum, json) = bytes
        .split_first_chunk::<9>()
        .ok_or_else(|| corrupt("it is too short".into()))?;
    if format!("{:08x}\n", crc32c::crc32c(json)).as_bytes() != sum {
        return Err(corrupt("its checksum does not match".into()));
    }
    let read: Read = serde_json::from_slice(json).map_err(|error| corrupt(error.to_string()))?;
    if read.format != FORMAT {
        return Err(corrupt(format!("its format {} is not known", read.format)));
    }
    read.records.check().map_err(corrupt)?;
    Ok(Some(read.records))
}

/// Writes the records; durable when it returns.
///
/// # Errors
/// [`AccessError::TooMany`] when they are too large for a file; nothing is written then. [`AccessError::Io`] when the disk
/// refuses: the file may have them all the same, where the disk has failed to make its name durable.
pub(crate) fn save(disk: &dyn Disk, path: &Path, records: &Records) -> Result<(), AccessError> {
    let format = FORMAT;
    let json = serde_json::to_vec(&Written { format, records });
    let json = json.expect("records have only plain fields");
    let mut bytes = format!("{:08x}\n", crc32c::crc32c(&json)).into_bytes();
    bytes.extend_from_slice(&json);
    if bytes.len() > BYTES_MAX {
        return Err(AccessError::TooMany {
            what: "bytes of records",
            max: BYTES_MAX,
        });
    }
    disk.write_atomic(path, &bytes)
        .map_err(io_error("write", path))
}

/// Makes the file again what it was before a [`save`] that has failed: with these records, or not there.
///
/// # Errors
/// [`AccessError::Undecided`] when the disk refuses that, too.
pub(crate) fn take_back(
    disk: &dyn Disk,
    path: &Path,
    before: Option<&Records>,
) -> Result<(), AccessError> {
    if load(disk, path).is_ok_and(|now| now.as_ref() == before) {
        return Ok(());
    }
    let taken_back = match before {
        Some(records) => save(disk, path, records),
        None => remove(disk, path),
    };
    taken_back.map_err(|error| match error {
        AccessError::Io { path, source, .. } => AccessError::Undecided { path, source },
        other => other,
    })
}

/// Removes the file, durably.
fn remove(disk: &dyn Disk, path: &Path) -> Result<(), AccessError> {
    let removed = disk.remove_file(path);
    let folder = path.parent().unwrap_or(Path::new("."));
    removed
        .and_then(|()| disk.sync_dir(folder))
        .map_err(io_error("remove", path))
}
