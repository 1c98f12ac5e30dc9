//! Registries that were kept, damaged and used by another collector.

use super::*;
use clew_platform::{RealDisk, SimDisk};
use serde_json::json;

fn entry(path: &str, inode: u64) -> FileRecord {
    FileRecord {
        target: None,
        path: path.to_owned(),
        first_path: path.to_owned(),
        file: FileId {
            device: 1,
            inode,
            born_ns: Some(u64::MAX),
        },
        generation: 0,
        key: u64::MAX,
        head: Head::of(b"abc"),
        position: Position {
            offset: 3,
            checksum: 4,
            lead: 5,
        },
        parser: Some("plain".to_owned()),
        fit: None,
        updated_ms: 6,
        retired_ms: None,
    }
}

fn open(path: &Path) -> Result<Registry, CollectError> {
    Registry::open(Arc::new(RealDisk), path)
}

#[test]
fn entries_survive_a_power_cut_in_a_folder_that_was_made_for_them() {
    let disk = SimDisk::new();
    let path = Path::new("/var/deep/registry.json");
    let mut registry = Registry::open(Arc::new(disk.clone()), path).unwrap();
    registry.insert(entry("/l/app.log", 1));
    registry.save().unwrap();
    for seed in 0..16 {
        let found = Registry::open(Arc::new(disk.crashed(seed)), path).unwrap();
        assert_eq!(found.entries.len(), 1, "seed {seed}");
    }
}

#[test]
fn a_full_disk_does_not_look_like_another_collector() {
    let disk = SimDisk::new();
    let path = Path::new("/registry.json");
    drop(Registry::open(Arc::new(disk.clone()), path).unwrap());
    disk.limit_bytes(0);
    ensure_unused(&disk, path).unwrap();
    disk.limit_bytes(u64::MAX);
    let held = Registry::open(Arc::new(disk.clone()), path).unwrap();
    assert!(ensure_unused(&disk, path).is_err());
    drop(held);
}

#[test]
fn entries_survive_a_restart_and_are_found_by_file_and_by_stem() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/registry.json");
    let mut registry = open(&path).unwrap();
    registry.insert(entry("/l/app.log", 1));
    registry.insert(entry("/l/app.log.1", 2));
    assert!(registry.must_save_before_delivery());
    registry.ask_for(Path::new("/l/app.log"), 7);
    registry.ask_for(Path::new("/l/other.log"), 7);
    registry.save().unwrap();
    drop(registry);
    let again = open(&path).unwrap();
    assert!(!again.must_save_before_delivery());
    let file = entry("", 2).file;
    assert_eq!(again.get(again.of_file(file)[0]), &entry("/l/app.log.1", 2));
    assert_eq!(again.of_stem("app.log").len(), 2);
    let since = |path| again.asked_since_ms(Path::new(path));
    assert_eq!(since("/l/app.log"), Some(6));
    assert_eq!(since("/l/other.log"), Some(7));
    assert_eq!(since("/l/app.log.1"), None);
}

#[test]
fn version_1_is_read_and_becomes_version_2() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    let mut file = serde_json::to_value(entry("/l/app.log", 1)).unwrap();
    let hash = file["head"][0][1].clone();
    file["start"] = json!({"bytes": 3, "hash": hash});
    file["head"] = json!({"bytes": 3, "hash": hash});
    let content = json!({"version": 1, "files": [file]}).to_string();
    std::fs::write(&path, content).unwrap();
    let mut registry = open(&path).unwrap();
    let slot = registry.of_stem("app.log")[0];
    assert_eq!(registry.get(slot), &entry("/l/app.log", 1));
    registry.retire(slot, 1);
    registry.save().unwrap();
    drop(registry);
    let written = std::fs::read_to_string(&path).unwrap();
    assert_eq!(&written[8..21], "\n{\"version\":2");
    assert_eq!(open(&path).unwrap().of_stem("app.log").len(), 1);
}

#[test]
fn a_registry_in_use_is_an_error_that_names_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    let first = open(&path).unwrap();
    let error = open(&path).unwrap_err().to_string();
    let own = format!("process {}", std::process::id());
    assert!(error.contains(&own) && error.contains("r.json"), "{error}");
    drop(first);
    open(&path).unwrap();
}

#[test]
fn a_flipped_bit_anywhere_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    let mut registry = open(&path).unwrap();
    registry.insert(entry("/l/app.log", 1));
    registry.save().unwrap();
    drop(registry);
    let good = std::fs::read(&path).unwrap();
    for byte in 0..good.len() {
        let mut bad = good.clone();
        bad[byte] ^= 1 << (byte % 8);
        std::fs::write(&path, &bad).unwrap();
        // The digits of the sum are the same in upper case.
        let same = bad.eq_ignore_ascii_case(&good) && byte < 8;
        assert_eq!(open(&path).is_ok(), same, "byte {byte}");
    }
}

#[test]
fn retired_entries_are_dropped_after_a_day_and_not_before() {
    let folder = tempfile::tempdir().unwrap();
    let mut registry = open(&folder.path().join("r.json")).unwrap();
    let slot = registry.insert(entry("/l/app.log", 1));
    registry.retire(slot, 1000);
    registry.forget_retired(1000 + RETIRED_KEPT_MS);
    assert_eq!(registry.of_stem("app.log").len(), 1);
    registry.forget_retired(1001 + RETIRED_KEPT_MS);
    assert!(registry.of_stem("app.log").is_empty());
    assert!(registry.of_file(entry("", 1).file).is_empty());
}

#[test]
fn a_broken_registry_is_an_error_that_names_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    let broken = [
        "",
        "{",
        "[]",
        r#"{"files":[]}"#,
        r#"{"version":2,"files":[]}"#,
        r#"{"version":1}"#,
        "00000000\n",
        "00000000\n{\"version\":2,\"files\":[]}",
    ];
    for content in broken {
        std::fs::write(&path, content).unwrap();
        let error = open(&path).unwrap_err();
        assert!(
            matches!(error, CollectError::RegistryBroken { .. }),
            "{content}: {error}"
        );
        assert!(error.to_string().contains("r.json"), "{error}");
    }
}
