//! Known waits, held against what is found of them.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Barrier, Mutex};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::*;
use crate::process::{Scheduled, open, own_tid};

/// What one thread does, and the share of its time that it was off the processors while it did.
struct Work {
    name: &'static str,
    /// A function that is found in its stacks.
    frame: &'static str,
    off: Arc<Mutex<Option<f64>>>,
}

/// A function whose last act is a call has left the stack by then, unless something comes after it.
fn stays() {
    std::hint::black_box(());
}

#[inline(never)]
fn sleeps() {
    std::thread::sleep(Duration::from_millis(3));
    stays();
}

#[inline(never)]
fn holds(lock: &Mutex<u64>) {
    let mut held = lock.lock().unwrap();
    *held += 1;
    std::thread::sleep(Duration::from_millis(4));
}

#[inline(never)]
fn waits_for_lock(lock: &Mutex<u64>) {
    *lock.lock().unwrap() += 1;
    // So that the other one gets it again.
    std::thread::sleep(Duration::from_micros(100));
    stays();
}

#[inline(never)]
fn waits_for_time(receiver: &Receiver<()>) {
    let _ = receiver.recv_timeout(Duration::from_millis(2));
    stays();
}

#[inline(never)]
fn reads_socket(socket: &mut UnixStream) {
    let mut byte = [0];
    socket.read_exact(&mut byte).unwrap();
    stays();
}

#[inline(never)]
fn syncs(file: &mut std::fs::File) {
    file.write_all(&[7; 4096]).unwrap();
    file.sync_data().unwrap();
    stays();
}

/// Runs a thread that does one thing over and over, and counts how much of its time it was off the processors.
fn run(
    name: &'static str,
    frame: &'static str,
    (together, stop): (&Arc<Barrier>, &Arc<AtomicBool>),
    mut each: impl FnMut() + Send + 'static,
) -> (Work, std::thread::JoinHandle<()>) {
    let off = Arc::new(Mutex::new(None));
    let (kept, together, stop) = (off.clone(), together.clone(), stop.clone());
    let body = move || {
        let schedstat = open(own_tid(), "schedstat").unwrap();
        together.wait();
        let (began, before) = (Instant::now(), Scheduled::read(&schedstat).unwrap());
        while !stop.load(Ordering::Relaxed) {
            each();
        }
        let (passed, after) = (began.elapsed(), Scheduled::read(&schedstat).unwrap());
        let ran = Duration::from_nanos(after.ran - before.ran);
        let off = passed.saturating_sub(ran);
        *kept.lock().unwrap() = Some(off.as_secs_f64() / passed.as_secs_f64());
    };
    let thread = std::thread::Builder::new()
        .name(name.into())
        .spawn(body)
        .unwrap();
    (Work { name, frame, off }, thread)
}

/// Times off the processors that a capture found, by thread: in all, and in stacks with the function.
fn found(profile: &Profile, work: &[Work]) -> BTreeMap<&'static str, (Duration, Duration)> {
    let mut found = BTreeMap::new();
    for one in work {
        let (mut all, mut inside) = (0, 0);
        for sample in profile
            .samples
            .iter()
            .filter(|sample| sample.thread.as_deref() == Some(one.name))
        {
            let off: i64 = sample.values.iter().sum();
            all += off;
            if profile.names(sample).any(|name| name.contains(one.frame)) {
                inside += off;
            }
        }
        let duration = |nanos: i64| Duration::from_nanos(nanos.unsigned_abs());
        found.insert(one.name, (duration(all), duration(inside)));
    }
    found
}

/// Watches threads that wait in every way there is, for so long.
fn watched(mode: OffCpuMode, length: Duration) -> (Profile, Vec<Work>) {
    let stop = Arc::new(AtomicBool::new(false));
    let lock = Arc::new(Mutex::new(0));
    let (first, second) = (lock.clone(), lock);
    let (sender, receiver) = channel();
    let (mut reader, mut writer) = UnixStream::pair().unwrap();
    let mut file = tempfile::tempfile().unwrap();
    let together = Arc::new(Barrier::new(7));
    let with = (&together, &stop);
    let works = [
        run("t-sleep", "sleeps", with, sleeps),
        run("t-holds", "holds", with, move || holds(&first)),
        run("t-lock", "waits_for_lock", with, move || {
            waits_for_lock(&second)
        }),
        run("t-timed", "waits_for_time", with, move || {
            waits_for_time(&receiver)
        }),
        run("t-read", "reads_socket", with, move || {
            reads_socket(&mut reader)
        }),
        run("t-sync", "syncs", with, move || syncs(&mut file)),
    ];
    let (works, threads): (Vec<Work>, Vec<_>) = works.into_iter().unzip();
    let (feeding, fed) = (stop.clone(), Arc::new(AtomicBool::new(false)));
    let all_fed = fed.clone();
    let feeder = std::thread::spawn(move || {
        while !feeding.load(Ordering::Relaxed) || !fed.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(2));
            // The reader may have gone.
            let _ = writer.write_all(&[1]);
        }
    });
    together.wait();
    // Threads may begin later, and take longer to end: what they do then is what they did before.
    let profile = off_cpu(mode, length, &|| false).unwrap();
    stop.store(true, Ordering::Relaxed);
    drop(sender);
    for thread in threads {
        thread.join().unwrap();
    }
    all_fed.store(true, Ordering::Relaxed);
    feeder.join().unwrap();
    (profile, works)
}

/// What was found of a thread that is not as it was.
fn difference(profile: &Profile, works: &[Work], tolerance: f64) -> Option<String> {
    let found = found(profile, works);
    works.iter().find_map(|work| {
        let truth = work.off.lock().unwrap().unwrap();
        let (all, inside) = found[work.name];
        let expected = truth * profile.took.as_secs_f64();
        let ratio = all.as_secs_f64() / expected;
        let share = inside.as_secs_f64() / all.as_secs_f64();
        let least = if work.name == "t-lock" { 0.6 } else { 0.8 };
        let is_near = (ratio - 1.0).abs() < tolerance && share > least;
        (!is_near).then(|| {
            let Work { name, frame, .. } = work;
            format!("{name}: {all:?} of {expected} s, of which {inside:?} in {frame}")
        })
    })
}

fn check(mode: OffCpuMode, tolerance: f64) {
    /// Threads are told apart by their names, so one after the other.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock();
    // On a busy machine a capture takes a while to begin, and to look at each thread, which is little beside a longer one.
    let mut told = String::new();
    for seconds in [2, 4, 8, 16, 32] {
        let (profile, works) = watched(mode, Duration::from_secs(seconds));
        assert!(profile.comments[0].starts_with("times off the processors"));
        match difference(&profile, &works, tolerance) {
            Some(difference) => told = difference,
            None => return,
        }
    }
    panic!("{told}");
}

#[test]
fn waits_are_found_without_any_right() {
    let rate = Rate::per_second(99).unwrap();
    check(OffCpuMode::Sampled(rate), 0.15);
}

#[test]
fn waits_are_found_exactly_where_the_kernel_permits() {
    let permitted = off_cpu(OffCpuMode::Exact, Duration::ZERO, &|| false);
    if let Err(error) = permitted {
        assert!(matches!(error, ProfileError::NotPermitted(_)), "{error}");
        return;
    }
    check(OffCpuMode::Exact, 0.07);
}

/// Nanoseconds that a thread was queued and blocked, as a capture found them.
fn queued_and_blocked(profile: &Profile, thread: &str) -> (i64, i64) {
    let of_thread = |value: &str| {
        let value = profile.value(value).unwrap();
        let mut all = 0;
        for sample in &profile.samples {
            if sample.thread.as_deref() == Some(thread) {
                all += sample.values[value];
            }
        }
        all
    };
    (of_thread("runqueue"), of_thread("blocked"))
}

/// One processor of those that this process may use.
fn one_processor() -> CpuSet {
    let all = sched_getaffinity(None).unwrap();
    let first = (0..CpuSet::MAX_CPU).find(|processor| all.is_set(*processor));
    let mut one = CpuSet::new();
    one.set(first.unwrap());
    one
}

#[test]
fn who_waits_for_a_processor_is_told_from_who_is_blocked() {
    let (stop, together) = (AtomicBool::new(false), Barrier::new(4));
    let (stop, together, one) = (&stop, &together, one_processor());
    let (sender, receiver) = channel::<()>();
    // Two never wait for anything but the processor that they share, one waits for nothing else than the end.
    let works = move || {
        sched_setaffinity(None, &one).unwrap();
        together.wait();
        while !stop.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    };
    let profile = std::thread::scope(|scope| {
        let begin = |name: &str| std::thread::Builder::new().name(name.into());
        for name in ["q-one", "q-other"] {
            begin(name).spawn_scoped(scope, works).unwrap();
        }
        let waits = move || {
            together.wait();
            let _ = receiver.recv();
        };
        begin("q-none").spawn_scoped(scope, waits).unwrap();
        together.wait();
        let mode = OffCpuMode::Sampled(Rate::per_second(99).unwrap());
        let profile = off_cpu(mode, Duration::from_secs(2), &|| false);
        stop.store(true, Ordering::Relaxed);
        drop(sender);
        profile.unwrap()
    });
    let took = i64::try_from(profile.took.as_nanos()).unwrap();
    for name in ["q-one", "q-other"] {
        let (queued, blocked) = queued_and_blocked(&profile, name);
        let told = format!("{name}: {queued} in the queue, {blocked} blocked, of {took}");
        assert!(queued > took / 4 && blocked < queued / 10, "{told}");
    }
    let (queued, blocked) = queued_and_blocked(&profile, "q-none");
    let told = format!("{queued} in the queue, {blocked} blocked, of {took}");
    assert!(blocked > took * 9 / 10 && queued < took / 10, "{told}");
}

#[test]
fn time_that_nobody_saw_is_shared_out() {
    let mut times = Times::new();
    let (a, b): (Arc<[u64]>, Arc<[u64]>) = (Arc::from([1]), Arc::from([2]));
    times.add(
        &a,
        Off {
            queued: 0,
            blocked: 30,
        },
    );
    times.add(
        &b,
        Off {
            queued: 10,
            blocked: 60,
        },
    );
    times.share_out(Off {
        queued: 10,
        blocked: 100,
    });
    assert_eq!(
        times.by_stack[&a],
        Off {
            queued: 3,
            blocked: 60
        }
    );
    assert_eq!(
        times.by_stack[&b],
        Off {
            queued: 17,
            blocked: 130
        }
    );
}
