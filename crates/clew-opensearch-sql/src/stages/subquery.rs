//! What SELECTs inside of SELECTs brought: their values and rows, put where they stand in the statement.

use std::sync::Arc;

use serde_json::Value;

use crate::error::SqlError;
use crate::statement::expr::Expr;
use crate::statement::plan::{Plan, ROWS_MAX, Rows, Stage};
use crate::statement::subquery::COLUMN;
use crate::table::Table;

/// What a subquery brought.
pub(crate) enum SubqueryResult {
    Values(Vec<Value>),
    Rows(Arc<Table>),
}

impl SubqueryResult {
    /// What a statement wants of a table.
    pub(crate) fn of(table: Table, is_rows: bool) -> Result<Self, SqlError> {
        Ok(match is_rows {
            true => SubqueryResult::Rows(Arc::new(table)),
            false => SubqueryResult::Values(values(table.shown())?),
        })
    }
}

/// The values of the only column of a subquery's rows, but for those that are not known.
///
/// # Errors
/// Several columns, or so many rows that there may be more of them.
fn values(table: Table) -> Result<Vec<Value>, SqlError> {
    if table.columns.0.len() != 1 {
        return Err(SqlError::semantic(format!(
            "a subquery in a condition needs one column, not [{}]",
            table.columns.0.len()
        )));
    }
    if table.rows.len() >= ROWS_MAX {
        return Err(SqlError::semantic(format!(
            "a subquery in a condition may have fewer than {ROWS_MAX} rows"
        )));
    }
    let values = table.rows.into_iter().flatten();
    Ok(values.filter(|value| !value.is_null()).collect())
}

impl Plan {
    /// Puts the values of subqueries where their columns stand, and their rows where they are joined.
    ///
    /// # Errors
    /// Several values where there is room for one.
    pub(crate) fn with_values(&mut self, found: &[SubqueryResult]) -> Result<(), SqlError> {
        let mut has_several = false;
        for rows in self.stages.iter_mut().filter_map(Stage::rows_mut) {
            if let Rows::Of(number) = *rows
                && let Some(SubqueryResult::Rows(table)) = found.get(number)
            {
                *rows = Rows::Made(table.clone());
            }
        }
        for expr in self.stages.iter_mut().flat_map(Stage::exprs_mut) {
            let new = expr.clone().replaced(&mut |part| {
                if let Expr::In(of, list) = part
                    && let [column] = list.as_slice()
                    && let Some(values) = values_of(column, found)
                {
                    let list = values.iter().cloned().map(Expr::Literal);
                    return Some(Expr::In(of.clone(), list.collect()));
                }
                let values = values_of(part, found)?;
                has_several |= values.len() > 1;
                Some(Expr::Literal(values.first().cloned().unwrap_or_default()))
            });
            *expr = new;
        }
        if has_several {
            return Err(SqlError::semantic(
                "a subquery that stands for a value has more than one row",
            ));
        }
        Ok(())
    }
}

fn values_of<'f>(expr: &Expr, found: &'f [SubqueryResult]) -> Option<&'f Vec<Value>> {
    let Expr::Column(name) = expr else {
        return None;
    };
    let number = name.strip_prefix(COLUMN)?.parse::<usize>().ok()?;
    match found.get(number)? {
        SubqueryResult::Values(values) => Some(values),
        SubqueryResult::Rows(_) => None,
    }
}
