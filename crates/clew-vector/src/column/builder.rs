//! Collects vectors in memory and writes them, with or without a graph, as one image.

use std::io::Write;
use std::ops::Deref;

use clew_kernels::kernels;

use crate::calibrate::{Point, calibrate};
use crate::codes::FACTORS;
use crate::column::View;
use crate::column::encode::{OwnedCodes, encode, is_coded};
use crate::column::format::{
    ALIGNMENT_BYTES, FRAME_HEAD_BYTES, HEADER_BYTES, Header, Section, SectionKind, VERSION,
};
use crate::column::integrity::{Checked, Integrity, vector_sums};
use crate::documents::rows_of;
use crate::element::OwnedValues;
use crate::graph::{
    BuildOptions, Exact, NONE, OwnedGraph, Reuse, Twins, base_slots, build, upper_slots,
};
use crate::options::{inverse_norm, norm_squared};
use crate::rows::{Geometry, Rows};
use crate::{Column, ColumnOptions, Space, VECTORS_MAX, VectorError};

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
    /// A graph if there is any vector: for tests and measurements, as small columns are better off
    /// without.
    Always,
}

/// How to write an image.
#[derive(Debug, Clone, Copy)]
pub struct ImageOptions {
    /// Whether it gets a graph.
    pub graph: GraphChoice,
    /// Seed of everything random about the graph and its codes.
    pub seed: u64,
    /// Threads that build the graph; 0 counts as 1. More than one do not give the same image twice.
    pub threads: usize,
}

/// A column in the making.
#[derive(Debug)]
pub struct ColumnBuilder {
    options: ColumnOptions,
    docs: Vec<u32>,
    values: OwnedValues,
    /// The vector pushed last, as it is stored.
    rounded: Vec<f32>,
    /// One over the length of each vector; only kept for [`Space::Cosine`].
    inverse_norms: Vec<f32>,
}

impl ColumnBuilder {
    /// An empty column; fails when an option is out of bounds.
    pub fn new(options: ColumnOptions) -> Result<Self, VectorError> {
        options.validate()?;
        Ok(ColumnBuilder {
            options,
            docs: Vec::new(),
            values: OwnedValues::new(options.element),
            rounded: Vec::new(),
            inverse_norms: Vec::new(),
        })
    }

    /// Adds a vector of a document. Documents come in ascending order, each once unless the column is
    /// [`ColumnOptions::multi`]; those without a vector are left out. A refused vector leaves the builder
    /// as it was.
    pub fn push(&mut self, doc: u32, vector: &[f32]) -> Result<(), VectorError> {
        norm_squared(vector, &self.options)?;
        let vector = self.options.element.round(vector, &mut self.rounded);
        let squared = norm_squared(vector, &self.options)?;
        if let Some(&previous) = self.docs.last()
            && (doc < previous || doc == previous && !self.options.multi)
        {
            return Err(VectorError::DocOrder { previous, doc });
        }
        if self.docs.len() == VECTORS_MAX {
            return Err(VectorError::TooManyVectors { max: VECTORS_MAX });
        }
        self.docs.push(doc);
        self.values.push(vector);
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
        let numbers = self.docs.capacity() + self.inverse_norms.capacity();
        self.values.capacity_bytes() + numbers * size_of::<u32>()
    }

    /// Writes the column as one image, and builds its graph first if it shall have one.
    ///
    /// A graph costs about 0.03 to 0.1 ms of one core per vector, and while it is built about twice
    /// the memory of the vectors. The same vectors and seed give the same image on one thread and the
    /// same kind of CPU.
    pub fn write(self, how: ImageOptions, out: &mut dyn Write) -> Result<(), VectorError> {
        self.write_built(how, None, out)
    }

    /// Writes the column as [`ColumnBuilder::write`] does, but starts from the graph of `base`, which
    /// holds many of the same vectors: only the others are inserted. `new_doc` says which document a
    /// document of `base` has become, if it still lives. A document of several vectors keeps them all in
    /// their order; one that comes with another number of them is inserted anew.
    ///
    /// Costs about a tenth of a build for each vector that is kept. Fails when `base` is damaged.
    pub fn write_from<B: Deref<Target = [u8]> + Clone + Send + Sync>(
        self,
        how: ImageOptions,
        (base, new_doc): (&Column<B>, &dyn Fn(u32) -> Option<u32>),
        out: &mut dyn Write,
    ) -> Result<(), VectorError> {
        let view = base.view()?;
        // A graph is as good for codes of any width: new ones are made in any case. And it knows rows
        // only, whosever they are.
        let base_options = ColumnOptions {
            code_bits: self.options.code_bits,
            multi: self.options.multi,
            ..*base.options()
        };
        let (Some(graph), true) = (view.graph, base_options == self.options) else {
            return self.write(how, out);
        };
        view.integrity.touch_rows()?;
        view.integrity.touch_graph()?;
        let mut new_rows = Vec::with_capacity(base.len());
        for (old, old_rows) in base.docs_with_counts() {
            let rows = new_doc(old).map_or(0..0, |doc| rows_of(&self.docs, doc));
            let moved = rows.len() == old_rows;
            let row = |at| u32::try_from(rows.start + at).ok().filter(|_| moved);
            new_rows.extend((0..old_rows).map(|at| row(at).unwrap_or(NONE)));
        }
        let reuse = Reuse { graph, new_rows };
        self.write_built(how, Some(reuse), out)
    }

    fn write_built(
        self,
        how: ImageOptions,
        reuse: Option<Reuse<'_>>,
        out: &mut dyn Write,
    ) -> Result<(), VectorError> {
        let built = match how.graph {
            GraphChoice::WhenWorthIt if self.values.bytes().len() > GRAPH_BYTES_MIN => {
                Some(self.build_graph(how, reuse))
            }
            GraphChoice::Always if !self.is_empty() => Some(self.build_graph(how, reuse)),
            GraphChoice::Never | GraphChoice::WhenWorthIt | GraphChoice::Always => None,
        };
        let learnt = match &built {
            Some(built) => self.calibrate(built, how.seed)?,
            None => Vec::new(),
        };
        let derived = Derived::of(self.values.bytes(), built.as_ref(), learnt);
        let sections = self.sections(built.as_ref(), &derived);
        let header = self.header(built.as_ref(), how.seed, &sections);
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

    fn rows(&self) -> Rows<'_> {
        let options = &self.options;
        Rows {
            values: self.values.view(),
            bytes: self.values.bytes(),
            pitch: options.element.row_bytes(options.dimension),
            numbers: options.element.numbers(options.dimension),
            geometry: Geometry::new(options.space, &self.inverse_norms),
            kernels: kernels(),
        }
    }

    fn build_graph(&self, how: ImageOptions, mut reuse: Option<Reuse<'_>>) -> Built {
        let hnsw = &self.options.hnsw;
        let rows = self.rows();
        let options = BuildOptions {
            base_slots: base_slots(hnsw.m),
            upper_slots: upper_slots(hnsw.m),
            ef: build_ef(hnsw.ef_construction),
            seed: how.seed,
            threads: how.threads.max(1),
        };
        let twins = Twins::find(&rows);
        for row in reuse.iter_mut().flat_map(|reuse| &mut reuse.new_rows) {
            // Twins hang from the first of them, wherever they hung before.
            if twins.contains(*row) {
                *row = NONE;
            }
        }
        let reuse = reuse.as_ref();
        if !is_coded(&self.options) {
            let graph = build(&Exact { rows }, &twins, reuse, &options);
            return Built { graph, codes: None };
        }
        let (codes, coded) = encode(
            &rows,
            (self.options.space, self.options.code_bits),
            (how.seed, options.threads),
        );
        let graph = build(&coded, &twins, reuse, &options);
        let codes = Some(codes);
        Built { graph, codes }
    }

    /// Searches the column before it is written.
    fn calibrate(&self, built: &Built, seed: u64) -> Result<Vec<Point>, VectorError> {
        let header = self.header(Some(built), seed, &[]);
        let checked = Checked::nothing();
        let view = View {
            space: self.options.space,
            rows: self.rows(),
            // Documents are not asked for: rows are.
            docs: None,
            documents: None,
            graph: Some(built.graph.view(self.len(), self.options.hnsw.m)),
            codes: built.codes.as_ref().map(OwnedCodes::view),
            calibration: None,
            integrity: Integrity {
                header: &header,
                image: &[],
                checked: &checked,
            },
        };
        calibrate(&view, &self.options)
    }

    /// Every section of the image, in the order of the file.
    fn sections<'a>(
        &'a self,
        built: Option<&'a Built>,
        derived: &'a Derived,
    ) -> Vec<(SectionKind, &'a [u8])> {
        use SectionKind as Kind;
        use bytemuck::cast_slice;
        let mut sections: Vec<(Kind, &[u8])> = Vec::new();
        if let Some(Built { graph, codes }) = built {
            sections.push((Kind::Links, cast_slice(&graph.links)));
            sections.push((Kind::UpperRows, cast_slice(&graph.upper_rows)));
            sections.push((Kind::UpperStarts, cast_slice(&graph.upper_starts)));
            sections.push((Kind::UpperLinks, cast_slice(&graph.upper_links)));
            if let Some(codes) = codes {
                sections.push((Kind::Codes, &codes.codes));
                sections.push((
                    Kind::Factors,
                    cast_slice::<[f32; FACTORS], u8>(&codes.factors),
                ));
                sections.push((Kind::Frame, &derived.frame));
            }
            sections.push((Kind::Calibration, cast_slice(&derived.learnt)));
        }
        if self.options.space == Space::Cosine {
            sections.push((Kind::InverseNorms, cast_slice(&self.inverse_norms)));
        }
        // Strictly ascending from 0 without a gap is the same as having the last in its own place.
        let last = self.docs.last();
        let gapless = last.is_none_or(|&doc| doc as usize + 1 == self.docs.len());
        if self.options.multi || !gapless {
            sections.push((Kind::Docs, cast_slice(&self.docs)));
        }
        sections.push((Kind::VectorSums, cast_slice(&derived.vector_sums)));
        sections.push((Kind::Vectors, self.values.bytes()));
        sections
    }

    fn header(
        &self,
        built: Option<&Built>,
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
        let graph = built.map(|built| &built.graph);
        let slots = upper_slots(self.options.hnsw.m);
        Header {
            version: VERSION,
            options: self.options,
            count: self.len(),
            seed,
            entry: graph.map(|graph| graph.entry),
            upper_count: graph.map_or(0, |graph| graph.upper_rows.len()),
            upper_lists: graph.map_or(0, |graph| graph.upper_links.len() / slots),
            image_bytes: end as u64,
            sections: table,
        }
    }
}

/// A graph, and the codes that its walks measure by unless the vectors are short.
struct Built {
    graph: OwnedGraph,
    codes: Option<OwnedCodes>,
}

/// Sections that follow from others.
struct Derived {
    frame: Vec<u8>,
    vector_sums: Vec<u32>,
    learnt: Vec<Point>,
}

impl Derived {
    fn of(vectors: &[u8], built: Option<&Built>, learnt: Vec<Point>) -> Self {
        let mut frame = Vec::new();
        if let Some(codes) = built.and_then(|built| built.codes.as_ref()) {
            frame.extend(codes.frame.seed.to_le_bytes());
            frame.extend(codes.error.to_le_bytes());
            frame.extend(u32::from(codes.bits.count()).to_le_bytes());
            // The centre starts where readers look for it.
            assert_eq!(frame.len(), FRAME_HEAD_BYTES);
            frame.extend_from_slice(bytemuck::cast_slice(&codes.frame.centre));
        }
        let vector_sums = vector_sums(vectors);
        Derived {
            frame,
            vector_sums,
            learnt,
        }
    }
}

/// Candidates that a build considers for the setting `ef_construction`. Lists of half as many links
/// again reach the quality that the setting promises with fewer: MiniLM at ef 64, recall .980 with 80
/// candidates, where hnswlib has .969 with 128.
fn build_ef(ef_construction: u16) -> usize {
    (usize::from(ef_construction) * 5).div_ceil(8)
}

/// Fills up with zeros to where the next section starts.
fn pad(out: &mut dyn Write, written: &mut usize) -> Result<(), VectorError> {
    let next = written.next_multiple_of(ALIGNMENT_BYTES);
    let zeros = [0; ALIGNMENT_BYTES];
    out.write_all(&zeros[..next - *written])?;
    *written = next;
    Ok(())
}
