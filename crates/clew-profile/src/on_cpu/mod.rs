//! Time on the processors: each thread has a timer that counts its own processor time and interrupts it, and the handler of the
//! signal ([`handler`]) notes where the thread was. Nothing that a thread does is changed but for the interruptions, and a
//! thread that does nothing is never interrupted.

#[cfg(test)]
mod calls;
mod handler;
mod timer;

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use clew_platform::{process_cpu_time, thread_cpu_time};
use parking_lot::Mutex;

use self::handler::{Seen, Slot};
use self::timer::CpuTimer;
use crate::ProfileError;
use crate::process::{Halted, Tid, open, own_tid, thread_name, threads};
use crate::profile::{Profile, ProfileKind, Rate};
use crate::stack::Code;
use crate::symbols::Stacks;

/// The time between two rounds of fetching what was seen and of looking for new threads. A thread that lives shorter may be
/// missed, which the profile then says; what a slot holds suffices for the highest rate.
const ROUND: Duration = Duration::from_millis(50);
/// The first rounds are shorter: a thread that runs all the time tells where its stack is by its first sample, which has no
/// callers for that reason.
const FIRST_ROUND: Duration = Duration::from_millis(4);

/// What is in no sample is told from this part of all on: each thread has used up to a period since its last sample.
const UNSEEN_PART: u32 = 10;
const UNSEEN_SAMPLES_MIN: u32 = 20;

/// Slots that no thread has at present. They are never freed, as a signal may arrive after its timer has gone.
static FREE: Mutex<Vec<&'static Slot>> = Mutex::new(Vec::new());

/// Watches all threads but the calling one for so long, or until `stop` says so, which is asked every 50 ms. Costs each thread
/// some microseconds for each sample; of what a thread did, the share of a stack has an error of one over the square root of
/// its samples.
///
/// # Errors
/// Where the system gives no timers, or cannot be asked for threads.
pub fn on_cpu(
    rate: Rate,
    length: Duration,
    stop: &dyn Fn() -> bool,
) -> Result<Profile, ProfileError> {
    let capture = Capture::take(rate, length, stop)?;
    let profiles = Capture::name_all(vec![capture])?;
    Ok(profiles.into_iter().next().unwrap_or_default())
}

/// A capture whose addresses have no names yet.
#[derive(Debug)]
pub struct Capture {
    rate: Rate,
    began: SystemTime,
    took: Duration,
    stacks: Stacks,
    lost: u64,
    /// Processor time of the process, but for the capture's own, and what of it was in no sample.
    used: Duration,
    unseen: Duration,
}

impl Capture {
    /// As [`on_cpu`], without the names.
    ///
    /// # Errors
    /// As for [`on_cpu`].
    pub fn take(
        rate: Rate,
        length: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, ProfileError> {
        handler::install()?;
        let (began, clock) = (SystemTime::now(), Instant::now());
        let others = || process_cpu_time().saturating_sub(thread_cpu_time());
        let before = others();
        let mut watch = Watch::new(rate)?;
        // What sees little fills little: long captures at low rates may leave it for longer.
        let longest = ROUND.max(rate.period() * 4);
        let mut pause = FIRST_ROUND;
        while clock.elapsed() < length && !stop() {
            watch.round()?;
            thread::sleep(pause.min(length.saturating_sub(clock.elapsed())));
            pause = (pause * 3 / 2).min(longest);
        }
        let used = others().saturating_sub(before);
        let (stacks, lost, seen) = watch.end()?;
        Ok(Capture {
            rate,
            began,
            took: clock.elapsed(),
            stacks,
            lost,
            used,
            unseen: used.saturating_sub(seen),
        })
    }

    /// Names what was found, of several captures at once: finding names takes a second of processor time and some memory,
    /// however few they are, where no [`SymbolUse`](crate::SymbolUse) keeps what was read for the capture before.
    ///
    /// # Errors
    /// When the memory map cannot be read.
    pub fn name_all(captures: Vec<Capture>) -> Result<Vec<Profile>, ProfileError> {
        let (stacks, about): (Vec<_>, Vec<_>) = (captures.into_iter())
            .map(|capture| {
                let Capture {
                    rate,
                    began,
                    took,
                    stacks,
                    lost,
                    used,
                    unseen,
                } = capture;
                (stacks, (rate, began, took, lost, (used, unseen)))
            })
            .unzip();
        let mut profiles = Stacks::resolve_all(stacks, ProfileKind::OnCpu)?;
        for (profile, (rate, began, took, lost, (used, unseen))) in profiles.iter_mut().zip(about) {
            (profile.began, profile.took, profile.period) = (began, took, rate.period_ns());
            let per_second = 1_000_000_000 / rate.period_ns();
            profile.comments.push(format!(
                "processor time of each thread, sampled {per_second} times a second of it"
            ));
            if lost > 0 {
                profile.comments.push(format!("{lost} samples were lost"));
            }
            if unseen > used / UNSEEN_PART && unseen > rate.period() * UNSEEN_SAMPLES_MIN {
                profile.comments.push(format!(
                    "{} ms of {} ms of processor time are in no sample: threads that lived for less than {} ms have none",
                    unseen.as_millis(),
                    used.as_millis(),
                    ROUND.as_millis()
                ));
            }
        }
        Ok(profiles)
    }
}

/// The threads that are watched, and what was seen.
struct Watch {
    rate: Rate,
    own: Tid,
    code: Code,
    threads: HashMap<Tid, Watched>,
    stacks: Stacks,
    lost: u64,
    /// Processor time of the samples.
    seen: Duration,
}

struct Watched {
    name: Arc<str>,
    slot: &'static Slot,
    _timer: CpuTimer,
}

impl Watch {
    fn new(rate: Rate) -> Result<Self, ProfileError> {
        Ok(Watch {
            rate,
            own: own_tid(),
            code: Code::read()?,
            threads: HashMap::new(),
            stacks: Stacks::new(),
            lost: 0,
            seen: Duration::ZERO,
        })
    }

    /// Fetches what was seen and looks for threads that have begun or ended.
    fn round(&mut self) -> Result<(), ProfileError> {
        let present = threads()?;
        let ended: Vec<Tid> = self
            .threads
            .keys()
            .filter(|thread| !present.contains(thread))
            .copied()
            .collect();
        for thread in ended {
            if let Some(watched) = self.threads.remove(&thread) {
                self.release(watched);
            }
        }
        for thread in present {
            match self.threads.get(&thread) {
                Some(_) => {}
                None if thread == self.own => {}
                None => self.begin(thread)?,
            }
        }
        let mut watched = std::mem::take(&mut self.threads);
        for (thread, one) in &mut watched {
            if one.slot.has_seen() {
                // A thread takes its name after it has begun.
                one.name = thread_name(*thread).into();
                self.fetch(one);
            }
        }
        self.threads = watched;
        Ok(())
    }

    fn begin(&mut self, thread: Tid) -> Result<(), ProfileError> {
        let slot = FREE.lock().pop().unwrap_or_else(Slot::leaked);
        slot.begin();
        // Where its stack ends is known at once if it stands still; else its first sample tells.
        let halted = open(thread, "syscall")
            .ok()
            .and_then(|file| Halted::read(&file));
        if let Some(halted) = halted {
            self.bound(slot, halted.stack);
        }
        match CpuTimer::start(thread, self.rate, slot)? {
            Some(timer) => {
                let watched = Watched {
                    name: thread_name(thread).into(),
                    slot,
                    _timer: timer,
                };
                self.threads.insert(thread, watched);
            }
            // It has ended meanwhile.
            None => FREE.lock().push(slot),
        }
        Ok(())
    }

    /// Tells the handler how far a stack reaches.
    fn bound(&mut self, slot: &Slot, stack: u64) {
        if self.code.maps().find(stack).is_none()
            && let Ok(code) = Code::read()
        {
            self.code = code;
        }
        if let Some(found) = self.code.maps().find(stack) {
            slot.bound(found.from, found.to);
        }
    }

    fn fetch(&mut self, watched: &Watched) {
        let period = self.rate.period_ns();
        let (code, stacks, all) = (&self.code, &mut self.stacks, &mut self.seen);
        watched.slot.fetch(|seen: Seen<'_>| {
            let stack = code.join(seen.code, seen.top, seen.chain);
            let times = i64::from(seen.times);
            let nanos = times.saturating_mul(i64::try_from(period).unwrap_or(i64::MAX));
            *all += Duration::from_nanos(u64::try_from(nanos).unwrap_or(0));
            stacks.add(&watched.name, stack, &[times, nanos]);
        });
        if let Some(stack) = watched.slot.wants_bound() {
            self.bound(watched.slot, stack);
        }
    }

    /// Stops the timers, and fetches the last.
    fn end(mut self) -> Result<(Stacks, u64, Duration), ProfileError> {
        self.round()?;
        for watched in std::mem::take(&mut self.threads).into_values() {
            self.release(watched);
        }
        Ok((self.stacks, self.lost, self.seen))
    }

    /// Fetches the last of a thread, stops its timer and gives back its slot.
    fn release(&mut self, watched: Watched) {
        self.fetch(&watched);
        let slot = watched.slot;
        self.lost += slot.take_lost();
        drop(watched);
        FREE.lock().push(slot);
    }
}

#[cfg(test)]
mod tests;
