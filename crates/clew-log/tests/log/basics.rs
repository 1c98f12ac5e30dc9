use std::path::Path;
use std::sync::{Arc, mpsc};

use clew_log::{
    AppendOptions, Durability, Glsn, Llsn, Log, LogError, LogErrorKind, LogOptions, NewEntry,
    StreamId, Trim,
};
use clew_platform::{RealDisk, SimDisk};

use super::{
    append, append_synced, clock, contents, counters, open, payloads, small_files, try_open,
};

#[test]
fn a_call_gets_consecutive_positions_and_each_stream_its_own() {
    let log = open(&SimDisk::new(), LogOptions::default());
    let entry = |stream| NewEntry::new(StreamId::new(stream), &[b"x"]);
    let one = log
        .append(&[entry(1), entry(2), entry(1)], Durability::Os)
        .unwrap();
    let two = log.append(&[entry(2), entry(2)], Durability::Os).unwrap();
    assert_eq!((one.first, one.last), (Glsn::FIRST, Glsn::new(3)));
    assert_eq!(one.llsns, [1, 1, 2].map(Llsn::new));
    assert_eq!(
        (two.first, two.glsn(1), two.last),
        (Glsn::new(4), Glsn::new(5), Glsn::new(5))
    );
    assert_eq!(two.llsns, [2, 3].map(Llsn::new));
    let expected = [(1, 2), (2, 3)].map(|(s, l)| (StreamId::new(s), Llsn::new(l)));
    assert_eq!(counters(&log.streams()), expected);
}

#[test]
fn a_payload_is_the_concatenation_of_its_parts() {
    let log = open(&SimDisk::new(), LogOptions::default());
    let stream = StreamId::new(3);
    let parts: [&[&[u8]]; 3] = [&[], &[b"", b"ab", b"c"], &[b"12345678", b"9"]];
    let entries = parts.map(|parts| NewEntry::new(stream, parts));
    let last = log.append(&entries, Durability::Os).unwrap().last;
    log.written(last).unwrap();
    assert_eq!(payloads(&contents(&log)), [&b""[..], b"abc", b"123456789"]);
}

#[test]
fn a_call_without_entries_gives_no_position() {
    let log = open(&SimDisk::new(), LogOptions::default());
    let nothing = log.append(&[], Durability::Sync).unwrap();
    assert_eq!((nothing.first, nothing.last), (Glsn::FIRST, Glsn::ZERO));
    log.wait(nothing.last, Durability::Sync).unwrap();
    assert_eq!(append_synced(&log, 1, b"x"), Glsn::FIRST);
}

#[test]
fn an_entry_above_the_limit_is_refused_and_leaves_no_gap() {
    let options = LogOptions {
        entry_bytes_max: 4,
        ..LogOptions::default()
    };
    let log = open(&SimDisk::new(), options);
    let stream = StreamId::new(1);
    let entries = [b"1234".as_slice(), b"12345"].map(|part| [part]);
    let entries = entries.each_ref().map(|parts| NewEntry::new(stream, parts));
    let error = log.append(&entries, Durability::Os).unwrap_err();
    assert!(matches!(
        error,
        LogError::EntryTooLarge { bytes: 5, max: 4 }
    ));
    assert_eq!(error.kind(), LogErrorKind::Invalid);
    assert_eq!(append_synced(&log, 1, b"1234"), Glsn::FIRST);
}

#[test]
fn bad_options_are_refused_by_name() {
    let check = |options, expected| match try_open(&SimDisk::new(), options).unwrap_err() {
        LogError::Options { field, .. } => assert_eq!(field, expected),
        other => panic!("{other}"),
    };
    let good = LogOptions::default();
    check(
        LogOptions {
            file_bytes_max: 0,
            ..good
        },
        "file_bytes_max",
    );
    check(
        LogOptions {
            entry_bytes_max: 0,
            ..good
        },
        "entry_bytes_max",
    );
    check(
        LogOptions {
            entry_bytes_max: 1 << 31,
            ..good
        },
        "entry_bytes_max",
    );
    check(
        LogOptions {
            pending_bytes_max: 0,
            ..good
        },
        "pending_bytes_max",
    );
}

#[test]
fn positions_that_do_not_exist_are_not_found() {
    let log = open(&SimDisk::new(), LogOptions::default());
    append_synced(&log, 1, b"x");
    for glsn in [Glsn::new(2), Glsn::new(u64::MAX)] {
        assert_eq!(log.read(glsn).unwrap_err().kind(), LogErrorKind::OutOfRange);
    }
    assert!(log.scan(Glsn::new(2)).unwrap().next().is_none());
    assert!(matches!(
        log.scan(Glsn::new(3)),
        Err(LogError::NotFound { .. })
    ));
    assert!(matches!(
        log.read(Glsn::ZERO),
        Err(LogError::Trimmed { first: Glsn::FIRST })
    ));
}

#[test]
fn entries_and_counters_are_there_after_a_clean_restart() {
    let disk = SimDisk::new();
    for round in 0..4u64 {
        let log = open(&disk, small_files());
        assert_eq!(log.last(), Glsn::new(round * 100));
        assert_eq!(log.durable(), log.last());
        for n in 0..100 {
            let appended = append(&log, 1 + n % 3, &[b'x'; 50], Durability::Os);
            assert_eq!(
                appended.llsns[0].get(),
                round * if n % 3 == 0 { 34 } else { 33 } + u64::from(n / 3) + 1
            );
        }
        log.close().unwrap();
        assert_eq!(contents(&log).len() as u64, (round + 1) * 100);
    }
    let crashed = disk.crashed(1);
    assert_eq!(open(&crashed, small_files()).last(), Glsn::new(400));
}

#[test]
fn restarts_without_appends_do_not_make_the_log_grow() {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    append_synced(&log, 1, b"x");
    log.close().unwrap();
    let bytes = log.bytes();
    for _ in 0..3 {
        let log = open(&disk, small_files());
        log.close().unwrap();
        assert_eq!(log.bytes(), bytes);
    }
}

#[test]
fn a_scan_starts_anywhere_and_crosses_files_and_index_points() {
    let disk = SimDisk::new();
    let options = LogOptions {
        file_bytes_max: 300_000,
        ..LogOptions::default()
    };
    let log = open(&disk, options);
    for n in 0..3000u64 {
        append(&log, 1, &n.to_le_bytes().repeat(40), Durability::Os);
    }
    log.close().unwrap();
    let reopened = open(&disk, options);
    for log in [log, reopened] {
        assert!(log.stats().files > 2, "several files");
        for from in [1, 2, 700, 1500, 2999, 3000] {
            let mut scan = log.scan(Glsn::new(from)).unwrap();
            assert_eq!(scan.end(), Glsn::new(3000));
            for n in from..=3000 {
                let entry = scan.next().unwrap().unwrap();
                assert_eq!((entry.glsn, entry.llsn), (Glsn::new(n), Llsn::new(n)));
                assert_eq!(entry.payload[..8], (n - 1).to_le_bytes());
            }
            assert!(scan.next().is_none());
        }
        assert_eq!(
            log.read(Glsn::new(2345)).unwrap().payload[..8],
            2344u64.to_le_bytes()
        );
    }
}

#[test]
fn a_scan_ends_where_the_log_ended_when_it_began() {
    let log = open(&SimDisk::new(), small_files());
    append_synced(&log, 1, b"before");
    let mut scan = log.scan(Glsn::FIRST).unwrap();
    append_synced(&log, 1, b"after");
    assert_eq!(scan.next().unwrap().unwrap().payload, b"before");
    assert!(scan.next().is_none());
}

#[test]
fn a_read_of_an_entry_in_flight_waits_for_it() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    disk.stall();
    let glsn = append(&log, 1, b"on its way", Durability::Os).last;
    assert!(
        log.scan(glsn).unwrap().next().is_none(),
        "a scan sees only what is written"
    );
    let (started, wait) = mpsc::channel();
    let reader = {
        let log = log.clone();
        std::thread::spawn(move || {
            started.send(()).unwrap();
            log.read(glsn)
        })
    };
    wait.recv().unwrap();
    disk.resume();
    assert_eq!(&reader.join().unwrap().unwrap().payload[..], b"on its way");
}

#[test]
fn waiting_for_a_sync_of_entries_appended_without_one_syncs_them() {
    let log = open(&SimDisk::new(), LogOptions::default());
    let glsn = append(&log, 1, b"x", Durability::Os).last;
    log.written(glsn).unwrap();
    assert_eq!((log.durable(), log.stats().syncs), (Glsn::ZERO, 0));
    log.wait(glsn, Durability::Sync).unwrap();
    assert_eq!((log.durable(), log.stats().syncs), (glsn, 1));
}

#[test]
fn calls_that_wait_together_share_a_sync() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    disk.stall();
    for _ in 0..1000 {
        append(&log, 1, b"x", Durability::Sync);
    }
    disk.resume();
    log.wait(log.last(), Durability::Sync).unwrap();
    let stats = log.stats();
    assert!(stats.syncs <= 2 && stats.groups <= 2, "{stats:?}");
    assert_eq!(stats.entries, 1000);
}

#[test]
fn appends_block_at_the_limit_of_pending_bytes_until_the_disk_takes_some() {
    let disk = SimDisk::new();
    let options = LogOptions {
        pending_bytes_max: 1000,
        ..LogOptions::default()
    };
    let log = open(&disk, options);
    disk.stall();
    append(&log, 1, &[0; 900], Durability::Os);
    let blocked = {
        let log = log.clone();
        std::thread::spawn(move || append(&log, 1, &[1; 5000], Durability::Os).last)
    };
    while log.stats().append_waits == 0 {
        std::thread::yield_now();
    }
    assert_eq!((log.last(), log.stats().pending_bytes), (Glsn::FIRST, 944));
    disk.resume();
    let glsn = blocked.join().unwrap();
    log.written(glsn).unwrap();
    assert_eq!(
        contents(&log)[1].payload.len(),
        5000,
        "larger than the limit, but alone"
    );
}

#[tokio::test]
async fn tasks_wait_for_entries_that_are_in_flight_and_that_do_not_exist_yet() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    disk.stall();
    let glsn = append(&log, 1, b"x", Durability::Os).last;
    let waiters: Vec<_> = [(glsn, Durability::Os), (glsn.next(), Durability::Sync)]
        .map(|(glsn, durability)| {
            let log = log.clone();
            tokio::spawn(async move { log.wait_async(glsn, durability).await })
        })
        .into();
    tokio::task::yield_now().await;
    disk.resume();
    append(&log, 1, b"y", Durability::Os);
    for waiter in waiters {
        waiter.await.unwrap().unwrap();
    }
    assert_eq!(log.durable(), glsn.next());
}

#[test]
fn threads_get_one_order_without_gaps() {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    let threads: Vec<_> = (0..4u32)
        .map(|stream| {
            let log = log.clone();
            std::thread::spawn(move || {
                for n in 0..200u32 {
                    let durability = if n % 50 == 0 {
                        Durability::Sync
                    } else {
                        Durability::Os
                    };
                    let appended = append(&log, stream, &n.to_le_bytes(), durability);
                    assert_eq!(appended.llsns, [Llsn::new(u64::from(n) + 1)]);
                    log.wait(appended.last, durability).unwrap();
                }
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    let entries = contents(&log);
    assert_eq!(entries.len(), 800);
    for (index, entry) in entries.iter().enumerate() {
        assert_eq!(entry.glsn.get(), index as u64 + 1);
        assert_eq!(
            u64::from_le_bytes([&entry.payload[..], &[0; 4]].concat().try_into().unwrap()) + 1,
            entry.llsn.get()
        );
    }
}

#[test]
fn a_closed_log_refuses_appends_and_still_reads() {
    let log = open(&SimDisk::new(), LogOptions::default());
    let glsn = append(&log, 1, b"x", Durability::Os).last;
    let clone = log.clone();
    clone.close().unwrap();
    log.close().unwrap();
    let entry = NewEntry::new(StreamId::new(1), &[]);
    assert!(matches!(
        log.append(&[entry], Durability::Os),
        Err(LogError::Closed)
    ));
    log.wait(glsn, Durability::Sync).unwrap();
    assert!(matches!(
        log.wait(glsn.next(), Durability::Os),
        Err(LogError::Closed)
    ));
    assert_eq!(&log.read(glsn).unwrap().payload[..], b"x");
}

#[test]
fn dropping_the_last_clone_makes_everything_durable_and_frees_the_folder() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    append(&log, 1, b"x", Durability::Os);
    let clone = log.clone();
    drop(log);
    assert!(matches!(
        try_open(&disk, LogOptions::default()),
        Err(LogError::Locked { .. })
    ));
    drop(clone);
    for seed in 0..20 {
        assert_eq!(
            contents(&open(&disk.crashed(seed), LogOptions::default())).len(),
            1
        );
    }
    open(&disk, LogOptions::default());
}

#[test]
fn the_real_disk_keeps_entries_and_refuses_a_second_writer() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("a/log");
    let open = |dir: &Path| Log::open(Arc::new(RealDisk), clock(), dir, small_files());
    let log = open(&dir).unwrap();
    assert_eq!(open(&dir).unwrap_err().kind(), LogErrorKind::Unavailable);
    for n in 0..100u32 {
        append_synced(&log, n % 2, &n.to_le_bytes());
        assert_eq!(log.read(log.last()).unwrap().payload[..], n.to_le_bytes());
    }
    log.trim(Trim::Unnamed(Glsn::new(50))).unwrap();
    let first = log.first();
    assert!(first > Glsn::FIRST && first <= Glsn::new(51));
    drop(log);
    let log = open(&dir).unwrap();
    let entries = contents(&log);
    assert_eq!(
        (entries[0].glsn, entries.last().unwrap().glsn),
        (first, Glsn::new(100))
    );
}

/// A call that others follow.
fn held() -> AppendOptions {
    AppendOptions {
        durability: Durability::Os,
        more_follows: true,
        ..AppendOptions::default()
    }
}

#[test]
fn calls_that_others_follow_are_written_as_soon_as_somebody_waits_for_them() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    let entry = || NewEntry::new(StreamId::new(1), &[b"x"]);
    let mut expected = 0;
    for want in [Durability::Os, Durability::Sync] {
        for _ in 0..10 {
            log.append(&[entry()], held()).unwrap();
        }
        log.wait(log.last(), want).unwrap();
        expected += 10;
        assert_eq!(contents(&log).len(), expected);
    }
    let read = log.append(&[entry()], held()).unwrap().last;
    assert_eq!(&log.read(read).unwrap().payload[..], b"x");
    log.append(&[entry()], held()).unwrap();
    log.hand_over();
    log.written(log.last()).unwrap();
    log.append(&[entry()], held()).unwrap();
    drop(log);
    assert_eq!(contents(&open(&disk, LogOptions::default())).len(), 23);
}

#[test]
fn calls_that_others_follow_are_written_when_there_is_no_room_for_more() {
    let options = LogOptions {
        pending_bytes_max: 200,
        ..LogOptions::default()
    };
    let log = open(&SimDisk::new(), options);
    for _ in 0..100 {
        let entry = NewEntry::new(StreamId::new(1), &[&[7; 50]]);
        log.append(&[entry], held()).unwrap();
    }
    log.written(log.last()).unwrap();
    assert_eq!(contents(&log).len(), 100);
}
