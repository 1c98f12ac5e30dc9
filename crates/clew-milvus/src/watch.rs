//! What is told of calls beside their answers: figures by class, where their time went, spans for those that are traced, and a
//! line for those that were slow. Both ways to call are told alike; a call that nobody asks about costs two looks at the clock.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use clew_engine::{Engine, Took, tell_slow};
use clew_platform::CancellationToken;
use clew_profile::{
    Attribute, RequestKind, RequestMetrics, RequestNames, Spent, SpentTimes, SpentTold, Trace,
    TraceParent, Tracer,
};
use tokio::sync::watch;

use crate::MilvusOptions;
use crate::held;

const NAMES: RequestNames = RequestNames {
    total: "milvus_requests_total",
    seconds: "milvus_request_seconds",
    part_seconds: "milvus_request_part_seconds",
    class: "call",
};

/// What is told of a call that is left off because the server stops, or because nobody waits for it.
const STOPPING: &str = "the server is closing";
const GONE: &str = "the client has gone";

/// Bytes of a collection's name that are told.
const NAME_BYTES_MAX: usize = 255;

tokio::task_local! {
    /// The collection that the call is about, once it was let through, where somebody may want to know.
    static COLLECTION: RefCell<String>;
}

/// How a call came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Grpc,
    Rest,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Grpc => "grpc",
            Way::Rest => "rest",
        }
    }
}

/// The call that a request asks for.
#[derive(Clone, Debug)]
pub(crate) struct Called {
    pub(crate) way: Way,
    /// As clients name it: `Search`, `entities/search`, `vector/search` of the first RESTful API; none where there is no such call.
    pub(crate) name: Option<String>,
}

impl Called {
    /// The class that metrics count it in.
    fn class(&self) -> &'static str {
        match self.name.as_deref() {
            None => "none",
            Some("Search" | "entities/search" | "vector/search") => "search",
            Some("HybridSearch" | "entities/hybrid_search" | "entities/advanced_search") => {
                "hybrid_search"
            }
            Some("Query" | "entities/query" | "vector/query") => "query",
            Some("entities/get" | "vector/get") => "get",
            Some("Insert" | "entities/insert" | "vector/insert") => "insert",
            Some("Upsert" | "entities/upsert" | "vector/upsert") => "upsert",
            Some("Delete" | "entities/delete" | "vector/delete") => "delete",
            Some("Flush" | "FlushAll") => "flush",
            Some(_) => "admin",
        }
    }

    /// Whether it changes nothing, so that it can be left off at any moment.
    fn only_reads(&self) -> bool {
        const OTHERS: [&str; 5] = [
            "GetCollectionStatistics",
            "GetPartitionStatistics",
            "RunAnalyzer",
            "collections/get_stats",
            "partitions/get_stats",
        ];
        let name = self.name.as_deref();
        matches!(self.class(), "search" | "hybrid_search" | "query" | "get")
            || name.is_some_and(|name| OTHERS.contains(&name))
    }

    /// The name of its span, as OpenTelemetry names calls.
    fn span(&self) -> Cow<'static, str> {
        match (self.way, &self.name) {
            (_, None) => Cow::Borrowed("_OTHER"),
            (Way::Grpc, Some(name)) => format!("milvus.proto.milvus.MilvusService/{name}").into(),
            (Way::Rest, Some(name)) => {
                let (method, root) = path_of(name);
                format!("{method} {root}{name}").into()
            }
        }
    }

    fn attributes(&self, outcome: Outcome, times: &SpentTimes) -> Vec<Attribute> {
        let mut all: Vec<Attribute> = Vec::new();
        match (self.way, &self.name) {
            (_, None) => {}
            (Way::Grpc, Some(name)) => all.extend([
                ("rpc.system", "grpc".into()),
                ("rpc.service", "milvus.proto.milvus.MilvusService".into()),
                ("rpc.method", name.clone().into()),
            ]),
            (Way::Rest, Some(name)) => {
                let (method, root) = path_of(name);
                all.extend([
                    ("http.request.method", method.into()),
                    ("http.route", format!("{root}{name}").into()),
                ]);
            }
        }
        if let Ok(code) = u32::try_from(outcome.code) {
            all.push(("clew.milvus_code", code.into()));
        }
        let collection = collection();
        if !collection.is_empty() {
            all.push(("clew.collection", collection.into()));
        }
        all.extend(times.attributes());
        all
    }
}

/// How a RESTful call is made, and what stands before its name in the path.
fn path_of(name: &str) -> (&'static str, &'static str) {
    match name {
        "vector/collections" | "vector/collections/describe" => ("GET", "/v1/"),
        _ if name.starts_with("vector/") => ("POST", "/v1/"),
        _ => ("POST", "/v2/vectordb/"),
    }
}

/// How a call went: Milvus' number of the error, 0 where there was none. Whoever answers puts it into the extensions of the
/// answer; an answer without one is an error of the transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
}

impl Outcome {
    fn of(response: &Response) -> Outcome {
        let told = response.extensions().get().copied();
        told.unwrap_or(Outcome { code: 65535 })
    }

    /// In the words by which requests of the other API are counted.
    fn status(self) -> &'static str {
        match self.code {
            0 => "ok",
            // The limit of requests.
            8 => "429",
            // Not available, no memory, internal.
            2 | 3 | 5 => "5xx",
            _ => "4xx",
        }
    }
}

/// Notes what a call is about.
pub(crate) fn is_about(collections: &[&str]) {
    let note = |collection: &RefCell<String>| {
        if let Some(name) = collections.first() {
            let end = name.floor_char_boundary(NAME_BYTES_MAX);
            let mut noted = collection.borrow_mut();
            noted.clear();
            noted.push_str(&name[..end]);
        }
    };
    // Where nobody wants to know there is no place for it.
    let _ = COLLECTION.try_with(note);
}

fn collection() -> String {
    COLLECTION
        .try_with(|collection| collection.borrow().clone())
        .unwrap_or_default()
}

/// What watches over calls.
pub(crate) struct Watch {
    metrics: RequestMetrics,
    engine: Engine,
    tracer: Option<Tracer>,
    stopped: Option<watch::Receiver<bool>>,
}

/// A call that somebody waits for, and the token of what is done for it.
struct Waiting {
    token: CancellationToken,
    is_answered: bool,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.is_answered {
            // The call was dropped: its client has gone, or has no more time for it.
            self.token.cancel(GONE);
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

impl Watch {
    pub(crate) fn new(engine: Engine, options: &MilvusOptions) -> Self {
        let exemplars = &options.exemplars;
        let metrics = RequestMetrics::new(NAMES, options.registry.as_ref(), exemplars.clone());
        // A second one on one registry keeps counting, only unseen.
        let metrics = metrics.or_else(|error| {
            tracing::warn!(%error, "metrics of Milvus' calls are not exported");
            RequestMetrics::new(NAMES, None, Arc::default())
        });
        Watch {
            metrics: metrics.expect("the names and the labels are valid"),
            engine,
            tracer: options.tracer.clone(),
            stopped: options.stopped.clone(),
        }
    }

    /// Answers a call, and tells of it.
    pub(crate) async fn over(
        &self,
        headers: &HeaderMap,
        called: &Called,
        answering: impl Future<Output = Response>,
    ) -> Response {
        let started = Instant::now();
        let limits = self.engine.slow_calls();
        let parent = TraceParent::of(|name| headers.get(name)?.to_str().ok());
        let spent = Spent::of_request(parent, self.tracer.as_ref(), limits.is_on());
        let class = called.class();
        let answering = held::answering(self.while_wanted(called, answering));
        let Some(spent) = spent else {
            let response = answering.await;
            let status = Outcome::of(&response).status();
            let took = started.elapsed();
            self.metrics.observe(class, status, took, None);
            return response;
        };
        let watched = async {
            let mut response = spent.clone().scope(answering).await;
            let (took, outcome) = (started.elapsed(), Outcome::of(&response));
            let (times, trace) = (spent.times(took), spent.trace().map(|trace| &**trace));
            let kind = RequestKind {
                class,
                kind: called.way.name(),
            };
            self.metrics.observe_parts(kind, &times, trace);
            self.metrics.observe(class, outcome.status(), took, trace);
            if let Some(level) = limits.level(took) {
                let (took, parts) = (Took(took), SpentTold::of(&spent, &times));
                let name = called.name.as_deref().unwrap_or("_OTHER");
                tell_slow!(
                    level, "slowlog.milvus", parts,
                    {
                        took = %took, took_millis = took.millis(), call = name, way = called.way.name(),
                        collection = collection(), code = outcome.code
                    },
                    "{name}"
                );
            }
            if let Some(trace) = trace {
                end_trace(trace, (called, outcome, &times), &mut response);
            }
            response
        };
        COLLECTION.scope(RefCell::default(), watched).await
    }

    /// Answers a call. What is done for one that only reads is left off once its client has gone, its time is up, or the
    /// server stops; one that writes goes on to its end.
    async fn while_wanted(
        &self,
        called: &Called,
        answering: impl Future<Output = Response>,
    ) -> Response {
        if !called.only_reads() {
            return answering.await;
        }
        let mut waiting = Waiting {
            token: CancellationToken::new(),
            is_answered: false,
        };
        let mut answering = waiting.token.clone().scope(Box::pin(answering));
        let response = tokio::select! {
            biased;
            response = &mut answering => response,
            () = until_stopped(self.stopped.clone()) => {
                waiting.token.cancel(STOPPING);
                answering.await
            }
        };
        waiting.is_answered = true;
        response
    }
}

async fn until_stopped(stopped: Option<watch::Receiver<bool>>) {
    let Some(mut stopped) = stopped else {
        return std::future::pending().await;
    };
    // An error means that the sender is gone, which is a stop too.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

/// Tells of a call that is over, and the client by which trace.
fn end_trace(
    trace: &Trace,
    (called, outcome, times): (&Called, Outcome, &SpentTimes),
    response: &mut Response,
) {
    if let Ok(value) = HeaderValue::from_str(&trace.response()) {
        response.headers_mut().insert("traceresponse", value);
    }
    let attributes = || called.attributes(outcome, times);
    trace.end(called.span(), attributes, outcome.status() == "5xx");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_what_they_do_however_they_come() {
        for (way, name, class, span) in [
            (
                Way::Grpc,
                Some("Search"),
                "search",
                "milvus.proto.milvus.MilvusService/Search",
            ),
            (
                Way::Rest,
                Some("entities/search"),
                "search",
                "POST /v2/vectordb/entities/search",
            ),
            (
                Way::Rest,
                Some("entities/advanced_search"),
                "hybrid_search",
                "POST /v2/vectordb/entities/advanced_search",
            ),
            (
                Way::Rest,
                Some("entities/get"),
                "get",
                "POST /v2/vectordb/entities/get",
            ),
            (
                Way::Rest,
                Some("vector/search"),
                "search",
                "POST /v1/vector/search",
            ),
            (
                Way::Rest,
                Some("vector/collections"),
                "admin",
                "GET /v1/vector/collections",
            ),
            (
                Way::Grpc,
                Some("CreateIndex"),
                "admin",
                "milvus.proto.milvus.MilvusService/CreateIndex",
            ),
            (Way::Grpc, None, "none", "_OTHER"),
        ] {
            let name = name.map(String::from);
            let called = Called { way, name };
            assert_eq!((called.class(), &*called.span()), (class, span));
        }
    }

    #[tokio::test]
    async fn a_call_is_about_the_collection_that_it_names_first() {
        let about = async {
            is_about(&["é".repeat(200).as_str(), "other"]);
            is_about(&[]);
            collection()
        };
        let told = COLLECTION.scope(RefCell::default(), about).await;
        assert_eq!(told, "é".repeat(127));
        // Nobody wants to know.
        is_about(&["x"]);
        assert_eq!(collection(), "");
    }
}
