//! How the threads of the node are told that there is something to do.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// Wakes a thread that sleeps until there is something to do.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    state: Mutex<Wanted>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, Default)]
struct Wanted {
    awake: bool,
    refresh: bool,
}

impl Signal {
    /// Something may be due earlier than the sleeper thinks.
    pub(crate) fn wake(&self) {
        self.set(Wanted {
            awake: true,
            refresh: false,
        });
    }
    /// Someone waits for what is not visible yet: refresh now.
    pub(crate) fn request_refresh(&self) {
        self.set(Wanted {
            awake: true,
            refresh: true,
        });
    }
    fn set(&self, wanted: Wanted) {
        let mut state = self.state.lock();
        let news = (wanted.awake && !state.awake) || (wanted.refresh && !state.refresh);
        state.awake |= wanted.awake;
        state.refresh |= wanted.refresh;
        if news {
            self.changed.notify_all();
        }
    }
    /// Sleeps until woken or the time is over; whether a refresh was requested.
    pub(crate) fn sleep(&self, at_most: Option<Duration>) -> bool {
        let mut state = self.state.lock();
        if !state.awake {
            match at_most {
                Some(time) => {
                    self.changed.wait_for(&mut state, time);
                }
                None => self.changed.wait(&mut state),
            }
        }
        std::mem::take(&mut *state).refresh
    }
}
