//! Time off the processors: where threads were blocked, and how long they waited for a processor when they could have run.
//!
//! The usual way ([`sampled`]) needs no right and sends no signal, so that nothing the program does is interrupted. Where the
//! kernel permits it each context switch can be seen instead ([`exact`]).

mod exact;
mod perf_event;
mod sampled;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use crate::ProfileError;
use crate::process::{Tid, thread_name};
use crate::profile::{Profile, ProfileKind, Rate};
use crate::symbols::Stacks;

/// How times off the processors are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffCpuMode {
    /// Stacks are looked at so many times a second; how long a thread was off the processors in all is exact, how it is shared
    /// out among its stacks is an estimate.
    Sampled(Rate),
    /// By the kernel's context switches, each with its stack.
    Exact,
}

/// Watches all threads but the calling one for so long, or until `stop` says so. Each sample has nanoseconds in the queue of a
/// processor, and blocked.
///
/// # Errors
/// Where the system cannot be asked for threads, or does not permit what is wanted.
pub fn off_cpu(
    mode: OffCpuMode,
    length: Duration,
    stop: &dyn Fn() -> bool,
) -> Result<Profile, ProfileError> {
    OffCpuCapture::take(mode, length, stop)?.name()
}

/// A capture whose addresses have no names yet.
#[derive(Debug)]
pub struct OffCpuCapture {
    mode: OffCpuMode,
    began: SystemTime,
    took: Duration,
    stacks: Stacks,
    comments: Vec<String>,
}

impl OffCpuCapture {
    /// As [`off_cpu`], without the names.
    ///
    /// # Errors
    /// As for [`off_cpu`].
    pub fn take(
        mode: OffCpuMode,
        length: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, ProfileError> {
        let (began, clock) = (SystemTime::now(), Instant::now());
        let goes_on = || clock.elapsed() < length && !stop();
        let (stacks, comments) = match mode {
            OffCpuMode::Sampled(rate) => sampled::watch(rate, &goes_on)?,
            OffCpuMode::Exact => exact::watch(&goes_on)?,
        };
        Ok(OffCpuCapture {
            mode,
            began,
            took: clock.elapsed(),
            stacks,
            comments,
        })
    }

    /// Names what was found, which takes a second of processor time and some memory.
    ///
    /// # Errors
    /// When the memory map cannot be read.
    pub fn name(mut self) -> Result<Profile, ProfileError> {
        let mut profile = self.stacks.resolve(ProfileKind::OffCpu)?;
        profile.began = self.began;
        profile.took = self.took;
        profile.period = match self.mode {
            OffCpuMode::Sampled(rate) => rate.period_ns(),
            OffCpuMode::Exact => 0,
        };
        profile.comments.append(&mut self.comments);
        Ok(profile)
    }
}

/// Nanoseconds that a stack was off the processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Off {
    queued: u64,
    blocked: u64,
}

/// What was seen of one thread.
#[derive(Debug)]
struct Times {
    name: Arc<str>,
    by_stack: HashMap<Arc<[u64]>, Off>,
}

impl Times {
    fn new() -> Self {
        Times {
            name: Arc::from(""),
            by_stack: HashMap::new(),
        }
    }

    /// Asks for the thread's name, which it takes after it has begun.
    fn ask_name(&mut self, thread: Tid) {
        let name = thread_name(thread);
        if !name.is_empty() {
            self.name = name.into();
        }
    }

    fn add(&mut self, stack: &Arc<[u64]>, off: Off) {
        let sums = self.by_stack.entry(stack.clone()).or_default();
        sums.queued += off.queued;
        sums.blocked += off.blocked;
    }

    /// Adds time whose stack nobody saw, in proportion to what was seen.
    fn share_out(&mut self, unseen: Off) {
        let all = self
            .by_stack
            .values()
            .map(|off| off.blocked + off.queued)
            .sum::<u64>();
        if all == 0 {
            if unseen != Off::default() {
                self.add(&Arc::from([]), unseen);
            }
            return;
        }
        for off in self.by_stack.values_mut() {
            let part = u128::from(off.blocked + off.queued);
            let share =
                |of: u64| u64::try_from(u128::from(of) * part / u128::from(all)).unwrap_or(of);
            off.blocked += share(unseen.blocked);
            off.queued += share(unseen.queued);
        }
    }

    fn into_stacks(self, stacks: &mut Stacks) {
        let signed = |nanos: u64| i64::try_from(nanos).unwrap_or(i64::MAX);
        for (stack, off) in self.by_stack {
            stacks.add(
                &self.name,
                stack.to_vec(),
                &[signed(off.queued), signed(off.blocked)],
            );
        }
    }
}

#[cfg(test)]
mod tests;
