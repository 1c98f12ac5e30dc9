//! The sink for servers that speak OpenSearch's `_bulk`.
//!
//! Every event is a `create` with its own id, so sending twice is harmless: the second time is
//! answered 409 and counts as delivered. One that its sender wanted to be an `index` under an id is that: the second time is
//! the same document in the place of the first.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use super::bulk_reply::fates;
use super::courier::{Address, BodyCompression, Reply};
use super::posting::{Answer, Pauses, Posting, Protocol, refusal};
use super::{Delivery, Sink, SinkError};
use crate::event::Event;
use crate::json::push_text;
use crate::metadata::{Placing, Writing};
use crate::stop::StopToken;
use crate::tls::ClientTls;

/// How to reach the server.
#[derive(Clone, Debug)]
pub struct BulkOptions {
    /// The server's root, for example `https://search.example:9200`.
    pub url: String,
    /// The index or data stream to write to; a template of an event's fields and its `@metadata`.
    pub index: String,
    /// The ingest pipeline, as a template; one that becomes empty is that of the index.
    pub pipeline: Option<String>,
    /// What chooses the shard, as a template; one that becomes empty is the id.
    pub routing: Option<String>,
    /// The value of the `Authorization` header, if the server wants one.
    pub authorization: Option<String>,
    /// How the connection is secured where the address begins with `https`; whom the system trusts if nothing is said.
    pub tls: Option<ClientTls>,
    /// How bodies are sent.
    pub compression: BodyCompression,
    /// How long one exchange may take in all.
    pub timeout: Duration,
    /// The first pause after a failure; it doubles from there.
    pub retry_first: Duration,
    /// The longest pause.
    pub retry_max: Duration,
}

impl BulkOptions {
    /// Options with the default times.
    pub fn new(url: &str, index: &str) -> Self {
        BulkOptions {
            url: url.trim_end_matches('/').to_owned(),
            index: index.to_owned(),
            pipeline: None,
            routing: None,
            authorization: None,
            tls: None,
            compression: BodyCompression::None,
            timeout: Duration::from_secs(60),
            retry_first: Duration::from_millis(200),
            retry_max: Duration::from_secs(30),
        }
    }
}

/// Posts batches to `URL/_bulk` over one reused connection.
#[derive(Debug)]
pub struct BulkSink {
    posting: Posting,
    bulk: Bulk,
}

/// Requests of `_bulk`.
#[derive(Debug)]
struct Bulk {
    placing: Placing,
    /// The action line up to the id, where it is the same for all events but those that want to be an `index`.
    action: Vec<u8>,
}

impl BulkSink {
    /// A sink that gives up waiting when `stop` is asked for. Connects at the first batch.
    ///
    /// # Errors
    /// [`SinkError::Unusable`] for an address or a template that is none.
    pub fn new(options: BulkOptions, stop: StopToken) -> Result<Self, SinkError> {
        let (pipeline, routing) = (options.pipeline.as_deref(), options.routing.as_deref());
        let placing = Placing::new(&options.index, pipeline, routing)
            .map_err(|reason| SinkError::Unusable { reason })?;
        let mut action = Vec::new();
        push_action(&mut action, Writing::Create, &options.index);
        let address = Address {
            url: format!("{}/_bulk", options.url.trim_end_matches('/')),
            timeout: options.timeout,
            authorization: options.authorization,
            tls: options.tls,
            compression: options.compression.into(),
            headers: Vec::new(),
        };
        let pauses = Pauses {
            first: options.retry_first,
            max: options.retry_max,
        };
        Ok(BulkSink {
            posting: Posting::new(address, pauses, stop)?,
            bulk: Bulk { placing, action },
        })
    }

    /// A counter of event sendings beyond the first, readable while a delivery is still trying.
    pub fn retry_counter(&self) -> Arc<AtomicU64> {
        self.posting.retry_counter()
    }
}

/// Appends an action line up to its id.
fn push_action(out: &mut Vec<u8>, writing: Writing, index: &str) {
    out.extend_from_slice(b"{\"");
    out.extend_from_slice(writing.as_str().as_bytes());
    out.extend_from_slice(b"\":{\"_index\":");
    push_text(out, index);
    out.extend_from_slice(b",\"_id\":");
}

impl Protocol for Bulk {
    fn write(&self, event: &Event, body: &mut Vec<u8>) -> Result<(), String> {
        if self.placing.fixed().is_some() && event.metadata.is_empty() {
            body.extend_from_slice(&self.action);
            push_text(body, &event.id);
        } else {
            let place = self.placing.of(event)?;
            push_action(body, place.writing, &place.index);
            push_text(body, &event.id);
            for (name, value) in [("pipeline", place.pipeline), ("routing", place.routing)] {
                if let Some(value) = value {
                    body.extend_from_slice(format!(",\"{name}\":").as_bytes());
                    push_text(body, &value);
                }
            }
        }
        body.extend_from_slice(b"}}\n");
        body.extend_from_slice(&event.document);
        body.push(b'\n');
        Ok(())
    }

    fn read(&self, reply: &Reply, sent: usize) -> Result<Answer, SinkError> {
        refusal(reply).unwrap_or_else(|| {
            Ok(match fates(&reply.body, sent) {
                Ok(fates) => Answer::Fates(fates),
                Err(reason) => Answer::TryAgain(reason),
            })
        })
    }
}

impl Sink for BulkSink {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        self.posting.deliver(batch, &self.bulk)
    }
}
