//! Rows from before a field was added: where the field has a default, that is what they are asked about.

use clew_query::{Operand, Query, Test};
use serde_json::Value;

use super::clauses::{all_of, any_of, constant, not, tested};
use super::{Lowered, Lowering};
use crate::collection::{DataType, Field};
use crate::expr::ExprError;
use crate::expr::tree::{Expr, Kind, Operator};

/// Most such fields of one comparison: each doubles what is asked.
const FIELDS_MAX: usize = 4;

impl Lowering<'_> {
    /// What a part without `and`, `or` and `not` means where it names a field that was added; none where it names none.
    pub(super) fn added(&self, expr: &Expr, negated: bool) -> Lowered<Option<Query>> {
        let is_whole = match &expr.kind {
            Kind::Not(_) | Kind::Binary(Operator::And | Operator::Or, ..) => false,
            // Others look into lists, or for words that are nearly so, which no default stands in for.
            Kind::Call { name, .. } => {
                matches!(name.as_str(), "starts_with" | "empty")
                    || Self::is_of_shapes(name)
                    || Self::is_of_words(name)
            }
            _ => true,
        };
        let mut fields = self.collection.fields.iter();
        let is_meant = |field: &&Field| {
            field.added_default().is_some()
                && !self.settled.contains(&field.name.as_str())
                && expr.any(&|one| names(one, field))
        };
        let Some(field) = fields.find(is_meant).filter(|_| is_whole) else {
            return Ok(None);
        };
        if self.settled.len() == FIELDS_MAX {
            return Err(ExprError::at(
                expr.at,
                format!("more than {FIELDS_MAX} fields that were added with a default"),
            ));
        }
        let mut settled = self.settled.clone();
        settled.push(&field.name);
        let inside = Lowering { settled, ..*self };
        // The index knows neither long texts nor shapes.
        let has = match self.by_document || field.data_type == DataType::Geometry {
            true => {
                let value = Operand::Field {
                    name: field.name.clone(),
                    steps: Vec::new(),
                };
                tested(Test::Exists(value), false)
            }
            false => Query::Exists {
                field: field.name.clone(),
                boost: 1.0,
            },
        };
        let given = inside.truth(expr, negated)?;
        let from_before = match &expr.kind {
            Kind::IsNull { negated: own, .. } => constant(*own != negated),
            Kind::Call {
                name,
                arguments,
                named,
            } if Self::is_of_words(name) => {
                let matches = self.default_matches(field, name, (arguments, named))?;
                constant(matches != negated)
            }
            _ => inside.truth(&with_default(expr, field), negated)?,
        };
        Ok(Some(any_of(vec![
            all_of(vec![has.clone(), given]),
            all_of(vec![not(has), from_before]),
        ])))
    }
}

fn names(expr: &Expr, field: &Field) -> bool {
    matches!(&expr.kind, Kind::Path(path) if path.name == field.name && path.steps.is_empty())
}

/// The same with a field's default where the field stands.
fn with_default(expr: &Expr, field: &Field) -> Expr {
    let mut expr = expr.clone();
    let mut left = vec![&mut expr];
    while let Some(one) = left.pop() {
        if names(one, field) {
            one.kind = match field.added_default() {
                Some(Value::Bool(value)) => Kind::Bool(*value),
                Some(Value::String(text)) => Kind::Text(text.clone()),
                Some(number) => match number.as_i64() {
                    Some(whole) => Kind::Integer(whole),
                    None => Kind::Float(number.as_f64().unwrap_or_default()),
                },
                None => continue,
            };
        }
        left.extend(one.children_mut());
    }
    expr
}
