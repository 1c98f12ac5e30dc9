//! `GET /_metrics`: the counters of the protocol crates, and the engine's figures as they are at
//! the time of the request.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use clew_engine::{Access, Engine, EngineStats, IndexStats, NodeHealth};
use clew_platform::MemoryPurpose;
use clew_profile::{ExemplarBook, SpanFigures};
use prometheus::proto::MetricFamily;
use prometheus::{Registry, TextEncoder};

use crate::collect::Figures;
use crate::figure::Figure;
use crate::{log_metrics, openmetrics, process_metrics, spans};

/// What the page shows.
#[derive(Clone)]
pub(crate) struct Shown {
    pub(crate) engine: Engine,
    /// What is counted while requests are answered.
    pub(crate) registry: Registry,
    /// Examples of slow requests.
    pub(crate) exemplars: Arc<ExemplarBook>,
    pub(crate) collect: Option<Arc<Figures>>,
    pub(crate) spans: Option<Arc<SpanFigures>>,
}

/// The page's path.
pub(crate) fn routes(shown: Shown) -> Router {
    Router::new()
        .route("/_metrics", get(page))
        .with_state(shown)
}

/// The page in OpenMetrics' format for who would rather have that, else in Prometheus'.
async fn page(State(shown): State<Shown>, headers: HeaderMap) -> Response {
    let is_open = openmetrics::is_wanted(&headers);
    let render = move || -> anyhow::Result<String> {
        let families = shown.families()?;
        if is_open {
            return Ok(openmetrics::encode(&families, &shown.exemplars));
        }
        Ok(TextEncoder::new().encode_to_string(&families)?)
    };
    let kind = match is_open {
        true => openmetrics::CONTENT_TYPE,
        false => "text/plain; version=0.0.4; charset=utf-8",
    };
    let told = match tokio::task::spawn_blocking(render).await {
        Ok(Ok(page)) => return ([(header::CONTENT_TYPE, kind)], page).into_response(),
        Ok(Err(error)) => format!("{error:#}\n"),
        Err(error) => format!("{error}\n"),
    };
    (StatusCode::INTERNAL_SERVER_ERROR, told).into_response()
}

impl Shown {
    /// All figures as they are now.
    fn families(&self) -> anyhow::Result<Vec<MetricFamily>> {
        let mut families = self.registry.gather();
        families.extend(engine_families(&self.engine)?);
        families.extend(log_metrics::families(self.engine.log())?);
        families.extend(process_metrics::families()?);
        if let Some(figures) = &self.collect {
            families.extend(figures.families()?);
        }
        if let Some(figures) = &self.spans {
            families.extend(spans::families(figures)?);
        }
        Ok(families)
    }
}

/// Figures that the engine keeps itself; they are read, not counted, here.
fn engine_families(engine: &Engine) -> anyhow::Result<Vec<MetricFamily>> {
    let registry = Registry::new();
    let health = engine.health();
    let figures = node_figures(&engine.stats()).into_iter();
    for (name, help, value) in figures.chain(health_figures(&health)) {
        Figure::new(&registry, name, help, &[])?.tell(&[], value);
    }
    memory_families(&registry, engine)?;
    let help = "1 for each shard that has failed, and serves nothing until it is mended.";
    let failed = Figure::new(&registry, "shards_failed", help, &["index", "shard"])?;
    for shard in &health.shards {
        failed.tell(&[&shard.index, &shard.shard.to_string()], 1);
    }
    let mut figures = Vec::new();
    for (name, help, of) in INDEX_FIGURES {
        figures.push((Figure::new(&registry, name, help, &["index"])?, of));
    }
    for index in engine.indices(&Access::everything()) {
        let stats = index.stats();
        for (figure, of) in &figures {
            figure.tell(&[index.name()], of(&stats));
        }
    }
    Ok(registry.gather())
}

/// What memory is taken for, and how much of it may be.
fn memory_families(registry: &Registry, engine: &Engine) -> anyhow::Result<()> {
    let figure = |name, help| Figure::new(registry, name, help, &["purpose"]);
    let reserved = figure(
        "memory_reserved_bytes",
        "Memory that is taken for a purpose.",
    )?;
    let limit = figure(
        "memory_limit_bytes",
        "Memory that may be taken for a purpose.",
    )?;
    let refused = figure(
        "memory_refused_total",
        "Times that memory was refused by the limit of its purpose.",
    )?;
    let account = engine.memory();
    let purposes = MemoryPurpose::ALL.map(|one| (one.name(), account.figures(one)));
    let totals = [("all", account.total()), ("process", account.real())];
    for (name, figures) in purposes.into_iter().chain(totals) {
        reserved.tell(&[name], figures.used as u64);
        limit.tell(&[name], figures.limit as u64);
        refused.tell(&[name], figures.refused);
    }
    Ok(())
}

/// Name, help and value of what is told of the disk.
fn health_figures(health: &NodeHealth) -> [(&'static str, &'static str, u64); 3] {
    let disk = &health.disk;
    let blocked = "1 while writes are refused because the disk is nearly full.";
    [
        (
            "disk_total_bytes",
            "Size of the data folder's disk.",
            disk.total,
        ),
        (
            "disk_free_bytes",
            "Bytes of the data folder's disk that may still be written.",
            disk.free,
        ),
        ("disk_blocked", blocked, disk.is_blocked().into()),
    ]
}

/// A figure of an index.
type IndexFigure = fn(&IndexStats) -> u64;

/// Name, help and value of each figure that every index has.
#[rustfmt::skip]
const INDEX_FIGURES: [(&str, &str, IndexFigure); 23] = [
    ("index_docs", "Documents that searches see.", |stats| stats.docs),
    ("index_bytes", "Bytes of segment files.", |stats| stats.bytes),
    ("index_segments", "Segments of the index's shards.", |stats| stats.segments),
    ("index_failed_shards", "Shards that serve nothing until they are mended.", |stats| stats.failed_shards.into()),
    ("index_buffer_bytes", "Memory of documents that are in no segment yet.", |stats| stats.buffer_bytes),
    ("index_merges_running", "Merges that are running.", |stats| stats.merges_running),
    ("index_merge_rows_done", "Vectors that running merges are through with in their present phase.", |stats| stats.merge_rows_done),
    ("index_merge_rows", "Vectors of the present phase of running merges.", |stats| stats.merge_rows_total),
    ("index_graphs_refused_total", "Graphs that merges left out for want of memory.", |stats| stats.graphs_refused_total),
    ("index_graphs_resumed_total", "Graphs whose building went on after a restart.", |stats| stats.graphs_resumed_total),
    ("index_searches_total", "Searches of the index's shards.", |stats| stats.searches.queries.total),
    ("index_search_us_total", "Time that searches of shards took, in microseconds.", |stats| stats.searches.queries.ns / 1000),
    ("index_fetches_total", "Answers whose hits were read.", |stats| stats.searches.fetches.total),
    ("index_fetch_us_total", "Time that reading hits took, in microseconds.", |stats| stats.searches.fetches.ns / 1000),
    ("index_indexed_total", "Documents that were written.", |stats| stats.indexed_total),
    ("index_writes_total", "Groups of writes to a shard.", |stats| stats.writes.total),
    ("index_write_us_total", "Time that groups of writes took, in microseconds.", |stats| stats.writes.ns / 1000),
    ("index_refreshes_total", "Refreshes that showed something new.", |stats| stats.refreshes.total),
    ("index_refresh_us_total", "Time that refreshes took, in microseconds.", |stats| stats.refreshes.ns / 1000),
    ("index_flushes_total", "Flushes, which sync segments.", |stats| stats.flushes.total),
    ("index_merges_total", "Merges that were done.", |stats| stats.merges.total),
    ("index_merge_us_total", "Time that merges took, in microseconds.", |stats| stats.merges.ns / 1000),
    ("index_merged_bytes_total", "Bytes of the segments that merges replaced.", |stats| stats.merged_bytes),
];

/// Name, help and value of each figure that the node has once.
#[rustfmt::skip]
fn node_figures(stats: &EngineStats) -> [(&'static str, &'static str, u64); 14] {
    let EngineStats { log, search, .. } = stats;
    [
        ("log_last_glsn", "Last position that the log has given.", stats.last.get()),
        ("log_durable_glsn", "Last position of the log that is durable.", stats.durable.get()),
        ("log_entries_total", "Entries appended to the log since the start.", log.entries),
        ("log_written_bytes_total", "Bytes written to the log since the start.", log.bytes),
        ("log_groups_total", "Groups of entries written to the log since the start.", log.groups),
        ("log_syncs_total", "fdatasync calls since the start.", log.syncs),
        ("log_poisoned", "1 after a failed write or sync: writes are refused.", log.poisoned.into()),
        ("search_requests_total", "Searches done.", search.searches_total),
        ("search_rejected_total", "Searches refused: the queue was full.", search.rejected_total),
        ("search_active", "Searches running or waiting.", search.active),
        ("search_queue_wait_us_total", "Time that searches waited for a thread, in microseconds.", search.queue_wait_us_total),
        ("search_run_us_total", "Time that searches ran, in microseconds.", search.run_us_total),
        ("merge_memory_bytes", "Memory that running merges have taken for vectors and graphs.", stats.merge_memory_bytes),
        ("merge_memory_bytes_max", "Memory that running merges may take for vectors and graphs.", stats.merge_memory_bytes_max),
    ]
}
