//! One thread's part of a build: finds a row's neighbours, and links them both ways.

use std::sync::atomic::AtomicU32;

use crate::graph::build::BuildOptions;
use crate::graph::grow::{Growing, Lists};
use crate::graph::memory::WalkMemory;
use crate::graph::metric::{Metric, Refine};
use crate::graph::select::{select, select_again};
use crate::graph::{BeamLimits, EntryPoint, Graph, Open, Start, beam, descend};
use crate::rank::Ranked;
use crate::rows::Probe;

/// One thread's part of a build.
pub(super) struct Inserter<'a, M: Metric> {
    metric: &'a M,
    growing: &'a Growing,
    options: &'a BuildOptions,
    query: M::Query,
    memory: WalkMemory,
    buffers: Buffers,
}

#[derive(Default)]
struct Buffers {
    /// Candidates for a list, ordered; by row, whatever the level.
    candidates: Vec<Ranked>,
    neighbours: Vec<u32>,
    kept: Vec<u32>,
    /// Of these, those that come to others.
    fresh: Vec<u32>,
    list: Vec<u32>,
    distances: Vec<f32>,
    refine: Refine,
}

impl<'a, M: Metric> Inserter<'a, M> {
    pub(super) fn new(metric: &'a M, growing: &'a Growing, options: &'a BuildOptions) -> Self {
        Inserter {
            metric,
            growing,
            options,
            query: M::Query::default(),
            memory: WalkMemory::default(),
            buffers: Buffers::default(),
        }
    }

    /// Finds the neighbours of a row and links it.
    pub(super) fn insert(&mut self, row: u32) {
        self.metric.load(row, &mut self.query);
        let graph = self.growing.view();
        let upper = self.growing.upper_index(row);
        let (level, top) = (self.growing.level(upper), graph.top());
        let mut at = self.descend(&graph, level.min(top));
        let mut upper_neighbours = Vec::new();
        for level in (1..=level.min(top)).rev() {
            at = self.find_upper(&graph, level, at);
            self.choose(row, self.options.upper_slots);
            upper_neighbours.push(std::mem::take(&mut self.buffers.neighbours));
        }
        if top > 0 {
            at.node = graph.upper_rows[at.node as usize];
        }
        self.find_base(&graph, at);
        self.choose(row, self.options.base_slots * 2 / 3);
        self.link_base(row);
        // From below: whoever comes down through this row must find a way on.
        for (level, neighbours) in (1..).zip(upper_neighbours.into_iter().rev()) {
            self.buffers.neighbours = neighbours;
            self.link_upper(row, level);
        }
        if level > top {
            self.growing.raise_entry(row);
        }
    }

    /// Walks down to the level above `floor`, or stays at the entry.
    fn descend(&mut self, graph: &Graph<'_, AtomicU32>, floor: u32) -> Start {
        let probe = self.metric.probe(&self.query);
        descend(graph, &probe, floor, &mut self.memory)
            .expect("the builder links only rows that exist")
            .unwrap_or_else(|| entry_start(graph, &probe))
    }

    fn limits(&self) -> BeamLimits {
        BeamLimits::unbounded(self.options.ef)
    }

    /// Finds candidates on level 0.
    fn find_base(&mut self, graph: &Graph<'_, AtomicU32>, at: Start) {
        let probe = self.metric.probe(&self.query);
        let parts = (&graph.base(), &probe, &Open);
        beam(parts, at, self.limits(), &mut self.memory)
            .expect("the builder links only rows that exist");
        self.buffers.candidates.clear();
        self.buffers
            .candidates
            .extend_from_slice(self.memory.pool.all());
    }

    /// Finds candidates on an upper level, and answers where to go on below.
    fn find_upper(&mut self, graph: &Graph<'_, AtomicU32>, level: u32, at: Start) -> Start {
        let inner = self.metric.probe(&self.query);
        let rows = graph.upper_rows;
        let probe = UpperProbe { inner, rows };
        let parts = (&graph.layer(level), &probe, &Open);
        beam(parts, at, self.limits(), &mut self.memory)
            .expect("the builder links only rows that exist");
        let found = self.memory.pool.all();
        let by_row = |one: &Ranked| Ranked::new(one.distance(), rows[one.row() as usize]);
        self.buffers.candidates.clear();
        self.buffers.candidates.extend(found.iter().map(by_row));
        Start {
            node: found[0].row(),
            distance: found[0].distance(),
        }
    }

    /// Chooses the neighbours of a new row among the candidates.
    fn choose(&mut self, row: u32, max: usize) {
        let buffers = &mut self.buffers;
        // A thread that inserts a neighbour at the same time may have linked to this row already.
        buffers.candidates.retain(|one| one.row() != row);
        self.metric
            .refine(row, &mut buffers.candidates, &mut buffers.refine);
        select(
            self.metric,
            &buffers.candidates,
            max,
            &mut buffers.neighbours,
        );
    }

    fn link_base(&mut self, row: u32) {
        let (growing, lists) = (self.growing, &self.growing.base);
        {
            let _lock = lists.lock(row as usize);
            let own = self.buffers.neighbours.iter().copied();
            merge_into(lists, row as usize, own);
        }
        for index in 0..self.buffers.neighbours.len() {
            let from = self.buffers.neighbours[index];
            let _lock = lists.lock(from as usize);
            if lists.push(from as usize, row) {
                continue;
            }
            self.buffers.list.clear();
            self.buffers.list.extend(growing.base.nodes(from as usize));
            self.buffers.list.push(row);
            let settled = lists.settled(from as usize);
            self.prune(from, self.options.base_slots, settled);
            let kept = self.buffers.kept.iter().copied();
            lists.set_chosen(from as usize, (kept, self.buffers.kept.len()));
        }
    }

    fn link_upper(&mut self, row: u32, level: u32) {
        let (growing, lists) = (self.growing, &self.growing.upper);
        let own_upper = growing.upper_index(row);
        let own = growing.upper_list(own_upper, level);
        {
            let _lock = lists.lock(own);
            let neighbours = self.buffers.neighbours.iter();
            merge_into(
                lists,
                own,
                neighbours.map(|&near| growing.upper_index(near)),
            );
        }
        for index in 0..self.buffers.neighbours.len() {
            let from = self.buffers.neighbours[index];
            let list = growing.upper_list(growing.upper_index(from), level);
            let _lock = lists.lock(list);
            if lists.push(list, own_upper) {
                continue;
            }
            self.buffers.list.clear();
            let rows = lists
                .nodes(list)
                .map(|node| growing.upper_rows[node as usize]);
            self.buffers.list.extend(rows);
            self.buffers.list.push(row);
            self.prune(from, self.options.upper_slots, lists.settled(list));
            let kept = self.buffers.kept.iter();
            let kept = kept.map(|&near| growing.upper_index(near));
            lists.set_chosen(list, (kept, self.buffers.kept.len()));
        }
    }

    /// Chooses among the rows in `buffers.list` anew, for the list of `centre`; so many at its front were chosen together.
    fn prune(&mut self, centre: u32, max: usize, settled: usize) {
        let Buffers {
            candidates,
            kept,
            fresh,
            list,
            distances,
            ..
        } = &mut self.buffers;
        list.iter().for_each(|&row| self.metric.prefetch(row));
        distances.resize(list.len(), 0.0);
        self.metric.measure(centre, list, distances);
        candidates.clear();
        let pairs = list.iter().zip(&*distances);
        candidates.extend(pairs.map(|(&row, &distance)| Ranked::new(distance, row)));
        candidates.sort_unstable();
        let known = list.get(..settled).unwrap_or_default();
        select_again(self.metric, candidates, (known, max), (kept, fresh));
    }

    /// Copies a list of level 0 into the shorter one of an image.
    pub(super) fn finish_list(&mut self, row: usize, list: &mut [u32]) {
        let buffers = &mut self.buffers;
        buffers.list.clear();
        buffers.list.extend(self.growing.base.nodes(row));
        if buffers.list.len() > list.len() {
            let centre = u32::try_from(row).expect("a column holds at most 2^30 rows");
            let settled = self.growing.base.settled(row);
            self.prune(centre, list.len(), settled);
            std::mem::swap(&mut self.buffers.list, &mut self.buffers.kept);
        }
        let found = &self.buffers.list;
        list[..found.len()].copy_from_slice(found);
    }
}

/// Writes the list of a new row. Rows that were inserted meanwhile may have put themselves there;
/// they stay as far as there is room.
fn merge_into(lists: &Lists, list: usize, own: impl Iterator<Item = u32> + Clone) {
    let early: Vec<u32> = lists.nodes(list).collect();
    let others = early
        .into_iter()
        .filter(|node| own.clone().all(|other| other != *node));
    let others: Vec<u32> = others.collect();
    let chosen = own.clone().count();
    lists.set_chosen(list, (own.chain(others), chosen));
}

fn entry_start(graph: &Graph<'_, AtomicU32>, probe: &impl Probe) -> Start {
    let EntryPoint { row, upper } = graph.entry;
    let mut distance = [0.0];
    probe.measure(&[row], &mut distance);
    Start {
        node: if graph.top() > 0 { upper } else { row },
        distance: distance[0],
    }
}

/// Measures nodes of an upper level, which are numbered by upper index.
struct UpperProbe<'a, P> {
    inner: P,
    rows: &'a [u32],
}

impl<P: Probe> Probe for UpperProbe<'_, P> {
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
