//! Time as a value that is handed in, so that tests and simulations decide what time it is.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A source of wall-clock and monotonic time.
pub trait Clock: Send + Sync + std::fmt::Debug + 'static {
    /// Time since the Unix epoch. May jump when the machine's clock is set.
    fn since_epoch(&self) -> Duration;
    /// The same in whole milliseconds.
    fn epoch_ms(&self) -> u64 {
        whole_ms(self.since_epoch())
    }
    /// Time since an arbitrary start; never goes back.
    fn monotonic(&self) -> Duration;
    /// Random bits that tell this clock from all others, those included that show the same time because a machine was
    /// set back to it. The same at every call; a simulated clock's are always the same, too.
    fn identity(&self) -> u64;
}

/// The whole milliseconds of a time; as many as there can be of one that lasts longer.
pub fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The nanoseconds of a time, of which 64 bits hold those of 584 years; as many as there can be of one that lasts longer.
#[inline]
pub fn whole_ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The machine's clocks.
#[derive(Debug)]
pub struct RealClock {
    start: Instant,
    identity: u64,
}

impl RealClock {
    /// A clock whose monotonic time starts now.
    pub fn new() -> Self {
        RealClock {
            start: Instant::now(),
            // The standard library takes the keys of its hash functions from the system's random bits.
            identity: RandomState::new().hash_one(()),
        }
    }
}

impl Default for RealClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for RealClock {
    fn since_epoch(&self) -> Duration {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
    }
    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }
    fn identity(&self) -> u64 {
        self.identity
    }
}

/// Processor time that this thread has taken so far: what work costs, whatever else goes on meanwhile. A system call.
pub fn thread_cpu_time() -> Duration {
    cpu_time(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Processor time that all threads of this process have taken so far, the kernel's work for them included. A system call.
pub fn process_cpu_time() -> Duration {
    cpu_time(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Asked by way of the C library: other ways into the kernel's shared page end the process under valgrind, which counts
/// instructions for us.
fn cpu_time(clock: libc::clockid_t) -> Duration {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the structure is valid, and these clocks are always there.
    #[allow(unsafe_code, reason = "a system call")]
    unsafe {
        libc::clock_gettime(clock, &raw mut now)
    };
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    let nanos = u32::try_from(now.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanos)
}

/// A clock that moves only when told to.
#[derive(Debug, Default)]
pub struct FixedClock {
    nanos: AtomicU64,
    wall_nanos: AtomicU64,
}

impl FixedClock {
    /// A clock that stands `since_epoch` after the Unix epoch.
    pub fn at(since_epoch: Duration) -> Self {
        let clock = FixedClock::default();
        clock.advance(since_epoch);
        clock
    }
    /// Moves both the wall clock and the monotonic clock forward.
    pub fn advance(&self, by: Duration) {
        let nanos = whole_ns(by);
        self.nanos.fetch_add(nanos, Ordering::SeqCst);
        self.wall_nanos.fetch_add(nanos, Ordering::SeqCst);
    }
    /// Sets the wall clock alone, to a time since the Unix epoch, as somebody does with a machine's that was wrong.
    pub fn set(&self, since_epoch: Duration) {
        self.wall_nanos
            .store(whole_ns(since_epoch), Ordering::SeqCst);
    }
}

impl Clock for FixedClock {
    fn since_epoch(&self) -> Duration {
        Duration::from_nanos(self.wall_nanos.load(Ordering::SeqCst))
    }
    fn monotonic(&self) -> Duration {
        Duration::from_nanos(self.nanos.load(Ordering::SeqCst))
    }
    fn identity(&self) -> u64 {
        0
    }
}
