//! One way to end a collector from outside: every wait in this crate goes through a [`StopToken`],
//! so that a stop is seen at once and never has to interrupt a thread by force.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Asks a running collector to stop. Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct StopToken(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    stopped: AtomicBool,
    gate: Mutex<()>,
    wake: Condvar,
}

impl StopToken {
    /// A token that has not been stopped.
    pub fn new() -> Self {
        Self::default()
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
        let gate = self.0.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .0
            .wake
            .wait_timeout_while(gate, at_most, |()| !self.is_stopped());
        drop(waited);
        self.is_stopped()
    }
}
