//! Cursors: what a client gives back for the next page. All there is to know is in them; the server
//! only keeps what the pages are read from.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::SqlError;

/// A page that is still to come.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Cursor {
    pub(super) scroll: String,
    pub(super) query: String,
    pub(super) parameters: Vec<Value>,
    /// Rows that a limit leaves for this page and those behind it.
    pub(super) left: usize,
    pub(super) size: usize,
}

impl Cursor {
    pub(super) fn read(text: &str) -> Result<Self, SqlError> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok();
        let cursor = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        cursor.ok_or_else(|| SqlError::argument("the cursor cannot be read"))
    }

    pub(super) fn written(&self) -> String {
        let json = serde_json::to_vec(self).expect("a cursor has text keys only");
        BASE64_URL_SAFE_NO_PAD.encode(json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_says_what_was_written_into_it() {
        let cursor = Cursor {
            scroll: "abc".into(),
            query: "SELECT \u{e4} FROM t".into(),
            parameters: vec![1.into()],
            left: 7,
            size: 3,
        };
        assert_eq!(Cursor::read(&cursor.written()), Ok(cursor));
        assert!(Cursor::read("no cursor").is_err());
        assert!(Cursor::read("e30").is_err());
    }
}
