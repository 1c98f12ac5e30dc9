//! Collects vectors in memory and writes them, with or without a graph, as one image.

use std::io::Write;
use std::ops::Deref;

use clew_kernels::kernels;

use crate::codes::FACTORS;
use crate::column::built::{Before, Built, Derived};
use crate::column::encode::{encode, is_coded};
use crate::column::format::{ALIGNMENT_BYTES, HEADER_BYTES, Header, Section, SectionKind, VERSION};
use crate::element::OwnedValues;
use crate::graph::{BuildOptions, Exact, NONE, Reuse, Twins, base_slots, build, upper_slots};
use crate::ivf::{BuildLists, DamagedList, ReuseLists, build_lists};
use crate::options::{inverse_norm, norm_squared};
use crate::rows::{Geometry, Rows};
use crate::{Column, ColumnOptions, Method, Space, VECTORS_MAX, VectorError};

/// A column gets a graph above this many bytes of vectors. A walk at ef 64 costs as much as scanning
/// about 2,900 rows (measured, see `plan.rs`), which are 1.4 MiB in 128 dimensions and 4.2 MiB in
/// 384; and building costs thousands of searches.
pub const GRAPH_BYTES_MIN: usize = 2 << 20;

/// Whether an image gets what its [`Method`] searches through: a graph, or inverted lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphChoice {
    /// Neither: every search of this column is a scan.
    Never,
    /// It does if the vectors take more than [`GRAPH_BYTES_MIN`].
    WhenWorthIt,
    /// It does if there is any vector: for tests and measurements, as small columns are better off
    /// without.
    Always,
}

/// How to write an image.
#[derive(Debug, Clone, Copy)]
pub struct ImageOptions {
    /// Whether it gets a graph, or lists.
    pub graph: GraphChoice,
    /// Seed of everything random about the graph, the lists and their codes.
    pub seed: u64,
    /// Threads that build; 0 counts as 1. More than one do not give the same graph twice, but the
    /// same lists.
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

    /// Adds the vector of a document. Documents come in strictly ascending order; those without a
    /// vector are left out. A refused vector leaves the builder as it was.
    pub fn push(&mut self, doc: u32, vector: &[f32]) -> Result<(), VectorError> {
        norm_squared(vector, &self.options)?;
        let vector = self.options.element.round(vector, &mut self.rounded);
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
    ///
    /// Lists cost about 0.01 ms of one core per vector where there are 150,000 of 384 dimensions, and
    /// more with the square root of their number. While they are built, they take a quarter of a byte
    /// per dimension beside the image.
    pub fn write(self, how: ImageOptions, out: &mut dyn Write) -> Result<(), VectorError> {
        self.write_built(how, None, out)
    }

    /// Writes the column as [`ColumnBuilder::write`] does, but starts from the graph or the lists of
    /// `base`, which holds many of the same vectors: only the others are inserted. `new_doc` says which
    /// document a document of `base` has become, if it still lives.
    ///
    /// Costs about a tenth of a build for each vector that is kept. Lists are formed anew when their
    /// number would now be another by a factor of two, or vectors lie a fifth farther from them, in
    /// squared distance; else vectors that are kept cost little more than a copy. Fails when `base` is
    /// damaged.
    pub fn write_from<B: Deref<Target = [u8]> + Clone + Send + Sync>(
        self,
        how: ImageOptions,
        (base, new_doc): (&Column<B>, &dyn Fn(u32) -> Option<u32>),
        out: &mut dyn Write,
    ) -> Result<(), VectorError> {
        let view = base.view()?;
        // A graph is as good for codes of any width: new ones are made in any case.
        let base_options = ColumnOptions {
            code_bits: self.options.code_bits,
            ..*base.options()
        };
        if base_options != self.options || view.graph.is_none() && view.lists.is_none() {
            return self.write(how, out);
        }
        view.integrity.touch_rows()?;
        let new_row = |old: u32| {
            let row = self.docs.binary_search(&new_doc(old)?).ok()?;
            u32::try_from(row).ok()
        };
        let new_rows = base
            .docs()
            .map(|old| new_row(old).unwrap_or(NONE))
            .collect();
        let reuse = match (view.graph, view.lists) {
            (Some(graph), _) => {
                view.integrity.touch_graph()?;
                Some(Before::Graph(Reuse { graph, new_rows }))
            }
            (None, Some(lists)) => {
                view.integrity.touch_lists()?;
                let lists = ReuseLists::new(lists, new_rows);
                let lists = lists.map_err(|DamagedList| view.damaged_list())?;
                Some(Before::Lists(lists))
            }
            (None, None) => None,
        };
        self.write_built(how, reuse, out)
    }

    fn write_built(
        self,
        how: ImageOptions,
        reuse: Option<Before<'_>>,
        out: &mut dyn Write,
    ) -> Result<(), VectorError> {
        let built = match how.graph {
            GraphChoice::WhenWorthIt if self.values.bytes().len() > GRAPH_BYTES_MIN => {
                self.build(how, reuse)
            }
            GraphChoice::Always if !self.is_empty() => self.build(how, reuse),
            GraphChoice::Never | GraphChoice::WhenWorthIt | GraphChoice::Always => None,
        };
        let derived = Derived::of(self.values.bytes(), built.as_ref());
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

    /// Builds what the column shall be searched through.
    fn build(&self, how: ImageOptions, before: Option<Before<'_>>) -> Option<Built> {
        let options = match self.options.method {
            Method::Lists(options) => options,
            Method::Graph => {
                let reuse = match before {
                    Some(Before::Graph(reuse)) => Some(reuse),
                    Some(Before::Lists(_)) | None => None,
                };
                return Some(self.build_graph(how, reuse));
            }
        };
        let how = BuildLists {
            space: self.options.space,
            options,
            seed: how.seed,
            threads: how.threads.max(1),
        };
        let reuse = match &before {
            Some(Before::Lists(reuse)) => Some(reuse),
            Some(Before::Graph(_)) | None => None,
        };
        build_lists(&self.rows(), &how, reuse).map(Built::Lists)
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
            return Built::Graph { graph, codes: None };
        }
        let (codes, coded) = encode(
            &rows,
            (self.options.space, self.options.code_bits),
            (how.seed, options.threads),
        );
        let graph = build(&coded, &twins, reuse, &options);
        let codes = Some(codes);
        Built::Graph { graph, codes }
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
        if let Some(Built::Lists(lists)) = built {
            derived.lists.sections(lists, &mut sections);
        }
        if let Some(Built::Graph { graph, codes }) = built {
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
        }
        if self.options.space == Space::Cosine {
            sections.push((Kind::InverseNorms, cast_slice(&self.inverse_norms)));
        }
        // Strictly ascending from 0 without a gap is the same as having the last in its own place.
        let last = self.docs.last();
        let gapless = last.is_none_or(|&doc| doc as usize + 1 == self.docs.len());
        if !gapless {
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
        let graph = built.and_then(Built::graph);
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
