//! Values of documents: what a path leads to, and what is counted with them.

use clew_query::{Arithmetic, FieldStep, Operand};
use serde_json::Value;

use super::literal::arithmetic_of;
use super::structs::{SELF, part_of};
use super::{Lowered, Lowering};
use crate::collection::{DYNAMIC, DataType, Field};
use crate::expr::ExprError;
use crate::expr::tree::{Expr, Kind, Path, Step};

/// What a path means.
pub(super) enum Place<'c> {
    /// A whole field that its index answers for.
    Indexed(&'c Field),
    /// Any other value of a document: a field's own, or one inside.
    Inside(Operand, Option<&'c Field>),
}

impl<'a> Lowering<'a> {
    pub(super) fn place(&self, at: usize, path: &Path) -> Lowered<Place<'a>> {
        let steps = |steps: &[Step]| steps.iter().map(step).collect::<Vec<_>>();
        if let Some(around) = self.around {
            let part = part_of(around, path);
            let mut fields = self.collection.fields.iter();
            let field = fields.find(|field| part.as_ref() == Some(&field.name));
            return field
                .map(Place::Indexed)
                .ok_or_else(|| no_part_inside(at, around, path));
        }
        if let Some(Step::Part(part)) = path.steps.last() {
            return self.numbered(at, path, part);
        }
        let is_part = path.name.ends_with(']');
        if is_part && self.collection.field(&path.name).is_err() {
            return Err(no_part(at, &path.name));
        }
        if is_part || self.collection.struct_field(&path.name).is_some() || path.name == SELF {
            return Err(ExprError::at(at, misplaced(path)));
        }
        let field = self
            .collection
            .fields
            .iter()
            .find(|field| field.name == path.name);
        let Some(field) = field else {
            if !self.collection.dynamic {
                return Err(ExprError::at(at, format!("field {} not exist", path.name)));
            }
            let mut inside = match path.name.as_str() {
                DYNAMIC => Vec::new(),
                name => vec![FieldStep::Member(name.to_string())],
            };
            inside.extend(steps(&path.steps));
            let operand = Operand::Field {
                name: DYNAMIC.to_string(),
                steps: inside,
            };
            return Ok(Place::Inside(operand, None));
        };
        if field.data_type.is_vector() {
            return Err(ExprError::at(
                at,
                format!("field {} is a vector and cannot be filtered by", field.name),
            ));
        }
        let deep = matches!(field.data_type, DataType::Json | DataType::Array);
        // Shapes stay in the document.
        let indexed = !deep && field.data_type != DataType::Geometry;
        if !path.steps.is_empty() && !deep {
            return Err(ExprError::at(
                at,
                format!(
                    "{} data type not supported accessed with []",
                    field.data_type.name()
                ),
            ));
        }
        if indexed && !field.is_text_alone() && !self.by_document {
            return Ok(Place::Indexed(field));
        }
        let operand = Operand::Field {
            name: field.name.clone(),
            steps: steps(&path.steps),
        };
        Ok(Place::Inside(operand, Some(field)))
    }

    /// A part of one of a row's structs, by the struct's number: `structs[0][part]`.
    fn numbered(&self, at: usize, path: &Path, part: &str) -> Lowered<Place<'a>> {
        let name = format!("{}[{part}]", path.name);
        let list = self.collection.struct_field(&path.name);
        let list = list.ok_or_else(|| no_part(at, &name))?;
        let mut parts = list.parts.iter();
        let field = parts.find(|own| list.part_name(own) == part);
        let field = field.ok_or_else(|| no_part(at, &name))?;
        if field.data_type.is_vector() {
            let why = format!("{name} is no scalar field of structs");
            return Err(ExprError::at(at, why));
        }
        let operand = Operand::Field {
            name: list.name.clone(),
            steps: path.steps.iter().map(step).collect(),
        };
        Ok(Place::Inside(operand, Some(field)))
    }

    /// A value as tests take it.
    pub(super) fn operand(&self, expr: &Expr) -> Lowered<Operand> {
        if let Some(value) = self.literal(expr)? {
            return Ok(Operand::Literal(value));
        }
        match &expr.kind {
            Kind::Path(path) => Ok(match self.place(expr.at, path)? {
                Place::Inside(operand, _) => operand,
                Place::Indexed(field) => Operand::Field {
                    name: field.name.clone(),
                    steps: Vec::new(),
                },
            }),
            Kind::Negative(inner) => {
                let zero = Box::new(Operand::Literal(Value::from(0)));
                Ok(Operand::Arithmetic(
                    Arithmetic::Subtract,
                    zero,
                    Box::new(self.number(inner)?),
                ))
            }
            Kind::Inverted(inner) => {
                let ones = Box::new(Operand::Literal(Value::from(-1)));
                Ok(Operand::Arithmetic(
                    Arithmetic::BitXor,
                    ones,
                    Box::new(self.number(inner)?),
                ))
            }
            Kind::Binary(operator, left, right) => match arithmetic_of(*operator) {
                Some(how) => {
                    let (left, right) = (self.number(left)?, self.number(right)?);
                    check_divisor(expr.at, how, &right)?;
                    Ok(Operand::Arithmetic(how, Box::new(left), Box::new(right)))
                }
                None => Err(ExprError::at(expr.at, "a comparison cannot be compared")),
            },
            Kind::Call {
                name,
                arguments,
                named,
            } if name == "array_length" && named.is_empty() => {
                let [list] = &arguments[..] else {
                    return Err(ExprError::at(expr.at, "array_length takes one field"));
                };
                if let Kind::Path(path) = &list.kind
                    && let Place::Indexed(field) = self.place(list.at, path)?
                {
                    return Err(ExprError::at(
                        list.at,
                        format!(
                            "array_length operation are only supported on json or array fields now, got: {}",
                            field.data_type.name()
                        ),
                    ));
                }
                Ok(Operand::Length(Box::new(self.operand(list)?)))
            }
            _ => Err(ExprError::at(expr.at, "expected a value")),
        }
    }

    /// A value that is no array field as a whole.
    pub(super) fn single(&self, expr: &Expr) -> Lowered<Operand> {
        if let Kind::Path(path) = &expr.kind
            && path.steps.is_empty()
            && let Place::Inside(_, Some(field)) = self.place(expr.at, path)?
            && field.data_type == DataType::Array
        {
            let why = "can not comparisons array fields directly";
            return Err(ExprError::at(expr.at, why));
        }
        self.operand(expr)
    }

    /// A value to count with.
    pub(super) fn number(&self, expr: &Expr) -> Lowered<Operand> {
        let operand = self.single(expr)?;
        let refuse = |what: String| {
            Err(ExprError::at(
                expr.at,
                format!("cannot calculate with {what}"),
            ))
        };
        if let Kind::Path(path) = &expr.kind
            && let Place::Indexed(field) = self.place(expr.at, path)?
            && matches!(field.data_type, DataType::VarChar | DataType::Bool)
        {
            return refuse(format!(
                "field {} of type {}",
                field.name,
                field.data_type.name()
            ));
        }
        match &operand {
            Operand::Literal(value) if !value.is_number() => refuse(value.to_string()),
            _ => Ok(operand),
        }
    }
}

/// What is said of structs, or a part of them, where each row has one value.
fn misplaced(path: &Path) -> String {
    match (path.name.as_str(), path.steps.first()) {
        (SELF, Some(Step::Member(part))) => {
            format!("$[{part}] syntax can only be used inside ElementFilter or MATCH_*")
        }
        (name, _) if name.ends_with(']') => "can not comparisons array fields directly".to_string(),
        (name, _) => format!("field {name} not exist"),
    }
}

/// What is said of a part that the structs of a condition do not have, and of anything else that is no part of them.
fn no_part_inside(at: usize, around: &str, path: &Path) -> ExprError {
    match (path.name.as_str(), path.steps.first()) {
        (SELF, Some(Step::Member(part))) => {
            let name = format!("{around}[{part}]");
            let why = format!("array field not found: {name}, error: field {name} not exist");
            ExprError::at(at, why)
        }
        _ => ExprError::at(
            at,
            "a condition of structs is one of their scalar fields, as in $[name]",
        ),
    }
}

/// What is said of a field of structs, or a part of one, that is not there.
fn no_part(at: usize, name: &str) -> ExprError {
    ExprError::at(
        at,
        format!("struct field not found: {name}, error: field {name} not exist"),
    )
}

/// Refuses to divide by nothing, which could be true of no row.
fn check_divisor(at: usize, how: Arithmetic, divisor: &Operand) -> Lowered<()> {
    let is_zero = |value: &Value| value.as_f64().is_some_and(|number| number == 0.0);
    let why = match (how, divisor) {
        (Arithmetic::Divide, Operand::Literal(value)) if is_zero(value) => "division by zero",
        (Arithmetic::Modulo, Operand::Literal(value)) if is_zero(value) => "modulo by zero",
        _ => return Ok(()),
    };
    Err(ExprError::at(at, why))
}

fn step(step: &Step) -> FieldStep {
    match step {
        Step::Member(name) => FieldStep::Member(name.clone()),
        Step::Element(number) => FieldStep::Element(*number),
        Step::Part(name) => FieldStep::Member(name.clone()),
    }
}
