//! A disk that is waited for while it is full, or the process has no descriptor to spare. Somebody makes room sooner or later, and
//! until then nothing is lost: files are read on from where they are, and who sends is not answered.

use std::any::Any;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clew_platform::{Disk, DiskFile, DiskSpace, GrowingMap, Mapped};
use rustix::io::Errno;

use crate::backoff::Backoff;
use crate::stop::StopToken;

const PAUSE_FIRST: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Does something with a disk again and again for as long as what is wrong [`passes`]; until the stop, which leaves it with the
/// error.
///
/// What of a file has failed to be synced is not tried again: nobody knows what of it is on the disk.
pub(crate) fn with_room<T>(
    path: &Path,
    stop: &StopToken,
    mut work: impl FnMut() -> io::Result<T>,
) -> io::Result<T> {
    let mut backoff = Backoff::new(PAUSE_FIRST, PAUSE_MAX, u64::from(std::process::id()));
    loop {
        match work() {
            Err(error) if passes(&error) => {
                if backoff.attempts() == 0 {
                    tracing::warn!(path = %path.display(), %error, "the disk takes nothing for now, the collector waits");
                }
                if stop.wait(backoff.next_pause()) {
                    return Err(error);
                }
            }
            done => {
                if done.is_ok() && backoff.attempts() > 0 {
                    tracing::info!(path = %path.display(), "the disk takes everything again");
                }
                return done;
            }
        }
    }
}

/// Whether somebody puts an end to it sooner or later: there is no room, a quota is used up, or there are no descriptors.
pub(crate) fn passes(error: &io::Error) -> bool {
    let is_full = matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    );
    let of_descriptors = [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error);
    let number = error.raw_os_error();
    is_full || number.is_some_and(|number| of_descriptors.contains(&number))
}

/// A disk whose writers wait for room.
#[derive(Clone, Debug)]
pub struct PatientDisk {
    disk: Arc<dyn Disk>,
    stop: StopToken,
}

impl PatientDisk {
    /// Waits for room on `disk` until the stop.
    pub fn new(disk: Arc<dyn Disk>, stop: StopToken) -> Self {
        PatientDisk { disk, stop }
    }

    fn patient(&self, path: &Path, file: Box<dyn DiskFile>) -> Box<dyn DiskFile> {
        Box::new(PatientFile {
            file,
            path: path.to_owned(),
            stop: self.stop.clone(),
        })
    }
}

impl Disk for PatientDisk {
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let file = with_room(path, &self.stop, || self.disk.create_new(path))?;
        Ok(self.patient(path, file))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let file = with_room(path, &self.stop, || self.disk.open(path))?;
        Ok(self.patient(path, file))
    }

    fn map(&self, path: &Path) -> io::Result<Mapped> {
        with_room(path, &self.stop, || self.disk.map(path))
    }

    fn map_growing(self: Arc<Self>, path: &Path, capacity: usize) -> io::Result<GrowingMap> {
        Arc::clone(&self.disk).map_growing(path, capacity)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        with_room(path, &self.stop, || self.disk.read(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        with_room(to, &self.stop, || self.disk.rename(from, to))
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_file(path)
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_dir_all(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        with_room(path, &self.stop, || self.disk.create_dir_all(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        with_room(path, &self.stop, || self.disk.list(path))
    }

    fn exists(&self, path: &Path) -> bool {
        self.disk.exists(path)
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        self.disk.len(path)
    }

    fn space(&self, path: &Path) -> io::Result<DiskSpace> {
        self.disk.space(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        with_room(path, &self.stop, || self.disk.sync_dir(path))
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Any + Send + Sync>> {
        with_room(path, &self.stop, || self.disk.lock(path))
    }

    /// Begun anew each time, whichever step found no room: some file systems look for it only when a file is synced.
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        with_room(path, &self.stop, || self.disk.write_atomic(path, bytes))
    }
}

#[derive(Debug)]
struct PatientFile {
    file: Box<dyn DiskFile>,
    path: PathBuf,
    stop: StopToken,
}

impl DiskFile for PatientFile {
    /// What was written of it before the disk was full is written again, at the same place.
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let file = &mut self.file;
        with_room(&self.path, &self.stop, || file.write_all_at(bytes, offset))
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn start_writeback(&mut self, offset: u64, bytes: u64) {
        self.file.start_writeback(offset, bytes);
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use clew_platform::SimDisk;

    use super::*;

    #[test]
    fn writing_waits_until_there_is_room_and_writes_what_was_asked_for_once() {
        let (disk, waits) = (SimDisk::new(), Arc::new(AtomicU32::new(0)));
        disk.limit_bytes(8);
        let stop = StopToken::simulated({
            let (disk, waits) = (disk.clone(), Arc::clone(&waits));
            move |pause| {
                assert!(pause <= PAUSE_MAX);
                if waits.fetch_add(1, Ordering::Relaxed) == 99 {
                    disk.limit_bytes(u64::MAX);
                }
            }
        });
        let patient = PatientDisk::new(Arc::new(disk.clone()), stop);
        let mut file = patient.create_new(Path::new("/a")).unwrap();
        file.write_all_at(b"before", 0).unwrap();
        file.write_all_at(b" and behind", 6).unwrap();
        assert_eq!(waits.load(Ordering::Relaxed), 100);
        assert_eq!(patient.read(Path::new("/a")).unwrap(), b"before and behind");
        patient.write_atomic(Path::new("/b"), b"atomic").unwrap();
        assert_eq!(disk.read(Path::new("/b")).unwrap(), b"atomic");
        // A descriptor is there at the second try.
        let looks: [fn(&PatientDisk) -> io::Result<()>; 3] = [
            |patient| patient.open(Path::new("/a")).map(drop),
            |patient| patient.read(Path::new("/a")).map(drop),
            |patient| patient.map(Path::new("/a")).map(drop),
        ];
        for look in looks {
            let before = waits.load(Ordering::Relaxed);
            disk.fail_open(1);
            look(&patient).unwrap();
            assert_eq!(waits.load(Ordering::Relaxed), before + 1);
        }
    }

    #[test]
    fn a_stop_ends_the_wait_and_other_errors_are_not_waited_for() {
        let disk = SimDisk::new();
        disk.limit_bytes(0);
        let stop = StopToken::new();
        stop.stop();
        let patient = PatientDisk::new(Arc::new(disk), stop);
        let mut file = patient.create_new(Path::new("/a")).unwrap();
        let error = file.write_all_at(b"x", 0).unwrap_err();
        assert!(passes(&error), "{error}");
        let error = patient.open(Path::new("/nothing")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let mut tries = 0;
        let refused = with_room(Path::new("/a"), &StopToken::new(), || -> io::Result<()> {
            tries += 1;
            Err(io::ErrorKind::PermissionDenied.into())
        });
        assert!(refused.is_err());
        assert_eq!(tries, 1);
    }
}
