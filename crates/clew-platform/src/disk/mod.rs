//! The disk seam: a small set of file operations with their durability spelled out.
//!
//! Rules every implementation keeps:
//! - written bytes are visible to readers of the same process at once, but survive a crash only
//!   after [`DiskFile::sync_data`];
//! - a new, renamed or removed name survives a crash only after [`Disk::sync_dir`] of its folder.

mod growing;

use std::any::Any;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use growing::GrowingMap;
use growing::Reserved;

/// Ends the names of files that are being written by [`Disk::write_atomic`]. Nothing ever refers to them.
pub const TEMPORARY_SUFFIX: &str = ".tmp";

/// A disk, real or simulated. Paths are used as given.
pub trait Disk: Send + Sync + std::fmt::Debug + 'static {
    /// Creates a new file for writing; fails with `AlreadyExists` when the name is taken.
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Opens an existing file for reading and writing at any offset.
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Maps a whole existing file for reading. The file must not shrink while mapped: Clew maps
    /// only files that are written once, and log files below their written end.
    fn map(&self, path: &Path) -> io::Result<Mapped>;
    /// Maps a file that is appended to, with room for `capacity` bytes; it need not be that long.
    /// It must never be shortened below a length that was asked of the map.
    fn map_growing(self: Arc<Self>, path: &Path, capacity: usize) -> io::Result<GrowingMap>;
    /// Reads a whole file into memory.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// Renames a file over another, atomically.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes a folder and all below it; a missing one is not an error.
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;
    /// Creates a folder and its parents.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;
    /// The paths of the files and folders directly in a folder, sorted.
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>>;
    /// Whether a file or folder exists. What cannot be looked at is taken to be there: whoever goes on to read it learns why, and
    /// nothing is begun anew in its place.
    fn exists(&self, path: &Path) -> bool;
    /// A file's length in bytes.
    fn len(&self, path: &Path) -> io::Result<u64>;
    /// How full the file system is that an existing path lies on. Costs about a microsecond.
    fn space(&self, path: &Path) -> io::Result<DiskSpace>;
    /// Makes the names in a folder durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Takes the lock that a file stands for, creating the file when it is missing, and holds it
    /// until the returned guard is dropped or the process ends. On a file system that is only read it can be
    /// taken where the file is there. Fails with `WouldBlock` when the lock is held, by this process or another.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn Any + Send + Sync>>;

    /// Creates a folder and its parents, and makes the new names durable.
    fn create_dir_all_durable(&self, path: &Path) -> io::Result<()> {
        let missing: Vec<&Path> = path.ancestors().take_while(|p| !self.exists(p)).collect();
        self.create_dir_all(path)?;
        missing
            .iter()
            .rev()
            .filter_map(|p| p.parent())
            .try_for_each(|p| self.sync_dir(p))
    }

    /// Writes a file as a whole so that a crash leaves the old or the new content, never a mix:
    /// temporary file, `sync_data`, rename, `sync_dir`. A failure leaves no temporary file, as far as
    /// the disk lets it be removed; a crash may leave one, whose name ends with [`TEMPORARY_SUFFIX`].
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(TEMPORARY_SUFFIX);
        let temporary = path.with_file_name(name);
        if self.exists(&temporary) {
            self.remove_file(&temporary)?;
        }
        let written = self.create_new(&temporary).and_then(|mut file| {
            file.write_all_at(bytes, 0)?;
            file.sync_data()
        });
        let renamed = written.and_then(|()| self.rename(&temporary, path));
        if let Err(error) = renamed {
            // What matters is the first failure; the next write, or the next start, tries to remove it again.
            let _ = self.remove_file(&temporary);
            return Err(error);
        }
        self.sync_dir(path.parent().unwrap_or(Path::new(".")))
    }
}

/// How full a file system is, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskSpace {
    /// Its size, without what is kept back for others; 0 where the system does not tell.
    pub total: u64,
    /// What this process may still write.
    pub free: u64,
    /// Tells file systems apart: equal for paths that share their space.
    pub file_system: u64,
}

impl DiskSpace {
    /// What is taken.
    pub fn used(&self) -> u64 {
        self.total.saturating_sub(self.free)
    }
}

/// An open file. All offsets are absolute, so no hidden cursor is shared.
#[allow(
    clippy::len_without_is_empty,
    reason = "a length asked of the disk is not a container's"
)]
pub trait DiskFile: Send + Sync + std::fmt::Debug {
    /// Writes all bytes at an offset, growing the file when needed.
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Fills the buffer from an offset; fails with `UnexpectedEof` when the file is shorter.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
    /// Makes all written bytes, and the length needed to read them, durable (`fdatasync`).
    fn sync_data(&mut self) -> io::Result<()>;
    /// Lets the disk begin to store a range, so that a later sync has less to do. A hint without
    /// any promise; does not wait for the disk.
    fn start_writeback(&mut self, _offset: u64, _bytes: u64) {}
    /// Cuts or extends (with zeros) the file.
    fn set_len(&mut self, len: u64) -> io::Result<()>;
    /// The file's length in bytes.
    fn len(&self) -> io::Result<u64>;
}

/// A file's bytes, mapped or held in memory; cheap to clone, and the address never moves.
#[derive(Clone, Debug)]
pub struct Mapped(Inner);

#[derive(Clone, Debug)]
enum Inner {
    Map(Arc<memmap2::Mmap>),
    Reserved(Arc<Reserved>, usize),
    Heap(Arc<[u8]>, usize),
}

impl Mapped {
    pub(crate) fn from_map(map: memmap2::Mmap) -> Self {
        Mapped(Inner::Map(Arc::new(map)))
    }
    pub(crate) fn from_reserved(map: Arc<Reserved>, len: usize) -> Self {
        Mapped(Inner::Reserved(map, len))
    }
    /// Bytes held in memory, for simulated disks and empty files.
    pub fn from_bytes(bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        let len = bytes.len();
        Mapped(Inner::Heap(bytes, len))
    }

    /// The first bytes of those held in memory.
    pub(crate) fn first(&self, len: usize) -> Self {
        match &self.0 {
            Inner::Heap(bytes, all) => Mapped(Inner::Heap(bytes.clone(), len.min(*all))),
            Inner::Map(_) | Inner::Reserved(..) => self.clone(),
        }
    }
}

impl Deref for Mapped {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Inner::Map(map) => map,
            Inner::Reserved(map, len) => map.bytes(*len),
            Inner::Heap(bytes, len) => &bytes[..*len],
        }
    }
}

#[allow(
    unsafe_code,
    reason = "tantivy holds mapped bytes only behind StableDeref"
)]
// SAFETY: all variants hold their bytes behind an `Arc`, so moving or cloning `Mapped` never
// moves the bytes, and nothing hands out a mutable view.
unsafe impl stable_deref_trait::StableDeref for Mapped {}
