//! What a benchmark says: rows of parameters and metrics, and the machine that they hold for.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use serde_json::{Map, Value, json};

/// The rows of one run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    rows: Vec<Value>,
}

impl Report {
    /// Adds a row and prints it.
    pub(crate) fn add(&mut self, name: &str, params: Value, metrics: Value) -> anyhow::Result<()> {
        let text = |fields: &Value| {
            let fields = fields.as_object().map(Map::iter).into_iter().flatten();
            let parts: Vec<String> = fields
                .map(|(key, value)| format!("{key} {value}"))
                .collect();
            parts.join("  ")
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{name}  {}  |  {}", text(&params), text(&metrics))?;
        self.rows
            .push(json!({"name": name, "params": params, "metrics": metrics}));
        Ok(())
    }

    /// Writes the report.
    pub(crate) fn write(self, path: &Path) -> anyhow::Result<()> {
        let report = json!({
            "clew": env!("CARGO_PKG_VERSION"),
            "machine": machine(),
            "rows": self.rows,
        });
        let text = serde_json::to_string_pretty(&report)?;
        std::fs::write(path, text + "\n").with_context(|| format!("writing {}", path.display()))
    }
}

fn machine() -> Value {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.map(|rest| rest.trim_start_matches([' ', '\t', ':']));
    json!({
        "cpu": model,
        "cpus": std::thread::available_parallelism().map_or(0, usize::from),
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
    })
}
