use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use super::*;

/// Threads that are still there when somebody looks for them late.
fn workers() -> Workers {
    Workers::idle_for("test", Duration::from_secs(3600))
}

fn run<T: Send + 'static>(workers: &Workers, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    let work = move || sender.send(run()).unwrap();
    workers.start(Arc::default(), work).unwrap();
    receiver.recv().unwrap()
}

/// Until the threads that have nothing to do are so many.
fn until_idle(workers: &Workers, threads: usize) {
    while workers.shared.queue.lock().idle != threads {
        thread::yield_now();
    }
}

#[test]
fn a_thread_does_one_thing_after_the_other() {
    let workers = workers();
    let first = run(&workers, || thread::current().id());
    // It answers before it is free for the next.
    until_idle(&workers, 1);
    assert!(run(&workers, Workers::is_here) && !Workers::is_here());
    until_idle(&workers, 1);
    assert_eq!(run(&workers, || thread::current().id()), first);
}

#[test]
fn a_thread_ends_with_long_work() {
    let workers = workers();
    let long = run(&workers, || {
        let before = thread_cpu_time();
        while thread_cpu_time().saturating_sub(before) < LONG_WORK {}
        thread::current().id()
    });
    // It answers before it ends.
    for _ in 0..3 {
        assert_ne!(run(&workers, || thread::current().id()), long);
    }
}

#[test]
fn as_many_run_at_once_as_are_started() {
    let workers = workers();
    let together = Arc::new(std::sync::Barrier::new(5));
    for _ in 0..4 {
        let together = together.clone();
        let wait = move || {
            together.wait();
        };
        workers.start(Arc::default(), wait).unwrap();
    }
    together.wait();
    until_idle(&workers, 4);
}

#[test]
fn after_a_panic_the_thread_goes_on() {
    let workers = workers();
    let panics = || panic!("on purpose");
    workers.start(Arc::default(), panics).unwrap();
    until_idle(&workers, 1);
    assert_eq!(run(&workers, || 7), 7);
    until_idle(&workers, 1);
}

#[test]
#[cfg(target_os = "linux")]
fn the_thread_of_what_yields_has_its_priority_back_or_ends() {
    let workers = workers();
    for while_running in [false, true] {
        let work = Arc::new(Work::default());
        let (sender, receiver) = mpsc::channel();
        let (go_on, goes_on) = mpsc::channel();
        if !while_running {
            work.yield_to_others();
        }
        let long = move || {
            goes_on.recv().unwrap();
            sender.send((niceness(), thread::current().id())).unwrap();
        };
        workers.start(work.clone(), long).unwrap();
        if while_running {
            while !matches!(*work.0.lock(), Progress::On(_)) {
                thread::yield_now();
            }
            work.yield_to_others();
        }
        go_on.send(()).unwrap();
        let (nice, lowered) = receiver.recv().unwrap();
        assert_eq!(nice, YIELDING_NICENESS);
        let (nice, next) = run(&workers, || (niceness(), thread::current().id()));
        assert_eq!(nice, niceness());
        // The same thread only where the system gives priority back.
        let is_given_back = thread::spawn(|| {
            lower_priority(None, niceness() + 1);
            regain_priority(niceness() - 1)
        });
        assert!(next != lowered || is_given_back.join().unwrap());
        // Too late.
        work.yield_to_others();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn who_is_started_by_what_yields_takes_nothing_else_at_its_priority() {
    let workers = Arc::new(workers());
    let work = Arc::new(Work::default());
    work.yield_to_others();
    let (sender, receiver) = mpsc::channel();
    let inner = workers.clone();
    let starts = move || {
        let inherits = move || sender.send(niceness()).unwrap();
        inner.start(Arc::default(), inherits).unwrap();
    };
    workers.start(work, starts).unwrap();
    assert_eq!(receiver.recv().unwrap(), YIELDING_NICENESS);
    for _ in 0..3 {
        assert_eq!(run(&workers, niceness), niceness());
    }
}

#[test]
fn helpers_borrow_from_whoever_they_help() {
    let workers = workers();
    for helpers in [0, 1, 3] {
        let (seen, together) = (AtomicUsize::new(0), std::sync::Barrier::new(helpers + 1));
        let all: Vec<Arc<Work>> = (0..helpers).map(|_| Arc::default()).collect();
        workers.run_together(&all, &|| {
            together.wait();
            seen.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(seen.into_inner(), helpers + 1);
    }
}

#[test]
fn a_panic_of_any_thread_is_passed_on_when_all_have_ended() {
    let workers = workers();
    for helper_panics in [false, true] {
        let owner = thread::current().id();
        let (ended, together) = (AtomicUsize::new(0), std::sync::Barrier::new(2));
        let helped = catch_unwind(AssertUnwindSafe(|| {
            workers.run_together(&[Arc::default()], &|| {
                together.wait();
                if (thread::current().id() == owner) != helper_panics {
                    panic!("on purpose");
                }
                ended.fetch_add(1, Ordering::Relaxed);
            });
        }));
        assert!(helped.is_err());
        assert_eq!(ended.into_inner(), 1);
    }
}
