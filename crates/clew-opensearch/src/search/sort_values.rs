//! Values that hits are ordered by: written into answers, and read back from `search_after`.

use clew_engine::Index;
use clew_text::{FieldKind, MappedField, SortKey, SortValue};
use serde_json::Value;

use crate::error::ApiError;
use crate::json_writer::JsonWriter;

/// Writes one value.
pub(super) fn write(json: &mut JsonWriter, value: &SortValue) {
    match value {
        SortValue::Null => json.null(),
        SortValue::U64(number) => json.value(&Value::from(*number)),
        SortValue::I64(number) => json.value(&Value::from(*number)),
        // What a document without a number or a point has.
        SortValue::F64(f64::INFINITY) | SortValue::F32(f32::INFINITY) => json.string("Infinity"),
        SortValue::F64(f64::NEG_INFINITY) | SortValue::F32(f32::NEG_INFINITY) => {
            json.string("-Infinity")
        }
        SortValue::Score(number) | SortValue::F32(number) => json.float(*number),
        SortValue::F64(number) => json.value(&Value::from(*number)),
        SortValue::Str(text) => json.string(text),
        SortValue::Ip(address) => json.string(&address.to_canonical().to_string()),
    };
}

/// One value by itself.
pub(super) fn shown(value: &SortValue) -> Value {
    let mut json = JsonWriter::with_capacity(32);
    write(&mut json, value);
    serde_json::from_slice(&json.into_bytes()).unwrap_or_default()
}

/// Reads `search_after`; what a text means is decided by its field.
pub(super) fn read(
    values: &[Value],
    sort: &[SortKey],
    index: Option<&Index>,
) -> Result<Vec<SortValue>, ApiError> {
    if sort.is_empty() {
        return Err(ApiError::illegal_argument(
            "Sort must contain at least one field when using search_after.",
        ));
    }
    if values.len() != sort.len() {
        return Err(ApiError::illegal_argument(format!(
            "search_after has {} value(s) but sort has {}.",
            values.len(),
            sort.len()
        )));
    }
    values
        .iter()
        .zip(sort)
        .map(|(value, key)| read_one(value, key, index))
        .collect()
}

fn read_one(value: &Value, key: &SortKey, index: Option<&Index>) -> Result<SortValue, ApiError> {
    let refused =
        || ApiError::illegal_argument(format!("Failed to parse search_after value [{value}]"));
    let number = |value: &Value| -> Option<SortValue> {
        value
            .as_i64()
            .map(SortValue::I64)
            .or_else(|| value.as_u64().map(SortValue::U64))
            .or_else(|| value.as_f64().map(SortValue::F64))
    };
    if let SortKey::Score { .. } = key {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "it was written from 32 bits"
        )]
        let score = value.as_f64().map(|score| SortValue::Score(score as f32));
        return score.ok_or_else(refused);
    }
    match value {
        Value::Null => Ok(SortValue::Null),
        Value::Bool(flag) => Ok(SortValue::I64(i64::from(*flag))),
        Value::Number(_) => number(value).ok_or_else(refused),
        Value::String(text) if matches!(key, SortKey::GeoDistance(_)) => match text.as_str() {
            "Infinity" => Ok(SortValue::F64(f64::INFINITY)),
            _ => Err(refused()),
        },
        Value::String(text) => {
            let mapping = index.map(Index::mapping);
            let field = match (key, &mapping) {
                (SortKey::Field { path, .. }, Some(mapping)) => mapping.field(path),
                _ => None,
            };
            match field {
                Some(field) => of_field(field, text).ok_or_else(refused),
                None => Ok(SortValue::Str(text.clone())),
            }
        }
        Value::Array(_) | Value::Object(_) => Err(refused()),
    }
}

/// What a text means as a value of a field.
fn of_field(field: &MappedField, text: &str) -> Option<SortValue> {
    let number = || {
        match text {
            "Infinity" => return Some(SortValue::F64(f64::INFINITY)),
            "-Infinity" => return Some(SortValue::F64(f64::NEG_INFINITY)),
            _ => {}
        }
        let value: Value = serde_json::from_str(text.trim()).ok()?;
        let unsigned = || value.as_u64().map(SortValue::U64);
        let float = || value.as_f64().map(SortValue::F64);
        let whole = value.as_i64().map(SortValue::I64);
        whole.or_else(unsigned).or_else(float)
    };
    match &field.kind {
        FieldKind::Ip => Some(SortValue::Ip(match text.parse().ok()? {
            std::net::IpAddr::V4(address) => address.to_ipv6_mapped(),
            std::net::IpAddr::V6(address) => address,
        })),
        FieldKind::Date { .. } => {
            let millis = field.date_format()?.parse_value(text).ok();
            millis.map(SortValue::I64).or_else(number)
        }
        FieldKind::DateNanos { .. } => {
            let nanos = field.date_format()?.parse_nanos(text).ok();
            nanos.map(SortValue::I64).or_else(number)
        }
        FieldKind::Integer(_) | FieldKind::Unsigned | FieldKind::Float(_) => number(),
        _ => Some(SortValue::Str(text.to_string())),
    }
}
