//! Damage is found before it is served: a section is compared with its checksum when it is first
//! used, the vectors block by block, as a search reads few of them.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::VectorError;
use crate::column::format::{Header, SectionKind};
use crate::image::sum_of;

/// Vectors are checked in blocks of this size.
pub(crate) const BLOCK_BYTES: usize = 1 << 16;

/// Which parts of an image have been checked since it was opened.
#[derive(Debug)]
pub(crate) struct Checked {
    sections: [AtomicBool; SectionKind::ALL.len() + 1],
    /// One bit per block of the vectors.
    blocks: Vec<AtomicU64>,
    /// Told of a section when it has been read through.
    scattered: fn(&[u8]),
    /// What was found wrong with the graph, its codes or the lists, and where: from then on there are
    /// none.
    graph_damage: OnceLock<(&'static str, u64)>,
    /// Whether that was reported.
    damage_taken: AtomicBool,
}

impl Checked {
    pub(super) fn new(header: &Header, scattered: fn(&[u8])) -> Self {
        let blocks = header
            .range(SectionKind::Vectors)
            .len()
            .div_ceil(BLOCK_BYTES);
        let words = std::iter::repeat_with(AtomicU64::default);
        Checked {
            sections: std::array::from_fn(|_| AtomicBool::new(false)),
            blocks: words.take(blocks.div_ceil(64)).collect(),
            scattered,
            graph_damage: OnceLock::new(),
            damage_taken: AtomicBool::new(false),
        }
    }

    /// For a column that was never on disk: there is nothing to check.
    pub(crate) fn nothing() -> Self {
        Checked {
            sections: std::array::from_fn(|_| AtomicBool::new(true)),
            blocks: Vec::new(),
            scattered: |_| {},
            graph_damage: OnceLock::new(),
            damage_taken: AtomicBool::new(false),
        }
    }
}

impl Checked {
    /// What is wrong with the graph.
    pub(super) fn graph_damage(&self) -> Option<VectorError> {
        let &(what, offset_bytes) = self.graph_damage.get()?;
        Some(VectorError::Corrupt { what, offset_bytes })
    }

    /// The same, once.
    pub(super) fn take_graph_damage(&self) -> Option<VectorError> {
        let damage = self.graph_damage()?;
        (!self.damage_taken.swap(true, Ordering::Relaxed)).then_some(damage)
    }
}

/// An image and what is known of its health.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Integrity<'a> {
    pub(crate) header: &'a Header,
    pub(crate) image: &'a [u8],
    pub(crate) checked: &'a Checked,
}

impl Integrity<'_> {
    /// Checks sections that have not been checked yet.
    pub(super) fn touch(&self, kinds: &[SectionKind]) -> Result<(), VectorError> {
        for &kind in kinds {
            let checked = &self.checked.sections[kind as usize];
            if !checked.load(Ordering::Relaxed) {
                self.header.verify_section(self.image, kind)?;
                checked.store(true, Ordering::Relaxed);
                let section = self.image.get(self.header.range(kind));
                (self.checked.scattered)(section.unwrap_or_default());
            }
        }
        Ok(())
    }

    /// Checks what a walk of the graph reads.
    pub(crate) fn touch_graph(&self) -> Result<(), VectorError> {
        self.touch_of_graph(&[
            SectionKind::Links,
            SectionKind::UpperRows,
            SectionKind::UpperStarts,
            SectionKind::UpperLinks,
            SectionKind::Codes,
            SectionKind::Factors,
        ])
    }

    /// Checks sections that a column can do without.
    pub(super) fn touch_of_graph(&self, kinds: &[SectionKind]) -> Result<(), VectorError> {
        self.touch(kinds)
            .inspect_err(|error| self.lose_graph(error))
    }

    /// Remembers that the graph, or the lists, cannot be trusted.
    pub(crate) fn lose_graph(&self, error: &VectorError) {
        if let VectorError::Corrupt { what, offset_bytes } = *error {
            let _ = self.checked.graph_damage.set((what, offset_bytes));
        }
    }

    /// Checks what a scan of lists reads.
    pub(crate) fn touch_lists(&self) -> Result<(), VectorError> {
        self.touch_of_graph(&[
            SectionKind::ListHeads,
            SectionKind::ListCentres,
            SectionKind::ListRows,
            SectionKind::ListBlocks,
        ])
    }

    /// Checks what every search reads beside the vectors.
    pub(crate) fn touch_rows(&self) -> Result<(), VectorError> {
        self.touch(&[
            SectionKind::Docs,
            SectionKind::InverseNorms,
            SectionKind::VectorSums,
        ])
    }

    /// Checks all vectors.
    pub(crate) fn touch_vectors(&self) -> Result<(), VectorError> {
        self.touch_blocks(0, self.header.range(SectionKind::Vectors).len())
    }

    /// Checks the vector of one row.
    #[inline]
    pub(crate) fn touch_vector(&self, row: u32) -> Result<(), VectorError> {
        let options = &self.header.options;
        let bytes = options.element.row_bytes(options.dimension);
        let start = row as usize * bytes;
        self.touch_blocks(start, start + bytes)
    }

    /// Checks the blocks over a range of the vectors' bytes.
    #[inline]
    fn touch_blocks(&self, start: usize, end: usize) -> Result<(), VectorError> {
        for block in start / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES) {
            let Some(word) = self.checked.blocks.get(block / 64) else {
                break;
            };
            if word.load(Ordering::Relaxed) >> (block % 64) & 1 == 0 {
                self.check_block(block)?;
                word.fetch_or(1 << (block % 64), Ordering::Relaxed);
            }
        }
        Ok(())
    }

    #[cold]
    fn check_block(&self, block: usize) -> Result<(), VectorError> {
        if !self.header.has(SectionKind::VectorSums) {
            // Version 1 has one checksum over all vectors.
            return self.touch(&[SectionKind::Vectors]);
        }
        let vectors = self.header.range(SectionKind::Vectors);
        let start = vectors.start + block * BLOCK_BYTES;
        let end = vectors.end.min(start + BLOCK_BYTES);
        let sums = self.header.range(SectionKind::VectorSums);
        let sum = self
            .image
            .get(sums)
            .unwrap_or_default()
            .chunks_exact(4)
            .nth(block);
        let bytes = self.image.get(start..end);
        let actual = bytes.map(|bytes| sum_of(bytes, start as u64)).transpose()?;
        if actual
            .map(u32::to_le_bytes)
            .as_ref()
            .map(<[u8; 4]>::as_slice)
            == sum
        {
            return Ok(());
        }
        Err(VectorError::Corrupt {
            what: "block of vectors does not match its checksum",
            offset_bytes: start as u64,
        })
    }
}

/// The checksums of all blocks of some vectors.
pub(crate) fn vector_sums(vectors: &[u8]) -> Vec<u32> {
    vectors.chunks(BLOCK_BYTES).map(crc32c::crc32c).collect()
}
