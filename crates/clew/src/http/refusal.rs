//! What the door answers by itself, in the shape of OpenSearch's errors.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};

/// A request that is not let in.
#[derive(Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(super) status: StatusCode,
    /// What metrics count it under.
    pub(super) label: &'static str,
    error: Value,
    /// Whether the connection ends with it.
    last: bool,
}

impl Refusal {
    pub(crate) fn new(
        status: StatusCode,
        label: &'static str,
        (kind, reason): (&'static str, String),
    ) -> Self {
        let cause = json!({"type": kind, "reason": reason});
        let error = json!({"root_cause": [cause], "type": kind, "reason": reason});
        Refusal {
            status,
            label,
            error,
            last: false,
        }
    }

    /// A request that a browser may have been made to send.
    pub(super) fn forbidden(label: &'static str, reason: String) -> Self {
        let kind = "security_exception";
        Refusal::new(StatusCode::FORBIDDEN, label, (kind, reason))
    }

    /// The same words as for a body of a type that is not read.
    pub(super) fn content_type(media: &str) -> Self {
        Refusal {
            status: StatusCode::NOT_ACCEPTABLE,
            label: "content_type",
            error: json!(format!("Content-Type header [{media}] is not supported")),
            last: false,
        }
    }

    pub(super) fn body_timeout(limit_ms: u64) -> Self {
        let reason = format!(
            "the request's body brought too little for [{limit_ms}ms] (http.body_timeout_ms)"
        );
        let cause = ("timeout_exception", reason);
        Refusal::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", cause).and_close()
    }

    /// Nothing is read after it.
    pub(super) fn and_close(self) -> Self {
        Refusal { last: true, ..self }
    }

    fn body(&self) -> String {
        json!({"error": self.error, "status": self.status.as_u16()}).to_string()
    }

    pub(crate) fn response(&self) -> Response<Body> {
        let mut response = Response::new(Body::from(self.body()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
        if self.last {
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// The bytes of the answer, for a connection that no HTTP is spoken on yet.
    fn bytes(&self) -> Vec<u8> {
        let body = self.body();
        format!(
            "HTTP/1.1 {}\r\ncontent-type: {JSON}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            self.status,
            body.len()
        )
        .into_bytes()
    }
}

const JSON: &str = "application/json; charset=UTF-8";

/// The answer to a request whose head did not come.
pub(super) fn header_timeout() -> Vec<u8> {
    let reason = "the request's head did not come in time (http.header_timeout_ms)".to_string();
    let cause = ("timeout_exception", reason);
    Refusal::new(StatusCode::REQUEST_TIMEOUT, "header_timeout", cause).bytes()
}

/// The answer on a connection that there is no room for.
pub(super) fn no_room(connections_max: usize) -> Vec<u8> {
    let reason = format!(
        "all of [{connections_max}] connections are in use (http.connections_max); try again"
    );
    let cause = ("rejected_execution_exception", reason);
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "room", cause).bytes()
}
