//! The Milvus API over the engine: gRPC and RESTful v2, as Milvus' clients speak them.
//!
//! A collection is an index whose documents are its rows; what it is beyond the index's mapping is kept with that
//! (`collection`). Calls (`service`) take columns apart into documents and put them together again (`rows`), and make
//! queries of expressions (`expr`). `docs/milvus.md` says what is there and what each type becomes.
//!
//! Deliberately absent: anything that the engine would have to know of Milvus.

mod proto;

mod error;

mod timestamp;

mod collection;

mod collections;

mod expr;

mod rows;

mod service;

mod rest;

use clew_engine::Engine;
use tonic::service::Routes;

use proto::milvus_service_server::MilvusServiceServer;
use service::Service;

/// How the API is served.
#[derive(Clone, Debug)]
pub struct MilvusOptions {
    /// Longest request message, in bytes; longer ones are refused by the transport.
    pub message_bytes_max: usize,
}

impl Default for MilvusOptions {
    fn default() -> Self {
        MilvusOptions {
            message_bytes_max: 64 << 20,
        }
    }
}

/// The routes of the API, to be served beside others on one port: gRPC, and HTTP paths below `/v2/vectordb`.
pub fn routes(engine: Engine, options: &MilvusOptions) -> Routes {
    let service = Service::new(engine);
    let calls = MilvusServiceServer::new(service.clone())
        .max_decoding_message_size(options.message_bytes_max)
        .max_encoding_message_size(usize::MAX);
    let paths = rest::router(service, options.message_bytes_max);
    Routes::new(calls).into_axum_router().merge(paths).into()
}
