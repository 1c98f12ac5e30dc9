//! Streams made by name: their life, and what each wrong use is told.

use clew_log::{
    AppendOptions, Durability, Glsn, Llsn, Log, LogError, LogOptions, NewEntry, Order, Range,
    Selection, StreamId, Trim,
};
use clew_platform::SimDisk;

use super::{append, open, small_files};

fn append_to(log: &Log, stream: StreamId, payload: &[u8]) -> Result<Llsn, LogError> {
    let parts = [payload];
    let appended = log.append(&[NewEntry::new(stream, &parts)], Durability::Sync)?;
    log.wait(appended.last, Durability::Sync)?;
    Ok(appended.llsns[0])
}

/// The payloads of one stream, by its own positions from the lowest that is retained.
fn stream_payloads(log: &Log, stream: StreamId) -> Vec<Vec<u8>> {
    let range = Range::Llsn {
        stream,
        from: Llsn::ZERO,
        to: Llsn::MAX,
    };
    let selection = Selection {
        range,
        streams: Vec::new(),
        order: Order::Forward,
    };
    let mut scan = log.scan_with(&selection).unwrap();
    let mut payloads = Vec::new();
    while let Some(entry) = scan.next() {
        payloads.push(entry.unwrap().payload.to_vec());
    }
    payloads
}

#[test]
fn streams_are_made_listed_and_described_and_outlive_a_power_cut() {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    let orders = log.create_stream("orders").unwrap();
    let users = log.create_stream("users").unwrap();
    assert!(orders.id.is_named() && users.id > orders.id);
    assert_eq!(append_to(&log, users.id, b"u1").unwrap(), Llsn::FIRST);
    assert_eq!(
        log.first(),
        Glsn::FIRST,
        "making a stream takes no position"
    );
    assert_eq!(log.last(), Glsn::FIRST);
    for seed in 0..20 {
        let log = open(&disk.crashed(seed), small_files());
        let streams = log.streams();
        let names: Vec<_> = streams.iter().map(|s| s.name.as_deref().unwrap()).collect();
        assert_eq!(names, ["orders", "users"]);
        assert_eq!(log.stream("users").unwrap().last, Llsn::FIRST);
        assert_eq!(
            log.stream(&users.id.to_string()).unwrap().name.as_deref(),
            Some("users")
        );
    }
}

#[test]
fn wrong_names_and_numbers_are_told_apart() {
    let log = open(&SimDisk::new(), small_files());
    let stream = log.create_stream("a").unwrap().id;
    assert!(
        matches!(log.create_stream("a"), Err(LogError::StreamExists { stream: s, .. }) if s == stream)
    );
    assert!(matches!(
        log.create_stream("1"),
        Err(LogError::StreamName { .. })
    ));
    assert!(matches!(
        log.create_stream("a b"),
        Err(LogError::StreamName { .. })
    ));
    assert!(matches!(
        log.stream("b"),
        Err(LogError::UnknownStream { .. })
    ));
    let unknown = StreamId::new(StreamId::NAMED_FIRST.get() + 99);
    assert!(matches!(
        append_to(&log, unknown, b"x"),
        Err(LogError::UnknownStream { .. })
    ));
    append(&log, 5, b"x", Durability::Os);
    assert!(matches!(
        log.seal(StreamId::new(5)),
        Err(LogError::ReservedStream { .. })
    ));
    let trim = log.trim(Trim::Stream(StreamId::new(5), Llsn::FIRST));
    assert!(matches!(trim, Err(LogError::ReservedStream { .. })));
    assert_eq!(
        log.last(),
        Glsn::FIRST,
        "nothing refused has taken a position"
    );
}

#[test]
fn sealing_fences_writers_in_one_step_and_survives() {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    let stream = log.create_stream("s").unwrap().id;
    append_to(&log, stream, b"1").unwrap();
    assert!(log.seal(stream).unwrap().sealed);
    assert_eq!(
        log.seal(stream).unwrap().epoch,
        0,
        "sealing twice changes nothing"
    );
    let refused = append_to(&log, stream, b"2").unwrap_err();
    assert!(
        matches!(refused, LogError::Sealed { epoch: 0, .. }),
        "{refused}"
    );
    let disk = disk.crashed(3);
    let log = open(&disk, small_files());
    assert!(matches!(
        append_to(&log, stream, b"2"),
        Err(LogError::Sealed { .. })
    ));
    let info = log.unseal(stream).unwrap();
    assert_eq!((info.sealed, info.epoch), (false, 1));
    assert_eq!(log.unseal(stream).unwrap().epoch, 1, "it was open already");
    let with_epoch = |epoch| {
        let options = AppendOptions {
            epoch: Some(epoch),
            ..AppendOptions::default()
        };
        log.append(&[NewEntry::new(stream, &[b"3"])], options)
    };
    assert!(
        matches!(with_epoch(0), Err(LogError::Fenced { epoch: 1, .. })),
        "the old writer"
    );
    assert_eq!(with_epoch(1).unwrap().llsns, [Llsn::new(2)]);
}

#[test]
fn a_deleted_stream_is_gone_at_once_and_its_name_is_free_for_another() {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    let old = log.create_stream("s").unwrap().id;
    append_to(&log, old, b"old").unwrap();
    append(&log, 1, b"other", Durability::Os);
    log.delete_streams(&[old]).unwrap();
    assert!(matches!(
        log.stream("s"),
        Err(LogError::UnknownStream { .. })
    ));
    assert!(matches!(
        log.read(Glsn::FIRST),
        Err(LogError::UnknownStream { .. })
    ));
    assert!(matches!(
        append_to(&log, old, b"x"),
        Err(LogError::UnknownStream { .. })
    ));
    let new = log.create_stream("s").unwrap().id;
    assert!(new > old);
    append_to(&log, new, b"new").unwrap();
    for log in [log, open(&disk.crashed(1), small_files())] {
        assert_eq!(stream_payloads(&log, new), [b"new"]);
        let mut scan = log.scan(Glsn::FIRST).unwrap();
        let first = scan.next().unwrap().unwrap();
        assert_eq!((first.glsn, first.payload), (Glsn::new(2), &b"other"[..]));
    }
}

#[test]
fn a_trimmed_stream_remembers_its_low_watermark_and_gives_its_files_back() {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    let [kept, trimmed] = ["kept", "trimmed"].map(|name| log.create_stream(name).unwrap().id);
    for n in 0..100u32 {
        append_to(&log, trimmed, &n.to_le_bytes()).unwrap();
    }
    append_to(&log, kept, b"kept").unwrap();
    let files = log.stats().files;
    log.trim(Trim::Stream(trimmed, Llsn::new(60))).unwrap();
    assert!(
        log.stats().files < files,
        "files that hold nothing else are gone"
    );
    for log in [log, open(&disk.crashed(7), small_files())] {
        let info = log.stream("trimmed").unwrap();
        assert_eq!((info.first, info.last), (Llsn::new(61), Llsn::new(100)));
        let below = log.read_at(trimmed, Llsn::new(60)).unwrap_err();
        assert!(matches!(below, LogError::TrimmedStream { first, .. } if first == info.first));
        assert_eq!(
            log.read_at(trimmed, Llsn::new(61)).unwrap().payload[..],
            60u32.to_le_bytes()
        );
        assert_eq!(stream_payloads(&log, trimmed).len(), 40);
        // The position in the log may still be on disk; it is not shown all the same.
        let hidden = log.read(Glsn::new(60)).unwrap_err();
        assert!(
            matches!(
                hidden,
                LogError::TrimmedStream { .. } | LogError::Trimmed { .. }
            ),
            "{hidden}"
        );
        let range = Range::Glsn {
            from: log.first(),
            to: Glsn::MAX,
        };
        let selection = Selection {
            range,
            streams: vec![trimmed],
            order: Order::Forward,
        };
        let mut scan = log.scan_with(&selection).unwrap();
        if log.first() <= Glsn::new(60) {
            assert!(matches!(
                scan.next(),
                Some(Err(LogError::TrimmedStream { .. }))
            ));
        }
    }
}

#[test]
fn a_stream_that_keeps_an_entry_keeps_its_file_and_all_behind() {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    let [kept, trimmed] = ["kept", "trimmed"].map(|name| log.create_stream(name).unwrap().id);
    append_to(&log, kept, b"kept").unwrap();
    for n in 0..100u32 {
        append_to(&log, trimmed, &n.to_le_bytes()).unwrap();
    }
    let files = log.stats().files;
    log.trim(Trim::Stream(trimmed, Llsn::MAX)).unwrap();
    assert_eq!((log.stats().files, log.first()), (files, Glsn::FIRST));
    assert_eq!(stream_payloads(&log, kept), [b"kept"]);
    log.trim(Trim::Named(Glsn::MAX)).unwrap();
    assert_eq!(log.stats().files, 1, "only the active file is left");
    assert_eq!(log.first(), log.last().next());
    for error in [
        log.read(Glsn::FIRST).unwrap_err(),
        log.read(log.last()).unwrap_err(),
    ] {
        assert!(matches!(error, LogError::Trimmed { .. }), "{error}");
    }
    let again = open(&disk.crashed(2), small_files());
    assert_eq!(
        again.first(),
        again.last().next(),
        "the low watermark outlives the process"
    );
    assert_eq!(
        append_to(&again, kept, b"next").unwrap(),
        Llsn::new(2),
        "and so do the counters"
    );
}

#[test]
fn a_position_beyond_the_end_of_a_stream_is_no_trimmed_one() {
    let log = open(&SimDisk::new(), LogOptions::default());
    let stream = log.create_stream("s").unwrap().id;
    append_to(&log, stream, b"1").unwrap();
    let beyond = log.read_at(stream, Llsn::new(2)).unwrap_err();
    assert!(
        matches!(
            beyond,
            LogError::EntryNotFound {
                last: Llsn::FIRST,
                ..
            }
        ),
        "{beyond}"
    );
    let range = Range::Llsn {
        stream,
        from: Llsn::new(3),
        to: Llsn::MAX,
    };
    let selection = Selection {
        range,
        streams: Vec::new(),
        order: Order::Forward,
    };
    assert!(matches!(
        log.scan_with(&selection),
        Err(LogError::EntryNotFound { .. })
    ));
}

#[test]
fn thousands_of_streams_share_the_files_and_are_read_alone() {
    let disk = SimDisk::new();
    let log = open(
        &disk,
        LogOptions {
            file_bytes_max: 100_000,
            ..LogOptions::default()
        },
    );
    let numbered = |n: u32| StreamId::new(n % 2000 + 1);
    for n in 0..6000u32 {
        append(&log, numbered(n).get(), &n.to_le_bytes(), Durability::Os);
    }
    log.wait(log.last(), Durability::Sync).unwrap();
    assert!(log.stats().files > 3);
    for n in [0, 1, 999, 1999] {
        let expected: Vec<Vec<u8>> = [n, n + 2000, n + 4000]
            .map(|n: u32| n.to_le_bytes().to_vec())
            .to_vec();
        assert_eq!(stream_payloads(&log, numbered(n)), expected);
    }
    let log = open(&disk.crashed(1), LogOptions::default());
    assert_eq!(log.streams().len(), 2000);
    assert_eq!(stream_payloads(&log, numbered(7)).len(), 3);
}

#[test]
fn a_scan_for_the_embedding_program_leaves_out_files_that_hold_nothing_of_it() {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    let named = log.create_stream("s").unwrap().id;
    let mut unnamed = Vec::new();
    for n in 0..300u32 {
        if [5, 120, 121, 299].contains(&n) {
            unnamed.push(append(&log, 1, b"mine", Durability::Os).last);
        } else {
            log.append(&[NewEntry::new(named, &[&[0; 40]])], Durability::Os)
                .unwrap();
            log.written(log.last()).unwrap();
        }
    }
    log.written(log.last()).unwrap();
    let files = log.stats().files;
    assert!(files > 10);
    for from in [1, 6, 7, 100, 122, 300] {
        let mut scan = log.scan_unnamed(Glsn::new(from)).unwrap();
        let (mut found, mut others) = (Vec::new(), 0);
        while let Some(entry) = scan.next() {
            match entry.unwrap() {
                entry if entry.stream == named => others += 1,
                entry => found.push(entry.glsn),
            }
        }
        let expected: Vec<Glsn> = unnamed
            .iter()
            .copied()
            .filter(|glsn| glsn.get() >= from)
            .collect();
        assert_eq!(found, expected, "from {from}");
        assert!(
            others < 300 * 5 / files,
            "from {from}: {others} entries of others"
        );
    }
    assert!(log.bytes_from(log.last()) <= 1024 && log.bytes_from(Glsn::FIRST) == log.bytes());
}
