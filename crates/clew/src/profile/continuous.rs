//! A profile that is always on: each minute at a low rate, kept in a log of its own in the data folder, so that yesterday's slow
//! minute can be looked at today. Its own, because the log of the data cannot let go of a file in which one entry is kept.
//!
//! Names are found for some minutes at once, as that takes the same time for one as for many; a crash loses the last of them. Who
//! asks for a time that is not written yet has it written at once.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context;
use clew_log::{
    Durability, Log, LogError, LogErrorKind, LogOptions, NewEntry, Selection, StreamId,
};
use clew_platform::{Disk, MemoryAccount, RealClock, RealDisk, whole_ms};
use clew_profile::{Capture, Format, Profile, Rate, SymbolUse};
use parking_lot::{Condvar, Mutex};
use tokio::sync::watch;

use crate::aside::aside;

/// Looks a second at each thread.
const RATE: u32 = 19;
const MINUTE: Duration = Duration::from_secs(60);
/// Minutes that are named at once.
const AT_ONCE: usize = 5;
/// Minutes that wait for the memory that naming them takes; what comes when there is none for more is lost.
const WAITING_MAX: usize = 3 * AT_ONCE;
/// The end of a minute, and its being written, are never so far from each other.
const WRITTEN_WITHIN_MS: u64 = 10 * 60 * 1000;
/// Who wants what is not written yet does not wait for longer.
const WRITING_MAX: Duration = Duration::from_secs(30);
/// The system is asked again after this long where it gives none of what a capture takes, as files have run out.
const AGAIN_AFTER: Duration = Duration::from_millis(200);
/// So many minutes are read before they become one: a week of them beside each other would fill the memory.
const MERGED_AT_ONCE: usize = 16;
const STREAM: &str = "profiles";
/// The folder in the data folder.
pub(crate) const FOLDER: &str = "profiles";
/// A file of the log is some hours.
const FILE_BYTES: u64 = 4 << 20;

/// What is kept.
#[derive(Clone, Debug)]
pub(crate) struct KeptProfiles {
    log: Log,
    stream: StreamId,
    unwritten: Arc<Unwritten>,
}

/// What was seen and is not written yet, and whether somebody wants it.
#[derive(Debug, Default)]
struct Unwritten {
    /// When the first minute of it began; none while nobody watches.
    since: Mutex<Option<SystemTime>>,
    is_wanted: AtomicBool,
    /// Told when another time begins to be unwritten.
    written: Condvar,
}

impl Unwritten {
    /// All that was seen before is written.
    fn begin(&self, since: Option<SystemTime>) {
        *self.since.lock() = since;
        self.written.notify_all();
    }

    /// Has what was seen before a moment written, and waits for that.
    fn write(&self, before: SystemTime) {
        let mut since = self.since.lock();
        let asked = *since;
        if asked.is_none_or(|since| since >= before) {
            return;
        }
        self.is_wanted.store(true, Ordering::Relaxed);
        let until = Instant::now() + WRITING_MAX;
        while *since == asked && !self.written.wait_until(&mut since, until).timed_out() {}
    }
}

impl KeptProfiles {
    /// Opens the log of profiles in a data folder, which may keep so much. A damaged one is put aside: what was seen of a
    /// process must not keep its data from being served.
    pub(crate) fn open(data: &Path, retention: Duration, bytes: u64) -> anyhow::Result<Self> {
        let folder = data.join(FOLDER);
        let options = LogOptions {
            file_bytes_max: FILE_BYTES.min(bytes / 2).max(1),
            retention_bytes: bytes,
            retention_age_ms: whole_ms(retention),
            ..LogOptions::default()
        };
        let told = || format!("cannot open the log of profiles in {}", folder.display());
        let open = || {
            let (disk, clock) = (Arc::new(RealDisk), Arc::new(RealClock::new()));
            Log::open(disk, clock, &folder, options)
        };
        let log = match open() {
            Err(error) if error.kind() == LogErrorKind::Corrupt => {
                let place = put_aside(data, &folder).with_context(told)?;
                tracing::warn!(%error, aside = %place.display(), "the profiles that were kept are damaged, new ones are begun");
                open()
            }
            opened => opened,
        };
        let log = log.with_context(told)?;
        let stream = match log.create_stream(STREAM) {
            Err(LogError::StreamExists { stream, .. }) => stream,
            made => made.with_context(told)?.id,
        };
        Ok(KeptProfiles {
            log,
            stream,
            unwritten: Arc::default(),
        })
    }

    /// Watches this process until the server stops; naming what was seen is booked in the account. Blocks.
    pub(crate) fn keep(&self, stopped: &watch::Receiver<bool>, account: &Arc<MemoryAccount>) {
        let stop = || *stopped.borrow();
        let is_wanted = &self.unwritten.is_wanted;
        let mut captures = Vec::new();
        let (mut has_begun, mut is_paused) = (false, false);
        while !stop() {
            if captures.is_empty() {
                self.unwritten.begin(Some(SystemTime::now()));
            }
            let is_over = || stop() || is_wanted.load(Ordering::Relaxed);
            let rate = Rate::per_second(RATE);
            let captured = rate.and_then(|rate| Capture::take(rate, MINUTE, &is_over));
            match captured {
                Ok(capture) => {
                    (has_begun, is_paused) = (true, false);
                    captures.push(capture);
                }
                Err(error) if has_begun => {
                    if !std::mem::replace(&mut is_paused, true) {
                        tracing::warn!(%error, "the profile that is always on pauses");
                    }
                    std::thread::sleep(AGAIN_AFTER);
                }
                // It does not work on this machine.
                Err(error) => {
                    tracing::warn!(%error, "the profile that is always on has ended");
                    break;
                }
            }
            let is_asked_for = is_wanted.swap(false, Ordering::Relaxed);
            // Whoever asks for what there is none of waits no longer.
            if captures.is_empty() {
                continue;
            }
            if !(captures.len() >= AT_ONCE || is_asked_for || stop()) {
                continue;
            }
            // The next minutes are too far away for the symbols to stay.
            let symbols = SymbolUse::once(account);
            // At the stop nobody else wants memory.
            if let Err(error) = &symbols
                && !stop()
            {
                if captures.len() >= WAITING_MAX {
                    tracing::warn!(%error, "minutes of the profile are lost");
                    captures.clear();
                }
                continue;
            }
            if let Err(error) = self.write(std::mem::take(&mut captures)) {
                tracing::warn!(
                    error = format!("{error:#}"),
                    "minutes of the profile are lost"
                );
            }
        }
        self.unwritten.begin(None);
    }

    fn write(&self, captures: Vec<Capture>) -> anyhow::Result<()> {
        for profile in Capture::name_all(captures)? {
            // Without the names of the other minutes.
            let profile = Profile::merged(std::slice::from_ref(&profile))?;
            let mut bytes = Vec::new();
            profile.write(Format::Pprof, &mut bytes)?;
            let parts: &[&[u8]] = &[&bytes];
            let appended = self
                .log
                .append(&[NewEntry::new(self.stream, parts)], Durability::Os)?;
            self.log.wait(appended.last, Durability::Os)?;
        }
        Ok(self.log.apply_retention()?)
    }

    /// What is kept of a time, as one profile; none as soon as `is_gone` says that nobody waits for it. Blocks.
    pub(crate) fn read(
        &self,
        (from, to): (SystemTime, SystemTime),
        is_gone: &dyn Fn() -> bool,
    ) -> anyhow::Result<Option<Profile>> {
        self.unwritten.write(to);
        let ms = |time: SystemTime| {
            let since = time
                .duration_since(SystemTime::UNIX_EPOCH)
                .unwrap_or_default();
            whole_ms(since)
        };
        // A minute is written when it is over, and others of its kind with it.
        let written_until = ms(to).saturating_add(WRITTEN_WITHIN_MS);
        let Some(first) = self.log.first_at_or_after(ms(from), &[self.stream])? else {
            return Ok(None);
        };
        let selection = Selection {
            streams: vec![self.stream],
            ..Selection::from(first)
        };
        let mut scan = self.log.scan_with(&selection)?;
        let mut found = Vec::new();
        while let Some(entry) = scan.next() {
            let entry = entry?;
            if is_gone() {
                return Ok(None);
            }
            if entry.time_ms > written_until {
                break;
            }
            let profile = Profile::read(entry.payload)?;
            if profile.began < to && profile.began + profile.took > from {
                found.push(profile);
            }
            if found.len() >= MERGED_AT_ONCE {
                found = vec![Profile::merged(&found)?];
            }
        }
        match found.is_empty() {
            true => Ok(None),
            false => Ok(Some(Profile::merged(&found)?)),
        }
    }
}

/// What is damaged of the log of profiles in a data folder that no server uses. A start puts it aside and begins anew.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn damage_of_kept(data: &Path) -> anyhow::Result<Vec<LogError>> {
    let folder = data.join(FOLDER);
    if !RealDisk.exists(&folder) {
        return Ok(Vec::new());
    }
    let report = clew_log::verify(&RealDisk, &folder, &mut |_| {});
    let report = report.with_context(|| format!("cannot verify {}", folder.display()))?;
    Ok(report.damage)
}

/// Moves the log of profiles out of the way; where it is then.
fn put_aside(data: &Path, folder: &Path) -> io::Result<PathBuf> {
    let aside = aside(data);
    RealDisk.create_dir_all(&aside)?;
    let place = aside.join(FOLDER);
    RealDisk.rename(folder, &place)?;
    Ok(place)
}

#[cfg(test)]
mod tests {
    use clew_platform::MemoryLimits;

    use super::*;

    #[test]
    fn what_waits_for_memory_is_written_at_the_stop() {
        let folder = tempfile::tempdir().unwrap();
        let kept = KeptProfiles::open(folder.path(), MINUTE, 1 << 20).unwrap();
        let none_left = MemoryAccount::new(MemoryLimits {
            searches: 1,
            ..MemoryLimits::none()
        });
        let began = SystemTime::now();
        let (stop, stopped) = watch::channel(false);
        std::thread::scope(|scope| {
            scope.spawn(|| kept.keep(&stopped, &none_left));
            let mut since = kept.unwritten.since.lock();
            while since.is_none() {
                kept.unwritten.written.wait(&mut since);
            }
            drop(since);
            stop.send_replace(true);
        });
        let found = kept.read((began, SystemTime::now()), &|| false);
        assert!(found.unwrap().is_some());
    }
}
