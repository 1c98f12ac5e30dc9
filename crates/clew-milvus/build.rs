//! Generates the messages, and a table of what each of them takes in memory. `protox` reads the description in pure
//! Rust, so that building needs no `protoc`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use protox::prost_reflect::{
    Cardinality, DescriptorPool, FieldDescriptor, Kind, MessageDescriptor,
};

/// Fields of bytes that hold a message.
const HOLDERS: [(&str, &str, &str); 3] = [
    ("CreateCollectionRequest", "schema", "CollectionSchema"),
    ("AddCollectionFieldRequest", "schema", "FieldSchema"),
    ("SearchRequest", "placeholder_group", "PlaceholderGroup"),
];
/// A list, a text, or the address of what lies elsewhere.
const OWNED_BYTES: usize = 32;
/// Messages within messages that are counted as lying in them.
const INLINE_DEPTH: usize = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = "proto/milvus.proto";
    println!("cargo::rerun-if-changed={file}");
    let descriptors = protox::compile([file], ["proto"])?;
    let pool = DescriptorPool::from_file_descriptor_set(descriptors.clone())?;
    let shapes = Path::new(&std::env::var("OUT_DIR")?).join("shapes.rs");
    std::fs::write(shapes, table(&pool)?)?;
    tonic_prost_build::configure()
        .bytes(".")
        .build_client(false)
        .build_server(false)
        .compile_fds(descriptors)?;
    Ok(())
}

/// The source of the table of messages.
fn table(pool: &DescriptorPool) -> Result<String, std::fmt::Error> {
    let messages: Vec<MessageDescriptor> = pool.all_messages().collect();
    let places: BTreeMap<&str, usize> = messages
        .iter()
        .map(MessageDescriptor::full_name)
        .zip(0..)
        .collect();
    let mut source = String::new();
    writeln!(source, "static SHAPES: [Shape; {}] = [", messages.len())?;
    for message in &messages {
        let parts: Vec<String> = message
            .fields()
            .map(|field| {
                format!(
                    "({}, Part::{})",
                    field.number(),
                    part(message, &field, &places)
                )
            })
            .collect();
        writeln!(
            source,
            "Shape {{ name: {:?}, bytes: {}, parts: &[{}] }},",
            message.name(),
            bytes_of(message, 0),
            parts.join(", ")
        )?;
    }
    source.push_str("];\n");
    Ok(source)
}

/// What a field is, as the table has it.
fn part(
    message: &MessageDescriptor,
    field: &FieldDescriptor,
    places: &BTreeMap<&str, usize>,
) -> String {
    let package = message.package_name();
    let held = HOLDERS
        .iter()
        .find(|(owner, name, _)| *owner == message.name() && *name == field.name());
    if let Some((_, _, held)) = held {
        return format!("Message({})", places[format!("{package}.{held}").as_str()]);
    }
    match field.kind() {
        Kind::Message(inner) => format!("Message({})", places[inner.full_name()]),
        Kind::String => "Text".to_string(),
        Kind::Bytes => "Bytes".to_string(),
        Kind::Bool => "Varint(1)".to_string(),
        Kind::Int32 | Kind::Uint32 | Kind::Sint32 | Kind::Enum(_) => "Varint(4)".to_string(),
        Kind::Int64 | Kind::Uint64 | Kind::Sint64 => "Varint(8)".to_string(),
        Kind::Float
        | Kind::Fixed32
        | Kind::Sfixed32
        | Kind::Double
        | Kind::Fixed64
        | Kind::Sfixed64 => "Fixed".to_string(),
    }
}

/// Memory of a message without what it owns elsewhere: at least what the generated type has. Fields that exclude each
/// other share their place.
fn bytes_of(message: &MessageDescriptor, depth: usize) -> usize {
    let all = message.fields();
    let own = all.filter(|field| field.containing_oneof().is_none());
    let shared = message.oneofs().map(|one| {
        let bytes = one.fields().map(|field| field_bytes(&field, depth));
        8 + bytes.max().unwrap_or_default()
    });
    8 + own.map(|field| field_bytes(&field, depth)).sum::<usize>() + shared.sum::<usize>()
}

fn field_bytes(field: &FieldDescriptor, depth: usize) -> usize {
    if field.cardinality() == Cardinality::Repeated {
        return OWNED_BYTES;
    }
    match field.kind() {
        Kind::Message(inner) if depth < INLINE_DEPTH => 8 + bytes_of(&inner, depth + 1),
        Kind::Message(_) | Kind::String | Kind::Bytes => OWNED_BYTES,
        _ => 16,
    }
}
