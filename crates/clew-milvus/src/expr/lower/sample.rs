//! Some of the rows by chance, as `random_sample` asks for them: each with the same chance, by itself.

use std::hash::{BuildHasher, RandomState};

use clew_query::{BoostMode, FunctionKind, FunctionScore, Query, ScoreFunction, ScoreMode};
use serde_json::Value;

use super::{Lowered, Lowering};
use crate::expr::ExprError;
use crate::expr::tree::{Expr, Kind, Operator};

/// What the function is called.
pub(super) const SAMPLE: &str = "random_sample";
/// How much a sample differs at least from nothing and from everything.
const LEAST: f64 = 1e-10;

/// Refuses samples beside operators: they come last, of what an expression lets through.
pub(super) fn check_sides(at: usize, operator: Operator, left: &Expr, right: &Expr) -> Lowered<()> {
    let said = match operator {
        Operator::And if is_sample(left) => {
            "random sample expression can only be the last expression in the logical and expression"
        }
        Operator::Or if is_sample(left) || is_sample(right) => {
            "random sample expression cannot be used in logical and expression"
        }
        _ => return Ok(()),
    };
    Err(ExprError::at(at, said))
}

/// Refuses a sample that is negated.
pub(super) fn check_negated(at: usize, inner: &Expr) -> Lowered<()> {
    match is_sample(inner) {
        true => Err(ExprError::at(
            at,
            "random sample expression cannot be used in unary expression",
        )),
        false => Ok(()),
    }
}

/// Whether an expression is a sample of something.
fn is_sample(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Call { name, .. } => name == SAMPLE,
        Kind::Binary(Operator::And, _, last) => is_sample(last),
        _ => false,
    }
}

impl Lowering<'_> {
    /// Each row with a chance, which is another one whenever an expression is read.
    pub(super) fn sample(
        &self,
        at: usize,
        (arguments, named): (&[Expr], &[(String, Expr)]),
    ) -> Lowered<Query> {
        if self.around.is_some() {
            return Err(ExprError::unsupported(at, "a random sample of structs"));
        }
        let ([factor], []) = (arguments, named) else {
            return Err(ExprError::at(
                at,
                format!("sample factor missed: {SAMPLE} takes one number"),
            ));
        };
        let value = match &factor.kind {
            Kind::Template(_) => None,
            _ => self.literal(factor)?,
        };
        let value = value.ok_or_else(|| {
            ExprError::at(
                factor.at,
                "\"float factor\" should be a const float expression",
            )
        })?;
        // Whole numbers are no part of anything.
        let chance = match &value {
            Value::Number(number) if number.is_f64() => number.as_f64(),
            _ => None,
        };
        let within = |chance: &f64| *chance > LEAST && *chance < 1.0 - LEAST;
        let chance = chance.filter(within).ok_or_else(|| {
            ExprError::at(
                factor.at,
                format!(
                    "the sample factor should be between 0 and 1 and not too close to 0 or 1(the difference should be larger than 1e-10), but got {value}"
                ),
            )
        })?;
        Ok(by_chance(chance))
    }
}

/// Rows whose number by chance is among the greatest.
#[allow(
    clippy::cast_possible_truncation,
    reason = "chances have 24 bits, as scores do"
)]
fn by_chance(chance: f64) -> Query {
    let seed = RandomState::new().hash_one(SAMPLE);
    Query::FunctionScore(Box::new(FunctionScore {
        query: Box::new(Query::match_all()),
        functions: vec![ScoreFunction {
            filter: None,
            weight: None,
            kind: FunctionKind::Random {
                seed: Some(i64::from_ne_bytes(seed.to_ne_bytes())),
                field: None,
            },
        }],
        score_mode: ScoreMode::Multiply,
        boost_mode: BoostMode::Replace,
        max_boost: f32::MAX,
        min_score: Some((1.0 - chance) as f32),
        boost: 1.0,
    }))
}
