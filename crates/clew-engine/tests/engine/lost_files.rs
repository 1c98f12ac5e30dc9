//! Files that are gone, and files that are not ours: what is missing never passes for never having been, what can be made
//! from the log is, and nothing of anybody else is touched.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clew_engine::{
    EngineError, EngineOptions, ErrorKind, Freshness, IndexSettings, Purpose, verify_folder,
};
use clew_log::LogOptions;
use clew_platform::{Disk, SimDisk};
use clew_query::Query;

use crate::harness::*;

const DOCS: u64 = 60;

/// Small files of the log, so that some of them are trimmed.
fn options() -> EngineOptions {
    EngineOptions {
        search_threads: 1,
        log: LogOptions {
            file_bytes_max: 4096,
            ..LogOptions::default()
        },
        ..EngineOptions::new("/data")
    }
}

/// A node with an index of two shards and documents in both.
fn filled(disk: &SimDisk) -> Node {
    let node = Node::open_with(disk, options()).unwrap();
    make_index(&node, "docs");
    put_all(&node, 0..DOCS);
    node
}

fn make_index(node: &Node, name: &str) {
    let settings = IndexSettings {
        shards: 2,
        refresh_interval: None,
        ..IndexSettings::default()
    };
    node.engine
        .create_index(&everything(), name, settings, mapping())
        .unwrap();
}

fn put_all(node: &Node, numbers: std::ops::Range<u64>) {
    for n in numbers {
        node.put(&n.to_string(), &source(n));
    }
}

fn list(disk: &SimDisk, dir: impl AsRef<Path>) -> Vec<PathBuf> {
    disk.list(dir.as_ref()).unwrap()
}

fn log_files(disk: &SimDisk) -> Vec<PathBuf> {
    let mut files = list(disk, "/data/log");
    files.retain(|path| path.extension().is_some_and(|end| end == "log"));
    files
}

fn remove_log(disk: &SimDisk) {
    for file in log_files(disk) {
        disk.remove_file(&file).unwrap();
    }
}

/// Everything below a folder, but for locks.
fn tree(disk: &SimDisk, dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for path in disk.list(dir).unwrap_or_default() {
        all.extend(tree(disk, &path));
        all.push(path);
    }
    all.retain(|path| !path.ends_with("lock"));
    all
}

/// A start must be refused with each of these words, and leave everything as it is.
fn refused(disk: &SimDisk, words: &[&str]) {
    // Twice: the first try must not make the second one succeed.
    for _ in 0..2 {
        let before = tree(disk, Path::new("/data"));
        let error = Node::open_with(disk, options()).err();
        let error = error.unwrap_or_else(|| panic!("it started; {words:?} was due"));
        assert!(matches!(error, EngineError::Incomplete { .. }), "{error:?}");
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        for word in words {
            assert!(error.to_string().contains(word), "{error} lacks [{word}]");
        }
        assert_eq!(tree(disk, Path::new("/data")), before);
    }
}

/// All documents must be there, by id and by search.
fn whole(disk: &SimDisk, count: u64) -> Node {
    let node = Node::open_with(disk, options()).unwrap();
    assert_eq!(node.index().stats().failed_shards, 0);
    assert_eq!(node.ids(Query::match_all()).len() as u64, count);
    for n in 0..count {
        assert_eq!(json_of(&node.get(&n.to_string()).unwrap()), source(n));
    }
    node
}

#[test]
fn a_missing_catalog_is_made_again_from_a_log_that_has_everything() {
    let disk = SimDisk::new();
    let node = Node::open(&disk).unwrap();
    make_index(&node, "gone");
    make_index(&node, "docs");
    node.engine.delete_index(&everything(), "gone").unwrap();
    put_all(&node, 0..20);
    node.engine.flush(&node.index()).unwrap();
    put_all(&node, 20..DOCS);
    node.engine.close().unwrap();
    drop(node);
    disk.remove_file(Path::new("/data/catalog.json")).unwrap();
    let node = whole(&disk, DOCS);
    assert_eq!(node.engine.indices(&everything()).len(), 1);
    assert_eq!(list(&disk, "/data/indices").len(), 1);
    drop(node);
    whole(&disk, DOCS);
}

#[test]
fn a_missing_catalog_that_the_log_cannot_replace_refuses_the_start() {
    let disk = SimDisk::new();
    filled(&disk).engine.close().unwrap();
    let catalog = Path::new("/data/catalog.json");
    let aside = Path::new("/data/aside");
    disk.rename(catalog, aside).unwrap();
    refused(
        &disk,
        &[
            "/data/catalog.json is missing",
            "the log does not go back to its beginning",
            "restore snapshots",
        ],
    );
    disk.rename(aside, catalog).unwrap();
    whole(&disk, DOCS);
}

#[test]
fn a_catalog_from_before_an_index_was_made_refuses_the_start() {
    let disk = SimDisk::new();
    filled(&disk).engine.close().unwrap();
    let catalog = Path::new("/data/catalog.json");
    let older = disk.read(catalog).unwrap();
    let node = whole(&disk, DOCS);
    make_index(&node, "later");
    let mut write = index("1", &source(1));
    write.index = "later".to_string();
    node.write_one(write).unwrap();
    // The log goes on, so that what it has of the new index is given up.
    put_all(&node, 0..DOCS);
    node.engine.close().unwrap();
    drop(node);
    let newest = disk.read(catalog).unwrap();
    disk.write_atomic(catalog, &older).unwrap();
    refused(&disk, &["/data/catalog.json is older than the log"]);
    let real: Arc<dyn Disk> = Arc::new(disk.clone());
    let report = verify_folder(&real, Path::new("/data"), &mut |_| {}).unwrap();
    assert!(report.incomplete.unwrap().contains("is older than the log"));
    disk.write_atomic(catalog, &newest).unwrap();
    whole(&disk, DOCS);
}

#[test]
fn a_missing_log_refuses_the_start_whatever_else_is_left() {
    for (flushed, closed, catalog) in [
        (false, false, true),
        (true, false, true),
        (true, true, true),
        (true, true, false),
        (false, false, false),
    ] {
        let disk = SimDisk::new();
        let node = filled(&disk);
        if flushed {
            node.engine.flush(&node.index()).unwrap();
        }
        if closed {
            node.engine.close().unwrap();
        }
        let disk = disk.crashed(1);
        drop(node);
        if !catalog {
            let _ = disk.remove_file(Path::new("/data/catalog.json"));
        }
        remove_log(&disk);
        refused(&disk, &["there is no log file in /data/log"]);
        disk.remove_dir_all(Path::new("/data/log")).unwrap();
        let before = tree(&disk, Path::new("/data"));
        assert!(Node::open_with(&disk, options()).is_err());
        assert_eq!(tree(&disk, Path::new("/data")), before);
    }
}

#[test]
fn a_log_that_was_begun_anew_refuses_the_start() {
    let disk = SimDisk::new();
    filled(&disk).engine.close().unwrap();
    remove_log(&disk);
    // An empty log, as another node would begin it.
    let other = SimDisk::new();
    drop(Node::open_with(&other, options()).unwrap());
    let file = log_files(&other).pop().unwrap();
    disk.write_atomic(&file, &other.read(&file).unwrap())
        .unwrap();
    refused(
        &disk,
        &[
            "the log in /data/log ends at position 0",
            "entries are missing",
        ],
    );
    // Nothing but the shards' files tells of what was.
    disk.remove_file(Path::new("/data/catalog.json")).unwrap();
    refused(
        &disk,
        &[
            "/data/catalog.json is missing",
            "the log does not know /data/indices/",
        ],
    );
}

#[test]
fn a_log_without_its_newest_file_refuses_the_start() {
    let disk = SimDisk::new();
    let node = filled(&disk);
    node.engine.flush(&node.index()).unwrap();
    // A killed process: no catalog was saved, only the shards' manifests know how far the log went.
    let disk = disk.crashed(2);
    drop(node);
    let files = log_files(&disk);
    assert!(files.len() > 2);
    let newest = files.last().unwrap();
    let bytes = disk.read(newest).unwrap();
    disk.remove_file(newest).unwrap();
    refused(
        &disk,
        &[
            "covers it up to position",
            "the newest manifest in /data/indices/",
        ],
    );
    disk.write_atomic(newest, &bytes).unwrap();
    whole(&disk, DOCS);
}

/// The folder of a shard that has documents.
fn shard_dir(node: &Node) -> PathBuf {
    Path::new("/data/indices")
        .join(node.index().uuid())
        .join("0")
}

/// What is lost of a shard: its manifest, its folder, the folder of its index.
fn lose(disk: &SimDisk, shard: &Path, what: &str) {
    match what {
        "manifest" => {
            let files = list(disk, shard);
            let manifest = files
                .iter()
                .find(|path| path.to_string_lossy().contains("manifest-"));
            disk.remove_file(manifest.unwrap()).unwrap();
        }
        "shard" => disk.remove_dir_all(shard).unwrap(),
        _ => disk.remove_dir_all(shard.parent().unwrap()).unwrap(),
    }
}

#[test]
fn a_shard_that_lost_what_the_log_no_longer_has_refuses_and_the_others_serve() {
    for what in ["manifest", "shard", "index"] {
        let disk = SimDisk::new();
        let node = filled(&disk);
        let shard = shard_dir(&node);
        node.engine.close().unwrap();
        drop(node);
        lose(&disk, &shard, what);
        let node = Node::open_with(&disk, options()).unwrap();
        let failed = if what == "index" { 2 } else { 1 };
        assert_eq!(node.index().stats().failed_shards, failed, "{what}");
        let found = node.run(node.search_request(Query::match_all(), 100));
        let (reason, hits) = match found {
            Ok(found) => {
                assert_eq!((found.shards.failed, failed), (1, 1));
                (found.failures[0].error.to_string(), found.hits.len() as u64)
            }
            Err(error) => (error.to_string(), 0),
        };
        let missing = format!("are missing: there is no manifest in {}", shard.display());
        assert!(reason.contains("operations [0] to ["), "{reason}");
        assert!(reason.contains(&missing), "{reason}");
        assert!(!reason.contains("the log still has"), "{reason}");
        let (mut read, mut written) = (0, 0);
        for n in 0..DOCS {
            let got = node
                .engine
                .get(&node.index(), &n.to_string(), None, Freshness::Latest);
            match got {
                Ok(document) => {
                    assert_eq!(json_of(&document.unwrap()), source(n));
                    read += 1;
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::Unavailable),
            }
            written += u64::from(node.write_one(index(&n.to_string(), &source(n))).is_ok());
        }
        assert_eq!(read, written);
        assert_eq!(read, hits);
        assert_eq!(read == 0, what == "index");
        // It stays so, whatever the others write and flush.
        let _ = node.engine.close();
        drop(node);
        let node = Node::open_with(&disk, options()).unwrap();
        assert_eq!(node.index().stats().failed_shards, failed, "{what}");
    }
}

#[test]
fn a_lost_shard_is_told_when_the_log_still_has_it() {
    let disk = SimDisk::new();
    let node = Node::with_index(&disk, 2);
    put_all(&node, 0..DOCS);
    let shard = shard_dir(&node);
    node.engine.close().unwrap();
    drop(node);
    lose(&disk, &shard, "shard");
    let node = Node::open(&disk).unwrap();
    let found = node
        .run(node.search_request(Query::match_all(), 100))
        .unwrap();
    assert_eq!(found.shards.failed, 1);
    let reason = found.failures[0].error.to_string();
    assert!(
        reason.contains("the log still has every operation of the shard"),
        "{reason}"
    );
}

#[test]
fn a_shard_of_which_the_log_needs_to_be_replayed_whole_is_as_good_without_its_folder() {
    for flushed in [false, true] {
        let disk = SimDisk::new();
        let node = filled(&disk);
        let shard = shard_dir(&node);
        if flushed {
            node.engine.flush(&node.index()).unwrap();
        }
        let disk = disk.crashed(3);
        drop(node);
        lose(&disk, &shard, "index");
        drop(whole(&disk, DOCS));
        whole(&disk, DOCS);
    }
}

#[test]
fn a_shard_whose_log_has_a_hole_refuses() {
    let disk = SimDisk::new();
    let node = filled(&disk);
    node.engine.close().unwrap();
    drop(node);
    let node = Node::open_with(&disk, options()).unwrap();
    put_all(&node, DOCS..2 * DOCS);
    let disk = disk.crashed(4);
    drop(node);
    // The oldest files, as if all in them had been trimmed.
    let files = log_files(&disk);
    for file in &files[..files.len() - 1] {
        disk.remove_file(file).unwrap();
    }
    let node = Node::open_with(&disk, options()).unwrap();
    assert_eq!(node.index().stats().failed_shards, 2);
    let error = node
        .engine
        .get(&node.index(), "1", None, Freshness::Latest)
        .unwrap_err();
    assert!(
        error.to_string().contains("are missing: manifest ["),
        "{error}"
    );
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let disk = SimDisk::new();
    let node = filled(&disk);
    let shard = shard_dir(&node);
    let uuid = node.index().uuid().to_string();
    node.engine.close().unwrap();
    drop(node);
    let other = |last: &str| format!("{}{last}", &uuid[..21]);
    let dirs = ["lost+found", "docs", &other("!"), &other("_")]
        .map(|name| format!("/data/indices/{name}"));
    let copied = PathBuf::from("/data/indices")
        .join(other("~").replace('~', "-"))
        .join("0");
    for dir in &dirs {
        disk.create_dir_all_durable(Path::new(dir)).unwrap();
    }
    disk.create_dir_all_durable(&copied).unwrap();
    let mut foreign: Vec<PathBuf> = dirs
        .iter()
        .map(|dir| PathBuf::from(dir).join("notes.txt"))
        .collect();
    foreign.push(PathBuf::from("/data/indices/a file"));
    foreign.push(shard.join("notes.txt"));
    for path in &foreign {
        disk.write_atomic(path, b"mine").unwrap();
    }
    // A flushed index of another node.
    let manifest = list(&disk, &shard)
        .into_iter()
        .find(|path| path.to_string_lossy().contains("manifest-"))
        .unwrap();
    let copy = copied.join(manifest.file_name().unwrap());
    disk.write_atomic(&copy, &disk.read(&manifest).unwrap())
        .unwrap();
    foreign.push(copy);
    let node = whole(&disk, DOCS);
    put_all(&node, 0..DOCS);
    node.engine.flush(&node.index()).unwrap();
    node.engine.force_merge(&node.index(), 1).unwrap();
    node.engine.delete_index(&everything(), "docs").unwrap();
    drop(node);
    drop(Node::open_with(&disk, options()).unwrap());
    foreign.retain(|path| !path.starts_with(&shard));
    for path in &foreign {
        assert!(disk.exists(path), "{}", path.display());
    }
}

#[test]
fn a_first_start_may_be_cut_short_anywhere() {
    for cut in 1..60 {
        for seed in 0..4 {
            let disk = SimDisk::new();
            disk.cut_power_after(cut);
            if let Ok(node) = Node::open_with(&disk, options()) {
                let settings = IndexSettings::default();
                let created = node
                    .engine
                    .create_index(&everything(), "docs", settings, mapping());
                if created.is_ok() {
                    let _ = node.write_one(index("a", &source(1)));
                }
                let _ = node.engine.close();
            }
            let disk = disk.crashed(seed);
            let node = Node::open_with(&disk, options());
            let node = node.unwrap_or_else(|error| panic!("cut {cut}, seed {seed}: {error}"));
            let known = node.engine.indices(&everything()).len();
            let folders = disk
                .list(Path::new("/data/indices"))
                .unwrap_or_default()
                .len();
            assert_eq!(known, folders, "cut {cut}, seed {seed}");
        }
    }
}

#[test]
fn an_index_is_deleted_whole_or_not_at_all_wherever_that_is_cut_short() {
    for cut in 1..40 {
        for seed in 0..4 {
            let disk = SimDisk::new();
            let node = filled(&disk);
            make_index(&node, "other");
            node.engine.flush(&node.index()).unwrap();
            disk.cut_power_after(cut);
            let deleted = node.engine.delete_index(&everything(), "docs").is_ok();
            // A catalog that is saved now knows of no index any more.
            let other = node.opened("other", Purpose::Read).unwrap();
            let _ = node.engine.flush(&other);
            let _ = node.engine.close();
            let disk = disk.crashed(seed);
            drop((node, other));
            let node = Node::open_with(&disk, options()).unwrap();
            let when = format!("cut {cut}, seed {seed}");
            let left = node.opened("docs", Purpose::Read);
            assert!(!deleted || left.is_err(), "{when}");
            if let Ok(index) = left {
                assert_eq!(index.stats().failed_shards, 0, "{when}");
                assert_eq!(node.ids(Query::match_all()).len() as u64, DOCS, "{when}");
            }
            let folders = list(&disk, "/data/indices").len();
            assert_eq!(folders, node.engine.indices(&everything()).len(), "{when}");
        }
    }
}
