//! Applies pipelines to results: inside buckets first, so that outer ones can use what inner ones
//! found.

#![warn(clippy::wildcard_enum_match_arm)]

use clew_platform::{Pace, book_for_a_while};
use clew_query::aggregation::{Direction, GapPolicy, PipelineKind, Sequence};
use clew_query::{
    AggError, Script, ScriptDocument, ScriptError, ScriptValue, go_on_reducing, sorted_in_time,
};

use crate::pipeline::path::{bucket_number, is_lacking, key_number, sibling, steps};
use crate::pipeline::sequence::{SequenceBucket, sequence};
use crate::pipeline::summary::summarise;
use crate::pipeline::{Piped, PipelinePlan};
use crate::reduce::Budget;
use crate::result::access::BucketView;
use crate::result::{AggResult, Metric, NamedResult};

/// Computes the pipelines of one level and of all below it.
///
/// # Errors
/// [`AggError`] when a path does not lead to numbers, or more buckets are predicted than the budget has.
pub(crate) fn apply(
    plans: &[impl Piped],
    pipelines: &[PipelinePlan],
    results: &mut Vec<NamedResult>,
    budget: &mut Budget<'_>,
) -> Result<(), AggError> {
    for (plan, result) in plans.iter().zip(results.iter_mut()) {
        if !needs_work(plan) {
            continue;
        }
        for subs in result.result.subs_mut() {
            apply(plan.subs(), plan.pipelines(), subs, budget)?;
        }
        for pipeline in plan.pipelines().iter().filter(|one| !one.is_summary()) {
            over_buckets(pipeline, &mut result.result, budget)?;
        }
    }
    for pipeline in pipelines.iter().filter(|one| one.is_summary()) {
        let PipelineKind::Summary(summary) = &pipeline.spec.kind else {
            continue;
        };
        let path = pipeline.spec.paths.first().map_or("", |(_, path)| path);
        let path = steps(path)?;
        let (of, rest) = sibling(results, &path)?;
        let buckets = &of.result;
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

/// What a pipeline has of each bucket while it goes through them: where it is, what is made of it, and itself in a new order.
const BESIDE_BYTES: usize = 256;
/// The same for each path to a number.
const PATH_BYTES: usize = 32;

fn over_buckets(
    pipeline: &PipelinePlan,
    result: &mut AggResult,
    budget: &mut Budget<'_>,
) -> Result<(), AggError> {
    let buckets = result.buckets().map_or(0, |buckets| buckets.len());
    let each = BESIDE_BYTES + pipeline.spec.paths.len() * PATH_BYTES;
    let _memory = book_for_a_while(buckets.saturating_mul(each))?;
    match &pipeline.spec.kind {
        PipelineKind::Summary(_) => Ok(()),
        PipelineKind::Script(script) => {
            let numbers = inputs(pipeline, result)?;
            let mut bucket = BucketNumbers::new(pipeline, script);
            let mut pace = Pace::default();
            for (numbers, subs) in numbers.into_iter().zip(result.subs_mut()) {
                go_on_reducing(&mut pace)?;
                bucket.numbers = numbers;
                if pipeline.spec.gaps == GapPolicy::Skip && !bucket.is_complete() {
                    continue;
                }
                if let Some(value) = script.number_if_any(&mut bucket)? {
                    add(subs, pipeline.simple(value), budget)?;
                }
            }
            Ok(())
        }
        PipelineKind::Selector(script) => {
            let numbers = inputs(pipeline, result)?;
            let mut bucket = BucketNumbers::new(pipeline, script);
            let mut kept = Vec::new();
            let mut pace = Pace::default();
            for (at, numbers) in numbers.into_iter().enumerate() {
                go_on_reducing(&mut pace)?;
                bucket.numbers = numbers;
                if script.holds(&mut bucket)? {
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
        PipelineKind::Sequence(sequence) => {
            if let Sequence::MovingAvg(average) = sequence {
                // Each may be a bucket more.
                (0..average.predicted).try_for_each(|_| budget.take())?;
            }
            in_sequence(pipeline, sequence, (result, budget))
        }
    }
}

/// Adds to each bucket what its place among the others makes of it, and buckets for what is said beyond them.
fn in_sequence(
    pipeline: &PipelinePlan,
    kind: &Sequence,
    (result, budget): (&mut AggResult, &mut Budget<'_>),
) -> Result<(), AggError> {
    let path = pipeline.spec.paths.first().map_or("", |(_, path)| path);
    let path = steps(path)?;
    let mut places = Vec::new();
    let mut pace = Pace::default();
    for bucket in result.buckets().unwrap_or_default() {
        go_on_reducing(&mut pace)?;
        places.push(SequenceBucket {
            number: bucket_number(&bucket, &path, pipeline.spec.gaps)?,
            is_lacking: is_lacking(&bucket, &path),
            key: key_number(bucket.key).unwrap_or(f64::NAN),
        });
    }
    let made = sequence(kind, &places)?;
    let more = made.len().saturating_sub(places.len());
    if let Some(axis) = pipeline.axis.as_ref().filter(|_| more > 0) {
        let keys = axis.keys_behind(result, more);
        result.add_empty(keys);
    }
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
        let made = if is_derivative {
            pipeline.named(AggResult::Derivative {
                metric: finite(made.value),
                normalized: made.normalized.map(finite),
            })
        } else {
            pipeline.simple(made.value)
        };
        add(subs, made, budget)?;
    }
    Ok(())
}

/// Adds a result to those of a bucket, which are booked with the room that they have.
fn add(
    subs: &mut Vec<NamedResult>,
    made: NamedResult,
    budget: &mut Budget<'_>,
) -> Result<(), AggError> {
    let (before, name) = (subs.capacity(), made.name.len());
    subs.push(made);
    budget.charge((subs.capacity() - before) * size_of::<NamedResult>() + name)
}

/// The numbers of a bucket, by the places of a pipeline's paths; `None` where one is missing and gaps are passed over.
type Numbers = Vec<Option<f64>>;

fn inputs(pipeline: &PipelinePlan, result: &AggResult) -> Result<Vec<Numbers>, AggError> {
    let buckets = result.buckets().unwrap_or_default();
    let paths = pipeline.spec.paths.iter().map(|(_, path)| steps(path));
    let paths = paths.collect::<Result<Vec<_>, AggError>>()?;
    let mut pace = Pace::default();
    let of_bucket = |bucket: &BucketView<'_>| {
        go_on_reducing(&mut pace)?;
        let number = |path: &Vec<String>| bucket_number(bucket, path, pipeline.spec.gaps);
        paths
            .iter()
            .map(number)
            .collect::<Result<Numbers, AggError>>()
    };
    buckets.iter().map(of_bucket).collect()
}

/// A bucket as a script sees it: its fields are the numbers that paths lead to.
struct BucketNumbers {
    /// Where the fields of the script are among the paths; none for a name that no path has.
    places: Vec<Option<usize>>,
    names: Vec<String>,
    gaps: GapPolicy,
    numbers: Numbers,
}

impl BucketNumbers {
    /// For a script of a pipeline; the numbers of a bucket are put in later.
    fn new(pipeline: &PipelinePlan, script: &Script) -> Self {
        let paths = &pipeline.spec.paths;
        let place = |field: &String| paths.iter().position(|(name, _)| name == field);
        BucketNumbers {
            places: script.fields().iter().map(place).collect(),
            names: paths.iter().map(|(name, _)| name.clone()).collect(),
            gaps: pipeline.spec.gaps,
            numbers: Numbers::new(),
        }
    }

    fn value<'a>(&self, field: usize) -> ScriptValue<'a> {
        let place = self.places.get(field).copied().flatten();
        place.map_or(ScriptValue::Null, |place| self.number(place))
    }

    fn number<'a>(&self, place: usize) -> ScriptValue<'a> {
        match (self.numbers.get(place).copied().flatten(), self.gaps) {
            (Some(number), _) => ScriptValue::Float(number),
            // A number that is not there makes every comparison false.
            (None, GapPolicy::Skip) => ScriptValue::Float(f64::NAN),
            (None, GapPolicy::InsertZeros) => ScriptValue::Null,
        }
    }

    fn is_complete(&self) -> bool {
        self.numbers.iter().all(Option::is_some)
    }
}

impl<'a> ScriptDocument<'a> for BucketNumbers {
    fn is_mapped(&self, field: usize) -> bool {
        self.places.get(field).is_some_and(Option::is_some)
    }

    fn values(&mut self, field: usize) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
        Ok(vec![self.value(field)])
    }

    fn first(&mut self, field: usize) -> Result<Option<ScriptValue<'a>>, ScriptError> {
        Ok(Some(self.value(field)))
    }

    fn parameters(&self) -> Vec<(String, ScriptValue<'a>)> {
        let names = self.names.iter().enumerate();
        names
            .map(|(place, name)| (name.clone(), self.number(place)))
            .collect()
    }
}

/// The places of buckets in their new order; what has none of the numbers is passed over.
fn sorted(
    result: &AggResult,
    by: &[(String, Direction)],
    gaps: GapPolicy,
) -> Result<Vec<usize>, AggError> {
    let buckets = result.buckets().unwrap_or_default();
    let paths = by.iter().map(|(path, _)| steps(path));
    let paths = paths.collect::<Result<Vec<_>, AggError>>()?;
    let mut rows: Vec<(usize, Vec<Option<f64>>)> = Vec::with_capacity(buckets.len());
    let mut pace = Pace::default();
    for (at, bucket) in buckets.iter().enumerate() {
        go_on_reducing(&mut pace)?;
        let mut numbers = Vec::with_capacity(by.len());
        for path in &paths {
            numbers.push(if matches!(&path[..], [only] if only == "_key") {
                // Keys without a number are compared as they are, below.
                Some(key_number(bucket.key).unwrap_or(0.0))
            } else {
                bucket_number(bucket, path, gaps)?
            });
        }
        if by.is_empty() || numbers.iter().any(Option::is_some) {
            rows.push((at, numbers));
        }
    }
    let rows = sorted_in_time(rows, |(a, a_numbers), (b, b_numbers)| {
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
    })?;
    Ok(rows.into_iter().map(|(at, _)| at).collect())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use clew_platform::MemoryExceeded;

    use super::*;

    #[test]
    fn what_pipelines_add_is_booked_with_the_room_that_it_has() {
        const RESULTS: usize = 10_000;
        let booked = Cell::new(0);
        let book = |bytes: usize| -> Result<(), MemoryExceeded> {
            booked.set(booked.get() + bytes);
            Ok(())
        };
        let mut budget = Budget::new(RESULTS, &book);
        let mut subs = Vec::new();
        for _ in 0..RESULTS {
            let made = NamedResult {
                name: "n".to_string(),
                result: AggResult::ValueCount(1),
            };
            add(&mut subs, made, &mut budget).unwrap();
        }
        // The last of it is booked a little later.
        let taken = subs.capacity() * size_of::<NamedResult>();
        assert!(booked.get() + (128 << 10) > taken, "{}", booked.get());
    }
}
