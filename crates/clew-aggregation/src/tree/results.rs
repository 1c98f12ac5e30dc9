//! Turns merged counts into results: best terms first, gaps filled, every bucket counted against
//! the request's limit as it is made.

use clew_platform::{MemoryExceeded, Pace};
use clew_query::AggError;
use clew_query::aggregation::Generation;

use crate::bucket::auto_date::auto_date_result;
use crate::bucket::chain::shown_tuple;
use crate::bucket::composite::composite_result;
use crate::bucket::date_histogram::filled_dates;
use crate::bucket::filters::filters_result;
use crate::bucket::grid::GridPlan;
use crate::bucket::histogram::filled_numbers;
use crate::bucket::multi_terms::MultiTermsPlan;
use crate::bucket::nested::Way;
use crate::bucket::range::range_result;
use crate::bucket::steps::{histogram_buckets, start_of_step};
use crate::bucket::terms::{TermsShape, terms_result};
use crate::bucket::variable_width::clusters_result;
use crate::counted::Partial;
use crate::counted::buckets::{Buckets, ByParent};
use crate::limits::AggLimits;
use crate::metric::top_hits::top_hits_result;
use crate::order::Comparison;
use crate::reduce::{Budget, Node, results_of, rows_of, whole_key};
use crate::result::{AggResult, AggResults, HistogramResult, SingleKind};
use crate::tree::{Op, Plan};
use crate::value::key::Key;

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
        .map(|(plan, partial)| node_of(plan, partial))
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

pub(crate) fn result_of(
    plan: &Plan,
    node: &Node<'_>,
    parent: Option<u32>,
    budget: &mut Budget,
) -> Result<AggResult, AggError> {
    match (&plan.op, node.partial) {
        (_, Partial::Buckets(buckets)) => stepped_result((plan, node), buckets, parent, budget),
        (Op::TopHits(top), Partial::TopHits(lists)) => {
            Ok(top_hits_result(top, lists, parent, budget))
        }
        (Op::Metric(metric), partial) => {
            let metric = metric.as_metric();
            budget.charge(metric.result_bytes())?;
            Ok(metric.result(&plan.values, partial, parent))
        }
        _ => unreachable!("a partial result has the shape of its plan"),
    }
}

/// Terms and histograms, whose buckets the values make.
fn stepped_result(
    (plan, node): (&Plan, &Node<'_>),
    buckets: &Buckets,
    parent: Option<u32>,
    budget: &mut Budget,
) -> Result<AggResult, AggError> {
    let format = &plan.values.format;
    match &plan.op {
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
            let rows = filled_dates(dates, rows, budget)?;
            let buckets = histogram_buckets(node, &dates.order, rows, Key::Date, budget)?;
            Ok(AggResult::DateHistogram(HistogramResult {
                buckets,
                keyed: dates.keyed,
                format: format.clone(),
            }))
        }
        Op::Histogram(numbers) => {
            let rows = rows_of(node.numbers(parent), buckets, whole_key);
            let rows = filled_numbers(numbers, rows, budget)?;
            let start = |step| Key::F64(start_of_step(step, numbers.interval, numbers.offset));
            let buckets = histogram_buckets(node, &numbers.order, rows, start, budget)?;
            Ok(AggResult::Histogram(HistogramResult {
                buckets,
                keyed: numbers.keyed,
                format: format.clone(),
            }))
        }
        _ => given_result((plan, node), buckets, parent, budget),
    }
}

/// The others, whose buckets the request or the segments' data as a whole make.
#[allow(
    clippy::too_many_lines,
    reason = "one arm for each kind of aggregation"
)]
pub(crate) fn given_result(
    (plan, node): (&Plan, &Node<'_>),
    buckets: &Buckets,
    parent: Option<u32>,
    budget: &mut Budget,
) -> Result<AggResult, AggError> {
    match &plan.op {
        Op::Range(range) => range_result(node, range, buckets, parent, budget),
        Op::Missing => {
            let number = node.numbers(parent).first().copied();
            Ok(AggResult::Missing {
                doc_count: number.map_or(0, |number| buckets.counts[number as usize]),
                subs: results_of(&node.subs, number, budget)?,
            })
        }
        Op::Join(join) => {
            let number = node.numbers(parent).first().copied();
            Ok(AggResult::Joined {
                is_nested: join.way == Way::Inwards,
                doc_count: number.map_or(0, |number| buckets.counts[number as usize]),
                subs: results_of(&node.subs, number, budget)?,
            })
        }
        Op::Relatives(relatives) => {
            let number = node.numbers(parent).first().copied();
            Ok(AggResult::Single {
                kind: match relatives.way {
                    Generation::Children => SingleKind::Children,
                    Generation::Parents => SingleKind::Parents,
                },
                doc_count: number.map_or(0, |number| buckets.counts[number as usize]),
                subs: results_of(&node.subs, number, budget)?,
            })
        }
        Op::Filters(filters) => filters_result(node, filters, buckets, parent, budget),
        Op::Global | Op::Sample(_) => {
            let number = node.numbers(parent).first().copied();
            Ok(AggResult::Single {
                kind: match plan.op {
                    Op::Global => SingleKind::Global,
                    _ => SingleKind::Sample,
                },
                doc_count: number.map_or(0, |number| buckets.counts[number as usize]),
                subs: results_of(&node.subs, number, budget)?,
            })
        }
        Op::Composite(composite) => composite_result(node, composite, buckets, parent, budget),
        Op::MultiTerms(MultiTermsPlan { links, terms }) => {
            let mut terms = terms_result(node, terms, buckets, parent, budget)?;
            for bucket in &mut terms.buckets {
                bucket.key = shown_tuple(&bucket.key, links);
            }
            let formats = links.iter().map(|link| link.values.format.clone());
            Ok(AggResult::MultiTerms {
                terms,
                formats: formats.collect(),
            })
        }
        Op::AutoDate(_) => auto_date_result(node, buckets, parent, budget),
        Op::Grid(GridPlan { grid, terms, .. }) => {
            let terms = terms_result(node, terms, buckets, parent, budget)?;
            let mut made = terms.buckets;
            for bucket in &mut made {
                let only = match &bucket.key {
                    Key::Tuple(keys) => keys.first().cloned(),
                    _ => None,
                };
                bucket.key = only.unwrap_or(Key::Null);
            }
            Ok(AggResult::Cells {
                grid: *grid,
                buckets: made,
            })
        }
        Op::Clusters(_) => clusters_result(node, buckets, parent, budget),
        Op::Terms(_) | Op::DateHistogram(_) | Op::Histogram(_) | Op::Metric(_) | Op::TopHits(_) => {
            unreachable!("metrics have no buckets")
        }
    }
}

/// Counts with their buckets sorted by parent, and all that is inside.
fn node_of<'a>(plan: &'a Plan, partial: &'a Partial) -> Node<'a> {
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
        node.subs = subs.map(|(plan, sub)| node_of(plan, sub)).collect();
    }
    node
}
