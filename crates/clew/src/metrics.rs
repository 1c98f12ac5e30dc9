//! `GET /_metrics`: the counters of the protocol crates, and the engine's figures as they are at
//! the time of the request.

use clew_engine::{Engine, EngineStats, ResolveOptions};
use prometheus::proto::MetricFamily;
use prometheus::{Encoder, IntGaugeVec, Opts, Registry, TextEncoder};

use crate::log_metrics;

/// The whole page in Prometheus' text format.
pub(crate) fn render(registry: &Registry, engine: &Engine) -> anyhow::Result<String> {
    let mut families = registry.gather();
    families.extend(engine_families(engine)?);
    families.extend(log_metrics::families(engine.log())?);
    let mut page = Vec::new();
    TextEncoder::new().encode(&families, &mut page)?;
    Ok(String::from_utf8(page)?)
}

/// Figures that the engine keeps itself; they are read, not counted, here.
fn engine_families(engine: &Engine) -> anyhow::Result<Vec<MetricFamily>> {
    let registry = Registry::new();
    for (name, help, value) in node_figures(&engine.stats()) {
        let gauge = gauge(&registry, name, help, &[])?;
        gauge
            .with_label_values::<&str>(&[])
            .set(i64::try_from(value)?);
    }
    let label = &["index"];
    let docs = gauge(
        &registry,
        "index_docs",
        "Documents that searches see.",
        label,
    )?;
    let bytes = gauge(&registry, "index_bytes", "Bytes of segment files.", label)?;
    let segments = gauge(&registry, "index_segments", "Segments.", label)?;
    let failed = gauge(
        &registry,
        "index_failed_shards",
        "Shards that take no writes.",
        label,
    )?;
    for index in engine.resolve("_all", ResolveOptions::default())? {
        let stats = index.stats();
        let name = [index.name()];
        docs.with_label_values(&name)
            .set(i64::try_from(stats.docs)?);
        bytes
            .with_label_values(&name)
            .set(i64::try_from(stats.bytes)?);
        segments
            .with_label_values(&name)
            .set(i64::try_from(stats.segments)?);
        failed
            .with_label_values(&name)
            .set(i64::from(stats.failed_shards));
    }
    Ok(registry.gather())
}

fn gauge(
    registry: &Registry,
    name: &str,
    help: &str,
    labels: &[&str],
) -> anyhow::Result<IntGaugeVec> {
    let gauge = IntGaugeVec::new(Opts::new(name, help), labels)?;
    registry.register(Box::new(gauge.clone()))?;
    Ok(gauge)
}

/// Name, help and value of each figure that the node has once.
#[rustfmt::skip]
fn node_figures(stats: &EngineStats) -> [(&'static str, &'static str, u64); 13] {
    let EngineStats { log, search, .. } = stats;
    let sync_us = u64::try_from(log.sync_time.as_micros()).unwrap_or(u64::MAX);
    [
        ("log_last_glsn", "Last position given.", stats.last.get()),
        ("log_durable_glsn", "Last durable position.", stats.durable.get()),
        ("log_entries_total", "Entries appended since the start.", log.entries),
        ("log_written_bytes_total", "Bytes written to the log since the start.", log.bytes),
        ("log_groups_total", "Groups written since the start.", log.groups),
        ("log_syncs_total", "fdatasync calls since the start.", log.syncs),
        ("log_sync_us_total", "Time in fdatasync.", sync_us),
        ("log_poisoned", "1 after a failed write or sync: writes are refused.", log.poisoned.into()),
        ("search_requests_total", "Searches done.", search.searches_total),
        ("search_rejected_total", "Searches refused: the queue was full.", search.rejected_total),
        ("search_active", "Searches running or waiting.", search.active),
        ("search_queue_wait_us_total", "Time searches waited for a thread.", search.queue_wait_us_total),
        ("search_run_us_total", "Time searches ran.", search.run_us_total),
    ]
}
