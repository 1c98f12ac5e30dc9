//! Documents counted in buckets that a number names, as its place in a list of buckets that are known beforehand.

use clew_query::AggError;

use crate::collect::slots::{Slots, count_up};
use crate::collect::{Block, Collect, Level, Planned, Segment, Subs};
use crate::counted::Partial;
use crate::counted::buckets::Buckets;
use crate::limits::Account;
use crate::value::key::{Key, KeyTable};

/// One bucket of whatever comes; who feeds it decides what that is.
pub(crate) struct Everything {
    places: Places,
}

impl Everything {
    pub(crate) fn open(segment: Segment<'_>, plan: &dyn Planned) -> Result<Self, AggError> {
        Ok(Everything {
            places: Places::open(segment, plan)?,
        })
    }
}

impl Collect for Everything {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        for (doc, parent) in block.docs.iter().zip(block.parents) {
            self.places.add((*doc, *parent), 0, account)?;
        }
        self.places.flush(account)
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        self.places.finish(account)
    }
}

/// Counts documents per bucket.
pub(crate) struct Places {
    slots: Slots,
    counts: Vec<u64>,
    subs: Subs,
}

impl Places {
    pub(crate) fn open(segment: Segment<'_>, plan: &dyn Planned) -> Result<Self, AggError> {
        Places::numbered_by(Slots::for_range(None, Level::Nested), (segment, plan))
    }

    /// For places of which something is known.
    pub(crate) fn numbered_by(
        slots: Slots,
        (segment, plan): (Segment<'_>, &dyn Planned),
    ) -> Result<Self, AggError> {
        Ok(Places {
            slots,
            counts: Vec::new(),
            subs: plan.open_subs(segment)?,
        })
    }

    #[inline]
    pub(crate) fn add(
        &mut self,
        (doc, parent): (u32, u32),
        place: u64,
        account: &mut Account,
    ) -> Result<(), AggError> {
        let number = self.slots.number(parent, place, account)?;
        count_up(&mut self.counts, number, doc, account)?;
        if !self.subs.is_empty() {
            self.subs.push(doc, number);
        }
        Ok(())
    }

    pub(crate) fn flush(&mut self, account: &mut Account) -> Result<(), AggError> {
        self.subs.flush(account)
    }

    /// The buckets, whose keys are their places.
    pub(crate) fn finish(self, account: &mut Account) -> Result<Partial, AggError> {
        self.finish_as(|place| Key::I64(place.cast_signed()), account)
    }

    pub(crate) fn finish_as(
        self,
        key_of: impl Fn(u64) -> Key,
        account: &mut Account,
    ) -> Result<Partial, AggError> {
        let (parents, places) = self.slots.into_parts();
        let mut counts = self.counts;
        counts.truncate(places.len());
        account.charge_keys(places.len())?;
        let keys = places.into_iter().map(key_of).collect();
        let table = KeyTable::of_distinct(parents, keys);
        Ok(Partial::Buckets(Buckets::of(
            table,
            counts,
            self.subs.finish(account)?,
        )))
    }
}
