//! What an entry can hold: headers, sizes, compression; and reading it from both ends.

use std::sync::Arc;
use std::time::Duration;

use clew_log::{
    AppendOptions, Compression, Durability, Glsn, Log, LogError, LogOptions, NewEntry, Order,
    Range, Selection, StreamId, Trim,
};
use clew_platform::{FixedClock, SimDisk};

use super::{DIR, Random, append, contents, open, small_files, try_contents};

#[test]
fn headers_come_back_in_order_with_every_compression() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    let headers: [(&str, &[u8]); 3] = [("trace", b"7f"), ("", b""), ("trace", &[0xff, 0])];
    let body = "the same words over and over ".repeat(100);
    for compression in [Compression::None, Compression::Lz4, Compression::Zstd] {
        let entry = NewEntry {
            stream: StreamId::new(1),
            parts: &[body.as_bytes()],
            headers: &headers,
        };
        let options = AppendOptions {
            compression,
            ..AppendOptions::default()
        };
        let appended = log.append(&[entry; 50], options).unwrap();
        log.wait(appended.last, Durability::Sync).unwrap();
        let entry = log.read(appended.last).unwrap();
        assert_eq!(entry.payload, body);
        let found: Vec<_> = entry
            .headers
            .iter()
            .map(|(key, value)| (key.as_str(), &value[..]))
            .collect();
        assert_eq!(found, headers);
    }
    assert_eq!(
        contents(&open(&disk.crashed(1), LogOptions::default())).len(),
        150
    );
    assert!(
        log.bytes() < 2 * 50 * 3000,
        "two of three calls are stored in little space"
    );
}

#[test]
fn what_does_not_gain_by_compression_is_stored_as_it_is() {
    let log = open(&SimDisk::new(), LogOptions::default());
    let noise = Random::new(1).bytes(4000);
    let parts: [&[u8]; 1] = [&noise];
    for compression in [Compression::Lz4, Compression::Zstd] {
        let options = AppendOptions {
            compression,
            ..AppendOptions::default()
        };
        log.append(&[NewEntry::new(StreamId::new(1), &parts)], options)
            .unwrap();
        log.append(&[NewEntry::new(StreamId::new(1), &[b"tiny"])], options)
            .unwrap();
    }
    log.written(log.last()).unwrap();
    let entries = contents(&log);
    assert_eq!(
        (&entries[0].payload[..], &entries[3].payload[..]),
        (&noise[..], &b"tiny"[..])
    );
}

#[test]
fn the_largest_entry_is_taken_and_a_byte_more_is_not() {
    let log = open(&SimDisk::new(), LogOptions::default());
    let largest = vec![3; 16 << 20];
    let last = append(&log, 1, &largest, Durability::Os).last;
    assert!(log.read(last).unwrap().payload == largest);
    let parts: [&[u8]; 2] = [&largest, b"x"];
    let error = log
        .append(&[NewEntry::new(StreamId::new(1), &parts)], Durability::Os)
        .unwrap_err();
    assert!(
        matches!(error, LogError::EntryTooLarge { bytes, max } if bytes == max + 1),
        "{error}"
    );
    let value = vec![0; 70_000];
    let headers: [(&str, &[u8]); 1] = [("k", &value)];
    let entry = NewEntry {
        stream: StreamId::new(1),
        parts: &[],
        headers: &headers,
    };
    let error = log.append(&[entry], Durability::Os).unwrap_err();
    assert!(matches!(error, LogError::HeadersTooLarge { .. }), "{error}");
    assert_eq!(log.last(), last);
}

#[test]
fn scans_in_both_directions_give_the_same_entries() {
    let log = open(
        &SimDisk::new(),
        LogOptions {
            file_bytes_max: 9000,
            ..LogOptions::default()
        },
    );
    let mut random = Random::new(5);
    for _ in 0..400 {
        let payload = random.bytes(120);
        let parts: [&[u8]; 1] = [&payload];
        let compression = [Compression::None, Compression::Lz4][usize::from(random.below(4) == 0)];
        let options = AppendOptions {
            durability: Durability::Os,
            compression,
            ..AppendOptions::default()
        };
        let entry = NewEntry::new(StreamId::new(random.stream()), &parts);
        log.append(
            &vec![entry; 1 + usize::try_from(random.below(20)).unwrap()],
            options,
        )
        .unwrap();
    }
    log.written(log.last()).unwrap();
    let all = contents(&log);
    for _ in 0..60 {
        let from = 1 + random.below(all.len() as u64);
        let to = from + random.below(all.len() as u64 + 2 - from);
        let streams: Vec<StreamId> = (0..3)
            .filter(|_| random.below(2) == 0)
            .map(StreamId::new)
            .collect();
        let scan = |order| {
            let range = Range::Glsn {
                from: Glsn::new(from),
                to: Glsn::new(to),
            };
            let mut scan = log
                .scan_with(&Selection {
                    range,
                    streams: streams.clone(),
                    order,
                })
                .unwrap();
            let mut entries = Vec::new();
            while let Some(entry) = scan.next() {
                entries.push(entry.unwrap().to_entry());
            }
            entries
        };
        let wanted = |stream: StreamId| streams.is_empty() || streams.contains(&stream);
        let positions = from..to;
        let expected = all
            .iter()
            .filter(|entry| positions.contains(&entry.glsn.get()) && wanted(entry.stream));
        let expected: Vec<_> = expected.cloned().collect();
        assert_eq!(
            scan(Order::Forward),
            expected,
            "{from}..{to} of {streams:?}"
        );
        let mut backward = scan(Order::Backward);
        backward.reverse();
        assert_eq!(backward, expected, "{from}..{to} of {streams:?}");
    }
}

/// A log whose clock the test moves.
fn timed(disk: &SimDisk, options: LogOptions) -> (Log, Arc<FixedClock>) {
    let clock = Arc::new(FixedClock::at(Duration::from_millis(1_000_000)));
    let disk = Arc::new(disk.clone());
    let log = Log::open(disk, clock.clone(), std::path::Path::new(DIR), options).unwrap();
    (log, clock)
}

#[test]
fn the_first_entry_at_or_after_a_time_is_found() {
    let disk = SimDisk::new();
    let (log, clock) = timed(
        &disk,
        LogOptions {
            file_bytes_max: 3000,
            ..LogOptions::default()
        },
    );
    for n in 0..200u64 {
        append(
            &log,
            u32::try_from(n % 2).unwrap(),
            &[0; 20],
            Durability::Os,
        );
        if n % 3 == 2 {
            clock.advance(Duration::from_millis(10));
        }
    }
    log.written(log.last()).unwrap();
    let entries = contents(&log);
    for time_ms in (999_990..1_000_700).step_by(5) {
        let first = |wanted: &dyn Fn(StreamId) -> bool| {
            let mut late = entries
                .iter()
                .filter(|entry| entry.time_ms >= time_ms && wanted(entry.stream));
            late.next().map(|entry| entry.glsn)
        };
        assert_eq!(
            log.first_at_or_after(time_ms, &[]).unwrap(),
            first(&|_| true),
            "{time_ms}"
        );
        let one = StreamId::new(1);
        assert_eq!(
            log.first_at_or_after(time_ms, &[one]).unwrap(),
            first(&|s| s == one),
            "{time_ms}"
        );
    }
}

#[test]
fn retention_gives_up_whole_files_of_named_streams_by_bytes_and_by_age() {
    for by_age in [false, true] {
        let disk = SimDisk::new();
        let limits = match by_age {
            true => LogOptions {
                retention_age_ms: 50_000,
                ..small_files()
            },
            false => LogOptions {
                retention_bytes: 5000,
                ..small_files()
            },
        };
        let (log, clock) = timed(&disk, limits);
        let stream = log.create_stream("s").unwrap().id;
        for _ in 0..200 {
            log.append(&[NewEntry::new(stream, &[&[0; 50]])], Durability::Os)
                .unwrap();
            log.written(log.last()).unwrap();
            clock.advance(Duration::from_secs(1));
        }
        log.apply_retention().unwrap();
        let info = log.stream("s").unwrap();
        assert!(info.first.get() > 100, "old entries are gone: {info:?}");
        assert!(info.first < info.last && log.first().get() == info.first.get());
        assert!(by_age || log.bytes() <= 5000 + 2 * 1024);
        let oldest = log.read(log.first()).unwrap();
        assert!(
            !by_age || oldest.time_ms + 70_000 > 1_200_000,
            "about fifty seconds are kept"
        );
        assert!(matches!(
            log.read(Glsn::FIRST),
            Err(LogError::Trimmed { .. })
        ));
        assert_eq!(
            try_contents(&log).unwrap().len() as u64,
            201 - info.first.get()
        );
        log.trim(Trim::Named(Glsn::ZERO)).unwrap();
        assert_eq!(
            log.stream("s").unwrap().first,
            info.first,
            "a watermark never goes back"
        );
    }
}

#[test]
fn histograms_count_what_happened() {
    let log = open(&SimDisk::new(), LogOptions::default());
    for _ in 0..10 {
        let last = append(&log, 1, b"x", Durability::Sync).last;
        log.wait(last, Durability::Sync).unwrap();
    }
    log.close().unwrap();
    let stats = log.stats();
    assert_eq!((stats.entries, stats.groups, stats.syncs), (10, 10, 10));
    assert_eq!(stats.append_latency.counts.iter().sum::<u64>(), 10);
    assert_eq!(stats.sync_latency.counts.iter().sum::<u64>(), 10);
    assert_eq!(
        (stats.group_entries.counts[0], stats.group_entries.sum),
        (10, 10)
    );
}
