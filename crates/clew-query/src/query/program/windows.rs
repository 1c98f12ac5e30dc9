//! Functions of a window of numbers, by which scripts say what becomes of the buckets around: `MovingFunctions.max(values)`.

use super::value::ScriptValue;
use crate::error::ScriptError;

/// What the class has, with how many arguments, and what it is called here.
const FUNCTIONS: &[(&str, usize, &str)] = &[
    ("max", 1, "windowMax"),
    ("min", 1, "windowMin"),
    ("sum", 1, "windowSum"),
    ("stdDev", 2, "windowStdDev"),
    ("unweightedAvg", 1, "windowMean"),
    ("linearWeightedAvg", 1, "windowLinearMean"),
    ("ewma", 2, "windowEwma"),
    ("holt", 3, "windowHolt"),
    ("holtWinters", 6, "windowHoltWinters"),
];

/// The function that the class has under a name.
pub(super) fn known(name: &str, arguments: usize) -> Option<&'static str> {
    let mut all = FUNCTIONS.iter();
    let found = all.find(|(known, count, _)| *known == name && *count == arguments);
    found.map(|(_, _, function)| *function)
}

/// What such a function makes of a window and its settings; `None` where it is another function.
pub(super) fn call(name: &str, arguments: &[ScriptValue<'_>]) -> Result<Option<f64>, ScriptError> {
    let Some((window, settings)) = arguments.split_first() else {
        return Ok(None);
    };
    if !name.starts_with("window") {
        return Ok(None);
    }
    let items = window.items().ok_or_else(|| window.no_cast("double[]"))?;
    let window = items.iter().map(ScriptValue::want_number);
    let window = window.collect::<Result<Vec<f64>, _>>()?;
    let setting = |place: usize| match settings.get(place) {
        Some(setting) => setting.want_number(),
        None => Ok(f64::NAN),
    };
    Ok(Some(match name {
        "windowSum" => window.iter().sum::<f64>(),
        _ if window.is_empty() => f64::NAN,
        "windowMax" => window.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        "windowMin" => window.iter().copied().fold(f64::INFINITY, f64::min),
        "windowStdDev" => {
            let mean = setting(0)?;
            let squares = window.iter().map(|value| (value - mean).powi(2));
            mean_of(squares, window.len()).sqrt()
        }
        "windowMean" => mean_of(window.iter().copied(), window.len()),
        "windowLinearMean" => linear_mean(&window),
        "windowEwma" => ewma(&window, setting(0)?),
        "windowHolt" => holt(&window, setting(0)?, setting(1)?),
        _ => {
            let factors = [setting(0)?, setting(1)?, setting(2)?];
            let period = settings.get(3).map_or(Ok(0), ScriptValue::want_whole)?;
            let multiplies = settings.get(4).map_or(Ok(false), ScriptValue::want_truth)?;
            let seasons = match multiplies {
                true => Seasons::Multiplied,
                false => Seasons::Added,
            };
            holt_winters(
                &window,
                factors,
                whole_period(period, window.len())?,
                seasons,
            )
        }
    }))
}

#[allow(clippy::cast_precision_loss, reason = "windows are short")]
fn mean_of(values: impl Iterator<Item = f64>, count: usize) -> f64 {
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
fn ewma(window: &[f64], alpha: f64) -> f64 {
    let mut rest = window.iter().copied();
    let first = rest.next().unwrap_or(f64::NAN);
    rest.fold(first, |mean, value| value * alpha + mean * (1.0 - alpha))
}

/// The same with a trend, which begins as none.
fn holt(window: &[f64], alpha: f64, beta: f64) -> f64 {
    let mut rest = window.iter().copied();
    let mut level = rest.next().unwrap_or(f64::NAN);
    let mut trend = 0.0;
    for value in rest {
        let before = level;
        level = alpha * value + (1.0 - alpha) * (before + trend);
        trend = beta * (level - before) + (1.0 - beta) * trend;
    }
    level
}

/// The length of a season, of which a window has two.
fn whole_period(period: i64, have: usize) -> Result<usize, ScriptError> {
    let whole = usize::try_from(period).ok().filter(|period| *period > 0);
    let whole = whole.ok_or_else(|| {
        ScriptError::argument(format!("[period] must be a positive integer: [{period}]"))
    })?;
    let needed = whole.saturating_mul(2);
    match needed <= have {
        true => Ok(whole),
        false => Err(ScriptError::argument(format!(
            "Holt-Winters aggregation requires at least (2 * period == 2 * {whole} == {needed}) \
             data-points to function.  Only [{have}] were provided."
        ))),
    }
}

/// How seasons change what lies below them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seasons {
    Added,
    Multiplied,
}

/// The same with seasons of a length, two of which at least are there, and a trend, which begins as none here too: what
/// comes next.
fn holt_winters(
    window: &[f64],
    [alpha, beta, gamma]: [f64; 3],
    period: usize,
    seasons: Seasons,
) -> f64 {
    // Nothing is divided by zero then.
    let padding = match seasons {
        Seasons::Multiplied => 1e-10,
        Seasons::Added => 0.0,
    };
    let values: Vec<f64> = window.iter().map(|value| value + padding).collect();
    let (first, others) = values.split_at(period.min(values.len()));
    let mut level = mean_of(first.iter().copied(), period);
    let mut trend = 0.0;
    let mut seasonal: Vec<f64> = first
        .iter()
        .map(|value| if level == 0.0 { 0.0 } else { value / level })
        .collect();
    for (at, value) in others.iter().enumerate() {
        let season = seasonal.get(at).copied().unwrap_or(0.0);
        let (level_before, trend_before) = (level, trend);
        let (plain, seen) = match seasons {
            Seasons::Multiplied => (value / season, value / (level_before + trend_before)),
            Seasons::Added => (value - season, value - (level_before - trend_before)),
        };
        level = alpha * plain + (1.0 - alpha) * (level_before + trend_before);
        trend = beta * (level - level_before) + (1.0 - beta) * trend_before;
        seasonal.push(gamma * seen + (1.0 - gamma) * season);
    }
    let next = seasonal.get(others.len()).copied().unwrap_or(0.0);
    match seasons {
        Seasons::Multiplied => (level + trend) * next,
        Seasons::Added => level + trend + next,
    }
}
