//! What a request takes once it is read, told from its bytes before anything is made of them: two bytes can become a
//! structure of several hundred.

/// A message: what it takes itself, and what its fields are by their numbers.
struct Shape {
    name: &'static str,
    bytes: usize,
    parts: &'static [(u32, Part)],
}

/// What a field holds.
#[derive(Clone, Copy)]
enum Part {
    /// A message, by its place in the table.
    Message(usize),
    Text,
    /// They stay where they came.
    Bytes,
    /// Numbers of varying length, each of which becomes so many bytes.
    Varint(usize),
    /// Numbers as long as they are read.
    Fixed,
}

// The table `SHAPES`, from the description of the service.
include!(concat!(env!("OUT_DIR"), "/shapes.rs"));

/// As deep as messages are read.
const DEPTH_MAX: usize = 100;
/// A text or a run of bytes beside what it holds.
const OWNED_BYTES: usize = 32;

/// Memory that a message of this name takes when it is read, in bytes; of one that is not well-formed, of the part that
/// is. Costs one pass over the message, vectors left out.
pub(super) fn message_bytes(name: &str, data: &[u8]) -> usize {
    let shape = SHAPES.iter().find(|shape| shape.name == name);
    shape.map_or(0, |shape| measured(shape, data, 0))
}

fn measured(shape: &Shape, mut data: &[u8], depth: usize) -> usize {
    let mut bytes = shape.bytes;
    if depth > DEPTH_MAX {
        return bytes;
    }
    while let Some(tag) = varint(&mut data) {
        let number = u32::try_from(tag >> 3).unwrap_or_default();
        let part = shape.parts.iter().find(|(own, _)| *own == number);
        let part = part.map(|(_, part)| *part);
        let Some(payload) = payload(&mut data, tag & 7) else {
            break;
        };
        bytes += match (part, payload) {
            // What is not known is passed over.
            (None, _) => 0,
            (Some(_), Payload::Number) => 8,
            (Some(Part::Message(place)), Payload::Run(run)) => {
                measured(&SHAPES[place], run, depth + 1)
            }
            (Some(Part::Text), Payload::Run(run)) => OWNED_BYTES + run.len(),
            (Some(Part::Bytes), Payload::Run(_)) => OWNED_BYTES,
            (Some(Part::Fixed), Payload::Run(run)) => run.len(),
            (Some(Part::Varint(width)), Payload::Run(run)) => {
                width * run.iter().filter(|byte| **byte < 0x80).count()
            }
        };
    }
    bytes
}

/// What stands behind a tag.
enum Payload<'a> {
    Number,
    Run(&'a [u8]),
}

fn payload<'a>(data: &mut &'a [u8], wire_type: u64) -> Option<Payload<'a>> {
    let length = match wire_type {
        0 => {
            varint(data)?;
            return Some(Payload::Number);
        }
        1 => 8,
        5 => 4,
        2 => usize::try_from(varint(data)?).ok()?,
        _ => return None,
    };
    let (run, rest) = data.split_at_checked(length)?;
    *data = rest;
    Some(match wire_type {
        2 => Payload::Run(run),
        _ => Payload::Number,
    })
}

fn varint(data: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = data.split_first()?;
        *data = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
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
}
