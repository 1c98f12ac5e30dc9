//! Searches through inverted lists: the nearest lists are scanned by codes, and the best of their rows
//! measured exactly.

use std::num::NonZeroU64;

use clew_kernels::Kernels;
use clew_platform::{Pace, stopped};

use crate::column::View;
use crate::exact::{Keep, Top};
use crate::filter::RowFilter;
use crate::horizon::Horizon;
use crate::ivf::{DamagedList, ListQuery, Lists, ScanLists, Seeker, Start};
use crate::plan::{Access, Plan, Situation};
use crate::rank::Ranked;
use crate::rerank::{Nearest, OwnRows};
use crate::row_set::RowSet;
use crate::search::prepare::probing;
use crate::search::{Search, SearchOutcome, Tally};
use crate::{Scratch, Space, VectorError};

/// Beyond so many typical errors nothing is gained.
pub(super) const LISTS_MARGIN_MAX: f32 = 2.8;

/// How many typical errors of an estimate are allowed for, when so great a share of all lists is gone
/// through: at first hits are missed for want of lists, and only then for want of care. Even vectors of few dimensions
/// want 1.2, heavy tails 3; what lies between costs a twentieth more or less (GloVe, 512 and 768 dimensions).
pub(super) fn lists_margin(share: f32) -> f32 {
    (1.6 + 5.0 * share).min(LISTS_MARGIN_MAX)
}

/// A search on its way through lists.
struct Seeking<'a> {
    query: ListQuery,
    /// Lists to go through, the nearest.
    probes: usize,
    filter: Option<RowFilter<'a>>,
    nearest: Nearest<OwnRows<'a>>,
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

    fn start(
        &mut self,
        place: (usize, usize),
        lists: &Lists<'_>,
        form: (Space, &Kernels),
    ) -> Result<Start, DamagedList> {
        self.query.remembered_start(place, lists, form)
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
        let (query, probes) = self.prepare_lists(lists, situation, scratch);
        let exact = std::mem::take(&mut scratch.exact);
        let memory = (exact, std::mem::take(&mut scratch.coarse));
        let mut seeking = self.seek((query, probes), memory);
        let found = self.probe_lists(lists, &mut seeking);
        match self.successor(lists) {
            Some((horizon, centres)) if found.is_ok() => {
                horizon.keep_prepared(centres, seeking.query);
            }
            _ => scratch.list_query = seeking.query,
        }
        scratch.tally.codes += found.map_err(|DamagedList| self.view.damaged_list())?;
        let rows;
        (scratch.exact, scratch.coarse, rows) = seeking.nearest.finish()?;
        scratch.tally.reranked += rows.measured();
        self.tell(scratch.exact.iter().copied(), &scratch.exact);
        let strategy = Plan::ScanLists.strategy();
        Ok(self.outcome(&scratch.exact, strategy, situation, scratch.tally))
    }

    /// Where the query is left that these lists were scanned for, and by which name: other columns may have the same centres.
    fn successor(&self, lists: &Lists<'_>) -> Option<(&Horizon, NonZeroU64)> {
        self.horizon.zip(lists.frame.identity)
    }

    /// The query as these lists are scanned for it, and how many of them to go through. A column with the same centres that was
    /// searched for it before has prepared it.
    pub(super) fn prepare_lists(
        &self,
        lists: &Lists<'_>,
        situation: &Situation,
        scratch: &mut Scratch,
    ) -> (ListQuery, usize) {
        let probes = probes_of(lists, situation);
        let prepared = self
            .successor(lists)
            .and_then(|(horizon, centres)| horizon.take_prepared(centres))
            .filter(|query| query.fits(lists));
        let mut query = if let Some(mut query) = prepared {
            query.sort(probes);
            query
        } else {
            let mut query = std::mem::take(&mut scratch.list_query);
            let coded = (self.vector, self.probe.own);
            let kernels = self.view.rows.kernels;
            query.prepare((lists, self.view.space), coded, probes, kernels);
            query
        };
        let share = probes as f32 / lists.heads.len().max(1) as f32;
        query.allow_errors(lists.frame, lists_margin(share));
        (query, probes)
    }

    fn seek(
        &self,
        (query, probes): (ListQuery, usize),
        memory: (Vec<Ranked>, Vec<Ranked>),
    ) -> Seeking<'_> {
        let rows = OwnRows::new(&self.probe, &self.view.integrity);
        let nearest = Nearest::new(rows, (self.k, self.hit_limit()), memory);
        let others = self.horizon.map(|horizon| horizon.hits_of(self.k));
        Seeking {
            query,
            probes,
            filter: self.filter,
            nearest: nearest.with_others(&others.unwrap_or_default()),
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
        for (rank, list) in query.in_order().iter().take(probes).enumerate() {
            if pace.is_stopped() {
                break;
            }
            measured += scan.scan((&mut rest, &mut pace), (rank, list.row() as usize))?;
        }
        Ok((rest.top.into_kept(), measured))
    }

    /// Scans the nearest lists, and more until there are enough rows that pass; answers how many codes were measured.
    fn probe_lists(
        &self,
        lists: &Lists<'_>,
        seeking: &mut Seeking<'_>,
    ) -> Result<u64, DamagedList> {
        let mut scan = scan_of(self.view, lists);
        let (mut at, mut codes, mut pace) = (0, 0, Pace::of_blocks());
        let is_enough = |at, seeking: &Seeking<'_>| {
            at >= seeking.probes && self.is_enough(seeking.nearest.len())
        };
        while !is_enough(at, seeking) && !pace.is_stopped() {
            let Some(list) = seeking.query.list(at) else {
                break;
            };
            codes += scan.scan((&mut *seeking, &mut pace), (at, list.row() as usize))?;
            if at == 0 {
                seeking.nearest.tighten();
            }
            at += 1;
        }
        Ok(codes)
    }
}

/// Lists to go through.
pub(super) fn probes_of(lists: &Lists<'_>, situation: &Situation) -> usize {
    match situation.access {
        Access::Lists(probing) => situation.probes(probing),
        Access::Rows | Access::Graph | Access::Codes => lists.heads.len(),
    }
}

pub(super) fn scan_of<'a>(view: &View<'_>, lists: &'a Lists<'a>) -> ScanLists<'a> {
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
        let probes = probes_of(lists, situation);
        // Rows that wait are a few times as many as hits, in the worst case.
        let of_rows = 8 * search.k.saturating_mul(size_of::<Ranked>());
        // A query that other columns take is whole.
        let ordered = match search.successor(lists) {
            Some(_) => lists.heads.len(),
            None => probes,
        };
        let of_order = 2 * (ordered + probes) * size_of::<Ranked>();
        of_rows.saturating_add(of_order)
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
        let prepared = if stopped() {
            // It goes through no list.
            Default::default()
        } else {
            let (query, probes) = search.prepare_lists(lists, situation, scratch);
            if search.successor(lists).is_some() {
                (query, probes)
            } else {
                let prepared = query.prepared();
                scratch.list_query = query;
                (prepared, probes)
            }
        };
        seekers.push(search.seek(prepared, Default::default()));
    }
    let mut scan = scan_of(view, lists);
    let (mut codes, mut pace) = (vec![0_u64; seekers.len()], Pace::of_blocks());
    let (mut looks, mut starts) = (Vec::new(), Vec::new());
    for ranks in [0..FIRST_LISTS, FIRST_LISTS..usize::MAX] {
        looks.clear();
        for (at, seeker) in seekers.iter().enumerate() {
            let in_order = seeker.query.in_order().iter().take(seeker.probes);
            let some = in_order.enumerate().take(ranks.end).skip(ranks.start);
            looks.extend(some.map(|(rank, list)| (list.row() as usize, at, rank)));
        }
        looks.sort_unstable();
        for looks in looks.chunk_by(|a, b| a.0 == b.0) {
            if pace.is_stopped() {
                break;
            }
            let picks = looks.iter().map(|&(_, at, rank)| (at, rank));
            let list = (looks[0].0, &mut pace);
            let rows = scan.scan_for_each((&mut seekers, picks), list, &mut starts);
            let rows = rows.map_err(|DamagedList| view.damaged_list())?;
            looks.iter().for_each(|&(_, at, _)| codes[at] += rows);
        }
        seekers
            .iter_mut()
            .for_each(|seeker| seeker.nearest.tighten());
    }
    finish_together(lists, searches, seekers.into_iter().zip(codes))
}

/// Ends searches that went through lists together, each with the number of codes that it measured.
fn finish_together<'a>(
    lists: &Lists<'_>,
    searches: &[(usize, Search<'_>, Situation)],
    seekers: impl Iterator<Item = (Seeking<'a>, u64)>,
) -> Result<Vec<Option<SearchOutcome>>, VectorError> {
    let mut finished = Vec::with_capacity(searches.len());
    for ((_, search, _), (seeker, codes)) in searches.iter().zip(seekers) {
        let is_done = search.is_enough(seeker.nearest.len()) || stopped();
        let found = is_done.then(|| seeker.nearest.finish()).transpose()?;
        finished.push(found.map(|(exact, _, rows)| (exact, codes, rows.measured())));
        if let Some((horizon, centres)) = search.successor(lists) {
            horizon.keep_prepared(centres, seeker.query);
        }
    }
    // Where one of them met damage all go on alone: other columns are told once what was found, by then.
    let outcome = |((_, search, situation), found): (&(_, Search<'_>, Situation), Option<_>)| {
        let (exact, codes, reranked): (Vec<Ranked>, u64, u64) = found?;
        search.tell(exact.iter().copied(), &exact);
        let tally = Tally {
            codes,
            reranked,
            ..Tally::default()
        };
        let strategy = Plan::ScanLists.strategy();
        Some(search.outcome(&exact, strategy, situation, tally))
    };
    Ok(searches.iter().zip(finished).map(outcome).collect())
}
