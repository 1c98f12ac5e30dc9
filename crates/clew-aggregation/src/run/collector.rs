//! Runs a request's aggregations over one shard and hands on what was counted.

use std::sync::Arc;

use clew_platform::{MemoryExceeded, Reservation, book_for_a_while, stopped};
use clew_query::AggError;
use clew_query::aggregation::NamedAgg;
use clew_schema::MappedField;
use clew_search::SegmentBits;
use tantivy::{DocId, SegmentReader};

use crate::bucket::Feed;
use crate::collect::timed::{late, reduced};
use crate::collect::{BLOCK_DOCS, Block, Collect, Level, Segment, finish_all};
use crate::counted::Partial;
use crate::field::context::{AggContext, documents_of};
use crate::limits::{Account, AggLimits};
use crate::metric::Seen;
use crate::pipeline::{PipelinePlan, apply};
use crate::reduce::Budget;
use crate::result::{AggResults, NamedResult};
use crate::run::deposit::{Counted, Deposit};
use crate::tree::open::{open_all, opened_bytes};
use crate::tree::passes::{
    conclude, count_backgrounds, count_late, cut_buckets, settle, wants_background,
};
use crate::tree::profile::{AggProfile, count_buckets, profiles};
use crate::tree::results::reduce;
use crate::tree::unify::unify;
use crate::tree::{Plan, bytes_per_doc, plan_all, wants_scores};

/// Collects over the segments of one shard, one after the other.
pub struct AggCollector {
    plans: Arc<Vec<Plan>>,
    pipelines: Vec<PipelinePlan>,
    limits: AggLimits,
    account: Account,
    merged: Vec<Partial>,
    running: Vec<Box<dyn Collect>>,
    /// What those take that are open at once, which are those of one segment.
    opened: Option<Reservation>,
    /// What global aggregations may see of each segment; everything where nothing is said.
    visible: Option<Arc<Vec<SegmentBits>>>,
    /// Segments seen, where they are needed again at the end.
    readers: Vec<SegmentReader>,
    /// The place of the current segment.
    ord: usize,
    /// Where forks leave what they count: this one's own, or that of the collector that a fork comes from.
    forks: Forks,
}

enum Forks {
    None,
    Wanted(Arc<Deposit>),
    Fork(Arc<Deposit>),
}

impl AggCollector {
    /// Checks a request against a shard's mapping.
    ///
    /// # Errors
    /// [`AggError`] naming what is wrong with the request.
    pub fn new(specs: &[NamedAgg], context: AggContext<'_>) -> Result<Self, AggError> {
        let plans = plan_all(specs, &context, 0)?;
        let merged = plans.iter().map(Plan::empty).collect();
        let global = plans
            .iter()
            .any(|plan| matches!(plan.feed(), Feed::Everything));
        let visible = context.searcher.and_then(|searcher| searcher.visible);
        let visible = visible.filter(|_| global);
        let visible = visible.map(|query| documents_of(query, &context));
        Ok(AggCollector {
            visible: visible.transpose()?.map(Arc::new),
            ord: 0,
            plans: Arc::new(plans),
            pipelines: PipelinePlan::all(specs, None)?,
            limits: context.limits,
            account: Account::new(context.limits)
                .reserving(context.memory)
                .counting_by(context.mapping.doc_count().map(MappedField::column)),
            merged,
            running: Vec::new(),
            opened: None,
            readers: Vec::new(),
            forks: Forks::None,
        })
    }

    /// A collector of some segments on another thread; `None` once this one has begun itself.
    pub fn fork(&mut self) -> Option<Self> {
        if !self.running.is_empty() {
            return None;
        }
        let deposit = match &self.forks {
            Forks::None => Arc::<Deposit>::default(),
            Forks::Wanted(deposit) => deposit.clone(),
            Forks::Fork(_) => return None,
        };
        self.forks = Forks::Wanted(deposit.clone());
        Some(AggCollector {
            visible: self.visible.clone(),
            ord: 0,
            plans: self.plans.clone(),
            pipelines: Vec::new(),
            limits: self.limits,
            account: self.account.fork(deposit.bytes()),
            merged: Vec::new(),
            running: Vec::new(),
            opened: None,
            readers: Vec::new(),
            forks: Forks::Fork(deposit),
        })
    }

    /// No segment comes any more to this fork.
    ///
    /// # Errors
    /// As [`AggCollector::segment`].
    pub fn end(&mut self) -> Result<(), AggError> {
        self.end_segment()
    }

    /// Takes over what forks have counted of these segments, as if they had come one after the other; what was counted
    /// of others is forgotten.
    ///
    /// # Errors
    /// [`AggError::TooLarge`].
    pub fn join(&mut self, segments: &[usize]) -> Result<(), AggError> {
        let Forks::Wanted(deposit) = std::mem::replace(&mut self.forks, Forks::None) else {
            return Ok(());
        };
        let mut counted = deposit.take();
        for ord in segments {
            // Where the time was up, some were not seen.
            let Some(segment) = counted.remove(ord) else {
                continue;
            };
            self.readers.extend(segment.reader);
            self.merge(segment.partials)?;
        }
        Ok(())
    }

    /// Turns to the next segment.
    ///
    /// # Errors
    /// [`AggError::Column`] when a column cannot be read; [`AggError::TooLarge`].
    pub fn segment(&mut self, ord: usize, reader: &SegmentReader) -> Result<(), AggError> {
        self.end_segment()?;
        self.ord = ord;
        if wants_background(&self.plans) {
            self.readers.push(reader.clone());
        }
        self.account.turn_to(reader)?;
        let segment = Segment { reader, ord };
        let bytes = bytes_per_doc(&self.plans).saturating_mul(reader.max_doc() as usize);
        if bytes > 0 {
            self.account.charge(bytes)?;
        }
        if self.opened.is_none() {
            self.opened = book_for_a_while(opened_bytes(&self.plans))?;
        }
        self.running = open_all(segment, &self.plans, Level::Root)?;
        if self.wants_scores() {
            self.account.make_scores(reader.max_doc())?;
        }
        if self
            .plans
            .iter()
            .any(|plan| matches!(plan.feed(), Feed::Everything))
        {
            self.collect_global(ord, reader)?;
        }
        Ok(())
    }

    /// Global aggregations see every living document that the search may see, whatever it matches.
    fn collect_global(&mut self, ord: usize, reader: &SegmentReader) -> Result<(), AggError> {
        let alive = SegmentBits::alive(reader);
        let visible = self.visible.as_ref().and_then(|sets| sets.get(ord));
        let mut docs = (0..reader.max_doc())
            .filter(|doc| alive.contains(*doc) && visible.is_none_or(|set| set.contains(*doc)));
        loop {
            let some: Vec<DocId> = docs.by_ref().take(BLOCK_DOCS).collect();
            if some.is_empty() || stopped() {
                break;
            }
            let block = Block::at_root(&some);
            for (plan, collector) in self.plans.iter().zip(&mut self.running) {
                if matches!(plan.feed(), Feed::Everything) {
                    collector.collect(block, &mut self.account)?;
                }
            }
        }
        Ok(())
    }

    /// Whether documents' scores must be [told](AggCollector::scores) before they are counted.
    pub fn wants_scores(&self) -> bool {
        wants_scores(&self.plans)
    }

    /// Tells the scores of documents of the current segment.
    pub fn scores(&mut self, docs: &[DocId], scores: &[f32]) {
        for (doc, score) in docs.iter().zip(scores) {
            self.account.set_score(*doc, *score);
        }
    }

    /// Counts documents of the current segment: ascending, alive, matching, each once.
    ///
    /// # Errors
    /// [`AggError::TooLarge`] when the memory account is used up; once nobody wants what is counted.
    pub fn collect(&mut self, docs: &[DocId]) -> Result<(), AggError> {
        for docs in docs.chunks(BLOCK_DOCS) {
            let block = Block::at_root(docs);
            for (plan, collector) in self.plans.iter().zip(&mut self.running) {
                if matches!(plan.feed(), Feed::Matches) {
                    self.account.step()?;
                    collector.collect(block, &mut self.account)?;
                }
            }
        }
        Ok(())
    }

    /// Ends the shard: cuts its terms to what is reported.
    ///
    /// # Errors
    /// As [`AggCollector::segment`].
    pub fn finish(mut self) -> Result<Intermediate, AggError> {
        self.end_segment()?;
        let (plans, account) = (&self.plans, &mut self.account);
        each(plans, &mut self.merged, |plan, one| {
            count_late(plan, one, account)
        })?;
        let readers = &self.readers;
        each(&self.plans, &mut self.merged, |plan, one| {
            count_backgrounds(plan, one, readers)?;
            count_buckets(plan, one);
            cut_buckets(plan, one, 1)?;
            conclude(plan, one, Seen::Shard(Level::Root))
        })?;
        self.account.settle(size_of_all(&self.merged))?;
        Ok(Intermediate {
            plans: self.plans,
            pipelines: self.pipelines,
            limits: self.limits,
            memory: self.account.into_memory(),
            partials: self.merged,
        })
    }

    fn end_segment(&mut self) -> Result<(), AggError> {
        if self.running.is_empty() {
            return Ok(());
        }
        let running = std::mem::take(&mut self.running);
        let partials = finish_all(running, &mut self.account)?;
        let Forks::Fork(deposit) = &self.forks else {
            return self.merge(partials);
        };
        let bytes = size_of_all(&partials);
        let reader = self.readers.pop();
        deposit.put(self.ord, Counted { partials, reader });
        self.account.hand_over(bytes)
    }

    /// Adds what a segment holds.
    fn merge(&mut self, partials: Vec<Partial>) -> Result<(), AggError> {
        self.account.add(size_of_all(&partials))?;
        let pairs = self.merged.iter_mut().zip(partials);
        for (plan, (merged, partial)) in self.plans.iter().zip(pairs) {
            reduced(plan.figures.as_ref(), || merged.merge(partial, None))?;
        }
        self.account.settle(size_of_all(&self.merged))
    }
}

/// Does something to what each of the outermost aggregations counted, once all documents were seen.
fn each<F>(plans: &[Plan], partials: &mut [Partial], mut work: F) -> Result<(), AggError>
where
    F: FnMut(&[Plan], &mut [Partial]) -> Result<(), AggError>,
{
    for (plan, partial) in plans.iter().zip(partials) {
        let (plan, partial) = (std::slice::from_ref(plan), std::slice::from_mut(partial));
        late(plan[0].figures.as_ref(), || work(plan, partial))?;
    }
    Ok(())
}

/// Memory that all of them take, in bytes.
fn size_of_all(partials: &[Partial]) -> usize {
    partials.iter().map(Partial::size_bytes).sum()
}

/// What one or more shards counted.
#[derive(Debug)]
pub struct Intermediate {
    plans: Arc<Vec<Plan>>,
    pipelines: Vec<PipelinePlan>,
    limits: AggLimits,
    memory: Option<Reservation>,
    partials: Vec<Partial>,
}

impl Intermediate {
    /// What the aggregations cost the shard, if that was to be noted; before other shards are added.
    pub fn profiles(&self) -> Vec<AggProfile> {
        profiles(&self.plans)
    }

    /// Adds what another shard counted for the same request.
    ///
    /// # Errors
    /// [`AggError::Invalid`] when the shards' mappings give a field types that do not mix;
    /// [`AggError::TooLarge`] when all shards together hold more than one may.
    pub fn merge(&mut self, mut other: Intermediate) -> Result<(), AggError> {
        let plans = Arc::make_mut(&mut self.plans);
        unify(
            (plans, &mut self.partials),
            (&other.plans, &mut other.partials),
        )?;
        for (mine, theirs) in self.partials.iter_mut().zip(other.partials) {
            mine.merge(theirs, None)?;
        }
        let bytes = self.memory_bytes();
        Account::new(self.limits).settle(bytes)?;
        if let Some(memory) = &mut self.memory {
            memory.grow_to(bytes)?;
        }
        Ok(())
    }

    /// The same with partial results that were written down and read again.
    #[cfg(test)]
    pub(crate) fn carried(&self) -> Intermediate {
        let mut written = Vec::new();
        ciborium::into_writer(&self.partials, &mut written).expect("memory can be written");
        Intermediate {
            plans: self.plans.clone(),
            pipelines: self.pipelines.clone(),
            limits: self.limits,
            memory: None,
            partials: ciborium::from_reader(&written[..]).expect("it was written as it is read"),
        }
    }

    /// Memory that it takes, in bytes.
    pub fn memory_bytes(&self) -> usize {
        size_of_all(&self.partials)
    }

    /// The results, in the order of the request, without the documents of top hits.
    ///
    /// # Errors
    /// As [`Intermediate::into_results`].
    pub fn into_result(self) -> Result<Vec<NamedResult>, AggError> {
        self.into_results(&|_| Ok(())).map(|all| all.results)
    }

    /// The results and the documents of top hits; `book` is asked to book so many bytes of results, which are there
    /// beside what was counted.
    ///
    /// # Errors
    /// [`AggError::TooManyBuckets`]; [`AggError::Memory`] once `book` refuses.
    pub fn into_results(
        self,
        book: &dyn Fn(usize) -> Result<(), MemoryExceeded>,
    ) -> Result<AggResults, AggError> {
        let mut partials = self.partials;
        settle(&self.plans, &mut partials)?;
        conclude(&self.plans, &mut partials, Seen::All)?;
        let mut all = reduce(&self.plans, &partials, self.limits, book)?;
        let mut budget = Budget::new(self.limits.buckets_max, book);
        apply(&self.plans, &self.pipelines, &mut all.results, &mut budget)?;
        Ok(all)
    }
}
