//! `terms`: a bucket per distinct value. Terms are counted by their place in the segment's dictionary;
//! their text is read once, at the end, and only of those that were seen.

use std::sync::Arc;

use clew_query::AggError;
use clew_query::aggregation::{Direction, TermsSpec};
use tantivy::SegmentReader;

use crate::bucket::cut::cut_terms;
use crate::bucket::shown_terms::terms_result;
use crate::bucket::significant::{SignificantPlan, significant_result};
use crate::bucket::words::{Words, WordsPlan};
use crate::bucket::{
    AskedBuckets, Asking, BucketAgg, BucketPlan, InParent, Opening, ProfileDetails,
};
use crate::collect::slots::{Slots, count_one, count_up};
use crate::collect::{Block, Collect, Level, Planned, Segment, Subs};
use crate::counted::Partial;
use crate::counted::buckets::Buckets;
use crate::field::column::ValueColumn;
use crate::field::mask::Mask;
use crate::field::rows::{Repeats, Rows};
use crate::field::values::{plan_values, term_filter};
use crate::field::{TermSets, ValueKind, ValuePlan};
use crate::limits::Account;
use crate::order::path::{Ordered, order_or_count, plan_order};
use crate::order::{By, PlannedOrder};
use crate::reduce::Budget;
use crate::result::AggResult;
use crate::value::key::{Key, KeyTable};

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
        plan: &dyn Planned,
        terms: &TermsPlan,
        level: Level,
    ) -> Result<Self, AggError> {
        let column = ValueColumn::open(segment.reader, plan.values())?;
        let mask = column
            .mask(&terms.filter)
            .map_err(|source| AggError::Column {
                field: plan.values().field.clone(),
                source,
            })?;
        let subs = plan.open_subs(segment)?;
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
            field: plan.values().field.clone(),
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
            .read_scored(block.docs, account, Repeats::Dropped, &mut self.rows)?;
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

#[derive(Clone, Debug)]
pub(crate) struct TermsPlan {
    pub(crate) size: usize,
    pub(crate) shard_size: usize,
    pub(crate) min_doc_count: u64,
    pub(crate) shard_min_doc_count: u64,
    pub(crate) order: Vec<PlannedOrder>,
    pub(crate) filter: TermSets,
    pub(crate) show_error: bool,
    pub(crate) shape: TermsShape,
}

impl TermsPlan {
    /// How words are taken from texts, where there is no column.
    pub(crate) fn words(&self) -> Option<&Arc<WordsPlan>> {
        match &self.shape {
            TermsShape::Significant(significant) => significant.words.as_ref(),
            _ => None,
        }
    }
}

/// Which terms are shown.
#[derive(Clone, Debug)]
pub(crate) enum TermsShape {
    /// The first by their order.
    Plain,
    /// Those with few documents.
    Rare { max_doc_count: u64 },
    /// Those that are more frequent here than elsewhere.
    Significant(SignificantPlan),
}

impl AskedBuckets for TermsSpec {
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        let values = plan_values(&self.source, "terms", asking.context)?;
        let filter = term_filter(&self.filter, &values, asking.name)?;
        let plan = plan_terms(self, filter, asking.subs)?;
        Ok((values, plan.into()))
    }

    fn factory_name(&self) -> &'static str {
        "TermsAggregatorFactory"
    }
}

/// The plan of `terms`.
///
/// # Errors
/// [`AggError`] naming what is wrong.
fn plan_terms(
    spec: &TermsSpec,
    filter: TermSets,
    subs: &[&dyn Ordered],
) -> Result<TermsPlan, AggError> {
    if spec.size == 0 {
        return Err(AggError::invalid(
            "[size] must be greater than 0. Found [0] in a terms aggregation",
        ));
    }
    let order = order_or_count(plan_order(&spec.order, subs)?);
    let size = spec.size as usize;
    let shard_size = match (order[0].by == By::Key, spec.shard_size) {
        // What a shard has by its keys cannot be wrong.
        (true, None) => size,
        (_, asked) => shard_size(asked, size),
    };
    Ok(TermsPlan {
        size,
        shard_size,
        min_doc_count: spec.min_doc_count,
        shard_min_doc_count: spec.shard_min_doc_count.min(spec.min_doc_count),
        order,
        filter,
        show_error: spec.show_error,
        shape: TermsShape::Plain,
    })
}

/// How many buckets a shard is asked for: more than the client wants, so that what is frequent elsewhere is among them.
pub(crate) fn shard_size(asked: Option<u32>, size: usize) -> usize {
    let suggested = size + size / 2 + 10;
    let asked = asked.map_or(suggested, |asked| asked as usize);
    asked.max(size)
}

/// All terms, rarest first.
pub(crate) fn every_term(filter: TermSets, shape: TermsShape) -> TermsPlan {
    let ascending = |by| PlannedOrder {
        by,
        direction: Direction::Ascending,
    };
    TermsPlan {
        size: usize::MAX,
        shard_size: usize::MAX,
        min_doc_count: 1,
        shard_min_doc_count: 0,
        order: vec![ascending(By::Count), ascending(By::Key)],
        filter,
        show_error: false,
        shape,
    }
}

impl BucketAgg for TermsPlan {
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Collect>, AggError> {
        let Opening {
            segment,
            plan,
            level,
        } = opening;
        Ok(match self.words() {
            Some(words) => Box::new(Words::open(segment, plan, (words, &self.filter))?),
            None => Box::new(Terms::open(segment, plan, self, level)?),
        })
    }

    fn result(&self, of: InParent<'_>, budget: &mut Budget<'_>) -> Result<AggResult, AggError> {
        let terms = terms_result(of, self, budget)?;
        Ok(match self.shape {
            TermsShape::Plain | TermsShape::Rare { .. } => AggResult::Terms(terms),
            TermsShape::Significant(_) => significant_result(terms, of.buckets, of.parent),
        })
    }

    fn profiled_as(&self, values: &ValuePlan) -> &'static str {
        terms_kind(&self.shape, values.kind)
    }

    fn profile_details(&self, values: &ValuePlan) -> ProfileDetails {
        ProfileDetails {
            strategy: strategy(&self.shape, values.kind),
            has_filter: Some(self.filter.include.is_some() || self.filter.exclude.is_some()),
        }
    }

    fn order(&self) -> Option<&[PlannedOrder]> {
        Some(&self.order)
    }

    fn wants_background(&self) -> bool {
        matches!(self.shape, TermsShape::Significant(_))
    }

    fn count_background(
        &self,
        plan: &dyn Planned,
        buckets: &mut Buckets,
        readers: &[SegmentReader],
    ) -> Result<(), AggError> {
        match &self.shape {
            TermsShape::Plain | TermsShape::Rare { .. } => Ok(()),
            TermsShape::Significant(significant) => {
                significant.count_background(plan, buckets, readers)
            }
        }
    }

    fn cut(&self, buckets: &mut Buckets, parent_count: usize) -> Result<(), AggError> {
        cut_terms(self, buckets, parent_count)
    }

    fn has_values_for_keys(&self) -> bool {
        true
    }
}

fn strategy(shape: &TermsShape, kind: ValueKind) -> Option<&'static str> {
    if matches!(shape, TermsShape::Significant(_)) {
        return Some("significant_terms");
    }
    Some(match kind {
        ValueKind::Keyword | ValueKind::Ip => "terms",
        ValueKind::Double => "double_terms",
        ValueKind::Unsigned => "unsigned_long_terms",
        ValueKind::Unmapped | ValueKind::Geo => return None,
        _ => "long_terms",
    })
}

fn terms_kind(shape: &TermsShape, kind: ValueKind) -> &'static str {
    let is_text = matches!(kind, ValueKind::Keyword | ValueKind::Ip);
    match shape {
        TermsShape::Rare { .. } if is_text => "StringRareTermsAggregator",
        TermsShape::Rare { .. } => "LongRareTermsAggregator",
        TermsShape::Significant(significant) if significant.words.is_some() => {
            "MapStringTermsAggregator"
        }
        _ if kind == ValueKind::Unmapped => "NonCollectingAggregator",
        _ if is_text => "GlobalOrdinalsStringTermsAggregator",
        _ => "NumericTermsAggregator",
    }
}
