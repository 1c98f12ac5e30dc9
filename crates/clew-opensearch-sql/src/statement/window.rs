//! Window functions as they are written: `OVER` behind a function, and the moving means of PPL.

use crate::error::SqlError;
use crate::statement::expr::{Call, Expr};
use crate::statement::frame::Frame;
use crate::statement::order::sort_keys;
use crate::statement::plan::Window;
use crate::statement::words::Parser;

/// Rows that one value of a moving mean is made of.
const POINTS_MAX: usize = 1_000;
/// How the columns begin that windows make.
const COLUMN: &str = "#window";

/// Whether an expression is the column of a window.
pub(crate) fn is_windowed(expr: &Expr) -> bool {
    matches!(expr, Expr::Column(name) if name.starts_with(COLUMN))
}

impl Parser<'_> {
    /// `OVER ([PARTITION BY ...] [ORDER BY ...])` behind a function: the column that its values will stand in.
    pub(crate) fn window(&mut self, call: Call) -> Result<Expr, SqlError> {
        self.expect_keyword("over")?;
        self.expect("(")?;
        let partition = if self.keywords(&["partition", "by"]) {
            self.list(Self::expr)?
        } else {
            Vec::new()
        };
        let order = if self.keywords(&["order", "by"]) {
            sort_keys(self)?
        } else {
            Vec::new()
        };
        let frame = Frame::read(self)?;
        self.expect(")")?;
        let column = format!("{COLUMN}{}", self.windows.len());
        self.windows.push(Window {
            column: column.clone(),
            call,
            partition,
            order,
            frame,
        });
        Ok(Expr::Column(column))
    }
}

impl Window {
    /// The mean of the last so many values of a column, each of one weight (`sma`) or the later ones of more (`wma`).
    pub(crate) fn moving(
        column: String,
        kind: &str,
        of: String,
        points: usize,
    ) -> Result<Self, SqlError> {
        if !(1..=POINTS_MAX).contains(&points) {
            return Err(SqlError::argument(format!(
                "Number of data-points must be from 1 to {POINTS_MAX}, but was {points}"
            )));
        }
        let args = vec![Expr::Column(of), Expr::Literal(points.into())];
        Ok(Window {
            column,
            call: Call {
                name: kind.to_string(),
                args,
                distinct: false,
                options: Vec::new(),
            },
            partition: Vec::new(),
            order: Vec::new(),
            frame: None,
        })
    }

    /// All that it is made of.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let order = self.order.iter().map(|key| &key.expr);
        self.partition.iter().chain(order).chain(&self.call.args)
    }

    /// The same, to be changed.
    pub(crate) fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let order = self.order.iter_mut().map(|key| &mut key.expr);
        self.partition
            .iter_mut()
            .chain(order)
            .chain(&mut self.call.args)
    }
}
