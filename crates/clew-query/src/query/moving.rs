//! What may come next in a row of numbers: means to which later ones count more, trends and seasons. Scripts have these as
//! functions, moving averages as their models.

use serde::{Deserialize, Serialize};

/// How what comes next is made of a row of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum MovingModel {
    /// The mean.
    Mean,
    /// A mean to which later numbers count more, linearly.
    LinearMean,
    /// The same, exponentially.
    Exponential {
        /// How much the last number counts.
        alpha: f64,
    },
    /// The same with a trend.
    Trend {
        /// How much the last number counts.
        alpha: f64,
        /// The same of the last difference.
        beta: f64,
    },
    /// The same with seasons, too.
    Seasonal(SeasonModel),
}

/// A trend with seasons of a length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeasonModel {
    /// How much the last number, the last difference and the last season count.
    pub factors: [f64; 3],
    /// The length of a season.
    pub period: usize,
    /// How seasons change what lies below them.
    pub seasons: Seasons,
    /// What is added to each number, so that none is zero.
    pub padding: f64,
}

/// How seasons change what lies below them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Seasons {
    /// They are added to it.
    Added,
    /// They multiply it.
    Multiplied,
}

impl Seasons {
    /// What is added to numbers, so that nothing is divided by zero.
    pub fn padding(self) -> f64 {
        match self {
            Seasons::Multiplied => 1e-10,
            Seasons::Added => 0.0,
        }
    }
}

/// What comes next, step by step.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlook {
    level: f64,
    trend: f64,
    /// One season, and how it changes what lies below; none where there are no seasons.
    season: Option<(Seasons, Vec<f64>)>,
}

impl Outlook {
    fn level(level: f64) -> Self {
        Outlook {
            level,
            trend: 0.0,
            season: None,
        }
    }

    /// What comes after so many steps; the next number is that of none.
    #[allow(
        clippy::cast_precision_loss,
        reason = "2^53 steps will not be asked for"
    )]
    pub fn at(&self, step: usize) -> f64 {
        let Some((seasons, season)) = &self.season else {
            return self.level + step as f64 * self.trend;
        };
        let below = self.level + (step + 1) as f64 * self.trend;
        let place = step.checked_rem(season.len()).unwrap_or(0);
        let change = season.get(place).copied().unwrap_or(0.0);
        match seasons {
            Seasons::Multiplied => below * change,
            Seasons::Added => below + change,
        }
    }
}

impl MovingModel {
    /// How many numbers it needs to say anything.
    pub fn needs(&self) -> usize {
        match self {
            MovingModel::Mean
            | MovingModel::LinearMean
            | MovingModel::Exponential { .. }
            | MovingModel::Trend { .. } => 1,
            MovingModel::Seasonal(model) => model.period.saturating_mul(2),
        }
    }

    /// Its factors, each between zero and one; those that it has not are zero.
    pub fn factors(&self) -> [f64; 3] {
        match self {
            MovingModel::Mean | MovingModel::LinearMean => [0.0; 3],
            MovingModel::Exponential { alpha } => [*alpha, 0.0, 0.0],
            MovingModel::Trend { alpha, beta } => [*alpha, *beta, 0.0],
            MovingModel::Seasonal(model) => model.factors,
        }
    }

    /// How many factors it has.
    pub fn factor_count(&self) -> usize {
        match self {
            MovingModel::Mean | MovingModel::LinearMean => 0,
            MovingModel::Exponential { .. } => 1,
            MovingModel::Trend { .. } => 2,
            MovingModel::Seasonal(_) => 3,
        }
    }

    /// The same with other factors.
    #[must_use]
    pub fn with_factors(self, factors: [f64; 3]) -> Self {
        let [alpha, beta, _] = factors;
        match self {
            MovingModel::Mean | MovingModel::LinearMean => self,
            MovingModel::Exponential { .. } => MovingModel::Exponential { alpha },
            MovingModel::Trend { .. } => MovingModel::Trend { alpha, beta },
            MovingModel::Seasonal(model) => MovingModel::Seasonal(SeasonModel { factors, ..model }),
        }
    }

    /// What comes after these numbers; not a number where there are none.
    pub fn outlook(&self, window: &[f64]) -> Outlook {
        if window.is_empty() {
            return Outlook::level(f64::NAN);
        }
        match self {
            MovingModel::Mean => Outlook::level(mean_of(window.iter().copied(), window.len())),
            MovingModel::LinearMean => Outlook::level(linear_mean(window)),
            MovingModel::Exponential { alpha } => Outlook::level(exponential(window, *alpha)),
            MovingModel::Trend { alpha, beta } => trend(window, *alpha, *beta),
            MovingModel::Seasonal(model) => seasonal(window, model),
        }
    }
}

/// The mean of so many numbers.
#[allow(clippy::cast_precision_loss, reason = "windows are short")]
pub(super) fn mean_of(values: impl Iterator<Item = f64>, count: usize) -> f64 {
    values.sum::<f64>() / count as f64
}

/// Later numbers count more, linearly.
fn linear_mean(window: &[f64]) -> f64 {
    let mut weighted = 0.0;
    // A weight of one more than there is keeps the first windows small.
    let (mut weight, mut weights) = (0.0, 1.0);
    for value in window {
        weight += 1.0;
        weights += weight;
        weighted += weight * value;
    }
    weighted / weights
}

/// Later numbers count more, exponentially.
fn exponential(window: &[f64], alpha: f64) -> f64 {
    let mut rest = window.iter().copied();
    let first = rest.next().unwrap_or(f64::NAN);
    rest.fold(first, |mean, value| value * alpha + mean * (1.0 - alpha))
}

/// The same with a trend, which begins as none.
fn trend(window: &[f64], alpha: f64, beta: f64) -> Outlook {
    let mut rest = window.iter().copied();
    let mut level = rest.next().unwrap_or(f64::NAN);
    let mut trend = 0.0;
    for value in rest {
        let before = level;
        level = alpha * value + (1.0 - alpha) * (before + trend);
        trend = beta * (level - before) + (1.0 - beta) * trend;
    }
    Outlook {
        level,
        trend,
        season: None,
    }
}

/// The same with seasons of a length, two of which at least are there, and a trend, which begins as none here too.
fn seasonal(window: &[f64], model: &SeasonModel) -> Outlook {
    let [alpha, beta, gamma] = model.factors;
    let values = window.iter().map(|value| value + model.padding);
    let values: Vec<f64> = values.collect();
    let period = model.period.min(values.len());
    let (first, others) = values.split_at(period);
    let mut level = mean_of(first.iter().copied(), period);
    let mut trend = 0.0;
    let mut seasonal: Vec<f64> = first
        .iter()
        .map(|value| if level == 0.0 { 0.0 } else { value / level })
        .collect();
    for (at, value) in others.iter().enumerate() {
        let season = seasonal.get(at).copied().unwrap_or(0.0);
        let (level_before, trend_before) = (level, trend);
        let (plain, seen) = match model.seasons {
            Seasons::Multiplied => (value / season, value / (level_before + trend_before)),
            Seasons::Added => (value - season, value - (level_before - trend_before)),
        };
        level = alpha * plain + (1.0 - alpha) * (level_before + trend_before);
        trend = beta * (level - level_before) + (1.0 - beta) * trend_before;
        seasonal.push(gamma * seen + (1.0 - gamma) * season);
    }
    Outlook {
        level,
        trend,
        season: Some((model.seasons, seasonal.split_off(others.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_next_goes_on_with_trends_and_seasons() {
        let numbers = [1.0, 4.0, 2.0, 8.0];
        let seasons = |seasons: Seasons| {
            MovingModel::Seasonal(SeasonModel {
                factors: [0.0; 3],
                period: 2,
                seasons,
                padding: seasons.padding(),
            })
        };
        for (model, expected) in [
            (MovingModel::Mean, [3.75, 3.75, 3.75]),
            (MovingModel::LinearMean, [47.0 / 11.0; 3]),
            (MovingModel::Exponential { alpha: 1.0 }, [8.0, 8.0, 8.0]),
            (
                MovingModel::Trend {
                    alpha: 1.0,
                    beta: 1.0,
                },
                [8.0, 14.0, 20.0],
            ),
            (seasons(Seasons::Added), [2.9, 4.1, 2.9]),
            (seasons(Seasons::Multiplied), [1.0, 4.0, 1.0]),
        ] {
            let outlook = model.outlook(&numbers);
            for (step, expected) in expected.into_iter().enumerate() {
                let value = outlook.at(step);
                assert!((value - expected).abs() < 1e-6, "{model:?} {step}: {value}");
            }
            assert!(model.outlook(&[]).at(0).is_nan());
        }
    }
}
