//! The steps of one part of a query, and the wrapper that times them.

use std::sync::Arc;
use std::time::Duration;

use clew_query::Query;
use serde::{Deserialize, Serialize};
use tantivy::fastfield::AliveBitSet;
use tantivy::query::{EnableScoring, Explanation, Query as TantivyQuery, Scorer, Weight};
use tantivy::{COLLECT_BLOCK_BUFFER_LEN, DocId, DocSet, Score, SeekDangerResult, SegmentReader};

use super::kind::kind_of;
use super::stopwatch::{Stopwatch, Timer};
use crate::query::describe::describe_up_to;

/// Bytes of a query that are told.
const DESCRIPTION_BYTES_MAX: usize = 1024;

/// How long a step took, and how often it was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// All of it together, with what it asked of other parts.
    pub took: Duration,
    /// How often.
    pub count: u64,
}

/// What one part of a query cost a shard; what is inside it is counted too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueryProfile {
    /// What OpenSearch calls such a query.
    pub kind: String,
    /// The query in few words, of a long one the beginning.
    pub description: String,
    /// Giving it a meaning under the mapping: words looked up, statistics read.
    pub create_weight: Timing,
    /// Opening it, once for each segment.
    pub build_scorer: Timing,
    /// From one document to the next; where documents come in blocks, a count for each of them.
    pub next_doc: Timing,
    /// To a document, or the next one after it.
    pub advance: Timing,
    /// Scores of documents.
    pub score: Timing,
    /// Counting documents without looking at each, once for each segment.
    pub count: Timing,
    /// Reading the postings directly, which finds and scores at once, without the steps above; once for each segment.
    pub from_postings: Timing,
    /// What it is made of.
    pub children: Vec<QueryProfile>,
}

impl QueryProfile {
    /// All steps together.
    pub fn took(&self) -> Duration {
        let steps = [
            self.create_weight,
            self.build_scorer,
            self.next_doc,
            self.advance,
            self.score,
            self.count,
            self.from_postings,
        ];
        steps.iter().map(|step| step.took).sum()
    }
}

/// The steps of one part of a query, while they are taken.
#[derive(Debug)]
pub(crate) struct Steps {
    watch: Stopwatch,
    kind: &'static str,
    description: String,
    create_weight: Timer,
    build_scorer: Timer,
    next_doc: Timer,
    advance: Timer,
    score: Timer,
    count: Timer,
    pub(crate) from_postings: Timer,
    children: Vec<Arc<Steps>>,
}

impl Steps {
    /// What was taken so far.
    pub(crate) fn read(&self) -> QueryProfile {
        QueryProfile {
            kind: self.kind.to_string(),
            description: self.description.clone(),
            create_weight: self.create_weight.read(),
            build_scorer: self.build_scorer.read(),
            next_doc: self.next_doc.read(),
            advance: self.advance.read(),
            score: self.score.read(),
            count: self.count.read(),
            from_postings: self.from_postings.read(),
            children: self.children.iter().map(|child| child.read()).collect(),
        }
    }

    fn timed<T>(&self, timer: &Timer, count: u64, work: impl FnOnce() -> T) -> T {
        let since = self.watch.now();
        let done = work();
        timer.add(&self.watch, since, count);
        done
    }
}

/// The tree of steps, while a query is compiled.
#[derive(Debug)]
pub(crate) struct Recording {
    watch: Stopwatch,
    /// What was found inside of each part that is being compiled, the outermost first.
    open: Vec<Vec<Arc<Steps>>>,
}

impl Recording {
    pub(crate) fn new(watch: Stopwatch) -> Self {
        Recording {
            watch,
            open: vec![Vec::new()],
        }
    }

    /// A part begins.
    pub(crate) fn begin(&mut self) -> Duration {
        self.open.push(Vec::new());
        self.watch.now()
    }

    /// The part that was begun last is compiled.
    pub(crate) fn end(&mut self, query: &Query, since: Duration) -> Arc<Steps> {
        let steps = Steps {
            watch: self.watch.clone(),
            kind: kind_of(query),
            description: describe_up_to(query, DESCRIPTION_BYTES_MAX),
            create_weight: Timer::default(),
            build_scorer: Timer::default(),
            next_doc: Timer::default(),
            advance: Timer::default(),
            score: Timer::default(),
            count: Timer::default(),
            from_postings: Timer::default(),
            children: self.open.pop().unwrap_or_default(),
        };
        steps.create_weight.add(&self.watch, since, 1);
        let steps = Arc::new(steps);
        if let Some(around) = self.open.last_mut() {
            around.push(steps.clone());
        }
        steps
    }

    /// The outermost part.
    pub(crate) fn root(mut self) -> Option<Arc<Steps>> {
        self.open.pop()?.pop()
    }
}

/// A query whose steps are timed.
#[derive(Debug)]
pub(crate) struct Timed {
    inner: Box<dyn TantivyQuery>,
    steps: Arc<Steps>,
}

impl Timed {
    pub(crate) fn new(inner: Box<dyn TantivyQuery>, steps: Arc<Steps>) -> Self {
        Timed { inner, steps }
    }
}

impl Clone for Timed {
    fn clone(&self) -> Self {
        Timed {
            inner: self.inner.box_clone(),
            steps: self.steps.clone(),
        }
    }
}

impl TantivyQuery for Timed {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let steps = &self.steps;
        let inner = steps.timed(&steps.create_weight, 0, || self.inner.weight(scoring))?;
        Ok(Box::new(TimedWeight {
            inner,
            steps: steps.clone(),
        }))
    }
}

/// Asked by documents alone: what walks over them does so through [`TimedScorer`], as the parts above it do.
struct TimedWeight {
    inner: Box<dyn Weight>,
    steps: Arc<Steps>,
}

impl TimedWeight {
    fn timed(&self, inner: Box<dyn Scorer>) -> Box<dyn Scorer> {
        Box::new(TimedScorer {
            inner,
            steps: self.steps.clone(),
        })
    }
}

impl Weight for TimedWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let open = || self.inner.scorer(reader, boost);
        let inner = self.steps.timed(&self.steps.build_scorer, 1, open)?;
        Ok(self.timed(inner))
    }

    fn scorer_danger(
        &self,
        reader: &SegmentReader,
        target: DocId,
        boost: Score,
    ) -> tantivy::Result<(SeekDangerResult, Box<dyn Scorer>)> {
        let open = || self.inner.scorer_danger(reader, target, boost);
        let (found, inner) = self.steps.timed(&self.steps.build_scorer, 1, open)?;
        Ok((found, self.timed(inner)))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        self.inner.explain(reader, doc)
    }

    fn count(&self, reader: &SegmentReader) -> tantivy::Result<u32> {
        let count = || self.inner.count(reader);
        self.steps.timed(&self.steps.count, 1, count)
    }
}

struct TimedScorer {
    inner: Box<dyn Scorer>,
    steps: Arc<Steps>,
}

impl DocSet for TimedScorer {
    fn advance(&mut self) -> DocId {
        let (steps, inner) = (&self.steps, &mut self.inner);
        steps.timed(&steps.next_doc, 1, || inner.advance())
    }

    fn seek(&mut self, target: DocId) -> DocId {
        let (steps, inner) = (&self.steps, &mut self.inner);
        steps.timed(&steps.advance, 1, || inner.seek(target))
    }

    fn seek_danger(&mut self, target: DocId) -> SeekDangerResult {
        let (steps, inner) = (&self.steps, &mut self.inner);
        steps.timed(&steps.advance, 1, || inner.seek_danger(target))
    }

    fn fill_buffer(&mut self, buffer: &mut [DocId; COLLECT_BLOCK_BUFFER_LEN]) -> usize {
        let since = self.steps.watch.now();
        let filled = self.inner.fill_buffer(buffer);
        let steps = &self.steps;
        steps.next_doc.add(&steps.watch, since, filled as u64);
        filled
    }

    fn doc(&self) -> DocId {
        self.inner.doc()
    }

    fn size_hint(&self) -> u32 {
        self.inner.size_hint()
    }

    fn cost(&self) -> u64 {
        self.inner.cost()
    }

    fn count(&mut self, alive: &AliveBitSet) -> u32 {
        let (steps, inner) = (&self.steps, &mut self.inner);
        steps.timed(&steps.count, 1, || inner.count(alive))
    }

    fn count_including_deleted(&mut self) -> u32 {
        let (steps, inner) = (&self.steps, &mut self.inner);
        steps.timed(&steps.count, 1, || inner.count_including_deleted())
    }
}

impl Scorer for TimedScorer {
    fn score(&mut self) -> Score {
        let (steps, inner) = (&self.steps, &mut self.inner);
        steps.timed(&steps.score, 1, || inner.score())
    }
}
