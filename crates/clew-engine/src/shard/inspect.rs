//! The files of a shard held against what was written, without opening it: every byte, and all damage rather than the
//! first.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use clew_log::Glsn;
use clew_platform::Disk;
use tantivy::directory::OwnedBytes;

use super::checked_file::check_whole;
use super::file_names::is_shard_file;
use super::manifest::{Manifest, ManifestSegment, SegmentFile, read_alive};
use super::sums::Sums;
use super::vector_file::has_own_sums;
use super::{SegmentView, Shard};
use crate::base::error::EngineError;

/// Damage of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileDamage {
    /// The file.
    pub path: PathBuf,
    /// Where its first damaged block begins; `None` when all of it is in question.
    pub offset: Option<u64>,
    /// What does not hold.
    pub reason: String,
}

/// What the files of a shard hold.
#[derive(Debug, Default)]
pub(crate) struct ShardFiles {
    /// `None` when there is no manifest that can be read.
    manifest: Option<Manifest>,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) damage: Vec<FileDamage>,
    /// Files that no shard writes.
    pub(crate) foreign: Vec<PathBuf>,
}

impl ShardFiles {
    /// Reads all files of a shard's folder.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub(crate) fn read(
        disk: &dyn Disk,
        dir: &Path,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Self, EngineError> {
        let mut all = ShardFiles::default();
        match Manifest::read_newest(disk, dir) {
            Ok(manifest) => all.manifest = manifest,
            Err(EngineError::Corrupt { path, reason }) => all.damage.push(FileDamage {
                path,
                offset: None,
                reason,
            }),
            Err(error) => return Err(error),
        }
        for path in disk
            .list(dir)
            .map_err(crate::base::error::io_error("list", dir))?
        {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !is_shard_file(&name) {
                all.foreign.push(path.clone());
            }
        }
        let segments = all
            .manifest
            .clone()
            .map_or_else(Vec::new, |one| one.segments);
        for segment in &segments {
            for file in &segment.files {
                let path = dir.join(&file.name);
                let found = check_file(disk, &path, file);
                all.count(file.bytes, found.err(), progress);
            }
            all.check_alive(disk, dir, segment, progress);
        }
        Ok(all)
    }

    fn check_alive(
        &mut self,
        disk: &dyn Disk,
        dir: &Path,
        segment: &ManifestSegment,
        progress: &mut dyn FnMut(u64),
    ) {
        let Some(name) = &segment.alive else {
            return;
        };
        let path = dir.join(name);
        let bytes = disk.len(&path).unwrap_or(0);
        let read = read_alive(disk, &path, segment.doc_count);
        let damage = read.err().map(|error| FileDamage {
            path,
            offset: None,
            reason: match error {
                EngineError::Corrupt { reason, .. } => reason,
                other => source_of(&other),
            },
        });
        self.count(bytes, damage, progress);
    }

    fn count(&mut self, bytes: u64, damage: Option<FileDamage>, progress: &mut dyn FnMut(u64)) {
        self.files += 1;
        self.bytes += bytes;
        self.damage.extend(damage);
        progress(bytes);
    }

    /// The manifest, when it can be read.
    pub(super) fn into_manifest(self) -> Option<Manifest> {
        self.manifest
    }

    /// The segments that have a damaged file.
    pub(super) fn damaged_segments(&self) -> BTreeSet<String> {
        let names = self
            .damage
            .iter()
            .filter_map(|one| one.path.file_name()?.to_str());
        let ids = names.map(|name| name.split('.').next().unwrap_or_default().to_string());
        let segments = self.manifest.iter().flat_map(|one| &one.segments);
        let known: BTreeSet<&str> = segments.map(|segment| segment.id.as_str()).collect();
        ids.filter(|id| known.contains(id.as_str())).collect()
    }

    /// Living rows of all segments, and of those that have damaged files: all rows where the file is damaged that tells
    /// which live.
    pub(crate) fn rows(&self, disk: &dyn Disk, dir: &Path) -> (u64, u64) {
        let damaged = self.damaged_segments();
        let (mut all, mut in_damaged) = (0, 0);
        for segment in self.manifest.iter().flat_map(|one| &one.segments) {
            let alive = segment.alive.as_ref();
            let alive =
                alive.and_then(|name| read_alive(disk, &dir.join(name), segment.doc_count).ok());
            let rows = alive.map_or(segment.doc_count, |alive| alive.alive_count());
            all += u64::from(rows);
            if damaged.contains(&segment.id) {
                in_damaged += u64::from(rows);
            }
        }
        (all, in_damaged)
    }

    /// The number of the newest manifest, 0 where there is none, and how many operations of the shard its segments cover.
    pub(crate) fn operations(&self) -> (u64, u64) {
        let manifest = self.manifest.as_ref();
        manifest.map_or((0, 0), |manifest| (manifest.number, manifest.next_seq_no))
    }

    /// The position that the segments cover.
    pub(crate) fn checkpoint(&self) -> Option<Glsn> {
        let manifest = self.manifest.as_ref();
        manifest.map(|manifest| Glsn::new(manifest.checkpoint))
    }
}

fn source_of(error: &EngineError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Holds a file against its length, its sums, and the sum that the manifest has of these.
fn check_file(disk: &dyn Disk, path: &Path, named: &SegmentFile) -> Result<(), FileDamage> {
    let damage = |offset: Option<u64>, reason: String| FileDamage {
        path: path.to_path_buf(),
        offset,
        reason,
    };
    let bytes = disk
        .map(path)
        .map_err(|error| damage(None, format!("it cannot be read: {error}")))?;
    if bytes.len() as u64 != named.bytes {
        let reason = format!(
            "it has {} bytes, its manifest says {}",
            bytes.len(),
            named.bytes
        );
        return Err(damage(None, reason));
    }
    let Some(wanted) = named.sum else {
        let whole = check_whole(path, &OwnedBytes::new(bytes));
        return whole.map_err(|reason| damage(None, reason));
    };
    let Some(sums) = Sums::parse(&bytes) else {
        return Err(damage(None, "the sums at its end do not hold".into()));
    };
    if sums.of_all != wanted {
        return Err(damage(
            None,
            "it is another file than the manifest names".into(),
        ));
    }
    let wrong = |block| Some((block, sums.wrong(&bytes, block)?));
    let mut damaged = (0..sums.count()).filter_map(wrong);
    let Some((first, wrong)) = damaged.next() else {
        return Ok(());
    };
    let (place, others) = (sums.place(first), damaged.count());
    let mut reason = format!("{} bytes {wrong}", place.len());
    if others > 0 {
        reason += &format!(", nor are {others} other blocks of the file");
    }
    Err(damage(Some(place.start as u64), reason))
}

impl Shard {
    /// Holds every byte of what searches see against its sums, those that were checked before too. Tells how many bytes
    /// are done, block by block, and ends with the first error, that one's too.
    pub(crate) fn verify(&self, done: &mut dyn FnMut(usize) -> io::Result<()>) -> io::Result<()> {
        self.check_files(&self.view().segments, done, &|_| true)
    }

    /// The same of some segments that are to be merged; `.vec` files are left to the sums of their own, as a merge makes
    /// damaged graphs anew.
    pub(super) fn check_parts(
        &self,
        parts: &[SegmentView],
        done: &mut dyn FnMut(usize) -> io::Result<()>,
    ) -> io::Result<()> {
        self.check_files(parts, done, &|name| !has_own_sums(name))
    }

    fn check_files(
        &self,
        segments: &[SegmentView],
        done: &mut dyn FnMut(usize) -> io::Result<()>,
        wanted: &dyn Fn(&str) -> bool,
    ) -> io::Result<()> {
        for segment in segments {
            for (name, _) in self.directory.segment_files(&segment.files.id)? {
                if wanted(&name) {
                    self.directory.checked(&name)?.check_all(done)?;
                }
            }
        }
        Ok(())
    }
}
