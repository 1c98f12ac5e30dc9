//! The inverted index: for each dimension the rows that have it, in blocks of 128 with what a search
//! needs to know to skip them.
//!
//! A weight is kept as 8 bits of its block's greatest, rounded up: sums of them are bounds that no
//! exact score exceeds, and what passes a bound is scored by its own vector. Rows are gaps packed to
//! the bits of the widest (Lemire and Boytsov, "Decoding billions of integers per second through
//! vectorization", 2015).
#![deny(clippy::indexing_slicing)]

use bitpacking::{BitPacker, BitPacker4x};
use bytemuck::{Pod, Zeroable};

use crate::VectorError;
use crate::image::corrupt;
use crate::sparse::format::SectionKind;
use crate::sparse::integrity::Image;

/// Postings per block; the last block of a dimension has the rest.
pub(super) const BLOCK_LEN: usize = BitPacker4x::BLOCK_LEN;
/// The greatest code of a weight.
const CODE_MAX: f32 = 255.0;
/// Packed gaps take 16 bytes for every bit.
const BIT_BYTES: usize = BLOCK_LEN / 8;
const GAP_BITS_MAX: usize = 32;

/// What is known of a block without decoding it.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Block {
    pub(super) last_row: u32,
    /// Where in the postings its bytes start; they end where the next block's start.
    pub(super) start: u32,
    /// Weight of code 1.
    pub(super) step: f32,
    /// The least length among its rows, which no search asks for.
    pub(super) length_min: f32,
}

impl Block {
    /// No weight of the block is greater.
    #[inline]
    pub(super) fn weight_max(&self) -> f32 {
        CODE_MAX * self.step
    }

    /// Ends the table: says where the last block's bytes end.
    pub(super) fn end(postings: &[u8]) -> Self {
        Block {
            start: offset(postings),
            ..Block::zeroed()
        }
    }

    /// Appends at most 128 postings to `postings`. Rows ascend from behind `previous`, weights are
    /// positive.
    pub(super) fn encode(
        previous: Option<u32>,
        (rows, weights): (&[u32], &[f32]),
        length_min: f32,
        postings: &mut Vec<u8>,
    ) -> Self {
        assert!(rows.len() <= BLOCK_LEN && rows.len() == weights.len());
        let start = offset(postings);
        let step = step_of(weights.iter().copied().fold(0.0, f32::max));
        if rows.len() == BLOCK_LEN {
            let packer = BitPacker4x::new();
            let bits = packer.num_bits_strictly_sorted(previous, rows);
            let mut packed = [0; BIT_BYTES * GAP_BITS_MAX];
            let len = packer.compress_strictly_sorted(previous, rows, &mut packed, bits);
            postings.extend(packed.iter().take(len));
        } else {
            let mut next = previous.map_or(0, |row| row + 1);
            for &row in rows {
                push_varint(row - next, postings);
                next = row + 1;
            }
        }
        postings.extend(weights.iter().map(|&weight| code_of(weight, step)));
        Block {
            last_row: rows.last().copied().unwrap_or_default(),
            start,
            step,
            length_min,
        }
    }
}

/// The builder limits postings so that their bytes can be counted in 32 bits.
fn offset(postings: &[u8]) -> u32 {
    u32::try_from(postings.len()).expect("at most 6 bytes for each of 2^29 postings")
}

/// The least step whose greatest code reaches `weight_max`.
fn step_of(weight_max: f32) -> f32 {
    let mut step = (weight_max / CODE_MAX).max(f32::MIN_POSITIVE);
    while step * CODE_MAX < weight_max {
        step = step.next_up();
    }
    step
}

/// The least code whose weight is no less than `weight`.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to what a byte holds"
)]
fn code_of(weight: f32, step: f32) -> u8 {
    let code = (weight / step).ceil().clamp(1.0, CODE_MAX) as u8;
    if f32::from(code) * step < weight {
        code.saturating_add(1)
    } else {
        code
    }
}

/// Appends a number by LEB128: seven bits a byte, the lowest first, the eighth set if more follow.
fn push_varint(mut value: u32, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// The next number of a run of LEB128 numbers; what does not fit into 32 bits is cut off.
fn take_varint(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0_u32;
    for shift in (0..35).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u32::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// The tables of an inverted index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Index<'a> {
    pub(super) terms: &'a [u32],
    pub(super) term_blocks: &'a [u32],
    pub(super) counts: &'a [u32],
    pub(super) blocks: &'a [Block],
    pub(super) postings: &'a [u8],
    pub(super) image: Image<'a>,
}

impl<'a> Index<'a> {
    /// The postings of a dimension; `None` when no row has it.
    pub(super) fn list(&self, dimension: u32) -> Result<Option<List<'a>>, VectorError> {
        let Ok(term) = self.terms.binary_search(&dimension) else {
            return Ok(None);
        };
        let list = self.list_at(term).ok_or_else(|| {
            let offset_bytes = self.image.header.offset_bytes(SectionKind::TermBlocks);
            corrupt("postings of a dimension are misplaced", offset_bytes)
        })?;
        Ok(Some(list))
    }

    fn list_at(&self, term: usize) -> Option<List<'a>> {
        let count = *self.counts.get(term)? as usize;
        let (first, end) = (
            *self.term_blocks.get(term)?,
            *self.term_blocks.get(term + 1)?,
        );
        let blocks = self.blocks.get(first as usize..end as usize)?;
        let past = self.blocks.get(end as usize)?;
        (count > 0 && blocks.len() == count.div_ceil(BLOCK_LEN)).then_some(List {
            blocks,
            end: past.start,
            count,
        })
    }
}

/// The postings of one dimension; never empty.
#[derive(Debug, Clone, Copy)]
pub(super) struct List<'a> {
    pub(super) blocks: &'a [Block],
    end: u32,
    pub(super) count: usize,
}

impl List<'_> {
    /// The first row that a block may hold.
    #[inline]
    pub(super) fn first_row(&self, block: usize) -> u32 {
        self.previous(block).map_or(0, |row| row.saturating_add(1))
    }

    fn previous(&self, block: usize) -> Option<u32> {
        let before = block.checked_sub(1)?;
        self.blocks.get(before).map(|block| block.last_row)
    }
}

/// One block, decoded.
#[derive(Debug, Clone)]
pub(super) struct Decoded<'a> {
    /// Which block of its list; `None` before the first.
    pub(super) block: Option<usize>,
    rows: [u32; BLOCK_LEN],
    codes: &'a [u8],
    pub(super) step: f32,
}

impl<'a> Decoded<'a> {
    pub(super) fn empty() -> Self {
        Decoded {
            block: None,
            rows: [0; BLOCK_LEN],
            codes: &[],
            step: 0.0,
        }
    }

    /// Decodes a block, unless it is the one that is decoded; answers whether it had to.
    pub(super) fn fill(
        &mut self,
        index: &Index<'a>,
        list: &List<'a>,
        block: usize,
    ) -> Result<bool, VectorError> {
        if self.block == Some(block) {
            return Ok(false);
        }
        let damaged = || {
            let offset_bytes = index.image.header.offset_bytes(SectionKind::Blocks);
            corrupt("a block of postings contradicts itself", offset_bytes)
        };
        let head = list.blocks.get(block).ok_or_else(damaged)?;
        let after = list.blocks.get(block + 1);
        let range = head.start as usize..after.map_or(list.end, |block| block.start) as usize;
        let bytes = index.postings.get(range.clone()).ok_or_else(damaged)?;
        index.image.touch(SectionKind::Postings, range)?;
        let len = if after.is_some() {
            BLOCK_LEN
        } else {
            list.count - (list.blocks.len() - 1) * BLOCK_LEN
        };
        let gaps_len = bytes.len().checked_sub(len).ok_or_else(damaged)?;
        let (gaps, codes) = bytes.split_at(gaps_len);
        self.block = None;
        self.unpack(gaps, list.previous(block), len)
            .ok_or_else(damaged)?;
        self.block = Some(block);
        self.codes = codes;
        self.step = head.step;
        Ok(true)
    }

    fn unpack(&mut self, gaps: &[u8], previous: Option<u32>, len: usize) -> Option<()> {
        if len == BLOCK_LEN {
            let bits = gaps.len() / BIT_BYTES;
            if !gaps.len().is_multiple_of(BIT_BYTES) || bits > GAP_BITS_MAX {
                return None;
            }
            let bits = u8::try_from(bits).ok()?;
            let packer = BitPacker4x::new();
            packer.decompress_strictly_sorted(previous, gaps, &mut self.rows, bits);
            return Some(());
        }
        let mut rest = gaps;
        let mut next = previous.map_or(0, |row| row.wrapping_add(1));
        for row in self.rows.iter_mut().take(len) {
            *row = next.wrapping_add(take_varint(&mut rest)?);
            next = row.wrapping_add(1);
        }
        rest.is_empty().then_some(())
    }

    /// The postings of rows from `start` to before `end`.
    #[inline]
    pub(super) fn within(&self, start: u32, end: u32) -> (&[u32], &'a [u8]) {
        let rows = self.rows.get(..self.codes.len()).unwrap_or_default();
        let from = rows.partition_point(|&row| row < start);
        let to = rows.partition_point(|&row| row < end).max(from);
        (
            rows.get(from..to).unwrap_or_default(),
            self.codes.get(from..to).unwrap_or_default(),
        )
    }
}
