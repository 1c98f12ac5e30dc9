//! Until when a search goes on: it finds what it can in its time, and has a little more to show that.

use std::sync::Arc;
use std::time::Duration;

use clew_platform::{CancellationToken, Clock, Stop};
use clew_query::QueryError;

use crate::base::error::EngineError;
use crate::search::request::SearchRequest;

/// What was found in time may be read for so long when the time is up.
const TIME_TO_FETCH: Duration = Duration::from_millis(30);

/// The tokens under which a search is done.
pub(super) struct Times {
    /// For what looks for hits.
    pub(super) to_find: CancellationToken,
    /// For what reads them.
    pub(super) to_fetch: CancellationToken,
}

impl Times {
    pub(super) fn of(request: &SearchRequest, clock: &Arc<dyn Clock>) -> Self {
        let token = CancellationToken::current();
        let Some(timeout) = request.timeout else {
            return Times {
                to_find: token.clone(),
                to_fetch: token,
            };
        };
        let at = clock.monotonic() + timeout;
        Times {
            to_find: token.until(clock.clone(), at),
            to_fetch: token.until(clock.clone(), at + TIME_TO_FETCH),
        }
    }
}

/// Does something under a token; none when its time was up before it was done.
pub(super) fn unless_late<T>(
    token: &CancellationToken,
    work: impl FnOnce() -> Result<T, EngineError>,
) -> Result<Option<T>, EngineError> {
    let _entered = token.enter();
    match work() {
        Err(EngineError::Query(error))
            if error.is_of_stop() && token.stopped() == Some(Stop::TimedOut) =>
        {
            Ok(None)
        }
        done => done.map(Some),
    }
}

/// An error once what this thread works for is to be left off: it was cancelled, or its time is up.
pub(super) fn unless_stopped() -> Result<(), EngineError> {
    let token = CancellationToken::current();
    match token.stopped() {
        None => Ok(()),
        Some(Stop::TimedOut) => Err(QueryError::Stopped.into()),
        Some(Stop::Cancelled) => Err(EngineError::Cancelled {
            reason: token.reason().unwrap_or_default().to_string(),
        }),
    }
}

/// An error once the request that this thread works for was cancelled, whether there is time or not.
pub(super) fn unless_cancelled() -> Result<(), EngineError> {
    match unless_stopped() {
        Err(EngineError::Query(_)) => Ok(()),
        other => other,
    }
}
