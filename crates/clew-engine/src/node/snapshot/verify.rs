//! A repository of snapshots held against its manifests, without an engine: every byte of every file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clew_platform::Disk;
use serde_json::Value;

use super::documents_file::{DocumentsReader, sum_of};
use super::{MANIFEST, SnapshotFile, read_manifest};
use crate::base::error::{EngineError, io_error};
use crate::shard::FileDamage;

/// What was found in a repository of snapshots.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct RepositoryReport {
    /// Folders that have a manifest, damaged ones among them.
    pub snapshots: u64,
    /// Files of documents that were read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Damaged and missing files.
    pub damage: Vec<FileDamage>,
    /// What no manifest speaks of: leftovers of snapshots that were never completed, and files of others.
    pub foreign: Vec<PathBuf>,
}

/// Whether a folder holds snapshots: another folder in it has a manifest.
pub fn is_repository(disk: &dyn Disk, dir: &Path) -> bool {
    let inner = disk.list(dir).unwrap_or_default();
    inner.iter().any(|dir| disk.exists(&dir.join(MANIFEST)))
}

/// Reads all of a repository and checks it. `progress` is told the bytes done so far.
///
/// # Errors
/// When a folder cannot be listed; damage is part of the report.
pub fn verify_repository(
    disk: &dyn Disk,
    dir: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<RepositoryReport, EngineError> {
    let mut report = RepositoryReport::default();
    for folder in disk.list(dir).map_err(io_error("list", dir))? {
        let path = folder.join(MANIFEST);
        if !disk.exists(&path) {
            report.foreign.push(folder);
            continue;
        }
        report.snapshots += 1;
        let files = match read_manifest(disk, &folder) {
            Ok(manifest) => files_of(&manifest.content),
            Err(error) => {
                let reason = match error {
                    EngineError::Io { action, source, .. } => {
                        format!("cannot {action} it: {source}")
                    }
                    other => other.to_string(),
                };
                report.damage.push(FileDamage::of(path, reason));
                continue;
            }
        };
        let Some(files) = files else {
            let reason = "its files are not named as they should be".to_string();
            report.damage.push(FileDamage::of(path, reason));
            continue;
        };
        let mut known = BTreeSet::from([path]);
        for file in files {
            let path = folder.join(&file.name);
            report.files += 1;
            report.bytes += file.bytes;
            report.damage.extend(damage_of(disk, &path, &file));
            known.insert(path);
            progress(report.bytes);
        }
        let there = disk.list(&folder).map_err(io_error("list", &folder))?;
        let others = there.into_iter().filter(|path| !known.contains(path));
        report.foreign.extend(others);
    }
    Ok(report)
}

/// The files that a manifest names: those of the shards of each index.
pub(super) fn files_of(content: &Value) -> Option<Vec<SnapshotFile>> {
    let mut all = Vec::new();
    for index in content.get("indices")?.as_array()? {
        let files: Vec<SnapshotFile> = serde_json::from_value(index.get("files")?.clone()).ok()?;
        all.extend(files);
    }
    Some(all)
}

fn damage_of(disk: &dyn Disk, path: &Path, file: &SnapshotFile) -> Option<FileDamage> {
    let bytes = match disk.map(path) {
        Ok(bytes) => bytes,
        Err(error) => return Some(FileDamage::of(path.to_path_buf(), error.to_string())),
    };
    let length = bytes.len() as u64;
    let reason = if length != file.bytes {
        format!("it has {length} bytes instead of {}", file.bytes)
    } else {
        match sum_of(&bytes) {
            Ok(sum) if sum == file.crc32c => return None,
            Ok(_) => "its checksum does not match the manifest".to_string(),
            Err(error) => {
                let reason = format!("it cannot be read: {error}");
                return Some(FileDamage::of(path.to_path_buf(), reason));
            }
        }
    };
    Some(FileDamage {
        offset: DocumentsReader::first_unreadable(path.to_path_buf(), bytes, file.documents),
        ..FileDamage::of(path.to_path_buf(), reason)
    })
}
