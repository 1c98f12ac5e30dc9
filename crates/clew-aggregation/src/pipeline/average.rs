//! The older moving average: a model of the buckets before each one, with factors that are given or that tell the last buckets
//! best, and what it says of buckets behind the last number.

use clew_platform::Pace;
use clew_query::aggregation::MovingAverage;
use clew_query::{AggError, MovingModel, go_on_reducing};

use crate::pipeline::sequence::{Made, SequenceBucket};

/// In how many places a factor is tried at a time, and how often closer around the best one.
const PLACES: u32 = 11;
const ROUNDS: i32 = 3;

/// What each bucket gets, and those behind the last one that there is.
///
/// # Errors
/// Once nobody wants it any more, or where the model needs more numbers to say what comes.
pub(super) fn average(
    average: &MovingAverage,
    places: &[SequenceBucket],
) -> Result<Vec<Option<Made>>, AggError> {
    let values: Vec<f64> = places.iter().filter_map(|place| place.number).collect();
    let model = match average.is_fitted {
        true => fitted(average, &values)?,
        false => average.model,
    };
    let mut pace = Pace::of_blocks();
    let (mut seen, mut last) = (0, 0);
    let mut made = Vec::with_capacity(places.len());
    for (at, place) in places.iter().enumerate() {
        go_on_reducing(&mut pace)?;
        if place.number.is_none() {
            made.push(None);
            continue;
        }
        let before = last_of(values.get(..seen).unwrap_or_default(), average.window);
        let is_enough = before.len() >= model.needs();
        made.push(is_enough.then(|| Made::plain(model.outlook(before).at(0))));
        (seen, last) = (seen + 1, at);
    }
    if average.predicted == 0 || places.is_empty() {
        return Ok(made);
    }
    let known = last_of(&values, average.window);
    if !known.is_empty() && known.len() < model.needs() {
        let (needed, have) = (model.needs(), known.len());
        return Err(AggError::aggregation(format!(
            "Holt-Winters aggregation requires at least (2 * period == 2 * {} == {needed}) \
             data-points to function.  Only [{have}] were provided.",
            needed / 2
        )));
    }
    let outlook = model.outlook(known);
    let behind = last + 1;
    made.resize(made.len().max(behind + average.predicted), None);
    let ahead = made.iter_mut().skip(behind).take(average.predicted);
    for (step, made) in ahead.enumerate() {
        *made = Some(Made::plain(outlook.at(step)));
    }
    Ok(made)
}

/// The last numbers, as many as a window has.
fn last_of(values: &[f64], window: usize) -> &[f64] {
    values
        .get(values.len().saturating_sub(window)..)
        .unwrap_or_default()
}

/// The model with the factors by which the last window but one tells the last one best, as given where there are fewer
/// numbers. OpenSearch tries factors by chance; these are tried in a grid, and then closer around the best, so that the same
/// request is answered alike.
fn fitted(average: &MovingAverage, values: &[f64]) -> Result<MovingModel, AggError> {
    let given = average.model;
    let window = average.window;
    let Some(begin) = window
        .checked_mul(2)
        .and_then(|both| values.len().checked_sub(both))
    else {
        return Ok(given);
    };
    let (known, wanted) = values.split_at(begin + window);
    let known = last_of(known, window);
    if known.len() < given.needs() {
        return Ok(given);
    }
    let error_of = |factors: [f64; 3]| {
        let outlook = given.with_factors(factors).outlook(known);
        let wanted = wanted.iter().enumerate();
        let errors = wanted.map(|(step, wanted)| (wanted - outlook.at(step)).abs());
        errors.sum::<f64>()
    };
    let count = given.factor_count();
    let mut best = given.factors();
    let mut least = error_of(best);
    let mut pace = Pace::of_blocks();
    for round in 0..ROUNDS {
        let middle = match round {
            0 => [0.5; 3],
            _ => best,
        };
        for factors in around(middle, 0.1 * 0.2_f64.powi(round), count) {
            go_on_reducing(&mut pace)?;
            let error = error_of(factors);
            if error < least {
                (least, best) = (error, factors);
            }
        }
    }
    Ok(given.with_factors(best))
}

/// The places of a grid around a middle, whose lines are so far apart.
fn around(middle: [f64; 3], apart: f64, count: usize) -> impl Iterator<Item = [f64; 3]> {
    let all = (0..count).fold(1, |all, _| all * PLACES);
    (0..all).map(move |number| {
        let mut rest = number;
        let mut factors = middle;
        for factor in factors.iter_mut().take(count) {
            let lines = f64::from(rest % PLACES) - f64::from(PLACES / 2);
            *factor = (*factor + lines * apart).clamp(0.0, 1.0);
            rest /= PLACES;
        }
        factors
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(asked: &MovingAverage, numbers: &[Option<f64>], expected: &[Option<f64>]) {
        let places = numbers.iter().map(|number| SequenceBucket {
            number: *number,
            is_lacking: false,
            key: 0.0,
        });
        let places: Vec<SequenceBucket> = places.collect();
        let made = average(asked, &places).unwrap();
        let values: Vec<_> = made
            .iter()
            .map(|made| made.map(|made| made.value))
            .collect();
        assert_eq!(format!("{values:?}"), format!("{expected:?}"), "{asked:?}");
    }

    #[test]
    fn a_window_of_nothing_makes_nothing_and_what_comes_stands_behind_the_last_number() {
        let mut mean = MovingAverage {
            window: 2,
            model: MovingModel::Mean,
            is_fitted: false,
            predicted: 0,
        };
        let numbers = [Some(1.0), Some(4.0), Some(2.0), None];
        let plain = [None, Some(1.0), Some(2.5), None];
        check(&mean, &numbers, &plain);
        mean.predicted = 2;
        let ahead = [None, Some(1.0), Some(2.5), Some(3.0), Some(3.0)];
        check(&mean, &numbers, &ahead);
        check(&mean, &[], &[]);
        check(&mean, &[None], &[None, Some(f64::NAN), Some(f64::NAN)]);
    }

    #[test]
    fn factors_are_those_that_tell_the_last_window_best() {
        let numbers: Vec<f64> = (0_u32..20).map(|at| 3.0 * f64::from(at)).collect();
        let asked = MovingAverage {
            window: 8,
            model: MovingModel::Trend {
                alpha: 0.3,
                beta: 0.1,
            },
            is_fitted: true,
            predicted: 1,
        };
        let model = fitted(&asked, &numbers).unwrap();
        let ahead = model.outlook(&numbers[..12]).at(0);
        let given = asked.model.outlook(&numbers[..12]).at(0);
        assert!((ahead - 36.0).abs() < (given - 36.0).abs(), "{model:?}");
        assert_eq!(fitted(&asked, &numbers[..15]).unwrap(), asked.model);
    }
}
