//! SELECTs inside of SELECTs, as they are written: in place of an index their stages come before the others; in conditions they are
//! done first, and a column stands for their values.

use crate::error::SqlError;
use crate::statement::expr::Expr;
use crate::statement::plan::{Output, Plan, Stage, Subquery};
use crate::statement::select::output;
use crate::statement::unions::select;
use crate::statement::words::Parser;

/// SELECTs that are done before one statement.
const SUBQUERIES_MAX: usize = 20;
/// How the names begin that stand for them.
pub(crate) const COLUMN: &str = "#query";

/// Whether an expression is a column that was made for the statement, and not written by anybody.
pub(crate) fn is_made(expr: &Expr) -> bool {
    matches!(expr, Expr::Column(name) if name.starts_with('#'))
}

impl Parser<'_> {
    /// A SELECT in parentheses, the first of which was read.
    pub(crate) fn select(&mut self) -> Result<Plan, SqlError> {
        self.deeper()?;
        self.expect_keyword("select")?;
        let plan = select(self)?;
        self.expect(")")?;
        self.depth -= 1;
        Ok(plan)
    }

    /// The same where values belong: the column that stands for them.
    pub(crate) fn subquery(&mut self) -> Result<Expr, SqlError> {
        let plan = self.select()?;
        self.values_of(plan)
    }

    /// `EXISTS (SELECT .. FROM source WHERE condition)`, of which all before the SELECT was read: whether there is such a
    /// row, or, where the source is below that of the SELECT around it, such a nested object of the row.
    pub(crate) fn exists(&mut self) -> Result<Expr, SqlError> {
        self.deeper()?;
        self.expect_keyword("select")?;
        // What is shown of it says nothing.
        self.list(output)?;
        self.expect_keyword("from")?;
        let source = self.indices(false)?;
        let prefix = self.alias()?.unwrap_or_else(|| source.clone()) + ".";
        let condition = if self.keyword("where") {
            self.expr()?
        } else {
            Expr::Literal(true.into())
        };
        self.expect(")")?;
        self.depth -= 1;
        let is_below = |name: &String| {
            let below = source.strip_prefix(name.as_str());
            below.is_some_and(|below| below.starts_with('.'))
        };
        let is_nested = self.around.iter().any(is_below);
        let condition = condition.replaced(&mut |part| match part {
            Expr::Column(name) => {
                let bare = name.strip_prefix(prefix.as_str())?;
                Some(Expr::column(if is_nested {
                    format!("{source}.{bare}")
                } else {
                    bare.to_string()
                }))
            }
            _ => None,
        });
        if is_nested {
            return Ok(Expr::call("nested", vec![Expr::column(source), condition]));
        }
        let one = Output::named(Expr::Literal(1.into()), "1");
        let limit = Stage::Limit {
            count: 1,
            offset: 0,
        };
        let value = self.values_of(Plan {
            indices: Some(source),
            stages: vec![Stage::Filter(condition), limit, Stage::Project(vec![one])],
            ..Plan::default()
        })?;
        Ok(Expr::Not(Box::new(Expr::IsNull(Box::new(value)))))
    }

    /// The column that stands for the values of a plan.
    pub(crate) fn values_of(&mut self, plan: Plan) -> Result<Expr, SqlError> {
        let number = self.done_before(plan, false)?;
        Ok(Expr::Column(format!("{COLUMN}{number}")))
    }

    /// The number of a plan that is done before the one that is being read.
    pub(crate) fn done_before(&mut self, plan: Plan, is_rows: bool) -> Result<usize, SqlError> {
        if self.subqueries.len() >= SUBQUERIES_MAX {
            return Err(SqlError::too_large(format!(
                "the query has more than {SUBQUERIES_MAX} subqueries"
            )));
        }
        self.subqueries.push(Subquery { plan, is_rows });
        Ok(self.subqueries.len() - 1)
    }
}
