use std::mem::size_of;

use prost::Message;

use super::*;
use crate::proto::*;

#[test]
fn a_message_takes_at_least_what_its_type_has() {
    for (name, own) in [
        ("InsertRequest", size_of::<InsertRequest>()),
        ("UpsertRequest", size_of::<UpsertRequest>()),
        ("SearchRequest", size_of::<SearchRequest>()),
        ("HybridSearchRequest", size_of::<HybridSearchRequest>()),
        ("FieldData", size_of::<FieldData>()),
        ("ScalarField", size_of::<ScalarField>()),
        ("FieldSchema", size_of::<FieldSchema>()),
        ("CollectionSchema", size_of::<CollectionSchema>()),
        ("FunctionSchema", size_of::<FunctionSchema>()),
        ("KeyValuePair", size_of::<KeyValuePair>()),
        ("TemplateValue", size_of::<TemplateValue>()),
        ("PlaceholderValue", size_of::<PlaceholderValue>()),
    ] {
        let shape = SHAPES.iter().find(|shape| shape.name == name).unwrap();
        assert!(
            shape.bytes >= own,
            "{name}: {} is less than {own}",
            shape.bytes
        );
    }
}

/// A request of one column of scalars.
fn insert(data: scalar_field::Data) -> Vec<u8> {
    let field = field_data::Field::Scalars(ScalarField { data: Some(data) });
    let column = FieldData {
        field: Some(field),
        ..FieldData::default()
    };
    let request = InsertRequest {
        fields_data: vec![column],
        ..InsertRequest::default()
    };
    request.encode_to_vec()
}

#[test]
fn short_parts_count_by_what_they_become() {
    let check = |name: &str, data: &[u8], least: usize| {
        let told = message_bytes(name, data);
        assert!(told >= least, "{name}: {told} is less than {least}");
        assert!(
            told < 4 * least + 4_000,
            "{name}: {told} is far more than {least}"
        );
    };
    let columns = b"\x2a\x00".repeat(1_000);
    check("InsertRequest", &columns, 1_000 * size_of::<FieldData>());
    let longs = scalar_field::Data::LongData(LongArray {
        data: vec![1; 1_000],
    });
    check("InsertRequest", &insert(longs), 8_000);
    let texts = scalar_field::Data::StringData(StringArray {
        data: vec![String::new(); 1_000],
    });
    check("InsertRequest", &insert(texts), 1_000 * size_of::<String>());
    let rows = ArrayArray {
        data: vec![ScalarField::default(); 1_000],
        ..ArrayArray::default()
    };
    let rows = scalar_field::Data::ArrayData(rows);
    check(
        "InsertRequest",
        &insert(rows),
        1_000 * size_of::<ScalarField>(),
    );
    let floats = scalar_field::Data::FloatData(FloatArray {
        data: vec![0.5; 1_000],
    });
    check("InsertRequest", &insert(floats), 4_000);
    let vectors = PlaceholderValue {
        values: vec![bytes::Bytes::new(); 1_000],
        ..PlaceholderValue::default()
    };
    let group = PlaceholderGroup {
        placeholders: vec![vectors],
    };
    let input = search_request::SearchInput::PlaceholderGroup(group.encode_to_vec().into());
    let request = SearchRequest {
        search_input: Some(input),
        ..SearchRequest::default()
    };
    check(
        "SearchRequest",
        &request.encode_to_vec(),
        1_000 * size_of::<bytes::Bytes>(),
    );
    let fields = CollectionSchema {
        fields: vec![FieldSchema::default(); 1_000],
        ..CollectionSchema::default()
    };
    let request = CreateCollectionRequest {
        schema: fields.encode_to_vec().into(),
        ..CreateCollectionRequest::default()
    };
    check(
        "CreateCollectionRequest",
        &request.encode_to_vec(),
        1_000 * size_of::<FieldSchema>(),
    );
}

#[test]
fn what_is_no_message_is_measured_as_far_as_it_goes() {
    for data in [
        &b"\xff"[..],
        b"\x2a\x7f",
        b"\x2b\x2b",
        b"\x2a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    ] {
        assert!(message_bytes("InsertRequest", data) < 4_000);
    }
    let mut deep = Vec::new();
    for _ in 0..2_000 {
        let mut outer = vec![0x1a];
        prost::encoding::encode_varint(deep.len() as u64, &mut outer);
        outer.extend(&deep);
        deep = outer;
    }
    assert!(message_bytes("TemplateValue", &deep) < 1 << 20);
}
