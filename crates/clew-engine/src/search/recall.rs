//! How much of the nearest the searches of an index find, measured on its own vectors: some are drawn,
//! and each is searched for as a user would and exactly, itself left out of both answers.
//!
//! A measurement only uses what a search uses, waits for its turn before every query, and never runs
//! beside another one. What is measured is how well vectors like the stored ones are served; queries
//! that lie elsewhere, or that have filters, may be served differently.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use clew_platform::{Clock, SplitMix};
use clew_query::{KnnQuery, QueryError};
use clew_schema::{FieldId, FieldKind};
use clew_search::KnnResolver;
use clew_vector::RecallEstimate;

use crate::base::access::Purpose;
use crate::base::error::EngineError;
use crate::index::handle::Index;
use crate::node::engine::Engine;
use crate::node::index_handle::IndexHandle;
use crate::search::knn::{K_MAX, ViewKnn};
use crate::shard::{SegmentView, View};

/// Most vectors that one measurement draws.
pub const RECALL_SAMPLE_MAX: usize = 10_000;

/// How hard the searches try that are judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RecallEffort {
    /// As the field's method says, or else the index's settings.
    Index,
    /// A walk keeps this many candidates, at least 1.
    Ef(usize),
    /// Each column chooses the effort for this recall, above 0 and up to 1.
    Target(f32),
}

/// What to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallRequest {
    /// Path of the vector field.
    pub field: String,
    /// Hits per query, from 1 to 9,999.
    pub k: usize,
    /// Effort of the searches that are judged.
    pub effort: RecallEffort,
    /// Vectors to draw over all shards, from 1 to [`RECALL_SAMPLE_MAX`]; fewer when fewer live. Each
    /// costs an exact search of its shard.
    pub sample: usize,
    /// Decides which are drawn; the same ones again as long as the segments are the same.
    pub seed: u64,
}

/// What was measured, over one shard or all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecallFigures {
    /// Living vectors of the field.
    pub vectors: u64,
    /// Share of the exact hits that the searches found, with its 95 % interval; of no queries when no
    /// vector was drawn that has a neighbour.
    pub recall: RecallEstimate,
    /// Mean time of a search.
    pub search: SearchCost,
    /// Mean time of an exact search.
    pub exact: SearchCost,
}

/// What a search took on the mean of all queries, without waiting for a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SearchCost {
    /// Time.
    pub took: Duration,
    /// Distances computed, of codes and of vectors.
    pub distances: f64,
}

/// The figures of one shard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShardRecall {
    /// The shard's number.
    pub shard: u32,
    /// Its figures.
    pub figures: RecallFigures,
}

/// A measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallReport {
    /// The effort that was judged; [`RecallEffort::Index`] with its value.
    pub effort: RecallEffort,
    /// Every shard, in order of their numbers.
    pub shards: Vec<ShardRecall>,
    /// All shards together: every query counts the same.
    pub all: RecallFigures,
}

impl RecallRequest {
    fn check(&self) -> Result<(), EngineError> {
        let refuse = |reason: String| Err(EngineError::InvalidRequest { reason });
        let (k, sample) = (self.k, self.sample);
        if !(1..K_MAX).contains(&k) {
            // One more is searched for, as every query finds itself.
            let max = K_MAX - 1;
            return refuse(format!("[k] must be from 1 to {max}, found [{k}]"));
        }
        if !(1..=RECALL_SAMPLE_MAX).contains(&sample) {
            return refuse(format!(
                "[sample] must be from 1 to {RECALL_SAMPLE_MAX}, found [{sample}]"
            ));
        }
        match self.effort {
            RecallEffort::Ef(0) => refuse("[ef_search] must be greater than 0".to_string()),
            RecallEffort::Target(target) if !(target > 0.0 && target <= 1.0) => refuse(format!(
                "[target_recall] must be above 0 and no more than 1, found [{target}]"
            )),
            _ => Ok(()),
        }
    }
}

impl Engine {
    /// Measures how much of the nearest the searches of a vector field find. Takes as many exact
    /// searches as vectors are drawn, one after the other on the search threads; every query waits in
    /// their queue, so that other searches come in between. Dropping the future ends it.
    ///
    /// # Errors
    /// When the request is out of bounds, the field is no vector, another measurement is running, or
    /// a shard is damaged.
    pub async fn measure_recall(
        &self,
        index: &IndexHandle,
        request: &RecallRequest,
    ) -> Result<RecallReport, EngineError> {
        index.check_purpose(Purpose::Read)?;
        request.check()?;
        let (field, ef_search) = vector_field(index, &request.field)?;
        let Ok(_alone) = self.inner.measuring.try_acquire() else {
            let (what, max) = ("list of recall measurements", 1);
            return Err(EngineError::Overloaded { what, max });
        };
        let mut views = Vec::new();
        for shard in &index.shards {
            shard.check_readable()?;
            views.push((shard.place.number, shard.view()));
        }
        let effort = match request.effort {
            RecallEffort::Index => {
                RecallEffort::Ef(ef_search.unwrap_or(index.settings().ef_search))
            }
            given => given,
        };
        let (pool, clock) = (&self.inner.pool, &self.inner.clock);
        let (sample, seed, all_views) = (request.sample, request.seed, views.clone());
        let draw = move || draw(&all_views, field, sample, seed);
        let mut drawn = pool.run_patiently(draw).await?;
        let mut shards = Vec::new();
        let mut all = Sums::default();
        for (number, view) in views {
            let mut sums = Sums {
                vectors: drawn.vectors.remove(&number).unwrap_or_default(),
                ..Sums::default()
            };
            for place in drawn.places.remove(&number).unwrap_or_default() {
                let trial = Trial {
                    view: view.clone(),
                    field,
                    path: request.field.clone(),
                    place,
                    k: request.k,
                    effort,
                };
                let on_thread = clock.clone();
                let run = move || trial.run(&*on_thread);
                sums.add(pool.run_patiently(run).await??);
            }
            shards.push(ShardRecall {
                shard: number,
                figures: sums.figures(),
            });
            all.join(sums);
        }
        Ok(RecallReport {
            effort,
            shards,
            all: all.figures(),
        })
    }
}

/// A vector field, and its own `ef_search`.
fn vector_field(index: &Index, path: &str) -> Result<(FieldId, Option<usize>), EngineError> {
    let mapping = index.mapping();
    let field = mapping.field(path);
    match field.map(|field| (field.id, &field.kind)) {
        Some((id, FieldKind::Vector(vector))) => Ok((id, vector.ef_search)),
        _ => {
            let reason = format!("Field '{path}' is not knn_vector type.");
            Err(QueryError::illegal(reason).into())
        }
    }
}

/// Where a vector lies in its shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DocPlace {
    segment: usize,
    doc: u32,
}

/// The vectors drawn and the number there are, by shard.
#[derive(Default)]
struct Drawn {
    places: BTreeMap<u32, Vec<DocPlace>>,
    vectors: BTreeMap<u32, u64>,
}

/// Draws from the living vectors of all shards, each with the same chance.
fn draw(views: &[(u32, Arc<View>)], field: FieldId, sample: usize, seed: u64) -> Drawn {
    let mut drawn = Drawn::default();
    for (shard, view) in views {
        drawn
            .vectors
            .insert(*shard, living(view, field).count() as u64);
    }
    let wanted = ranks(drawn.vectors.values().sum(), sample, seed);
    let mut wanted = wanted.into_iter().peekable();
    let mut rank = 0_u64;
    for (shard, view) in views {
        for place in living(view, field) {
            if wanted.next_if_eq(&rank).is_some() {
                drawn.places.entry(*shard).or_default().push(place);
            }
            rank += 1;
        }
    }
    drawn
}

fn living(view: &View, field: FieldId) -> impl Iterator<Item = DocPlace> {
    let segments = view.segments.iter().enumerate();
    segments.flat_map(move |(at, segment)| {
        let column = segment.vectors().column(field);
        let docs = column.into_iter().flat_map(clew_vector::Column::docs);
        let lives = |segment: &SegmentView, doc| {
            let alive = segment.alive.as_ref();
            alive.is_none_or(|alive| alive.is_alive(doc))
        };
        let docs = docs.filter(move |doc| lives(segment, *doc));
        docs.map(move |doc| DocPlace { segment: at, doc })
    })
}

/// `wanted` different numbers below `count`, or all of them: R. W. Floyd's way (Bentley, "A sample of
/// brilliance", 1987), which draws once for each.
fn ranks(count: u64, wanted: usize, seed: u64) -> BTreeSet<u64> {
    let mut random = SplitMix::new(seed);
    let mut ranks = BTreeSet::new();
    for last in count.saturating_sub(wanted as u64)..count {
        let drawn = random.below(last + 1);
        if !ranks.insert(drawn) {
            ranks.insert(last);
        }
    }
    ranks
}

/// One query, to be run both ways.
struct Trial {
    view: Arc<View>,
    field: FieldId,
    path: String,
    place: DocPlace,
    k: usize,
    effort: RecallEffort,
}

/// What a trial found.
struct Outcome {
    /// Share of the exact hits found; `None` when there are none.
    share: Option<f64>,
    search: SearchCost,
    exact: SearchCost,
}

/// Hits of one way, best first, and what they cost.
struct Answer {
    hits: Vec<(f32, DocPlace)>,
    cost: SearchCost,
}

impl Trial {
    fn run(&self, clock: &dyn Clock) -> Result<Outcome, EngineError> {
        let file = self.view.segments[self.place.segment].vectors();
        let vector = file.column(self.field);
        let vector = vector.map(|column| column.vector(self.place.doc));
        let vector = vector.transpose();
        let vector = vector.map_err(|error| crate::search::knn::search_error(file, error))?;
        let vector = vector.flatten().map(std::borrow::Cow::into_owned);
        let vector = vector.expect("only vectors of the view's own columns were drawn");
        let (ef_search, target_recall) = match self.effort {
            RecallEffort::Ef(ef) => (Some(ef), None),
            RecallEffort::Target(target) => (None, Some(target)),
            RecallEffort::Index => (None, None),
        };
        let mut query = KnnQuery {
            field: self.path.clone(),
            vector,
            // The query's own vector is one of the hits, and not counted.
            k: Some(self.k + 1),
            ef_search,
            probes: None,
            target_recall,
            oversample: None,
            expand_nested: false,
            ignore_unmapped: false,
            filter: None,
            min_score: None,
            max_distance: None,
            boost: 1.0,
        };
        let found = self.answer(&query, clock)?;
        (query.ef_search, query.target_recall) = (None, Some(1.0));
        let truth = self.answer(&query, clock)?;
        Ok(Outcome {
            share: share(&found.hits, &truth.hits),
            search: found.cost,
            exact: truth.cost,
        })
    }

    fn answer(&self, query: &KnnQuery, clock: &dyn Clock) -> Result<Answer, EngineError> {
        let knn = ViewKnn {
            view: &self.view,
            ef_search: self.k,
            profiles: Some(RefCell::default()),
            shared: None,
        };
        let started = clock.monotonic();
        let by_segment = knn.resolve(query, None)?;
        let took = clock.monotonic().saturating_sub(started);
        let by_segment = by_segment.into_iter().enumerate();
        let hits = by_segment.flat_map(|(segment, hits)| {
            let place = move |doc| DocPlace { segment, doc };
            hits.into_iter()
                .map(move |(doc, score)| (score, place(doc)))
        });
        let mut hits: Vec<(f32, DocPlace)> =
            hits.filter(|(_, place)| *place != self.place).collect();
        hits.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        hits.truncate(self.k);
        let profiles = knn.profiles.map(RefCell::into_inner).unwrap_or_default();
        let distances: u64 = profiles.iter().map(|one| one.distances).sum();
        let distances = distances as f64;
        let cost = SearchCost { took, distances };
        Ok(Answer { hits, cost })
    }
}

/// The share of the true hits that were found. One that scores as well as the last true hit counts,
/// as ties may be broken either way.
fn share(found: &[(f32, DocPlace)], truth: &[(f32, DocPlace)]) -> Option<f64> {
    let (worst, _) = truth.last()?;
    let places: BTreeSet<DocPlace> = truth.iter().map(|(_, place)| *place).collect();
    let right = |(score, place): &&(f32, DocPlace)| score >= worst || places.contains(place);
    Some(found.iter().filter(right).count() as f64 / truth.len() as f64)
}

/// Outcomes, summed.
#[derive(Default)]
struct Sums {
    vectors: u64,
    shares: Vec<f64>,
    queries: u32,
    search: SearchCost,
    exact: SearchCost,
}

impl Sums {
    fn add(&mut self, one: Outcome) {
        self.shares.extend(one.share);
        self.queries += 1;
        self.search.add(one.search);
        self.exact.add(one.exact);
    }

    fn join(&mut self, other: Sums) {
        self.vectors += other.vectors;
        self.shares.extend(other.shares);
        self.queries += other.queries;
        self.search.add(other.search);
        self.exact.add(other.exact);
    }

    fn figures(&self) -> RecallFigures {
        RecallFigures {
            vectors: self.vectors,
            recall: RecallEstimate::of_shares(&self.shares),
            search: self.search.mean(self.queries),
            exact: self.exact.mean(self.queries),
        }
    }
}

impl SearchCost {
    fn add(&mut self, other: SearchCost) {
        self.took += other.took;
        self.distances += other.distances;
    }

    fn mean(self, queries: u32) -> SearchCost {
        SearchCost {
            took: self.took / queries.max(1),
            distances: self.distances / f64::from(queries.max(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_drawn_as_often_as_any_other_and_none_twice() {
        let mut counts = [0_u32; 20];
        for seed in 0..4_000 {
            let ranks = ranks(20, 5, seed);
            assert_eq!(ranks.len(), 5);
            for rank in ranks {
                counts[usize::try_from(rank).unwrap()] += 1;
            }
        }
        // 1,000 of each are expected, with a standard deviation of 27.
        assert!(
            counts.iter().all(|n| (865..1_135).contains(n)),
            "{counts:?}"
        );
        assert_eq!(ranks(3, 5, 1), (0..3).collect());
        assert!(ranks(0, 5, 1).is_empty());
        assert_eq!(ranks(1_000_000, 50, 9), ranks(1_000_000, 50, 9));
    }

    #[test]
    fn hits_as_good_as_the_last_true_one_count() {
        let at = |doc| DocPlace { segment: 0, doc };
        let truth = [(0.9, at(1)), (0.5, at(2))];
        assert_eq!(share(&[(0.9, at(1)), (0.5, at(3))], &truth), Some(1.0));
        assert_eq!(share(&[(0.5, at(3)), (0.4, at(4))], &truth), Some(0.5));
        assert_eq!(share(&[], &truth), Some(0.0));
        assert_eq!(share(&[(0.5, at(3))], &[]), None);
    }
}
