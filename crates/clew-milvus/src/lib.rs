//! The Milvus API over the engine: gRPC and both RESTful editions, as Milvus' clients speak them.
//!
//! A collection is an index whose documents are its rows; what it is beyond the index's mapping is kept with that
//! (`collection`). Calls (`service`) take columns apart into documents and put them together again (`rows`), and make
//! queries of expressions (`expr`). `docs/milvus.md` says what is there and what each type becomes.
//!
//! What comes in is booked before it is read (`incoming`) and let through by a table (`service/calls.rs`); what is told of a call
//! besides is in `watch`. The RESTful API (`rest`) makes messages of JSON and asks the same calls; files of bulk imports (`bulk`)
//! become rows.
//!
//! ```
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! use clew_access::{AccessControl, Initial};
//! use clew_engine::{Engine, EngineOptions};
//! use clew_milvus::MilvusOptions;
//! use clew_platform::{RealClock, SimDisk};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (disk, clock) = (Arc::new(SimDisk::new()), Arc::new(RealClock::new()));
//! let engine = Engine::start(EngineOptions::new("/data"), disk.clone(), clock.clone())?;
//! let initial = Initial { root_password: "a long secret".to_string(), public: Vec::new() };
//! let access = AccessControl::open(disk, clock, Path::new("/access.json"), &initial)?;
//! // Served beside other routes, while the upkeep is awaited.
//! let (routes, upkeep) = clew_milvus::routes(engine, Arc::new(access), &MilvusOptions::default());
//! assert!(clew_milvus::answers("/v2/vectordb/collections/list"));
//! # drop((routes, upkeep));
//! # Ok(())
//! # }
//! ```
//!
//! Deliberately absent: anything that the engine would have to know of Milvus.

// Rooms, lowest first: each imports only from those before it, which a test reads here. The empty lines keep the order.
pub mod proto;

mod index_name;

mod error;

mod held;

mod incoming;

mod watch;

mod timestamp;

mod privilege;

mod instant;

mod collection;

mod collections;

mod expr;

mod rows;

mod bulk;

mod service;

mod refused;

mod grpc;

mod rest;

use std::path::PathBuf;
use std::sync::Arc;

use axum::response::Response;
use clew_access::{AccessControl, Refused};
use clew_engine::Engine;
use clew_profile::{ExemplarBook, Tracer};
use tonic::service::Routes;

use service::{Door, Service};
use watch::Watch;

pub use privilege::public_rights;
pub use service::Login;

/// How the API is served.
#[derive(Clone, Debug)]
pub struct MilvusOptions {
    /// Longest request message or body, in bytes; longer ones are refused.
    pub message_bytes_max: usize,
    /// Whether callers must be known: whoever serves the routes puts a [`Principal`](clew_access::Principal) into the
    /// extensions of every request then.
    pub login: Login,
    /// Where figures of calls are registered; `None` keeps them unregistered.
    pub registry: Option<prometheus::Registry>,
    /// Where examples of slow calls are kept, for whoever shows the figures.
    pub exemplars: Arc<ExemplarBook>,
    /// Where spans of calls go; `None` records none.
    pub tracer: Option<Tracer>,
    /// The folder that files of bulk imports lie in; `None` refuses imports.
    pub imports: Option<PathBuf>,
    /// Becomes true when the server is to stop: calls that only read are left off then. `None` never does.
    pub stopped: Option<tokio::sync::watch::Receiver<bool>>,
}

impl Default for MilvusOptions {
    fn default() -> Self {
        MilvusOptions {
            message_bytes_max: 64 << 20,
            login: Login::NotNeeded,
            registry: None,
            exemplars: Arc::default(),
            tracer: None,
            imports: None,
            stopped: None,
        }
    }
}

/// Where the two halves of the API begin: gRPC, and the RESTful one in both editions.
const GRPC: &str = "/milvus.proto.milvus.MilvusService/";
const REST: [&str; 2] = ["/v2/vectordb/", "/v1/vector/"];

/// Whether a request to this path is answered here.
pub fn answers(path: &str) -> bool {
    path.starts_with(GRPC) || is_restful(path)
}

fn is_restful(path: &str) -> bool {
    REST.iter().any(|root| path.starts_with(*root))
}

/// Whether a path only tells how the server is, which needs no login.
pub fn is_open(path: &str) -> bool {
    rest::is_health(path)
}

/// The answer to a request to a path of the API whose sender is not let in, before anything of it is read.
pub fn not_let_in(path: &str, refused: &Refused) -> Response {
    match is_restful(path) {
        true => rest::not_let_in(refused),
        false => service::not_let_in(refused).into_http(),
    }
}

/// The routes of the API, to be served beside others on one port: gRPC, and HTTP paths below `/v2/vectordb` and `/v1/vector`; and
/// what has to be done beside them, which never ends by itself. Users and roles are managed through it whether callers must be known
/// or not.
pub fn routes(
    engine: Engine,
    access: Arc<AccessControl>,
    options: &MilvusOptions,
) -> (Routes, impl Future<Output = ()> + Send + use<>) {
    let watch = Arc::new(Watch::new(engine.clone(), options));
    let service = Service::new(engine, access, options);
    let door = Door::new(service.clone(), watch);
    let routes = grpc::router(door.clone()).merge(rest::router(door));
    (routes.into(), service.upkeep())
}
