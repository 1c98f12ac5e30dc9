//! A timer that counts the processor time of one thread, and interrupts it.

use std::io;
use std::ptr::null_mut;

use super::handler::Slot;
use crate::ProfileError;
use crate::process::Tid;
use crate::profile::Rate;

/// Stops when it is dropped; a signal may be on its way still.
#[derive(Debug)]
pub(super) struct CpuTimer(libc::timer_t);

// SAFETY: a timer's name is a number to the system, which any thread may use.
#[allow(unsafe_code, reason = "the C library calls a number a pointer")]
unsafe impl Send for CpuTimer {}

#[allow(unsafe_code, reason = "timers of the system")]
impl CpuTimer {
    /// None when the thread has ended.
    pub(super) fn start(
        thread: Tid,
        rate: Rate,
        slot: &'static Slot,
    ) -> Result<Option<Self>, ProfileError> {
        // SAFETY: all zeros is a valid value of this plain structure.
        let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGPROF;
        event.sigev_notify_thread_id = thread;
        event.sigev_value.sival_ptr = std::ptr::from_ref(slot).cast_mut().cast();
        let mut timer: libc::timer_t = null_mut();
        // SAFETY: both structures are valid; the slot lives for ever.
        let failed =
            unsafe { libc::timer_create(clock_of(thread), &raw mut event, &raw mut timer) };
        if failed != 0 {
            return match io::Error::last_os_error() {
                error if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ESRCH)) => {
                    Ok(None)
                }
                error => Err(ProfileError::system("make a timer for a thread")(error)),
            };
        }
        let timer = CpuTimer(timer);
        let nanos = |nanos: u64| libc::timespec {
            tv_sec: libc::time_t::try_from(nanos / 1_000_000_000).unwrap_or(1),
            tv_nsec: libc::c_long::try_from(nanos % 1_000_000_000).unwrap_or(1),
        };
        let period = rate.period_ns();
        // Threads that began together are not to be interrupted together.
        let first = period / 16 * (1 + u64::from(thread.unsigned_abs()) * 7 % 16);
        let times = libc::itimerspec {
            it_value: nanos(first),
            it_interval: nanos(period),
        };
        // SAFETY: the timer was made above, the structure is valid.
        let failed = unsafe { libc::timer_settime(timer.0, 0, &raw const times, null_mut()) };
        match failed {
            0 => Ok(Some(timer)),
            _ => Err(ProfileError::system("start a thread's timer")(
                io::Error::last_os_error(),
            )),
        }
    }
}

impl Drop for CpuTimer {
    fn drop(&mut self) {
        // SAFETY: the timer was made by `start`, and is deleted once.
        #[allow(unsafe_code, reason = "timers of the system")]
        unsafe {
            libc::timer_delete(self.0);
        }
    }
}

/// The clock of a thread's processor time, as the kernel makes it of the thread's number (`MAKE_THREAD_CPUCLOCK`).
fn clock_of(thread: Tid) -> libc::clockid_t {
    const OF_A_THREAD: libc::clockid_t = 4;
    const SCHEDULED: libc::clockid_t = 2;
    (!thread << 3) | OF_A_THREAD | SCHEDULED
}
