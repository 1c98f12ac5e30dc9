//! What requests are sent by over an open connection: HTTP/1.1, or HTTP/2, as gRPC wants it.

use axum::http::{HeaderMap, Request, Response, StatusCode};
use bytes::Bytes;
use clew_schema::percent::{Plus, decoded};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

/// The body of a request.
type Whole = Full<Bytes>;

/// The sending end of a connection.
#[derive(Debug)]
pub(super) enum Wire {
    One(http1::SendRequest<Whole>),
    Two(http2::SendRequest<Whole>),
}

impl Wire {
    /// Begins the protocol on a connection, which ends with the result.
    pub(super) async fn open(stream: TcpStream, is_grpc: bool) -> Result<Self, hyper::Error> {
        let stream = TokioIo::new(stream);
        if !is_grpc {
            let (sender, connection) = http1::handshake(stream).await?;
            // How it ended, the request is told.
            tokio::spawn(async move {
                let _ = connection.await;
            });
            return Ok(Wire::One(sender));
        }
        let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
        tokio::spawn(async move {
            let _ = connection.await;
        });
        Ok(Wire::Two(sender))
    }

    /// Whether it is still open, once it can take a request.
    pub(super) async fn is_open(&mut self) -> bool {
        match self {
            Wire::One(sender) => sender.ready().await.is_ok(),
            Wire::Two(sender) => sender.ready().await.is_ok(),
        }
    }

    pub(super) async fn send(
        &mut self,
        request: Request<Whole>,
    ) -> Result<Response<Incoming>, hyper::Error> {
        match self {
            Wire::One(sender) => sender.send_request(request).await,
            Wire::Two(sender) => sender.send_request(request).await,
        }
    }
}

/// The status of gRPC, which stands behind an answer or, without one, in its head, as one of HTTP, with what was said.
pub(super) fn status_of_grpc(
    head: &HeaderMap,
    trailers: Option<&HeaderMap>,
) -> (StatusCode, String) {
    let told = |name: &str| {
        let value = trailers.and_then(|trailers| trailers.get(name));
        let value = value.or_else(|| head.get(name))?;
        value.to_str().ok().map(str::to_string)
    };
    let message = told("grpc-message").unwrap_or_default();
    let status = match told("grpc-status").as_deref() {
        Some("0") => StatusCode::OK,
        // Resources are exhausted.
        Some("8") => StatusCode::TOO_MANY_REQUESTS,
        Some(_) => StatusCode::BAD_GATEWAY,
        None => {
            let why = "the answer has no status of gRPC".to_string();
            return (StatusCode::BAD_GATEWAY, why);
        }
    };
    (status, read(&message))
}

/// A text in which bytes are written as `%20`, as gRPC's messages are; one that is written otherwise as it is.
fn read(text: &str) -> String {
    match decoded(text, Plus::IsPlus) {
        Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_stands_behind_the_answer_or_in_its_head() {
        let headers = |status: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("grpc-status", status.parse().unwrap());
            headers.insert("grpc-message", "why".parse().unwrap());
            headers
        };
        let none = HeaderMap::new();
        for (head, trailers, wanted) in [
            (&none, Some(headers("0")), StatusCode::OK),
            (&none, Some(headers("8")), StatusCode::TOO_MANY_REQUESTS),
            (&headers("12"), None, StatusCode::BAD_GATEWAY),
            (&none, None, StatusCode::BAD_GATEWAY),
        ] {
            assert_eq!(status_of_grpc(head, trailers.as_ref()).0, wanted);
        }
        assert_eq!(status_of_grpc(&headers("3"), None).1, "why");
        for (text, told) in [
            ("a%20b", "a b"),
            ("a+b", "a+b"),
            ("%C3%a9", "é"),
            ("100%", "100%"),
            ("%zz", "%zz"),
            ("", ""),
        ] {
            assert_eq!(read(text), told);
        }
    }
}
