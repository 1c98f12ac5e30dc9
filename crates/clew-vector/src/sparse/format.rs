//! The header of an image of sparse vectors: what is in the image and where.
//! `docs/formats/sparse.md` is the specification; numbers are little-endian.
#![deny(clippy::indexing_slicing)]

use crate::image::{
    ALIGNMENT_BYTES, SLOT_BYTES, Section, TABLE_OFFSET, complete, corrupt, opened,
    sections_of_header,
};
use crate::sparse::integrity::SUM_BYTES;
use crate::sparse::postings::Block;
use crate::sparse::{NONZEROS_MAX, SparseEntry};
use crate::{VECTORS_MAX, VectorError};

/// Whether an image is one of sparse vectors, by how it begins.
pub fn is_sparse_image(image: &[u8]) -> bool {
    image.starts_with(&MAGIC.to_le_bytes())
}

pub(super) const HEADER_BYTES: usize = 384;
pub(super) const VERSION: u32 = 1;

const MAGIC: u64 = u64::from_le_bytes(*b"clewspar");
const SLOTS: usize = 12;

const _: () = assert!(TABLE_OFFSET + SLOTS * SLOT_BYTES <= HEADER_BYTES);
const _: () = assert!(HEADER_BYTES.is_multiple_of(ALIGNMENT_BYTES));

/// What a section holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionKind {
    Starts = 1,
    Entries = 2,
    Docs = 3,
    Lengths = 4,
    Terms = 5,
    TermBlocks = 6,
    Counts = 7,
    Blocks = 8,
    Postings = 9,
    Sums = 10,
}

impl SectionKind {
    pub(super) const ALL: [SectionKind; 10] = [
        SectionKind::Starts,
        SectionKind::Entries,
        SectionKind::Docs,
        SectionKind::Lengths,
        SectionKind::Terms,
        SectionKind::TermBlocks,
        SectionKind::Counts,
        SectionKind::Blocks,
        SectionKind::Postings,
        SectionKind::Sums,
    ];
}

/// How many of everything an image holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) rows: usize,
    /// Pairs of dimension and weight, over all rows.
    pub(super) entries: usize,
    /// Distinct dimensions that have postings.
    pub(super) terms: usize,
    pub(super) blocks: usize,
    pub(super) postings_bytes: u64,
}

/// The decoded header of an image: all of it checked, none of the sections read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) counts: Counts,
    pub(super) image_bytes: u64,
    pub(super) sections: Vec<Section>,
}

impl Header {
    pub(super) fn encode(&self) -> Vec<u8> {
        let counts = &self.counts;
        let mut out = Vec::with_capacity(HEADER_BYTES);
        out.extend(MAGIC.to_le_bytes());
        out.extend(VERSION.to_le_bytes());
        out.extend([0; 4]);
        for count in [counts.rows, counts.entries, counts.terms, counts.blocks] {
            let count = u32::try_from(count).expect("rows and entries are limited, the rest less");
            out.extend(count.to_le_bytes());
        }
        out.extend(self.image_bytes.to_le_bytes());
        out.extend(counts.postings_bytes.to_le_bytes());
        let slots = u16::try_from(self.sections.len()).expect("fewer kinds than slots");
        out.extend(slots.to_le_bytes());
        // Fewer kinds than slots exist, so the table always fits.
        complete(&mut out, &self.sections, HEADER_BYTES);
        out
    }

    pub(super) fn decode(image: &[u8]) -> Result<Self, VectorError> {
        let kind = (MAGIC, "not a column of sparse vectors");
        let (mut fields, _) = opened(image, HEADER_BYTES, kind, VERSION..=VERSION)?;
        let [rows, entries, terms, blocks] = std::array::from_fn(|_| fields.u32() as usize);
        let image_bytes = fields.u64();
        let postings_bytes = fields.u64();
        let slots = usize::from(fields.u16());
        if slots > SLOTS {
            return Err(corrupt("too many sections", 48));
        }
        fields.at = TABLE_OFFSET;
        let header = Header {
            counts: Counts {
                rows,
                entries,
                terms,
                blocks,
                postings_bytes,
            },
            image_bytes,
            sections: fields.sections(slots),
        };
        header.check(image.len() as u64)?;
        Ok(header)
    }

    /// Checks everything the header claims against the size of the image and against itself.
    fn check(&self, len_bytes: u64) -> Result<(), VectorError> {
        if self.counts.rows > VECTORS_MAX {
            return Err(corrupt("too many vectors", 16));
        }
        if self.counts.entries > NONZEROS_MAX {
            return Err(corrupt("too many weights", 20));
        }
        self.check_sections(len_bytes, SectionKind::ALL, |kind, len_bytes| {
            len_bytes == self.expected_bytes(kind) || kind == SectionKind::Docs && len_bytes == 0
        })
    }

    /// Size of a section, were it there. Cannot overflow: every factor has 32 bits.
    fn expected_bytes(&self, kind: SectionKind) -> u64 {
        let counts = &self.counts;
        let (rows, terms) = (counts.rows as u64, counts.terms as u64);
        let entries = counts.entries as u64 * size_of::<SparseEntry>() as u64;
        let sums = |bytes: u64| bytes.div_ceil(SUM_BYTES as u64);
        match kind {
            SectionKind::Starts => 4 * (rows + 1),
            SectionKind::Entries => entries,
            SectionKind::Docs | SectionKind::Lengths => 4 * rows,
            SectionKind::Terms | SectionKind::Counts => 4 * terms,
            SectionKind::TermBlocks => 4 * (terms + 1),
            SectionKind::Blocks => (counts.blocks as u64 + 1) * size_of::<Block>() as u64,
            SectionKind::Postings => counts.postings_bytes,
            SectionKind::Sums => (sums(entries) + sums(counts.postings_bytes)).saturating_mul(4),
        }
    }
}

sections_of_header!(Header, SectionKind);
