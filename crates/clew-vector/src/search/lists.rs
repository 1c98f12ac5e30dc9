//! Searches through inverted lists: the nearest lists are scanned by codes, and the best of their rows
//! measured exactly.

use clew_platform::{Pace, stopped};

use crate::column::View;
use crate::exact::{Keep, Top};
use crate::filter::RowFilter;
use crate::ivf::{DamagedList, ListQuery, Lists, ScanLists, Seeker};
use crate::plan::{Access, Plan, Situation};
use crate::rank::Ranked;
use crate::rerank::Nearest;
use crate::row_set::RowSet;
use crate::search::prepare::probing;
use crate::search::{Search, SearchOutcome, Tally};
use crate::{Scratch, VectorError};

/// Beyond so many typical errors nothing is gained.
pub(super) const LISTS_MARGIN_MAX: f32 = 2.8;

/// How many typical errors of an estimate are allowed for, when so great a share of all lists is gone
/// through: at first hits are missed for want of lists, and only then for want of care. Even vectors of few dimensions
/// want 1.2, heavy tails 3; what lies between costs a twentieth more or less (GloVe, 512 and 768 dimensions).
fn lists_margin(share: f32) -> f32 {
    (1.6 + 5.0 * share).min(LISTS_MARGIN_MAX)
}

/// A search on its way through lists.
struct Seeking<'a> {
    query: ListQuery,
    filter: Option<RowFilter<'a>>,
    nearest: Nearest<'a>,
}

impl Seeker for Seeking<'_> {
    fn query(&self) -> &ListQuery {
        &self.query
    }

    #[inline]
    fn limit(&self) -> f32 {
        self.nearest.limit()
    }

    #[inline]
    fn take(&mut self, one: Ranked) {
        if self.filter.is_none_or(|filter| filter.passes(one.row())) {
            self.nearest.push(one);
        }
    }
}

/// The best rows that no page has had yet.
struct Rest<'a> {
    query: &'a ListQuery,
    filter: Option<RowFilter<'a>>,
    taken: &'a RowSet,
    top: Top,
}

impl Seeker for Rest<'_> {
    fn query(&self) -> &ListQuery {
        self.query
    }

    #[inline]
    fn limit(&self) -> f32 {
        // Before there are enough, the limit is no number.
        self.top.limit().distance().min(f32::INFINITY)
    }

    #[inline]
    fn take(&mut self, one: Ranked) {
        let passes = self.filter.is_none_or(|filter| filter.passes(one.row()));
        if passes && one < self.top.limit() && !self.taken.contains(one.row()) {
            self.top.push(one);
        }
    }
}

impl Search<'_> {
    pub(super) fn scan_lists(
        &self,
        lists: &Lists<'_>,
        situation: &Situation,
        scratch: &mut Scratch,
    ) -> Result<SearchOutcome, VectorError> {
        self.view.integrity.touch_lists()?;
        let probes = self.prepare_lists(lists, situation, &mut scratch.list_query);
        let query = std::mem::take(&mut scratch.list_query);
        let exact = std::mem::take(&mut scratch.exact);
        let memory = (exact, std::mem::take(&mut scratch.coarse));
        let mut seeking = self.seek(query, memory);
        let found = self.probe_lists(lists, probes, &mut seeking);
        scratch.list_query = seeking.query;
        scratch.tally.codes += found.map_err(|DamagedList| self.view.damaged_list())?;
        let measured;
        (scratch.exact, scratch.coarse, measured) = seeking.nearest.finish()?;
        scratch.tally.reranked += measured;
        self.tell(scratch.exact.iter().copied(), &scratch.exact);
        let strategy = Plan::ScanLists.strategy();
        Ok(self.outcome(&scratch.exact, strategy, situation, scratch.tally))
    }

    /// Prepares the query for lists; answers how many of them to go through.
    fn prepare_lists(
        &self,
        lists: &Lists<'_>,
        situation: &Situation,
        query: &mut ListQuery,
    ) -> usize {
        let probes = match situation.access {
            Access::Lists(probing) => situation.probes(probing),
            Access::Rows | Access::Graph | Access::Codes => lists.heads.len(),
        };
        let share = probes as f32 / lists.heads.len().max(1) as f32;
        let coded = (self.vector, self.probe.own);
        let kernels = self.view.rows.kernels;
        query.prepare((lists, self.view.space), coded, probes, kernels);
        query.allow_errors(lists.frame, lists_margin(share));
        probes
    }

    fn seek(&self, query: ListQuery, memory: (Vec<Ranked>, Vec<Ranked>)) -> Seeking<'_> {
        let rows = (&self.probe, &self.view.integrity);
        Seeking {
            query,
            filter: self.filter,
            nearest: Nearest::new(rows, (self.k, self.hit_limit()), memory),
        }
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
        let mut scan = scan_of(self.view, lists);
        let mut rest = Rest {
            query,
            filter: self.filter,
            taken,
            top: Top::new(keep),
        };
        let (mut measured, mut pace) = (0, Pace::of_blocks());
        for list in query.in_order().iter().take(probes) {
            if pace.is_stopped() {
                break;
            }
            measured += scan.scan((&mut rest, &mut pace), list.row() as usize)?;
        }
        Ok((rest.top.into_kept(), measured))
    }

    /// Scans the nearest lists, and more until there are enough rows that pass; answers how many codes were measured.
    fn probe_lists(
        &self,
        lists: &Lists<'_>,
        probes: usize,
        seeking: &mut Seeking<'_>,
    ) -> Result<u64, DamagedList> {
        let mut scan = scan_of(self.view, lists);
        let (mut at, mut codes, mut pace) = (0, 0, Pace::of_blocks());
        while (at < probes || !self.is_enough(seeking.nearest.len())) && !pace.is_stopped() {
            let Some(list) = seeking.query.list(at) else {
                break;
            };
            codes += scan.scan((&mut *seeking, &mut pace), list.row() as usize)?;
            if at == 0 {
                seeking.nearest.tighten();
            }
            at += 1;
        }
        Ok(codes)
    }
}

fn scan_of<'a>(view: &View<'_>, lists: &'a Lists<'a>) -> ScanLists<'a> {
    let rows = view.rows;
    ScanLists::new((lists, view.space), rows.count(), rows.kernels)
}

/// Memory that searches of a block take together, at most. What they are scanned by has to stay in the cache beside a list.
const BLOCK_BYTES: usize = 4 << 20;
/// Searches that go through lists together: with more of them no less is read that counts.
const BLOCK_SEARCHES: usize = 128;
/// How many of its nearest lists each search has gone through before the best rows are measured, so that fewer come in from
/// the others.
const FIRST_LISTS: usize = 1;

/// How many searches like these go through lists together, on so many threads.
pub(super) fn block_of(
    lists: &Lists<'_>,
    searches: &[(usize, Search<'_>, Situation)],
    threads: usize,
) -> usize {
    let of_lists = |(_, search, situation): &(usize, Search<'_>, Situation)| {
        let probes = match situation.access {
            Access::Lists(probing) => situation.probes(probing),
            Access::Rows | Access::Graph | Access::Codes => 0,
        };
        // Rows that wait are a few times as many as hits, in the worst case.
        let of_rows = 8 * search.k.saturating_mul(size_of::<Ranked>());
        of_rows.saturating_add(2 * probes * size_of::<Ranked>())
    };
    let dimension = lists.dimension();
    let own = lists.block_bytes() + dimension * size_of::<f32>();
    let bytes = own + searches.iter().map(of_lists).max().unwrap_or_default();
    let even = searches.len().div_ceil(threads.max(1));
    even.min(BLOCK_BYTES / bytes).clamp(1, BLOCK_SEARCHES)
}

/// What [`Search::scan_lists`] would answer to each of several searches of a column, which go through its lists together: a
/// list is read once for all that look into it. `None` for those that have to go on alone, as too few rows passed.
pub(super) fn scan_lists_together(
    view: &View<'_>,
    lists: &Lists<'_>,
    searches: &[(usize, Search<'_>, Situation)],
    scratch: &mut Scratch,
) -> Result<Vec<Option<SearchOutcome>>, VectorError> {
    view.integrity.touch_lists()?;
    let mut seekers = Vec::with_capacity(searches.len());
    for (_, search, situation) in searches {
        let query = if stopped() {
            // It goes through no list.
            ListQuery::default()
        } else {
            search.prepare_lists(lists, situation, &mut scratch.list_query);
            scratch.list_query.prepared()
        };
        seekers.push(search.seek(query, Default::default()));
    }
    let mut scan = scan_of(view, lists);
    let (mut codes, mut pace) = (vec![0; seekers.len()], Pace::of_blocks());
    let (mut looks, mut starts) = (Vec::new(), Vec::new());
    for ranks in [0..FIRST_LISTS, FIRST_LISTS..usize::MAX] {
        looks.clear();
        for (at, seeker) in seekers.iter().enumerate() {
            let in_order = seeker.query.in_order();
            let some = in_order.get(ranks.start..ranks.end.min(in_order.len()));
            looks.extend(
                some.into_iter()
                    .flatten()
                    .map(|list| (list.row() as usize, at)),
            );
        }
        looks.sort_unstable();
        for looks in looks.chunk_by(|a, b| a.0 == b.0) {
            if pace.is_stopped() {
                break;
            }
            let picks = looks.iter().map(|&(_, at)| at);
            let list = (looks[0].0, &mut pace);
            let rows = scan.scan_for_each((&mut seekers, picks), list, &mut starts);
            let rows = rows.map_err(|DamagedList| view.damaged_list())?;
            looks.iter().for_each(|&(_, at)| codes[at] += rows);
        }
        seekers
            .iter_mut()
            .for_each(|seeker| seeker.nearest.tighten());
    }
    let finish =
        |(((_, search, situation), seeker), codes): ((&(_, Search<'_>, _), Seeking<'_>), _)| {
            if !search.is_enough(seeker.nearest.len()) && !stopped() {
                return Ok(None);
            }
            let (exact, _, reranked) = seeker.nearest.finish()?;
            search.tell(exact.iter().copied(), &exact);
            let tally = Tally {
                codes,
                reranked,
                ..Tally::default()
            };
            let strategy = Plan::ScanLists.strategy();
            Ok(Some(search.outcome(&exact, strategy, situation, tally)))
        };
    searches
        .iter()
        .zip(seekers)
        .zip(codes)
        .map(finish)
        .collect()
}
