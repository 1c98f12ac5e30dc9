//! A query over lists: which of them are nearest, and the scan of one.

use clew_kernels::{FAST_ROWS, FAST_TABLE_BYTES, FastQuery, FastScores, Kernels};
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
    /// What distances in the nearest lists begin with, as far as somebody has asked to remember it.
    starts: Vec<Option<ListStart>>,
}

/// What distances of a list's rows begin with.
#[derive(Debug, Clone, Copy)]
struct ListStart {
    base: f32,
    /// Distance of the query from the list's centre; not known where codes are not of directions.
    beyond: f32,
}

/// What a list is scanned from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    base: f32,
    /// What is allowed for per `scale` of a row.
    of_scale: f32,
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
        self.starts.clear();
        self.sort(probes);
        lists
            .frame
            .coding
            .fill(&self.residual.values, &mut self.tables);
    }

    /// What scans of the lists that were put in order need of a query that was prepared.
    pub(crate) fn prepared(&self) -> ListQuery {
        ListQuery {
            residual: self.residual.clone(),
            tables: self.tables.prepared(),
            order: self.in_order().to_vec(),
            numbers: Vec::new(),
            scores: Vec::new(),
            starts: Vec::new(),
            ..*self
        }
    }

    /// Whether it was prepared, as a whole, for lists such as these.
    pub(crate) fn fits(&self, lists: &Lists<'_>) -> bool {
        let dimension = lists.dimension();
        self.order.len() == lists.heads.len()
            && self.residual.values.len() == dimension
            && self.tables.entries.len() == lists.frame.coding.codes(dimension) * FAST_TABLE_BYTES
    }

    /// Puts the nearest `count` lists in order.
    pub(crate) fn sort(&mut self, count: usize) {
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

    /// What distances of a list's rows begin with. The product with the centre is the query's own here: rounded to bytes, as it
    /// is to find the nearest lists, it errs by more than close rows differ.
    fn start_of(
        &self,
        list: usize,
        lists: &Lists<'_>,
        (space, kernels): (Space, &Kernels),
    ) -> Result<ListStart, DamagedList> {
        let dimension = lists.dimension();
        let centre = lists.centres.get(list * dimension..(list + 1) * dimension);
        let (Some(head), Some(centre)) = (lists.heads.get(list), centre) else {
            return Err(DamagedList);
        };
        let product = head.step * kernels.dot_bytes(&self.residual.values, centre);
        let base = self.base + head.own - weight(space) * product;
        let beyond = match self.slack {
            Slack::None | Slack::OfDistance(_) => 0.0,
            Slack::OfScale(_) => {
                let squared = head.step * head.step * kernels.i8().dot(centre, centre);
                let beyond = self.residual.squared + squared - 2.0 * product;
                beyond.max(0.0).sqrt()
            }
        };
        Ok(ListStart { base, beyond })
    }

    fn allowing(&self, start: ListStart) -> Start {
        let (base, of_scale) = match self.slack {
            Slack::None => (start.base, 0.0),
            Slack::OfDistance(error) => (start.base - error, 0.0),
            Slack::OfScale(error) => (start.base, error * start.beyond),
        };
        Start { base, of_scale }
    }

    /// Where the scan of a list starts.
    fn start(
        &self,
        list: usize,
        lists: &Lists<'_>,
        form: (Space, &Kernels),
    ) -> Result<Start, DamagedList> {
        Ok(self.allowing(self.start_of(list, lists, form)?))
    }

    /// Where the scan of the list starts that is the `rank`-th nearest: remembered for columns with the same centres.
    pub(crate) fn remembered_start(
        &mut self,
        (rank, list): (usize, usize),
        lists: &Lists<'_>,
        form: (Space, &Kernels),
    ) -> Result<Start, DamagedList> {
        let known = self.starts.get(rank).copied().flatten();
        let start = match known {
            Some(start) => start,
            None => self.start_of(list, lists, form)?,
        };
        if known.is_none() {
            let length = self.starts.len().max(rank + 1);
            self.starts.resize(length, None);
            self.starts[rank] = Some(start);
        }
        Ok(self.allowing(start))
    }

    pub(super) fn tables(&self) -> &Tables {
        &self.tables
    }
}

/// Whoever wants the rows of lists that are near a query.
pub(crate) trait Seeker {
    fn query(&self) -> &ListQuery;
    /// Rows that lie farther are not wanted.
    fn limit(&self) -> f32;
    /// Takes a row within the limit.
    fn take(&mut self, one: Ranked);
    /// Where the scan of the list starts that is its `rank`-th nearest.
    fn start(
        &mut self,
        (_rank, list): (usize, usize),
        lists: &Lists<'_>,
        form: (Space, &Kernels),
    ) -> Result<Start, DamagedList> {
        self.query().start(list, lists, form)
    }
}

/// Scans lists by queries.
pub(crate) struct ScanLists<'a> {
    lists: &'a Lists<'a>,
    space: Space,
    row_count: usize,
    kernels: &'static Kernels,
    /// What the last step found, by up to two queries.
    found: [Found; 2],
}

/// Rows of a list that are scanned at a time, and their codes.
#[derive(Clone, Copy)]
struct Step<'a> {
    rows: &'a [u32],
    blocks: &'a [u8],
}

impl<'a> ScanLists<'a> {
    /// Scans of the lists of a column of so many rows.
    pub(crate) fn new(
        (lists, space): (&'a Lists<'a>, Space),
        row_count: usize,
        kernels: &'static Kernels,
    ) -> Self {
        ScanLists {
            lists,
            space,
            row_count,
            kernels,
            found: [(); 2].map(|()| Found {
                distances: [0.0; STEP_BLOCKS * FAST_ROWS],
                near: [0; STEP_BLOCKS],
            }),
        }
    }

    /// Goes over to the lists of another column of the same space.
    pub(crate) fn turn_to(&mut self, lists: &'a Lists<'a>, row_count: usize) {
        (self.lists, self.row_count) = (lists, row_count);
    }

    /// Hands every row of a list that is near enough to its seeker, of which it is the `rank`-th nearest, and answers how many
    /// there are in all. Ends early once the pace says so.
    pub(crate) fn scan(
        &mut self,
        (seeker, pace): (&mut impl Seeker, &mut Pace),
        (rank, list): (usize, usize),
    ) -> Result<u64, DamagedList> {
        let start = seeker.start((rank, list), self.lists, (self.space, self.kernels))?;
        let (count, steps) = self.steps(list)?;
        for step in steps {
            if pace.is_over() {
                break;
            }
            self.scan_step(step, start, seeker)?;
        }
        Ok(count)
    }

    /// The same for several seekers, those that are picked, each with the list's rank for it: what is read of the list is in the cache for all but the first
    /// of them, and taken apart once for two. `starts` is memory to be used again.
    pub(crate) fn scan_for_each<S: Seeker>(
        &mut self,
        (seekers, picks): (&mut [S], impl Iterator<Item = (usize, usize)> + Clone),
        (list, pace): (usize, &mut Pace),
        starts: &mut Vec<Start>,
    ) -> Result<u64, DamagedList> {
        starts.clear();
        for (one, rank) in picks.clone() {
            let form = (self.space, self.kernels);
            starts.push(seekers[one].start((rank, list), self.lists, form)?);
        }
        let (count, steps) = self.steps(list)?;
        for step in steps {
            let mut rest = picks.clone().zip(&*starts);
            while let Some(((one, _), &start)) = rest.next() {
                if pace.is_over() {
                    return Ok(count);
                }
                match rest.next() {
                    Some(((other, _), &other_start)) => {
                        let pair = [(one, start), (other, other_start)];
                        self.scan_step_for_two(step, pair, seekers)?;
                    }
                    None => self.scan_step(step, start, &mut seekers[one])?,
                }
            }
        }
        Ok(count)
    }

    /// How many rows a list has, and the steps that it is gone through in.
    fn steps(
        &self,
        list: usize,
    ) -> Result<(u64, impl Iterator<Item = Step<'a>> + use<'a>), DamagedList> {
        let lists = self.lists;
        let (rows, blocks) = lists.list(list)?;
        let count = rows.len() as u64;
        let blocks = blocks.chunks(STEP_BLOCKS * lists.block_bytes());
        let rows = rows.chunks(STEP_BLOCKS * FAST_ROWS);
        let steps = blocks.zip(rows);
        Ok((count, steps.map(|(blocks, rows)| Step { rows, blocks })))
    }

    fn scan_step(
        &mut self,
        Step { rows, blocks }: Step<'_>,
        start: Start,
        seeker: &mut impl Seeker,
    ) -> Result<(), DamagedList> {
        let [found, _] = &mut self.found;
        let out = found.room_for(rows.len());
        self.kernels.fast_scan(&fast(seeker, start), blocks, out);
        found.hand_over(rows, self.row_count, seeker)
    }

    fn scan_step_for_two<S: Seeker>(
        &mut self,
        Step { rows, blocks }: Step<'_>,
        [(one, start), (other, other_start)]: [(usize, Start); 2],
        seekers: &mut [S],
    ) -> Result<(), DamagedList> {
        let [found, other_found] = &mut self.found;
        let outs = [found.room_for(rows.len()), other_found.room_for(rows.len())];
        let queries = [
            &fast(&seekers[one], start),
            &fast(&seekers[other], other_start),
        ];
        self.kernels.fast_scan_pair(queries, blocks, outs);
        found.hand_over(rows, self.row_count, &mut seekers[one])?;
        other_found.hand_over(rows, self.row_count, &mut seekers[other])
    }
}

/// What a seeker's query makes of codes in a list.
fn fast<'q>(seeker: &'q impl Seeker, start: Start) -> FastQuery<'q> {
    let tables = seeker.query().tables();
    FastQuery {
        tables: &tables.entries,
        base: start.base,
        step: tables.step,
        // Scales are negative.
        offset: tables.offset - start.of_scale,
        limit: seeker.limit(),
    }
}

/// What a step found.
struct Found {
    distances: [f32; STEP_BLOCKS * FAST_ROWS],
    near: [u32; STEP_BLOCKS],
}

impl Found {
    /// Room for what is found among so many rows.
    fn room_for(&mut self, rows: usize) -> FastScores<'_> {
        let blocks = rows.div_ceil(FAST_ROWS);
        FastScores {
            distances: &mut self.distances[..blocks * FAST_ROWS],
            near: &mut self.near[..blocks],
        }
    }

    /// Hands those of `rows` that are near to their seeker, as long as they are within its limit.
    fn hand_over(
        &self,
        rows: &[u32],
        row_count: usize,
        seeker: &mut impl Seeker,
    ) -> Result<(), DamagedList> {
        let blocks = rows.len().div_ceil(FAST_ROWS);
        for (block, &mask) in self.near[..blocks].iter().enumerate() {
            let mut left = mask;
            while left != 0 {
                let place = block * FAST_ROWS + left.trailing_zeros() as usize;
                left &= left - 1;
                // The last block may not be full.
                let Some(&row) = rows.get(place) else { break };
                if row as usize >= row_count {
                    return Err(DamagedList);
                }
                if self.distances[place] <= seeker.limit() {
                    seeker.take(Ranked::new(self.distances[place], row));
                }
            }
        }
        Ok(())
    }
}
