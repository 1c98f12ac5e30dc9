//! From the paths a run was given to the files there are now.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::SkipReason;
use super::glob::{is_pattern, name_matches};
use super::own::{Own, is_made_of};
use super::rules::FileRules;
use crate::file_system::{self, Name, Stat};
use crate::rotated_names::{is_rotated, stem};

/// Folders inside folders that are walked.
const DEPTH_MAX: usize = 40;
/// Files that one run reads.
const FILES_MAX: usize = 100_000;

/// Why a file is a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CandidateReason {
    /// It is named, lies in a named folder or fits a pattern.
    Asked,
    /// It is what a rotation may have made of a named file: only worth reading if it continues
    /// what was read before.
    IfItContinues,
    /// It was read, or a link may have led to it, and nothing that is asked for leads to it now.
    Left,
}

/// A file there is.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) path: PathBuf,
    /// Where it is, if the path is a link, or leads through one.
    pub(crate) target: Option<PathBuf>,
    pub(crate) stat: Stat,
    pub(crate) wanted: CandidateReason,
    pub(crate) rules: Arc<FileRules>,
}

impl Candidate {
    /// The path that leads to it whatever links do meanwhile.
    pub(crate) fn place(&self) -> &Path {
        self.target.as_deref().unwrap_or(&self.path)
    }

    /// Its target as the registry keeps it. One that is no text is not kept: after a restart nothing would find it.
    pub(crate) fn target_text(&self) -> Option<String> {
        let target = self.target.as_deref();
        target.and_then(Path::to_str).map(str::to_owned)
    }
}

/// What there is.
#[derive(Debug, Default)]
pub(crate) struct Discovered {
    pub(crate) files: Vec<Candidate>,
    pub(crate) skipped: Vec<(PathBuf, SkipReason)>,
    /// The folders looked into, and those that links lead into: changes in them may change the answer.
    pub(crate) folders: BTreeSet<PathBuf>,
    /// Those of them that links lead into and nothing else does: of their files only those that links lead to are of interest.
    pub(crate) target_folders: BTreeSet<PathBuf>,
    /// The collector's own files, by the names they were found by.
    pub(crate) own: BTreeSet<PathBuf>,
}

/// Finds the files; files and folders in `excluded` are the collector's own. A file belongs to the first input that asks for it.
pub(crate) fn discover(inputs: &[Arc<FileRules>], excluded: &[PathBuf]) -> Discovered {
    let own = Own::find(excluded);
    let mut found = Discovered::default();
    let mut seen = BTreeSet::new();
    let mut named = Vec::new();
    for rules in inputs {
        let mut finder = Finder {
            found: &mut found,
            rules,
            own: &own,
            seen: &mut seen,
            names: 0,
            through: None,
        };
        for path in &rules.options.paths {
            let pattern = path.to_str().is_some_and(is_pattern);
            match file_system::stat(path) {
                Ok(stat) if stat.is_folder => {
                    finder.enter(Some(path));
                    finder.walk(path, 0);
                }
                Err(_) if pattern => {
                    let before = finder.names;
                    finder.expand(path);
                    if finder.names == before {
                        finder.skip(path, SkipReason::NoneFits);
                    }
                }
                _ => {
                    finder.enter(path.parent());
                    finder.add(&file_system::name(path), CandidateReason::Asked);
                    if finder.found.own.contains(path) {
                        finder.skip(path, SkipReason::Own);
                    }
                    named.push((rules, path));
                }
            }
        }
    }
    // Last, so that a sibling that was asked for itself is already known as such.
    for (rules, path) in named {
        let mut finder = Finder {
            found: &mut found,
            rules,
            own: &own,
            seen: &mut seen,
            names: 0,
            through: None,
        };
        finder.enter(path.parent());
        finder.add_siblings(path);
    }
    let Discovered {
        folders,
        target_folders,
        ..
    } = &mut found;
    target_folders.retain(|folder| !folders.contains(folder));
    folders.extend(target_folders.iter().cloned());
    found
}

struct Finder<'a> {
    found: &'a mut Discovered,
    rules: &'a Arc<FileRules>,
    own: &'a Own<'a>,
    seen: &'a mut BTreeSet<PathBuf>,
    /// Names of files that were looked at, those that are left out on purpose among them.
    names: usize,
    /// The folder that is looked through, and where it is, if links lead to it.
    through: Option<(PathBuf, PathBuf)>,
}

impl Finder<'_> {
    /// Begins with a folder. Below it no links to folders are followed.
    fn enter(&mut self, folder: Option<&Path>) {
        let real = folder.and_then(|folder| Some((folder, file_system::real_folder(folder)?)));
        self.through = real.map(|(folder, real)| (folder.to_owned(), real));
    }

    /// Where a file is, if a link leads to it.
    fn target(&self, name: &Name) -> Option<PathBuf> {
        if name.is_link {
            return file_system::target(&name.path);
        }
        let (folder, real) = self.through.as_ref()?;
        let below = name.path.strip_prefix(folder).ok()?;
        Some(real.join(below))
    }

    fn list(&mut self, folder: &Path) -> Vec<Name> {
        let id = file_system::stat(folder).ok().map(|stat| stat.file);
        if id.is_some_and(|id| self.own.is_there(id)) {
            return Vec::new();
        }
        self.found.folders.insert(folder.to_owned());
        match file_system::list(folder) {
            Ok(names) => {
                let own = id.map(|id| self.own.names_in(id));
                for own in own.unwrap_or_default() {
                    let is_own = |name: &&Name| {
                        let found = name.path.file_name();
                        found.is_some_and(|found| is_made_of(own, found))
                    };
                    let paths = names.iter().filter(is_own).map(|name| name.path.clone());
                    self.found.own.extend(paths);
                }
                names
            }
            Err(error) => {
                self.skip(folder, SkipReason::Unreadable(error.to_string()));
                Vec::new()
            }
        }
    }

    fn skip(&mut self, path: &Path, reason: SkipReason) {
        self.found.skipped.push((path.to_owned(), reason));
    }

    fn walk(&mut self, folder: &Path, depth: usize) {
        if depth > DEPTH_MAX {
            return self.skip(folder, SkipReason::TooMany);
        }
        for name in self.list(folder) {
            if name.is_folder {
                self.walk(&name.path, depth + 1);
            } else {
                self.add(&name, CandidateReason::Asked);
            }
        }
    }

    /// What a rotation may have made of a file that was given by name: it may hold its end.
    fn add_siblings(&mut self, path: &Path) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            return;
        };
        if is_rotated(name) {
            return;
        }
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        for sibling in self.list(folder.unwrap_or(Path::new("."))) {
            let sibling_name = sibling.path.file_name().and_then(|name| name.to_str());
            let rotated = sibling_name.is_some_and(|other| other != name && stem(other) == name);
            if rotated && !sibling.is_folder {
                self.add(&sibling, CandidateReason::IfItContinues);
            }
        }
    }

    fn expand(&mut self, pattern: &Path) {
        let mut base = PathBuf::new();
        let mut parts = Vec::new();
        for component in pattern.components() {
            match component {
                Component::Normal(name) => match name.to_str() {
                    Some(text) if is_pattern(text) || !parts.is_empty() => parts.push(text),
                    _ => base.push(component),
                },
                _ => base.push(component),
            }
        }
        let base = if base.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            base
        };
        self.enter(Some(&base));
        self.expand_below(&base, &parts, 0);
    }

    fn expand_below(&mut self, folder: &Path, parts: &[&str], depth: usize) {
        let Some((&first, rest)) = parts.split_first() else {
            return;
        };
        if depth > DEPTH_MAX {
            return;
        }
        if first == "**" {
            self.expand_below(folder, rest, depth + 1);
        }
        for name in self.list(folder) {
            // A name that is no text fits as well as it can, and is told of as left out.
            let Some(text) = name.path.file_name().map(|name| name.to_string_lossy()) else {
                continue;
            };
            let text = &*text;
            match (first, name.is_folder) {
                ("**", true) if !text.starts_with('.') => {
                    self.expand_below(&name.path, parts, depth + 1);
                }
                // At the end of a pattern, `**` means every file.
                ("**", false) if rest.is_empty() && !text.starts_with('.') => {
                    self.add(&name, CandidateReason::Asked)
                }
                ("**", _) => {}
                (_, true) if name_matches(first, text) => {
                    self.expand_below(&name.path, rest, depth + 1);
                }
                (_, false) if rest.is_empty() && name_matches(first, text) => {
                    self.add(&name, CandidateReason::Asked);
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, name: &Name, wanted: CandidateReason) {
        let path = name.path.as_path();
        self.names += 1;
        if self.own.is_path(path) {
            self.found.own.insert(path.to_owned());
        }
        if self.found.own.contains(path)
            || self.rules.excludes(path)
            || !self.seen.insert(path.to_owned())
        {
            return;
        }
        if path.to_str().is_none() {
            return self.skip(path, SkipReason::NameNotText);
        }
        // A link is read once, so that what is seen and what is opened is one file.
        let target = self.target(name);
        match file_system::stat(target.as_deref().unwrap_or(path)) {
            Ok(stat) if self.own.is_there(stat.file) => {
                self.found.own.insert(path.to_owned());
            }
            Ok(stat) if stat.is_file && self.found.files.len() < FILES_MAX => {
                let folder = target.as_deref().and_then(Path::parent);
                self.found.target_folders.extend(folder.map(Path::to_owned));
                self.found.files.push(Candidate {
                    path: path.to_owned(),
                    target,
                    stat,
                    wanted,
                    rules: Arc::clone(self.rules),
                });
            }
            Ok(stat) if stat.is_file => self.skip(path, SkipReason::TooMany),
            // A link to a folder inside a walked folder leads somewhere else: not followed.
            Ok(_) => self.skip(path, SkipReason::NotAFile),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.skip(path, SkipReason::Missing);
            }
            Err(error) => self.skip(path, SkipReason::Unreadable(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests;
