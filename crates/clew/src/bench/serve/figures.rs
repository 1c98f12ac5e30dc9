//! What a measurement found, as a line of the printed table and as metrics of a row.

use serde_json::{Map, Value, json};

use super::super::columns::{Columns, figure};
use super::load::{Measured, Plan};

/// Milliseconds below which a share of the requests were answered.
fn quantile_ms(measured: &Measured, share: f64) -> f64 {
    measured.latencies.value_at_quantile(share) as f64 / 1e6
}

/// Answers a second.
fn qps(measured: &Measured) -> f64 {
    match measured.seconds > 0.0 {
        true => measured.answered as f64 / measured.seconds,
        false => 0.0,
    }
}

/// The metrics that all load tests have.
pub(super) fn metrics(plan: Plan, measured: &Measured) -> Map<String, Value> {
    let mut metrics = json!({
        "qps": qps(measured),
        "avg_ms": measured.latencies.mean() / 1e6,
        "p50_ms": quantile_ms(measured, 0.5),
        "p90_ms": quantile_ms(measured, 0.9),
        "p99_ms": quantile_ms(measured, 0.99),
        "max_ms": measured.latencies.max() as f64 / 1e6,
        "failures": measured.failures,
        "refusals": measured.refusals,
    });
    if plan.rate.is_some() {
        metrics["unsent"] = measured.unsent.into();
    }
    if let Some(cpu_us) = measured.cpu_us {
        metrics["cpu_us"] = cpu_us.into();
    }
    match metrics {
        Value::Object(metrics) => metrics,
        _ => Map::new(),
    }
}

/// The printed table of a load test.
#[derive(Debug)]
pub(super) struct LoadTable {
    /// What was asked for, beside the load.
    pub(super) lead: &'static str,
    /// What was found, beside what all have.
    pub(super) found: &'static [&'static str],
    pub(super) is_open_loop: bool,
    /// Whether the server's processor time is measured.
    pub(super) tells_cpu: bool,
}

impl LoadTable {
    pub(super) fn head(&self) -> String {
        let mut titles = vec![self.lead, "concurrency"];
        if self.is_open_loop {
            titles.push("rate");
        }
        titles.extend(["QPS", "avg ms", "p50 ms", "p99 ms"]);
        if self.tells_cpu {
            titles.push("cpu us");
        }
        titles.extend(self.found);
        titles.extend(["failures", "refusals"]);
        if self.is_open_loop {
            titles.push("unsent");
        }
        self.columns().line(&titles)
    }

    pub(super) fn line(
        &self,
        lead: &str,
        plan: Plan,
        measured: &Measured,
        found: &[String],
    ) -> String {
        let mut cells = vec![lead.to_owned(), plan.concurrency.to_string()];
        cells.extend(plan.rate.map(figure));
        cells.extend([
            figure(qps(measured)),
            figure(measured.latencies.mean() / 1e6),
            figure(quantile_ms(measured, 0.5)),
            figure(quantile_ms(measured, 0.99)),
        ]);
        if self.tells_cpu {
            cells.push(figure(measured.cpu_us.unwrap_or(f64::NAN)));
        }
        cells.extend_from_slice(found);
        cells.extend([measured.failures, measured.refusals].map(|count| count.to_string()));
        if self.is_open_loop {
            cells.push(measured.unsent.to_string());
        }
        self.columns().line(&cells)
    }

    fn columns(&self) -> Columns {
        let mut widths = vec![11, 11];
        widths.resize(12 + self.found.len(), 8);
        Columns::new(widths)
    }
}
