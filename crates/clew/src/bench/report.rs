//! What a benchmark found: rows of parameters and metrics, as a table and as JSON.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use serde_json::{Map, Value, json};

/// Rows in the order they were measured.
#[derive(Debug, Default)]
pub(crate) struct Report(Vec<Row>);

#[derive(Debug)]
struct Row {
    name: &'static str,
    params: Map<String, Value>,
    metrics: Map<String, Value>,
}

impl Report {
    /// Adds a row; both values are JSON objects.
    pub(crate) fn add(
        &mut self,
        name: &'static str,
        params: Value,
        metrics: Value,
    ) -> anyhow::Result<()> {
        let object = |value| match value {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        let row = Row {
            name,
            params: object(params),
            metrics: object(metrics),
        };
        // Shown at once: benchmarks take long.
        writeln!(std::io::stdout(), "{}", row.line())?;
        self.0.push(row);
        Ok(())
    }

    /// Writes the rows with the program's version and the machine.
    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let rows: Vec<Value> = self.0.iter().map(Row::json).collect();
        let document = json!({
            "clew": env!("CARGO_PKG_VERSION"), "machine": machine(), "rows": rows,
        });
        let text = serde_json::to_string_pretty(&document)?;
        std::fs::write(path, text + "\n")
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

impl Row {
    fn line(&self) -> String {
        let words = |map: &Map<String, Value>| {
            let words: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{key}={}", plain(value)))
                .collect();
            words.join(" ")
        };
        format!(
            "{:<12} {:<48} {}",
            self.name,
            words(&self.params),
            words(&self.metrics)
        )
    }

    fn json(&self) -> Value {
        json!({"name": self.name, "params": self.params, "metrics": self.metrics})
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(number) if number.fract() != 0.0 && number.abs() < 1000.0 => {
                format!("{number:.3}")
            }
            Some(number) => format!("{number:.0}"),
            None => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// The machine in words: processor, cores, memory, kernel.
fn machine() -> Value {
    let file = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split(':').nth(1))
            .map(|value| value.trim().to_owned())
    };
    json!({
        "cpu": field(&file("/proc/cpuinfo"), "model name"),
        "cores": std::thread::available_parallelism().map_or(1, usize::from),
        "memory": field(&file("/proc/meminfo"), "MemTotal"),
        "kernel": file("/proc/sys/kernel/osrelease").trim(),
    })
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
