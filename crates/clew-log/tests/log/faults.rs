//! Disks that refuse: after a failed write or sync nothing is acknowledged until the log is told to go on, and reads go on.

use clew_log::{Durability, Glsn, Log, LogError, LogErrorKind, LogOptions, NewEntry, StreamId};
use clew_platform::SimDisk;

use super::{append, append_synced, contents, open, payloads, small_files};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;

/// Checks that a log with the durable entry 1 refuses everything after it, because of `errno`.
fn assert_poisoned(log: &Log, errno: i32) {
    let check = |error: LogError| {
        assert_eq!(error.kind(), LogErrorKind::Unavailable);
        let LogError::Poisoned { source, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(source.raw_os_error(), Some(errno));
    };
    let entry = NewEntry::new(StreamId::new(1), &[b"refused"]);
    check(log.append(&[entry], Durability::Os).unwrap_err());
    for durability in [Durability::Os, Durability::Sync] {
        check(log.wait(Glsn::new(2), durability).unwrap_err());
        log.wait(Glsn::FIRST, durability).unwrap();
    }
    assert_eq!(&log.read(Glsn::FIRST).unwrap().payload[..], b"durable");
    assert_eq!(log.durable(), Glsn::FIRST);
    assert!(log.stats().poisoned);
    check(log.close().unwrap_err());
    assert_eq!(&log.read(Glsn::FIRST).unwrap().payload[..], b"durable");
}

#[test]
fn a_failed_sync_poisons_the_log() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    append_synced(&log, 1, b"durable");
    disk.fail_sync(1);
    let two = append(&log, 1, b"written", Durability::Sync).last;
    log.wait(two, Durability::Sync).unwrap_err();
    assert_eq!(
        &log.read(two).unwrap().payload[..],
        b"written",
        "reads go on"
    );
    assert_poisoned(&log, EIO);
}

#[test]
fn a_failed_sync_fails_everyone_who_waits() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    append_synced(&log, 1, b"durable");
    disk.stall();
    let waiters: Vec<_> = (0..4)
        .map(|_| {
            let glsn = append(&log, 1, b"x", Durability::Sync).last;
            let log = log.clone();
            std::thread::spawn(move || log.wait(glsn, Durability::Sync))
        })
        .collect();
    disk.fail_sync(1);
    disk.resume();
    for waiter in waiters {
        assert!(matches!(
            waiter.join().unwrap(),
            Err(LogError::Poisoned { .. })
        ));
    }
}

#[tokio::test]
async fn tasks_that_wait_learn_of_a_failed_sync() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    disk.fail_sync(1);
    let glsn = append(&log, 1, b"x", Durability::Sync).last;
    let error = log.wait_async(glsn, Durability::Sync).await.unwrap_err();
    assert!(matches!(error, LogError::Poisoned { .. }));
}

#[test]
fn a_full_disk_refuses_writes_and_a_restart_with_room_goes_on() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    append_synced(&log, 1, b"durable");
    disk.limit_bytes(disk.bytes_used() + 100);
    let entry = NewEntry::new(StreamId::new(1), &[&[1; 60], &[2; 60]]);
    let last = log.append(&[entry], Durability::Os).unwrap().last;
    log.wait(last, Durability::Os).unwrap_err();
    assert_poisoned(&log, ENOSPC);
    drop(log);

    disk.limit_bytes(u64::MAX);
    let log = open(&disk, LogOptions::default());
    assert_eq!(append_synced(&log, 1, b"again"), Glsn::new(2));
    assert_eq!(payloads(&contents(&log)), [&b"durable"[..], b"again"]);
}

#[test]
fn a_disk_that_becomes_read_only_refuses_writes() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    append_synced(&log, 1, b"durable");
    disk.set_read_only(true);
    append(&log, 1, b"refused", Durability::Os);
    log.written(Glsn::new(2)).unwrap_err();
    assert_poisoned(&log, EROFS);
}

#[test]
fn a_disk_that_is_full_when_a_new_file_is_due_loses_nothing_acknowledged() {
    for extra in 0..120 {
        let disk = SimDisk::new();
        let log = open(&disk, small_files());
        disk.limit_bytes(1024 + extra);
        let mut acknowledged = 0;
        let error = loop {
            let entry = NewEntry::new(StreamId::new(1), &[&[3; 40]]);
            let appended = log.append(&[entry], Durability::Sync);
            match appended.and_then(|appended| log.wait(appended.last, Durability::Sync)) {
                Ok(()) => acknowledged += 1,
                Err(error) => break error,
            }
        };
        assert!(matches!(error, LogError::Poisoned { .. }), "{error}");
        drop(log);
        disk.limit_bytes(u64::MAX);
        for disk in [disk.crashed(extra), disk] {
            let found = contents(&open(&disk, small_files())).len();
            assert!(
                found == acknowledged || found == acknowledged + 1,
                "{found} {acknowledged}"
            );
        }
    }
}

#[test]
fn callers_waiting_for_room_are_released_when_the_disk_fails() {
    let disk = SimDisk::new();
    let options = LogOptions {
        pending_bytes_max: 100,
        ..LogOptions::default()
    };
    let log = open(&disk, options);
    disk.stall();
    append(&log, 1, &[0; 90], Durability::Os);
    let blocked = {
        let log = log.clone();
        std::thread::spawn(move || {
            let entry = NewEntry::new(StreamId::new(1), &[&[1; 90]]);
            log.append(&[entry], Durability::Os)
        })
    };
    while log.stats().append_waits == 0 {
        std::thread::yield_now();
    }
    disk.limit_bytes(0);
    disk.resume();
    assert!(matches!(
        blocked.join().unwrap(),
        Err(LogError::Poisoned { .. })
    ));
}
