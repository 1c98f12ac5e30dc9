//! All open connections: what has taken too long is told to end, and the one that was idle longest makes
//! room for another.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::{Id, JoinError, JoinSet};

use super::connection::{self, Shared};
use super::phase::{Closed, ConnectionState, Order, Phase, Stand};
use super::refusal;

/// Idle connections found in one look at all of them, for as many new ones.
const CANDIDATES: usize = 64;

/// Connections that are being told that there is no room; more are closed without a word.
const REFUSALS_MAX: usize = 32;

/// How long a client may take to notice that there is no room for it.
const REFUSAL_MAX: Duration = Duration::from_secs(1);

/// How long to wait for a connection that was told to make room.
const ROOM_MAX: Duration = Duration::from_secs(1);

/// How long a client may have sent nothing, or taken nothing of its answer, once the server stops: the whole time for open
/// requests is for those that get on.
const STALLED_AT_STOP_MAX: Duration = Duration::from_secs(2);

/// How often a stop looks for such clients.
const STOP_LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long to wait between two looks at all connections: of thousands, one is due at every moment.
const LOOK_EVERY_MIN: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct Connections {
    shared: Arc<Shared>,
    epoch: Instant,
    unparked: Arc<Notify>,
    open: HashMap<Id, Arc<ConnectionState>>,
    tasks: JoinSet<Closed>,
    /// The oldest idle ones, oldest first, as they were when they were looked for.
    candidates: VecDeque<(Stand, Arc<ConnectionState>)>,
    refusals: JoinSet<()>,
}

impl Connections {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Connections {
            shared,
            epoch: Instant::now(),
            unparked: Arc::new(Notify::new()),
            open: HashMap::new(),
            tasks: JoinSet::new(),
            candidates: VecDeque::new(),
            refusals: JoinSet::new(),
        }
    }

    /// Signalled when a connection goes on for which the sweep does not look by itself.
    pub(super) fn unparked(&self) -> Arc<Notify> {
        self.unparked.clone()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Serves a new connection, or refuses it when there is no room and none can be made.
    pub(super) async fn take(&mut self, stream: TcpStream) {
        while self.tasks.len() >= self.shared.rules.limits.connections_max {
            if !self.close_oldest_idle() {
                self.refuse(stream);
                return;
            }
            // Sockets that are told to close are closed before others are opened.
            if tokio::time::timeout(ROOM_MAX, self.ended()).await.is_err() {
                self.refuse(stream);
                return;
            }
        }
        let state = Arc::new(ConnectionState::new(self.epoch, self.unparked.clone()));
        let task = connection::run(self.shared.clone(), stream, state.clone());
        let id = self.tasks.spawn(task).id();
        self.open.insert(id, state);
        self.shared.metrics.opened();
    }

    /// Waits for the next end of a connection. Without any it comes back at once.
    pub(super) async fn ended(&mut self) {
        if let Some(ended) = self.tasks.join_next_with_id().await {
            self.forget(ended);
        }
    }

    fn forget(&mut self, ended: Result<(Id, Closed), JoinError>) {
        let (id, closed) = ended.unwrap_or_else(|error| {
            // The panic was shown where it happened.
            (error.id(), Closed::Broken)
        });
        self.open.remove(&id);
        self.shared.metrics.closed(closed);
    }

    /// Tells the connection that has been idle longest to close. False when none is idle.
    pub(super) fn close_oldest_idle(&mut self) -> bool {
        loop {
            if self.candidates.is_empty() {
                self.candidates = self.oldest_idle();
            }
            let Some((seen, state)) = self.candidates.pop_front() else {
                return false;
            };
            // Since then it may have begun a request, or ended: then nobody else has it.
            if state.stand() == seen && Arc::strong_count(&state) > 1 {
                state.tell(Order::Close(Closed::Room), seen);
                return true;
            }
        }
    }

    fn oldest_idle(&self) -> VecDeque<(Stand, Arc<ConnectionState>)> {
        let idle = self.open.values().map(|state| (state.stand(), state));
        let mut idle: Vec<_> = idle.filter(|(stand, _)| stand.phase().is_idle()).collect();
        if idle.len() > CANDIDATES {
            idle.select_nth_unstable_by_key(CANDIDATES, |(stand, _)| stand.since());
            idle.truncate(CANDIDATES);
        }
        idle.sort_unstable_by_key(|(stand, _)| stand.since());
        let owned = idle
            .into_iter()
            .map(|(stand, state)| (stand, state.clone()));
        owned.collect()
    }

    /// Answers a connection that there is no room for, with what there is of time for it.
    fn refuse(&mut self, stream: TcpStream) {
        self.shared.metrics.no_room();
        while self.refusals.try_join_next().is_some() {}
        if self.refusals.len() >= REFUSALS_MAX {
            return;
        }
        let answer = refusal::no_room(self.shared.rules.limits.connections_max);
        let state = ConnectionState::new(self.epoch, self.unparked.clone());
        let bytes_max = self.shared.rules.limits.linger_bytes_max;
        self.refusals.spawn(async move {
            let mut stream = stream;
            let told = async {
                stream.write_all(&answer).await?;
                connection::linger(&mut stream, &state, bytes_max).await;
                std::io::Result::Ok(())
            };
            let _ = tokio::time::timeout(REFUSAL_MAX, told).await;
        });
    }

    /// Tells every connection whose time is over, and says when to look again: `None` where nothing
    /// ends by itself before the next connection comes or goes on.
    pub(super) fn sweep(&self) -> Option<Instant> {
        let now = self.epoch.elapsed();
        let soonest = now + self.shared.rules.limits.shortest();
        let mut next: Option<Duration> = None;
        for state in self.open.values() {
            let stand = state.stand();
            let mut due = match stand.phase() {
                Phase::Parked => None,
                // Whatever it begins from now on is not due before.
                _ => Some(soonest),
            };
            if let Some((max, order)) = self.shared.rules.limits.of(stand.phase()) {
                let end = stand.since() + max;
                if end <= now {
                    state.tell(order, stand);
                } else {
                    due = Some(due.map_or(end, |due| due.min(end)));
                }
            }
            next = next.into_iter().chain(due).min();
        }
        next.map(|next| self.epoch + next.max(now + LOOK_EVERY_MIN))
    }

    /// When a connection that is taken, or goes on, now may be due.
    pub(super) fn soonest(&self) -> Instant {
        Instant::now() + self.shared.rules.limits.shortest()
    }

    /// Closes what is idle and waits for the requests that are being answered, but not for clients that neither send nor
    /// take anything.
    pub(super) async fn stop(mut self) {
        for state in self.open.values() {
            state.tell(Order::Stop, state.stand());
        }
        let mut look = tokio::time::interval(STOP_LOOK_EVERY);
        while !self.is_empty() {
            tokio::select! {
                () = self.ended() => {}
                _ = look.tick() => self.close_stalled(),
            }
        }
    }

    /// Closes what waits for its client for longer than may be while the server stops.
    fn close_stalled(&self) {
        let now = self.epoch.elapsed();
        for state in self.open.values() {
            let stand = state.stand();
            if stand.phase().waits_for_client() && stand.since() + STALLED_AT_STOP_MAX <= now {
                state.tell(Order::Close(Closed::Stopped), stand);
            }
        }
    }
}
