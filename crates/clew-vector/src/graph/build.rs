//! Builds the graph by inserting one row after the other. One thread, one seed: the same rows in
//! the same order give the same graph on CPUs with the same instruction set.

use crate::graph::select::select;
use crate::graph::twins::Twins;
use crate::graph::{BeamLimits, Entry, Graph, LEVELS_MAX, NONE, Open, Start, beam, descend};
use crate::rank::Ranked;
use crate::rows::{Probe, RowProbe, Rows};
use crate::scratch::Scratch;

/// How to build.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BuildOptions {
    pub(crate) m: usize,
    pub(crate) ef_construction: usize,
    pub(crate) seed: u64,
}

/// A graph that owns its numbers; the fields are those of [`Graph`].
#[derive(Debug)]
pub(crate) struct OwnedGraph {
    pub(crate) row_count: usize,
    pub(crate) m: usize,
    pub(crate) stride: usize,
    pub(crate) links: Vec<u32>,
    pub(crate) upper_rows: Vec<u32>,
    pub(crate) upper_starts: Vec<u32>,
    pub(crate) upper_links: Vec<u32>,
    pub(crate) entry: Entry,
}

impl OwnedGraph {
    pub(crate) fn view(&self) -> Graph<'_> {
        Graph {
            row_count: self.row_count,
            m: self.m,
            stride: self.stride,
            links: &self.links,
            upper_rows: &self.upper_rows,
            upper_starts: &self.upper_starts,
            upper_links: &self.upper_links,
            entry: self.entry,
        }
    }
}

/// Builds the graph over all rows, of which there is at least one.
pub(crate) fn build(rows: Rows<'_>, options: &BuildOptions) -> OwnedGraph {
    let twins = Twins::find(&rows);
    let mut builder = Builder::new(rows, options, &twins);
    for row in (0_u32..)
        .take(rows.count())
        .skip(1)
        .filter(|&row| !twins.contains(row))
    {
        builder.insert(row);
    }
    twins.attach(&mut builder.graph.links, builder.graph.stride);
    builder.graph
}

struct Builder<'a> {
    rows: Rows<'a>,
    options: BuildOptions,
    graph: OwnedGraph,
    /// Upper index of each row, or [`NONE`].
    uppers: Vec<u32>,
    scratch: Scratch,
    buffers: Buffers,
}

#[derive(Default)]
struct Buffers {
    candidates: Vec<Ranked>,
    neighbours: Vec<u32>,
    kept: Vec<u32>,
    list: Vec<u32>,
    distances: Vec<f32>,
}

impl<'a> Builder<'a> {
    /// A graph whose only linked row is row 0. Levels are drawn here, so that all lists have their
    /// place from the start.
    fn new(rows: Rows<'a>, options: &BuildOptions, twins: &Twins) -> Self {
        let (row_count, m) = (rows.count(), options.m);
        let stride = 2 * m;
        let mut random = SplitMix(options.seed);
        let mut uppers = vec![NONE; row_count];
        let (mut upper_rows, mut upper_starts) = (Vec::new(), vec![0]);
        let mut lists = 0;
        for (row, upper) in (0_u32..).zip(&mut uppers) {
            let level = random.level(m);
            if level > 0 && !twins.contains(row) {
                *upper = u32::try_from(upper_rows.len()).expect("fewer than rows");
                lists += level;
                upper_rows.push(row);
                upper_starts.push(lists);
            }
        }
        let graph = OwnedGraph {
            row_count,
            m,
            stride,
            links: vec![NONE; row_count * stride],
            upper_links: vec![NONE; lists as usize * m],
            upper_rows,
            upper_starts,
            entry: Entry {
                row: 0,
                upper: uppers[0],
            },
        };
        let (scratch, buffers) = (Scratch::default(), Buffers::default());
        Builder {
            rows,
            options: *options,
            graph,
            uppers,
            scratch,
            buffers,
        }
    }

    fn insert(&mut self, row: u32) {
        let upper = self.uppers[row as usize];
        let level = self.level_of(upper);
        let top = self.graph.view().top();
        let probe = self.rows.probe_row(row);
        let mut at = descend(
            &self.graph.view(),
            &probe,
            level.min(top),
            &mut self.scratch,
        )
        .expect("the builder links only rows that exist");
        for level in (1..=level.min(top)).rev() {
            at = Some(self.insert_upper(level, (row, upper), at));
        }
        self.insert_base(row, at);
        if level > top {
            self.graph.entry = Entry { row, upper };
        }
    }

    fn level_of(&self, upper: u32) -> u32 {
        if upper == NONE {
            return 0;
        }
        let at = upper as usize;
        self.graph.upper_starts[at + 1] - self.graph.upper_starts[at]
    }

    fn limits(&self) -> BeamLimits {
        let ef = self.options.ef_construction;
        BeamLimits {
            ef,
            pool_max: ef,
            measured_max: u64::MAX,
        }
    }

    fn insert_base(&mut self, row: u32, at: Option<Start>) {
        let probe = self.rows.probe_row(row);
        let start = match at {
            Some(at) => Start {
                node: self.graph.upper_rows[at.node as usize],
                distance: at.distance,
            },
            None => {
                let entry = self.graph.entry.row;
                Start {
                    node: entry,
                    distance: self.rows.between(row, entry),
                }
            }
        };
        let limits = self.limits();
        let layer = self.graph.view().base();
        beam((&layer, &probe, &Open), start, limits, &mut self.scratch)
            .expect("the builder links only rows that exist");
        let buffers = &mut self.buffers;
        let max = self.options.m;
        select(
            &self.rows,
            self.scratch.pool.all(),
            max,
            &mut buffers.neighbours,
        );
        let stride = self.graph.stride;
        set_list(
            &mut self.graph.links,
            row as usize,
            stride,
            &buffers.neighbours,
        );
        for index in 0..self.buffers.neighbours.len() {
            let neighbour = self.buffers.neighbours[index];
            self.link_base(neighbour, row);
        }
    }

    /// Adds `row` to the list of `from`; a full list is chosen anew.
    fn link_base(&mut self, from: u32, row: u32) {
        let stride = self.graph.stride;
        let list = &mut self.graph.links[from as usize * stride..][..stride];
        if let Some(free) = list.iter_mut().find(|slot| **slot == NONE) {
            *free = row;
            return;
        }
        self.buffers.list.clear();
        self.buffers.list.extend_from_slice(list);
        self.buffers.list.push(row);
        self.prune(from, stride);
        set_list(
            &mut self.graph.links,
            from as usize,
            stride,
            &self.buffers.kept,
        );
    }

    /// Chooses among the rows in `buffers.list` anew, for the list of `centre`.
    fn prune(&mut self, centre: u32, max: usize) {
        let Buffers {
            candidates,
            kept,
            list,
            distances,
            ..
        } = &mut self.buffers;
        let probe = self.rows.probe_row(centre);
        for &row in list.iter() {
            probe.prefetch(row);
        }
        probe.rank(list, distances, candidates);
        select(&self.rows, candidates, max, kept);
    }

    /// Links a row on one upper level, and answers where to go on below.
    fn insert_upper(&mut self, level: u32, (row, upper): (u32, u32), at: Option<Start>) -> Start {
        let start = at.unwrap_or_else(|| {
            let Entry {
                row: entry,
                upper: node,
            } = self.graph.entry;
            Start {
                node,
                distance: self.rows.between(row, entry),
            }
        });
        let limits = self.limits();
        let graph = self.graph.view();
        let layer = graph.layer(level);
        let probe = UpperProbe {
            inner: self.rows.probe_row(row),
            rows: graph.upper_rows,
        };
        beam((&layer, &probe, &Open), start, limits, &mut self.scratch)
            .expect("the builder links only rows that exist");
        let found = self.scratch.pool.all();
        let best = Start {
            node: found[0].row(),
            distance: found[0].distance(),
        };
        let buffers = &mut self.buffers;
        buffers.candidates.clear();
        for one in found {
            let row = graph.upper_rows[one.row() as usize];
            buffers.candidates.push(Ranked::new(one.distance(), row));
        }
        let max = self.options.m;
        select(
            &self.rows,
            &buffers.candidates,
            max,
            &mut buffers.neighbours,
        );
        self.set_upper(level, upper);
        for index in 0..self.buffers.neighbours.len() {
            let neighbour = self.buffers.neighbours[index];
            self.link_upper(level, neighbour, row);
        }
        best
    }

    /// Writes `buffers.neighbours`, which are rows, as the list of `upper`.
    fn set_upper(&mut self, level: u32, upper: u32) {
        self.buffers.list.clear();
        for &row in &self.buffers.neighbours {
            self.buffers.list.push(self.uppers[row as usize]);
        }
        let at = (self.graph.upper_starts[upper as usize] + level - 1) as usize;
        set_list(
            &mut self.graph.upper_links,
            at,
            self.graph.m,
            &self.buffers.list,
        );
    }

    fn link_upper(&mut self, level: u32, from: u32, row: u32) {
        let from_upper = self.uppers[from as usize];
        let at = (self.graph.upper_starts[from_upper as usize] + level - 1) as usize;
        let list = &mut self.graph.upper_links[at * self.graph.m..][..self.graph.m];
        if let Some(free) = list.iter_mut().find(|slot| **slot == NONE) {
            *free = self.uppers[row as usize];
            return;
        }
        self.buffers.list.clear();
        for &upper in list.iter() {
            self.buffers
                .list
                .push(self.graph.upper_rows[upper as usize]);
        }
        self.buffers.list.push(row);
        self.prune(from, self.options.m);
        for kept in &mut self.buffers.kept {
            *kept = self.uppers[*kept as usize];
        }
        set_list(
            &mut self.graph.upper_links,
            at,
            self.graph.m,
            &self.buffers.kept,
        );
    }
}

fn set_list(links: &mut [u32], at: usize, slots: usize, list: &[u32]) {
    let target = &mut links[at * slots..][..slots];
    target[..list.len()].copy_from_slice(list);
    target[list.len()..].fill(NONE);
}

/// Measures nodes of an upper level, which are numbered by upper index.
struct UpperProbe<'a> {
    inner: RowProbe<'a>,
    rows: &'a [u32],
}

impl Probe for UpperProbe<'_> {
    fn measure(&self, nodes: &[u32], distances: &mut [f32]) {
        for (node, distance) in nodes.iter().zip(distances) {
            let row = self.rows[*node as usize];
            self.inner.measure(&[row], std::slice::from_mut(distance));
        }
    }

    fn prefetch(&self, node: u32) {
        self.inner.prefetch(self.rows[node as usize]);
    }
}

/// Small seeded generator for the levels.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Level of a new row: each one holds an `m`-th of the rows of the level below.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a logarithm of 53 random bits is between 0 and 37"
    )]
    fn level(&mut self, m: usize) -> u32 {
        let unit = ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        let level = -unit.ln() / (m as f64).ln();
        (level as u32).min(LEVELS_MAX)
    }
}
