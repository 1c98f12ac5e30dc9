//! `terms` and `rare_terms`: a bucket per distinct value. Terms are counted by their place in the segment's dictionary;
//! their text is read once, at the end, and only of those that were seen. Of each parent's terms a shard keeps only the
//! best, and notes how wrong counts may be because of that.

use std::sync::Arc;

use clew_query::AggError;
use clew_query::aggregation::{Direction, RareTermsSpec, TermsSpec};

use crate::bucket::significant::SignificantPlan;
use crate::bucket::words::WordsPlan;
use crate::collect::slots::{Slots, count_one, count_up};
use crate::collect::{Block, Collect, Level, Planned, Segment, Subs};
use crate::counted::Partial;
use crate::counted::buckets::{Buckets, LeftOut, retain};
use crate::field::column::ValueColumn;
use crate::field::mask::Mask;
use crate::field::rows::{Repeats, Rows};
use crate::field::values::term_filter;
use crate::field::{TermSets, ValueKind, ValuePlan};
use crate::limits::Account;
use crate::order::path::{Ordered, order_or_count, plan_order};
use crate::order::{By, Comparison, PlannedOrder};
use crate::reduce::{Budget, Node, results_of};
use crate::result::{Bucket, BucketExtra, TermsKind, TermsResult};
use crate::value::key::{Key, KeyTable, number_of};

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

#[derive(Clone, Debug)]
pub(crate) struct TermsPlan {
    pub(crate) size: usize,
    pub(crate) shard_size: usize,
    pub(crate) min_doc_count: u64,
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

/// The plan of `terms`.
///
/// # Errors
/// [`AggError`] naming what is wrong.
pub(crate) fn plan_terms(
    spec: &TermsSpec,
    values: &ValuePlan,
    subs: &[impl Ordered],
) -> Result<TermsPlan, AggError> {
    if spec.size == 0 {
        return Err(AggError::invalid(
            "[size] must be greater than 0. Found [0] in a terms aggregation",
        ));
    }
    let order = order_or_count(plan_order(&spec.order, subs)?);
    let size = spec.size as usize;
    // A shard is asked for more than the client wants, unless it cannot be wrong anyway.
    let by_key = order[0].by == By::Key;
    let suggested = if by_key { size } else { size + size / 2 + 10 };
    let shard_size = spec.shard_size.map_or(suggested, |asked| asked as usize);
    Ok(TermsPlan {
        size,
        shard_size: shard_size.max(size),
        min_doc_count: spec.min_doc_count,
        order,
        filter: term_filter(&spec.filter, values)?,
        show_error: spec.show_error,
        shape: TermsShape::Plain,
    })
}

/// The plan of `rare_terms`. Rare terms are counted in full on every shard: what is rare here may be frequent elsewhere.
pub(crate) fn plan_rare_terms(
    spec: &RareTermsSpec,
    values: &ValuePlan,
) -> Result<TermsPlan, AggError> {
    let shape = TermsShape::Rare {
        max_doc_count: spec.max_doc_count,
    };
    Ok(every_term(term_filter(&spec.filter, values)?, shape))
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
        order: vec![ascending(By::Count), ascending(By::Key)],
        filter,
        show_error: false,
        shape,
    }
}

pub(crate) fn terms_result(
    node: &Node<'_>,
    terms: &TermsPlan,
    buckets: &Buckets,
    parent: Option<u32>,
    budget: &mut Budget,
) -> Result<TermsResult, AggError> {
    let kind = node.plan.values().kind;
    let left_out = parent
        .and_then(|parent| buckets.left_out.get(parent as usize))
        .copied()
        .unwrap_or_default();
    let mut numbers = node.numbers(parent).to_vec();
    numbers.retain(|number| terms.shows(buckets.counts[*number as usize]));
    let scores = match &terms.shape {
        TermsShape::Significant(significant) => buckets.scores(significant.heuristic),
        _ => Vec::new(),
    };
    numbers.retain(|number| {
        scores
            .get(*number as usize)
            .is_none_or(|score| *score > 0.0)
    });
    if let Some(comparison) = &node.comparison {
        numbers.sort_unstable_by(|a, b| comparison.of_buckets(*a, *b));
    }
    let shown = numbers.len().min(terms.size);
    let beyond: u64 = numbers[shown..]
        .iter()
        .map(|number| buckets.counts[*number as usize])
        .sum();
    let mut made = Vec::with_capacity(shown);
    for number in &numbers[..shown] {
        budget.take()?;
        let at = *number as usize;
        budget.charge(buckets.table.keys()[at].heap_bytes())?;
        made.push(Bucket {
            key: shown_key(&buckets.table.keys()[at], kind),
            doc_count: buckets.counts[at],
            doc_count_error: bucket_error(left_out, buckets.reported.get(at).copied()),
            extra: match scores.get(at) {
                Some(score) => BucketExtra::Score {
                    score: *score,
                    background: buckets.background.with.get(at).copied().unwrap_or(0),
                },
                None => BucketExtra::None,
            },
            subs: results_of(&node.subs, Some(*number), budget)?,
        });
    }
    Ok(TermsResult {
        kind: match kind {
            ValueKind::Unmapped => TermsKind::Unmapped,
            ValueKind::Keyword | ValueKind::Ip => TermsKind::Text,
            ValueKind::Unsigned | ValueKind::Geo => TermsKind::Unsigned,
            ValueKind::Long | ValueKind::Boolean | ValueKind::Date | ValueKind::DateNanos => {
                TermsKind::Integer
            }
            ValueKind::Double => TermsKind::Float,
        },
        rare: matches!(terms.shape, TermsShape::Rare { .. }),
        buckets: made,
        doc_count_error_upper_bound: match left_out {
            LeftOut {
                unbounded: true, ..
            } => None,
            // One shard's counts are exact, whatever it left out.
            LeftOut { shards: 0 | 1, .. } => Some(0),
            LeftOut { error, .. } => Some(error),
        },
        sum_other_doc_count: left_out.documents + beyond,
        show_error: terms.show_error,
        format: node.plan.values().format.clone(),
    })
}

impl TermsPlan {
    /// Whether buckets with so many documents are shown.
    fn shows(&self, count: u64) -> bool {
        let few = match self.shape {
            TermsShape::Plain | TermsShape::Significant(_) => true,
            TermsShape::Rare { max_doc_count } => count <= max_doc_count,
        };
        few && count >= self.min_doc_count
    }
}

/// The errors of the shards that did not report the bucket.
fn bucket_error(left_out: LeftOut, reported: Option<u64>) -> Option<u64> {
    (!left_out.unbounded).then(|| left_out.error.saturating_sub(reported.unwrap_or(0)))
}

pub(crate) fn shown_key(key: &Key, kind: ValueKind) -> Key {
    match (kind, key) {
        (ValueKind::Boolean, Key::I64(value)) => Key::Bool(*value != 0),
        (ValueKind::Date | ValueKind::DateNanos, Key::I64(value)) => Key::Date(*value),
        _ => key.clone(),
    }
}

/// Terms that no document matched have buckets too, where they are asked for.
pub(crate) fn add_unmatched(buckets: &mut Buckets, parent_count: usize) {
    let universe = std::mem::take(&mut buckets.universe).into_parts().1;
    for parent in 0..parent_count {
        for key in &universe {
            let (number, _) = buckets.table.number(number_of(parent), key.clone());
            if number as usize == buckets.counts.len() {
                buckets.counts.push(0);
            }
        }
    }
}

pub(crate) fn cut(terms: &TermsPlan, buckets: &mut Buckets, parent_count: usize) {
    let by_parent = buckets.by_parent();
    let comparison = Comparison::new(buckets, &terms.order);
    let mut keep = vec![false; buckets.table.len()];
    let mut left_out = Vec::with_capacity(parent_count);
    let mut errors = Vec::with_capacity(parent_count);
    for parent in 0..parent_count {
        let mut numbers = by_parent.of_parent(number_of(parent)).to_vec();
        let count = numbers.len();
        if count > terms.shard_size {
            numbers
                .select_nth_unstable_by(terms.shard_size - 1, |a, b| comparison.of_buckets(*a, *b));
        }
        let (kept, dropped) = numbers.split_at(count.min(terms.shard_size));
        let counts_of = |list: &[u32]| -> Vec<u64> {
            list.iter().map(|n| buckets.counts[*n as usize]).collect()
        };
        let mut of_parent = LeftOut {
            shards: 1,
            documents: counts_of(dropped).iter().sum(),
            ..LeftOut::default()
        };
        if kept.len() == terms.shard_size {
            match (terms.order[0].by, terms.order[0].direction) {
                (By::Key | By::Score(_), _) => {}
                (By::Count, Direction::Descending) => {
                    of_parent.error = counts_of(kept).into_iter().min().unwrap_or(0);
                }
                _ => of_parent.unbounded = true,
            }
        }
        for number in kept {
            keep[*number as usize] = true;
        }
        errors.push(of_parent.error);
        left_out.push(of_parent);
    }
    retain(buckets, &keep);
    buckets.reported = buckets
        .table
        .parents()
        .iter()
        .map(|parent| errors[*parent as usize])
        .collect();
    buckets.left_out = left_out;
}
