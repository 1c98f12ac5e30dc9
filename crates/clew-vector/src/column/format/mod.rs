//! The header of a column image: what is in the image and where. `docs/formats/vectors.md` is the
//! specification; numbers are little-endian.
#![deny(clippy::indexing_slicing)]

mod check;
mod section;

use crate::graph::{EntryPoint, NONE};
use crate::image::{
    ALIGNMENT_BYTES, Fields, SLOT_BYTES, Section, TABLE_OFFSET, complete, corrupt, opened,
    sections_of_header,
};
use crate::{
    CodeBits, ColumnOptions, Element, HnswOptions, IvfOptions, ListCodes, Method, Space,
    VectorError,
};
pub(crate) use section::SectionKind;

pub(crate) const HEADER_BYTES: usize = 448;
/// Seed, typical error and width of the codes, before the centre.
pub(crate) const FRAME_HEAD_BYTES: usize = 16;
const CODE_BITS_OFFSET: usize = 12;

const MAGIC: u64 = u64::from_le_bytes(*b"clewvect");
pub(crate) const VERSION: u32 = 2;
/// The oldest version that is read; its graphs are passed over, its vectors are not.
const VERSION_MIN: u32 = 1;
/// In the place of the number of rows on upper levels, of which a column of lists has none.
const LISTS_CHOSEN: usize = 1;
const LISTS_OF_PRODUCTS: usize = 2;
const SLOTS: usize = 16;
/// Flag of a column whose documents may have several vectors each. The byte of the flags was the upper
/// half of the number of slots, always zero, so that readers from before refuse such a column.
const MULTI_FLAG: u8 = 1;
/// Flag of a column that has what was asked for, whatever would be faster.
const EXACT_STRUCTURE_FLAG: u8 = 2;

const _: () = assert!(TABLE_OFFSET + SLOTS * SLOT_BYTES == HEADER_BYTES);
const _: () = assert!(HEADER_BYTES.is_multiple_of(ALIGNMENT_BYTES));

/// The decoded header of an image: all of it checked, none of the sections read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) version: u32,
    pub(crate) options: ColumnOptions,
    pub(crate) count: usize,
    pub(crate) seed: u64,
    /// Where walks start; `None` when there is no graph.
    pub(crate) entry: Option<EntryPoint>,
    pub(crate) upper_count: usize,
    pub(crate) upper_lists: usize,
    pub(crate) image_bytes: u64,
    pub(crate) sections: Vec<Section>,
}

impl Header {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let options = &self.options;
        let entry = self.entry.unwrap_or(EntryPoint {
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
        let multi = u8::from(options.multi) * MULTI_FLAG;
        let exact = u8::from(options.exact_structure) * EXACT_STRUCTURE_FLAG;
        out.extend([slots, multi | exact]);
        out.extend(self.image_bytes.to_le_bytes());
        out.extend(self.seed.to_le_bytes());
        out.extend(entry.row.to_le_bytes());
        out.extend(entry.upper.to_le_bytes());
        let (upper_count, upper_lists) = match options.method {
            Method::Graph => (self.upper_count, self.upper_lists),
            // A column of lists has no graph.
            Method::Lists(lists) => {
                let codes = match lists.codes {
                    ListCodes::Chosen => LISTS_CHOSEN,
                    ListCodes::Product => LISTS_OF_PRODUCTS,
                };
                (codes, lists.lists as usize)
            }
        };
        out.extend(word(upper_count));
        out.extend(word(upper_lists));
        // A graph takes seven sections and lists take six; no image has both. Vectors and what is kept of them take four,
        // and what was learnt three, so the table fits.
        complete(&mut out, &self.sections, HEADER_BYTES);
        out
    }

    pub(super) fn decode(image: &[u8]) -> Result<Self, VectorError> {
        let kind = (MAGIC, "not a vector column");
        let (mut fields, version) = opened(image, HEADER_BYTES, kind, VERSION_MIN..=VERSION)?;
        let dimension = fields.u32() as usize;
        let count = fields.u32() as usize;
        let [space, element] = fields.take();
        let hnsw = HnswOptions {
            m: fields.u16(),
            ef_construction: fields.u16(),
        };
        let [slots, flags] = fields.take();
        if flags & !(MULTI_FLAG | EXACT_STRUCTURE_FLAG) != 0 {
            return Err(corrupt("unknown flags", 31));
        }
        let image_bytes = fields.u64();
        let seed = fields.u64();
        let entry = EntryPoint {
            row: fields.u32(),
            upper: fields.u32(),
        };
        let (upper_count, upper_lists) = (fields.u32(), fields.u32());
        let graph = entry.row != NONE && version == VERSION;
        let method = match (graph, version, upper_count as usize) {
            (false, VERSION, LISTS_CHOSEN) => stored_lists(upper_lists, ListCodes::Chosen),
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
                exact_structure: flags & EXACT_STRUCTURE_FLAG != 0,
                ..ColumnOptions::new(dimension, *space.ok_or(corrupt("unknown space", 24))?)
            },
            count,
            seed,
            entry: graph.then_some(entry),
            upper_count: upper_count as usize,
            upper_lists: upper_lists as usize,
            image_bytes,
            sections: fields.sections(usize::from(slots).min(SLOTS)),
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
}

sections_of_header!(Header, SectionKind);

fn stored_lists(lists: u32, codes: ListCodes) -> Method {
    Method::Lists(IvfOptions { lists, codes })
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
