//! Window functions: what a row is among the rows around it.
//!
//! Rows come out in the order of the window, as OpenSearch leaves them.

use serde_json::Value;

use crate::error::SqlError;
use crate::fields::SqlType;
use crate::functions::cast::float;
use crate::stages::budget::{Budget, Walk};
use crate::stages::eval::{Bound, bind};
use crate::stages::fold::Aggregate;
use crate::stages::frame::OfFrame;
use crate::stages::ranks::{moving_mean, share, tile};
use crate::stages::rows::key_of;
use crate::stages::running::Running;
use crate::statement::expr::Expr;
use crate::statement::frame::Frame;
use crate::statement::plan::{SortKey, Window};
use crate::table::{Column, Columns, Row, Table};

impl Window {
    /// Refuses a frame of a function that looks at the whole part.
    fn takes_no_frame(&self) -> Result<(), SqlError> {
        match self.frame {
            Some(_) => Err(SqlError::semantic(format!(
                "{} function expected no frame",
                self.call.name
            ))),
            None => Ok(()),
        }
    }
}

/// What a window function makes of a part of the rows.
enum Function {
    RowNumber,
    Rank,
    DenseRank,
    /// Which part of the other rows comes before a row.
    PercentRank,
    /// Which part of the rows comes before a row, with those beside it.
    CumulativeShare,
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
    /// The value at a place of the rows so far, from 1 on.
    Nth {
        of: Bound,
        place: usize,
    },
    /// What is made of rows around a row.
    Framed(OfFrame, Bound, Frame),
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
            "row_number" => Some((Function::RowNumber, SqlType::Integer)),
            "rank" => Some((Function::Rank, SqlType::Integer)),
            "dense_rank" => Some((Function::DenseRank, SqlType::Integer)),
            "percent_rank" => Some((Function::PercentRank, SqlType::Double)),
            "cume_dist" => Some((Function::CumulativeShare, SqlType::Double)),
            _ => None,
        };
        if let Some(ranks) = ranks {
            window.takes_no_frame()?;
            if !call.args.is_empty() {
                return Err(SqlError::semantic(format!(
                    "{} function expected no arguments",
                    call.name
                )));
            }
            return Ok(ranks);
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
        if let Some(placed) = Function::placed(window, columns)? {
            return Ok(placed);
        }
        Function::aggregated(window, columns)
    }

    /// Aggregates of the rows so far, of a whole part, or of frames.
    fn aggregated(window: &Window, columns: &Columns) -> Result<(Self, SqlType), SqlError> {
        let call = &window.call;
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
        let runs = match aggregate {
            Aggregate::CountAll
            | Aggregate::Count
            | Aggregate::Sum
            | Aggregate::Average
            | Aggregate::Least
            | Aggregate::Greatest => true,
            Aggregate::CountDistinct | Aggregate::Spread { .. } => {
                window.frame.is_some() || !window.order.is_empty()
            }
            _ => false,
        };
        let function = match window.frame {
            Some(frame) if !(runs && frame.is_so_far()) => {
                Function::Framed(OfFrame::Aggregate(aggregate, kind), argument, frame)
            }
            _ if runs => Function::Running(aggregate, kind, argument),
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
    fn placed(window: &Window, columns: &Columns) -> Result<Option<(Self, SqlType)>, SqlError> {
        let call = &window.call;
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
                window.takes_no_frame()?;
                let count = usize::try_from(place(count)?).unwrap_or(usize::MAX);
                if count == 0 {
                    return Err(wrong("at least one part"));
                }
                return Ok(Some((Function::Tiles(count), SqlType::Integer)));
            }
            ("lag" | "lead", [of, rest @ ..]) if rest.len() <= 2 => {
                window.takes_no_frame()?;
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
                let function = match window.frame {
                    Some(frame) if is_last => Function::Framed(OfFrame::Last, of, frame),
                    Some(frame) => Function::Framed(OfFrame::First, of, frame),
                    None => Function::Edge { of, is_last },
                };
                (function, kind)
            }
            ("nth_value", [of, at]) => {
                let (of, kind) = bind(of, columns)?;
                let place = usize::try_from(place(at)?).unwrap_or(usize::MAX);
                let function = match window.frame {
                    _ if place == 0 => return Err(wrong("a place from 1 on")),
                    Some(frame) => Function::Framed(OfFrame::Nth(place), of, frame),
                    None => Function::Nth { of, place },
                };
                (function, kind)
            }
            ("ntile" | "lag" | "lead" | "first_value" | "last_value" | "nth_value", _) => {
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
        made: &mut Made<'_, '_>,
    ) -> Result<(), SqlError> {
        let mut running = Running::default();
        let mut before = 0;
        for (group, size) in peers.enumerate() {
            let so_far = rows.get(..before + size).unwrap_or_default();
            let alike = so_far.get(before..).unwrap_or_default();
            let value = match self {
                Function::Rank => Value::from(before + 1),
                Function::DenseRank => Value::from(group + 1),
                Function::PercentRank => share(before, rows.len().saturating_sub(1)),
                Function::CumulativeShare => share(before + size, rows.len()),
                Function::Running(aggregate, kind, argument) => {
                    for row in alike {
                        running.add(*aggregate, *kind, argument.value(row));
                    }
                    running.value(*aggregate, *kind)
                }
                Function::Whole(aggregate, kind, argument) => {
                    let values: Vec<Value> = alike.iter().map(|row| argument.value(row)).collect();
                    aggregate.result(*kind, &values)
                }
                Function::Edge { of, is_last } => {
                    let row = if *is_last { alike.last() } else { rows.first() };
                    row.map(|row| of.value(row)).unwrap_or_default()
                }
                Function::Nth { of, place } => {
                    let row = place.checked_sub(1).and_then(|place| so_far.get(place));
                    row.map(|row| of.value(row)).unwrap_or_default()
                }
                Function::RowNumber
                | Function::Shifted { .. }
                | Function::Framed(..)
                | Function::Tiles(_)
                | Function::Moving { .. } => {
                    for at in before..before + size {
                        made.add(&self.value_at(at, rows), 1)?;
                    }
                    before += size;
                    continue;
                }
            };
            made.add(&value, size)?;
            before += size;
        }
        Ok(())
    }

    /// The value of the row at a place of a part, of those that have one of their own whatever is alike.
    fn value_at(&self, at: usize, rows: &[Row]) -> Value {
        match self {
            Function::Shifted {
                of,
                before,
                missing,
            } => {
                let other = i64::try_from(at).ok();
                let other = other.and_then(|at| at.checked_sub(*before));
                let other = other.and_then(|at| usize::try_from(at).ok());
                let row = other.and_then(|at| rows.get(at));
                row.map_or_else(|| missing.clone(), |row| of.value(row))
            }
            Function::Framed(what, of, frame) => {
                let around = rows.get(frame.around(at, rows.len())).unwrap_or_default();
                let values: Vec<Value> = around.iter().map(|row| of.value(row)).collect();
                what.value(&values)
            }
            Function::Tiles(count) => tile(at, rows.len(), *count).into(),
            Function::Moving {
                of,
                points,
                is_weighted,
            } => {
                let first = (at + 1).checked_sub(*points);
                let Some(last) = first.and_then(|first| rows.get(first..=at)) else {
                    return Value::Null;
                };
                let numbers = last.iter().map(|row| of.value(row).as_f64());
                moving_mean(numbers, *is_weighted).map_or(Value::Null, float)
            }
            _ => Value::from(at + 1),
        }
    }
}

/// The values made so far, which may not take more memory than there is.
struct Made<'b, 'm> {
    values: Vec<Value>,
    budget: &'b mut Budget<'m>,
}

impl Made<'_, '_> {
    fn add(&mut self, value: &Value, times: usize) -> Result<(), SqlError> {
        for _ in 0..times {
            self.budget.spend(value)?;
            self.values.push(value.clone());
        }
        Ok(())
    }
}

/// The rows in the order of a window, with its column, which a star leaves out.
///
/// # Errors
/// A column or function that there is not, or values that take too much memory.
pub(crate) fn windowed(
    table: Table,
    window: &Window,
    budget: &mut Budget<'_>,
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
        budget,
    };
    let mut at = 0;
    for part in keys.chunk_by(|left, right| left.0 == right.0) {
        let rows = table.rows.get(at..at + part.len()).unwrap_or_default();
        if let Function::Framed(.., frame) = &function {
            frame.check(rows.len())?;
        }
        // Rows of frames are looked at one by one.
        let are_alone = window.frame.is_some();
        let peers = part.chunk_by(|left, right| !are_alone && left.1 == right.1);
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
