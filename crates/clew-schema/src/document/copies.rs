//! What the values of a document become beside it: one that goes to several fields (multi-fields, `copy_to`, objects whose
//! values are those of their parents too) is kept, cut into words and written once for each of them, so that a short document
//! can become any number of times as much. Whoever has it parsed says whether there is room for that, before it is made.

use tantivy::schema::OwnedValue;

use super::error::DocumentError;
use super::failure::Result;
use super::walk::Walk;
use crate::mapping::{FieldKind, FieldLeaf, MappedField};

/// Says whether there is room for so many bytes that copies of a document's values take in all; it is asked again with more.
pub type CopyRoom<'r> = dyn FnMut(usize) -> bool + 'r;

/// What a copy takes beside its text.
const COPY_BYTES: usize = 64;
/// What a byte of a text takes that is cut into words: the copy, and what is written of it. 100 KB of words in 900 fields take
/// 437 MB, and 602 MB where the words are 5,000 different ones.
const WORDS_FACTOR: usize = 7;
/// The same of a text that is one word.
const WORD_FACTOR: usize = 2;
/// A UTF-16 unit has so many bytes at most.
const UNIT_BYTES: usize = 3;
/// So many times the length of a document is not asked for: whoever books documents books that much of a short one.
const COVERED_FACTOR: usize = 8;
/// And of a long one this.
const COVERED_BYTES_MAX: usize = 128 << 10;
/// So much is asked for ahead, lest it is asked for with every value.
const STEP_BYTES: usize = 64 << 10;

/// The copies of a document's values.
pub(super) struct Copies<'r> {
    bytes: usize,
    /// What there is room for.
    covered: usize,
    room: &'r mut CopyRoom<'r>,
}

impl<'r> Copies<'r> {
    /// None yet, of a document with so many bytes.
    pub(super) fn of(source_bytes: usize, room: &'r mut CopyRoom<'r>) -> Self {
        Copies {
            bytes: 0,
            covered: source_bytes
                .saturating_mul(COVERED_FACTOR)
                .min(COVERED_BYTES_MAX),
            room,
        }
    }

    /// Whether there is room for more.
    fn take(&mut self, more: usize) -> bool {
        self.bytes = self.bytes.saturating_add(more);
        if self.bytes <= self.covered {
            return true;
        }
        let wanted = self.bytes.saturating_add(STEP_BYTES);
        let has_room = (self.room)(wanted);
        if has_room {
            self.covered = wanted;
        }
        has_room
    }
}

impl Walk<'_, '_> {
    /// Asks for the room that a value of so many bytes takes in the fields that follow the one it is written for.
    pub(super) fn take_copies(&mut self, leaf: &FieldLeaf, text_bytes: usize) -> Result<()> {
        let followers = leaf.multi_fields.iter().chain(&leaf.copies);
        let bytes = followers.map(|id| copy_bytes(self.field(*id), text_bytes));
        let bytes = bytes.fold(0, usize::saturating_add);
        self.take_room(bytes)
    }

    /// Asks for room for so many bytes beside the document.
    pub(super) fn take_room(&mut self, bytes: usize) -> Result<()> {
        if bytes == 0 || self.copies.take(bytes) {
            return Ok(());
        }
        let reason = format!(
            "there is no room for what its values become in other fields, [{}] bytes and more",
            self.copies.bytes
        );
        Err(DocumentError::Refused { reason }.into())
    }
}

/// What a text of so many bytes takes in a field.
fn copy_bytes(field: &MappedField, text_bytes: usize) -> usize {
    let text = match &field.kind {
        FieldKind::Text { .. } => text_bytes.saturating_mul(WORDS_FACTOR),
        FieldKind::Keyword {
            ignore_above: Some(max),
            ..
        } if is_longer(text_bytes, *max) => 0,
        FieldKind::Integer(_) | FieldKind::Unsigned | FieldKind::Float(_) => 0,
        _ => text_bytes.saturating_mul(WORD_FACTOR),
    };
    text.saturating_add(COPY_BYTES)
}

/// What a value takes that goes to another document too.
pub(super) fn value_bytes(value: &OwnedValue) -> usize {
    let text = match value {
        OwnedValue::Str(text) => text.len().saturating_mul(WORDS_FACTOR),
        OwnedValue::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    text.saturating_add(COPY_BYTES)
}

/// Whether a text of so many bytes has more UTF-16 units than this, whatever they are.
fn is_longer(text_bytes: usize, units_max: u32) -> bool {
    let units_max = usize::try_from(units_max).unwrap_or(usize::MAX);
    text_bytes > units_max.saturating_mul(UNIT_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_asked_for_beyond_what_a_document_is_booked_with_and_in_steps() {
        let mut asked = Vec::new();
        let mut room = |bytes: usize| {
            asked.push(bytes);
            bytes < 200_000
        };
        let mut copies = Copies::of(1_000, &mut room);
        assert!(copies.take(8_000));
        assert!(copies.take(1));
        assert!(copies.take(STEP_BYTES));
        assert!(copies.take(1));
        assert!(!copies.take(100_000));
        assert!(!copies.take(usize::MAX));
        let stepped = [8_001, STEP_BYTES + 8_002, STEP_BYTES + 108_002];
        let mut wanted: Vec<usize> = stepped.iter().map(|bytes| bytes + STEP_BYTES).collect();
        wanted.push(usize::MAX);
        assert_eq!(asked, wanted);
    }
}
