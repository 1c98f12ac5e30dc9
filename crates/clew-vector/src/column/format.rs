//! The header of a column image: what is in the image and where. `docs/formats/vectors.md` is the
//! specification; numbers are little-endian.
#![deny(clippy::indexing_slicing)]

use std::ops::Range;

use crate::calibrate::{POINTS_MAX, Point};
use crate::codes::{FACTORS, pitch_bytes};
use crate::column::encode::is_coded;
use crate::column::integrity::BLOCK_BYTES;
use crate::graph::{Entry, NONE, base_slots, upper_slots};
use crate::{
    CodeBits, ColumnOptions, Element, HnswOptions, IvfOptions, ListCodes, Method, Space,
    VECTORS_MAX, VectorError,
};

/// Sections start on cache lines.
pub(super) const ALIGNMENT_BYTES: usize = 64;
pub(super) const HEADER_BYTES: usize = 448;
/// Seed, typical error and width of the codes, before the centre.
pub(super) const FRAME_HEAD_BYTES: usize = 16;
const CODE_BITS_OFFSET: usize = 12;

const POINT_BYTES: u64 = size_of::<Point>() as u64;

const MAGIC: u64 = u64::from_le_bytes(*b"clewvect");
pub(super) const VERSION: u32 = 2;
/// The oldest version that is read; its graphs are passed over, its vectors are not.
const VERSION_MIN: u32 = 1;
/// In the place of the number of rows on upper levels, of which a column of lists has none.
const LISTS_OF_BITS: usize = 1;
const LISTS_OF_PRODUCTS: usize = 2;
const CHECKSUM_OFFSET: usize = 12;
const TABLE_OFFSET: usize = 64;
const SLOT_BYTES: usize = 24;
const SLOTS: usize = 16;
/// A section of a kind with this bit may not be skipped by a reader that does not know it.
const REQUIRED_BIT: u32 = 1 << 31;
/// Flag of a column whose documents may have several vectors each. The byte of the flags was the upper
/// half of the number of slots, always zero, so that readers from before refuse such a column.
const MULTI_FLAG: u8 = 1;

const _: () = assert!(TABLE_OFFSET + SLOTS * SLOT_BYTES == HEADER_BYTES);
const _: () = assert!(HEADER_BYTES.is_multiple_of(ALIGNMENT_BYTES));

/// What a section holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionKind {
    Vectors = 1,
    Docs = 2,
    InverseNorms = 3,
    Links = 4,
    UpperRows = 5,
    UpperStarts = 6,
    UpperLinks = 7,
    Codes = 8,
    Factors = 9,
    Frame = 10,
    VectorSums = 11,
    ListFrame = 12,
    ListBook = 13,
    ListHeads = 14,
    ListCentres = 15,
    ListRows = 16,
    ListBlocks = 17,
    Calibration = 18,
}

impl SectionKind {
    pub(super) const ALL: [SectionKind; 18] = [
        SectionKind::Vectors,
        SectionKind::Docs,
        SectionKind::InverseNorms,
        SectionKind::Links,
        SectionKind::UpperRows,
        SectionKind::UpperStarts,
        SectionKind::UpperLinks,
        SectionKind::Codes,
        SectionKind::Factors,
        SectionKind::Frame,
        SectionKind::VectorSums,
        SectionKind::ListFrame,
        SectionKind::ListBook,
        SectionKind::ListHeads,
        SectionKind::ListCentres,
        SectionKind::ListRows,
        SectionKind::ListBlocks,
        SectionKind::Calibration,
    ];

    /// True for what version 1 had and this one still reads.
    fn is_of_version_1(self) -> bool {
        matches!(
            self,
            SectionKind::Vectors | SectionKind::Docs | SectionKind::InverseNorms
        )
    }
}

/// One line of the section table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) kind: u32,
    pub(super) checksum: u32,
    pub(super) offset_bytes: u64,
    pub(super) len_bytes: u64,
}

/// The decoded header of an image: all of it checked, none of the sections read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) version: u32,
    pub(super) options: ColumnOptions,
    pub(super) count: usize,
    pub(super) seed: u64,
    /// Where walks start; `None` when there is no graph.
    pub(super) entry: Option<Entry>,
    pub(super) upper_count: usize,
    pub(super) upper_lists: usize,
    pub(super) image_bytes: u64,
    pub(super) sections: Vec<Section>,
}

impl Header {
    pub(super) fn encode(&self) -> Vec<u8> {
        let options = &self.options;
        let entry = self.entry.unwrap_or(Entry {
            row: NONE,
            upper: NONE,
        });
        let mut out = Vec::with_capacity(HEADER_BYTES);
        out.extend(MAGIC.to_le_bytes());
        out.extend(self.version.to_le_bytes());
        out.extend([0; 4]);
        out.extend(word(options.dimension));
        out.extend(word(self.count));
        out.extend([code_of(&Space::ALL, options.space)]);
        out.extend([code_of(&Element::ALL, options.element)]);
        out.extend(options.hnsw.m.to_le_bytes());
        out.extend(options.hnsw.ef_construction.to_le_bytes());
        let slots = u8::try_from(self.sections.len()).expect("fewer kinds than slots");
        out.extend([slots, u8::from(options.multi) * MULTI_FLAG]);
        out.extend(self.image_bytes.to_le_bytes());
        out.extend(self.seed.to_le_bytes());
        out.extend(entry.row.to_le_bytes());
        out.extend(entry.upper.to_le_bytes());
        let (upper_count, upper_lists) = match options.method {
            Method::Graph => (self.upper_count, self.upper_lists),
            // A column of lists has no graph.
            Method::Lists(lists) => {
                let codes = match lists.codes {
                    ListCodes::Bits => LISTS_OF_BITS,
                    ListCodes::Product => LISTS_OF_PRODUCTS,
                };
                (codes, lists.lists as usize)
            }
        };
        out.extend(word(upper_count));
        out.extend(word(upper_lists));
        for section in &self.sections {
            out.extend(section.kind.to_le_bytes());
            out.extend(section.checksum.to_le_bytes());
            out.extend(section.offset_bytes.to_le_bytes());
            out.extend(section.len_bytes.to_le_bytes());
        }
        // A graph takes seven sections and lists take six; no image has both, so the table fits.
        assert!(out.len() <= HEADER_BYTES);
        out.resize(HEADER_BYTES, 0);
        let checksum = header_checksum(&out);
        for (slot, byte) in out
            .iter_mut()
            .skip(CHECKSUM_OFFSET)
            .zip(checksum.to_le_bytes())
        {
            *slot = byte;
        }
        out
    }

    pub(super) fn decode(image: &[u8]) -> Result<Self, VectorError> {
        let head = image
            .get(..HEADER_BYTES)
            .ok_or(corrupt("header is cut off", 0))?;
        let mut fields = Fields { bytes: head, at: 0 };
        if fields.u64() != MAGIC {
            return Err(corrupt("not a vector column", 0));
        }
        let version = fields.u32();
        if fields.u32() != header_checksum(head) {
            return Err(corrupt("header checksum does not match", 0));
        }
        if !(VERSION_MIN..=VERSION).contains(&version) {
            return Err(VectorError::UnsupportedVersion {
                version,
                supported: VERSION,
            });
        }
        let dimension = fields.u32() as usize;
        let count = fields.u32() as usize;
        let [space, element] = fields.take();
        let hnsw = HnswOptions {
            m: fields.u16(),
            ef_construction: fields.u16(),
        };
        let [slots, flags] = fields.take();
        if flags & !MULTI_FLAG != 0 {
            return Err(corrupt("unknown flags", 31));
        }
        let image_bytes = fields.u64();
        let seed = fields.u64();
        let entry = Entry {
            row: fields.u32(),
            upper: fields.u32(),
        };
        let (upper_count, upper_lists) = (fields.u32(), fields.u32());
        let graph = entry.row != NONE && version == VERSION;
        let method = match (graph, version, upper_count as usize) {
            (false, VERSION, LISTS_OF_BITS) => stored_lists(upper_lists, ListCodes::Bits),
            (false, VERSION, LISTS_OF_PRODUCTS) => stored_lists(upper_lists, ListCodes::Product),
            _ => Method::Graph,
        };
        let space = Space::ALL.get(usize::from(space));
        let element = Element::ALL.get(usize::from(element));
        let mut header = Header {
            version,
            options: ColumnOptions {
                hnsw,
                method,
                element: *element.ok_or(corrupt("unknown type of element", 25))?,
                multi: flags & MULTI_FLAG != 0,
                ..ColumnOptions::new(dimension, *space.ok_or(corrupt("unknown space", 24))?)
            },
            count,
            seed,
            entry: graph.then_some(entry),
            upper_count: upper_count as usize,
            upper_lists: upper_lists as usize,
            image_bytes,
            sections: (0..usize::from(slots).min(SLOTS))
                .map(|_| fields.section())
                .collect(),
        };
        header.options.code_bits = header.stored_code_bits(image)?;
        header.check(image.len() as u64, slots)?;
        Ok(header)
    }

    /// The width of the codes, which lies in their frame: the size of their section follows from it.
    /// A frame that is not where the table says is refused later.
    fn stored_code_bits(&self, image: &[u8]) -> Result<CodeBits, VectorError> {
        if !self.is_coded() {
            return Ok(CodeBits::default());
        }
        let frame = image
            .get(self.range(SectionKind::Frame))
            .unwrap_or_default();
        let mut fields = Fields {
            bytes: frame,
            at: CODE_BITS_OFFSET,
        };
        match fields.u32() {
            // Codes had four bits before this was kept.
            0 => Ok(CodeBits::Four),
            stored => CodeBits::ALL
                .into_iter()
                .find(|bits| u32::from(bits.count()) == stored)
                .ok_or(corrupt(
                    "codes of an unknown width",
                    self.offset_bytes(SectionKind::Frame),
                )),
        }
    }

    /// Checks everything the header claims against the size of the image and against itself.
    fn check(&self, len_bytes: u64, slots: u8) -> Result<(), VectorError> {
        if self.options.validate().is_err() {
            return Err(corrupt("an option is out of bounds", 16));
        }
        if self.count > VECTORS_MAX {
            return Err(corrupt("too many vectors", 20));
        }
        if usize::from(slots) > SLOTS {
            return Err(corrupt("too many sections", 30));
        }
        if self.image_bytes != len_bytes {
            return Err(corrupt("image is cut off or continued", 32));
        }
        for section in &self.sections {
            self.check_section(section)?;
        }
        let known = |kind: &SectionKind| self.version == VERSION || kind.is_of_version_1();
        for kind in SectionKind::ALL.into_iter().filter(known) {
            let mut same = self
                .sections
                .iter()
                .filter(|section| section.kind == kind as u32);
            let len_bytes = same.next().map_or(0, |section| section.len_bytes);
            let wanted = self.expected_bytes(kind);
            let fits = match kind {
                SectionKind::Docs => len_bytes == wanted || len_bytes == 0 && !self.options.multi,
                SectionKind::ListFrame => len_bytes == wanted || len_bytes == 0,
                SectionKind::Calibration => {
                    len_bytes <= wanted && len_bytes.is_multiple_of(POINT_BYTES)
                }
                _ => len_bytes == wanted,
            };
            if !fits || same.next().is_some() {
                return Err(corrupt("a section has the wrong size", TABLE_OFFSET as u64));
            }
        }
        if self
            .entry
            .is_some_and(|entry| entry.row as usize >= self.count)
        {
            return Err(corrupt("graph is entered outside the column", 48));
        }
        Ok(())
    }

    fn check_section(&self, section: &Section) -> Result<(), VectorError> {
        let known = SectionKind::ALL
            .iter()
            .any(|kind| *kind as u32 == section.kind);
        if !known && section.kind & REQUIRED_BIT != 0 {
            return Err(corrupt(
                "a section is of an unknown kind",
                TABLE_OFFSET as u64,
            ));
        }
        let end = section.offset_bytes.checked_add(section.len_bytes);
        let inside = end.is_some_and(|end| end <= self.image_bytes)
            && section.offset_bytes >= HEADER_BYTES as u64
            && section.offset_bytes.is_multiple_of(ALIGNMENT_BYTES as u64);
        if inside {
            Ok(())
        } else {
            Err(corrupt("a section is misplaced", TABLE_OFFSET as u64))
        }
    }

    /// True when walks measure by codes.
    pub(super) fn is_coded(&self) -> bool {
        self.entry.is_some() && is_coded(&self.options)
    }

    /// Size of a section, were it there; the largest there may be of one that may be shorter. Cannot overflow: every factor has its limit.
    fn expected_bytes(&self, kind: SectionKind) -> u64 {
        let graph = u64::from(self.entry.is_some());
        let coded = u64::from(self.is_coded());
        let (count, m) = (self.count as u64, self.options.hnsw.m);
        let options = &self.options;
        let vectors = count * options.element.row_bytes(options.dimension) as u64;
        match kind {
            SectionKind::Vectors => vectors,
            SectionKind::Docs => 4 * count,
            SectionKind::InverseNorms if self.options.space == Space::Cosine => 4 * count,
            SectionKind::InverseNorms => 0,
            SectionKind::Links => graph * count * 4 * base_slots(m) as u64,
            SectionKind::UpperRows => graph * 4 * self.upper_count as u64,
            SectionKind::UpperStarts => graph * 4 * (self.upper_count as u64 + 1),
            SectionKind::UpperLinks => graph * 4 * self.upper_lists as u64 * upper_slots(m) as u64,
            SectionKind::Codes => {
                let pitch = pitch_bytes(self.options.dimension, self.options.code_bits);
                coded * count * pitch as u64
            }
            SectionKind::Factors => coded * count * size_of::<[f32; FACTORS]>() as u64,
            SectionKind::Frame => coded * (FRAME_HEAD_BYTES + 4 * self.options.dimension) as u64,
            SectionKind::Calibration => graph * POINT_BYTES * POINTS_MAX as u64,
            SectionKind::VectorSums => 4 * vectors.div_ceil(BLOCK_BYTES as u64),
            SectionKind::ListFrame
            | SectionKind::ListBook
            | SectionKind::ListHeads
            | SectionKind::ListCentres
            | SectionKind::ListRows
            | SectionKind::ListBlocks => self.expected_list_bytes(kind),
        }
    }

    pub(super) fn section(&self, kind: SectionKind) -> Section {
        let found = self
            .sections
            .iter()
            .find(|section| section.kind == kind as u32);
        found.copied().unwrap_or_default()
    }

    /// True when the image has a section of this kind with anything in it.
    pub(super) fn has(&self, kind: SectionKind) -> bool {
        self.section(kind).len_bytes > 0
    }

    pub(super) fn offset_bytes(&self, kind: SectionKind) -> u64 {
        self.section(kind).offset_bytes
    }

    /// Where a section lies; the bounds were checked by `decode`.
    pub(super) fn range(&self, kind: SectionKind) -> Range<usize> {
        byte_range(&self.section(kind))
    }

    /// Compares the checksum of every section.
    pub(super) fn verify(&self, image: &[u8]) -> Result<(), VectorError> {
        self.sections
            .iter()
            .try_for_each(|section| verify(section, image))
    }

    /// Compares the checksum of one kind of section; one that is not there is as it should be.
    pub(super) fn verify_section(
        &self,
        image: &[u8],
        kind: SectionKind,
    ) -> Result<(), VectorError> {
        let mut found = self.sections.iter();
        let found = found.find(|section| section.kind == kind as u32);
        found.map_or(Ok(()), |section| verify(section, image))
    }
}

fn verify(section: &Section, image: &[u8]) -> Result<(), VectorError> {
    let bytes = image.get(byte_range(section)).unwrap_or_default();
    if crc32c::crc32c(bytes) == section.checksum {
        return Ok(());
    }
    Err(VectorError::Corrupt {
        what: "section checksum does not match",
        offset_bytes: section.offset_bytes,
    })
}

fn byte_range(section: &Section) -> Range<usize> {
    let start = usize::try_from(section.offset_bytes).unwrap_or(usize::MAX);
    let len = usize::try_from(section.len_bytes).unwrap_or(usize::MAX);
    start..start.saturating_add(len)
}

fn stored_lists(lists: u32, codes: ListCodes) -> Method {
    Method::Lists(IvfOptions { lists, codes })
}

fn corrupt(what: &'static str, offset_bytes: u64) -> VectorError {
    VectorError::Corrupt { what, offset_bytes }
}

fn word(value: usize) -> [u8; 4] {
    u32::try_from(value)
        .expect("dimensions, vectors and lists are limited")
        .to_le_bytes()
}

/// The code of a space or type is its place in the list of all.
fn code_of<T: PartialEq>(all: &[T], one: T) -> u8 {
    let code = all.iter().position(|other| *other == one);
    code.and_then(|code| u8::try_from(code).ok())
        .expect("the list is complete and short")
}

/// Covers the header with its own checksum read as zero.
fn header_checksum(header: &[u8]) -> u32 {
    let (before, rest) = header.split_at_checked(CHECKSUM_OFFSET).unwrap_or_default();
    let after = rest.get(4..).unwrap_or_default();
    crc32c::crc32c_append(
        crc32c::crc32c_append(crc32c::crc32c(before), &[0; 4]),
        after,
    )
}

/// Reads numbers one after the other. The length was checked before; beyond it lie zeros.
struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let found = self
            .bytes
            .get(self.at..)
            .and_then(|rest| rest.first_chunk::<N>());
        self.at += N;
        found.copied().unwrap_or([0; N])
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn section(&mut self) -> Section {
        Section {
            kind: self.u32(),
            checksum: self.u32(),
            offset_bytes: self.u64(),
            len_bytes: self.u64(),
        }
    }
}
