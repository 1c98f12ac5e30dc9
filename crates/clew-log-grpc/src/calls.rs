//! The calls that the server itself is at work for: a stop waits for these, and for clients only as long as they go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// Counts the calls of a port that the server is at work for. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct CallsAtWork(Arc<AtomicUsize>);

/// The same of one connection; its requests bring this along among their extensions.
#[derive(Clone, Debug, Default)]
pub struct ConnectionCalls(pub(crate) CallsAtWork);

impl CallsAtWork {
    /// A call of a connection has begun.
    #[must_use = "the call has ended when this is dropped"]
    pub fn begin(&self, connection: &ConnectionCalls) -> CallAtWork {
        let call = CallAtWork {
            counted: [self.clone(), connection.0.clone()],
            state: AtomicU8::new(WORKS),
        };
        call.more();
        call
    }

    /// Whether the server is at work for any.
    pub(crate) fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

const WORKS: u8 = 0;
const WAITS: u8 = 1;
const ENDED: u8 = 2;

/// A call. The server is at work for it until it is answered, but for the times at which it waits for the client.
#[derive(Debug)]
pub struct CallAtWork {
    counted: [CallsAtWork; 2],
    state: AtomicU8,
}

impl CallAtWork {
    /// More of the request is waited for.
    pub fn waits_for_client(&self) {
        if self.turns(WORKS, WAITS) {
            self.fewer();
        }
    }

    /// It has come, or nobody waits for it any more.
    pub fn goes_on(&self) {
        if self.turns(WAITS, WORKS) {
            self.more();
        }
    }

    /// The answer is there; the client may take it.
    pub fn end(&self) {
        if self.state.swap(ENDED, Ordering::Relaxed) == WORKS {
            self.fewer();
        }
    }

    fn more(&self) {
        for calls in &self.counted {
            calls.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn fewer(&self) {
        for calls in &self.counted {
            calls.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn turns(&self, from: u8, to: u8) -> bool {
        let order = Ordering::Relaxed;
        self.state.compare_exchange(from, to, order, order).is_ok()
    }
}

impl Drop for CallAtWork {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_at_work_until_the_answer_but_for_what_the_client_has_yet_to_send() {
        let calls = CallsAtWork::default();
        let connection = ConnectionCalls::default();
        let (call, another) = (calls.begin(&connection), calls.begin(&connection));
        drop(another);
        assert!(calls.any());
        call.waits_for_client();
        call.waits_for_client();
        assert!(!calls.any());
        call.goes_on();
        call.goes_on();
        assert!(calls.any());
        call.end();
        // The rest of the request is let go of after the answer.
        call.waits_for_client();
        call.goes_on();
        assert!(!calls.any());
        drop(call);
        assert!(!calls.any());
        let given_up = calls.begin(&connection);
        given_up.waits_for_client();
        drop(given_up);
        assert_eq!(calls.0.load(Ordering::Relaxed), 0);
        assert_eq!(connection.0.0.load(Ordering::Relaxed), 0);
    }
}
