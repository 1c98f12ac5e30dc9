//! What rows may take of memory: expressions can make long texts of short ones.

use serde_json::Value;

use super::error::SqlError;

/// For all rows of a stage.
const ROWS_BYTES_MAX: usize = 256 << 20;

/// What some rows take so far.
#[derive(Default)]
pub(super) struct Budget {
    bytes: usize,
}

impl Budget {
    /// Counts a value.
    ///
    /// # Errors
    /// With it, the values take too much.
    pub(super) fn spend(&mut self, value: &Value) -> Result<(), SqlError> {
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
