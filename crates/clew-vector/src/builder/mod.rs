//! Collects vectors in memory and writes them, with or without a graph, as one image.

mod built;
mod encode;
mod structures;
mod unfinished;

pub use unfinished::{LeftOff, UnfinishedGraph};

use std::io::Write;
use std::ops::Deref;
use std::sync::Arc;

use clew_kernels::kernels;

use crate::builder::built::{Before, Built, Derived, Learnt, Structures};
use crate::codes::FACTORS;
use crate::column::{HEADER_BYTES, Header, SectionKind, VERSION};
use crate::documents::rows_of;
use crate::element::OwnedValues;
use crate::graph::{NONE, Reuse, upper_slots};
use crate::image::{laid_out, pad};
use crate::ivf::{ReuseLists, SharedCentres};
use crate::options::{inverse_norm, norm_squared, squared};
use crate::rows::{Geometry, Rows};
use crate::structure::gets_structure;
use crate::watch::{BuildPhase, BuildWatch};
use crate::{Column, ColumnOptions, GraphChoice, Space, VECTORS_MAX, VectorError};

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
    watch: BuildWatch,
    shared: Option<Arc<SharedCentres>>,
    left_off: Option<Arc<LeftOff>>,
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
            watch: BuildWatch::default(),
            shared: None,
            left_off: None,
        })
    }

    /// An empty column with room for so many vectors: it takes no more memory than
    /// [`crate::memory_needed`] says.
    pub fn with_room(options: ColumnOptions, rows: usize) -> Result<Self, VectorError> {
        let mut builder = ColumnBuilder::new(options)?;
        builder.docs.reserve_exact(rows);
        let numbers = options.element.numbers(options.dimension);
        builder.values.reserve_exact(rows * numbers);
        if options.space == Space::Cosine {
            builder.inverse_norms.reserve_exact(rows);
        }
        Ok(builder)
    }

    /// Lets someone watch, cancel and save the build.
    #[must_use]
    pub fn watched_by(mut self, watch: BuildWatch) -> Self {
        self.watch = watch;
        self
    }

    /// Forms lists around centres that other columns have, and leaves its own to those if there are none yet. Where a graph was
    /// asked for and may be replaced, lists are judged by what they cost as one of so many parts.
    #[must_use]
    pub fn sharing(mut self, centres: Arc<SharedCentres>) -> Self {
        self.shared = Some(centres);
        self
    }

    /// Leaves the graph here should the build be cancelled.
    #[must_use]
    pub fn leaving_off_at(mut self, place: Arc<LeftOff>) -> Self {
        self.left_off = Some(place);
        self
    }

    /// Adds a vector of a document. Documents come in ascending order, each once unless the column is
    /// [`ColumnOptions::multi`]; those without a vector are left out. A refused vector leaves the builder
    /// as it was.
    pub fn push(&mut self, doc: u32, vector: &[f32]) -> Result<(), VectorError> {
        norm_squared(vector, &self.options)?;
        let vector = self.options.element.round(vector, &mut self.rounded);
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
            let squared = squared(vector);
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
    /// same kind of CPU, unless lists are formed beside the graph and what they cost is measured, which takes 2 to 36 %
    /// longer: see [`ColumnOptions::exact_structure`].
    ///
    /// Lists cost about 0.01 ms of one core per vector where there are 150,000 of 384 dimensions, and
    /// more with the square root of their number. While they are built, they take a quarter of a byte
    /// per dimension beside the image.
    pub fn write(self, how: ImageOptions, out: &mut dyn Write) -> Result<(), VectorError> {
        self.write_built(how, None, out)
    }

    /// Writes the column as [`ColumnBuilder::write`] does, but starts from the graph or the lists of
    /// `base`, which holds many of the same vectors: only the others are inserted. `new_doc` says which
    /// document a document of `base` has become, if it still lives. A document of several vectors keeps
    /// them all in their order; one that comes with another number of them is inserted anew.
    ///
    /// Costs about a tenth of a build for each vector that is kept. Lists are formed anew when their
    /// number would now be another by a factor of two, or vectors lie a fifth farther from them, in
    /// squared distance; else vectors that are kept cost little more than a copy. A damaged graph, or
    /// damaged lists, are passed over.
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
        if base_options != self.options || view.graph.is_none() && view.lists.is_none() {
            return self.write(how, out);
        }
        view.integrity.touch_rows()?;
        let new_rows = self.new_rows((base.docs_with_counts(), base.len()), new_doc);
        // What is damaged is built anew.
        let structure = match (view.graph, view.lists) {
            (Some(graph), _) if view.integrity.touch_graph().is_ok() => {
                Some(Structures::Graph(Reuse { graph, new_rows }))
            }
            (None, Some(lists)) if view.integrity.touch_lists().is_ok() => {
                ReuseLists::new(lists, new_rows).ok().map(Structures::Lists)
            }
            _ => None,
        };
        let before = structure.map(|structure| Before {
            structure,
            choice: base.choice(),
            points: view.calibration.map_or(&[], |learnt| learnt.points),
        });
        self.write_built(how, before, out)
    }

    /// The same from a graph whose build was cut short; vectors that it had not come to are inserted.
    pub fn write_from_unfinished(
        self,
        how: ImageOptions,
        (base, new_doc): (&UnfinishedGraph, &dyn Fn(u32) -> Option<u32>),
        out: &mut dyn Write,
    ) -> Result<(), VectorError> {
        let base_options = ColumnOptions {
            code_bits: self.options.code_bits,
            multi: self.options.multi,
            ..base.options
        };
        if base_options != self.options {
            return self.write(how, out);
        }
        let (rows, runs) = (base.docs.len(), base.docs.chunk_by(|a, b| a == b));
        let runs = runs.map(|run| (run[0], run.len()));
        let new_rows = self.new_rows((runs, rows), new_doc);
        let graph = base.graph.view(rows, self.options.hnsw.m);
        let before = Before {
            structure: Structures::Graph(Reuse { graph, new_rows }),
            choice: None,
            points: &[],
        };
        self.write_built(how, Some(before), out)
    }

    /// What has become of the rows of another column, by its documents and how many rows each has.
    fn new_rows(
        &self,
        (before, rows): (impl Iterator<Item = (u32, usize)>, usize),
        new_doc: &dyn Fn(u32) -> Option<u32>,
    ) -> Vec<u32> {
        let mut new_rows = Vec::with_capacity(rows);
        for (old, old_rows) in before {
            let rows = new_doc(old).map_or(0..0, |doc| rows_of(&self.docs, doc));
            let moved = rows.len() == old_rows;
            let row = |at| u32::try_from(rows.start + at).ok().filter(|_| moved);
            new_rows.extend((0..old_rows).map(|at| row(at).unwrap_or(NONE)));
        }
        new_rows
    }

    fn write_built(
        self,
        how: ImageOptions,
        before: Option<Before<'_>>,
        out: &mut dyn Write,
    ) -> Result<(), VectorError> {
        let progress = self.watch.progress.clone();
        progress.check()?;
        let (built, learnt) =
            if gets_structure(&self.options, (self.len(), self.parts()), how.graph) {
                self.build(how, before)?
            } else {
                (None, Learnt::default())
            };
        let written = self.write_image(how.seed, (built.as_ref(), learnt), out);
        match (written, built) {
            (Err(error), Some(built)) => Err(self.cut_short(built, error)),
            (written, _) => written,
        }
    }

    fn write_image(
        &self,
        seed: u64,
        (built, learnt): (Option<&Built>, Learnt),
        out: &mut dyn Write,
    ) -> Result<(), VectorError> {
        let progress = &*self.watch.progress;
        progress.check()?;
        progress.begin(BuildPhase::Write, (0, 0));
        let derived = Derived::of(self.values.bytes(), built, learnt);
        let sections = self.sections(built, &derived);
        let header = self.header(built, seed, &sections);
        out.write_all(&header.encode())?;
        let mut written = HEADER_BYTES;
        for (place, (_, bytes)) in header.sections.iter().zip(&sections) {
            progress.check()?;
            pad(out, &mut written)?;
            // The table was computed beforehand, and has to say where the bytes really are.
            assert_eq!(place.offset_bytes, written as u64);
            out.write_all(bytes)?;
            written += bytes.len();
        }
        pad(out, &mut written)?;
        assert_eq!(header.image_bytes, written as u64);
        progress.begin(BuildPhase::Idle, (0, 0));
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
        let Learnt {
            points,
            probes,
            choice,
        } = &derived.learnt;
        let learnt: [(Kind, &[u8]); 3] = [
            (Kind::Calibration, cast_slice(points)),
            (Kind::Probes, cast_slice(probes)),
            (Kind::Choice, cast_slice(choice.as_slice())),
        ];
        let learnt = learnt.into_iter().filter(|(_, bytes)| !bytes.is_empty());
        sections.extend(learnt);
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
        let kinds = sections.iter().map(|(kind, bytes)| (*kind as u32, *bytes));
        let (sections, image_bytes) = laid_out(HEADER_BYTES, kinds);
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
            image_bytes,
            sections,
        }
    }
}
