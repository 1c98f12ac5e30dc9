//! `GET /_metrics`: the counters of the protocol crates, and the engine's figures as they are at
//! the time of the request.

use clew_engine::{Engine, ResolveOptions};
use prometheus::proto::MetricFamily;
use prometheus::{Encoder, IntGaugeVec, Opts, Registry, TextEncoder};

/// The whole page in Prometheus' text format.
pub(crate) fn render(registry: &Registry, engine: &Engine) -> anyhow::Result<String> {
    let mut families = registry.gather();
    families.extend(engine_families(engine)?);
    let mut page = Vec::new();
    TextEncoder::new().encode(&families, &mut page)?;
    Ok(String::from_utf8(page)?)
}

/// Figures that the engine keeps itself; they are read, not counted, here.
fn engine_families(engine: &Engine) -> anyhow::Result<Vec<MetricFamily>> {
    let registry = Registry::new();
    let gauge = |name: &str, help: &str, labels: &[&str]| -> anyhow::Result<IntGaugeVec> {
        let gauge = IntGaugeVec::new(Opts::new(name, help), labels)?;
        registry.register(Box::new(gauge.clone()))?;
        Ok(gauge)
    };
    let stats = engine.stats();
    let micros = |time: std::time::Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let node: [(&str, &str, u64); 13] = [
        ("log_last_glsn", "Last position given.", stats.last.get()),
        ("log_durable_glsn", "Last durable position.", stats.durable.get()),
        ("log_entries_total", "Entries appended since the start.", stats.log.entries),
        ("log_written_bytes_total", "Bytes written to the log since the start.", stats.log.bytes),
        ("log_groups_total", "Groups written since the start.", stats.log.groups),
        ("log_syncs_total", "fdatasync calls since the start.", stats.log.syncs),
        ("log_sync_us_total", "Time in fdatasync.", micros(stats.log.sync_time)),
        ("log_poisoned", "1 after a failed write or sync: writes are refused.", stats.log.poisoned.into()),
        ("search_requests_total", "Searches done.", stats.search.searches_total),
        ("search_rejected_total", "Searches refused: the queue was full.", stats.search.rejected_total),
        ("search_active", "Searches running or waiting.", stats.search.active),
        ("search_queue_wait_us_total", "Time searches waited for a thread.", stats.search.queue_wait_us_total),
        ("search_run_us_total", "Time searches ran.", stats.search.run_us_total),
    ];
    for (name, help, value) in node {
        gauge(name, help, &[])?.with_label_values::<&str>(&[]).set(i64::try_from(value)?);
    }
    let docs = gauge("index_docs", "Documents that searches see.", &["index"])?;
    let bytes = gauge("index_bytes", "Bytes of segment files.", &["index"])?;
    let segments = gauge("index_segments", "Segments.", &["index"])?;
    let failed = gauge("index_failed_shards", "Shards that take no writes.", &["index"])?;
    for index in engine.resolve("_all", ResolveOptions::default())? {
        let stats = index.stats();
        let label = [index.name()];
        docs.with_label_values(&label).set(i64::try_from(stats.docs)?);
        bytes.with_label_values(&label).set(i64::try_from(stats.bytes)?);
        segments.with_label_values(&label).set(i64::try_from(stats.segments)?);
        failed.with_label_values(&label).set(i64::from(stats.failed_shards));
    }
    Ok(registry.gather())
}
