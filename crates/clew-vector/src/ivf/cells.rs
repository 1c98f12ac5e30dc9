//! What lists are formed by, apart from the rows in them: columns that are searched together have it in common where they
//! can, so that a search prepares its vector once, and compares it with the centres once.

use std::num::NonZeroU64;
use std::sync::Arc;

use bytemuck::cast_slice;
use clew_kernels::kernels;
use parking_lot::Mutex;

use crate::calibrate::Agreed;
use crate::codes::{Frame, Residual};
use crate::ivf::build::{BuildLists, product_part};
use crate::ivf::coding::Coding;
use crate::ivf::points::{Centres, Points};
use crate::ivf::product::ProductQuantizer;
use crate::ivf::{ListFrame, Lists};
use crate::random::{SplitMix, spread};
use crate::rows::Rows;

/// Lists are kept while their number is within this factor of the one that would be chosen anew.
const COUNT_RATIO_MAX: usize = 2;
/// Lists are kept while rows lie no farther from them than this, in squared distance, compared with
/// the rows that they were formed by.
const DISTORTION_RATIO_MAX: f32 = 1.2;
/// Rows that are asked how far from the centres they lie.
const FIT_ROWS: usize = 1_024;

/// Centres of lists, and what codes of the rows around them mean.
#[derive(Debug)]
pub(crate) struct Cells {
    pub(super) frame: Frame,
    pub(super) coding: Coding,
    pub(super) centres: Centres,
    /// A hash of all of it.
    pub(super) identity: NonZeroU64,
}

impl Cells {
    pub(super) fn new(frame: Frame, coding: Coding, centres: Centres) -> Self {
        let identity = identity_of(&frame, &coding, &centres.points);
        Cells {
            frame,
            coding,
            centres,
            identity,
        }
    }

    /// Those of a column, copied.
    pub(super) fn of(lists: &Lists<'_>) -> Self {
        let points = Points {
            dimension: lists.dimension(),
            rows: lists.centres.to_vec(),
            steps: lists.heads.iter().map(|head| head.step).collect(),
        };
        let ListFrame { frame, coding, .. } = lists.frame;
        let frame = Frame::new(frame.centre.clone(), frame.seed);
        Cells::new(frame, copy_of(coding), Centres::new(points, kernels()))
    }

    /// The frame of a column with lists around these centres.
    pub(super) fn list_frame(&self, error: f32, distortion: f32) -> ListFrame {
        ListFrame {
            frame: Frame::new(self.frame.centre.clone(), self.frame.seed),
            coding: copy_of(&self.coding),
            error,
            distortion,
            is_of_directions: true,
            identity: Some(self.identity),
        }
    }

    /// The bytes of all centres.
    pub(crate) fn centre_bytes(&self) -> &[i8] {
        &self.centres.points.rows
    }

    /// Whether these rows are served as well by these centres, and coded as they would be, as by new ones. `distortion` is
    /// the mean squared distance from them of the rows that they were formed by.
    pub(super) fn fits(&self, rows: &Rows<'_>, how: &BuildLists, distortion: f32) -> bool {
        if self.frame.centre.len() != rows.numbers
            || self.coding.product_part() != product_part(rows, how)
        {
            return false;
        }
        let old = self.centres.points.len();
        let new = how.list_count(rows.count());
        if new > old * COUNT_RATIO_MAX || old > new * COUNT_RATIO_MAX {
            return false;
        }
        self.distortion(rows, how.seed) <= DISTORTION_RATIO_MAX * distortion
    }

    /// The mean squared distance of rows from the centre nearest to each, by a sample.
    fn distortion(&self, rows: &Rows<'_>, seed: u64) -> f32 {
        let sample = spread(rows.count(), rows.count().min(FIT_ROWS), seed);
        let mut residual = Residual::default();
        let (mut floats, mut scores) = (vec![0.0; rows.numbers], Vec::new());
        let mut sum = 0.0;
        for &row in &sample {
            let vector = rows.floats(row, &mut floats);
            self.frame.residual(vector, rows.scale(row), &mut residual);
            let mut point = Points::new(rows.numbers);
            point.push(&residual.values, rows.kernels);
            let nearest = self
                .centres
                .nearest(point.point(0), &mut scores, rows.kernels);
            sum += residual.squared + nearest.1;
        }
        sum / sample.len().max(1) as f32
    }
}

fn copy_of(coding: &Coding) -> Coding {
    match coding {
        Coding::Bits => Coding::Bits,
        Coding::Product(quantizer) => Coding::Product(ProductQuantizer::clone(quantizer)),
    }
}

/// A hash of everything that a vector is prepared with before lists are scanned for it.
fn identity_of(frame: &Frame, coding: &Coding, centres: &Points) -> NonZeroU64 {
    let seed = frame.seed.to_le_bytes();
    let book: &[u8] = match coding {
        Coding::Bits => &[],
        Coding::Product(quantizer) => cast_slice(quantizer.book()),
    };
    let parts: [&[u8]; 5] = [
        &seed,
        cast_slice(&frame.centre),
        book,
        cast_slice(&centres.rows),
        cast_slice(&centres.steps),
    ];
    let mut hash = 0;
    for part in parts {
        for bytes in part.chunks(size_of::<u64>()) {
            let mut word = [0; size_of::<u64>()];
            word[..bytes.len()].copy_from_slice(bytes);
            hash = SplitMix::new(hash ^ u64::from_le_bytes(word)).draw();
        }
    }
    NonZeroU64::new(hash).unwrap_or(NonZeroU64::MIN)
}

/// Centres that several columns form their lists around: the parts of one field's vectors that are searched together.
///
/// The first column that is built forms them, as many as one column of all vectors would have. Those that come later take
/// them if they fit; where they do not, a column forms its own, which take the place of the others. Columns with the same
/// centres are searched for a vector with one [`Horizon`](crate::Horizon) at little more than the cost of one column. So parts
/// whose lists stand in for a graph choose alike: as the first of them that was measured, while they are of about its size.
#[derive(Debug)]
pub struct SharedCentres {
    parts: usize,
    /// Centres, and the mean squared distance from them of rows like those that they were formed by.
    cells: Mutex<Option<(Arc<Cells>, f32)>>,
    agreed: Agreed,
}

impl SharedCentres {
    /// For so many parts of about the same size, at least one.
    pub fn new(parts: usize) -> Self {
        SharedCentres {
            parts: parts.max(1),
            cells: Mutex::new(None),
            agreed: Agreed::default(),
        }
    }

    /// Whether the parts are searched through lists at all, as far as one of them was free to choose.
    pub(crate) fn agreed(&self) -> &Agreed {
        &self.agreed
    }

    /// Parts that are searched together.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// The centres, if they fit these rows.
    pub(super) fn that_fit(&self, rows: &Rows<'_>, how: &BuildLists) -> Option<Arc<Cells>> {
        let (cells, distortion) = self.cells.lock().clone()?;
        cells.fits(rows, how, distortion).then_some(cells)
    }

    /// Has columns that are built from now on take the centres that were formed for these rows, and returns them; but where
    /// another column, which was built at the same time, has offered some that fit these rows, too, it returns those. A
    /// centre lies closer to the few rows that it is the mean of than to others like them: `m` of them seem nearer by
    /// `(m - 1) / (m + 1)`.
    pub(super) fn offer(&self, cells: Arc<Cells>, rows: &Rows<'_>, how: &BuildLists) -> Arc<Cells> {
        let each = (rows.count() as f32 / cells.centres.points.len().max(1) as f32).max(2.0);
        let distortion = cells.distortion(rows, how.seed) * (each + 1.0) / (each - 1.0);
        loop {
            let seen = self.cells.lock().clone();
            if let Some((others, distortion)) = &seen
                && others.fits(rows, how, *distortion)
            {
                return others.clone();
            }
            let mut kept = self.cells.lock();
            let identity =
                |kept: &Option<(Arc<Cells>, f32)>| kept.as_ref().map(|(cells, _)| cells.identity);
            if identity(&kept) == identity(&seen) {
                *kept = Some((cells.clone(), distortion));
                return cells;
            }
        }
    }
}
