//! Waiting for more: the kernel says when something in a watched folder changes; where it cannot,
//! a look every second has to do.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};

use crate::stop::StopToken;

/// The stop token is looked at this often; it is the longest a stop goes unseen here.
const STOP_LOOK: Duration = Duration::from_millis(50);
/// Folders watched; those beyond are looked at once a second.
const WATCHES_MAX: usize = 4_000;

/// Why a wait ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// These files were written to, and no name changed.
    Written(BTreeSet<PathBuf>),
    /// Names changed.
    Look,
    /// The event was set that others wake this one by.
    Called,
    /// Nothing happened in the given time.
    Quiet,
    Stopped,
}

/// Watches folders.
#[derive(Debug)]
pub(crate) struct Watcher {
    inotify: Option<OwnedFd>,
    wake: Arc<OwnedFd>,
    folders: BTreeMap<i32, PathBuf>,
    watched: BTreeSet<PathBuf>,
}

impl Watcher {
    /// A watcher that polls if the kernel cannot watch, and that ends its wait when `wake` is readable.
    pub(crate) fn open(wake: Arc<OwnedFd>) -> Self {
        let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC);
        if let Err(error) = &inotify {
            tracing::warn!(%error, "no inotify, files are looked at once a second");
        }
        Watcher {
            inotify: inotify.ok(),
            wake,
            folders: BTreeMap::new(),
            watched: BTreeSet::new(),
        }
    }

    /// Watches these folders from now on, too. What changed before has to be looked for after.
    /// Returns whether there was a new one.
    pub(crate) fn add(&mut self, folders: &BTreeSet<PathBuf>) -> bool {
        let Some(inotify) = &self.inotify else {
            return false;
        };
        let mut new = false;
        // Attributes, because a file that could not be read may be allowed to be.
        let flags = WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::CREATE
            | WatchFlags::MOVED_TO
            | WatchFlags::MOVED_FROM
            | WatchFlags::DELETE
            | WatchFlags::DELETE_SELF
            | WatchFlags::ONLYDIR;
        for folder in folders {
            if self.watched.len() >= WATCHES_MAX || self.watched.contains(folder) {
                continue;
            }
            // A folder that cannot be watched is looked at once a second like all others.
            if let Ok(id) = inotify::add_watch(inotify, folder.as_path(), flags) {
                self.folders.insert(id, folder.clone());
                self.watched.insert(folder.clone());
                new = true;
            }
        }
        new
    }

    /// Whether the kernel tells of every change in these folders that this machine makes.
    pub(crate) fn covers(&self, folders: &BTreeSet<PathBuf>) -> bool {
        self.inotify.is_some() && folders.is_subset(&self.watched)
    }

    /// Waits for a change, the stop or the time.
    pub(crate) fn wait(&mut self, at_most: Duration, stop: &StopToken) -> Woken {
        let mut left = at_most;
        while !stop.is_stopped() {
            let slice = left.min(STOP_LOOK);
            let timeout = Timespec {
                tv_sec: 0,
                tv_nsec: slice.subsec_nanos().into(),
            };
            let mut fds = vec![PollFd::new(&*self.wake, PollFlags::IN)];
            fds.extend(
                self.inotify
                    .as_ref()
                    .map(|inotify| PollFd::new(inotify, PollFlags::IN)),
            );
            match poll(&mut fds, Some(&timeout)) {
                Ok(_) if !fds[0].revents().is_empty() => {
                    // What it counts is of no interest.
                    let _ = rustix::io::read(&*self.wake, &mut [0; 8]);
                    return Woken::Called;
                }
                Ok(0) if slice == left => return Woken::Quiet,
                Ok(0) => left -= slice,
                Ok(_) => return self.drain(),
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return quiet_until(stop, left),
            }
        }
        Woken::Stopped
    }

    fn drain(&mut self) -> Woken {
        let Some(inotify) = &self.inotify else {
            return Woken::Look;
        };
        let mut buffer = [MaybeUninit::uninit(); 16 << 10];
        let mut reader = Reader::new(inotify, &mut buffer);
        let mut written = BTreeSet::new();
        let mut look = false;
        let mut ended = Vec::new();
        while let Ok(event) = reader.next() {
            if event.events().contains(ReadFlags::IGNORED) {
                ended.push(event.wd());
            }
            // More happened than the kernel keeps, in folders that it no longer names.
            look |= event.events().contains(ReadFlags::QUEUE_OVERFLOW);
            let name = event
                .file_name()
                .map(|name| OsStr::from_bytes(name.to_bytes()));
            match (self.folders.get(&event.wd()), name) {
                (Some(folder), Some(name)) if event.events() == ReadFlags::MODIFY => {
                    written.insert(join(folder, name));
                }
                _ => look = true,
            }
        }
        for id in ended {
            if let Some(folder) = self.folders.remove(&id) {
                self.watched.remove(&folder);
            }
        }
        if look {
            Woken::Look
        } else {
            Woken::Written(written)
        }
    }
}

fn quiet_until(stop: &StopToken, at_most: Duration) -> Woken {
    if stop.wait(at_most) {
        Woken::Stopped
    } else {
        Woken::Quiet
    }
}

fn join(folder: &Path, name: &OsStr) -> PathBuf {
    folder.join(name)
}
