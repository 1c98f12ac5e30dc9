//! A query over lists: which of them are nearest, and the scan of one.

use clew_kernels::{FAST_ROWS, FastQuery, Kernels};
use clew_platform::Pace;

use crate::Space;
use crate::codes::Residual;
use crate::ivf::coding::Tables;
use crate::ivf::{DamagedList, Lists, weight};
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
    /// Lists, by the base of their distances; the nearest `sorted` come first and in order.
    order: Vec<Ranked>,
    sorted: usize,
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

    /// Length of the query's residual.
    pub(crate) fn length(&self) -> f32 {
        self.residual.squared.sqrt()
    }

    pub(super) fn tables(&self) -> &Tables {
        &self.tables
    }
}

/// Scans lists by a query.
pub(crate) struct ScanLists<'a> {
    pub(crate) lists: &'a Lists<'a>,
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
                base: list.distance(),
                step: tables.step,
                offset: tables.offset,
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
