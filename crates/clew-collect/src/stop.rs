//! One way to end a collector from outside: every wait in this crate goes through a [`StopToken`],
//! so that a stop is seen at once and never has to interrupt a thread by force.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Asks a running collector to stop. Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct StopToken(Arc<Inner>);

#[derive(Default)]
struct Inner {
    stopped: AtomicBool,
    gate: Mutex<()>,
    wake: Condvar,
    /// What a wait is, where time is simulated.
    turn: Option<Box<Turn>>,
}

type Turn = dyn Fn(Duration) + Send + Sync;

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Inner");
        shown
            .field("stopped", &self.stopped)
            .finish_non_exhaustive()
    }
}

impl StopToken {
    /// A token that has not been stopped.
    pub fn new() -> Self {
        Self::default()
    }

    /// A token of a simulation, whose waits take no time: `turn` is told how long each would be, and turns its clock by that.
    pub fn simulated(turn: impl Fn(Duration) + Send + Sync + 'static) -> Self {
        StopToken(Arc::new(Inner {
            turn: Some(Box::new(turn)),
            ..Inner::default()
        }))
    }

    /// Asks for the stop and wakes every waiter. Further calls change nothing.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::SeqCst);
        // Taking the gate orders this store against a waiter between its check and its wait.
        drop(self.0.gate.lock().unwrap_or_else(PoisonError::into_inner));
        self.0.wake.notify_all();
    }

    /// Whether the stop was asked for.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::SeqCst)
    }

    /// Waits until the stop or for the given time; returns whether the stop was asked for.
    pub fn wait(&self, at_most: Duration) -> bool {
        if let Some(turn) = &self.0.turn {
            if !self.is_stopped() {
                turn(at_most);
            }
            return self.is_stopped();
        }
        let gate = self.0.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .0
            .wake
            .wait_timeout_while(gate, at_most, |()| !self.is_stopped());
        drop(waited);
        self.is_stopped()
    }
}
