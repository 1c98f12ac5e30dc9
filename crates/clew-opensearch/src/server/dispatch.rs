//! From an HTTP request to its endpoint and back: route, parameters, body, answer.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::Response;
use bytes::Bytes;
use clew_engine::{Access, EngineError};
use clew_platform::{CancellationToken, MemoryPurpose};
use clew_profile::{Attribute, SpentTimes, Trace};
use clew_schema::percent::Plus;
use futures_util::future::{AbortHandle, abortable};
use tokio::sync::mpsc;

use crate::http::body;
use crate::http::client::Client;
use crate::http::error::{ApiError, Cause};
use crate::http::formats::{Format, json_of};
use crate::http::params::{Params, decode};
use crate::http::reply::{ContentType, Reply};
use crate::http::request_memory::{RequestMemory, json_bytes};
use crate::http::while_waited::WhileWaited;
use crate::routes::{Answer, COMMON_PARAMS, FoundRoute, Route, RouteTable};
use crate::server::shape::{answered_in, is_reshaped, reshaped};
use crate::server::start::Server;
use crate::state::api::Api;
use crate::state::call::Call;
use crate::state::tasks::{RequestDetails, or_defect};

const TEXT_TYPE: &str = "text/plain; charset=UTF-8";

/// Answers one request.
pub(crate) async fn dispatch(State(server): State<Arc<Server>>, request: Request) -> Response {
    let started = Instant::now();
    let metrics = &server.api.metrics;
    let Some(spent) = server.api.account(request.headers()) else {
        let (route, response) = handle(&server, request).await;
        metrics.observe(class_of(route), response.status(), started.elapsed(), None);
        return response;
    };
    let method = request.method().clone();
    let (route, mut response) = spent.clone().scope(handle(&server, request)).await;
    let (took, class) = (started.elapsed(), class_of(route));
    metrics.observe_parts(class, &spent, took);
    let trace = spent.trace();
    metrics.observe(class, response.status(), took, trace.map(|trace| &**trace));
    if let Some(trace) = trace {
        end_trace(trace, &spent.so_far(), (&method, route), &mut response);
    }
    response
}

fn class_of(route: Option<&Route>) -> &'static str {
    route.map_or("none", |route| route.class)
}

/// Tells of a request that is over, and the client by which trace.
fn end_trace(
    trace: &Trace,
    times: &SpentTimes,
    (method, route): (&Method, Option<&Route>),
    response: &mut Response,
) {
    if let Ok(value) = HeaderValue::from_str(&trace.response()) {
        response.headers_mut().insert("traceresponse", value);
    }
    let status = response.status();
    let name = match route {
        Some(route) => Cow::Owned(format!("{method} {}", route.pattern)),
        None => Cow::Borrowed("HTTP"),
    };
    let attributes = || {
        let mut all: Vec<Attribute> = vec![
            ("http.request.method", method.to_string().into()),
            (
                "http.response.status_code",
                u32::from(status.as_u16()).into(),
            ),
        ];
        all.extend(route.map(|route| ("http.route", route.pattern.into())));
        all.extend(times.attributes());
        all
    };
    trace.end(name, attributes, status.is_server_error());
}

/// Answers a request; which endpoint it was for.
async fn handle(server: &Server, request: Request) -> (Option<&Route>, Response) {
    let api = &server.api;
    let (head, body) = request.into_parts();
    let client = Client::of(&head.headers);
    let opaque_id = short_header(&head.headers, &OPAQUE_ID);
    let mut endpoint = None;
    let (params, refused) = match params_of(&head) {
        Ok(params) => (Arc::new(params), None),
        Err(error) => (Arc::default(), Some(error)),
    };
    let outcome = async {
        // Also where the request is refused by its head alone: a client that is still sending when
        // the connection closes never sees the answer.
        let body = body::read(&api.engine, &head.headers, body, &api.body_limits).await;
        if let Some(error) = refused {
            return Err(error);
        }
        let found = match route(&server.routes, &head.method, &head.uri) {
            // What a path takes is an answer to who asks for it.
            Err(error) if head.method == Method::OPTIONS && error.allow().is_some() => {
                return Ok(Reply::options(&error));
            }
            found => found?,
        };
        endpoint = Some(found.route);
        let asks = (&head, client, opaque_id);
        run(api, found, asks, params.clone(), body).await
    }
    .await;
    let reply = outcome.and_then(|reply| admit(api, reply, &params));
    let reply = reply.unwrap_or_else(|error| Reply::error(&error));
    let asked = (&head.method, &head.headers, client);
    let mut response = finish(api, reply, asked, &params).await;
    // What the client calls the request comes back with its answer, as in OpenSearch.
    if let Some(id) = opaque_id {
        response.headers_mut().insert(&OPAQUE_ID, id.clone());
    }
    (endpoint, response)
}

/// The parameters of the address. Where they name no format of the answer, a type that alone is accepted does, and else the
/// type of the request's own body; tables are for people unless they are asked for otherwise, and the formats of statements
/// have other names.
fn params_of(head: &Parts) -> Result<Params, ApiError> {
    let mut params = Params::parse(head.uri.query().unwrap_or_default())?;
    let named = |name: HeaderName| {
        let value = head.headers.get(name)?;
        Format::of_media_type(value.to_str().ok()?)
    };
    let path = head.uri.path().trim_start_matches('/');
    let is_table = path.starts_with("_cat/") || path.starts_with("_list/");
    let is_statement = path.starts_with("_plugins/") || path.starts_with("_opendistro/");
    let accepted = named(header::ACCEPT);
    let wanted = match is_table {
        true => accepted,
        false => accepted
            .or_else(|| named(header::CONTENT_TYPE))
            .filter(|format| *format != Format::Json),
    };
    if let Some(format) = wanted.filter(|_| !is_statement) {
        params.fill("format", format.name());
    }
    Ok(params)
}

fn route<'a>(
    routes: &'a RouteTable,
    method: &Method,
    uri: &Uri,
) -> Result<FoundRoute<'a>, ApiError> {
    let path = uri.path();
    let mut segments = Vec::new();
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        segments.push(decode(segment, Plus::IsPlus)?);
    }
    routes.find(method, &segments).map_err(|allowed| {
        if !allowed.is_empty() {
            let shown = uri.path_and_query().map_or(path, |both| both.as_str());
            return ApiError::wrong_method(shown, method.as_str(), &allowed);
        }
        // It is the path that there is not, whatever stands behind it.
        decode(path, Plus::IsPlus).map_or_else(
            |error| error,
            |path| ApiError::no_handler(&path, method.as_str()),
        )
    })
}

async fn run(
    api: &Arc<Api>,
    found: FoundRoute<'_>,
    (head, client, opaque_id): (&Parts, Client, Option<&HeaderValue>),
    params: Arc<Params>,
    body: Result<Bytes, ApiError>,
) -> Result<Reply, ApiError> {
    let in_uri = head.method == Method::GET;
    let body_params = if in_uri { BODY_PARAMS } else { &[] };
    let index_param: &[&str] = if found.route.takes_index {
        &[INDEX]
    } else {
        &[]
    };
    if !params.is_empty() {
        let of_all: &[&[&str]] = &[COMMON_PARAMS, body_params, index_param];
        let known = [of_all, found.route.params];
        params.refuse_unknown(head.uri.path(), &known.concat())?;
    }
    found.route.asked.add_one();
    check_common(&params)?;
    let mut body = body?;
    let mut format = format_of(&head.headers, &body)?;
    if in_uri && body.is_empty() {
        (format, body) = body_of(&params)?;
    }
    let written = (format, found.route.content);
    let body = json_of(&api.engine, body, written, &api.body_limits).await?;
    let call = Call {
        api: api.clone(),
        method: head.method.clone(),
        path_values: with_index(found.path_values, found.route, &params),
        params,
        body,
        opaque_id: opaque_id.and_then(text_of),
        access: Access::everything(),
        client,
        last_event_id: short_header(&head.headers, &LAST_EVENT_ID).and_then(text_of),
        memory: RequestMemory::new(api.engine.memory()),
    };
    let asked_bytes =
        call.body.len() + head.uri.path().len() + head.uri.query().map_or(0, str::len);
    let is_long = asked_bytes > SHORT_REQUEST_BYTES;
    let Some(action) = found.route.action else {
        // What only reads ends with its client, though nobody can cancel it by a name; what may write goes on.
        let waited = WhileWaited::begin();
        let token = match head.method.is_safe() {
            true => waited.token(),
            false => CancellationToken::default(),
        };
        let answer = answer_of(found.route.handler, call, is_long);
        return or_defect(token.scope(answer)).await;
    };
    let cancel_after = cancel_after(&call, action.name)?;
    let asked = RequestDetails {
        expression: call.index_expression(),
        body: &call.body,
        opaque_id: call.opaque_id.as_deref(),
    };
    let answering = api.tasks.answering(action, &asked);
    let answer = answer_of(found.route.handler, call, is_long);
    or_defect(answering.answer(answer, cancel_after)).await
}

/// The values of a path, and the indexes that are named beside one that has none.
fn with_index(
    mut path_values: Vec<(&'static str, String)>,
    route: &Route,
    params: &Params,
) -> Vec<(&'static str, String)> {
    let is_in_path = path_values.iter().any(|(name, _)| *name == INDEX);
    if route.takes_index
        && !is_in_path
        && let Some(index) = params.get(INDEX).filter(|index| !index.is_empty())
    {
        path_values.push((INDEX, index.to_string()));
    }
    path_values
}

/// The name under which indexes stand in paths and among parameters.
const INDEX: &str = "index";

/// Understanding a request with a longer body or address takes some hundred microseconds, and what is to be done much longer.
const SHORT_REQUEST_BYTES: usize = 16 << 10;

/// Answers a request, a long one away from the async threads.
fn answer_of(endpoint: fn(Call) -> Answer, call: Call, is_long: bool) -> Answer {
    if !is_long {
        return endpoint(call);
    }
    let (api, runtime) = (call.api.clone(), tokio::runtime::Handle::current());
    let (answer, abort) = abortable(endpoint(call));
    let abort = AbortOnDrop(abort);
    Box::pin(async move {
        let answering = api.engine.run_beside(move || runtime.block_on(answer));
        let answered = answering.await?;
        drop(abort);
        // It is aborted only where nobody waits for this.
        answered.unwrap_or_else(|_| Err(EngineError::Closed.into()))
    })
}

/// A request whose connection has gone is dropped wherever it waits.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// After what time a search is cancelled, by what it says itself or the cluster's settings say.
fn cancel_after(call: &Call, action: &str) -> Result<Option<Duration>, ApiError> {
    let name = "cancel_after_time_interval";
    // Where it is not known it was refused.
    if call.params.has(name) {
        return call.params.time(name);
    }
    let usual = call.api.cluster_settings.search_times().cancel_after;
    let kind = action.strip_prefix("indices:data/read/");
    let is_search = matches!(
        kind,
        Some("search" | "search/template" | "msearch" | "msearch/template")
    );
    Ok(usual.filter(|_| is_search))
}

/// Parameters that mean the same wherever they are taken are checked also where nothing hangs on
/// them: a typing error should not pass for a setting.
fn check_common(params: &Params) -> Result<(), ApiError> {
    if params.is_empty() {
        return Ok(());
    }
    for name in ["pretty", "human", "error_trace", "local", "flat_settings"] {
        params.flag(name, false)?;
    }
    for name in ["timeout", "master_timeout", "cluster_manager_timeout"] {
        params.time(name)?;
    }
    if params.has("master_timeout") && params.has("cluster_manager_timeout") {
        return Err(ApiError::bad_request(
            "parse_exception",
            "Please only use one of the request parameters [master_timeout, \
             cluster_manager_timeout].",
        ));
    }
    match params.get("wait_for_active_shards") {
        Some(count) if count != "all" && count.parse::<u32>().is_err() => {
            Err(ApiError::no_copies(count))
        }
        _ => Ok(()),
    }
}

/// What a client calls a request.
static OPAQUE_ID: HeaderName = HeaderName::from_static("x-opaque-id");
/// The last event that a client has of a stream that broke off.
static LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Longest header that is kept, in bytes.
const HEADER_BYTES_MAX: usize = 1024;

fn short_header<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h HeaderValue> {
    let value = headers.get(name);
    value.filter(|value| value.len() <= HEADER_BYTES_MAX)
}

fn text_of(header: &HeaderValue) -> Option<String> {
    header.to_str().ok().map(String::from)
}

/// Where clients that send no body with a GET put it. With other methods it would be a way around the check of
/// the body's type.
const BODY_PARAMS: &[&str] = &["source", "source_content_type"];

/// The body that stands in the address; empty where none does.
fn body_of(params: &Params) -> Result<(Format, Bytes), ApiError> {
    let Some(body) = params.get("source") else {
        return Ok((Format::Json, Bytes::new()));
    };
    let Some(media) = params.get("source_content_type") else {
        return Err(ApiError::illegal_argument(
            "source and source_content_type parameters are required",
        ));
    };
    let format = Format::of_media_type(media).ok_or_else(|| {
        ApiError::illegal_argument(format!("Unknown value for source_content_type [{media}]"))
    })?;
    Ok((format, Bytes::from(body.to_string())))
}

/// What a body is written in: JSON where nothing is said. The check also keeps web pages of other origins from writing through a
/// user's browser, which may send forms and plain text anywhere unasked.
fn format_of(headers: &HeaderMap, body: &Bytes) -> Result<Format, ApiError> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else {
        return Ok(Format::Json);
    };
    if body.is_empty() {
        return Ok(Format::Json);
    }
    let text = value.to_str().unwrap_or_default();
    if let Some(format) = Format::of_media_type(text) {
        return Ok(format);
    }
    if !text.contains('/') {
        let reason = format!("invalid Content-Type header [{text}]");
        let told = format!("java.lang.IllegalArgumentException: {reason}");
        let cause = Cause::new("content_type_header_exception", told)
            .caused_by(Cause::new("illegal_argument_exception", reason));
        return Err(ApiError::new(StatusCode::BAD_REQUEST, cause));
    }
    Err(ApiError::text(
        StatusCode::NOT_ACCEPTABLE,
        format!("Content-Type header [{text}] is not supported"),
    ))
}

/// Answers above this are booked: one that is not fetched stays for as long as its connection.
const SHORT_REPLY_BYTES: usize = 64 << 10;

/// Books a long answer. One that has memory already tells of what is done: it is not refused any more.
fn admit(api: &Api, mut reply: Reply, params: &Params) -> Result<Reply, ApiError> {
    let length = reply.body.len();
    if length <= SHORT_REPLY_BYTES {
        return Ok(reply);
    }
    let shape = if is_reshaped(params) {
        json_bytes(&reply.body).saturating_add(length)
    } else {
        0
    };
    let bytes = length.saturating_add(shape);
    match &mut reply.memory {
        Some(memory) => memory.set(bytes),
        None => {
            let memory = api.engine.memory();
            reply.memory = Some(memory.reserve(MemoryPurpose::Searches, bytes)?);
        }
    }
    Ok(reply)
}

async fn finish(
    api: &Api,
    reply: Reply,
    (method, headers, client): (&Method, &HeaderMap, Client),
    params: &Arc<Params>,
) -> Response {
    if let Some(events) = reply.events {
        return stream(events);
    }
    let mut body = reply.body;
    if reply.content_type == ContentType::Json {
        let unfiltered = || Arc::new(params.without(|name| name == "filter_path"));
        let whole = (!reply.filtered).then(unfiltered);
        body = reshaped(&api.engine, body, whole.as_ref().unwrap_or(params)).await;
    }
    if method == Method::HEAD {
        body = Bytes::new();
    }
    let mut packed = false;
    if body::accepts_gzip(headers) {
        (body, packed) = body::compress(&api.engine, body).await;
    }
    let content_type = match reply.content_type {
        ContentType::Json => match answered_in(params) {
            Format::Json => client.json_type().unwrap_or(Format::Json.media_type()),
            other => other.media_type(),
        },
        ContentType::Text => HeaderValue::from_static(TEXT_TYPE),
    };
    if let Some(mut memory) = reply.memory {
        memory.shrink_to(body.len());
        body = body::hold(body, memory);
    }
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = reply.status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, content_type);
    client.mark(headers);
    if packed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Some(glsn) = reply.glsn {
        headers.insert("x-clew-glsn", HeaderValue::from(glsn.get()));
    }
    for (name, text) in [
        (header::ALLOW, reply.allow),
        (header::LOCATION, reply.location),
    ] {
        if let Some(value) = text.and_then(|text| HeaderValue::from_str(&text).ok()) {
            headers.insert(name, value);
        }
    }
    for warning in reply.warnings {
        headers.append(header::WARNING, HeaderValue::from_static(warning));
    }
    response
}

/// An answer that goes on for as long as there are events.
fn stream(events: mpsc::Receiver<Bytes>) -> Response {
    let frames = futures_util::stream::unfold(events, |mut events| async {
        let frame = events.recv().await?;
        Some((Ok::<_, Infallible>(frame), events))
    });
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    let event_stream = HeaderValue::from_static("text/event-stream");
    headers.insert(header::CONTENT_TYPE, event_stream);
    let no_cache = HeaderValue::from_static("no-cache");
    headers.insert(header::CACHE_CONTROL, no_cache);
    response
}
