//! The walk: greedy down the upper levels, then a beam over one level.

use clew_platform::Pace;

use crate::graph::gate::Gate;
use crate::graph::memory::{Pool, WalkMemory};
use crate::graph::{DamagedGraph, Graph, Layer, Slot};
use crate::rank::Ranked;
use crate::rows::Probe;

/// A node to start from, and its distance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    pub(crate) node: u32,
    pub(crate) distance: f32,
}

/// When a beam ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BeamLimits {
    /// Candidates to keep that pass the gate.
    pub(crate) ef: usize,
    /// Candidates to keep in all.
    pub(crate) pool_max: usize,
    /// Distances that the beam may take; it gives up as soon as it sees that it will need more.
    pub(crate) measured_max: u64,
    /// What lies farther is expanded only as far as it takes to find the way.
    pub(crate) horizon: f32,
    /// Candidates that are followed beyond the horizon, at least one; see [`way`].
    pub(crate) way: usize,
    /// A node that is passed over as if it were not there.
    pub(crate) hidden: Option<u32>,
}

/// Distances that a walk takes per candidate it keeps (743 for 24, 1,611 for 64, 2,515 for 110, on
/// 150,000 × 384 vectors of a sentence model).
pub(crate) const DISTANCES_PER_EF: u64 = 28;
/// A forecast is off by up to this factor.
const FORECAST_ERROR: u64 = 2;

/// Candidates expanded per hop: the more rows are on their way at once, the less each one waits. Two
/// cost 4 % more distances than one, and 9 % less time at equal recall.
const WIDE: usize = 2;

/// How a beam ended, and the distances it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walked {
    /// No candidate was left to expand.
    Through(u64),
    /// It would have taken more distances than it may.
    GivenUp(u64),
}

impl Walked {
    /// The distances that the beam took.
    pub(crate) fn measured(self) -> u64 {
        match self {
            Walked::Through(measured) | Walked::GivenUp(measured) => measured,
        }
    }
}

/// Candidates that a beam follows beyond its horizon where the whole keeps so many: with fewer it does not find the way to
/// what lies before it, and with more it finds what the whole would miss. Three quarters of the root, rounded, give 18
/// graphs the recall of one within .002, or more (16 to 256 candidates; 40,000 vectors of 1,024 dimensions, 200,000 of 128).
pub(crate) fn way(candidates: usize) -> usize {
    let twice = (candidates.saturating_mul(9) / 4).isqrt();
    twice.div_ceil(2).max(2)
}

impl BeamLimits {
    /// Keeps `ef` candidates, and goes on until none is left to expand.
    pub(crate) fn unbounded(ef: usize) -> Self {
        BeamLimits {
            ef,
            pool_max: ef,
            measured_max: u64::MAX,
            horizon: f32::INFINITY,
            way: 1,
            hidden: None,
        }
    }

    /// Whether the candidate at a place of the pool is to be expanded.
    #[inline]
    fn includes(&self, pool: &Pool, place: usize) -> bool {
        let candidate = pool.all().get(place);
        candidate.is_some_and(|one| place < self.way || one.distance() <= self.horizon)
    }

    /// A candidate has to be nearer than this to be expanded ever.
    #[inline]
    fn nearest_wanted(&self, pool: &Pool) -> f32 {
        match pool.all().get(self.way - 1) {
            Some(last) => pool.limit().min(self.horizon.max(last.distance())),
            None => f32::INFINITY,
        }
    }
}

/// Walks greedily from the entry down to the level above `floor`, and answers the upper index and
/// distance of where it arrived; `None` when the entry itself is not above `floor`.
pub(crate) fn descend<P: Probe, S: Slot>(
    graph: &Graph<'_, S>,
    probe: &P,
    floor: u32,
    memory: &mut WalkMemory,
) -> Result<Option<Start>, DamagedGraph> {
    if graph.top() <= floor {
        return Ok(None);
    }
    let mut at = Start {
        node: graph.entry.upper,
        distance: 0.0,
    };
    let mut distance = [0.0];
    probe.measure(&[graph.row_of_upper(at.node)?], &mut distance);
    at.distance = distance[0];
    // What was measured once is no nearer than where the walk stands, on whichever level it is met again.
    memory.visited_above.start(graph.upper_rows.len());
    memory.visited_above.visit(at.node);
    for level in (floor + 1..=graph.top()).rev() {
        let layer = graph.layer(level);
        while let Some(better) = nearest_neighbour(graph, &layer, probe, at, memory)? {
            at = better;
        }
    }
    if memory.visited_above.met_stray() {
        return Err(DamagedGraph);
    }
    Ok(Some(at))
}

/// The nearest neighbour of `at` that was not measured before, if it is nearer than `at` itself.
fn nearest_neighbour<P: Probe, S: Slot>(
    graph: &Graph<'_, S>,
    layer: &impl Layer,
    probe: &P,
    at: Start,
    memory: &mut WalkMemory,
) -> Result<Option<Start>, DamagedGraph> {
    // A list that another thread writes may change between two looks, so it is read once.
    let (rows, nodes) = (&mut memory.fresh, &mut memory.nodes);
    rows.clear();
    nodes.clear();
    let list = layer.neighbours(at.node);
    memory.visited_above.add_fresh(list, nodes);
    for &node in nodes.as_slice() {
        let row = graph.row_of_upper(node)?;
        probe.prefetch(row);
        rows.push(row);
    }
    let distances = at_least(&mut memory.distances, rows.len());
    probe.measure(rows.as_slice(), distances);
    let mut best = None;
    let mut limit = at.distance;
    for (&node, &distance) in nodes.as_slice().iter().zip(&*distances) {
        if distance < limit {
            limit = distance;
            best = Some(Start { node, distance });
        }
    }
    Ok(best)
}

/// The first `len` of some numbers, of which there may be too few.
#[inline]
fn at_least(distances: &mut Vec<f32>, len: usize) -> &mut [f32] {
    if distances.len() < len {
        distances.resize(len, 0.0);
    }
    &mut distances[..len]
}

/// Beam search over one level; leaves the candidates in `memory.pool`.
///
/// Where the request that the thread works for is over, the walk ends where it is; whoever takes its candidates for the nearest
/// asks for that. Each hop makes four passes: keep the neighbours not seen yet, prefetch them all, measure them
/// all, and insert the few that are near enough. So the reads of a hop overlap, and no pass
/// branches on something that cannot be predicted.
#[inline(never)]
pub(crate) fn beam<L: Layer, P: Probe, G: Gate>(
    (layer, probe, gate): (&L, &P, &G),
    start: Start,
    limits: BeamLimits,
    memory: &mut WalkMemory,
) -> Result<Walked, DamagedGraph> {
    let WalkMemory {
        visited,
        pool,
        fresh,
        distances,
        found,
        ..
    } = memory;
    visited.start(layer.node_count());
    pool.start(limits.ef, limits.pool_max);
    let seen = limits.hidden.into_iter().chain([start.node]);
    seen.for_each(|node| _ = visited.visit(node));
    pool.offer(
        &mut [Ranked::new(start.distance, start.node).mark_passing(gate.admits(start.node))],
    );
    let (mut cursor, mut measured) = (0, 0);
    let mut forecast_at = DISTANCES_PER_EF * limits.ef as u64;
    // Builds run under no request's token, so their graphs are never cut short.
    let mut pace = Pace::of_blocks();
    while limits.includes(pool, cursor) && !pace.is_over() {
        if measured > forecast_at {
            forecast_at = measured * 2;
            if pool.forecast() > limits.measured_max.saturating_mul(FORECAST_ERROR) {
                return Ok(Walked::GivenUp(measured));
            }
        }
        if measured > limits.measured_max {
            return Ok(Walked::GivenUp(measured));
        }
        fresh.clear();
        let mut taken = 0;
        while taken < WIDE && limits.includes(pool, cursor) {
            let one = pool.get_mut(cursor);
            cursor += 1;
            if !one.is_expanded() {
                *one = one.mark_expanded();
                let node = one.row();
                visited.add_fresh(layer.neighbours(node), fresh);
                taken += 1;
            }
        }
        for &near in fresh.as_slice() {
            probe.prefetch(near);
        }
        let coming = pool.all().iter().skip(cursor);
        for next in coming.filter(|one| !one.is_expanded()).take(WIDE) {
            layer.prefetch(next.row());
        }

        measured += fresh.len() as u64;
        let distances = at_least(distances, fresh.len());
        probe.measure(fresh.as_slice(), distances);

        let limit = limits.nearest_wanted(pool);
        let near_count = keep_near(fresh.as_mut_slice(), distances, limit);
        found.clear();
        let near = fresh.as_slice().iter().zip(&*distances).take(near_count);
        found.extend(
            near.map(|(&node, &distance)| {
                Ranked::new(distance, node).mark_passing(gate.admits(node))
            }),
        );
        if let Some(at) = pool.offer(found).filter(|&at| at < cursor + WIDE) {
            cursor = cursor.min(at);
            let next = found.iter().take(WIDE);
            next.for_each(|one| layer.prefetch(one.row()));
        }
    }
    if visited.met_stray() {
        Err(DamagedGraph)
    } else {
        Ok(Walked::Through(measured))
    }
}

/// Moves the nodes nearer than `limit` to the front, without branches, and counts them.
#[inline]
fn keep_near(nodes: &mut [u32], distances: &mut [f32], limit: f32) -> usize {
    let mut count = 0;
    for index in 0..nodes.len().min(distances.len()) {
        let distance = distances[index];
        nodes[count] = nodes[index];
        distances[count] = distance;
        count += usize::from(distance < limit);
    }
    count
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::graph::{EntryPoint, NONE};

    /// Rows on a line, each at its number; remembers which were measured.
    struct Line {
        at: f32,
        measured: RefCell<Vec<u32>>,
    }

    impl Probe for Line {
        fn measure(&self, rows: &[u32], distances: &mut [f32]) {
            self.measured.borrow_mut().extend(rows);
            for (row, distance) in rows.iter().zip(distances) {
                *distance = (*row as f32 - self.at).abs();
            }
        }

        fn prefetch(&self, _row: u32) {}
    }

    #[test]
    fn more_is_followed_beyond_the_horizon_where_more_is_kept() {
        let ways = [1, 10, 16, 24, 32, 64, 100, 256].map(way);
        assert_eq!(ways, [2, 2, 3, 4, 4, 6, 8, 12]);
        assert!(way(usize::MAX) > 0);
    }

    #[test]
    fn a_descent_measures_no_row_twice() {
        // Every row lives on one upper level, and knows those beside it.
        const ROWS: u32 = 9;
        let beside = |row: u32| {
            let near = (0..ROWS).filter(move |&other| other != row && other.abs_diff(row) <= 2);
            near.chain(std::iter::repeat(NONE)).take(4)
        };
        let upper_links: Vec<u32> = (0..ROWS).flat_map(beside).collect();
        let upper_rows: Vec<u32> = (0..ROWS).collect();
        let upper_starts: Vec<u32> = (0..=ROWS).collect();
        let graph = Graph {
            row_count: upper_rows.len(),
            links: &upper_links,
            base_slots: 4,
            upper_rows: &upper_rows,
            upper_starts: &upper_starts,
            upper_links: &upper_links,
            upper_slots: 4,
            entry: EntryPoint { row: 0, upper: 0 },
        };
        let mut memory = WalkMemory::default();
        for at in [0.0, 4.2, 7.9] {
            let probe = Line {
                at,
                measured: RefCell::default(),
            };
            let arrived = descend(&graph, &probe, 0, &mut memory).unwrap().unwrap();
            assert_eq!(arrived.node as f32, at.round());
            let mut measured = probe.measured.into_inner();
            measured.sort_unstable();
            assert!(measured.is_sorted_by(|a, b| a < b), "{at}: {measured:?}");
        }
    }
}
