//! Torn ends are cut; every other damage is reported with its file and place.

use std::path::Path;

use clew_log::{Durability, Glsn, LogError, LogErrorKind, LogOptions, NewEntry, StreamId};
use clew_platform::{Disk, SimDisk};

use super::{
    append, append_synced, contents, counters, damage, files, killed, len, open, payloads,
    small_files, try_contents, try_open,
};

fn cut(disk: &SimDisk, path: &Path, bytes: u64) {
    let mut file = disk.open(path).unwrap();
    file.set_len(bytes).unwrap();
    file.sync_data().unwrap();
}

/// Checks that an error is about this place.
fn assert_corrupt(error: &LogError, path: &Path, at: u64) {
    let LogError::Corrupt {
        path: found,
        offset,
        ..
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!((&**found, *offset), (path, at));
    assert_eq!(error.kind(), LogErrorKind::Corrupt);
    assert!(
        error
            .to_string()
            .contains(&format!("{} is corrupt at byte {at}", path.display()))
    );
}

#[test]
fn a_tail_torn_at_any_byte_is_cut_and_the_log_goes_on() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    append_synced(&log, 1, b"one");
    append_synced(&log, 1, b"two");
    let path = files(&disk)[0].clone();
    let whole = len(&disk, &path);
    append_synced(&log, 1, b"torn while it was written");
    for bytes in whole..len(&disk, &path) {
        let disk = killed(&disk);
        cut(&disk, &path, bytes);
        let log = open(&disk, LogOptions::default());
        assert_eq!(
            payloads(&contents(&log)),
            [b"one", b"two"],
            "cut at {bytes}"
        );
        assert!(len(&disk, &path) <= bytes);
        assert_eq!(append_synced(&log, 1, b"three"), Glsn::new(3));
        log.close().unwrap();
        let log = open(&disk, LogOptions::default());
        assert_eq!(payloads(&contents(&log)), [&b"one"[..], b"two", b"three"]);
    }
}

#[test]
fn a_call_torn_at_any_byte_is_gone_as_a_whole() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    append_synced(&log, 1, b"one");
    let path = files(&disk)[0].clone();
    let whole = len(&disk, &path);
    let entry = NewEntry::new(StreamId::new(2), &[b"part of a call"]);
    let call = log.append(&[entry; 5], Durability::Sync).unwrap();
    log.wait(call.last, Durability::Sync).unwrap();
    for bytes in whole..len(&disk, &path) {
        let disk = killed(&disk);
        cut(&disk, &path, bytes);
        let log = open(&disk, LogOptions::default());
        assert_eq!(log.last(), Glsn::FIRST, "cut at {bytes}");
        assert_eq!(counters(&log.streams()).len(), 1);
    }
}

#[test]
fn damage_before_what_is_known_to_be_durable_is_reported_with_its_place() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    let path = files(&disk)[0].clone();
    let mut starts = Vec::new();
    for payload in [b"first", b"secnd", b"third"] {
        starts.push(len(&disk, &path));
        append_synced(&log, 1, payload);
    }
    // Each write is a mark of 40 bytes and a frame of one entry: 40, then the padded block.
    for (index, start) in starts.iter().enumerate().take(2) {
        for offset in (*start..*start + 96).filter(|offset| offset % 3 == index as u64) {
            let disk = killed(&disk);
            damage(&disk, &path, offset);
            let at = if offset < start + 40 {
                *start
            } else {
                start + 40
            };
            assert_corrupt(
                &try_open(&disk, LogOptions::default()).unwrap_err(),
                &path,
                at,
            );
        }
    }
    // Nothing after the last entry vouches for it yet, so its damage looks like a torn write.
    let torn = killed(&disk);
    damage(&torn, &path, starts[2] + 60);
    assert_eq!(open(&torn, LogOptions::default()).last(), Glsn::new(2));
    // A clean close does.
    log.close().unwrap();
    damage(&disk, &path, starts[2] + 60);
    let error = try_open(&disk, LogOptions::default()).unwrap_err();
    assert_corrupt(&error, &path, starts[2] + 40);
}

#[test]
fn a_hole_in_what_was_never_synced_is_cut() {
    let disk = SimDisk::new();
    let log = open(&disk, LogOptions::default());
    append_synced(&log, 1, b"synced");
    let path = files(&disk)[0].clone();
    let start = len(&disk, &path);
    for _ in 0..3 {
        let last = append(&log, 1, b"never synced", Durability::Os).last;
        log.written(last).unwrap();
    }
    let disk = killed(&disk);
    damage(&disk, &path, start + 40);
    let log = open(&disk, LogOptions::default());
    assert_eq!(payloads(&contents(&log)), [b"synced"]);
    assert_eq!(
        len(&disk, &path),
        start + 40,
        "the mark before the hole is whole"
    );
}

/// A closed log of several files, and their paths.
fn several_files() -> (SimDisk, Vec<std::path::PathBuf>) {
    let disk = SimDisk::new();
    let log = open(&disk, small_files());
    for _ in 0..50 {
        append_synced(&log, 1, &[9; 40]);
    }
    log.close().unwrap();
    let paths = files(&disk);
    assert!(paths.len() > 3);
    (disk, paths)
}

#[test]
fn damage_in_a_finished_file_is_reported_when_it_is_read_and_spares_other_files() {
    let (disk, paths) = several_files();
    let frame = len(&disk, &paths[1]) - 88;
    damage(&disk, &paths[1], frame + 50);
    let log = open(&disk, small_files());
    assert_corrupt(&try_contents(&log).unwrap_err(), &paths[1], frame);
    let second_of = |path: &Path| {
        let digits = path.file_stem().unwrap().to_str().unwrap();
        Glsn::new(digits.parse().unwrap())
    };
    let last_of_damaged = second_of(&paths[2]).previous();
    assert_corrupt(&log.read(last_of_damaged).unwrap_err(), &paths[1], frame);
    log.read(last_of_damaged.previous()).unwrap();
    log.read(last_of_damaged.next()).unwrap();
    log.read(Glsn::FIRST).unwrap();
}

#[test]
fn files_that_are_cut_missing_or_renamed_are_noticed_when_the_log_is_opened() {
    let (disk, paths) = several_files();
    let shorter = len(&disk, &paths[1]) - 8;
    let check = |harm: &dyn Fn(&SimDisk), path: &Path, at| {
        let disk = killed(&disk);
        harm(&disk);
        assert_corrupt(&try_open(&disk, small_files()).unwrap_err(), path, at);
    };
    check(&|disk| cut(disk, &paths[1], shorter), &paths[1], shorter);
    check(&|disk| disk.remove_file(&paths[1]).unwrap(), &paths[2], 0);
    check(
        &|disk| disk.rename(&paths[1], &paths[2]).unwrap(),
        &paths[2],
        0,
    );
    for offset in [0, 13, 20, 30] {
        check(&|disk| damage(disk, &paths[1], offset), &paths[1], 0);
    }
    check(&|disk| cut(disk, &paths[1], 20), &paths[1], 0);
}

#[test]
fn a_file_of_another_format_version_is_refused_as_such() {
    let (disk, paths) = several_files();
    let mut file = disk.open(&paths[0]).unwrap();
    file.write_all_at(&1u32.to_le_bytes(), 8).unwrap();
    let error = try_open(&disk, small_files()).unwrap_err();
    assert!(
        matches!(
            error,
            LogError::Version {
                version: 1,
                known: 2,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn foreign_and_unfinished_files_are_left_alone_and_removed() {
    let (disk, _) = several_files();
    let unfinished = Path::new(super::DIR).join("0000000000000099.log.tmp");
    let foreign = Path::new(super::DIR).join("notes.log");
    disk.create_new(&unfinished).unwrap();
    disk.create_new(&foreign).unwrap();
    assert_eq!(open(&disk, small_files()).last(), Glsn::new(50));
    assert!(!disk.exists(&unfinished) && disk.exists(&foreign));
}

#[test]
fn whole_frames_in_the_wrong_place_are_noticed() {
    let (disk, paths) = several_files();
    // Each write is a mark and a frame of 40 payload bytes: 128 bytes behind the header.
    let swap = |disk: &SimDisk, path: &Path| {
        let bytes = disk.read(path).unwrap();
        let header_bytes = u32::from_le_bytes(bytes[16..20].try_into().unwrap());
        let start = usize::try_from(header_bytes).unwrap();
        let swapped = [&bytes[start + 128..start + 256], &bytes[start..start + 128]].concat();
        let mut file = disk.open(path).unwrap();
        file.write_all_at(&swapped, start as u64).unwrap();
        start as u64
    };
    let (finished, active) = (&paths[1], paths.last().unwrap());
    let copy = killed(&disk);
    let at = swap(&copy, finished);
    assert_corrupt(
        &try_contents(&open(&copy, small_files())).unwrap_err(),
        finished,
        at,
    );
    let at = swap(&disk, active);
    assert_corrupt(&try_open(&disk, small_files()).unwrap_err(), active, at);
}
