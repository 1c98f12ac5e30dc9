use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

use super::SimDisk;
use crate::disk::{Disk, DiskFile};

const SEEDS: u64 = 300;

/// A disk with the durable folder `d`.
fn disk() -> SimDisk {
    let disk = SimDisk::new();
    disk.create_dir_all_durable(Path::new("d")).unwrap();
    disk
}

/// A durable file with durable content, and its handle.
fn durable_file(disk: &SimDisk, path: &str, content: &[u8]) -> Box<dyn DiskFile> {
    let path = Path::new(path);
    let mut file = disk.create_new(path).unwrap();
    file.write_all_at(content, 0).unwrap();
    file.sync_data().unwrap();
    disk.sync_dir(path.parent().unwrap()).unwrap();
    file
}

#[test]
fn synced_bytes_and_names_survive_every_crash() {
    let disk = disk();
    let _file = durable_file(&disk, "d/a", b"kept");
    for seed in 0..SEEDS {
        assert_eq!(disk.crashed(seed).read(Path::new("d/a")).unwrap(), b"kept");
    }
}

#[test]
fn unsynced_bytes_are_lost_kept_torn_and_scattered_under_different_seeds() {
    let disk = disk();
    let mut file = durable_file(&disk, "d/a", b"");
    file.write_all_at(&[1; 2000], 0).unwrap();
    let found: Vec<Vec<u8>> = (0..SEEDS)
        .map(|seed| disk.crashed(seed).read(Path::new("d/a")).unwrap())
        .collect();
    assert!(found.iter().any(Vec::is_empty), "never lost");
    assert!(found.contains(&vec![1; 2000]), "never kept");
    let torn = |bytes: &Vec<u8>| !bytes.len().is_multiple_of(512) && bytes.len() < 2000;
    assert!(found.iter().any(torn), "never torn inside a sector");
    assert!(
        found
            .iter()
            .any(|b| b.starts_with(&[0; 512]) && b.contains(&1)),
        "never a hole"
    );
}

#[test]
fn one_seed_gives_one_crash() {
    let disk = disk();
    let mut file = durable_file(&disk, "d/a", b"old");
    file.write_all_at(&[7; 5000], 1).unwrap();
    disk.create_new(Path::new("d/b")).unwrap();
    for seed in 0..50 {
        let (one, two) = (disk.crashed(seed), disk.crashed(seed));
        assert_eq!(
            one.list(Path::new("d")).unwrap(),
            two.list(Path::new("d")).unwrap()
        );
        assert_eq!(
            one.read(Path::new("d/a")).unwrap(),
            two.read(Path::new("d/a")).unwrap()
        );
    }
}

#[test]
fn unsynced_names_may_be_undone_until_the_folder_is_synced() {
    let disk = disk();
    let _old = durable_file(&disk, "d/old", b"1");
    let _gone = durable_file(&disk, "d/gone", b"2");
    disk.rename(Path::new("d/old"), Path::new("d/new")).unwrap();
    disk.remove_file(Path::new("d/gone")).unwrap();
    let names = |disk: &SimDisk| disk.list(Path::new("d")).unwrap();
    let found: BTreeSet<_> = (0..SEEDS).map(|seed| names(&disk.crashed(seed))).collect();
    assert_eq!(found.len(), 4, "renamed or not, removed or not: {found:?}");

    disk.sync_dir(Path::new("d")).unwrap();
    for seed in 0..SEEDS {
        assert_eq!(names(&disk.crashed(seed)), [Path::new("d/new")]);
    }
}

#[test]
fn a_file_is_unreachable_when_its_folder_was_never_synced() {
    let disk = SimDisk::new();
    disk.create_dir_all(Path::new("d")).unwrap();
    let _file = durable_file(&disk, "d/a", b"x");
    let lost = (0..SEEDS)
        .filter(|seed| !disk.crashed(*seed).exists(Path::new("d/a")))
        .count();
    assert!(lost > 0);
}

#[test]
fn bytes_of_a_failed_sync_stay_readable_but_no_later_sync_saves_them() {
    let disk = disk();
    let mut file = durable_file(&disk, "d/a", b"");
    disk.fail_sync(2);
    file.write_all_at(b"one", 0).unwrap();
    file.sync_data().unwrap();
    file.write_all_at(b"two", 3).unwrap();
    assert_eq!(
        file.sync_data().unwrap_err().raw_os_error(),
        Some(super::EIO)
    );
    file.sync_data().unwrap();
    assert_eq!(disk.read(Path::new("d/a")).unwrap(), b"onetwo");
    for seed in 0..SEEDS {
        let found = disk.crashed(seed).read(Path::new("d/a")).unwrap();
        let rest = found.strip_prefix(b"one").expect("the first sync held");
        assert!(
            rest.iter().all(|byte| *byte == 0),
            "at most the length survives: {found:?}"
        );
    }
}

#[test]
fn one_opening_fails_and_what_is_open_goes_on() {
    let disk = disk();
    let mut file = durable_file(&disk, "d/a", b"x");
    disk.fail_open(3);
    disk.read(Path::new("d/a")).unwrap();
    disk.list(Path::new("d")).unwrap();
    file.write_all_at(b"y", 0).unwrap();
    let refused = disk.map(Path::new("d/a")).unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(super::EMFILE));
    file.sync_data().unwrap();
    assert_eq!(disk.read(Path::new("d/a")).unwrap(), b"y");
}

#[test]
fn a_full_disk_stores_what_fits_and_lets_bytes_be_overwritten() {
    let disk = disk();
    let mut file = durable_file(&disk, "d/a", b"12345");
    disk.limit_bytes(8);
    let error = file.write_all_at(b"abcdef", 4).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    assert_eq!(disk.read(Path::new("d/a")).unwrap(), b"1234abcd");
    file.write_all_at(b"same size", 0).unwrap_err();
    file.write_all_at(b"........", 0).unwrap();
    disk.limit_bytes(u64::MAX);
    file.write_all_at(b"more", 8).unwrap();
    assert_eq!(disk.bytes_used(), 12);
}

#[test]
fn a_read_only_disk_refuses_changes_and_allows_reads() {
    let disk = disk();
    let mut file = durable_file(&disk, "d/a", b"x");
    drop(disk.lock(Path::new("d/lock")).unwrap());
    disk.set_read_only(true);
    let lock = disk.lock(Path::new("d/lock")).unwrap();
    let held = disk.lock(Path::new("d/lock")).unwrap_err();
    assert_eq!(held.kind(), ErrorKind::WouldBlock);
    drop(lock);
    assert!(disk.lock(Path::new("d/new")).is_err());
    assert_eq!(
        file.write_all_at(b"y", 0).unwrap_err().kind(),
        ErrorKind::ReadOnlyFilesystem
    );
    assert_eq!(
        disk.remove_file(Path::new("d/a"))
            .unwrap_err()
            .raw_os_error(),
        Some(30)
    );
    assert_eq!(disk.read(Path::new("d/a")).unwrap(), b"x");
    disk.set_read_only(false);
    file.write_all_at(b"y", 0).unwrap();
}

#[test]
fn a_power_cut_fails_everything_after_it_and_may_tear_the_write_it_hits() {
    let disk = disk();
    let mut file = durable_file(&disk, "d/a", b"");
    disk.cut_power_after(2);
    file.write_all_at(b"11", 0).unwrap();
    file.write_all_at(b"22", 2).unwrap_err();
    file.sync_data().unwrap_err();
    assert!(disk.read(Path::new("d/a")).is_err());
    let found: BTreeSet<Vec<u8>> = (0..SEEDS)
        .map(|seed| disk.crashed(seed).read(Path::new("d/a")).unwrap())
        .collect();
    for prefix in [&b""[..], b"1", b"11", b"112", b"1122"] {
        assert!(found.contains(prefix), "{prefix:?} is a possible outcome");
    }
}

#[test]
fn a_crash_in_place_kills_old_handles_and_frees_locks() {
    let disk = disk();
    let mut file = durable_file(&disk, "d/a", b"x");
    let lock = disk.lock(Path::new("d/lock")).unwrap();
    disk.crash(1);
    file.write_all_at(b"y", 0).unwrap_err();
    let second = disk.lock(Path::new("d/lock")).unwrap();
    drop(lock);
    assert_eq!(
        disk.lock(Path::new("d/lock")).unwrap_err().kind(),
        ErrorKind::WouldBlock
    );
    drop(second);
    disk.lock(Path::new("d/lock")).unwrap();
    assert_eq!(disk.read(Path::new("d/a")).unwrap(), b"x");
}

#[test]
fn a_map_is_a_snapshot() {
    let disk = disk();
    let mut file = durable_file(&disk, "d/a", b"old");
    let map = disk.map(Path::new("d/a")).unwrap();
    file.write_all_at(b"new!", 0).unwrap();
    assert_eq!(&*map, b"old");
    assert_eq!(&*disk.map(Path::new("d/a")).unwrap(), b"new!");
}

#[test]
fn names_follow_the_rules_of_a_file_system() {
    let disk = disk();
    let missing = disk.create_new(Path::new("nowhere/a")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    let _a = durable_file(&disk, "d/a", b"a");
    assert_eq!(
        disk.create_new(Path::new("d/a")).unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    let _b = durable_file(&disk, "d/b", b"b");
    disk.rename(Path::new("d/a"), Path::new("d/b")).unwrap();
    assert_eq!(disk.read(Path::new("d/b")).unwrap(), b"a");
    disk.create_dir_all(Path::new("d/e/f")).unwrap();
    assert_eq!(
        disk.list(Path::new("d")).unwrap(),
        [Path::new("d/b"), Path::new("d/e")]
    );
    disk.remove_dir_all(Path::new("d")).unwrap();
    assert!(!disk.exists(Path::new("d/e/f")));
    disk.write_atomic(Path::new("bare"), b"at the root")
        .unwrap();
    assert_eq!(
        disk.crashed(3).read(Path::new("bare")).unwrap(),
        b"at the root"
    );
}

#[test]
fn a_stalled_disk_finishes_its_changes_once_it_is_resumed() {
    let disk = disk();
    let mut file = durable_file(&disk, "d/a", b"old");
    disk.stall();
    let writer = std::thread::spawn(move || file.write_all_at(b"new", 0));
    assert_eq!(disk.read(Path::new("d/a")).unwrap(), b"old");
    disk.resume();
    writer.join().unwrap().unwrap();
    assert_eq!(disk.read(Path::new("d/a")).unwrap(), b"new");
}

#[test]
fn a_removal_that_is_held_back_holds_up_nothing_else() {
    let disk = disk();
    durable_file(&disk, "d/a", b"old");
    disk.stall_removals();
    let removing = disk.clone();
    let removing = std::thread::spawn(move || removing.remove_dir_all(Path::new("d")));
    durable_file(&disk, "e", b"new");
    assert!(disk.exists(Path::new("d/a")));
    disk.resume();
    removing.join().unwrap().unwrap();
    assert!(!disk.exists(Path::new("d/a")));
}

#[test]
fn a_failed_sync_of_a_folder_leaves_its_names_to_chance() {
    let disk = disk();
    disk.fail_folder_sync(2);
    let (first, second) = (Path::new("d/a"), Path::new("d/b"));
    for (path, is_synced) in [(first, true), (second, false)] {
        disk.create_new(path).unwrap();
        assert_eq!(disk.sync_dir(Path::new("d")).is_ok(), is_synced);
    }
    assert!(disk.exists(second));
    let left = |path: &Path| {
        (0..50)
            .filter(|seed| disk.crashed(*seed).exists(path))
            .count()
    };
    assert_eq!(left(first), 50);
    assert!((1..50).contains(&left(second)));
    disk.sync_dir(Path::new("d")).unwrap();
    assert_eq!(left(second), 50);
}

#[test]
fn a_sync_that_lies_saves_nothing() {
    let disk = SimDisk::new();
    disk.lie_about_syncs(true);
    let path = Path::new("f");
    let mut file = disk.create_new(path).unwrap();
    disk.sync_dir(Path::new("")).unwrap();
    file.write_all_at(b"gone", 0).unwrap();
    file.sync_data().unwrap();
    assert_eq!(disk.read(path).unwrap(), b"gone");
    let left = |seed| disk.crashed(seed).read(path).unwrap();
    assert!((0..50).any(|seed| left(seed).is_empty()));
    disk.lie_about_syncs(false);
    file.sync_data().unwrap();
    assert!((0..50).all(|seed| left(seed) == b"gone"));
}

#[test]
fn a_disk_of_a_size_tells_what_is_free_and_keeps_its_size_over_a_crash() {
    let disk = disk();
    disk.set_capacity(10_000);
    let free = |disk: &SimDisk| disk.space(Path::new("d")).unwrap().free;
    assert_eq!(free(&disk), 10_000);
    let mut file = durable_file(&disk, "d/a", &[1; 4_000]);
    assert_eq!(free(&disk), 6_000);
    let full = file.write_all_at(&[1; 7_000], 4_000).unwrap_err();
    assert_eq!(full.kind(), ErrorKind::StorageFull);
    assert_eq!(free(&disk), 0);
    let found = disk.crashed(1).space(Path::new("d")).unwrap();
    assert_eq!(found.total, 10_000);
    disk.remove_file(Path::new("d/a")).unwrap();
    assert_eq!(free(&disk), 10_000);
    // A limit that nobody is told of is none that can be seen.
    disk.limit_bytes(0);
    assert_eq!(free(&disk), 10_000);
    let missing = disk.space(Path::new("elsewhere")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}
