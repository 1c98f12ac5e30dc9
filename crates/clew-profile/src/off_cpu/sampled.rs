//! Off the processors without any right: every thread is looked at so many times a second from outside. What it has used and
//! how long it was queued the scheduler counts (`schedstat`), so that the time it was blocked is exact; while those counts stay
//! the same it has not moved, and its stack is the one that was read before. If they have not changed while a stack was read,
//! the stack is one that really was.

use std::collections::HashMap;
use std::fs::File;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use super::{Off, Times};
use crate::ProfileError;
use crate::process::{Halted, Memory, Scheduled, Tid, open, own_tid, threads};
use crate::profile::Rate;
use crate::stack::Code;
use crate::symbols::Stacks;

/// Words of a stack that are read at once; frames further out are read one by one.
const WORDS: usize = 2048;
/// Threads that are watched; each takes two open files.
const THREADS_MAX: usize = 2048;
/// Looks between two listings of the threads.
const LISTED_EVERY: u32 = 5;

/// A thread that is watched.
struct Watched {
    schedstat: File,
    syscall: File,
    times: Times,
    /// At the last look.
    before: Scheduled,
    at: Instant,
    /// Where it stood then, if it stood still.
    stack: Option<Arc<[u64]>>,
    late: Late,
    /// Time that belongs to no stack that was seen.
    unseen: Off,
}

/// What the scheduler counted after it had been taken for blocked time, in nanoseconds: a thread that runs is counted at the next
/// tick, one that waits for a processor when it has got one.
#[derive(Debug, Default)]
struct Late(u64);

impl Late {
    /// Time off the processors to be told of a thread for what has passed since the last look. What was told too early is made
    /// up for, so that sums are the scheduler's but for the longest time that it was ever late.
    fn off(&mut self, passed: u64, ran: u64, queued: u64) -> Off {
        let counted = ran.saturating_add(queued).saturating_add(self.0);
        self.0 = counted.saturating_sub(passed);
        Off {
            queued,
            blocked: passed.saturating_sub(counted),
        }
    }
}

struct Reader {
    code: Code,
    memory: Memory,
    words: Vec<u64>,
    bytes: Vec<u8>,
}

pub(super) fn watch(
    rate: Rate,
    goes_on: &dyn Fn() -> bool,
) -> Result<(Stacks, Vec<String>), ProfileError> {
    let own = own_tid();
    let mut reader = Reader {
        code: Code::read()?,
        memory: Memory::open()?,
        words: vec![0; WORDS],
        bytes: Vec::new(),
    };
    let mut watched: HashMap<Tid, Watched> = HashMap::new();
    let mut ended: Vec<Watched> = Vec::new();
    let mut left_out = 0;
    let mut looks = 0_u32;
    let mut next = Instant::now();
    while goes_on() {
        if looks.is_multiple_of(LISTED_EVERY) {
            for thread in threads()? {
                if thread == own {
                } else if let Some(known) = watched.get_mut(&thread) {
                    known.times.ask_name(thread);
                } else if watched.len() < THREADS_MAX {
                    if let Some(new) = Watched::new(thread) {
                        watched.insert(thread, new);
                    }
                } else {
                    left_out += 1;
                }
            }
        }
        looks += 1;
        let gone: Vec<Tid> = watched
            .iter_mut()
            .filter_map(|(thread, one)| one.look(&mut reader).is_none().then_some(*thread))
            .collect();
        ended.extend(gone.iter().filter_map(|thread| watched.remove(thread)));
        next = (next + rate.period()).max(Instant::now());
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    let mut stacks = Stacks::new();
    for (thread, mut one) in watched {
        one.times.ask_name(thread);
        ended.push(one);
    }
    for one in ended {
        one.end(&mut stacks);
    }
    let mut comments = vec![format!(
        "times off the processors, sampled {} times a second without signals: the sum of each thread is exact, its division \
         among stacks an estimate",
        1_000_000_000 / rate.period_ns()
    )];
    if left_out > 0 {
        comments.push(format!("only {THREADS_MAX} threads were watched"));
    }
    Ok((stacks, comments))
}

impl Watched {
    /// None when it has ended already.
    fn new(thread: Tid) -> Option<Self> {
        let schedstat = open(thread, "schedstat").ok()?;
        let syscall = open(thread, "syscall").ok()?;
        Some(Watched {
            before: Scheduled::read(&schedstat)?,
            at: Instant::now(),
            schedstat,
            syscall,
            times: Times::new(),
            stack: None,
            late: Late::default(),
            unseen: Off::default(),
        })
    }

    /// None when it has ended.
    fn look(&mut self, reader: &mut Reader) -> Option<()> {
        let (now, at) = (Scheduled::read(&self.schedstat)?, Instant::now());
        let before = self.stack.take();
        self.stack = match &before {
            Some(stack) if now == self.before => Some(stack.clone()),
            _ => self.stack_if_still(now, reader),
        };
        let off = self.off_since(now, at);
        // Whoever stands still now stood here longest, on the average; else it is what was seen last.
        match self.stack.as_ref().or(before.as_ref()) {
            Some(stack) => self.times.add(stack, off),
            None => {
                self.unseen.queued += off.queued;
                self.unseen.blocked += off.blocked;
            }
        }
        self.before = now;
        self.at = at;
        Some(())
    }

    /// How long it was off the processors since the last look.
    fn off_since(&mut self, now: Scheduled, at: Instant) -> Off {
        let passed = at.saturating_duration_since(self.at).as_nanos();
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        let queued = now.queued.saturating_sub(self.before.queued);
        let ran = now.ran.saturating_sub(self.before.ran);
        self.late.off(passed, ran, queued)
    }

    /// Its stack, if it has not moved while it was read.
    fn stack_if_still(&self, now: Scheduled, reader: &mut Reader) -> Option<Arc<[u64]>> {
        let halted = Halted::read(&self.syscall)?;
        let Reader {
            code,
            memory,
            words,
            bytes,
        } = reader;
        let read = memory.read(halted.stack, words, bytes);
        let words = words.get(..read).unwrap_or_default();
        if Scheduled::read(&self.schedstat)? != now {
            return None;
        }
        Some(code.scan(halted.code, halted.stack, words).into())
    }

    fn end(mut self, stacks: &mut Stacks) {
        self.times.share_out(self.unseen);
        self.times.into_stacks(stacks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times that are told of a thread for looks at it, over and over: what has passed, run and been queued since the one
    /// before.
    fn told(looks: &[(u64, u64, u64)]) -> Off {
        let (mut late, mut sums) = (Late::default(), Off::default());
        for (passed, ran, queued) in looks.repeat(50) {
            let off = late.off(passed, ran, queued);
            sums.queued += off.queued;
            sums.blocked += off.blocked;
        }
        sums
    }

    #[test]
    fn what_the_scheduler_counts_late_was_not_blocked() {
        let off = |queued, blocked| Off { queued, blocked };
        // It runs all the time, and is counted at ticks that come between looks.
        assert_eq!(told(&[(10, 6, 0), (10, 14, 0)]), off(0, 4));
        // It waits for a processor for longer than it takes to look again, and has it for as long.
        let waits = [(10, 10, 0), (10, 0, 0), (10, 0, 0), (10, 10, 20)];
        assert_eq!(told(&waits), off(1_000, 20));
        // Who is blocked between such waits has all of that.
        let blocked = [(10, 0, 0), (10, 4, 16), (10, 0, 0), (10, 0, 0)];
        assert_eq!(told(&blocked), off(800, 1_000));
        assert_eq!(told(&[(10, 0, 0)]), off(0, 500));
    }
}
