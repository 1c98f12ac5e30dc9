//! What scripts fail with. Where a script runs nobody can be told: it stops the token that its thread works under, and
//! whoever began the work asks that for the reason.

use clew_platform::CancellationToken;
use clew_query::{QueryError, ScriptError};

/// Work in which scripts may fail, under a token of its own, so that a failure stops nothing else.
///
/// # Errors
/// What a script failed with; else those of the work.
pub fn telling<T, E: From<QueryError>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let token = CancellationToken::current().part();
    let done = {
        let _entered = token.enter();
        work()
    };
    // The work was stopped, and does not know why.
    match failed_script(&token) {
        Some(failure) => Err(QueryError::Script(failure).into()),
        None => done,
    }
}

fn failed_script(token: &CancellationToken) -> Option<ScriptError> {
    token.failure()?.downcast_ref::<ScriptError>().cloned()
}
