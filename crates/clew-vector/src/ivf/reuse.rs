//! Lists that grow over merges: the centres of a column that was merged serve the next one as long
//! as they fit, and its rows keep their lists and codes.

use std::sync::Arc;

use clew_kernels::FAST_ROWS;

use crate::ivf::blocks::read_row;
use crate::ivf::build::BuildLists;
use crate::ivf::cells::Cells;
use crate::ivf::place::Placed;
use crate::ivf::{DamagedList, Lists};
use crate::rows::Rows;

/// The lists of a column that is being merged.
pub(crate) struct ReuseLists<'a> {
    lists: Lists<'a>,
    /// What became of each of its rows; [`crate::graph::NONE`] if it is gone.
    new_rows: Vec<u32>,
    cells: Arc<Cells>,
}

impl<'a> ReuseLists<'a> {
    /// Fails when a list points outside the column.
    pub(crate) fn new(lists: Lists<'a>, new_rows: Vec<u32>) -> Result<Self, DamagedList> {
        for list in 0..lists.heads.len() {
            let (rows, _) = lists.list(list)?;
            if rows.iter().any(|&row| row as usize >= new_rows.len()) {
                return Err(DamagedList);
            }
        }
        Ok(ReuseLists {
            lists,
            new_rows,
            cells: Arc::new(Cells::of(&lists)),
        })
    }

    /// Whether these rows are served as well by the old centres, and coded as they would be, as by new ones.
    pub(super) fn fits(&self, rows: &Rows<'_>, how: &BuildLists) -> bool {
        let frame = self.lists.frame;
        frame.is_of_directions && self.cells.fits(rows, how, frame.distortion)
    }

    /// Whether rows keep their lists and codes around these centres.
    pub(super) fn is_around(&self, cells: &Cells) -> bool {
        self.lists.frame.is_of_directions && self.cells.identity == cells.identity
    }

    /// What the old column has learned.
    pub(super) fn cells(&self) -> Arc<Cells> {
        self.cells.clone()
    }

    /// Copies lists and codes of the rows that still live.
    pub(super) fn copy(&self, codes: &mut [u8], placed: &mut [Placed]) {
        let width = self.lists.frame.coding.codes(self.lists.dimension());
        let block_bytes = self.lists.block_bytes();
        for list in 0..self.lists.heads.len() {
            let Ok((rows, blocks)) = self.lists.list(list) else {
                continue;
            };
            for (place, &old) in rows.iter().enumerate() {
                let new = self.new_rows[old as usize] as usize;
                let Some(slot) = placed.get_mut(new) else {
                    continue;
                };
                let block = &blocks[place / FAST_ROWS * block_bytes..][..block_bytes];
                let codes = &mut codes[new * width..][..width];
                slot.factors = read_row(block, place % FAST_ROWS, codes);
                slot.list = u32::try_from(list).expect("the number of lists is limited");
                // The rows' own lengths are not stored; on average they are this.
                slot.squared = self.lists.frame.distortion;
            }
        }
    }
}
