//! The machine's file system.

use std::any::Any;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Disk, DiskFile, DiskSpace, GrowingMap, Mapped};
use crate::regular_file::open_regular;

/// The machine's file system, through the standard library.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)?;
        Ok(Box::new(RealFile(file)))
    }
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let file = open_regular(path, OpenOptions::new().read(true).write(true))?;
        Ok(Box::new(RealFile(file)))
    }
    fn map(&self, path: &Path) -> io::Result<Mapped> {
        let file = open_to_read(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Mapped::from_bytes(Vec::new()));
        }
        // SAFETY: callers map only files that are not shortened while mapped (the trait's rule);
        // nothing else writes into the data folder, which is locked by its process.
        #[allow(unsafe_code, reason = "memory maps are this crate's task")]
        let map = unsafe { memmap2::Mmap::map(&file) }?;
        Ok(Mapped::from_map(map))
    }
    fn map_growing(self: Arc<Self>, path: &Path, capacity: usize) -> io::Result<GrowingMap> {
        GrowingMap::reserve(open_to_read(path)?, capacity)
    }
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        open_to_read(path)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let mut paths: Vec<PathBuf> = fs::read_dir(path)?
            .map(|entry| entry.map(|e| e.path()))
            .collect::<io::Result<_>>()?;
        paths.sort();
        Ok(paths)
    }
    fn exists(&self, path: &Path) -> bool {
        let is_there = |found: io::Result<fs::Metadata>| match found {
            Ok(_) => true,
            Err(error) => !matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ),
        };
        // What a link leads to may be gone for now, as a disk is that is not mounted.
        is_there(fs::metadata(path)) || is_there(fs::symlink_metadata(path))
    }
    fn len(&self, path: &Path) -> io::Result<u64> {
        Ok(fs::metadata(path)?.len())
    }
    fn space(&self, path: &Path) -> io::Result<DiskSpace> {
        let stat = rustix::fs::statvfs(path)?;
        // What is kept back for others is no room of ours, as `df` counts it: of a disk that is mostly
        // kept back, little would always seem to be free.
        let used = stat.f_blocks.saturating_sub(stat.f_bfree);
        let ours = used.saturating_add(stat.f_bavail);
        Ok(DiskSpace {
            total: ours.saturating_mul(stat.f_frsize),
            free: stat.f_bavail.saturating_mul(stat.f_frsize),
            // Of the two ids that there are, `f_fsid` is zero on some file systems.
            file_system: fs::metadata(path)?.dev(),
        })
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        // The parent of a bare file name is the empty path, which cannot be opened.
        let path = if path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            path
        };
        let folder = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECTORY)
            .open(path)?;
        folder.sync_all()
    }
    fn lock(&self, path: &Path) -> io::Result<Box<dyn Any + Send + Sync>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let file = match open_regular(path, &mut options) {
            // Whoever only reads keeps others out there as well.
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => open_to_read(path),
            opened => opened,
        };
        let file = file?;
        match file.try_lock() {
            Ok(()) => Ok(Box::new(file)),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

fn open_to_read(path: &Path) -> io::Result<File> {
    open_regular(path, OpenOptions::new().read(true))
}

#[derive(Debug)]
struct RealFile(File);

impl DiskFile for RealFile {
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_exact_at(buffer, offset)
    }
    fn sync_data(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
    #[cfg(target_os = "linux")]
    fn start_writeback(&mut self, offset: u64, bytes: u64) {
        let (Ok(offset), Ok(bytes)) = (i64::try_from(offset), i64::try_from(bytes)) else {
            return;
        };
        // SAFETY: the call takes a descriptor, which this file keeps open, and numbers; it
        // touches no memory of the process. A failure is one the next sync will report.
        #[allow(unsafe_code, reason = "the standard library has no such call")]
        let _ = unsafe {
            libc::sync_file_range(
                self.0.as_raw_fd(),
                offset,
                bytes,
                libc::SYNC_FILE_RANGE_WRITE,
            )
        };
    }
    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_looked_at_does_not_pass_for_missing() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "x").unwrap();
        std::os::unix::fs::symlink(path("loop"), path("loop")).unwrap();
        assert!(RealDisk.exists(&path("file")) && RealDisk.exists(folder.path()));
        assert!(!RealDisk.exists(&path("none")) && !RealDisk.exists(&path("file/below")));
        assert!(RealDisk.exists(&path("loop")));
        assert!(RealDisk.read(&path("loop")).is_err());
        std::os::unix::fs::symlink(path("gone"), path("link")).unwrap();
        assert!(RealDisk.exists(&path("link")) && !RealDisk.exists(&path("gone")));
    }

    #[test]
    fn what_is_no_file_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let told = "it is a named pipe and no file";
        let (disk, path) = (Arc::new(RealDisk), pipe.as_path());
        for refused in [
            RealDisk.open(path).map(drop),
            RealDisk.map(path).map(drop),
            disk.map_growing(path, 1).map(drop),
            RealDisk.read(path).map(drop),
            RealDisk.lock(path).map(drop),
        ] {
            assert_eq!(refused.unwrap_err().to_string(), told);
        }
        assert!(RealDisk.sync_dir(path).is_err());
    }
}
