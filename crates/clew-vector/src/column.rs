//! A column: one immutable image of vectors, read where it lies.

mod builder;
mod format;

pub use builder::{ColumnBuilder, GRAPH_BYTES_MIN, GraphChoice};

use std::fmt;
use std::ops::Deref;

use bytemuck::Pod;
use clew_kernels::kernels;

use crate::column::format::{Header, SectionKind};
use crate::graph::{Entry, Graph};
use crate::rows::{Geometry, Rows};
use crate::search::search;
use crate::{ColumnOptions, Scratch, SearchOutcome, SearchRequest, Space, VectorError};

/// An opened column image over bytes `B`, usually a memory map.
///
/// The image has to start at an address that is a multiple of 4 bytes, so that its numbers can be
/// read in place; [`Column::open`] refuses any other. A multiple of 64 is best: all sections then
/// start on cache lines.
pub struct Column<B> {
    bytes: B,
    header: Header,
}

impl<B> fmt::Debug for Column<B> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Column")
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

/// A column's sections as numbers.
pub(crate) struct View<'a> {
    pub(crate) space: Space,
    pub(crate) rows: Rows<'a>,
    pub(crate) docs: Option<&'a [u32]>,
    pub(crate) graph: Option<Graph<'a>>,
    graph_offset_bytes: u64,
}

impl View<'_> {
    #[inline]
    pub(crate) fn doc(&self, row: u32) -> u32 {
        self.docs
            .and_then(|docs| docs.get(row as usize).copied())
            .unwrap_or(row)
    }

    pub(crate) fn damaged_graph(&self) -> VectorError {
        let what = "graph points outside the column";
        VectorError::Corrupt {
            what,
            offset_bytes: self.graph_offset_bytes,
        }
    }
}

impl<B: Deref<Target = [u8]> + Clone + Send + Sync> Column<B> {
    /// Opens an image. Reads and checks the header only, whatever the number of vectors;
    /// [`Column::verify`] checks the rest.
    pub fn open(bytes: B) -> Result<Self, VectorError> {
        let header = Header::decode(&bytes)?;
        let column = Column { bytes, header };
        column.view()?;
        Ok(column)
    }

    /// Reads the whole image and compares every checksum, then checks the order of documents.
    pub fn verify(&self) -> Result<(), VectorError> {
        self.header.verify(&self.bytes)?;
        match self.view()?.docs {
            Some(docs) if !docs.is_sorted_by(|a, b| a < b) => Err(VectorError::Corrupt {
                what: "documents are out of order",
                offset_bytes: self.header.offset_bytes(SectionKind::Docs),
            }),
            _ => Ok(()),
        }
    }

    /// The settings that the column was built with.
    pub fn options(&self) -> &ColumnOptions {
        &self.header.options
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.header.count
    }

    /// True when no document has a vector.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True when the image holds a graph.
    pub fn has_graph(&self) -> bool {
        self.header.entry.is_some()
    }

    /// The vector of a document, to the bit as it was pushed; `None` when it has none.
    pub fn vector(&self, doc: u32) -> Option<&[f32]> {
        let row = match self.docs_section() {
            Some(docs) => docs.binary_search(&doc).ok()?,
            None => usize::try_from(doc).ok()?,
        };
        let dimension = self.header.options.dimension;
        let values: &[f32] = self.numbers(SectionKind::Vectors).ok()?;
        values.get(row.checked_mul(dimension)?..)?.get(..dimension)
    }

    /// The documents that have a vector, ascending.
    pub fn docs(&self) -> impl Iterator<Item = u32> {
        let docs = self.docs_section();
        let count = u32::try_from(self.len()).expect("the header limits the number of vectors");
        (0..count).map(move |row| docs.map_or(row, |docs| docs[row as usize]))
    }

    /// Finds the nearest vectors.
    ///
    /// Fails when the query does not fit the column, or when a walk finds the graph damaged.
    pub fn search(
        &self,
        request: &SearchRequest<'_>,
        scratch: &mut Scratch,
    ) -> Result<SearchOutcome, VectorError> {
        search(&self.view()?, &self.header.options, request, scratch)
    }

    fn docs_section(&self) -> Option<&[u32]> {
        self.header
            .has(SectionKind::Docs)
            .then(|| self.numbers(SectionKind::Docs).ok())
            .flatten()
    }

    pub(crate) fn view(&self) -> Result<View<'_>, VectorError> {
        let options = &self.header.options;
        let geometry = match options.space {
            Space::L2 => Geometry::Euclidean,
            Space::InnerProduct => Geometry::Product,
            Space::Cosine => Geometry::Angle {
                inverse_norms: self.numbers(SectionKind::InverseNorms)?,
            },
        };
        let rows = Rows {
            values: self.numbers(SectionKind::Vectors)?,
            dimension: options.dimension,
            geometry,
            kernels: kernels(),
        };
        let docs = if self.header.has(SectionKind::Docs) {
            Some(self.numbers(SectionKind::Docs)?)
        } else {
            None
        };
        let graph = self
            .header
            .entry
            .map(|entry| self.graph(entry))
            .transpose()?;
        let graph_offset_bytes = self.header.offset_bytes(SectionKind::Links);
        Ok(View {
            space: options.space,
            rows,
            docs,
            graph,
            graph_offset_bytes,
        })
    }

    fn graph(&self, entry: Entry) -> Result<Graph<'_>, VectorError> {
        let m = usize::from(self.header.options.hnsw.m);
        Ok(Graph {
            row_count: self.header.count,
            m,
            stride: 2 * m,
            links: self.numbers(SectionKind::Links)?,
            upper_rows: self.numbers(SectionKind::UpperRows)?,
            upper_starts: self.numbers(SectionKind::UpperStarts)?,
            upper_links: self.numbers(SectionKind::UpperLinks)?,
            entry,
        })
    }

    /// A section as numbers, in place; empty when the image does not have it.
    fn numbers<T: Pod>(&self, kind: SectionKind) -> Result<&[T], VectorError> {
        let range = self.header.range(kind);
        bytemuck::try_cast_slice(self.bytes.get(range).unwrap_or_default()).map_err(|_| {
            VectorError::Misaligned {
                multiple_bytes: align_of::<T>(),
            }
        })
    }
}
