//! Searches through inverted lists: the nearest lists are scanned by codes, and the best of their rows
//! measured exactly.

use clew_platform::Pace;

use crate::exact::{Keep, Top};
use crate::ivf::{DamagedList, ListQuery, Lists, ScanLists};
use crate::plan::{Access, Plan, Situation};
use crate::rank::Ranked;
use crate::rerank::Nearest;
use crate::row_set::RowSet;
use crate::search::prepare::probing;
use crate::search::{Search, SearchOutcome};
use crate::{Scratch, VectorError};

/// Beyond so many typical errors nothing is gained.
pub(super) const LISTS_MARGIN_MAX: f32 = 2.8;

/// How many typical errors of an estimate are allowed for, when so great a share of all lists is gone
/// through: at first hits are missed for want of lists, and only then for want of care. Even vectors of few dimensions
/// want 1.2, heavy tails 3; what lies between costs a twentieth more or less (GloVe, 512 and 768 dimensions).
fn lists_margin(share: f32) -> f32 {
    (1.6 + 5.0 * share).min(LISTS_MARGIN_MAX)
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
        query.allow_errors(lists.frame, lists_margin(share));
        let rows = (&self.probe, &self.view.integrity);
        let memory = (
            std::mem::take(&mut scratch.exact),
            std::mem::take(&mut scratch.coarse),
        );
        let mut nearest = Nearest::new(rows, (self.k, self.hit_limit()), memory);
        let found = self.probe_lists((lists, &mut query), probes, &mut nearest);
        scratch.list_query = query;
        scratch.tally.codes += found.map_err(|DamagedList| self.view.damaged_list())?;
        let measured;
        (scratch.exact, scratch.coarse, measured) = nearest.finish()?;
        scratch.tally.reranked += measured;
        self.tell(scratch.exact.iter().copied(), &scratch.exact);
        let strategy = Plan::ScanLists.strategy();
        Ok(self.outcome(&scratch.exact, strategy, situation, scratch.tally))
    }

    /// Lists to go through for so many hits of pages, of which one asks for the effort of the situation at least.
    pub(super) fn probes_for(
        &self,
        lists: &Lists<'_>,
        hits: usize,
        situation: &Situation,
    ) -> usize {
        let ef = situation.ef.max(hits);
        let probing = probing(self.view, lists, None, (hits, ef));
        Situation { ef, ..*situation }.probes(probing)
    }

    /// The `keep` nearest rows of the nearest lists that pass and are not yet `taken`, in no order, and the number of
    /// rows measured.
    pub(super) fn scan_rest_of_lists(
        &self,
        (lists, query, probes): (&Lists<'_>, &ListQuery, usize),
        taken: &RowSet,
        keep: usize,
    ) -> Result<(Vec<Ranked>, u64), DamagedList> {
        let scan = ScanLists {
            lists,
            space: self.view.space,
            row_count: self.view.rows.count(),
            kernels: self.view.rows.kernels,
        };
        let mut top = Top::new(keep);
        let (mut measured, mut pace) = (0, Pace::of_blocks());
        for &list in query.in_order().iter().take(probes) {
            if pace.is_stopped() {
                break;
            }
            let filter = self.filter.as_ref();
            // Before there are enough, the limit is no number.
            let limit = |top: &Top| top.limit().distance().min(f32::INFINITY);
            let first = limit(&top);
            measured += scan.scan((query, &mut pace), list, first, |one| {
                let passes = filter.is_none_or(|filter| filter.passes(one.row()));
                if passes && one < top.limit() && !taken.contains(one.row()) {
                    top.push(one);
                }
                limit(&top)
            })?;
        }
        Ok((top.into_kept(), measured))
    }

    /// Scans the nearest lists, and more until there are enough rows that pass; answers how many codes were measured.
    fn probe_lists(
        &self,
        (lists, query): (&Lists<'_>, &mut ListQuery),
        probes: usize,
        nearest: &mut Nearest<'_>,
    ) -> Result<u64, DamagedList> {
        let scan = ScanLists {
            lists,
            space: self.view.space,
            row_count: self.view.rows.count(),
            kernels: self.view.rows.kernels,
        };
        let filter = self.filter.as_ref();
        let (mut at, mut codes, mut pace) = (0, 0, Pace::of_blocks());
        while (at < probes || !self.is_enough(nearest.len())) && !pace.is_stopped() {
            let Some(list) = query.list(at) else { break };
            codes += scan.scan((query, &mut pace), list, nearest.limit(), |one| {
                if filter.is_none_or(|filter| filter.passes(one.row())) {
                    nearest.push(one);
                }
                nearest.limit()
            })?;
            if at == 0 {
                nearest.tighten();
            }
            at += 1;
        }
        Ok(codes)
    }
}
