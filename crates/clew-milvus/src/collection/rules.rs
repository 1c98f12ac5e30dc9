//! What the fields of a collection must be together, in Milvus' words.

use super::{Collection, DataType, Field, StructField};
use crate::error::{MilvusError, Result};
use crate::proto::FieldSchema;

/// Most fields of a collection.
const FIELDS_MAX: usize = 256;
/// Most vector fields of a collection.
const VECTORS_MAX: usize = 10;
/// Names of fields that Milvus has of its own.
const SYSTEM: [&str; 4] = ["RowID", "Timestamp", "$meta", "$namespace_id"];

impl Collection {
    /// Refuses fields that do not go together.
    ///
    /// # Errors
    /// For too many, for two of one name, and where one is lacking that every collection has.
    pub(super) fn check_fields(&self) -> Result<()> {
        if self.fields_count() > FIELDS_MAX {
            return Err(MilvusError::invalid(format!(
                "maximum field's number should be limited to {FIELDS_MAX}"
            )));
        }
        let vectors = self.vectors().count();
        if vectors == 0 {
            return Err(MilvusError::invalid("schema does not contain vector field"));
        }
        if vectors > VECTORS_MAX {
            return Err(MilvusError::invalid(format!(
                "maximum vector field's number should be limited to {VECTORS_MAX}"
            )));
        }
        let names = self.fields.iter().map(|field| &field.name);
        let names: Vec<&String> = names
            .chain(self.structs.iter().map(|one| &one.name))
            .collect();
        for (at, name) in names.iter().enumerate() {
            if names[..at].contains(name) {
                return Err(MilvusError::invalid(format!(
                    "duplicated field name {name} found"
                )));
            }
        }
        match self.of_kind(|field| field.is_primary)[..] {
            [] => Err(MilvusError::missing("primary key is not specified")),
            [_] => Ok(()),
            [first, second, ..] => Err(more_than_one("primary key", first, second)),
        }
    }

    /// Refuses keys of a new collection that there can be only one of, or none.
    ///
    /// # Errors
    /// With Milvus' codes; those of keys that rows are clustered by name the collection.
    pub(super) fn check_keys(&self, name: &str) -> Result<()> {
        if let Some(field) = self.fields.iter().find(|field| is_system(&field.name)) {
            return Err(MilvusError::invalid(format!(
                "schema contains system field: {}: invalid parameter[expected=schema don't contains system field][actual={}]",
                SYSTEM.join(", "),
                field.name
            )));
        }
        let numbered = self.of_kind(|field| field.auto_id && !field.is_primary);
        if let Some(field) = numbered.first() {
            return Err(not_numbered(&field.name));
        }
        if let [first, second, ..] = self.of_kind(|field| field.is_partition_key)[..] {
            return Err(more_than_one("partition key", first, second));
        }
        let illegal = |said: String| Err(MilvusError::IllegalSchema(name.to_string(), said));
        let clustering = self.of_kind(|field| field.is_clustering_key);
        for field in &clustering {
            match field.data_type {
                DataType::VarChar => {}
                kind if kind.is_number() => {}
                DataType::FloatVector => {
                    return Err(MilvusError::VectorClusteringKey(name.to_string()));
                }
                kind => {
                    return illegal(format!(
                        "clustering key field {} has unsupported data type {}",
                        field.name,
                        kind.name()
                    ));
                }
            }
        }
        match clustering[..] {
            [first, second, ..] => illegal(format!(
                "there are more than one clustering key, field name = {}, {}",
                first.name, second.name
            )),
            _ => Ok(()),
        }
    }

    /// How many fields there are, those in structs among them.
    fn fields_count(&self) -> usize {
        let parts = self.structs.iter().map(|one| one.parts.len());
        self.fields.len() + parts.sum::<usize>()
    }

    /// Refuses fields that cannot come to those that are there.
    pub(super) fn check_added(&self, field: &Field) -> Result<()> {
        let name = &field.name;
        let refused = if self.fields_count() >= FIELDS_MAX {
            format!("The number of fields has reached the maximum value {FIELDS_MAX}")
        } else if is_system(name) {
            format!("not support to add system field, field name = {name}")
        } else if field.data_type.is_vector() && !field.nullable {
            format!("not support to add vector field, field name = {name}")
        } else if field.is_clustering_key && self.fields.iter().any(|own| own.is_clustering_key) {
            // The typing error is Milvus' own.
            format!("already has another clutering key field, field name: {name}")
        } else if self.fields.iter().any(|own| own.name == *name) {
            format!("duplicate field name: {name}")
        } else {
            return self.check_not_dropped(name);
        };
        Err(MilvusError::invalid(refused))
    }

    fn of_kind(&self, is_kind: impl Fn(&Field) -> bool) -> Vec<&Field> {
        let fields = self.fields.iter();
        fields.filter(|field| is_kind(field)).collect()
    }
}

/// Refuses fields that no collection can be given later, before anything else is said of them.
///
/// # Errors
/// In Milvus' words.
pub(crate) fn check_late(field: &FieldSchema) -> Result<()> {
    let name = &field.name;
    let refused = if field.is_primary_key {
        format!("not support to add pk field, field name = {name}")
    } else if field.auto_id {
        return Err(not_numbered(name));
    } else if field.is_partition_key {
        // Two blanks, as in Milvus' own.
        format!("not support to add partition key field, field name  = {name}")
    } else {
        return Ok(());
    };
    Err(MilvusError::invalid(refused))
}

/// Refuses structs that come later and have, or whose parts have, a name of Milvus' own; a new collection may have such.
///
/// # Errors
/// In Milvus' words.
pub(super) fn check_added_names(field: &StructField) -> Result<()> {
    let parts = field.parts.iter().map(|part| field.part_name(part));
    let mut names = std::iter::once(field.name.as_str()).chain(parts);
    match names.find(|name| is_system(name)) {
        None => Ok(()),
        Some(name) => Err(MilvusError::invalid(format!(
            "not support to add system field, field name = {name}"
        ))),
    }
}

fn is_system(name: &str) -> bool {
    SYSTEM.contains(&name)
}

fn not_numbered(name: &str) -> MilvusError {
    // The typing error is Milvus' own, and clients look for it.
    MilvusError::invalid(format!(
        "only primary field can speficy AutoID with true, field name = {name}"
    ))
}

fn more_than_one(what: &str, first: &Field, second: &Field) -> MilvusError {
    MilvusError::invalid(format!(
        "there are more than one {what}, field name = {}, {}",
        first.name, second.name
    ))
}

#[cfg(test)]
mod tests;
