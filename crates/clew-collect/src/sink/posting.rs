//! Batches as bodies of requests, sent until each of their events is settled. What a body looks like and what an answer means
//! is a [`Protocol`]'s; here is what all have in common: one reused connection, growing pauses, bodies that are divided.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::bulk_reply::{Fate, shortened};
use super::courier::{Address, Courier, Exchange, Reply};
use super::shown::shown_url;
use super::{Delivery, SinkError};
use crate::backoff::Backoff;
use crate::dead_letter::Rejection;
use crate::event::Event;
use crate::stop::StopToken;
use crate::tls::ClientTls;

/// What is sent, and what is answered.
pub(super) trait Protocol {
    /// Appends an event to a body.
    ///
    /// # Errors
    /// Why it can go nowhere; nothing of it is in the body then.
    fn write(&self, event: &Event, body: &mut Vec<u8>) -> Result<(), String>;

    /// What the answer to a body of so many events means.
    ///
    /// # Errors
    /// That no such request will ever be taken.
    fn read(&self, reply: &Reply, sent: usize) -> Result<Answer, SinkError>;
}

/// What one exchange means for the events in it.
pub(super) enum Answer {
    /// One for each event.
    Fates(Vec<Fate>),
    /// Nothing was taken, and may be later.
    TryAgain(String),
    /// Something in the body will never be taken: its halves are tried alone, and an event that is alone is refused.
    Divide(String),
}

/// How often and how long to wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pauses {
    /// The first pause after a failure; it doubles from there.
    pub(super) first: Duration,
    /// The longest pause.
    pub(super) max: Duration,
}

/// Sends bodies to one address.
#[derive(Debug)]
pub(super) struct Posting {
    address: Address,
    courier: Option<Courier>,
    body: Vec<u8>,
    backoff: Backoff,
    pauses: Pauses,
    stop: StopToken,
    retries: Arc<AtomicU64>,
}

impl Posting {
    /// Connects at the first body.
    ///
    /// # Errors
    /// [`SinkError::Unusable`] for an address that is none.
    pub(super) fn new(
        address: Address,
        pauses: Pauses,
        stop: StopToken,
    ) -> Result<Self, SinkError> {
        let mut address = address;
        let unusable = |reason| SinkError::Unusable { reason };
        let url = &address.url;
        if url.starts_with("https://") {
            let tls = address.tls.take().map_or_else(ClientTls::of_system, Ok);
            address.tls = Some(tls.map_err(unusable)?);
        } else if !url.starts_with("http://") {
            let url = shown_url(url);
            let reason = format!("{url:?} is not an http:// or https:// address");
            return Err(unusable(reason));
        }
        let seed = url
            .bytes()
            .fold(u64::from(std::process::id()), |seed, byte| {
                seed.wrapping_mul(31).wrapping_add(u64::from(byte))
            });
        Ok(Posting {
            address,
            courier: None,
            body: Vec::new(),
            backoff: Backoff::new(pauses.first, pauses.max, seed),
            pauses,
            stop,
            retries: Arc::default(),
        })
    }

    /// A counter of event sendings beyond the first, readable while a delivery is still trying.
    pub(super) fn retry_counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.retries)
    }

    /// Sends a batch until every event of it is settled.
    pub(super) fn deliver(
        &mut self,
        batch: &[Event],
        protocol: &impl Protocol,
    ) -> Result<Delivery, SinkError> {
        let mut delivery = Delivery::default();
        // Groups of indexes still to be sent; there is more than one only after a division.
        let mut groups: Vec<Vec<usize>> = vec![(0..batch.len()).collect()];
        while let Some(indexes) = groups.pop() {
            let indexes = self.written(batch, indexes, protocol, &mut delivery);
            if indexes.is_empty() {
                continue;
            }
            let (answer, reply) = match self.exchange()? {
                Ok(reply) => (self.told(protocol.read(&reply, indexes.len()))?, reply),
                Err(reason) => (Answer::TryAgain(reason), Reply::default()),
            };
            let again = match answer {
                Answer::Fates(fates) => {
                    let again = settle(&indexes, fates, &mut delivery);
                    if again.len() < indexes.len() {
                        self.backoff.reset();
                    }
                    if !again.is_empty() {
                        self.pause("some events were put off", None)?;
                    }
                    again
                }
                Answer::Divide(reason) if indexes.len() == 1 => {
                    self.backoff.reset();
                    delivery.rejected.push(Rejection {
                        event_index: indexes[0],
                        status: reply.status,
                        reason,
                    });
                    Vec::new()
                }
                Answer::Divide(_) => {
                    let (first, second) = indexes.split_at(indexes.len() / 2);
                    groups.push(second.to_vec());
                    groups.push(first.to_vec());
                    continue;
                }
                Answer::TryAgain(reason) => {
                    self.pause(&reason, reply.retry_after)?;
                    indexes
                }
            };
            let count = again.len() as u64;
            delivery.retries += count;
            self.retries.fetch_add(count, Ordering::Relaxed);
            groups.push(again);
        }
        Ok(delivery)
    }

    /// Makes a body of some events, and returns those that are in it: the others are refused.
    fn written(
        &mut self,
        batch: &[Event],
        mut indexes: Vec<usize>,
        protocol: &impl Protocol,
        delivery: &mut Delivery,
    ) -> Vec<usize> {
        self.body.clear();
        indexes.retain(|&event_index| {
            let written = protocol.write(&batch[event_index], &mut self.body);
            if let Err(reason) = &written {
                delivery.rejected.push(Rejection {
                    event_index,
                    status: 400,
                    reason: shortened(reason),
                });
            }
            written.is_ok()
        });
        indexes
    }

    /// What a reply means; where no request is taken, that is told with the address, as there may be several.
    fn told(&self, read: Result<Answer, SinkError>) -> Result<Answer, SinkError> {
        if let Err(error) = &read {
            let url = shown_url(&self.address.url);
            tracing::error!(%error, url, "an output takes no requests");
        }
        read
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

    /// Waits as long as the server asks for, if that is more than it would be, and no longer than the longest pause.
    fn pause(&mut self, reason: &str, asked: Option<Duration>) -> Result<(), SinkError> {
        let own = self.backoff.next_pause();
        let pause = asked.map_or(own, |asked| own.max(asked.min(self.pauses.max)));
        if self.backoff.attempts().is_power_of_two() {
            let attempts = self.backoff.attempts();
            let url = shown_url(&self.address.url);
            tracing::warn!(
                attempts,
                ?pause,
                reason,
                url,
                "a request will be sent again"
            );
        }
        match self.stop.wait(pause) {
            true => Err(SinkError::Stopped),
            false => Ok(()),
        }
    }
}

/// Answers that mean the same to everyone; `None` for those below 300.
pub(super) fn refusal(reply: &Reply) -> Option<Result<Answer, SinkError>> {
    let status = reply.status;
    let start = &reply.body[..reply.body.len().min(2_000)];
    let start = shortened(&String::from_utf8_lossy(start));
    Some(match status {
        200..300 => return None,
        413 => Ok(Answer::Divide(start)),
        408 | 429 | 500.. => Ok(Answer::TryAgain(format!("status {status}: {start}"))),
        _ => Err(SinkError::Refused {
            status,
            reason: start,
        }),
    })
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
