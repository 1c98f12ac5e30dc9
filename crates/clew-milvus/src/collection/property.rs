//! Properties that change what a collection is: whether its partition keys are kept apart, and whether rows may have fields
//! beyond its own.

use std::collections::BTreeMap;

use clew_schema::{FieldKind, FieldSpec};

use super::{Collection, DYNAMIC, Field};
use crate::error::{MilvusError, Result};

/// Whether searches have to say one value of the partition key.
const ISOLATION: &str = "partitionkey.isolation";
/// Whether rows may have fields beyond the collection's: said of one that is there already.
const DYNAMIC_FIELD: &str = "dynamicfield.enabled";

/// A truth, as Milvus reads it.
fn truth(given: &str) -> Option<bool> {
    match given {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// Whether properties keep partition keys apart.
fn is_isolated(properties: &BTreeMap<String, String>) -> Result<bool> {
    match properties.get(ISOLATION) {
        None => Ok(false),
        Some(given) => truth(given).ok_or_else(|| {
            MilvusError::invalid(format!(
                "failed to parse partition key isolation: invalid value {given}"
            ))
        }),
    }
}

impl Collection {
    /// Refuses properties that do not fit the collection's fields.
    ///
    /// # Errors
    /// When partition keys are to be kept apart and there are none, or what is no truth is said.
    pub(crate) fn check_isolation(&self) -> Result<()> {
        match is_isolated(&self.properties)? && !self.has_partition_key() {
            true => Err(MilvusError::invalid(
                "partition key isolation mode is enabled but no partition key field is set. Please set the partition key first",
            )),
            false => Ok(()),
        }
    }

    /// The partition key, where each search has to say one value of it.
    pub(crate) fn isolated_key(&self) -> Option<&Field> {
        let isolated = is_isolated(&self.properties).unwrap_or_default();
        let mut fields = self.fields.iter();
        fields.find(|field| isolated && field.is_partition_key)
    }

    /// Refuses to keep partition keys apart, or no longer, while vectors have an index.
    ///
    /// # Errors
    /// In Milvus' words.
    pub(crate) fn check_isolation_changes(&self, before: &Collection) -> Result<()> {
        let is_changed = is_isolated(&self.properties)? != is_isolated(&before.properties)?;
        let mut vectors = self.vectors();
        match is_changed && vectors.any(|field| self.index_of(&field.name).is_some()) {
            true => Err(MilvusError::invalid(
                "can not alter partition key isolation mode if the collection already has a vector index. Please drop the index first",
            )),
            false => self.check_isolation(),
        }
    }

    /// Lets rows have fields beyond the collection's from now on, where that is among its properties; what the index needs
    /// for it.
    ///
    /// # Errors
    /// For what is no truth, and where they have them and should not.
    pub(crate) fn settle_dynamic(&mut self) -> Result<Option<FieldSpec>> {
        let Some(given) = self.properties.remove(DYNAMIC_FIELD) else {
            return Ok(None);
        };
        match truth(&given) {
            None => Err(MilvusError::invalid(format!(
                "invalid value of {DYNAMIC_FIELD}: {given}"
            ))),
            Some(false) if self.dynamic => Err(MilvusError::invalid(
                "dynamic schema cannot supported to be disabled",
            )),
            Some(true) if !self.dynamic => {
                self.dynamic = true;
                Ok(Some(FieldSpec::new(DYNAMIC, FieldKind::Flat)))
            }
            Some(_) => Ok(None),
        }
    }
}
