//! Reading a log's folder that another process writes to.

use std::path::Path;
use std::sync::Arc;

use clew_log::{
    Durability, Glsn, Llsn, Log, LogError, LogErrorKind, LogOptions, LogReader, StreamId, Trim,
};
use clew_platform::{Disk, SimDisk};

use super::{DIR, append, append_synced, counters, damage, files, len, open, small_files};

fn reader(disk: &SimDisk) -> LogReader {
    Log::open_read_only(Arc::new(disk.clone()), Path::new(DIR)).unwrap()
}

fn scanned(reader: &LogReader, from: Glsn) -> Vec<u64> {
    let mut scan = reader.scan(from).unwrap();
    let mut found = Vec::new();
    while let Some(entry) = scan.next() {
        found.push(entry.unwrap().glsn.get());
    }
    found
}

#[test]
fn a_reader_follows_a_log_that_is_being_written_across_files() {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    let mut reader = reader(&disk);
    assert_eq!((reader.first(), reader.last()), (Glsn::FIRST, Glsn::ZERO));
    for n in 1..=100u64 {
        let last = append(&log, 5, &[1; 40], Durability::Os).last;
        log.written(last).unwrap();
        if n % 9 == 0 {
            assert_eq!(reader.refresh().unwrap(), last);
            assert_eq!(reader.read(last).unwrap().llsn, Llsn::new(n));
            assert_eq!(
                scanned(&reader, Glsn::new(n - 8)),
                Vec::from_iter(n - 8..=n)
            );
        }
    }
    reader.refresh().unwrap();
    assert_eq!(reader.refresh().unwrap(), Glsn::new(100));
    assert_eq!(scanned(&reader, Glsn::FIRST).len(), 100);
    assert_eq!(
        (reader.bytes(), counters(&reader.streams())),
        (log.bytes(), counters(&log.streams()))
    );
    assert_eq!(
        counters(&reader.streams()),
        [(StreamId::new(5), Llsn::new(100))]
    );
    log.close().unwrap();
    assert_eq!(reader.refresh().unwrap(), Glsn::new(100));
    assert_eq!(
        reader.scan(Glsn::new(102)).unwrap_err().kind(),
        LogErrorKind::OutOfRange
    );
}

#[test]
fn a_reader_does_not_see_a_call_before_it_is_whole_and_changes_nothing() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    append_synced(&log, 1, b"whole");
    let path = &files(&disk)[0];
    let whole = len(&disk, path);
    append_synced(&log, 1, b"under way");
    let bytes = disk.read(path).unwrap();
    let cut = usize::try_from(whole).unwrap() + 50;

    let copy = SimDisk::new();
    copy.create_dir_all(Path::new(DIR)).unwrap();
    let mut file = copy.create_new(path).unwrap();
    file.write_all_at(&bytes[..cut], 0).unwrap();
    let mut reader = reader(&copy);
    assert_eq!(reader.last(), Glsn::FIRST);
    assert_eq!(reader.refresh().unwrap(), Glsn::FIRST);
    assert_eq!(
        (
            copy.read(path).unwrap(),
            copy.list(Path::new(DIR)).unwrap().len()
        ),
        (bytes[..cut].to_vec(), 1)
    );
    file.write_all_at(&bytes[cut..], cut as u64).unwrap();
    assert_eq!(reader.refresh().unwrap(), Glsn::new(2));
}

#[test]
fn a_reader_reports_damage_in_what_was_durable() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    let path = files(&disk)[0].clone();
    let start = len(&disk, &path);
    append_synced(&log, 1, b"one");
    append_synced(&log, 1, b"two");
    damage(&disk, &path, start + 60);
    let error = Log::open_read_only(Arc::new(disk), Path::new(DIR)).unwrap_err();
    assert!(
        matches!(error, LogError::Corrupt { offset, .. } if offset == start + 40),
        "{error}"
    );
}

#[test]
fn a_reader_notices_that_its_entries_were_trimmed() {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    for _ in 0..50 {
        append_synced(&log, 1, &[1; 40]);
    }
    let view = reader(&disk);
    log.trim(Trim::Unnamed(Glsn::new(40))).unwrap();
    assert!(matches!(
        view.read(Glsn::FIRST),
        Err(LogError::Trimmed { .. })
    ));
    assert_eq!(reader(&disk).first(), log.first());
}

#[test]
fn a_folder_without_a_log_is_unavailable() {
    let disk = SimDisk::new();
    let open = || Log::open_read_only(Arc::new(disk.clone()), Path::new(DIR));
    assert_eq!(open().unwrap_err().kind(), LogErrorKind::Unavailable);
    disk.create_dir_all(Path::new(DIR)).unwrap();
    assert!(matches!(open(), Err(LogError::Io { .. })));
    assert!(disk.list(Path::new(DIR)).unwrap().is_empty());
}

#[test]
fn a_reader_is_told_when_what_it_has_read_was_lost() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    let mut reader = reader(&disk);
    for _ in 0..3 {
        disk.fail_sync(1);
        let lost = append(&log, 1, b"lost", Durability::Sync).last;
        log.wait(lost, Durability::Sync).unwrap_err();
        // It reads what was written, durable or not.
        assert_eq!(reader.refresh().unwrap(), lost);
        assert_eq!(reader.read(lost).unwrap().payload, "lost");
        // Nothing of the file is durable: one of the same name takes its place.
        log.resume().unwrap();
        assert!(matches!(reader.refresh(), Err(LogError::Lost { .. })));
        assert_eq!(append_synced(&log, 1, b"other"), lost);
        assert!(matches!(reader.refresh(), Err(LogError::Lost { .. })));
        reader = self::reader(&disk);
        assert_eq!(reader.read(lost).unwrap().payload, "other");
        append_synced(&log, 1, b"more");
        assert_eq!(reader.refresh().unwrap(), lost.next());
    }
}
