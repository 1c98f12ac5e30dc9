//! Collections: what Milvus' clients see of an index.
//!
//! What a collection is beyond an index's mapping is kept with that mapping, under `milvus` in its `_meta`, so that both
//! change, are saved and are restored together. An index without it, made through another protocol, is a collection by
//! what its mapping says ([`derived`]).

mod analyzer;
mod data_type;
mod derived;
mod dropped;
mod expiry;
mod factory;
mod field;
mod function;
mod index_params;
mod key;
mod loaded;
mod long;
mod mapped;
mod min_hash;
mod name;
mod property;
mod rules;
mod structs;
mod vector_index;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clew_engine::Index;
use clew_schema::MappingSpec;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(crate) use analyzer::{RowAnalyzers, analysis, analyzer_settings, with_late_analysis};
pub(crate) use data_type::DataType;
pub(crate) use expiry::{TTL_FIELD, WRITTEN, check_properties};
pub(crate) use field::{Field, key_values, pairs};
pub(crate) use function::{Function, kind_number};
pub(crate) use index_params::{check_scalar, check_vector};
pub(crate) use key::{id_of, key_of};
pub(crate) use loaded::partitions_go_by_key;
pub(crate) use long::{LONG, TERM_BYTES_MAX, by_length, long_part, long_rows};
pub(crate) use mapped::{
    DYNAMIC, PARTITION, TEXT, field_parts, mapping_spec, partition_query, written_part,
};
pub(crate) use min_hash::MinHash;
pub(crate) use name::NameOf;
pub(crate) use property::{check_altered, check_warmup, makes_dynamic, truth};
pub(crate) use rules::check_late;
pub(crate) use structs::{ARRAY_OF_STRUCT, ARRAY_OF_VECTOR, StructField, list_type};
pub(crate) use vector_index::{Bands, Metric, VectorIndex, flattened, metric_of};

use mapped::plain_column;

use crate::error::{MilvusError, Result};
use crate::instant::zone_of;
use crate::proto;

/// The partition that rows without another one are in.
pub(crate) const DEFAULT_PARTITION: &str = "_default";
/// Most partitions of a collection.
const PARTITIONS_MAX: usize = 1_024;
/// The numbers of users' fields begin here.
const FIRST_FIELD_ID: i64 = 100;
/// The member of a mapping's `_meta` that a collection is kept in.
const META: &str = "milvus";

/// A collection, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Collection {
    /// Its number, which no other collection has.
    pub(crate) id: i64,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
    pub(crate) fields: Vec<Field>,
    /// Fields of structs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) structs: Vec<StructField>,
    /// Whether rows may have fields beyond these.
    pub(crate) dynamic: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) functions: Vec<Function>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) properties: BTreeMap<String, String>,
    pub(crate) consistency_level: i32,
    pub(crate) shards: i32,
    /// The partitions that users made, or those that a partition key is spread over, by name.
    pub(crate) partitions: BTreeMap<String, i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) indexes: Vec<KeptIndex>,
    /// Whether it may be searched.
    pub(crate) loaded: bool,
    /// Partitions that may not be searched, of a collection that may.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) released: BTreeSet<String>,
    /// Names of fields that were dropped: documents may still have values by them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) dropped: BTreeSet<String>,
    /// The greatest number that a field had which was dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_dropped: Option<i64>,
    /// The number of what rows have beyond the fields, which is a field of its own to Milvus; collections from before it
    /// was kept have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dynamic_id: Option<i64>,
    /// How often its schema has changed.
    #[serde(default)]
    pub(crate) version: i32,
    /// The moment of its schema's last change, in milliseconds since the epoch: rows say by which schema they were
    /// packed.
    pub(crate) updated_ms: u64,
}

/// An index that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptIndex {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) field: String,
    /// Its parameters as they were given: `index_type`, `metric_type`, `M`, …
    pub(crate) params: BTreeMap<String, String>,
}

impl Collection {
    /// Reads the description of a new collection and checks it.
    ///
    /// # Errors
    /// What breaks Milvus' rules, and what there is nothing like here.
    pub(crate) fn read(
        schema: proto::CollectionSchema,
        request: &proto::CreateCollectionRequest,
    ) -> Result<Collection> {
        check_known(&schema)?;
        let of_this = |error: MilvusError| error.of_collection(&request.collection_name);
        let mut fields = Vec::new();
        for (at, field) in (0..).zip(schema.fields) {
            let mut field = Field::read(field).map_err(of_this)?;
            field.id = FIRST_FIELD_ID + at;
            field.auto_id |= field.is_primary && schema.auto_id;
            fields.push(field);
        }
        let mut structs = Vec::new();
        let mut next = FIRST_FIELD_ID + i64::try_from(fields.len()).unwrap_or_default();
        for field in schema.struct_array_fields {
            let field = StructField::read(field, next).map_err(of_this)?;
            next += 1 + i64::try_from(field.parts.len()).unwrap_or_default();
            structs.push(field);
        }
        let partition_key = fields.iter().any(|field| field.is_partition_key);
        let mut collection = Collection {
            id: 0,
            description: schema.description,
            fields,
            structs,
            dynamic: schema.enable_dynamic_field,
            functions: Vec::new(),
            properties: pairs(request.properties.clone()),
            consistency_level: request.consistency_level,
            shards: request.shards_num.max(1),
            partitions: partitions(partition_key, request.num_partitions)?,
            indexes: Vec::new(),
            loaded: false,
            released: BTreeSet::new(),
            dropped: BTreeSet::new(),
            last_dropped: None,
            dynamic_id: schema.enable_dynamic_field.then_some(next),
            version: 0,
            updated_ms: 0,
        };
        collection.properties.extend(pairs(schema.properties));
        check_properties(&collection.properties)?;
        let zone = zone_of(&collection.properties)?;
        for field in &mut collection.fields {
            field.settle_default(&zone)?;
        }
        collection.check_fields()?;
        collection.check_ends()?;
        collection.check_keys(&request.collection_name)?;
        collection.check_isolation(&request.collection_name)?;
        for (id, function) in (FIRST_FIELD_ID..).zip(schema.functions) {
            collection.add_function(function, id)?;
        }
        Ok(collection)
    }

    /// The collection that an index is.
    ///
    /// Costs a reading of what is kept; [`Collections`](crate::collections::Collections) remembers it.
    pub(crate) fn of(index: &Index) -> Collection {
        let mapping = index.mapping();
        let meta = mapping.shown().get("_meta");
        let kept = meta.and_then(|meta| meta.get(META));
        let kept = kept.and_then(|kept| Collection::deserialize(kept).ok());
        kept.unwrap_or_else(|| derived::collection(index))
    }

    /// What a mapping shows so that the index is this collection.
    pub(crate) fn shown(&self, others: Option<&Value>) -> Map<String, Value> {
        let mut meta = others
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        meta.insert(META.to_string(), json!(self));
        Map::from_iter([("_meta".to_string(), Value::Object(meta))])
    }

    pub(crate) fn primary(&self) -> &Field {
        let mut fields = self.fields.iter();
        let found = fields.find(|field| field.is_primary);
        found.expect("a collection without a primary field is refused")
    }

    pub(crate) fn vectors(&self) -> impl Iterator<Item = &Field> {
        let parts = self.structs.iter().flat_map(|one| &one.parts);
        let fields = self.fields.iter().chain(parts);
        fields.filter(|field| field.data_type.is_vector())
    }

    /// A field by its name; what a struct consists of is `struct[part]`.
    pub(crate) fn field(&self, name: &str) -> Result<&Field> {
        let parts = self.structs.iter().flat_map(|one| &one.parts);
        let mut fields = self.fields.iter().chain(parts);
        fields
            .find(|field| field.name == name)
            .ok_or_else(|| MilvusError::FieldNotFound(name.to_string()))
    }

    /// A field of structs by its name.
    pub(crate) fn struct_field(&self, name: &str) -> Option<&StructField> {
        self.structs.iter().find(|one| one.name == name)
    }

    /// The field of structs that consist of a field among others.
    pub(crate) fn struct_of(&self, part: &Field) -> Option<&StructField> {
        let mut structs = self.structs.iter();
        structs.find(|one| one.parts.contains(part))
    }

    /// The index of a field.
    pub(crate) fn index_of(&self, field: &str) -> Option<&KeptIndex> {
        self.indexes.iter().find(|index| index.field == field)
    }

    /// The time zone of instants that say none.
    pub(crate) fn zone(&self) -> TimeZone {
        // What is no zone was refused when it came.
        zone_of(&self.properties).unwrap_or(TimeZone::UTC)
    }

    pub(crate) fn has_partition_key(&self) -> bool {
        self.fields.iter().any(|field| field.is_partition_key)
    }

    /// Refuses partitions that are not there.
    pub(crate) fn check_partitions(&self, names: &[String]) -> Result<()> {
        let missing = |name: &&String| !self.partitions.contains_key(*name);
        match names.iter().find(missing) {
            None => Ok(()),
            Some(name) => Err(MilvusError::PartitionNotFound(name.clone())),
        }
    }

    /// Adds a field to those that are there.
    pub(crate) fn add_field(&mut self, mut field: Field) -> Result<()> {
        self.check_added(&field)?;
        field.settle_default(&self.zone())?;
        field.id = self.last_id() + 1;
        field.is_added = true;
        self.fields.push(field);
        self.check_fields()
    }

    /// Adds a field of structs to those that are there.
    pub(crate) fn add_struct(
        &mut self,
        field: proto::StructArrayFieldSchema,
    ) -> Result<MappingSpec> {
        let field = StructField::read(field, self.last_id() + 1)?;
        rules::check_added_names(&field)?;
        self.check_not_dropped(&field.name)?;
        if !field.nullable {
            return Err(MilvusError::invalid(format!(
                "added struct field must be nullable, please check it, field name = {}",
                field.name
            )));
        }
        let parts = field.mapping_parts()?;
        self.structs.push(field);
        self.check_fields()?;
        Ok(MappingSpec {
            parts,
            ..MappingSpec::default()
        })
    }

    /// The greatest number that a field has, or had.
    fn last_id(&self) -> i64 {
        let parts = self.structs.iter().flat_map(|one| &one.parts);
        let ids = self.fields.iter().chain(parts).map(|field| field.id);
        let of_structs = self.structs.iter().map(|one| one.id);
        let others = self.last_dropped.into_iter().chain(self.dynamic_id);
        let last = ids.chain(of_structs).chain(others).max();
        last.unwrap_or(FIRST_FIELD_ID)
    }

    pub(crate) fn add_partition(&mut self, name: &str, id: i64) -> Result<()> {
        if self.partitions.len() >= PARTITIONS_MAX {
            return Err(MilvusError::invalid(format!(
                "partition number ({}) exceeds max configuration ({PARTITIONS_MAX})",
                self.partitions.len()
            )));
        }
        self.partitions.insert(name.to_string(), id);
        if !self.released.is_empty() {
            // Where partitions are let in one by one, so is this.
            self.released.insert(name.to_string());
        }
        Ok(())
    }

    /// The schema as clients are told of it.
    pub(crate) fn described(&self, name: &str) -> proto::CollectionSchema {
        let zone = self.zone();
        proto::CollectionSchema {
            name: name.to_string(),
            description: self.description.clone(),
            auto_id: self.primary().auto_id,
            fields: self
                .fields
                .iter()
                .map(|field| field.described(&zone))
                .collect(),
            struct_array_fields: self.structs.iter().map(StructField::described).collect(),
            enable_dynamic_field: self.dynamic,
            properties: key_values(&self.properties),
            functions: self
                .functions
                .iter()
                .map(|one| self.described_function(one))
                .collect(),
            version: self.version,
            ..proto::CollectionSchema::default()
        }
    }

    /// Whether rows are packed for it as for another.
    pub(crate) fn has_schema_of(&self, other: &Collection) -> bool {
        let same_fields = self.fields == other.fields && self.structs == other.structs;
        same_fields && self.dynamic == other.dynamic && self.functions == other.functions
    }

    /// Whether another description asks for the same collection.
    pub(crate) fn is_same(&self, other: &Collection) -> bool {
        let plain = |one: &Collection| Collection {
            id: 0,
            partitions: BTreeMap::new(),
            indexes: Vec::new(),
            loaded: false,
            released: BTreeSet::new(),
            dropped: BTreeSet::new(),
            last_dropped: None,
            dynamic_id: None,
            version: 0,
            updated_ms: 0,
            ..one.clone()
        };
        plain(self) == plain(other)
    }
}

/// Refuses what a schema asks for that would have rows told to others, or that are not there.
fn check_known(schema: &proto::CollectionSchema) -> Result<()> {
    if schema.enable_namespace {
        return Err(MilvusError::Unsupported("enable_namespace".into()));
    }
    if !schema.external_source.is_empty() {
        return Err(MilvusError::Unsupported("external_source".into()));
    }
    Ok(())
}

/// The partitions of a new collection: with a key those that its values are spread over, by number.
fn partitions(by_key: bool, asked: i64) -> Result<BTreeMap<String, i64>> {
    const BY_KEY: i64 = 16;
    if !by_key {
        if asked > 1 {
            return Err(MilvusError::invalid(
                "num_partitions should only be specified with partition key field enabled",
            ));
        }
        return Ok(BTreeMap::from([(DEFAULT_PARTITION.to_string(), 1)]));
    }
    let count = if asked == 0 { BY_KEY } else { asked };
    if !(1..=i64::try_from(PARTITIONS_MAX).unwrap_or(i64::MAX)).contains(&count) {
        return Err(MilvusError::invalid(format!(
            "partition number ({count}) exceeds max configuration ({PARTITIONS_MAX})"
        )));
    }
    let numbered = |number: i64| (format!("{DEFAULT_PARTITION}_{}", number - 1), number);
    Ok((1..=count).map(numbered).collect())
}

/// A collection under the name that it was asked for, and its index.
#[derive(Clone)]
pub(crate) struct Named {
    pub(crate) database: String,
    /// Its own name, not an alias.
    pub(crate) name: String,
    pub(crate) index: Arc<Index>,
    pub(crate) collection: Arc<Collection>,
}
