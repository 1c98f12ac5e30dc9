//! The parameters of one field in a mapping.

use clew_vector::{ColumnOptions, Space};
use serde_json::{Map, Value};

use super::field::{FieldKind, FieldSettings, FloatKind, IntegerKind, VectorMapping};
use super::schema::{Definition, MappingError, NewField};
use super::vector::read_vector;
use crate::analysis::is_analyzer;
use crate::document::DATE_FORMAT_DEFAULT;

/// Parameters that every field takes and that change nothing here.
const SHOWN: [&str; 5] = ["store", "doc_values", "meta", "boost", "similarity"];
/// The same for one type or another.
const TEXT_SHOWN: [&str; 9] = [
    "norms",
    "index_options",
    "term_vector",
    "fielddata",
    "fielddata_frequency_filter",
    "eager_global_ordinals",
    "index_prefixes",
    "index_phrases",
    "search_quote_analyzer",
];
const KEYWORD_SHOWN: [&str; 5] = [
    "norms",
    "index_options",
    "eager_global_ordinals",
    "split_queries_on_whitespace",
    "use_similarity",
];
const VECTOR_SHOWN: [&str; 4] = ["data_type", "mode", "compression_level", "space_type"];

/// Reads a field as it stands under `properties`, or under `fields` of another one.
pub(super) fn read_field(
    path: &str,
    parameters: &Map<String, Value>,
    multi_field: bool,
) -> Result<Definition, MappingError> {
    let name = path.rsplit('.').next().unwrap_or(path);
    let type_name = parameters.get("type").map(show).unwrap_or_default();
    let mut definition = Definition {
        new: NewField {
            path: path.to_string(),
            kind: default_kind(name, &type_name)?,
            indexed: true,
            multi_field,
        },
        settings: FieldSettings::default(),
    };
    if let FieldKind::Vector(vector) = &mut definition.new.kind {
        read_vector(name, parameters, vector)?;
    }
    for (key, value) in parameters {
        let known = key == "type"
            || key == "fields" && !multi_field
            || read_common(&mut definition, key, value)?
            || read_special(&mut definition, name, key, value)?;
        if !known {
            return Err(MappingError::invalid(format!(
                "unknown parameter [{key}] on mapper [{name}] of type [{type_name}]"
            )));
        }
    }
    Ok(definition)
}

fn default_kind(name: &str, type_name: &str) -> Result<FieldKind, MappingError> {
    Ok(match type_name {
        "text" => FieldKind::Text {
            analyzer: "standard".to_string(),
        },
        "keyword" => FieldKind::Keyword { ignore_above: None },
        "long" => FieldKind::Integer(IntegerKind::Long),
        "integer" => FieldKind::Integer(IntegerKind::Integer),
        "short" => FieldKind::Integer(IntegerKind::Short),
        "byte" => FieldKind::Integer(IntegerKind::Byte),
        "double" => FieldKind::Float(FloatKind::Double),
        "float" => FieldKind::Float(FloatKind::Float),
        "boolean" => FieldKind::Boolean,
        "date" => FieldKind::Date {
            format: DATE_FORMAT_DEFAULT.to_string(),
        },
        "ip" => FieldKind::Ip,
        "geo_point" => FieldKind::GeoPoint,
        "knn_vector" => FieldKind::Vector(VectorMapping {
            column: ColumnOptions::new(0, Space::L2),
            method: None,
            ef_search: None,
            probes: None,
        }),
        other => {
            return Err(MappingError::invalid(format!(
                "No handler for type [{other}] declared on field [{name}]"
            )));
        }
    })
}

/// Parameters of every type; whether it was one.
fn read_common(
    definition: &mut Definition,
    key: &str,
    value: &Value,
) -> Result<bool, MappingError> {
    let settings = &mut definition.settings;
    match key {
        "index" => definition.new.indexed = boolean(key, value)?,
        "copy_to" => {
            let paths = value
                .as_array()
                .map_or(std::slice::from_ref(value), Vec::as_slice);
            settings.copy_to = paths.iter().map(show).collect();
        }
        _ if SHOWN.contains(&key) => {
            if matches!(key, "store" | "doc_values") {
                boolean(key, value)?;
            }
            settings.shown.insert(key.to_string(), value.clone());
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Parameters of one type; whether it was one.
fn read_special(
    definition: &mut Definition,
    name: &str,
    key: &str,
    value: &Value,
) -> Result<bool, MappingError> {
    let settings = &mut definition.settings;
    let kind = &mut definition.new.kind;
    match (&mut *kind, key) {
        (FieldKind::Text { analyzer }, "analyzer") => *analyzer = known_analyzer(value)?,
        (FieldKind::Text { .. }, "search_analyzer") => {
            settings.search_analyzer = Some(known_analyzer(value)?);
        }
        (FieldKind::Text { .. }, "position_increment_gap") => {
            settings.position_gap = number(name, key, value, 0..=1_000_000)?;
        }
        (FieldKind::Keyword { ignore_above }, "ignore_above") => {
            let length = number(name, key, value, 0..=u32::MAX as usize)?;
            *ignore_above = u32::try_from(length).ok();
        }
        (FieldKind::Keyword { .. }, "normalizer") => {
            return Err(MappingError::invalid(format!(
                "normalizer [{}] not found for field [{name}]",
                show(value)
            )));
        }
        (FieldKind::Date { format }, "format") => *format = show(value),
        (FieldKind::Integer(_) | FieldKind::Float(_), "coerce") => {
            settings.coerce = boolean(key, value)?;
        }
        (
            FieldKind::Integer(_)
            | FieldKind::Float(_)
            | FieldKind::Date { .. }
            | FieldKind::Ip
            | FieldKind::GeoPoint,
            "ignore_malformed",
        ) => settings.ignore_malformed = boolean(key, value)?,
        (FieldKind::Text { .. } | FieldKind::Vector(_), "null_value") => return Ok(false),
        (FieldKind::GeoPoint, "null_value") => {
            crate::geo::GeoPoint::from_json(value)
                .and_then(crate::geo::GeoPoint::checked)
                .map_err(MappingError::invalid)?;
            settings.null_value = Some(value.clone());
        }
        (_, "null_value") => settings.null_value = Some(value.clone()).filter(|v| !v.is_null()),
        (FieldKind::Vector(_), "dimension" | "method") => {}
        (kind, key) => {
            let shown: &[&str] = match kind {
                FieldKind::Text { .. } => &TEXT_SHOWN,
                FieldKind::Keyword { .. } => &KEYWORD_SHOWN,
                FieldKind::Vector(_) => &VECTOR_SHOWN,
                FieldKind::Date { .. } => &["locale", "print_format"],
                FieldKind::GeoPoint => &["ignore_z_value"],
                _ => &[],
            };
            if !shown.contains(&key) {
                return Ok(false);
            }
            settings.shown.insert(key.to_string(), value.clone());
        }
    }
    Ok(true)
}

fn known_analyzer(value: &Value) -> Result<String, MappingError> {
    let name = show(value);
    if is_analyzer(&name) {
        Ok(name)
    } else {
        Err(MappingError::invalid(format!(
            "analyzer [{name}] has not been configured in mappings"
        )))
    }
}

pub(super) fn whole_number(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => text.parse().ok(),
        value => usize::try_from(value.as_u64()?).ok(),
    }
}

fn number(
    name: &str,
    key: &str,
    value: &Value,
    range: std::ops::RangeInclusive<usize>,
) -> Result<usize, MappingError> {
    whole_number(value)
        .filter(|number| range.contains(number))
        .ok_or_else(|| {
            MappingError::invalid(format!(
                "[{key}] of field [{name}] must be from {} to {}, got [{}]",
                range.start(),
                range.end(),
                show(value)
            ))
        })
}

/// A switch, as JSON has them or as text.
pub(super) fn boolean(key: &str, value: &Value) -> Result<bool, MappingError> {
    match show(value).as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(MappingError::invalid(format!(
            "Could not convert [{key}] to boolean: Failed to parse value [{other}] as only [true] or [false] are allowed."
        ))),
    }
}

/// A value in a message: text without its quotes.
pub(super) fn show(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
