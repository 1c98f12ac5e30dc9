//! Window functions: what a row is among the rows around it. How they are read, and what they mean.
//!
//! Rows come out in the order of the window, as OpenSearch leaves them. Frames of one's own (`ROWS BETWEEN`) are refused.

use clew_opensearch::wing::RequestMemory;
use serde_json::Value;

use super::budget::{Budget, Walk};
use super::cast::float;
use super::error::SqlError;
use super::eval::{Bound, bind};
use super::expr::{Call, Expr};
use super::fields::SqlType;
use super::fold::Aggregate;
use super::order::sort_keys;
use super::plan::{SortKey, Window};
use super::rows::{Column, Columns, Row, Table, key_of};
use super::running::Running;
use super::words::Parser;

/// Rows that one value of a moving mean is made of.
const POINTS_MAX: usize = 1_000;
/// How the columns begin that windows make.
const COLUMN: &str = "#window";

/// Whether an expression is the column of a window.
pub(super) fn is_windowed(expr: &Expr) -> bool {
    matches!(expr, Expr::Column(name) if name.starts_with(COLUMN))
}

impl Parser<'_> {
    /// `OVER ([PARTITION BY ...] [ORDER BY ...])` behind a function: the column that its values will stand in.
    pub(super) fn window(&mut self, call: Call) -> Result<Expr, SqlError> {
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
        if self.is_keyword(0, "rows") || self.is_keyword(0, "range") {
            return Err(SqlError::unsupported("a frame of a window function"));
        }
        self.expect(")")?;
        let column = format!("{COLUMN}{}", self.windows.len());
        self.windows.push(Window {
            column: column.clone(),
            call,
            partition,
            order,
        });
        Ok(Expr::Column(column))
    }
}

impl Window {
    /// The mean of the last so many values of a column, each of one weight (`sma`) or the later ones of more (`wma`).
    pub(super) fn moving(
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
        })
    }

    /// All that it is made of.
    pub(super) fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let order = self.order.iter().map(|key| &key.expr);
        self.partition.iter().chain(order).chain(&self.call.args)
    }

    /// The same, to be changed.
    pub(super) fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let order = self.order.iter_mut().map(|key| &mut key.expr);
        self.partition
            .iter_mut()
            .chain(order)
            .chain(&mut self.call.args)
    }
}

/// What a window function makes of a part of the rows.
enum Function {
    RowNumber,
    Rank,
    DenseRank,
    /// An aggregate up to a row and those beside it, or over the whole part where it has no order.
    Running(Aggregate, SqlType, Bound),
    /// Other aggregates, over the whole part.
    Whole(Aggregate, SqlType, Bound),
    /// The value of a row so many places before, or behind where that is negative; another where there is none.
    Shifted {
        of: Bound,
        before: i64,
        missing: Value,
    },
    /// The value of the first row of a part, or of the last one so far.
    Edge {
        of: Bound,
        is_last: bool,
    },
    /// Which of so many parts of one size a row is in.
    Tiles(usize),
    /// The mean of the last rows, the later ones of more weight or not.
    Moving {
        of: Bound,
        points: usize,
        is_weighted: bool,
    },
}

impl Function {
    fn of(window: &Window, columns: &Columns) -> Result<(Self, SqlType), SqlError> {
        let call = &window.call;
        let ranks = match call.name.as_str() {
            "row_number" => Some(Function::RowNumber),
            "rank" => Some(Function::Rank),
            "dense_rank" => Some(Function::DenseRank),
            _ => None,
        };
        if let Some(ranks) = ranks {
            if !call.args.is_empty() {
                return Err(SqlError::semantic(format!(
                    "{} function expected no arguments",
                    call.name
                )));
            }
            return Ok((ranks, SqlType::Integer));
        }
        if let ("sma" | "wma", [of, Expr::Literal(points)]) = (call.name.as_str(), &call.args[..])
            && let Some(points) = points
                .as_u64()
                .and_then(|points| usize::try_from(points).ok())
        {
            let (of, kind) = bind(of, columns)?;
            if !kind.is_number() && kind != SqlType::Undefined {
                return Err(SqlError::semantic(format!(
                    "a trendline expected numbers, but got [{}]",
                    kind.name()
                )));
            }
            let moving = Function::Moving {
                of,
                points,
                is_weighted: call.name == "wma",
            };
            return Ok((moving, SqlType::Double));
        }
        if let Some(placed) = Function::placed(call, columns)? {
            return Ok(placed);
        }
        if !Expr::Call(call.clone()).is_aggregate() {
            return Err(SqlError::unsupported(&format!(
                "the window function [{}]",
                call.name
            )));
        }
        let aggregate = Aggregate::of(call)?;
        let (argument, of) = match call.args.first() {
            Some(Expr::Star) | None => (Bound::Literal(Value::Bool(true)), SqlType::Boolean),
            Some(argument) => bind(argument, columns)?,
        };
        let kind = aggregate.kind(of)?;
        let function = match aggregate {
            Aggregate::CountAll
            | Aggregate::Count
            | Aggregate::Sum
            | Aggregate::Average
            | Aggregate::Least
            | Aggregate::Greatest => Function::Running(aggregate, kind, argument),
            Aggregate::CountDistinct | Aggregate::Spread { .. } if !window.order.is_empty() => {
                Function::Running(aggregate, kind, argument)
            }
            _ if window.order.is_empty() => Function::Whole(aggregate, kind, argument),
            _ => {
                return Err(SqlError::unsupported(&format!(
                    "ORDER BY in the window of [{}]",
                    call.name
                )));
            }
        };
        Ok((function, kind))
    }

    /// Those that look at other rows by their place.
    fn placed(call: &Call, columns: &Columns) -> Result<Option<(Self, SqlType)>, SqlError> {
        let wrong =
            |wanted: &str| SqlError::semantic(format!("{} function expected {wanted}", call.name));
        let place = |arg: &Expr| {
            let count = arg.constant().and_then(|count| count.as_i64());
            count
                .filter(|count| *count >= 0)
                .ok_or_else(|| wrong("a whole number of rows"))
        };
        let name = call.name.as_str();
        let function = match (name, call.args.as_slice()) {
            ("ntile", [count]) => {
                let count = usize::try_from(place(count)?).unwrap_or(usize::MAX);
                if count == 0 {
                    return Err(wrong("at least one part"));
                }
                return Ok(Some((Function::Tiles(count), SqlType::Integer)));
            }
            ("lag" | "lead", [of, rest @ ..]) if rest.len() <= 2 => {
                let (of, kind) = bind(of, columns)?;
                let by = rest.first().map_or(Ok(1), place)?;
                let missing = rest.get(1).map(|missing| {
                    let missing = missing.constant();
                    missing.ok_or_else(|| wrong("a value where there is no row"))
                });
                let missing = missing.transpose()?.unwrap_or_default();
                let before = if name == "lag" { by } else { -by };
                (
                    Function::Shifted {
                        of,
                        before,
                        missing,
                    },
                    kind,
                )
            }
            ("first_value" | "last_value", [of]) => {
                let (of, kind) = bind(of, columns)?;
                let is_last = name == "last_value";
                (Function::Edge { of, is_last }, kind)
            }
            ("ntile" | "lag" | "lead" | "first_value" | "last_value", _) => {
                return Err(wrong("other arguments"));
            }
            _ => return Ok(None),
        };
        Ok(Some(function))
    }

    /// Adds the values of the rows of one part, of which `peers` says how many beside each other are alike.
    fn values(
        &self,
        rows: &[Row],
        peers: impl Iterator<Item = usize>,
        made: &mut Made<'_>,
    ) -> Result<(), SqlError> {
        let mut running = Running::default();
        let mut before = 0;
        for (group, size) in peers.enumerate() {
            let alike = rows.get(before..before + size).unwrap_or_default();
            match self {
                Function::RowNumber => {
                    for number in before + 1..=before + size {
                        made.add(&Value::from(number), 1)?;
                    }
                }
                Function::Rank => made.add(&Value::from(before + 1), size)?,
                Function::DenseRank => made.add(&Value::from(group + 1), size)?,
                Function::Running(aggregate, kind, argument) => {
                    for row in alike {
                        running.add(*aggregate, *kind, argument.value(row));
                    }
                    made.add(&running.value(*aggregate, *kind), size)?;
                }
                Function::Whole(aggregate, kind, argument) => {
                    let values: Vec<Value> = alike.iter().map(|row| argument.value(row)).collect();
                    made.add(&aggregate.result(*kind, &values), size)?;
                }
                Function::Shifted {
                    of,
                    before: by,
                    missing,
                } => {
                    for at in before..before + size {
                        let other = i64::try_from(at).ok().and_then(|at| at.checked_sub(*by));
                        let other = other.and_then(|at| usize::try_from(at).ok());
                        let row = other.and_then(|at| rows.get(at));
                        let value = row.map_or_else(|| missing.clone(), |row| of.value(row));
                        made.add(&value, 1)?;
                    }
                }
                Function::Edge { of, is_last } => {
                    let row = if *is_last { alike.last() } else { rows.first() };
                    let value = row.map(|row| of.value(row));
                    made.add(&value.unwrap_or_default(), size)?;
                }
                Function::Tiles(count) => {
                    for at in before..before + size {
                        made.add(&tile(at, rows.len(), *count).into(), 1)?;
                    }
                }
                Function::Moving {
                    of,
                    points,
                    is_weighted,
                } => {
                    let numbers = alike.iter().map(|row| of.value(row).as_f64());
                    let numbers: Vec<Option<f64>> = numbers.collect();
                    for end in 1..=numbers.len() {
                        let last = end
                            .checked_sub(*points)
                            .and_then(|from| numbers.get(from..end));
                        let mean = last.and_then(|last| moving_mean(last, *is_weighted));
                        made.add(&mean.map_or(Value::Null, float), 1)?;
                    }
                }
            }
            before += size;
        }
        Ok(())
    }
}

/// The values made so far, which may not take more memory than there is.
struct Made<'m> {
    values: Vec<Value>,
    budget: Budget<'m>,
}

impl Made<'_> {
    fn add(&mut self, value: &Value, times: usize) -> Result<(), SqlError> {
        for _ in 0..times {
            self.budget.spend(value)?;
            self.values.push(value.clone());
        }
        Ok(())
    }
}

/// The number of the part that a row is in, of so many; the first parts have a row more where they cannot be of one size.
fn tile(at: usize, rows: usize, count: usize) -> usize {
    let (size, larger) = (rows / count, rows % count);
    let in_larger = larger * (size + 1);
    let rest = at.saturating_sub(in_larger).checked_div(size);
    match rest {
        Some(rest) if at >= in_larger => larger + rest + 1,
        _ => at / (size + 1) + 1,
    }
}

/// `None` where one of the numbers is not known.
fn moving_mean(numbers: &[Option<f64>], is_weighted: bool) -> Option<f64> {
    let (mut sum, mut weights, mut weight) = (0.0, 0.0, 1.0);
    for number in numbers {
        sum += weight * (*number)?;
        weights += weight;
        weight += if is_weighted { 1.0 } else { 0.0 };
    }
    Some(sum / weights)
}

/// The rows in the order of a window, with its column, which a star leaves out.
///
/// # Errors
/// A column or function that there is not, or values that take too much memory.
pub(super) fn windowed(
    table: Table,
    window: &Window,
    memory: &RequestMemory,
) -> Result<Table, SqlError> {
    let (function, kind) = Function::of(window, &table.columns)?;
    let ascending = |expr: &Expr| SortKey {
        expr: expr.clone(),
        descending: false,
        nulls_first: true,
    };
    let mut order: Vec<SortKey> = window.partition.iter().map(ascending).collect();
    order.extend(window.order.iter().cloned());
    let mut keys = Vec::with_capacity(order.len());
    for key in &order {
        keys.push(bind(&key.expr, &table.columns)?.0);
    }
    let (parts, peers) = keys.split_at(window.partition.len());
    let mut table = table.sorted(&order)?;
    let key = |exprs: &[Bound], row: &Row| {
        let values: Vec<Value> = exprs.iter().map(|expr| expr.value(row)).collect();
        key_of(values.iter())
    };
    let mut walk = Walk::begin();
    let mut keys = Vec::with_capacity(table.rows.len());
    for row in &table.rows {
        walk.step()?;
        keys.push((key(parts, row), key(peers, row)));
    }
    let mut made = Made {
        values: Vec::with_capacity(table.rows.len()),
        budget: Budget::of(memory),
    };
    let mut at = 0;
    for part in keys.chunk_by(|left, right| left.0 == right.0) {
        let rows = table.rows.get(at..at + part.len()).unwrap_or_default();
        let peers = part.chunk_by(|left, right| left.1 == right.1);
        function.values(rows, peers.map(<[_]>::len), &mut made)?;
        at += part.len();
    }
    for (row, value) in table.rows.iter_mut().zip(made.values) {
        row.push(value);
    }
    table.columns.0.push(Column {
        is_hidden: true,
        ..Column::new(&window.column, kind)
    });
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_one_size_come_behind_those_with_a_row_more() {
        let tiles = |rows: usize, count: usize| -> Vec<usize> {
            (0..rows).map(|at| tile(at, rows, count)).collect()
        };
        assert_eq!(tiles(5, 2), [1, 1, 1, 2, 2]);
        assert_eq!(tiles(4, 4), [1, 2, 3, 4]);
        assert_eq!(tiles(2, 5), [1, 2]);
        assert_eq!(tiles(7, 3), [1, 1, 1, 2, 2, 3, 3]);
    }
}
