//! Calls of a program that is watched, as it sees them itself. The standard library makes a call anew that was interrupted
//! (`EINTR`), so what waits here asks the system without it; `read` of a pipe tells.

use std::io::{self, ErrorKind, PipeReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, Scope};
use std::time::Duration;

use clew_platform::thread_cpu_time;
use rustix::event::{Timespec, poll};
use rustix::io::Errno;
use rustix::thread::{NanosleepRelativeResult, futex, nanosleep};

use crate::profile::{Profile, Rate};
use crate::{OffCpuMode, off_cpu, on_cpu};

const MILLISECOND: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 1_000_000,
};
/// What the threads that wait are called.
const NAME: &str = "waiting";
/// Signals that threads which wait must have had before the absence of errors means something.
const SIGNALS: i64 = 50;

/// What those who wait have in common.
#[derive(Default)]
struct Shared {
    is_over: AtomicBool,
    word: AtomicU32,
    /// Calls that were interrupted, by name.
    interrupted: Mutex<Vec<&'static str>>,
}

impl Shared {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    fn change_word(&self) {
        self.word.fetch_add(1, Ordering::SeqCst);
        futex::wake(&self.word, futex::Flags::PRIVATE, u32::MAX >> 1).unwrap();
    }

    /// Makes a call again and again until it is over. It tells whether it was interrupted, and after each comes so much work
    /// that the timer of the thread runs out now and then.
    fn again(&self, name: &'static str, mut call: impl FnMut() -> bool) {
        while !self.is_over() {
            if call() {
                self.interrupted.lock().unwrap().push(name);
            }
            let began = thread_cpu_time();
            while thread_cpu_time().saturating_sub(began) < Duration::from_micros(200) {}
        }
    }

    fn reads(&self, pipe: &mut PipeReader) {
        self.again("read", || was_interrupted(&pipe.read(&mut [0])));
    }

    /// The system makes no such call anew, whatever the handler of a signal asks for.
    fn receives_in_time(&self, socket: &mut UnixStream) {
        self.again("recv", || was_interrupted(&socket.read(&mut [0])));
    }

    fn sleeps(&self) {
        self.again("nanosleep", || {
            matches!(
                nanosleep(&MILLISECOND),
                NanosleepRelativeResult::Interrupted(_)
            )
        });
    }

    fn polls(&self) {
        self.again("poll", || {
            poll(&mut [], Some(&MILLISECOND)) == Err(Errno::INTR)
        });
    }

    fn waits(&self, longest: Option<&Timespec>) {
        self.again("futex", || {
            let seen = self.word.load(Ordering::SeqCst);
            // Whoever ends it all changes the word after that.
            let waited = || futex::wait(&self.word, futex::Flags::PRIVATE, seen, longest);
            !self.is_over() && waited() == Err(Errno::INTR)
        });
    }
}

fn was_interrupted(read: &io::Result<usize>) -> bool {
    (read.as_ref()).is_err_and(|error| error.kind() == ErrorKind::Interrupted)
}

/// Ends the waiting also where the test fails amid it.
struct Ends<'s>(&'s Shared);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::SeqCst);
    }
}

/// Samples that a profile has of the threads that wait.
fn seen(profile: &Profile) -> i64 {
    let mut times = 0;
    for sample in &profile.samples {
        if sample.thread.as_deref() == Some(NAME) {
            times += sample.values[0];
        }
    }
    times
}

/// Captures of each kind that needs no rights, until enough was seen on the processors.
fn captures() {
    let rate = Rate::per_second(997).unwrap();
    let mut signals = 0;
    while signals < SIGNALS {
        signals += seen(&on_cpu(rate, Duration::from_secs(1), &|| false).unwrap());
        off_cpu(
            OffCpuMode::Sampled(rate),
            Duration::from_millis(300),
            &|| false,
        )
        .unwrap();
    }
}

fn begin<'scope>(scope: &'scope Scope<'scope, '_>, work: impl FnOnce() + Send + 'scope) {
    let named = thread::Builder::new().name(NAME.into());
    named.spawn_scoped(scope, work).unwrap();
}

#[test]
fn calls_that_wait_are_not_interrupted() {
    let shared = &Shared::default();
    let (mut reader, mut writer) = io::pipe().unwrap();
    // Nobody sends anything, and each wait ends by its time.
    let (mut socket, _silent) = UnixStream::pair().unwrap();
    let longest = Some(Duration::from_millis(1));
    socket.set_read_timeout(longest).unwrap();
    thread::scope(|scope| {
        begin(scope, move || shared.reads(&mut reader));
        begin(scope, move || shared.receives_in_time(&mut socket));
        begin(scope, move || shared.sleeps());
        begin(scope, move || shared.polls());
        begin(scope, move || shared.waits(None));
        begin(scope, move || shared.waits(Some(&MILLISECOND)));
        // What those wait for that wait without an end. The pipe ends with this thread.
        scope.spawn(move || {
            while !shared.is_over() {
                // Fails where the reader has gone.
                let _ = writer.write_all(&[0]);
                shared.change_word();
                thread::sleep(Duration::from_millis(1));
            }
            shared.change_word();
        });
        let _ends = Ends(shared);
        captures();
    });
    assert_eq!(*shared.interrupted.lock().unwrap(), Vec::<&str>::new());
}
