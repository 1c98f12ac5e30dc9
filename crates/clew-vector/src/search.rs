//! One search of one column: plan, run, and if a walk came back with too little, scan after all.

use crate::column::View;
use crate::exact;
use crate::filter::RowFilter;
use crate::graph::{BeamLimits, DamagedGraph, Graph, Open, Start, Sweep, TwoHop, beam, descend};
use crate::options::{inverse_norm, norm_squared};
use crate::plan::{Plan, Situation};
use crate::rank::Ranked;
use crate::rows::{Probe, RowProbe};
use crate::{ColumnOptions, Filter, Scratch, Space, VectorError};

/// What to search for.
#[derive(Debug, Clone, Copy)]
pub struct SearchRequest<'a> {
    /// The query, of the column's dimension.
    pub vector: &'a [f32],
    /// Hits wanted.
    pub k: usize,
    /// Candidates that a walk of the graph keeps; never fewer than `k`. More is slower and better.
    pub ef_search: usize,
    /// Documents that may be hits; `None` for all.
    pub filter: Option<Filter<'a>>,
    /// Forbids the graph.
    pub exact: bool,
}

/// One document found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The document.
    pub doc: u32,
    /// Distance in the column's [`Space`], smaller is better.
    pub distance: f32,
    /// OpenSearch's score, larger is better.
    pub score: f32,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchOutcome {
    /// The hits, best first; equal distances by document id. `k` of them when `k` documents with a
    /// vector pass the filter.
    pub hits: Vec<Hit>,
    /// How they were found.
    pub strategy: Strategy,
    /// Distances computed: the cost of the search.
    pub distances: u64,
}

/// How a search went through the column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// Every vector that passes was measured; the hits are exact.
    Exact,
    /// The graph was walked, without a filter.
    Graph,
    /// The graph was walked under a filter.
    FilteredGraph,
    /// A walk under a filter came back with too few hits, then every vector that passes was
    /// measured; the hits are exact.
    ExactAfterGraph,
}

pub(crate) fn search(
    view: &View<'_>,
    options: &ColumnOptions,
    request: &SearchRequest<'_>,
    scratch: &mut Scratch,
) -> Result<SearchOutcome, VectorError> {
    let squared = norm_squared(request.vector, options)?;
    let own = if options.space == Space::Cosine {
        inverse_norm(squared)
    } else {
        0.0
    };
    let row_count = view.rows.count();
    let filter = request.filter.map(|filter| RowFilter {
        filter,
        docs: view.docs,
        row_count,
    });
    let possible = filter.map_or(row_count, |filter| filter.survivors_max());
    let k = request.k.min(possible);
    let search = Search {
        view,
        probe: RowProbe {
            rows: view.rows,
            query: request.vector,
            own,
        },
        filter,
        k,
    };
    if k == 0 {
        return Ok(search.outcome(&[], Strategy::Exact, 0));
    }
    let situation = Situation {
        row_count,
        survivors: filter.map(|filter| filter.survivors_expected()),
        ef: request.ef_search.clamp(k, row_count),
        has_graph: view.graph.is_some() && !request.exact,
    };
    search.run(&situation, situation.plan(), scratch)
}

pub(crate) struct Search<'a> {
    view: &'a View<'a>,
    probe: RowProbe<'a>,
    filter: Option<RowFilter<'a>>,
    /// Hits wanted, at least one, and no more than could exist.
    k: usize,
}

/// A walk that keeps this many candidates per one that passes has lost its way.
const POOL_PER_EF: usize = 64;

impl Search<'_> {
    pub(crate) fn run(
        &self,
        situation: &Situation,
        plan: Plan,
        scratch: &mut Scratch,
    ) -> Result<SearchOutcome, VectorError> {
        let (Some(graph), true) = (&self.view.graph, plan != Plan::Scan) else {
            return Ok(self.scan(Strategy::Exact, 0));
        };
        let measured = self
            .walk(graph, situation, plan, scratch)
            .map_err(|DamagedGraph| self.view.damaged_graph())?;
        let hits: Vec<Ranked> = scratch.pool.passing().take(self.k).collect();
        let given_up = measured > situation.measured_max();
        match plan {
            Plan::Walk if hits.len() == self.k => {
                Ok(self.outcome(&hits, Strategy::Graph, measured))
            }
            Plan::Sweep | Plan::TwoHop if hits.len() == self.k && !given_up => {
                Ok(self.outcome(&hits, Strategy::FilteredGraph, measured))
            }
            _ => Ok(self.scan(Strategy::ExactAfterGraph, measured)),
        }
    }

    fn walk(
        &self,
        graph: &Graph<'_>,
        situation: &Situation,
        plan: Plan,
        scratch: &mut Scratch,
    ) -> Result<u64, DamagedGraph> {
        let start = match descend(graph, &self.probe, 0, scratch)? {
            Some(at) => Start {
                node: graph.row_of_upper(at.node)?,
                distance: at.distance,
            },
            None => self.entry(graph)?,
        };
        let ef = situation.ef(plan);
        let limits = BeamLimits {
            ef,
            pool_max: ef.saturating_mul(POOL_PER_EF),
            measured_max: situation.measured_max(),
        };
        let (layer, probe) = (graph.base(), &self.probe);
        match (plan, self.filter) {
            (Plan::TwoHop, Some(filter)) => {
                beam((&layer, probe, &TwoHop(filter)), start, limits, scratch)
            }
            (Plan::Sweep, Some(filter)) => {
                beam((&layer, probe, &Sweep(filter)), start, limits, scratch)
            }
            _ => beam((&layer, probe, &Open), start, limits, scratch),
        }
    }

    fn entry(&self, graph: &Graph<'_>) -> Result<Start, DamagedGraph> {
        let row = graph.entry.row;
        if row as usize >= graph.row_count {
            return Err(DamagedGraph);
        }
        let mut distance = [0.0];
        self.probe.measure(&[row], &mut distance);
        Ok(Start {
            node: row,
            distance: distance[0],
        })
    }

    fn scan(&self, strategy: Strategy, measured: u64) -> SearchOutcome {
        let (hits, scanned) = exact::search(&self.probe, self.filter.as_ref(), self.k);
        self.outcome(&hits, strategy, measured + scanned)
    }

    fn outcome(&self, ranked: &[Ranked], strategy: Strategy, distances: u64) -> SearchOutcome {
        let hit = |one: &Ranked| Hit {
            doc: self.view.doc(one.row()),
            distance: one.distance(),
            score: self.view.space.score(one.distance()),
        };
        SearchOutcome {
            hits: ranked.iter().map(hit).collect(),
            strategy,
            distances,
        }
    }
}

#[cfg(test)]
mod tests;
