//! All files of a run: which there are, which of them are being read, and what a new look at the
//! file system means for them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Resource, getrlimit};

use super::SkipReason;
use super::discover::{Candidate, CandidateReason, discover};
use super::links::places_of;
use super::rules::FileRules;
use super::source::FileSource;
use super::tail::{Tail, window_bytes_at_start};
use crate::document::Origin;
use crate::file_system::{self, FileId, Stat};
use crate::fingerprint::{Head, Position, hash_bytes};
use crate::registry::{FileRecord, Registry, Slot};
use crate::rotated_names::{is_rotated, stem};

/// How long a file that no path leads to is still read, after its last byte: its writer may not
/// have noticed yet.
const GONE_KEPT: Duration = Duration::from_secs(5);
/// Files held open while nothing happens to them, where the process may open enough.
const OPEN_FILES_MAX: usize = 400;
/// The share of what the process may open that they take at most: outputs, inputs and the registry need handles, too.
const OPEN_FILES_SHARE: u64 = 4;

/// What a fleet needs to know of the run.
#[derive(Debug)]
pub(crate) struct FleetOptions {
    /// The rules of each input.
    pub(crate) rules: Vec<Arc<FileRules>>,
    /// The collector's own files.
    pub(crate) excluded: Vec<PathBuf>,
    pub(crate) host: String,
}

/// The time of one look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) wall_ms: u64,
    pub(crate) monotonic: Duration,
}

/// What to do about a file that a rotation may still be writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Leave it for a later look.
    Wait,
    /// There is no later look.
    Decide,
}

/// What the files that a look finds are decided by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) now: Now,
    pub(super) patience: Patience,
    /// The first entry of a file that this look found.
    pub(super) first_found: Slot,
}

/// The files.
#[derive(Debug)]
pub(crate) struct Fleet {
    pub(super) options: FleetOptions,
    pub(crate) tails: Vec<Tail>,
    pub(super) by_file: HashMap<FileId, usize>,
    /// As of the last look.
    by_path: HashMap<PathBuf, usize>,
    /// What the last look left alone.
    pub(crate) skipped: BTreeMap<PathBuf, SkipReason>,
    /// Files that were opened and refused, as they were then.
    pub(super) refused: HashMap<PathBuf, (Stat, SkipReason)>,
    pub(crate) folders: BTreeSet<PathBuf>,
    /// Those of them that only links lead into, and where all links led at the last look.
    target_folders: BTreeSet<PathBuf>,
    targets: HashSet<PathBuf>,
    /// The collector's own files, by the names the last look found them by.
    own: BTreeSet<PathBuf>,
    /// Open files, as of the last look.
    pub(super) open: usize,
    /// How many there may be.
    open_max: usize,
    /// Files ever read.
    pub(crate) found: u64,
    /// Files that began again.
    pub(crate) restarted: u64,
}

impl Fleet {
    pub(crate) fn new(options: FleetOptions) -> Self {
        Fleet {
            options,
            tails: Vec::new(),
            by_file: HashMap::new(),
            by_path: HashMap::new(),
            skipped: BTreeMap::new(),
            refused: HashMap::new(),
            folders: BTreeSet::new(),
            target_folders: BTreeSet::new(),
            targets: HashSet::new(),
            own: BTreeSet::new(),
            open: 0,
            open_max: open_files_max(),
            found: 0,
            restarted: 0,
        }
    }

    /// Looks at the file system. No event may be under way: positions in the registry have to
    /// be those of the tails.
    pub(crate) fn look(&mut self, registry: &mut Registry, now: Now, patience: Patience) {
        let found = discover(&self.options.rules, &self.options.excluded);
        self.skipped = found.skipped.into_iter().collect();
        for rules in &self.options.rules {
            for path in &rules.options.paths {
                registry.ask_for(path, now.wall_ms);
            }
        }
        self.folders = found.folders;
        self.target_folders = found.target_folders;
        let targets = found.files.iter().filter_map(|file| file.target.clone());
        self.targets = targets.collect();
        self.own = found.own;
        let mut present: HashMap<FileId, PathBuf> = HashMap::new();
        let mut fresh = Vec::new();
        for candidate in found.files {
            let file = candidate.stat.file;
            if let Some(first) = present.get(&file) {
                if candidate.wanted == CandidateReason::Asked {
                    self.skipped
                        .insert(candidate.path, SkipReason::SameAs(first.clone()));
                }
                continue;
            }
            present.insert(file, candidate.path.clone());
            if !self.is_refreshed(registry, &candidate, now) {
                fresh.push(candidate);
            }
        }
        let left = self.left_behind(registry, &fresh, &present);
        fresh.extend(left);
        let places: HashSet<&Path> = fresh.iter().map(Candidate::place).collect();
        self.refused
            .retain(|place, _| places.contains(place.as_path()));
        drop(places);
        self.see_off(registry, &present, now);
        self.settle_originals(registry, &fresh, now);
        let first_found = registry.next_slot();
        let look = Look {
            now,
            patience,
            first_found,
        };
        self.admit_all(registry, fresh, look);
        self.retire_lost(registry, now);
        self.close_idle();
        self.by_path.clear();
        for (index, tail) in self.tails.iter().enumerate() {
            // The name of a link belongs to what it leads to now.
            if tail.gone_since.is_none() {
                self.by_path.insert(tail.path.clone(), index);
            }
            let target = tail.target.clone();
            self.by_path.extend(target.map(|target| (target, index)));
        }
    }

    /// Sees to it that what is known of files is what they hold now, before what a rotation made of them is held against it. A copy of a content
    /// that was not read yet would be taken for a file of its own, and the content be sent again as soon as it is read.
    fn settle_originals(&mut self, registry: &mut Registry, fresh: &[Candidate], now: Now) {
        let names = fresh
            .iter()
            .filter_map(|candidate| text_name(&candidate.path));
        let stems: HashSet<String> = names.filter(|name| is_rotated(name)).map(stem).collect();
        if stems.is_empty() {
            return;
        }
        for index in 0..self.tails.len() {
            let tail = &mut self.tails[index];
            let is_named_so = text_name(&tail.path).is_some_and(|name| stems.contains(&stem(name)));
            if !is_named_so || tail.compressed || tail.over {
                continue;
            }
            match tail.holds_what_was_read() {
                Ok(true) if tail.read.offset == 0 && tail.head.bytes() > 0 => {
                    registry.begin(tail.slot, tail.head.clone());
                }
                Ok(false) => self.restart(registry, index, now),
                // What cannot be read, the next reading tells of.
                Ok(true) | Err(_) => {}
            }
        }
    }

    /// Decides of files that are not read yet. Originals come first, as what a rotation made of one is held against what it holds now; but all are
    /// read in the order in which they were written.
    fn admit_all(&mut self, registry: &mut Registry, fresh: Vec<Candidate>, look: Look) {
        let known = self.tails.len();
        let is_original =
            |candidate: &Candidate| !text_name(&candidate.path).is_some_and(is_rotated);
        let (mut originals, mut copies): (Vec<_>, Vec<_>) =
            fresh.into_iter().partition(is_original);
        for found in [&mut originals, &mut copies] {
            found.sort_by(|a, b| (a.stat.modified_ms, &a.path).cmp(&(b.stat.modified_ms, &b.path)));
        }
        for candidate in originals.into_iter().chain(copies) {
            self.admit(registry, candidate, look);
        }
        self.tails[known..]
            .sort_by(|a, b| (a.stat.modified_ms, &a.path).cmp(&(b.stat.modified_ms, &b.path)));
        self.number_by_file();
    }

    /// Whether another look will soon know more, though no name changes: files that nothing leads to
    /// any more are written to unseen, and rotations end.
    pub(crate) fn is_unsettled(&self) -> bool {
        let rotated = |reason: &SkipReason| *reason == SkipReason::BeingRotated;
        let moves = |tail: &Tail| tail.gone_since.is_some() || tail.over;
        self.tails.iter().any(moves) || self.skipped.values().any(rotated)
    }

    /// Takes what is seen of a file that is being read; false if it is not, or not any more.
    fn is_refreshed(&mut self, registry: &mut Registry, seen: &Candidate, now: Now) -> bool {
        let Some(&index) = self.by_file.get(&seen.stat.file) else {
            return false;
        };
        if !self.tails[index].over {
            self.refresh(registry, index, seen, now);
        }
        !self.tails[index].over
    }

    /// A known file, seen again.
    fn refresh(&mut self, registry: &mut Registry, index: usize, seen: &Candidate, now: Now) {
        let tail = &mut self.tails[index];
        tail.gone_since = None;
        tail.closing = false;
        if tail.path != seen.path {
            tail.path.clone_from(&seen.path);
            let path = seen.path.to_string_lossy().into_owned();
            registry.update(tail.slot, |entry| entry.path = path);
        }
        if tail.target != seen.target {
            tail.target.clone_from(&seen.target);
            let target = seen.target_text();
            registry.update(tail.slot, |entry| entry.target = target);
        }
        if seen.stat != tail.stat {
            tail.stat = seen.stat;
            tail.dirty = true;
        }
        if !tail.compressed && seen.stat.size_bytes < tail.read.offset {
            self.restart(registry, index, now);
        }
    }

    /// A file whose content was replaced in place: its old incarnation ends, a new one begins. What was written over a rotation's copy is
    /// likely to be the next copy: that is for a look to decide.
    pub(crate) fn restart(&mut self, registry: &mut Registry, index: usize, now: Now) {
        self.restarted += 1;
        let tail = &mut self.tails[index];
        let generation = registry.get(tail.slot).generation + 1;
        registry.retire(tail.slot, now.wall_ms);
        if !tail.compressed && text_name(&tail.path).is_some_and(is_rotated) {
            tail.over = true;
            return;
        }
        let start = tail.with_source(FileSource::start);
        let start = start.ok().flatten().unwrap_or_default();
        let path = tail.path.to_string_lossy().into_owned();
        let entry = FileRecord {
            first_path: path.clone(),
            path,
            target: registry.get(tail.slot).target.clone(),
            file: tail.file,
            generation,
            key: file_key(&self.options.host, tail.file, generation, now),
            head: Head::of(&start),
            position: Position::default(),
            parser: None,
            fit: None,
            updated_ms: now.wall_ms,
            retired_ms: None,
        };
        let plan = tail.rules.options.plan;
        tail.origin = Origin::new(&entry.first_path, entry.key).with_plan(plan);
        tail.head = entry.head.clone();
        tail.slot = registry.insert(entry);
        tail.read = Position::default();
        tail.skipping = None;
        tail.opening = None;
        tail.window_bytes = window_bytes_at_start();
        tail.fit = None;
        tail.parser = tail.rules.options.parse.named();
        tail.encoding = tail.rules.encoding(&start);
        tail.framing = None;
        tail.waiting = None;
        tail.nuls = None;
        if tail.compressed {
            tail.source = None;
        }
        tail.dirty = true;
    }

    /// Files that no path leads to any more are read to their end, then left.
    fn see_off(&mut self, registry: &mut Registry, present: &HashMap<FileId, PathBuf>, now: Now) {
        let is_gone = |tail: &&Tail| !tail.over && !present.contains_key(&tail.file);
        let gone = self.tails.iter().filter(is_gone);
        let closed = gone.filter(|tail| tail.source.is_none());
        let places = places_of(closed.map(|tail| (tail.file, tail.place())));
        let mut left = HashSet::new();
        for tail in &mut self.tails {
            if tail.over {
                left.insert(tail.file);
                continue;
            }
            if present.contains_key(&tail.file) {
                continue;
            }
            let since = *tail.gone_since.get_or_insert(now.monotonic);
            if tail.closing && !tail.dirty || !tail.is_within_reach(&places) {
                left.insert(tail.file);
            } else if now.monotonic.saturating_sub(since) >= GONE_KEPT {
                tail.closing = true;
                tail.dirty = true;
            } else {
                tail.dirty = true;
            }
        }
        for tail in self.tails.iter().filter(|tail| left.contains(&tail.file)) {
            registry.retire(tail.slot, now.wall_ms);
        }
        if !left.is_empty() {
            self.tails.retain(|tail| !left.contains(&tail.file));
            self.number_by_file();
        }
    }

    fn number_by_file(&mut self) {
        let numbered = self.tails.iter().enumerate();
        self.by_file = numbered.map(|(index, tail)| (tail.file, index)).collect();
    }

    /// Entries whose file is neither read nor where it was are kept a while for its copies.
    fn retire_lost(&self, registry: &mut Registry, now: Now) {
        let reading: BTreeSet<_> = self.tails.iter().map(|tail| tail.slot).collect();
        for slot in registry.live_slots() {
            if reading.contains(&slot) {
                continue;
            }
            let entry = registry.get(slot);
            let there = file_system::stat(entry.path.as_ref());
            if !there.is_ok_and(|stat| stat.file == entry.file) {
                registry.retire(slot, now.wall_ms);
            }
        }
        registry.forget_retired(now.wall_ms);
    }

    fn close_idle(&mut self) {
        let open = self
            .tails
            .iter()
            .filter(|tail| tail.source.is_some())
            .count();
        let idle =
            |tail: &&mut Tail| tail.source.is_some() && !tail.dirty && tail.gone_since.is_none();
        let excess = open.saturating_sub(self.open_max);
        let mut idle: Vec<&mut Tail> = self.tails.iter_mut().filter(idle).collect();
        idle.sort_by_key(|tail| tail.stat.modified_ms);
        for tail in idle.into_iter().take(excess) {
            tail.source = None;
        }
        self.open = self
            .tails
            .iter()
            .filter(|tail| tail.source.is_some())
            .count();
    }

    /// Whether files that are opened for reading now have to be closed again.
    pub(crate) fn has_many_open(&self) -> bool {
        self.open >= self.open_max
    }

    /// Marks the files at these paths as possibly longer; returns whether a look is needed,
    /// because one of them is not read yet and may have to be. What lies beside the targets of links need not.
    pub(crate) fn touch(&mut self, paths: &BTreeSet<PathBuf>) -> bool {
        let mut unknown = false;
        for path in paths {
            match self.by_path.get(path) {
                Some(&index) => self.tails[index].dirty = true,
                None => unknown |= self.may_be_read(path) && !self.is_refused(path),
            }
        }
        unknown
    }

    fn may_be_read(&self, path: &Path) -> bool {
        let folder = path.parent();
        let lies_beside = folder.is_some_and(|folder| self.target_folders.contains(folder));
        !lies_beside || self.targets.contains(path)
    }

    /// Whether a look would leave the file alone again.
    fn is_refused(&self, path: &PathBuf) -> bool {
        let for_good = |reason: &SkipReason| {
            !matches!(
                reason,
                SkipReason::Empty | SkipReason::BeingRotated | SkipReason::TooOld
            )
        };
        self.skipped.get(path).is_some_and(for_good)
            || self.own.contains(path)
            || self.options.excluded.contains(path)
    }

    /// Marks files whose last event has waited long enough for more of it.
    pub(crate) fn wake_overdue(&mut self, now: Duration) {
        for tail in self.tails.iter_mut().filter(|tail| tail.is_overdue(now)) {
            tail.dirty = true;
        }
    }

    /// Bytes that are known to lie ahead.
    pub(crate) fn bytes_ahead(&self) -> u64 {
        let ahead = |tail: &Tail| tail.stat.size_bytes.saturating_sub(tail.read.offset);
        self.tails
            .iter()
            .filter(|tail| !tail.compressed)
            .map(ahead)
            .sum()
    }
}

/// A file's name, if it is text.
pub(super) fn text_name(path: &Path) -> Option<&str> {
    path.file_name().and_then(|name| name.to_str())
}

/// How many files may be held open, by what the system lets the process open.
fn open_files_max() -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    let share = limit.map(|files| usize::try_from(files / OPEN_FILES_SHARE));
    let share = share.and_then(Result::ok);
    share.map_or(OPEN_FILES_MAX, |share| share.clamp(1, OPEN_FILES_MAX))
}

/// The part of event ids that names an incarnation of a file. Without a birth time the moment of
/// its discovery has to tell it from a later file with the same inode.
pub(super) fn file_key(host: &str, file: FileId, generation: u32, now: Now) -> u64 {
    let parts = [
        file.device,
        file.inode,
        file.born_ns.unwrap_or(now.wall_ms),
        u64::from(generation),
    ];
    let seed = hash_bytes(0, host.as_bytes());
    parts
        .iter()
        .fold(seed, |key, part| hash_bytes(key, &part.to_le_bytes()))
}
