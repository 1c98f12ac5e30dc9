//! The sink for servers that speak OpenSearch's `_bulk`.
//!
//! Every event is a `create` with its own id, so sending twice is harmless: the second time is
//! answered 409 and counts as delivered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::backoff::Backoff;
use super::bulk_reply::{Fate, fates, shortened};
use super::courier::{Address, BodyCompression, Courier, Exchange};
use super::{Delivery, Rejection, Sink, SinkError};
use crate::event::Event;
use crate::json::push_text;
use crate::stop::StopToken;

/// How to reach the server.
#[derive(Clone, Debug)]
pub struct BulkOptions {
    /// The server's root, for example `http://127.0.0.1:9200`.
    pub url: String,
    /// The index or data stream to write to.
    pub index: String,
    /// The value of the `Authorization` header, if the server wants one.
    pub authorization: Option<String>,
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
    address: Address,
    /// The action line up to the id.
    action: Vec<u8>,
    courier: Option<Courier>,
    body: Vec<u8>,
    backoff: Backoff,
    stop: StopToken,
    retries: Arc<AtomicU64>,
}

/// What one exchange means for the events in it.
enum Answer {
    Fates(Vec<Fate>),
    TryAgain(String),
    TooLarge(String),
}

impl BulkSink {
    /// A sink that gives up waiting when `stop` is asked for. Connects at the first batch.
    pub fn new(options: BulkOptions, stop: StopToken) -> Result<Self, SinkError> {
        if !options.url.starts_with("http://") {
            return Err(SinkError::Unusable {
                reason: format!("{:?} is not an http:// address", options.url),
            });
        }
        let mut action = b"{\"create\":{\"_index\":".to_vec();
        push_text(&mut action, &options.index);
        action.extend_from_slice(b",\"_id\":\"");
        let seed = options
            .url
            .bytes()
            .fold(u64::from(std::process::id()), |seed, byte| {
                seed.wrapping_mul(31).wrapping_add(u64::from(byte))
            });
        Ok(BulkSink {
            address: Address {
                url: format!("{}/_bulk", options.url.trim_end_matches('/')),
                timeout: options.timeout,
                authorization: options.authorization,
                compression: options.compression,
            },
            action,
            courier: None,
            body: Vec::new(),
            backoff: Backoff::new(options.retry_first, options.retry_max, seed),
            stop,
            retries: Arc::default(),
        })
    }

    /// A counter of event sendings beyond the first, readable while a delivery is still trying.
    pub fn retry_counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.retries)
    }

    fn write_body(&mut self, batch: &[Event], indexes: &[usize]) {
        self.body.clear();
        for event in indexes.iter().map(|&index| &batch[index]) {
            self.body.extend_from_slice(&self.action);
            // Ids are hexadecimal digits and dashes: nothing to escape.
            self.body.extend_from_slice(event.id.as_bytes());
            self.body.extend_from_slice(b"\"}}\n");
            self.body.extend_from_slice(&event.document);
            self.body.push(b'\n');
        }
    }

    fn exchange(&mut self) -> Result<Exchange, SinkError> {
        let courier = match self.courier.take() {
            Some(courier) => courier,
            None => Courier::start(self.address.clone())
                .map_err(|reason| SinkError::Unusable { reason })?,
        };
        let body = std::mem::take(&mut self.body);
        let Some((body, exchange)) = courier.exchange(body, &self.stop) else {
            return Err(SinkError::Stopped);
        };
        self.body = body;
        self.courier = Some(courier);
        Ok(exchange)
    }

    fn post(&mut self, batch: &[Event], indexes: &[usize]) -> Result<Answer, SinkError> {
        self.write_body(batch, indexes);
        let (status, reply) = match self.exchange()? {
            Ok(answered) => answered,
            Err(reason) => return Ok(Answer::TryAgain(reason)),
        };
        let start = || shortened(&String::from_utf8_lossy(&reply[..reply.len().min(2_000)]));
        match status {
            200..300 => Ok(match fates(&reply, indexes.len()) {
                Ok(fates) => Answer::Fates(fates),
                Err(reason) => Answer::TryAgain(reason),
            }),
            413 => Ok(Answer::TooLarge(start())),
            408 | 429 | 500.. => Ok(Answer::TryAgain(format!("status {status}: {}", start()))),
            _ => Err(SinkError::Refused {
                status,
                reason: start(),
            }),
        }
    }

    fn pause(&mut self, reason: &str) -> Result<(), SinkError> {
        let pause = self.backoff.next_pause();
        if self.backoff.attempts().is_power_of_two() {
            let attempts = self.backoff.attempts();
            tracing::warn!(attempts, ?pause, reason, "bulk request will be sent again");
        }
        if self.stop.wait(pause) {
            Err(SinkError::Stopped)
        } else {
            Ok(())
        }
    }
}

impl Sink for BulkSink {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        let mut delivery = Delivery::default();
        // Groups of indexes still to be sent; there is more than one only after a 413.
        let mut groups: Vec<Vec<usize>> = vec![(0..batch.len()).collect()];
        while let Some(indexes) = groups.pop() {
            if indexes.is_empty() {
                continue;
            }
            let again = match self.post(batch, &indexes)? {
                Answer::Fates(fates) => {
                    let again = settle(&indexes, fates, &mut delivery);
                    if again.len() < indexes.len() {
                        self.backoff.reset();
                    }
                    if !again.is_empty() {
                        self.pause("some events were put off")?;
                    }
                    again
                }
                Answer::TooLarge(reason) if indexes.len() == 1 => {
                    let event_index = indexes[0];
                    delivery.rejected.push(Rejection {
                        event_index,
                        status: 413,
                        reason,
                    });
                    Vec::new()
                }
                Answer::TooLarge(_) => {
                    let (first, second) = indexes.split_at(indexes.len() / 2);
                    groups.push(second.to_vec());
                    groups.push(first.to_vec());
                    continue;
                }
                Answer::TryAgain(reason) => {
                    self.pause(&reason)?;
                    indexes
                }
            };
            let count = u64::try_from(again.len()).unwrap_or(u64::MAX);
            delivery.retries += count;
            self.retries.fetch_add(count, Ordering::Relaxed);
            groups.push(again);
        }
        Ok(delivery)
    }
}

/// Counts the settled events; returns those to be sent again.
fn settle(indexes: &[usize], fates: Vec<Fate>, delivery: &mut Delivery) -> Vec<usize> {
    let mut again = Vec::new();
    for (&event_index, fate) in indexes.iter().zip(fates) {
        match fate {
            Fate::Acked => delivery.acked += 1,
            Fate::Duplicate => delivery.duplicates += 1,
            Fate::Retry => again.push(event_index),
            Fate::Rejected { status, reason } => {
                delivery.rejected.push(Rejection {
                    event_index,
                    status,
                    reason,
                });
            }
        }
    }
    again
}
