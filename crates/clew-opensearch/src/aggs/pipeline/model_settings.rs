//! The settings of the models of `moving_avg`: each model takes those that it has out of one object, and refuses what is
//! left in it. Settings that fit the data best are not looked for.

use serde_json::{Value, json};

use crate::aggs::body::Body;
use crate::aggs::java_order::java_order;
use crate::aggs::{AggDslError, AggDslErrorKind};

/// The settings of the models of `moving_avg`.
pub(super) struct ModelSettings {
    alpha: f64,
    beta: f64,
    gamma: f64,
    /// The buckets of a season.
    period: usize,
    /// Whether seasons multiply what lies below them, or are added to it.
    multiplies: bool,
}

impl ModelSettings {
    /// Reads those of a model.
    ///
    /// # Errors
    /// [`AggDslError`] in OpenSearch's words when one is none of the model's, or is no such value.
    pub(super) fn read(body: &mut Body<'_>, model: &str) -> Result<Self, AggDslError> {
        let mut read = ModelSettings {
            alpha: 0.3,
            beta: 0.1,
            gamma: 0.3,
            period: 1,
            multiplies: false,
        };
        let settings = match body.take("settings") {
            None => return Ok(read),
            Some(Value::Object(settings)) => settings,
            Some(other) => return Err(body.wrong("settings", other)),
        };
        let settings = settings.iter().map(|(key, value)| (key.as_str(), value));
        let mut given = Given {
            model,
            settings: settings.collect(),
        };
        let shares = match model {
            "ewma" => 1,
            "holt" => 2,
            "holt_winters" => 3,
            _ => 0,
        };
        let all = [
            ("alpha", &mut read.alpha),
            ("beta", &mut read.beta),
            ("gamma", &mut read.gamma),
        ];
        for (key, share) in all.into_iter().take(shares) {
            *share = given.share(key)?.unwrap_or(*share);
        }
        if model == "holt_winters" {
            read.period = given.period()?.unwrap_or(read.period);
            read.multiplies = given.multiplies()?;
            // Numbers are kept off zero wherever seasons multiply.
            given.pad()?;
        }
        given.end().map(|()| read)
    }

    /// How many buckets two seasons are, which a window must have.
    pub(super) fn two_seasons(&self, window: usize) -> Result<usize, AggDslError> {
        let needed = self.period.saturating_mul(2);
        if window < needed {
            return Err(AggDslError::illegal(format!(
                "Field [window] must be at least twice as large as the period when using \
                 Holt-Winters.  Value provided was [{window}], which is less than (2*period) == \
                 {needed}"
            )));
        }
        Ok(needed)
    }

    /// As the parameters of the script that the model is.
    pub(super) fn params(&self) -> Value {
        json!({
            "alpha": self.alpha, "beta": self.beta, "gamma": self.gamma,
            "period": self.period, "multiplies": self.multiplies,
        })
    }
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

    fn multiplies(&mut self) -> Result<bool, AggDslError> {
        match self.take("type") {
            None => Ok(false),
            Some(Value::String(name)) => match name.as_str() {
                "add" => Ok(false),
                "mult" => Ok(true),
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

    fn pad(&mut self) -> Result<(), AggDslError> {
        match self.take("pad") {
            None | Some(Value::Bool(_)) => Ok(()),
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
