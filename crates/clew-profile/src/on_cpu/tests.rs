use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::*;

static STOP: AtomicBool = AtomicBool::new(false);

/// Has no frame of its own.
#[inline(always)]
fn turns(work: &mut u64, step: u64) {
    *work = std::hint::black_box(work.wrapping_mul(step | 1));
}

#[inline(never)]
fn three_quarters(work: &mut u64) {
    for step in 0..30_000_u64 {
        turns(work, step);
    }
}

#[inline(never)]
fn one_quarter(work: &mut u64) {
    for step in 0..10_000_u64 {
        *work = std::hint::black_box(work.wrapping_mul(step | 1));
    }
}

/// What the two took by the clock of their thread, in nanoseconds.
static TOOK: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

fn busy() {
    let mut work = 1;
    let mut timed = |took: &AtomicU64, leaf: fn(&mut u64)| {
        let began = thread_cpu_time();
        // So often that asking for the time is nothing beside it.
        for _ in 0..20 {
            leaf(&mut work);
        }
        let nanos = thread_cpu_time().saturating_sub(began).as_nanos();
        took.fetch_add(u64::try_from(nanos).unwrap(), Ordering::Relaxed);
    };
    while !STOP.load(Ordering::Relaxed) {
        timed(&TOOK[0], three_quarters);
        timed(&TOOK[1], one_quarter);
    }
}

/// As much as the threads have run for, leaves get the shares that they took by their thread's own clock, within five
/// points, and nothing is lost on the way out, nor what was inlined. Of 1,000 samples a share is off by 1.4 points as a rule.
#[test]
fn leaves_have_their_shares() {
    let working = thread::Builder::new()
        .name("busy".into())
        .spawn(busy)
        .unwrap();
    let enough = std::cell::Cell::new(0);
    // So long as it takes until there are enough samples, on a machine that has other things to do.
    let mut own = [0, 0];
    let (mut all, mut inlined) = (0, 0);
    while enough.get() < 1_000 {
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
            let mut calls = names.windows(2);
            let is_inlined =
                calls.any(|call| call[0].ends_with("three_quarters") && call[1].ends_with("turns"));
            inlined += if is_inlined { count } else { 0 };
        }
    }
    STOP.store(true, Ordering::Relaxed);
    working.join().unwrap();
    assert!(inlined > 0, "{own:?} of {all}");
    let took = TOOK.each_ref().map(|took| took.load(Ordering::Relaxed));
    #[allow(
        clippy::cast_precision_loss,
        reason = "samples, and seconds in nanoseconds"
    )]
    for (leaf, (own, took_by_leaf)) in own.into_iter().zip(took).enumerate() {
        let sampled = own as f64 / all as f64;
        let meant = took_by_leaf as f64 / (took[0] + took[1]) as f64;
        let apart = (sampled - meant).abs();
        assert!(apart < 0.05, "leaf {leaf}: {sampled} of {all}, {meant}");
    }
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
