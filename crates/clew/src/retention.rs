//! Lets the log give up what it need not keep any longer, also while nobody writes.

use std::time::Duration;

use clew_log::Log;
use tokio::sync::watch;

use crate::signals::until_stopped;

const LOOK_EVERY: Duration = Duration::from_secs(60);

/// Applies the log's retention now and then, until the server stops.
pub(crate) async fn look_after(log: Log, stopped: watch::Receiver<bool>) {
    let mut due = tokio::time::interval(LOOK_EVERY);
    let stopped = until_stopped(stopped);
    tokio::pin!(stopped);
    loop {
        tokio::select! {
            () = &mut stopped => return,
            _ = due.tick() => {}
        }
        let log = log.clone();
        let applied = tokio::task::spawn_blocking(move || log.apply_retention()).await;
        match applied {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "cannot apply the log's retention"),
            Err(error) => tracing::error!(%error, "applying the log's retention failed"),
        }
    }
}
