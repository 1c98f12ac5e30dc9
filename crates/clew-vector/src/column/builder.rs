//! Collects vectors in memory and writes them, with or without a graph, as one image.

use std::io::Write;

use clew_kernels::kernels;

use crate::column::format::{ALIGNMENT_BYTES, HEADER_BYTES, Header, Section, SectionKind};
use crate::graph::{BuildOptions, OwnedGraph, build};
use crate::options::{inverse_norm, norm_squared};
use crate::rows::{Geometry, Rows};
use crate::{ColumnOptions, Space, VECTORS_MAX, VectorError};

/// A column gets a graph above this many bytes of vectors. A walk at ef 64 costs as much as scanning
/// about 2,900 rows (measured, see `plan.rs`), which are 1.4 MiB in 128 dimensions and 4.2 MiB in
/// 384; and building costs thousands of searches.
pub const GRAPH_BYTES_MIN: usize = 2 << 20;

/// Whether an image gets a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphChoice {
    /// No graph: every search of this column is a scan.
    Never,
    /// A graph if the vectors take more than [`GRAPH_BYTES_MIN`].
    WhenWorthIt,
}

/// A column in the making.
#[derive(Debug)]
pub struct ColumnBuilder {
    options: ColumnOptions,
    docs: Vec<u32>,
    values: Vec<f32>,
    /// One over the length of each vector; only kept for [`Space::Cosine`].
    inverse_norms: Vec<f32>,
}

impl ColumnBuilder {
    /// An empty column; fails when an option is out of bounds.
    pub fn new(options: ColumnOptions) -> Result<Self, VectorError> {
        options.validate()?;
        let (docs, values, inverse_norms) = (Vec::new(), Vec::new(), Vec::new());
        Ok(ColumnBuilder {
            options,
            docs,
            values,
            inverse_norms,
        })
    }

    /// Adds the vector of a document. Documents come in strictly ascending order; those without a
    /// vector are left out. A refused vector leaves the builder as it was.
    pub fn push(&mut self, doc: u32, vector: &[f32]) -> Result<(), VectorError> {
        let squared = norm_squared(vector, &self.options)?;
        if let Some(&previous) = self.docs.last()
            && doc <= previous
        {
            return Err(VectorError::DocOrder { previous, doc });
        }
        if self.docs.len() == VECTORS_MAX {
            return Err(VectorError::TooManyVectors { max: VECTORS_MAX });
        }
        self.docs.push(doc);
        self.values.extend_from_slice(vector);
        if self.options.space == Space::Cosine {
            self.inverse_norms.push(inverse_norm(squared));
        }
        Ok(())
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.docs.len()
    }

    /// True when no vector was pushed.
    pub fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// Memory held.
    pub fn mem_bytes(&self) -> usize {
        (self.docs.capacity() + self.values.capacity() + self.inverse_norms.capacity())
            * size_of::<u32>()
    }

    /// Writes the column as one image, and builds its graph first if it shall have one.
    ///
    /// A graph costs about 0.05 to 0.5 ms of one core per vector (20,000 × 128 to 150,000 × 384), and while it is built 8 × `m` bytes
    /// per vector. The same vectors and seed give the same image on the same kind of CPU.
    pub fn write(
        self,
        graph: GraphChoice,
        seed: u64,
        out: &mut dyn Write,
    ) -> Result<(), VectorError> {
        let graph = match graph {
            GraphChoice::WhenWorthIt if size_of_val(&*self.values) > GRAPH_BYTES_MIN => {
                Some(self.build_graph(seed))
            }
            GraphChoice::Never | GraphChoice::WhenWorthIt => None,
        };
        let sections = self.sections(graph.as_ref());
        let header = self.header(graph.as_ref(), seed, &sections);
        out.write_all(&header.encode())?;
        let mut written = HEADER_BYTES;
        for (place, (_, bytes)) in header.sections.iter().zip(&sections) {
            pad(out, &mut written)?;
            // The table was computed beforehand, and has to say where the bytes really are.
            assert_eq!(place.offset_bytes, written as u64);
            out.write_all(bytes)?;
            written += bytes.len();
        }
        pad(out, &mut written)?;
        assert_eq!(header.image_bytes, written as u64);
        Ok(())
    }

    fn build_graph(&self, seed: u64) -> OwnedGraph {
        let hnsw = &self.options.hnsw;
        let geometry = match self.options.space {
            Space::L2 => Geometry::Euclidean,
            Space::Cosine => Geometry::Angle {
                inverse_norms: &self.inverse_norms,
            },
            Space::InnerProduct => Geometry::Product,
        };
        let dimension = self.options.dimension;
        let rows = Rows {
            values: &self.values,
            dimension,
            geometry,
            kernels: kernels(),
        };
        let (m, ef_construction) = (hnsw.m.into(), hnsw.ef_construction.into());
        build(
            rows,
            &BuildOptions {
                m,
                ef_construction,
                seed,
            },
        )
    }

    /// Every section of the image, in the order of the file.
    fn sections<'a>(&'a self, graph: Option<&'a OwnedGraph>) -> Vec<(SectionKind, &'a [u8])> {
        let mut sections = Vec::new();
        if let Some(graph) = graph {
            sections.push((SectionKind::Links, bytemuck::cast_slice(&graph.links)));
            sections.push((
                SectionKind::UpperRows,
                bytemuck::cast_slice(&graph.upper_rows),
            ));
            sections.push((
                SectionKind::UpperStarts,
                bytemuck::cast_slice(&graph.upper_starts),
            ));
            sections.push((
                SectionKind::UpperLinks,
                bytemuck::cast_slice(&graph.upper_links),
            ));
        }
        if self.options.space == Space::Cosine {
            let bytes = bytemuck::cast_slice(&self.inverse_norms);
            sections.push((SectionKind::InverseNorms, bytes));
        }
        // Strictly ascending from 0 without a gap is the same as having the last in its own place.
        let gapless = self
            .docs
            .last()
            .is_none_or(|&doc| doc as usize + 1 == self.docs.len());
        if !gapless {
            sections.push((SectionKind::Docs, bytemuck::cast_slice(&self.docs)));
        }
        sections.push((SectionKind::Vectors, bytemuck::cast_slice(&self.values)));
        sections
    }

    fn header(
        &self,
        graph: Option<&OwnedGraph>,
        seed: u64,
        sections: &[(SectionKind, &[u8])],
    ) -> Header {
        let mut end = HEADER_BYTES;
        let mut table = Vec::with_capacity(sections.len());
        for (kind, bytes) in sections {
            table.push(Section {
                kind: *kind as u32,
                checksum: crc32c::crc32c(bytes),
                offset_bytes: end as u64,
                len_bytes: bytes.len() as u64,
            });
            end = (end + bytes.len()).next_multiple_of(ALIGNMENT_BYTES);
        }
        Header {
            options: self.options,
            count: self.len(),
            seed,
            entry: graph.map(|graph| graph.entry),
            upper_count: graph.map_or(0, |graph| graph.upper_rows.len()),
            upper_lists: graph.map_or(0, |graph| graph.upper_links.len() / graph.m),
            image_bytes: end as u64,
            sections: table,
        }
    }
}

/// Fills up with zeros to where the next section starts.
fn pad(out: &mut dyn Write, written: &mut usize) -> Result<(), VectorError> {
    let next = written.next_multiple_of(ALIGNMENT_BYTES);
    let zeros = [0; ALIGNMENT_BYTES];
    out.write_all(&zeros[..next - *written])?;
    *written = next;
    Ok(())
}
