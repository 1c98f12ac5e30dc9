//! The end of calls that would otherwise last: subscriptions and streams of appends.

use tokio::sync::watch;
use tonic::{Code, Status};

use crate::status::worded;

/// Becomes true once the server is to stop; a sender that is gone means the same.
#[derive(Clone, Debug)]
pub(crate) struct Stop(watch::Receiver<bool>);

impl Stop {
    pub(crate) fn new(receiver: watch::Receiver<bool>) -> Self {
        Stop(receiver)
    }

    /// Ends when the server is to stop.
    pub(crate) async fn requested(&mut self) {
        // An error means that the sender is gone, which is a stop too.
        let _ = self.0.wait_for(|stopped| *stopped).await;
    }
}

/// What a call that the stop has ended is told: to come back.
pub(crate) fn stopping() -> Status {
    worded(Code::Unavailable, "stopping", "the server is stopping")
}
