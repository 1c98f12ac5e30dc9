//! What a connection is about to do, and since when: what the time-outs and the choice of the connection
//! that has to make room go by. One word per connection, written by its own task as a request goes on and
//! read by the sweep, so that no request costs a timer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Waker;
use std::time::{Duration, Instant};

use axum::http::Request;
use hyper::body::Body as HttpBody;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// A body makes progress when it brings this much: one byte now and then does not count.
const PROGRESS_BYTES: u64 = 16 << 10;

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The rest of a request's head; of a new connection, all of it.
    Head,
    /// More of a request's body.
    Body,
    /// The server itself.
    Working,
    /// The same, while the client has said that it sends no more: it may be gone.
    HalfClosed,
    /// The client's taking more of the answer.
    Answer,
    /// The next request.
    Idle,
    /// The next request, with the connection's buffers given back.
    Parked,
    /// The client's noticing that it was answered before all of its request was read.
    Lingering,
}

const PHASES: [Phase; 8] = [
    Phase::Head,
    Phase::Body,
    Phase::Working,
    Phase::HalfClosed,
    Phase::Answer,
    Phase::Idle,
    Phase::Parked,
    Phase::Lingering,
];

impl Phase {
    /// Whether nothing is lost but a client's place when the connection is closed now.
    pub(super) fn is_idle(self) -> bool {
        matches!(
            self,
            Phase::Head | Phase::Idle | Phase::Parked | Phase::Lingering
        )
    }

    /// Whether the connection goes on only when its client does something, or its client may be gone.
    pub(super) fn waits_for_client(self) -> bool {
        self != Phase::Working
    }
}

/// A phase and when it began, as one number: later is larger within a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stand(u64);

impl Stand {
    fn new(phase: Phase, since_ms: u64) -> Self {
        Stand(since_ms << 3 | phase as u64)
    }

    pub(super) fn phase(self) -> Phase {
        // Three bits have no other value.
        PHASES[(self.0 & 7) as usize]
    }

    /// Since the server's start.
    pub(super) fn since(self) -> Duration {
        Duration::from_millis(self.0 >> 3)
    }
}

/// What the server wants of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// To give its buffers back until the next request.
    Park,
    /// To answer that the request's body did not come in time.
    GiveUpBody,
    /// To close.
    Close(Closed),
    /// To end with the request that it is in.
    Stop,
}

/// Why a connection was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closed {
    /// By either side, in order.
    Ended,
    /// The client broke off, or what it sent was no HTTP.
    Broken,
    /// The head of a request did not come in time.
    HeaderTimeout,
    /// The body of a request did not come in time.
    BodyTimeout,
    /// The answer was not taken in time.
    AnswerTimeout,
    /// No request came for too long.
    IdleTimeout,
    /// It was the oldest idle one when there was no room for another.
    Room,
    /// The server stopped.
    Stopped,
}

impl Closed {
    pub(super) fn name(self) -> &'static str {
        match self {
            Closed::Ended => "ended",
            Closed::Broken => "broken",
            Closed::HeaderTimeout => "header_timeout",
            Closed::BodyTimeout => "body_timeout",
            Closed::AnswerTimeout => "answer_timeout",
            Closed::IdleTimeout => "idle_timeout",
            Closed::Room => "room",
            Closed::Stopped => "stopped",
        }
    }
}

/// What a connection's task, its socket, its bodies and the sweep share. Only the sweep and the accept
/// loop run beside the task, and they touch nothing but the stand and the order.
#[derive(Debug)]
pub(super) struct ConnectionState {
    epoch: Instant,
    stand: AtomicU64,
    order: Mutex<Option<(Order, Stand)>>,
    told: Notify,
    /// Wakes the sweep when a parked connection goes on.
    unparked: Arc<Notify>,
    /// From a request's head to its flushed answer.
    in_flight: AtomicBool,
    /// The request's body was read to its end.
    body_ended: AtomicBool,
    /// Bytes that the body brought since it was last seen to make progress.
    body_bytes: AtomicU64,
    body_given_up: AtomicBool,
    /// The answer goes on until the client has enough of it.
    streaming: AtomicBool,
    /// The answer is complete but for what the socket has not taken yet.
    answered: AtomicBool,
    /// Something of the next request was read before this one's answer was out.
    ahead: AtomicBool,
    /// The client has said that it sends no more.
    sent_all: AtomicBool,
    /// The connection's task, while it was not told of that and a body is read.
    held: Mutex<Option<Waker>>,
    /// The client has said so in the middle of a body.
    cut_short: AtomicBool,
}

impl ConnectionState {
    pub(super) fn new(epoch: Instant, unparked: Arc<Notify>) -> Self {
        let state = ConnectionState {
            epoch,
            stand: AtomicU64::new(0),
            order: Mutex::new(None),
            told: Notify::new(),
            unparked,
            in_flight: AtomicBool::new(false),
            body_ended: AtomicBool::new(true),
            body_bytes: AtomicU64::new(0),
            body_given_up: AtomicBool::new(false),
            streaming: AtomicBool::new(false),
            answered: AtomicBool::new(false),
            ahead: AtomicBool::new(false),
            sent_all: AtomicBool::new(false),
            held: Mutex::new(None),
            cut_short: AtomicBool::new(false),
        };
        state.enter(Phase::Head);
        state
    }

    pub(super) fn stand(&self) -> Stand {
        Stand(self.stand.load(Ordering::Relaxed))
    }

    fn phase(&self) -> Phase {
        self.stand().phase()
    }

    fn enter(&self, phase: Phase) {
        let since_ms = u64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(u64::MAX >> 3);
        self.stand
            .store(Stand::new(phase, since_ms).0, Ordering::Relaxed);
    }

    /// Tells the connection's task what to do, unless it does something else by then.
    pub(super) fn tell(&self, order: Order, seen: Stand) {
        *self.order.lock() = Some((order, seen));
        self.told.notify_one();
    }

    /// The next order that still holds.
    pub(super) async fn order(&self) -> Order {
        loop {
            self.told.notified().await;
            match self.order.lock().take() {
                Some((Order::Stop, _)) => return Order::Stop,
                // Decided over a connection that has gone on since: the sweep will look at it again.
                Some((_, seen)) if seen != self.stand() => {}
                Some((order, _)) => return order,
                None => {}
            }
        }
    }
}

/// What the socket reports.
impl ConnectionState {
    /// Bytes were read.
    pub(super) fn heard(&self) {
        match self.phase() {
            Phase::Idle => self.enter(Phase::Head),
            Phase::Working | Phase::Answer if self.body_ended.load(Ordering::Relaxed) => {
                self.ahead.store(true, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    /// The client sends no more. True when the connection has to go on: the client waits for an answer,
    /// and may have closed its half only (`nc -N`). TCP does not tell that from a client that is gone, so
    /// from here on nothing may last longer than [`super::limits::HALF_CLOSED_MAX`] without a byte of the
    /// answer: sending to a client that is gone fails. One that has an answer without end, and closes, has
    /// enough of it.
    ///
    /// A body that was not read to its end yet may be here as a whole; its reader finds out ([`Self::body_awaited`]).
    pub(super) fn heard_the_last(&self, task: &Waker) -> bool {
        let in_flight = self.in_flight.load(Ordering::Relaxed);
        if self.cut_short.load(Ordering::Relaxed) {
            return false;
        }
        let waits = in_flight && !self.streaming.load(Ordering::Relaxed);
        if waits && !self.body_ended.load(Ordering::Relaxed) {
            *self.held.lock() = Some(task.clone());
        }
        if waits && !self.sent_all.swap(true, Ordering::Relaxed) {
            if matches!(self.phase(), Phase::Working | Phase::Body) {
                self.enter(Phase::HalfClosed);
            }
            // So that the body's reader looks for what has come.
            task.wake_by_ref();
        }
        // What was held back once stays so until the answer is out.
        waits || self.sent_all.load(Ordering::Relaxed) && in_flight
    }

    /// The socket took bytes of the answer.
    pub(super) fn wrote(&self) {
        if self.sent_all.load(Ordering::Relaxed) {
            self.enter(Phase::HalfClosed);
        } else if self.phase() == Phase::Answer {
            self.enter(Phase::Working);
        }
    }

    /// The socket takes no more for now.
    pub(super) fn write_blocked(&self) {
        if self.phase() != Phase::Answer {
            self.enter(Phase::Answer);
        }
    }

    /// Everything that there was to write was written. True when the task has to look for the end of
    /// what the client sends, which was held back while it waited for this answer.
    pub(super) fn flushed(&self) -> bool {
        if !self.answered.load(Ordering::Relaxed) || !self.in_flight.load(Ordering::Relaxed) {
            return false;
        }
        self.in_flight.store(false, Ordering::Relaxed);
        let ahead = self.ahead.swap(false, Ordering::Relaxed);
        self.enter(if ahead { Phase::Head } else { Phase::Idle });
        self.sent_all.load(Ordering::Relaxed)
    }
}

/// What the requests report.
impl ConnectionState {
    pub(super) fn request_began(&self, body: Expected) {
        self.in_flight.store(true, Ordering::Relaxed);
        self.streaming.store(false, Ordering::Relaxed);
        self.answered.store(false, Ordering::Relaxed);
        self.ahead.store(false, Ordering::Relaxed);
        let none = body == Expected::Nothing;
        self.body_ended.store(none, Ordering::Relaxed);
        self.body_bytes.store(0, Ordering::Relaxed);
        self.enter(Phase::Working);
    }

    /// The body's reader waits for the client. Where that has sent all it sends, the body is not whole: the end is
    /// passed on, so that the reader hears of it.
    pub(super) fn body_awaited(&self) {
        if self.phase() == Phase::Working {
            self.enter(Phase::Body);
        }
        if self.sent_all.load(Ordering::Relaxed)
            && let Some(task) = self.held.lock().take()
        {
            self.cut_short.store(true, Ordering::Relaxed);
            task.wake();
        }
    }

    pub(super) fn body_brought(&self, bytes: usize) {
        if self.progressed(bytes) && self.phase() == Phase::Body {
            self.enter(Phase::Working);
        }
    }

    /// Whether this is enough, with what came before, to count.
    fn progressed(&self, bytes: usize) -> bool {
        let bytes = self.body_bytes.load(Ordering::Relaxed) + bytes as u64;
        let progress = bytes >= PROGRESS_BYTES;
        let kept = if progress { 0 } else { bytes };
        self.body_bytes.store(kept, Ordering::Relaxed);
        progress
    }

    pub(super) fn body_ended(&self) {
        self.body_ended.store(true, Ordering::Relaxed);
        if self.phase() == Phase::Body {
            self.enter(Phase::Working);
        }
    }

    /// Whether the body of the request that came last was left unread.
    pub(super) fn left_body(&self) -> bool {
        !self.body_ended.load(Ordering::Relaxed)
    }

    pub(super) fn give_up_body(&self) {
        self.body_given_up.store(true, Ordering::Relaxed);
    }

    pub(super) fn gave_up_body(&self) -> bool {
        self.body_given_up.load(Ordering::Relaxed)
    }

    /// The answer's head is there. Without a length it has no end of its own.
    pub(super) fn answer_began(&self, length: Option<u64>) {
        self.streaming.store(length.is_none(), Ordering::Relaxed);
    }

    /// The answer's body was handed over whole, or given up.
    pub(super) fn answered(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }
}

/// Whether a request has a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Nothing,
    Body,
}

impl Expected {
    pub(super) fn of<B: HttpBody>(request: &Request<B>) -> Self {
        match request.body().is_end_stream() {
            true => Expected::Nothing,
            false => Expected::Body,
        }
    }
}

/// What the connection's task reports.
impl ConnectionState {
    pub(super) fn parked(&self) {
        // When the last answer was given still counts.
        let since_ms = self.stand.load(Ordering::Relaxed) >> 3;
        let stand = Stand::new(Phase::Parked, since_ms);
        self.stand.store(stand.0, Ordering::Relaxed);
    }

    /// The client has sent something.
    pub(super) fn woke(&self) {
        if self.phase() == Phase::Parked {
            self.enter(Phase::Idle);
            self.unparked.notify_one();
        }
    }

    pub(super) fn lingers(&self) {
        self.enter(Phase::Lingering);
    }

    /// The client goes on sending what nobody wants; its time begins anew when it gets on with that.
    pub(super) fn sends_on(&self, bytes: usize) {
        if self.progressed(bytes) {
            self.enter(Phase::Lingering);
        }
    }
}
