//! An index that another protocol made, as a collection: its ids are the primary key.

use std::collections::{BTreeMap, BTreeSet};

use clew_engine::Index;
use clew_platform::fnv1a_32;
use clew_schema::{FieldKind, FloatKind, IntegerKind, MappedField};
use clew_vector::{Element, Space};

use crate::collection::field::{ID, TEXT_ALONE};
use crate::collection::{Collection, DEFAULT_PARTITION, DataType, Field, KeptIndex};

/// A text's longest value, as far as clients are told.
const TEXT_BYTES: &str = "65535";

/// What the mapping of an index says, in Milvus' words. It counts as loaded, and its vectors as indexed.
pub(super) fn collection(index: &Index) -> Collection {
    let mapping = index.mapping();
    let id_bytes = index.settings().id_bytes_max;
    let mut fields = vec![Field {
        is_primary: true,
        params: BTreeMap::from([("max_length".to_string(), id_bytes.to_string())]),
        ..Field::named(ID, DataType::VarChar)
    }];
    let mut indexes = Vec::new();
    let own = |field: &&MappedField| {
        let is_nested = mapping.nested_scope(&field.path).is_some();
        !field.multi_field && !field.settings.hidden && !is_nested
    };
    for mapped in mapping.fields().iter().filter(own) {
        if let Some(field) = derived(mapped) {
            indexes.extend(index_of(mapped));
            fields.push(field);
        }
    }
    for (id, field) in (super::FIRST_FIELD_ID..).zip(&mut fields) {
        field.id = id;
    }
    for (id, index) in (1..).zip(&mut indexes) {
        index.id = id;
    }
    Collection {
        id: number_of(index),
        description: String::new(),
        fields,
        structs: Vec::new(),
        dynamic: true,
        functions: Vec::new(),
        properties: BTreeMap::new(),
        consistency_level: 0,
        shards: i32::try_from(index.settings().shards).unwrap_or(1),
        partitions: BTreeMap::from([(DEFAULT_PARTITION.to_string(), 1)]),
        indexes,
        loaded: true,
        released: BTreeSet::new(),
        dropped: BTreeSet::new(),
        last_dropped: None,
        dynamic_id: None,
        version: 0,
        updated_ms: index.created_ms(),
    }
}

/// A number that follows from the id of the index, which never changes.
fn number_of(index: &Index) -> i64 {
    let hash = fnv1a_32(index.uuid().as_bytes());
    i64::try_from(index.created_ms() << 16).unwrap_or(i64::MAX >> 1) | i64::from(hash & 0xffff)
}

fn derived(mapped: &MappedField) -> Option<Field> {
    let mut params = BTreeMap::new();
    let data_type = match &mapped.kind {
        FieldKind::Boolean => DataType::Bool,
        FieldKind::Integer(IntegerKind::Byte) => DataType::Int8,
        FieldKind::Integer(IntegerKind::Short) => DataType::Int16,
        FieldKind::Integer(IntegerKind::Integer) => DataType::Int32,
        FieldKind::Integer(IntegerKind::Long) | FieldKind::Date { .. } => DataType::Int64,
        FieldKind::Float(FloatKind::Float | FloatKind::Half) => DataType::Float,
        FieldKind::Float(FloatKind::Double | FloatKind::Scaled { .. }) => DataType::Double,
        FieldKind::Text { .. } | FieldKind::Keyword { .. } | FieldKind::Ip => {
            if matches!(mapped.kind, FieldKind::Text { .. }) {
                params.insert(TEXT_ALONE.to_string(), "true".to_string());
            }
            params.insert("max_length".to_string(), TEXT_BYTES.to_string());
            DataType::VarChar
        }
        FieldKind::Flat => DataType::Json,
        FieldKind::SparseVector => DataType::SparseFloatVector,
        FieldKind::Vector(vector) => {
            let dimension = vector.column.dimension;
            params.insert("dim".to_string(), dimension.to_string());
            match vector.column.element {
                Element::F32 => DataType::FloatVector,
                Element::F16 => DataType::Float16Vector,
                Element::Bf16 => DataType::BFloat16Vector,
                Element::I8 => DataType::Int8Vector,
                Element::Bit => DataType::BinaryVector,
            }
        }
        _ => return None,
    };
    Some(Field {
        nullable: true,
        params,
        ..Field::named(&mapped.path, data_type)
    })
}

fn index_of(mapped: &MappedField) -> Option<KeptIndex> {
    let (index_type, metric) = match &mapped.kind {
        FieldKind::SparseVector => ("SPARSE_INVERTED_INDEX", "IP"),
        FieldKind::Vector(vector) => match vector.column.space {
            Space::L2 => ("AUTOINDEX", "L2"),
            Space::Cosine => ("AUTOINDEX", "COSINE"),
            Space::InnerProduct => ("AUTOINDEX", "IP"),
            Space::Hamming => ("AUTOINDEX", "HAMMING"),
            Space::Jaccard => ("AUTOINDEX", "JACCARD"),
            Space::MinHash8 | Space::MinHash32 | Space::MinHash64 => ("MINHASH_LSH", "MHJACCARD"),
        },
        _ => return None,
    };
    let param = |key: &str, value: &str| (key.to_string(), value.to_string());
    Some(KeptIndex {
        id: 0,
        name: mapped.path.clone(),
        field: mapped.path.clone(),
        params: BTreeMap::from([
            param("index_type", index_type),
            param("metric_type", metric),
        ]),
    })
}
