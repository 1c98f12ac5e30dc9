//! Pages: a search that goes on behind its last hit without starting again.
//!
//! Rows come in the order of a coarse distance (that of codes, or the exact one where there are
//! none), from a walk of the graph or from a scan; [`Candidates`] keeps those that wait. They are measured
//! exactly while one of them could still be nearer than the best measured so far, and what was
//! measured too early waits for the next page. A walk that gets as long as a scan, or that finds no
//! way on, gives way to a scan of everything that was not yet handed on. So every row that passes
//! comes out, and none comes twice.
//!
//! Where documents may have several rows, the first row of one that comes out stands for all of them:
//! the others are measured then, the nearest makes the hit, and none of them comes again.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Deref;

use crate::codes::RotatedProbe;
use crate::column::View;
use crate::graph::Front;
use crate::ivf::Lists;
use crate::plan::{Plan, Situation};
use crate::rank::Ranked;
use crate::row_set::RowSet;
use crate::search::found::Candidates;
use crate::search::lists::LISTS_MARGIN_MAX;
use crate::search::turn::Turn;
use crate::search::{HitPlace, Query, Search, SearchOutcome, SearchRequest, Strategy, Tally};
use crate::{Column, ColumnOptions, Filter, Scratch, VectorError};

/// Rows that a first scan keeps for the pages to come, and the most that a later one does.
pub(super) const KEPT_ROWS: (usize, usize) = (1_024, 1 << 16);
/// Distances after which a walk gives way to a scan whatever that costs: what bounds its memory.
pub(super) const WALK_MEASURED_MAX: u64 = 1 << 20;
/// Rows measured exactly before it is asked again whether more could matter.
pub(super) const STEP_ROWS: usize = 8;

/// A search whose hits come page by page; made by [`Column::pages`], read by [`Column::next_page`].
///
/// Owns all it needs, so a client may hold it for as long as the column exists: the query, a copy of
/// the filter (one bit per document), two bits per row of the column (three where documents may have
/// several), and 8 bytes for each row that
/// was measured and not yet given out, of which there are at most about two million.
#[derive(Debug)]
pub struct Pages {
    column: (ColumnOptions, usize),
    vector: Vec<f32>,
    filter: Option<(Vec<u64>, usize)>,
    ef_search: usize,
    exact: bool,
    max_distance: Option<f32>,
    pub(super) after: Option<HitPlace>,
    pub(super) source: CandidateSource,
    /// How rows have been found so far, and whether by codes.
    pub(super) way: (Strategy, Measure),
    pub(super) found: Candidates,
    /// Rows that left `found`, for good.
    pub(super) taken: RowSet,
    /// Rows of documents that were given out; of columns where a document may have several.
    pub(super) given: RowSet,
    /// Rows that scans of lists were asked to keep, in all.
    pub(super) asked: usize,
    /// Measured exactly, and not yet given out.
    pub(super) measured: BinaryHeap<Reverse<Ranked>>,
}

/// Where candidates come from.
#[derive(Debug)]
pub(super) enum CandidateSource {
    /// Nothing was read yet.
    New,
    Walk(Front),
    /// A scan that keeps so many rows is next; none is when the last one kept all there were.
    Scan(Option<usize>),
    /// There is nothing more.
    Dry,
}

/// What candidates are found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Vectors,
    Codes,
    Lists,
}

impl<B: Deref<Target = [u8]> + Clone + Send + Sync> Column<B> {
    /// Starts a search whose hits come page by page; reads nothing yet. The request's `k` is the size
    /// of page that the effort is planned for.
    ///
    /// Promised: no document comes twice, and without a limit of distance every one that passes the
    /// filter comes in the end. Within a page hits are ordered exactly. From page to page they are as
    /// good as `ef_search` makes a walk: one that was missed by an earlier page comes in a later one,
    /// or, where a distance ends the pages, may not come. Exact requests, and columns with neither a
    /// graph nor lists, are exact throughout.
    ///
    /// Fails when the query does not fit the column.
    pub fn pages(&self, request: &SearchRequest<'_>) -> Result<Pages, VectorError> {
        Pages::start(&self.view()?, self.options(), request)
    }

    /// The next `k` hits; fewer only when there are no more. `distances` and `profile` of the outcome
    /// are of this page: after the first one, it takes about 28 distances per hit by a graph, none by
    /// a scan as long as the rows kept last.
    ///
    /// Fails when the pages are of another column, or the image is damaged.
    pub fn next_page(
        &self,
        pages: &mut Pages,
        k: usize,
        scratch: &mut Scratch,
    ) -> Result<SearchOutcome, VectorError> {
        pages.next(&self.view()?, self.options(), k, scratch)
    }
}

impl Pages {
    pub(crate) fn start(
        view: &View<'_>,
        options: &ColumnOptions,
        request: &SearchRequest<'_>,
    ) -> Result<Pages, VectorError> {
        Query::check(request.vector, options)?;
        let row_count = view.rows.count();
        Ok(Pages {
            column: (*options, row_count),
            vector: request.vector.to_vec(),
            filter: request
                .filter
                .map(|filter| (filter.bits.to_vec(), filter.count)),
            ef_search: request.ef_search.max(request.k),
            exact: request.exact,
            max_distance: request.max_distance,
            after: request.after,
            source: CandidateSource::New,
            way: (Strategy::Exact, Measure::Vectors),
            found: Candidates::default(),
            taken: RowSet::default(),
            given: RowSet::default(),
            asked: 0,
            measured: BinaryHeap::new(),
        })
    }

    /// True when there are no more hits. Before it is found out by asking for a page, false.
    pub fn is_done(&self) -> bool {
        matches!(self.source, CandidateSource::Dry)
    }

    /// Memory held, in bytes.
    pub fn size_bytes(&self) -> usize {
        let front = match &self.source {
            CandidateSource::Walk(front) => front.size_bytes(),
            CandidateSource::New | CandidateSource::Scan(_) | CandidateSource::Dry => 0,
        };
        let filter = self.filter.as_ref().map_or(0, |(bits, _)| bits.len() * 8);
        let measured = self.measured.capacity() * size_of::<Ranked>();
        let found = self.found.size_bytes();
        let sets = self.taken.size_bytes() + self.given.size_bytes();
        front + filter + measured + found + self.vector.len() * 4 + sets
    }

    pub(crate) fn next(
        &mut self,
        view: &View<'_>,
        options: &ColumnOptions,
        k: usize,
        scratch: &mut Scratch,
    ) -> Result<SearchOutcome, VectorError> {
        if self.column != (*options, view.rows.count()) {
            return Err(VectorError::OtherColumn);
        }
        let (vector, filter) = (self.vector.clone(), self.filter.take());
        let request = SearchRequest {
            ef_search: self.ef_search,
            filter: filter.as_ref().map(|(bits, count)| Filter {
                bits,
                count: *count,
            }),
            exact: self.exact,
            max_distance: self.max_distance,
            ..SearchRequest::new(&vector, k)
        };
        let checked = Query::check(&vector, options);
        let answer = checked.and_then(|query| {
            let (search, situation) = Search::prepare(view, &query, &request)?;
            if search.k == 0 || self.is_done() {
                if k > 0 {
                    self.finish();
                }
                return Ok(search.nothing(&situation));
            }
            self.turn(&search, &situation, scratch)
        });
        self.filter = filter;
        answer
    }

    /// Takes a page, by codes or vectors.
    fn turn(
        &mut self,
        search: &Search<'_>,
        situation: &Situation,
        scratch: &mut Scratch,
    ) -> Result<SearchOutcome, VectorError> {
        scratch.tally = Tally::default();
        let view = search.view;
        if let CandidateSource::New = self.source {
            let plan = situation.plan();
            let measure = match view.codes {
                Some(_) if plan != Plan::Scan => Measure::Codes,
                None if plan == Plan::ScanLists => Measure::Lists,
                _ => Measure::Vectors,
            };
            self.way = (plan.strategy(), measure);
            self.taken = RowSet::new(situation.row_count);
            if view.documents.is_some() {
                self.given = RowSet::new(situation.row_count);
            }
            match plan {
                Plan::Scan | Plan::ScanCodes => {
                    self.source = CandidateSource::Scan(Some(kept_rows(search.k_rows)));
                }
                // What so many lists are good for, and no more: the next page goes through more of them.
                Plan::ScanLists => self.source = CandidateSource::Scan(Some(situation.ef)),
                Plan::Walk | Plan::Sweep => {}
            }
        }
        if let (Measure::Lists, Some(lists)) = (self.way.1, &view.lists) {
            return self.turn_lists((search, lists), situation, scratch);
        }
        let codes = view.codes.filter(|_| self.way.1 == Measure::Codes);
        let Some(codes) = codes else {
            view.integrity.touch_vectors()?;
            let turn = Turn {
                search,
                situation,
                probe: &search.probe,
                error: None,
                lists: None,
            };
            return turn.page(self, scratch);
        };
        view.integrity.touch_graph()?;
        let mut query = std::mem::take(&mut scratch.query);
        query.prepare(&codes, view.space, (search.vector, search.probe.own));
        let probe = RotatedProbe {
            codes,
            query: &query,
            kernels: view.rows.kernels,
        };
        let turn = Turn {
            search,
            situation,
            probe: &probe,
            error: Some(codes.error * query.length()),
            lists: None,
        };
        let page = turn.page(self, scratch);
        scratch.query = query;
        page
    }
}

impl Pages {
    /// Takes a page by the codes in lists.
    fn turn_lists(
        &mut self,
        (search, lists): (&Search<'_>, &Lists<'_>),
        situation: &Situation,
        scratch: &mut Scratch,
    ) -> Result<SearchOutcome, VectorError> {
        search.view.integrity.touch_lists()?;
        let mut query = std::mem::take(&mut scratch.list_query);
        let coded = (search.vector, search.probe.own);
        let (all, kernels) = (lists.heads.len(), search.view.rows.kernels);
        query.prepare((lists, search.view.space), coded, all, kernels);
        query.allow_errors(lists.frame, LISTS_MARGIN_MAX);
        let turn = Turn {
            search,
            situation,
            probe: &search.probe,
            // Scans say how near rows may lie at best.
            error: Some(0.0),
            lists: Some((lists, &query)),
        };
        let page = turn.page(self, scratch);
        scratch.list_query = query;
        page
    }

    pub(super) fn is_coded(&self) -> bool {
        self.way.1 == Measure::Codes
    }

    /// Gives up what is left: it lies too far away.
    pub(super) fn finish(&mut self) {
        self.found = Candidates::default();
        self.measured = BinaryHeap::new();
        self.source = CandidateSource::Dry;
    }

    pub(super) fn finish_if_empty(&mut self) {
        let nothing_waits = self.found.is_empty() && self.measured.is_empty();
        if let (true, CandidateSource::Scan(None)) = (nothing_waits, &self.source) {
            self.finish();
        }
    }
}

/// Rows that the first scan for pages of `k` rows keeps.
pub(super) fn kept_rows(k: usize) -> usize {
    KEPT_ROWS.0.max(k.saturating_mul(4))
}
