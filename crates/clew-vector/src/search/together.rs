//! One search of several columns. Those whose lists have the same centres are gone through as one column would be: centre by
//! centre, nearest first, and all columns' lists of a centre before the next. So what is near in any of them is known before
//! anything that lies farther is looked at, and no more is measured exactly than in one column.

use std::num::NonZeroU64;
use std::ops::Deref;

use clew_kernels::Kernels;
use clew_platform::Pace;

use crate::column::{Integrity, View};
use crate::filter::RowFilter;
use crate::ivf::{DamagedList, ListQuery, Lists, Seeker, Start};
use crate::plan::{Plan, Situation};
use crate::rank::Ranked;
use crate::rerank::{Nearest, Placed};
use crate::rows::RowProbe;
use crate::search::lists::{LISTS_MARGIN_MAX, lists_margin, probes_of, scan_of};
use crate::search::{Query, Search, SearchOutcome, SearchRequest, Tally};
use crate::{Column, Filter, Horizon, Scratch, Space, VECTORS_MAX, VectorError};

impl<B: Deref<Target = [u8]> + Clone + Send + Sync> Column<B> {
    /// Finds what is nearest in several columns, each with the documents that may be hits there; [`SearchRequest::filter`] is
    /// not regarded. Columns that are searched through lists with the same centres ([`Column::list_centres`]) answer together, in
    /// their order: they have the `k` nearest of all of them among their hits and nothing else, or as many as
    /// [`SearchRequest::horizon`] is for, if these are fewer. Each has gone through the lists that it would alone.
    ///
    /// The other columns answer `None`, and are left to [`Column::search`]; so do all with the same centres where one of them
    /// is damaged, and every column where the query does not fit.
    pub fn search_together(
        columns: &[(&Column<B>, Option<Filter<'_>>)],
        request: &SearchRequest<'_>,
        scratch: &mut Scratch,
    ) -> Vec<Option<SearchOutcome>> {
        let own = Horizon::new(request.k, request.ef_search);
        let horizon = request.horizon.unwrap_or(&own);
        let request = SearchRequest {
            horizon: Some(horizon),
            ..*request
        };
        let mut answers = vec![None; columns.len()];
        let centres = columns.iter().map(|(column, _)| column.list_centres());
        let named = centres
            .zip(0_usize..)
            .filter(|(centres, _)| centres.is_some());
        let mut named: Vec<(Option<NonZeroU64>, usize)> = named.collect();
        named.sort_unstable();
        for same in named
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|same| same.len() > 1)
        {
            let picked = same.iter().map(|&(_, at)| columns[at]);
            let picked: Vec<(&Column<B>, Option<Filter<'_>>)> = picked.collect();
            let found = through_shared_lists(&picked, (&request, horizon), scratch);
            for (&(_, at), found) in same.iter().zip(found) {
                answers[at] = found;
            }
        }
        answers
    }
}

/// So many typical errors more are allowed for than where a column is searched alone: of the nearest of all it finds few, which
/// lie far within what it would look for, so that it would miss none of them by a hair.
const MORE_MARGIN: f32 = 0.5;
/// Lists are asked for so many before their turn: each is short, and lies elsewhere.
const PARTS_AHEAD: usize = 3;

/// A column that is searched through shared lists.
struct Part<'a> {
    /// Its place among those that are searched.
    at: usize,
    search: Search<'a>,
    situation: Situation,
    lists: &'a Lists<'a>,
    /// Lists to go through, the nearest.
    probes: usize,
}

/// What is found in columns with the same centres.
fn through_shared_lists<B: Deref<Target = [u8]> + Clone + Send + Sync>(
    columns: &[(&Column<B>, Option<Filter<'_>>)],
    (request, horizon): (&SearchRequest<'_>, &Horizon),
    scratch: &mut Scratch,
) -> Vec<Option<SearchOutcome>> {
    let mut answers = vec![None; columns.len()];
    let options = columns[0].0.options();
    let Ok(query) = Query::check(request.vector, options) else {
        return answers;
    };
    let views = columns.iter().map(|(column, _)| {
        let is_alike = column.options() == options;
        is_alike.then(|| column.view().ok()).flatten()
    });
    let views: Vec<Option<View<'_>>> = views.collect();
    let (mut parts, mut rows) = (Vec::with_capacity(views.len()), 0);
    for (at, (view, &(_, filter))) in views.iter().zip(columns).enumerate() {
        let request = SearchRequest { filter, ..*request };
        let part = view
            .as_ref()
            .and_then(|view| Part::of(at, (view, &query), &request));
        // Rows of all are numbered through.
        if let Some(part) = part.filter(|part| part.rows() <= VECTORS_MAX - rows) {
            rows += part.rows();
            parts.push(part);
        }
    }
    let Some(first) = parts.first() else {
        return answers;
    };
    let (query, _) = first
        .search
        .prepare_lists(first.lists, &first.situation, scratch);
    parts.retain(|part| query.fits(part.lists));
    let wanted = request.k.min(horizon.hits_wanted());
    for (at, outcome) in find(&parts, query, (wanted, horizon), scratch).unwrap_or_default() {
        answers[at] = Some(outcome);
    }
    answers
}

impl<'a> Part<'a> {
    /// `None` where it is not searched through lists.
    fn of(
        at: usize,
        (view, query): (&'a View<'a>, &'a Query<'a>),
        request: &SearchRequest<'a>,
    ) -> Option<Self> {
        let lists = view.lists.as_ref()?;
        let (search, situation) = Search::prepare(view, query, request).ok()?;
        let is_plain = search.k > 0
            && request.after.is_none()
            && view.documents.is_none()
            && lists.frame.is_of_directions
            && situation.plan() == Plan::ScanLists
            && view.integrity.touch_lists().is_ok();
        is_plain.then(|| Part {
            at,
            probes: probes_of(lists, &situation),
            search,
            situation,
            lists,
        })
    }

    fn rows(&self) -> usize {
        self.situation.row_count
    }
}

/// The rows of all parts, numbered through.
struct AllRows<'p> {
    parts: &'p [Part<'p>],
    /// The first row of each part.
    firsts: Vec<u32>,
    /// Rows of each that were measured.
    measured: Vec<u64>,
}

impl<'p> AllRows<'p> {
    fn new(parts: &'p [Part<'p>]) -> Self {
        let mut next = 0;
        let first = |part: &Part<'_>| {
            let first = next;
            next += u32::try_from(part.rows()).expect("a column has no more rows");
            first
        };
        AllRows {
            parts,
            firsts: parts.iter().map(first).collect(),
            measured: vec![0; parts.len()],
        }
    }

    /// The part that a row lies in, and its number there.
    #[inline]
    fn part_of(&self, row: u32) -> (usize, u32) {
        let part = self.firsts.partition_point(|&first| first <= row) - 1;
        (part, row - self.firsts[part])
    }
}

impl Placed for AllRows<'_> {
    #[inline]
    fn place(&self, row: u32) -> (&RowProbe<'_>, &Integrity<'_>, u32) {
        let (part, row) = self.part_of(row);
        let search = &self.parts[part].search;
        (&search.probe, &search.view.integrity, row)
    }

    fn count(&mut self, measured: &[Ranked]) {
        for one in measured {
            let (part, _) = self.part_of(one.row());
            self.measured[part] += 1;
        }
    }
}

/// A search on its way through the lists of all parts, in one of them at a time.
struct SeekingAll<'p> {
    query: ListQuery,
    /// What passes in the part, and its first row.
    filter: Option<RowFilter<'p>>,
    first: u32,
    nearest: Nearest<AllRows<'p>>,
}

impl SeekingAll<'_> {
    /// Has what comes next lie in another part.
    fn turn_to(&mut self, at: usize) {
        let rows = self.nearest.rows();
        let part = &rows.parts[at];
        let share = part.probes as f32 / part.lists.heads.len().max(1) as f32;
        let margin = (lists_margin(share) + MORE_MARGIN).min(LISTS_MARGIN_MAX);
        self.query.allow_errors(part.lists.frame, margin);
        self.filter = part.search.filter;
        self.first = rows.firsts[at];
    }
}

impl Seeker for SeekingAll<'_> {
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
            let row = self.first + one.row();
            self.nearest.push(Ranked::new(one.distance(), row));
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

/// What is found in parts that have the same centres, by their places among the columns: the nearest `wanted` of all.
fn find(
    parts: &[Part<'_>],
    query: ListQuery,
    (wanted, horizon): (usize, &Horizon),
    scratch: &mut Scratch,
) -> Result<Vec<(usize, SearchOutcome)>, VectorError> {
    let Some(first) = parts.first() else {
        return Ok(Vec::new());
    };
    let possible = parts.iter().map(|part| part.search.k).sum();
    let k = wanted.clamp(1, possible);
    let exact = std::mem::take(&mut scratch.exact);
    let memory = (exact, std::mem::take(&mut scratch.coarse));
    let rows = AllRows::new(parts);
    let nearest = Nearest::new(rows, (k, first.search.hit_limit()), memory);
    let mut seeking = SeekingAll {
        query,
        filter: None,
        first: 0,
        nearest: nearest.with_others(&horizon.hits_of(k)),
    };
    let codes = go_through(parts, &mut seeking, (k, horizon))?;
    if let Some(centres) = first.lists.frame.identity {
        horizon.keep_prepared(centres, seeking.query);
    }
    let rows;
    (scratch.exact, scratch.coarse, rows) = seeking.nearest.finish()?;
    horizon.add(scratch.exact.iter().copied(), &scratch.exact);
    let mut hits = vec![Vec::new(); parts.len()];
    for one in &scratch.exact {
        let (part, row) = rows.part_of(one.row());
        hits[part].push(Ranked::new(one.distance(), row));
    }
    let outcome = |(((part, hits), codes), &reranked): (((&Part<'_>, Vec<_>), _), _)| {
        let tally = Tally {
            codes,
            reranked,
            ..Tally::default()
        };
        let strategy = Plan::ScanLists.strategy();
        let outcome = part.search.outcome(&hits, strategy, &part.situation, tally);
        (part.at, outcome)
    };
    let found = parts.iter().zip(hits).zip(codes).zip(&rows.measured);
    Ok(found.map(outcome).collect())
}

/// Scans the nearest lists, all that are around a centre before the next, and more until there are enough rows that pass;
/// answers how many codes were measured in each part.
fn go_through(
    parts: &[Part<'_>],
    seeking: &mut SeekingAll<'_>,
    (k, horizon): (usize, &Horizon),
) -> Result<Vec<u64>, VectorError> {
    let (mut codes, mut done) = (vec![0; parts.len()], vec![0; parts.len()]);
    let Some(first) = parts.first() else {
        return Ok(codes);
    };
    let mut scan = scan_of(first.search.view, first.lists);
    let (mut is_spent, mut pace) = (false, Pace::of_blocks());
    let prefetch_heads = |list: Option<&Ranked>| {
        for (part, list) in parts.iter().zip(list.into_iter().cycle()) {
            part.lists.prefetch_head(list.row() as usize);
        }
    };
    prefetch_heads(seeking.query.in_order().first());
    while !pace.is_stopped() {
        let is_enough = is_spent && (seeking.nearest.len() >= k || horizon.has_hits());
        let aim = |part: &Part<'_>| match is_spent {
            true => part.lists.heads.len(),
            false => part.probes,
        };
        let open = parts
            .iter()
            .zip(&done)
            .filter(|&(part, &done)| done < aim(part));
        let next = open.map(|(_, &done)| done).min().filter(|_| !is_enough);
        let Some((rank, list)) = next.and_then(|rank| Some((rank, seeking.query.list(rank)?)))
        else {
            if is_spent {
                break;
            }
            is_spent = true;
            continue;
        };
        prefetch_heads(seeking.query.in_order().get(rank + 1));
        for (at, part) in parts.iter().enumerate() {
            if done[at] != rank || rank >= aim(part) {
                continue;
            }
            // What lies so far ahead comes from memory meanwhile.
            let ahead = at + PARTS_AHEAD;
            let (part_ahead, ranks) = (ahead % parts.len(), ahead / parts.len());
            if let Some(list) = seeking.query.in_order().get(rank + ranks) {
                parts[part_ahead].lists.prefetch(list.row() as usize);
            }
            seeking.turn_to(at);
            scan.turn_to(part.lists, part.rows());
            let rows = scan.scan((&mut *seeking, &mut pace), (rank, list.row() as usize));
            codes[at] += rows.map_err(|DamagedList| part.search.view.damaged_list())?;
            done[at] += 1;
        }
        if rank == 0 {
            seeking.nearest.tighten();
        }
    }
    Ok(codes)
}
