//! The queue between requests, which tell spans, and whoever sends them on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use super::Span;
use super::context::TraceId;

/// How long what has come waits for more, so that it is sent together.
const LINGER: Duration = Duration::from_millis(500);

/// Where spans go.
#[derive(Clone, Debug)]
pub struct Tracer {
    spans: SyncSender<Span>,
    figures: Arc<SpanFigures>,
    /// Traces are recorded whose ids end below this.
    below: u64,
}

/// What became of spans.
#[derive(Debug, Default)]
pub struct SpanFigures {
    /// Spans told.
    pub told: AtomicU64,
    /// Those that found no room in the queue.
    pub dropped: AtomicU64,
    /// Those that were taken by who they were sent to.
    pub sent: AtomicU64,
    /// Those that could not be sent.
    pub failed: AtomicU64,
}

impl Tracer {
    /// Records this share of the traces that begin here, in a queue of so many spans.
    pub fn new(sample_ratio: f64, queue_spans_max: usize) -> (Self, SpanQueue) {
        let (sender, receiver) = sync_channel(queue_spans_max);
        let figures = Arc::new(SpanFigures::default());
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share of all ids, which the cast bounds"
        )]
        let below = (sample_ratio * u64::MAX as f64) as u64;
        let tracer = Tracer {
            spans: sender,
            figures: figures.clone(),
            below,
        };
        let queue = SpanQueue {
            spans: receiver,
            figures,
        };
        (tracer, queue)
    }

    /// What became of spans so far.
    pub fn figures(&self) -> &Arc<SpanFigures> {
        &self.figures
    }

    /// Whether a trace that begins here is recorded, which each server that sees its id decides alike.
    pub(super) fn samples(&self, id: TraceId) -> bool {
        let end = u64::try_from(id.0 & u128::from(u64::MAX)).unwrap_or(u64::MAX);
        end < self.below || self.below == u64::MAX
    }

    pub(super) fn push(&self, span: Span) {
        self.figures.told.fetch_add(1, Ordering::Relaxed);
        if self.spans.try_send(span).is_err() {
            self.figures.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The other end of a [`Tracer`].
#[derive(Debug)]
pub struct SpanQueue {
    spans: Receiver<Span>,
    figures: Arc<SpanFigures>,
}

impl SpanQueue {
    /// What became of spans so far.
    pub fn figures(&self) -> &Arc<SpanFigures> {
        &self.figures
    }

    /// The spans that came, some at once, after a wait for the first; none when nobody tells any more.
    pub fn next(&self, most: usize, wait: Duration) -> Option<Vec<Span>> {
        let mut spans = match self.spans.recv_timeout(wait) {
            Ok(first) => vec![first],
            Err(RecvTimeoutError::Timeout) => return Some(Vec::new()),
            Err(RecvTimeoutError::Disconnected) => return None,
        };
        let until = Instant::now() + LINGER.min(wait);
        while spans.len() < most {
            let left = until.saturating_duration_since(Instant::now());
            match self.spans.recv_timeout(left) {
                Ok(span) => spans.push(span),
                Err(_) => break,
            }
        }
        Some(spans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;

    #[test]
    fn what_finds_no_room_is_counted_and_nobody_waits() {
        let (tracer, queue) = Tracer::new(1.0, 2);
        for _ in 0..5 {
            Trace::begin(None, Some(&tracer)).end("x".into(), Vec::new, false);
        }
        let figures = tracer.figures();
        assert_eq!(figures.told.load(Ordering::Relaxed), 5);
        assert_eq!(figures.dropped.load(Ordering::Relaxed), 3);
        assert_eq!(queue.next(10, Duration::ZERO).unwrap().len(), 2);
        assert_eq!(queue.next(10, Duration::ZERO).unwrap(), []);
        drop(tracer);
        assert!(queue.next(10, Duration::ZERO).is_none());
    }

    #[test]
    fn a_share_of_the_traces_is_recorded() {
        let (tracer, _queue) = Tracer::new(0.25, 1);
        let recorded = (0..4000).filter(|_| Trace::begin(None, Some(&tracer)).is_recorded());
        let recorded = recorded.count();
        // Ten deviations of the binomial distribution.
        assert!((730..=1270).contains(&recorded), "{recorded}");
    }
}
