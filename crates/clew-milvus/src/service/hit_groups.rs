//! What hits are grouped by, and how many of each group are told.

use std::collections::BTreeMap;

use clew_engine::{GroupBy, GroupField, GroupInside, GroupKey, GroupKind};
use serde_json::Value;

use super::aggregate::GROUP_BY;
use super::asked::is_set;
use super::words::default_key;
use crate::collection::{Collection, DataType, Field};
use crate::error::{MilvusError, Result};
use crate::expr::inside;

/// Most fields that hits are grouped by.
const GROUP_FIELDS_MAX: usize = 64;
/// Most hits of a group that are told.
const GROUP_SIZE_MAX: usize = 1_000;

/// What hits are grouped by: a field, or what a path into JSON leads to.
///
/// # Errors
/// When there is no such field, or none whose values make groups.
pub(super) fn group_field(collection: &Collection, name: &str) -> Result<GroupField> {
    let of_field = |inside, missing| GroupField {
        path: name.to_string(),
        inside,
        missing,
    };
    let of_type = |field: &Field| {
        MilvusError::invalid(format!(
            "unsupported data type for group by: field {} is a {}",
            field.name,
            field.data_type.name()
        ))
    };
    if let Ok(field) = collection.field(name) {
        let data_type = field.data_type;
        return match data_type {
            DataType::Json => Ok(of_field(
                Some(GroupInside::new(Vec::new())),
                GroupKey::Missing,
            )),
            DataType::Bool | DataType::VarChar | DataType::Timestamptz => {
                Ok(of_field(None, default_key(field)))
            }
            _ if data_type.is_integer() => Ok(of_field(None, default_key(field))),
            _ => Err(of_type(field)),
        };
    }
    // What is no path cannot be a key of the rows' own fields either.
    let missing = || match collection.dynamic {
        true => MilvusError::invalid(format!("cannot parse identifier: {name}")),
        false => MilvusError::GroupFieldNotFound(name.to_string()),
    };
    let (member, steps) = inside(name, collection)
        .ok()
        .flatten()
        .ok_or_else(missing)?;
    match collection.field(&member) {
        Ok(field) if field.data_type != DataType::Json => Err(of_type(field)),
        _ => Ok(GroupField {
            path: member,
            inside: Some(GroupInside::new(steps)),
            missing: GroupKey::Missing,
        }),
    }
}

/// What the hits of a search are grouped by, where that is said: pages of hits and ranges of distances have no groups.
///
/// # Errors
/// As [`group_by`], and where there can be no groups.
pub(super) fn group_of_hits(
    collection: &Collection,
    params: &BTreeMap<String, String>,
    inner: &BTreeMap<String, Value>,
) -> Result<Option<GroupBy>> {
    let group = group_by(collection, params)?;
    let refused = match group.is_some() {
        true if is_set(params, "iterator") => "Not allowed to do groupBy when doing iteration",
        true if inner.contains_key("radius") => {
            "Not allowed to do range-search when doing search-group-by"
        }
        _ => return Ok(group),
    };
    Err(MilvusError::invalid(refused))
}

/// What hits are grouped by, where that is said. Clients that know of one field only say it in a place of its own, which counts
/// before that of several; of a field that is JSON `json_path` says what is meant inside of it, `json_type` what that has to be,
/// and `strict_cast` whether rows where it is something else are refused and not just without a value.
///
/// # Errors
/// For fields that make no groups, and sizes that are no number within bounds.
pub(super) fn group_by(
    collection: &Collection,
    params: &BTreeMap<String, String>,
) -> Result<Option<GroupBy>> {
    let said = |key: &str| {
        let names = params.get(key).map_or("", String::as_str).trim();
        Some(names).filter(|names| !names.is_empty())
    };
    let names: Vec<&str> = match (said("group_by_field"), said(GROUP_BY)) {
        (None, None) => return Ok(None),
        (Some(name), _) => vec![name],
        (None, Some(names)) => {
            let names = names.split(',').map(str::trim);
            names.filter(|name| !name.is_empty()).collect()
        }
    };
    if names.is_empty() {
        return Ok(None);
    }
    if names.len() > GROUP_FIELDS_MAX {
        return Err(MilvusError::invalid(format!(
            "hits are grouped by {} fields, and by {GROUP_FIELDS_MAX} at most",
            names.len()
        )));
    }
    let mut fields = match (said("json_path"), &names[..]) {
        (Some(path), [name]) => vec![group_inside(collection, name, path)?],
        _ => {
            let fields = names.iter().map(|name| group_field(collection, name));
            fields.collect::<Result<Vec<_>>>()?
        }
    };
    for inside in fields.iter_mut().filter_map(|field| field.inside.as_mut()) {
        inside.kind = said("json_type").map_or(Ok(None), json_kind)?;
        inside.strict = is_set(params, "strict_cast");
    }
    let size = match params.get("group_size") {
        None => 1,
        Some(given) => group_size(given)?,
    };
    Ok(Some(GroupBy {
        fields,
        size,
        strict: is_set(params, "strict_group_size"),
    }))
}

/// What a path leads to inside of a field that is named beside it.
fn group_inside(collection: &Collection, name: &str, path: &str) -> Result<GroupField> {
    let field = group_field(collection, name)?;
    let inner = group_field(collection, path)?;
    match field.path == inner.path {
        true => Ok(inner),
        false => Err(MilvusError::invalid(format!(
            "json_path {path} does not lead into field {name}"
        ))),
    }
}

/// What a value inside JSON has to be; names that no type has say nothing, as with Milvus.
fn json_kind(name: &str) -> Result<Option<GroupKind>> {
    Ok(Some(match DataType::named(name) {
        None => return Ok(None),
        Some(DataType::Bool) => GroupKind::Boolean,
        Some(DataType::Int8) => GroupKind::Integer { bits: 8 },
        Some(DataType::Int16) => GroupKind::Integer { bits: 16 },
        Some(DataType::Int32) => GroupKind::Integer { bits: 32 },
        Some(DataType::Int64) => GroupKind::Integer { bits: 64 },
        Some(DataType::VarChar) => GroupKind::Text,
        Some(other) => {
            return Err(MilvusError::invalid(format!(
                "unsupported json_type {} for JSON group by",
                other.name()
            )));
        }
    }))
}

/// The type that values inside JSON are told as.
pub(super) fn told_as(kind: GroupKind) -> DataType {
    match kind {
        GroupKind::Boolean => DataType::Bool,
        GroupKind::Integer { bits: ..=8 } => DataType::Int8,
        GroupKind::Integer { bits: ..=16 } => DataType::Int16,
        GroupKind::Integer { bits: ..=32 } => DataType::Int32,
        GroupKind::Integer { .. } => DataType::Int64,
        GroupKind::Text => DataType::VarChar,
    }
}

/// How many hits of a group are told.
fn group_size(given: &str) -> Result<usize> {
    let refused = |why: String| Err(MilvusError::invalid(why));
    match given.parse::<i64>() {
        Err(_) => refused(format!("failed to parse input group size:{given}")),
        Ok(..1) => refused(format!(
            "input group size:{given} is negative, failed to do search_groupby"
        )),
        Ok(size) => match usize::try_from(size) {
            Ok(size) if size <= GROUP_SIZE_MAX => Ok(size),
            _ => refused(format!(
                "input group size:{given} exceeds configured max group size:{GROUP_SIZE_MAX}"
            )),
        },
    }
}
