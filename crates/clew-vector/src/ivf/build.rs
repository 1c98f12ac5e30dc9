//! Lists of a column in the making: centres from a sample, then each row's list and code in one pass.

use std::sync::Arc;

use clew_kernels::{FAST_ROWS, Kernels, fast_block_bytes};

use crate::codes::{Frame, Residual};
use crate::ivf::blocks::arrange;
use crate::ivf::cells::{Cells, SharedCentres};
use crate::ivf::coding::{Coding, SIGNS, code_count, direct};
use crate::ivf::kmeans;
use crate::ivf::options::{IvfOptions, LISTS_MAX, ListCodes};
use crate::ivf::place::{Coder, Placed, UNPLACED};
use crate::ivf::points::{Centres, Points};
use crate::ivf::product::{ProductQuantizer, TRAIN_ROWS_MIN};
use crate::ivf::reuse::ReuseLists;
use crate::ivf::{ListFrame, ListHead, Lists};
use crate::random::spread;
use crate::rows::Rows;
use crate::watch::{BuildPhase, BuildProgress};
use crate::{Space, VectorError};

/// Rows that centres are formed by, for each of them.
const SAMPLE_PER_LIST: usize = 48;
/// Residuals that a code book is trained on.
const BOOK_ROWS: usize = 4_096;
/// Where vectors are parts of a whole there are lists as for the whole, but no more than one for so many rows of a part: each
/// list has a block that is not full. With 8 a search of 18 parts of 2,222 × 128 that finds .987 takes a fifth longer, with 32 half
/// as long again.
pub(crate) const ROWS_PER_LIST_MIN: usize = 16;
/// The same of parts so small that most of their lists are gone through: blocks that are mostly full take the least then (18 parts
/// of 1,667 × 128).
pub(crate) const ROWS_PER_LIST_MIN_SMALL: usize = FAST_ROWS;

/// How lists are built.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BuildLists {
    pub(crate) space: Space,
    pub(crate) options: IvfOptions,
    /// Parts of about this size that are searched together.
    pub(crate) parts: usize,
    /// There is no more than one list for so many rows, unless there would be more without any other part.
    pub(crate) rows_per_list_min: usize,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
}

impl BuildLists {
    /// Lists for so many rows.
    pub(super) fn list_count(&self, rows: usize) -> usize {
        list_count((rows, self.parts), self.rows_per_list_min, &self.options)
    }
}

/// What an image keeps of lists.
#[derive(Debug)]
pub(crate) struct OwnedLists {
    pub(crate) frame: ListFrame,
    pub(crate) cells: Arc<Cells>,
    pub(crate) heads: Vec<ListHead>,
    pub(crate) rows: Vec<u32>,
    pub(crate) blocks: Vec<u8>,
}

impl OwnedLists {
    /// The lists as a reader sees them.
    pub(crate) fn view(&self) -> Lists<'_> {
        Lists {
            frame: &self.frame,
            centres: self.cells.centre_bytes(),
            heads: &self.heads,
            rows: &self.rows,
            blocks: &self.blocks,
        }
    }
}

/// Lists for so many rows, in so many parts of a whole: √2 times the square root. Twice that makes a build half as fast again and
/// searches of recall .90 to .95 no faster (150,000 × 384).
fn list_count(
    (rows, parts): (usize, usize),
    rows_per_list_min: usize,
    options: &IvfOptions,
) -> usize {
    let wanted = match options.lists {
        0 => {
            let of_whole = rows.saturating_mul(parts.saturating_mul(2)).isqrt();
            of_whole.min((2 * rows).isqrt().max(rows / rows_per_list_min))
        }
        lists => lists as usize,
    };
    wanted.clamp(1, rows.min(LISTS_MAX as usize).max(1))
}

/// Builds the lists of all rows, of which there is at least one. `None` when there are too few rows
/// for the codes asked for. A build that is cancelled ends after the centres are formed, or at the next
/// row.
///
/// Costs per row: one rotation, the comparison with each centre, and a code; and before that, for each
/// list, [`SAMPLE_PER_LIST`] such comparisons three times. With `reuse`, the rows that it holds cost
/// little more than a copy, unless the centres that are `shared` are others. Deterministic for a seed, whatever the number of threads.
pub(crate) fn build_lists(
    rows: &Rows<'_>,
    how: &BuildLists,
    (reuse, shared): (Option<&ReuseLists<'_>>, Option<&SharedCentres>),
    progress: &BuildProgress,
) -> Result<Option<OwnedLists>, VectorError> {
    let count = rows.count();
    if how.options.codes == ListCodes::Product && count < TRAIN_ROWS_MIN {
        return Ok(None);
    }
    progress.begin(BuildPhase::Learn, (0, 0));
    let cells = match shared.and_then(|shared| shared.that_fit(rows, how)) {
        Some(cells) => cells,
        None => {
            let own = match reuse.filter(|reuse| reuse.fits(rows, how)) {
                Some(reuse) => reuse.cells(),
                None => Arc::new(train(rows, how)),
            };
            match shared {
                Some(shared) => shared.offer(own, rows, how),
                None => own,
            }
        }
    };
    let reuse = reuse.filter(|reuse| reuse.is_around(&cells));
    let (frame, centres, coding) = (&cells.frame, &cells.centres, &cells.coding);
    let owns = owns(frame, centres, how.space, rows.kernels);
    let coder = Coder {
        rows,
        space: how.space,
        frame,
        centres,
        owns: &owns,
        coding,
    };
    let mut codes = vec![0; count * coding.codes(rows.numbers)];
    let mut placed = vec![UNPLACED; count];
    if let Some(reuse) = reuse {
        reuse.copy(&mut codes, &mut placed);
    }
    progress.check()?;
    progress.begin(BuildPhase::Encode, (0, count));
    coder.encode(&mut codes, &mut placed, how.threads, progress);
    progress.check()?;
    let error = coder.typical_error((&codes, &placed));
    let squared: f64 = placed.iter().map(|one| f64::from(one.squared)).sum();
    #[allow(clippy::cast_possible_truncation, reason = "rounds")]
    let distortion = (squared / count as f64) as f32;
    let (heads, list_rows, blocks) = arrange((&centres.points.steps, &owns), &codes, &placed);
    Ok(Some(OwnedLists {
        frame: cells.list_frame(error, distortion),
        cells,
        heads,
        rows: list_rows,
        blocks,
    }))
}

/// Everything that is learned from the rows.
fn train(rows: &Rows<'_>, how: &BuildLists) -> Cells {
    let frame = Frame::build(rows, how.seed);
    let lists = how.list_count(rows.count());
    let wanted = rows.count().min(lists * SAMPLE_PER_LIST);
    let mut sample = Points::with_room(rows.numbers, wanted);
    let mut residual = Residual::default();
    let mut floats = vec![0.0; rows.numbers];
    let drawn = spread(rows.count(), wanted, how.seed);
    for &row in &drawn {
        frame.residual(
            rows.floats(row, &mut floats),
            rows.scale(row),
            &mut residual,
        );
        sample.push(&residual.values, rows.kernels);
    }
    let centres = kmeans::train_even(&sample, lists, (how.seed, how.threads), rows.kernels);
    let coding = match product_part(rows, how) {
        None => Coding::Bits,
        Some(part) => {
            let wanted = rows.count().min(BOOK_ROWS);
            let mut scores = Vec::new();
            let mut residuals = Vec::with_capacity(wanted * rows.numbers);
            for row in spread(rows.count(), wanted, how.seed ^ 1) {
                let floats = rows.floats(row, &mut floats);
                frame.residual(floats, rows.scale(row), &mut residual);
                let mut point = Points::new(rows.numbers);
                point.push(&residual.values, rows.kernels);
                let (list, _) = centres.nearest(point.point(0), &mut scores, rows.kernels);
                let centre = centres.points.point(list);
                let first = residuals.len();
                let pairs = residual.values.iter().zip(centre.floats());
                residuals.extend(pairs.map(|(x, c)| x - c));
                let rest = &mut residuals[first..];
                let length = rows.kernels.f32().dot(rest, rest).sqrt();
                if length >= f32::MIN_POSITIVE {
                    direct(rest, length);
                }
            }
            let shape = (rows.numbers, part);
            let trained = ProductQuantizer::train(&residuals, shape, how.seed);
            Coding::Product(trained.expect("the number of rows was checked"))
        }
    };
    Cells::new(frame, coding, centres)
}

/// Dimensions of the product codes that these rows get; `None` for signs.
pub(super) fn product_part(rows: &Rows<'_>, how: &BuildLists) -> Option<usize> {
    how.options.codes.product_part(rows.count(), rows.numbers)
}

/// The part of each list in a distance.
fn owns(frame: &Frame, centres: &Centres, space: Space, kernels: &Kernels) -> Vec<f32> {
    match space {
        Space::L2 => centres.squares.clone(),
        Space::Cosine => centres.squares.iter().map(|square| 0.5 * square).collect(),
        Space::InnerProduct => {
            // The residual of twice the centre is the centre, turned.
            let mut turned = Residual::default();
            frame.residual(&frame.centre, 2.0, &mut turned);
            let own = |at| {
                let centre: Vec<f32> = centres.points.point(at).floats().collect();
                -kernels.f32().dot(&centre, &turned.values)
            };
            (0..centres.points.len()).map(own).collect()
        }
        Space::Hamming | Space::Jaccard | Space::MinHash8 | Space::MinHash32 | Space::MinHash64 => {
            unreachable!("bits have no lists")
        }
    }
}

/// Bytes that building lists takes at most in one of so many parts: per row, and beside that. A row has its codes twice, apart
/// and in its block, and its place; lists have their sample, sums and a block that is not full.
pub(crate) fn lists_memory(
    dimension: usize,
    (rows, parts): (usize, usize),
    options: &IvfOptions,
) -> (usize, usize) {
    let part = options.codes.product_part(rows, dimension);
    let codes = code_count(dimension, part.unwrap_or(SIGNS));
    let block = fast_block_bytes(codes) + FAST_ROWS * size_of::<u32>();
    let row = codes + size_of::<Placed>() + block / FAST_ROWS;
    let lists = list_count((rows, parts), ROWS_PER_LIST_MIN, options);
    let sample = rows.min(lists * SAMPLE_PER_LIST) * (dimension + size_of::<f32>());
    let book = match part {
        None => 0,
        Some(_) => rows.min(BOOK_ROWS) * dimension * size_of::<f32>(),
    };
    let list = block + dimension * (size_of::<f32>() + 2);
    // What is learned from is gone before the rows are encoded.
    let learning = (sample + book).saturating_sub(row * rows);
    (row, learning + lists * list)
}
