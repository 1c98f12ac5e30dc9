//! `clew serve`: opens the engine, puts the protocol servers over it, and stops them in order.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use clap::Args;
use clew_access::AccessControl;
use clew_engine::{Engine, EngineOptions};
use clew_log_grpc::{Admission, CallsAtWork, Guard, ServerOptions};
use clew_milvus::{Login, MilvusOptions};
use clew_opensearch::wing::Wing;
use clew_opensearch::{HttpFigures, RemoteClusters, RestOptions};
use clew_platform::{RealClock, RealDisk, Task};
use clew_profile::{ExemplarBook, Tracer};
use prometheus::Registry;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::collect::{Figures, Within};
use crate::config::{ADDRESS, Config, LogConfig, ProfileConfig};
use crate::engine_options::engine_options;
use crate::http::{HttpRules, HttpServer};
use crate::profile::{KeptProfiles, ProfileEndpoints};
use crate::signals::until_stopped;
use crate::spans::Exporter;
use crate::{calls, health, logging, login, metrics, open_files, profile, retention, signals};

/// Steps of connections and requests between two looks for what has come in meanwhile: while several clients send long
/// bodies, each step copies some hundred KB, and a short request should not wait for the 61 that tokio takes by itself.
const STEPS_BETWEEN_LOOKS: u32 = 8;

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// Configuration file (YAML, docs/configuration.md); what is said here wins over it.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Data folder; made when missing [default: clew-data].
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Address of the OpenSearch REST API; port 0 takes a free one [default: 127.0.0.1:9200].
    #[arg(long, value_name = "ADDR", value_parser = address)]
    http: Option<SocketAddr>,
    /// Address of Milvus' API and of the log's gRPC service; port 0 takes a free one [default: 127.0.0.1:19530].
    #[arg(long, value_name = "ADDR", value_parser = address)]
    grpc: Option<SocketAddr>,
    /// Collect logs in the same process, as this configuration of the collector says (docs/collect.md).
    #[arg(long, value_name = "FILE")]
    collect: Option<PathBuf>,
}

/// An address, or what it would have to be, in the words of the configuration.
fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("must be {ADDRESS}"))
}

/// Connections of the log's service without a limit of the user's, where files suffice.
const GRPC_CONNECTIONS: usize = 1_000;

/// What the HTTP server is over, and what it shows beside that.
struct Over<'a> {
    engine: &'a Engine,
    door: Option<&'a Arc<AccessControl>>,
    kept: Option<KeptProfiles>,
    collect: Option<Arc<Figures>>,
    told: Told,
}

/// What is told of requests, whichever protocol they come by.
#[derive(Clone)]
struct Told {
    registry: Registry,
    exemplars: Arc<ExemplarBook>,
    tracer: Option<Tracer>,
}

impl Told {
    /// Nothing yet; and what sends spans, if that is wanted.
    fn begin(config: &Config) -> anyhow::Result<(Told, Option<Exporter>)> {
        let (tracer, exporter) = Exporter::start(&config.tracing)?.unzip();
        let told = Told {
            registry: Registry::new(),
            exemplars: Arc::default(),
            tracer,
        };
        Ok((told, exporter))
    }
}

pub(crate) fn run(arguments: ServeArguments) -> anyhow::Result<()> {
    let (mut config, origins) = Config::load(arguments.config.as_deref())?;
    if let Some(data) = arguments.data {
        config.data = data;
    }
    if let Some(address) = arguments.http {
        config.http.address = address;
    }
    if let Some(address) = arguments.grpc {
        config.grpc.address = address;
    }
    if config.data.to_str().is_none() {
        // It is told in texts that are: the configuration in force, statistics, errors.
        let folder = config.data.display();
        bail!("the data folder {folder} has a name that is not UTF-8");
    }
    logging::start(&config.logging).map_err(|wrong| origins.placed(&wrong))?;
    if config.profile.heap {
        crate::ALLOCATOR.0.start();
    }
    check_addresses(&config)?;
    let rules = Rules::of(&config).map_err(|wrong| origins.placed(&wrong))?;
    let collect = arguments.collect.as_deref().map(Within::read).transpose()?;
    tracing::info!(config = %serde_json::to_string(&config)?, version = env!("CARGO_PKG_VERSION"), "starting");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .event_interval(STEPS_BETWEEN_LOOKS)
        .build()?;
    runtime.block_on(serve(config, rules, collect))
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

/// What the configuration says of the parts of a server. It is read before any of them is begun, so that what is wrong is told first.
struct Rules {
    http: HttpRules,
    engine: EngineOptions,
    remote_clusters: RemoteClusters,
    /// The files that the process may open.
    open_files_max: usize,
}

impl Rules {
    /// # Errors
    /// What cannot be kept, on this machine or at all.
    fn of(config: &Config) -> anyhow::Result<Rules> {
        let open_files_max = open_files::raise_limit()?;
        let machine = rustix::system::uname();
        let machine = machine.nodename().to_string_lossy();
        Ok(Rules {
            http: HttpRules::new(&config.http, open_files_max, &machine)?,
            engine: engine_options(config)?,
            remote_clusters: config.reindex.remote.clusters()?,
            open_files_max,
        })
    }
}

async fn serve(config: Config, rules: Rules, collect: Option<Within>) -> anyhow::Result<()> {
    let open_files_max = rules.open_files_max;
    // The ports first: a second server on one machine should not wait for recovery to fail.
    let http = listen(config.http.address).await?;
    let grpc = listen(config.grpc.address).await?;
    let opened = config.clone();
    let (engine, access) =
        tokio::task::spawn_blocking(move || open(&opened, rules.engine)).await??;
    let addresses = (http.local_addr()?, grpc.local_addr()?);
    let (stopping, stopped) = watch::channel(false);
    let mut servers = JoinSet::new();
    let door = config.access.authentication.then_some(&access);
    let kept = kept_profiles(&config);
    let watcher = kept
        .clone()
        .map(|kept| watch_itself(kept, &engine, stopped.clone()));
    let watcher = watcher.transpose()?;
    let (told, exporter) = Told::begin(&config)?;
    let over = Over {
        engine: &engine,
        door,
        kept,
        collect: collect.as_ref().map(Within::figures),
        told: told.clone(),
    };
    let rules = (rules.http, rules.remote_clusters);
    let (served, background) = serve_http((&config, rules), http, over, stopped.clone())?;
    servers.spawn(served);
    servers.spawn(async move {
        background.await;
        Ok(())
    });
    serve_grpc(
        (&config, open_files_max),
        (grpc, told),
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
    let stop = signals::server_stop_signal()?;
    announce(addresses)?;
    tracing::info!(http = %addresses.0, grpc = %addresses.1, data = %config.data.display(), "serving");
    let ended = tokio::select! {
        () = stop => Ok(()),
        // No server ends by itself but by a failure.
        Some(ended) = servers.join_next() => ended.map_err(anyhow::Error::from).flatten(),
    };
    tracing::info!("stopping");
    stopping.send_replace(true);
    let ended = ended.and(all_ended(servers, config.stop.grace_ms).await);
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

/// Where the profile that is always on is kept, if it is. Where it cannot be, the data is served all the same.
fn kept_profiles(config: &Config) -> Option<KeptProfiles> {
    let ProfileConfig {
        continuous,
        retention_s,
        retention_bytes,
        ..
    } = config.profile;
    let retention = Duration::from_secs(retention_s);
    let open = || KeptProfiles::open(&config.data, retention, retention_bytes);
    match continuous.then(open)? {
        Ok(kept) => Some(kept),
        Err(error) => {
            let error = format!("{error:#}");
            tracing::warn!(error, "no profiles are kept until the next start");
            None
        }
    }
}

fn watch_itself(
    kept: KeptProfiles,
    engine: &Engine,
    stopped: watch::Receiver<bool>,
) -> anyhow::Result<Task> {
    let account = engine.memory().clone();
    let watch = move || kept.keep(&stopped, &account);
    Ok(Task::spawn("clew-profile", watch)?)
}

/// Opens the data folder, and who is let in to it.
fn open(config: &Config, options: EngineOptions) -> anyhow::Result<(Engine, Arc<AccessControl>)> {
    let (disk, clock) = (Arc::new(RealDisk), Arc::new(RealClock::new()));
    let engine = Engine::start(options, disk, clock)
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
    (config, (rules, remote_clusters)): (&Config, (HttpRules, RemoteClusters)),
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
        told,
    } = over;
    let registry = told.registry.clone();
    let figures = Arc::new(HttpFigures::default());
    let rest = RestOptions {
        body_bytes_max: config.http.body_bytes_max,
        publish_address: listener.local_addr()?.to_string(),
        repository_roots: config.snapshots.paths.clone(),
        data: config.data.clone(),
        stopped: Some(stopped.clone()),
        registry: Some(registry.clone()),
        exemplars: told.exemplars.clone(),
        http: figures.clone(),
        tracer: told.tracer.clone(),
        remote_clusters,
        ..RestOptions::default()
    };
    let (app, background) = router((engine, collect), &told, rest);
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
    (listener, told): (TcpListener, Told),
    (engine, access): (&Engine, &Arc<AccessControl>),
    (servers, stopped): (&mut JoinSet<anyhow::Result<()>>, &watch::Receiver<bool>),
) {
    let door = config.access.authentication.then_some(access);
    let asked = engine.clone();
    let at_work = CallsAtWork::default();
    let guard = door.map_or_else(Guard::default, login::guard);
    let limits = ServerOptions {
        admission: Admission::by(move |bytes| asked.check_disk(bytes)),
        guard: calls::counted(guard, &at_work),
        at_work,
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
        registry: Some(told.registry),
        exemplars: told.exemplars,
        tracer: told.tracer,
        imports: config.imports.path.clone(),
        stopped: Some(stopped.clone()),
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
async fn all_ended(mut servers: JoinSet<anyhow::Result<()>>, grace_ms: u64) -> anyhow::Result<()> {
    let all = async {
        while let Some(ended) = servers.join_next().await {
            ended??;
        }
        Ok(())
    };
    match tokio::time::timeout(Duration::from_millis(grace_ms), all).await {
        Ok(ended) => ended,
        Err(_) => {
            tracing::warn!(
                grace_ms,
                "requests still open after the grace period were cut off"
            );
            servers.shutdown().await;
            Ok(())
        }
    }
}

/// The parts of the REST API that are put together here.
static WINGS: &[Wing] = &[clew_ism::WING, clew_opensearch_sql::WING];

fn router(
    (engine, collect): (&Engine, Option<Arc<Figures>>),
    told: &Told,
    rest: RestOptions,
) -> (Router, impl Future<Output = ()> + Send + use<>) {
    let shown = metrics::Shown {
        engine: engine.clone(),
        registry: told.registry.clone(),
        exemplars: told.exemplars.clone(),
        collect,
        spans: told.tracer.as_ref().map(|tracer| tracer.figures().clone()),
    };
    let (api, background) = clew_opensearch::router(engine.clone(), rest, WINGS);
    let app = Router::new()
        .route("/_health", get(health))
        .with_state(engine.clone())
        .merge(metrics::routes(shown))
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

async fn health(State(engine): State<Engine>) -> Response {
    health::answer(&engine)
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
