use std::path::Path;
use std::sync::Arc;

use clew_log::{Durability, Glsn, Llsn, Log, LogError, LogErrorKind, StreamId, Trim};
use clew_platform::SimDisk;

use super::{DIR, append, append_synced, contents, counters, files, open, small_files};

/// A log of several files in which stream 7 has 3 entries, all at the beginning.
fn filled(disk: &SimDisk) -> Log {
    let log = open(disk, small_files());
    for n in 0..100u32 {
        append_synced(&log, if n < 3 { 7 } else { 1 }, &n.to_le_bytes());
    }
    log
}

#[test]
fn trimming_removes_whole_files_and_only_those() {
    let disk = SimDisk::new();
    let log = filled(&disk);
    let second = Glsn::new(
        files(&disk)[1]
            .file_stem()
            .unwrap()
            .to_str()
            .unwrap()
            .parse()
            .unwrap(),
    );
    let bytes = log.bytes();
    log.trim(Trim::Unnamed(second.previous().previous()))
        .unwrap();
    assert_eq!(
        (log.first(), log.bytes()),
        (Glsn::FIRST, bytes),
        "an entry was still needed"
    );
    log.trim(Trim::Unnamed(second.previous())).unwrap();
    assert_eq!(log.first(), second);
    assert!(log.bytes() < bytes);
    for error in [
        log.read(Glsn::FIRST).unwrap_err(),
        log.scan(Glsn::FIRST).unwrap_err(),
    ] {
        assert!(matches!(error, LogError::Trimmed { first } if first == second));
        assert_eq!(error.kind(), LogErrorKind::OutOfRange);
    }
    assert_eq!(contents(&log).len() as u64, 100 - second.previous().get());
}

#[test]
fn trimming_everything_keeps_the_active_file_and_its_positions() {
    let disk = SimDisk::new();
    let log = filled(&disk);
    log.trim(Trim::Unnamed(Glsn::new(u64::MAX))).unwrap();
    assert_eq!(files(&disk).len(), 1);
    assert!(log.first() > Glsn::new(90));
    assert_eq!(append_synced(&log, 1, b"x"), Glsn::new(101));
}

#[test]
fn a_trim_and_the_counters_of_trimmed_streams_survive_a_crash() {
    let disk = SimDisk::new();
    let log = filled(&disk);
    log.trim(Trim::Unnamed(Glsn::new(80))).unwrap();
    let first = log.first();
    assert!(first > Glsn::new(3));
    for seed in 0..50 {
        let log = open(&disk.crashed(seed), small_files());
        assert_eq!((log.first(), log.last()), (first, Glsn::new(100)));
        assert_eq!(
            append(&log, 7, b"x", Durability::Sync).llsns,
            [Llsn::new(4)]
        );
        assert_eq!(
            append(&log, 1, b"x", Durability::Sync).llsns,
            [Llsn::new(98)]
        );
    }
}

#[test]
fn a_deleted_stream_without_a_name_begins_again_also_after_a_crash() {
    let disk = SimDisk::new();
    let log = filled(&disk);
    log.delete_streams(&[StreamId::new(7)]).unwrap();
    assert!(
        counters(&log.streams())
            .iter()
            .all(|(stream, _)| stream.get() != 7)
    );
    let disk = disk.crashed(1);
    let log = open(&disk, small_files());
    assert_eq!(append(&log, 7, b"x", Durability::Os).llsns, [Llsn::FIRST]);
    drop(log);
    let log = open(&disk, small_files());
    assert_eq!(append(&log, 7, b"x", Durability::Os).llsns, [Llsn::new(2)]);
}

#[test]
fn a_scan_that_is_overtaken_by_a_trim_says_so() {
    let disk = SimDisk::new();
    let log = filled(&disk);
    // The log itself keeps what it has mapped; another process has not.
    let reader = Log::open_read_only(Arc::new(disk.clone()), Path::new(DIR)).unwrap();
    let mut scan = reader.scan(Glsn::FIRST).unwrap();
    scan.next().unwrap().unwrap();
    log.trim(Trim::Unnamed(Glsn::new(u64::MAX))).unwrap();
    let error = loop {
        match scan
            .next()
            .expect("a scan that was overtaken does not end as if all was read")
        {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert!(matches!(error, LogError::Trimmed { .. }), "{error}");
    assert!(scan.next().is_none());
}
