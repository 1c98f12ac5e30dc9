//! The file that `--json` writes: rows of parameters and metrics, with the program and the machine that they come from.
//! Read again for comparisons and plots.

use std::path::Path;

use anyhow::{Context, ensure};
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
    /// The row as a line of text.
    pub(crate) fn line(&self) -> String {
        let (params, metrics) = (words(&self.params), words(&self.metrics));
        format!("{:<12} {params:<48} {metrics}", self.name)
    }
}

/// Parameters or metrics in words.
pub(crate) fn words(map: &Map<String, Value>) -> String {
    let words: Vec<String> = map
        .iter()
        .map(|(key, value)| format!("{key}={}", plain(value)))
        .collect();
    words.join(" ")
}

/// A value as people write it.
pub(crate) fn plain(value: &Value) -> String {
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
