//! Functions of a window of numbers, as scripts name them: `MovingFunctions.max(values)`.

use serde::{Deserialize, Serialize};

/// A function of a window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum MovingFunction {
    /// The greatest.
    Max,
    /// The least.
    Min,
    /// The sum.
    Sum,
    /// The deviation from the mean.
    Deviation,
    /// The mean.
    Mean,
    /// The mean, later numbers counting more, linearly.
    LinearMean,
    /// The mean, later numbers counting more, exponentially.
    Ewma {
        /// How fast earlier numbers are forgotten.
        alpha: f64,
    },
    /// The same with a trend.
    Holt {
        /// How fast earlier levels are forgotten.
        alpha: f64,
        /// How fast earlier trends are forgotten.
        beta: f64,
    },
}

impl MovingFunction {
    /// The function that a script calls; `None` when it is none of them.
    pub fn parse(script: &str) -> Option<Self> {
        let script: String = script.chars().filter(|c| !c.is_whitespace()).collect();
        let script = script.strip_suffix(';').unwrap_or(&script);
        let script = script.strip_prefix("return").unwrap_or(script);
        let call = script.strip_prefix("MovingFunctions.")?;
        let (name, arguments) = call.strip_suffix(')')?.split_once('(')?;
        let mut arguments = arguments.split(',');
        if arguments.next() != Some("values") {
            return None;
        }
        let numbers: Vec<Option<f64>> = arguments.map(|text| text.parse().ok()).collect();
        Some(match (name, &numbers[..]) {
            ("max", []) => MovingFunction::Max,
            ("min", []) => MovingFunction::Min,
            ("sum", []) => MovingFunction::Sum,
            // The second argument is the mean, which is the same as ours.
            ("stdDev", [_]) if script.ends_with("MovingFunctions.unweightedAvg(values))") => {
                MovingFunction::Deviation
            }
            ("unweightedAvg", []) => MovingFunction::Mean,
            ("linearWeightedAvg", []) => MovingFunction::LinearMean,
            ("ewma", [Some(alpha)]) => MovingFunction::Ewma { alpha: *alpha },
            ("holt", [Some(alpha), Some(beta)]) => MovingFunction::Holt {
                alpha: *alpha,
                beta: *beta,
            },
            _ => return None,
        })
    }

    /// The function's value; NaN of nothing, but 0 for a sum.
    #[allow(clippy::cast_precision_loss, reason = "windows are short")]
    pub fn value(self, window: &[f64]) -> f64 {
        let sum: f64 = window.iter().sum();
        let count = window.len() as f64;
        match self {
            MovingFunction::Sum => sum,
            _ if window.is_empty() => f64::NAN,
            MovingFunction::Max => window.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            MovingFunction::Min => window.iter().copied().fold(f64::INFINITY, f64::min),
            MovingFunction::Mean => sum / count,
            MovingFunction::Deviation => {
                let mean = sum / count;
                let squares: f64 = window.iter().map(|value| (value - mean).powi(2)).sum();
                (squares / count).sqrt()
            }
            MovingFunction::LinearMean => {
                let weighted: f64 = (1_u32..)
                    .zip(window)
                    .map(|(weight, value)| f64::from(weight) * value)
                    .sum();
                // A weight of one more than there is keeps the first windows small.
                let weights = count * (count + 1.0) / 2.0 + 1.0;
                weighted / weights
            }
            MovingFunction::Ewma { alpha } => {
                let mut rest = window.iter().copied();
                let first = rest.next().unwrap_or(f64::NAN);
                rest.fold(first, |mean, value| value * alpha + mean * (1.0 - alpha))
            }
            MovingFunction::Holt { alpha, beta } => holt(window, alpha, beta),
        }
    }
}

fn holt(window: &[f64], alpha: f64, beta: f64) -> f64 {
    let (mut level, mut trend) = (0.0, 0.0);
    let mut last = 0.0;
    for (at, value) in window.iter().enumerate() {
        let before = (level, trend);
        match at {
            0 => {
                level = *value;
                trend = 0.0;
            }
            1 => {
                level = alpha * value + (1.0 - alpha) * (before.0 + before.1);
                trend = value - last;
            }
            _ => {
                level = alpha * value + (1.0 - alpha) * (before.0 + before.1);
                trend = beta * (level - before.0) + (1.0 - beta) * before.1;
            }
        }
        last = *value;
    }
    level
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_name_functions() {
        for (script, expected) in [
            ("MovingFunctions.max(values)", 4.0),
            ("MovingFunctions.min(values)", 1.0),
            ("return MovingFunctions.sum(values);", 7.0),
            ("MovingFunctions.unweightedAvg(values)", 7.0 / 3.0),
            ("MovingFunctions.ewma(values, 0.5)", 2.25),
            (
                "MovingFunctions.stdDev(values, MovingFunctions.unweightedAvg(values))",
                (14.0_f64 / 9.0).sqrt(),
            ),
        ] {
            let function = MovingFunction::parse(script).unwrap();
            let value = function.value(&[1.0, 4.0, 2.0]);
            assert!((value - expected).abs() < 1e-12, "{script}: {value}");
        }
        for script in [
            "MovingFunctions.windowMax(values)",
            "1 + 1",
            "MovingFunctions.max(x)",
        ] {
            assert_eq!(MovingFunction::parse(script), None, "{script}");
        }
    }
}
