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
        let of = |vectors: &[LoggedVector<'_>]| encode_head(&operation(vec![], b""), vectors).len();
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
