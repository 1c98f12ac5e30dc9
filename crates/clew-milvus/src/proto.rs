//! The messages, generated from `milvus.proto`; public for clients that are written in Rust, as load tests are.

#![allow(
    missing_docs,
    clippy::all,
    clippy::pedantic,
    clippy::allow_attributes_without_reason,
    unreachable_pub,
    unused_qualifications,
    reason = "generated code; the .proto file documents it"
)]

tonic::include_proto!("milvus.proto.milvus");
