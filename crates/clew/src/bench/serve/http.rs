//! A connection to the server under test: one for each client, kept open, and made again when it breaks. HTTP/1.1, or HTTP/2 for
//! gRPC, without a pool, so that nothing but the socket stands between the clock and the server. Speaks no TLS.

use std::fmt;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use axum::http::{HeaderValue, Method, Request, StatusCode, Uri, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use tokio::net::TcpStream;

use super::wire::{Wire, status_of_grpc};

/// Longer answers are failures: no request of ours has one.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Merges of whole indexes may take this long.
const PATIENCE: Duration = Duration::from_secs(6 * 3600);

/// Where the server is, and as whom it is asked.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// Host and port.
    authority: String,
    authorization: Option<HeaderValue>,
    /// Whether it is spoken to by gRPC.
    is_grpc: bool,
    /// An answer that takes longer is a failure.
    time_out: Duration,
}

/// How a name and a password are said.
#[derive(Clone, Copy, Debug)]
pub(super) enum Login {
    Basic,
    /// As Milvus' clients do it.
    Bearer,
    /// As they do it by gRPC, by which the server is spoken to.
    Grpc,
}

/// A request; cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) method: Method,
    /// From the first slash on.
    pub(super) path: Uri,
    pub(super) kind: BodyKind,
    pub(super) body: Bytes,
}

/// What a body is.
#[derive(Clone, Copy, Debug)]
pub(super) enum BodyKind {
    Json,
    /// JSON by lines.
    Lines,
    /// A message of gRPC behind its head.
    Message,
}

/// An answer, read to its end.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// There is no connection to be had: the server has gone.
    Unreachable(String),
    /// The connection ended before the answer did.
    Broken(String),
    Late(Duration),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Unreachable(why) => write!(f, "cannot connect: {why}"),
            Failure::Broken(why) => write!(f, "the connection broke: {why}"),
            Failure::Late(limit) => write!(f, "no answer within {} s", limit.as_secs_f64()),
        }
    }
}

impl std::error::Error for Failure {}

impl Server {
    /// Checks a URL, which is one of http where it does not say; `user` as `name:password`.
    pub(super) fn new(
        url: &str,
        login: Login,
        user: Option<&str>,
        time_out: Duration,
    ) -> anyhow::Result<Self> {
        let whole = match url.contains("://") {
            true => url.to_owned(),
            false => format!("http://{url}"),
        };
        let uri: Uri = whole.parse().with_context(|| format!("{url} is no URL"))?;
        ensure!(
            uri.scheme_str() == Some("http"),
            "{url} is not understood: load tests speak http:// alone"
        );
        let authority = uri.authority().context("the URL has no host")?;
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            bail!("{url} has a path; host and port are wanted");
        }
        let authority = match authority.port() {
            Some(_) => authority.to_string(),
            None => format!("{authority}:80"),
        };
        let authorization = user.map(|user| match login {
            Login::Basic => format!("Basic {}", STANDARD.encode(user)),
            Login::Bearer => format!("Bearer {user}"),
            Login::Grpc => STANDARD.encode(user),
        });
        let authorization = authorization
            .map(|value| HeaderValue::from_str(&value))
            .transpose()
            .context("the user's name or password cannot be sent")?;
        Ok(Server {
            authority,
            authorization,
            is_grpc: matches!(login, Login::Grpc),
            time_out,
        })
    }

    /// The same, for what may take long.
    pub(super) fn patient(&self) -> Self {
        Server {
            time_out: PATIENCE,
            ..self.clone()
        }
    }
}

impl Call {
    /// A request with a body of JSON. The path is one of ours, with names that were checked.
    pub(super) fn json(method: Method, path: &str, body: &serde_json::Value) -> Self {
        let body = match body {
            serde_json::Value::Null => Bytes::new(),
            body => Bytes::from(body.to_string()),
        };
        Call::new(method, path, BodyKind::Json, body)
    }

    pub(super) fn new(method: Method, path: &str, kind: BodyKind, body: Bytes) -> Self {
        let path = path.parse().expect("names in paths were checked");
        Call {
            method,
            path,
            kind,
            body,
        }
    }
}

/// One client's connection.
#[derive(Debug)]
pub(super) struct Connection {
    server: Server,
    wire: Option<Wire>,
}

impl Connection {
    /// Not yet connected; the first request does that.
    pub(super) fn new(server: &Server) -> Self {
        Connection {
            server: server.clone(),
            wire: None,
        }
    }

    /// Connects if it is not connected.
    pub(super) async fn open(&mut self) -> Result<(), Failure> {
        let limit = self.server.time_out;
        let opened = tokio::time::timeout(limit, self.wire()).await;
        self.wire = Some(opened.map_err(|_| Failure::Late(limit))??);
        Ok(())
    }

    /// Sends a request and reads the whole answer, whatever its status.
    pub(super) async fn ask(&mut self, call: &Call) -> Result<Reply, Failure> {
        let limit = self.server.time_out;
        let asked = tokio::time::timeout(limit, self.ask_patiently(call)).await;
        asked.unwrap_or(Err(Failure::Late(limit)))
    }

    async fn ask_patiently(&mut self, call: &Call) -> Result<Reply, Failure> {
        // It is put back when the answer is whole: a connection that failed is not used again.
        let mut wire = self.wire().await?;
        let broken = |why: String| Failure::Broken(why);
        let request = self.request(call);
        let answer = wire.send(request).await;
        let (head, body) = answer.map_err(|why| broken(told(&why)))?.into_parts();
        let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|why| broken(told(&*why)))?;
        self.wire = Some(wire);
        if !self.server.is_grpc {
            return Ok(Reply {
                status: head.status,
                body: body.to_bytes(),
            });
        }
        let (status, said) = status_of_grpc(&head.headers, body.trailers());
        let body = body.to_bytes();
        Ok(Reply {
            status,
            body: match status.is_success() {
                true => body,
                false => said.into(),
            },
        })
    }

    async fn wire(&mut self) -> Result<Wire, Failure> {
        if let Some(mut wire) = self.wire.take()
            && wire.is_open().await
        {
            return Ok(wire);
        }
        let unreachable = |why: &(dyn std::error::Error + 'static)| {
            Failure::Unreachable(format!("{}: {}", self.server.authority, told(why)))
        };
        let stream = TcpStream::connect(&self.server.authority).await;
        let stream = stream.map_err(|why| unreachable(&why))?;
        stream.set_nodelay(true).map_err(|why| unreachable(&why))?;
        let opened = Wire::open(stream, self.server.is_grpc).await;
        opened.map_err(|why| unreachable(&why))
    }

    fn request(&self, call: &Call) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(call.body.clone()));
        *request.method_mut() = call.method.clone();
        *request.uri_mut() = self.address(call);
        let host = HeaderValue::from_str(&self.server.authority);
        let kind = match call.kind {
            BodyKind::Json => "application/json",
            BodyKind::Lines => "application/x-ndjson",
            BodyKind::Message => "application/grpc",
        };
        let headers = request.headers_mut();
        match self.server.is_grpc {
            true => headers.insert(header::TE, HeaderValue::from_static("trailers")),
            false => headers.insert(header::HOST, host.expect("it comes from a URL")),
        };
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        if let Some(authorization) = &self.server.authorization {
            headers.insert(header::AUTHORIZATION, authorization.clone());
        }
        request
    }

    /// What a request line says, or, where there is none, the pieces of it.
    fn address(&self, call: &Call) -> Uri {
        if !self.server.is_grpc {
            return call.path.clone();
        }
        let whole = format!("http://{}{}", self.server.authority, call.path);
        whole.parse().expect("it comes from a URL and a path")
    }
}

/// An error with its causes.
fn told(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let texts: Vec<String> = causes.map(ToString::to_string).collect();
    texts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_that_cannot_be_asked_are_refused() {
        let check = |url: &str| {
            Server::new(url, Login::Basic, Some("a:b"), Duration::from_secs(1))
                .map(|server| server.authority)
                .map_err(|error| error.to_string())
        };
        assert_eq!(check("http://[::1]:9200/").unwrap(), "[::1]:9200");
        assert_eq!(check("http://example.org").unwrap(), "example.org:80");
        assert!(check("https://a:1").unwrap_err().contains("http:// alone"));
        assert_eq!(check("127.0.0.1:9200").unwrap(), "127.0.0.1:9200");
        assert_eq!(check("localhost").unwrap(), "localhost:80");
        assert!(check("").unwrap_err().contains("is no URL"));
        assert!(check("http://a:1/index").unwrap_err().contains("a path"));
        assert!(check("http://a b").unwrap_err().contains("no URL"));
    }
}
