//! Conditions of the structs of a row: an expression of their parts, and how many of them it must hold for.

use super::clauses::{all_of, constant, not, tested};
use super::{Lowered, Lowering};
use crate::collection::{Collection, StructField};
use crate::expr::ExprError;
use crate::expr::tree::{Expr, Kind, Operator, Path, Step};
use clew_query::{
    BoostMode, FunctionScore, JoinScore, NestedQuery, Operand, Query, ScoreMode, Test,
};

/// What stands for a struct in a condition of structs.
pub(super) const SELF: &str = "$";
/// Counts above this are no counts of structs.
pub(super) const COUNT_MAX: i64 = 1 << 20;

/// For how many structs of a row a condition must hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Many {
    Any,
    All,
    Least(i64),
    Most(i64),
    Exactly(i64),
}

impl<'a> Lowering<'a> {
    /// Whether this is the name of a function of structs.
    pub(super) fn is_of_structs(name: &str) -> bool {
        matches!(
            name,
            "element_filter"
                | "match_any"
                | "match_all"
                | "match_least"
                | "match_most"
                | "match_exact"
        )
    }

    pub(super) fn structs(
        &self,
        (at, name): (usize, &str),
        (arguments, named): (&[Expr], &[(String, Expr)]),
        negated: bool,
    ) -> Lowered<Query> {
        if let Some(around) = self.around {
            return Err(nested_call(at, name, around));
        }
        let (field, condition) = self.condition(at, name, arguments)?;
        let threshold = |option: Option<&(String, Expr)>, least: i64| {
            let (_, value) = option.ok_or_else(|| {
                ExprError::at(at, format!("{name} takes a threshold, as in threshold=2"))
            })?;
            let count = self.literal(value)?.and_then(|value| value.as_i64());
            count
                .filter(|count| (least..=COUNT_MAX).contains(count))
                .ok_or_else(|| ExprError::at(value.at, wrong_threshold(name, least, count)))
        };
        let option = named.iter().find(|(name, _)| name == "threshold");
        let many = match name {
            "element_filter" | "match_any" => Many::Any,
            "match_all" => Many::All,
            "match_least" => Many::Least(threshold(option, 1)?),
            "match_most" => Many::Most(threshold(option, 0)?),
            _ => Many::Exactly(threshold(option, 0)?),
        };
        let takes = usize::from(!matches!(many, Many::Any | Many::All));
        if named.len() > takes {
            return Err(ExprError::at(at, format!("{name} has no such option")));
        }
        let holds = match many {
            Many::Any => nested(field, parts(field, condition, false, self)?),
            Many::All => not(nested(field, parts(field, condition, true, self)?)),
            Many::Least(count) => at_least(field, &parts(field, condition, false, self)?, count),
            Many::Most(count) => not(at_least(
                field,
                &parts(field, condition, false, self)?,
                count + 1,
            )),
            Many::Exactly(count) => {
                let query = parts(field, condition, false, self)?;
                all_of(vec![
                    at_least(field, &query, count),
                    not(at_least(field, &query, count + 1)),
                ])
            }
        };
        let outcome = if negated { not(holds) } else { holds };
        Ok(known(field, outcome))
    }

    fn condition<'e>(
        &self,
        at: usize,
        name: &str,
        arguments: &'e [Expr],
    ) -> Lowered<(&'a StructField, &'e Expr)> {
        let wrong = || {
            ExprError::at(
                at,
                format!("{name} takes a field of structs and a condition"),
            )
        };
        let [list, condition] = arguments else {
            return Err(wrong());
        };
        let Kind::Path(Path { name, steps }) = &list.kind else {
            return Err(wrong());
        };
        if !steps.is_empty() {
            return Err(wrong());
        }
        let field = self.collection.struct_field(name);
        let field = field.ok_or_else(|| {
            ExprError::at(list.at, format!("field {name} is no field of structs"))
        })?;
        Ok((field, condition))
    }
}

/// What is said of a function of structs within the condition of another one.
fn nested_call(at: usize, name: &str, around: &str) -> ExprError {
    let (own, outer) = match name {
        "element_filter" => ("ElementFilter".to_string(), "ElementFilter"),
        other => (other.to_ascii_uppercase(), "match expression"),
    };
    let why = format!("nested {own} is not supported, already inside {outer} for field: {around}");
    ExprError::at(at, why)
}

fn wrong_threshold(name: &str, least: i64, given: Option<i64>) -> String {
    let name = name.to_ascii_uppercase();
    match given {
        Some(count) if count < least && least > 0 => {
            format!("count in {name} must be positive, got: {count}")
        }
        Some(count) if count < least => {
            format!("count in {name} cannot be negative, got: {count}")
        }
        _ => format!("threshold must be a whole number from {least} to {COUNT_MAX}"),
    }
}

/// The condition that structs of a field have to meet, if an expression filters by one that every row must.
pub(super) fn element_filter(
    expr: &Expr,
    field: &StructField,
    lowering: &Lowering<'_>,
) -> Lowered<Option<Query>> {
    let mut all = Vec::new();
    let mut left = vec![expr];
    while let Some(one) = left.pop() {
        match &one.kind {
            Kind::Binary(Operator::And, first, second) => left.extend([&**first, &**second]),
            Kind::Call {
                name, arguments, ..
            } if name == "element_filter" => {
                let (own, condition) = lowering.condition(one.at, name, arguments)?;
                if own.name == field.name {
                    all.push(parts(field, condition, false, lowering)?);
                }
            }
            _ => {}
        }
    }
    Ok((!all.is_empty()).then(|| all_of(all)))
}

/// A condition as a query of the nested objects that structs are.
fn parts(
    field: &StructField,
    condition: &Expr,
    negated: bool,
    lowering: &Lowering<'_>,
) -> Lowered<Query> {
    let inside = Collection::of_parts(field);
    let own = Lowering {
        around: Some(&field.name),
        ..Lowering::new(&inside, lowering.templates)
    };
    own.truth(condition, negated)
}

/// Rows of which something holds and that have a list: of no list nothing is known.
pub(super) fn known(field: &StructField, outcome: Query) -> Query {
    match field.nullable {
        true => all_of(vec![outcome, is_there(field, true)]),
        false => outcome,
    }
}

/// Rows that have a list of structs, or that have none.
pub(super) fn is_there(field: &StructField, there: bool) -> Query {
    if !field.nullable {
        return constant(there);
    }
    let list = Operand::Field {
        name: field.name.clone(),
        steps: Vec::new(),
    };
    tested(Test::Exists(list), !there)
}

pub(super) fn nested(field: &StructField, query: Query) -> Query {
    join(field, query, JoinScore::None)
}

fn join(field: &StructField, query: Query, score: JoinScore) -> Query {
    Query::Nested(NestedQuery {
        path: field.name.clone(),
        query: Box::new(query),
        score,
        ignore_unmapped: true,
        boost: 1.0,
    })
}

/// Rows with so many structs that match: each gives its row a score of 1.
pub(super) fn at_least(field: &StructField, query: &Query, count: i64) -> Query {
    match count {
        ..=0 => constant(true),
        1 => nested(field, query.clone()),
        _ => {
            let one = Query::ConstantScore {
                filter: Box::new(query.clone()),
                boost: 1.0,
            };
            #[allow(clippy::cast_precision_loss, reason = "counts are far smaller")]
            let least = count as f32 - 0.5;
            Query::FunctionScore(Box::new(FunctionScore {
                query: Box::new(join(field, one, JoinScore::Sum)),
                functions: Vec::new(),
                score_mode: ScoreMode::default(),
                boost_mode: BoostMode::default(),
                max_boost: f32::MAX,
                min_score: Some(least),
                boost: 1.0,
            }))
        }
    }
}

/// The part of a struct that a path means.
pub(super) fn part_of(around: &str, path: &Path) -> Option<String> {
    match (&path.name[..], &path.steps[..]) {
        (SELF, [Step::Member(part)]) => Some(format!("{around}.{part}")),
        _ => None,
    }
}
