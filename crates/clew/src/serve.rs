//! `clew serve`: opens the engine, puts the protocol servers over it, and stops them in order.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use clap::Args;
use clew_access::AccessControl;
use clew_engine::{DiskLimits, Engine, EngineOptions};
use clew_log::LogOptions;
use clew_log_grpc::{Admission, Guard, ServerOptions};
use clew_milvus::{Login, MilvusOptions};
use clew_opensearch::wing::Wing;
use clew_opensearch::{HttpFigures, RestOptions};
use clew_platform::{MemoryLimits, RealClock, RealDisk, Task};
use clew_profile::{SpanFigures, Tracer};
use prometheus::Registry;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::collect::{Figures, Within};
use crate::config::{Config, DiskConfig, LogConfig, ProfileConfig};
use crate::http::{HttpRules, HttpServer};
use crate::profile::{KeptProfiles, ProfileEndpoints};
use crate::spans::Exporter;
use crate::{health, logging, login, metrics, open_files, profile, retention, signals};

/// Steps of connections and requests between two looks for what has come in meanwhile: while several clients send long
/// bodies, each step copies some hundred KB, and a short request should not wait for the 61 that tokio takes by itself.
const STEPS_BETWEEN_LOOKS: u32 = 8;

/// How long open requests may take to end once a stop is asked for.
const GRACE: Duration = Duration::from_secs(10);

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Configuration file (YAML).
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Data folder; made when missing.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Address of the OpenSearch REST API; port 0 takes a free one.
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,
    /// Address of the log's gRPC service; port 0 takes a free one.
    #[arg(long, value_name = "ADDR")]
    grpc: Option<SocketAddr>,
    /// Collect logs in the same process, as this configuration of the collector says (docs/collect.md).
    #[arg(long, value_name = "FILE")]
    collect: Option<PathBuf>,
}

/// Connections of the log's service without a limit of the user's, where files suffice.
const GRPC_CONNECTIONS: usize = 1_000;

/// What the HTTP server is over, and what it shows beside that.
struct Over<'a> {
    engine: &'a Engine,
    door: Option<&'a Arc<AccessControl>>,
    kept: Option<KeptProfiles>,
    collect: Option<Arc<Figures>>,
    tracer: Option<Tracer>,
}

/// What the small endpoints share.
#[derive(Clone)]
struct Shared {
    engine: Engine,
    registry: Registry,
    collect: Option<Arc<Figures>>,
    spans: Option<Arc<SpanFigures>>,
}

pub(crate) fn run(arguments: ServeArguments) -> anyhow::Result<()> {
    let mut config = Config::load(arguments.config.as_deref(), std::env::vars())?;
    if let Some(data) = arguments.data {
        config.data = data;
    }
    if let Some(address) = arguments.http {
        config.http.address = address;
    }
    if let Some(address) = arguments.grpc {
        config.grpc.address = address;
    }
    logging::start(&config.logging)?;
    if config.profile.heap {
        crate::ALLOCATOR.0.start();
    }
    check_addresses(&config)?;
    let collect = arguments.collect.as_deref().map(Within::read).transpose()?;
    tracing::info!(config = %serde_json::to_string(&config)?, version = env!("CARGO_PKG_VERSION"), "starting");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .event_interval(STEPS_BETWEEN_LOOKS)
        .build()?;
    runtime.block_on(serve(config, collect))
}

/// Without authentication only this machine may connect unless told otherwise.
fn check_addresses(config: &Config) -> anyhow::Result<()> {
    let Some(section) = login::remote(config).filter(|_| !config.access.authentication) else {
        return Ok(());
    };
    let address = match section {
        "http" => config.http.address,
        _ => config.grpc.address,
    };
    let variable = section.to_uppercase();
    bail!(
        "refusing to listen on {address}: anyone who reaches it may read and write everything; set \
         access.authentication (CLEW_ACCESS__AUTHENTICATION=true), or set {section}.allow_remote \
         (CLEW_{variable}__ALLOW_REMOTE=true) if that is meant"
    );
}

/// The shares of some memory, as far as the configuration does not say otherwise. What the process may really have is
/// the machine's affair.
fn memory_limits(config: &Config, memory_bytes: u64, real: usize) -> MemoryLimits {
    let mut limits = MemoryLimits {
        real,
        ..MemoryLimits::shares_of(memory_bytes)
    };
    if config.vectors.build_memory_bytes > 0 {
        limits.merges = config.vectors.build_memory_bytes;
    }
    limits
}

fn engine_options(config: &Config) -> anyhow::Result<EngineOptions> {
    let defaults = EngineOptions::new(&config.data);
    let (engine, vectors) = (&config.engine, &config.vectors);
    let memory_bytes = match config.memory.limit_bytes {
        0 => defaults.memory_bytes,
        bytes => bytes,
    };
    Ok(EngineOptions {
        search_threads: match engine.search_threads {
            0 => defaults.search_threads,
            threads => threads,
        },
        search_queue_max: engine.search_queue_max,
        write_buffer_bytes: engine.write_buffer_bytes,
        auto_create_index: engine.auto_create_index,
        log_bytes_max: engine.log_bytes_max,
        changes_retention_bytes: engine.changes_retention_bytes,
        memory_bytes,
        memory: memory_limits(config, memory_bytes, defaults.memory.real),
        merge_threads: match vectors.build_threads {
            0 => defaults.merge_threads,
            threads => threads,
        },
        merge_save_every: match vectors.save_interval_s {
            0 => defaults.merge_save_every,
            seconds => Duration::from_secs(seconds),
        },
        disk: disk_limits(&config.disk)?,
        query_reader: Some(clew_opensearch::dsl::query_reader()),
        settings_reader: Some(clew_opensearch::read_untyped_settings),
        mapping_reader: Some(clew_opensearch::mapping_reader()),
        log: LogOptions {
            retention_bytes: config.log.retention_bytes,
            retention_age_ms: config.log.retention_age_s.saturating_mul(1000),
            ..defaults.log
        },
        ..defaults
    })
}

/// The marks of the disk, by the names that they have as settings of the cluster, too.
fn disk_limits(config: &DiskConfig) -> anyhow::Result<DiskLimits> {
    let given = |name: &str| config.given(name);
    let limits = clew_opensearch::read_disk_limits(given, &DiskLimits::default());
    limits
        .map_err(anyhow::Error::msg)
        .context("in the section [disk]")
}

async fn serve(config: Config, collect: Option<Within>) -> anyhow::Result<()> {
    let open_files_max = open_files::raise_limit()?;
    let machine = rustix::system::uname();
    let machine = machine.nodename().to_string_lossy();
    let rules = HttpRules::new(&config.http, open_files_max, &machine)?;
    // The ports first: a second server on one machine should not wait for recovery to fail.
    let http = listen(config.http.address).await?;
    let grpc = listen(config.grpc.address).await?;
    let opened = config.clone();
    let (engine, access) = tokio::task::spawn_blocking(move || open(&opened)).await??;
    let addresses = (http.local_addr()?, grpc.local_addr()?);
    let (stopping, stopped) = watch::channel(false);
    let mut servers = JoinSet::new();
    let door = config.access.authentication.then_some(&access);
    let kept = kept_profiles(&config)?;
    let watcher = kept.clone().map(|kept| watch_itself(kept, stopped.clone()));
    let watcher = watcher.transpose()?;
    let (tracer, exporter) = Exporter::start(&config.tracing)?.unzip();
    let over = Over {
        engine: &engine,
        door,
        kept,
        collect: collect.as_ref().map(Within::figures),
        tracer,
    };
    let (served, background) = serve_http((&config, rules), http, over, stopped.clone())?;
    servers.spawn(served);
    servers.spawn(async move {
        background.await;
        Ok(())
    });
    serve_grpc(
        (&config, open_files_max),
        grpc,
        (&engine, &access),
        (&mut servers, &stopped),
    );
    if let Some(collect) = collect {
        servers.spawn(collect.run(engine.clone(), stopped.clone()));
    }
    if config.log != LogConfig::default() {
        let log = engine.log().clone();
        servers.spawn(async move {
            retention::look_after(log, stopped).await;
            Ok(())
        });
    }
    let stop = signals::stop_signal()?;
    announce(addresses)?;
    tracing::info!(http = %addresses.0, grpc = %addresses.1, data = %config.data.display(), "serving");
    let ended = tokio::select! {
        () = stop => Ok(()),
        // No server ends by itself but by a failure.
        Some(ended) = servers.join_next() => ended.map_err(anyhow::Error::from).flatten(),
    };
    tracing::info!("stopping");
    stopping.send_replace(true);
    let ended = ended.and(all_ended(servers).await);
    tokio::task::spawn_blocking(move || {
        if let Some(watcher) = watcher {
            watcher.join();
        }
        if let Some(exporter) = exporter {
            exporter.stop();
        }
        engine.close()
    })
    .await??;
    tracing::info!("stopped");
    ended
}

/// Where the profile that is always on is kept, if it is.
fn kept_profiles(config: &Config) -> anyhow::Result<Option<KeptProfiles>> {
    let ProfileConfig {
        continuous,
        retention_s,
        retention_bytes,
        ..
    } = config.profile;
    let retention = Duration::from_secs(retention_s);
    let open = || KeptProfiles::open(&config.data, retention, retention_bytes);
    continuous.then(open).transpose()
}

fn watch_itself(kept: KeptProfiles, stopped: watch::Receiver<bool>) -> anyhow::Result<Task> {
    let watch = move || kept.keep(&stopped);
    Ok(Task::spawn("clew-profile", watch)?)
}

/// Opens the data folder, and who is let in to it.
fn open(config: &Config) -> anyhow::Result<(Engine, Arc<AccessControl>)> {
    let (disk, clock) = (Arc::new(RealDisk), Arc::new(RealClock::new()));
    let engine = Engine::start(engine_options(config)?, disk, clock)
        .with_context(|| format!("cannot open the data folder {}", config.data.display()))?;
    // The engine has seen to it that nobody else has the folder.
    Ok((engine, login::open(config)?))
}

async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind(address).await;
    listener.with_context(|| format!("cannot listen on {address}"))
}

/// The OpenSearch REST API and the small endpoints, and the API's work beside them, until the server
/// stops.
fn serve_http(
    (config, rules): (&Config, HttpRules),
    listener: TcpListener,
    over: Over<'_>,
    stopped: watch::Receiver<bool>,
) -> anyhow::Result<(
    impl Future<Output = anyhow::Result<()>> + Send + 'static,
    impl Future<Output = ()> + Send + 'static,
)> {
    let Over {
        engine,
        door,
        kept,
        collect,
        tracer,
    } = over;
    let registry = Registry::new();
    let figures = Arc::new(HttpFigures::default());
    let rest = RestOptions {
        body_bytes_max: config.http.body_bytes_max,
        publish_address: listener.local_addr()?.to_string(),
        repository_roots: config.snapshots.paths.clone(),
        data: config.data.clone(),
        stopped: Some(stopped.clone()),
        registry: Some(registry.clone()),
        http: figures.clone(),
        tracer,
        ..RestOptions::default()
    };
    let (app, background) = router((engine, collect), &registry, rest);
    let endpoints = ProfileEndpoints::new(engine.clone(), stopped.clone(), kept);
    let app = app.merge(profile::routes(endpoints));
    let app = match door {
        Some(access) => login::before(app, access),
        None => app,
    };
    let server = HttpServer::new(rules, app, &registry, figures)?;
    let served = async move {
        server.serve(listener, until_stopped(stopped)).await;
        Ok(())
    };
    Ok((served, background))
}

/// The log's service and Milvus' API, until the server stops.
fn serve_grpc(
    (config, open_files_max): (&Config, usize),
    listener: TcpListener,
    (engine, access): (&Engine, &Arc<AccessControl>),
    (servers, stopped): (&mut JoinSet<anyhow::Result<()>>, &watch::Receiver<bool>),
) {
    let door = config.access.authentication.then_some(access);
    let asked = engine.clone();
    let limits = ServerOptions {
        admission: Admission::by(move |bytes| asked.check_disk(bytes)),
        guard: door.map_or_else(Guard::default, login::guard),
        memory: engine.memory().clone(),
        message_bytes_max: config.grpc.message_bytes_max,
        connections_max: match config.grpc.connections_max {
            0 => GRPC_CONNECTIONS.min(open_files_max / 8),
            asked => asked,
        },
    };
    let log = engine.log().clone();
    let milvus = MilvusOptions {
        message_bytes_max: config.grpc.message_bytes_max,
        login: door.map_or(Login::NotNeeded, |_| Login::Needed),
    };
    let (others, upkeep) = clew_milvus::routes(engine.clone(), access.clone(), &milvus);
    let until = stopped.clone();
    servers.spawn(async move {
        tokio::select! {
            () = upkeep => {}
            () = until_stopped(until) => {}
        }
        Ok(())
    });
    let served = clew_log_grpc::serve(log, listener, limits, Some(others), stopped.clone());
    servers.spawn(async move { Ok(served.await?) });
}

/// Lets the servers end what is open, for a while.
async fn all_ended(mut servers: JoinSet<anyhow::Result<()>>) -> anyhow::Result<()> {
    let all = async {
        while let Some(ended) = servers.join_next().await {
            ended??;
        }
        Ok(())
    };
    match tokio::time::timeout(GRACE, all).await {
        Ok(ended) => ended,
        Err(_) => {
            tracing::warn!("requests still open after the grace period were cut off");
            servers.shutdown().await;
            Ok(())
        }
    }
}

pub(crate) async fn until_stopped(mut stopped: watch::Receiver<bool>) {
    // An error means that the sender is gone, which is a stop too.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

/// The parts of the REST API that are put together here.
static WINGS: &[Wing] = &[clew_ism::WING, clew_opensearch_sql::WING];

fn router(
    (engine, collect): (&Engine, Option<Arc<Figures>>),
    registry: &Registry,
    rest: RestOptions,
) -> (Router, impl Future<Output = ()> + Send + use<>) {
    let shared = Shared {
        engine: engine.clone(),
        registry: registry.clone(),
        collect,
        spans: rest.tracer.as_ref().map(|tracer| tracer.figures().clone()),
    };
    let (api, background) = clew_opensearch::router(engine.clone(), rest, WINGS);
    let app = Router::new()
        .route("/_health", get(health))
        .route("/_metrics", get(metrics_page))
        .with_state(shared)
        .merge(api);
    (app, background)
}

/// One line on standard output tells whoever started the server where it listens.
fn announce((http, grpc): (SocketAddr, SocketAddr)) -> anyhow::Result<()> {
    use std::io::Write;
    let line = serde_json::json!({
        "listening": {"http": http.to_string(), "grpc": grpc.to_string()}
    });
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()?;
    Ok(())
}

async fn health(State(shared): State<Shared>) -> Response {
    health::answer(&shared.engine)
}

async fn metrics_page(State(shared): State<Shared>) -> Response {
    let render = move || {
        let figures = (shared.collect.as_deref(), shared.spans.as_deref());
        metrics::render(&shared.registry, &shared.engine, figures)
    };
    match tokio::task::spawn_blocking(render).await {
        Ok(Ok(page)) => {
            let kind = [("content-type", "text/plain; version=0.0.4; charset=utf-8")];
            (kind, page).into_response()
        }
        Ok(Err(error)) => {
            (StatusCode::INTERNAL_SERVER_ERROR, format!("{error:#}\n")).into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clew_opensearch::fixture::Node;
    use clew_platform::SimDisk;
    use serde_json::Value;

    use super::*;

    /// Every `$ref` and every `operationId` anywhere in a value.
    fn names<'v>(value: &'v Value, (targets, ids): (&mut BTreeSet<&'v str>, &mut Vec<&'v str>)) {
        match value {
            Value::Object(members) => {
                targets.extend(members.get("$ref").and_then(Value::as_str));
                ids.extend(members.get("operationId").and_then(Value::as_str));
                for value in members.values() {
                    names(value, (targets, ids));
                }
            }
            Value::Array(items) => items.iter().for_each(|value| names(value, (targets, ids))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn what_all_parts_describe_fits_together() {
        let node = Node::open(&SimDisk::new(), WINGS).unwrap();
        let document = node.done("GET /_openapi.json", Value::Null);
        let (mut targets, mut ids) = (BTreeSet::new(), Vec::new());
        names(&document, (&mut targets, &mut ids));
        for target in &targets {
            let pointer = target.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{target}");
        }
        let schemas = document["components"]["schemas"].as_object().unwrap();
        for name in schemas.keys() {
            let target = format!("#/components/schemas/{name}");
            assert!(targets.contains(target.as_str()), "{name}");
        }
        assert!(ids.contains(&"sql::ppl POST /_plugins/_ppl"));
        let count = ids.len();
        assert_eq!(ids.into_iter().collect::<BTreeSet<_>>().len(), count);
        assert!(count > 250);
    }
}
