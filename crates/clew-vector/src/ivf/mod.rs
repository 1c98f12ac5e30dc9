//! Inverted lists: rows by the nearest of some centres, scanned in blocks by codes of one bit per
//! dimension (Jégou, Douze and Schmid, "Product quantization for nearest neighbor search", TPAMI
//! 2011; the scan after André, Kermarrec and Le Scouarnec, VLDB 2015).
//!
//! Everything here happens among *residuals of the column's frame*: vectors minus the column's centre,
//! rotated. The code of a row is that of its residual from the centre of its list, so that
//! `distance = base of the list + add of the row + scale of the row * <query, code>`, and one set of
//! tables serves all lists.
//!
//! | space | base of the query | own of a list | add of a row |
//! | --- | --- | --- | --- |
//! | squared distance | `|q|²` | `|c|²` | `|r|² + 2 <c, s>` |
//! | cosine | half | half | half |
//! | inner product | `-<query, g>` | `-<c, Rg>` | `-<x - g, g> - own - <c, r - s>` |
//!
//! with `g` the column's centre, `R` its rotation, `c` the centre of the list, `r` the row's residual, and `s` what
//! code and scale make of it; the base of a list is the query's base plus `own` minus `weight * <q, c>`.
//!
//! Deliberately absent: what finds the exact distance in the end; that is [`crate::rerank`].

mod blocks;
mod build;
mod cells;
mod coding;
mod kmeans;
mod options;
mod place;
mod points;
mod product;
mod reuse;
mod scan;

pub(crate) use build::{
    BuildLists, OwnedLists, ROWS_PER_LIST_MIN, ROWS_PER_LIST_MIN_SMALL, build_lists, lists_memory,
};
pub use cells::SharedCentres;
pub(crate) use coding::{Coding, SIGNS, code_count};
pub use options::{IvfOptions, LISTS_MAX, ListCodes, Method};
pub use product::ProductQuantizer;
pub(crate) use product::{CENTROIDS, TRAIN_ROWS_MIN};
pub(crate) use reuse::ReuseLists;
pub(crate) use scan::{ListQuery, ScanLists, Seeker, Start};

use std::num::NonZeroU64;

use bytemuck::{Pod, Zeroable};
use clew_kernels::{FAST_ROWS, fast_block_bytes, prefetch, prefetch_span};

use crate::Space;
use crate::codes::Frame;

/// Stands for no row in what fills up the last block of a list.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// A hint asks for the first codes of a list; of longer ones, the CPU itself sees the rest coming.
const PREFETCH_BYTES_MAX: usize = 4_096;

/// What an image keeps of a list beside its rows.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct ListHead {
    /// Size of one step of the centre's bytes.
    pub(crate) step: f32,
    /// The list's own part of a distance.
    pub(crate) own: f32,
    /// The list's first block.
    pub(crate) first_block: u32,
    /// Rows of the list; they fill its blocks but for the last one.
    pub(crate) row_count: u32,
}

impl ListHead {
    pub(crate) fn block_count(&self) -> usize {
        (self.row_count as usize).div_ceil(FAST_ROWS)
    }
}

/// What lists are measured from, as an opened column keeps it.
#[derive(Debug)]
pub(crate) struct ListFrame {
    pub(crate) frame: Frame,
    pub(crate) coding: Coding,
    /// Root of the mean squared error of an estimated distance: per `scale` of the row and distance of the query from the
    /// centre of the row's list where codes are of directions, else per length of the query's residual.
    pub(crate) error: f32,
    /// Mean squared length of the rows' residuals.
    pub(crate) distortion: f32,
    /// Whether codes are those of residuals of length 1; older columns have others.
    pub(crate) is_of_directions: bool,
    /// Names the centres and what codes mean: a vector is prepared in the same way for all columns where it is the same.
    /// Older columns have none.
    pub(crate) identity: Option<NonZeroU64>,
}

/// The lists of a column, where they lie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lists<'a> {
    pub(crate) frame: &'a ListFrame,
    /// Centres in bytes, one after the other.
    pub(crate) centres: &'a [i8],
    pub(crate) heads: &'a [ListHead],
    /// Row of each place of each block.
    pub(crate) rows: &'a [u32],
    pub(crate) blocks: &'a [u8],
}

/// A list points outside its column.
#[derive(Debug)]
pub(crate) struct DamagedList;

impl<'a> Lists<'a> {
    pub(crate) fn dimension(&self) -> usize {
        self.frame.frame.centre.len()
    }

    /// Bytes of a block.
    pub(crate) fn block_bytes(&self) -> usize {
        fast_block_bytes(self.frame.coding.codes(self.dimension()))
    }

    /// Asks for the memory that says where a list lies.
    pub(crate) fn prefetch_head(&self, list: usize) {
        prefetch(self.heads, list);
    }

    /// Asks for the memory that the scan of a list begins with.
    pub(crate) fn prefetch(&self, list: usize) {
        if let Ok((rows, blocks)) = self.list(list) {
            prefetch_span(rows, 0, FAST_ROWS);
            prefetch_span(blocks, 0, PREFETCH_BYTES_MAX);
        }
    }

    /// Rows and blocks of a list.
    fn list(&self, list: usize) -> Result<(&'a [u32], &'a [u8]), DamagedList> {
        let head = self.heads.get(list).ok_or(DamagedList)?;
        let (first, count) = (head.first_block as usize, head.block_count());
        let part = |unit: usize| first * unit..(first + count) * unit;
        let rows = self.rows.get(part(FAST_ROWS)).ok_or(DamagedList)?;
        let blocks = self.blocks.get(part(self.block_bytes()));
        Ok((&rows[..head.row_count as usize], blocks.ok_or(DamagedList)?))
    }
}

/// How many times the product of two residuals counts in a distance.
fn weight(space: Space) -> f32 {
    match space {
        Space::L2 => 2.0,
        Space::Cosine | Space::InnerProduct => 1.0,
        Space::Hamming | Space::Jaccard | Space::MinHash8 | Space::MinHash32 | Space::MinHash64 => {
            unreachable!("bits have no lists")
        }
    }
}
