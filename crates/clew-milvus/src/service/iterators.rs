//! Search iterators: searches whose hits clients read page by page. What comes next is kept here, as an iterator sees the
//! rows of one moment and gives out each of them once, equally near ones too.
//!
//! A client tells of its last page by a token, which stays, and by that page's bound, which is about the score of its last
//! hit. No two pages of an iterator have the same bound, so that it also says which page was the last: one whose answer
//! was lost is given again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use clew_engine::{EngineError, NearestPages, NearestRequest, Pinned};
use clew_platform::{MemoryPurpose, Reservation};
use clew_query::Query;
use parking_lot::Mutex;

use super::Service;
use super::asked::{Asked, Probes};
use super::search::{FOUND_BYTES, Found};
use crate::collection::{DataType, Metric};
use crate::collections::{Opened, WINDOW_MAX};
use crate::error::{MilvusError, Result};
use crate::incoming::Refused;
use crate::proto::SearchIteratorV2Results;

/// Most iterators that are kept; of more, those that were not asked for the longest time go.
const ITERATORS_MAX: usize = 1_000;
/// How long an iterator is kept after its last page.
const IDLE_MAX: Duration = Duration::from_secs(600);

/// What a search says of the iterator that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    /// Rows of a page.
    batch: usize,
    /// The iterator that goes on; a new one begins without.
    token: Option<String>,
    /// The bound of its last page.
    bound: Option<f32>,
}

/// The iterators that were begun, and when each was last asked for.
#[derive(Default)]
pub(super) struct Iterators {
    begun: Mutex<HashMap<String, (Duration, Shared)>>,
}

/// Held while a page is made, so that who asks for it again meanwhile gets the same.
type Shared = Arc<tokio::sync::Mutex<Cursor>>;

/// How far one has come.
struct Cursor {
    /// The index that it searches.
    uuid: String,
    pages: NearestPages,
    /// The bound that its last page was asked for with, and the one that was told with it.
    asked: Option<f32>,
    told: f32,
    page: Vec<Found>,
    /// What the page takes.
    memory: Reservation,
    /// Whether a page is being made, or was when its client went away, and nobody has it.
    making: bool,
}

impl Asked {
    /// The step of an iterator that this is, if it is one. Words, bands and sparse vectors have none: clients go on in their older way then, by
    /// ranges of scores.
    ///
    /// # Errors
    /// When it asks for what iterators do not have.
    pub(super) fn step(&self) -> Result<Option<Step>> {
        let given = |name: &str| self.param(name).filter(|value| !value.is_empty());
        let is_set = given("search_iter_v2").is_some_and(|on| on.eq_ignore_ascii_case("true"));
        let is_dense = !matches!(self.probes, Probes::Texts(_))
            && self.field.data_type != DataType::SparseFloatVector
            && self.bands.is_none();
        if !is_set || !is_dense {
            return Ok(None);
        }
        if self.probes.count() != 1 {
            return Err(MilvusError::invalid(
                "search_iterator_v2 does not support processing multiple vectors simultaneously",
            ));
        }
        if self.group.is_some() {
            return Err(MilvusError::invalid(
                "Not allowed to do groupBy when doing iteration",
            ));
        }
        if self.offset > 0 {
            return Err(MilvusError::invalid(
                "Setting an offset is not permitted when using a search iterator v2",
            ));
        }
        let wrong = |name: &str, value: &str| {
            MilvusError::invalid(format!("the value of {name} ({value}) makes no sense"))
        };
        let batch = match given("search_iter_batch_size") {
            None => self.limit,
            Some(text) => {
                let batch = text.parse().ok();
                let batch = batch.filter(|batch| (1..=WINDOW_MAX).contains(batch));
                batch.ok_or_else(|| {
                    MilvusError::invalid(format!(
                        "parse iterator v2 info failed: batch size is invalid, it should be in range [1, {WINDOW_MAX}], but got {text}"
                    ))
                })?
            }
        };
        let bound = match given("search_iter_last_bound") {
            None => None,
            Some(text) => {
                let bound = text.parse().ok().filter(|bound: &f32| bound.is_finite());
                Some(bound.ok_or_else(|| wrong("search_iter_last_bound", text))?)
            }
        };
        Ok(Some(Step {
            batch,
            token: given("search_iter_id").map(String::from),
            bound,
        }))
    }
}

impl Service {
    /// The next page of an iterator, what it was pinned in, and what the client is to say to get the one after it.
    pub(super) async fn iterate(
        &self,
        opened: &Opened,
        pinned: Pinned,
        (asked, step): (&Asked, Step),
    ) -> Result<(Vec<Found>, Pinned, SearchIteratorV2Results)> {
        let is_first = step.token.is_none();
        let (token, own) = match step.token {
            Some(token) => {
                let own = self.iterators().find(&token, self.monotonic());
                let gone = || {
                    MilvusError::Unexpected(format!(
                        "the search iterator {token} is not there: {ITERATORS_MAX} are kept, for {} minutes after their last pages",
                        IDLE_MAX.as_secs() / 60
                    ))
                };
                let own = own.ok_or_else(gone)?;
                (token, own)
            }
            None => {
                let begun = Cursor {
                    uuid: opened.handle.uuid().to_string(),
                    pages: self.begin(pinned, asked, step.batch).await?,
                    asked: None,
                    told: 0.0,
                    page: Vec::new(),
                    memory: self.limits().memory.open(MemoryPurpose::Searches),
                    making: false,
                };
                let own = Arc::new(tokio::sync::Mutex::new(begun));
                (format!("clew-{}", self.new_id()), own)
            }
        };
        let mut cursor = own.lock().await;
        if cursor.uuid != opened.handle.uuid() {
            return Err(MilvusError::invalid(format!(
                "the search iterator {token} is one of another collection"
            )));
        }
        if cursor.making {
            return Err(MilvusError::Unexpected(format!(
                "a page of the search iterator {token} was given up while it was made, begin another iterator"
            )));
        }
        if is_first || step.bound == Some(cursor.told) {
            cursor
                .turn(self, asked.metric, (step.bound, step.batch))
                .await?;
            self.iterators()
                .keep(&token, (self.monotonic(), own.clone()));
        } else if step.bound != cursor.asked {
            return Err(MilvusError::invalid(format!(
                "search_iter_last_bound ({}) is not that of the last page of the search iterator {token}",
                step.bound
                    .map_or("none".to_string(), |bound| bound.to_string())
            )));
        }
        let told = SearchIteratorV2Results {
            token,
            last_bound: cursor.told,
        };
        let pinned = cursor.pages.pinned().clone();
        Ok((cursor.page.clone(), pinned, told))
    }

    async fn begin(&self, pinned: Pinned, asked: &Asked, batch: usize) -> Result<NearestPages> {
        let probes = match &asked.probes {
            Probes::Vectors(vectors) => vectors.clone(),
            Probes::Rows(ids) => match self.vectors_of(&pinned, asked, ids).await? {
                (_, none) if none.is_empty() => {
                    return Err(MilvusError::invalid(format!(
                        "the row {} has no vector to search by",
                        ids.join(", ")
                    )));
                }
                (_, found) => found,
            },
            Probes::Texts(_) => {
                return Err(MilvusError::Unsupported("iterators over words".to_string()));
            }
        };
        let request = NearestRequest {
            limit: batch,
            effort: asked.effort()?,
            range: asked.range()?,
            filter: Some(asked.filter.clone()).filter(|filter| *filter != Query::match_all()),
            object_filter: asked.object_filter.clone(),
            ..NearestRequest::new(pinned, asked.field.path(), probes)
        };
        loop {
            match self.engine().nearest_pages(request.clone()).await {
                // Whoever has not asked for long gives way.
                Err(EngineError::Memory(_)) if self.iterators().drop_oldest() => {}
                begun => return Ok(begun?),
            }
        }
    }
}

impl Cursor {
    /// Goes on to the next page.
    async fn turn(
        &mut self,
        service: &Service,
        metric: Metric,
        (bound, batch): (Option<f32>, usize),
    ) -> Result<()> {
        self.make_room(service, batch)?;
        self.making = true;
        let made = service.engine().next_page(&self.pages, batch).await;
        self.making = false;
        let told = |hit: clew_engine::Neighbour| Found {
            id: hit.id,
            place: hit.place,
            score: metric.score(hit.distance),
            group: None,
            element: hit.object,
        };
        self.page = made?.into_iter().map(told).collect();
        self.memory.shrink_to(self.page.len() * FOUND_BYTES);
        if let Some(last) = self.page.last() {
            self.told = next_bound(metric, bound, last.score);
        }
        self.asked = bound;
        Ok(())
    }

    /// Books a page before it is made, so that one that finds no room can be asked for again. Whoever has not asked for
    /// long gives way.
    fn make_room(&mut self, service: &Service, batch: usize) -> Result<()> {
        loop {
            match self.memory.grow_to(batch * FOUND_BYTES) {
                Ok(()) => return Ok(()),
                Err(_) if service.iterators().drop_oldest() => {}
                Err(exceeded) => return Err(Refused::from(exceeded).into()),
            }
        }
    }
}

/// The bound of a page by the score of its last hit: farther than that of the page before.
fn next_bound(metric: Metric, before: Option<f32>, score: f32) -> f32 {
    match (before, metric.is_similarity()) {
        (None, _) => score,
        (Some(before), true) => score.min(before.next_down()),
        (Some(before), false) => score.max(before.next_up()),
    }
}

impl Iterators {
    fn find(&self, token: &str, now: Duration) -> Option<Shared> {
        let mut begun = self.begun.lock();
        let (used, own) = begun.get_mut(token)?;
        *used = now;
        Some(own.clone())
    }

    fn keep(&self, token: &str, own: (Duration, Shared)) {
        self.sweep(own.0);
        let mut begun = self.begun.lock();
        begun.insert(token.to_string(), own);
        if begun.len() > ITERATORS_MAX {
            remove_oldest(&mut begun);
        }
    }

    fn drop_oldest(&self) -> bool {
        remove_oldest(&mut self.begun.lock())
    }

    /// Forgets those that nobody asks for any more.
    pub(super) fn sweep(&self, now: Duration) {
        let is_new =
            |_: &String, (used, _): &mut (Duration, Shared)| now.saturating_sub(*used) <= IDLE_MAX;
        self.begun.lock().retain(is_new);
    }
}

fn remove_oldest(begun: &mut HashMap<String, (Duration, Shared)>) -> bool {
    let oldest = begun.iter().min_by_key(|(_, (used, _))| *used);
    let oldest = oldest.map(|(token, _)| token.clone());
    oldest.is_some_and(|token| begun.remove(&token).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_differ_though_scores_do_not() {
        for (metric, scores) in [
            (Metric::L2, [1.0, 1.0, 2.0, 1.5]),
            (Metric::InnerProduct, [3.0, 3.0, -0.5, 0.0]),
            (Metric::Hamming, [0.0, 0.0, 0.0, 0.0]),
        ] {
            let mut before = None;
            for score in scores {
                let bound = next_bound(metric, before, score);
                let is_farther = before.is_none_or(|before: f32| match metric.is_similarity() {
                    true => bound < before,
                    false => bound > before,
                });
                assert!(
                    is_farther && bound.is_finite(),
                    "{before:?} {score} {bound}"
                );
                let text = f64::from(bound).to_string();
                assert_eq!(text.parse(), Ok(bound), "clients send it as they print it");
                before = Some(bound);
            }
        }
    }
}
