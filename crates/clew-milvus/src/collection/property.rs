//! Properties that change what a collection is: whether its partition keys are kept apart, whether rows may have fields
//! beyond its own, and how what it holds is held; and the parameters of its fields that can change.

use std::collections::BTreeMap;

use clew_schema::{FieldKind, FieldSpec};

use super::field::LENGTH_MAX;
use super::{Collection, DYNAMIC, DataType, Field, StructField, key_values};
use crate::error::{MilvusError, Result};
use crate::instant::ZONE;
use crate::proto::KeyValuePair;

/// Whether searches have to say one value of the partition key.
const ISOLATION: &str = "partitionkey.isolation";
/// Whether rows may have fields beyond the collection's: said of one that is there already.
const DYNAMIC_FIELD: &str = "dynamicfield.enabled";

/// Whether inserted rows may bring keys that would be made otherwise.
const KEYS_TAKEN: &str = "allow_insert_auto_id";

/// The greatest number that a field had: told, and nobody's to say.
const MAX_FIELD_ID: &str = "max_field_id";
/// Whether each namespace has a part of its own.
const NAMESPACE_SHARDING: &str = "namespace.sharding.enabled";

/// A truth, as Milvus reads it.
pub(crate) fn truth(given: &str) -> Option<bool> {
    match given {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// Whether properties that are given let rows have fields beyond the collection's.
pub(crate) fn makes_dynamic(given: &[KeyValuePair]) -> bool {
    let mut given = given.iter();
    given.any(|pair| pair.key == DYNAMIC_FIELD && truth(&pair.value) == Some(true))
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

/// The description of a collection, and how consistent its searches are where they do not say: said as properties.
const DESCRIPTION: &str = "collection.description";
const CONSISTENCY: &str = "consistency_level";
/// Whether columns and indexes are mapped into memory: kept and told. The second is how clients say it of fields.
const MMAP: &str = "mmap.enabled";
const MMAP_OF_FIELD: &str = "mmap_enabled";

/// The number of a level of consistency, by that or by its name.
fn consistency(given: &str) -> Option<i32> {
    const LEVELS: [&str; 5] = ["Strong", "Session", "Bounded", "Eventually", "Customized"];
    let by_name = LEVELS.iter().position(|name| *name == given);
    let number = by_name
        .or_else(|| given.parse().ok())
        .filter(|number| *number < LEVELS.len())?;
    i32::try_from(number).ok()
}

/// What a property is called that says how rows and indexes are held in memory.
fn kind_of_holding(key: &str) -> Option<&'static str> {
    match key {
        MMAP | MMAP_OF_FIELD | "lazyload.enabled" => Some("mmap"),
        _ => key.starts_with("warmup").then_some("warmup"),
    }
}

impl Collection {
    /// Refuses properties that do not fit the collection's fields.
    ///
    /// # Errors
    /// When partition keys are to be kept apart and there are none, or what is no truth is said.
    pub(crate) fn check_isolation(&self, name: &str) -> Result<()> {
        match is_isolated(&self.properties)? && !self.has_partition_key() {
            true => Err(MilvusError::IllegalSchema(
                name.to_string(),
                "partition key isolation mode is enabled but no partition key field is set. Please set the partition key first".to_string(),
            )),
            false => Ok(()),
        }
    }

    /// Refuses to change how rows are held in memory while they may be searched; `verb` is what is done to the properties.
    ///
    /// # Errors
    /// In Milvus' words.
    pub(crate) fn check_held<'k>(
        &self,
        name: &str,
        verb: &str,
        keys: impl IntoIterator<Item = &'k String>,
    ) -> Result<()> {
        self.unless_held(name, keys, |kind| {
            format!("can not {verb} {kind} properties if collection loaded")
        })
    }

    /// The same of the parameters of a field.
    ///
    /// # Errors
    /// In Milvus' words.
    pub(crate) fn check_field_held<'k>(
        &self,
        name: &str,
        verb: &str,
        keys: impl IntoIterator<Item = &'k String>,
    ) -> Result<()> {
        self.unless_held(name, keys, |_| {
            format!("can not {verb} collection field properties if collection loaded")
        })
    }

    /// Refuses properties of which one cannot change now; `say` is told what that is called.
    fn unless_held<'k>(
        &self,
        name: &str,
        keys: impl IntoIterator<Item = &'k String>,
        say: impl FnOnce(&str) -> String,
    ) -> Result<()> {
        let mut kinds = keys.into_iter().filter_map(|key| kind_of_holding(key));
        match kinds.next().filter(|_| self.loaded) {
            None => Ok(()),
            Some(kind) => Err(MilvusError::CollectionLoaded(name.to_string(), say(kind))),
        }
    }

    /// The properties as clients are told of them: as Milvus has it, each collection has a time zone, the greatest number
    /// that a field of it had, and no part for each namespace, as there are none.
    pub(crate) fn told_properties(&self) -> Vec<KeyValuePair> {
        let mut told = self.properties.clone();
        let mut unless_said = |key: &str, value: &str| {
            told.entry(key.to_string())
                .or_insert_with(|| value.to_string());
        };
        unless_said(ZONE, "UTC");
        unless_said(NAMESPACE_SHARDING, "false");
        told.insert(MAX_FIELD_ID.to_string(), self.last_id().to_string());
        key_values(&told)
    }

    /// Whether rows that are inserted may bring keys, though keys are made.
    pub(crate) fn takes_keys(&self) -> bool {
        let said = self.properties.get(KEYS_TAKEN);
        said.is_some_and(|given| truth(given) == Some(true))
    }

    /// Refuses that rows bring keys where they have to bring them anyway.
    ///
    /// # Errors
    /// In Milvus' words.
    pub(crate) fn check_takes_keys(&self) -> Result<()> {
        match self.takes_keys() && !self.primary().auto_id {
            true => Err(MilvusError::invalid(format!(
                "the value for {KEYS_TAKEN} must be false when autoID is false"
            ))),
            false => Ok(()),
        }
    }

    /// Takes from its properties what they say of the collection itself. What is no level of consistency changes nothing.
    pub(crate) fn settle_said(&mut self) {
        if let Some(text) = self.properties.remove(DESCRIPTION) {
            self.description = text;
        }
        let level = self.properties.remove(CONSISTENCY);
        if let Some(level) = level.and_then(|given| consistency(&given)) {
            self.consistency_level = level;
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
    pub(crate) fn check_isolation_changes(&self, name: &str, before: &Collection) -> Result<()> {
        self.check_isolation(name)?;
        let is_changed = is_isolated(&self.properties)? != is_isolated(&before.properties)?;
        let mut vectors = self.vectors();
        let indexed = vectors.find(|field| self.index_of(&field.name).is_some());
        match indexed.filter(|_| is_changed) {
            None => Ok(()),
            Some(field) => Err(MilvusError::IndexDuplicate(format!(
                "can not alter partition key isolation mode if the collection already has a vector index. Please drop the index first: index already exists[indexName={}]",
                field.name
            ))),
        }
    }

    /// Lets rows have fields beyond the collection's from now on, where that is among its properties; what the index needs
    /// for it.
    ///
    /// # Errors
    /// For what is no truth.
    pub(crate) fn settle_dynamic(&mut self) -> Result<Option<FieldSpec>> {
        let Some(given) = self.properties.remove(DYNAMIC_FIELD) else {
            return Ok(None);
        };
        match truth(&given) {
            None => Err(MilvusError::invalid(format!(
                "invalid dynamic schema property value: {given}"
            ))),
            Some(false) if self.dynamic => {
                self.drop_dynamic();
                Ok(None)
            }
            Some(true) if !self.dynamic => {
                // What rows had beyond the fields before was taken out of them.
                self.dropped.remove(DYNAMIC);
                self.dynamic_id = Some(self.last_id() + 1);
                self.dynamic = true;
                Ok(Some(FieldSpec::new(DYNAMIC, FieldKind::Flat)))
            }
            Some(_) => Ok(None),
        }
    }
}

/// Refuses a change of properties that changes none, or what nobody may change. That rows may have fields beyond the
/// collection's is said by itself.
///
/// # Errors
/// In Milvus' words.
pub(crate) fn check_altered(given: &BTreeMap<String, String>, dropped: &[String]) -> Result<()> {
    let drops = |key: &str| dropped.iter().any(|dropped| dropped == key);
    let refused = if given.is_empty() && dropped.is_empty() {
        "no properties or delete keys provided".to_string()
    } else if given.contains_key(MAX_FIELD_ID) {
        format!("cannot alter reserved collection property {MAX_FIELD_ID}")
    } else if drops(MAX_FIELD_ID) {
        format!("cannot delete reserved collection property {MAX_FIELD_ID}")
    } else if given.contains_key(NAMESPACE_SHARDING) {
        format!("cannot alter {NAMESPACE_SHARDING} after collection creation")
    } else if drops(NAMESPACE_SHARDING) {
        format!("cannot delete {NAMESPACE_SHARDING} after collection creation")
    } else if drops(DYNAMIC_FIELD) {
        format!(
            "cannot delete key {DYNAMIC_FIELD}, dynamic field schema could support set to true/false"
        )
    } else if given.contains_key(DYNAMIC_FIELD) && given.len() > 1 {
        "cannot alter dynamic schema with other properties at the same time".to_string()
    } else {
        return Ok(());
    };
    Err(MilvusError::invalid(refused))
}

/// Refuses ways to warm up that there are not, among properties or parameters.
///
/// # Errors
/// In Milvus' words.
pub(crate) fn check_warmup(params: &BTreeMap<String, String>) -> Result<()> {
    const WAYS: [&str; 3] = ["disable", "sync", "async"];
    let mut warmups = params.iter().filter(|(key, _)| key.starts_with("warmup"));
    match warmups.find(|(_, way)| !WAYS.contains(&way.as_str())) {
        None => Ok(()),
        Some((key, way)) => Err(MilvusError::invalid(format!(
            "invalid warmup value for key {key}: invalid warmup policy: {way}, must be 'disable' or 'sync'"
        ))),
    }
}

impl Collection {
    /// Changes and drops parameters of a field, of a part of structs, or of structs as a whole. Errors name the collection as
    /// it is called.
    ///
    /// # Errors
    /// In Milvus' words, for fields that are not there, and for what cannot change, or not now.
    pub(crate) fn alter_field(
        &mut self,
        (called, name): (&str, &str),
        given: BTreeMap<String, String>,
        dropped: &[String],
    ) -> Result<()> {
        if self.field(name).is_err() && self.struct_field(name).is_none() {
            return Err(MilvusError::invalid(format!(
                "field {name} does not exist in collection"
            )));
        }
        self.check_field_held(called, "alter", given.keys())?;
        self.check_field_held(called, "drop", dropped)?;
        if let Some(list) = self.structs.iter_mut().find(|list| list.name == name) {
            return list.alter(given, dropped);
        }
        let lists = self.structs.iter_mut();
        let parts = lists.flat_map(|list| list.parts.iter_mut());
        let mut fields = self.fields.iter_mut().chain(parts);
        if let Some(field) = fields.find(|field| field.name == name) {
            for (key, value) in given {
                field.alter(key, value)?;
            }
            for key in dropped {
                field.drop_param(key)?;
            }
        }
        Ok(())
    }
}

impl StructField {
    /// Changes and drops what is said of structs as a whole: how they are held, and what they are.
    fn alter(&mut self, given: BTreeMap<String, String>, dropped: &[String]) -> Result<()> {
        for (key, value) in given {
            match key.as_str() {
                "description" | "field.description" => self.description = value,
                _ if kind_of_holding(&key).is_some() => {
                    self.params.insert(key, value);
                }
                _ => {
                    return Err(MilvusError::invalid(format!(
                        "{key} does not allow update in collection field param"
                    )));
                }
            }
        }
        for key in dropped {
            check_dropped(key)?;
            self.params.remove(key);
        }
        Ok(())
    }
}

/// Refuses to drop a parameter that a field always has.
fn check_dropped(key: &str) -> Result<()> {
    match kind_of_holding(key) {
        Some(_) => Ok(()),
        None => Err(MilvusError::invalid(format!(
            "{key} is not allowed to drop in collection field param"
        ))),
    }
}

impl Field {
    /// Changes a parameter.
    ///
    /// # Errors
    /// In Milvus' words, for what cannot change, and for values that the field cannot have.
    pub(crate) fn alter(&mut self, key: String, value: String) -> Result<()> {
        let name = &self.name;
        let refused = match key.as_str() {
            "max_length" if !self.has_texts() => Some(format!(
                "{name} can not modify the maxlength for non-string types"
            )),
            "max_length" => match value.parse::<i64>() {
                Err(_) => Some(format!("{key} should be an integer, but got string")),
                Ok(length) => usize::try_from(length)
                    .is_ok_and(|length| length > LENGTH_MAX)
                    .then(|| format!("{length} exceeds the maximum allowed value {LENGTH_MAX}")),
            },
            "max_capacity" if self.data_type != DataType::Array => Some(format!(
                "{name} can not modify the maxcapacity for non-array types"
            )),
            "max_capacity" | MMAP | MMAP_OF_FIELD | "description" | "field.description" => None,
            _ if key.starts_with("warmup") => None,
            _ => Some(format!(
                "{key} does not allow update in collection field param"
            )),
        };
        if let Some(said) = refused {
            return Err(MilvusError::invalid(said));
        }
        match key.as_str() {
            "description" | "field.description" => self.description = value,
            _ => {
                self.params.insert(key, value);
            }
        }
        self.check()
    }

    /// Drops a parameter.
    ///
    /// # Errors
    /// For those that a field always has.
    pub(crate) fn drop_param(&mut self, key: &str) -> Result<()> {
        check_dropped(key)?;
        self.params.remove(key);
        Ok(())
    }
}
