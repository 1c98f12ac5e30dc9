//! The file that `--json` writes: rows of parameters and metrics, with the program and the machine that they come from.
//! Read again for comparisons and plots.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::output_file;

/// Longer files are not read: a file of results has some hundred rows.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Rows in the order they were measured.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Results {
    /// Version of the program.
    pub(crate) clew: String,
    /// What the program ran on, and against what.
    pub(crate) machine: Map<String, Value>,
    pub(crate) rows: Vec<Row>,
}

/// One measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// What was asked for: rows of the same name and parameters are samples of one thing.
    pub(crate) params: Map<String, Value>,
    /// What was found; units stand last in the names.
    pub(crate) metrics: Map<String, Value>,
}

impl Results {
    /// Rows of this program on this machine.
    pub(crate) fn of(rows: Vec<Row>) -> Self {
        Results {
            clew: env!("CARGO_PKG_VERSION").to_owned(),
            machine: machine(),
            rows,
        }
    }

    /// Reads a file; the error names it.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let read = || -> anyhow::Result<Results> {
            let bytes = std::fs::metadata(path)?.len();
            ensure!(
                bytes <= FILE_BYTES_MAX,
                "it has {bytes} bytes, and at most {FILE_BYTES_MAX} are read"
            );
            let results: Results = serde_json::from_slice(&std::fs::read(path)?)
                .context("it is not a file that `clew bench … --json` wrote")?;
            ensure!(!results.rows.is_empty(), "it has no rows");
            results.rows.iter().try_for_each(Row::check)?;
            Ok(results)
        };
        read().with_context(|| format!("cannot read results from {}", path.display()))
    }

    pub(crate) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        output_file::write(path, (text + "\n").as_bytes())
    }
}

/// Fails now, and not after what takes long, where a file that is wanted later cannot be written.
pub(crate) fn check_writable(path: Option<&Path>) -> anyhow::Result<()> {
    path.map_or(Ok(()), output_file::check_writable)
}

impl Row {
    /// Samples that are no numbers beside some that are would be left out in silence, and p-values would be of fewer.
    fn check(&self) -> anyhow::Result<()> {
        for (metric, value) in &self.metrics {
            let samples = value.as_array().map(Vec::as_slice).unwrap_or_default();
            let odd = samples.iter().find(|sample| !sample.is_number());
            if let Some(odd) = odd
                && samples.iter().any(Value::is_number)
            {
                bail!(
                    "{metric} of `{}` has a sample {odd}, which is no number",
                    self.name
                );
            }
        }
        Ok(())
    }

    /// The row as a line of text.
    pub(crate) fn line(&self) -> String {
        let (params, metrics) = (words(&self.params), joined(&self.metrics, rounded));
        format!("{:<12} {params:<48} {metrics}", self.name)
    }
}

/// Parameters in words, exactly: rows of different ones look different.
pub(crate) fn words(params: &Map<String, Value>) -> String {
    joined(params, plain)
}

fn joined(map: &Map<String, Value>, told: fn(&Value) -> String) -> String {
    let words: Vec<String> = map
        .iter()
        .map(|(key, value)| format!("{key}={}", told(value)))
        .collect();
    words.join(" ")
}

/// A value as people write it: a whole number the same however it is written, `1` and `1.0`.
pub(crate) fn plain(value: &Value) -> String {
    /// From here on a number of floating point is whole, and is written by its power of ten.
    const WHOLE: f64 = 1e15;
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(number) if number.fract() == 0.0 && number.abs() < WHOLE => format!("{number:.0}"),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// What was measured, as exactly as anybody wants to read it.
fn rounded(value: &Value) -> String {
    match value.as_f64() {
        Some(number) if number.fract() != 0.0 && number.abs() < 1000.0 => format!("{number:.3}"),
        Some(number) => format!("{number:.0}"),
        None => plain(value),
    }
}

/// The machine in words: processor, cores, memory, kernel.
fn machine() -> Map<String, Value> {
    let file = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split(':').nth(1))
            .map(|value| value.trim().to_owned())
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let told = [
        ("cpu", json!(field(&file("/proc/cpuinfo"), "model name"))),
        ("cores", json!(cores)),
        ("memory", json!(field(&file("/proc/meminfo"), "MemTotal"))),
        (
            "kernel",
            json!(file("/proc/sys/kernel/osrelease").trim().to_owned()),
        ),
    ];
    Map::from_iter(told.map(|(key, value)| (key.to_owned(), value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_differ_look_different_and_what_was_measured_is_rounded() {
        for (value, told) in [
            (json!(0.0001), "0.0001"),
            (json!(0.0002), "0.0002"),
            (json!(1234.5), "1234.5"),
            (json!(10), "10"),
            (json!(10.0), "10"),
            (json!(u64::MAX), "18446744073709551615"),
            (json!("a b"), "a b"),
            (json!(true), "true"),
        ] {
            assert_eq!(plain(&value), told);
        }
        let row = Row {
            name: "search".to_owned(),
            params: Map::from_iter([("share".to_owned(), json!(0.0125))]),
            metrics: Map::from_iter([("ms".to_owned(), json!(0.012_345))]),
        };
        let line = row.line();
        assert!(line.contains("share=0.0125 ") && line.ends_with("ms=0.012"));
    }
}
