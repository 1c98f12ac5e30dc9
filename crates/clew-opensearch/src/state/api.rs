//! What every endpoint shares.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderName};
use clew_engine::Engine;
use clew_platform::{FNV1A_64, fnv1a_64};
use clew_profile::{ExemplarBook, Spent, TraceParent, Tracer};
use tokio::sync::watch;

use crate::http::body::BodyLimits;
use crate::http::metrics::RestMetrics;
use crate::state::cluster_settings::{ClusterSettings, SettingCheck};
use crate::state::parts::Parts;
use crate::state::remote_clusters::RemoteClusters;
use crate::state::tasks::Tasks;

/// How the API presents itself, and its limits.
#[derive(Clone, Debug)]
pub struct RestOptions {
    /// Longest body of a request, before and after inflating it.
    pub body_bytes_max: usize,
    /// Name of the cluster that clients are shown.
    pub cluster_name: String,
    /// Name of the node that clients are shown.
    pub node_name: String,
    /// The OpenSearch version that clients are told, which decides what they use.
    pub version_number: String,
    /// Where the server listens, as clients are told by `_nodes`.
    pub publish_address: String,
    /// Folders that repositories of snapshots may lie in; none means one in the data folder.
    pub repository_roots: Vec<PathBuf>,
    /// The data folder, whose disk clients are told of.
    pub data: PathBuf,
    /// Turns true when the server stops, so that requests which wait end; `None` when it never does.
    pub stopped: Option<watch::Receiver<bool>>,
    /// Where the API's metrics are registered; `None` keeps them unregistered.
    pub registry: Option<prometheus::Registry>,
    /// Where examples of slow requests are kept, for whoever shows the metrics.
    pub exemplars: Arc<ExemplarBook>,
    /// Connections, counted by whoever takes them.
    pub http: Arc<HttpFigures>,
    /// Where spans of requests go; `None` records none.
    pub tracer: Option<Tracer>,
    /// Other clusters that documents may be copied from; none unless they are named.
    pub remote_clusters: RemoteClusters,
}

/// Figures of the connections that requests come by, as `_nodes/stats` shows them.
#[derive(Debug, Default)]
pub struct HttpFigures {
    /// Connections that are open.
    pub open: AtomicU64,
    /// Connections opened since the start.
    pub opened: AtomicU64,
}

impl Default for RestOptions {
    fn default() -> Self {
        RestOptions {
            body_bytes_max: 100 << 20,
            cluster_name: "clew".to_string(),
            node_name: "clew-0".to_string(),
            version_number: "2.19.0".to_string(),
            publish_address: "127.0.0.1:9200".to_string(),
            repository_roots: Vec::new(),
            data: PathBuf::from("."),
            stopped: None,
            registry: None,
            exemplars: Arc::default(),
            http: Arc::default(),
            tracer: None,
            remote_clusters: RemoteClusters::default(),
        }
    }
}

impl RestOptions {
    /// The host that clients are told.
    pub(crate) fn publish_host(&self) -> &str {
        let address = &self.publish_address;
        address.rsplit_once(':').map_or(address, |(host, _)| host)
    }
}

/// The version of Lucene that clients of this version of OpenSearch expect to be told.
pub(crate) const LUCENE_VERSION: &str = "9.12.1";
/// How this build is said to have come about; clients want to read something.
pub(crate) const BUILD_TYPE: &str = "tar";
pub(crate) const BUILD_HASH: &str = "unknown";

/// What names the trace that a request is a part of.
static TRACE_PARENT: HeaderName = HeaderName::from_static("traceparent");

/// What every endpoint shares.
pub struct Api {
    /// The engine.
    pub engine: Engine,
    /// How the API presents itself.
    pub options: RestOptions,
    pub(crate) body_limits: BodyLimits,
    pub(crate) metrics: RestMetrics,
    pub(crate) cluster_settings: ClusterSettings,
    pub(crate) tasks: Tasks,
    /// What other rooms keep.
    pub(crate) parts: Parts,
    /// When the node was started.
    pub started: Instant,
    /// The node's id: 22 characters, the same for the same cluster and node name.
    pub(crate) node_id: String,
}

impl Api {
    pub(crate) fn new(
        engine: Engine,
        options: RestOptions,
        setting_checks: Arc<[SettingCheck]>,
    ) -> Self {
        let metrics = RestMetrics::new(options.registry.as_ref(), &options.exemplars);
        let node_id = stable_id(&[&options.cluster_name, &options.node_name]);
        let body_limits = BodyLimits {
            bytes_max: options.body_bytes_max,
            memory: engine.memory().clone(),
        };
        Api {
            body_limits,
            cluster_settings: ClusterSettings::load(&engine, setting_checks),
            tasks: Tasks::new(engine.clock().clone(), options.stopped.clone()),
            engine,
            metrics,
            parts: Parts::default(),
            started: Instant::now(),
            node_id,
            options,
        }
    }

    /// When the node was started, since the Unix epoch by the engine's clock as it goes now.
    pub(crate) fn started_since_epoch(&self) -> Duration {
        self.engine.now().saturating_sub(self.started.elapsed())
    }

    /// The one value of a type that is kept for as long as the server runs, made when it is asked for first.
    pub fn part<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.parts.get()
    }

    /// Puts a value in the place of [`Api::part`]'s.
    #[cfg(any(test, feature = "fixture"))]
    pub fn set_part<T: Send + Sync + 'static>(&self, part: T) {
        self.parts.set(part);
    }

    /// The value of a setting of the cluster that was given.
    pub fn cluster_setting(&self, name: &str) -> Option<String> {
        self.cluster_settings.given(name)
    }

    /// An account for a request that begins now, if it is to have one.
    pub(crate) fn account(&self, headers: &HeaderMap) -> Option<Arc<Spent>> {
        let parent = headers.get(&TRACE_PARENT).and_then(|parent| {
            let state = headers.get("tracestate");
            let state = state.and_then(|state| state.to_str().ok());
            TraceParent::read(parent.to_str().ok()?, state)
        });
        let tells = self.engine.tells_slow() || self.cluster_settings.tells_slow();
        Spent::of_request(parent, self.options.tracer.as_ref(), tells)
    }

    /// Comes back when the server stops.
    pub async fn stopped(&self) {
        match &self.options.stopped {
            // An error means that the sender is gone, which is a stop too.
            Some(stopped) => drop(stopped.clone().wait_for(|stopped| *stopped).await),
            None => std::future::pending().await,
        }
    }
}

/// A name for something that has none of its own: FNV-1a of the parts as 22 characters.
pub(crate) fn stable_id(parts: &[&str]) -> String {
    let hash = parts.iter().fold(FNV1A_64, |hash, part| {
        fnv1a_64(fnv1a_64(hash, part.as_bytes()), &[0])
    });
    format!("clew{hash:018x}")
}
