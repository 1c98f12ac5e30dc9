//! The only module that touches other people's files. They are read through the standard library
//! and not through the disk trait, because that one opens files for writing too and knows neither
//! inodes nor modification times.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::UNIX_EPOCH;

use clew_platform::open_regular;
use serde::{Deserialize, Serialize};

/// What the file system calls a file. The birth time, where there is one, tells a reused inode
/// from the file that had it before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct FileId {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) born_ns: Option<u64>,
}

/// What a look at a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) file: FileId,
    pub(crate) size_bytes: u64,
    pub(crate) modified_ms: i64,
    pub(crate) is_file: bool,
    pub(crate) is_folder: bool,
}

fn stat_of(metadata: &Metadata) -> Stat {
    let born = metadata
        .created()
        .ok()
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    Stat {
        file: FileId {
            device: metadata.dev(),
            inode: metadata.ino(),
            born_ns: born.and_then(|at| u64::try_from(at.as_nanos()).ok()),
        },
        size_bytes: metadata.len(),
        modified_ms: metadata
            .mtime()
            .saturating_mul(1000)
            .saturating_add(metadata.mtime_nsec() / 1_000_000),
        is_file: metadata.is_file(),
        is_folder: metadata.is_dir(),
    }
}

/// Looks at what a path leads to, links followed.
pub(crate) fn stat(path: &Path) -> io::Result<Stat> {
    fs::metadata(path).map(|metadata| stat_of(&metadata))
}

/// Opens for reading and says what was opened: between a look and an opening, the name may have
/// gone to another file; or to what is none, which is an error of [`is_no_file`].
pub(crate) fn open(path: &Path) -> io::Result<(File, Stat)> {
    let file = open_regular(path, OpenOptions::new().read(true))?;
    let stat = stat_of(&file.metadata()?);
    Ok((file, stat))
}

/// Whether nothing could be opened because no file has the name any more.
pub(crate) fn is_no_file(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::IsADirectory | io::ErrorKind::InvalidInput
    )
}

/// Looks at an open file.
pub(crate) fn stat_open(file: &File) -> io::Result<Stat> {
    file.metadata().map(|metadata| stat_of(&metadata))
}

/// Names that a link may lead on to, as many as the kernel follows.
const LINKS_MAX: usize = 40;

/// Where a link leads in the end; `None` where it leads nowhere, or in circles. Its folders are as they are written, so that a folder that is looked into
/// keeps its name, unless they are written by way of others.
pub(crate) fn target(link: &Path) -> Option<PathBuf> {
    let mut at = link.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::read_link(&at) {
            Ok(next) => at = at.parent().unwrap_or(Path::new("")).join(next),
            // That is what asking a file which is no link says.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Some(direct(at)),
            Err(_) => return None,
        }
    }
    None
}

/// Where a folder is, if links lead to it by this path.
pub(crate) fn real_folder(path: &Path) -> Option<PathBuf> {
    let real = fs::canonicalize(path).ok()?;
    (real != path).then_some(real)
}

/// A path without `..` in it, if its folder is there.
fn direct(path: PathBuf) -> PathBuf {
    let is_indirect = path.components().any(|part| part == Component::ParentDir);
    let folder = path.parent().filter(|_| is_indirect);
    let folder = folder.and_then(|folder| fs::canonicalize(folder).ok());
    let named = folder.zip(path.file_name());
    let direct = named.map(|(folder, name)| folder.join(name));
    direct.unwrap_or(path)
}

/// One name in a folder.
#[derive(Debug)]
pub(crate) struct Name {
    pub(crate) path: PathBuf,
    pub(crate) is_folder: bool,
    pub(crate) is_link: bool,
}

/// A name by itself. One that is not there is no link.
pub(crate) fn name(path: &Path) -> Name {
    let kind = fs::symlink_metadata(path).map(|metadata| metadata.file_type());
    Name {
        path: path.to_owned(),
        is_folder: kind.as_ref().is_ok_and(|kind| kind.is_dir()),
        is_link: kind.is_ok_and(|kind| kind.is_symlink()),
    }
}

/// The names in a folder, sorted. A link to a folder is not a folder here, so that no walk can
/// go in circles.
pub(crate) fn list(folder: &Path) -> io::Result<Vec<Name>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type();
        names.push(Name {
            path: entry.path(),
            is_folder: kind.as_ref().is_ok_and(|kind| kind.is_dir()),
            is_link: kind.is_ok_and(|kind| kind.is_symlink()),
        });
    }
    names.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(names)
}
