use axum::http::StatusCode;
use clew_platform::MemoryLimits;

use super::*;

fn times(threads: &[(i32, &str, u64)]) -> BTreeMap<i32, ThreadTime> {
    let each = threads.iter().map(|(id, name, ms)| {
        let (name, used) = (name.to_string(), Duration::from_millis(*ms));
        (*id, ThreadTime { name, used })
    });
    each.collect()
}

fn asked(kind: ThreadKind, threads: usize, ignore_idle: bool) -> Asked {
    Asked {
        kind,
        rate: Rate::per_second(20).unwrap(),
        interval: Duration::from_millis(500),
        threads,
        ignore_idle,
    }
}

#[test]
fn a_thread_has_the_line_that_it_has_in_opensearch() {
    let half_a_second = Duration::from_millis(500);
    for (kind, used_us, line) in [
        // As OpenSearch 2.19.0 wrote it.
        (
            ThreadKind::Cpu,
            760,
            "    0.2% (760micros out of 500ms) cpu usage by thread 'search'\n",
        ),
        (
            ThreadKind::Wait,
            0,
            "    0.0% (0s out of 500ms) wait usage by thread 'search'\n",
        ),
        (
            ThreadKind::Block,
            61_300,
            "   12.3% (61.3ms out of 500ms) block usage by thread 'search'\n",
        ),
    ] {
        let mut text = String::new();
        let times = (Duration::from_micros(used_us), half_a_second);
        push_thread(&mut text, &asked(kind, 3, true), "search", times);
        assert_eq!(text, line);
    }
}

#[test]
fn nothing_is_named_once_nobody_waits_for_it() {
    let token = CancellationToken::new();
    token.cancel("by user request");
    let account = MemoryAccount::new(MemoryLimits::none());
    for kind in [ThreadKind::Cpu, ThreadKind::Block] {
        let asked = (kind, Rate::per_second(99).unwrap(), Duration::from_secs(60));
        assert!(watch(asked, &token, &account).is_err());
    }
}

#[test]
fn names_wait_for_memory_as_searches_do() {
    let limits = MemoryLimits {
        searches: 1,
        ..MemoryLimits::none()
    };
    let account = MemoryAccount::new(limits);
    let asked = (
        ThreadKind::Cpu,
        Rate::per_second(99).unwrap(),
        Duration::from_millis(1),
    );
    let refused = watch(asked, &CancellationToken::new(), &account)
        .err()
        .unwrap();
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
}

#[test]
fn the_busiest_come_first_and_idle_ones_only_when_asked_for() {
    let before = times(&[(1, "main", 50), (2, "merge", 10), (3, "search", 0)]);
    let after = times(&[
        (1, "main", 50),
        (2, "merge", 40),
        (3, "search", 70),
        (4, "new", 5),
    ]);
    let names = |threads, ignore_idle| -> Vec<String> {
        let asked = asked(ThreadKind::Cpu, threads, ignore_idle);
        let found = busiest(&before, &after, &asked).into_iter();
        found
            .map(|(name, used)| format!("{name} {}", used.as_millis()))
            .collect()
    };
    assert_eq!(names(2, true), ["search 70", "merge 30"]);
    assert_eq!(names(9, true), ["search 70", "merge 30", "new 5"]);
    assert_eq!(names(9, false).last().unwrap(), "main 0");
    assert!(names(0, true).is_empty());
}

#[test]
fn who_waits_for_something_to_do_is_told_from_who_waits_for_others() {
    let waits = "syscall parking_lot::condvar::Condvar::wait_until_internal";
    for (idle, calls) in [
        (true, "clew_log::queue::take clew_log::writer::run"),
        (true, "clew_log::queue::Queue::take clew_log::writer::run"),
        (
            true,
            "clew_engine::base::signal::Signal::sleep clew_engine::node::run",
        ),
        // What is inlined may have another's name.
        (
            true,
            "clew_engine::node::indices clew_engine::base::signal::sleep",
        ),
        (
            true,
            "clew_platform::workers::next clew_platform::workers::work_on",
        ),
        (
            true,
            "tokio::runtime::park::Inner::park tokio::runtime::block_on",
        ),
        (
            false,
            "clew_log::queue::Queue::push clew_engine::shard::apply::append",
        ),
        (
            false,
            "clew_engine::shard::writer clew_platform::workers::work_on",
        ),
        (false, ""),
    ] {
        let all = waits.split(' ').chain(calls.split(' '));
        assert_eq!(is_idle(all), idle, "{calls}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn this_process_has_a_thread_that_has_worked() {
    let times = thread_times();
    assert!(times.values().any(|thread| !thread.used.is_zero()));
    assert!(times.values().all(|thread| !thread.name.is_empty()));
}
