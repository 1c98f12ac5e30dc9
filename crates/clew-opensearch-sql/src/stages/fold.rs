//! Groups of rows, and what aggregates make of each, where no search can do it.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use clew_platform::sorted_while_wanted;
use serde_json::Value;

use crate::error::SqlError;
use crate::fields::SqlType;
use crate::functions::calendar::{micros, moment, of_micros, written};
use crate::functions::cast::{cast, float, of_number};
use crate::stages::budget::{Walk, ended};
use crate::stages::eval::{Bound, bind, compare};
use crate::stages::rows::{distinct, key_of};
use crate::statement::expr::{Call, Expr};
use crate::statement::plan::{Group, Output};
use crate::table::{Column, Columns, Row, Table};

/// How many values `take` has unless it says, and at most.
const TAKEN: usize = 10;
const TAKEN_MAX: usize = 10_000;

/// An aggregate that is known, and what it is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Aggregate {
    CountAll,
    Count,
    CountDistinct,
    Sum,
    Average,
    /// The same of each value once.
    DistinctSum,
    DistinctAverage,
    Least,
    Greatest,
    /// The root of the variance, or the variance; of all rows, or estimated from some.
    Spread {
        root: bool,
        sampled: bool,
    },
    Percentile(f64),
    /// The first values, so many at most.
    Take(usize),
}

impl Aggregate {
    /// Reads a call, which has one argument besides a percentage and a compression.
    pub(crate) fn of(call: &Call) -> Result<Self, SqlError> {
        let wrong = || SqlError::semantic(format!("{} function expected one argument", call.name));
        let spread = |root, sampled| Aggregate::Spread { root, sampled };
        let percentile = matches!(call.name.as_str(), "percentile" | "percentile_approx");
        let take = call.name == "take";
        let has_number = call.args.get(2).and_then(Expr::constant);
        let has_number = has_number.is_some_and(|number| number.is_number());
        let is_given = match call.args.len() {
            1 => !percentile,
            2 => percentile || take,
            // How closely a digest is to be kept says nothing here, where there may be none.
            3 => percentile && has_number,
            _ => false,
        };
        if !is_given {
            return Err(wrong());
        }
        let is_star = call.args.first() == Some(&Expr::Star);
        if is_star && (call.name != "count" || call.distinct) {
            return Err(wrong());
        }
        Ok(match call.name.as_str() {
            "count" if is_star => Aggregate::CountAll,
            "count" if call.distinct => Aggregate::CountDistinct,
            // These are the same however often a value is there.
            "min" => Aggregate::Least,
            "max" => Aggregate::Greatest,
            "sum" if call.distinct => Aggregate::DistinctSum,
            "avg" if call.distinct => Aggregate::DistinctAverage,
            _ if call.distinct => return Err(SqlError::unsupported("DISTINCT of this aggregate")),
            "count" => Aggregate::Count,
            "sum" => Aggregate::Sum,
            "avg" => Aggregate::Average,
            "std" | "stddev" | "stddev_pop" => spread(true, false),
            "stddev_samp" => spread(true, true),
            "variance" | "var_pop" => spread(false, false),
            "var_samp" => spread(false, true),
            "take" => {
                let count = call.args.get(1).map_or(Some(TAKEN), |count| {
                    usize::try_from(count.constant()?.as_u64()?).ok()
                });
                let count = count.filter(|count| (1..=TAKEN_MAX).contains(count));
                Aggregate::Take(count.ok_or_else(|| {
                    SqlError::semantic(format!(
                        "take function expected a number of 1 to {TAKEN_MAX}"
                    ))
                })?)
            }
            _ => {
                let percent = call
                    .args
                    .get(1)
                    .and_then(Expr::constant)
                    .and_then(|value| value.as_f64());
                let percent = percent.filter(|percent| (0.0..=100.0).contains(percent));
                Aggregate::Percentile(percent.ok_or_else(|| {
                    SqlError::semantic(format!(
                        "{} function expected a percentage of 0 to 100",
                        call.name
                    ))
                })?)
            }
        })
    }

    /// The type of the result, by that of the argument.
    pub(crate) fn kind(self, of: SqlType) -> Result<SqlType, SqlError> {
        let is_taken = match self {
            Aggregate::CountAll
            | Aggregate::Count
            | Aggregate::CountDistinct
            | Aggregate::Take(_) => true,
            // The kinds behind it have no order, or not that of their texts.
            Aggregate::Least | Aggregate::Greatest => of <= SqlType::Timestamp,
            Aggregate::Average | Aggregate::DistinctAverage if of.is_time() => true,
            _ => of.is_number() || of == SqlType::Undefined,
        };
        if !is_taken {
            return Err(SqlError::semantic(format!(
                "the aggregate cannot be used on [{}]",
                of.name()
            )));
        }
        Ok(match self {
            Aggregate::CountAll | Aggregate::Count | Aggregate::CountDistinct => SqlType::Integer,
            Aggregate::Take(_) => SqlType::Array,
            Aggregate::Sum | Aggregate::DistinctSum if of.is_whole() => of.max(SqlType::Integer),
            Aggregate::Sum | Aggregate::DistinctSum | Aggregate::Least | Aggregate::Greatest => of,
            Aggregate::Average | Aggregate::DistinctAverage if of.is_time() => of,
            Aggregate::Percentile(_) if of.is_number() => of,
            Aggregate::Average
            | Aggregate::DistinctAverage
            | Aggregate::Spread { .. }
            | Aggregate::Percentile(_) => SqlType::Double,
        })
    }

    /// The result over the values of a group's rows.
    pub(crate) fn result(self, kind: SqlType, values: &[Value]) -> Value {
        let known = || values.iter().filter(|value| !value.is_null());
        let numbers = || known().filter_map(Value::as_f64);
        let extreme = |wanted: Ordering| {
            known().fold(None::<&Value>, |best, value| match best {
                Some(best) if compare(value, best) != Some(wanted) => Some(best),
                _ => Some(value),
            })
        };
        match self {
            Aggregate::CountAll => values.len().into(),
            Aggregate::Count => known().count().into(),
            Aggregate::CountDistinct => distinct(known()).into(),
            Aggregate::Least => extreme(Ordering::Less).cloned().unwrap_or_default(),
            Aggregate::Greatest => extreme(Ordering::Greater).cloned().unwrap_or_default(),
            Aggregate::Take(count) => known().take(count).cloned().collect(),
            Aggregate::Sum => of_number(kind, numbers().sum()),
            Aggregate::DistinctSum => Aggregate::Sum.result(kind, &once_each(values)),
            Aggregate::DistinctAverage => Aggregate::Average.result(kind, &once_each(values)),
            Aggregate::Average if kind.is_time() => mean_time(kind, known()),
            Aggregate::Average => or_null(mean(&numbers().collect::<Vec<_>>())),
            Aggregate::Spread { root, sampled } => or_null(
                variance(&numbers().collect::<Vec<_>>(), sampled)
                    .map(|variance| if root { variance.sqrt() } else { variance }),
            ),
            Aggregate::Percentile(percent) => percentile(numbers().collect(), percent)
                .map_or(Value::Null, |number| of_number(kind, number)),
        }
    }
}

/// Each value that is there, once.
fn once_each(values: &[Value]) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let known = values.iter().filter(|value| !value.is_null());
    let new = known.filter(|value| seen.insert(key_of(std::iter::once(*value))));
    new.cloned().collect()
}

fn or_null(number: Option<f64>) -> Value {
    number.map_or(Value::Null, float)
}

fn count(numbers: &[f64]) -> f64 {
    u32::try_from(numbers.len()).map_or(f64::INFINITY, f64::from)
}

fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / count(numbers))
}

/// The moment, or the part of one, in the middle of some.
fn mean_time<'v>(kind: SqlType, values: impl Iterator<Item = &'v Value>) -> Value {
    let micros = values.filter_map(|value| micros(moment(value)?));
    let (sum, count) = micros.fold((0_i128, 0_i128), |(sum, count), micros| {
        (sum + i128::from(micros), count + 1)
    });
    let mean = sum.checked_div(count).map(i64::try_from);
    let mean = mean.and_then(Result::ok).and_then(of_micros);
    cast(kind, &mean.map_or(Value::Null, written))
}

fn variance(numbers: &[f64], sampled: bool) -> Option<f64> {
    let mean = mean(numbers)?;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    let divisor = count(numbers) - if sampled { 1.0 } else { 0.0 };
    (divisor > 0.0).then(|| squares / divisor)
}

/// Between the two nearest ranks.
fn percentile(mut numbers: Vec<f64>, percent: f64) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let last = numbers.len().checked_sub(1)?;
    let rank = percent / 100.0 * count(&numbers[..last]);
    let below: usize = format!("{:.0}", rank.floor()).parse().ok()?;
    let (low, high) = (numbers.get(below)?, numbers.get((below + 1).min(last))?);
    Some(low + (high - low) * (rank - rank.floor()))
}

/// Each aggregate of a group, by what it is called with.
pub(crate) fn calls(group: &Group) -> Result<Vec<(Aggregate, &Call, &Output)>, SqlError> {
    let mut calls = Vec::with_capacity(group.aggregates.len());
    for output in &group.aggregates {
        let Expr::Call(call) = &output.expr else {
            return Err(SqlError::semantic("a group needs aggregates"));
        };
        calls.push((Aggregate::of(call)?, call, output));
    }
    Ok(calls)
}

/// Puts rows into groups, in the order of their keys; without keys there is one group.
pub(crate) fn grouped(table: Table, group: &Group) -> Result<Table, SqlError> {
    let mut columns = Vec::new();
    let mut aggregates = Vec::new();
    for (aggregate, call, output) in calls(group)? {
        let (bound, of) = match call.args.first() {
            Some(Expr::Star) | None => (Bound::Literal(Value::Bool(true)), SqlType::Boolean),
            Some(arg) => bind(arg, &table.columns)?,
        };
        let kind = aggregate.kind(of)?;
        columns.push(Column::new(output.label(), kind));
        aggregates.push((aggregate, kind, bound));
    }
    let mut keys = Vec::new();
    for key in &group.keys {
        let (bound, kind) = bind(&key.expr, &table.columns)?;
        columns.push(Column::new(key.label(), kind));
        keys.push(bound);
    }
    let mut groups: BTreeMap<String, (Row, Vec<Row>)> = BTreeMap::new();
    let mut walk = Walk::begin();
    for row in table.rows {
        walk.step()?;
        let values: Row = keys.iter().map(|key| key.value(&row)).collect();
        let (_, rows) = groups
            .entry(key_of(values.iter()))
            .or_insert((values, Vec::new()));
        rows.push(row);
    }
    let mut groups: Vec<(Row, Vec<Row>)> = groups.into_values().collect();
    if groups.is_empty() && keys.is_empty() {
        groups.push((Row::new(), Vec::new()));
    }
    let groups = sorted_while_wanted(groups, |(left, _), (right, _)| by_keys(left, right));
    let mut made = Vec::new();
    for (key, rows) in groups.ok_or_else(ended)? {
        let mut made_row = Row::new();
        for (aggregate, kind, bound) in &aggregates {
            let mut values = Vec::with_capacity(rows.len());
            for row in &rows {
                walk.step()?;
                values.push(bound.value(row));
            }
            made_row.push(aggregate.result(*kind, &values));
        }
        made_row.extend(key);
        made.push(made_row);
    }
    Ok(Table {
        rows: made,
        columns: Columns(columns),
    })
}

/// Groups without a value come first.
fn by_keys(left: &Row, right: &Row) -> Ordering {
    let one = |(left, right): (&Value, &Value)| match (left.is_null(), right.is_null()) {
        (false, false) => compare(left, right).unwrap_or(Ordering::Equal),
        (left, right) => right.cmp(&left),
    };
    left.iter()
        .zip(right)
        .map(one)
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}
