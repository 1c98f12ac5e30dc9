//! The collector's own files and folders, by whatever names they are found.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clew_platform::TEMPORARY_SUFFIX;

use crate::file_system::{self, FileId};

/// What is not read, as it is at one look: a path may lead there through links, or with `..` in it.
#[derive(Debug)]
pub(super) struct Own<'a> {
    paths: &'a [PathBuf],
    /// Those that are there.
    there: Vec<FileId>,
    /// Their folders, and what they are called in them.
    names: Vec<(FileId, &'a OsStr)>,
}

impl<'a> Own<'a> {
    /// Two questions to the file system for each path.
    pub(super) fn find(paths: &'a [PathBuf]) -> Own<'a> {
        let id = |path: &Path| Some(file_system::stat(path).ok()?.file);
        let name = |path: &'a PathBuf| Some((id(path.parent()?)?, path.file_name()?));
        Own {
            paths,
            there: paths.iter().filter_map(|path| id(path)).collect(),
            names: paths.iter().filter_map(name).collect(),
        }
    }

    /// Whether that is what an own path leads to.
    pub(super) fn is_there(&self, file: FileId) -> bool {
        self.there.contains(&file)
    }

    /// Whether a path says that it is an own one, or what is made of one.
    pub(super) fn is_path(&self, path: &Path) -> bool {
        let is_own = |own: &PathBuf| is_made_of(own.as_os_str(), path.as_os_str()) || own == path;
        self.paths.iter().any(is_own)
    }

    /// The names of own files in a folder.
    pub(super) fn names_in(&self, folder: FileId) -> Vec<&'a OsStr> {
        let here = self
            .names
            .iter()
            .filter(|(in_folder, _)| *in_folder == folder);
        here.map(|(_, name)| *name).collect()
    }
}

/// Whether a name is that of an own file, or of what an output makes of one that is full: `out.json.1`, `out.json.2.gz`. Other names
/// that begin alike, as `out.json.2026-01-01`, are others' files.
pub(super) fn is_made_of(own: &OsStr, name: &OsStr) -> bool {
    let Some(behind) = name.as_bytes().strip_prefix(own.as_bytes()) else {
        return false;
    };
    let Some(number) = behind.strip_prefix(b".") else {
        return behind.is_empty();
    };
    let digits = number.iter().take_while(|byte| byte.is_ascii_digit());
    let ending = &number[digits.count()..];
    let whole = ending.strip_suffix(TEMPORARY_SUFFIX.as_bytes());
    ending.len() < number.len() && matches!(whole.unwrap_or(ending), b"" | b".gz" | b".zst")
}
