//! Fields of structs: each row has a list of them. In the index a list is nested objects, so that every struct matches,
//! and has its vectors, by itself.

use std::collections::{BTreeMap, BTreeSet};

use clew_schema::{MappingPart, NestedSettings, NestingSpec, ObjectSpec};
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::collection::field::{Field, key_values, pairs};
use crate::collection::name::NameOf;
use crate::collection::{Collection, DataType, field_parts};
use crate::error::{MilvusError, Result};
use crate::proto;

/// Milvus' numbers of the types that only structs and their parts have.
pub(crate) const ARRAY_OF_VECTOR: i32 = 106;
pub(crate) const ARRAY_OF_STRUCT: i32 = 200;

/// A field of structs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StructField {
    pub(crate) id: i64,
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
    #[serde(default)]
    pub(crate) nullable: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) params: BTreeMap<String, String>,
    /// What a struct consists of: fields by the type of their one value, named `struct[part]`.
    pub(crate) parts: Vec<Field>,
}

impl StructField {
    /// Reads a field of structs and checks it by itself; numbers are given from `id` on.
    ///
    /// # Errors
    /// What breaks Milvus' rules, and types that structs here have no parts of.
    pub(crate) fn read(schema: proto::StructArrayFieldSchema, id: i64) -> Result<StructField> {
        NameOf::Field.check(&schema.name)?;
        let mut parts: Vec<Field> = Vec::new();
        for (id, part) in (id + 1..).zip(schema.fields) {
            let name = part.name.clone();
            let part = read_part(&schema.name, schema.nullable, part)?;
            if parts.iter().any(|other| other.name == part.name) {
                return Err(MilvusError::invalid(format!(
                    "duplicated field name: {name}"
                )));
            }
            parts.push(Field { id, ..part });
        }
        if parts.is_empty() {
            return Err(MilvusError::invalid(format!(
                "struct array field {} has no sub-fields",
                schema.name
            )));
        }
        Ok(StructField {
            id,
            name: schema.name,
            description: schema.description,
            nullable: schema.nullable,
            params: pairs(schema.type_params),
            parts,
        })
    }

    /// Most structs of a row.
    pub(crate) fn capacity(&self) -> Result<usize> {
        self.parts[0].max_capacity()
    }

    /// The name of a part alone.
    pub(crate) fn part_name<'f>(&self, part: &'f Field) -> &'f str {
        let inside = part.name.get(self.name.len() + 1..part.name.len() - 1);
        inside.unwrap_or(&part.name)
    }

    /// What a mapping has for it.
    ///
    /// # Errors
    /// When a parameter of a part is out of bounds.
    pub(super) fn mapping_parts(&self) -> Result<Vec<MappingPart>> {
        let mut parts = vec![MappingPart::Object(ObjectSpec {
            path: self.name.clone(),
            dynamic: None,
            enabled: None,
            nesting: NestingSpec::Nested(NestedSettings::default()),
        })];
        for part in &self.parts {
            let own = field_parts(part)?.into_iter();
            parts.extend(own.map(|spec| MappingPart::Field(Box::new(spec))));
        }
        Ok(parts)
    }

    /// The field as clients are told of it.
    pub(super) fn described(&self) -> proto::StructArrayFieldSchema {
        let part = |part: &Field| proto::FieldSchema {
            name: self.part_name(part).to_string(),
            data_type: list_type(part.data_type),
            element_type: part.data_type.number(),
            ..part.described(&TimeZone::UTC)
        };
        proto::StructArrayFieldSchema {
            field_id: self.id,
            name: self.name.clone(),
            description: self.description.clone(),
            fields: self.parts.iter().map(part).collect(),
            type_params: key_values(&self.params),
            nullable: self.nullable,
        }
    }
}

impl Collection {
    /// The scalar parts of structs as if they were rows, by their paths.
    pub(crate) fn of_parts(field: &StructField) -> Collection {
        let scalars = field
            .parts
            .iter()
            .filter(|part| !part.data_type.is_vector());
        let own = |part: &Field| Field {
            name: part.path().to_string(),
            nullable: false,
            ..part.clone()
        };
        Collection {
            id: 0,
            description: String::new(),
            fields: scalars.map(own).collect(),
            structs: Vec::new(),
            dynamic: false,
            functions: Vec::new(),
            properties: BTreeMap::new(),
            consistency_level: 0,
            shards: 1,
            partitions: BTreeMap::new(),
            indexes: Vec::new(),
            loaded: true,
            released: BTreeSet::new(),
            dropped: BTreeSet::new(),
            last_dropped: None,
            dynamic_id: None,
            version: 0,
            updated_ms: 0,
        }
    }
}

/// The number of a list of values, or of vectors, of a type.
pub(crate) fn list_type(element: DataType) -> i32 {
    match element.is_vector() {
        true => ARRAY_OF_VECTOR,
        false => DataType::Array.number(),
    }
}

/// Why structs have no such part. Lists of lists are what Milvus has and is not here; others it refuses, too.
fn unfit_part(part: &proto::FieldSchema) -> MilvusError {
    let named = |number: i32| match DataType::of(number) {
        Some(data_type) => data_type.name().to_string(),
        None => DataType::name_of_unsupported(number),
    };
    let (name, element) = (&part.name, named(part.element_type));
    if part.data_type == ARRAY_OF_VECTOR {
        return MilvusError::invalid(format!(
            "Unsupported element type {element} of ArrayOfVector field {name}, only fixed dimension vector types are supported"
        ));
    }
    if part.data_type != DataType::Array.number() {
        return MilvusError::invalid(format!(
            "Fields in StructArrayField can only be array or array of vector, but field {name} is {}",
            named(part.data_type)
        ));
    }
    match DataType::of(part.element_type) {
        Some(DataType::Array) => {
            MilvusError::Unsupported(format!("a part {name} of type {element} in structs"))
        }
        _ => MilvusError::invalid(format!("element type {element} is not supported")),
    }
}

fn read_part(around: &str, nullable: bool, part: proto::FieldSchema) -> Result<Field> {
    NameOf::Field.check(&part.name)?;
    let name = part.name.clone();
    let is_list = part.data_type == ARRAY_OF_VECTOR || part.data_type == DataType::Array.number();
    let element = DataType::of(part.element_type).filter(|_| is_list);
    let fits = |element: &DataType| {
        list_type(*element) == part.data_type
            && !matches!(
                element,
                DataType::Array
                    | DataType::Json
                    | DataType::Geometry
                    | DataType::Timestamptz
                    | DataType::SparseFloatVector
            )
    };
    let Some(element) = element.filter(fits) else {
        return Err(unfit_part(&part));
    };
    let read = Field::read(proto::FieldSchema {
        data_type: element.number(),
        element_type: 0,
        nullable,
        ..part
    })?;
    read.max_capacity()?;
    let is_key = read.is_primary || read.is_partition_key || read.is_clustering_key || read.auto_id;
    if is_key || read.default.is_some() {
        return Err(MilvusError::invalid(format!(
            "the field {name} in struct {around} cannot be a key or have a default value"
        )));
    }
    if read.flag("enable_analyzer") || read.flag("enable_match") {
        return Err(MilvusError::Unsupported(format!(
            "an analyzer of a field in structs ({name})"
        )));
    }
    Ok(Field {
        path: Some(format!("{around}.{name}")),
        name: format!("{around}[{name}]"),
        ..read
    })
}
