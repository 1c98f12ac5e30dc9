//! The scroll that reads another cluster page by page. Each request has a thread of its own while it is on its way, so that neither
//! searches nor connections wait for somebody else's machine; a job that is ended does not wait for it, either.

use std::sync::Arc;

use axum::http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderValue, Method, Request, Response, StatusCode};
use bytes::Bytes;
use clew_platform::{Task, stopped};
use clew_schema::percent::encoded;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::Remote;
use super::answer::{Scrolled, Version, not_understood, scrolled, version};
use crate::documents::by_query::found::Page;
use crate::documents::by_query::retries::Retries;
use crate::documents::by_query::spec::Job;
use crate::documents::by_query::speed::LOOK_EVERY;
use crate::http::body::{BodyLimits, Unread, read_answer};
use crate::http::error::{ApiError, Cause};
use crate::state::call::Call;
use crate::state::remote_clusters::{RemoteBody, RemoteClient, RemoteFailure, RemotePatience};

/// Longest answer, before and after inflating it.
const ANSWER_BYTES_MAX: usize = 100 << 20;
/// Of a refusal no more is told.
const REFUSAL_BYTES_MAX: usize = 64 << 10;

const JSON: &str = "application/json";

/// The type of what another cluster refuses, and the status where that is for the moment.
const REFUSED: &str = "status_exception";
const BUSY: StatusCode = StatusCode::TOO_MANY_REQUESTS;

/// How far another cluster has been read.
pub(in crate::documents::by_query) struct Scroll<'j> {
    call: &'j Call,
    job: &'j Job,
    remote: &'j Remote,
    /// What the next page is asked for by; none before the first one.
    id: Option<String>,
    retries: Retries,
}

impl<'j> Scroll<'j> {
    /// Nothing read yet.
    pub(in crate::documents::by_query) fn new(
        call: &'j Call,
        job: &'j Job,
        remote: &'j Remote,
    ) -> Self {
        Scroll {
            call,
            job,
            remote,
            id: None,
            retries: Retries::default(),
        }
    }

    /// How often a page was asked for again.
    pub(in crate::documents::by_query) fn retries(&self) -> u64 {
        self.retries.all()
    }

    /// The next page, at most so many documents of it; `None` where the job is to end.
    ///
    /// # Errors
    /// What the other cluster refuses, and answers that cannot be read.
    pub(in crate::documents::by_query) async fn next(
        &mut self,
        left: usize,
    ) -> Result<Option<Page>, ApiError> {
        // A page is written, and slowed down, before the next one is asked for.
        let kept = self.remote.kept + self.job.speed.pause(self.job.page);
        let kept = format!("{}ms", kept.as_millis());
        let is_first = self.id.is_none();
        let request = match &self.id {
            Some(id) => {
                let body = json!({"scroll": kept, "scroll_id": id});
                self.request(&Method::POST, "/_search/scroll", Some(&body))?
            }
            None => {
                let root = self.request(&Method::GET, "/", None)?;
                let Some(version) = self.ask(root, version).await? else {
                    return Ok(None);
                };
                self.first(version, &kept, left)?
            }
        };
        let Some(Scrolled { id, mut page }) = self.ask(request, scrolled).await? else {
            return Ok(None);
        };
        if id.is_some() {
            self.id = id;
        }
        if self.id.is_none() && !page.found.is_empty() {
            return Err(not_understood(&"[_scroll_id] is missing"));
        }
        page.found.truncate(left);
        page.total = page.total.filter(|_| is_first);
        Ok(Some(page))
    }

    /// The request for the first page.
    fn first(&self, version: Version, kept: &str, left: usize) -> Result<Request<Bytes>, ApiError> {
        let names = self.remote.indices.split(',').map(encoded);
        let names: Vec<String> = names.collect();
        let all_or_nothing = match version.knows_all_or_nothing {
            true => "&allow_partial_search_results=false",
            false => "",
        };
        let path = format!(
            "/{}/_search?scroll={kept}&size={}&version=true{all_or_nothing}",
            names.join(","),
            self.job.page.min(left)
        );
        self.request(&Method::POST, &path, Some(&self.remote.search))
    }

    /// Lets the other cluster forget the scroll. It would by itself, so that nobody is told where that fails.
    pub(in crate::documents::by_query) async fn clear(mut self) {
        let Some(id) = self.id.take() else {
            return;
        };
        let body = json!({"scroll_id": [id]});
        let cleared = match self.request(&Method::DELETE, "/_search/scroll", Some(&body)) {
            Ok(request) => self.exchange(request, |_| Ok(())).await.map(drop),
            Err(error) => Err(error),
        };
        if let Err(error) = cleared {
            tracing::warn!(
                remote = self.remote.place.root(),
                error = error.in_words(),
                "a scroll was not cleared"
            );
        }
    }

    fn request(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Request<Bytes>, ApiError> {
        let place = &self.remote.place;
        let address = format!("{}{}{path}", place.root(), place.prefix);
        let text = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        let request = Request::builder().method(method).uri(address).body(text);
        let mut request = request.map_err(|error| ApiError::illegal_argument(error.to_string()))?;
        let headers = request.headers_mut();
        headers.clone_from(&self.remote.headers);
        headers.insert(ACCEPT, HeaderValue::from_static(JSON));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        if body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        }
        Ok(request)
    }

    /// What a request is answered with; it is sent again while it is refused for the moment. `None` where the job is to end.
    async fn ask<T: Send + 'static>(
        &mut self,
        request: Request<Bytes>,
        read: Reader<T>,
    ) -> Result<Option<T>, ApiError> {
        loop {
            match self.exchange(request.clone(), read).await {
                // Of an answer that there is no room for here the scroll has gone on: its page would be lost.
                Err(error) if error.is_kind(REFUSED) && error.status() == BUSY => {
                    if !self.retries.wait().await {
                        return Err(error);
                    }
                    if stopped() {
                        return Ok(None);
                    }
                }
                ended => {
                    self.retries.succeeded();
                    return ended;
                }
            }
        }
    }

    /// One request and its answer, for which nobody waits any more once the job is to end.
    async fn exchange<T: Send + 'static>(
        &self,
        request: Request<Bytes>,
        read: Reader<T>,
    ) -> Result<Option<T>, ApiError> {
        let Some(client) = self.remote.client.clone() else {
            return Err(ApiError::internal("nobody asks other clusters"));
        };
        let limits = BodyLimits {
            bytes_max: ANSWER_BYTES_MAX,
            ..self.call.api.body_limits.clone()
        };
        let asked = Asked {
            client,
            patience: self.remote.patience,
            limits,
            root: self.remote.place.root(),
        };
        let (tell, mut told) = oneshot::channel();
        let work = move || {
            // Nobody listens where the job is over.
            let _ = tell.send(asked.answer(request, read));
        };
        let spawned = Task::spawn("clew-remote", work);
        // It ends by itself, once the other cluster has answered or taken too long.
        drop(
            spawned
                .map_err(|error| ApiError::internal(format!("cannot start a thread: {error}")))?,
        );
        loop {
            tokio::select! {
                answer = &mut told => {
                    let answer = answer.map_err(|_| ApiError::internal("its thread broke down"))?;
                    return answer.map(Some);
                }
                () = tokio::time::sleep(LOOK_EVERY) => {
                    if stopped() {
                        return Ok(None);
                    }
                }
            }
        }
    }
}

/// Reads an answer.
type Reader<T> = fn(&Bytes) -> Result<T, ApiError>;

/// What a request is sent and its answer read with, on the thread that waits for it.
struct Asked {
    client: Arc<dyn RemoteClient>,
    patience: RemotePatience,
    limits: BodyLimits,
    /// Where it goes, as errors name it.
    root: String,
}

impl Asked {
    fn answer<T>(&self, request: Request<Bytes>, read: Reader<T>) -> Result<T, ApiError> {
        let (method, path) = (request.method().clone(), request.uri().path().to_string());
        let sent = self.client.send(request, self.patience);
        let answer = sent.map_err(|failure| self.unreachable(failure))?;
        if !answer.status().is_success() {
            return Err(self.refused(answer, (&method, &path)));
        }
        if !is_json(&answer) {
            let (said, _) = self.said(answer);
            let reason = format!("Response didn't include Content-Type: body={said}");
            return Err(ApiError::internal(reason));
        }
        read(&self.whole(answer)?)
    }

    /// All of an answer.
    fn whole(&self, answer: Response<RemoteBody>) -> Result<Bytes, ApiError> {
        let is_packed = is_packed(&answer);
        let whole = read_answer(answer.into_body(), is_packed, &self.limits);
        whole.map_err(|unread| match unread {
            Unread::TooLong => ApiError::illegal_argument(
                "Remote responded with a chunk that was too large. Use a smaller batch size.",
            ),
            Unread::NoRoom(error) => error,
            Unread::Broken(error) => {
                let reason =
                    "Error deserializing response, remote is likely not an OpenSearch instance";
                let cause = Cause::new("i_o_exception", error.to_string());
                let outer = Cause::new("exception", reason).caused_by(cause);
                ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, outer)
            }
        })
    }

    /// What is said in an answer, as far as it is told, and its status.
    fn said(&self, answer: Response<RemoteBody>) -> (String, StatusCode) {
        let (status, is_packed) = (answer.status(), is_packed(&answer));
        let limits = BodyLimits {
            bytes_max: REFUSAL_BYTES_MAX,
            ..self.limits.clone()
        };
        let said = match read_answer(answer.into_body(), is_packed, &limits) {
            Ok(said) => String::from_utf8_lossy(&said).into_owned(),
            Err(Unread::TooLong) => format!("more than [{REFUSAL_BYTES_MAX}] bytes"),
            Err(Unread::NoRoom(error)) => error.reason(),
            Err(Unread::Broken(error)) => error.to_string(),
        };
        (said, status)
    }

    /// What the other cluster refuses, with its own words and status.
    fn refused(&self, answer: Response<RemoteBody>, (method, path): (&Method, &str)) -> ApiError {
        let (said, status) = self.said(answer);
        let is_refusal = status.is_client_error() || status.is_server_error();
        let (told, prefix) = match is_refusal {
            true => (status, String::new()),
            // A redirection, which is not followed, would lead clients of this node away.
            false => {
                let number = status.as_u16();
                let prefix = format!("Couldn't extract status [{number}]. ");
                (StatusCode::INTERNAL_SERVER_ERROR, prefix)
            }
        };
        let root = &self.root;
        let within = Cause::new(
            "response_exception",
            format!(
                "method [{method}], host [{root}], URI [{path}], status line [HTTP/1.1 {status}]\n{said}"
            ),
        );
        let cause = Cause::new(REFUSED, format!("{prefix}body={said}"));
        ApiError::new(told, cause.caused_by(within))
    }

    /// Why no answer came.
    fn unreachable(&self, failure: RemoteFailure) -> ApiError {
        let root = &self.root;
        let cause = match failure {
            RemoteFailure::UnknownHost => Cause::new(
                "unknown_host_exception",
                format!("{root}: Name or service not known"),
            ),
            RemoteFailure::Refused => {
                Cause::new("connect_exception", format!("Connection refused [{root}]"))
            }
            RemoteFailure::TimedOut => {
                let RemotePatience { connect, silence } = self.patience;
                let (connect, silence) = (connect.as_millis(), silence.as_millis());
                let reason = format!(
                    "timeout on connection to [{root}]: [connect_timeout] is [{connect}] milliseconds, \
                     [socket_timeout] [{silence}]"
                );
                Cause::new("socket_timeout_exception", reason)
            }
            RemoteFailure::Other(why) => Cause::new("i_o_exception", format!("{why} [{root}]")),
        };
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, cause)
    }
}

fn is_packed(answer: &Response<RemoteBody>) -> bool {
    let coding = answer.headers().get(CONTENT_ENCODING);
    coding.is_some_and(|coding| coding == "gzip" || coding == "x-gzip")
}

/// Whether an answer is of one of the types of JSON that clusters say: Elasticsearch has one of its own.
fn is_json(answer: &Response<RemoteBody>) -> bool {
    let media = answer.headers().get(CONTENT_TYPE);
    let media = media
        .and_then(|media| media.to_str().ok())
        .unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim();
    media == JSON || media == "application/vnd.elasticsearch+json"
}
