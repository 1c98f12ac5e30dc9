//! How many files the process may open at once: connections and the engine's files share them.

use anyhow::Context;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit as far as the system lets it, and tells it.
///
/// # Errors
/// When the system refuses what it says that it allows.
pub(crate) fn raise_limit() -> anyhow::Result<usize> {
    let limit = getrlimit(Resource::Nofile);
    // The lower limit is there for programs that use `select`, which cannot take larger numbers.
    if limit.current != limit.maximum {
        let raised = Rlimit {
            current: limit.maximum,
            ..limit
        };
        setrlimit(Resource::Nofile, raised).context("cannot raise the limit of open files")?;
    }
    let files = limit.maximum.unwrap_or(u64::MAX);
    Ok(usize::try_from(files).unwrap_or(usize::MAX))
}
