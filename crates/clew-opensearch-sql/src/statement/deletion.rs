//! `DELETE`, as it is written.

use crate::error::SqlError;
use crate::statement::plan::{Plan, Stage};
use crate::statement::words::Parser;

/// `FROM indices [WHERE condition]`, of which the word before it was read.
pub(crate) fn deletion(parser: &mut Parser<'_>) -> Result<Plan, SqlError> {
    parser.expect_keyword("from")?;
    let indices = parser.indices(true)?;
    let mut stages = Vec::new();
    if parser.keyword("where") {
        stages.push(Stage::Filter(parser.expr()?));
    }
    if !parser.windows.is_empty() {
        return Err(SqlError::semantic(
            "a window function cannot be used in WHERE",
        ));
    }
    Ok(Plan {
        indices: Some(indices),
        stages,
        subqueries: std::mem::take(&mut parser.subqueries),
    })
}
