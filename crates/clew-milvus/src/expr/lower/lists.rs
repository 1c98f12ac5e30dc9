//! Fields of structs as lists: how many structs a row has, and which values a part of them has.

use clew_query::Query;
use serde_json::Value;

use super::clauses::{all_of, constant, not, one_of};
use super::literal::{check_kind, exact};
use super::membership::Which;
use super::structs::{COUNT_MAX, at_least, known, nested};
use super::{Lowered, Lowering};
use crate::collection::{Collection, Field, StructField};
use crate::expr::ExprError;
use crate::expr::tree::{Expr, Kind, Operator, Path};

impl<'a> Lowering<'a> {
    /// The field of structs that is meant as a whole, by its own name or by that of a part, and the part.
    pub(super) fn list_of(&self, expr: &Expr) -> Option<(&'a StructField, Option<&'a Field>)> {
        let Kind::Path(Path { name, steps }) = &expr.kind else {
            return None;
        };
        if !steps.is_empty() || self.around.is_some() {
            return None;
        }
        self.collection.structs.iter().find_map(|field| {
            let part = field.parts.iter().find(|part| part.name == *name);
            (part.is_some() || field.name == *name).then_some((field, part))
        })
    }

    /// A comparison of how many structs a row has, if it is one.
    pub(super) fn count_comparison(
        &self,
        expr: &Expr,
        operator: Operator,
        value: &Value,
    ) -> Lowered<Option<Query>> {
        let Kind::Call {
            name,
            arguments,
            named,
        } = &expr.kind
        else {
            return Ok(None);
        };
        let [list] = &arguments[..] else {
            return Ok(None);
        };
        let is_length = name == "array_length" && named.is_empty();
        let Some((field, _)) = self.list_of(list).filter(|_| is_length) else {
            return Ok(None);
        };
        let count = value.as_i64().ok_or_else(|| {
            ExprError::at(
                expr.at,
                format!("the length of a list cannot be compared with {value}"),
            )
        })?;
        let every = constant(true);
        let least = |count: i64| at_least(field, &every, count.clamp(0, COUNT_MAX));
        let more = || least(count.saturating_add(1));
        let same = || all_of(vec![least(count), not(more())]);
        let outcome = match operator {
            Operator::GreaterEqual => least(count),
            Operator::Greater => more(),
            Operator::Less => not(least(count)),
            Operator::LessEqual => not(more()),
            Operator::Equal => same(),
            Operator::NotEqual => not(same()),
            _ => return Ok(None),
        };
        Ok(Some(known(field, outcome)))
    }

    /// Rows with structs of which a part has one of some values, or all of them, if that is what is asked.
    pub(super) fn part_contains(
        &self,
        list: &Expr,
        (at, values): (usize, &[Value]),
        (which, negated): (Which, bool),
    ) -> Lowered<Option<Query>> {
        let Some((field, Some(part))) = self.list_of(list) else {
            return Ok(None);
        };
        let inside = Collection::of_parts(field);
        let mut scalars = inside.fields.iter();
        let Some(own) = scalars.find(|own| own.name == part.path()) else {
            return Ok(None);
        };
        let mut wanted = Vec::with_capacity(values.len());
        for value in values {
            check_kind(at, own.data_type, &part.name, value)?;
            wanted.extend(exact(own, value));
        }
        // A value that no struct can have is among none of them.
        let lost = wanted.len() < values.len();
        let holds = match which {
            Which::Any => nested(field, one_of(&own.name, wanted)),
            Which::One | Which::All if lost => Query::MatchNone,
            Which::One | Which::All => {
                let has = |value: Value| nested(field, Query::term(&own.name, value));
                all_of(wanted.into_iter().map(has).collect())
            }
        };
        let outcome = if negated { not(holds) } else { holds };
        Ok(Some(known(field, outcome)))
    }
}
