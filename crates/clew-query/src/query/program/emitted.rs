//! What scripts of derived fields emit: values, one by one, of which a document may have none.

use clew_schema::geo::GeoPoint;
use serde_json::{Number, Value, json};

use super::run::Machine;
use super::value::ScriptValue;
use super::{Script, ScriptDocument};
use crate::error::{ScriptError, ScriptErrorKind};

/// The call that emits.
pub(super) const EMIT: &str = "emit";

/// What a script may emit of one document, in bytes.
const EMITTED_BYTES_MAX: usize = 1 << 20;

/// A value that a script emits.
#[derive(Clone, Debug, PartialEq)]
pub enum Emitted {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Whole(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
    /// A place.
    Point(GeoPoint),
}

impl Emitted {
    fn of(value: &ScriptValue<'_>) -> Result<Self, ScriptError> {
        Ok(match value {
            ScriptValue::Bool(truth) => Emitted::Bool(*truth),
            ScriptValue::Whole(number) => Emitted::Whole(*number),
            ScriptValue::Float(number) => Emitted::Float(*number),
            ScriptValue::Text(text) => Emitted::Text(text.to_string()),
            other => {
                return Err(ScriptError::argument(format!(
                    "Unsupported object type passed in emit() - {}",
                    other.shown()
                )));
            }
        })
    }

    /// What it counts for, in bytes.
    fn bytes(&self) -> usize {
        match self {
            Emitted::Bool(_) => 1,
            Emitted::Whole(_) | Emitted::Float(_) => 8,
            Emitted::Text(text) => text.len(),
            Emitted::Point(_) => 16,
        }
    }

    /// The same as JSON; what JSON has no number for is null.
    pub fn to_json(&self) -> Value {
        match self {
            Emitted::Bool(truth) => Value::Bool(*truth),
            Emitted::Whole(number) => Value::from(*number),
            Emitted::Float(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
            Emitted::Text(text) => Value::from(text.as_str()),
            Emitted::Point(point) => json!({"lat": point.lat, "lon": point.lon}),
        }
    }
}

/// What a run has emitted.
#[derive(Debug, Default)]
pub(super) struct AllEmitted {
    values: Vec<Emitted>,
    bytes: usize,
}

impl AllEmitted {
    fn push(&mut self, value: Emitted) -> Result<(), ScriptError> {
        self.bytes = self.bytes.saturating_add(value.bytes());
        if self.bytes > EMITTED_BYTES_MAX {
            return Err(ScriptError::new(
                ScriptErrorKind::State,
                "Exceeded maximum allowed byte size for emitted values",
            ));
        }
        self.values.push(value);
        Ok(())
    }
}

impl Machine<'_, '_> {
    /// Emits a value, or a place by its latitude and longitude; nothing is emitted of null.
    pub(super) fn emit(&mut self, arguments: &[ScriptValue<'_>]) -> Result<(), ScriptError> {
        match arguments {
            [] | [ScriptValue::Null] => Ok(()),
            [value] => self.emitted.push(Emitted::of(value)?),
            [lat, lon, ..] => {
                let degrees =
                    |value: &ScriptValue<'_>| value.number().ok_or_else(|| value.no_cast("double"));
                let (lat, lon) = (degrees(lat)?, degrees(lon)?);
                self.emitted.push(Emitted::Point(GeoPoint { lat, lon }))
            }
        }
    }
}

impl Script {
    /// What it emits of a document: of a script for [`ScriptPurpose::Derived`](super::ScriptPurpose::Derived), in the
    /// order in which it does.
    ///
    /// # Errors
    /// As [`Script::run`]; it may emit too much, or what cannot be emitted, too.
    pub fn emitted<'a>(
        &'a self,
        document: &mut dyn ScriptDocument<'a>,
    ) -> Result<Vec<Emitted>, ScriptError> {
        let mut machine = Machine::new(self, document);
        machine.run().map_err(|error| error.of(&self.source))?;
        Ok(std::mem::take(&mut machine.emitted.values))
    }

    /// Whether it may look at documents' sources: their name cannot be computed.
    pub fn may_read_source(&self) -> bool {
        self.source.contains("_source")
    }
}
