//! `verify` and `dump`, and the folder that every version of the format must stay able to read.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clew_log::{
    AppendOptions, Compression, Durability, FrameKind, Glsn, Llsn, Log, LogError, LogOptions,
    NewEntry, Producer, StreamId, Trim, VerifyReport, dump, verify,
};
use clew_platform::{Disk, FixedClock, RealDisk, SimDisk};

use super::{DIR, append_synced, contents, damage, files, killed, len, open, small_files};

fn check(disk: &SimDisk) -> VerifyReport {
    let mut done = 0;
    let report = verify(disk, Path::new(DIR), &mut |bytes| done = bytes).unwrap();
    assert_eq!(done, report.bytes);
    report
}

/// A closed log of several files.
fn several() -> SimDisk {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    let stream = log.create_stream("s").unwrap().id;
    for n in 0..50u8 {
        append_synced(&log, 1, &[n; 40]);
        let last = log
            .append(&[NewEntry::new(stream, &[b"x"])], Durability::Sync)
            .unwrap()
            .last;
        log.wait(last, Durability::Sync).unwrap();
    }
    log.close().unwrap();
    disk
}

#[test]
fn a_sound_log_is_verified_byte_by_byte() {
    let disk = several();
    let report = check(&disk);
    let bytes: u64 = files(&disk).iter().map(|path| len(&disk, path)).sum();
    assert!(report.damage.is_empty());
    assert_eq!(
        (report.entries, report.bytes, report.torn_bytes),
        (100, bytes, 0)
    );
    assert_eq!(
        (report.first, report.last, report.files),
        (Glsn::FIRST, Glsn::new(100), files(&disk).len())
    );
}

#[test]
fn damage_in_several_files_is_reported_for_each_with_its_place() {
    let disk = several();
    let paths = files(&disk);
    let (early, late) = (len(&disk, &paths[1]) - 50, len(&disk, &paths[3]) - 20);
    damage(&disk, &paths[1], early);
    damage(&disk, &paths[3], late);
    damage(&disk, &paths[4], 30);
    let report = check(&disk);
    let places: Vec<(PathBuf, u64)> = report
        .damage
        .iter()
        .map(|error| match error {
            LogError::Corrupt { path, offset, .. } => (path.clone(), *offset),
            other => panic!("{other}"),
        })
        .collect();
    let named: Vec<&PathBuf> = places.iter().map(|(path, _)| path).collect();
    assert_eq!(named, [&paths[1], &paths[3], &paths[4]]);
    assert!(
        places[0].1 <= early && early < places[0].1 + 100,
        "the frame that holds the byte"
    );
    assert_eq!(places[2].1, 0, "a header");
    assert!(report.entries > 50, "the other files were checked");
}

#[test]
fn a_torn_tail_is_no_damage_and_a_missing_file_is() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    for _ in 0..5 {
        append_synced(&log, 1, b"payload");
    }
    let copy = killed(&disk);
    let path = &files(&copy)[0];
    copy.open(path)
        .unwrap()
        .set_len(len(&copy, path) - 3)
        .unwrap();
    let report = check(&copy);
    assert!(report.damage.is_empty() && report.torn_bytes > 0);
    assert_eq!(report.entries, 4);

    let disk = several();
    disk.remove_file(&files(&disk)[2]).unwrap();
    assert_eq!(check(&disk).damage.len(), 1);
    let empty = SimDisk::new();
    empty.create_dir_all(Path::new(DIR)).unwrap();
    assert!(matches!(
        verify(&empty, Path::new(DIR), &mut |_| {}),
        Err(LogError::Io { .. })
    ));
}

#[test]
fn a_foreign_file_under_a_log_files_name_is_refused_as_such() {
    let disk = SimDisk::new();
    disk.create_dir_all(Path::new(DIR)).unwrap();
    let path = Path::new(DIR).join("0000000000000001.log");
    disk.create_new(&path)
        .unwrap()
        .write_all_at(b"#!/bin/sh\necho not a log\n", 0)
        .unwrap();
    let report = check(&disk);
    assert!(
        report.damage[0]
            .to_string()
            .contains("does not begin as a log file")
    );
    let error = super::try_open(&disk, small_files()).unwrap_err();
    assert!(
        error.to_string().contains("does not begin as a log file"),
        "{error}"
    );
}

#[test]
fn a_dump_tells_every_frame_and_can_be_ended() {
    let disk = several();
    let mut kinds = [0; 3];
    dump(&disk, Path::new(DIR), &mut |frame| {
        let (kind, word) = match &frame.kind {
            FrameKind::Entries { .. } => (0, "entries"),
            FrameKind::Mark { .. } => (1, "mark"),
            FrameKind::Control(_) => (2, "control"),
        };
        assert!(frame.to_string().contains(word));
        kinds[kind] += 1;
        true
    })
    .unwrap();
    assert_eq!((kinds[0], kinds[2]), (100, 1));
    assert!(kinds[1] >= 100);
    let mut seen = 0;
    let mut end_early = |_: &clew_log::FrameInfo<'_>| {
        seen += 1;
        seen < 7
    };
    dump(&disk, Path::new(DIR), &mut end_early).unwrap();
    assert_eq!(seen, 7);
}

/// What the fixtures hold: made by the first release of each version of the format.
fn fill(log: &Log) {
    let orders = log.create_stream("orders").unwrap().id;
    let users = log.create_stream("users").unwrap().id;
    let headers: [(&str, &[u8]); 1] = [("trace", b"7f")];
    let line = "the quick brown fox jumps over the lazy dog ".repeat(20);
    for (n, compression) in (0..12u64).zip(
        [Compression::None, Compression::Lz4, Compression::Zstd]
            .iter()
            .cycle(),
    ) {
        let producer = Some(Producer {
            id: 9,
            sequence: n + 1,
        });
        let options = AppendOptions {
            producer,
            compression: *compression,
            ..AppendOptions::default()
        };
        let text = format!("{n} {line}");
        let parts: [&[u8]; 1] = [text.as_bytes()];
        let entry = NewEntry {
            stream: orders,
            parts: &parts,
            headers: &headers,
        };
        let last = log.append(&[entry, entry], options).unwrap().last;
        log.wait(last, Durability::Sync).unwrap();
        append_synced(log, 3, &[0xff, 0, 1]);
    }
    log.seal(users).unwrap();
    log.unseal(users).unwrap();
    log.trim(Trim::Stream(orders, Llsn::new(3))).unwrap();
}

#[test]
fn the_log_of_format_version_2_stays_readable() {
    // Tests run in the folder of their crate, which need not be where they were compiled.
    let fixture = Path::new("tests/fixtures/v2");
    let dir = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(fixture).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, dir.path().join(path.file_name().unwrap())).unwrap();
    }
    assert!(
        verify(&RealDisk, dir.path(), &mut |_| {})
            .unwrap()
            .damage
            .is_empty()
    );
    let clock = Arc::new(FixedClock::at(Duration::from_secs(1)));
    let log = Log::open(Arc::new(RealDisk), clock, dir.path(), LogOptions::default()).unwrap();
    let expected = SimDisk::new();
    let made = open(&expected, fixture_options());
    fill(&made);
    assert_eq!(contents(&log), contents(&made));
    assert_eq!(log.streams(), made.streams());
    assert_eq!((log.stats().files, log.first()), (2, Glsn::FIRST));
    let orders = log.stream("orders").unwrap();
    assert_eq!(
        log.read_at(orders.id, Llsn::new(24)).unwrap().headers.len(),
        1
    );
    let retry = AppendOptions {
        producer: Some(Producer {
            id: 9,
            sequence: 12,
        }),
        ..AppendOptions::default()
    };
    let entry = NewEntry::new(orders.id, &[b"again"]);
    assert!(log.append(&[entry, entry], retry).unwrap().replayed);
    assert_eq!(
        log.append(&[NewEntry::new(StreamId::new(3), &[])], Durability::Os)
            .unwrap()
            .first,
        Glsn::new(37)
    );
}

fn fixture_options() -> LogOptions {
    LogOptions {
        file_bytes_max: 7_000,
        ..LogOptions::default()
    }
}

/// How the fixture was made. Writes one into the folder that the variable names; a new version of
/// the format gets a new fixture, and the old ones are never made again.
#[test]
fn a_fixture_can_be_made() {
    let disk = SimDisk::new();
    let log = open(&disk, fixture_options());
    fill(&log);
    log.close().unwrap();
    assert_eq!(files(&disk).len(), 2);
    if let Some(dir) = std::env::var_os("CLEW_LOG_FIXTURE") {
        for path in files(&disk) {
            let to = Path::new(&dir).join(path.file_name().unwrap());
            RealDisk
                .write_atomic(&to, &disk.read(&path).unwrap())
                .unwrap();
        }
    }
}
