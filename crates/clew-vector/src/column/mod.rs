//! A column: one immutable image of vectors, read where it lies.

mod documents;
mod format;
mod integrity;
mod lists;

pub(crate) use format::{FRAME_HEAD_BYTES, HEADER_BYTES, Header, SectionKind, VERSION};
pub(crate) use integrity::{Checked, Integrity, vector_sums};
pub(crate) use lists::ListBytes;

use std::fmt;
use std::num::NonZeroU64;
use std::ops::Deref;
use std::sync::OnceLock;

use bytemuck::{AnyBitPattern, NoUninit};
use clew_kernels::kernels;

use crate::calibrate::{Calibration, Choice};
use crate::codes::{Frame, RotatedCodes, pitch_bytes};
use crate::documents::Documents;
use crate::element::{Values, cast};
use crate::graph::{EntryPoint, Graph, base_slots, upper_slots};
use crate::ivf::{ListFrame, Lists};
use crate::options::NORM_SQUARED_MAX;
use crate::rows::{Geometry, Rows};
use crate::{ColumnOptions, Space, VectorError};

/// An opened column image over bytes `B`, usually a memory map.
///
/// The image has to start at an address that is a multiple of 4 bytes, so that its numbers can be
/// read in place; [`Column::open`] refuses any other. A multiple of 64 is best: all sections then
/// start on cache lines.
pub struct Column<B> {
    bytes: B,
    header: Header,
    checked: Checked,
    frame: Option<OpenedFrame>,
    list_frame: Option<ListFrame>,
    /// Number of documents where that is not the number of rows, once counted.
    counted: OnceLock<usize>,
}

/// Where the bytes of an image go. A walk reads `graph` and `codes` at random, and few of the `vectors`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnSizes {
    /// The vectors, and what is kept about each.
    pub vectors: usize,
    /// Which document each belongs to, unless that follows from its place.
    pub docs: usize,
    /// Links of the graph.
    pub graph: usize,
    /// Centres of inverted lists, and which rows each list has.
    pub lists: usize,
    /// Codes that searches measure by first.
    pub codes: usize,
}

/// What codes are measured from, and how far off they typically are.
struct OpenedFrame {
    frame: Frame,
    error: f32,
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
    /// The documents of a column where one may have several rows.
    pub(crate) documents: Option<Documents<'a>>,
    pub(crate) graph: Option<Graph<'a>>,
    /// Codes of all rows; a graph without them is walked by vectors.
    pub(crate) codes: Option<RotatedCodes<'a>>,
    /// What recall takes; of columns with a graph.
    pub(crate) calibration: Option<Calibration<'a>>,
    /// Why it has a graph or lists.
    pub(crate) choice: Option<Choice>,
    /// Inverted lists, where there is no graph.
    pub(crate) lists: Option<Lists<'a>>,
    pub(crate) integrity: Integrity<'a>,
}

impl View<'_> {
    #[inline]
    pub(crate) fn doc(&self, row: u32) -> u32 {
        self.docs
            .and_then(|docs| docs.get(row as usize).copied())
            .unwrap_or(row)
    }

    pub(crate) fn damaged_list(&self) -> VectorError {
        let what = "list points outside the column";
        let error = VectorError::Corrupt {
            what,
            offset_bytes: self.integrity.header.offset_bytes(SectionKind::ListHeads),
        };
        self.integrity.lose_graph(&error);
        error
    }

    pub(crate) fn damaged_graph(&self) -> VectorError {
        let what = "graph points outside the column";
        let error = VectorError::Corrupt {
            what,
            offset_bytes: self.integrity.header.offset_bytes(SectionKind::Links),
        };
        self.integrity.lose_graph(&error);
        error
    }
}

/// Whether this may be the mean of vectors, which is no longer than the longest of them.
fn is_a_mean(centre: &[f32]) -> bool {
    let squared: f64 = centre.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    squared <= NORM_SQUARED_MAX
}

impl<B: Deref<Target = [u8]> + Clone + Send + Sync> Column<B> {
    /// Opens an image. Reads and checks the header and the centre of the codes only, whatever the
    /// number of vectors; the rest is checked when it is first used, or by [`Column::verify`].
    ///
    /// # Errors
    /// When these are damaged, or of a format that this build does not read.
    pub fn open(bytes: B) -> Result<Self, VectorError> {
        Self::open_mapped(bytes, |_| {})
    }

    /// Opens an image that is mapped from a file. `scattered` is told of each part of the image from
    /// which on it is read here and there only, so that the system need not read ahead: of the vectors
    /// at once, of all else when it has been read through and checked.
    pub fn open_mapped(bytes: B, scattered: fn(&[u8])) -> Result<Self, VectorError> {
        let header = Header::decode(&bytes)?;
        scattered(
            bytes
                .get(header.range(SectionKind::Vectors))
                .unwrap_or_default(),
        );
        let checked = Checked::new(&header, scattered);
        let mut column = Column {
            bytes,
            header,
            checked,
            frame: None,
            list_frame: None,
            counted: OnceLock::new(),
        };
        let small = [
            SectionKind::Frame,
            SectionKind::Calibration,
            SectionKind::Probes,
            SectionKind::Choice,
        ];
        if column.integrity().touch_of_graph(&small).is_ok() && column.header.is_coded() {
            match column.open_frame() {
                Ok(frame) => column.frame = Some(frame),
                Err(error) => column.integrity().lose_graph(&error),
            }
        }
        if column.header.has_lists() {
            match column.open_list_frame() {
                Ok(frame) => column.list_frame = Some(frame),
                Err(error) => column.integrity().lose_graph(&error),
            }
        }
        column.view()?;
        Ok(column)
    }

    fn open_frame(&self) -> Result<OpenedFrame, VectorError> {
        let offset_bytes = self.header.offset_bytes(SectionKind::Frame);
        let corrupt = |what| VectorError::Corrupt { what, offset_bytes };
        let words: &[u32] = self.numbers(SectionKind::Frame)?;
        let (head, centre) = words
            .split_first_chunk::<{ FRAME_HEAD_BYTES / 4 }>()
            .ok_or(corrupt("frame of the codes is cut off"))?;
        let seed = u64::from(head[0]) | u64::from(head[1]) << 32;
        let error = f32::from_bits(head[2]);
        let centre: Vec<f32> = centre.iter().map(|&bits| f32::from_bits(bits)).collect();
        if !error.is_finite() || !is_a_mean(&centre) {
            return Err(corrupt("frame of the codes is out of bounds"));
        }
        let frame = Frame::new(centre, seed);
        Ok(OpenedFrame { frame, error })
    }

    fn integrity(&self) -> Integrity<'_> {
        Integrity {
            header: &self.header,
            image: &self.bytes,
            checked: &self.checked,
        }
    }

    /// Reads the whole image and compares every checksum, then checks the order of documents. Costs a pass over the image.
    ///
    /// # Errors
    /// What is damaged, the first of it.
    pub fn verify(&self) -> Result<(), VectorError> {
        self.header.verify(&self.bytes)?;
        let multi = self.header.options.multi;
        match self.view()?.docs {
            Some(docs) if !docs.is_sorted_by(|a, b| a < b || multi && a == b) => {
                Err(VectorError::Corrupt {
                    what: "documents are out of order",
                    offset_bytes: self.header.offset_bytes(SectionKind::Docs),
                })
            }
            _ => Ok(()),
        }
    }

    /// The settings that the column was built with. An image without codes does not keep their width
    /// and answers the default.
    pub fn options(&self) -> &ColumnOptions {
        &self.header.options
    }

    /// Whether it is as a column of these settings is. The width of codes is none of them where it has no codes.
    pub fn is_of(&self, options: &ColumnOptions) -> bool {
        let kept = ColumnOptions {
            code_bits: match self.header.is_coded() {
                true => self.header.options.code_bits,
                false => options.code_bits,
            },
            ..self.header.options
        };
        kept == *options
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.header.count
    }

    /// True when no document has a vector.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True when the image holds inverted lists, and nothing was found wrong with them.
    pub fn has_lists(&self) -> bool {
        self.header.has_lists() && self.graph_damage().is_none()
    }

    /// Names what its lists were formed around: columns where it is the same were formed around the same centres, see
    /// [`SharedCentres`](crate::SharedCentres). `None` without lists, and of older images.
    pub fn list_centres(&self) -> Option<NonZeroU64> {
        let frame = self.list_frame.as_ref().filter(|_| self.has_lists());
        frame?.identity
    }

    /// True when the image holds a graph, and nothing was found wrong with it.
    pub fn has_graph(&self) -> bool {
        self.header.entry.is_some() && self.graph_damage().is_none()
    }

    /// Why the column is searched through what it is; `None` where nothing was compared, because what was asked for was
    /// insisted on or is alone possible, or the vectors are too few.
    pub fn choice(&self) -> Option<Choice> {
        self.numbers(SectionKind::Choice).ok()?.first().copied()
    }

    /// What was found wrong with the graph, its codes or the lists. They are not used from then on: searches scan
    /// the vectors, and whoever writes the column anew builds a new graph.
    pub fn graph_damage(&self) -> Option<VectorError> {
        self.checked.graph_damage()
    }

    /// [`Column::graph_damage`], but only the first time it is asked after damage was found.
    pub fn take_graph_damage(&self) -> Option<VectorError> {
        self.checked.take_graph_damage()
    }

    /// Bytes of the image, by what they are for.
    pub fn sizes(&self) -> ColumnSizes {
        let total = |kinds: &[SectionKind]| {
            let bytes = kinds.iter().map(|kind| self.header.range(*kind).len());
            bytes.sum()
        };
        use SectionKind as Kind;
        ColumnSizes {
            vectors: total(&[Kind::Vectors, Kind::VectorSums, Kind::InverseNorms]),
            docs: total(&[Kind::Docs]),
            graph: total(&[
                Kind::Links,
                Kind::UpperRows,
                Kind::UpperStarts,
                Kind::UpperLinks,
            ]),
            lists: total(&[Kind::ListHeads, Kind::ListCentres, Kind::ListRows]),
            codes: total(&[
                Kind::Codes,
                Kind::Factors,
                Kind::Frame,
                Kind::Calibration,
                Kind::Probes,
                Kind::Choice,
                Kind::ListFrame,
                Kind::ListBook,
                Kind::ListBlocks,
            ]),
        }
    }

    fn docs_section(&self) -> Option<&[u32]> {
        self.header
            .has(SectionKind::Docs)
            .then(|| self.numbers(SectionKind::Docs).ok())
            .flatten()
    }

    pub(crate) fn view(&self) -> Result<View<'_>, VectorError> {
        let options = &self.header.options;
        let bytes = self.section(SectionKind::Vectors);
        let rows = Rows {
            values: Values::cast(options.element, bytes)?,
            bytes,
            pitch: options.element.row_bytes(options.dimension),
            numbers: options.element.numbers(options.dimension),
            geometry: Geometry::new(options.space, self.numbers(SectionKind::InverseNorms)?),
            kernels: kernels(),
        };
        let docs = if self.header.has(SectionKind::Docs) {
            Some(self.numbers(SectionKind::Docs)?)
        } else {
            None
        };
        let has_graph = self.has_graph();
        let documents = Documents {
            docs: docs.unwrap_or_default(),
            counted: &self.counted,
        };
        let graph = self
            .header
            .entry
            .filter(|_| has_graph)
            .map(|entry| self.graph(entry))
            .transpose()?;
        Ok(View {
            space: options.space,
            rows,
            docs,
            documents: options.multi.then_some(documents),
            graph,
            codes: self
                .frame
                .as_ref()
                .filter(|_| has_graph)
                .map(|frame| self.codes(frame))
                .transpose()?,
            calibration: match self.numbers(SectionKind::Calibration)? {
                [] => None,
                points => Some(Calibration {
                    points,
                    probes: self.numbers(SectionKind::Probes)?,
                }),
            },
            choice: self.choice(),
            lists: self
                .list_frame
                .as_ref()
                .filter(|_| self.has_lists())
                .map(|frame| self.lists(frame))
                .transpose()?,
            integrity: self.integrity(),
        })
    }

    fn codes<'a>(&'a self, opened: &'a OpenedFrame) -> Result<RotatedCodes<'a>, VectorError> {
        Ok(RotatedCodes {
            frame: &opened.frame,
            codes: self.numbers(SectionKind::Codes)?,
            factors: self.numbers(SectionKind::Factors)?,
            pitch: pitch_bytes(self.header.options.dimension, self.header.options.code_bits),
            bits: self.header.options.code_bits,
            error: opened.error,
        })
    }

    fn graph(&self, entry: EntryPoint) -> Result<Graph<'_>, VectorError> {
        let m = self.header.options.hnsw.m;
        Ok(Graph {
            row_count: self.header.count,
            base_slots: base_slots(m),
            links: self.numbers(SectionKind::Links)?,
            upper_rows: self.numbers(SectionKind::UpperRows)?,
            upper_starts: self.numbers(SectionKind::UpperStarts)?,
            upper_links: self.numbers(SectionKind::UpperLinks)?,
            upper_slots: upper_slots(m),
            entry,
        })
    }

    /// A section; empty when the image does not have it.
    fn section(&self, kind: SectionKind) -> &[u8] {
        self.bytes.get(self.header.range(kind)).unwrap_or_default()
    }

    /// A section as numbers, in place; empty when the image does not have it.
    fn numbers<T: AnyBitPattern + NoUninit>(&self, kind: SectionKind) -> Result<&[T], VectorError> {
        cast(self.section(kind))
    }
}
