//! A gRPC server that does nothing but answer: what a client takes with it is the client's own time, and the network's.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use bytes::{BufMut, Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use serde_json::json;
use tonic::codegen::http::{HeaderMap, HeaderValue};
use tonic::service::Routes;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

/// Answers with the files of a folder, each named after its call; tells its address as JSON in a line.
pub(crate) fn serve(folder: &Path) -> anyhow::Result<()> {
    let mut answers = HashMap::new();
    for file in std::fs::read_dir(folder)? {
        let path = file?.path();
        let name = path.file_name().context("a file's name")?;
        answers.insert(
            name.to_string_lossy().into_owned(),
            framed(&std::fs::read(&path)?),
        );
    }
    let answers = Arc::new(answers);
    let answer = move |request: Request| {
        let answers = answers.clone();
        async move {
            let call = request.uri().path().rsplit('/').next().unwrap_or_default();
            let message = answers.get(call).cloned();
            // A call ends only when all of it has been read.
            let _ = request.into_body().collect().await;
            response(message)
        }
    };
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async move {
        let incoming = TcpIncoming::bind("127.0.0.1:0".parse()?)?.with_nodelay(Some(true));
        let address = incoming.local_addr()?;
        let ready = json!({"listening": {"grpc": address.to_string()}});
        writeln!(std::io::stdout(), "{ready}")?;
        Server::builder()
            .add_routes(Routes::from(Router::new().fallback(answer)))
            .serve_with_incoming(incoming)
            .await?;
        Ok(())
    })
}

/// A message as gRPC sends it: not compressed, its length before it.
fn framed(message: &[u8]) -> Bytes {
    let mut framed = BytesMut::with_capacity(5 + message.len());
    framed.put_u8(0);
    framed.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    framed.put_slice(message);
    framed.freeze()
}

/// The message, or that there is no such call.
fn response(message: Option<Bytes>) -> Response {
    let status = if message.is_some() { "0" } else { "12" };
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static(status));
    let body = Full::new(message.unwrap_or_default())
        .with_trailers(async { Some(Ok::<_, Infallible>(trailers)) });
    let mut response = Response::new(Body::new(body));
    let kind = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert("content-type", kind);
    response
}
