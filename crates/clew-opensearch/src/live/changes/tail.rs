//! Standing queries: each document that is written from now on and matches, as it is acknowledged,
//! as server-sent events. An event's id is the document's position in the log, so that a client
//! which comes back with `Last-Event-ID` misses nothing.
//!
//! The log is the buffer: pages are read from it as fast as the client takes them, and only a few
//! events wait in memory. A client so slow that the log has given up its place is told `lagged`.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use bytes::Bytes;
use clew_engine::{Change, ChangeLimits, ChangePage, EngineError, IndexHandle, NamesWatch};
use clew_log::Glsn;
use clew_query::{Query, QueryError};
use clew_search::DocumentMatcher;
use tokio::sync::mpsc::{self, Sender};

use super::{readable, write_change};
use crate::http::error::{ApiError, Cause};
use crate::http::json_writer::JsonWriter;
use crate::http::metrics::OpenTail;
use crate::http::params::of_worded_queries;
use crate::http::reply::Reply;
use crate::search::validate::query_of;
use crate::state::call::Call;

/// The URI parameters of `_tail`.
pub(crate) const PARAMS: &[&str] = of_worded_queries![
    "from",
    "_source",
    "expand_wildcards",
    "ignore_unavailable",
    "allow_no_indices",
];

/// Events that wait for one client.
const EVENTS_MAX: usize = 16;
/// What is read from the log and matched at a time.
const PAGE: ChangeLimits = ChangeLimits {
    changes_max: 256,
    bytes_max: 1 << 20,
};
/// How often a client that waits hears something: a connection that is gone shows only then.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// `GET|POST /{index}/_tail`.
pub(crate) async fn tail(call: Call) -> Result<Reply, ApiError> {
    let query = query_of(&call).await?.unwrap_or_else(Query::match_all);
    let names = call.api.engine.watch_names();
    let indices = readable(&call)?;
    let checked = query.clone();
    call.blocking(move |engine| check(&checked, &indices, engine.now_ms()))
        .await?;
    let at = match &call.last_event_id {
        Some(id) => Glsn::new(id.parse().map_err(|_| {
            ApiError::illegal_argument(format!("[Last-Event-ID] is no position: [{id}]"))
        })?)
        .next(),
        None => match call.params.unsigned("from")? {
            Some(from) => Glsn::new(from),
            None => call.api.engine.log().durable().next(),
        },
    };
    let open = call.api.metrics.open_tail().ok_or_else(|| {
        let cause = Cause::new(
            "rejected_execution_exception",
            "too many tails are open; close one or try again later",
        );
        ApiError::new(StatusCode::TOO_MANY_REQUESTS, cause)
    })?;
    let (events, receiver) = mpsc::channel(EVENTS_MAX);
    let tail = Tail {
        with_source: call.params.flag("_source", true)?,
        query,
        at,
        names,
        events,
        open,
        call,
    };
    tokio::spawn(tail.run());
    Ok(Reply::events(receiver))
}

/// Refuses a query that does not fit the indexes of now, or that only a whole index can answer.
fn check(query: &Query, indices: &[IndexHandle], now_ms: i64) -> Result<(), EngineError> {
    for part in query.all() {
        if matches!(
            part,
            Query::Knn(_) | Query::VectorScore(_) | Query::Related(_) | Query::Percolate(_)
        ) {
            return Err(EngineError::InvalidRequest {
                reason:
                    "queries on vectors, relatives and stored queries cannot wait for documents"
                        .to_string(),
            });
        }
    }
    for index in indices {
        let matcher = DocumentMatcher::build(&index.mapping(), &[b"{}".to_vec()])?;
        matcher.matches(query, now_ms)?;
    }
    Ok(())
}

/// One client that listens. Ends with its connection, or with the server.
struct Tail {
    call: Call,
    query: Query,
    with_source: bool,
    /// The next position to look at.
    at: Glsn,
    /// Hears when the indexes may be others, or gone: that takes effect after it stands in the log.
    names: NamesWatch,
    events: Sender<Bytes>,
    open: OpenTail,
}

/// Why a tail ended.
struct Ended;

impl Tail {
    async fn run(mut self) {
        let (events, api) = (self.events.clone(), self.call.api.clone());
        tokio::select! {
            biased;
            () = events.closed() => {}
            () = api.stopped() => {}
            Ended = self.follow() => {}
        }
    }

    async fn follow(&mut self) -> Ended {
        loop {
            if let Err(ended) = self.step().await {
                return ended;
            }
        }
    }

    /// Sends what there is, or waits.
    async fn step(&mut self) -> Result<(), Ended> {
        let page = match self.page().await {
            Ok(page) => page,
            Err(error) if error.is_kind("position_trimmed_exception") => {
                return self.lagged().await;
            }
            Err(error) => {
                self.send(event("error", None, &error.body())).await?;
                return Err(Ended);
            }
        };
        let (next, is_empty) = (page.next, page.changes.is_empty());
        let (query, now_ms) = (self.query.clone(), self.call.api.engine.now_ms());
        let matched = tokio::task::spawn_blocking(move || matched(page, (&query, now_ms))).await;
        let Ok(Ok(matched)) = matched else {
            let error = ApiError::internal("the documents could not be matched");
            self.send(event("error", None, &error.body())).await?;
            return Err(Ended);
        };
        for change in matched {
            let mut json = JsonWriter::with_capacity(256);
            write_change(&mut json, &change, self.with_source);
            self.open.sent();
            self.send(event("", Some(change.glsn), &json.into_bytes()))
                .await?;
        }
        self.at = next;
        if !is_empty {
            return Ok(());
        }
        tokio::select! {
            waited = self.call.api.engine.wait_changes(self.at) => waited.map_err(|_| Ended),
            changed = self.names.changed() => changed.map_err(|_| Ended),
            // An event without data is none, but its id is remembered.
            () = tokio::time::sleep(HEARTBEAT) => {
                self.send(format!("id: {}\n\n", self.at.previous()).into()).await
            }
        }
    }

    async fn page(&self) -> Result<ChangePage, ApiError> {
        let (indices, at) = (readable(&self.call)?, self.at);
        self.call
            .blocking(move |engine| engine.changes(&indices, at, PAGE))
            .await
    }

    /// The log has given up the place of this client: it goes on at what is left.
    async fn lagged(&mut self) -> Result<(), Ended> {
        let first = self.call.api.engine.log().first();
        let told = serde_json::json!({"from": self.at.get(), "first": first.get()});
        self.open.lagged();
        self.at = first;
        self.send(event("lagged", None, told.to_string().as_bytes()))
            .await
    }

    async fn send(&self, frame: Bytes) -> Result<(), Ended> {
        self.events.send(frame).await.map_err(|_| Ended)
    }
}

/// The changes of a page that are documents which match, in their order.
fn matched(page: ChangePage, query: (&Query, i64)) -> Result<Vec<Change>, QueryError> {
    let written = page.changes.into_iter().filter(|c| c.source.is_some());
    let written: Vec<Change> = written.collect();
    let mut matched = Vec::new();
    for group in written.chunk_by(|a, b| Arc::ptr_eq(&a.index, &b.index)) {
        match matched_of(group, query) {
            Ok(found) => matched.extend(found),
            // One that fits the mapping no more, or a query that does not, spoils no other; several may become too much together.
            Err(_) => matched.extend(group.iter().filter(|one| is_matched(one, query)).cloned()),
        }
    }
    Ok(matched)
}

/// The same among changes of one index.
fn matched_of(
    changes: &[Change],
    (query, now_ms): (&Query, i64),
) -> Result<Vec<Change>, QueryError> {
    let Some(first) = changes.first() else {
        return Ok(Vec::new());
    };
    let sources: Vec<Vec<u8>> = changes.iter().filter_map(source_of).collect();
    let matcher = DocumentMatcher::build(&first.index.mapping(), &sources)?;
    let found = matcher.matches(query, now_ms)?;
    let found = found.into_iter().filter_map(|one| changes.get(one.slot));
    Ok(found.cloned().collect())
}

/// Whether a change is a document that matches.
fn is_matched(change: &Change, (query, now_ms): (&Query, i64)) -> bool {
    let matched = |source| -> Result<bool, QueryError> {
        let matcher = DocumentMatcher::of_accepted(&change.index.mapping(), source)?;
        Ok(!matcher.matches(query, now_ms)?.is_empty())
    };
    source_of(change).is_some_and(|source| matched(source).unwrap_or(false))
}

fn source_of(change: &Change) -> Option<Vec<u8>> {
    Some(change.source.as_ref()?.to_vec())
}

/// A server-sent event; without a name it is a message.
fn event(name: &str, id: Option<Glsn>, data: &[u8]) -> Bytes {
    let mut frame = Vec::with_capacity(data.len() + 64);
    if !name.is_empty() {
        frame.extend_from_slice(format!("event: {name}\n").as_bytes());
    }
    if let Some(id) = id {
        frame.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    frame.extend_from_slice(b"data: ");
    // In JSON a line break is a space between two tokens, never a part of one.
    let one_line = data.iter().map(|byte| match byte {
        b'\n' | b'\r' => b' ',
        other => *other,
    });
    frame.extend(one_line);
    frame.extend_from_slice(b"\n\n");
    frame.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_of_data() {
        assert_eq!(
            event("", Some(Glsn::new(7)), b"{\n\"a\":\r1}"),
            "id: 7\ndata: { \"a\": 1}\n\n"
        );
        assert_eq!(event("lagged", None, b"{}"), "event: lagged\ndata: {}\n\n");
    }
}
