//! From addresses to functions, files and lines, with those that were inlined.
//!
//! The program's own come from its debugging information, in the program or in the file that its debug link names, where
//! they may be compressed; those of the system's libraries from their tables of exported symbols. They are read
//! when a capture has ended, four hundred megabytes where they are compressed, and stay for a while for the next one ([`kept`]).

mod files;
mod kept;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use self::files::{Frame, Table};
pub use self::kept::SymbolUse;
use crate::ProfileError;
use crate::process::Maps;
use crate::profile::{Function, Interned, Line, Location, Profile, ProfileKind, Sample};

/// Stacks as addresses, each once for a thread's name, with what was measured.
#[derive(Debug, Default)]
pub(crate) struct Stacks(HashMap<(Arc<str>, Vec<u64>), Vec<i64>>);

impl Stacks {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds to a stack, the innermost address first.
    pub(crate) fn add(&mut self, thread: &Arc<str>, stack: Vec<u64>, values: &[i64]) {
        let sums = self
            .0
            .entry((thread.clone(), stack))
            .or_insert_with(|| vec![0; values.len()]);
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum = sum.saturating_add(*value);
        }
    }

    /// Names everything. The times and comments of the profile are the caller's to fill in.
    pub(crate) fn resolve(self, kind: ProfileKind) -> Result<Profile, ProfileError> {
        let profiles = Self::resolve_all(vec![self], kind)?;
        Ok(profiles.into_iter().next().unwrap_or_default())
    }

    /// The same of several at once.
    pub(crate) fn resolve_all(
        all: Vec<Self>,
        kind: ProfileKind,
    ) -> Result<Vec<Profile>, ProfileError> {
        let maps = Maps::read()?;
        let mut names = Names::new(&maps);
        let mut wanted: Vec<(u64, bool)> = Vec::new();
        for (_, stack) in all.iter().flat_map(|stacks| stacks.0.keys()) {
            wanted.extend(
                stack
                    .iter()
                    .enumerate()
                    .map(|(at, address)| (*address, at == 0)),
            );
        }
        wanted.sort_unstable();
        wanted.dedup();
        names.resolve(&wanted);
        Ok(all
            .into_iter()
            .map(|stacks| stacks.named(kind, &names))
            .collect())
    }

    fn named(self, kind: ProfileKind, names: &Names<'_>) -> Profile {
        let mut stacks: Vec<_> = self.0.into_iter().collect();
        stacks.sort();
        let number =
            |(at, address): (usize, &u64)| names.numbers.get(&(*address, at == 0)).copied();
        let samples = stacks.into_iter().map(|((thread, stack), values)| Sample {
            stack: stack.iter().enumerate().filter_map(number).collect(),
            values,
            thread: (!thread.is_empty()).then(|| thread.to_string()),
        });
        Profile {
            values: kind.values(),
            samples: samples.collect(),
            locations: names.locations.clone(),
            functions: names.functions.all.clone(),
            comments: names.comments.clone(),
            ..Profile::default()
        }
    }
}

/// What was found of addresses.
struct Names<'m> {
    maps: &'m Maps,
    functions: Interned<Function>,
    locations: Vec<Location>,
    /// By address, and whether it is one that was executed rather than returned to.
    numbers: HashMap<(u64, bool), u32>,
    comments: Vec<String>,
}

impl<'m> Names<'m> {
    fn new(maps: &'m Maps) -> Self {
        Names {
            maps,
            functions: Interned::new(),
            locations: Vec::new(),
            numbers: HashMap::new(),
            comments: Vec::new(),
        }
    }

    /// Finds the names of addresses, in ascending order, file by file.
    fn resolve(&mut self, wanted: &[(u64, bool)]) {
        let own = std::env::current_exe().unwrap_or_default();
        let path_of = |address: u64| self.maps.find(address).map(|found| found.path.clone());
        for chunk in wanted.chunk_by(|a, b| path_of(a.0) == path_of(b.0)) {
            let Some((first, _)) = chunk.first() else {
                continue;
            };
            let path = path_of(*first).unwrap_or_default();
            match path {
                path if path == own => self.resolve_own(&path, chunk),
                path => self.resolve_other(&path, chunk),
            }
        }
    }

    fn resolve_own(&mut self, path: &Path, wanted: &[(u64, bool)]) {
        if let Err(reason) = self.try_resolve_own(path, wanted) {
            self.comments
                .push(format!("the program's functions have no names: {reason}"));
            self.resolve_other(path, wanted);
        }
    }

    fn try_resolve_own(&mut self, path: &Path, wanted: &[(u64, bool)]) -> Result<(), String> {
        let begins = self
            .first_mapping(path)
            .ok_or("it is not in the memory map")?;
        let offset = |(address, executed): &(u64, bool)| {
            // A return address belongs to the call before it.
            let before = u64::from(!*executed);
            address.wrapping_sub(begins).wrapping_sub(before)
        };
        let found = kept::find(wanted.iter().map(offset).collect())?;
        for (key, frames) in wanted.iter().zip(found.places) {
            let here = key.0.wrapping_sub(begins).wrapping_add(found.first);
            let mut lines = Vec::with_capacity(frames.len());
            for Frame { name, file, line } in frames {
                let name = name.unwrap_or_else(|| format!("[{here:#x}]"));
                let function = self.functions.number(Function { name, file });
                lines.push(Line { function, line });
            }
            self.place(*key, here, lines);
        }
        Ok(())
    }

    /// Names from a library's exported symbols, else the library's own.
    fn resolve_other(&mut self, path: &Path, wanted: &[(u64, bool)]) {
        let exported = Table::read(path).unwrap_or_default();
        let file = path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy()
            .into_owned();
        let loaded = self.first_mapping(path).unwrap_or_default();
        for (address, executed) in wanted {
            let here = address.wrapping_sub(loaded);
            let name = match exported.find(here) {
                Some(name) => name,
                None if file.is_empty() => "[unknown]".to_string(),
                None => format!("[{}]", file.trim_matches(['[', ']'])),
            };
            let line = self.line(name, file.clone());
            self.place((*address, *executed), here, vec![line]);
        }
    }

    fn line(&mut self, name: String, file: String) -> Line {
        Line {
            function: self.functions.number(Function { name, file }),
            line: 0,
        }
    }

    fn place(&mut self, key: (u64, bool), address: u64, lines: Vec<Line>) {
        let number = u32::try_from(self.locations.len()).unwrap_or(u32::MAX);
        self.locations.push(Location { address, lines });
        self.numbers.insert(key, number);
    }

    fn first_mapping(&self, path: &Path) -> Option<u64> {
        let found = self.maps.0.iter().find(|mapping| mapping.path == path)?;
        Some(found.from.wrapping_sub(found.offset))
    }
}

/// The name of a function that was inlined, of which line tables have the last part only: its file tells the rest.
fn inlined_name(name: &str, file: &str) -> String {
    // Before its parameters, if it has some.
    let own = name.get(..name.find(['<', '{']).unwrap_or(name.len()));
    match module_of(file) {
        _ if own.is_some_and(|own| own.contains("::")) => name.to_string(),
        module if module.is_empty() => name.to_string(),
        module => format!("{module}::{name}"),
    }
}

/// The module that a file holds, by the customs of Rust's source folders: `crates/clew-search/src/ranked/cursor.rs` is
/// `clew_search::ranked::cursor`. Empty for other files.
fn module_of(file: &str) -> String {
    let source = file
        .strip_suffix(".rs")
        .and_then(|file| file.rsplit_once("/src/"));
    let Some((folder, path)) = source else {
        return String::new();
    };
    let package = folder.rsplit('/').next().unwrap_or(folder);
    // Packages of a registry have their version behind the name.
    let version = package
        .rmatch_indices('-')
        .find(|(at, _)| package.get(at + 1..).is_some_and(is_version));
    let name = version.map_or(package, |(at, _)| package.get(..at).unwrap_or(package));
    let path = path
        .trim_end_matches(".rs")
        .trim_end_matches("/mod")
        .replace('/', "::");
    let name = name.replace('-', "_");
    match path.as_str() {
        "lib" | "main" | "mod" => name,
        path => format!("{name}::{path}"),
    }
}

fn is_version(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit()) && text.contains('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_told_by_files() {
        let cases = [
            (
                "crates/clew-search/src/ranked/cursor.rs",
                "clew_search::ranked::cursor",
            ),
            (
                "/x/crates/clew-engine/src/shard/mod.rs",
                "clew_engine::shard",
            ),
            ("/r/registry/src/index-1/tokio-1.54.1/src/lib.rs", "tokio"),
            (
                "/rustc/5980/library/core/src/ops/function.rs",
                "core::ops::function",
            ),
            ("/r/registry/src/index-1/zstd-sys-2.1/lib/x.c", ""),
        ];
        for (file, module) in cases {
            assert_eq!(module_of(file), module, "{file}");
        }
    }
}
