//! A map of a file that is appended to: mapped once with room to grow, so that following it
//! costs a look at its length instead of a new map with all its page faults.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memmap2::{MmapOptions, MmapRaw};
use parking_lot::Mutex;

use super::{Disk, Mapped};

/// A growing file's bytes. See [`Disk::map_growing`].
#[derive(Debug)]
pub struct GrowingMap(Inner);

#[derive(Debug)]
enum Inner {
    Map(Arc<Reserved>),
    /// A snapshot, taken again when more is asked for.
    Snapshot {
        disk: Arc<dyn Disk>,
        path: PathBuf,
        taken: Mutex<Option<Mapped>>,
    },
}

/// A map that reaches beyond the end of its file.
pub(crate) struct Reserved {
    map: MmapRaw,
    file: File,
    /// The file was found to be at least this long.
    known: AtomicUsize,
}

impl GrowingMap {
    /// Maps a file with room for `capacity` bytes.
    pub(crate) fn reserve(file: File, capacity: usize) -> io::Result<Self> {
        let map = MmapOptions::new()
            .len(capacity.max(1))
            .map_raw_read_only(&file)?;
        let known = AtomicUsize::new(0);
        Ok(GrowingMap(Inner::Map(Arc::new(Reserved {
            map,
            file,
            known,
        }))))
    }

    /// A map for disks that can only copy.
    pub fn of_snapshots(disk: Arc<dyn Disk>, path: PathBuf) -> Self {
        let taken = Mutex::default();
        GrowingMap(Inner::Snapshot { disk, path, taken })
    }

    /// The file's first `len` bytes, or `None` when that is beyond the map's capacity. Costs an
    /// atomic load, unless the file must be asked for its length.
    ///
    /// # Errors
    /// `UnexpectedEof` when the file is shorter; whatever the disk says.
    pub fn prefix(&self, len: usize) -> io::Result<Option<Mapped>> {
        match &self.0 {
            Inner::Map(reserved) if len > reserved.map.len() => Ok(None),
            Inner::Map(reserved) => {
                reserved.check(len)?;
                Ok(Some(Mapped::from_reserved(reserved.clone(), len)))
            }
            Inner::Snapshot { disk, path, taken } => {
                let mut taken = taken.lock();
                if taken.as_ref().is_none_or(|map| map.len() < len) {
                    *taken = Some(disk.map(path)?);
                }
                match taken.as_ref().filter(|map| map.len() >= len) {
                    Some(map) => Ok(Some(map.first(len))),
                    None => Err(io::ErrorKind::UnexpectedEof.into()),
                }
            }
        }
    }
}

impl Reserved {
    fn check(&self, len: usize) -> io::Result<()> {
        if len <= self.known.load(Ordering::Acquire) {
            return Ok(());
        }
        let found = usize::try_from(self.file.metadata()?.len()).unwrap_or(usize::MAX);
        self.known.fetch_max(found, Ordering::Release);
        if len <= found {
            Ok(())
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }

    /// The file's first `len` bytes, which `check` has found to be there.
    pub(crate) fn bytes(&self, len: usize) -> &[u8] {
        assert!(
            len <= self.known.load(Ordering::Acquire).min(self.map.len()),
            "only bytes that were found to be there may be looked at"
        );
        // SAFETY: the map is `len` bytes long or longer, and lives as long as `self`. The file was
        // found to reach to `len`, and callers of `map_growing` never shorten it below a length
        // they have asked for; bytes below it are written once, before that length is asked for.
        #[allow(unsafe_code, reason = "memory maps are this crate's task")]
        unsafe {
            std::slice::from_raw_parts(self.map.as_ptr(), len)
        }
    }
}

impl fmt::Debug for Reserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reserved")
            .field("capacity", &self.map.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{RealDisk, SimDisk};

    fn follows_a_growing_file(disk: &Arc<dyn Disk>, dir: &Path) {
        let path = dir.join("f");
        let mut file = disk.create_new(&path).unwrap();
        let map = disk.clone().map_growing(&path, 10_000).unwrap();
        let error = map.prefix(1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        let mut held = Vec::new();
        for round in 0..5u8 {
            file.write_all_at(&[round; 2000], u64::from(round) * 2000)
                .unwrap();
            let len = (usize::from(round) + 1) * 2000;
            let bytes = map.prefix(len).unwrap().unwrap();
            assert_eq!(bytes[len - 2000..len], [round; 2000]);
            held.push(bytes);
        }
        drop(map);
        for (round, bytes) in held.iter().enumerate() {
            assert_eq!(
                usize::from(bytes[round * 2000]),
                round,
                "bytes outlive the map"
            );
        }
    }

    #[test]
    fn both_disks_follow_a_growing_file() {
        let dir = std::env::temp_dir().join(format!("clew-growing-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let real: Arc<dyn Disk> = Arc::new(RealDisk);
        follows_a_growing_file(&real, &dir);
        let beyond = real.clone().map_growing(&dir.join("f"), 100).unwrap();
        assert!(beyond.prefix(101).unwrap().is_none(), "beyond the capacity");
        std::fs::remove_dir_all(&dir).unwrap();
        let simulated: Arc<dyn Disk> = Arc::new(SimDisk::new());
        simulated.create_dir_all(Path::new("d")).unwrap();
        follows_a_growing_file(&simulated, Path::new("d"));
    }
}
