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
    /// Time that belongs to no stack that was seen.
    unseen: Off,
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
    fn off_since(&self, now: Scheduled, at: Instant) -> Off {
        let passed = at.saturating_duration_since(self.at).as_nanos();
        let passed = u64::try_from(passed).unwrap_or(u64::MAX);
        let queued = now.queued.saturating_sub(self.before.queued).min(passed);
        let ran = now.ran.saturating_sub(self.before.ran);
        Off {
            queued,
            blocked: passed.saturating_sub(ran).saturating_sub(queued),
        }
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
