//! The pipelined appender: calls return once their order is decided, and a callback tells each
//! outcome, in that order, when the disk has answered.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use clew_platform::Task;
use parking_lot::Mutex;

use crate::error::LogError;
use crate::log::{Appended, Log};
use crate::options::{AppendOptions, Durability, NewEntry};

/// Told the outcome of one call.
type Done = Box<dyn FnOnce(Result<Appended, LogError>) + Send>;

/// Limits of an appender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppenderOptions {
    /// Calls whose outcome is not known yet; `append` blocks at it. Their bytes are limited by
    /// the log's `pending_bytes_max`.
    pub pending_calls_max: usize,
}

impl Default for AppenderOptions {
    fn default() -> Self {
        AppenderOptions {
            pending_calls_max: 1024,
        }
    }
}

/// Appends without waiting for the disk, with callbacks in order on one thread.
#[derive(Debug)]
pub struct Appender {
    log: Log,
    /// Held from giving the order until the call is queued for its callback, so that callbacks
    /// come in the order of the log. `None` once closed.
    pending: Mutex<Option<SyncSender<Pending>>>,
    task: Option<Task>,
}

struct Pending {
    appended: Appended,
    durability: Durability,
    done: Done,
}

impl Log {
    /// Begins an appender, which has a thread of its own.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn appender(&self, options: AppenderOptions) -> Result<Appender, LogError> {
        let (sender, receiver) = sync_channel(options.pending_calls_max);
        let log = self.clone();
        let task = Task::spawn("clew-log-acks", move || acknowledge(&log, &receiver));
        let task = task.map_err(LogError::io("start an appender of", &self.shared().dir))?;
        Ok(Appender {
            log: self.clone(),
            pending: Mutex::new(Some(sender)),
            task: Some(task),
        })
    }
}

impl Appender {
    /// Appends a call and returns once its order is decided; `done` is told when it is as safe as
    /// the options ask for, or why it cannot be. Blocks while too many calls are pending, so
    /// `done` must not append through the same appender.
    ///
    /// # Errors
    /// When the call was refused; `done` is not called then.
    pub fn append(
        &self,
        entries: &[NewEntry<'_>],
        options: impl Into<AppendOptions>,
        done: impl FnOnce(Result<Appended, LogError>) + Send + 'static,
    ) -> Result<(), LogError> {
        let options = options.into();
        let pending = self.pending.lock();
        let sender = pending.as_ref().ok_or(LogError::Closed)?;
        let appended = self.log.append(entries, options)?;
        let (durability, done) = (options.durability, Box::new(done));
        // The thread ends only when this sender is gone.
        let _ = sender.send(Pending {
            appended,
            durability,
            done,
        });
        Ok(())
    }

    /// Takes no more calls, and returns once every callback was told.
    pub fn close(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.pending.lock().take();
        if let Some(task) = self.task.take() {
            task.join();
        }
    }
}

impl Drop for Appender {
    fn drop(&mut self) {
        self.end();
    }
}

fn acknowledge(log: &Log, pending: &Receiver<Pending>) {
    while let Ok(Pending {
        appended,
        durability,
        done,
    }) = pending.recv()
    {
        let outcome = log.wait_in(appended.life, appended.last, durability);
        done(outcome.map(|()| appended));
    }
}
