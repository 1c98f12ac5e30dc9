//! Where each row goes: its list, its code, and what is kept beside it.

use std::collections::BTreeMap;
use std::thread;

use crate::Space;
use crate::codes::{Frame, Residual};
use crate::ivf::coding::{Coding, Tables, direct};
use crate::ivf::points::{Centres, Point};
use crate::ivf::weight;
use crate::random::spread;
use crate::rows::Rows;
use crate::watch::{BuildProgress, Steps};

/// Rows used as queries, and rows measured from each, to learn the typical error.
const ERROR_ROWS: usize = 64;
/// No list yet.
pub(super) const NO_LIST: u32 = u32::MAX;

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

/// Memory of one thread of encoding.
#[derive(Default)]
struct Buffers {
    floats: Vec<f32>,
    residual: Residual,
    point: Vec<i8>,
    scores: Vec<f32>,
    centre: Vec<f32>,
    decoded: Vec<f32>,
}

impl Coder<'_> {
    /// Encodes every row that has no list yet.
    pub(super) fn encode(
        &self,
        codes: &mut [u8],
        placed: &mut [Placed],
        threads: usize,
        progress: &BuildProgress,
    ) {
        let width = self.coding.codes(self.rows.numbers);
        let share = placed.len().div_ceil(threads.max(1)).max(1);
        let parts = codes
            .chunks_mut(share * width)
            .zip(placed.chunks_mut(share));
        thread::scope(|scope| {
            for (at, (codes, placed)) in parts.enumerate() {
                let first = u32::try_from(at * share).expect("a column holds at most 2^30 rows");
                let mut steps = Steps::new(progress);
                let work = move || {
                    let mut buffers = Buffers::default();
                    let rows = (first..).zip(codes.chunks_mut(width).zip(placed));
                    for (row, (code, placed)) in rows {
                        if placed.list == NO_LIST {
                            *placed = self.place(row, code, &mut buffers);
                        }
                        if !steps.row_done() {
                            return;
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
    fn residual(&self, row: u32, floats: &mut Vec<f32>, residual: &mut Residual) {
        floats.resize(self.rows.numbers, 0.0);
        let vector = self.rows.floats(row, floats);
        self.frame.residual(vector, self.rows.scale(row), residual);
    }

    fn place(&self, row: u32, code: &mut [u8], buffers: &mut Buffers) -> Placed {
        let kernels = self.rows.kernels;
        let Buffers {
            floats,
            residual,
            point,
            scores,
            centre,
            decoded,
        } = buffers;
        self.residual(row, floats, residual);
        point.resize(self.rows.numbers, 0);
        let (step, _) = kernels.quantize_i8(&residual.values, point);
        let numbers = &point[..];
        let found = Point { numbers, step };
        let (list, _) = self.centres.nearest(found, scores, kernels);
        let with_list = self.take_centre(list, &mut residual.values, centre);
        let squared = kernels.f32().dot(&residual.values, &residual.values);
        let (scale, with_code) = self.code(centre, (residual, squared), code, decoded);
        let add = match self.space {
            Space::L2 => squared + 2.0 * with_list,
            Space::Cosine => 0.5 * squared + with_list + self.rows.lacking(row),
            _ => -residual.with_centre - self.owns[list],
        };
        // The product with the query is estimated for what it has beyond the list's centre: the rest is known.
        let weight = weight(self.space);
        Placed {
            list: u32::try_from(list).expect("the number of lists is limited"),
            factors: [
                add - weight * (with_list - scale * with_code),
                -weight * scale,
            ],
            squared,
        }
    }

    /// Codes what is left of a row, and answers what the product of a query with the code is multiplied with to become
    /// that with the residual, without bias for queries along it; and the product of the list's centre with the code.
    fn code(
        &self,
        centre: &[f32],
        (residual, squared): (&mut Residual, f32),
        code: &mut [u8],
        decoded: &mut Vec<f32>,
    ) -> (f32, f32) {
        let length = squared.sqrt();
        if length < f32::MIN_POSITIVE {
            return (0.0, 0.0);
        }
        direct(&mut residual.values, length);
        decoded.resize(self.rows.numbers, 0.0);
        let product = self.coding.encode(&residual.values, code, decoded);
        if product <= 0.0 {
            return (0.0, 0.0);
        }
        let with_code = self.rows.kernels.f32().dot(centre, decoded);
        (length / product, with_code)
    }

    /// Takes a list's centre from a vector, and answers its product with what is left. `centre` becomes the centre.
    fn take_centre(&self, list: usize, values: &mut [f32], centre: &mut Vec<f32>) -> f32 {
        centre.clear();
        centre.extend(self.centres.points.point(list).floats());
        for (value, centre) in values.iter_mut().zip(&*centre) {
            *value -= centre;
        }
        self.rows.kernels.f32().dot(values, centre)
    }

    /// Root of the mean squared error of estimated distances, per distance of the query from the list's centre and
    /// `scale` of the row: from some of the rows to others of their lists, which are those that matter.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "rounds; an error is smaller than a distance"
    )]
    pub(super) fn typical_error(&self, (codes, placed): (&[u8], &[Placed])) -> f32 {
        let width = self.coding.codes(self.rows.numbers);
        let kernels = self.rows.kernels;
        let wanted = placed.len().min(ERROR_ROWS);
        let queries = spread(placed.len(), wanted, 2);
        let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &query in &queries {
            members.insert(placed[query as usize].list, Vec::new());
        }
        for (row, one) in (0_u32..).zip(placed) {
            if let Some(members) = members.get_mut(&one.list)
                && members.len() < ERROR_ROWS
            {
                members.push(row);
            }
        }
        let (mut floats, mut centre) = (Vec::new(), Vec::new());
        let mut residual = Residual::default();
        let mut beyond = |row: u32| {
            self.residual(row, &mut floats, &mut residual);
            let list = placed[row as usize].list as usize;
            self.take_centre(list, &mut residual.values, &mut centre);
            residual.values.clone()
        };
        let mut tables = Tables::default();
        let (mut sum, mut count) = (0.0_f64, 0_usize);
        for &query in &queries {
            let own = beyond(query);
            let squared = kernels.f32().dot(&own, &own);
            self.coding.fill(&own, &mut tables);
            for &row in &members[&placed[query as usize].list] {
                let [_, scale] = placed[row as usize].factors;
                let per = squared * scale * scale;
                if row == query || per <= f32::MIN_POSITIVE {
                    continue;
                }
                let estimate = scale * tables.product(&codes[row as usize * width..][..width]);
                let exact = kernels.f32().dot(&own, &beyond(row));
                let gap = estimate + weight(self.space) * exact;
                sum += f64::from(gap) * f64::from(gap) / f64::from(per);
                count += 1;
            }
        }
        (sum / count.max(1) as f64).sqrt() as f32
    }
}
