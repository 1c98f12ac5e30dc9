//! Sends the spans of requests to a receiver of OpenTelemetry's protocol: some at once, from a thread of its own, which
//! nobody waits for. What cannot be sent is counted and gone.

mod client;
mod config;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clew_platform::Task;
use clew_profile::{Attribute, SpanFigures, SpanQueue, Tracer, encode_spans};
use prometheus::proto::MetricFamily;
use prometheus::{IntCounter, Registry};

use client::Client;
pub(crate) use config::TracingConfig;

/// Spans in one message.
const BATCH_SPANS: usize = 512;
/// How long the thread sleeps at most before it looks whether the server stops.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How long a receiver may take for a message.
const SEND_TIME: Duration = Duration::from_secs(5);
/// How long the stop of the server waits for what is still to be sent.
const FLUSH_TIME: Duration = Duration::from_secs(3);

/// The thread that sends spans.
pub(crate) struct Exporter {
    task: Task,
    stopping: Arc<AtomicBool>,
}

impl Exporter {
    /// Starts it, if the configuration names a receiver.
    ///
    /// # Errors
    /// An address that is none, or when the system has no thread to give.
    pub(crate) fn start(config: &TracingConfig) -> anyhow::Result<Option<(Tracer, Exporter)>> {
        if config.otlp.endpoint.is_empty() {
            return Ok(None);
        }
        let client = Client::of(&config.otlp)?;
        let (tracer, queue) = Tracer::new(config.sample_ratio, config.queue_spans_max);
        let stopping = Arc::new(AtomicBool::new(false));
        let mut sender = Sender {
            client,
            service: vec![
                ("service.name", config.service_name.clone().into()),
                ("service.version", env!("CARGO_PKG_VERSION").into()),
            ],
            figures: tracer.figures().clone(),
            failing: false,
        };
        let stopped = stopping.clone();
        let task = Task::spawn("clew-spans", move || sender.run(&queue, &stopped))?;
        Ok(Some((tracer, Exporter { task, stopping })))
    }

    /// Sends what is left, for a while, and ends. Blocks.
    pub(crate) fn stop(self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.task.join();
    }
}

struct Sender {
    client: Client,
    service: Vec<Attribute>,
    figures: Arc<SpanFigures>,
    /// Whether the last message could not be sent.
    failing: bool,
}

impl Sender {
    fn run(&mut self, queue: &SpanQueue, stopping: &AtomicBool) {
        while !stopping.load(Ordering::SeqCst) {
            if !self.send_next(queue, LOOK_EVERY, SEND_TIME) {
                return;
            }
        }
        let until = Instant::now() + FLUSH_TIME;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.send_next(queue, Duration::ZERO, left) {
                return;
            }
        }
    }

    /// Sends what has come; false when there is nothing, and a stop would be one.
    fn send_next(&mut self, queue: &SpanQueue, wait: Duration, time: Duration) -> bool {
        let Some(spans) = queue.next(BATCH_SPANS, wait) else {
            return false;
        };
        if spans.is_empty() {
            return !wait.is_zero();
        }
        let message = encode_spans(&spans, &self.service, env!("CARGO_PKG_VERSION"));
        let count = spans.len() as u64;
        match self.client.send(message, time) {
            Ok(()) => {
                self.figures.sent.fetch_add(count, Ordering::Relaxed);
                self.failing = false;
            }
            Err(error) => {
                self.figures.failed.fetch_add(count, Ordering::Relaxed);
                // Once for each time that the receiver is away.
                if !self.failing {
                    tracing::warn!(%error, spans = count, "spans cannot be sent");
                }
                self.failing = true;
            }
        }
        true
    }
}

/// What became of spans, as metrics.
pub(crate) fn families(figures: &SpanFigures) -> anyhow::Result<Vec<MetricFamily>> {
    let registry = Registry::new();
    let all: [(&str, &str, &AtomicU64); 4] = [
        (
            "trace_spans_total",
            "Spans of requests that were recorded.",
            &figures.told,
        ),
        (
            "trace_spans_sent_total",
            "Spans that their receiver took.",
            &figures.sent,
        ),
        (
            "trace_spans_dropped_total",
            "Spans that found no room in the queue.",
            &figures.dropped,
        ),
        (
            "trace_spans_failed_total",
            "Spans that could not be sent.",
            &figures.failed,
        ),
    ];
    for (name, help, value) in all {
        let counter = IntCounter::new(name, help)?;
        counter.inc_by(value.load(Ordering::Relaxed));
        registry.register(Box::new(counter))?;
    }
    Ok(registry.gather())
}
