//! Who is connected to the port: where all places are taken, the client that has been silent longest gives its place
//! to another.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::Context;
use std::time::{Duration, Instant};

use clew_platform::whole_ms;
use futures_util::task::AtomicWaker;
use parking_lot::Mutex;

use crate::calls::CallsAtWork;

/// A client must have been silent for so long if it is to give up its place.
pub(crate) const SILENT_MIN: Duration = Duration::from_secs(10);

/// What is not longer says nothing: a ping, or the answer to one.
const SILENT_BYTES: usize = 17;

/// The client of a connection.
#[derive(Debug)]
pub(crate) struct Presence {
    opened: Instant,
    /// When it last sent or took something, in milliseconds from then on.
    moved_ms: AtomicU64,
    /// Its calls that the server is at work for.
    calls: CallsAtWork,
    gives_way: AtomicBool,
    /// The connection's task.
    task: AtomicWaker,
}

impl Presence {
    /// So many bytes were sent or taken at once.
    pub(crate) fn moved(&self, bytes: usize) {
        if bytes > SILENT_BYTES {
            let ms = whole_ms(self.opened.elapsed());
            self.moved_ms.store(ms, Ordering::Relaxed);
        }
    }

    /// Whether the connection is to be closed for another; the task is woken once it is.
    pub(crate) fn gives_way(&self, task: &Context<'_>) -> bool {
        self.task.register(task.waker());
        self.gives_way.load(Ordering::Acquire)
    }

    fn silent_for(&self) -> Duration {
        let moved = Duration::from_millis(self.moved_ms.load(Ordering::Relaxed));
        self.opened.elapsed().saturating_sub(moved)
    }
}

/// All that are connected.
#[derive(Debug)]
pub(crate) struct Clients {
    all: Mutex<Vec<Weak<Presence>>>,
    silent_min: Duration,
}

impl Clients {
    pub(crate) fn new(silent_min: Duration) -> Self {
        Clients {
            all: Mutex::default(),
            silent_min,
        }
    }

    /// A client comes, with what counts its calls.
    pub(crate) fn enter(&self, calls: CallsAtWork) -> Arc<Presence> {
        self.enter_at(Instant::now(), calls)
    }

    fn enter_at(&self, opened: Instant, calls: CallsAtWork) -> Arc<Presence> {
        let client = Arc::new(Presence {
            opened,
            moved_ms: AtomicU64::new(0),
            calls,
            gives_way: AtomicBool::new(false),
            task: AtomicWaker::new(),
        });
        let mut all = self.all.lock();
        all.retain(|one| one.strong_count() > 0);
        all.push(Arc::downgrade(&client));
        client
    }

    /// Tells the client to give way that has been silent longest, if one was for long enough while the server was at work
    /// for none of its calls.
    pub(crate) fn make_room(&self) {
        let all = self.all.lock();
        let idle = all
            .iter()
            .filter_map(Weak::upgrade)
            .filter(|one| !one.calls.any() && !one.gives_way.load(Ordering::Relaxed));
        let silent = idle
            .map(|one| (one.silent_for(), one))
            .filter(|(silent, _)| *silent >= self.silent_min);
        if let Some((silent, longest)) = silent.max_by_key(|(silent, _)| *silent) {
            tracing::debug!(?silent, "a connection gives its place to another");
            longest.gives_way.store(true, Ordering::Release);
            longest.task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;
    use crate::calls::ConnectionCalls;

    /// Which of the clients give way.
    fn giving_way(clients: &[&Presence]) -> Vec<bool> {
        let task = Context::from_waker(Waker::noop());
        let gives_way = |one: &&Presence| one.gives_way(&task);
        clients.iter().map(gives_way).collect()
    }

    #[test]
    fn the_client_that_has_been_silent_longest_gives_way() {
        let clients = Clients::new(Duration::ZERO);
        let calls = ConnectionCalls::default();
        let opened = Instant::now().checked_sub(Duration::from_secs(1)).unwrap();
        let busy = clients.enter_at(opened, calls.0.clone());
        let call = CallsAtWork::default().begin(&calls);
        let silent = clients.enter_at(opened, CallsAtWork::default());
        silent.moved(SILENT_BYTES);
        let spoke = clients.enter_at(opened, CallsAtWork::default());
        spoke.moved(SILENT_BYTES + 1);
        let all = [&*busy, &*silent, &*spoke];
        assert_eq!(giving_way(&all), [false, false, false]);
        clients.make_room();
        assert_eq!(giving_way(&all), [false, true, false]);
        clients.make_room();
        assert_eq!(giving_way(&all), [false, true, true]);
        clients.make_room();
        assert_eq!(giving_way(&all), [false, true, true]);
        drop(call);
        clients.make_room();
        assert_eq!(giving_way(&all), [true, true, true]);
    }

    #[test]
    fn nobody_gives_way_who_has_just_come_or_spoken() {
        let clients = Clients::new(Duration::from_secs(3600));
        let client = clients.enter(CallsAtWork::default());
        client.moved(SILENT_BYTES + 1);
        clients.make_room();
        assert_eq!(giving_way(&[&*client]), [false]);
    }
}
