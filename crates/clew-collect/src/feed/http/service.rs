//! What a request is, what becomes of its events, and what it is answered.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use hyper::{Method, Request, Response, StatusCode, Uri};
use serde_json::json;
use tokio::sync::oneshot;

use super::answer::{AnswerBody, Refused, answer, for_now, json};
use super::body::{self, Budget, Share};
use super::bulk::{self, Actions, OfAll, cause};
use super::documents::{Documents, read_json};
use super::otlp::{self, Form};
use super::{HttpFeed, elastic, grpc};
use crate::feed::frames::{LineFrames, Separation};
use crate::feed::{Handed, Parcel, Sender};

/// What all connections share.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) feed: HttpFeed,
    pub(super) budget: Arc<Budget>,
    pub(super) sender: Sender,
}

/// How the events of a request are written.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    /// Lines of text.
    Lines,
    /// A list of objects, or an object on each line.
    Json,
    /// Elasticsearch's `_bulk`, with what its address says of all actions.
    Bulk(OfAll),
    /// OpenTelemetry's logs over HTTP.
    Otlp(Form),
    /// The same as a call of gRPC.
    Grpc,
}

/// What a body was made.
#[derive(Debug, Default)]
struct Read {
    parcel: Option<Parcel>,
    actions: Option<Actions>,
}

/// A request without its body.
#[derive(Debug)]
struct Head {
    shape: Shape,
    encoding: Option<String>,
    from: Arc<str>,
}

impl Service {
    pub(super) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        from: Arc<str>,
    ) -> Response<AnswerBody> {
        let (parts, body) = request.into_parts();
        let shape = shape(&parts.method, &parts.uri, &parts.headers);
        if !self.feed.credentials.admit(&parts.headers) {
            self.sender.refuse_request();
            // What is asked beside posting is what clients of Elasticsearch ask.
            let shape = shape.unwrap_or(Shape::Bulk(OfAll::default()));
            let mut response = refusal(&shape, &Refused::Unauthorized);
            self.feed.credentials.ask(&mut response);
            return response;
        }
        let Some(shape) = shape else {
            let told = elastic::answer(&parts.method, parts.uri.path());
            return told.unwrap_or_else(|| {
                let reason = "events are posted, see the documentation of the collector";
                let told = json!({"error": reason, "status": 404});
                elastic::marked(json(StatusCode::NOT_FOUND, &told))
            });
        };
        let encoding = match shape {
            Shape::Grpc => parts.headers.get("grpc-encoding"),
            _ => parts.headers.get(CONTENT_ENCODING),
        };
        let encoding = encoding.and_then(|value| value.to_str().ok());
        let head = Head {
            shape: shape.clone(),
            encoding: encoding.map(str::to_ascii_lowercase),
            from,
        };
        let begun = self.sender.clock.monotonic();
        match self.take(head, body).await {
            Ok(actions) => {
                let took = self.sender.clock.monotonic().saturating_sub(begun);
                taken(&shape, actions, took)
            }
            Err(refused) => {
                self.sender.refuse_request();
                for_now(refusal(&shape, &refused), &refused)
            }
        }
    }

    /// Takes the events of a request, and returns once they are delivered.
    async fn take(
        self: &Arc<Self>,
        head: Head,
        body: Incoming,
    ) -> Result<Option<Actions>, Refused> {
        let (bytes_max, timeout) = (self.feed.body_bytes_max, self.feed.timeout);
        let mut share = Share::new(&self.budget);
        let body = body::read(body, bytes_max, timeout, &mut share).await?;
        let own = Arc::clone(self);
        // Uncompressing and parsing keep a processor busy, and other connections must not wait for that.
        let read = tokio::task::spawn_blocking(move || own.read(&head, body, share));
        let (read, share) = read
            .await
            .map_err(|error| Refused::Invalid(format!("the body cannot be read: {error}")))??;
        let Some(mut parcel) = read.parcel else {
            return Ok(read.actions);
        };
        let (receipt, delivered) = oneshot::channel();
        parcel.receipt = Some(receipt);
        match self.sender.try_give(parcel) {
            Handed::Over => {}
            Handed::Dropped => return Err(Refused::Full),
            Handed::Nowhere => return Err(Refused::NotDelivered),
        }
        let delivered = tokio::time::timeout(timeout, delivered).await;
        drop(share);
        match delivered {
            Ok(Ok(())) => Ok(read.actions),
            _ => Err(Refused::NotDelivered),
        }
    }

    fn read(&self, head: &Head, body: Vec<u8>, mut share: Share) -> Result<(Read, Share), Refused> {
        let bytes_max = self.feed.body_bytes_max;
        let encoding = head.encoding.as_deref();
        let body = match head.shape {
            Shape::Grpc => grpc::message(&body, encoding, bytes_max, &mut share)?,
            _ => body::uncompressed(body, encoding, bytes_max, &mut share)?,
        };
        // What is made of it is about as large.
        share.grow(body.len())?;
        let now_ms = self.sender.clock.since_epoch().as_millis();
        let mut documents = Documents::new(i64::try_from(now_ms).unwrap_or(i64::MAX));
        let actions = match &head.shape {
            Shape::Lines => {
                let parcel = self.lines(&body, &head.from);
                let read = Read {
                    parcel,
                    actions: None,
                };
                return Ok((read, share));
            }
            Shape::Json => read_json(&body, &mut documents).map(|()| None)?,
            Shape::Bulk(of_all) => Some(bulk::read(&body, of_all, &mut documents)?),
            Shape::Otlp(form) => otlp::read(&body, *form, &mut documents).map(|()| None)?,
            Shape::Grpc => otlp::read(&body, Form::Protobuf, &mut documents).map(|()| None)?,
        };
        let parcel = documents.parcel(self.sender.feed);
        Ok((Read { parcel, actions }, share))
    }

    fn lines(&self, body: &[u8], from: &Arc<str>) -> Option<Parcel> {
        let mut frames = LineFrames::new(Separation::Newlines, self.sender.line_bytes_max);
        frames.push(body);
        frames.finish();
        self.sender.parcel(from, &mut frames)
    }
}

/// How the events of a request are written; nothing if it has none.
fn shape(method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Shape> {
    if method != Method::POST && method != Method::PUT {
        return None;
    }
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or("").to_ascii_lowercase();
    let media_type = content_type.split(';').next().unwrap_or("").trim();
    let path = uri.path();
    let path = path.strip_suffix('/').unwrap_or(path);
    if let Some(index) = path.strip_suffix("/_bulk") {
        return Some(Shape::Bulk(OfAll::new(index, uri.query())));
    }
    if method != Method::POST {
        return None;
    }
    // Senders of OpenTelemetry put their signal behind whatever path their address has.
    let signal = path.rfind("/v1").and_then(|at| path.get(at..));
    Some(match (signal.unwrap_or(path), media_type) {
        (grpc::EXPORT, _) => Shape::Grpc,
        ("/v1/logs", "application/x-protobuf" | "application/protobuf") => {
            Shape::Otlp(Form::Protobuf)
        }
        ("/v1/logs", _) => Shape::Otlp(Form::Json),
        // What else OpenTelemetry sends is neither events nor text, and its senders give up at a 404.
        ("/v1/metrics" | "/v1/traces" | "/v1development/profiles", _) => return None,
        _ if path.starts_with("/_") || elastic::is_refresh(path) => return None,
        (_, media_type) if media_type.starts_with("application/grpc") => return None,
        (_, media_type) if media_type.ends_with("json") => Shape::Json,
        _ => Shape::Lines,
    })
}

/// The answer when everything is delivered.
fn taken(shape: &Shape, actions: Option<Actions>, took: Duration) -> Response<AnswerBody> {
    match shape {
        Shape::Lines | Shape::Json => json(StatusCode::OK, &json!({"delivered": true})),
        Shape::Bulk(_) => {
            let actions = actions.unwrap_or_default();
            elastic::marked(json(StatusCode::OK, &actions.answer(took.as_millis())))
        }
        Shape::Otlp(Form::Protobuf) => answer(StatusCode::OK, "application/x-protobuf", ""),
        Shape::Otlp(Form::Json) => json(StatusCode::OK, &json!({})),
        Shape::Grpc => grpc::done(),
    }
}

/// The answer when nothing is.
fn refusal(shape: &Shape, refused: &Refused) -> Response<AnswerBody> {
    let (status, reason) = (refused.status(), refused.reason());
    match shape {
        Shape::Lines | Shape::Json => {
            json(status, &json!({"error": reason, "status": status.as_u16()}))
        }
        Shape::Bulk(_) => {
            let cause = match refused {
                Refused::Unauthorized => cause("security", &reason),
                _ => json!({"type": "refused", "reason": reason}),
            };
            let mut error = json!({"root_cause": [&cause]});
            error["type"] = cause["type"].clone();
            error["reason"] = cause["reason"].clone();
            let told = json!({"error": error, "status": status.as_u16()});
            elastic::marked(json(status, &told))
        }
        Shape::Otlp(Form::Protobuf) => {
            answer(status, "application/x-protobuf", otlp::status(refused).1)
        }
        Shape::Otlp(Form::Json) => {
            let (code, _) = otlp::status(refused);
            json(status, &json!({"code": code, "message": reason}))
        }
        Shape::Grpc => grpc::refused(refused),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_told_by_its_path_and_type() {
        let check = |path: &str, media_type: &'static str, expected: Option<Shape>| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, media_type.parse().unwrap());
            assert_eq!(
                shape(&Method::POST, &path.parse().unwrap(), &headers),
                expected,
                "{path} {media_type}"
            );
        };
        check("/", "application/json; charset=UTF-8", Some(Shape::Json));
        check("/shop", "application/x-ndjson", Some(Shape::Json));
        check("/shop", "text/plain", Some(Shape::Lines));
        check("/", "", Some(Shape::Lines));
        check(
            "/_bulk",
            "application/json",
            Some(Shape::Bulk(OfAll::default())),
        );
        let of_index = Some(Shape::Bulk(OfAll::new("/logs-1", None)));
        check("/logs-1/_bulk", "application/x-ndjson", of_index.clone());
        check("/logs-1/_doc/_bulk/", "application/x-ndjson", of_index);
        let protobuf = Some(Shape::Otlp(Form::Protobuf));
        check("/v1/logs", "application/x-protobuf", protobuf);
        check(
            "/v1/logs",
            "application/json",
            Some(Shape::Otlp(Form::Json)),
        );
        let otlp = Some(Shape::Otlp(Form::Json));
        check("/otlp/v1/logs", "application/json", otlp.clone());
        check("/a/v1/b/v1/logs/", "application/json", otlp);
        check("/otlp/v1/traces", "application/json", None);
        check("/api/v1/shop", "application/json", Some(Shape::Json));
        check(grpc::EXPORT, "application/grpc+proto", Some(Shape::Grpc));
        check("/other.Service/Call", "application/grpc", None);
        check("/_search", "application/json", None);
        check("/v1/traces", "application/json", None);
        check("/v1/metrics/", "application/x-protobuf", None);
        assert_eq!(
            shape(&Method::GET, &"/_bulk".parse().unwrap(), &HeaderMap::new()),
            None
        );
        let put = shape(&Method::PUT, &"/_bulk".parse().unwrap(), &HeaderMap::new());
        assert_eq!(put, Some(Shape::Bulk(OfAll::default())));
    }
}
