//! The Milvus API over the engine: gRPC and RESTful v2, as Milvus' clients speak them.
//!
//! A collection is an index whose documents are its rows; what it is beyond the index's mapping is kept with that
//! (`collection`). Calls (`service`) take columns apart into documents and put them together again (`rows`), and make
//! queries of expressions (`expr`). `docs/milvus.md` says what is there and what each type becomes.
//!
//! Deliberately absent: anything that the engine would have to know of Milvus.

mod proto;

mod error;

mod incoming;

mod grpc;

mod timestamp;

mod collection;

mod collections;

mod expr;

mod rows;

mod service;

mod rest;

use clew_engine::Engine;
use tonic::service::Routes;

use service::Service;

/// How the API is served.
#[derive(Clone, Debug)]
pub struct MilvusOptions {
    /// Longest request message or body, in bytes; longer ones are refused.
    pub message_bytes_max: usize,
}

impl Default for MilvusOptions {
    fn default() -> Self {
        MilvusOptions {
            message_bytes_max: 64 << 20,
        }
    }
}

/// The routes of the API, to be served beside others on one port: gRPC, and HTTP paths below `/v2/vectordb`; and what has
/// to be done beside them, which never ends by itself.
pub fn routes(
    engine: Engine,
    options: &MilvusOptions,
) -> (Routes, impl Future<Output = ()> + Send + use<>) {
    let service = Service::new(engine, options.message_bytes_max);
    let calls = grpc::router(service.clone());
    let routes = calls.merge(rest::router(service.clone())).into();
    (routes, service.expire())
}
