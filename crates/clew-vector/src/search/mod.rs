//! One search of one column: plan, run, and if a walk came back with too little, scan after all.

use std::ops::Deref;

use crate::column::View;
use crate::filter::RowFilter;
use crate::graph::{
    BeamLimits, DamagedGraph, Graph, Open, Start, WalkMemory, Walked, beam, descend, way,
};
use crate::plan::{Plan, Situation, Strategy};
use crate::rank::Ranked;
use crate::rows::{Probe, RowProbe};
use crate::scratch::Tally;
use crate::{Column, ColumnOptions, Horizon, Scratch, VectorError, exact};

mod batch;
mod coded;
mod found;
mod lists;
mod pages;
mod prepare;
mod profile;
mod request;
mod together;
mod turn;

use coded::margin;
pub use pages::Pages;
use prepare::Query;
pub use profile::SearchProfile;
pub use request::{Hit, HitPlace, SearchOutcome, SearchRequest};

impl<B: Deref<Target = [u8]> + Clone + Send + Sync> Column<B> {
    /// Finds the nearest vectors; of a document that has several, the nearest one.
    ///
    /// Fails when the query does not fit the column, or when a vector that it reads is damaged. A damaged
    /// graph is given up, and the search answered by a scan.
    pub fn search(
        &self,
        request: &SearchRequest<'_>,
        scratch: &mut Scratch,
    ) -> Result<SearchOutcome, VectorError> {
        let was_whole = self.graph_damage().is_none();
        let found = search(&self.view()?, self.options(), request, scratch);
        if found.is_err() && was_whole && self.graph_damage().is_some() {
            return search(&self.view()?, self.options(), request, scratch);
        }
        found
    }
}

fn search(
    view: &View<'_>,
    options: &ColumnOptions,
    request: &SearchRequest<'_>,
    scratch: &mut Scratch,
) -> Result<SearchOutcome, VectorError> {
    if request.after.is_some() {
        let mut pages = Pages::start(view, options, request)?;
        return pages.next(view, options, request.k, scratch);
    }
    let query = Query::check(request.vector, options)?;
    let (search, situation) = Search::prepare(view, &query, request)?;
    let plan = situation.plan();
    if view.documents.is_some() && plan != Plan::Scan {
        // How many rows it takes to find `k` documents is not known before: pages go on until it is
        // enough.
        let effort = SearchRequest {
            ef_search: situation.ef,
            target_recall: None,
            ..*request
        };
        let mut pages = Pages::start(view, options, &effort)?;
        return pages.next(view, options, request.k, scratch);
    }
    search.start(&situation, plan, scratch)
}

/// The hits of a search that goes the way it is told to, and whose walk sees nothing of a row that lies on no upper level.
pub(crate) fn ranked_by(
    view: &View<'_>,
    options: &ColumnOptions,
    (request, plan, hidden): (&SearchRequest<'_>, Plan, Option<u32>),
    scratch: &mut Scratch,
) -> Result<Vec<Ranked>, VectorError> {
    let query = Query::check(request.vector, options)?;
    let (mut search, situation) = Search::prepare(view, &query, request)?;
    search.hidden = hidden;
    let hits = search.start(&situation, plan, scratch)?.hits;
    let ranked = |hit: &Hit| Ranked::new(hit.distance, hit.doc);
    Ok(hits.iter().map(ranked).collect())
}

pub(crate) struct Search<'a> {
    view: &'a View<'a>,
    vector: &'a [f32],
    /// The query over full vectors; `own` is also what the query is multiplied with to be coded.
    probe: RowProbe<'a>,
    filter: Option<RowFilter<'a>>,
    /// Hits wanted, at least one, and no more than could exist.
    k: usize,
    /// Rows that so many hits have, as a rule: `k`, unless documents have several.
    k_rows: usize,
    /// Farther rows are no hits.
    distance_max: f32,
    horizon: Option<&'a Horizon>,
    /// A row that walks do not see.
    hidden: Option<u32>,
}

/// A walk that keeps this many candidates per one that passes has lost its way.
const POOL_PER_EF: usize = 64;

impl Search<'_> {
    /// Runs a search, unless there can be no hit.
    fn start(
        &self,
        situation: &Situation,
        plan: Plan,
        scratch: &mut Scratch,
    ) -> Result<SearchOutcome, VectorError> {
        if self.k == 0 {
            return Ok(self.nothing(situation));
        }
        self.run(situation, plan, scratch)
    }

    pub(crate) fn run(
        &self,
        situation: &Situation,
        plan: Plan,
        scratch: &mut Scratch,
    ) -> Result<SearchOutcome, VectorError> {
        scratch.tally = Tally::default();
        if plan == Plan::ScanLists
            && let Some(lists) = &self.view.lists
        {
            return self.scan_lists(lists, situation, scratch);
        }
        let Some(graph) = &self.view.graph else {
            return self.scan(Strategy::Exact, situation, scratch);
        };
        if plan == Plan::Scan {
            return self.scan(Strategy::Exact, situation, scratch);
        }
        self.view.integrity.touch_graph()?;
        let walked = match &self.view.codes {
            Some(codes) => self.find_coded((graph, codes), situation, plan, scratch)?,
            None => self.walk_exact(graph, situation, scratch)?,
        };
        match walked {
            Walked::Through(_)
                if plan == Plan::ScanCodes || self.is_enough(scratch.exact.len()) =>
            {
                let tally = scratch.tally;
                Ok(self.outcome(&scratch.exact, plan.strategy(), situation, tally))
            }
            Walked::Through(_) | Walked::GivenUp(_) => self.fall_back(graph, situation, scratch),
        }
    }

    /// Whether so many hits will do: all that are wanted, or any number where others have as many.
    fn is_enough(&self, hits: usize) -> bool {
        hits >= self.k || self.horizon.is_some_and(Horizon::has_hits)
    }

    /// How far hits may lie, by what was asked and what other columns have.
    fn hit_limit(&self) -> f32 {
        let limit = self.horizon.map_or(f32::INFINITY, Horizon::hit_limit);
        limit.min(self.distance_max)
    }

    /// Tells the columns that are searched next what was found here.
    fn tell(&self, candidates: impl Iterator<Item = Ranked>, hits: &[Ranked]) {
        if let Some(horizon) = self.horizon {
            horizon.add(candidates, hits);
        }
    }

    /// Scans after a walk that was in vain.
    fn fall_back(
        &self,
        graph: &Graph<'_>,
        situation: &Situation,
        scratch: &mut Scratch,
    ) -> Result<SearchOutcome, VectorError> {
        let plan = situation.fallback();
        let (Plan::ScanCodes, Some(codes)) = (plan, &self.view.codes) else {
            return self.scan(Strategy::ExactAfterGraph, situation, scratch);
        };
        self.find_coded((graph, codes), situation, plan, scratch)?;
        let (strategy, tally) = (Strategy::CodesAfterGraph, scratch.tally);
        Ok(self.outcome(&scratch.exact, strategy, situation, tally))
    }

    /// Walks by the vectors themselves.
    fn walk_exact(
        &self,
        graph: &Graph<'_>,
        situation: &Situation,
        scratch: &mut Scratch,
    ) -> Result<Walked, VectorError> {
        // A walk may read any of the vectors, which are short here.
        self.view.integrity.touch_vectors()?;
        let walked = self
            .walk((graph, &self.probe), situation, scratch)
            .map_err(|DamagedGraph| self.view.damaged_graph())?;
        let Scratch {
            walk, exact, tally, ..
        } = scratch;
        let pool = &walk.pool;
        tally.vectors += walked.measured();
        tally.lists += pool.len() as u64;
        exact.clear();
        exact.extend(pool.passing().take(self.k));
        self.tell(pool.passing(), exact);
        Ok(walked)
    }

    fn walk<P: Probe>(
        &self,
        (graph, probe): (&Graph<'_>, &P),
        situation: &Situation,
        scratch: &mut Scratch,
    ) -> Result<Walked, DamagedGraph> {
        let memory = &mut scratch.walk;
        let start = start_of((graph, probe), memory)?;
        // Where it is known how far the whole goes, a walk goes as far, and no farther.
        let known = self
            .horizon
            .and_then(|horizon| Some((horizon.known()?, horizon.candidate_limit())));
        let (ef, horizon) = match known {
            Some((most, limit)) => (situation.ef.max(most.candidates), limit),
            None => (situation.ef, f32::INFINITY),
        };
        let limits = BeamLimits {
            ef,
            pool_max: ef.saturating_mul(POOL_PER_EF),
            measured_max: situation.measured_max(),
            horizon,
            way: way(ef),
            hidden: self.hidden,
        };
        let layer = graph.base();
        match self.filter {
            Some(filter) => beam((&layer, probe, &filter), start, limits, memory),
            None => beam((&layer, probe, &Open), start, limits, memory),
        }
    }

    fn scan(
        &self,
        strategy: Strategy,
        situation: &Situation,
        scratch: &mut Scratch,
    ) -> Result<SearchOutcome, VectorError> {
        let rows = (&self.probe, &self.view.integrity);
        let filter = self.filter.as_ref();
        let (hits, scanned) = match self.view.documents {
            Some(documents) => exact::search_documents(rows, filter, (self.k, documents.docs))?,
            None => exact::search(rows, filter, self.k)?,
        };
        scratch.tally.vectors += scanned;
        self.tell(hits.iter().copied(), &hits);
        Ok(self.outcome(&hits, strategy, situation, scratch.tally))
    }

    /// The answer when there can be no hit.
    fn nothing(&self, situation: &Situation) -> SearchOutcome {
        self.outcome(&[], Strategy::Exact, situation, Tally::default())
    }

    /// The answer made of ordered hits, which may lie too far away.
    fn outcome(
        &self,
        ranked: &[Ranked],
        strategy: Strategy,
        situation: &Situation,
        tally: Tally,
    ) -> SearchOutcome {
        let near = ranked.partition_point(|one| one.distance() <= self.distance_max);
        SearchOutcome {
            hits: ranked[..near].iter().map(|one| self.hit(*one)).collect(),
            strategy,
            distances: tally.distances(),
            profile: SearchProfile::new(self.view, situation, tally),
        }
    }

    fn hit(&self, one: Ranked) -> Hit {
        Hit {
            doc: self.view.doc(one.row()),
            distance: one.distance(),
            score: self.view.space.score(one.distance()),
        }
    }
}

/// Where the walk of level 0 starts.
fn start_of<P: Probe>(
    (graph, probe): (&Graph<'_>, &P),
    memory: &mut WalkMemory,
) -> Result<Start, DamagedGraph> {
    match descend(graph, probe, 0, memory)? {
        Some(at) => Ok(Start {
            node: graph.row_of_upper(at.node)?,
            distance: at.distance,
        }),
        None => start_at(graph, probe, graph.entry.row),
    }
}

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
