//! What rows may take of memory: expressions can make long texts of short ones.

use clew_opensearch::wing::{RequestMemory, cancelled_error};
use clew_platform::{CancellationToken, Pace};
use clew_schema::json_value_bytes;
use serde_json::Value;

use crate::error::SqlError;

/// For all rows of a stage.
const ROWS_BYTES_MAX: usize = 256 << 20;
/// As many lists as one value or row counts for: it may take functions that go over megabytes of text.
const SLOW: usize = 8;
/// Rows are booked in pieces of this.
const BOOKED_BYTES: usize = 256 << 10;

/// What some rows take so far.
pub(crate) struct Budget<'m> {
    bytes: usize,
    /// What of them is booked.
    booked: usize,
    memory: &'m RequestMemory,
    /// Counts values: whoever makes some also asks whether they are still wanted.
    pace: Pace,
}

impl<'m> Budget<'m> {
    pub(crate) fn of(memory: &'m RequestMemory) -> Self {
        Budget {
            bytes: 0,
            booked: 0,
            memory,
            pace: Pace::of_lists(SLOW),
        }
    }

    /// Counts a value.
    ///
    /// # Errors
    /// With it, the values take too much, or more than there is beside others; or nobody wants them any more.
    pub(crate) fn spend(&mut self, value: &Value) -> Result<(), SqlError> {
        if self.pace.is_over() {
            return Err(ended());
        }
        let bytes = size_of::<Value>().saturating_add(json_value_bytes(value));
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > ROWS_BYTES_MAX {
            return Err(SqlError::semantic(format!(
                "the rows take more than {ROWS_BYTES_MAX} bytes"
            )));
        }
        if self.bytes > self.booked {
            let more = BOOKED_BYTES.max(self.bytes - self.booked);
            self.memory.take(more)?;
            self.booked += more;
        }
        Ok(())
    }

    /// Counts the values of a row.
    ///
    /// # Errors
    /// As [`Budget::spend`].
    pub(crate) fn spend_row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        row.iter().try_for_each(|value| self.spend(value))
    }
}

/// The way through many rows, as long as somebody wants it. What is done to a row may take a regular expression,
/// or texts of megabytes.
pub(crate) struct Walk(Pace);

impl Walk {
    pub(crate) fn begin() -> Self {
        Walk(Pace::of_lists(SLOW))
    }

    /// Goes on to the next row.
    ///
    /// # Errors
    /// When nobody wants the rows any more.
    pub(crate) fn step(&mut self) -> Result<(), SqlError> {
        match self.0.is_over() {
            true => Err(ended()),
            false => Ok(()),
        }
    }
}

/// What a statement is told that nobody wants any more.
pub(crate) fn ended() -> SqlError {
    let token = CancellationToken::current();
    cancelled_error(token.reason().unwrap_or_default()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_gone_through_only_for_somebody() {
        let steps = || {
            let mut walk = Walk::begin();
            (0..1_000).take_while(|_| walk.step().is_ok()).count()
        };
        assert_eq!(steps(), 1_000);
        let token = CancellationToken::new();
        token.cancel("by user request");
        let _entered = token.enter();
        assert!(steps() < 100);
    }
}
