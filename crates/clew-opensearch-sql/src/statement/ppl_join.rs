//! `join` of PPL: rows of another source beside those so far.

use crate::error::SqlError;
use crate::statement::expr::{Expr, Op, conjuncts};
use crate::statement::plan::{Join, JoinKind, Plan, Rows, Stage};
use crate::statement::ppl::pipeline;
use crate::statement::sources::{all_of, whole};
use crate::statement::words::Parser;

/// Reads `[inner|cross|left|right|full [outer]|left semi|left anti] join`: how the rows are joined.
pub(crate) fn joins(parser: &mut Parser<'_>) -> Option<JoinKind> {
    let known: [(&[&str], JoinKind); 14] = [
        (&["join"], JoinKind::Inner),
        (&["inner", "join"], JoinKind::Inner),
        (&["cross", "join"], JoinKind::Inner),
        (&["left", "join"], JoinKind::Left),
        (&["outer", "join"], JoinKind::Left),
        (&["left", "outer", "join"], JoinKind::Left),
        (&["right", "join"], JoinKind::Right),
        (&["right", "outer", "join"], JoinKind::Right),
        (&["full", "join"], JoinKind::Full),
        (&["full", "outer", "join"], JoinKind::Full),
        (&["semi", "join"], JoinKind::Semi),
        (&["left", "semi", "join"], JoinKind::Semi),
        (&["anti", "join"], JoinKind::Anti),
        (&["left", "anti", "join"], JoinKind::Anti),
    ];
    let found = known.iter().find(|(words, _)| parser.keywords(words));
    found.map(|(_, kind)| *kind)
}

/// `left = l right = r on l.x = r.y source`. The source is an index or stands in brackets.
pub(crate) fn join(
    parser: &mut Parser<'_>,
    kind: JoinKind,
    stages: &mut Vec<Stage>,
) -> Result<(), SqlError> {
    let (mut left, mut right) = (None, None);
    loop {
        let side = if parser.is_keyword(0, "left") {
            &mut left
        } else if parser.is_keyword(0, "right") {
            &mut right
        } else {
            break;
        };
        parser.at += 1;
        parser.expect("=")?;
        *side = Some(parser.name()?);
        parser.symbol(",");
    }
    let on = if parser.keyword("on") || parser.keyword("where") {
        conjuncts(parser.expr()?)
    } else {
        Vec::new()
    };
    let mut other = source(parser)?;
    let alias = if parser.keyword("as") {
        Some(parser.name()?)
    } else {
        None
    };
    let right = alias.or(right).or_else(|| other.indices.clone());
    let right = right.unwrap_or_default();
    stages.extend(left.map(Stage::Qualify));
    other.stages.push(Stage::Qualify(right.clone()));
    let number = parser.done_before(whole(other), true)?;
    let (mut keys, mut others) = (Vec::new(), Vec::new());
    for expr in on {
        match key(&expr, &format!("{right}.")) {
            Some(key) => keys.push(key),
            None => others.push(expr),
        }
    }
    stages.push(Stage::Join(Join {
        kind,
        rows: Rows::Of(number),
        keys,
        condition: all_of(others),
    }));
    Ok(())
}

fn source(parser: &mut Parser<'_>) -> Result<Plan, SqlError> {
    if parser.symbol("[") {
        parser.deeper()?;
        let plan = pipeline(parser)?;
        parser.depth -= 1;
        parser.expect("]")?;
        return Ok(plan);
    }
    Ok(Plan {
        indices: Some(parser.indices(true)?),
        ..Plan::default()
    })
}

/// The two sides of an equality, where only one is of the other source.
fn key(expr: &Expr, prefix: &str) -> Option<(Expr, Expr)> {
    let Expr::Binary(Op::Equal, left, right) = expr else {
        return None;
    };
    let names = |expr: &Expr| {
        let mut names = Vec::new();
        expr.columns(&mut names);
        names
    };
    let is_other = |expr: &Expr| {
        let names = names(expr);
        !names.is_empty() && names.iter().all(|name| name.starts_with(prefix))
    };
    let is_own = |expr: &Expr| {
        let names = names(expr);
        let is_foreign = |name: &String| name.starts_with(prefix) || name.starts_with('#');
        !names.is_empty() && !names.iter().any(is_foreign)
    };
    if is_own(left) && is_other(right) {
        return Some(((**left).clone(), (**right).clone()));
    }
    (is_own(right) && is_other(left)).then(|| ((**right).clone(), (**left).clone()))
}
