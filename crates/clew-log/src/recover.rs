//! Opening a log's folder: the chain of files is checked by their headers, and only the last file
//! is read, since every file before it was synced as a whole when its successor was made.

use std::path::Path;
use std::sync::Arc;

use clew_platform::{Disk, DiskFile, bring_in, brought_in};

use crate::error::LogError;
use crate::file::LogFile;
use crate::header::{self, Header, Previous};
use crate::position::Glsn;
use crate::tail::{Stop, Tail};

/// What a header has, unless there are thousands of streams.
const HEADER_BYTES_USUAL: usize = 64 << 10;

/// A log as it lies on disk.
#[derive(Debug)]
pub(crate) struct FoundLog {
    /// The files, oldest first; never empty. The last ends where it can be trusted.
    pub(crate) files: Vec<Arc<LogFile>>,
    pub(crate) tail: Tail,
}

/// Reads a log's folder without changing anything; `None` when no log is there yet.
pub(crate) fn find(disk: &dyn Disk, dir: &Path) -> Result<Option<FoundLog>, LogError> {
    let names = disk.list(dir).map_err(LogError::io("list", dir))?;
    let mut firsts: Vec<Glsn> = names
        .iter()
        .filter_map(|name| header::first_of_name(name))
        .collect();
    firsts.sort_unstable();
    let mut files: Vec<Arc<LogFile>> = Vec::with_capacity(firsts.len());
    let mut tail = None;
    for first in firsts {
        let (file, header) = open_file(disk, dir, first)?;
        if let Some(previous) = files.last() {
            check_link(previous, &file, &header)?;
        }
        let vouched = file.header_bytes as u64;
        tail = Some(Tail {
            next: first,
            state: header.state,
            vouched,
        });
        files.push(Arc::new(file));
    }
    let Some((mut tail, last)) = tail.zip(files.last()) else {
        return Ok(None);
    };
    last.set_end(last.header_bytes);
    extend(disk, &mut tail, last)?;
    Ok(Some(FoundLog { files, tail }))
}

/// Moves a tail over what was appended to its file; a torn write is left for later.
pub(crate) fn extend(disk: &dyn Disk, tail: &mut Tail, file: &LogFile) -> Result<(), LogError> {
    // Not the file's own cached map: the file may be cut before it grows again.
    let map = disk
        .map(&file.path)
        .map_err(LogError::io("map", &file.path))?;
    // What follows is read now; what the disk cannot read has a name then.
    for piece in brought_in(map.get(file.end()..).unwrap_or_default()) {
        piece.map_err(LogError::io("read", &file.path))?;
    }
    match tail.extend(file, &map) {
        Ok(()) | Err(Stop::Torn) => Ok(()),
        Err(Stop::Damaged { offset, reason }) => Err(LogError::corrupt(&file.path, offset, reason)),
    }
}

/// Opens a file by its header alone.
pub(crate) fn open_file(
    disk: &dyn Disk,
    dir: &Path,
    first: Glsn,
) -> Result<(LogFile, Header), LogError> {
    let path = header::file_path(dir, first);
    let map = disk.map(&path).map_err(LogError::io("map", &path))?;
    bring_in(&map[..map.len().min(HEADER_BYTES_USUAL)]).map_err(LogError::io("read", &path))?;
    let (header, header_bytes) = Header::decode(&map, &path)?;
    if header.first != first {
        return Err(LogError::corrupt(
            &path,
            0,
            "file name and header name different entries",
        ));
    }
    Ok((LogFile::new(path, first, header_bytes, map.len()), header))
}

/// Checks that `file` was made as the successor of `previous`, and ends that where its successor says: what is behind
/// was being written when the disk failed, and was given up.
pub(crate) fn check_link(
    previous: &LogFile,
    file: &LogFile,
    header: &Header,
) -> Result<(), LogError> {
    let Some(link) = header.previous.filter(|link| link.first == previous.first) else {
        return Err(LogError::corrupt(
            &file.path,
            0,
            "the log file before this one is missing",
        ));
    };
    match usize::try_from(link.bytes) {
        Ok(bytes) if bytes <= previous.end() => {
            previous.set_end(bytes);
            Ok(())
        }
        _ => {
            let reason = "file is shorter than its successor recorded";
            Err(LogError::corrupt(&previous.path, previous.end(), reason))
        }
    }
}

/// Makes a new file with its header; when this returns, it is durable and holds no entries.
pub(crate) fn create_file(
    disk: &dyn Disk,
    dir: &Path,
    header: &Header,
) -> Result<(LogFile, Box<dyn DiskFile>), LogError> {
    let path = header::file_path(dir, header.first);
    let bytes = header.encode();
    disk.write_atomic(&path, &bytes)
        .map_err(LogError::io("create", &path))?;
    let handle = disk.open(&path).map_err(LogError::io("open", &path))?;
    Ok((
        LogFile::new(path, header.first, bytes.len(), bytes.len()),
        handle,
    ))
}

/// Makes what was found durable and cuts what follows it; gives the handle to append with.
pub(crate) fn adopt(disk: &dyn Disk, found: &FoundLog) -> Result<Box<dyn DiskFile>, LogError> {
    let last = found.files.last().expect("a log that was found has a file");
    let mut handle = disk
        .open(&last.path)
        .map_err(LogError::io("open", &last.path))?;
    let bytes = handle.len().map_err(LogError::io("measure", &last.path))?;
    let end = last.end() as u64;
    // What only the page cache holds, after a killed process, counts as durable from now on. It
    // is written again because a sync that failed earlier may have left it in the cache as if it
    // were on disk, and then no sync would write it.
    let map = disk
        .map(&last.path)
        .map_err(LogError::io("map", &last.path))?;
    let proven = found.tail.vouched;
    let from = usize::try_from(proven).unwrap_or(usize::MAX);
    let unproven = map.get(from..last.end()).unwrap_or_default().to_vec();
    drop(map);
    let again = handle.write_all_at(&unproven, proven);
    again.map_err(LogError::io("write", &last.path))?;
    if bytes > end {
        handle
            .set_len(end)
            .map_err(LogError::io("cut", &last.path))?;
    }
    handle
        .sync_data()
        .map_err(LogError::io("sync", &last.path))?;
    Ok(handle)
}

/// Opens a file again whose bytes up to a place are known to be durable, and nothing behind them: the file up to there,
/// and the state there.
pub(crate) fn reopen(
    disk: &dyn Disk,
    dir: &Path,
    first: Glsn,
    durable: usize,
) -> Result<(LogFile, Tail, Option<Previous>), LogError> {
    let (file, header) = open_file(disk, dir, first)?;
    let map = disk
        .map(&file.path)
        .map_err(LogError::io("map", &file.path))?;
    let mut tail = Tail {
        next: first,
        state: header.state,
        vouched: file.header_bytes as u64,
    };
    file.set_end(file.header_bytes);
    let short = || {
        LogError::corrupt(
            &file.path,
            file.end(),
            "bytes that were durable are missing",
        )
    };
    let durable = map.get(..durable).ok_or_else(short)?;
    match tail.extend(&file, durable) {
        Ok(()) => Ok((file, tail, header.previous)),
        Err(Stop::Torn) => Err(short()),
        Err(Stop::Damaged { offset, reason }) => Err(LogError::corrupt(&file.path, offset, reason)),
    }
}

/// What a new file's header says about the one before it.
pub(crate) fn link_to(previous: &LogFile) -> Previous {
    Previous {
        first: previous.first,
        bytes: previous.end() as u64,
    }
}
