//! Damage is found before it is served: a section is compared with its checksum when it is first
//! used. The vectors and the postings are most of an image, and a search reads little of them, so
//! they are checked block by block.
#![deny(clippy::indexing_slicing)]

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytemuck::Pod;

use crate::VectorError;
use crate::image::{corrupt, sum_of};
use crate::sparse::format::{Header, SectionKind};

/// Vectors and postings are checked in blocks of this size.
pub(super) const SUM_BYTES: usize = 1 << 16;

/// What every search reads whole, or nearly.
const TABLES: [SectionKind; 8] = [
    SectionKind::Starts,
    SectionKind::Docs,
    SectionKind::Lengths,
    SectionKind::Terms,
    SectionKind::TermBlocks,
    SectionKind::Counts,
    SectionKind::Blocks,
    SectionKind::Sums,
];

/// Which parts of an image have been checked since it was opened.
#[derive(Debug)]
pub(super) struct Checked {
    tables: AtomicBool,
    /// One bit per checksum of section 10.
    blocks: Vec<AtomicU64>,
}

impl Checked {
    pub(super) fn new(header: &Header) -> Self {
        let sums = header.range(SectionKind::Sums).len() / 4;
        let words = std::iter::repeat_with(AtomicU64::default);
        Checked {
            tables: AtomicBool::new(false),
            blocks: words.take(sums.div_ceil(64)).collect(),
        }
    }

    /// Memory held.
    pub(super) fn mem_bytes(&self) -> usize {
        self.blocks.capacity() * size_of::<AtomicU64>()
    }
}

/// An image and what is known of its health.
#[derive(Debug, Clone, Copy)]
pub(super) struct Image<'a> {
    pub(super) header: &'a Header,
    pub(super) bytes: &'a [u8],
    pub(super) checked: &'a Checked,
}

impl<'a> Image<'a> {
    /// A section as numbers, in place; empty when the image does not have it.
    pub(super) fn numbers<T: Pod>(&self, kind: SectionKind) -> Result<&'a [T], VectorError> {
        let bytes = self.bytes.get(self.header.range(kind)).unwrap_or_default();
        bytemuck::try_cast_slice(bytes).map_err(|_| VectorError::Misaligned {
            multiple_bytes: align_of::<T>(),
        })
    }

    /// Checks everything but vectors and postings.
    pub(super) fn touch_tables(&self) -> Result<(), VectorError> {
        if !self.checked.tables.load(Ordering::Relaxed) {
            for kind in TABLES {
                self.header.verify_section(self.bytes, kind)?;
            }
            self.checked.tables.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Checks a range of the bytes of the vectors or of the postings.
    #[inline]
    pub(super) fn touch(&self, kind: SectionKind, bytes: Range<usize>) -> Result<(), VectorError> {
        let first = match kind {
            SectionKind::Postings => self.entry_sums(),
            _ => 0,
        };
        for block in bytes.start / SUM_BYTES..bytes.end.div_ceil(SUM_BYTES) {
            let sum = first + block;
            let Some(word) = self.checked.blocks.get(sum / 64) else {
                return Ok(());
            };
            if word.load(Ordering::Relaxed) >> (sum % 64) & 1 == 0 {
                self.check(kind, (block, sum))?;
                word.fetch_or(1 << (sum % 64), Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Number of checksums over vectors; those over postings follow them.
    fn entry_sums(&self) -> usize {
        let entries = self.header.range(SectionKind::Entries).len();
        entries.div_ceil(SUM_BYTES)
    }

    #[cold]
    fn check(&self, kind: SectionKind, (block, sum): (usize, usize)) -> Result<(), VectorError> {
        let all = self.header.range(kind);
        let start = (all.start + block * SUM_BYTES).min(all.end);
        let end = all.end.min(start + SUM_BYTES);
        let sums: &[u32] = self.numbers(SectionKind::Sums)?;
        let bytes = self.bytes.get(start..end);
        let actual = bytes.map(|bytes| sum_of(bytes, start as u64)).transpose()?;
        if actual.as_ref() == sums.get(sum) {
            return Ok(());
        }
        let what = match kind {
            SectionKind::Postings => "block of postings does not match its checksum",
            _ => "block of vectors does not match its checksum",
        };
        Err(corrupt(what, start as u64))
    }
}

/// The checksums of section 10.
pub(super) fn sums(entries: &[u8], postings: &[u8]) -> Vec<u32> {
    let blocks = entries.chunks(SUM_BYTES).chain(postings.chunks(SUM_BYTES));
    blocks.map(crc32c::crc32c).collect()
}
