//! How one page is made: rows are found in a coarse order, and given out in the exact one.

use std::cmp::Reverse;

use crate::Scratch;
use crate::VectorError;
use crate::exact;
use crate::graph::{DamagedGraph, Front};
use crate::ivf::{DamagedList, ListQuery, Lists};
use crate::plan::{Plan, Situation};
use crate::rank::Ranked;
use crate::rows::Probe;
use crate::search::pages::{
    CandidateSource, KEPT_ROWS, Pages, STEP_ROWS, WALK_MEASURED_MAX, kept_rows,
};
use crate::search::{Search, SearchOutcome, Strategy, margin, start_of};

/// Rows of one document measured by one kernel call.
const BLOCK_ROWS: usize = 64;
const BLOCK_STEP: u32 = 64;
const _: () = assert!(BLOCK_STEP as usize == BLOCK_ROWS);

/// One page in the making.
pub(super) struct Turn<'a, P> {
    pub(super) search: &'a Search<'a>,
    pub(super) situation: &'a Situation,
    pub(super) probe: &'a P,
    /// Typical error of the probe; `None` when it is exact.
    pub(super) error: Option<f32>,
    /// Lists to scan, and the query with all of them in order; `None` where rows are scanned by the probe.
    pub(super) lists: Option<(&'a Lists<'a>, &'a ListQuery)>,
}

impl<P: Probe> Turn<'_, P> {
    pub(super) fn page(
        &self,
        pages: &mut Pages,
        scratch: &mut Scratch,
    ) -> Result<SearchOutcome, VectorError> {
        let (k, ef) = (self.search.k, self.situation.ef);
        pages.found.set_window(ef);
        self.fill(pages, ef, scratch)?;
        let mut hits: Vec<Ranked> = Vec::new();
        while hits.len() < k {
            if pages.found.is_empty() {
                self.fill(pages, STEP_ROWS.min(ef), scratch)?;
            }
            let best = pages.measured.peek().map(|&Reverse(one)| one);
            let nearest_possible = pages
                .found
                .nearest()
                .map(|next| next.distance() - self.margin(pages));
            let settled = match (best, nearest_possible) {
                (None, None) => break,
                (Some(best), next) => next.is_none_or(|next| best.distance() <= next),
                (None, Some(_)) => false,
            };
            // Nothing that is still to come lies nearer than this.
            let nearest = match best {
                Some(best) if settled => best.distance(),
                _ => nearest_possible.unwrap_or(f32::INFINITY),
            };
            if nearest > self.search.distance_max && (settled || best.is_none()) {
                pages.finish();
                break;
            }
            if settled {
                pages.measured.pop();
                let hit = match best {
                    Some(best) => self.complete(pages, best, scratch)?,
                    None => None,
                };
                hits.extend(hit.filter(|&one| self.is_behind(pages, one)));
            } else {
                self.measure(pages, k - hits.len(), scratch)?;
            }
        }
        hits.sort_unstable();
        pages.finish_if_empty();
        let (way, tally) = (pages.way.0, scratch.tally);
        Ok(self.search.outcome(&hits, way, self.situation, tally))
    }

    fn margin(&self, pages: &Pages) -> f32 {
        let plan = match pages.source {
            CandidateSource::Walk(_) | CandidateSource::New => Plan::Walk,
            CandidateSource::Scan(_) | CandidateSource::Dry => Plan::ScanCodes,
        };
        self.error.map_or(0.0, |error| margin(plan) * error)
    }

    /// The hit that a settled row makes: where documents may have several rows, the nearest of them by
    /// a look at all, unless the document was given out before.
    fn complete(
        &self,
        pages: &mut Pages,
        settled: Ranked,
        scratch: &mut Scratch,
    ) -> Result<Option<Ranked>, VectorError> {
        let Some(documents) = self.search.view.documents else {
            return Ok(Some(settled));
        };
        if pages.given.contains(settled.row()) {
            return Ok(None);
        }
        let mut best = settled;
        let rows = documents.rows_at(settled.row());
        for first in rows.clone().step_by(BLOCK_ROWS) {
            let block = first..rows.end.min(first.saturating_add(BLOCK_STEP));
            for row in block.clone() {
                pages.given.insert(row);
                pages.taken.insert(row);
                self.search.view.integrity.touch_vector(row)?;
            }
            let mut distances = [0.0; BLOCK_ROWS];
            let distances = &mut distances[..block.len()];
            let probe = &self.search.probe;
            probe.measure_block(first as usize, distances);
            let measured = distances.iter().zip(block);
            let nearest = measured.map(|(&distance, row)| Ranked::new(distance, row));
            best = nearest.fold(best, Ranked::min);
        }
        scratch.tally.reranked += rows.len() as u64;
        Ok(Some(best))
    }

    /// Whether a hit lies behind the place where the search was to go on.
    fn is_behind(&self, pages: &Pages, one: Ranked) -> bool {
        pages.after.is_none_or(|after| {
            let doc = self.search.view.doc(one.row());
            one.distance() > after.distance || one.distance() == after.distance && doc > after.doc
        })
    }

    /// Measures the candidates that come next exactly: all that the page still lacks, or a few more.
    fn measure(
        &self,
        pages: &mut Pages,
        lacking: usize,
        scratch: &mut Scratch,
    ) -> Result<(), VectorError> {
        let count = lacking.saturating_sub(pages.measured.len()).max(STEP_ROWS);
        let exact = &mut scratch.exact;
        exact.clear();
        while exact.len() < count {
            let Some(one) = pages.found.take() else { break };
            pages.taken.insert(one.row());
            if pages.given.contains(one.row()) {
                continue;
            }
            if self.error.is_some() {
                self.search.view.integrity.touch_vector(one.row())?;
                self.search.probe.prefetch(one.row());
            }
            exact.push(one);
        }
        for one in exact.iter() {
            let mut distance = [one.distance()];
            if self.error.is_some() {
                self.search.probe.measure(&[one.row()], &mut distance);
                scratch.tally.reranked += 1;
            }
            pages
                .measured
                .push(Reverse(Ranked::new(distance[0], one.row())));
        }
        Ok(())
    }

    /// Finds candidates until the nearest `count` are as good as they get, none of them before the
    /// place where the search was to go on.
    fn fill(
        &self,
        pages: &mut Pages,
        count: usize,
        scratch: &mut Scratch,
    ) -> Result<(), VectorError> {
        loop {
            self.settle(pages, count, scratch)?;
            let Some(after) = pages.after else {
                return Ok(());
            };
            let far_enough = after.distance - self.margin(pages);
            let mut dropped = false;
            while let Some(one) = pages.found.nearest()
                && one.distance() < far_enough
            {
                pages.found.take();
                pages.taken.insert(one.row());
                dropped = true;
            }
            if !dropped {
                return Ok(());
            }
        }
    }

    fn settle(
        &self,
        pages: &mut Pages,
        count: usize,
        scratch: &mut Scratch,
    ) -> Result<(), VectorError> {
        let damaged = |DamagedGraph| self.search.view.damaged_graph();
        loop {
            match &mut pages.source {
                CandidateSource::New => {
                    let front = self.set_out(scratch).map_err(damaged)?;
                    let start = front.nearest();
                    pages.source = CandidateSource::Walk(front);
                    if let Some(start) = start.filter(|one| self.passes(one.row())) {
                        pages.found.offer(start);
                    }
                }
                CandidateSource::Walk(front) => {
                    let limit = pages.found.limit(count);
                    let walk_max = self.situation.scan_in_distances().min(WALK_MEASURED_MAX);
                    match front.nearest() {
                        Some(next) if next > limit => return Ok(()),
                        Some(_) if front.measured() <= walk_max => {
                            self.hop(pages, limit, scratch).map_err(damaged)?;
                        }
                        None if !pages.found.is_empty() => return Ok(()),
                        _ => pages.give_way(self.search.k_rows),
                    }
                }
                CandidateSource::Scan(Some(keep)) if pages.found.is_empty() => {
                    let keep = *keep;
                    self.scan(pages, keep, scratch)?;
                }
                CandidateSource::Scan(_) | CandidateSource::Dry => return Ok(()),
            }
        }
    }

    fn passes(&self, row: u32) -> bool {
        self.search.filter.is_none_or(|filter| filter.passes(row))
    }

    fn set_out(&self, scratch: &mut Scratch) -> Result<Front, DamagedGraph> {
        let graph = self.search.view.graph.as_ref().ok_or(DamagedGraph)?;
        let start = start_of((graph, self.probe), &mut scratch.walk)?;
        Front::new(graph.row_count, start)
    }

    fn hop(
        &self,
        pages: &mut Pages,
        limit: Ranked,
        scratch: &mut Scratch,
    ) -> Result<(), DamagedGraph> {
        let graph = self.search.view.graph.as_ref().ok_or(DamagedGraph)?;
        let Pages { source, found, .. } = pages;
        let CandidateSource::Walk(front) = source else {
            return Ok(());
        };
        let hop = front.hop((&graph.base(), self.probe), limit, |one| {
            if self.passes(one.row()) {
                found.offer(one);
            }
        })?;
        scratch.tally.lists += hop.expanded;
        match self.error {
            Some(_) => scratch.tally.codes += hop.measured,
            None => scratch.tally.vectors += hop.measured,
        }
        Ok(())
    }

    /// Takes the nearest rows that were not handed on yet from all there are.
    fn scan(
        &self,
        pages: &mut Pages,
        keep: usize,
        scratch: &mut Scratch,
    ) -> Result<(), VectorError> {
        let (kept, measured, is_all) = if let Some((lists, query)) = self.lists {
            pages.asked = pages.asked.saturating_add(keep);
            let probes = self.search.probes_for(lists, pages.asked, self.situation);
            let of_lists = (lists, query, probes);
            let (kept, measured) = self
                .search
                .scan_rest_of_lists(of_lists, &pages.taken, keep)
                .map_err(|DamagedList| self.search.view.damaged_list())?;
            (kept, measured, probes >= lists.heads.len())
        } else {
            let rows = (self.probe, self.situation.row_count);
            let filter = self.search.filter.as_ref();
            let (kept, measured) = exact::scan_rest(rows, filter, &pages.taken, keep);
            (kept, measured, true)
        };
        match self.error {
            Some(_) => scratch.tally.codes += measured,
            None => scratch.tally.vectors += measured,
        }
        let more = kept.len() == keep || !is_all;
        let next = keep
            .saturating_mul(4)
            .min(KEPT_ROWS.1)
            .max(kept_rows(self.search.k_rows));
        pages.source = CandidateSource::Scan(more.then_some(next));
        pages.found.replace(kept);
        Ok(())
    }
}

impl Pages {
    /// A walk that found no way on, or got too long, gives way to a scan.
    fn give_way(&mut self, k_rows: usize) {
        self.way.0 = match self.way.0 {
            Strategy::Graph | Strategy::FilteredGraph if self.is_coded() => {
                Strategy::CodesAfterGraph
            }
            _ => Strategy::ExactAfterGraph,
        };
        self.found.replace(Vec::new());
        self.source = CandidateSource::Scan(Some(kept_rows(k_rows)));
    }
}
