//! Documents are parsed under the mapping of their index, which grows by what they bring.
//!
//! Parsing is most of the work, and so is making a large mapping larger: both are done beside the mapping that is in force, while
//! others write and bring fields, too. What was made takes the place of the mapping that it was made of, where that is in force
//! still; a document that was overtaken begins again, and has the others wait once that has happened several times.

use std::sync::Arc;

use clew_schema::Parsed;
use serde_json::Value;

use crate::base::error::EngineError;
use crate::index::handle::Index;
use crate::shard::{CopyMemory, Prepared, Text};

/// A document can ask for new fields only so often: each round adds all that it lacks, and other
/// documents may add between two rounds.
const ROUNDS_MAX: usize = 8;

/// Rounds in which a document may be overtaken by others.
const ROUNDS_ASIDE_MAX: usize = 3;

/// Keeps an encoded mapping where it lasts; nobody else changes the mapping meanwhile.
pub(crate) type KeepMapping<'k> = dyn Fn(Value) -> Result<(), EngineError> + 'k;

impl Index {
    /// Parses a document under the mapping, which grows first by the fields that the document
    /// brings; `keep` makes that durable where the document is one of the grown mapping, so that what is refused leaves no
    /// fields behind. Its vectors may come beside its text. What its values become in further fields is booked.
    pub(crate) fn prepare(
        &self,
        id: &str,
        (text, vectors): Text<'_>,
        keep: &KeepMapping<'_>,
        mut copies: CopyMemory<'_>,
    ) -> Result<Prepared, EngineError> {
        for round in 0..ROUNDS_MAX {
            let mut mapping = self.mapping();
            let parsed = copies.parse(&mapping, id, (text, vectors.clone()))?;
            let fields = match parsed {
                // A document borrows from its text, and from nothing of the mapping.
                Parsed::Document(document) => {
                    return Ok(Prepared::of(mapping, document, copies.into_taken()));
                }
                Parsed::NeedsMapping(fields) => fields,
            };
            let mut changing = None;
            if round >= ROUNDS_ASIDE_MAX {
                changing = Some(self.changing.lock());
                mapping = self.mapping();
            }
            let limits = self.settings().mapping_limits;
            let grown = Arc::new(mapping.grown(fields, limits)?);
            let parsed = copies.parse(&grown, id, (text, vectors.clone()))?;
            let is_overtaken = || !Arc::ptr_eq(&mapping, &self.mapping());
            // A large mapping is not encoded for nothing.
            if is_overtaken() {
                continue;
            }
            let encoded = grown.encode();
            let _changing = changing.unwrap_or_else(|| self.changing.lock());
            if is_overtaken() {
                continue;
            }
            keep(encoded)?;
            self.mapping.store(grown.clone());
            if let Parsed::Document(document) = parsed {
                return Ok(Prepared::of(grown, document, copies.into_taken()));
            }
        }
        Err(EngineError::InvalidRequest {
            reason: format!("[{id}]: the mapping keeps changing, try again"),
        })
    }
}
