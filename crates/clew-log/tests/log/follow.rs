//! Subscriptions and the pipelined appender.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use clew_log::{
    AppenderOptions, Durability, Glsn, Llsn, Log, LogError, LogOptions, NewEntry, StreamId,
    SubscribeOptions, Subscription, Trim,
};
use clew_platform::SimDisk;

use super::{append, append_synced, open, small_files};

fn subscribe(log: &Log, name: &str, from: Glsn, streams: &[StreamId]) -> Subscription {
    let (name, streams) = (name.to_owned(), streams.to_vec());
    log.subscribe(SubscribeOptions {
        name,
        from,
        streams,
        visible: Durability::Os,
    })
    .unwrap()
}

/// Positions given by one scan of a subscription.
fn take(subscription: &mut Subscription) -> Result<Vec<u64>, LogError> {
    let mut scan = subscription.wait()?;
    let mut glsns = Vec::new();
    while let Some(entry) = scan.next() {
        glsns.push(entry?.glsn.get());
    }
    Ok(glsns)
}

#[test]
fn subscribers_get_everything_once_in_order_while_it_is_written() {
    const ENTRIES: u64 = 5000;
    let disk = SimDisk::new();
    let log = open(
        &disk,
        LogOptions {
            file_bytes_max: 20_000,
            ..LogOptions::default()
        },
    );
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..8)
            .map(|n| {
                let mut subscription = subscribe(&log, &n.to_string(), Glsn::FIRST, &[]);
                scope.spawn(move || {
                    let mut seen = Vec::new();
                    while seen.len() < usize::try_from(ENTRIES).unwrap() {
                        seen.extend(take(&mut subscription).unwrap());
                    }
                    seen
                })
            })
            .collect();
        for n in 0..ENTRIES {
            append(&log, 1, &n.to_le_bytes(), Durability::Os);
        }
        for reader in readers {
            assert!(reader.join().unwrap().into_iter().eq(1..=ENTRIES));
        }
    });
}

#[test]
fn a_quiet_stream_reports_progress_and_lag_is_what_is_left_to_read() {
    let log = open(&SimDisk::new(), small_files());
    let mut quiet = subscribe(&log, "quiet", Glsn::FIRST, &[StreamId::new(9)]);
    for _ in 0..10 {
        append_synced(&log, 1, b"of another stream");
    }
    assert_eq!(log.subscribers()[0].lag, 10);
    assert_eq!(take(&mut quiet).unwrap(), []);
    assert_eq!(
        quiet.position(),
        Glsn::new(11),
        "nothing of the stream lies below"
    );
    append_synced(&log, 9, b"mine");
    assert_eq!(take(&mut quiet).unwrap(), [11]);
    append_synced(&log, 1, b"x");
    assert_eq!(take(&mut quiet).unwrap(), []);
    let stats = log.subscribers();
    assert_eq!(
        (stats[0].name.as_str(), stats[0].lag),
        ("quiet", 1),
        "as of its last request"
    );
    drop(quiet);
    assert!(log.subscribers().is_empty());
}

#[test]
fn a_subscriber_that_wants_durable_entries_sees_no_others() {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    let options = SubscribeOptions {
        name: String::new(),
        from: Glsn::FIRST,
        streams: Vec::new(),
        visible: Durability::Sync,
    };
    let mut subscription = log.subscribe(options).unwrap();
    append_synced(&log, 1, b"durable");
    let written = append(&log, 1, b"only written", Durability::Os).last;
    log.written(written).unwrap();
    assert_eq!(take(&mut subscription).unwrap(), [1]);
    let shown = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let glsns = take(&mut subscription).unwrap();
            shown.store(true, Ordering::SeqCst);
            glsns
        });
        assert!(!shown.load(Ordering::SeqCst));
        log.wait(written, Durability::Sync).unwrap();
        assert_eq!(waiter.join().unwrap(), [2]);
    });
}

#[test]
fn a_subscriber_learns_that_it_was_overtaken_by_a_trim_or_that_the_log_has_ended() {
    let log = open(&SimDisk::new(), small_files());
    let stream = log.create_stream("s").unwrap().id;
    let mut slow = subscribe(&log, "slow", Glsn::FIRST, &[stream]);
    let mut from_lowest = subscribe(&log, "lowest", Glsn::ZERO, &[stream]);
    for n in 0..10u8 {
        let parts: [&[u8]; 1] = [&[n]];
        let last = log
            .append(&[NewEntry::new(stream, &parts)], Durability::Sync)
            .unwrap()
            .last;
        log.wait(last, Durability::Sync).unwrap();
    }
    log.trim(Trim::Stream(stream, Llsn::new(4))).unwrap();
    let error = take(&mut slow).unwrap_err();
    assert!(
        matches!(error, LogError::TrimmedStream { first, .. } if first == Llsn::new(5)),
        "{error}"
    );
    assert_eq!(
        take(&mut from_lowest).unwrap(),
        [5, 6, 7, 8, 9, 10],
        "it asked for what is left"
    );
    log.trim(Trim::Named(Glsn::MAX)).unwrap();
    let options = SubscribeOptions {
        name: String::new(),
        from: Glsn::FIRST,
        streams: Vec::new(),
        visible: Durability::Os,
    };
    assert!(matches!(
        log.subscribe(options),
        Err(LogError::Trimmed { .. })
    ));
    log.close().unwrap();
    assert!(matches!(from_lowest.wait(), Err(LogError::Closed)));
}

#[test]
fn a_subscriber_that_reads_nothing_slows_nobody() {
    let disk = SimDisk::new();
    let options = LogOptions {
        pending_bytes_max: 10_000,
        file_bytes_max: 10_000,
        ..LogOptions::default()
    };
    let log = open(&disk, options);
    let mut slow = subscribe(&log, "slow", Glsn::FIRST, &[]);
    append_synced(&log, 1, b"first");
    let mut held = slow.wait().unwrap();
    for _ in 0..2000 {
        append(&log, 1, &[7; 100], Durability::Os);
    }
    log.written(log.last()).unwrap();
    assert_eq!(held.next().unwrap().unwrap().payload, b"first");
    assert!(held.next().is_none());
    assert_eq!(
        take(&mut slow).unwrap().len(),
        2000,
        "what it has not read is on disk"
    );
}

#[test]
fn an_appender_calls_back_in_order_and_takes_only_so_much() {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    let appender = Arc::new(
        log.appender(AppenderOptions {
            pending_calls_max: 4,
        })
        .unwrap(),
    );
    let told = Arc::new(Mutex::new(Vec::new()));
    let started = Arc::new(AtomicU64::new(0));
    disk.stall();
    let producer = {
        let (appender, told, started) = (appender.clone(), told.clone(), started.clone());
        std::thread::spawn(move || {
            for n in 0..100u64 {
                let (told, payload) = (told.clone(), n.to_le_bytes());
                let parts: [&[u8]; 1] = [&payload];
                let done = move |outcome: Result<clew_log::Appended, LogError>| {
                    told.lock().unwrap().push((n, outcome.unwrap().last.get()));
                };
                let entry = NewEntry::new(StreamId::new(1), &parts);
                appender.append(&[entry], Durability::Sync, done).unwrap();
                started.fetch_add(1, Ordering::SeqCst);
            }
        })
    };
    // One is with the thread that waits for the disk, four wait behind it.
    while started.load(Ordering::SeqCst) < 5 {
        std::thread::yield_now();
    }
    assert!(told.lock().unwrap().is_empty());
    assert!(log.last() <= Glsn::new(7), "the others wait for a place");
    disk.resume();
    producer.join().unwrap();
    Arc::into_inner(appender).unwrap().close();
    let told = told.lock().unwrap();
    assert!(told.iter().copied().eq((0..100).map(|n| (n, n + 1))));
}

#[test]
fn every_call_of_an_appender_is_told_of_a_failed_disk() {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    let appender = log.appender(AppenderOptions::default()).unwrap();
    let failures = Arc::new(AtomicU64::new(0));
    disk.stall();
    disk.fail_sync(1);
    for _ in 0..10 {
        let failures = failures.clone();
        let entry = NewEntry::new(StreamId::new(1), &[b"x"]);
        let done = move |outcome: Result<clew_log::Appended, LogError>| {
            assert!(matches!(outcome, Err(LogError::Poisoned { .. })));
            failures.fetch_add(1, Ordering::SeqCst);
        };
        appender.append(&[entry], Durability::Sync, done).unwrap();
    }
    disk.resume();
    appender.close();
    assert_eq!(failures.load(Ordering::SeqCst), 10);
}
