//! Searches through inverted lists: the nearest lists are scanned by codes, and the best of their rows
//! measured exactly.

use clew_platform::Pace;

use crate::exact::{CoarseLimits, CoarseTop};
use crate::ivf::{DamagedList, ListQuery, Lists, ScanLists};
use crate::plan::{Access, Plan, Situation};
use crate::rerank::Rerank;
use crate::search::{Search, SearchOutcome};
use crate::{Scratch, VectorError};

/// How many typical errors of an estimate are allowed for, when so great a share of all lists is gone
/// through: at first hits are missed for want of lists, and only then for want of care. Around 1.5,
/// recall .90 to .95 costs least; beyond 2.5 nothing is gained (150,000 × 384).
fn lists_margin(share: f32) -> f32 {
    (1.4 + 4.0 * share).min(2.5)
}

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
        let share = probes as f32 / lists.heads.len().max(1) as f32;
        let mut query = std::mem::take(&mut scratch.list_query);
        let coded = (self.vector, self.probe.own);
        let kernels = self.view.rows.kernels;
        query.prepare((lists, self.view.space), coded, probes, kernels);
        let rerank = Rerank {
            probe: &self.probe,
            integrity: &self.view.integrity,
            margin: lists_margin(share) * lists.frame.error * query.length(),
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
        let (mut at, mut pace) = (0, Pace::of_blocks());
        while (at < probes || top.len() < self.k) && !pace.is_stopped() {
            let Some(list) = query.list(at) else { break };
            at += 1;
            let filter = self.filter.as_ref();
            scratch.tally.codes += scan.scan((query, &mut pace), list, top.limit, |one| {
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
