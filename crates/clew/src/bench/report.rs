//! Rows while they are measured: each is shown at once, all are written at the end.

use std::io::Write;
use std::path::Path;

use serde_json::{Map, Value};

use super::begun::Begun;
use super::results::Row;

/// Rows in the order they were measured.
#[derive(Debug)]
pub(crate) struct Report(Begun);

impl Report {
    /// None yet of what has begun; all are written to this file, if one is named.
    pub(crate) fn new(begun: &Begun, json: Option<&Path>) -> Self {
        begun.keep_in(json);
        Report(begun.clone())
    }

    /// Adds a row and prints it; both values are JSON objects.
    pub(crate) fn add(
        &self,
        name: &'static str,
        params: Value,
        metrics: Value,
    ) -> anyhow::Result<()> {
        let row = row(name, params, metrics);
        let line = row.line();
        self.0.add(row)?;
        // Shown at once: benchmarks take long.
        writeln!(std::io::stdout(), "{line}")?;
        Ok(())
    }

    /// Writes the rows, with the program's version and the machine, where a file is named.
    pub(crate) fn write(self) -> anyhow::Result<()> {
        self.0.write()
    }
}

/// A row of two JSON objects.
pub(crate) fn row(name: &str, params: Value, metrics: Value) -> Row {
    let object = |value| match value {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    Row {
        name: name.to_owned(),
        params: object(params),
        metrics: object(metrics),
    }
}

/// The value below which a share of the values lies; sorts them.
pub(crate) fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "counts of measurements are small"
    )]
    let index = ((values.len() as f64 - 1.0) * share).round() as usize;
    values.get(index).copied().unwrap_or_default()
}

/// Median, lowest and highest of some rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Spread {
    pub(crate) fn of(values: &mut [f64]) -> Self {
        let median = quantile(values, 0.5);
        Spread {
            median,
            min: quantile(values, 0.0),
            max: quantile(values, 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_spread() {
        let mut values = [5.0, 1.0, 3.0, 2.0, 4.0];
        assert_eq!(quantile(&mut values, 0.99), 5.0);
        let Spread { median, min, max } = Spread::of(&mut values);
        assert_eq!((median, min, max), (3.0, 1.0, 5.0));
        assert_eq!(quantile(&mut [], 0.5), 0.0);
    }
}
