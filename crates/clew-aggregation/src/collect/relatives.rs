//! Notes which families the documents of each bucket belong to. Relatives may lie in other segments,
//! so nothing is counted before all segments were seen.

use std::sync::Arc;

use clew_query::AggError;
use tantivy::DocId;

use super::slots::Slots;
use super::{Block, Collect, Level, Segment};
use crate::key::{Key, KeyTable};
use crate::limits::{Account, grow};
use crate::partial::{Buckets, Partial};
use crate::plan::Plan;
use crate::plan_relatives::{Family, RelativesPlan};

pub(crate) struct Relatives {
    family: Option<Arc<Family>>,
    ord: usize,
    slots: Slots,
    /// Per bucket: numbers of parents.
    members: Vec<Vec<u32>>,
    subs: Vec<Partial>,
}

impl Relatives {
    pub(crate) fn open(segment: Segment<'_>, plan: &Plan, relatives: &RelativesPlan) -> Self {
        Relatives {
            family: relatives.family.clone(),
            ord: segment.ord,
            slots: Slots::for_range(Some((0, 0)), Level::Nested),
            members: Vec::new(),
            subs: plan.subs.iter().map(Partial::empty).collect(),
        }
    }

    fn number(&self, doc: DocId) -> Option<u32> {
        self.family.as_ref()?.segments.get(self.ord)?.number(doc)
    }
}

impl Collect for Relatives {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        for (doc, parent) in block.docs.iter().zip(block.parents) {
            if let Some(member) = self.number(*doc) {
                let bucket = self.slots.number(*parent, 0, account)?;
                grow(&mut self.members, bucket, account)?;
                account.charge(size_of::<u32>())?;
                self.members[bucket as usize].push(member);
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        let (parents, keys) = self.slots.into_parts();
        let mut members = self.members;
        members.truncate(keys.len());
        account.charge_keys(keys.len())?;
        let counts = vec![0; keys.len()];
        let keys = keys.iter().map(|_| Key::I64(0)).collect();
        let table = KeyTable::of_distinct(parents, keys);
        Ok(Partial::Buckets(Buckets {
            members,
            ..Buckets::of(table, counts, self.subs)
        }))
    }
}
