//! Searches by codes: candidates are found by small codes, and the best of them measured exactly.

use crate::VectorError;
use crate::codes::{RotatedCodes, RotatedProbe};
use crate::exact::{self, CoarseLimits};
use crate::graph::{DamagedGraph, Graph, Walked};
use crate::plan::{Plan, Situation};
use crate::rerank::Rerank;
use crate::scratch::Scratch;
use crate::search::Search;

/// How many typical errors of an estimate are allowed for. What a walk finds thins out quickly behind
/// the best; a scan may have to choose among very many rows at much the same distance.
pub(super) fn margin(plan: Plan) -> f32 {
    match plan {
        Plan::Walk | Plan::Sweep => 2.0,
        Plan::Scan | Plan::ScanCodes | Plan::ScanLists => 3.0,
    }
}

impl Search<'_> {
    /// Finds candidates by codes, then measures the best of them exactly.
    pub(super) fn find_coded(
        &self,
        (graph, codes): (&Graph<'_>, &RotatedCodes<'_>),
        situation: &Situation,
        plan: Plan,
        scratch: &mut Scratch,
    ) -> Result<Walked, VectorError> {
        let mut query = std::mem::take(&mut scratch.query);
        let space = self.view.space;
        query.prepare(codes, space, (self.vector, self.probe.own));
        let probe = RotatedProbe {
            codes: *codes,
            query: &query,
            kernels: self.view.rows.kernels,
        };
        let rerank = Rerank {
            probe: &self.probe,
            integrity: &self.view.integrity,
            margin: margin(plan) * codes.error * query.length(),
            limit: self.hit_limit(),
        };
        let found = if plan == Plan::ScanCodes {
            self.scan_codes(&probe, &rerank, scratch)
        } else {
            self.walk_codes((graph, &probe), &rerank, situation, scratch)
        };
        scratch.query = query;
        found
    }

    fn walk_codes(
        &self,
        (graph, probe): (&Graph<'_>, &RotatedProbe<'_>),
        rerank: &Rerank<'_>,
        situation: &Situation,
        scratch: &mut Scratch,
    ) -> Result<Walked, VectorError> {
        let walked = self.walk((graph, probe), situation, scratch);
        let walked = walked.map_err(|DamagedGraph| self.view.damaged_graph())?;
        let Scratch {
            walk, exact, tally, ..
        } = scratch;
        let pool = &walk.pool;
        tally.codes += walked.measured();
        tally.lists += pool.len() as u64;
        if let Walked::Through(_) = walked {
            tally.reranked += rerank.run(pool.passing(), self.k, exact)?;
            self.tell(pool.passing(), exact);
        }
        Ok(walked)
    }

    fn scan_codes(
        &self,
        probe: &RotatedProbe<'_>,
        rerank: &Rerank<'_>,
        scratch: &mut Scratch,
    ) -> Result<Walked, VectorError> {
        let rows = (probe, self.view.rows.count());
        // Both the k-th best and the row itself may be estimated wrongly.
        let limits = CoarseLimits {
            k: self.k,
            spare: 2.0 * rerank.margin,
            distance_max: rerank.limit + rerank.margin,
        };
        let scanned = exact::scan_coarse(rows, self.filter.as_ref(), limits, scratch);
        let Scratch {
            coarse,
            exact,
            tally,
            ..
        } = scratch;
        tally.codes += scanned;
        tally.reranked += rerank.run(coarse.iter().copied(), self.k, exact)?;
        self.tell(coarse.iter().copied(), exact);
        Ok(Walked::Through(scanned))
    }
}
