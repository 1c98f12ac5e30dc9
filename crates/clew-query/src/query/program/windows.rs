//! Functions of a window of numbers, by which scripts say what becomes of the buckets around: `MovingFunctions.max(values)`.

use super::value::ScriptValue;
use crate::error::ScriptError;
use crate::query::moving::{MovingModel, SeasonModel, Seasons, mean_of};

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
        "windowMean" => next(MovingModel::Mean, &window),
        "windowLinearMean" => next(MovingModel::LinearMean, &window),
        "windowEwma" => {
            let alpha = setting(0)?;
            next(MovingModel::Exponential { alpha }, &window)
        }
        "windowHolt" => {
            let (alpha, beta) = (setting(0)?, setting(1)?);
            next(MovingModel::Trend { alpha, beta }, &window)
        }
        _ => {
            let factors = [setting(0)?, setting(1)?, setting(2)?];
            let period = settings.get(3).map_or(Ok(0), ScriptValue::want_whole)?;
            let multiplies = settings.get(4).map_or(Ok(false), ScriptValue::want_truth)?;
            let seasons = match multiplies {
                true => Seasons::Multiplied,
                false => Seasons::Added,
            };
            let model = SeasonModel {
                factors,
                period: whole_period(period, window.len())?,
                seasons,
                padding: seasons.padding(),
            };
            next(MovingModel::Seasonal(model), &window)
        }
    }))
}

/// The number that comes after a window.
fn next(model: MovingModel, window: &[f64]) -> f64 {
    model.outlook(window).at(0)
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
