//! What is nearest to one vector, page by page, for as long as somebody asks for more: each segment's search goes on where
//! it was left (`clew-vector` has the pages of a column), and the nearest of all segments come next.

use std::collections::VecDeque;
use std::sync::Arc;

use clew_platform::{MemoryPurpose, Reservation};
use clew_schema::{FieldId, FieldKind};
use clew_vector::{Column, Hit, Pages, SearchOutcome, VectorError};
use parking_lot::Mutex;

use super::leaf::{AskedSegment, check_all, effort, placed};
use super::{Found, NearestRequest, Neighbour, ObjectHits, Probes, check, found_bytes, neighbour};
use crate::base::blocks::BlockLevel;
use crate::base::error::EngineError;
use crate::node::engine::{Engine, Inner};
use crate::search::depth::{Depth, PartQuestion};
use crate::search::knn::search_error;
use crate::search::other_space::{in_space, in_space_bytes};
use crate::search::pinned::{Pinned, PinnedShard};
use crate::search::place::DocPlace;
use crate::search::scratch::with_scratch;
use crate::search::times::{unless_cancelled, unless_stopped};

/// Hits that a segment is asked for at once at least.
const STEP: usize = 16;

/// A search that goes on behind its last hit. It sees what was pinned for it and nothing that is written later.
///
/// Holds the query, and for each segment the state of its search: two bits for each row and 8 bytes for each that was
/// measured and not given out yet, which is booked for as long as it is held.
#[derive(Clone)]
pub struct NearestPages {
    pinned: Pinned,
    state: Arc<Mutex<State>>,
}

impl NearestPages {
    /// What it sees.
    pub fn pinned(&self) -> &Pinned {
        &self.pinned
    }
}

impl std::fmt::Debug for NearestPages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NearestPages({:?})", self.pinned)
    }
}

/// How far a search has come.
struct State {
    request: NearestRequest,
    parts: Vec<Part>,
    /// Hits of a page that was not told yet.
    page: Vec<Found>,
    /// Whether a segment's search was broken off, so that nobody knows what it has given out.
    broken: bool,
    memory: Reservation,
}

/// One segment's search.
struct Part {
    shard: usize,
    segment: usize,
    field: FieldId,
    /// Whether its hits are nested objects, each by itself.
    of_objects: bool,
    /// The column in the field's space, where the segment has it in another one.
    again: Option<Column<Vec<u8>>>,
    pages: Pages,
    /// Hits that were found and not given out yet, nearest first.
    waiting: VecDeque<Found>,
}

impl Engine {
    /// Begins a search whose hits come page by page, by [`Engine::next_page`]. It is for one vector, without groups, and
    /// skips nothing; the limit is the size of page that the effort is planned for.
    ///
    /// Every document that matches comes once, and none twice, whatever is written or merged meanwhile; of a field in nested
    /// objects so does each of these. Pages are in order as far as the effort goes: what one missed comes in a later one.
    /// Searches of a range measure every vector.
    ///
    /// # Errors
    /// As [`Engine::nearest`].
    pub async fn nearest_pages(
        &self,
        request: NearestRequest,
    ) -> Result<NearestPages, EngineError> {
        let inner = self.inner.clone();
        let begin = move || inner.begin_pages(request);
        self.inner.pool.run(begin).await?
    }

    /// The next hits, nearest first: so many, fewer only behind the last one. What was refused because too many searches
    /// wait, or memory is short, can be asked for again.
    ///
    /// # Errors
    /// When the limit is out of bounds, somebody else is asking for a page or was cut short while it was made, too many
    /// searches wait, memory is short, or a shard failed.
    pub async fn next_page(
        &self,
        pages: &NearestPages,
        limit: usize,
    ) -> Result<Vec<Neighbour>, EngineError> {
        let (inner, pages) = (self.inner.clone(), pages.clone());
        let next = move || match pages.state.try_lock() {
            Some(mut state) if !state.broken => inner.next_page(&mut state, limit),
            Some(_) => refuse("a page was cut short: what comes next is not known"),
            None => refuse("another page is being made"),
        };
        self.inner.pool.run(next).await?
    }
}

impl Inner {
    fn begin_pages(&self, request: NearestRequest) -> Result<NearestPages, EngineError> {
        check(&request)?;
        if request.probes.len() != 1 || request.offset != 0 || request.group.is_some() {
            return refuse("pages are of one vector, from the first hit on, and without groups");
        }
        if request.objects == ObjectHits::MaxSim {
            return refuse("pages are not of documents by all of their nested objects");
        }
        let mut request = request;
        // A walk that ends at a distance would leave out what it missed.
        request.effort.exact |= request.range.is_some();
        let mut memory = self.memory.open(MemoryPurpose::Searches);
        let mut parts = Vec::new();
        let pinned = request.pinned.clone();
        for (number, target) in pinned.shards.iter().enumerate() {
            target.index.check_block(BlockLevel::Read)?;
            target.check_readable()?;
            parts.extend(self.parts_of((number, target), &request, &mut memory)?);
            target.check_readable()?;
        }
        unless_cancelled()?;
        // What may be a hit is known by now, and what says so may be a list of millions.
        (request.filter, request.object_filter) = (None, None);
        let state = State {
            request,
            parts,
            page: Vec::new(),
            broken: false,
            memory,
        };
        Ok(NearestPages {
            pinned,
            state: Arc::new(Mutex::new(state)),
        })
    }

    fn parts_of(
        &self,
        (number, target): (usize, &PinnedShard),
        request: &NearestRequest,
        memory: &mut Reservation,
    ) -> Result<Vec<Part>, EngineError> {
        let mut parts = Vec::new();
        let Some(mapped) = target.mapping().field(&request.field) else {
            return Ok(parts);
        };
        let (FieldKind::Vector(vector), Probes::Dense(probes)) = (&mapped.kind, &request.probes)
        else {
            return refuse("pages are of a field of dense vectors");
        };
        let of_objects = target.mapping().nested_scope(&request.field).is_some();
        let field = mapped.id;
        check_all(probes, |probe| clew_vector::validate(probe, &vector.column))?;
        let (ef_search, lists) = effort(target, vector, request);
        let admitted = self.admitted_in(target, request)?;
        for (at, segment) in target.view.segments.iter().enumerate() {
            let Some(column) = segment.vectors().column(field) else {
                continue;
            };
            unless_stopped()?;
            let asked = AskedSegment {
                request,
                probes,
                segment,
                bits: admitted.as_ref().and_then(|bits| bits.get(at)),
                lists,
            };
            let asked = asked.of(&PartQuestion {
                probe: 0,
                depth: Depth::new(request.limit, ef_search),
                horizon: None,
            });
            let told = |error| EngineError::from(search_error(segment.vectors(), error));
            let (again, pages) = if column.options().space == vector.column.space {
                (None, column.pages(&asked).map_err(told)?)
            } else {
                memory.grow(in_space_bytes(column, &vector.column))?;
                let again = in_space(column, vector.column).map_err(told)?;
                let pages = again.pages(&asked).map_err(told)?;
                (Some(again), pages)
            };
            parts.push(Part {
                shard: number,
                segment: at,
                field,
                of_objects,
                again,
                pages,
                waiting: VecDeque::new(),
            });
        }
        Ok(parts)
    }

    fn next_page(&self, state: &mut State, limit: usize) -> Result<Vec<Neighbour>, EngineError> {
        let State {
            request,
            parts,
            page,
            broken,
            memory,
        } = state;
        request.limit = limit;
        check(request)?;
        let pinned = request.pinned.clone();
        let targets = &pinned.shards;
        targets.iter().try_for_each(PinnedShard::check_readable)?;
        let step = (2 * request.limit / parts.len().max(1)).clamp(STEP, request.limit.max(STEP));
        let room = found_bytes(request) * (request.limit + step * parts.len());
        let mut booked = memory.sibling();
        booked.grow(room)?;
        let mut fill = |part: &mut Part| {
            let filled = part.fill(&targets[part.shard], step);
            filled.inspect_err(|_| *broken = true)
        };
        parts.iter_mut().try_for_each(&mut fill)?;
        while page.len() < request.limit {
            unless_stopped()?;
            let heads = parts.iter().enumerate();
            let heads = heads.filter_map(|(at, part)| Some((at, part.waiting.front()?)));
            let nearest = heads.min_by(|(_, a), (_, b)| a.order(b));
            let Some(at) = nearest.map(|(at, _)| at) else {
                break;
            };
            page.extend(parts[at].waiting.pop_front());
            fill(&mut parts[at])?;
        }
        page.sort_unstable_by(Found::order);
        let told = page.iter().take(request.limit);
        let told = told.map(|one| neighbour(&pinned, one, None));
        let told: Vec<Neighbour> = told.collect::<Result<_, _>>()?;
        for target in targets.iter() {
            target.check_readable()?;
            self.report_damage(target);
        }
        let held: usize = parts.iter().map(Part::size_bytes).sum();
        memory.grow_to(held)?;
        unless_cancelled()?;
        page.drain(..told.len());
        Ok(told)
    }
}

fn refuse<T>(reason: &str) -> Result<T, EngineError> {
    Err(EngineError::InvalidRequest {
        reason: reason.to_string(),
    })
}

impl Part {
    /// Finds more where nothing waits, if there is more.
    fn fill(&mut self, target: &PinnedShard, count: usize) -> Result<(), EngineError> {
        if !self.waiting.is_empty() || self.pages.is_done() {
            return Ok(());
        }
        let segment = &target.view.segments[self.segment];
        let file = segment.vectors();
        let found = with_scratch(|scratch| -> Result<SearchOutcome, VectorError> {
            match (&self.again, file.column(self.field)) {
                (Some(again), _) => again.next_page(&mut self.pages, count, scratch),
                (None, Some(column)) => column.next_page(&mut self.pages, count, scratch),
                (None, None) => Err(VectorError::OtherColumn),
            }
        });
        let found = found.map_err(|error| search_error(file, error))?;
        unless_stopped()?;
        let blocks = segment.blocks().filter(|_| self.of_objects);
        let place = DocPlace::new(target.at, self.segment, 0);
        let told = |hit: &Hit| placed(hit, place, blocks.map(Arc::as_ref));
        self.waiting.extend(found.hits.iter().filter_map(told));
        Ok(())
    }

    fn size_bytes(&self) -> usize {
        let options = self.again.as_ref().map(|again| *again.options());
        let again = self.again.as_ref().zip(options);
        let again = again.map_or(0, |(column, options)| in_space_bytes(column, &options));
        again + self.pages.size_bytes() + self.waiting.capacity() * size_of::<Found>()
    }
}
