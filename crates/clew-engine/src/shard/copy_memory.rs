//! Memory for what the values of a document become in further fields (`clew_schema::CopyRoom`): what a document takes beside its
//! text is booked by its length before it is parsed, and this cannot be told from that.

use std::sync::Arc;

use clew_platform::{MemoryAccount, MemoryExceeded, MemoryPurpose, Reservation};
use clew_schema::{Mapping, Parsed};

use super::Text;
use crate::base::error::EngineError;

/// Books what one document becomes in further fields, while it is parsed.
pub(crate) struct CopyMemory<'a> {
    account: &'a Arc<MemoryAccount>,
    /// The log has the document: it was accepted once, and what it takes is told, and never refused.
    is_logged: bool,
    taken: Option<Reservation>,
    refused: Option<MemoryExceeded>,
}

impl<'a> CopyMemory<'a> {
    /// For a document that can be refused.
    pub(crate) fn of_new(account: &'a Arc<MemoryAccount>) -> Self {
        CopyMemory {
            account,
            is_logged: false,
            taken: None,
            refused: None,
        }
    }

    /// For a document that the log has.
    pub(crate) fn of_logged(account: &'a Arc<MemoryAccount>) -> Self {
        CopyMemory {
            is_logged: true,
            ..CopyMemory::of_new(account)
        }
    }

    /// Parses the document, which may be done again under another mapping.
    ///
    /// # Errors
    /// [`EngineError::Memory`] where there is no room for the copies, [`EngineError::Document`] where it does not fit the mapping.
    pub(crate) fn parse<'t>(
        &mut self,
        mapping: &Mapping,
        id: &str,
        (text, vectors): Text<'t>,
    ) -> Result<Parsed<'t>, EngineError> {
        let is_logged = self.is_logged;
        let room = &mut |bytes| self.take(bytes);
        let parsed = match is_logged {
            true => mapping.parse_accepted(text, vectors, room),
            false => mapping.parse_within(text, vectors, room),
        };
        parsed.map_err(|source| match self.refused.take() {
            Some(exceeded) => EngineError::Memory(exceeded),
            None => EngineError::Document {
                id: id.to_string(),
                source,
            },
        })
    }

    /// What was taken, for as long as the document is not where it goes; none where there is little to copy.
    pub(crate) fn into_taken(self) -> Option<Reservation> {
        self.taken
    }

    fn take(&mut self, bytes: usize) -> bool {
        let account = self.account;
        let taken = self
            .taken
            .get_or_insert_with(|| account.open(MemoryPurpose::Operations));
        if self.is_logged {
            taken.set(bytes.max(taken.bytes()));
            return true;
        }
        match taken.grow_to(bytes) {
            Ok(()) => true,
            Err(exceeded) => {
                self.refused = Some(exceeded);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clew_platform::MemoryLimits;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_but_for_what_the_log_has() {
        let copied = json!({"type": "text"});
        let mapping = clew_opensearch_mapping::mapping(json!({"properties": {
            "a": copied, "b": copied, "from": {"type": "text", "copy_to": ["a", "b"]},
        }}));
        let account = MemoryAccount::new(MemoryLimits {
            operations: 1 << 20,
            ..MemoryLimits::none()
        });
        let source = json!({"from": "word ".repeat(100_000)}).to_string();
        let mut refused = CopyMemory::of_new(&account);
        let parsed = refused.parse(&mapping, "1", (source.as_bytes(), Vec::new()));
        let is_refused =
            matches!(parsed, Err(EngineError::Memory(exceeded)) if exceeded.can_never_fit());
        assert!(is_refused);
        let mut logged = CopyMemory::of_logged(&account);
        let parsed = logged.parse(&mapping, "1", (source.as_bytes(), Vec::new()));
        assert!(matches!(parsed, Ok(Parsed::Document(_))));
        let taken = logged.into_taken();
        assert!(taken.is_some_and(|taken| taken.bytes() > 1 << 20));
        assert_eq!(account.figures(MemoryPurpose::Operations).used, 0);
    }
}
