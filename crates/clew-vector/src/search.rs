//! One search of one column: plan, run, and if a walk came back with too little, scan after all.

use crate::codes::{NibbleCodes, NibbleProbe};
use crate::column::View;
use crate::exact;
use crate::filter::RowFilter;
use crate::graph::{BeamLimits, DamagedGraph, Graph, Open, Start, Sweep, TwoHop, beam, descend};
use crate::options::{inverse_norm, norm_squared};
use crate::plan::{Plan, Situation};
use crate::rank::Ranked;
use crate::rerank::Rerank;
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
    let own = own_scale(squared, options.space);
    view.integrity.touch_rows()?;
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

/// What a query is multiplied with before it is compared.
fn own_scale(squared: f64, space: Space) -> f32 {
    match space {
        Space::Cosine => inverse_norm(squared),
        Space::L2 | Space::InnerProduct => 1.0,
    }
}

pub(crate) struct Search<'a> {
    view: &'a View<'a>,
    /// The query over full vectors; `own` is also what the query is multiplied with to be coded.
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
            return self.scan(Strategy::Exact, 0);
        };
        self.view.integrity.touch_graph()?;
        let measured = match &self.view.codes {
            Some(codes) => self.walk_coded((graph, codes), situation, plan, scratch)?,
            None => self.walk_exact(graph, situation, plan, scratch)?,
        };
        let hits = &scratch.exact;
        let given_up = measured > situation.measured_max();
        match plan {
            Plan::Walk if hits.len() == self.k => Ok(self.outcome(hits, Strategy::Graph, measured)),
            Plan::Sweep | Plan::TwoHop if hits.len() == self.k && !given_up => {
                Ok(self.outcome(hits, Strategy::FilteredGraph, measured))
            }
            _ => self.scan(Strategy::ExactAfterGraph, measured),
        }
    }

    /// Walks by codes, then measures the best finds exactly.
    fn walk_coded(
        &self,
        (graph, codes): (&Graph<'_>, &NibbleCodes<'_>),
        situation: &Situation,
        plan: Plan,
        scratch: &mut Scratch,
    ) -> Result<u64, VectorError> {
        let mut query = std::mem::take(&mut scratch.query);
        let space = self.view.space;
        query.prepare(codes, space, (self.probe.query, self.probe.own));
        let probe = NibbleProbe {
            codes: *codes,
            query: &query,
            kernels: self.view.rows.kernels,
        };
        let walked = self.walk((graph, &probe), situation, plan, scratch);
        let rerank = Rerank {
            probe: &self.probe,
            integrity: &self.view.integrity,
            error: codes.error * query.length(),
        };
        let walked = walked.map_err(|DamagedGraph| self.view.damaged_graph())?;
        let Scratch { pool, exact, .. } = scratch;
        let measured = rerank.run(pool.passing(), self.k, exact)?;
        scratch.query = query;
        Ok(walked + measured)
    }

    /// Walks by the vectors themselves.
    fn walk_exact(
        &self,
        graph: &Graph<'_>,
        situation: &Situation,
        plan: Plan,
        scratch: &mut Scratch,
    ) -> Result<u64, VectorError> {
        // A walk may read any of the vectors, which are short here.
        self.view.integrity.touch_vectors()?;
        let walked = self
            .walk((graph, &self.probe), situation, plan, scratch)
            .map_err(|DamagedGraph| self.view.damaged_graph())?;
        let Scratch { pool, exact, .. } = scratch;
        exact.clear();
        exact.extend(pool.passing().take(self.k));
        Ok(walked)
    }

    fn walk<P: Probe>(
        &self,
        (graph, probe): (&Graph<'_>, &P),
        situation: &Situation,
        plan: Plan,
        scratch: &mut Scratch,
    ) -> Result<u64, DamagedGraph> {
        let start = match descend(graph, probe, 0, scratch)? {
            Some(at) => Start {
                node: graph.row_of_upper(at.node)?,
                distance: at.distance,
            },
            None => start_at(graph, probe, graph.entry.row)?,
        };
        let ef = situation.ef(plan);
        let limits = BeamLimits {
            ef,
            pool_max: ef.saturating_mul(POOL_PER_EF),
            measured_max: situation.measured_max(),
        };
        let layer = graph.base();
        match (plan, self.filter) {
            (Plan::TwoHop, Some(filter)) => {
                let mut starts = vec![start];
                for row in filter.sample(ENTRIES) {
                    starts.push(start_at(graph, probe, row)?);
                }
                beam((&layer, probe, &TwoHop(filter)), &starts, limits, scratch)
            }
            (Plan::Sweep, Some(filter)) => {
                beam((&layer, probe, &Sweep(filter)), &[start], limits, scratch)
            }
            _ => beam((&layer, probe, &Open), &[start], limits, scratch),
        }
    }

    fn scan(&self, strategy: Strategy, measured: u64) -> Result<SearchOutcome, VectorError> {
        let rows = (&self.probe, &self.view.integrity);
        let (hits, scanned) = exact::search(rows, self.filter.as_ref(), self.k)?;
        Ok(self.outcome(&hits, strategy, measured + scanned))
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

/// Rows that pass, beside the one that the upper levels lead to, from which a two-hop walk starts:
/// those that pass may all lie far from the query.
const ENTRIES: usize = 8;

fn start_at(graph: &Graph<'_>, probe: &impl Probe, row: u32) -> Result<Start, DamagedGraph> {
    if row as usize >= graph.row_count {
        return Err(DamagedGraph);
    }
    let mut distance = [0.0];
    probe.measure(&[row], &mut distance);
    Ok(Start {
        node: row,
        distance: distance[0],
    })
}

#[cfg(test)]
mod tests;
