//! Turns merged counts into results: best terms first, gaps filled, every bucket counted against
//! the request's limit as it is made.

use clew_platform::{MemoryExceeded, Pace};
use clew_query::{AggError, go_on_reducing};
use clew_search::MergedHit;

use super::fill::{self, Row};
use super::key::Key;
use super::limits::AggLimits;
use super::order::Comparison;
use super::partial::{Buckets, ByParent, LeftOut, Partial};
use super::plan::{By, Op, Plan, PlannedOrder, TermsPlan, TermsShape, ValueKind};
use super::plan_chain::Link;
use super::reduce_given::given_result;
use super::reduce_join::top_hits_result;
use super::reduce_metrics::metric_result;
use super::result::{
    AggResult, AggResults, Bucket, BucketExtra, HistogramResult, NamedResult, TermsKind,
    TermsResult,
};
use clew_query::aggregation::Direction;

/// All results of a request.
///
/// # Errors
/// [`AggError::TooManyBuckets`]; an error of its own once the request is over.
pub(crate) fn reduce(
    plans: &[Plan],
    partials: &[Partial],
    limits: AggLimits,
    book: &dyn Fn(usize) -> Result<(), MemoryExceeded>,
) -> Result<AggResults, AggError> {
    let nodes: Vec<Node<'_>> = plans
        .iter()
        .zip(partials)
        .map(|(plan, partial)| Node::of(plan, partial))
        .collect();
    let mut budget = Budget {
        count: 0,
        pace: Pace::default(),
        max: limits.buckets_max,
        hits: Vec::new(),
        book,
        unbooked_bytes: 0,
    };
    let results = results_of(&nodes, Some(0), &mut budget)?;
    Ok(AggResults {
        results,
        hits: budget.hits,
    })
}

/// What results take is booked in steps of so many bytes.
const BOOK_BYTES: usize = 64 << 10;

/// Buckets made so far, of all aggregations together.
pub(crate) struct Budget<'a> {
    count: usize,
    pace: Pace,
    max: usize,
    /// The documents of the top hits made so far.
    pub(super) hits: Vec<MergedHit>,
    /// Books what results take.
    book: &'a dyn Fn(usize) -> Result<(), MemoryExceeded>,
    unbooked_bytes: usize,
}

impl Budget<'_> {
    pub(crate) fn take(&mut self) -> Result<(), AggError> {
        self.count += 1;
        go_on_reducing(&mut self.pace)?;
        if self.count > self.max {
            return Err(AggError::TooManyBuckets {
                max: self.max,
                count: self.count,
            });
        }
        self.charge(size_of::<Bucket>())
    }

    /// Notes what a result takes, which is booked a little later.
    fn charge(&mut self, bytes: usize) -> Result<(), AggError> {
        self.unbooked_bytes += bytes;
        if self.unbooked_bytes < BOOK_BYTES {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.unbooked_bytes);
        (self.book)(bytes).map_err(AggError::Memory)
    }
}

/// An aggregation's counts with its buckets sorted by parent.
pub(crate) struct Node<'a> {
    pub(crate) plan: &'a Plan,
    partial: &'a Partial,
    by_parent: ByParent,
    comparison: Option<Comparison<'a>>,
    pub(crate) subs: Vec<Node<'a>>,
}

impl<'a> Node<'a> {
    fn of(plan: &'a Plan, partial: &'a Partial) -> Self {
        let mut node = Node {
            plan,
            partial,
            by_parent: ByParent::default(),
            comparison: None,
            subs: Vec::new(),
        };
        if let Partial::Buckets(buckets) = partial {
            let order = plan.op.order();
            node.by_parent = buckets.by_parent();
            node.comparison = order.map(|order| Comparison::new(buckets, order));
            let subs = plan.subs.iter().zip(&buckets.subs);
            node.subs = subs.map(|(plan, sub)| Node::of(plan, sub)).collect();
        }
        node
    }

    /// The numbers of the buckets inside a parent's; a parent made to fill a gap has none.
    pub(crate) fn numbers(&self, parent: Option<u32>) -> &[u32] {
        parent.map_or(&[], |parent| self.by_parent.of_parent(parent))
    }
}

pub(crate) fn results_of(
    nodes: &[Node<'_>],
    parent: Option<u32>,
    budget: &mut Budget,
) -> Result<Vec<NamedResult>, AggError> {
    nodes
        .iter()
        .map(|node| {
            budget.charge(size_of::<NamedResult>() + node.plan.name.len())?;
            Ok(NamedResult {
                name: node.plan.name.clone(),
                result: result_of(node, parent, budget)?,
            })
        })
        .collect()
}

fn result_of(
    node: &Node<'_>,
    parent: Option<u32>,
    budget: &mut Budget,
) -> Result<AggResult, AggError> {
    match node.partial {
        Partial::Buckets(buckets) => stepped_result(node, buckets, parent, budget),
        Partial::TopHits(lists) => Ok(top_hits_result(node.plan, lists, parent, budget)),
        partial => {
            if let Op::Quantiles(quantiles) = &node.plan.op {
                budget.charge(quantiles.points() * size_of::<(f64, Option<f64>)>())?;
            }
            Ok(metric_result(node.plan, partial, parent))
        }
    }
}

/// Terms and histograms, whose buckets the values make.
fn stepped_result(
    node: &Node<'_>,
    buckets: &Buckets,
    parent: Option<u32>,
    budget: &mut Budget,
) -> Result<AggResult, AggError> {
    let format = &node.plan.values.format;
    match &node.plan.op {
        Op::Terms(terms) => {
            let result = terms_result(node, terms, buckets, parent, budget)?;
            if !matches!(terms.shape, TermsShape::Significant(_)) {
                return Ok(AggResult::Terms(result));
            }
            let sizes = &buckets.background.sizes;
            Ok(AggResult::Significant {
                terms: result,
                doc_count: parent
                    .and_then(|parent| sizes.get(parent as usize))
                    .copied()
                    .unwrap_or(0),
                background: buckets.background.all,
            })
        }
        Op::DateHistogram(dates) => {
            let rows = rows_of(node.numbers(parent), buckets, whole_key);
            let rows = fill::dates(dates, rows, budget)?;
            let buckets = histogram_buckets(node, &dates.order, rows, Key::Date, budget)?;
            Ok(AggResult::DateHistogram(HistogramResult {
                buckets,
                keyed: dates.keyed,
                format: format.clone(),
            }))
        }
        Op::Histogram(numbers) => {
            let rows = rows_of(node.numbers(parent), buckets, whole_key);
            let rows = fill::numbers(numbers, rows, budget)?;
            let start = |step| {
                Key::F64(super::collect::start_of_step(
                    step,
                    numbers.interval,
                    numbers.offset,
                ))
            };
            let buckets = histogram_buckets(node, &numbers.order, rows, start, budget)?;
            Ok(AggResult::Histogram(HistogramResult {
                buckets,
                keyed: numbers.keyed,
                format: format.clone(),
            }))
        }
        _ => given_result(node, buckets, parent, budget),
    }
}

pub(crate) fn whole_key(key: &Key) -> i64 {
    match key {
        Key::I64(value) | Key::Date(value) => *value,
        _ => 0,
    }
}

pub(crate) fn rows_of(numbers: &[u32], buckets: &Buckets, key: impl Fn(&Key) -> i64) -> Vec<Row> {
    let mut rows: Vec<Row> = numbers
        .iter()
        .map(|number| Row {
            key: key(&buckets.table.keys()[*number as usize]),
            count: buckets.counts[*number as usize],
            number: Some(*number),
        })
        .collect();
    rows.sort_unstable_by_key(|row| row.key);
    rows
}

pub(crate) fn terms_result(
    node: &Node<'_>,
    terms: &TermsPlan,
    buckets: &Buckets,
    parent: Option<u32>,
    budget: &mut Budget,
) -> Result<TermsResult, AggError> {
    let kind = node.plan.values.kind;
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
        format: node.plan.values.format.clone(),
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

/// A combination, each part as its own source shows it.
pub(crate) fn shown_tuple(key: &Key, links: &[Link]) -> Key {
    match key {
        Key::Tuple(keys) => {
            let shown = keys.iter().zip(links);
            Key::Tuple(
                shown
                    .map(|(key, link)| shown_key(key, link.values.kind))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

fn shown_key(key: &Key, kind: ValueKind) -> Key {
    match (kind, key) {
        (ValueKind::Boolean, Key::I64(value)) => Key::Bool(*value != 0),
        (ValueKind::Date | ValueKind::DateNanos, Key::I64(value)) => Key::Date(*value),
        _ => key.clone(),
    }
}

fn histogram_buckets(
    node: &Node<'_>,
    order: &[PlannedOrder],
    mut rows: Vec<Row>,
    key: impl Fn(i64) -> Key,
    budget: &mut Budget,
) -> Result<Vec<Bucket>, AggError> {
    match order {
        [] => {}
        [only] if only.by == By::Key => {
            if only.direction == Direction::Descending {
                rows.reverse();
            }
        }
        _ => {
            if let Some(comparison) = &node.comparison {
                rows.sort_unstable_by(|a, b| comparison.of_rows(a, b));
            }
        }
    }
    rows.into_iter()
        .map(|row| {
            Ok(Bucket {
                key: key(row.key),
                doc_count: row.count,
                doc_count_error: None,
                extra: BucketExtra::None,
                subs: results_of(&node.subs, row.number, budget)?,
            })
        })
        .collect()
}
