//! Applies pipelines to results: inside buckets first, so that outer ones can use what inner ones
//! found.

#![warn(clippy::wildcard_enum_match_arm)]

use clew_platform::Pace;
use clew_query::aggregation::{Direction, GapPolicy, PipelineKind, Sequence};
use clew_query::{AggError, go_on_reducing};

use crate::pipeline::path::{bucket_number, key_number, sibling, steps};
use crate::pipeline::sequence::{Place, sequence};
use crate::pipeline::summary::summarise;
use crate::pipeline::{Piped, PipelinePlan};
use crate::result::access::BucketView;
use crate::result::{AggResult, Metric, NamedResult};

/// Computes the pipelines of one level and of all below it.
///
/// # Errors
/// [`AggError`] when a path does not lead to numbers.
pub(crate) fn apply(
    plans: &[impl Piped],
    pipelines: &[PipelinePlan],
    results: &mut Vec<NamedResult>,
) -> Result<(), AggError> {
    for (plan, result) in plans.iter().zip(results.iter_mut()) {
        if !needs_work(plan) {
            continue;
        }
        for subs in result.result.subs_mut() {
            apply(plan.subs(), plan.pipelines(), subs)?;
        }
        for pipeline in plan.pipelines().iter().filter(|one| !one.is_summary()) {
            over_buckets(pipeline, &mut result.result)?;
        }
    }
    for pipeline in pipelines.iter().filter(|one| one.is_summary()) {
        let PipelineKind::Summary(summary) = &pipeline.spec.kind else {
            continue;
        };
        let path = pipeline.spec.paths.first().map_or("", |(_, path)| path);
        let path = steps(path, results);
        let (buckets, rest) = sibling(results, &path)?;
        let mut numbers = Vec::new();
        let mut pace = Pace::default();
        for bucket in buckets.buckets().unwrap_or_default() {
            go_on_reducing(&mut pace)?;
            if let Some(number) = bucket_number(&bucket, rest, pipeline.spec.gaps)? {
                numbers.push((number, bucket.key.clone()));
            }
        }
        let text = |key: &_| buckets.key_text(key);
        let result = summarise(summary, &numbers, &pipeline.format, text);
        results.push(pipeline.named(result));
    }
    Ok(())
}

fn needs_work(plan: &impl Piped) -> bool {
    !plan.pipelines().is_empty() || plan.subs().iter().any(needs_work)
}

impl PipelinePlan {
    fn named(&self, result: AggResult) -> NamedResult {
        NamedResult {
            name: self.name.clone(),
            result,
        }
    }

    fn simple(&self, value: f64) -> NamedResult {
        self.named(AggResult::SimpleValue(Metric {
            value: value.is_finite().then_some(value),
            format: self.format.clone(),
        }))
    }
}

fn over_buckets(pipeline: &PipelinePlan, result: &mut AggResult) -> Result<(), AggError> {
    match &pipeline.spec.kind {
        PipelineKind::Summary(_) => Ok(()),
        PipelineKind::Script(expression) => {
            let numbers = inputs(pipeline, result)?;
            let names: Vec<&str> = names(pipeline);
            let mut pace = Pace::default();
            for (numbers, subs) in numbers.into_iter().zip(result.subs_mut()) {
                go_on_reducing(&mut pace)?;
                if let Some(numbers) = numbers {
                    let value = expression.value(&names, &numbers)?;
                    subs.push(pipeline.simple(value));
                }
            }
            Ok(())
        }
        PipelineKind::Selector(expression) => {
            let numbers = inputs(pipeline, result)?;
            let names: Vec<&str> = names(pipeline);
            let mut kept = Vec::new();
            let mut pace = Pace::default();
            for (at, numbers) in numbers.into_iter().enumerate() {
                go_on_reducing(&mut pace)?;
                // Numbers that are not there make every comparison false.
                let numbers = numbers.unwrap_or_else(|| vec![f64::NAN; names.len()]);
                if expression.value(&names, &numbers)? == 1.0 {
                    kept.push(at);
                }
            }
            result.keep(&kept);
            Ok(())
        }
        PipelineKind::Sort { by, from, size } => {
            let order = sorted(result, by, pipeline.spec.gaps)?;
            let size = size.unwrap_or(usize::MAX);
            let order: Vec<usize> = order.into_iter().skip(*from).take(size).collect();
            result.keep(&order);
            Ok(())
        }
        PipelineKind::Sequence(sequence) => in_sequence(pipeline, sequence, result),
    }
}

/// Adds to each bucket what its place among the others makes of it.
fn in_sequence(
    pipeline: &PipelinePlan,
    kind: &Sequence,
    result: &mut AggResult,
) -> Result<(), AggError> {
    let path = pipeline.spec.paths.first().map_or("", |(_, path)| path);
    let mut places = Vec::new();
    let mut pace = Pace::default();
    for bucket in result.buckets().unwrap_or_default() {
        go_on_reducing(&mut pace)?;
        let path = steps(path, bucket.subs);
        places.push(Place {
            number: bucket_number(&bucket, &path, pipeline.spec.gaps)?,
            key: key_number(bucket.key).unwrap_or(f64::NAN),
        });
    }
    let made = sequence(kind, &places)?;
    for (made, subs) in made.into_iter().zip(result.subs_mut()) {
        go_on_reducing(&mut pace)?;
        let Some(made) = made else {
            continue;
        };
        let finite = |value: f64| Metric {
            value: value.is_finite().then_some(value),
            format: pipeline.format.clone(),
        };
        let is_derivative = matches!(kind, Sequence::Derivative { .. });
        subs.push(if is_derivative {
            pipeline.named(AggResult::Derivative {
                metric: finite(made.value),
                normalized: made.normalized.map(finite),
            })
        } else {
            pipeline.simple(made.value)
        });
    }
    Ok(())
}

fn names(pipeline: &PipelinePlan) -> Vec<&str> {
    let names = pipeline.spec.paths.iter().map(|(name, _)| name.as_str());
    names.collect()
}

/// The numbers of an expression per bucket; `None` where one is missing and gaps are passed over.
fn inputs(pipeline: &PipelinePlan, result: &AggResult) -> Result<Vec<Option<Vec<f64>>>, AggError> {
    let buckets = result.buckets().unwrap_or_default();
    let mut pace = Pace::default();
    let of_bucket = |bucket: &BucketView<'_>| {
        go_on_reducing(&mut pace)?;
        let mut numbers = Vec::with_capacity(pipeline.spec.paths.len());
        for (_, path) in &pipeline.spec.paths {
            let path = steps(path, bucket.subs);
            match bucket_number(bucket, &path, pipeline.spec.gaps)? {
                Some(number) => numbers.push(number),
                None => return Ok(None),
            }
        }
        Ok(Some(numbers))
    };
    buckets.iter().map(of_bucket).collect()
}

/// The places of buckets in their new order; what has none of the numbers is passed over.
fn sorted(
    result: &AggResult,
    by: &[(String, Direction)],
    gaps: GapPolicy,
) -> Result<Vec<usize>, AggError> {
    let buckets = result.buckets().unwrap_or_default();
    let mut rows: Vec<(usize, Vec<Option<f64>>)> = Vec::with_capacity(buckets.len());
    let mut pace = Pace::default();
    for (at, bucket) in buckets.iter().enumerate() {
        go_on_reducing(&mut pace)?;
        let mut numbers = Vec::with_capacity(by.len());
        for (path, _) in by {
            numbers.push(if path == "_key" {
                // Keys without a number are compared as they are, below.
                Some(key_number(bucket.key).unwrap_or(0.0))
            } else {
                bucket_number(bucket, &steps(path, bucket.subs), gaps)?
            });
        }
        if by.is_empty() || numbers.iter().any(Option::is_some) {
            rows.push((at, numbers));
        }
    }
    rows.sort_by(|(a, a_numbers), (b, b_numbers)| {
        let mut pairs = by.iter().zip(a_numbers.iter().zip(b_numbers));
        pairs
            .find_map(|((path, direction), numbers)| {
                let ordering = match numbers {
                    _ if path == "_key" => buckets[*a].key.cmp(buckets[*b].key),
                    (Some(a), Some(b)) => a.total_cmp(b),
                    // What is missing comes last in either direction.
                    (a, b) => return Some(b.is_some().cmp(&a.is_some())).filter(|o| o.is_ne()),
                };
                let ordering = match direction {
                    Direction::Ascending => ordering,
                    Direction::Descending => ordering.reverse(),
                };
                Some(ordering).filter(|ordering| ordering.is_ne())
            })
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    Ok(rows.into_iter().map(|(at, _)| at).collect())
}
