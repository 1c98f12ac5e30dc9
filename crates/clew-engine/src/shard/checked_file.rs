//! A segment's file, open: every byte is held against the sums that were written with it before anybody reads it, once.
//! Damage is told to the shard, which answers nothing from then on: what is in a damaged file nobody knows.

use std::fmt;
use std::future::{Future, ready};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clew_platform::bring_in;
use crc_fast::CrcAlgorithm;
use tantivy::HasLen;
use tantivy::directory::footer::Footer;
use tantivy::directory::{FileHandle, FileSlice, OwnedBytes};

use super::health::{Remedy, ShardHealth};
use super::sums::{Sums, narrow};
use super::vector_file::has_own_sums;

/// Tells the shard of damage of a file, and makes the error of whoever found it.
fn note(health: &ShardHealth, path: &Path, what: &str) -> io::Error {
    let damage = format!("{} is damaged: {what}", path.display());
    if health.remedy() != Some(Remedy::Repair) {
        tracing::error!(damage, "a shard is damaged");
    }
    health.fail(Remedy::Repair, &damage);
    io::Error::new(io::ErrorKind::InvalidData, damage)
}

/// What a shard knows of a file before it opens it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// It was written by this process, with sums.
    Fresh,
    /// The manifest has the sum of its sums.
    Sum(u32),
    /// It is of an earlier format: tantivy's sum of the whole file is all there is.
    Whole,
}

/// An open file.
pub(super) struct CheckedFile {
    path: PathBuf,
    /// All of it.
    file: OwnedBytes,
    /// `None` when it was checked as a whole.
    sums: Option<Sums>,
    /// A bit for each block that was found sound. Several threads may check one at the same time, which is harmless.
    sound: Box<[AtomicU64]>,
    health: Arc<ShardHealth>,
}

impl fmt::Debug for CheckedFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "CheckedFile({})", self.path.display())
    }
}

impl CheckedFile {
    /// Takes a file's bytes; reads its sums, or all of it when it is of an earlier format.
    ///
    /// # Errors
    /// When these are damaged, or it is another file than was expected.
    pub(super) fn open(
        path: PathBuf,
        file: OwnedBytes,
        expected: Expected,
        health: &Arc<ShardHealth>,
    ) -> io::Result<Self> {
        let note = |what: &str| note(health, &path, what);
        let sums = if expected == Expected::Whole {
            check_whole(&path, &file).map_err(|what| note(&what))?;
            None
        } else {
            let sums = Sums::parse(&file);
            Some(sums.ok_or_else(|| note("the sums at its end do not hold"))?)
        };
        if let (Expected::Sum(wanted), Some(sums)) = (expected, &sums)
            && sums.of_all != wanted
        {
            return Err(note("it is another file than the manifest names"));
        }
        let blocks = sums.as_ref().map_or(0, Sums::count);
        let words = blocks.div_ceil(u64::BITS as usize);
        Ok(CheckedFile {
            sound: (0..words).map(|_| AtomicU64::new(0)).collect(),
            path,
            file,
            sums,
            health: health.clone(),
        })
    }

    /// What the manifest says of it.
    pub(super) fn sum(&self) -> Option<u32> {
        self.sums.as_ref().map(|sums| sums.of_all)
    }

    /// Checks the blocks of a range that were not checked before.
    fn check(&self, range: &Range<usize>) -> io::Result<()> {
        let Some(sums) = &self.sums else {
            return Ok(());
        };
        let blocks = sums.blocks(range);
        let mut block = blocks.start;
        while block < blocks.end {
            // As many as have their bits in one word.
            let word = block / 64;
            let end = blocks.end.min((word + 1) * 64);
            let wanted = (u64::MAX >> (64 - (end - block))) << (block % 64);
            let missing = wanted & !self.sound[word].load(Ordering::Relaxed);
            if missing != 0 {
                self.check_missing(sums, word, missing)?;
            }
            block = end;
        }
        Ok(())
    }

    #[cold]
    fn check_missing(&self, sums: &Sums, word: usize, mut missing: u64) -> io::Result<()> {
        while missing != 0 {
            let bit = missing.trailing_zeros();
            self.check_block(sums, word * 64 + bit as usize)?;
            self.sound[word].fetch_or(1 << bit, Ordering::Relaxed);
            missing &= missing - 1;
        }
        Ok(())
    }

    fn check_block(&self, sums: &Sums, block: usize) -> io::Result<()> {
        match damage_of(sums, &self.file, block) {
            None => Ok(()),
            Some(what) => Err(note(&self.health, &self.path, &what)),
        }
    }

    /// Checks every byte anew, those that were checked before too; tells how many bytes are done after each block. Damage
    /// of a file that has sums of its own inside stops nobody: they tell what of it matters, and when.
    ///
    /// # Errors
    /// The first damage, or what `done` returns.
    pub(super) fn check_all(
        &self,
        done: &mut dyn FnMut(usize) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(what) = self.find_damage(done)? else {
            return Ok(());
        };
        if has_own_sums(&self.path.to_string_lossy()) {
            let damage = format!("{} is damaged: {what}", self.path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, damage));
        }
        Err(note(&self.health, &self.path, &what))
    }

    fn find_damage(
        &self,
        done: &mut dyn FnMut(usize) -> io::Result<()>,
    ) -> io::Result<Option<String>> {
        let Some(sums) = &self.sums else {
            done(self.file.len())?;
            return Ok(check_whole(&self.path, &self.file).err());
        };
        for block in 0..sums.count() {
            let damage = damage_of(sums, &self.file, block);
            if damage.is_some() {
                return Ok(damage);
            }
            done(sums.place(block).len())?;
        }
        Ok(None)
    }
}

/// Which bytes of a block are wrong, and what is wrong with them.
fn damage_of(sums: &Sums, file: &[u8], block: usize) -> Option<String> {
    let wrong = sums.wrong(file, block)?;
    let place = sums.place(block);
    let (first, last) = (place.start, place.end - 1);
    Some(format!("bytes {first} to {last} {wrong}"))
}

/// Holds a file against tantivy's sum of all of it.
pub(super) fn check_whole(path: &Path, file: &OwnedBytes) -> Result<(), String> {
    bring_in(file).map_err(|error| format!("it cannot be read: {error}"))?;
    let slice = FileSlice::new(Arc::new(file.clone()));
    let (footer, body) = Footer::extract_footer(slice).map_err(|error| error.to_string())?;
    if has_own_sums(&path.to_string_lossy()) {
        return Ok(());
    }
    let sum = crc_fast::checksum(CrcAlgorithm::Crc32IsoHdlc, &file[..body.len()]);
    if narrow(sum) == footer.crc {
        Ok(())
    } else {
        Err("its checksum does not match".into())
    }
}

impl HasLen for CheckedFile {
    fn len(&self) -> usize {
        let sums = self.sums.as_ref();
        sums.map_or(self.file.len(), Sums::body_bytes)
    }
}

impl FileHandle for CheckedFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        self.check(&range)?;
        Ok(self.file.slice(range))
    }

    /// Unchecked: for [`clew_schema::CheckedBytes`], which asks for the checks of what it reads. tantivy itself, as it is
    /// built here, never reads so.
    fn read_bytes_async<'a, 'f>(
        &'a self,
        range: Range<usize>,
    ) -> Pin<Box<dyn Future<Output = io::Result<OwnedBytes>> + Send + 'f>>
    where
        'a: 'f,
        Self: 'f,
    {
        Box::pin(ready(Ok(self.file.slice(range))))
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use clew_platform::{Disk, RealDisk};

    use super::super::sums::tests::written;
    use super::*;

    /// A real file that has become shorter cannot be read there, as one on a disk that fails.
    #[test]
    fn what_the_disk_cannot_read_is_an_error_of_the_shard() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let (body, bytes) = written(&[300_000]);
        RealDisk.write_atomic(&path, &bytes).unwrap();
        let health = Arc::new(ShardHealth::default());
        let open = || {
            let mapped = OwnedBytes::new(RealDisk.map(&path).unwrap());
            CheckedFile::open(path.clone(), mapped, Expected::Fresh, &health)
        };
        let file = open().unwrap();
        assert_eq!(&file.read_bytes(0..10).unwrap()[..], &body[..10]);
        let mut cut = RealDisk.open(&path).unwrap();
        cut.set_len(100_000).unwrap();
        // What was read before and is still in memory is not read again.
        assert_eq!(&file.read_bytes(5..9_000).unwrap()[..], &body[5..9_000]);
        let refused = file.read_bytes(200_000..200_010).unwrap_err().to_string();
        assert!(refused.contains(&*path.to_string_lossy()), "{refused}");
        assert!(refused.contains("cannot be read"), "{refused}");
        assert_eq!(health.remedy(), Some(Remedy::Repair));
        let found = file.check_all(&mut |_| Ok(())).unwrap_err().to_string();
        assert!(found.contains("cannot be read"), "{found}");
    }
}
