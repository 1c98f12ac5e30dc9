//! Whether an expression says one value of the partition key, as collections ask for whose partition keys are kept apart.

use super::tree::{Expr, Kind, Operator};
use crate::error::{MilvusError, Result};

/// How deep an expression is looked into; what lies deeper says nothing of the key.
const DEPTH_MAX: usize = 256;

/// Refuses expressions that do not hold the key to one value.
///
/// # Errors
/// In Milvus' words.
pub(super) fn check(expr: &Expr, key: &str) -> Result<()> {
    match says_key(expr, key, 0) {
        Ok(true) => Ok(()),
        Ok(false) => Err(not_found()),
        Err(what) => Err(MilvusError::invalid(format!(
            "partition key isolation does not support {what}"
        ))),
    }
}

/// What is said where the key is not spoken of.
pub(super) fn not_found() -> MilvusError {
    MilvusError::invalid(
        "partition key not found in expr or the expr is invalid when validating partition key isolation",
    )
}

/// Whether an expression holds the key to one value, or else what it does with it that is not taken.
fn says_key(expr: &Expr, key: &str, depth: usize) -> std::result::Result<bool, &'static str> {
    if depth > DEPTH_MAX {
        return Ok(false);
    }
    let inside = |expr: &Expr| says_key(expr, key, depth + 1);
    match &expr.kind {
        Kind::Binary(Operator::And, left, right) => {
            if is_range(left, right, key) {
                return Err("BinaryRange");
            }
            let (left, right) = (inside(left)?, inside(right)?);
            Ok(left || right)
        }
        Kind::Binary(Operator::Or, left, right) => {
            let (left, right) = (inside(left)?, inside(right)?);
            if left || right { Err("OR") } else { Ok(false) }
        }
        Kind::Not(inner) => match inside(inner)? {
            true => Err("NOT"),
            false => Ok(false),
        },
        Kind::In { value, .. } if is_key(value, key) => Err("IN"),
        Kind::Binary(operator, left, right) => {
            let (operator, other) = match (is_key(left, key), is_key(right, key)) {
                (true, false) => (*operator, right),
                (false, true) => (operator.mirrored(), left),
                _ => return Ok(false),
            };
            match operator {
                // Another field is no one value.
                _ if matches!(other.kind, Kind::Path(_)) => Ok(false),
                Operator::Equal => Ok(true),
                other => name_of(other).map_or(Ok(false), Err),
            }
        }
        _ => Ok(false),
    }
}

fn is_key(expr: &Expr, key: &str) -> bool {
    matches!(&expr.kind, Kind::Path(path) if path.name == key && path.steps.is_empty())
}

/// Whether two comparisons are one of the key between two bounds.
fn is_range(left: &Expr, right: &Expr, key: &str) -> bool {
    match (&left.kind, &right.kind) {
        (Kind::Binary(first, _, middle), Kind::Binary(second, again, _)) => {
            first.is_order() && second.is_order() && is_key(middle, key) && is_key(again, key)
        }
        _ => false,
    }
}

/// Milvus' name of a comparison.
fn name_of(operator: Operator) -> Option<&'static str> {
    Some(match operator {
        Operator::NotEqual => "NotEqual",
        Operator::Less => "LessThan",
        Operator::LessEqual => "LessEqual",
        Operator::Greater => "GreaterThan",
        Operator::GreaterEqual => "GreaterEqual",
        Operator::Like => "Match",
        Operator::Matches | Operator::MatchesNot => "RegexMatch",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_held_to_one_value() {
        let said = |text: &str| match check(&crate::expr::parse(text).unwrap().expr, "key") {
            Ok(()) => "taken".to_string(),
            Err(error) => error.to_string(),
        };
        for text in [
            "key == 10",
            "10 == key",
            "key == {k}",
            "key == 10 and (a == 'x' or a == 'y')",
            "(a == 'x' || a == 'y') && key == 10",
            "key == (1 + 1)",
            "a in [1] and not (b > 3) and key == 1",
        ] {
            assert_eq!(said(text), "taken", "{text}");
        }
        for (text, what) in [
            ("key != 10", "NotEqual"),
            ("key in [10]", "IN"),
            ("key not in [10]", "IN"),
            ("key < 10", "LessThan"),
            ("key <= 10", "LessEqual"),
            ("key > 10", "GreaterThan"),
            ("10 >= key", "LessEqual"),
            ("1 < key < 10", "BinaryRange"),
            ("not (key == 10)", "NOT"),
            ("key == 10 or a == 1", "OR"),
            ("key == 10 and key > 3", "GreaterThan"),
        ] {
            let want =
                format!("partition key isolation does not support {what}: invalid parameter");
            assert_eq!(said(text), want, "{text}");
        }
        for text in ["a == 1", "a == 1 or b == 2", "key is null", "key == a_2"] {
            let said = said(text);
            assert!(
                said.starts_with("partition key not found in expr"),
                "{text}: {said}"
            );
        }
    }
}
