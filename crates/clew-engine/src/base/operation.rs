//! What the engine writes into the log for a document. Layout: `docs/formats/operations.md`.
//!
//! Vectors are stored as numbers, apart from the source, so that replay parses no digits.

use clew_log::StreamId;
use clew_schema::FieldId;

use crate::base::error::EngineError;

/// The catalog's stream in the log.
pub(crate) const CATALOG_STREAM: u32 = 1;

const KIND_INDEX: u8 = 1;
const KIND_DELETE: u8 = 2;
const NO_ROUTING: u16 = u16::MAX;

/// Longest document id, in bytes.
pub(crate) const ID_BYTES_MAX: usize = 512;
/// Longest routing key, in bytes.
pub(crate) const ROUTING_BYTES_MAX: usize = 4096;

/// A document operation, decoded.
#[derive(Debug, PartialEq)]
pub(crate) struct DocumentOperation<'a> {
    pub(crate) id: &'a str,
    pub(crate) routing: Option<&'a str>,
    pub(crate) seq_no: u64,
    pub(crate) version: u64,
    pub(crate) body: Body<'a>,
}

/// What happened to the document.
#[derive(Debug, PartialEq)]
pub(crate) enum Body<'a> {
    /// It was written.
    Index {
        /// Its vectors.
        vectors: Vec<(FieldId, Vec<f32>)>,
        /// Its JSON without them.
        source: &'a [u8],
    },
    /// It was removed.
    Delete,
}

/// The fixed part of an operation, and its strings and vectors; the source follows as a part of
/// its own, so that it is copied only into the log's buffer.
pub(crate) fn encode_head(
    operation: &DocumentOperation<'_>,
    vectors: &[(FieldId, Vec<f32>)],
) -> Vec<u8> {
    let vector_bytes: usize = vectors.iter().map(|(_, v)| 8 + v.len() * 4).sum();
    let mut head = Vec::with_capacity(32 + operation.id.len() + vector_bytes);
    head.push(match operation.body {
        Body::Index { .. } => KIND_INDEX,
        Body::Delete => KIND_DELETE,
    });
    head.extend_from_slice(&operation.seq_no.to_le_bytes());
    head.extend_from_slice(&operation.version.to_le_bytes());
    head.extend_from_slice(&length16(operation.id).to_le_bytes());
    head.extend_from_slice(&operation.routing.map_or(NO_ROUTING, length16).to_le_bytes());
    head.extend_from_slice(operation.id.as_bytes());
    head.extend_from_slice(operation.routing.unwrap_or_default().as_bytes());
    if matches!(operation.body, Body::Index { .. }) {
        let count = u16::try_from(vectors.len()).expect("a mapping has at most 1000 fields");
        head.extend_from_slice(&count.to_le_bytes());
        for (field, vector) in vectors {
            let dimension = u32::try_from(vector.len()).expect("dimensions are limited");
            head.extend_from_slice(&field.get().to_le_bytes());
            head.extend_from_slice(&dimension.to_le_bytes());
            head.extend(vector.iter().flat_map(|value| value.to_le_bytes()));
        }
    }
    head
}

fn length16(text: &str) -> u16 {
    u16::try_from(text.len()).expect("ids and routing keys are limited")
}

/// Reads an operation back.
///
/// # Errors
/// [`EngineError::Corrupt`] when the payload does not hold what its lengths say. The log has
/// checked the payload's checksum, so this means a defect or another format.
pub(crate) fn decode(payload: &[u8]) -> Result<DocumentOperation<'_>, EngineError> {
    let mut reader = Reader(payload);
    reader.operation().ok_or_else(|| EngineError::Corrupt {
        path: "log".into(),
        reason: "an operation ends too early".into(),
    })
}

/// A cursor whose every step is checked.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(head)
    }
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }
    fn text(&mut self, n: usize) -> Option<&'a str> {
        std::str::from_utf8(self.take(n)?).ok()
    }

    fn operation(&mut self) -> Option<DocumentOperation<'a>> {
        let [kind] = self.array()?;
        let seq_no = u64::from_le_bytes(self.array()?);
        let version = u64::from_le_bytes(self.array()?);
        let id_bytes = u16::from_le_bytes(self.array()?);
        let routing_bytes = u16::from_le_bytes(self.array()?);
        let id = self.text(id_bytes.into())?;
        let routing = match routing_bytes {
            NO_ROUTING => None,
            n => Some(self.text(n.into())?),
        };
        let body = match kind {
            KIND_DELETE => Body::Delete,
            KIND_INDEX => {
                let count = u16::from_le_bytes(self.array()?);
                let vectors = (0..count).map(|_| self.vector()).collect::<Option<_>>()?;
                Body::Index {
                    vectors,
                    source: std::mem::take(&mut self.0),
                }
            }
            _ => return None,
        };
        Some(DocumentOperation {
            id,
            routing,
            seq_no,
            version,
            body,
        })
    }

    fn vector(&mut self) -> Option<(FieldId, Vec<f32>)> {
        let field = FieldId::new(u32::from_le_bytes(self.array()?));
        let dimension = usize::try_from(u32::from_le_bytes(self.array()?)).ok()?;
        let (values, _) = self.take(dimension.checked_mul(4)?)?.as_chunks::<4>();
        Some((
            field,
            values
                .iter()
                .map(|bytes| f32::from_le_bytes(*bytes))
                .collect(),
        ))
    }
}

/// What an entry of the engine's log says, for people and tools that look at the log: `op`, `id`
/// and so on, vectors left out. An entry that the engine cannot read gives its size only.
pub fn describe_entry(stream: StreamId, payload: &[u8]) -> serde_json::Value {
    use serde_json::json;
    let unknown = || json!({"op": "unknown", "bytes": payload.len()});
    if stream.get() == CATALOG_STREAM {
        return serde_json::from_slice(payload).map_or_else(
            |_| unknown(),
            |change: serde_json::Value| json!({"op": "catalog", "change": change}),
        );
    }
    let Ok(operation) = decode(payload) else {
        return unknown();
    };
    let DocumentOperation {
        id,
        seq_no,
        version,
        body,
        ..
    } = operation;
    match body {
        Body::Delete => json!({"op": "delete", "id": id, "seq_no": seq_no, "version": version}),
        Body::Index { source, .. } => {
            let source: serde_json::Value = serde_json::from_slice(source).unwrap_or_default();
            json!({"op": "index", "id": id, "seq_no": seq_no, "version": version, "source": source})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_operation_reads_back_as_it_was_written(
            id in "\\PC{1,40}",
            routing in proptest::option::of("\\PC{0,20}"),
            vector in proptest::collection::vec(proptest::num::f32::NORMAL, 1..20),
            source in proptest::collection::vec(any::<u8>(), 0..100),
            seq_no: u64,
            version: u64,
        ) {
            let vectors = vec![(FieldId::new(7), vector)];
            let body = Body::Index { vectors: vectors.clone(), source: &source };
            let written = DocumentOperation { id: &id, routing: routing.as_deref(), seq_no, version, body };
            let mut payload = encode_head(&written, &vectors);
            payload.extend_from_slice(&source);
            prop_assert_eq!(decode(&payload).unwrap(), written);
        }

        #[test]
        fn arbitrary_bytes_never_panic(payload in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&payload);
        }
    }
}
