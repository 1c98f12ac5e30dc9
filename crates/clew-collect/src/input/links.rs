//! Files that were read and that nothing asked for leads to any more, because they were renamed or a link leads elsewhere: what is left of them is read,
//! also after a restart, as far as they are found where they were, or beside that under a name that differs by what rotations put there.
//!
//! Nobody sees what a link led to between two looks. Such a file is taken for one of the link's if it lies beside the one that the link leads to, has
//! a name of the same stem, and was made after the last one that was seen and before this one. What has other names, or was there before, cannot be
//! told from files that nobody asked for, and is left alone.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::discover::{Candidate, CandidateReason};
use super::fleet::{Fleet, text_name};
use super::rules::FileRules;
use super::tail::Tail;
use crate::file_system::{self, FileId};
use crate::registry::{FileRecord, Registry};
use crate::rotated_names::stem;

/// Files that were left, the newest first, which are looked at for whether somebody writes to them all the same.
const RETIRED_MAX: usize = 500;

impl Tail {
    /// Whether it can be read on, though nothing may lead to it any more: it is open, or there in one of these places.
    pub(super) fn is_within_reach(&mut self, places: &HashMap<FileId, PathBuf>) -> bool {
        let place = places.get(&self.file);
        if let Some(moved) = place.filter(|place| *place != self.place()) {
            self.target = Some(moved.clone());
        }
        self.source.is_some() || place.is_some()
    }
}

impl Fleet {
    /// What is there of what nobody reads, though it was read, or a link may have led to it.
    pub(super) fn left_behind(
        &self,
        registry: &Registry,
        fresh: &[Candidate],
        present: &HashMap<FileId, PathBuf>,
    ) -> Vec<Candidate> {
        let (mut wanted, mut retired) = (Vec::new(), 0);
        for (_, entry) in registry.records().rev() {
            let is_retired = entry.retired_ms.is_some();
            retired += usize::from(is_retired && entry.target.is_some());
            let is_wanted = !is_retired || entry.target.is_some() && retired <= RETIRED_MAX;
            if is_wanted && !self.is_met(entry.file, present) {
                wanted.push(entry);
            }
        }
        let places = places_of(wanted.iter().map(|entry| (entry.file, entry.place())));
        let left = |entry: &FileRecord| self.left(entry, places.get(&entry.file)?);
        let mut found: Vec<_> = wanted.into_iter().filter_map(left).collect();
        for switched in fresh {
            found.extend(passed_by(registry, switched));
        }
        let mut seen = HashSet::new();
        found.retain(|candidate| {
            let (file, place) = (candidate.stat.file, candidate.place());
            let is_own = self.options.excluded.iter().any(|own| own == place);
            !self.is_met(file, present)
                && !candidate.rules.excludes(place)
                && !is_own
                && seen.insert(file)
        });
        found
    }

    /// Whether a file is read, or found by a path of its own.
    fn is_met(&self, file: FileId, present: &HashMap<FileId, PathBuf>) -> bool {
        present.contains_key(&file) || self.by_file.contains_key(&file)
    }

    /// The file of an entry, which is there in a place, if an input asked for it and there may be more in it.
    fn left(&self, entry: &FileRecord, place: &Path) -> Option<Candidate> {
        let paths = [Path::new(&entry.path), Path::new(&entry.first_path)];
        let asks = |rules: &&Arc<FileRules>| paths.iter().any(|path| rules.asks_for(path));
        let rules = self.options.rules.iter().find(asks)?;
        if entry.retired_ms.is_some() && place != entry.place() {
            return None;
        }
        let stat = file_system::stat(place).ok()?;
        // One that was left was read to its end, unless it was written to since.
        let is_at_end = |at: u64| {
            let at = i64::try_from(at).unwrap_or(i64::MAX);
            stat.modified_ms < at || stat.size_bytes <= entry.position.offset
        };
        if entry.retired_ms.is_some_and(is_at_end) {
            return None;
        }
        Some(Candidate {
            path: paths[0].to_owned(),
            stat,
            target: Some(place.to_owned()),
            wanted: CandidateReason::Left,
            rules: Arc::clone(rules),
        })
    }
}

fn is_there(file: FileId, place: &Path) -> bool {
    file_system::stat(place).is_ok_and(|stat| stat.file == file)
}

/// The files that a link may have led to before it led to one that nobody has seen yet.
fn passed_by(registry: &Registry, switched: &Candidate) -> Vec<Candidate> {
    // A link to a folder, or to a file of its own name, does not say which others are its files.
    let is_named_otherwise = |target: &&PathBuf| text_name(target) != text_name(&switched.path);
    let Some(target) = switched.target.as_ref().filter(is_named_otherwise) else {
        return Vec::new();
    };
    let Some((after, before)) = span_before(registry, switched) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for place in beside(target) {
        let Ok(stat) = file_system::stat(&place) else {
            continue;
        };
        // Clocks of file systems tick every few milliseconds.
        let is_between = |born: u64| (after..=before).contains(&born);
        let is_new = registry.of_file(stat.file).is_empty();
        if stat.is_file && stat.file.born_ns.is_some_and(is_between) && is_new {
            found.push(Candidate {
                path: switched.path.clone(),
                target: Some(place),
                stat,
                wanted: CandidateReason::Left,
                rules: Arc::clone(&switched.rules),
            });
        }
    }
    found
}

/// Between which times a file was made that a link may have led to before this one: since the newest that it was seen to lead to, or since it
/// was first asked for. Nothing where this one was seen before, or the file system has no times of birth.
fn span_before(registry: &Registry, switched: &Candidate) -> Option<(u64, u64)> {
    let before = switched.stat.file.born_ns?;
    if !registry.of_file(switched.stat.file).is_empty() {
        return None;
    }
    let path = switched.path.to_str()?;
    let slots = registry.of_stem(&stem(text_name(&switched.path)?)).iter();
    let entries = slots.map(|slot| registry.get(*slot));
    let seen = entries
        .filter(|entry| entry.path == path || entry.first_path == path)
        .filter_map(|entry| entry.file.born_ns)
        .filter(|born| *born <= before)
        .max();
    let asked_ms = registry.asked_since_ms(&switched.path);
    let after = seen.or(asked_ms.map(|ms| ms.saturating_mul(1_000_000)))?;
    (after <= before).then_some((after, before))
}

/// The other files in the folder of one whose names differ from its name by what rotations put there.
fn beside(target: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (target.parent(), text_name(target)) else {
        return Vec::new();
    };
    let like_it = stem(name);
    let others = files_in(folder).filter(|(like, path)| *like == like_it && path != target);
    others.map(|(_, path)| path).collect()
}

/// Where files are now: where they were, or beside that under a name that differs by what rotations put there.
pub(super) fn places_of<'p>(
    files: impl Iterator<Item = (FileId, &'p Path)>,
) -> HashMap<FileId, PathBuf> {
    let mut places = HashMap::new();
    let mut moved: HashMap<&Path, HashMap<String, HashSet<FileId>>> = HashMap::new();
    for (file, place) in files {
        if is_there(file, place) {
            places.insert(file, place.to_owned());
        } else if let (Some(folder), Some(name)) = (place.parent(), text_name(place)) {
            let of_folder = moved.entry(folder).or_default();
            of_folder.entry(stem(name)).or_default().insert(file);
        }
    }
    // Each folder is listed once, and after all were looked for, so that it has what was renamed until then.
    for (folder, of_folder) in moved {
        for (like, path) in files_in(folder) {
            if let Some(files) = of_folder.get(&like)
                && let Ok(stat) = file_system::stat(&path)
                && files.contains(&stat.file)
            {
                places.entry(stat.file).or_insert(path);
            }
        }
    }
    places
}

/// The files in a folder, each behind what is left of its name without what rotations put there.
fn files_in(folder: &Path) -> impl Iterator<Item = (String, PathBuf)> {
    let names = file_system::list(folder).unwrap_or_default().into_iter();
    let files = names.filter(|found| !found.is_folder && !found.is_link);
    files.filter_map(|found| Some((stem(text_name(&found.path)?), found.path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_where_they_were_and_under_names_of_rotations() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["kept.log", "turned.log", "renamed.log", "gone.log"];
        let known = names.map(|name| {
            let place = folder.path().join(name);
            std::fs::write(&place, name).unwrap();
            (file_system::stat(&place).unwrap().file, place)
        });
        let to = |name: &str| folder.path().join(name);
        std::fs::rename(to("turned.log"), to("turned.log.1")).unwrap();
        std::fs::rename(to("renamed.log"), to("other.log")).unwrap();
        std::fs::rename(to("gone.log"), to("gone.log.1")).unwrap();
        std::fs::rename(to("kept.log"), to("gone.log.1")).unwrap();
        std::fs::hard_link(to("gone.log.1"), to("kept.log")).unwrap();
        std::fs::write(to("turned.log"), "another").unwrap();
        let places = places_of(known.iter().map(|(file, place)| (*file, place.as_path())));
        let expected = [Some(to("kept.log")), Some(to("turned.log.1")), None, None];
        for ((file, place), expected) in known.iter().zip(&expected) {
            assert_eq!(places.get(file), expected.as_ref(), "{}", place.display());
        }
    }
}
