//! tantivy's directory over our disk: segment files are written without fsync, because the log
//! makes writes durable until a flush syncs whole segments, and tantivy's own `meta.json` stays in
//! memory, because the manifest alone says which segments exist.
//!
//! A file of a segment that is sealed goes on in memory when the disk refuses it ([`Output`]): reads must not
//! suffer from a disk that is full, and a flush writes the file when the disk takes it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use clew_platform::{Disk, DiskFile};
use clew_vector::BuildProgress;
use parking_lot::Mutex;
use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, OwnedBytes, TerminatingWrite, WatchCallback,
    WatchCallbackList, WatchHandle, WritePtr,
};
use tantivy::index::SegmentId;

use super::checked_file::{CheckedFile, Expected};
use super::health::ShardHealth;
use super::sums::Summed;

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
    files: Arc<Mutex<SegmentFiles>>,
    /// Told of damage.
    health: Arc<ShardHealth>,
    /// Whether files that the disk refuses go on in memory.
    spills: bool,
    spilled: Arc<Mutex<Spilled>>,
    /// The files of segments that are being written, by the segment's id.
    written: Arc<Mutex<HashMap<String, Vec<PathBuf>>>>,
    /// Of the merge that writes: once that is to leave off, nothing more is written.
    progress: Option<Arc<BuildProgress>>,
}

/// What is known of the files of segments, by name.
#[derive(Debug, Default)]
struct SegmentFiles {
    /// Of those that a manifest names; the others were written by this process.
    expected: HashMap<String, Expected>,
    /// Those that somebody reads: what was checked once is not checked again.
    open: HashMap<String, Weak<CheckedFile>>,
}

/// The files of a shard that the disk has refused, whole, in memory.
#[derive(Debug, Default)]
struct Spilled {
    files: HashMap<PathBuf, OwnedBytes>,
    /// What the disk said last.
    refusal: Option<String>,
}

impl ShardDirectory {
    pub(super) fn new(disk: Arc<dyn Disk>, root: PathBuf, health: Arc<ShardHealth>) -> Self {
        ShardDirectory {
            disk,
            root: Arc::new(root),
            memory: Arc::default(),
            overlay: Arc::default(),
            files: Arc::default(),
            health,
            spills: false,
            spilled: Arc::default(),
            written: Arc::default(),
            progress: None,
        }
    }

    /// The same with an own, empty in-memory part, for a segment that must not be lost to a disk that refuses it:
    /// its files go on in memory then, and are read from there.
    pub(super) fn spilling(&self) -> Self {
        ShardDirectory {
            spills: true,
            ..self.fork(HashMap::new())
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

    /// The same for a merge, keeping an account of its own of what is written through it and its forks. Writes fail
    /// once the merge is to leave off: a look for each buffer of them, also where nobody else looks.
    pub(super) fn output(&self, progress: Arc<BuildProgress>) -> Self {
        ShardDirectory {
            written: Arc::default(),
            progress: Some(progress),
            ..self.clone()
        }
    }

    /// The files of a segment with their lengths: every name that is its id and one extension.
    pub(super) fn segment_files(&self, id: &SegmentId) -> io::Result<Vec<(String, u64)>> {
        let id = id.uuid_string();
        let of_segment = |path: &Path| {
            let name = path.file_name()?.to_str()?;
            // Files that say which documents live have their number between the two, and a temporary file two
            // extensions: neither is written once.
            let (owner, extension) = name.split_once('.')?;
            (owner == id && !extension.contains('.')).then(|| name.to_string())
        };
        let mut files = BTreeMap::new();
        for path in self.disk.list(&self.root)? {
            if let Some(name) = of_segment(&path) {
                files.insert(name, self.disk.len(&path)?);
            }
        }
        for (path, bytes) in &self.spilled.lock().files {
            if let Some(name) = of_segment(path) {
                files.insert(name, bytes.len() as u64);
            }
        }
        Ok(files.into_iter().collect())
    }

    /// The size of the files of a segment that was written just now. Only these are looked at: many segments can be in
    /// one folder.
    pub(super) fn written_bytes(&self, id: &SegmentId) -> u64 {
        let files = self.written.lock().remove(&id.uuid_string());
        let spilled = self.spilled.lock();
        let bytes = |path: &PathBuf| match spilled.files.get(path) {
            Some(bytes) => bytes.len() as u64,
            // A file of that time which is gone again.
            None => self.disk.len(&self.root.join(path)).unwrap_or(0),
        };
        files.iter().flatten().map(bytes).sum()
    }

    /// The files that were written and that nobody has asked for; forgets them.
    pub(super) fn take_written(&self) -> Vec<PathBuf> {
        let written = std::mem::take(&mut *self.written.lock());
        written.into_values().flatten().collect()
    }

    /// Forgets files of segments that nobody asked for, but for the one being filled.
    pub(super) fn forget_written(&self, unfinished: &HashSet<String>) {
        let mut written = self.written.lock();
        written.retain(|id, _| unfinished.contains(id));
    }

    /// Tells what a manifest says of a file: the sum of its sums, or nothing when it is of an earlier format.
    pub(super) fn expect(&self, name: &str, sum: Option<u32>) {
        let expected = sum.map_or(Expected::Whole, Expected::Sum);
        let mut files = self.files.lock();
        files.expected.insert(name.to_string(), expected);
    }

    /// Forgets what a manifest said of a file that is removed. Those who read it go on.
    pub(super) fn forget(&self, name: &str) {
        self.files.lock().expected.remove(name);
    }

    /// Lets a file be read anew that was written anew.
    pub(super) fn read_anew(&self, name: &str) {
        self.files.lock().open.remove(name);
    }

    /// A file of a segment, whose bytes are checked where they are read.
    ///
    /// # Errors
    /// When it cannot be opened, or what tells its bytes to be sound is damaged.
    pub(super) fn checked(&self, name: &str) -> io::Result<Arc<CheckedFile>> {
        let expected = {
            let files = self.files.lock();
            if let Some(open) = files.open.get(name).and_then(Weak::upgrade) {
                return Ok(open);
            }
            files.expected.get(name).copied()
        };
        let bytes = self.read(name)?;
        let expected = expected.unwrap_or(Expected::Fresh);
        let file = CheckedFile::open(self.root.join(name), bytes, expected, &self.health)?;
        let file = Arc::new(file);
        let mut files = self.files.lock();
        files.open.insert(name.to_string(), Arc::downgrade(&file));
        if files.open.len().is_power_of_two() {
            files.open.retain(|_, open| open.strong_count() > 0);
        }
        Ok(file)
    }

    /// The sum of a file's sums, for the manifest; `None` when it has none.
    ///
    /// # Errors
    /// As [`ShardDirectory::checked`].
    pub(super) fn sum(&self, name: &str) -> io::Result<Option<u32>> {
        Ok(self.checked(name)?.sum())
    }

    /// Bytes of the files in memory, and what the disk said when it refused the last of them.
    pub(super) fn spilled(&self) -> (usize, Option<String>) {
        let spilled = self.spilled.lock();
        let bytes = spilled.files.values().map(|bytes| bytes.len()).sum();
        (bytes, spilled.refusal.clone())
    }

    /// Whether a file is in memory.
    pub(super) fn has_spilled(&self, name: &str) -> bool {
        self.spilled.lock().files.contains_key(Path::new(name))
    }

    /// Forgets a file in memory: the disk has it, or nobody needs it.
    pub(super) fn forget_spilled(&self, name: &str) {
        let mut spilled = self.spilled.lock();
        spilled.files.remove(Path::new(name));
        if spilled.files.is_empty() {
            spilled.refusal = None;
        }
    }

    /// Forgets the files in memory of segments that are not among those named; a buffer that is being filled has none.
    pub(super) fn retain_spilled(&self, living: &HashSet<String>) {
        let mut spilled = self.spilled.lock();
        spilled.files.retain(|path, _| {
            let name = path.to_str().unwrap_or_default();
            living.contains(name.split('.').next().unwrap_or_default())
        });
    }

    /// A file's bytes, from memory or from the disk.
    pub(super) fn read(&self, name: &str) -> io::Result<OwnedBytes> {
        let path = Path::new(name);
        let spilled = self.spilled.lock().files.get(path).cloned();
        spilled.map_or_else(|| self.raw(path), Ok)
    }

    /// A file's bytes as they lie on disk, sums and tantivy's footer included.
    fn raw(&self, path: &Path) -> io::Result<OwnedBytes> {
        Ok(OwnedBytes::new(self.disk.map(&self.root.join(path))?))
    }
}

/// A file that is being written, on the disk or, from the disk's first refusal on, in memory.
struct Output {
    target: Target,
    offset: u64,
    path: PathBuf,
    /// Where the file goes when the disk refuses it.
    spilled: Option<Arc<Mutex<Spilled>>>,
    /// Of the merge that writes it.
    progress: Option<Arc<BuildProgress>>,
}

enum Target {
    Disk(Box<dyn DiskFile>),
    Memory(Vec<u8>),
}

impl Output {
    /// Goes on in memory after a refusal, with what the disk has taken so far.
    fn spill(&mut self, refusal: io::Error) -> io::Result<()> {
        let Some(spilled) = &self.spilled else {
            return Err(refusal);
        };
        let Target::Disk(file) = &self.target else {
            return Err(refusal);
        };
        let length = usize::try_from(self.offset).map_err(io::Error::other)?;
        let mut taken = vec![0; length];
        if file.read_exact_at(&mut taken, 0).is_err() {
            return Err(refusal);
        }
        note_refusal(&mut spilled.lock(), &self.path, &refusal);
        self.target = Target::Memory(taken);
        Ok(())
    }
}

fn note_refusal(spilled: &mut Spilled, path: &Path, refusal: &io::Error) {
    tracing::warn!(path = %path.display(), error = %refusal, "the disk refuses a file; it goes on in memory");
    spilled.refusal = Some(refusal.to_string());
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(progress) = &self.progress {
            progress.check().map_err(io::Error::other)?;
        }
        if let Target::Disk(file) = &mut self.target
            && let Err(refusal) = file.write_all_at(bytes, self.offset)
        {
            self.spill(refusal)?;
        }
        if let Target::Memory(taken) = &mut self.target {
            taken.extend_from_slice(bytes);
        }
        self.offset += bytes.len() as u64;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for Output {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        if let (Target::Memory(taken), Some(spilled)) = (&mut self.target, &self.spilled) {
            let bytes = OwnedBytes::new(std::mem::take(taken));
            spilled.lock().files.insert(self.path.clone(), bytes);
        }
        Ok(())
    }
}

impl Directory for ShardDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        if let Some(bytes) = self.overlay.get(path) {
            return Ok(Arc::new(bytes.clone()));
        }
        let Some(name) = path.to_str() else {
            return Err(OpenReadError::FileDoesNotExist(path.into()));
        };
        match self.checked(name) {
            Ok(file) => Ok(file),
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
        if let Some((id, _)) = path.to_str().and_then(|name| name.split_once('.')) {
            let mut written = self.written.lock();
            let files = written.entry(id.to_string()).or_default();
            files.push(path.to_path_buf());
        }
        let spilled = self.spills.then(|| self.spilled.clone());
        let target = match (self.disk.create_new(&self.root.join(path)), &spilled) {
            (Ok(file), _) => Target::Disk(file),
            (Err(refusal), Some(spilled)) if refusal.kind() != io::ErrorKind::AlreadyExists => {
                note_refusal(&mut spilled.lock(), path, &refusal);
                Target::Memory(Vec::new())
            }
            (Err(error), _) => return Err(OpenWriteError::wrap_io_error(error, path.into())),
        };
        let output: Box<dyn TerminatingWrite + Send + Sync> = Box::new(Summed::new(Output {
            target,
            offset: 0,
            path: path.to_path_buf(),
            spilled,
            progress: self.progress.clone(),
        }));
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
