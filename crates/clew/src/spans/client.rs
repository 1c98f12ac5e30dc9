//! A receiver of spans, by gRPC or by HTTP, over TLS where its address begins with `https`. Messages come written, and what the receiver answers is read past.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use anyhow::{Context as _, bail};
use axum::http::Uri;
use axum::http::uri::PathAndQuery;
use bytes::{Buf, BufMut, Bytes};
use clew_collect::{ClientTls, TlsStream, secure_agent};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::Service;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

use super::config::{OtlpConfig, OtlpProtocol};

const CALL: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const PATH: &str = "/v1/traces";
/// The port of addresses that name none.
const HTTPS_PORT: u16 = 443;

pub(super) enum Client {
    Grpc { channel: Channel, runtime: Handle },
    Http { agent: ureq::Agent, address: String },
}

impl Client {
    /// Connects when something is sent. Within a runtime.
    pub(super) fn of(config: &OtlpConfig) -> anyhow::Result<Self> {
        let endpoint = config.endpoint.trim_end_matches('/');
        let wrong = || format!("[tracing.otlp.endpoint] is [{endpoint}], which is no address");
        let tls = match config.is_secure() {
            true => Some(config.tls.read("tracing.otlp.tls")?),
            false => None,
        };
        Ok(match config.protocol {
            OtlpProtocol::Grpc => {
                let place = Endpoint::from_shared(endpoint.to_string()).with_context(wrong)?;
                Client::Grpc {
                    channel: match tls {
                        None => place.connect_lazy(),
                        Some(tls) => place.connect_with_connector_lazy(Secured(tls)),
                    },
                    runtime: Handle::current(),
                }
            }
            OtlpProtocol::Http => Client::Http {
                agent: secure_agent(ureq::config::Config::default(), tls.as_ref()),
                address: match endpoint.ends_with(PATH) {
                    true => endpoint.to_string(),
                    false => format!("{endpoint}{PATH}"),
                },
            },
        })
    }

    /// Sends a message. Blocks, for so long at most.
    ///
    /// # Errors
    /// The receiver is away, refuses it or takes too long.
    pub(super) fn send(&self, message: Vec<u8>, time: Duration) -> anyhow::Result<()> {
        match self {
            Client::Grpc { channel, runtime } => {
                let call = call(channel.clone(), message.into());
                runtime.block_on(async { tokio::time::timeout(time, call).await })?
            }
            Client::Http { agent, address } => {
                let request = agent
                    .post(address)
                    .header("content-type", "application/x-protobuf");
                let request = request.config().timeout_global(Some(time)).build();
                let answer = request.send(&message[..])?;
                if !answer.status().is_success() {
                    bail!("the receiver answers {}", answer.status());
                }
                Ok(())
            }
        }
    }
}

/// Connects by TLS, over which HTTP/2 is spoken.
#[derive(Clone)]
struct Secured(ClientTls);

impl Service<Uri> for Secured {
    type Response = TokioIo<TlsStream<TcpStream>>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, address: Uri) -> Self::Future {
        let tls = self.0.clone();
        Box::pin(async move {
            let host = address.host().unwrap_or_default();
            let port = address.port_u16().unwrap_or(HTTPS_PORT);
            // An address of the sixth version stands in brackets.
            let bare = host.trim_start_matches('[').trim_end_matches(']');
            let connection = TcpStream::connect((bare, port)).await?;
            let secured = tls.secure((host, connection), &["h2"]).await?;
            Ok(TokioIo::new(secured))
        })
    }
}

async fn call(channel: Channel, message: Bytes) -> anyhow::Result<()> {
    let mut client = Grpc::new(channel);
    client.ready().await?;
    let path = PathAndQuery::from_static(CALL);
    client.unary(Request::new(message), path, Written).await?;
    Ok(())
}

/// Messages that are written already.
#[derive(Clone, Copy)]
struct Written;

impl Codec for Written {
    type Encode = Bytes;
    type Decode = ();
    type Encoder = Written;
    type Decoder = Written;

    fn encoder(&mut self) -> Written {
        Written
    }

    fn decoder(&mut self) -> Written {
        Written
    }
}

impl Encoder for Written {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(message);
        Ok(())
    }
}

impl Decoder for Written {
    type Item = ();
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<()>, Status> {
        buffer.advance(buffer.remaining());
        Ok(Some(()))
    }
}
