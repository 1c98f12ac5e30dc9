//! Sparse vectors: few weights among very many dimensions, as learned sparse encoders and counts of
//! words give them. A search finds the greatest sums of products in an inverted index that lies in
//! mapped memory.
//!
//! A column belongs to one segment and is one image (`docs/formats/sparse.md`), written once. Weights
//! are never negative, so that what is known of a part bounds the whole. A vector that shares no
//! dimension with the query is no hit.

mod request;

mod builder;
mod format;
mod integrity;
mod postings;

mod found;
mod score;
mod search;
mod walk;

#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Deref;

use bytemuck::{Pod, Zeroable};
use clew_kernels::prefetch_span;

use crate::VectorError;
use crate::image::corrupt;
use crate::sparse::format::{Header, SectionKind};
use crate::sparse::integrity::{Checked, Image};
use crate::sparse::postings::Index;
use crate::sparse::search::search;

pub use builder::SparseColumnBuilder;
pub use format::is_sparse_image;
pub use request::{
    ScoreRange, SparseHit, SparseOutcome, SparseSearchRequest, SparseStrategy, validate_sparse,
};

/// Greatest weight of a vector or a query: no sum of products then leaves single precision.
pub const WEIGHT_MAX: f32 = 1e15;
/// Most weights of one vector.
pub const ROW_NONZEROS_MAX: usize = 1 << 20;
/// Most weights of a column.
pub const NONZEROS_MAX: usize = 1 << 29;

/// What an image's vectors take while it is made, each weight: as it was pushed, its key while they are sorted by
/// dimension, its row, and its posting.
const WEIGHT_BYTES: usize = size_of::<SparseEntry>() + size_of::<u64>() + size_of::<u32>() + 5;
/// The same of each vector: its document, where it ends (twice) and its length.
const ROW_BYTES: usize = 16;

/// About how many bytes of memory a column takes from its first vector until its image is written, if it is made by
/// [`SparseColumnBuilder::with_room`].
pub fn sparse_memory_needed(rows: usize, weights: usize) -> usize {
    let of_weights = weights.saturating_mul(WEIGHT_BYTES);
    of_weights.saturating_add(rows.saturating_mul(ROW_BYTES))
}

/// Longer vectors are read front to back well enough without asking for all of them.
const PREFETCH_ENTRIES_MAX: u32 = 256;

/// One weight of a sparse vector.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct SparseEntry {
    /// The dimension: any number, for example that of a word.
    pub dimension: u32,
    /// From 0 to [`WEIGHT_MAX`].
    pub weight: f32,
}

/// An opened image of sparse vectors over bytes `B`, usually a memory map.
///
/// The image has to start at an address that is a multiple of 4 bytes, so that its numbers can be
/// read in place; [`SparseColumn::open`] refuses any other. A multiple of 64 is best.
pub struct SparseColumn<B> {
    bytes: B,
    header: Header,
    checked: Checked,
}

impl<B> fmt::Debug for SparseColumn<B> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SparseColumn")
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

/// A column's sections as numbers; all but vectors and postings have been checked.
pub(crate) struct View<'a> {
    starts: &'a [u32],
    entries: &'a [SparseEntry],
    docs: Option<&'a [u32]>,
    index: Index<'a>,
    image: Image<'a>,
}

impl<'a> View<'a> {
    fn row_count(&self) -> usize {
        self.image.header.counts.rows
    }

    fn doc(&self, row: u32) -> u32 {
        let doc = self.docs.and_then(|docs| docs.get(row as usize).copied());
        doc.unwrap_or(row)
    }

    /// Asks for the vector of a row, which will be needed soon.
    #[inline]
    fn prefetch(&self, row: u32) {
        let row = row as usize;
        if let (Some(&start), Some(&end)) = (self.starts.get(row), self.starts.get(row + 1)) {
            let len = end.saturating_sub(start).min(PREFETCH_ENTRIES_MAX);
            prefetch_span(self.entries, start as usize, len as usize);
        }
    }

    /// The vector of a row, checked.
    #[inline]
    fn row(&self, row: u32) -> Result<&'a [SparseEntry], VectorError> {
        const ENTRY_BYTES: usize = size_of::<SparseEntry>();
        let row = row as usize;
        let bounds = (self.starts.get(row), self.starts.get(row + 1));
        let (Some(&start), Some(&end)) = bounds else {
            return Ok(&[]);
        };
        let (start, end) = (start as usize, end as usize);
        let Some(entries) = self.entries.get(start..end) else {
            let offset_bytes = self.image.header.offset_bytes(SectionKind::Starts);
            return Err(corrupt("a vector lies outside the image", offset_bytes));
        };
        let bytes = start * ENTRY_BYTES..end * ENTRY_BYTES;
        self.image.touch(SectionKind::Entries, bytes)?;
        Ok(entries)
    }
}

impl<B: Deref<Target = [u8]>> SparseColumn<B> {
    /// Opens an image. Reads and checks the header only, whatever the number of vectors; the rest is
    /// checked when it is first used, or by [`SparseColumn::verify`].
    ///
    /// # Errors
    /// When the header is damaged, or of a format that this build does not read.
    pub fn open(bytes: B) -> Result<Self, VectorError> {
        Self::open_mapped(bytes, |_| {})
    }

    /// Opens an image that is mapped from a file. `scattered` is told of the part that is read here and
    /// there only, the vectors, so that the system need not read ahead.
    pub fn open_mapped(bytes: B, scattered: fn(&[u8])) -> Result<Self, VectorError> {
        let header = Header::decode(&bytes)?;
        let entries = bytes.get(header.range(SectionKind::Entries));
        scattered(entries.unwrap_or_default());
        let checked = Checked::new(&header);
        let column = SparseColumn {
            bytes,
            header,
            checked,
        };
        column.image().numbers::<u32>(SectionKind::Starts)?;
        Ok(column)
    }

    fn image(&self) -> Image<'_> {
        Image {
            header: &self.header,
            bytes: &self.bytes,
            checked: &self.checked,
        }
    }

    /// Reads the whole image and compares every checksum, then checks the order of documents. Costs a pass over the image.
    ///
    /// # Errors
    /// What is damaged, the first of it.
    pub fn verify(&self) -> Result<(), VectorError> {
        self.header.verify(&self.bytes)?;
        match self.view()?.docs {
            Some(docs) if !docs.is_sorted_by(|a, b| a < b) => {
                let offset_bytes = self.header.offset_bytes(SectionKind::Docs);
                Err(corrupt("documents are out of order", offset_bytes))
            }
            _ => Ok(()),
        }
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.header.counts.rows
    }

    /// True when no document has a vector.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of weights over all vectors.
    pub fn weight_count(&self) -> usize {
        self.header.counts.entries
    }

    /// Size of the image.
    pub fn image_bytes(&self) -> u64 {
        self.header.image_bytes
    }

    /// Memory held beside the image.
    pub fn mem_bytes(&self) -> usize {
        self.checked.mem_bytes()
    }

    /// The vector of a document, to the bit as it was pushed; `None` when it has none. Fails when
    /// the image is damaged there.
    pub fn vector(&self, doc: u32) -> Result<Option<&[SparseEntry]>, VectorError> {
        let view = self.view()?;
        let row = match view.docs {
            Some(docs) => docs.binary_search(&doc).ok(),
            None => usize::try_from(doc).ok().filter(|&row| row < self.len()),
        };
        let row = row.and_then(|row| u32::try_from(row).ok());
        row.map(|row| view.row(row)).transpose()
    }

    /// The documents that have a vector, ascending. Fails when their numbers are damaged.
    pub fn docs(&self) -> Result<impl Iterator<Item = u32>, VectorError> {
        let view = self.view()?;
        let rows = u32::try_from(self.len()).unwrap_or(u32::MAX);
        Ok((0..rows).map(move |row| view.doc(row)))
    }

    /// Finds the vectors of the greatest score.
    ///
    /// Leaves off, with what it has found so far, when the request that it is part of is stopped
    /// (`clew-platform`). Fails when the request is out of bounds, or the image is damaged.
    pub fn search(&self, request: &SparseSearchRequest<'_>) -> Result<SparseOutcome, VectorError> {
        search(&self.view()?, request, None)
    }

    fn view(&self) -> Result<View<'_>, VectorError> {
        let image = self.image();
        image.touch_tables()?;
        let docs = image.numbers(SectionKind::Docs)?;
        let index = Index {
            terms: image.numbers(SectionKind::Terms)?,
            term_blocks: image.numbers(SectionKind::TermBlocks)?,
            counts: image.numbers(SectionKind::Counts)?,
            blocks: image.numbers(SectionKind::Blocks)?,
            postings: image.numbers(SectionKind::Postings)?,
            image,
        };
        Ok(View {
            starts: image.numbers(SectionKind::Starts)?,
            entries: image.numbers(SectionKind::Entries)?,
            docs: self.header.has(SectionKind::Docs).then_some(docs),
            index,
            image,
        })
    }
}
