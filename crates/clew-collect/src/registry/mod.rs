//! What has been read and acknowledged, for every file, across restarts.
//!
//! An entry belongs to one *incarnation* of a file: a truncation or a reused inode ends it and
//! begins another. Entries whose incarnation has ended stay for a while (retired), because the
//! rotation that ended it may have left a copy, and that copy continues where the entry stands.

mod stored;

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clew_platform::Disk;
use serde::{Deserialize, Serialize};

use crate::error::CollectError;
use crate::file_system::FileId;
use crate::fingerprint::{Head, Position};
use crate::parse::Fit;
use crate::rotated_names::stem;
use stored::Stored;
pub(crate) use stored::lock_path;

/// How long retired entries are kept.
const RETIRED_KEPT_MS: u64 = 24 * 3600 * 1000;

/// One incarnation of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileRecord {
    /// Where the file was last seen.
    pub(crate) path: String,
    /// Where it was first seen: what its events say.
    pub(crate) first_path: String,
    /// Where it is, if its path is a link or leads through one: the link may lead elsewhere at the next look, or after a restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
    pub(crate) file: FileId,
    /// Truncations of this file before this incarnation.
    pub(crate) generation: u32,
    /// The part of every event's id that names this incarnation; copies share it.
    pub(crate) key: u64,
    pub(crate) head: Head,
    pub(crate) position: Position,
    /// The parser in use, once one was chosen.
    pub(crate) parser: Option<String>,
    /// How well it fits, if it was chosen by lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fit: Option<Fit>,
    /// When the position last moved.
    pub(crate) updated_ms: u64,
    /// When the incarnation was found to have ended.
    pub(crate) retired_ms: Option<u64>,
}

impl FileRecord {
    /// Where its file was when it was last seen, by a path that leads there whatever links do meanwhile.
    pub(crate) fn place(&self) -> &Path {
        Path::new(self.target.as_ref().unwrap_or(&self.path))
    }
}

/// Names an entry within one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Slot(u64);

#[derive(Debug)]
pub(crate) struct Registry {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// Nobody else uses the registry for as long as this is held.
    _lock: Box<dyn Any + Send + Sync>,
    entries: BTreeMap<Slot, FileRecord>,
    /// When each exact path was first asked for.
    asked: BTreeMap<String, u64>,
    /// Behind what each journal is read on.
    cursors: BTreeMap<String, String>,
    by_file: HashMap<FileId, Vec<Slot>>,
    by_stem: HashMap<String, Vec<Slot>>,
    next: u64,
    /// Entries came or ended since the last save: the next delivery has to wait for a save.
    restructured: bool,
    moved: bool,
}

impl Registry {
    /// Takes and reads the registry; a missing file is an empty one.
    pub(crate) fn open(disk: Arc<dyn Disk>, path: &Path) -> Result<Registry, CollectError> {
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            disk.create_dir_all_durable(folder)
                .map_err(|source| CollectError::Io {
                    action: "create the folder of the registry",
                    path: folder.to_owned(),
                    source,
                })?;
        }
        let lock = stored::lock(&*disk, path)?;
        let stored = stored::load(&*disk, path)?;
        let mut registry = Registry {
            disk,
            path: path.to_owned(),
            _lock: lock,
            entries: BTreeMap::new(),
            asked: stored.asked,
            cursors: stored.cursors,
            by_file: HashMap::new(),
            by_stem: HashMap::new(),
            next: 0,
            restructured: false,
            moved: false,
        };
        for entry in stored.files {
            registry.insert(entry);
        }
        registry.restructured = false;
        Ok(registry)
    }

    pub(crate) fn get(&self, slot: Slot) -> &FileRecord {
        self.entries
            .get(&slot)
            .expect("slots of running tails are never dropped")
    }

    /// The slot that the next entry gets.
    pub(crate) fn next_slot(&self) -> Slot {
        Slot(self.next)
    }

    pub(crate) fn insert(&mut self, entry: FileRecord) -> Slot {
        let slot = self.next_slot();
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

    /// Notes how the content begins that will be sent next: a copy of it has to be recognised even
    /// if nothing else is remembered of the delivery.
    pub(crate) fn begin(&mut self, slot: Slot, head: Head) {
        if let Some(entry) = self.entries.get_mut(&slot)
            && entry.head != head
        {
            entry.head = head;
            self.restructured = true;
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

    /// Remembers that a file is asked for by its name from now on. A registry that does not say
    /// since when, but knows files of that name, was written when they were last read.
    pub(crate) fn ask_for(&mut self, path: &Path, now_ms: u64) {
        let Some(text) = path.to_str() else {
            return;
        };
        if self.asked.contains_key(text) {
            return;
        }
        let name = path.file_name().and_then(|name| name.to_str());
        let known = self.of_stem(name.unwrap_or_default()).iter();
        let since_ms = known
            .map(|slot| self.get(*slot))
            .filter(|entry| Path::new(&entry.path).parent() == path.parent())
            .map(|entry| entry.updated_ms)
            .max();
        self.asked
            .insert(text.to_owned(), since_ms.unwrap_or(now_ms));
        self.restructured = true;
    }

    /// Since when a file has been asked for by its name, if it ever was.
    pub(crate) fn asked_since_ms(&self, path: &Path) -> Option<u64> {
        path.to_str().and_then(|path| self.asked.get(path)).copied()
    }

    /// Behind what each journal is read on, by the names of their inputs.
    pub(crate) fn cursors(&self) -> &BTreeMap<String, String> {
        &self.cursors
    }

    /// Takes cursors that are delivered.
    pub(crate) fn move_cursors(&mut self, delivered: &mut BTreeMap<String, String>) {
        self.moved |= !delivered.is_empty();
        self.cursors.append(delivered);
    }

    /// All entries, the oldest first.
    pub(crate) fn records(&self) -> impl DoubleEndedIterator<Item = (Slot, &FileRecord)> {
        self.entries.iter().map(|(slot, entry)| (*slot, entry))
    }

    pub(crate) fn live_slots(&self) -> Vec<Slot> {
        let live =
            |(slot, entry): (&Slot, &FileRecord)| entry.retired_ms.is_none().then_some(*slot);
        self.entries.iter().filter_map(live).collect()
    }

    pub(crate) fn must_save_before_delivery(&self) -> bool {
        self.restructured
    }

    /// Whether anything changed since the last save.
    pub(crate) fn is_unsaved(&self) -> bool {
        self.restructured || self.moved
    }

    /// Writes the file if anything changed.
    pub(crate) fn save(&mut self) -> Result<(), CollectError> {
        if !self.is_unsaved() {
            return Ok(());
        }
        let files = self.entries.values().cloned().collect();
        let stored = Stored::new(self.asked.clone(), self.cursors.clone(), files);
        stored::save(&*self.disk, &self.path, &stored)?;
        self.restructured = false;
        self.moved = false;
        Ok(())
    }
}

/// Sees to it that no collector uses a registry now. To be asked before anything is opened that belongs to the one that does, such
/// as its addresses and buffers, so that what is told is that there is another one.
///
/// # Errors
/// [`CollectError::RegistryInUse`] with its process.
pub fn ensure_unused(disk: &dyn Disk, path: &Path) -> Result<(), CollectError> {
    match disk.exists(&lock_path(path)) {
        true => stored::hold(disk, path).map(drop),
        false => Ok(()),
    }
}

/// What a registry holds, without taking it; a missing file is an empty one.
pub(crate) fn read_records(disk: &dyn Disk, path: &Path) -> Result<Vec<FileRecord>, CollectError> {
    Ok(stored::load(disk, path)?.files)
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
mod tests;
