//! Turns merged counts into results: best terms first, gaps filled, every bucket counted against
//! the request's limit as it is made.

use super::error::AggError;
use super::fill::{self, Row};
use super::format::ValueFormat;
use super::key::Key;
use super::limits::AggLimits;
use super::moments::{ExtendedMoments, Moments};
use super::order::Comparison;
use super::partial::{Buckets, ByParent, LeftOut, Partial, TopList};
use super::plan::{By, MomentKind, Op, Plan, PlannedOrder, TermsPlan, TermsShape, ValueKind};
use super::plan_chain::{CompositePlan, Link};
use super::plan_filters::FiltersPlan;
use super::plan_join::{TopHitsPlan, Way};
use super::plan_metrics::{QuantilePlan, Wanted};
use super::plan_range::RangePlan;
use super::quantile::{Method, QuantileState};
use super::result::{
    AggResult, Bucket, BucketExtra, CompositeResult, ExtendedStats, HistogramResult, Metric,
    NamedResult, PercentilesKind, PercentilesResult, RangeBucket, SingleKind, Stats, TermsKind,
    TermsResult, TopHit, TopHitsResult,
};
use super::spec::{Attached, Direction, FilterShape};
use crate::search::MergedHit;

/// All results of a request.
///
/// # Errors
/// [`AggError::TooManyBuckets`].
pub(crate) fn reduce(
    plans: &[Plan],
    partials: &[Partial],
    limits: AggLimits,
    attach: &dyn Fn(&MergedHit) -> Option<Attached>,
) -> Result<Vec<NamedResult>, AggError> {
    let nodes: Vec<Node<'_>> = plans
        .iter()
        .zip(partials)
        .map(|(plan, partial)| Node::of(plan, partial))
        .collect();
    let mut budget = Budget {
        count: 0,
        max: limits.buckets_max,
        attach,
    };
    results_of(&nodes, Some(0), &mut budget)
}

/// Buckets made so far, of all aggregations together.
pub(crate) struct Budget<'a> {
    count: usize,
    max: usize,
    /// Gives what goes with a document.
    attach: &'a dyn Fn(&MergedHit) -> Option<Attached>,
}

impl Budget<'_> {
    pub(crate) fn take(&mut self) -> Result<(), AggError> {
        self.count += 1;
        if self.count > self.max {
            return Err(AggError::TooManyBuckets {
                max: self.max,
                count: self.count,
            });
        }
        Ok(())
    }
}

/// An aggregation's counts with its buckets sorted by parent.
struct Node<'a> {
    plan: &'a Plan,
    partial: &'a Partial,
    by_parent: ByParent,
    comparison: Option<Comparison<'a>>,
    subs: Vec<Node<'a>>,
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
    fn numbers(&self, parent: Option<u32>) -> &[u32] {
        parent.map_or(&[], |parent| self.by_parent.of_parent(parent))
    }
}

fn results_of(
    nodes: &[Node<'_>],
    parent: Option<u32>,
    budget: &mut Budget,
) -> Result<Vec<NamedResult>, AggError> {
    nodes
        .iter()
        .map(|node| {
            Ok(NamedResult {
                name: node.plan.name.clone(),
                meta: node.plan.meta.clone(),
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
    let format = &node.plan.values.format;
    let at = parent.map(|parent| parent as usize);
    match (&node.plan.op, node.partial) {
        (Op::Terms(terms), Partial::Buckets(buckets)) => {
            let result = terms_result(node, terms, buckets, parent, budget)?;
            if !matches!(terms.shape, TermsShape::Significant(_)) {
                return Ok(AggResult::Terms(result));
            }
            let sizes = &buckets.background.sizes;
            Ok(AggResult::Significant {
                terms: result,
                doc_count: at.and_then(|at| sizes.get(at)).copied().unwrap_or(0),
                background: buckets.background.all,
            })
        }
        (Op::DateHistogram(dates), Partial::Buckets(buckets)) => {
            let rows = rows_of(node.numbers(parent), buckets, whole_key);
            let rows = fill::dates(dates, rows, budget)?;
            let buckets = histogram_buckets(node, &dates.order, rows, Key::Date, budget)?;
            Ok(AggResult::DateHistogram(HistogramResult {
                buckets,
                keyed: dates.keyed,
                format: format.clone(),
            }))
        }
        (Op::Histogram(numbers), Partial::Buckets(buckets)) => {
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
        (Op::Range(range), Partial::Buckets(buckets)) => {
            range_result(node, range, buckets, parent, budget)
        }
        (Op::Missing, Partial::Buckets(buckets)) => {
            let number = node.numbers(parent).first().copied();
            Ok(AggResult::Missing {
                doc_count: number.map_or(0, |number| buckets.counts[number as usize]),
                subs: results_of(&node.subs, number, budget)?,
            })
        }
        (Op::Join(join), Partial::Buckets(buckets)) => {
            let number = node.numbers(parent).first().copied();
            Ok(AggResult::Joined {
                is_nested: join.way == Way::Inwards,
                doc_count: number.map_or(0, |number| buckets.counts[number as usize]),
                subs: results_of(&node.subs, number, budget)?,
            })
        }
        (Op::Filters(filters), Partial::Buckets(buckets)) => {
            filters_result(node, filters, buckets, parent, budget)
        }
        (Op::Global, Partial::Buckets(buckets)) => {
            let number = node.numbers(parent).first().copied();
            Ok(AggResult::Single {
                kind: SingleKind::Global,
                doc_count: number.map_or(0, |number| buckets.counts[number as usize]),
                subs: results_of(&node.subs, number, budget)?,
            })
        }
        (Op::TopHits(top), Partial::TopHits(lists)) => {
            let list = at.and_then(|at| lists.lists.get(at));
            Ok(AggResult::TopHits(top_hits_result(top, list, budget)))
        }
        (Op::Composite(composite), Partial::Buckets(buckets)) => {
            composite_result(node, composite, buckets, parent, budget)
        }
        (Op::MultiTerms { links, terms }, Partial::Buckets(buckets)) => {
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
        (Op::AutoDate(_), Partial::Buckets(buckets)) => {
            auto_date_result(node, buckets, parent, budget)
        }
        (Op::Clusters { .. }, Partial::Buckets(buckets)) => {
            clusters_result(node, buckets, parent, budget)
        }
        (Op::Quantiles(plan), Partial::Quantiles(states)) => {
            let empty = QuantileState::default();
            let state = at.and_then(|at| states.states.get(at)).unwrap_or(&empty);
            Ok(quantiles_result(plan, state, format))
        }
        (Op::WeightedAvg { .. }, Partial::Weighted(sums)) => {
            let sums = at.and_then(|at| sums.get(at)).copied();
            let mean = sums.unwrap_or_default().mean();
            Ok(AggResult::WeightedAvg(Metric {
                value: mean.is_finite().then_some(mean),
                format: format.clone(),
            }))
        }
        (Op::Moments(kind), Partial::Moments(moments)) => {
            let moments = at.and_then(|at| moments.get(at)).copied();
            Ok(moments_result(*kind, &moments.unwrap_or_default(), format))
        }
        (Op::Extended { sigma }, Partial::Extended(moments)) => {
            let moments = at.and_then(|at| moments.get(at)).copied();
            let stats = extended_result(&moments.unwrap_or_default(), *sigma, format);
            Ok(AggResult::ExtendedStats(stats))
        }
        (Op::ValueCount, Partial::Counts(counts)) => {
            let count = at.and_then(|at| counts.get(at)).copied();
            Ok(AggResult::ValueCount(count.unwrap_or(0)))
        }
        (Op::Cardinality { .. }, Partial::Distinct(sketches)) => {
            let sketch = at.and_then(|at| sketches.sketches.get(at));
            Ok(AggResult::Cardinality(sketch.map_or(0, |s| s.count())))
        }
        _ => unreachable!("a partial result has the shape of its plan"),
    }
}

fn top_hits_result(
    plan: &TopHitsPlan,
    list: Option<&TopList>,
    budget: &Budget<'_>,
) -> TopHitsResult {
    let found = list.map_or(&[][..], |list| &list.hits);
    let shown = found.get(plan.from..).unwrap_or_default();
    let hits = shown.iter().map(|hit| {
        let mut hit = hit.clone();
        if !plan.is_sorted {
            hit.hit.sort.clear();
        }
        TopHit {
            document: (budget.attach)(&hit),
            hit,
        }
    });
    TopHitsResult {
        total: list.map_or(0, |list| list.total),
        max_score: list
            .and_then(|list| list.max_score)
            .filter(|_| !plan.is_sorted),
        hits: hits.collect(),
        is_sorted: plan.is_sorted,
        attached: plan.attached.clone(),
    }
}

fn whole_key(key: &Key) -> i64 {
    match key {
        Key::I64(value) | Key::Date(value) => *value,
        _ => 0,
    }
}

fn rows_of(numbers: &[u32], buckets: &Buckets, key: impl Fn(&Key) -> i64) -> Vec<Row> {
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

fn terms_result(
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
            ValueKind::Unsigned => TermsKind::Unsigned,
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
fn shown_tuple(key: &Key, links: &[Link]) -> Key {
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

fn quantiles_result(plan: &QuantilePlan, state: &QuantileState, format: &ValueFormat) -> AggResult {
    let is_hdr = matches!(plan.method, Method::Hdr { .. });
    let (kind, asked, found, keyed) = match &plan.wanted {
        Wanted::MedianDeviation => {
            return AggResult::MedianDeviation(Metric {
                value: state.median_deviation(plan.method),
                format: format.clone(),
            });
        }
        Wanted::Percentiles { percents, keyed } => {
            let kind = if is_hdr {
                PercentilesKind::Hdr
            } else {
                PercentilesKind::TDigest
            };
            (
                kind,
                percents,
                state.percentiles(percents, plan.method),
                *keyed,
            )
        }
        Wanted::Ranks { values, keyed } => {
            let kind = if is_hdr {
                PercentilesKind::HdrRanks
            } else {
                PercentilesKind::TDigestRanks
            };
            (kind, values, state.ranks(values, plan.method), *keyed)
        }
    };
    AggResult::Percentiles(PercentilesResult {
        kind,
        points: asked.iter().copied().zip(found).collect(),
        keyed,
        format: format.clone(),
    })
}

pub(crate) fn stats_of(moments: &Moments, format: &ValueFormat) -> Stats {
    let any = moments.count > 0;
    Stats {
        count: moments.count,
        min: any.then_some(moments.min),
        max: any.then_some(moments.max),
        avg: any.then(|| moments.mean()),
        sum: moments.sum.value(),
        format: format.clone(),
    }
}

fn moments_result(kind: MomentKind, moments: &Moments, format: &ValueFormat) -> AggResult {
    let stats = stats_of(moments, format);
    let metric = |value| Metric {
        value,
        format: format.clone(),
    };
    match kind {
        MomentKind::Min => AggResult::Min(metric(stats.min)),
        MomentKind::Max => AggResult::Max(metric(stats.max)),
        MomentKind::Avg => AggResult::Avg(metric(stats.avg)),
        MomentKind::Sum => AggResult::Sum(metric(Some(stats.sum))),
        MomentKind::Stats => AggResult::Stats(stats),
    }
}

pub(crate) fn extended_result(
    moments: &ExtendedMoments,
    sigma: f64,
    format: &ValueFormat,
) -> ExtendedStats {
    let any = moments.basic.count > 0;
    ExtendedStats {
        stats: stats_of(&moments.basic, format),
        sum_of_squares: any.then(|| moments.squares.value()),
        variance: any.then(|| moments.variance()),
        variance_sampling: any.then(|| moments.variance_sampling()),
        sigma,
    }
}
