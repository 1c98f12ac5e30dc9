//! What runs inside an interrupted thread. It takes no lock, allocates nothing and makes no system call: it reads registers,
//! follows frame pointers within the bounds of the thread's stack, and writes words into a ring that was made beforehand.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use crate::ProfileError;
use crate::stack::{Code, DEPTH_MAX, Registers, TOP_WORDS, follow};

/// Words of a ring: 16 KiB, a dozen of the longest stacks and some hundred usual ones.
const RING: usize = 2048;

/// Where one thread's handler leaves what it sees.
#[derive(Debug)]
pub(super) struct Slot {
    /// A handler is at work here: the next one, be it of another thread that has the slot now, passes.
    busy: AtomicBool,
    /// The bounds of the thread's stack; 0 while they are not known.
    from: AtomicU64,
    to: AtomicU64,
    /// An address of the stack whose bounds are not known.
    unknown: AtomicU64,
    lost: AtomicU64,
    /// Words that were ever written, and ever read.
    written: AtomicUsize,
    read: AtomicUsize,
    ring: Box<[AtomicU64]>,
}

/// What a handler saw.
pub(super) struct Seen<'a> {
    /// Periods of the timer that it stands for.
    pub(super) times: u32,
    pub(super) code: u64,
    /// Words at the inner end of the stack.
    pub(super) top: &'a [u64],
    pub(super) chain: &'a [u64],
}

impl Slot {
    /// A slot that is never freed.
    pub(super) fn leaked() -> &'static Slot {
        let words = std::iter::repeat_with(AtomicU64::default).take(RING);
        Box::leak(Box::new(Slot {
            busy: AtomicBool::new(false),
            from: AtomicU64::new(0),
            to: AtomicU64::new(0),
            unknown: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            written: AtomicUsize::new(0),
            read: AtomicUsize::new(0),
            ring: words.collect(),
        }))
    }

    /// For another thread: what is left in it is passed over.
    pub(super) fn begin(&self) {
        self.to.store(0, Ordering::Relaxed);
        self.unknown.store(0, Ordering::Relaxed);
        self.lost.store(0, Ordering::Relaxed);
        self.read
            .store(self.written.load(Ordering::Acquire), Ordering::Release);
    }

    /// The stack reaches from here to there.
    pub(super) fn bound(&self, from: u64, to: u64) {
        self.from.store(from, Ordering::Relaxed);
        self.to.store(to, Ordering::Release);
        self.unknown.store(0, Ordering::Relaxed);
    }

    /// An address of the stack, if its bounds are to be told.
    pub(super) fn wants_bound(&self) -> Option<u64> {
        Some(self.unknown.load(Ordering::Relaxed)).filter(|stack| *stack > 0)
    }

    /// Whether there is something to be fetched.
    pub(super) fn has_seen(&self) -> bool {
        self.written.load(Ordering::Acquire) > self.read.load(Ordering::Relaxed)
    }

    pub(super) fn take_lost(&self) -> u64 {
        self.lost.swap(0, Ordering::Relaxed)
    }

    /// Hands on all that was seen since the last time. For one thread at a time.
    pub(super) fn fetch(&self, mut each: impl FnMut(Seen<'_>)) {
        let written = self.written.load(Ordering::Acquire);
        let mut read = self.read.load(Ordering::Relaxed);
        let mut words = Vec::new();
        while read < written {
            let header = self.word(read);
            let [top, chain, ..] = header.to_le_bytes().map(usize::from);
            words.clear();
            words.extend((read + 1..read + 2 + top + chain).map(|at| self.word(at)));
            if let Some((code, rest)) = words.split_first()
                && let Some((top, chain)) = rest.split_at_checked(top)
            {
                each(Seen {
                    times: u32::try_from(header >> 16).unwrap_or(1),
                    code: *code,
                    top,
                    chain,
                });
            }
            read += 2 + top + chain;
        }
        self.read.store(read, Ordering::Release);
    }

    fn word(&self, at: usize) -> u64 {
        self.ring
            .get(at % RING)
            .map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// Notes a stack; in the handler.
    fn note(&self, registers: Registers, times: u32, read: impl Fn(u64) -> u64) {
        if self.busy.swap(true, Ordering::Acquire) {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let (from, to) = (
            self.from.load(Ordering::Relaxed),
            self.to.load(Ordering::Acquire),
        );
        let mut chain = [0; DEPTH_MAX];
        let mut top = [0; TOP_WORDS];
        let (mut depth, mut words) = (0, 0);
        if (from..to).contains(&registers.stack) {
            depth = follow(registers, &mut chain, |frame| {
                (frame <= to - 16).then(|| (read(frame), read(frame + 8)))
            });
            let wanted = if is_own(registers.code) {
                2
            } else {
                TOP_WORDS as u64
            };
            let end = match registers.frame {
                // What lies beyond the first frame are the words of its callers.
                frame if frame > registers.stack && frame < to => frame,
                _ => to,
            };
            let there = ((end - registers.stack) / 8).min(wanted);
            while (words as u64) < there {
                if let Some(word) = top.get_mut(words) {
                    *word = read(registers.stack + 8 * words as u64);
                }
                words += 1;
            }
        } else {
            self.unknown.store(registers.stack, Ordering::Relaxed);
        }
        let written = self.written.load(Ordering::Relaxed);
        let length = 2 + depth + words;
        if written + length - self.read.load(Ordering::Acquire) > RING {
            self.lost.fetch_add(1, Ordering::Relaxed);
        } else {
            let header = u64::from(times) << 16 | (depth as u64) << 8 | words as u64;
            let words = top.iter().take(words).chain(chain.iter().take(depth));
            let all = [header, registers.code].into_iter().chain(words.copied());
            for (at, word) in (written..).zip(all) {
                if let Some(place) = self.ring.get(at % RING) {
                    place.store(word, Ordering::Relaxed);
                }
            }
            self.written.store(written + length, Ordering::Release);
        }
        self.busy.store(false, Ordering::Release);
    }
}

/// The program's own code, for the handler.
static OWN: (AtomicU64, AtomicU64) = (AtomicU64::new(0), AtomicU64::new(0));

fn is_own(code: u64) -> bool {
    (OWN.0.load(Ordering::Relaxed)..OWN.1.load(Ordering::Relaxed)).contains(&code)
}

/// Installs the handler of `SIGPROF`, once and for good: a signal that comes late would otherwise end the process.
pub(super) fn install() -> Result<(), ProfileError> {
    static INSTALLED: OnceLock<Result<(), i32>> = OnceLock::new();
    let own = Code::read()?.own();
    OWN.0.store(own.start, Ordering::Relaxed);
    OWN.1.store(own.end, Ordering::Relaxed);
    let installed =
        INSTALLED.get_or_init(|| sigaction().map_err(|error| error.raw_os_error().unwrap_or(0)));
    let error = |code: i32| std::io::Error::from_raw_os_error(code);
    installed.map_err(|code| ProfileError::system("handle the profiling signal")(error(code)))
}

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#[allow(unsafe_code, reason = "signals")]
fn sigaction() -> std::io::Result<()> {
    // SAFETY: all zeros is a valid value of this plain structure.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = (on_signal as extern "C" fn(_, _, _)) as *const () as usize;
    // On the thread's own stack, which has room, where the stack for overflows may hold no more than the processor's registers.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
    // SAFETY: the structure is valid, and so is the handler for as long as the process lives.
    let failed = unsafe { libc::sigaction(libc::SIGPROF, &raw const action, std::ptr::null_mut()) };
    match failed {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#[allow(
    unsafe_code,
    reason = "a signal handler is given pointers, and reads the stack that it interrupted"
)]
extern "C" fn on_signal(_: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system hands over a valid description of the signal.
    let info = unsafe { &*info };
    if info.si_code != libc::SI_TIMER {
        return;
    }
    // SAFETY: it is a timer's signal, so that the description has a value.
    let slot = unsafe { info.si_value() }.sival_ptr as *const Slot;
    // SAFETY: likewise; the count of a timer's expirations that no signal told stands there.
    let overrun = unsafe { info.si_overrun() };
    // SAFETY: only timers of this crate have this signal, and theirs have a slot, which is never freed.
    let Some(slot) = (unsafe { slot.as_ref() }) else {
        return;
    };
    // SAFETY: the system hands over the state of the interrupted thread.
    let context = unsafe { &*context.cast::<libc::ucontext_t>() };
    let registers = registers(&context.uc_mcontext);
    let times = u32::try_from(overrun).unwrap_or(0).saturating_add(1);
    slot.note(registers, times, |address| {
        // SAFETY: `note` asks for aligned addresses between the interrupted stack pointer and the end of this very stack.
        unsafe { (address as *const u64).read_volatile() }
    });
}

#[cfg(target_arch = "x86_64")]
fn registers(context: &libc::mcontext_t) -> Registers {
    let of = |register: libc::c_int| {
        let found = usize::try_from(register).ok();
        let found = found.and_then(|register| context.gregs.get(register));
        found.map_or(0, |value| value.cast_unsigned())
    };
    Registers {
        code: of(libc::REG_RIP),
        stack: of(libc::REG_RSP),
        frame: of(libc::REG_RBP),
    }
}

#[cfg(target_arch = "aarch64")]
fn registers(context: &libc::mcontext_t) -> Registers {
    Registers {
        code: context.pc,
        stack: context.sp,
        frame: context.regs[29],
    }
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
fn sigaction() -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_is_fetched_in_order_and_too_much_is_counted() {
        let slot = Slot::leaked();
        let registers = |code| Registers {
            code,
            stack: 1000,
            frame: 1016,
        };
        // Each frame leads to the one 32 bytes on, and returns to its own address.
        let read = |address: u64| match address % 32 {
            24 => address + 32,
            _ => address,
        };
        slot.note(registers(7), 1, read);
        assert_eq!(slot.wants_bound(), Some(1000));
        slot.bound(960, 1088);
        slot.note(registers(8), 3, read);
        let mut seen = Vec::new();
        slot.fetch(|one| seen.push((one.code, one.times, one.top.to_vec(), one.chain.to_vec())));
        assert_eq!(seen[0], (7, 1, vec![], vec![]));
        assert_eq!(seen[1].0, 8);
        assert_eq!(seen[1].1, 3);
        assert_eq!(seen[1].2, [1000, 1008]);
        assert_eq!(seen[1].3, [1024, 1056]);
        let mut fetched = 0;
        for round in 0..200 {
            slot.note(registers(round), 1, read);
        }
        slot.fetch(|_| fetched += 1);
        assert!(
            fetched > 100 && fetched + slot.take_lost() == 200,
            "{fetched}"
        );
        slot.note(registers(1), 1, read);
        slot.begin();
        slot.fetch(|_| panic!("of the thread before"));
    }
}
