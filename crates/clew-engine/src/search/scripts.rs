//! What searches fail with where nobody can be told, in scripts, and where memory is wanted deep in a query: it stops the
//! token that the thread works under, and whoever began the work asks that for the reason.

use std::sync::Arc;

use clew_platform::{CancellationToken, MemoryAccount, MemoryExceeded, MemoryPurpose};
use clew_query::{QueryError, ScriptError};

use crate::search::pinned::PinnedShard;

/// Work in which scripts may fail, under a token of its own, so that a failure stops nothing else.
///
/// # Errors
/// What a script failed with; else those of the work.
pub fn telling<T, E: From<QueryError>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    told(&CancellationToken::current().part(), work)
}

/// The same. What the work books deep within is taken of the account, and given back at its end.
///
/// # Errors
/// What a script failed with, or the memory that there was none of; else those of the work.
pub(crate) fn telling_booked<T, E: From<QueryError>>(
    account: &Arc<MemoryAccount>,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let memory = account.open(MemoryPurpose::Searches);
    told(&CancellationToken::current().part_with(memory), work)
}

impl PinnedShard {
    /// The same for work over the shard's documents.
    ///
    /// # Errors
    /// As [`telling_booked`].
    pub(crate) fn telling<T, E: From<QueryError>>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        telling_booked(self.shard.memory(), work)
    }
}

fn told<T, E: From<QueryError>>(
    token: &CancellationToken,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let done = {
        let _entered = token.enter();
        work()
    };
    // The work was stopped, and does not know why.
    match failure_of(token) {
        Some(failure) => Err(failure.into()),
        None => done,
    }
}

fn failure_of(token: &CancellationToken) -> Option<QueryError> {
    let failure = token.failure()?;
    let script = failure.downcast_ref::<ScriptError>().cloned();
    let memory = failure.downcast_ref::<MemoryExceeded>().copied();
    let memory = memory.map(QueryError::Memory);
    script.map(QueryError::Script).or(memory)
}
