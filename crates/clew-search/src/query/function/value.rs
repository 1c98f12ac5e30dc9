//! What functions are of: the numbers of a document, read from one segment's columns.

use std::sync::Arc;

use clew_query::{
    DecayShape, FeatureCurve, FieldModifier, NoScore, ScriptError, ScriptValue, ValueMode,
};
use clew_schema::{fraction_text, geo::GeoPoint};
use tantivy::columnar::Column;
use tantivy::{DocId, SegmentReader, TantivyError};

use super::chance::{Chance, OpenChance};
use super::script::{CompiledScript, OpenScript};

/// A column of numbers, by the name it has in every segment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NumberColumn {
    Whole(String),
    Float(String),
    Points(String, GeoPoint),
}

impl NumberColumn {
    pub(crate) fn open(&self, reader: &SegmentReader) -> tantivy::Result<Numbers> {
        let columns = reader.fast_fields();
        Ok(match self {
            NumberColumn::Whole(name) => columns
                .column_opt::<i64>(name)?
                .map_or(Numbers::None, Numbers::Whole),
            NumberColumn::Float(name) => columns
                .column_opt::<f64>(name)?
                .map_or(Numbers::None, Numbers::Float),
            NumberColumn::Points(name, origin) => columns
                .column_opt::<u64>(name)?
                .map_or(Numbers::None, |column| Numbers::Metres(column, *origin)),
        })
    }
}

/// The numbers of one segment's documents.
pub(crate) enum Numbers {
    None,
    Whole(Column<i64>),
    Float(Column<f64>),
    /// Distances of points from an origin.
    Metres(Column<u64>, GeoPoint),
}

impl Numbers {
    /// The document's number.
    pub(crate) fn pick(
        &self,
        doc: DocId,
        mode: ValueMode,
        change: impl Fn(f64) -> f64,
    ) -> Option<f64> {
        match self {
            Numbers::None => None,
            Numbers::Whole(column) => {
                mode.pick(column.values_for_doc(doc).map(|value| change(float(value))))
            }
            Numbers::Float(column) => mode.pick(column.values_for_doc(doc).map(change)),
            Numbers::Metres(column, origin) => {
                let metres = |code| GeoPoint::decode(code).metres_to(*origin);
                mode.pick(column.values_for_doc(doc).map(|code| change(metres(code))))
            }
        }
    }

    /// The document's numbers as Java writes them, or its points.
    pub(crate) fn texts(&self, doc: DocId) -> Vec<String> {
        let whole = |value| fraction_text(float(value));
        let point = |code| {
            let point = ScriptValue::Point(GeoPoint::decode(code));
            point.shown().into_owned()
        };
        match self {
            Numbers::None => Vec::new(),
            Numbers::Whole(column) => column.values_for_doc(doc).map(whole).collect(),
            Numbers::Float(column) => column.values_for_doc(doc).map(fraction_text).collect(),
            Numbers::Metres(column, _) => column.values_for_doc(doc).map(point).collect(),
        }
    }

    /// The smallest and the greatest number of all documents, at least.
    fn bounds(&self) -> Option<(f64, f64)> {
        match self {
            Numbers::None | Numbers::Metres(..) => None,
            Numbers::Whole(column) => Some((float(column.min_value()), float(column.max_value()))),
            Numbers::Float(column) => Some((column.min_value(), column.max_value())),
        }
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "scores have far less precision than this loses"
)]
fn float(value: i64) -> f64 {
    value as f64
}

/// A function whose parameters are understood.
#[derive(Clone, Debug)]
pub(crate) enum Function {
    Constant,
    Field {
        column: NumberColumn,
        path: String,
        factor: f64,
        modifier: FieldModifier,
        missing: Option<f64>,
    },
    Random(Chance),
    Decay {
        column: NumberColumn,
        /// Subtracted from the column's numbers; distances have theirs in them already.
        origin: f64,
        scale: f64,
        offset: f64,
        decay: f64,
        shape: DecayShape,
        mode: ValueMode,
    },
    /// `pivot / (pivot + distance)`.
    Nearness {
        column: NumberColumn,
        origin: f64,
        pivot: f64,
    },
    /// A curve over a feature's value.
    Feature {
        column: NumberColumn,
        curve: FeatureCurve,
    },
    /// What a script makes of the document.
    Script(Arc<CompiledScript>),
}

/// The refusal of a number that is no score.
fn negative(made: f64, value: f64, modifier: FieldModifier) -> TantivyError {
    let advice = match modifier {
        FieldModifier::Ln => "; consider using ln1p or ln2p instead of ln to avoid negative scores",
        FieldModifier::Log => {
            "; consider using log1p or log2p instead of log to avoid negative scores"
        }
        _ => "",
    };
    let made = match made.is_infinite() {
        true => "-Infinity".to_string(),
        false => format!("{made:?}"),
    };
    let reason = format!(
        "field value function must not produce negative scores, but got: [{made}] for field value: \
         [{value:?}]{advice}"
    );
    NoScore(reason).into()
}

/// A function over one segment.
pub(crate) struct OpenFunction {
    function: Function,
    numbers: Numbers,
    script: Option<OpenScript>,
    chance: Option<OpenChance>,
}

impl Function {
    pub(crate) fn open(&self, reader: &SegmentReader) -> tantivy::Result<OpenFunction> {
        let numbers = match self {
            Function::Constant | Function::Script(_) | Function::Random(_) => Numbers::None,
            Function::Field { column, .. }
            | Function::Decay { column, .. }
            | Function::Nearness { column, .. }
            | Function::Feature { column, .. } => column.open(reader)?,
        };
        let script = match self {
            Function::Script(script) => Some(OpenScript::new(script.clone(), reader)?),
            _ => None,
        };
        let chance = match self {
            Function::Random(chance) => Some(chance.open(reader)?),
            _ => None,
        };
        Ok(OpenFunction {
            function: self.clone(),
            numbers,
            script,
            chance,
        })
    }
}

impl OpenFunction {
    /// Why the function has no value for this document: its field is missing, or what comes of it is negative.
    pub(crate) fn refusal(&self, doc: DocId) -> Option<TantivyError> {
        let Function::Field {
            path,
            factor,
            modifier,
            missing,
            ..
        } = &self.function
        else {
            return None;
        };
        let value = self.numbers.pick(doc, ValueMode::Min, |value| value);
        match value.or(*missing) {
            None => {
                let reason = format!("Missing value for field [{path}]");
                Some(TantivyError::InvalidArgument(reason))
            }
            Some(value) => {
                let made = modifier.apply(value * factor);
                (made < 0.0).then(|| negative(made, value, *modifier))
            }
        }
    }

    /// Whether every document has a value of the function that may be a score, whichever it is.
    pub(crate) fn is_total(&self) -> bool {
        let Function::Field {
            factor,
            modifier,
            missing,
            ..
        } = &self.function
        else {
            return true;
        };
        let Some(missing) = missing else {
            return false;
        };
        let (low, high) = self.numbers.bounds().unwrap_or((*missing, *missing));
        let ends = [low, high, *missing];
        // The modifiers rise or fall with a number above nothing.
        ends.iter()
            .all(|end| end * factor >= 0.0 && modifier.apply(end * factor) >= 0.0)
    }

    /// Whether it is a script, which may fail.
    pub(crate) fn is_script(&self) -> bool {
        self.script.is_some()
    }

    /// Its value for a document that has this score.
    ///
    /// # Errors
    /// What a script fails with.
    pub(crate) fn value(&self, doc: DocId, score: f64) -> Result<f64, ScriptError> {
        match (&self.script, &self.chance) {
            (Some(script), _) => script.checked(doc, score),
            (None, Some(chance)) => Ok(chance.value(doc)),
            (None, None) => Ok(self.plain(doc)),
        }
    }

    fn plain(&self, doc: DocId) -> f64 {
        match &self.function {
            // Scripts and chance are told apart before.
            Function::Constant | Function::Script(_) | Function::Random(_) => 1.0,
            Function::Field {
                factor,
                modifier,
                missing,
                ..
            } => {
                // The first of several values counts, which in a column is the smallest in Lucene.
                let value = self.numbers.pick(doc, ValueMode::Min, |value| value);
                let value = value.or(*missing).unwrap_or(0.0);
                modifier.apply(value * factor)
            }
            Function::Decay {
                origin,
                scale,
                offset,
                decay,
                shape,
                mode,
                ..
            } => {
                let distance = |value: f64| ((value - origin).abs() - offset).max(0.0);
                // A document without a value is as near as can be.
                let distance = self.numbers.pick(doc, *mode, distance).unwrap_or(0.0);
                shape.at(distance, *scale, *decay)
            }
            Function::Feature { curve, .. } => self
                .numbers
                .pick(doc, ValueMode::Min, |value| curve.at(value))
                .unwrap_or(0.0),
            Function::Nearness { origin, pivot, .. } => self
                .numbers
                .pick(doc, ValueMode::Min, |value| (value - origin).abs())
                .map_or(0.0, |distance| pivot / (pivot + distance)),
        }
    }
}
