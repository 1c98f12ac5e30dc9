//! Whether a data folder still has everything that was put there. Log, catalog and shards know of each other; where one of
//! them is gone, the others tell, and the start is refused: what is missing must not pass for never having been. A
//! shard numbers its operations without gaps and the log counts them, so that a lost manifest, or a hole in the log, is found out.
//!
//! Deliberately absent: what is inside the files, which whoever reads them checks; and the removal of anything that Clew
//! has not made.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clew_log::{Glsn, Llsn, Log, LogError, StreamId, StreamInfo};
use clew_platform::Disk;

use crate::base::error::{EngineError, io_error};
use crate::base::names::is_uuid;
use crate::base::operation::CATALOG_STREAM;
use crate::catalog::record::Catalog;
use crate::index::handle::Index;
use crate::node::engine::Inner;
use crate::shard::{Shard, is_manifest, is_shard_file};

/// What an operator can do about a folder that lacks something.
const ADVICE: &str = "put the missing files back, or restore snapshots into an empty data folder";

/// The file that the catalog is saved in.
pub(crate) fn catalog_path(data: &Path) -> PathBuf {
    data.join("catalog.json")
}

/// The folder of the log.
pub(crate) fn log_dir(data: &Path) -> PathBuf {
    data.join("log")
}

/// The folder that has a folder for each index.
pub(crate) fn indices_dir(data: &Path) -> PathBuf {
    data.join("indices")
}

fn incomplete(data: &Path, reason: &str) -> EngineError {
    EngineError::Incomplete {
        data: data.to_path_buf(),
        reason: format!("{reason}; {ADVICE}"),
    }
}

fn list(disk: &dyn Disk, dir: &Path) -> Result<Vec<PathBuf>, EngineError> {
    if !disk.exists(dir) {
        return Ok(Vec::new());
    }
    disk.list(dir).map_err(io_error("list", dir))
}

fn name_of(path: &Path) -> &str {
    path.file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
}

/// Refuses a folder that has lost its log, before a new one is begun there. The log's first file is durable before
/// anything else is made.
pub(crate) fn check_log(disk: &dyn Disk, data: &Path) -> Result<(), EngineError> {
    let log = log_dir(data);
    let is_log = |path: &PathBuf| path.extension().is_some_and(|end| end == "log");
    if list(disk, &log)?.iter().any(is_log) {
        return Ok(());
    }
    let catalog = catalog_path(data);
    let indices = list(disk, &indices_dir(data))?;
    let index = indices.into_iter().find(|path| is_uuid(name_of(path)));
    let left = disk.exists(&catalog).then_some(catalog).or(index);
    let Some(left) = left else { return Ok(()) };
    let (log, left) = (log.display(), left.display());
    let reason = format!("there is no log file in {log}, although there is {left}");
    Err(incomplete(data, &reason))
}

/// Reads the saved catalog; `None` where none was saved yet, and the log still has all that would be in it.
pub(crate) fn load_catalog(
    disk: &dyn Disk,
    data: &Path,
    log: &Log,
) -> Result<Option<Catalog>, EngineError> {
    let path = catalog_path(data);
    let catalog = Catalog::load(disk, &path)?;
    // The log is trimmed only behind what a saved catalog covers.
    if catalog.is_none() && !has_all(log, StreamId::new(CATALOG_STREAM))? {
        let path = path.display();
        let reason = format!("{path} is missing, and the log does not go back to its beginning");
        return Err(incomplete(data, &reason));
    }
    Ok(catalog)
}

/// Whether the log still has every entry of a stream.
fn has_all(log: &Log, stream: StreamId) -> Result<bool, EngineError> {
    match log.read_at(stream, Llsn::FIRST) {
        Ok(_) | Err(LogError::UnknownStream { .. } | LogError::EntryNotFound { .. }) => Ok(true),
        Err(LogError::TrimmedStream { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Refuses a log that ends before what the catalog or a shard has of it: it would give positions a second time. No crash
/// leads there, since nothing is saved before the log is durable as far.
pub(crate) fn check_end_of_log(
    inner: &Inner,
    saved: &Catalog,
    indices: &HashMap<String, Arc<Index>>,
) -> Result<(), EngineError> {
    let data = &inner.options.data;
    let catalog = (
        saved.applied().max(saved.covered()),
        catalog_path(data).display().to_string(),
    );
    let shards = indices.values().flat_map(|index| &index.shards);
    let shards = shards.map(|shard| {
        let dir = shard.place.dir.display();
        (
            shard.recovered_from(),
            format!("the newest manifest in {dir}"),
        )
    });
    match beyond_the_log(data, inner.log.last(), shards.chain([catalog])) {
        Some(reason) => Err(incomplete(data, &reason)),
        None => Ok(()),
    }
}

/// Refuses a catalog that is older than what was taken from the log since it was saved, as one from a copy of the folder is: it
/// lacks indexes, and would give their streams to others.
pub(crate) fn check_streams(inner: &Inner) -> Result<(), EngineError> {
    let data = &inner.options.data;
    let next = inner.catalog.read().next_stream();
    match unknown_stream(data, &inner.log.streams(), next) {
        Some(reason) => Err(incomplete(data, &reason)),
        None => Ok(()),
    }
}

/// What to say of a log that has counted entries of an index that the catalog, which would give the next one this stream,
/// has never known.
pub(crate) fn unknown_stream(data: &Path, streams: &[StreamInfo], next: u32) -> Option<String> {
    let mut streams = streams.iter().map(|stream| stream.id);
    let unknown = streams.find(|stream| !stream.is_named() && stream.get() >= next)?;
    let catalog = catalog_path(data);
    let catalog = catalog.display();
    Some(format!(
        "{catalog} is older than the log: it does not know the index whose entries are those of stream [{unknown}]"
    ))
}

/// What to say of a log that ends before one of the positions up to which something of it is saved, each with where that is.
pub(crate) fn beyond_the_log(
    data: &Path,
    last: Glsn,
    saved: impl Iterator<Item = (Glsn, String)>,
) -> Option<String> {
    let (position, what) = saved.max_by_key(|(position, _)| *position)?;
    (position > last).then(|| {
        format!(
            "the log in {} ends at position {last}, but {what} covers it up to position {position}: \
             the last [{}] entries are missing",
            log_dir(data).display(),
            position.get() - last.get()
        )
    })
}

/// Stops a shard that lacks operations, as one does whose folder is gone after the log was trimmed. It gives its
/// operations numbers without gaps, and the log counts them.
pub(crate) fn check_operations(log: &Log, shard: &Shard) {
    let stream = shard.place.stream;
    let logged = log.stream_info(stream).map_or(0, |info| info.last.get());
    let applied = shard.operations();
    if shard.remedy().is_some() || applied == logged {
        return;
    }
    shard.damaged(&lack_of_operations(log, shard, (applied, logged)));
}

/// What to say of a shard that lacks operations: those from the one number up to the other.
pub(crate) fn lack_of_operations(log: &Log, shard: &Shard, (from, to): (u64, u64)) -> String {
    let reason = lack_in(&shard.place.dir, shard.commit(), (from, to));
    let held = match has_all(log, shard.place.stream) {
        Ok(true) if from <= to => "; the log still has every operation of the shard",
        _ => "",
    };
    reason + held
}

/// The same of the newest manifest in a shard's folder, 0 where there is none.
pub(crate) fn lack_in(dir: &Path, manifest: u64, (from, to): (u64, u64)) -> String {
    let dir = dir.display();
    if from > to {
        return format!(
            "the segments in {dir} hold [{from}] operations, of which the log has ever seen only [{to}]"
        );
    }
    let manifest = match manifest {
        0 => format!("there is no manifest in {dir}"),
        number => format!("manifest [{number}] is the newest in {dir}"),
    };
    format!(
        "operations [{from}] to [{}] are missing: {manifest}",
        to.saturating_sub(1)
    )
}

/// What lies in the folder of indexes beside those that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remains {
    /// An index that was never flushed: its creation was cut short before anybody was told of it.
    Unflushed,
    /// An index with a manifest.
    Flushed,
    /// Nothing of ours.
    Foreign,
}

/// Removes the folders of indexes whose deletion or creation was cut short, and says what else is there that belongs to
/// no index.
///
/// # Errors
/// When there is a flushed index and no saved catalog, and the log does not know the index: then both were lost.
pub(crate) fn remove_leftovers(
    inner: &Inner,
    known: &HashMap<String, Arc<Index>>,
    saved: bool,
) -> Result<(), EngineError> {
    let (data, disk) = (&inner.options.data, &*inner.disk);
    let deleted = inner.catalog.read().removing().clone();
    let mut leftovers = Vec::new();
    for path in list(disk, &indices_dir(data))? {
        let name = name_of(&path);
        if known.contains_key(name) {
            continue;
        }
        match remains(disk, &path) {
            _ if deleted.contains(name) => leftovers.push(path),
            Remains::Unflushed => leftovers.push(path),
            Remains::Flushed if !saved => {
                let (catalog, path) = (catalog_path(data), path.display());
                let catalog = catalog.display();
                let reason = format!("{catalog} is missing, and the log does not know {path}");
                return Err(incomplete(data, &reason));
            }
            Remains::Flushed | Remains::Foreign => {
                tracing::warn!(path = %path.display(), "this belongs to no index; it is left alone");
            }
        }
    }
    for path in leftovers {
        if let Err(error) = disk.remove_dir_all(&path) {
            tracing::warn!(path = %path.display(), %error, "cannot remove what an index has left");
        }
    }
    Ok(())
}

/// What a file or folder among the indexes' is.
fn remains(disk: &dyn Disk, path: &Path) -> Remains {
    if !is_uuid(name_of(path)) {
        return Remains::Foreign;
    }
    let Ok(shards) = disk.list(path) else {
        return Remains::Foreign;
    };
    let mut remains = Remains::Unflushed;
    for shard in shards {
        let Ok(files) = disk.list(&shard) else {
            return Remains::Foreign;
        };
        let ours = files.iter().all(|file| is_shard_file(name_of(file)));
        if !ours || name_of(&shard).parse::<u32>().is_err() {
            return Remains::Foreign;
        }
        if files.iter().any(|file| is_manifest(name_of(file))) {
            remains = Remains::Flushed;
        }
    }
    remains
}
