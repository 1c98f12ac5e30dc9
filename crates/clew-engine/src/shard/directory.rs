//! tantivy's directory over our disk: segment files are written without fsync, because the log
//! makes writes durable until a flush syncs whole segments, and tantivy's own `meta.json` stays in
//! memory, because the manifest alone says which segments exist.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clew_platform::{Disk, DiskFile};
use parking_lot::Mutex;
use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, OwnedBytes, TerminatingWrite, WatchCallback,
    WatchCallbackList, WatchHandle, WritePtr,
};
use tantivy::index::SegmentId;

const WRITE_BUFFER_BYTES: usize = 64 << 10;
/// Ends the names of files that say which documents live; they belong to manifests.
pub(super) const ALIVE_SUFFIX: &str = ".alive";

/// A shard's folder as tantivy sees it. Clones share everything; [`ShardDirectory::fork`] starts
/// with an empty in-memory part.
#[derive(Clone, Debug)]
pub(super) struct ShardDirectory {
    disk: Arc<dyn Disk>,
    root: Arc<PathBuf>,
    /// What tantivy writes atomically: its `meta.json` and list of managed files.
    memory: Arc<Mutex<HashMap<PathBuf, Vec<u8>>>>,
    /// Files read from here rather than from the disk.
    overlay: Arc<HashMap<PathBuf, OwnedBytes>>,
}

impl ShardDirectory {
    pub(super) fn new(disk: Arc<dyn Disk>, root: PathBuf) -> Self {
        ShardDirectory {
            disk,
            root: Arc::new(root),
            memory: Arc::default(),
            overlay: Arc::default(),
        }
    }

    /// The same files with an own, empty in-memory part, and some files replaced.
    pub(super) fn fork(&self, overlay: HashMap<PathBuf, OwnedBytes>) -> Self {
        ShardDirectory {
            memory: Arc::default(),
            overlay: Arc::new(overlay),
            ..self.clone()
        }
    }

    /// The files of a segment with their lengths: every name that begins with its id.
    pub(super) fn segment_files(&self, id: &SegmentId) -> io::Result<Vec<(String, u64)>> {
        let prefix = format!("{}.", id.uuid_string());
        let mut files = Vec::new();
        for path in self.disk.list(&self.root)? {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
                continue;
            };
            if name.starts_with(&prefix) && !name.ends_with(ALIVE_SUFFIX) {
                files.push((name.to_string(), self.disk.len(&path)?));
            }
        }
        Ok(files)
    }

    /// The size of a segment's files; 0 when they cannot be listed.
    pub(super) fn segment_bytes(&self, id: &SegmentId) -> u64 {
        self.segment_files(id)
            .map_or(0, |files| files.iter().map(|(_, bytes)| bytes).sum())
    }

    /// A file's bytes as they lie on disk, tantivy's footer included.
    fn raw(&self, path: &Path) -> io::Result<OwnedBytes> {
        Ok(OwnedBytes::new(self.disk.map(&self.root.join(path))?))
    }
}

#[derive(Debug)]
struct Output {
    file: Box<dyn DiskFile>,
    offset: u64,
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all_at(bytes, self.offset)?;
        self.offset += bytes.len() as u64;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for Output {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        Ok(())
    }
}

impl Directory for ShardDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        if let Some(bytes) = self.overlay.get(path) {
            return Ok(Arc::new(bytes.clone()));
        }
        match self.raw(path) {
            Ok(bytes) => Ok(Arc::new(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(OpenReadError::FileDoesNotExist(path.into()))
            }
            Err(error) => Err(OpenReadError::wrap_io_error(error, path.into())),
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.disk
            .remove_file(&self.root.join(path))
            .map_err(|_| DeleteError::FileDoesNotExist(path.into()))
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.memory.lock().contains_key(path) || self.disk.exists(&self.root.join(path)))
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = self
            .disk
            .create_new(&self.root.join(path))
            .map_err(|error| OpenWriteError::wrap_io_error(error, path.into()))?;
        let output: Box<dyn TerminatingWrite + Send + Sync> = Box::new(Output { file, offset: 0 });
        Ok(BufWriter::with_capacity(WRITE_BUFFER_BYTES, output))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let memory = self.memory.lock();
        memory
            .get(path)
            .cloned()
            .ok_or_else(|| OpenReadError::FileDoesNotExist(path.into()))
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.memory.lock().insert(path.into(), data.to_vec());
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        // One process owns the data folder, one writer the shard.
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        // Nothing is ever announced: views are published by the shard.
        Ok(WatchCallbackList::default().subscribe(callback))
    }
}
