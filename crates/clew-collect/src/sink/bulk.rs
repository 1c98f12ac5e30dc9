//! The sink for servers that speak OpenSearch's `_bulk`.
//!
//! Every event is a `create` with its own id, so sending twice is harmless: the second time is
//! answered 409 and counts as delivered.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use super::bulk_reply::fates;
use super::courier::{Address, BodyCompression, Reply};
use super::posting::{Answer, Pauses, Posting, Protocol, refusal};
use super::{Delivery, Sink, SinkError};
use crate::event::Event;
use crate::json::push_text;
use crate::stop::StopToken;
use crate::tls::ClientTls;

/// How to reach the server.
#[derive(Clone, Debug)]
pub struct BulkOptions {
    /// The server's root, for example `https://search.example:9200`.
    pub url: String,
    /// The index or data stream to write to.
    pub index: String,
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
    /// The action line up to the id.
    action: Vec<u8>,
}

impl BulkSink {
    /// A sink that gives up waiting when `stop` is asked for. Connects at the first batch.
    ///
    /// # Errors
    /// [`SinkError::Unusable`] for an address that is none.
    pub fn new(options: BulkOptions, stop: StopToken) -> Result<Self, SinkError> {
        let mut action = b"{\"create\":{\"_index\":".to_vec();
        push_text(&mut action, &options.index);
        action.extend_from_slice(b",\"_id\":");
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
            bulk: Bulk { action },
        })
    }

    /// A counter of event sendings beyond the first, readable while a delivery is still trying.
    pub fn retry_counter(&self) -> Arc<AtomicU64> {
        self.posting.retry_counter()
    }
}

impl Protocol for Bulk {
    fn write(&self, event: &Event, body: &mut Vec<u8>) {
        body.extend_from_slice(&self.action);
        push_text(body, &event.id);
        body.extend_from_slice(b"}}\n");
        body.extend_from_slice(&event.document);
        body.push(b'\n');
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
