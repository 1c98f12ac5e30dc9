//! Time on the processors: each thread has a timer that counts its own processor time and interrupts it, and the handler of the
//! signal ([`handler`]) notes where the thread was. Nothing that a thread does is changed but for the interruptions, and a
//! thread that does nothing is never interrupted.

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
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    static STOP: AtomicBool = AtomicBool::new(false);

    #[inline(never)]
    fn three_quarters(work: &mut u64) {
        for step in 0..30_000_u64 {
            *work = std::hint::black_box(work.wrapping_mul(step | 1));
        }
    }

    #[inline(never)]
    fn one_quarter(work: &mut u64) {
        for step in 0..10_000_u64 {
            *work = std::hint::black_box(work.wrapping_mul(step | 1));
        }
    }

    fn busy() {
        let mut work = 1;
        while !STOP.load(Ordering::Relaxed) {
            three_quarters(&mut work);
            one_quarter(&mut work);
        }
    }

    /// As much as the threads have run for, leaves get their shares, and nothing is lost on the way out.
    #[test]
    fn leaves_have_their_shares() {
        let working = thread::Builder::new()
            .name("busy".into())
            .spawn(busy)
            .unwrap();
        let enough = std::cell::Cell::new(0);
        // So long as it takes until there are enough samples, on a machine that has other things to do.
        let mut own = [0, 0];
        let mut all = 0;
        while enough.get() < 600 {
            let rate = Rate::per_second(199).unwrap();
            let profile = on_cpu(rate, Duration::from_secs(1), &|| false).unwrap();
            for sample in profile
                .samples
                .iter()
                .filter(|sample| sample.thread.as_deref() == Some("busy"))
            {
                let names: Vec<&str> = profile.names(sample).collect();
                let count = sample.values[0];
                enough.set(enough.get() + count);
                all += count;
                let is = |name: &str| names.iter().any(|found| found.ends_with(name));
                own[0] += if is("three_quarters") { count } else { 0 };
                own[1] += if is("one_quarter") { count } else { 0 };
                if is("three_quarters") {
                    assert!(names.iter().any(|name| name.ends_with("busy")), "{names:?}");
                }
            }
        }
        STOP.store(true, Ordering::Relaxed);
        working.join().unwrap();
        #[allow(clippy::cast_precision_loss, reason = "counts of samples")]
        let share = |of: i64| of as f64 / all as f64;
        assert!((share(own[0]) - 0.75).abs() < 0.08, "{} of {all}", own[0]);
        assert!((share(own[1]) - 0.25).abs() < 0.08, "{} of {all}", own[1]);
    }

    #[test]
    fn a_rate_has_bounds_and_a_capture_stops_when_told() {
        assert!(Rate::per_second(0).is_err() && Rate::per_second(1001).is_err());
        let asked = std::cell::Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > 2
        };
        let rate = Rate::per_second(99).unwrap();
        let profile = on_cpu(rate, Duration::from_secs(3600), &stop).unwrap();
        assert!(profile.took < Duration::from_secs(60));
    }

    #[test]
    fn what_threads_did_that_lived_too_briefly_is_told() {
        static MAKES_THREADS: AtomicBool = AtomicBool::new(true);
        let makes = thread::spawn(|| {
            while MAKES_THREADS.load(Ordering::Relaxed) {
                let brief = thread::spawn(|| {
                    let mut work = 1;
                    for _ in 0..40 {
                        three_quarters(&mut work);
                    }
                });
                brief.join().unwrap();
            }
        });
        let is_told = |profile: &Profile| {
            let mut comments = profile.comments.iter();
            comments.any(|comment| comment.contains("are in no sample"))
        };
        let rate = Rate::per_second(199).unwrap();
        // Other tests of this process may have most of the time for a while.
        while !is_told(&on_cpu(rate, Duration::from_secs(1), &|| false).unwrap()) {}
        MAKES_THREADS.store(false, Ordering::Relaxed);
        makes.join().unwrap();
    }
}
