//! Off the processors by the kernel's context switches: each time a thread leaves its processor, with its stack, and each time it
//! comes back. How long it could have run in between, but had no processor, the scheduler counts (`schedstat`).

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::perf_event::{Event, Events};
use super::{Off, Times};
use crate::ProfileError;
use crate::process::{Halted, Memory, Scheduled, Tid, monotonic_ns, open, own_tid, threads};
use crate::stack::{Code, TOP_WORDS};
use crate::symbols::Stacks;

/// A ring holds a hundred switches.
const ROUND: Duration = Duration::from_millis(10);
/// Words of a stack that are read of a thread which has not moved.
const WORDS: usize = 2048;

struct Watched {
    schedstat: Option<File>,
    events: Events,
    times: Times,
    /// At first and at last, and when that was.
    before: (Scheduled, u64),
    now: (Scheduled, u64),
    /// Where it was when it was about to leave its processor.
    leaves: Option<Arc<[u64]>>,
    /// Since when it is off, where, and whether it could have gone on.
    left: Option<(u64, Arc<[u64]>, bool)>,
    lost: u64,
}

pub(super) fn watch(goes_on: &dyn Fn() -> bool) -> Result<(Stacks, Vec<String>), ProfileError> {
    let own = own_tid();
    let code = Code::read()?;
    let mut watched: HashMap<Tid, Watched> = HashMap::new();
    let mut stacks = Stacks::new();
    let mut lost = 0;
    loop {
        let present = threads()?;
        for thread in &present {
            if *thread != own
                && !watched.contains_key(thread)
                && let Some(new) = Watched::new(*thread, &code)?
            {
                watched.insert(*thread, new);
            }
        }
        for (thread, one) in &mut watched {
            one.times.ask_name(*thread);
            one.fetch(&code);
        }
        let ended: Vec<Tid> = watched
            .keys()
            .filter(|thread| !present.contains(thread))
            .copied()
            .collect();
        for one in ended.iter().filter_map(|thread| watched.remove(thread)) {
            lost += one.end(None, &mut stacks);
        }
        if !goes_on() {
            break;
        }
        thread::sleep(ROUND);
    }
    let end = monotonic_ns();
    for one in watched.into_values() {
        lost += one.end(Some(end), &mut stacks);
    }
    let mut comments =
        vec!["times off the processors, exact: every context switch was seen".to_string()];
    if lost > 0 {
        comments.push(format!("{lost} context switches were lost"));
    }
    Ok((stacks, comments))
}

impl Watched {
    /// None when the thread has ended.
    fn new(thread: Tid, code: &Code) -> Result<Option<Self>, ProfileError> {
        let events = match Events::open(thread) {
            Ok(events) => events,
            Err(error) => {
                return match error.raw_os_error() {
                    Some(libc::ESRCH) => Ok(None),
                    Some(libc::EACCES | libc::EPERM) => Err(ProfileError::NotPermitted(error)),
                    _ => Err(ProfileError::system("watch a thread's context switches")(
                        error,
                    )),
                };
            }
        };
        let schedstat = open(thread, "schedstat").ok();
        let before = schedstat.as_ref().and_then(Scheduled::read);
        let before = (before.unwrap_or_default(), monotonic_ns());
        // Where it stands if it does: it may do so to the end, and then no event tells.
        let stack = stack_of(thread, code).unwrap_or_default();
        Ok(Some(Watched {
            schedstat,
            events,
            times: Times::new(),
            before,
            now: before,
            leaves: None,
            left: stack.map(|stack| (monotonic_ns(), stack, false)),
            lost: 0,
        }))
    }

    fn fetch(&mut self, code: &Code) {
        if let Some(now) = self.schedstat.as_ref().and_then(Scheduled::read) {
            self.now = (now, monotonic_ns());
        }
        let Watched {
            events,
            times,
            leaves,
            left,
            lost,
            ..
        } = self;
        events.fetch(|event| match event {
            Event::Stack {
                calls,
                frame,
                stack,
                code: at,
                top,
            } => {
                *leaves = Some(whole_stack(code, &calls, (frame, stack, at), top));
            }
            Event::Left { at, runs_on } => {
                let stack = leaves.take().unwrap_or_else(|| Arc::from([]));
                *left = Some((at, stack, runs_on));
            }
            Event::Came { at } => {
                if let Some((from, stack, runs_on)) = left.take() {
                    add(times, &stack, at.saturating_sub(from), runs_on);
                }
            }
            Event::Lost(records) => {
                *lost += records;
                *left = None;
            }
        });
    }

    /// The sums; how many records were lost.
    fn end(mut self, at: Option<u64>, stacks: &mut Stacks) -> u64 {
        if let (Some((from, stack, runs_on)), Some(at)) = (self.left.take(), at) {
            add(&mut self.times, &stack, at.saturating_sub(from), runs_on);
        }
        let ((before, from), (now, to)) = (self.before, self.now);
        // Where switches were lost, the scheduler still knows how long it was off in all.
        let ran = now.ran.saturating_sub(before.ran);
        let all = to.saturating_sub(from).saturating_sub(ran);
        let seen = self
            .times
            .by_stack
            .values()
            .map(|off| off.queued + off.blocked);
        let blocked = all.saturating_sub(seen.sum());
        self.times.share_out(Off { queued: 0, blocked });
        // After it was woken it may have waited for a processor: the events do not tell how long, the scheduler does.
        let queued = now.queued.saturating_sub(before.queued);
        let told: u64 = self.times.by_stack.values().map(|off| off.queued).sum();
        let blocked: u64 = self.times.by_stack.values().map(|off| off.blocked).sum();
        let waited = queued.saturating_sub(told).min(blocked);
        if blocked > 0 {
            for off in self.times.by_stack.values_mut() {
                let part = u128::from(off.blocked) * u128::from(waited) / u128::from(blocked);
                let part = u64::try_from(part).unwrap_or_default();
                off.blocked -= part;
                off.queued += part;
            }
        }
        self.times.into_stacks(stacks);
        self.lost
    }
}

fn add(times: &mut Times, stack: &Arc<[u64]>, nanos: u64, runs_on: bool) {
    let off = match runs_on {
        true => Off {
            queued: nanos,
            blocked: 0,
        },
        false => Off {
            queued: 0,
            blocked: nanos,
        },
    };
    times.add(stack, off);
}

/// The calls that the kernel found, with the caller that it missed where the C library keeps no frames.
fn whole_stack(
    code: &Code,
    calls: &[u64],
    (frame, stack, at): (u64, u64, u64),
    top: &[u8],
) -> Arc<[u64]> {
    let mut words: Vec<u64> = top
        .as_chunks()
        .0
        .iter()
        .map(|word| u64::from_ne_bytes(*word))
        .collect();
    if frame <= stack {
        // The C library has put something else where the frame pointer was. What is beyond the copied end of the stack is
        // read as it is by now, where callers seldom change.
        return code.scan(at, stack, &words).into();
    }
    // What lies beyond the first frame are the words of its callers.
    words.truncate(
        usize::try_from((frame - stack) / 8)
            .unwrap_or(usize::MAX)
            .min(TOP_WORDS),
    );
    let chain = match calls {
        [first, rest @ ..] if *first == at => rest,
        calls => calls,
    };
    code.join(at, &words, chain).into()
}

fn stack_of(thread: Tid, code: &Code) -> io::Result<Option<Arc<[u64]>>> {
    let Some(halted) = Halted::read(&open(thread, "syscall")?) else {
        return Ok(None);
    };
    let memory = Memory::open().map_err(io::Error::other)?;
    let (mut words, mut bytes) = (vec![0; WORDS], Vec::new());
    let read = memory.read(halted.stack, &mut words, &mut bytes);
    let words = words.get(..read).unwrap_or_default();
    Ok(Some(code.scan(halted.code, halted.stack, words).into()))
}
