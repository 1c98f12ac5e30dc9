//! Shapes of geometry fields: how they lie to another one, and how near a point they are.

use clew_query::{Operand, PlanarRelation, PlanarShape, Query, ShapeTest, Test};
use serde_json::Value;

use super::clauses::tested;
use super::operand::Place;
use super::{Lowered, Lowering};
use crate::collection::DataType;
use crate::expr::ExprError;
use crate::expr::tree::{Expr, Kind};

/// What a shape that is written in an expression is called.
const SHAPE: &str = "WKT string";
const NEAR: &str = "st_dwithin";
const IS_VALID: &str = "st_isvalid";

/// Functions that hold a shape against another one.
const RELATIONS: [(&str, PlanarRelation); 7] = [
    ("st_equals", PlanarRelation::Equals),
    ("st_touches", PlanarRelation::Touches),
    ("st_overlaps", PlanarRelation::Overlaps),
    ("st_crosses", PlanarRelation::Crosses),
    ("st_contains", PlanarRelation::Contains),
    ("st_intersects", PlanarRelation::Intersects),
    ("st_within", PlanarRelation::Within),
];

impl Lowering<'_> {
    /// Whether a function is one of shapes.
    pub(super) fn is_of_shapes(name: &str) -> bool {
        matches!(name, NEAR | IS_VALID) || relation_of(name).is_some()
    }

    /// What one of these functions asks for.
    pub(super) fn shapes(
        &self,
        (at, name): (usize, &str),
        arguments: &[Expr],
        negated: bool,
    ) -> Lowered<Query> {
        let count = match name {
            NEAR => 3,
            IS_VALID => 1,
            _ => 2,
        };
        if arguments.len() != count {
            let why = format!("{name} takes {count} arguments, not {}", arguments.len());
            return Err(ExprError::at(at, why));
        }
        let shape = self.shape_field(name, &arguments[0])?;
        let test = match relation_of(name) {
            Some(relation) => {
                let (text, _) = self.shape(&arguments[1])?;
                ShapeTest::Relates(relation, text)
            }
            None if name == NEAR => self.near(&arguments[1], &arguments[2])?,
            None => ShapeTest::IsValid,
        };
        Ok(tested(Test::Shape(shape, test), negated))
    }

    /// The shapes of the rows, or the one that stands for those of rows from before the field.
    fn shape_field(&self, name: &str, field: &Expr) -> Lowered<Operand> {
        if let Kind::Text(default) = &field.kind
            && !self.settled.is_empty()
        {
            return Ok(Operand::Literal(Value::from(default.as_str())));
        }
        if let Kind::Path(path) = &field.kind
            && let Place::Inside(operand, Some(own)) = self.place(field.at, path)?
            && own.data_type == DataType::Geometry
        {
            return Ok(operand);
        }
        let why =
            format!("spatial operation are only supported on geometry fields now, got: {name}");
        Err(ExprError::at(field.at, why))
    }

    /// A shape that is written in the expression, and its text.
    fn shape(&self, expr: &Expr) -> Lowered<(String, PlanarShape)> {
        let text = self.text(expr, SHAPE)?;
        match PlanarShape::read(&text) {
            Ok(shape) => Ok((text, shape)),
            Err(why) => Err(ExprError::at(expr.at, format!("invalid {SHAPE}: {why}"))),
        }
    }

    /// Shapes that are so many metres from a point.
    fn near(&self, point: &Expr, metres: &Expr) -> Lowered<ShapeTest> {
        let (text, shape) = self.shape(point)?;
        let Some((x, y)) = shape.point() else {
            let why = format!("only supports a point for {NEAR}, got: {text}");
            return Err(ExprError::at(point.at, why));
        };
        let distance = match self.literal(metres)? {
            Some(Value::Number(number)) => number.as_f64(),
            _ => None,
        };
        match distance {
            Some(metres) if metres >= 0.0 => Ok(ShapeTest::Near { x, y, metres }),
            Some(less) => Err(ExprError::at(
                metres.at,
                format!("distance parameter must be non-negative, got: {less}"),
            )),
            None => Err(ExprError::at(
                metres.at,
                "distance parameter must be a constant numeric value",
            )),
        }
    }
}

fn relation_of(name: &str) -> Option<PlanarRelation> {
    let mut relations = RELATIONS.iter();
    relations.find(|row| row.0 == name).map(|row| row.1)
}
