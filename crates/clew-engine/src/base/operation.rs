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
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A type, and vectors of it that a column takes.
    fn typed() -> impl Strategy<Value = (Element, Vec<f32>)> {
        let whole = (-128_i8..=127).prop_map(f32::from).boxed();
        let any_element = proptest::sample::select(Element::ALL.to_vec());
        any_element.prop_flat_map(move |element| {
            let number = match element {
                Element::I8 | Element::Bit => whole.clone(),
                Element::F32 | Element::F16 | Element::Bf16 => any_number().boxed(),
            };
            (Just(element), proptest::collection::vec(number, 1..20))
        })
    }

    fn sparse() -> impl Strategy<Value = Vec<SparseEntry>> {
        let entry = |(dimension, weight)| SparseEntry { dimension, weight };
        let entries = proptest::collection::btree_map(any::<u32>(), 0.0..1e15_f32, 0..20);
        entries.prop_map(move |entries| entries.into_iter().map(entry).collect())
    }

    /// Numbers of all sizes, also those that small types make zero or infinite.
    fn any_number() -> impl Strategy<Value = f32> {
        use proptest::num::f32::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
        prop_oneof![
            POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO,
            -70_000.0..70_000.0_f32
        ]
    }

    /// What must come back: the numbers as the type has them, or all as they were.
    fn expected(element: Element, numbers: &[f32]) -> Vec<f32> {
        let mut bytes = Vec::new();
        element.encode(numbers, &mut bytes);
        match element.keeps(numbers) {
            true => element.decode(&bytes),
            false => numbers.to_vec(),
        }
    }

    fn operation(vectors: Vec<(FieldId, VectorValue)>, source: &[u8]) -> DocumentOperation<'_> {
        let body = Body::Index { vectors, source };
        DocumentOperation {
            id: "a",
            routing: None,
            seq_no: 3,
            version: 4,
            body,
        }
    }

    #[test]
    fn vectors_of_the_first_layout_are_still_read() {
        let mut payload = vec![1];
        payload.extend([3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]);
        payload.extend([1, 0, 0xff, 0xff, b'a', 1, 0, 7, 0, 0, 0, 2, 0, 0, 0]);
        payload.extend([0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, b'{', b'}']);
        let vectors = vec![(FieldId::new(7), vec![1.0, -2.0].into())];
        assert_eq!(decode(&payload).unwrap(), operation(vectors, b"{}"));
    }

    #[test]
    fn a_vector_takes_as_many_bytes_as_its_column_gives_it() {
        let bytes = |element, numbers: &[f32]| {
            let field = FieldId::new(7);
            let numbers = LoggedNumbers::Dense(element, numbers);
            let vector = LoggedVector { field, numbers };
            let of =
                |vectors: &[LoggedVector<'_>]| encode_head(&operation(vec![], b""), vectors).len();
            of(&[vector]) - of(&[]) - 9
        };
        let numbers = [1.0; 16];
        let sizes = Element::ALL.map(|element| bytes(element, &numbers));
        assert_eq!(sizes, [64, 32, 32, 16, 16]);
        // Rounded, it would be refused when it comes back.
        assert_eq!(bytes(Element::F16, &[1e-9; 16]), 64);
    }

    #[test]
    fn a_sparse_vector_takes_eight_bytes_a_weight() {
        let entry = |dimension, weight| SparseEntry { dimension, weight };
        let entries = [entry(3, 1.0), entry(u32::MAX, 0.5)];
        let vector = LoggedVector {
            field: FieldId::new(7),
            numbers: LoggedNumbers::Sparse(&entries),
        };
        let head = encode_head(&operation(vec![], b""), &[vector]);
        let mut expected = vec![7, 0, 0, 0, 0x80, 2, 0, 0, 0];
        expected.extend([3, 0, 0, 0, 0, 0, 0x80, 0x3f]);
        expected.extend([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0x3f]);
        assert_eq!(head[head.len() - expected.len()..], expected);
        assert_eq!(head[0], KIND_INDEX_TYPED);
    }

    #[test]
    fn an_operation_without_vectors_has_the_first_layout() {
        assert_eq!(encode_head(&operation(vec![], b""), &[])[0], KIND_INDEX);
    }

    proptest! {
        #[test]
        fn an_operation_reads_back_as_it_was_written(
            id in "\\PC{1,40}",
            routing in proptest::option::of("\\PC{0,20}"),
            typed in proptest::collection::vec(typed(), 0..4),
            sparse in proptest::collection::vec(sparse(), 0..3),
            source in proptest::collection::vec(any::<u8>(), 0..100),
            seq_no: u64,
            version: u64,
        ) {
            let dense = typed.iter().map(|(element, numbers)| LoggedNumbers::Dense(*element, numbers));
            let all = dense.chain(sparse.iter().map(|entries| LoggedNumbers::Sparse(entries)));
            let logged: Vec<LoggedVector<'_>> = (7..)
                .zip(all)
                .map(|(field, numbers)| LoggedVector { field: FieldId::new(field), numbers })
                .collect();
            let expected = |logged: &LoggedVector<'_>| match logged.numbers {
                LoggedNumbers::Dense(element, numbers) => expected(element, numbers).into(),
                LoggedNumbers::Sparse(entries) => entries.to_vec().into(),
            };
            let vectors = logged.iter().map(|v| (v.field, expected(v))).collect();
            let body = Body::Index { vectors, source: &source };
            let written = DocumentOperation { id: &id, routing: routing.as_deref(), seq_no, version, body };
            let mut payload = encode_head(&written, &logged);
            payload.extend_from_slice(&source);
            let read = decode(&payload).unwrap();
            prop_assert_eq!(&read, &written);
            let Body::Index { vectors, .. } = read.body else { unreachable!() };
            for ((_, read), (_, numbers)) in vectors.iter().zip(&typed) {
                let VectorValue::Dense(read) = read else { unreachable!() };
                prop_assert!(read.iter().all(|value| value.is_finite()));
                let is_zero = |vector: &[f32]| vector.iter().all(|&value| value == 0.0);
                prop_assert_eq!(is_zero(read), is_zero(numbers));
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(kind in 0_u8..5, mut payload in proptest::collection::vec(any::<u8>(), 1..200)) {
            let _ = decode(&payload);
            payload[0] = kind;
            let _ = decode(&payload);
        }
    }
}
