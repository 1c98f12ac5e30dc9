//! Searches and their answers, as every protocol crate builds and reads them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use clew_aggregation::{AggProfile, NamedResult};
use clew_platform::Reservation;
use clew_profile::SpentTimes;
use clew_query::aggregation::NamedAgg;
use clew_query::{Query, SortKey, SortValue};
use clew_schema::DerivedField;
use clew_search::{Explained, Kin, Percolated, QueriesProfile, Rescore, Total, TrackTotal};
use clew_vector::{SearchProfile, Strategy};

use crate::base::error::EngineError;
use crate::base::phase::Phase;
use crate::index::handle::Index;
use crate::search::fusion::Fusion;
use crate::search::pinned::{Pinned, Slice};
use crate::search::place::DocPlace;

/// What a search sees of one index; the default is all of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexPart {
    /// Only documents that match.
    pub filter: Option<Query>,
    /// Only these shards.
    pub shards: Option<BTreeSet<u32>>,
    /// Factor on the scores.
    pub boost: Option<f32>,
}

/// A search over the shards of some indexes.
#[derive(Debug)]
pub struct SearchRequest {
    /// The shards, as they were pinned.
    pub pinned: Pinned,
    /// What is seen of their indexes, by the unique ids of these; all where nothing is said.
    pub parts: BTreeMap<String, IndexPart>,
    /// What matches.
    pub query: Query,
    /// Derived fields that aggregations may be of, beside those of the mappings.
    pub derived: Arc<[DerivedField]>,
    /// Restricts the hits but not the aggregations.
    pub post_filter: Option<Query>,
    /// Order of the hits; empty means by score.
    pub sort: Vec<SortKey>,
    /// Hits to skip.
    pub from: usize,
    /// Hits to return.
    pub size: usize,
    /// How exactly to count.
    pub track_total: TrackTotal,
    /// Scores also when the order is not by score.
    pub track_scores: bool,
    /// Hits with a lower score are left out.
    pub min_score: Option<f32>,
    /// Only hits after these sort values.
    pub search_after: Option<Vec<SortValue>>,
    /// Aggregations.
    pub aggs: Vec<NamedAgg>,
    /// Whether hits carry their source.
    pub source: bool,
    /// Whether a source carries its vectors (ignored without `source`).
    pub vectors: bool,
    /// Stop collecting after this long and say so.
    pub timeout: Option<Duration>,
    /// What the response tells of how it was made.
    pub profile: ProfileDetail,
    /// What is wanted from inside each hit.
    pub inner_hits: Vec<InnerHits>,
    /// Groups that the search is counted in, beside the counts of all searches.
    pub groups: Vec<String>,
    /// How the search goes about it.
    pub control: SearchControl,
}

impl SearchRequest {
    /// The number of hits and of matches counted where nothing else is said.
    const SIZE: usize = 10;
    const COUNTED: u64 = 10_000;

    /// The ten best hits of a query without their sources, counted exactly up to 10,000.
    pub fn new(pinned: Pinned, query: Query) -> Self {
        SearchRequest {
            pinned,
            parts: BTreeMap::new(),
            query,
            derived: Arc::default(),
            post_filter: None,
            sort: Vec::new(),
            from: 0,
            size: Self::SIZE,
            track_total: TrackTotal::UpTo(Self::COUNTED),
            track_scores: false,
            min_score: None,
            search_after: None,
            aggs: Vec::new(),
            source: false,
            vectors: false,
            timeout: None,
            profile: ProfileDetail::Nothing,
            inner_hits: Vec::new(),
            groups: Vec::new(),
            control: SearchControl::default(),
        }
    }

    /// Has the shards of the search timed, if that is not done anyway.
    pub fn time_phases(&mut self) {
        if self.profile == ProfileDetail::Nothing {
            self.profile = ProfileDetail::Phases;
        }
    }
}

/// What a response tells of how it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProfileDetail {
    /// Nothing, which costs nothing.
    #[default]
    Nothing,
    /// When each shard did its part ([`SearchResponse::shard_profiles`]). Costs a look at the clock for each of them, and
    /// two for each hit.
    Phases,
    /// Beside that how vectors were searched ([`SearchResponse::knn`]), what each step of the queries and aggregations took,
    /// and where the time of each shard went. Costs two looks at the clock for each document of each clause.
    Everything,
}

/// How a search goes about what it is asked for.
#[derive(Clone, Debug, Default)]
pub struct SearchControl {
    /// Only this part of the documents.
    pub slice: Option<Slice>,
    /// Every shard stops after so many matches.
    pub terminate_after: Option<u64>,
    /// Hits are collapsed by a field.
    pub collapse: Option<Collapse>,
    /// The best hits are scored again, round by round (only when the order is by score).
    pub rescore: Vec<Rescore>,
    /// Whether words are as rare, and texts as long on average, as in all shards together; else each shard has its own
    /// figures.
    pub weighed_together: bool,
    /// Whether hits say where their score comes from.
    pub explain: bool,
    /// Whether the documents of aggregations say it, too.
    pub explain_top_hits: bool,
    /// Whether hits say what the named queries that they match score.
    pub named_scores: bool,
    /// Shards on which a range that every match must be in has no document are left out when there
    /// are more shards than this.
    pub skip_above: Option<u64>,
    /// The hits are ranked by several queries, whose union the request's query is (only when the
    /// order is by score).
    pub hybrid: Option<Hybrid>,
}

/// Several queries that rank together.
#[derive(Clone, Debug, PartialEq)]
pub struct Hybrid {
    /// The queries.
    pub queries: Vec<Query>,
    /// How many of the best of each query every shard gives.
    pub depth: usize,
    /// How their rankings become one.
    pub fusion: Fusion,
}

impl SearchControl {
    /// The field that hits are collapsed by.
    pub(crate) fn collapse_field(&self) -> Option<&str> {
        self.collapse
            .as_ref()
            .map(|collapse| collapse.field.as_str())
    }
}

/// What is wanted with each hit.
#[derive(Clone, Debug)]
pub struct InnerHits {
    /// What they are to the hit.
    pub within: Within,
    /// What they must match.
    pub query: Query,
    /// Whether a path that is not mapped has no objects instead of being an error.
    pub ignore_unmapped: bool,
    /// Hits to skip.
    pub from: usize,
    /// Hits wanted.
    pub size: usize,
    /// Their order; empty means by score.
    pub sort: Vec<SortKey>,
    /// Whether they carry their part of the source.
    pub source: bool,
    /// Whether they say where their score comes from.
    pub explain: bool,
    /// What is wanted from inside each of them.
    pub inner: Vec<InnerHits>,
}

/// What inner hits are to the hit that they stand in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Within {
    /// Its nested objects at this path.
    Nested(String),
    /// Its relatives by a `join` field.
    Kin(Kin),
    /// The other hits of its group; those of them that share a value of a field count once.
    Group {
        /// The field.
        collapse: Option<String>,
    },
}

/// Hits of which no two have the same value of a field.
#[derive(Clone, Debug)]
pub struct Collapse {
    /// The field's path.
    pub field: String,
    /// What is wanted of each group.
    pub inner: Vec<InnerHits>,
}

/// The nested objects of one hit.
#[derive(Clone, Debug, Default)]
pub struct InnerResult {
    /// How many match.
    pub total: u64,
    /// The best score, when scores were computed.
    pub max_score: Option<f32>,
    /// Those that were wanted.
    pub hits: Vec<Hit>,
    /// How long they were looked for, when the request asked for everything of how it was made. What was looked for around
    /// several hits of a shard at once stands with the first of them; of groups it is with reading what was found.
    pub looked_for: Option<Duration>,
}

/// One step on the way into a document, to a nested object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestedStep {
    /// The object's path inside the object of the step before.
    pub field: String,
    /// Its place among its siblings.
    pub offset: usize,
}

/// A hit.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The index it is in.
    pub index: Arc<Index>,
    /// The document's id.
    pub id: String,
    /// Its score, when scores were asked for.
    pub score: Option<f32>,
    /// Its sort values, when a sort was asked for.
    pub sort: Vec<SortValue>,
    /// The value of the field that hits are collapsed by, when they are.
    pub group: Option<SortValue>,
    /// Its version.
    pub version: u64,
    /// The sequence number of its last write.
    pub seq_no: u64,
    /// Its routing key, when it was given one.
    pub routing: Option<String>,
    /// The fields that left a value of it out because it did not fit; of a nested object none.
    pub ignored: Vec<String>,
    /// Its JSON, when it was asked for.
    pub source: Option<Bytes>,
    /// The named queries that it matches.
    pub matched_queries: Vec<MatchedQuery>,
    /// The shard it is in.
    pub shard: u32,
    /// Where it lies in what was pinned.
    pub place: DocPlace,
    /// What its stored query matched, when the search asked about documents.
    pub percolated: Vec<Percolated>,
    /// Where its score comes from, when it was asked for.
    pub explanation: Option<Explained>,
    /// Where it is in its document, when it is a nested object; the outermost step first.
    pub nested: Vec<NestedStep>,
    /// What was wanted from inside it, in the request's order.
    pub inner: Vec<InnerResult>,
    /// What reading it cost, when the request asked for everything of how it was made.
    pub steps: Option<Box<FetchSteps>>,
}

/// What it cost to read one hit, step by step; none of what was not asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FetchSteps {
    /// Its id, version and whatever else is not in its source.
    pub row: Duration,
    /// Its source.
    pub source: Option<Duration>,
    /// Where its score comes from.
    pub explanation: Option<Duration>,
    /// The named queries that it matches; the first hit of a shard has them looked for in all of it.
    pub matched_queries: Option<Duration>,
    /// The documents that a stored query matches.
    pub percolated: Option<Duration>,
}

/// A named query that a hit matches.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchedQuery {
    /// Its name.
    pub name: String,
    /// What the hit scores by it alone, when that was asked for.
    pub score: Option<f32>,
}

/// How many shards took part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShardCounts {
    /// All of them.
    pub total: u32,
    /// Those that answered.
    pub successful: u32,
    /// Those that failed; their hits are missing.
    pub failed: u32,
    /// Those among the successful that were left out, because nothing there can match.
    pub skipped: u32,
}

/// A shard that could not answer a search which others answered.
#[derive(Debug)]
pub struct ShardFailure {
    /// The index searched.
    pub index: String,
    /// The shard's number.
    pub shard: u32,
    /// What went wrong there.
    pub error: EngineError,
}

/// The answer to a search.
#[derive(Debug)]
pub struct SearchResponse {
    /// The moment that `now` is in dates and scripts, in milliseconds since the epoch.
    pub now_ms: i64,
    /// How many documents match.
    pub total: Option<Total>,
    /// The best score of all matches, when scores were asked for.
    pub max_score: Option<f32>,
    /// The hits, in order.
    pub hits: Vec<Hit>,
    /// The aggregations' results, in the request's order.
    pub aggs: Vec<NamedResult>,
    /// The documents of all `top_hits` among them, which name theirs by their places here.
    pub top_hits: Vec<Hit>,
    /// How many shards took part.
    pub shards: ShardCounts,
    /// Why each shard that failed did.
    pub failures: Vec<ShardFailure>,
    /// Whether the time limit cut the search short.
    pub timed_out: bool,
    /// Whether a shard stopped after as many matches as it should look at.
    pub terminated_early: bool,
    /// How vectors were searched, when the request asked for it: one entry per k-NN clause and
    /// segment that has the field, by shard in the request's order.
    pub knn: Vec<KnnProfile>,
    /// What each shard that answered did when, when the request asked for it, in the same order.
    pub shard_profiles: Vec<ShardProfile>,
    /// The memory that all this takes.
    pub memory: Reservation,
}

/// What one shard's part of a search took.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardProfile {
    /// The index searched.
    pub index: String,
    /// The shard's number.
    pub shard: u32,
    /// From the start of its search to its hits, without fetching their sources.
    pub query: Phase,
    /// From its first hit that was read to its last one, without the time that other shards' hits took between; none
    /// where no hit is from here. What is inside of hits is not part of it.
    pub fetch: Option<Phase>,
    /// How many documents match there.
    pub total: Total,
    /// What its queries cost, step by step, when the request asked for everything.
    pub queries: QueriesProfile,
    /// Where the time of its query went, when the request asked for everything. In the queue it was while the threads of the
    /// search were at other shards.
    pub spent: Option<SpentTimes>,
    /// What its aggregations cost.
    pub aggs: Vec<AggProfile>,
}

/// How one k-NN clause was answered in one segment.
#[derive(Clone, Debug, PartialEq)]
pub struct KnnProfile {
    /// The index searched.
    pub index: String,
    /// The shard's number.
    pub shard: u32,
    /// The segment's place in the shard, from 0.
    pub segment: usize,
    /// The field.
    pub field: String,
    /// How its vectors were gone through.
    pub strategy: Strategy,
    /// Hits found there, before the best of all segments were chosen.
    pub hits: usize,
    /// Distances computed.
    pub distances: u64,
    /// What the way was chosen by, and what was read.
    pub profile: SearchProfile,
}
