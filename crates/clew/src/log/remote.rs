//! A server's log, called from a program without async code of its own.

use std::error::Error;

use anyhow::{Context, anyhow};
use clew_log_grpc::LogClient;
use clew_log_grpc::tonic::metadata::{Ascii, MetadataValue};
use clew_log_grpc::tonic::service::Interceptor;
use clew_log_grpc::tonic::service::interceptor::InterceptedService;
use clew_log_grpc::tonic::transport::{Channel, Endpoint};
use clew_log_grpc::tonic::{Request, Response, Status};
use tokio::runtime::Runtime;

use crate::login;

/// A single entry may be as large as the log allows, and a reply holds it whole.
const REPLY_BYTES_MAX: usize = 1 << 30;

/// What the server may send ahead of what is printed.
const CALL_WINDOW_BYTES: u32 = 1 << 20;
/// Large against a call's, because the transport cuts off a server that has sent many short
/// frames, such as single entries of a tail, while a pager is waiting for its reader.
const CONNECTION_WINDOW_BYTES: u32 = 64 << 20;

/// A client that says who it is.
pub(crate) type Client = LogClient<InterceptedService<Channel, Login>>;

/// What is said with every call, if anything.
#[derive(Clone, Debug)]
pub(crate) struct Login(Option<MetadataValue<Ascii>>);

impl Login {
    fn from_environment() -> anyhow::Result<Self> {
        let said = login::from_environment()?;
        let value = said.map(|said| said.base64().parse()).transpose()?;
        Ok(Login(value))
    }
}

impl Interceptor for Login {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(value) = &self.0 {
            request
                .metadata_mut()
                .insert("authorization", value.clone());
        }
        Ok(request)
    }
}

/// A connection to a server, and the runtime that drives it.
pub(crate) struct Remote {
    pub(crate) client: Client,
    pub(crate) runtime: Runtime,
}

impl Remote {
    pub(crate) fn connect(url: &str) -> anyhow::Result<Self> {
        // A thread of its own, so that it goes on while standard input is waited for.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let endpoint = Endpoint::from_shared(url.to_string())
            .ok()
            .filter(|endpoint| endpoint.uri().scheme_str() == Some("http"))
            .with_context(|| format!("[{url}] is not of the form http://HOST:PORT"))?;
        let endpoint = endpoint
            .initial_stream_window_size(CALL_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES);
        let channel = runtime
            .block_on(endpoint.connect())
            .with_context(|| format!("cannot connect to {url}"))?;
        let client = LogClient::with_interceptor(channel, Login::from_environment()?);
        Ok(Remote {
            client: client.max_decoding_message_size(REPLY_BYTES_MAX),
            runtime,
        })
    }

    /// Makes one call and waits for its answer.
    pub(crate) fn call<T>(
        &mut self,
        make: impl AsyncFnOnce(&mut Client) -> Result<Response<T>, Status>,
    ) -> anyhow::Result<T> {
        let answer = self.runtime.block_on(make(&mut self.client));
        answer.map(Response::into_inner).map_err(refused)
    }
}

/// What the transport says of a connection on which it understood nothing, and no more.
const TRANSPORT: &str = "transport error";

/// What the server said, without the transport's decoration.
#[allow(clippy::needless_pass_by_value, reason = "a function for map_err")]
pub(crate) fn refused(status: Status) -> anyhow::Error {
    match status.message() {
        // Mostly the port of the REST API, whose answers are of another protocol.
        TRANSPORT => {
            let causes = std::iter::successors(status.source(), |&cause| cause.source());
            let first = causes.last().map(ToString::to_string);
            let first = first.unwrap_or_else(|| TRANSPORT.to_owned());
            anyhow!(
                "the connection has failed: {first}; --url names the gRPC port of a server, by default http://127.0.0.1:19530"
            )
        }
        "" => anyhow!("the server answered {:?}", status.code()),
        message => anyhow!("{message}"),
    }
}
