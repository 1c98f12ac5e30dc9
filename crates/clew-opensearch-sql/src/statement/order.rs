//! Lists of a SELECT: what is shown, the keys of its groups and its order; and its limit.

use crate::error::SqlError;
use crate::statement::expr::Expr;
use crate::statement::plan::{Output, SortKey};
use crate::statement::select::output;
use crate::statement::words::Parser;

/// Keys of groups or of an order: each is looked at for every row.
const KEYS_MAX: usize = 200;
/// Stars that are shown, each of which is all columns of its source.
const STARS_MAX: usize = 50;

/// What is shown.
pub(crate) fn outputs(parser: &mut Parser<'_>) -> Result<Vec<Output>, SqlError> {
    let outputs = parser.list(output)?;
    check_stars(&outputs)?;
    Ok(outputs)
}

/// Refuses more stars than sources can be joined.
pub(crate) fn check_stars(outputs: &[Output]) -> Result<(), SqlError> {
    let stars = outputs.iter().filter(|output| output.expr == Expr::Star);
    let count = stars.count();
    if count > STARS_MAX {
        return Err(SqlError::too_large(format!(
            "the query shows [{count}] stars at once, more than {STARS_MAX}"
        )));
    }
    Ok(())
}

/// The keys of groups, and their order where one is said: `GROUP BY city DESC`.
pub(crate) fn group_keys(parser: &mut Parser<'_>) -> Result<(Vec<Output>, Vec<SortKey>), SqlError> {
    let mut order = Vec::new();
    let keys = parser.list(|parser| {
        let key = output(parser)?;
        let descending = parser.keyword("desc");
        if descending || parser.keyword("asc") {
            order.push(SortKey {
                expr: key.expr.clone(),
                descending,
                nulls_first: !descending,
            });
        }
        Ok(key)
    })?;
    check_keys(keys.len())?;
    Ok((keys, order))
}

/// What rows are ordered by.
pub(crate) fn sort_keys(parser: &mut Parser<'_>) -> Result<Vec<SortKey>, SqlError> {
    let keys = parser.list(sort_key)?;
    check_keys(keys.len())?;
    Ok(keys)
}

/// Refuses more keys than rows are grouped or ordered by.
pub(crate) fn check_keys(count: usize) -> Result<(), SqlError> {
    if count > KEYS_MAX {
        return Err(SqlError::too_large(format!(
            "the query groups or orders by [{count}] keys, more than {KEYS_MAX}"
        )));
    }
    Ok(())
}

fn sort_key(parser: &mut Parser<'_>) -> Result<SortKey, SqlError> {
    let expr = parser.expr()?;
    let descending = !parser.keyword("asc") && parser.keyword("desc");
    let nulls_first = if parser.keywords(&["nulls", "first"]) {
        true
    } else {
        !parser.keywords(&["nulls", "last"]) && !descending
    };
    Ok(SortKey {
        expr,
        descending,
        nulls_first,
    })
}

/// `LIMIT count OFFSET offset` or `LIMIT offset, count`.
pub(crate) fn limit(parser: &mut Parser<'_>) -> Result<(usize, usize), SqlError> {
    let first = parser.count()?;
    if parser.symbol(",") {
        return Ok((parser.count()?, first));
    }
    let offset = if parser.keyword("offset") {
        parser.count()?
    } else {
        0
    };
    Ok((first, offset))
}
