//! Lists that grow over merges: the centres of a column that was merged serve the next one as long
//! as they fit, and its rows keep their lists and codes.

use clew_kernels::{FAST_ROWS, kernels};

use crate::codes::{Frame, Residual};
use crate::ivf::blocks::read_row;
use crate::ivf::build::{BuildLists, list_count, product_part};
use crate::ivf::coding::Coding;
use crate::ivf::place::Placed;
use crate::ivf::points::{Centres, Points};
use crate::ivf::product::ProductQuantizer;
use crate::ivf::{DamagedList, Lists};
use crate::random::spread;
use crate::rows::Rows;

/// Lists are kept while their number is within this factor of the one that would be chosen anew.
const COUNT_RATIO_MAX: usize = 2;
/// Lists are kept while rows lie no farther from them than this, in squared distance, compared with
/// the rows that they were formed by.
const DISTORTION_RATIO_MAX: f32 = 1.2;
/// Rows that are asked how far from the centres they lie.
const FIT_ROWS: usize = 1_024;

/// The lists of a column that is being merged.
pub(crate) struct ReuseLists<'a> {
    lists: Lists<'a>,
    /// What became of each of its rows; [`crate::graph::NONE`] if it is gone.
    new_rows: Vec<u32>,
    centres: Centres,
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
        let points = Points {
            dimension: lists.dimension(),
            rows: lists.centres.to_vec(),
            steps: lists.heads.iter().map(|head| head.step).collect(),
        };
        let centres = Centres::new(points, kernels());
        Ok(ReuseLists {
            lists,
            new_rows,
            centres,
        })
    }

    /// Whether these rows are served as well by the old centres, and coded as they would be, as by new ones.
    pub(super) fn fits(&self, rows: &Rows<'_>, how: &BuildLists) -> bool {
        let frame = self.lists.frame;
        if !frame.is_of_directions || frame.coding.product_part() != product_part(rows, how) {
            return false;
        }
        let (old, new) = (
            self.lists.heads.len(),
            list_count(rows.count(), &how.options),
        );
        if new > old * COUNT_RATIO_MAX || old > new * COUNT_RATIO_MAX {
            return false;
        }
        let sample = spread(rows.count(), rows.count().min(FIT_ROWS), how.seed);
        let mut residual = Residual::default();
        let (mut floats, mut scores) = (vec![0.0; rows.numbers], Vec::new());
        let mut sum = 0.0;
        for &row in &sample {
            let frame = &self.lists.frame.frame;
            frame.residual(
                rows.floats(row, &mut floats),
                rows.scale(row),
                &mut residual,
            );
            let mut point = Points::new(rows.numbers);
            point.push(&residual.values, rows.kernels);
            let (_, nearer) = self
                .centres
                .nearest(point.point(0), &mut scores, rows.kernels);
            sum += residual.squared + nearer;
        }
        sum <= DISTORTION_RATIO_MAX * self.lists.frame.distortion * sample.len() as f32
    }

    /// What the old column has learned.
    pub(super) fn parts(&self) -> (Frame, Centres, Coding) {
        let frame = &self.lists.frame.frame;
        let points = Points {
            dimension: self.centres.points.dimension,
            rows: self.centres.points.rows.clone(),
            steps: self.centres.points.steps.clone(),
        };
        let coding = match &self.lists.frame.coding {
            Coding::Bits => Coding::Bits,
            Coding::Product(quantizer) => Coding::Product(ProductQuantizer::clone(quantizer)),
        };
        let frame = Frame::new(frame.centre.clone(), frame.seed);
        (frame, Centres::new(points, kernels()), coding)
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
