//! Threads with an owner: whoever spawns a task joins it.

use std::io;
use std::thread::{self, JoinHandle};

/// A running thread. It must be joined; how it is told to stop is between it and its owner.
#[derive(Debug)]
#[must_use = "a task that nobody joins outlives its owner"]
pub struct Task {
    handle: JoinHandle<()>,
}

impl Task {
    /// Starts a named thread.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<Task> {
        let handle = thread::Builder::new().name(name.to_string()).spawn(run)?;
        Ok(Task { handle })
    }

    /// Waits until the thread has ended. A panic inside it has been reported by then and is not
    /// passed on.
    pub fn join(self) {
        // A task may drop the last handle of what owns it; it cannot wait for itself.
        if self.handle.thread().id() != thread::current().id() {
            let _ = self.handle.join();
        }
    }
}
