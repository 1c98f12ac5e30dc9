//! SELECTs inside of SELECTs: in place of an index their stages come before the others; in conditions they are done
//! first, and their values put in their place.

use serde_json::Value;

use super::error::SqlError;
use super::expr::Expr;
use super::parser::DEPTH_MAX;
use super::plan::{Plan, Stage};
use super::rows::Table;
use super::scan::ROWS_MAX;
use super::select::select;
use super::words::Parser;

/// SELECTs in the conditions of one statement.
const SUBQUERIES_MAX: usize = 20;
/// How the names begin that stand for them.
const COLUMN: &str = "#query";

/// Whether an expression is a column that was made for the statement, and not written by anybody.
pub(super) fn is_made(expr: &Expr) -> bool {
    matches!(expr, Expr::Column(name) if name.starts_with('#'))
}

impl Parser<'_> {
    /// A SELECT in parentheses, the first of which was read.
    pub(super) fn select(&mut self) -> Result<Plan, SqlError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(SqlError::too_large(format!(
                "the query is nested deeper than {DEPTH_MAX} levels"
            )));
        }
        self.expect_keyword("select")?;
        let plan = select(self)?;
        self.expect(")")?;
        self.depth -= 1;
        Ok(plan)
    }

    /// The same where values belong: the column that stands for them.
    pub(super) fn subquery(&mut self) -> Result<Expr, SqlError> {
        let plan = self.select()?;
        if self.subqueries.len() >= SUBQUERIES_MAX {
            return Err(SqlError::too_large(format!(
                "the query has more than {SUBQUERIES_MAX} subqueries"
            )));
        }
        let column = format!("{COLUMN}{}", self.subqueries.len());
        self.subqueries.push(plan);
        Ok(Expr::Column(column))
    }
}

/// The values of the only column of a subquery's rows, but for those that are not known.
///
/// # Errors
/// Several columns, or so many rows that there may be more of them.
pub(super) fn values(table: Table) -> Result<Vec<Value>, SqlError> {
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
    /// Puts the values of subqueries where their columns stand.
    ///
    /// # Errors
    /// Several values where there is room for one.
    pub(super) fn with_values(&mut self, found: &[Vec<Value>]) -> Result<(), SqlError> {
        let mut has_several = false;
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

fn values_of<'f>(expr: &Expr, found: &'f [Vec<Value>]) -> Option<&'f Vec<Value>> {
    let Expr::Column(name) = expr else {
        return None;
    };
    let number = name.strip_prefix(COLUMN)?.parse::<usize>().ok()?;
    found.get(number)
}
