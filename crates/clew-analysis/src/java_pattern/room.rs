//! How much memory expressions may take that one definition has: a pipeline, a script, the analyzers of an index. Each alone is
//! bounded, but ten letters (`\p{L}{1,60}`) can become megabytes, and a definition may have a thousand expressions.
//!
//! How large one is nobody tells; so it is tried how little room is enough.

use std::cell::Cell;

use super::PatternError;

/// Room that is tried for an expression, in bytes of one of the programs that it becomes. The last is the most that one may have.
const TRIED: [usize; 6] = [8 << 10, 32 << 10, 128 << 10, 512 << 10, 2 << 20, BYTES_MAX];
pub(super) const BYTES_MAX: usize = 10 << 20;
/// All expressions of a definition. In memory they take some three times as much.
const DEFINITION_BYTES_MAX: usize = 64 << 20;

thread_local! {
    /// What is left for the definition that this thread reads, if it does.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// While this is held, the expressions that its thread builds have their room together. One inside of another is part of that.
#[derive(Debug)]
#[must_use]
pub struct InOneDefinition {
    is_first: bool,
}

/// Begins a definition on this thread, whose expressions are refused when they take too much memory together.
pub fn in_one_definition() -> InOneDefinition {
    let is_first = LEFT.get().is_none();
    if is_first {
        LEFT.set(Some(DEFINITION_BYTES_MAX));
    }
    InOneDefinition { is_first }
}

impl Drop for InOneDefinition {
    fn drop(&mut self) {
        if self.is_first {
            LEFT.set(None);
        }
    }
}

/// Builds an expression that is there so many times, within the room that the definition has left. `build` has as many bytes.
///
/// # Errors
/// What `build` says of the most that one may have, or that there is no room left.
pub(super) fn within<R>(
    times: usize,
    build: impl Fn(usize) -> Result<R, PatternError>,
) -> Result<R, PatternError> {
    let Some(left) = LEFT.get() else {
        return build(BYTES_MAX);
    };
    for bytes in TRIED {
        let Some(rest) = left.checked_sub(bytes * times) else {
            break;
        };
        match build(bytes) {
            Ok(built) => {
                LEFT.set(Some(rest));
                return Ok(built);
            }
            Err(error) if bytes == BYTES_MAX => return Err(error),
            Err(_) => {}
        }
    }
    Err(PatternError(format!(
        "the regular expressions of one definition may take [{DEFINITION_BYTES_MAX}] bytes together"
    )))
}
