//! Functions under a mapping: which column they read, and what their origins mean.

use std::sync::Arc;

use clew_query::{
    BoostMode, Decay, DistanceFeature, FunctionKind, FunctionScore, Query, QueryError,
    ScoreFunction, ScoreMode, Script, ScriptPurpose, milliseconds, seed_of,
};
use clew_schema::{
    FieldKind, MappedField, Rounding,
    geo::{DistanceUnit, GeoPoint, parse_distance},
};
use serde_json::Value;

use super::nested::blocks_of;
use super::script::{measure_clause, measured_field};
use super::{CompileContext, Compiler, Node};
use crate::query::constant::HasColumn;
use crate::query::function::chance::{Chance, Lots};
use crate::query::function::columns::ScriptColumn;
use crate::query::function::query::{FunctionQuery, Joining, NestedRows, WeighedFunction};
use crate::query::function::script::CompiledScript;
use crate::query::function::value::{Function, NumberColumn};
use crate::query::literal::text_of;

/// Functions of one query.
const FUNCTIONS_MAX: usize = 1024;

impl Compiler<'_> {
    pub(super) fn function_score(
        &mut self,
        query: &FunctionScore,
        factor: f32,
    ) -> Result<Node, QueryError> {
        if query.functions.len() > FUNCTIONS_MAX {
            return Err(QueryError::TooManyClauses { max: FUNCTIONS_MAX });
        }
        // Boosts are for the query's own score: what replaces it is not boosted.
        let inner = self.node(&query.query, query.boost * factor)?;
        if inner.is_nothing() {
            return Ok(inner);
        }
        let mut parts = Vec::with_capacity(query.functions.len());
        for function in &query.functions {
            if let Some(part) = self.function_part(function, &query.query)? {
                parts.push(part);
            }
        }
        let scope = self.scope.as_ref().map(|path| NestedRows {
            blocks: blocks_of(self.context.snapshot),
            path: path.clone(),
        });
        let node = Node::scored(
            Box::new(FunctionQuery {
                inner: inner.query,
                parts,
                scope,
                joining: Joining {
                    score_mode: query.score_mode,
                    boost_mode: query.boost_mode,
                    max_boost: f64::from(query.max_boost),
                    min_score: query.min_score,
                },
            }),
            1.0,
        );
        if query.min_score.is_some() {
            return Ok(node);
        }
        Ok(Node {
            at_least: inner.at_least,
            exact: inner.exact,
            ..node
        })
    }

    /// `None` when its filter matches nothing.
    fn function_part(
        &mut self,
        function: &ScoreFunction,
        query: &Query,
    ) -> Result<Option<WeighedFunction>, QueryError> {
        let filter = match &function.filter {
            None => None,
            Some(filter) => {
                let node = self.node(filter, 1.0)?;
                if node.is_nothing() {
                    return Ok(None);
                }
                Some(node.query)
            }
        };
        let kind = match &function.kind {
            FunctionKind::Script(script) => self.script(script, ScriptPurpose::Score, query)?,
            FunctionKind::Test(script) => self.script(script, ScriptPurpose::Filter, query)?,
            kind => self.function(kind)?,
        };
        Ok(Some(WeighedFunction {
            filter,
            weight: f64::from(function.weight.unwrap_or(1.0)),
            function: kind,
        }))
    }

    /// A script over the documents of a query.
    fn script(
        &self,
        script: &Script,
        purpose: ScriptPurpose,
        query: &Query,
    ) -> Result<Function, QueryError> {
        let mapping = &self.context.snapshot.mapping;
        let mut measures = Vec::new();
        for measure in script.measures() {
            let clause = measure_clause(query, measure);
            measured_field(&clause, mapping)?;
            let found = self.context.vectors.scored(&clause, self.scope.as_deref());
            measures.push(found.cloned().unwrap_or_default());
        }
        let known = (measures, self.context.now_ms);
        let compiled = CompiledScript::new(script, purpose, mapping, known);
        let compiled = compiled.over(self.context.snapshot)?;
        Ok(Function::Script(Arc::new(compiled)))
    }

    fn function(&self, kind: &FunctionKind) -> Result<Function, QueryError> {
        match kind {
            // Scripts are compiled where it is known what they are over.
            FunctionKind::Constant | FunctionKind::Script(_) | FunctionKind::Test(_) => {
                Ok(Function::Constant)
            }
            FunctionKind::FieldValue {
                field,
                factor,
                modifier,
                missing,
            } => {
                let column = match self.context.snapshot.mapping.field(field) {
                    Some(mapped) => number_column(mapped)?,
                    None if missing.is_some() => NumberColumn::Whole(field.clone()),
                    None => {
                        return Err(QueryError::illegal(format!(
                            "Unable to find a field mapper for field [{field}]. No 'missing' \
                             value defined."
                        )));
                    }
                };
                Ok(Function::Field {
                    column,
                    path: field.clone(),
                    factor: *factor,
                    modifier: *modifier,
                    missing: *missing,
                })
            }
            FunctionKind::Random { seed, field } => {
                let decides = field.as_deref().map(|path| self.deciding(path));
                Ok(Function::Random(Chance {
                    lots: Lots::of(self.context.snapshot),
                    seed: seed_of(seed.unwrap_or(self.context.now_ms)),
                    decides: decides.transpose()?,
                }))
            }
            FunctionKind::Decay(decay) => self.context.decay(decay),
        }
    }

    /// Where the values are by which chance goes.
    fn deciding(&self, path: &str) -> Result<ScriptColumn, QueryError> {
        let snapshot = self.context.snapshot;
        let column = match snapshot.mapping.field(path) {
            Some(mapped) => Some(ScriptColumn::of(mapped, &[])),
            None => ScriptColumn::beside(snapshot, path)?,
        };
        match column {
            Some(ScriptColumn::Refused(reason)) => Err(QueryError::create(reason)),
            Some(column) => Ok(column),
            None => Err(QueryError::create(format!(
                "Field [{path}] is not mapped on [{}] and cannot be used as a source of random \
                 numbers.",
                snapshot.index_name().unwrap_or_default()
            ))),
        }
    }

    pub(super) fn distance_feature(
        &self,
        feature: &DistanceFeature,
        factor: f32,
    ) -> Result<Node, QueryError> {
        let Some(mapped) = self.context.snapshot.mapping.field(&feature.field) else {
            return Ok(Node::nothing());
        };
        if !matches!(
            mapped.kind,
            FieldKind::Date { .. } | FieldKind::DateNanos { .. } | FieldKind::GeoPoint
        ) {
            return Err(QueryError::create(format!(
                "Illegal data type of [{}]![distance_feature] query can only be run on a date, \
                 date_nanos or geo_point field type!",
                mapped.kind.type_name()
            )));
        }
        // An origin that names only a day means its end.
        let place = self
            .context
            .place(mapped, Some(&feature.origin), Rounding::Up)?;
        let pivot = place.length(&feature.pivot, "pivot")?;
        if pivot <= 0.0 {
            return Err(QueryError::illegal(format!(
                "pivot must be > 0, got: {}",
                text_of(&feature.pivot)
            )));
        }
        let function = Function::Nearness {
            column: place.column,
            origin: place.origin,
            pivot,
        };
        Ok(of_column(mapped, function, feature.boost * factor))
    }
}

impl CompileContext<'_> {
    /// The curve of a field's distances.
    pub(crate) fn decay(&self, decay: &Decay) -> Result<Function, QueryError> {
        let Some(mapped) = self.snapshot.mapping.field(&decay.field) else {
            return Err(QueryError::illegal(format!(
                "unknown field [{}]",
                decay.field
            )));
        };
        let place = self.place(mapped, decay.origin.as_ref(), Rounding::Down)?;
        let scale = place.length(&decay.scale, "scale")?;
        let offset = match &decay.offset {
            Some(offset) => place.length(offset, "offset")?,
            None => 0.0,
        };
        if scale <= 0.0 {
            return Err(QueryError::create("function_score : scale must be > 0.0."));
        }
        if offset < 0.0 {
            return Err(QueryError::create("function_score : offset must be > 0.0"));
        }
        Ok(Function::Decay {
            column: place.column,
            origin: place.origin,
            scale,
            offset,
            decay: decay.decay,
            shape: decay.shape,
            mode: decay.mode,
        })
    }

    /// The column and the place in it that distances are measured from.
    fn place(
        &self,
        mapped: &MappedField,
        origin: Option<&Value>,
        rounding: Rounding,
    ) -> Result<Place, QueryError> {
        let missing = || {
            QueryError::illegal(format!(
                "both [scale] and [origin] must be set for field [{}].",
                mapped.path
            ))
        };
        match &mapped.kind {
            FieldKind::GeoPoint => {
                let point = GeoPoint::from_json(origin.ok_or_else(missing)?)
                    .and_then(GeoPoint::checked)
                    .map_err(QueryError::illegal)?;
                Ok(Place {
                    column: NumberColumn::Points(mapped.column(), point),
                    origin: 0.0,
                    unit: Unit::Metres,
                })
            }
            FieldKind::Date { .. } | FieldKind::DateNanos { .. } => {
                let (origin, unit) = self.moment(mapped, origin, rounding)?;
                Ok(Place {
                    column: NumberColumn::Whole(mapped.column()),
                    origin: number(&Value::from(origin)).unwrap_or(0.0),
                    unit,
                })
            }
            FieldKind::Integer(_) | FieldKind::Float(_) => {
                let origin = origin.ok_or_else(missing)?;
                Ok(Place {
                    column: number_column(mapped)?,
                    origin: number(origin).ok_or_else(|| {
                        QueryError::illegal(format!("[{}] is not a number", text_of(origin)))
                    })?,
                    unit: Unit::Number,
                })
            }
            other => Err(QueryError::illegal(format!(
                "field [{}] is of type [{}], but only numeric types are supported.",
                mapped.path,
                other.type_name()
            ))),
        }
    }

    /// The moment that distances are measured from, in the unit of the field's column: now, unless it is said.
    fn moment(
        &self,
        mapped: &MappedField,
        origin: Option<&Value>,
        rounding: Rounding,
    ) -> Result<(i64, Unit), QueryError> {
        let (now_ms, utc) = (self.now_ms, jiff::tz::TimeZone::UTC);
        let said = origin.zip(mapped.date_format());
        if let FieldKind::DateNanos { .. } = mapped.kind {
            let nanos = match said {
                Some((origin, format)) => {
                    format.parse_nanos_with_math_in(&text_of(origin), now_ms, rounding, &utc)?
                }
                None => now_ms.saturating_mul(1_000_000),
            };
            return Ok((nanos, Unit::Nanoseconds));
        }
        let millis = match said {
            Some((origin, format)) => {
                format.parse_with_math_in(&text_of(origin), now_ms, rounding, &utc)?
            }
            None => now_ms,
        };
        Ok((millis, Unit::Milliseconds))
    }
}

/// Where distances are measured from, and how they are written.
struct Place {
    column: NumberColumn,
    origin: f64,
    unit: Unit,
}

#[derive(Clone, Copy)]
enum Unit {
    Number,
    Milliseconds,
    Nanoseconds,
    Metres,
}

impl Place {
    fn length(&self, value: &Value, name: &str) -> Result<f64, QueryError> {
        let text = text_of(value);
        let wrong = || QueryError::illegal(format!("failed to parse [{name}] with value [{text}]"));
        match self.unit {
            Unit::Number => number(value).ok_or_else(wrong),
            Unit::Metres => {
                parse_distance(&text, DistanceUnit::metres()).map_err(QueryError::illegal)
            }
            Unit::Milliseconds => milliseconds(&text).ok_or_else(wrong),
            Unit::Nanoseconds => milliseconds(&text)
                .map(|length| length * 1e6)
                .ok_or_else(wrong),
        }
    }
}

/// The documents with a value in a field's column, scored by a function of it.
pub(super) fn of_column(mapped: &MappedField, function: Function, weight: f32) -> Node {
    let query = FunctionQuery {
        inner: Node::set(HasColumn(mapped.column()), 1.0).query,
        parts: vec![WeighedFunction {
            filter: None,
            weight: f64::from(weight),
            function,
        }],
        scope: None,
        joining: Joining {
            score_mode: ScoreMode::Multiply,
            boost_mode: BoostMode::Replace,
            max_boost: f64::MAX,
            min_score: None,
        },
    };
    Node::scored(Box::new(query), 1.0)
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
    .filter(|number: &f64| number.is_finite())
}

fn number_column(mapped: &MappedField) -> Result<NumberColumn, QueryError> {
    match mapped.kind {
        FieldKind::Integer(_) | FieldKind::Boolean | FieldKind::Date { .. } => {
            Ok(NumberColumn::Whole(mapped.column()))
        }
        FieldKind::Float(_) => Ok(NumberColumn::Float(mapped.column())),
        _ => Err(QueryError::illegal(format!(
            "field [{}] is of type [{}], but only numeric types are supported.",
            mapped.path,
            mapped.kind.type_name()
        ))),
    }
}
