//! Values that hits are ordered by: written into answers, and read back from `search_after`.

use std::sync::Arc;

use axum::http::StatusCode;
use clew_engine::Index;
use clew_query::{SortKey, SortNumeric, SortValue};
use clew_schema::{DateError, FieldKind, IntegerKind, MappedField, Rounding, parse_address};
use serde_json::Value;

use crate::http::error::{ApiError, Cause};
use crate::http::json_writer::JsonWriter;
use crate::http::place::{Spot, token};

/// Refuses an order over a field whose numbers have a sign in one index and none in another.
pub(crate) fn check(sort: &[SortKey], indices: &[Arc<Index>]) -> Result<(), ApiError> {
    for key in sort {
        let SortKey::Field { path, .. } = key else {
            continue;
        };
        let (mut unsigned, mut others) = (false, false);
        for index in indices {
            match index.mapping().field(path).map(|field| &field.kind) {
                Some(FieldKind::Unsigned) => unsigned = true,
                Some(_) => others = true,
                None => {}
            }
        }
        if unsigned && others {
            return Err(ApiError::illegal_argument(
                "Can't do sort across indices, as a field has [unsigned_long] type in one index, \
                 and different type in another index!",
            ));
        }
    }
    Ok(())
}

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

/// Values of `search_after`, each of which is a single one.
pub(super) fn check_singles(list: &Value) -> Result<(), ApiError> {
    let mut values = list.as_array().into_iter().flatten();
    match values.find(|value| value.is_object() || value.is_array()) {
        None => Ok(()),
        Some(value) => {
            let reason = format!(
                "Expected [VALUE_STRING] or [VALUE_NUMBER] or [VALUE_BOOLEAN] or [VALUE_NULL] but found [{}] \
                 inside search_after.",
                token(value)
            );
            Err(ApiError::parsing_at(Spot::start_of(value), reason))
        }
    }
}

/// Reads `search_after`; what a text means is decided by its field.
///
/// # Errors
/// In OpenSearch's words; it finds them when the shards have the request.
pub(super) fn read(
    values: &[Value],
    sort: &[SortKey],
    index: &Index,
) -> Result<Vec<SortValue>, ApiError> {
    if sort.is_empty() {
        return Err(ApiError::illegal_argument(
            "Sort must contain at least one field.",
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

fn read_one(value: &Value, key: &SortKey, index: &Index) -> Result<SortValue, ApiError> {
    let refused =
        || ApiError::illegal_argument(format!("Failed to parse search_after value [{value}]"));
    if let SortKey::Score { .. } = key {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "it was written from 32 bits"
        )]
        let score = |number: f64| SortValue::Score(number as f32);
        let of_text = || value.as_str()?.trim().parse::<f64>().ok();
        let number = value.as_f64().or_else(of_text);
        return number.map(score).ok_or_else(refused);
    }
    let mapping = index.mapping();
    let field = match key {
        SortKey::Field { path, .. } => mapping.field(path),
        _ => None,
    };
    let flag = |value: &bool| if *value { "true" } else { "false" };
    match (value, field) {
        (Value::Null, _) => Ok(SortValue::Null),
        (Value::Number(_), Some(field)) if !takes_numbers(field) => {
            of_field(field, &value.to_string())
        }
        (Value::Number(_), _) => number(value).ok_or_else(refused),
        (Value::Bool(value), Some(field)) => of_field(field, flag(value)),
        (Value::String(text), Some(field)) => {
            of_field(field, text).map(|value| in_unit(value, field, key))
        }
        (Value::Bool(value), None) => Ok(SortValue::I64(i64::from(*value))),
        (Value::String(text), None) if matches!(key, SortKey::GeoDistance(_)) => {
            endless(text).ok_or_else(refused)
        }
        (Value::String(text), None) => Ok(SortValue::Str(text.clone())),
        (Value::Array(_) | Value::Object(_), _) => Err(refused()),
    }
}

/// A date in the unit that dates are ordered in.
fn in_unit(value: SortValue, field: &MappedField, key: &SortKey) -> SortValue {
    let SortKey::Field { numeric, .. } = key else {
        return value;
    };
    match (value, &field.kind, numeric) {
        (SortValue::I64(date), FieldKind::Date { .. }, Some(SortNumeric::DateNanos)) => {
            SortValue::I64(date.saturating_mul(1_000_000))
        }
        (SortValue::I64(date), FieldKind::DateNanos { .. }, Some(SortNumeric::Date)) => {
            SortValue::I64(date.div_euclid(1_000_000))
        }
        (value, ..) => value,
    }
}

fn number(value: &Value) -> Option<SortValue> {
    let whole = value.as_i64().map(SortValue::I64);
    let unsigned = || value.as_u64().map(SortValue::U64);
    let float = || value.as_f64().map(SortValue::F64);
    whole.or_else(unsigned).or_else(float)
}

/// Whether hits are ordered by numbers, so that one is taken as it is.
fn takes_numbers(field: &MappedField) -> bool {
    !matches!(
        field.kind,
        FieldKind::Ip | FieldKind::Keyword { .. } | FieldKind::Text { .. } | FieldKind::Flat
    )
}

/// What a text means as a value of a field.
fn of_field(field: &MappedField, text: &str) -> Result<SortValue, ApiError> {
    match &field.kind {
        FieldKind::Ip => parse_address(text).map(SortValue::Ip).ok_or_else(|| {
            ApiError::illegal_argument(format!("'{text}' is not an IP string literal."))
        }),
        FieldKind::Date { .. } | FieldKind::DateNanos { .. } => {
            endless(text).map_or_else(|| of_date(field, text), Ok)
        }
        FieldKind::Unsigned => endless(text)
            .map_or_else(|| of_unsigned(text), Ok)
            .map_err(ApiError::illegal_argument),
        // It lies behind all numbers.
        FieldKind::Float(_) if text.trim() == "NaN" => Ok(SortValue::F64(f64::NAN)),
        FieldKind::Integer(_) | FieldKind::Float(_) | FieldKind::Boolean => {
            endless(text).map_or_else(|| of_number(field, text), Ok)
        }
        _ => Ok(SortValue::Str(text.to_string())),
    }
}

/// What an answer shows of a document without a number, a date or a point.
fn endless(text: &str) -> Option<SortValue> {
    match text {
        "Infinity" => Some(SortValue::F64(f64::INFINITY)),
        "-Infinity" => Some(SortValue::F64(f64::NEG_INFINITY)),
        _ => None,
    }
}

fn of_unsigned(text: &str) -> Result<SortValue, String> {
    if let Ok(value) = text.parse() {
        return Ok(SortValue::U64(value));
    }
    Err(match text.parse::<f64>() {
        Ok(value) if value.fract() != 0.0 => format!("Value [{text}] has a decimal part"),
        Ok(_) => format!("Value [{text}] is out of range for an unsigned long"),
        Err(_) => format!("For input string: \"{text}\""),
    })
}

fn of_number(field: &MappedField, text: &str) -> Result<SortValue, ApiError> {
    let found = match &field.kind {
        FieldKind::Integer(IntegerKind::Long) | FieldKind::Float(_) => {
            let value = serde_json::from_str(text.trim()).ok();
            value.as_ref().and_then(number)
        }
        // Everything narrower is kept in 32 bits.
        _ => text.parse::<i32>().ok().map(|n| SortValue::I64(n.into())),
    };
    found.ok_or_else(|| {
        let cause = Cause::new(
            "number_format_exception",
            format!("For input string: \"{text}\""),
        );
        let reason = format!(
            "Failed to parse search_after value for field [{}].",
            field.path
        );
        let error = Cause::new("illegal_argument_exception", reason).caused_by(cause);
        ApiError::new(StatusCode::BAD_REQUEST, error)
    })
}

/// A date or an expression that starts with one; the time of the request is none that hits come after.
fn of_date(field: &MappedField, text: &str) -> Result<SortValue, ApiError> {
    let refused = |cause| ApiError::new(StatusCode::BAD_REQUEST, cause);
    let parse_exception = |reason: String| Cause::new("parse_exception", reason);
    match text {
        "" => return Err(refused(parse_exception("cannot parse empty date".into()))),
        now if now.starts_with("now") => {
            let cause = Cause::new(
                "illegal_state_exception",
                "now() is not allowed in [search_after] key",
            );
            let error = parse_exception("could not read the current timestamp".into());
            return Err(refused(error.caused_by(cause)));
        }
        _ => {}
    }
    let Some(format) = field.date_format() else {
        return of_number(field, text);
    };
    let zone = jiff::tz::TimeZone::UTC;
    let found = if matches!(field.kind, FieldKind::DateNanos { .. }) {
        format.parse_nanos_with_math_in(text, 0, Rounding::Down, &zone)
    } else {
        format.parse_with_math_in(text, 0, Rounding::Down, &zone)
    };
    found.map(SortValue::I64).map_err(|error| {
        let reason = error.to_string();
        if !matches!(error, DateError::Value { .. }) {
            return refused(parse_exception(reason));
        }
        let parsers = Cause::new(
            "date_time_parse_exception",
            "Failed to parse with all enclosed parsers",
        );
        let inner = Cause::new("illegal_argument_exception", reason.clone()).caused_by(parsers);
        refused(parse_exception(format!("{reason}: [{reason}]")).caused_by(inner))
    })
}
