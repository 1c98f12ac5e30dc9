//! What the documents of a write take while they are parsed and applied: said before it begins, from their length and
//! from how many values they can have at most, which is what a short text can make much of.

use clew_platform::{MemoryPurpose, Reservation};
use clew_schema::{FieldId, VectorValue};

use crate::base::error::EngineError;
use crate::base::write_request::{Action, WriteOperation};
use crate::node::engine::Engine;

/// Documents that are parsed before they are applied take about this much, or are one.
pub(crate) const CHUNK_BYTES: usize = 8 << 20;

/// Sources up to this are not looked at.
const SHORT_BYTES: usize = 16 << 10;
/// What a short one takes at most for each of its bytes.
const SHORT_FACTOR: usize = 16;
/// What a value takes in a parsed document and its buffers.
const VALUE_BYTES: usize = 128;
/// Copies of a source: as it is written to the log, to the buffer, and from which its words were cut. Of a vector that
/// came as numbers: as it came, on its way to the log, and in the buffer.
const COPIES: usize = 3;

impl Engine {
    /// Reserves the memory that writes take beside their sources, for as long as they are not answered.
    ///
    /// # Errors
    /// [`EngineError::Memory`] when it does not fit beside others.
    pub fn admit(&self, operations: &[WriteOperation]) -> Result<Reservation, EngineError> {
        let mut memory = self.inner.memory.open(MemoryPurpose::Operations);
        memory.grow(parsed_bytes(operations))?;
        Ok(memory)
    }
}

/// Memory of the largest part of some writes that is parsed at once.
pub fn parsed_bytes(operations: &[WriteOperation]) -> usize {
    let (mut sum, mut largest) = (0usize, 0);
    for operation in operations {
        let bytes = operation_bytes(operation);
        sum = sum.saturating_add(bytes);
        largest = largest.max(bytes);
    }
    sum.min(CHUNK_BYTES).max(largest)
}

/// Memory of one write's parsed document.
pub(crate) fn operation_bytes(operation: &WriteOperation) -> usize {
    match &operation.action {
        Action::Delete => 0,
        Action::Index {
            source, vectors, ..
        } => document_bytes(source) + vectors_bytes(vectors),
        Action::Update(spec) => {
            let parts = spec.doc.iter().chain(&spec.upsert).chain(&spec.defaults);
            let parts: usize = parts.map(|part| document_bytes(part)).sum();
            parts + vectors_bytes(&spec.vectors)
        }
    }
}

fn vectors_bytes(vectors: &[(FieldId, VectorValue)]) -> usize {
    let bytes: usize = vectors.iter().map(|(_, vector)| vector.bytes()).sum();
    bytes * COPIES
}

fn document_bytes(source: &[u8]) -> usize {
    if source.len() <= SHORT_BYTES {
        return source.len() * SHORT_FACTOR;
    }
    let values = memchr::memchr3_iter(b',', b'[', b'{', source).count();
    source.len() * COPIES + values * VALUE_BYTES
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::base::write_request::OpType;

    fn write_of(source: String) -> WriteOperation {
        WriteOperation {
            index: "i".into(),
            require_alias: false,
            id: None,
            routing: None,
            action: Action::index(source, OpType::Index),
            condition: None,
        }
    }

    #[test]
    fn a_long_document_counts_by_what_it_can_hold() {
        let text = write_of(format!("{{\"t\":\"{}\"}}", "a".repeat(1 << 20)));
        let numbers = write_of(format!("{{\"n\":[{}0]}}", "0,".repeat(1 << 19)));
        assert!(parsed_bytes(&[text]) < 4 << 20);
        assert!(parsed_bytes(&[numbers]) > 64 << 20);
    }

    #[test]
    fn many_documents_count_as_a_part_of_them() {
        let one = write_of(format!("{{\"t\":\"{}\"}}", "a".repeat(1000)));
        let many: Vec<_> = std::iter::repeat_n(one.clone(), 10_000).collect();
        assert_eq!(parsed_bytes(&[one]), 1008 * SHORT_FACTOR);
        assert_eq!(parsed_bytes(&many), CHUNK_BYTES);
        assert_eq!(parsed_bytes(&[]), 0);
    }
}
