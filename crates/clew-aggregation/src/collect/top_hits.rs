//! The first documents of every bucket.

use std::collections::BinaryHeap;

use clew_query::AggError;
use clew_search::{KeyCursor, MergedHit, ShardHit, Slot};
use tantivy::{DocId, SegmentReader};

use super::{Block, Collect};
use crate::limits::{Account, grow};
use crate::partial::{Partial, TopList, TopLists};
use crate::plan_join::TopHitsPlan;

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
        let cursors = plan.objects.of(&plan.keys).cursors(snapshot, reader, 0);
        Ok(TopHits {
            plan: plan.clone(),
            segment,
            cursors: cursors.map_err(|error| AggError::invalid(error.to_string()))?,
            tops: Vec::new(),
        })
    }

    fn offer(&mut self, doc: DocId, parent: u32, account: &mut Account) -> Result<(), AggError> {
        let score = account.score(doc);
        let mut slots = Vec::with_capacity(self.cursors.len());
        for cursor in &self.cursors {
            let slot = cursor.slot(doc, score);
            slots.push(slot.map_err(|error| AggError::invalid(error.to_string()))?);
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
            let sort = values.collect::<Result<_, _>>();
            hits.push(MergedHit {
                shard: self.plan.shard,
                hit: ShardHit {
                    segment: self.segment,
                    doc,
                    score: self.plan.with_scores.then(|| f32::from_bits(score)),
                    sort: sort.map_err(|error| AggError::invalid(error.to_string()))?,
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
