//! What is said about all buckets of an aggregation.

use clew_query::aggregation::Summary;

use crate::metric::extended_stats::extended_result;
use crate::metric::simple::stats_of;
use crate::numbers::moments::ExtendedMoments;
use crate::result::{AggResult, Metric, PercentilesKind, PercentilesResult};
use crate::value::format::ValueFormat;
use crate::value::key::Key;

/// The result of a summary of numbers, each with its bucket's key.
pub(crate) fn summarise(
    summary: &Summary,
    numbers: &[(f64, Key)],
    format: &ValueFormat,
    text: impl Fn(&Key) -> String,
) -> AggResult {
    let mut moments = ExtendedMoments::default();
    for (number, _) in numbers {
        moments.add(*number);
    }
    let basic = &moments.basic;
    let metric = |value: f64| Metric {
        value: value.is_finite().then_some(value),
        format: format.clone(),
    };
    let extreme = |value: f64| AggResult::BucketValue {
        metric: metric(value),
        keys: numbers
            .iter()
            .filter(|(number, _)| number.total_cmp(&value).is_eq())
            .map(|(_, key)| text(key))
            .collect(),
    };
    match summary {
        Summary::Avg => AggResult::SimpleValue(metric(basic.mean())),
        Summary::Sum => AggResult::SimpleValue(metric(basic.sum.value())),
        Summary::Max => extreme(basic.max),
        Summary::Min => extreme(basic.min),
        Summary::Stats => AggResult::StatsBucket(stats_of(basic, format)),
        Summary::ExtendedStats { sigma } => {
            AggResult::ExtendedStatsBucket(extended_result(&moments, *sigma, format))
        }
        Summary::Percentiles { percents, keyed } => {
            let mut sorted: Vec<f64> = numbers.iter().map(|(number, _)| *number).collect();
            sorted.sort_by(f64::total_cmp);
            let points = percents
                .iter()
                .map(|percent| (*percent, nearest(&sorted, *percent)));
            AggResult::Percentiles(PercentilesResult {
                kind: PercentilesKind::Buckets,
                points: points.collect(),
                keyed: *keyed,
                format: format.clone(),
            })
        }
    }
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a list, from a share of its length"
)]
fn nearest(sorted: &[f64], percent: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = (percent.clamp(0.0, 100.0) / 100.0 * last as f64).round() as usize;
    sorted.get(at).copied()
}
