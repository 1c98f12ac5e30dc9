//! `nested` and `reverse_nested`: from documents to the nested objects inside them, and back.

use std::sync::Arc;

use clew_query::AggError;
use clew_query::aggregation::{NestedSpec, ReverseNestedSpec};
use clew_search::{Blocks, Scope};
use tantivy::{DocId, SegmentReader};

use crate::bucket::only::{only_bucket, only_count};
use crate::bucket::{AskedBuckets, Asking, BucketAgg, BucketPlan, InParent, Opening};
use crate::collect::slots::{Slots, count_up};
use crate::collect::{Block, Collect, Level, Planned, Segment, Subs};
use crate::counted::Partial;
use crate::counted::buckets::Buckets;
use crate::field::ValuePlan;
use crate::field::context::AggContext;
use crate::field::segments::Segments;
use crate::limits::Account;
use crate::order::Property;
use crate::reduce::Budget;
use crate::result::AggResult;
use crate::value::key::{Key, KeyTable};

/// Counts what is inside or around documents, one bucket for each parent.
pub(crate) struct Join {
    plan: JoinPlan,
    blocks: Option<Arc<Blocks>>,
    slots: Slots,
    counts: Vec<u64>,
    subs: Subs,
    /// Rows and parents that come, before they are put in order.
    pairs: Vec<(DocId, u32)>,
}

impl Join {
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &dyn Planned,
        join: &JoinPlan,
    ) -> Result<Self, AggError> {
        Ok(Join {
            plan: join.clone(),
            blocks: join.blocks(segment.reader),
            slots: Slots::for_range(Some((0, 0)), Level::Nested),
            counts: Vec::new(),
            subs: plan.open_subs(segment)?,
            pairs: Vec::new(),
        })
    }

    /// Finds the rows that the block's documents lead to.
    fn find(&mut self, block: Block<'_>, account: &mut Account) {
        self.pairs.clear();
        let from = Scope::from(self.plan.from.as_deref());
        let to = Scope::from(self.plan.to.as_deref());
        let Some(blocks) = &self.blocks else {
            // Without nested objects a document is around itself, and has nothing inside.
            return;
        };
        let (Some(given), Some(wanted)) = (blocks.of(from), blocks.of(to)) else {
            return;
        };
        for (doc, parent) in block.docs.iter().zip(block.parents) {
            match self.plan.way {
                // Objects that are asked for where they are given already.
                Way::Inwards if self.plan.from == self.plan.to => self.pairs.push((*doc, *parent)),
                Way::Outwards => {
                    let around = wanted.next_from(*doc);
                    self.pairs.extend(around.map(|row| (row, *parent)));
                }
                Way::Inwards => {
                    let inside = blocks.inside(given, *doc);
                    let mut row = wanted.next_from(inside.start);
                    while let Some(found) = row.filter(|row| *row < inside.end) {
                        account.copy_score(*doc, found);
                        self.pairs.push((found, *parent));
                        row = wanted.next_from(found + 1);
                    }
                }
            }
        }
        // Several objects of a document lead to it, and count it once; blocks may interleave buckets.
        self.pairs.sort_unstable();
        self.pairs.dedup();
    }
}

impl Collect for Join {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        self.find(block, account);
        for (row, parent) in std::mem::take(&mut self.pairs) {
            let number = self.slots.number(parent, 0, account)?;
            count_up(&mut self.counts, number, row, account)?;
            if !self.subs.is_empty() {
                self.subs.push(row, number);
            }
        }
        self.subs.flush(account)
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        let (parents, keys) = self.slots.into_parts();
        let mut counts = self.counts;
        counts.truncate(keys.len());
        account.charge_keys(keys.len())?;
        let keys = keys.iter().map(|_| Key::I64(0)).collect();
        let table = KeyTable::of_distinct(parents, keys);
        let subs = self.subs.finish(account)?;
        Ok(Partial::Buckets(Buckets::of(table, counts, subs)))
    }
}

/// Which way a join goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Inwards,
    Outwards,
}

/// A change of scope.
#[derive(Clone, Debug)]
pub(crate) struct JoinPlan {
    pub(crate) way: Way,
    /// The path of the objects that come; `None` for whole documents.
    pub(crate) to: Option<String>,
    /// The same of those that are given.
    pub(crate) from: Option<String>,
    /// Whether there is anything at the path.
    pub(crate) is_mapped: bool,
    segments: Segments,
}

impl JoinPlan {
    fn inwards(path: &str, context: &AggContext<'_>) -> Result<Self, AggError> {
        let is_nested = context.mapping.is_nested(path);
        if !is_nested && context.mapping.has_object(path) {
            return Err(AggError::aggregation(format!(
                "[nested] nested path [{path}] is not nested"
            )));
        }
        Ok(JoinPlan {
            way: Way::Inwards,
            to: Some(path.to_string()),
            from: context.scope.map(str::to_string),
            is_mapped: is_nested,
            segments: Segments::of(context),
        })
    }

    fn outwards(
        name: &str,
        path: Option<&str>,
        context: &AggContext<'_>,
    ) -> Result<Self, AggError> {
        if context.scope.is_none() {
            return Err(AggError::invalid(format!(
                "Reverse nested aggregation [{name}] can only be used inside a [nested] aggregation"
            )));
        }
        if let Some(path) = path
            && context.mapping.has_object(path)
            && !context.mapping.is_nested(path)
        {
            return Err(AggError::invalid(format!(
                "[reverse_nested] nested path [{path}] is not nested"
            )));
        }
        Ok(JoinPlan {
            way: Way::Outwards,
            to: path.map(str::to_string),
            from: context.scope.map(str::to_string),
            is_mapped: path.is_none_or(|path| context.mapping.is_nested(path)),
            segments: Segments::of(context),
        })
    }

    fn blocks(&self, reader: &SegmentReader) -> Option<Arc<Blocks>> {
        self.segments.blocks(reader).filter(|_| self.is_mapped)
    }
}

impl AskedBuckets for NestedSpec {
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        let join = JoinPlan::inwards(&self.path, asking.context)?;
        Ok((ValuePlan::none(), join.into()))
    }

    fn takes_pages(&self) -> bool {
        true
    }
}

impl AskedBuckets for ReverseNestedSpec {
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        let join = JoinPlan::outwards(asking.name, self.path.as_deref(), asking.context)?;
        Ok((ValuePlan::none(), join.into()))
    }

    fn takes_pages(&self) -> bool {
        true
    }
}

impl BucketAgg for JoinPlan {
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Collect>, AggError> {
        let Opening { segment, plan, .. } = opening;
        Ok(Box::new(Join::open(segment, plan, self)?))
    }

    fn result(&self, of: InParent<'_>, budget: &mut Budget<'_>) -> Result<AggResult, AggError> {
        let (doc_count, subs) = only_bucket(of, budget)?;
        Ok(AggResult::Joined {
            is_nested: self.way == Way::Inwards,
            doc_count,
            subs,
        })
    }

    fn profiled_as(&self, _: &ValuePlan) -> &'static str {
        match self.way {
            Way::Inwards => "NestedAggregator",
            Way::Outwards => "ReverseNestedAggregator",
        }
    }

    fn property(&self, name: Option<&str>) -> Option<Property> {
        only_count(name)
    }
}
