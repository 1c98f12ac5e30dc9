//! What rows may take of memory: expressions can make long texts of short ones.

use clew_opensearch::wing::{RequestMemory, cancelled_error};
use clew_platform::{CancellationToken, Pace};
use serde_json::Value;

use super::error::SqlError;

/// For all rows of a stage.
const ROWS_BYTES_MAX: usize = 256 << 20;
/// Rows are booked in pieces of this.
const BOOKED_BYTES: usize = 256 << 10;

/// What some rows take so far.
pub(super) struct Budget<'m> {
    bytes: usize,
    /// What of them is booked.
    booked: usize,
    memory: &'m RequestMemory,
    /// Counts values: whoever makes some also asks whether they are still wanted.
    pace: Pace,
}

impl<'m> Budget<'m> {
    pub(super) fn of(memory: &'m RequestMemory) -> Self {
        Budget {
            bytes: 0,
            booked: 0,
            memory,
            pace: Pace::default(),
        }
    }

    /// Counts a value.
    ///
    /// # Errors
    /// With it, the values take too much, or more than there is beside others; or nobody wants them any more.
    pub(super) fn spend(&mut self, value: &Value) -> Result<(), SqlError> {
        if self.pace.is_over() {
            let token = CancellationToken::current();
            return Err(cancelled_error(token.reason().unwrap_or_default()).into());
        }
        self.bytes = self.bytes.saturating_add(weight(value));
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
}

fn weight(value: &Value) -> usize {
    let inner = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| key.len() + weight(value))
            .sum(),
        _ => 0,
    };
    inner.saturating_add(size_of::<Value>())
}
