//! A folder held against what was written, offline and beside searches; what is repaired; and files from before there
//! were sums.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clew_engine::{Cure, FolderReport, GiveUp, plan_repair, repair, verify_folder};
use clew_platform::{Disk, SimDisk};
use serde_json::{Value, json};

use crate::damage::{ending, files, id, questions, replace, sound_answers, written, written_large};
use crate::harness::*;

const DATA: &str = "/data";

fn verified(disk: &SimDisk) -> FolderReport {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut last = 0;
    let mut progress = |bytes| {
        assert!(bytes >= last, "progress went back");
        last = bytes;
    };
    verify_folder(&disk, Path::new(DATA), &mut progress).unwrap()
}

#[test]
fn a_folder_is_verified_on_a_disk_that_is_only_read() {
    let disk = written(2);
    disk.set_read_only(true);
    assert!(verified(&disk).is_sound());
}

fn flip(disk: &SimDisk, path: &Path, at: usize) {
    let mut bytes = disk.read(path).unwrap();
    bytes[at] ^= 16;
    replace(disk, path, Some(&bytes));
}

fn first(disk: &SimDisk, wanted: &str) -> PathBuf {
    let mut files = files(disk).into_iter();
    files.find(|path| ending(path) == wanted).unwrap()
}

#[test]
fn a_sound_folder_is_sound_and_every_damage_is_told_with_its_place() {
    let disk = written(2);
    let report = verified(&disk);
    assert!(report.is_sound(), "{report:?}");
    assert!(report.foreign.is_empty(), "{:?}", report.foreign);
    assert_eq!(report.shards.len(), 2);
    assert!(report.shards.iter().all(|shard| shard.log_has_all));
    let mut stranger = disk.create_new(Path::new("/data/notes.txt")).unwrap();
    stranger.write_all_at(b"mine", 0).unwrap();
    for path in files(&disk) {
        let whole = disk.read(&path).unwrap();
        flip(&disk, &path, whole.len() / 2);
        let report = verified(&disk);
        let damage: Vec<_> = report.damage().collect();
        assert_eq!(damage.len(), 1, "{path:?}: {damage:?}");
        assert_eq!(damage[0].path, path);
        if let Some(offset) = damage[0].offset {
            let block = offset as usize..offset as usize + (16 << 10);
            assert!(block.contains(&(whole.len() / 2)), "{path:?}: {damage:?}");
        }
        assert_eq!(report.foreign, [PathBuf::from("/data/notes.txt")]);
        replace(&disk, &path, None);
        let report = verified(&disk);
        // A shard without a manifest is as if nothing had been written to it.
        if !path.to_str().unwrap().contains("manifest-") {
            assert!(
                report.damage().any(|damage| damage.path == path),
                "{path:?}"
            );
        }
        replace(&disk, &path, Some(&whole));
    }
    let _node = Node::open(&disk).unwrap();
    let open: Arc<dyn Disk> = Arc::new(disk.clone());
    assert!(
        verify_folder(&open, Path::new(DATA), &mut |_| {}).is_err(),
        "a server has it open"
    );
}

#[test]
fn what_cannot_be_read_is_damage_beside_which_all_else_is_looked_at() {
    let disk = written(2);
    let damaged = first(&disk, "rows");
    flip(&disk, &damaged, 1000);
    let other = damaged.parent().unwrap().with_file_name("1");
    disk.remove_dir_all(&other).unwrap();
    disk.write_atomic(&other, b"no folder").unwrap();
    let report = verified(&disk);
    let paths: Vec<&Path> = report.damage().map(|one| &*one.path).collect();
    assert_eq!(paths, [&*damaged, &*other]);
    let told = &report.shards[1].damage[0].reason;
    assert!(told.starts_with("cannot list it: "), "{told}");
    let catalog = Path::new("/data/catalog.json");
    replace(&disk, catalog, None);
    disk.create_dir_all(catalog).unwrap();
    let report = verified(&disk);
    let told = report.catalog.as_ref().map(|one| &*one.path);
    assert_eq!(told, Some(catalog));
}

#[test]
fn a_damaged_shard_is_made_anew_from_a_log_that_has_everything() {
    let disk = written(1);
    let wanted = sound_answers(&disk);
    let path = first(&disk, "rows");
    flip(&disk, &path, 1000);
    let damaged = disk.read(&path).unwrap();
    let steps = plan_repair(&verified(&disk), GiveUp::Nothing);
    assert_eq!(
        steps.iter().map(|step| step.cure).collect::<Vec<_>>(),
        [Cure::FromTheLog]
    );
    let aside = Path::new("/data/aside/now");
    repair(&disk, Path::new(DATA), &steps, aside).unwrap();
    let moved = aside.join(path.strip_prefix(DATA).unwrap());
    assert_eq!(disk.read(&moved).unwrap(), damaged);
    assert!(verified(&disk).is_sound());
    let node = Node::open(&disk).unwrap();
    node.refresh();
    let ids = |answers: &[Result<String, String>]| answers.iter().filter(|one| one.is_ok()).count();
    let now = questions(&node);
    assert_eq!(ids(&now), wanted.len());
    // Gets tell versions and sequence numbers, too; scores depend on the segments.
    assert_eq!(now[..15], wanted[..15]);
    node.engine.flush(&node.index()).unwrap();
    drop(node);
    let node = Node::open(&disk).unwrap();
    assert_eq!(questions(&node)[..15], wanted[..15]);
}

#[test]
fn segments_are_given_up_only_when_told_to_and_when_the_log_cannot_help() {
    let disk = written(1);
    let node = Node::open(&disk).unwrap();
    let all = node.run_all().unwrap().hits.len() as u64;
    drop(node);
    let path = first(&disk, "source");
    flip(&disk, &path, 1000);
    let mut report = verified(&disk);
    report.shards[0].log_has_all = false;
    let cures = |report: &FolderReport, give_up| plan_repair(report, give_up)[0].cure;
    assert_eq!(cures(&report, GiveUp::Nothing), Cure::None);
    let Cure::GiveUpSegments { rows } = cures(&report, GiveUp::Segments) else {
        panic!("{report:?}");
    };
    let steps = plan_repair(&report, GiveUp::Segments);
    repair(&disk, Path::new(DATA), &steps, Path::new("/data/aside/now")).unwrap();
    let node = Node::open(&disk).unwrap();
    let left = node.run_all().unwrap();
    assert_eq!(left.shards.failed, 0);
    // Each document has one nested object.
    assert_eq!(left.hits.len() as u64, all - rows / 2);
}

#[test]
fn a_node_finds_damage_of_its_own_files_before_a_search_does() {
    let disk = written_large(1);
    let path = first(&disk, "source");
    flip(&disk, &path, 5);
    let node = Node::open(&disk).unwrap();
    assert!(node.get(&id(149)).is_some(), "that is elsewhere");
    let verdicts = node.engine.verify(&node.index(), 1 << 30, &|_| {}).unwrap();
    let damage = verdicts[0].damage.as_deref().unwrap();
    assert!(
        damage.contains(path.file_name().unwrap().to_str().unwrap()),
        "{damage}"
    );
    let refused = node.run_all().unwrap_err();
    assert!(refused.to_string().contains(damage), "{refused}");
}

#[test]
fn what_was_deleted_before_it_was_verified_is_not_damaged() {
    let node = Node::open(&written_large(1)).unwrap();
    let held = node.index();
    node.engine.delete_index(&everything(), "docs").unwrap();
    let verdicts = node.engine.verify(&held, 1 << 30, &|_| {}).unwrap();
    assert!(verdicts.is_empty());
}

/// Makes of a shard what it would have been before there were sums.
fn without_sums(disk: &SimDisk) {
    let all = files(disk);
    let (manifests, segments): (Vec<_>, Vec<_>) = all
        .iter()
        .partition(|path| path.to_str().unwrap().contains("manifest-"));
    for path in segments.iter().filter(|path| ending(path) != "alive") {
        let bytes = disk.read(path).unwrap();
        let at = bytes.len() - 24;
        let body = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        replace(disk, path, Some(&bytes[..body as usize]));
    }
    let text = String::from_utf8(disk.read(manifests[0]).unwrap()).unwrap();
    let mut manifest: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    manifest["format"] = json!(1);
    for segment in manifest["segments"].as_array_mut().unwrap() {
        for file in segment["files"].as_array_mut().unwrap() {
            let path = segments
                .iter()
                .find(|path| path.ends_with(file["name"].as_str().unwrap()))
                .unwrap();
            *file = json!([file["name"], disk.len(path).unwrap()]);
        }
    }
    let text = manifest.to_string();
    let text = format!("{text}\n{:08x}\n", crc32c::crc32c(text.as_bytes()));
    replace(disk, manifests[0], Some(text.as_bytes()));
}

#[test]
fn files_of_the_first_format_are_read_and_checked_and_merges_give_them_sums() {
    let disk = written(1);
    let wanted = sound_answers(&disk);
    without_sums(&disk);
    assert!(verified(&disk).is_sound());
    assert_eq!(sound_answers(&disk), wanted);
    for path in files(&disk) {
        if ["alive", "vec"].contains(&ending(&path)) || path.to_str().unwrap().contains("manifest-")
        {
            continue;
        }
        let whole = disk.read(&path).unwrap();
        flip(&disk, &path, whole.len() / 3);
        let node = Node::open(&disk).unwrap();
        let refused = node.run_all().unwrap_err().to_string();
        assert!(
            refused.contains(path.file_name().unwrap().to_str().unwrap()),
            "{refused}"
        );
        drop(node);
        assert!(!verified(&disk).is_sound());
        replace(&disk, &path, Some(&whole));
    }
    let node = Node::open(&disk).unwrap();
    node.put("one more", &source(1));
    node.engine.flush(&node.index()).unwrap();
    drop(node);
    // Files with and without sums beside each other.
    assert!(verified(&disk).is_sound());
    let node = Node::open(&disk).unwrap();
    node.engine.force_merge(&node.index(), 1).unwrap();
    node.engine.flush(&node.index()).unwrap();
    drop(node);
    // The newest counts; the one before may still be there.
    let manifest = files(&disk)
        .into_iter()
        .filter(|path| path.to_str().unwrap().contains("manifest-"))
        .max();
    let text = String::from_utf8(disk.read(&manifest.unwrap()).unwrap()).unwrap();
    assert!(
        text.contains("\"format\":2") && !text.contains("\"sum\":null"),
        "{text}"
    );
}

#[test]
fn what_a_start_would_miss_of_a_shard_is_told_and_made_anew_from_the_log() {
    let disk = written(1);
    let wanted = sound_answers(&disk);
    let node = Node::open(&disk).unwrap();
    // Saves how far the log is covered: a start does not read it from its beginning any more.
    node.engine.close().unwrap();
    drop(node);
    assert!(verified(&disk).is_sound());
    let files = files(&disk);
    let manifests = files.iter();
    for path in manifests.filter(|path| path.to_str().unwrap().contains("manifest-")) {
        replace(&disk, path, None);
    }
    let report = verified(&disk);
    let damage: Vec<_> = report.damage().collect();
    assert_eq!(damage.len(), 1, "{damage:?}");
    assert_eq!(Some(&*damage[0].path), files[0].parent());
    let told = &damage[0].reason;
    assert!(told.starts_with("operations [0] to ["), "{told}");
    assert!(
        told.contains("are missing: there is no manifest in"),
        "{told}"
    );
    let node = Node::open(&disk).unwrap();
    let refused = node.run_all().unwrap_err().to_string();
    assert!(refused.contains(told.as_str()), "{refused}");
    drop(node);
    let steps = plan_repair(&report, GiveUp::Nothing);
    assert_eq!(
        steps.iter().map(|step| step.cure).collect::<Vec<_>>(),
        [Cure::FromTheLog]
    );
    let mut trimmed = verified(&disk);
    trimmed.shards[0].log_has_all = false;
    for given_up in [GiveUp::Nothing, GiveUp::Segments] {
        assert_eq!(plan_repair(&trimmed, given_up)[0].cure, Cure::None);
    }
    repair(&disk, Path::new(DATA), &steps, Path::new("/data/aside/now")).unwrap();
    assert!(verified(&disk).is_sound());
    let node = Node::open(&disk).unwrap();
    node.refresh();
    assert_eq!(questions(&node)[..15], wanted[..15]);
}

#[test]
fn a_log_that_ends_before_what_is_saved_of_it_is_told_and_no_repair_undoes_the_rest() {
    let disk = written(1);
    let node = Node::open(&disk).unwrap();
    node.engine.close().unwrap();
    drop(node);
    let log = disk.list(&Path::new(DATA).join("log")).unwrap();
    let log = log.into_iter().find(|path| ending(path) == "log").unwrap();
    let bytes = disk.read(&log).unwrap();
    replace(&disk, &log, Some(&bytes[..bytes.len() / 2]));
    let report = verified(&disk);
    assert!(!report.is_sound());
    let told = report.incomplete.as_deref().unwrap();
    assert!(
        told.starts_with("the log in /data/log ends at position "),
        "{told}"
    );
    let refused = Node::open(&disk).err().unwrap().to_string();
    assert!(refused.contains(told), "{refused}");
    assert!(plan_repair(&report, GiveUp::Segments).is_empty());
}
