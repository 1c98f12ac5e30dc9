//! The rows of an index whose vectors lie nearest to some others: by raw distance, for many vectors at once, within a
//! part of all distances, by groups, or page by page. The root asks the leaf of each shard and joins the answers. Dense
//! vectors and sparse ones go the same way; only the leaf tells them apart.

mod groups;
mod inside;
mod leaf;
mod objects;
mod pages;
mod sparse;

pub use inside::{GroupInside, GroupKind};
pub use pages::NearestPages;

use clew_platform::{MemoryPurpose, Reservation};
use clew_query::Query;
use clew_search::Scope;
use clew_vector::SparseEntry;
use tantivy::DocId;

pub use objects::ObjectHits;

use crate::base::blocks::BlockLevel;
use crate::base::error::EngineError;
use crate::base::phase::in_span;
use crate::base::search_pool::HERE_MAX;
use crate::node::engine::{Engine, Inner};
use crate::search::pinned::Pinned;
use crate::search::place::DocPlace;
use crate::search::times::unless_cancelled;
use leaf::{Admitted, candidates, horizons};

/// Most neighbours of one vector, those that are skipped among them.
pub const NEIGHBOURS_MAX: usize = 16_384;
/// Most hits of a group.
pub const GROUP_SIZE_MAX: usize = 1_024;
/// Most vectors that are searched for at once.
pub const PROBES_MAX: usize = 16_384;

/// How hard a search tries. What is not said is as the field's mapping and the index's settings have it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// Candidates that a walk of a graph keeps.
    pub ef_search: Option<usize>,
    /// Inverted lists to read.
    pub probes: Option<usize>,
    /// Whether every vector that may be a hit is measured.
    pub exact: bool,
    /// Share of a sparse vector's weights, the smallest ones, that hits are not looked for by; from 0 to below 1. Not
    /// regarded where [`DistanceRange::from`] leaves out the nearest.
    pub drop_ratio: f32,
}

/// The vectors that are searched for.
#[derive(Clone, Debug, PartialEq)]
pub enum Probes {
    /// Numbers of the field's element.
    Dense(Vec<Vec<f32>>),
    /// Weights by strictly ascending dimension, for a field of sparse vectors. The distance is the product, negated; a
    /// vector that shares no dimension with a probe is no hit.
    Sparse(Vec<Vec<SparseEntry>>),
}

impl Probes {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Probes::Dense(probes) => probes.len(),
            Probes::Sparse(probes) => probes.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them alone.
    fn only(&self, at: usize) -> Probes {
        match self {
            Probes::Dense(probes) => Probes::Dense(probes[at..=at].to_vec()),
            Probes::Sparse(probes) => Probes::Sparse(probes[at..=at].to_vec()),
        }
    }
}

impl From<Vec<Vec<f32>>> for Probes {
    fn from(probes: Vec<Vec<f32>>) -> Self {
        Probes::Dense(probes)
    }
}

impl From<Vec<Vec<SparseEntry>>> for Probes {
    fn from(probes: Vec<Vec<SparseEntry>>) -> Self {
        Probes::Sparse(probes)
    }
}

/// A part of all distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistanceRange {
    /// Hits are nearer than this.
    pub below: f32,
    /// And at least so far.
    pub from: Option<f32>,
}

/// Hits by the values of fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupBy {
    /// What the hits of a group have in common: at least one field.
    pub fields: Vec<GroupField>,
    /// Hits of each group.
    pub size: usize,
    /// Whether the search goes on until every group is full, or nothing is left.
    pub strict: bool,
}

/// A field by whose values hits are grouped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupField {
    /// Path of a field of whole numbers, booleans or keywords; with `inside` a member of documents.
    pub path: String,
    /// Which value inside that member is meant; it is read from each document that is looked at.
    pub inside: Option<GroupInside>,
    /// What documents without a value have in common: nothing but that, or with those of a value that stands for none.
    pub missing: GroupKey,
}

/// What a group has in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupKey {
    /// Rows without a value.
    Missing,
    /// A whole number; of booleans 0 and 1.
    Integer(i64),
    /// A text.
    Text(String),
    /// The values of several fields, in their order.
    All(Vec<GroupKey>),
}

impl GroupKey {
    /// What a group by these values has in common: of one field its value.
    pub fn of_fields(mut values: Vec<GroupKey>) -> Self {
        if values.len() == 1
            && let Some(only) = values.pop()
        {
            return only;
        }
        GroupKey::All(values)
    }

    /// The value of one of the fields, by its number.
    pub fn of_field(&self, number: usize) -> Option<&GroupKey> {
        match self {
            GroupKey::All(values) => values.get(number),
            value => (number == 0).then_some(value),
        }
    }
}

/// What to search for.
#[derive(Clone, Debug)]
pub struct NearestRequest {
    /// The shards, as they were pinned.
    pub pinned: Pinned,
    /// Path of a vector field.
    pub field: String,
    /// The vectors.
    pub probes: Probes,
    /// What counts as a hit of a field in nested objects.
    pub objects: ObjectHits,
    /// Only documents that match.
    pub filter: Option<Query>,
    /// Only nested objects that match, of those that the field is in.
    pub object_filter: Option<Query>,
    /// Hits for each vector; of groups their number.
    pub limit: usize,
    /// Hits, or groups, to skip.
    pub offset: usize,
    /// How hard to try.
    pub effort: Effort,
    /// Only hits of these distances.
    pub range: Option<DistanceRange>,
    /// The best hits of the best groups, in place of the best hits.
    pub group: Option<GroupBy>,
}

impl NearestRequest {
    /// The ten nearest to each vector.
    pub fn new(pinned: Pinned, field: impl Into<String>, probes: impl Into<Probes>) -> Self {
        NearestRequest {
            pinned,
            field: field.into(),
            probes: probes.into(),
            objects: ObjectHits::default(),
            filter: None,
            object_filter: None,
            limit: 10,
            offset: 0,
            effort: Effort::default(),
            range: None,
            group: None,
        }
    }

    /// Whether not all vectors may be hits.
    fn is_filtered(&self) -> bool {
        self.filter.is_some() || self.object_filter.is_some()
    }

    /// Whether it looks for the nearest to one vector in one shard and nothing else, so that what it costs is like what
    /// others of its kind have cost.
    fn is_plain(&self) -> bool {
        self.pinned.shards.len() == 1
            && matches!(&self.probes, Probes::Dense(probes) if probes.len() == 1)
            && self.objects == ObjectHits::Each
            && !self.is_filtered()
            && self.group.is_none()
            && self.range.is_none()
            && !self.effort.exact
    }

    /// Whether it is expected to be done before another thread had begun with it.
    fn is_small(&self) -> bool {
        let [shard] = &self.pinned.shards[..] else {
            return false;
        };
        let price = || shard.shard.candidate_price.of(candidates(shard, self));
        self.is_plain() && price().is_some_and(|expected| expected <= HERE_MAX)
    }
}

/// One hit.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbour {
    /// The document's id.
    pub id: String,
    /// Where it lies.
    pub place: DocPlace,
    /// Distance in the field's space: smaller is nearer.
    pub distance: f32,
    /// Its group, where groups were asked for.
    pub group: Option<GroupKey>,
    /// Which of the document's nested objects it is, where these are hits by themselves.
    pub object: Option<usize>,
}

/// The answer.
#[derive(Debug)]
pub struct NearestResponse {
    /// The hits of each vector, nearest first; equal distances by where the documents lie. Those of a group stand
    /// together, groups by their nearest.
    pub neighbours: Vec<Vec<Neighbour>>,
    /// The memory that they take.
    pub memory: Reservation,
}

/// A row that was found, before it is looked up.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Found {
    distance: f32,
    place: DocPlace,
    /// The row of the nested object that it is.
    object: Option<DocId>,
}

impl Found {
    fn order(&self, other: &Found) -> std::cmp::Ordering {
        let by_distance = self.distance.total_cmp(&other.distance);
        by_distance.then((self.place, self.object).cmp(&(other.place, other.object)))
    }
}

impl Engine {
    /// Searches for what is nearest; runs on the engine's search threads, or at once where searches of its kind have
    /// lately been done within a fraction of a millisecond.
    ///
    /// Unlike [`Engine::search`] no shard is left out: the first failure is the answer's.
    ///
    /// # Errors
    /// When the request is out of bounds or does not fit the mapping, too many searches wait, memory is short, or a
    /// shard failed.
    pub async fn nearest(&self, request: NearestRequest) -> Result<NearestResponse, EngineError> {
        let pinned = request.pinned.clone();
        let searched = async {
            let inner = self.inner.clone();
            if request.is_small() {
                return inner.pool.run_here(|| inner.nearest(&request))?;
            }
            self.inner.pool.run(move || inner.nearest(&request)).await?
        };
        in_span(
            &*self.inner.clock,
            "query",
            || pinned.attributes(),
            searched,
        )
        .await
    }
}

impl Inner {
    fn nearest(&self, request: &NearestRequest) -> Result<NearestResponse, EngineError> {
        check(request)?;
        for index in request.pinned.each_index() {
            index.check_block(BlockLevel::Read)?;
        }
        let mut memory = self.memory.open(MemoryPurpose::Searches);
        let wanted = request.limit + request.offset;
        let neighbours = match &request.group {
            None => {
                memory.grow(found_bytes(request).saturating_mul(request.probes.len() * wanted))?;
                let found = self.all_shards((request, None), wanted)?;
                let of_probe = |list: Vec<Found>| self.told(request, &list);
                found.into_iter().map(of_probe).collect::<Result<_, _>>()?
            }
            Some(group) => self.grouped(request, group, &mut memory)?,
        };
        unless_cancelled()?;
        Ok(NearestResponse { neighbours, memory })
    }

    /// What may be a hit, for each shard.
    fn admitted(&self, request: &NearestRequest) -> Result<Vec<Admitted>, EngineError> {
        let admitted: Vec<Result<Admitted, EngineError>> = match &request.pinned.shards[..] {
            [only] => vec![self.admitted_in(only, request)],
            many => self
                .pool
                .each(many.len(), |at| self.admitted_in(&many[at], request)),
        };
        admitted.into_iter().collect()
    }

    /// The nearest of all shards, in order, for each vector, among what is known already to be admitted in each.
    fn all_shards(
        &self,
        (request, admitted): (&NearestRequest, Option<&[Admitted]>),
        wanted: usize,
    ) -> Result<Vec<Vec<Found>>, EngineError> {
        let shards = &request.pinned.shards;
        let horizons = horizons(request, wanted);
        let own = match (admitted, &horizons[..]) {
            // Where all are searched at once, what may be a hit is known before.
            (None, [_]) if request.is_filtered() => Some(self.admitted(request)?),
            _ => None,
        };
        let admitted = admitted.or(own.as_deref());
        let together = self.found_together((request, admitted), (wanted, &horizons));
        let known = (wanted, &horizons[..], &together);
        let of_shard = |at: usize| {
            let admitted = admitted.and_then(|admitted| admitted.get(at));
            self.nearest_in(&shards[at], (request, admitted), known)
        };
        // Of one vector alone; then each shard costs less than the way to another thread.
        let is_found = matches!(&horizons[..], [_])
            && (shards.iter()).all(|shard| together.is_whole_of(shard, &request.field));
        let answers: Vec<Result<Vec<Vec<Found>>, EngineError>> = match shards.len() {
            1 => vec![of_shard(0)],
            many if is_found => (0..many).map(of_shard).collect(),
            many => self.pool.each(many, of_shard),
        };
        let mut all: Vec<Vec<Found>> = vec![Vec::new(); request.probes.len()];
        for answer in answers {
            for (list, found) in all.iter_mut().zip(answer?) {
                list.extend(found);
            }
        }
        for list in &mut all {
            list.sort_unstable_by(Found::order);
            list.truncate(wanted);
        }
        Ok(all)
    }

    fn told(
        &self,
        request: &NearestRequest,
        list: &[Found],
    ) -> Result<Vec<Neighbour>, EngineError> {
        let wanted = list.iter().skip(request.offset).take(request.limit);
        let places = wanted.clone().map(|found| found.place);
        let ids = request.pinned.ids_at(places)?;
        // As with the ids: one by one costs less than collecting results.
        let mut told = Vec::with_capacity(ids.len());
        for (found, id) in wanted.zip(ids) {
            told.push(neighbour_of(&request.pinned, (found, id), None)?);
        }
        Ok(told)
    }
}

fn neighbour(
    pinned: &Pinned,
    found: &Found,
    group: Option<GroupKey>,
) -> Result<Neighbour, EngineError> {
    let id = pinned.id_at(found.place)?;
    neighbour_of(pinned, (found, id), group)
}

/// The same of one whose id is known.
#[inline]
fn neighbour_of(
    pinned: &Pinned,
    (found, id): (&Found, &str),
    group: Option<GroupKey>,
) -> Result<Neighbour, EngineError> {
    Ok(Neighbour {
        id: id.to_string(),
        place: found.place,
        distance: found.distance,
        group,
        object: object_number(pinned, found)?,
    })
}

/// The place of a nested object among those of its path.
fn object_number(pinned: &Pinned, found: &Found) -> Result<Option<usize>, EngineError> {
    let Some(row) = found.object else {
        return Ok(None);
    };
    let shard = pinned.shard_at(found.place)?;
    let segment = &shard.view.segments[found.place.segment as usize];
    let number = segment.blocks().and_then(|blocks| {
        let path = blocks.path_of(row)?;
        Some(blocks.offset(path, Scope::Documents, row))
    });
    Ok(number)
}

/// What a hit takes until it is told.
fn found_bytes(request: &NearestRequest) -> usize {
    const ID_BYTES: usize = 32;
    size_of::<Neighbour>() + ID_BYTES + size_of::<Found>() * request.pinned.shards.len()
}

/// Refuses what is out of bounds whatever the mapping is.
fn check(request: &NearestRequest) -> Result<(), EngineError> {
    let refuse = |reason: String| Err(EngineError::InvalidRequest { reason });
    let (limit, offset) = (request.limit, request.offset);
    let wanted = limit.saturating_add(offset);
    if limit == 0 || wanted > NEIGHBOURS_MAX {
        return refuse(format!(
            "limit and offset together must be from 1 to {NEIGHBOURS_MAX}, not {wanted}"
        ));
    }
    if request.probes.len() > PROBES_MAX {
        let count = request.probes.len();
        return refuse(format!("{count} vectors are more than {PROBES_MAX}"));
    }
    if let Some(range) = request.range
        && (range.below.is_nan() || range.from.is_some_and(f32::is_nan))
    {
        return refuse("a bound of distances is no number".to_string());
    }
    match &request.group {
        Some(group) if !(1..=GROUP_SIZE_MAX).contains(&group.size) => {
            let size = group.size;
            refuse(format!(
                "groups have 1 to {GROUP_SIZE_MAX} hits, not {size}"
            ))
        }
        _ => Ok(()),
    }
}
