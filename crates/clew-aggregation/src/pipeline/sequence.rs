//! Pipelines to which the order of buckets matters: differences, running sums, moving windows.

#![warn(clippy::wildcard_enum_match_arm)]

use clew_platform::Pace;
use clew_query::aggregation::Sequence;
use clew_query::{AggError, ScriptDocument, ScriptError, ScriptValue, go_on_reducing};

use crate::pipeline::average::average;

/// A bucket as a sequence sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SequenceBucket {
    pub(super) number: Option<f64>,
    /// Whether there is nothing at all where the number would be, which is less than a number that is missing.
    pub(super) is_lacking: bool,
    /// Its key as a number: where it is on the axis.
    pub(super) key: f64,
}

/// What is added to a bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Made {
    pub(super) value: f64,
    pub(super) normalized: Option<f64>,
}

impl Made {
    /// A number alone.
    pub(super) fn plain(value: f64) -> Self {
        Made {
            value,
            normalized: None,
        }
    }

    fn of(value: f64) -> Option<Self> {
        Some(Made::plain(value))
    }
}

/// What each bucket gets, if anything, and what stands behind the last one.
///
/// # Errors
/// Once nobody wants it any more, or where a script fails.
pub(crate) fn sequence(
    kind: &Sequence,
    places: &[SequenceBucket],
) -> Result<Vec<Option<Made>>, AggError> {
    Ok(match kind {
        Sequence::Derivative { unit_ms } => derivative(places, *unit_ms),
        Sequence::CumulativeSum => {
            let mut sum = 0.0;
            let mut add = |place: &SequenceBucket| {
                sum += place.number.unwrap_or(0.0);
                Made::of(sum)
            };
            places.iter().map(&mut add).collect()
        }
        Sequence::SerialDiff { lag } => (0..places.len())
            .map(|at| {
                let before = at.checked_sub(*lag).and_then(|at| places[at].number)?;
                Made::of(places[at].number? - before)
            })
            .collect(),
        Sequence::MovingFn {
            window,
            shift,
            script,
        } => {
            let values: Vec<f64> = places.iter().filter_map(|place| place.number).collect();
            let length = i64::try_from(values.len()).unwrap_or(i64::MAX);
            let window = i64::try_from(*window).unwrap_or(i64::MAX);
            let clamp = |at: i64| usize::try_from(at.clamp(0, length)).unwrap_or(0);
            let (mut index, mut pace) = (0_i64, Pace::of_blocks());
            let mut at_place = |place: &SequenceBucket| {
                go_on_reducing(&mut pace)?;
                if place.number.is_none() {
                    return Ok(None);
                }
                let end = index.saturating_add(*shift);
                let (from, to) = (clamp(end.saturating_sub(window)), clamp(end));
                index += 1;
                let mut around = Window(&values[from..to.max(from)]);
                Ok(Made::of(script.number(&mut around)?))
            };
            let made: Result<_, AggError> = places.iter().map(&mut at_place).collect();
            made?
        }
        Sequence::MovingAvg(asked) => average(asked, places)?,
    })
}

/// The numbers of the buckets around one, as a script sees them. It asks for nothing else.
struct Window<'w>(&'w [f64]);

impl<'a> ScriptDocument<'a> for Window<'_> {
    fn is_mapped(&self, _field: usize) -> bool {
        true
    }

    fn values(&mut self, _field: usize) -> Result<Vec<ScriptValue<'a>>, ScriptError> {
        let numbers = self.0.iter();
        Ok(numbers.map(|number| ScriptValue::Float(*number)).collect())
    }
}

fn derivative(places: &[SequenceBucket], unit_ms: Option<f64>) -> Vec<Option<Made>> {
    let mut made = vec![None; places.len().min(1)];
    made.extend(places.windows(2).map(|pair| {
        if pair.iter().any(|place| place.is_lacking) {
            return None;
        }
        let value = pair[1].number.unwrap_or(f64::NAN) - pair[0].number.unwrap_or(f64::NAN);
        let units = unit_ms.map(|unit_ms| (pair[1].key - pair[0].key) / unit_ms);
        Some(Made {
            value,
            normalized: units.map(|units| value / units),
        })
    }));
    made
}

#[cfg(test)]
mod tests;
