//! Inverted lists in an image: their sections, written and read. `docs/formats/vectors.md` is the
//! specification.

use std::num::NonZeroU64;
use std::ops::Deref;

use bytemuck::cast_slice;
use clew_kernels::{FAST_ROWS, fast_block_bytes};

use crate::codes::Frame;
use crate::column::format::{Header, SectionKind};
use crate::column::is_a_mean;
use crate::ivf::{
    CENTROIDS, Coding, ListFrame, ListHead, Lists, OwnedLists, ProductQuantizer, SIGNS, code_count,
};
use crate::{Column, ListCodes, VectorError};

/// Seed, typical error, distortion, dimensions of a product code, whether codes are of directions, and what names the
/// centres, before the centre of all.
const LIST_FRAME_HEAD_BYTES: usize = 32;
const LIST_HEAD_BYTES: u64 = size_of::<ListHead>() as u64;
/// Numbers of the rows of a block.
const BLOCK_ROWS_BYTES: u64 = 4 * FAST_ROWS as u64;

impl Header {
    /// True when there are lists; they are there as a whole or not at all.
    pub(super) fn has_lists(&self) -> bool {
        self.has(SectionKind::ListFrame)
    }

    /// Dimensions of a product code; `None` for signs, which need no book.
    fn product_part(&self, codes: ListCodes) -> Option<usize> {
        let is_trained = codes == ListCodes::Product || self.has(SectionKind::ListBook);
        let part = || codes.product_part(self.count, self.options.dimension);
        is_trained.then(part).flatten()
    }

    /// Size of a section of the lists, were they there. How many lists and blocks there are follows
    /// from the size of one section each; as all of it lies inside the image, nothing overflows.
    pub(super) fn expected_list_bytes(&self, kind: SectionKind) -> u64 {
        let dimension = self.options.dimension as u64;
        let lists = self.options.list_options();
        let whole = |kind: SectionKind, unit: u64| (self.section(kind).len_bytes / unit).max(1);
        let heads = || whole(SectionKind::ListHeads, LIST_HEAD_BYTES);
        let blocks = || whole(SectionKind::ListRows, BLOCK_ROWS_BYTES);
        match kind {
            SectionKind::ListFrame => LIST_FRAME_HEAD_BYTES as u64 + 4 * dimension,
            _ if !self.has_lists() => 0,
            SectionKind::ListBook if self.product_part(lists.codes).is_some() => {
                dimension * size_of::<[f32; CENTROIDS]>() as u64
            }
            SectionKind::ListBook => 0,
            SectionKind::ListHeads => heads() * LIST_HEAD_BYTES,
            SectionKind::ListCentres => heads() * dimension,
            SectionKind::ListRows => blocks() * BLOCK_ROWS_BYTES,
            _ => {
                let part = self.product_part(lists.codes).unwrap_or(SIGNS);
                let codes = code_count(self.options.dimension, part);
                blocks() * fast_block_bytes(codes) as u64
            }
        }
    }
}

/// Sections that are made of more than one part of the lists.
#[derive(Debug, Default)]
pub(crate) struct ListBytes {
    frame: Vec<u8>,
}

impl ListBytes {
    pub(crate) fn of(lists: &OwnedLists) -> Self {
        let ListFrame {
            frame,
            error,
            distortion,
            coding,
            is_of_directions,
            identity,
        } = &lists.frame;
        let part = u32::try_from(coding.part()).expect("a code has few dimensions");
        let mut bytes = Vec::new();
        bytes.extend(frame.seed.to_le_bytes());
        bytes.extend(error.to_le_bytes());
        bytes.extend(distortion.to_le_bytes());
        bytes.extend(part.to_le_bytes());
        bytes.extend(u32::from(*is_of_directions).to_le_bytes());
        bytes.extend(identity.map_or(0, NonZeroU64::get).to_le_bytes());
        // The centre starts where readers look for it.
        assert_eq!(bytes.len(), LIST_FRAME_HEAD_BYTES);
        bytes.extend_from_slice(cast_slice(&frame.centre));
        ListBytes { frame: bytes }
    }

    /// The sections of lists, in the order of the file.
    pub(crate) fn sections<'a>(
        &'a self,
        lists: &'a OwnedLists,
        sections: &mut Vec<(SectionKind, &'a [u8])>,
    ) {
        sections.push((SectionKind::ListFrame, &self.frame));
        if let Coding::Product(quantizer) = &lists.frame.coding {
            let book = cast_slice::<[f32; CENTROIDS], u8>(quantizer.book());
            sections.push((SectionKind::ListBook, book));
        }
        sections.push((SectionKind::ListHeads, cast_slice(&lists.heads)));
        sections.push((
            SectionKind::ListCentres,
            cast_slice(lists.cells.centre_bytes()),
        ));
        sections.push((SectionKind::ListRows, cast_slice(&lists.rows)));
        sections.push((SectionKind::ListBlocks, &lists.blocks));
    }
}

impl<B: Deref<Target = [u8]> + Clone + Send + Sync> Column<B> {
    /// Reads what lists are measured from, after comparing its checksum.
    pub(super) fn open_list_frame(&self) -> Result<ListFrame, VectorError> {
        self.integrity()
            .touch(&[SectionKind::ListFrame, SectionKind::ListBook])?;
        let offset_bytes = self.header.offset_bytes(SectionKind::ListFrame);
        let corrupt = |what| VectorError::Corrupt { what, offset_bytes };
        let words: &[u32] = self.numbers(SectionKind::ListFrame)?;
        let (head, centre) = words
            .split_first_chunk::<{ LIST_FRAME_HEAD_BYTES / 4 }>()
            .ok_or(corrupt("frame of the lists is cut off"))?;
        let seed = u64::from(head[0]) | u64::from(head[1]) << 32;
        let [error, distortion] = [head[2], head[3]].map(f32::from_bits);
        let centre: Vec<f32> = centre.iter().map(|&bits| f32::from_bits(bits)).collect();
        let fits = is_a_mean(&centre) && error.is_finite() && distortion.is_finite();
        if !fits {
            return Err(corrupt("frame of the lists is out of bounds"));
        }
        let codes = self.options().list_options().codes;
        let part = self.header.product_part(codes);
        if head[4] as usize != part.unwrap_or(SIGNS) {
            return Err(corrupt("codes of the lists are of an unknown shape"));
        }
        if head[5] > 1 {
            return Err(corrupt("codes of the lists are of an unknown kind"));
        }
        let coding = if let Some(part) = part {
            let book: &[[f32; CENTROIDS]] = self.numbers(SectionKind::ListBook)?;
            if !book.as_flattened().iter().all(|value| value.is_finite()) {
                return Err(corrupt("code book of the lists is not finite"));
            }
            Coding::Product(ProductQuantizer::from_book(book.to_vec(), part))
        } else {
            Coding::Bits
        };
        Ok(ListFrame {
            frame: Frame::new(centre, seed),
            coding,
            error,
            distortion,
            is_of_directions: head[5] == 1,
            identity: NonZeroU64::new(u64::from(head[6]) | u64::from(head[7]) << 32),
        })
    }

    pub(super) fn lists<'a>(&'a self, frame: &'a ListFrame) -> Result<Lists<'a>, VectorError> {
        Ok(Lists {
            frame,
            centres: self.numbers(SectionKind::ListCentres)?,
            heads: self.numbers::<ListHead>(SectionKind::ListHeads)?,
            rows: self.numbers(SectionKind::ListRows)?,
            blocks: self.section(SectionKind::ListBlocks),
        })
    }
}
