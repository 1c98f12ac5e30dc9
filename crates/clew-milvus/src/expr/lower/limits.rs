//! What the engine compiles of a query, held against what an expression became.

use clew_query::Query;

use super::Lowered;
use crate::expr::ExprError;

/// Most clauses: the engine compiles 1,024, and a request adds some.
const CLAUSES_MAX: usize = 1_000;
/// How deep they may be nested: the engine's depth is 30, and a request adds some.
const DEPTH_MAX: usize = 24;

/// Refuses what the engine would.
pub(super) fn check(query: &Query, at: usize) -> Lowered<()> {
    let mut clauses = 0;
    let mut left = vec![(query, 1)];
    while let Some((query, depth)) = left.pop() {
        if depth > DEPTH_MAX {
            return Err(ExprError::at(
                at,
                format!("the conditions are nested deeper than {DEPTH_MAX}"),
            ));
        }
        let inside = query.children();
        if inside.is_empty() {
            clauses += 1;
        }
        if clauses > CLAUSES_MAX {
            return Err(ExprError::at(
                at,
                format!("the expression has more than {CLAUSES_MAX} conditions"),
            ));
        }
        left.extend(inside.into_iter().map(|inside| (inside, depth + 1)));
    }
    Ok(())
}
