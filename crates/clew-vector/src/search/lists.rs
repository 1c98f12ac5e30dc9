//! Searches through inverted lists: the nearest lists are scanned by codes, and the best of their rows
//! measured exactly.

use crate::exact::{CoarseLimits, CoarseTop};
use crate::ivf::{DamagedList, ListQuery, Lists, ScanLists};
use crate::plan::{Access, Plan, Situation};
use crate::rerank::Rerank;
use crate::search::{Search, SearchOutcome, margin};
use crate::{Scratch, VectorError};

impl Search<'_> {
    pub(super) fn scan_lists(
        &self,
        lists: &Lists<'_>,
        situation: &Situation,
        scratch: &mut Scratch,
    ) -> Result<SearchOutcome, VectorError> {
        self.view.integrity.touch_lists()?;
        let probes = match situation.access {
            Access::Lists(probing) => situation.probes(probing),
            Access::Rows | Access::Graph | Access::Codes => lists.heads.len(),
        };
        let mut query = std::mem::take(&mut scratch.list_query);
        let coded = (self.vector, self.probe.own);
        let kernels = self.view.rows.kernels;
        query.prepare((lists, self.view.space), coded, probes, kernels);
        let rerank = Rerank {
            probe: &self.probe,
            integrity: &self.view.integrity,
            margin: margin(Plan::ScanLists) * lists.frame.error * query.length(),
        };
        let found = self.probe_lists((lists, &mut query), probes, &rerank, scratch);
        scratch.list_query = query;
        found.map_err(|DamagedList| self.view.damaged_list())?;
        let Scratch {
            coarse,
            exact,
            tally,
            ..
        } = scratch;
        tally.reranked += rerank.run(coarse.iter().copied(), self.k, exact)?;
        let strategy = Plan::ScanLists.strategy();
        Ok(self.outcome(&scratch.exact, strategy, situation, scratch.tally))
    }

    /// Scans the nearest lists, and more until there are enough rows that pass; leaves candidates in
    /// `scratch.coarse`.
    fn probe_lists(
        &self,
        (lists, query): (&Lists<'_>, &mut ListQuery),
        probes: usize,
        rerank: &Rerank<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), DamagedList> {
        let scan = ScanLists {
            lists,
            row_count: self.view.rows.count(),
            kernels: self.view.rows.kernels,
        };
        // Both the k-th best and the row itself may be estimated wrongly.
        let limits = CoarseLimits {
            k: self.k,
            spare: 2.0 * rerank.margin,
            distance_max: f32::INFINITY,
        };
        let mut top = CoarseTop::new(limits, std::mem::take(&mut scratch.coarse));
        let mut at = 0;
        while at < probes || top.len() < self.k {
            let Some(list) = query.list(at) else { break };
            at += 1;
            let filter = self.filter.as_ref();
            scratch.tally.codes += scan.scan(query, list, top.limit, |one| {
                if filter.is_none_or(|filter| filter.passes(one.row())) {
                    top.push(one);
                }
                top.limit
            })?;
        }
        scratch.coarse = top.finish();
        Ok(())
    }
}
