//! Aggregates over the rows so far, as a window with an order has them.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::fields::SqlType;
use crate::functions::calendar::{micros, moment, of_micros, written};
use crate::functions::cast::{cast, float, of_number};
use crate::stages::eval::compare;
use crate::stages::fold::Aggregate;
use crate::stages::rows::key_of;

/// What aggregates need to know of the rows so far.
#[derive(Default)]
pub(crate) struct Running {
    rows: u32,
    known: u32,
    sum: f64,
    mean: f64,
    /// Of the distances from the mean, as Welford sums them up.
    squares: f64,
    /// Microseconds since 1970, where the values are times.
    moments: i128,
    least: Option<Value>,
    greatest: Option<Value>,
    distinct: BTreeSet<String>,
}

impl Running {
    /// One more row, for one of the aggregates.
    pub(crate) fn add(&mut self, aggregate: Aggregate, kind: SqlType, value: Value) {
        self.rows += 1;
        if value.is_null() {
            return;
        }
        self.known += 1;
        match aggregate {
            Aggregate::CountDistinct => {
                self.distinct.insert(key_of(std::iter::once(&value)));
            }
            Aggregate::Average if kind.is_time() => {
                let micros = moment(&value).and_then(micros).unwrap_or_default();
                self.moments += i128::from(micros);
            }
            _ => self.add_number(value.as_f64().unwrap_or(0.0)),
        }
        if is_better(&value, self.least.as_ref(), Ordering::Less) {
            self.least = Some(value.clone());
        }
        if is_better(&value, self.greatest.as_ref(), Ordering::Greater) {
            self.greatest = Some(value);
        }
    }

    fn add_number(&mut self, number: f64) {
        self.sum += number;
        let before = number - self.mean;
        self.mean += before / f64::from(self.known);
        self.squares += before * (number - self.mean);
    }

    /// What the aggregate is over the rows so far.
    pub(crate) fn value(&self, aggregate: Aggregate, kind: SqlType) -> Value {
        match aggregate {
            Aggregate::CountAll => self.rows.into(),
            Aggregate::Count => self.known.into(),
            Aggregate::CountDistinct => self.distinct.len().into(),
            Aggregate::Sum => of_number(kind, self.sum),
            Aggregate::Average if kind.is_time() => {
                let mean = self.moments.checked_div(i128::from(self.known));
                let mean = mean.and_then(|mean| of_micros(i64::try_from(mean).ok()?));
                cast(kind, &mean.map_or(Value::Null, written))
            }
            Aggregate::Average if self.known > 0 => float(self.sum / f64::from(self.known)),
            Aggregate::Spread { root, sampled } => {
                let divisor = f64::from(self.known) - if sampled { 1.0 } else { 0.0 };
                if divisor <= 0.0 {
                    return Value::Null;
                }
                let variance = self.squares / divisor;
                float(if root { variance.sqrt() } else { variance })
            }
            Aggregate::Least => self.least.clone().unwrap_or_default(),
            Aggregate::Greatest => self.greatest.clone().unwrap_or_default(),
            _ => Value::Null,
        }
    }
}

fn is_better(value: &Value, best: Option<&Value>, order: Ordering) -> bool {
    best.is_none_or(|best| compare(value, best) == Some(order))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn spreads_and_distinct_values_grow_with_the_rows() {
        let of = |aggregate: Aggregate, kind: SqlType, values: &[Value]| -> Vec<Value> {
            let mut running = Running::default();
            let values = values.iter().cloned();
            values
                .map(|value| {
                    running.add(aggregate, kind, value);
                    running.value(aggregate, kind)
                })
                .collect()
        };
        let spread = |root, sampled| Aggregate::Spread { root, sampled };
        let numbers = [json!(2), json!(4), Value::Null, json!(6)];
        let double = SqlType::Double;
        assert_eq!(
            of(spread(false, false), double, &numbers),
            [json!(0.0), json!(1.0), json!(1.0), json!(8.0 / 3.0)]
        );
        assert_eq!(
            of(spread(false, true), double, &numbers),
            [Value::Null, json!(2.0), json!(2.0), json!(4.0)]
        );
        let texts = ["a", "b", "a"].map(Value::from);
        assert_eq!(
            of(Aggregate::CountDistinct, SqlType::Integer, &texts),
            [1, 2, 2].map(Value::from)
        );
        let times = ["10:00:00", "12:00:00"].map(Value::from);
        assert_eq!(
            of(Aggregate::Average, SqlType::Time, &times),
            ["10:00:00", "11:00:00"].map(Value::from)
        );
    }
}
