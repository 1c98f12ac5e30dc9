//! The settings of the models of `moving_avg`: each model takes those that it has out of one object, and refuses what is
//! left in it.

use clew_query::{MovingModel, SeasonModel, Seasons};
use serde_json::Value;

use crate::aggs::body::Body;
use crate::aggs::java_order::java_order;
use crate::aggs::{AggDslError, AggDslErrorKind};

/// How much the last number, the last difference and the last season count, where nothing else is said.
const FACTORS: [(&str, f64); 3] = [("alpha", 0.3), ("beta", 0.1), ("gamma", 0.3)];

/// Reads the model of a name with its settings.
///
/// # Errors
/// [`AggDslError`] in OpenSearch's words when there is no such model, a setting is none of its, or is no such value.
pub(super) fn read_model(body: &mut Body<'_>, model: &str) -> Result<MovingModel, AggDslError> {
    let factors = match model {
        "simple" | "linear" => 0,
        "ewma" => 1,
        "holt" => 2,
        "holt_winters" => 3,
        other => {
            return Err(AggDslError::parsing(format!(
                "no [moving_avg_model] registered for [{other}]"
            )));
        }
    };
    let settings = match body.take("settings") {
        None => Vec::new(),
        Some(Value::Object(settings)) => settings
            .iter()
            .map(|(key, value)| (key.as_str(), value))
            .collect(),
        Some(other) => return Err(body.wrong("settings", other)),
    };
    let mut given = Given { model, settings };
    let mut shares = FACTORS.map(|(_, usual)| usual);
    for ((key, _), share) in FACTORS.into_iter().zip(&mut shares).take(factors) {
        *share = given.share(key)?.unwrap_or(*share);
    }
    let [alpha, beta, _] = shares;
    let model = match model {
        "simple" => MovingModel::Mean,
        "linear" => MovingModel::LinearMean,
        "ewma" => MovingModel::Exponential { alpha },
        "holt" => MovingModel::Trend { alpha, beta },
        _ => MovingModel::Seasonal(given.seasons(shares)?),
    };
    given.end().map(|()| model)
}

/// Refuses a window that has not two seasons.
pub(super) fn check_seasons(model: &MovingModel, window: usize) -> Result<(), AggDslError> {
    let needed = model.needs();
    if window >= needed {
        return Ok(());
    }
    Err(AggDslError::illegal(format!(
        "Field [window] must be at least twice as large as the period when using Holt-Winters.  \
         Value provided was [{window}], which is less than (2*period) == {needed}"
    )))
}

/// What a request gives a model, of which nothing was taken yet.
struct Given<'a> {
    model: &'a str,
    settings: Vec<(&'a str, &'a Value)>,
}

impl<'a> Given<'a> {
    /// One of them; that which is null is none, and stays.
    fn take(&mut self, key: &str) -> Option<&'a Value> {
        let mut all = self.settings.iter();
        let at = all.position(|(name, value)| *name == key && !value.is_null())?;
        Some(self.settings.remove(at).1)
    }

    fn share(&mut self, key: &str) -> Result<Option<f64>, AggDslError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let number = value.as_f64();
        let number = number.ok_or_else(|| self.of_another_type(key, "a double", value))?;
        if (0.0..=1.0).contains(&number) {
            return Ok(Some(number));
        }
        // OpenSearch has no space between the two words either.
        Err(self.refused(format!(
            "Parameter [{key}] must be between 0-1 inclusive.  Providedvalue was [{number:?}]"
        )))
    }

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number is at least one, and a longer season than there are buckets is none"
    )]
    fn period(&mut self) -> Result<Option<usize>, AggDslError> {
        let Some(value) = self.take("period") else {
            return Ok(None);
        };
        let number = value.as_f64();
        let number = number.ok_or_else(|| self.of_another_type("period", "an integer", value))?;
        if number < 1.0 {
            return Err(AggDslError::illegal(
                "[period] must be a positive, non-zero integer.",
            ));
        }
        Ok(Some(number as usize))
    }

    /// The seasons of the model that has some; numbers are kept off zero where these multiply, unless that is not wanted.
    fn seasons(&mut self, factors: [f64; 3]) -> Result<SeasonModel, AggDslError> {
        let period = self.period()?.unwrap_or(1);
        let seasons = self.kind_of_seasons()?;
        let padding = match self.pad()? {
            Some(false) => 0.0,
            Some(true) | None => seasons.padding(),
        };
        Ok(SeasonModel {
            factors,
            period,
            seasons,
            padding,
        })
    }

    fn kind_of_seasons(&mut self) -> Result<Seasons, AggDslError> {
        match self.take("type") {
            None => Ok(Seasons::Added),
            Some(Value::String(name)) => match name.as_str() {
                "add" => Ok(Seasons::Added),
                "mult" => Ok(Seasons::Multiplied),
                other => {
                    let reason = format!(
                        "failed to parse seasonality type [{other}]. accepted values are [[add, \
                         mult]]"
                    );
                    Err(AggDslError::of(AggDslErrorKind::Malformed, reason))
                }
            },
            Some(other) => Err(self.of_another_type("type", "a String", other)),
        }
    }

    fn pad(&mut self) -> Result<Option<bool>, AggDslError> {
        match self.take("pad") {
            None => Ok(None),
            Some(Value::Bool(pad)) => Ok(Some(*pad)),
            Some(other) => Err(self.of_another_type("pad", "a boolean", other)),
        }
    }

    /// Refuses what nobody took, in the order in which a map of Java has it.
    fn end(&self) -> Result<(), AggDslError> {
        if self.settings.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = self.settings.iter().map(|(key, _)| (*key).into()).collect();
        let order = java_order(&names);
        let names: Vec<&str> = order.iter().map(|at| names[*at].as_str()).collect();
        Err(self.refused(format!(
            "Unrecognized parameter(s): [[{}]]",
            names.join(", ")
        )))
    }

    fn of_another_type(&self, key: &str, wanted: &str, value: &Value) -> AggDslError {
        let class = match value {
            Value::Null => "null",
            Value::Bool(_) => "Boolean",
            Value::Number(number) if number.is_f64() => "Double",
            Value::Number(number) => match number.as_i64().map(i32::try_from) {
                Some(Ok(_)) => "Integer",
                _ => "Long",
            },
            Value::String(_) => "String",
            Value::Array(_) => "ArrayList",
            Value::Object(_) => "HashMap",
        };
        self.refused(format!(
            "Parameter [{key}] must be {wanted}, type `{class}` provided instead"
        ))
    }

    fn refused(&self, reason: String) -> AggDslError {
        let model = self.model;
        AggDslError {
            within: Some(Box::new(AggDslError::of(
                AggDslErrorKind::JavaParse,
                reason,
            ))),
            ..AggDslError::parsing(format!("Could not parse settings for model [{model}]."))
        }
    }
}
