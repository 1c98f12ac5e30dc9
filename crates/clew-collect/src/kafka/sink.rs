//! Kafka as a sink. A batch counts as taken when every message of it has been reported as written by all replicas in sync;
//! messages are numbered by an idempotent producer, so that its own attempts write none twice. What it gives up is sent again
//! here, after a pause, and then may be there twice: each message has the event's id in its header `id`.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clew_ingest::template::{Escape, Template};
use rdkafka::ClientContext;
use rdkafka::error::KafkaError;
use rdkafka::message::{DeliveryResult, Header, OwnedHeaders};
use rdkafka::producer::{
    BaseRecord, NoCustomPartitioner, Producer, ProducerContext, PurgeConfig, ThreadedProducer,
};
use rdkafka::types::RDKafkaErrorCode as Code;
use serde_json::Value;

use super::KafkaOptions;
use super::client::config;
use super::fates::{Fate, is_topic};
use crate::backoff::Backoff;
use crate::dead_letter::Rejection;
use crate::event::Event;
use crate::metadata::values;
use crate::sink::{Delivery, Sink, SinkError, shortened};
use crate::stop::StopToken;

/// How long a wait lasts before the stop is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Writes batches as messages: the document is the payload.
pub struct KafkaSink {
    options: KafkaOptions,
    topic: Template,
    key: Option<Template>,
    /// Made at the first batch, and anew after an error that it does not survive.
    producer: Option<ThreadedProducer<Reports>>,
    backoff: Backoff,
    stop: StopToken,
}

impl std::fmt::Debug for KafkaSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("KafkaSink");
        shown
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// What became of messages, by their number in the batch.
#[derive(Debug, Default)]
struct Reports {
    came: Mutex<Vec<(usize, Option<Code>)>>,
    more: Condvar,
}

impl Reports {
    fn came(&self) -> MutexGuard<'_, Vec<(usize, Option<Code>)>> {
        self.came.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a moment, unless there are so many already.
    fn wait(&self, count: usize) {
        let too_few = |came: &mut Vec<_>| came.len() < count;
        drop(self.more.wait_timeout_while(self.came(), LOOK, too_few));
    }
}

impl ClientContext for Reports {}

impl ProducerContext<NoCustomPartitioner> for Reports {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, number: usize) {
        let failed = result.as_ref().err();
        let code = failed.map(|(error, _)| error.rdkafka_error_code().unwrap_or(Code::Fail));
        self.came().push((number, code));
        self.more.notify_all();
    }
}

impl KafkaSink {
    /// A sink that gives up waiting when `stop` is asked for. Connects at the first batch.
    ///
    /// # Errors
    /// [`SinkError::Unusable`] for a template, a topic or a property that is none.
    pub fn new(options: KafkaOptions, stop: StopToken) -> Result<Self, SinkError> {
        let template = |text: &str| {
            Template::parse(text).map_err(|error| SinkError::Unusable {
                reason: error.to_string(),
            })
        };
        let topic = template(&options.topic)?;
        if topic.is_text() && !is_topic(&options.topic) {
            let reason = format!("[{}] is no name of a topic", options.topic);
            return Err(SinkError::Unusable { reason });
        }
        let key = options.key.as_deref().map(template).transpose()?;
        let seed = u64::from(std::process::id());
        let mut sink = KafkaSink {
            topic,
            key,
            producer: None,
            backoff: Backoff::new(options.retry_first, options.retry_max, seed),
            options,
            stop,
        };
        sink.producer = Some(sink.connect()?);
        Ok(sink)
    }

    fn connect(&self) -> Result<ThreadedProducer<Reports>, SinkError> {
        let unusable = |reason: String| SinkError::Unusable { reason };
        let timeout = self.options.timeout.as_millis().to_string();
        let own = [
            ("acks", "all"),
            ("enable.idempotence", "true"),
            ("compression.type", self.options.compression.as_str()),
            ("message.timeout.ms", timeout.as_str()),
        ];
        let config = config(&self.options.servers, &own).map_err(unusable)?;
        let made = config.create_with_context(Reports::default());
        made.map_err(|error| unusable(error.to_string()))
    }

    /// Sends some of a batch, and waits until all of it is reported on.
    fn send(
        &mut self,
        batch: &[Event],
        numbers: &[usize],
    ) -> Result<Vec<(usize, Outcome)>, SinkError> {
        let producer = match self.producer.take() {
            Some(producer) => producer,
            None => self.connect()?,
        };
        let reports = Arc::clone(producer.context());
        reports.came().clear();
        let mut outcomes = Vec::new();
        let mut sent = 0;
        for &number in numbers {
            match self.send_one(&producer, &batch[number], number)? {
                None => sent += 1,
                Some(outcome) => outcomes.push((number, outcome)),
            }
        }
        while reports.came().len() < sent {
            self.look(&producer)?;
            reports.wait(sent);
        }
        for (number, code) in reports.came().drain(..) {
            outcomes.push((number, code.map_or(Outcome::Written, Outcome::Failed)));
        }
        // One that has failed for good takes nothing more; another one begins anew.
        self.producer = producer
            .client()
            .fatal_error()
            .is_none()
            .then_some(producer);
        Ok(outcomes)
    }

    /// Hands one message over, waiting for room; says what became of it if that is known at once.
    fn send_one(
        &self,
        producer: &ThreadedProducer<Reports>,
        event: &Event,
        number: usize,
    ) -> Result<Option<Outcome>, SinkError> {
        let (topic, key) = match self.place(event) {
            Ok(place) => place,
            Err(reason) => return Ok(Some(Outcome::Unfit(reason))),
        };
        let id = Header {
            key: "id",
            value: Some(&event.id),
        };
        let mut record = BaseRecord::with_opaque_to(&topic, number)
            .payload(event.document.as_slice())
            .timestamp(event.timestamp.0.max(0))
            .headers(OwnedHeaders::new_with_capacity(1).insert(id));
        record.key = key.as_deref();
        loop {
            record = match producer.send(record) {
                Ok(()) => return Ok(None),
                Err((KafkaError::MessageProduction(Code::QueueFull), back)) => back,
                Err((error, _)) => {
                    let code = error.rdkafka_error_code().unwrap_or(Code::Fail);
                    return Ok(Some(Outcome::Failed(code)));
                }
            };
            self.look(producer)?;
            let context = producer.context();
            let count = context.came().len();
            context.wait(count + 1);
        }
    }

    /// The topic and the key of an event.
    fn place(&self, event: &Event) -> Result<(String, Option<String>), String> {
        let is_text = self.topic.is_text() && self.key.as_ref().is_none_or(Template::is_text);
        let values: Value = match is_text {
            true => Value::Null,
            false => values(event)?,
        };
        let topic = self.topic.render(&values, Escape::Plain)?;
        if !is_topic(&topic) {
            return Err(format!("[{topic}] is no name of a topic"));
        }
        let key = self
            .key
            .as_ref()
            .map(|key| key.render(&values, Escape::Plain));
        Ok((topic, key.transpose()?))
    }

    /// Gives up what is under way if the stop is asked for.
    fn look(&self, producer: &ThreadedProducer<Reports>) -> Result<(), SinkError> {
        if !self.stop.is_stopped() {
            return Ok(());
        }
        producer.purge(PurgeConfig::default().queue().inflight());
        Err(SinkError::Stopped)
    }

    fn pause(&mut self, code: Code, count: usize) -> Result<(), SinkError> {
        let pause = self.backoff.next_pause();
        let attempts = self.backoff.attempts();
        if attempts.is_power_of_two() {
            let brokers = &self.options.servers.brokers;
            tracing::warn!(attempts, ?pause, %code, count, brokers, "messages will be sent again");
        }
        match self.stop.wait(pause) {
            true => Err(SinkError::Stopped),
            false => Ok(()),
        }
    }
}

/// What became of one event.
enum Outcome {
    Written,
    Failed(Code),
    /// It has no topic or key.
    Unfit(String),
}

impl Sink for KafkaSink {
    fn deliver(&mut self, batch: &[Event]) -> Result<Delivery, SinkError> {
        let mut delivery = Delivery::default();
        let mut left: Vec<usize> = (0..batch.len()).collect();
        loop {
            let mut again = Vec::new();
            let mut last = Code::NoError;
            for (event_index, outcome) in self.send(batch, &left)? {
                let (status, reason) = match outcome {
                    Outcome::Written => {
                        delivery.acked += 1;
                        continue;
                    }
                    Outcome::Unfit(reason) => (400, shortened(&reason)),
                    Outcome::Failed(code) => match Fate::of(code, !self.topic.is_text()) {
                        Fate::Again => {
                            last = code;
                            again.push(event_index);
                            continue;
                        }
                        Fate::Rejected(status) => (status, code.to_string()),
                        Fate::Refused => {
                            let (status, reason) = (403, code.to_string());
                            return Err(SinkError::Refused { status, reason });
                        }
                    },
                };
                delivery.rejected.push(Rejection {
                    event_index,
                    status,
                    reason,
                });
            }
            if again.is_empty() {
                self.backoff.reset();
                return Ok(delivery);
            }
            if again.len() < left.len() {
                self.backoff.reset();
            }
            delivery.retries += again.len() as u64;
            self.pause(last, again.len())?;
            again.sort_unstable();
            left = again;
        }
    }
}
