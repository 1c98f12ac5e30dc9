//! From documents to the nested objects inside them, and back.

use std::sync::Arc;

use clew_query::AggError;
use clew_search::{Blocks, Scope};
use tantivy::DocId;

use super::slots::{Slots, count_up};
use super::{Block, Collect, Level, Segment, Subs};
use crate::key::{Key, KeyTable};
use crate::limits::Account;
use crate::partial::{Buckets, Partial};
use crate::plan::Plan;
use crate::plan_join::{JoinPlan, Way};

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
        plan: &Plan,
        join: &JoinPlan,
    ) -> Result<Self, AggError> {
        Ok(Join {
            plan: join.clone(),
            blocks: join.blocks(segment.reader),
            slots: Slots::for_range(Some((0, 0)), Level::Nested),
            counts: Vec::new(),
            subs: Subs::open(segment, plan)?,
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
