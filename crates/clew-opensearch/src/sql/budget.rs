//! What rows may take of memory: expressions can make long texts of short ones.

use clew_platform::{CancellationToken, Pace};
use serde_json::Value;

use super::error::SqlError;
use crate::tasks::cancelled_error;

/// For all rows of a stage.
const ROWS_BYTES_MAX: usize = 256 << 20;

/// What some rows take so far.
#[derive(Default)]
pub(super) struct Budget {
    bytes: usize,
    /// Counts values: whoever makes some also asks whether they are still wanted.
    pace: Pace,
}

impl Budget {
    /// Counts a value.
    ///
    /// # Errors
    /// With it, the values take too much; or nobody wants them any more.
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
