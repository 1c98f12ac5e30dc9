//! What functions are of: the numbers of a document, read from one segment's columns.

use std::sync::Arc;

use clew_platform::mixed_bits;
use clew_query::{DecayShape, FeatureCurve, FieldModifier, ScriptError, ValueMode};
use clew_schema::geo::GeoPoint;
use tantivy::columnar::Column;
use tantivy::{DocId, SegmentReader};

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

    fn has(&self, doc: DocId) -> bool {
        match self {
            Numbers::None => false,
            Numbers::Whole(column) => column.index.has_value(doc),
            Numbers::Float(column) => column.index.has_value(doc),
            Numbers::Metres(column, _) => column.index.has_value(doc),
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
    Random {
        seed: u64,
        column: Option<NumberColumn>,
    },
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

/// A function over one segment.
pub(crate) struct OpenFunction {
    function: Function,
    numbers: Numbers,
    script: Option<OpenScript>,
    /// What tells this segment's documents from another's.
    salt: u64,
}

impl Function {
    pub(crate) fn open(&self, reader: &SegmentReader) -> tantivy::Result<OpenFunction> {
        let numbers = match self {
            Function::Constant | Function::Script(_) | Function::Random { column: None, .. } => {
                Numbers::None
            }
            Function::Field { column, .. }
            | Function::Decay { column, .. }
            | Function::Nearness { column, .. }
            | Function::Feature { column, .. }
            | Function::Random {
                column: Some(column),
                ..
            } => column.open(reader)?,
        };
        let salt = salt_of(reader);
        let script = match self {
            Function::Script(script) => Some(OpenScript::new(script.clone(), reader, salt)?),
            _ => None,
        };
        Ok(OpenFunction {
            function: self.clone(),
            numbers,
            script,
            salt,
        })
    }
}

impl OpenFunction {
    /// The path of the field that this document should have and lacks.
    pub(crate) fn lacking(&self, doc: DocId) -> Option<&str> {
        match &self.function {
            Function::Field {
                path,
                missing: None,
                ..
            } if !self.numbers.has(doc) => Some(path),
            _ => None,
        }
    }

    /// Whether every document has what the function needs, whichever it is.
    pub(crate) fn is_total(&self) -> bool {
        !matches!(self.function, Function::Field { missing: None, .. })
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
        match &self.script {
            Some(script) => script.checked(doc, score),
            None => Ok(self.plain(doc)),
        }
    }

    fn plain(&self, doc: DocId) -> f64 {
        match &self.function {
            // Scripts are told apart before.
            Function::Constant | Function::Script(_) => 1.0,
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
            Function::Random { seed, column } => {
                let own = match column {
                    Some(_) => self
                        .numbers
                        .pick(doc, ValueMode::Min, |value| value)
                        .map_or(0, f64::to_bits),
                    None => self.salt ^ u64::from(doc),
                };
                unit(mixed_bits(seed ^ mixed_bits(own)))
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

/// What tells a segment's documents from another's.
pub(crate) fn salt_of(reader: &SegmentReader) -> u64 {
    let id = reader.segment_id().uuid_string();
    id.bytes()
        .fold(0, |salt, byte| mixed_bits(salt ^ u64::from(byte)))
}

/// From 0 up to, but not, 1.
#[allow(
    clippy::cast_precision_loss,
    reason = "24 bits are left, which is what a score holds"
)]
pub(super) fn unit(number: u64) -> f64 {
    (number >> 40) as f64 / (1_u64 << 24) as f64
}
