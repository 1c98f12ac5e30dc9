//! `top_hits`: the first documents of every bucket.

use std::collections::BinaryHeap;
use std::sync::Arc;

use clew_query::aggregation::TopHitsSpec;
use clew_query::{AggError, Order, QueryError, SortKey};
use clew_search::{
    CompileContext, KeyCursor, MergedHit, ShardHit, Slot, Snapshot, SortObjects, VectorAnswers,
};
use tantivy::{DocId, SegmentReader};

use crate::collect::{Block, Collect, Planned, Segment};
use crate::counted::{Partial, TopList, TopLists};
use crate::field::ValuePlan;
use crate::field::context::AggContext;
use crate::field::segments::Segments;
use crate::limits::{Account, grow};
use crate::metric::{InBucket, Metric, SHAPE, of_bucket};
use crate::order::Property;
use crate::reduce::Budget;
use crate::result::{AggResult, TopHitsResult};

/// What is kept of a document; the greatest is the last.
type Row = (Vec<Slot>, DocId, u32);

/// The first documents of one bucket.
#[derive(Clone, Default)]
struct Top {
    total: u64,
    max_score: Option<f32>,
    rows: BinaryHeap<Row>,
}

pub(crate) struct TopHits {
    plan: TopHitsPlan,
    segment: usize,
    cursors: Vec<KeyCursor>,
    tops: Vec<Top>,
}

impl TopHits {
    pub(crate) fn open(reader: &SegmentReader, plan: &TopHitsPlan) -> Result<Self, AggError> {
        let segment = plan.segments.place(reader);
        let snapshot = plan.snapshot.as_deref();
        let snapshot = snapshot.ok_or_else(|| AggError::invalid("[top_hits] needs a search"))?;
        Ok(TopHits {
            plan: plan.clone(),
            segment,
            cursors: plan.objects.of(&plan.keys).cursors(snapshot, reader, 0)?,
            tops: Vec::new(),
        })
    }

    fn offer(&mut self, doc: DocId, parent: u32, account: &mut Account) -> Result<(), AggError> {
        let score = account.score(doc);
        let mut slots = Vec::with_capacity(self.cursors.len());
        for cursor in &self.cursors {
            slots.push(cursor.slot(doc, score)?);
        }
        grow(&mut self.tops, parent, account)?;
        let top = &mut self.tops[parent as usize];
        top.total += 1;
        if self.plan.with_scores {
            top.max_score = Some(top.max_score.map_or(score, |best| best.max(score)));
        }
        let row = (slots, doc, score.to_bits());
        if top.rows.len() < self.plan.limit {
            account.charge(size_of::<Row>() + row.0.len() * size_of::<Slot>())?;
            top.rows.push(row);
        } else if let Some(mut last) = top.rows.peek_mut()
            && row < *last
        {
            *last = row;
        }
        Ok(())
    }

    fn list(&self, top: Top) -> Result<TopList, AggError> {
        let mut hits = Vec::with_capacity(top.rows.len());
        for (slots, doc, score) in top.rows.into_sorted_vec() {
            let values = self.cursors.iter().zip(slots);
            let values = values.map(|(cursor, slot)| cursor.value(slot));
            let sort = values.collect::<Result<_, QueryError>>()?;
            hits.push(MergedHit {
                shard: self.plan.shard,
                hit: ShardHit {
                    segment: self.segment,
                    doc,
                    score: self.plan.shows_scores().then(|| f32::from_bits(score)),
                    sort,
                    group: None,
                },
            });
        }
        Ok(TopList {
            total: top.total,
            max_score: top.max_score,
            hits,
        })
    }
}

impl Collect for TopHits {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        for (doc, parent) in block.docs.iter().zip(block.parents) {
            self.offer(*doc, *parent, account)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &mut Account) -> Result<Partial, AggError> {
        let tops = std::mem::take(&mut self.tops).into_iter();
        let lists = tops.map(|top| self.list(top)).collect::<Result<_, _>>()?;
        Ok(Partial::TopHits(TopLists {
            lists,
            keys: self.plan.keys.clone(),
            limit: self.plan.limit,
        }))
    }
}

/// Most documents a bucket of top hits may have, those skipped included.
const TOP_HITS_MAX: usize = 100;

/// Which documents are kept, and in which order.
#[derive(Clone, Debug)]
pub(crate) struct TopHitsPlan {
    pub(crate) from: usize,
    pub(crate) limit: usize,
    /// Never empty.
    pub(crate) keys: Arc<Vec<SortKey>>,
    /// The nested objects that they are about.
    pub(crate) objects: Arc<SortObjects>,
    /// Whether the request named an order.
    pub(crate) is_sorted: bool,
    /// Whether scores are told although the order is another one.
    pub(crate) track_scores: bool,
    pub(crate) with_scores: bool,
    pub(crate) shard: usize,
    /// What sort keys are opened under; it has no segments.
    pub(crate) snapshot: Option<Arc<Snapshot>>,
    pub(crate) segments: Segments,
}

/// The plan of the one with a name.
///
/// # Errors
/// [`AggError`] naming what is wrong.
pub(crate) fn plan_top_hits(
    name: &str,
    spec: &TopHitsSpec,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, TopHitsPlan), AggError> {
    let asked = spec.from.saturating_add(spec.size);
    if asked > TOP_HITS_MAX {
        return Err(AggError::invalid(format!(
            "Top hits result window is too large, the top hits aggregator [{name}]'s from + \
                 size must be less than or equal to: [{TOP_HITS_MAX}] but was [{asked}]. This limit \
                 can be set by changing the [index.max_inner_result_window] index level setting."
        )));
    }
    let by_score = |key: &SortKey| matches!(key, SortKey::Score { .. });
    let mut keys = spec.sort.clone();
    if keys.is_empty() {
        keys.push(SortKey::Score { order: Order::Desc });
    }
    let mut objects = SortObjects::default();
    if let Some(searcher) = context.searcher {
        let find = || {
            let mut vectors = VectorAnswers::default();
            let stage = searcher.vector_stage(context.now_ms);
            stage.add_order(&mut vectors, &keys)?;
            let compile = CompileContext {
                snapshot: searcher.snapshot,
                now_ms: context.now_ms,
                vectors: &vectors,
            };
            SortObjects::find(&keys, &compile, context.scope)
        };
        objects = find()?;
    }
    let plan = TopHitsPlan {
        from: spec.from,
        limit: asked,
        is_sorted: !spec.sort.is_empty(),
        track_scores: spec.track_scores,
        with_scores: spec.track_scores || keys.iter().any(by_score),
        keys: Arc::new(keys),
        objects: Arc::new(objects),
        shard: context.shard,
        snapshot: context
            .snapshot
            .map(|snapshot| Arc::new(snapshot.without_segments())),
        segments: Segments::of(context),
    };
    Ok((ValuePlan::none(), plan))
}

impl TopHitsPlan {
    /// An order by score among others does not show them.
    fn shows_scores(&self) -> bool {
        !self.is_sorted || self.track_scores
    }
}

impl Metric for TopHitsPlan {
    fn open(&self, segment: Segment<'_>, _: &dyn Planned) -> Result<Box<dyn Collect>, AggError> {
        Ok(Box::new(TopHits::open(segment.reader, self)?))
    }

    fn empty(&self) -> Partial {
        Partial::TopHits(TopLists {
            lists: Vec::new(),
            keys: self.keys.clone(),
            limit: self.limit,
        })
    }

    /// The documents themselves go beside the results.
    fn result(&self, of: InBucket<'_>, budget: &mut Budget<'_>) -> AggResult {
        let Partial::TopHits(lists) = of.partial else {
            unreachable!("{SHAPE}");
        };
        let list = of_bucket(&lists.lists, of.bucket);
        let found = list.map_or(&[][..], |list| &list.hits);
        let first = budget.hits.len();
        for hit in found.get(self.from..).unwrap_or_default() {
            let mut hit = hit.clone();
            if !self.is_sorted {
                hit.hit.sort.clear();
            }
            budget.hits.push(hit);
        }
        AggResult::TopHits(TopHitsResult {
            total: list.map_or(0, |list| list.total),
            max_score: list
                .and_then(|list| list.max_score)
                .filter(|_| self.shows_scores()),
            hits: first..budget.hits.len(),
        })
    }

    fn property(&self, _: Option<&str>) -> Option<Property> {
        None
    }

    fn wants_scores(&self) -> bool {
        self.with_scores
    }

    fn profiled_as(&self) -> &'static str {
        "TopHitsAggregator"
    }
}
