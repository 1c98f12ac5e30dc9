//! A bucket per distinct value. Terms are counted by their place in the segment's dictionary; their
//! text is read once, at the end, and only of those that were seen.

use clew_query::AggError;

use super::slots::{Slots, count_one, count_up};
use super::{Block, Collect, Level, Segment, Subs};
use crate::column::{Mask, Repeats, Rows, ValueColumn};
use crate::key::{Key, KeyTable};
use crate::limits::Account;
use crate::partial::{Buckets, Partial};
use crate::plan::{Plan, TermsPlan, TermsShape};

/// Above this many distinct terms, an array of counters per segment is not worth its memory.
const DIRECT_WIDTH_MAX: u64 = 1 << 22;

pub(crate) struct Terms {
    field: String,
    column: ValueColumn,
    mask: Option<Mask>,
    rows: Rows,
    counting: Counting,
    subs: Subs,
    /// Whether terms that no document matched are listed too.
    all_terms: bool,
    /// Documents per parent, where terms are compared with a background.
    sizes: Option<Vec<u64>>,
}

enum Counting {
    /// One parent and nothing nested: the counter of a value is at its distance from `min`.
    Direct {
        min: u64,
        counts: Vec<u64>,
    },
    Numbered {
        slots: Slots,
        counts: Vec<u64>,
    },
}

impl Terms {
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &Plan,
        terms: &TermsPlan,
        level: Level,
    ) -> Result<Self, AggError> {
        let column = ValueColumn::open(segment.reader, &plan.values)?;
        let mask = column
            .mask(&terms.filter)
            .map_err(|source| AggError::Column {
                field: plan.values.field.clone(),
                source,
            })?;
        let subs = Subs::open(segment, plan)?;
        let range = column.range();
        let counting = match range {
            Some((min, max))
                if level == Level::Root && subs.is_empty() && max - min < DIRECT_WIDTH_MAX =>
            {
                let counts = Vec::new();
                Counting::Direct { min, counts }
            }
            _ => Counting::Numbered {
                slots: Slots::for_range(range, level),
                counts: Vec::new(),
            },
        };
        Ok(Terms {
            field: plan.values.field.clone(),
            column,
            mask,
            rows: Rows::default(),
            counting,
            subs,
            all_terms: terms.min_doc_count == 0,
            sizes: matches!(terms.shape, TermsShape::Significant(_)).then(Vec::new),
        })
    }

    fn universe(&self, account: &mut Account) -> Result<KeyTable<Key>, AggError> {
        if !self.all_terms {
            return Ok(KeyTable::default());
        }
        account.charge(self.column.values_max() * size_of::<u64>())?;
        let mut all = self.column.all();
        if let Some(mask) = &self.mask {
            all.retain(|raw| mask.admits(*raw));
        }
        let keys = self.column.booked_keys(&self.field, &all, account)?;
        Ok(KeyTable::of_distinct(vec![0; keys.len()], keys))
    }
}

impl Collect for Terms {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        if let Some(sizes) = &mut self.sizes {
            for parent in block.parents {
                count_one(sizes, *parent, account)?;
            }
        }
        if self.column.is_empty() {
            return Ok(());
        }
        self.column
            .read(block.docs, Repeats::Dropped, &mut self.rows);
        match &mut self.counting {
            Counting::Direct { min, counts } => {
                if counts.is_empty() {
                    let (min, max) = self.column.range().unwrap_or((0, 0));
                    let width = usize::try_from(max - min).unwrap_or(usize::MAX - 1) + 1;
                    account.charge(width * size_of::<u64>())?;
                    counts.resize(width, 0);
                }
                // The range came from the same column, so the distance is in the array.
                let place = |raw: &u64| usize::try_from(raw - *min);
                if account.every_document_is_one() || self.sizes.is_some() {
                    for at in self.rows.values.iter().flat_map(place) {
                        counts[at] += 1;
                    }
                } else {
                    for (entry, raw) in self.rows.entries.iter().zip(&self.rows.values) {
                        let count = account.stands_for(block.docs[*entry as usize]);
                        if let Ok(at) = place(raw) {
                            counts[at] = counts[at].saturating_add(count);
                        }
                    }
                }
            }
            Counting::Numbered { slots, counts } => {
                for (entry, raw) in self.rows.entries.iter().zip(&self.rows.values) {
                    if self.mask.as_ref().is_some_and(|mask| !mask.admits(*raw)) {
                        continue;
                    }
                    let entry = *entry as usize;
                    let number = slots.number(block.parents[entry], *raw, account)?;
                    // What is compared with a background is documents, not what they stand for.
                    if self.sizes.is_some() {
                        count_one(counts, number, account)?;
                    } else {
                        count_up(counts, number, block.docs[entry], account)?;
                    }
                    if !self.subs.is_empty() {
                        self.subs.push(block.docs[entry], number);
                    }
                }
            }
        }
        self.subs.flush(account)
    }

    fn finish(mut self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        let universe = self.universe(account)?;
        let sizes = self.sizes.take().unwrap_or_default();
        let empty = Counting::Direct {
            min: 0,
            counts: Vec::new(),
        };
        match std::mem::replace(&mut self.counting, empty) {
            Counting::Direct { min, counts } => {
                let seen: Vec<(u64, u64)> = (0_u64..)
                    .zip(counts)
                    .map(|(distance, count)| (min + distance, count))
                    .filter(|(raw, count)| {
                        *count > 0 && self.mask.as_ref().is_none_or(|mask| mask.admits(*raw))
                    })
                    .collect();
                let raws: Vec<u64> = seen.iter().map(|(raw, _)| *raw).collect();
                let keys = self.column.booked_keys(&self.field, &raws, account)?;
                let table = KeyTable::of_distinct(vec![0; keys.len()], keys);
                let counts = seen.into_iter().map(|(_, count)| count).collect();
                let mut buckets = Buckets::of(table, counts, Vec::new());
                buckets.universe = universe;
                buckets.background.sizes = sizes;
                Ok(Partial::Buckets(buckets))
            }
            Counting::Numbered { slots, mut counts } => {
                let (parents, raws) = slots.into_parts();
                counts.truncate(raws.len());
                let keys = self.keys_of_unsorted(&raws, account)?;
                let table = KeyTable::of_distinct(parents, keys);
                let mut buckets = Buckets::of(table, counts, self.subs.finish(account)?);
                buckets.universe = universe;
                buckets.background.sizes = sizes;
                Ok(Partial::Buckets(buckets))
            }
        }
    }
}

impl Terms {
    /// Dictionaries are read in order; the same value may be in many parents.
    fn keys_of_unsorted(&self, raws: &[u64], account: &mut Account) -> Result<Vec<Key>, AggError> {
        account.charge(size_of_val(raws))?;
        let mut sorted = raws.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let keys = self.column.booked_keys(&self.field, &sorted, account)?;
        account.charge_keys(raws.len())?;
        let places = raws.iter().filter_map(|raw| sorted.binary_search(raw).ok());
        places
            .map(|at| {
                account.charge(keys[at].heap_bytes())?;
                Ok(keys[at].clone())
            })
            .collect()
    }
}
