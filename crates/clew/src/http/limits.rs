//! How long each phase of a connection may last, and how many connections there may be.

use std::time::Duration;

use anyhow::ensure;

use super::config::HttpConfig;
use super::phase::{Closed, Order, Phase};

/// Connections without a limit of the user's, where files suffice.
const CONNECTIONS: usize = 10_000;

/// An idle connection keeps its buffers for so long: a client that asks again at once should find them.
const PARK_AFTER: Duration = Duration::from_secs(1);

/// How long nothing may be sent to a client that has closed its half of the connection. A client that is
/// gone has said the same, and its work is to end soon.
pub(super) const HALF_CLOSED_MAX: Duration = Duration::from_secs(1);

/// A client that was answered early has at least this to notice, or to send more: most send all they have before they look for
/// an answer, and would find the connection broken instead of one.
const LINGER_MIN: Duration = Duration::from_secs(10);

/// So many times the longest body is listened to before a connection is closed on a client that goes on sending.
const LINGER_BODIES: usize = 10;

/// A request's line and headers, in bytes: a URI of 64 KiB, the longest there may be, and headers of
/// 16 KiB.
pub(super) const HEAD_BYTES_MAX: usize = 80 << 10;

/// Limits of all connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionLimits {
    pub(super) connections_max: usize,
    /// So much of a body that was not wanted is read before its connection is closed.
    pub(super) linger_bytes_max: usize,
    header: Option<Duration>,
    body: Option<Duration>,
    answer: Option<Duration>,
    idle: Option<Duration>,
}

impl ConnectionLimits {
    /// # Errors
    /// When the connections asked for would leave too few of the files that the process may open.
    pub(super) fn new(config: &HttpConfig, open_files_max: usize) -> anyhow::Result<Self> {
        // Shards need files at the moment they write: one that gets none is lost until it is opened anew.
        let most = open_files_max / 2;
        let asked = config.connections_max;
        ensure!(
            asked <= most,
            "[http.connections_max] is {asked}, and may be {most} at most: half of the {open_files_max} \
             files that the process may open (ulimit -n) are the engine's"
        );
        let time = |ms| (ms > 0).then(|| Duration::from_millis(ms));
        Ok(ConnectionLimits {
            connections_max: match asked {
                0 => CONNECTIONS.min(most).max(1),
                asked => asked,
            },
            linger_bytes_max: config.body_bytes_max.saturating_mul(LINGER_BODIES),
            header: time(config.header_timeout_ms),
            body: time(config.body_timeout_ms),
            answer: time(config.answer_timeout_ms),
            idle: time(config.idle_timeout_ms),
        })
    }

    /// What becomes of a connection in this phase, and after how long.
    pub(super) fn of(&self, phase: Phase) -> Option<(Duration, Order)> {
        let close = Order::Close;
        match phase {
            Phase::Head => self.header.map(|max| (max, close(Closed::HeaderTimeout))),
            Phase::Body => self.body.map(|max| (max, Order::GiveUpBody)),
            Phase::Working => None,
            Phase::HalfClosed => Some((HALF_CLOSED_MAX, close(Closed::Broken))),
            Phase::Answer => self.answer.map(|max| (max, close(Closed::AnswerTimeout))),
            Phase::Idle => match self.idle {
                Some(idle) if idle <= PARK_AFTER => Some((idle, close(Closed::IdleTimeout))),
                _ => Some((PARK_AFTER, Order::Park)),
            },
            Phase::Parked => self.idle.map(|max| (max, close(Closed::IdleTimeout))),
            Phase::Lingering => {
                let max = self.body.map_or(LINGER_MIN, |body| body.max(LINGER_MIN));
                Some((max, close(Closed::Ended)))
            }
        }
    }

    /// A connection that begins a phase now is not due before this.
    pub(super) fn shortest(&self) -> Duration {
        let set = [self.header, self.body, self.answer, self.idle];
        let set = set.into_iter().flatten();
        set.fold(PARK_AFTER.min(HALF_CLOSED_MAX), Duration::min)
    }
}
