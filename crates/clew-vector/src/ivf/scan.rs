//! A query over lists: which of them are nearest, and the scan of one.

use clew_kernels::{FAST_ROWS, FastQuery, Kernels};
use clew_platform::Pace;

use crate::Space;
use crate::codes::Residual;
use crate::ivf::coding::Tables;
use crate::ivf::{DamagedList, ListFrame, Lists, weight};
use crate::rank::Ranked;
use crate::rows::lacking;

/// Rows scanned before the limit is asked for again.
const STEP_BLOCKS: usize = 16;

/// A query in the form that lists are scanned with; kept to be used again.
#[derive(Debug, Default)]
pub(crate) struct ListQuery {
    residual: Residual,
    numbers: Vec<i8>,
    tables: Tables,
    scores: Vec<f32>,
    /// Errors allowed for: apart from the row, or per `scale` of the row and distance from the list's centre.
    slack: Slack,
    /// The query's own part of distances.
    base: f32,
    /// Lists, by the base of their distances; the nearest `sorted` come first and in order.
    order: Vec<Ranked>,
    sorted: usize,
}

/// How many errors a scan allows for.
#[derive(Debug, Default, Clone, Copy)]
enum Slack {
    #[default]
    None,
    /// In units of distance.
    OfDistance(f32),
    /// Per `scale` of a row, and per distance of the query from the centre of the row's list.
    OfScale(f32),
}

impl ListQuery {
    /// Prepares `vector` times `scale`, and finds the `probes` nearest lists. Costs a rotation, a byte
    /// product per centre and dimension, and the tables.
    pub(crate) fn prepare(
        &mut self,
        (lists, space): (&Lists<'_>, Space),
        (vector, scale): (&[f32], f32),
        probes: usize,
        kernels: &Kernels,
    ) {
        let frame = &lists.frame.frame;
        frame.residual(vector, scale, &mut self.residual);
        let values = &self.residual.values;
        self.numbers.resize(values.len(), 0);
        let (step, _) = kernels.quantize_i8(values, &mut self.numbers);
        self.scores.resize(lists.heads.len(), 0.0);
        kernels
            .i8()
            .dot_rows(&self.numbers, lists.centres, &mut self.scores);
        let squared = self.residual.squared;
        let base = match space {
            Space::L2 => squared,
            Space::Cosine => 0.5 * squared + lacking(space, scale),
            // <query, centre>, of which the residual's part was measured before it was turned.
            _ => -(self.residual.with_centre + kernels.f32().dot(&frame.centre, &frame.centre)),
        };
        let step = weight(space) * step;
        (self.slack, self.base) = (Slack::None, base);
        self.order.clear();
        let scored = lists.heads.iter().zip(&self.scores);
        self.order
            .extend((0_u32..).zip(scored).map(|(list, (head, product))| {
                Ranked::new(base + head.own - step * head.step * product, list)
            }));
        self.sorted = 0;
        self.sort(probes);
        lists
            .frame
            .coding
            .fill(&self.residual.values, &mut self.tables);
    }

    /// Puts the nearest `count` lists in order.
    fn sort(&mut self, count: usize) {
        let rest = &mut self.order[self.sorted..];
        let wanted = count.saturating_sub(self.sorted).min(rest.len());
        if wanted > 0 && wanted < rest.len() {
            rest.select_nth_unstable(wanted - 1);
        }
        rest[..wanted].sort_unstable();
        self.sorted += wanted;
    }

    /// The `at`-th nearest list.
    pub(crate) fn list(&mut self, at: usize) -> Option<Ranked> {
        if at >= self.sorted {
            self.sort((2 * at).max(8));
        }
        self.order.get(at).copied()
    }

    /// The lists that were put in order, nearest first.
    pub(crate) fn in_order(&self) -> &[Ranked] {
        &self.order[..self.sorted]
    }

    /// Lets scans answer how near rows may lie at best, rather than how near they seem: so many typical errors nearer.
    pub(crate) fn allow_errors(&mut self, frame: &ListFrame, errors: f32) {
        let error = errors * frame.error;
        self.slack = if frame.is_of_directions {
            Slack::OfScale(error)
        } else {
            Slack::OfDistance(error * self.residual.squared.sqrt())
        };
    }

    /// What distances of a list's rows begin with, and what is allowed for per `scale` of a row. The product with the centre
    /// is the query's own here: rounded to bytes, as it is to find the nearest lists, it errs by more than close rows differ.
    fn start_in(
        &self,
        lists: &Lists<'_>,
        list: Ranked,
        (space, kernels): (Space, &Kernels),
    ) -> (f32, f32) {
        let (at, dimension) = (list.row() as usize, lists.dimension());
        let centre = lists.centres.get(at * dimension..(at + 1) * dimension);
        let (Some(head), Some(centre)) = (lists.heads.get(at), centre) else {
            return (list.distance(), 0.0);
        };
        let product = head.step * product(&self.residual.values, centre);
        let base = self.base + head.own - weight(space) * product;
        match self.slack {
            Slack::None => (base, 0.0),
            Slack::OfDistance(error) => (base - error, 0.0),
            Slack::OfScale(error) => {
                let squared = head.step * head.step * kernels.i8().dot(centre, centre);
                let beyond = (self.residual.squared + squared - 2.0 * product).max(0.0);
                (base, error * beyond.sqrt())
            }
        }
    }

    pub(super) fn tables(&self) -> &Tables {
        &self.tables
    }
}

/// Scans lists by a query.
pub(crate) struct ScanLists<'a> {
    pub(crate) lists: &'a Lists<'a>,
    pub(crate) space: Space,
    pub(crate) row_count: usize,
    pub(crate) kernels: &'static Kernels,
}

impl ScanLists<'_> {
    /// Offers every row of a list that is near enough, and answers how many there are in all.
    /// `offer` takes a row and answers the limit from then on. Ends early once the pace says so.
    pub(crate) fn scan(
        &self,
        (query, pace): (&ListQuery, &mut Pace),
        list: Ranked,
        mut limit: f32,
        mut offer: impl FnMut(Ranked) -> f32,
    ) -> Result<u64, DamagedList> {
        let (rows, blocks) = self.lists.list(list.row() as usize)?;
        let tables = query.tables();
        let (base, of_scale) = query.start_in(self.lists, list, (self.space, self.kernels));
        let mut distances = [0.0; STEP_BLOCKS * FAST_ROWS];
        let mut near = [0; STEP_BLOCKS];
        let steps = blocks.chunks(STEP_BLOCKS * self.lists.block_bytes());
        for (blocks, rows) in steps.zip(rows.chunks(STEP_BLOCKS * FAST_ROWS)) {
            if pace.is_over() {
                break;
            }
            let block_count = rows.len().div_ceil(FAST_ROWS);
            let fast = FastQuery {
                tables: &tables.entries,
                base,
                step: tables.step,
                // Scales are negative.
                offset: tables.offset - of_scale,
                limit,
            };
            let distances = &mut distances[..block_count * FAST_ROWS];
            let near = &mut near[..block_count];
            self.kernels.fast_scan(&fast, blocks, distances, near);
            for (at, &mask) in near.iter().enumerate() {
                let mut left = mask;
                while left != 0 {
                    let place = at * FAST_ROWS + left.trailing_zeros() as usize;
                    left &= left - 1;
                    // The last block may not be full.
                    let Some(&row) = rows.get(place) else { break };
                    if row as usize >= self.row_count {
                        return Err(DamagedList);
                    }
                    if distances[place] <= limit {
                        limit = offer(Ranked::new(distances[place], row));
                    }
                }
            }
        }
        Ok(rows.len() as u64)
    }
}

/// The product of a vector with one of bytes.
fn product(values: &[f32], bytes: &[i8]) -> f32 {
    const LANES: usize = 16;
    let mut sums = [0.0_f32; LANES];
    let ((blocks, tail), (byte_blocks, byte_tail)) =
        (values.as_chunks::<LANES>(), bytes.as_chunks::<LANES>());
    for (block, bytes) in blocks.iter().zip(byte_blocks) {
        for ((sum, value), byte) in sums.iter_mut().zip(block).zip(bytes) {
            *sum += value * f32::from(*byte);
        }
    }
    let rest = tail.iter().zip(byte_tail);
    let rest: f32 = rest.map(|(value, byte)| value * f32::from(*byte)).sum();
    sums.iter().sum::<f32>() + rest
}
