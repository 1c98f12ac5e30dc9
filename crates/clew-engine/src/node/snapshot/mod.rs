//! Snapshots: a folder of files that hold the documents of indexes as they were at one moment.
//!
//! Every file of a snapshot is written once. Its manifest comes last, atomically, and names every
//! other file with length and checksum; a folder without a manifest is no snapshot and is offered
//! to nobody. Layout: `docs/formats/snapshot.md`. What a manifest says beyond its files is the
//! business of whoever takes the snapshot.

mod documents_file;
mod verify;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clew_platform::{Disk, TEMPORARY_SUFFIX};
use documents_file::{DocumentsReader, DocumentsWriter};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::disk::DiskGuard;
use crate::base::error::{EngineError, io_error};
use crate::base::names::is_id;
use crate::base::write_request::Document;
use crate::index::handle::Index;
use crate::node::engine::Engine;

pub use verify::{RepositoryReport, is_repository, verify_repository};

const MANIFEST: &str = "manifest.json";
const PROBE: &str = "probe";
const FORMAT: u32 = 2;
/// The oldest format that is read.
const FORMAT_OLDEST: u32 = 1;
/// The checksum of the manifest's JSON, in front of it on a line of its own.
const CHECKSUM_BYTES: usize = 9;

/// What a manifest says of the documents of one shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotFile {
    /// Its name in the snapshot's folder.
    pub name: String,
    /// Documents in it.
    pub documents: u64,
    /// Its length.
    pub bytes: u64,
    /// CRC-32C of the whole file.
    pub crc32c: u32,
}

/// A snapshot that is complete.
#[derive(Clone, Debug)]
pub struct SnapshotManifest {
    /// Its id: the name of its folder.
    pub id: String,
    /// What its maker wrote.
    pub content: Value,
}

/// What snapshots a repository has.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Snapshots {
    /// Those that are complete, by id. Ids rise, so the oldest comes first.
    pub complete: Vec<SnapshotManifest>,
    /// The first one that cannot be read: what is not among the others may be this one.
    pub unread: Option<UnreadSnapshot>,
}

/// A snapshot that cannot be read.
#[derive(Debug)]
pub struct UnreadSnapshot {
    /// Its id: the name of its folder.
    pub id: String,
    /// What is wrong with it.
    pub error: EngineError,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ManifestFile {
    format: u32,
    content: Value,
}

/// What a cleaning took away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A folder that holds snapshots, each in a folder of its own.
#[derive(Clone, Debug)]
pub struct SnapshotRepository {
    disk: Arc<dyn Disk>,
    /// Says whether there is room for a snapshot beside the data.
    space: Arc<DiskGuard>,
    dir: PathBuf,
}

impl Engine {
    /// A folder that holds snapshots, or will.
    pub fn snapshot_repository(&self, dir: PathBuf) -> SnapshotRepository {
        SnapshotRepository {
            disk: self.inner.disk.clone(),
            space: self.inner.space.clone(),
            dir,
        }
    }

    /// An id that no other snapshot has.
    pub fn new_snapshot_id(&self) -> String {
        self.inner.ids.next()
    }
}

impl SnapshotRepository {
    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether a snapshot is complete, and not deleted.
    pub fn has(&self, id: &str) -> bool {
        self.disk.exists(&self.dir.join(id).join(MANIFEST))
    }

    /// Makes the folder and proves that files can be written there and read back; leaves nothing of that there, nor
    /// what an earlier try that was cut short has left.
    ///
    /// # Errors
    /// When they cannot.
    pub fn verify(&self) -> Result<(), EngineError> {
        let dir = &self.dir;
        self.disk
            .create_dir_all_durable(dir)
            .map_err(io_error("create", dir))?;
        let verified = self.probe();
        let removed = self.remove_probes();
        verified.and(removed)
    }

    fn probe(&self) -> Result<(), EngineError> {
        let path = self.dir.join(PROBE);
        self.disk
            .write_atomic(&path, PROBE.as_bytes())
            .map_err(io_error("write", &path))?;
        let read = self.disk.read(&path).map_err(io_error("read", &path))?;
        if read != PROBE.as_bytes() {
            return Err(corrupt(&path, "what was written is not what is read"));
        }
        Ok(())
    }

    fn remove_probes(&self) -> Result<(), EngineError> {
        for name in [PROBE.to_string(), format!("{PROBE}{TEMPORARY_SUFFIX}")] {
            let path = self.dir.join(name);
            if self.disk.exists(&path) {
                self.disk
                    .remove_file(&path)
                    .map_err(io_error("remove", &path))?;
            }
        }
        Ok(())
    }

    /// Every complete snapshot.
    ///
    /// # Errors
    /// When the folder cannot be read. A damaged manifest is none: the other snapshots are well.
    pub fn snapshots(&self) -> Result<Snapshots, EngineError> {
        let mut found = Snapshots::default();
        for dir in self.folders()? {
            let id = dir.file_name().and_then(|name| name.to_str());
            let Some(id) = id.filter(|id| is_id(id)) else {
                continue;
            };
            if !self.disk.exists(&dir.join(MANIFEST)) {
                continue;
            }
            match read_manifest(&*self.disk, &dir) {
                Ok(manifest) => found.complete.push(manifest),
                Err(error) => {
                    tracing::warn!(%error, "a snapshot's manifest cannot be read");
                    let id = id.to_string();
                    found.unread.get_or_insert(UnreadSnapshot { id, error });
                }
            }
        }
        found.complete.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(found)
    }

    fn folders(&self) -> Result<Vec<PathBuf>, EngineError> {
        if !self.disk.exists(&self.dir) {
            return Ok(Vec::new());
        }
        self.disk
            .list(&self.dir)
            .map_err(io_error("list", &self.dir))
    }

    /// Writes the documents of a shard into a new file of a snapshot.
    ///
    /// # Errors
    /// When documents cannot be read or the file cannot be written; [`EngineError::DiskFull`] when it lies on the disk
    /// of the data, and would fill it.
    pub fn write_documents(
        &self,
        id: &str,
        name: &str,
        documents: impl Iterator<Item = Result<Document, EngineError>>,
    ) -> Result<SnapshotFile, EngineError> {
        let dir = self.dir.join(id);
        self.disk
            .create_dir_all_durable(&dir)
            .map_err(io_error("create", &dir))?;
        let mut writer = DocumentsWriter::create(&*self.disk, dir.join(name))?;
        for document in documents {
            let document = document?;
            if writer.writes_next() {
                let bytes = writer.pending_bytes() + document.source.len() as u64;
                self.space.check_file("a snapshot", &dir, bytes)?;
            }
            writer.add(&document)?;
        }
        writer.finish(name)
    }

    /// Makes a snapshot complete: from now on it is offered.
    ///
    /// # Errors
    /// When the manifest cannot be written, or a file is not there any more that it names.
    pub fn complete(&self, id: &str, content: Value) -> Result<(), EngineError> {
        let dir = self.dir.join(id);
        self.disk
            .create_dir_all_durable(&dir)
            .map_err(io_error("create", &dir))?;
        // Another server that cleans up the same folder knows nothing of a snapshot that is being taken.
        for file in verify::files_of(&content).unwrap_or_default() {
            let path = dir.join(&file.name);
            let bytes = self.disk.len(&path).map_err(io_error("find", &path))?;
            if bytes != file.bytes {
                return Err(corrupt(&path, "it is not what was written"));
            }
        }
        // The names of the files must last before the manifest vouches for them.
        self.disk.sync_dir(&dir).map_err(io_error("sync", &dir))?;
        let manifest = ManifestFile {
            format: FORMAT,
            content,
        };
        let json = serde_json::to_vec(&manifest).expect("a manifest has text keys only");
        let mut bytes = checksum_line(&json).into_bytes();
        bytes.extend_from_slice(&json);
        let path = dir.join(MANIFEST);
        self.disk
            .write_atomic(&path, &bytes)
            .map_err(io_error("write", &path))
    }

    /// The documents of a file, after the whole file was found to be what its manifest says.
    ///
    /// # Errors
    /// When the file is missing or damaged.
    pub fn read_documents(
        &self,
        id: &str,
        file: &SnapshotFile,
    ) -> Result<impl Iterator<Item = Result<Document, EngineError>> + use<>, EngineError> {
        // A manifest says what is in its own folder and nowhere else.
        let plain = |text: &str| !text.is_empty() && !text.contains(['/', '\\']) && text != "..";
        if !plain(id) || !plain(&file.name) {
            return Err(corrupt(&self.dir, "a manifest names a file elsewhere"));
        }
        DocumentsReader::open(&*self.disk, self.dir.join(id).join(&file.name), file)
    }

    /// Takes a snapshot away: first its manifest, so that it is never offered without its files.
    ///
    /// # Errors
    /// When files cannot be removed.
    pub fn delete(&self, id: &str) -> Result<(), EngineError> {
        let dir = self.dir.join(id);
        let path = dir.join(MANIFEST);
        if self.disk.exists(&path) {
            self.disk
                .remove_file(&path)
                .map_err(io_error("remove", &path))?;
            self.disk.sync_dir(&dir).map_err(io_error("sync", &dir))?;
        }
        self.disk
            .remove_dir_all(&dir)
            .map_err(io_error("remove", &dir))
    }

    /// Removes what snapshots left that were never completed, except those in `running`.
    ///
    /// # Errors
    /// When files cannot be removed.
    pub fn clean(&self, running: &[String]) -> Result<Cleaned, EngineError> {
        let mut cleaned = Cleaned::default();
        self.remove_probes()?;
        for dir in self.folders()? {
            let id = dir.file_name().and_then(|name| name.to_str());
            let busy = id.is_some_and(|id| running.iter().any(|running| running == id));
            if busy || !id.is_some_and(is_id) || self.disk.exists(&dir.join(MANIFEST)) {
                continue;
            }
            // Only folders of ours: they hold files of documents and nothing else.
            let Ok(files) = self.disk.list(&dir) else {
                continue;
            };
            let ours = |path: &PathBuf| {
                path.extension()
                    .is_some_and(|end| end == "docs" || end == "tmp")
            };
            if !files.iter().all(ours) {
                continue;
            }
            for file in &files {
                cleaned.files += 1;
                cleaned.bytes += self.disk.len(file).map_err(io_error("measure", file))?;
            }
            self.disk
                .remove_dir_all(&dir)
                .map_err(io_error("remove", &dir))?;
        }
        Ok(cleaned)
    }
}

fn read_manifest(disk: &dyn Disk, dir: &Path) -> Result<SnapshotManifest, EngineError> {
    let path = dir.join(MANIFEST);
    let bytes = disk.read(&path).map_err(io_error("read", &path))?;
    let (crc, json) = bytes
        .split_at_checked(CHECKSUM_BYTES)
        .ok_or_else(|| corrupt(&path, "too short"))?;
    if checksum_line(json).as_bytes() != crc {
        return Err(corrupt(&path, "its checksum does not match"));
    }
    let manifest: ManifestFile =
        serde_json::from_slice(json).map_err(|error| corrupt(&path, &error.to_string()))?;
    if !(FORMAT_OLDEST..=FORMAT).contains(&manifest.format) {
        return Err(corrupt(&path, "its format is not known"));
    }
    let id = dir.file_name().and_then(|name| name.to_str());
    Ok(SnapshotManifest {
        id: id.unwrap_or_default().to_string(),
        content: manifest.content,
    })
}

/// The name of the file that holds the documents of a shard of the nth index.
pub fn documents_file_name(index: usize, shard: u32) -> String {
    format!("{index}-{shard}.docs")
}

/// What a snapshot has to say of an index so that it can be made again.
pub fn index_state(index: &Index) -> Value {
    serde_json::json!({
        "settings": &*index.settings(),
        "mapping": index.mapping().encode(),
    })
}

fn checksum_line(json: &[u8]) -> String {
    format!("{:08x}\n", crc32c::crc32c(json))
}

fn corrupt(path: &Path, reason: &str) -> EngineError {
    EngineError::Corrupt {
        path: path.to_path_buf(),
        reason: reason.to_string(),
    }
}
