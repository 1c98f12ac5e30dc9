//! What has been read and acknowledged, for every file, across restarts.
//!
//! An entry belongs to one *incarnation* of a file: a truncation or a reused inode ends it and
//! begins another. Entries whose incarnation has ended stay for a while (retired), because the
//! rotation that ended it may have left a copy, and that copy continues where the entry stands.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clew_platform::Disk;
use serde::{Deserialize, Serialize};

use crate::error::CollectError;
use crate::fingerprint::{Head, Position, Start};
use crate::input::{FileId, stem};

/// How long retired entries are kept.
const RETIRED_KEPT_MS: u64 = 24 * 3600 * 1000;
const VERSION: u32 = 1;

/// One incarnation of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileRecord {
    /// Where the file was last seen.
    pub(crate) path: String,
    /// Where it was first seen: what its events say.
    pub(crate) first_path: String,
    pub(crate) file: FileId,
    /// Truncations of this file before this incarnation.
    pub(crate) generation: u32,
    /// The part of every event's id that names this incarnation; copies share it.
    pub(crate) key: u64,
    pub(crate) start: Start,
    pub(crate) head: Head,
    pub(crate) position: Position,
    /// The parser in use, once one was chosen.
    pub(crate) parser: Option<String>,
    /// When the position last moved.
    pub(crate) updated_ms: u64,
    /// When the incarnation was found to have ended.
    pub(crate) retired_ms: Option<u64>,
}

/// Names an entry within one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Slot(u64);

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    files: Vec<FileRecord>,
}

#[derive(Debug)]
pub(crate) struct Registry {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    entries: BTreeMap<Slot, FileRecord>,
    by_file: HashMap<FileId, Vec<Slot>>,
    by_stem: HashMap<String, Vec<Slot>>,
    next: u64,
    /// Entries came or ended since the last save: the next delivery has to wait for a save.
    restructured: bool,
    moved: bool,
}

impl Registry {
    /// Reads the registry; a missing file is an empty one.
    pub(crate) fn open(disk: Arc<dyn Disk>, path: &Path) -> Result<Registry, CollectError> {
        let mut registry = Registry {
            disk,
            path: path.to_owned(),
            entries: BTreeMap::new(),
            by_file: HashMap::new(),
            by_stem: HashMap::new(),
            next: 0,
            restructured: false,
            moved: false,
        };
        if registry.disk.exists(path) {
            for entry in registry.load()? {
                registry.insert(entry);
            }
            registry.restructured = false;
        } else if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            registry
                .disk
                .create_dir_all(folder)
                .map_err(|source| CollectError::Io {
                    action: "create the folder of the registry",
                    path: folder.to_owned(),
                    source,
                })?;
        }
        Ok(registry)
    }

    fn load(&self) -> Result<Vec<FileRecord>, CollectError> {
        let bytes = self
            .disk
            .read(&self.path)
            .map_err(|source| CollectError::Io {
                action: "read the registry",
                path: self.path.clone(),
                source,
            })?;
        let broken = |reason| CollectError::RegistryBroken {
            path: self.path.clone(),
            reason,
        };
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let version: Version =
            serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
        if version.version != VERSION {
            let found = version.version;
            return Err(broken(format!(
                "it has version {found}, this program writes {VERSION}"
            )));
        }
        let stored: Stored =
            serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
        Ok(stored.files)
    }

    pub(crate) fn get(&self, slot: Slot) -> &FileRecord {
        self.entries
            .get(&slot)
            .expect("slots of running tails are never dropped")
    }

    pub(crate) fn insert(&mut self, entry: FileRecord) -> Slot {
        let slot = Slot(self.next);
        self.next += 1;
        self.by_file.entry(entry.file).or_default().push(slot);
        self.by_stem.entry(stem_of(&entry)).or_default().push(slot);
        self.entries.insert(slot, entry);
        self.restructured = true;
        slot
    }

    /// Changes where the file is or what is known about its head; the stem of its name stays,
    /// because a rotation does not change it.
    pub(crate) fn update(&mut self, slot: Slot, change: impl FnOnce(&mut FileRecord)) {
        if let Some(entry) = self.entries.get_mut(&slot) {
            change(entry);
            self.moved = true;
        }
    }

    /// Ends an incarnation.
    pub(crate) fn retire(&mut self, slot: Slot, now_ms: u64) {
        if let Some(entry) = self.entries.get_mut(&slot)
            && entry.retired_ms.is_none()
        {
            entry.retired_ms = Some(now_ms);
            self.restructured = true;
        }
    }

    /// Brings an ended incarnation back: its file turned up again.
    pub(crate) fn revive(&mut self, slot: Slot) {
        if let Some(entry) = self.entries.get_mut(&slot)
            && entry.retired_ms.take().is_some()
        {
            self.restructured = true;
        }
    }

    pub(crate) fn forget_retired(&mut self, now_ms: u64) {
        let old = |entry: &FileRecord| {
            entry
                .retired_ms
                .is_some_and(|at| at.saturating_add(RETIRED_KEPT_MS) < now_ms)
        };
        let slots: Vec<Slot> = self
            .entries
            .iter()
            .filter(|(_, entry)| old(entry))
            .map(|(slot, _)| *slot)
            .collect();
        for slot in slots {
            let Some(entry) = self.entries.remove(&slot) else {
                continue;
            };
            remove_from(&mut self.by_file, &entry.file, slot);
            remove_from(&mut self.by_stem, &stem_of(&entry), slot);
            self.moved = true;
        }
    }

    /// All incarnations of a file, oldest first.
    pub(crate) fn of_file(&self, file: FileId) -> Vec<Slot> {
        self.by_file.get(&file).cloned().unwrap_or_default()
    }

    /// All incarnations of files whose names differ only by rotation, oldest first.
    pub(crate) fn of_stem(&self, stem: &str) -> &[Slot] {
        self.by_stem.get(stem).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn live_slots(&self) -> Vec<Slot> {
        let live =
            |(slot, entry): (&Slot, &FileRecord)| entry.retired_ms.is_none().then_some(*slot);
        self.entries.iter().filter_map(live).collect()
    }

    pub(crate) fn must_save_before_delivery(&self) -> bool {
        self.restructured
    }

    /// Writes the file if anything changed.
    pub(crate) fn save(&mut self) -> Result<(), CollectError> {
        if !self.restructured && !self.moved {
            return Ok(());
        }
        let stored = Stored {
            version: VERSION,
            files: self.entries.values().cloned().collect(),
        };
        let failed = |source| CollectError::Io {
            action: "write the registry",
            path: self.path.clone(),
            source,
        };
        let bytes = serde_json::to_vec(&stored).map_err(|error| failed(error.into()))?;
        self.disk.write_atomic(&self.path, &bytes).map_err(failed)?;
        self.restructured = false;
        self.moved = false;
        Ok(())
    }
}

fn stem_of(entry: &FileRecord) -> String {
    let name = entry.first_path.rsplit('/').next().unwrap_or("");
    stem(name)
}

fn remove_from<K: std::hash::Hash + Eq>(map: &mut HashMap<K, Vec<Slot>>, key: &K, slot: Slot) {
    if let Some(slots) = map.get_mut(key) {
        slots.retain(|other| *other != slot);
        if slots.is_empty() {
            map.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clew_platform::RealDisk;

    fn entry(path: &str, inode: u64) -> FileRecord {
        FileRecord {
            path: path.to_owned(),
            first_path: path.to_owned(),
            file: FileId {
                device: 1,
                inode,
                born_ns: Some(u64::MAX),
            },
            generation: 0,
            key: u64::MAX,
            start: Start::of(b"abc"),
            head: Head::of(b"abc"),
            position: Position {
                offset: 3,
                checksum: 4,
                lead: 5,
            },
            parser: Some("plain".to_owned()),
            updated_ms: 6,
            retired_ms: None,
        }
    }

    fn open(path: &Path) -> Result<Registry, CollectError> {
        Registry::open(Arc::new(RealDisk), path)
    }

    #[test]
    fn entries_survive_a_restart_and_are_found_by_file_and_by_stem() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/registry.json");
        let mut registry = open(&path).unwrap();
        registry.insert(entry("/l/app.log", 1));
        registry.insert(entry("/l/app.log.1", 2));
        assert!(registry.must_save_before_delivery());
        registry.save().unwrap();
        let again = open(&path).unwrap();
        assert!(!again.must_save_before_delivery());
        let file = entry("", 2).file;
        assert_eq!(again.get(again.of_file(file)[0]), &entry("/l/app.log.1", 2));
        assert_eq!(again.of_stem("app.log").len(), 2);
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
}
