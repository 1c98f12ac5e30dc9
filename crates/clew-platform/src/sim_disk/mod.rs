//! A disk in memory that fails on demand, because real disks fail only when nobody is looking.
//!
//! It keeps the promises of [`Disk`] and nothing more: what was not synced may be gone after a
//! power cut, in whole or in part, and the seed alone decides how. Whatever passes on this disk
//! under every seed does not lean on the habits of one file system.
//!
//! Deliberately absent: timing. A slow disk is modelled by [`SimDisk::stall`], not by sleeping.

mod content;
mod names;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use content::FileRef;
use names::Names;
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::disk::{Disk, DiskFile, DiskSpace, GrowingMap, Mapped};
use crate::random::SplitMix;

/// `errno` values of Linux, so that callers see the same `io::ErrorKind` as on a real disk.
const EIO: i32 = 5;
const EMFILE: i32 = 24;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;

/// The size that a disk says it has as long as it was given none.
const SIZE_UNTOLD: u64 = 1 << 40;

/// A simulated disk. Clones share one disk.
///
/// A map is a snapshot: it holds a copy of the file as it was, and never sees later writes.
/// Callers that follow a growing file map it again, as they must on a real disk to see past the
/// old end.
#[derive(Clone, Debug, Default)]
pub struct SimDisk(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    resumed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Counts power cuts, so that handles opened before one are dead after it.
    epoch: u64,
    names: Names,
    locks: BTreeSet<PathBuf>,
    /// How large the disk is; `None` is as good as endless.
    capacity: Option<u64>,
    faults: Faults,
}

impl State {
    /// Bytes that all files together may grow to.
    fn bytes_max(&self) -> Option<u64> {
        let limits = [self.capacity, self.faults.bytes_max];
        limits.into_iter().flatten().min()
    }
}

#[derive(Debug, Default)]
struct Faults {
    syncs_until_failure: Option<u64>,
    folder_syncs_until_failure: Option<u64>,
    opens_until_failure: Option<u64>,
    syncs_lie: bool,
    changes_until_power_cut: Option<u64>,
    bytes_max: Option<u64>,
    read_only: bool,
    stalled: bool,
    removals_stalled: bool,
    power_is_cut: bool,
    changes_until_panic: Option<u64>,
    has_panicked: bool,
}

impl SimDisk {
    /// An empty disk without faults.
    pub fn new() -> Self {
        SimDisk::default()
    }

    /// The disk as it would be found if the power failed now; this one goes on unharmed.
    ///
    /// Of the writes of each file since its last successful sync, the seed decides whether all
    /// are lost, all are kept, a prefix is kept up to an arbitrary byte, or an arbitrary choice
    /// of sectors is kept with zeros between them. Of the names changed since the last sync of
    /// their folder, it keeps all, none, a prefix or an arbitrary choice.
    /// Faults, locks and open handles do not carry over.
    pub fn crashed(&self, seed: u64) -> SimDisk {
        let mut random = SplitMix::new(seed);
        let before = self.0.state.lock();
        let state = State {
            names: before.names.after_power_loss(&mut random),
            capacity: before.capacity,
            ..State::default()
        };
        drop(before);
        SimDisk(Arc::new(Shared {
            state: Mutex::new(state),
            resumed: Condvar::new(),
        }))
    }

    /// Cuts the power and starts the machine again: as [`crashed`](Self::crashed), in place.
    /// Every handle opened before fails from now on.
    pub fn crash(&self, seed: u64) {
        let mut state = self.0.state.lock();
        let names = state.names.after_power_loss(&mut SplitMix::new(seed));
        let (epoch, capacity) = (state.epoch + 1, state.capacity);
        *state = State {
            epoch,
            names,
            capacity,
            ..State::default()
        };
        drop(state);
        self.0.resumed.notify_all();
    }

    /// Makes the `n`-th next sync of a file fail with `EIO`; 1 is the next one.
    ///
    /// As on Linux, the bytes it should have made durable stay readable, but no later sync will
    /// write them: they are gone after a power cut.
    pub fn fail_sync(&self, n: u64) {
        self.0.state.lock().faults.syncs_until_failure = Some(n);
    }

    /// Makes the `n`-th next sync of a folder fail with `EIO`; 1 is the next one. Its names stay as they are, and a power
    /// cut may keep them or not.
    pub fn fail_folder_sync(&self, n: u64) {
        self.0.state.lock().faults.folder_syncs_until_failure = Some(n);
    }

    /// Makes the `n`-th next opening of what is there, to be read, mapped, written or listed, fail with `EMFILE`; 1 is the
    /// next one. Handles and maps that there are go on.
    pub fn fail_open(&self, n: u64) {
        self.0.state.lock().faults.opens_until_failure = Some(n);
    }

    /// Makes every sync of a file succeed without making anything durable, or ends that: a drive
    /// that answers from a cache it will lose.
    pub fn lie_about_syncs(&self, lie: bool) {
        self.0.state.lock().faults.syncs_lie = lie;
    }

    /// Cuts the power at the `n`-th next change (write, resize, sync, new or removed name); 1 is
    /// the next one. From then on everything fails with `EIO`; a write that was cut is in
    /// progress and may be torn. Look at what is left with [`crashed`](Self::crashed).
    pub fn cut_power_after(&self, n: u64) {
        self.0.state.lock().faults.changes_until_power_cut = Some(n);
    }

    /// Makes the `n`-th next change panic, as a defect of the program does that lies below whoever changes something; 1 is the
    /// next one.
    pub fn break_down_after(&self, n: u64) {
        let mut state = self.0.state.lock();
        state.faults.changes_until_panic = Some(n);
        state.faults.has_panicked = false;
    }

    /// Whether that has happened.
    pub fn has_broken_down(&self) -> bool {
        self.0.state.lock().faults.has_panicked
    }

    /// Makes the disk `bytes` large, as [`Disk::space`] tells: a write beyond that stores what fits
    /// and then fails with `ENOSPC`. A power cut changes nothing in it.
    pub fn set_capacity(&self, bytes: u64) {
        self.0.state.lock().capacity = Some(bytes);
    }

    /// Lets all files together grow to `bytes_max`; a write beyond it stores what fits and then
    /// fails with `ENOSPC`. `u64::MAX` lifts the limit. Nobody is told beforehand: as with a quota,
    /// [`Disk::space`] knows nothing of it.
    pub fn limit_bytes(&self, bytes_max: u64) {
        self.0.state.lock().faults.bytes_max = Some(bytes_max);
    }

    /// Makes every change fail with `EROFS`, or lifts that again.
    pub fn set_read_only(&self, read_only: bool) {
        self.0.state.lock().faults.read_only = read_only;
    }

    /// Holds back every change until [`resume`](Self::resume): a disk that has become slow.
    /// Reads go on.
    pub fn stall(&self) {
        self.0.state.lock().faults.stalled = true;
    }

    /// Holds back every removal of a folder until [`resume`](Self::resume), as a large one takes its time.
    pub fn stall_removals(&self) {
        self.0.state.lock().faults.removals_stalled = true;
    }

    /// Ends a [`stall`](Self::stall), of removals too.
    pub fn resume(&self) {
        let mut state = self.0.state.lock();
        state.faults.stalled = false;
        state.faults.removals_stalled = false;
        drop(state);
        self.0.resumed.notify_all();
    }

    /// The bytes of all files together.
    pub fn bytes_used(&self) -> u64 {
        self.0.state.lock().names.bytes_used()
    }
}

impl Shared {
    /// The state for a call that only looks.
    fn look(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.state.lock();
        if state.faults.power_is_cut {
            Err(errno(EIO))
        } else {
            Ok(state)
        }
    }

    /// The state for a call that opens what is there.
    fn open(&self) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.look()?;
        if reaches_zero(&mut state.faults.opens_until_failure) {
            return Err(errno(EMFILE));
        }
        Ok(state)
    }

    /// The state for a call that changes something, after waiting out a stall.
    fn change(&self) -> io::Result<MutexGuard<'_, State>> {
        let (state, cut) = self.change_or_cut()?;
        if cut { Err(errno(EIO)) } else { Ok(state) }
    }

    /// As [`change`](Self::change), and whether the power fails during this very change.
    fn change_or_cut(&self) -> io::Result<(MutexGuard<'_, State>, bool)> {
        let mut state = self.state.lock();
        while state.faults.stalled && !state.faults.power_is_cut {
            self.resumed.wait(&mut state);
        }
        if state.faults.power_is_cut {
            return Err(errno(EIO));
        }
        if state.faults.read_only {
            return Err(errno(EROFS));
        }
        if reaches_zero(&mut state.faults.changes_until_panic) {
            state.faults.has_panicked = true;
            panic!("as it must");
        }
        let cut = reaches_zero(&mut state.faults.changes_until_power_cut);
        state.faults.power_is_cut = cut;
        Ok((state, cut))
    }
}

impl Disk for SimDisk {
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.0.change()?;
        let content = state.names.create_file(path)?;
        Ok(self.handle(content, state.epoch))
    }
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let state = self.0.open()?;
        if state.faults.read_only {
            return Err(errno(EROFS));
        }
        Ok(self.handle(state.names.file(path)?, state.epoch))
    }
    fn map(&self, path: &Path) -> io::Result<Mapped> {
        Ok(Mapped::from_bytes(self.read(path)?))
    }
    fn map_growing(self: Arc<Self>, path: &Path, _capacity: usize) -> io::Result<GrowingMap> {
        Ok(GrowingMap::of_snapshots(self, path.to_owned()))
    }
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let state = self.0.open()?;
        Ok(state.names.file(path)?.lock().bytes().to_vec())
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.change()?.names.rename_file(from, to)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.0.change()?.names.remove_file(path)
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.change()?;
        while state.faults.removals_stalled && !state.faults.power_is_cut {
            self.0.resumed.wait(&mut state);
        }
        if state.faults.power_is_cut {
            return Err(errno(EIO));
        }
        state.names.remove_folder(path);
        Ok(())
    }
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.0.change()?.names.create_folders(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.0.open()?.names.list(path)
    }
    fn exists(&self, path: &Path) -> bool {
        self.0.state.lock().names.exists(path)
    }
    fn len(&self, path: &Path) -> io::Result<u64> {
        let state = self.0.look()?;
        Ok(state.names.file(path)?.lock().bytes().len() as u64)
    }
    fn space(&self, path: &Path) -> io::Result<DiskSpace> {
        let state = self.0.look()?;
        if !state.names.exists(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let total = state.capacity.unwrap_or(SIZE_UNTOLD);
        Ok(DiskSpace {
            total,
            free: total.saturating_sub(state.names.bytes_used()),
            file_system: 0,
        })
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.change()?;
        if reaches_zero(&mut state.faults.folder_syncs_until_failure) {
            return Err(errno(EIO));
        }
        state.names.sync_folder(path)
    }
    fn lock(&self, path: &Path) -> io::Result<Box<dyn Any + Send + Sync>> {
        let read_only = self.0.look()?.faults.read_only;
        let mut state = match read_only {
            true => self.0.look()?,
            false => self.0.change()?,
        };
        if !state.names.exists(path) {
            if read_only {
                return Err(io::ErrorKind::NotFound.into());
            }
            state.names.create_file(path)?;
        }
        if !state.locks.insert(path.to_owned()) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let (disk, epoch) = (self.0.clone(), state.epoch);
        Ok(Box::new(LockGuard {
            disk,
            path: path.to_owned(),
            epoch,
        }))
    }
}

impl SimDisk {
    fn handle(&self, content: FileRef, epoch: u64) -> Box<dyn DiskFile> {
        Box::new(SimFile {
            disk: self.0.clone(),
            content,
            epoch,
        })
    }
}

#[derive(Debug)]
struct SimFile {
    disk: Arc<Shared>,
    content: FileRef,
    epoch: u64,
}

impl SimFile {
    fn alive(&self, state: &State) -> io::Result<()> {
        if state.epoch == self.epoch {
            Ok(())
        } else {
            Err(errno(EIO))
        }
    }
}

impl DiskFile for SimFile {
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let (state, cut) = self.disk.change_or_cut()?;
        self.alive(&state)?;
        let offset = to_index(offset)?;
        let room = match state.bytes_max() {
            Some(bytes_max) => {
                let end = self.content.lock().bytes().len();
                let free = bytes_max.saturating_sub(state.names.bytes_used());
                end.saturating_sub(offset)
                    .saturating_add(to_index(free).unwrap_or(usize::MAX))
            }
            None => usize::MAX,
        };
        self.content
            .lock()
            .write(&bytes[..bytes.len().min(room)], offset);
        match (cut, bytes.len() > room) {
            (true, _) => Err(errno(EIO)),
            (false, true) => Err(errno(ENOSPC)),
            (false, false) => Ok(()),
        }
    }
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.alive(&*self.disk.look()?)?;
        let content = self.content.lock();
        let found = content
            .bytes()
            .get(to_index(offset)?..)
            .and_then(|b| b.get(..buffer.len()));
        buffer.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
    fn sync_data(&mut self) -> io::Result<()> {
        let mut state = self.disk.change()?;
        self.alive(&state)?;
        if reaches_zero(&mut state.faults.syncs_until_failure) {
            self.content.lock().fail_sync();
            return Err(errno(EIO));
        }
        if !state.faults.syncs_lie {
            self.content.lock().sync();
        }
        Ok(())
    }
    fn set_len(&mut self, len: u64) -> io::Result<()> {
        let state = self.disk.change()?;
        self.alive(&state)?;
        self.content.lock().resize(to_index(len)?);
        Ok(())
    }
    fn len(&self) -> io::Result<u64> {
        self.alive(&*self.disk.look()?)?;
        Ok(self.content.lock().bytes().len() as u64)
    }
}

struct LockGuard {
    disk: Arc<Shared>,
    path: PathBuf,
    epoch: u64,
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        let mut state = self.disk.state.lock();
        if state.epoch == self.epoch {
            state.locks.remove(&self.path);
        }
    }
}

fn errno(code: i32) -> io::Error {
    io::Error::from_raw_os_error(code)
}

fn to_index(value: u64) -> io::Result<usize> {
    usize::try_from(value).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Counts one event down; true when it is the one that was waited for.
fn reaches_zero(countdown: &mut Option<u64>) -> bool {
    *countdown = countdown.map(|left| left.saturating_sub(1));
    countdown.take_if(|left| *left == 0).is_some()
}

impl SplitMix {
    fn coin(&mut self) -> bool {
        self.draw() & 1 == 1
    }
    /// A number in `0..=max`.
    fn up_to(&mut self, max: usize) -> usize {
        let bound = max as u64 + 1;
        usize::try_from(self.draw() % bound).expect("the remainder is at most `max`, a usize")
    }
}
