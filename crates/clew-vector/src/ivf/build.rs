//! Lists of a column in the making: centres from a sample, then each row's list and code in one pass.

use std::thread;

use clew_kernels::{FAST_ROWS, FAST_TABLE_BYTES, Kernels, fast_block_bytes};

use crate::Space;
use crate::codes::{Frame, Residual};
use crate::ivf::coding::{Coding, PART, Tables, code_count};
use crate::ivf::kmeans;
use crate::ivf::options::{IvfOptions, LISTS_MAX, ListCodes};
use crate::ivf::points::{Centres, Points};
use crate::ivf::product::{ProductQuantizer, TRAIN_ROWS_MIN};
use crate::ivf::reuse::ReuseLists;
use crate::ivf::{ListFrame, ListHead, NO_ROW, weight};
use crate::random::SplitMix;
use crate::rows::Rows;

/// Rows that centres are formed by, for each of them.
const SAMPLE_PER_LIST: usize = 48;
/// Residuals that a code book is trained on.
const BOOK_ROWS: usize = 4_096;
/// Rows used as queries, and rows measured from each, to learn the typical error.
const ERROR_ROWS: usize = 64;
/// No list yet.
pub(super) const NO_LIST: u32 = u32::MAX;

/// How lists are built.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BuildLists {
    pub(crate) space: Space,
    pub(crate) options: IvfOptions,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
}

/// What an image keeps of lists.
#[derive(Debug)]
pub(crate) struct OwnedLists {
    pub(crate) frame: ListFrame,
    pub(crate) centres: Vec<i8>,
    pub(crate) heads: Vec<ListHead>,
    pub(crate) rows: Vec<u32>,
    pub(crate) blocks: Vec<u8>,
}

/// What a row's code is made with.
pub(super) struct Coder<'a> {
    pub(super) rows: &'a Rows<'a>,
    pub(super) space: Space,
    pub(super) frame: &'a Frame,
    pub(super) centres: &'a Centres,
    /// The part of each list in a distance.
    pub(super) owns: &'a [f32],
    pub(super) coding: &'a Coding,
}

/// A row as lists keep it, but for its code.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    pub(super) list: u32,
    /// `add` and `scale`.
    pub(super) factors: [f32; 2],
    /// Squared length of the residual.
    pub(super) squared: f32,
}

pub(super) const UNPLACED: Placed = Placed {
    list: NO_LIST,
    factors: [0.0; 2],
    squared: 0.0,
};

/// Lists for so many rows: about twice the square root, so that comparing a query with all centres
/// and scanning a few lists cost about the same.
pub(super) fn list_count(rows: usize, options: &IvfOptions) -> usize {
    let wanted = match options.lists {
        0 => (4 * rows).isqrt(),
        lists => lists as usize,
    };
    wanted.clamp(1, rows.min(LISTS_MAX as usize).max(1))
}

/// Builds the lists of all rows, of which there is at least one. `None` when there are too few rows
/// for the codes asked for.
///
/// Costs per row: one rotation, the comparison with each centre, and a code; and before that, for each
/// list, [`SAMPLE_PER_LIST`] such comparisons five times. With `reuse`, the rows that it holds cost
/// little more than a copy. Deterministic for a seed, whatever the number of threads.
pub(crate) fn build_lists(
    rows: &Rows<'_>,
    how: &BuildLists,
    reuse: Option<&ReuseLists<'_>>,
) -> Option<OwnedLists> {
    let count = rows.count();
    if how.options.codes == ListCodes::Product && count < TRAIN_ROWS_MIN {
        return None;
    }
    let reuse = reuse.filter(|reuse| reuse.fits(rows, how));
    let (frame, centres, coding) = match reuse {
        Some(reuse) => reuse.parts(),
        None => train(rows, how),
    };
    let owns = owns(&frame, &centres, how.space, rows.kernels);
    let coder = Coder {
        rows,
        space: how.space,
        frame: &frame,
        centres: &centres,
        owns: &owns,
        coding: &coding,
    };
    let mut codes = vec![0; count * code_count(rows.numbers)];
    let mut placed = vec![UNPLACED; count];
    if let Some(reuse) = reuse {
        reuse.copy(&mut codes, &mut placed);
    }
    coder.encode(&mut codes, &mut placed, how.threads);
    let error = coder.typical_error((&codes, &placed));
    let squared: f64 = placed.iter().map(|one| f64::from(one.squared)).sum();
    #[allow(clippy::cast_possible_truncation, reason = "rounds")]
    let distortion = (squared / count as f64) as f32;
    let (heads, list_rows, blocks) = arrange((&centres.points.steps, &owns), &codes, &placed);
    Some(OwnedLists {
        frame: ListFrame {
            frame,
            coding,
            error,
            distortion,
        },
        centres: centres.points.rows,
        heads,
        rows: list_rows,
        blocks,
    })
}

/// Everything that is learned from the rows.
fn train(rows: &Rows<'_>, how: &BuildLists) -> (Frame, Centres, Coding) {
    let frame = Frame::build(rows, how.seed);
    let lists = list_count(rows.count(), &how.options);
    let wanted = rows.count().min(lists * SAMPLE_PER_LIST);
    let mut sample = Points::new(rows.numbers);
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
    let centres = kmeans::train(&sample, lists, (how.seed, how.threads), rows.kernels);
    let coding = match how.options.codes {
        ListCodes::Bits => Coding::Bits,
        ListCodes::Product => {
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
                let pairs = residual.values.iter().zip(centre.floats());
                residuals.extend(pairs.map(|(x, c)| x - c));
            }
            let shape = (rows.numbers, PART);
            let trained = ProductQuantizer::train(&residuals, shape, how.seed);
            Coding::Product(trained.expect("the number of rows was checked"))
        }
    };
    (frame, centres, coding)
}

/// `wanted` of the rows below `count`, one from each of as many equal spans.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a row number below 2^30"
)]
pub(super) fn spread(count: usize, wanted: usize, seed: u64) -> Vec<u32> {
    let mut random = SplitMix::new(seed);
    let span = count as f64 / wanted.max(1) as f64;
    (0..wanted)
        .map(|at| ((at as f64 + random.unit()) * span) as u32)
        .map(|row| row.min(u32::try_from(count - 1).unwrap_or(u32::MAX)))
        .collect()
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
        Space::Hamming | Space::Jaccard => unreachable!("bits have no lists"),
    }
}

/// Memory of one thread of encoding.
#[derive(Default)]
struct Buffers {
    residual: Residual,
    point: Vec<i8>,
    scores: Vec<f32>,
}

impl Coder<'_> {
    /// Encodes every row that has no list yet.
    fn encode(&self, codes: &mut [u8], placed: &mut [Placed], threads: usize) {
        let width = code_count(self.rows.numbers);
        let share = placed.len().div_ceil(threads.max(1)).max(1);
        let parts = codes
            .chunks_mut(share * width)
            .zip(placed.chunks_mut(share));
        thread::scope(|scope| {
            for (at, (codes, placed)) in parts.enumerate() {
                let first = u32::try_from(at * share).expect("a column holds at most 2^30 rows");
                let work = move || {
                    let mut buffers = Buffers::default();
                    let rows = (first..).zip(codes.chunks_mut(width).zip(placed));
                    for (row, (code, placed)) in rows {
                        if placed.list == NO_LIST {
                            *placed = self.place(row, code, &mut buffers);
                        }
                    }
                };
                if threads > 1 {
                    scope.spawn(work);
                } else {
                    work();
                }
            }
        });
    }

    /// The residual of a row in the column's frame.
    fn residual(&self, row: u32, residual: &mut Residual) {
        let mut floats = vec![0.0; self.rows.numbers];
        let vector = self.rows.floats(row, &mut floats);
        self.frame.residual(vector, self.rows.scale(row), residual);
    }

    fn place(&self, row: u32, code: &mut [u8], buffers: &mut Buffers) -> Placed {
        let kernels = self.rows.kernels;
        let Buffers {
            residual,
            point,
            scores,
        } = buffers;
        self.residual(row, residual);
        point.resize(self.rows.numbers, 0);
        let (step, _) = kernels.quantize_i8(&residual.values, point);
        let numbers = &point[..];
        let found = crate::ivf::points::Point { numbers, step };
        let (list, _) = self.centres.nearest(found, scores, kernels);
        let with_list = self.take_centre(list, &mut residual.values);
        let squared = kernels.f32().dot(&residual.values, &residual.values);
        let scale = self.coding.encode(&residual.values, squared, code);
        let add = match self.space {
            Space::L2 => squared + 2.0 * with_list,
            Space::Cosine => 0.5 * squared + with_list,
            _ => -residual.with_centre - self.owns[list],
        };
        Placed {
            list: u32::try_from(list).expect("the number of lists is limited"),
            factors: [add, -weight(self.space) * scale],
            squared,
        }
    }

    /// Takes a list's centre from a vector, and answers its product with what is left.
    fn take_centre(&self, list: usize, values: &mut [f32]) -> f32 {
        let mut product = 0.0;
        for (value, centre) in values
            .iter_mut()
            .zip(self.centres.points.point(list).floats())
        {
            *value -= centre;
            product += *value * centre;
        }
        product
    }

    /// Root of the mean squared error of estimated distances, per length of the query's residual.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rounds; an error is smaller than a distance"
    )]
    fn typical_error(&self, (codes, placed): (&[u8], &[Placed])) -> f32 {
        let width = code_count(self.rows.numbers);
        let kernels = self.rows.kernels;
        let wanted = placed.len().min(ERROR_ROWS);
        let mut residual = Residual::default();
        let rows = spread(placed.len(), wanted, 1);
        let mut residuals = Vec::with_capacity(wanted);
        for &row in &rows {
            self.residual(row, &mut residual);
            let list = placed[row as usize].list as usize;
            self.take_centre(list, &mut residual.values);
            residuals.push(std::mem::take(&mut residual.values));
        }
        let mut tables = Tables::default();
        let (mut sum, mut count) = (0.0_f64, 0_usize);
        for query in spread(placed.len(), wanted, 2) {
            self.residual(query, &mut residual);
            if residual.squared <= f32::MIN_POSITIVE {
                continue;
            }
            self.coding.fill(&residual.values, &mut tables);
            for (&row, other) in rows.iter().zip(&residuals) {
                let [_, scale] = placed[row as usize].factors;
                let estimate = scale * tables.product(&codes[row as usize * width..][..width]);
                let exact = kernels.f32().dot(&residual.values, other);
                let gap = estimate + weight(self.space) * exact;
                sum += f64::from(gap) * f64::from(gap) / f64::from(residual.squared);
                count += 1;
            }
        }
        (sum / count.max(1) as f64).sqrt() as f32
    }
}

/// Puts rows list by list into blocks, in order of rows.
fn arrange(
    (steps, owns): (&[f32], &[f32]),
    codes: &[u8],
    placed: &[Placed],
) -> (Vec<ListHead>, Vec<u32>, Vec<u8>) {
    let mut heads: Vec<ListHead> = steps
        .iter()
        .zip(owns)
        .map(|(&step, &own)| ListHead {
            step,
            own,
            first_block: 0,
            row_count: 0,
        })
        .collect();
    for one in placed {
        heads[one.list as usize].row_count += 1;
    }
    let mut blocks_before = 0;
    for head in &mut heads {
        head.first_block = u32::try_from(blocks_before).expect("fewer blocks than rows and lists");
        blocks_before += head.block_count();
    }
    let width = codes.len() / placed.len();
    let block_bytes = fast_block_bytes(width);
    let mut rows = vec![NO_ROW; blocks_before * FAST_ROWS];
    let mut blocks = vec![0; blocks_before * block_bytes];
    let mut next: Vec<usize> = heads
        .iter()
        .map(|head| head.first_block as usize * FAST_ROWS)
        .collect();
    for (row, (one, codes)) in (0_u32..).zip(placed.iter().zip(codes.chunks(width))) {
        let place = &mut next[one.list as usize];
        rows[*place] = row;
        let block = &mut blocks[*place / FAST_ROWS * block_bytes..][..block_bytes];
        write_row(block, *place % FAST_ROWS, codes, one.factors);
        *place += 1;
    }
    (heads, rows, blocks)
}

/// Writes one row into its block, whose bytes of this row are zero.
fn write_row(block: &mut [u8], place: usize, codes: &[u8], factors: [f32; 2]) {
    let (interleaved, stored) = block.split_at_mut(codes.len() * FAST_TABLE_BYTES);
    let (byte, shift) = (place % FAST_TABLE_BYTES, place / FAST_TABLE_BYTES * 4);
    for (bytes, code) in interleaved.chunks_mut(FAST_TABLE_BYTES).zip(codes) {
        bytes[byte] |= code << shift;
    }
    let (words, _) = stored.as_chunks_mut::<4>();
    for (which, factor) in factors.into_iter().enumerate() {
        words[which * FAST_ROWS + place] = factor.to_le_bytes();
    }
}

/// Reads what [`write_row`] wrote.
pub(super) fn read_row(block: &[u8], place: usize, codes: &mut [u8]) -> [f32; 2] {
    let (interleaved, stored) = block.split_at(codes.len() * FAST_TABLE_BYTES);
    let (byte, shift) = (place % FAST_TABLE_BYTES, place / FAST_TABLE_BYTES * 4);
    for (bytes, code) in interleaved.chunks(FAST_TABLE_BYTES).zip(codes) {
        *code = bytes[byte] >> shift & 15;
    }
    let (words, _) = stored.as_chunks::<4>();
    [0, 1].map(|which| f32::from_le_bytes(words[which * FAST_ROWS + place]))
}
