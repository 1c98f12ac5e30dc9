//! The Milvus API over the engine: gRPC and RESTful v2, as Milvus' clients speak them.

mod expr;
