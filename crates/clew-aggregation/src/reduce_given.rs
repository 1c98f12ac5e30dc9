//! Results whose buckets the request names or all values together make: ranges, filters,
//! combinations, and intervals that the data chose.

use clew_query::AggError;

use super::key::Key;
use super::partial::Buckets;
use super::plan::Op;
use super::plan_chain::CompositePlan;
use super::plan_filters::FiltersPlan;
use super::plan_join::Way;
use super::plan_range::RangePlan;
use super::reduce::{Budget, Node, results_of, rows_of, shown_tuple, terms_result, whole_key};
use super::result::{
    AggResult, Bucket, BucketExtra, CompositeResult, HistogramResult, RangeBucket, SingleKind,
};
use clew_query::aggregation::{FilterShape, Generation};

/// The others, whose buckets the request or the segments' data as a whole make.
#[allow(
    clippy::too_many_lines,
    reason = "one arm for each kind of aggregation"
)]
pub(crate) fn given_result(
    node: &Node<'_>,
    buckets: &Buckets,
    parent: Option<u32>,
    budget: &mut Budget,
) -> Result<AggResult, AggError> {
    match &node.plan.op {
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
                kind: match node.plan.op {
                    Op::Global => SingleKind::Global,
                    _ => SingleKind::Sample,
                },
                doc_count: number.map_or(0, |number| buckets.counts[number as usize]),
                subs: results_of(&node.subs, number, budget)?,
            })
        }
        Op::Composite(composite) => composite_result(node, composite, buckets, parent, budget),
        Op::MultiTerms { links, terms } => {
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
        Op::Grid { grid, terms, .. } => {
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
        Op::Clusters { .. } => clusters_result(node, buckets, parent, budget),
        Op::Terms(_)
        | Op::DateHistogram(_)
        | Op::Histogram(_)
        | Op::Moments(_)
        | Op::Extended { .. }
        | Op::ValueCount
        | Op::TopHits(_)
        | Op::Cardinality { .. }
        | Op::Quantiles(_)
        | Op::WeightedAvg { .. }
        | Op::Matrix { .. }
        | Op::GeoBounds { .. }
        | Op::GeoCentroid => unreachable!("metrics have no buckets"),
    }
}

fn range_result(
    node: &Node<'_>,
    range: &RangePlan,
    buckets: &Buckets,
    parent: Option<u32>,
    budget: &mut Budget,
) -> Result<AggResult, AggError> {
    let rows = rows_of(node.numbers(parent), buckets, whole_key);
    let format = &node.plan.values.format;
    let mut made = Vec::with_capacity(range.ranges.len());
    for (place, one) in (0_i64..).zip(&range.ranges) {
        budget.take()?;
        let row = rows.iter().find(|row| row.key == place);
        let (from, to) = one.shown(format);
        made.push(RangeBucket {
            name: Key::Str(one.name(from.as_ref(), to.as_ref()).into()),
            from,
            to,
            doc_count: row.map_or(0, |row| row.count),
            subs: results_of(&node.subs, row.and_then(|row| row.number), budget)?,
        });
    }
    Ok(AggResult::Range {
        buckets: made,
        keyed: range.keyed,
        kind: range.kind,
    })
}

fn filters_result(
    node: &Node<'_>,
    filters: &FiltersPlan,
    buckets: &Buckets,
    parent: Option<u32>,
    budget: &mut Budget,
) -> Result<AggResult, AggError> {
    let rows = rows_of(node.numbers(parent), buckets, whole_key);
    let mut bucket = |place: i64, name: String| -> Result<Bucket, AggError> {
        budget.take()?;
        let row = rows.iter().find(|row| row.key == place);
        Ok(Bucket {
            key: Key::Str(name.into()),
            doc_count: row.map_or(0, |row| row.count),
            doc_count_error: None,
            extra: BucketExtra::None,
            subs: results_of(&node.subs, row.and_then(|row| row.number), budget)?,
        })
    };
    let count = i64::try_from(filters.names.len()).unwrap_or(i64::MAX);
    match &filters.shape {
        FilterShape::Single => {
            let only = bucket(0, String::new())?;
            Ok(AggResult::Single {
                kind: SingleKind::Filter,
                doc_count: only.doc_count,
                subs: only.subs,
            })
        }
        FilterShape::Named { keyed, other } => {
            let mut made = Vec::with_capacity(filters.names.len() + 1);
            for (place, name) in (0..).zip(&filters.names) {
                made.push(bucket(place, name.clone())?);
            }
            if let Some(other) = other {
                made.push(bucket(count, other.clone())?);
            }
            Ok(AggResult::Filters {
                buckets: made,
                keyed: *keyed,
            })
        }
        FilterShape::Adjacency { separator } => {
            let name = |place: i64| {
                let at = usize::try_from(place).ok();
                at.and_then(|at| filters.names.get(at))
                    .cloned()
                    .unwrap_or_default()
            };
            let mut made = Vec::with_capacity(rows.len());
            for row in &rows {
                let text = if row.key < count {
                    name(row.key)
                } else {
                    let (one, other) = (row.key / count - 1, row.key % count);
                    format!("{}{separator}{}", name(one), name(other))
                };
                made.push(bucket(row.key, text)?);
            }
            made.sort_by(|a, b| a.key.cmp(&b.key));
            Ok(AggResult::Adjacency(made))
        }
    }
}

fn composite_result(
    node: &Node<'_>,
    composite: &CompositePlan,
    buckets: &Buckets,
    parent: Option<u32>,
    budget: &mut Budget,
) -> Result<AggResult, AggError> {
    let mut made = Vec::new();
    for number in composite.page(buckets, node.numbers(parent)) {
        budget.take()?;
        let at = number as usize;
        made.push(Bucket {
            key: shown_tuple(&buckets.table.keys()[at], &composite.links),
            doc_count: buckets.counts[at],
            doc_count_error: None,
            extra: BucketExtra::None,
            subs: results_of(&node.subs, Some(number), budget)?,
        });
    }
    let links = &composite.links;
    Ok(AggResult::Composite(CompositeResult {
        names: links.iter().map(|link| link.name.clone()).collect(),
        formats: links
            .iter()
            .map(|link| link.values.format.clone())
            .collect(),
        buckets: made,
    }))
}

fn auto_date_result(
    node: &Node<'_>,
    buckets: &Buckets,
    parent: Option<u32>,
    budget: &mut Budget,
) -> Result<AggResult, AggError> {
    let axis = parent.and_then(|parent| buckets.axes.get(parent as usize));
    let rows = rows_of(node.numbers(parent), buckets, whole_key);
    let mut rows = rows.into_iter().peekable();
    let mut made = Vec::new();
    for start in axis.map_or(&[][..], |axis| &axis.starts) {
        budget.take()?;
        let row = rows.next_if(|row| row.key == *start);
        made.push(Bucket {
            key: Key::Date(*start),
            doc_count: row.map_or(0, |row| row.count),
            doc_count_error: None,
            extra: BucketExtra::None,
            subs: results_of(&node.subs, row.and_then(|row| row.number), budget)?,
        });
    }
    Ok(AggResult::AutoDateHistogram {
        histogram: HistogramResult {
            buckets: made,
            keyed: false,
            format: node.plan.values.format.clone(),
        },
        interval: axis.map_or_else(|| "1s".to_string(), |axis| axis.interval.clone()),
    })
}

fn clusters_result(
    node: &Node<'_>,
    buckets: &Buckets,
    parent: Option<u32>,
    budget: &mut Budget,
) -> Result<AggResult, AggError> {
    let mut numbers = node.numbers(parent).to_vec();
    let key = |number: &u32| &buckets.table.keys()[*number as usize];
    numbers.sort_unstable_by(|a, b| key(a).cmp(key(b)));
    let mut made = Vec::with_capacity(numbers.len());
    for number in numbers {
        budget.take()?;
        let at = number as usize;
        let (min, max) = buckets.extents.get(at).copied().unwrap_or_default();
        made.push(Bucket {
            key: key(&number).clone(),
            doc_count: buckets.counts[at],
            doc_count_error: None,
            extra: BucketExtra::Extent { min, max },
            subs: results_of(&node.subs, Some(number), budget)?,
        });
    }
    Ok(AggResult::VariableWidth(HistogramResult {
        buckets: made,
        keyed: false,
        format: node.plan.values.format.clone(),
    }))
}
