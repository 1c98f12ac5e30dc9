//! What the engine writes into the log for a document. Layout: `docs/formats/operations.md`.
//!
//! Vectors are stored as numbers of the type that their column keeps, apart from the source, so that
//! replay parses no digits and the log is as small as the column; sparse ones as dimensions and weights.

use clew_log::StreamId;
use clew_schema::{FieldId, VectorValue};
use clew_vector::{Element, SparseEntry};

use crate::base::error::EngineError;

/// The catalog's stream in the log.
pub(crate) const CATALOG_STREAM: u32 = 1;

/// Vectors, if any, are `f32`: written for documents without vectors alone, read for all.
const KIND_INDEX: u8 = 1;
const KIND_DELETE: u8 = 2;
/// Each vector says of what type its numbers are.
const KIND_INDEX_TYPED: u8 = 3;
/// In the place of the type of a vector's numbers: it is a sparse one.
const SPARSE: u8 = 0x80;
const ENTRY_BYTES: usize = size_of::<SparseEntry>();
const NO_ROUTING: u16 = u16::MAX;

/// Longest document id that an index can allow, in bytes: ids are terms, which are no longer.
pub(crate) const ID_BYTES_MAX: usize = 32_766;
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
        vectors: Vec<(FieldId, VectorValue)>,
        /// Its JSON without them.
        source: &'a [u8],
    },
    /// It was removed.
    Delete,
}

/// A vector on its way into the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoggedVector<'a> {
    pub(crate) field: FieldId,
    pub(crate) numbers: LoggedNumbers<'a>,
}

/// Its numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LoggedNumbers<'a> {
    /// And what the field's column keeps.
    Dense(Element, &'a [f32]),
    Sparse(&'a [SparseEntry]),
}

impl LoggedVector<'_> {
    /// Field, type of the numbers, how many, and the numbers.
    ///
    /// What is in the log must be taken again by the mapping that took it before. A vector that
    /// rounding makes zero or infinite would not be, so that it stays `f32`.
    fn encode(&self, out: &mut Vec<u8>) {
        let count = |len: usize| {
            u32::try_from(len)
                .expect("numbers are limited")
                .to_le_bytes()
        };
        out.extend_from_slice(&self.field.get().to_le_bytes());
        match self.numbers {
            LoggedNumbers::Dense(element, numbers) => {
                let element = match element.keeps(numbers) {
                    true => element,
                    false => Element::F32,
                };
                out.push(element.code());
                out.extend_from_slice(&count(numbers.len()));
                element.encode(numbers, out);
            }
            LoggedNumbers::Sparse(entries) => {
                out.push(SPARSE);
                out.extend_from_slice(&count(entries.len()));
                for entry in entries {
                    out.extend_from_slice(&entry.dimension.to_le_bytes());
                    out.extend_from_slice(&entry.weight.to_le_bytes());
                }
            }
        }
    }

    /// About how many bytes that makes.
    fn bytes(&self) -> usize {
        9 + match self.numbers {
            LoggedNumbers::Dense(_, numbers) => size_of_val(numbers),
            LoggedNumbers::Sparse(entries) => size_of_val(entries),
        }
    }
}

/// The fixed part of an operation, and its strings and vectors; the source follows as a part of
/// its own, so that it is copied only into the log's buffer. The vectors are given beside the
/// operation, whose own are not looked at.
pub(crate) fn encode_head(
    operation: &DocumentOperation<'_>,
    vectors: &[LoggedVector<'_>],
) -> Vec<u8> {
    let vector_bytes: usize = vectors.iter().map(LoggedVector::bytes).sum();
    let mut head = Vec::with_capacity(32 + operation.id.len() + vector_bytes);
    head.push(match operation.body {
        Body::Index { .. } if vectors.is_empty() => KIND_INDEX,
        Body::Index { .. } => KIND_INDEX_TYPED,
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
        for vector in vectors {
            vector.encode(&mut head);
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
            KIND_INDEX | KIND_INDEX_TYPED => {
                let is_typed = kind == KIND_INDEX_TYPED;
                let count = u16::from_le_bytes(self.array()?);
                let vectors = (0..count).map(|_| self.vector(is_typed));
                let vectors = vectors.collect::<Option<_>>()?;
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

    fn vector(&mut self, is_typed: bool) -> Option<(FieldId, VectorValue)> {
        let field = FieldId::new(u32::from_le_bytes(self.array()?));
        let code = match is_typed {
            true => self.array::<1>()?[0],
            false => Element::F32.code(),
        };
        let count = usize::try_from(u32::from_le_bytes(self.array()?)).ok()?;
        if code == SPARSE {
            let bytes = self.take(count.checked_mul(ENTRY_BYTES)?)?;
            return Some((field, entries_of(bytes).into()));
        }
        let element = Element::from_code(code)?;
        let bytes = self.take(count.checked_mul(element.number_bytes())?)?;
        Some((field, element.decode(bytes).into()))
    }
}

/// Dimensions and weights, one after the other.
fn entries_of(bytes: &[u8]) -> Vec<SparseEntry> {
    let (pairs, _) = bytes.as_chunks::<ENTRY_BYTES>();
    let entry = |&[a, b, c, d, e, f, g, h]: &[u8; ENTRY_BYTES]| SparseEntry {
        dimension: u32::from_le_bytes([a, b, c, d]),
        weight: f32::from_le_bytes([e, f, g, h]),
    };
    pairs.iter().map(entry).collect()
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
mod tests;
