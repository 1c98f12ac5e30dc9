//! What a document without a value is sorted by, and shown to have.

use clew_query::{Missing, Order, QueryError, SortNumeric, SortValue, Unmapped};
use clew_schema::{FieldKind, IntegerKind, parse_address};

use super::key_source::{KeySource, is_numeric};
use super::sort_place::whole;
use crate::snapshot::Snapshot;

/// A field, and what its numbers are sorted as where that is another type than their own.
pub(super) type SortedField<'a> = (&'a str, Option<SortNumeric>);

/// What a document without a value is sorted by: what the key says, as the field has it, or else an end of what the field's
/// values can be, where they have one.
///
/// # Errors
/// When a text in place of values is none of the field.
pub(super) fn missing_of(
    snapshot: &Snapshot,
    field: SortedField<'_>,
    (source, unmapped): (&KeySource, &Unmapped),
    (missing, order): (&Missing, Order),
) -> Result<Missing, QueryError> {
    let value = match missing {
        Missing::Value(SortValue::Str(text)) => read(snapshot, field, text)?,
        Missing::Value(value) => fitted(snapshot, field, value),
        end => {
            let least = (end == &Missing::First) == (order == Order::Asc);
            shown_end(snapshot, field, source, unmapped, least)
        }
    };
    Ok(value.map_or_else(|| missing.clone(), Missing::Value))
}

/// The least or the greatest number that a field can have, which a document without one is shown
/// to have; `None` where its values are no numbers.
fn outermost(
    snapshot: &Snapshot,
    (path, numeric): SortedField<'_>,
    least: bool,
) -> Option<SortValue> {
    let ends = |low: i64, high: i64| SortValue::I64(if least { low } else { high });
    let floats = || {
        SortValue::F64(if least {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        })
    };
    let kind = &snapshot.mapping.field(path)?.kind;
    match (kind, numeric) {
        (FieldKind::Unsigned, _) => Some(SortValue::U64(if least { u64::MIN } else { u64::MAX })),
        (kind, Some(SortNumeric::Double)) if is_numeric(kind) => Some(floats()),
        (kind, Some(_)) if is_numeric(kind) => Some(ends(i64::MIN, i64::MAX)),
        (FieldKind::Integer(IntegerKind::Integer | IntegerKind::Short | IntegerKind::Byte), _)
        | (FieldKind::Boolean, _) => Some(ends(i32::MIN.into(), i32::MAX.into())),
        (FieldKind::Integer(_) | FieldKind::Date { .. } | FieldKind::DateNanos { .. }, _) => {
            Some(ends(i64::MIN, i64::MAX))
        }
        (FieldKind::Float(_), _) => Some(floats()),
        _ => None,
    }
}

/// The same, also of a field that is not mapped.
fn shown_end(
    snapshot: &Snapshot,
    field: SortedField<'_>,
    source: &KeySource,
    unmapped: &Unmapped,
    least: bool,
) -> Option<SortValue> {
    // Ids and names of indexes have no mapping, either.
    if matches!(source, KeySource::Absent) && snapshot.mapping.field(field.0).is_none() {
        return unmapped.outermost(least);
    }
    outermost(snapshot, field, least)
}

/// A number in place of missing values, where it is not what it is to the field: where it lies outside what the field's sort
/// values can be, and its digits where these are texts.
fn fitted(snapshot: &Snapshot, field: SortedField<'_>, value: &SortValue) -> Option<SortValue> {
    let mapping = &snapshot.mapping;
    let is_text = match mapping.field(field.0) {
        Some(mapped) => matches!(mapped.kind, FieldKind::Keyword { .. }),
        // Leaves of an object are texts.
        None => mapping.flat_above(field.0).is_some(),
    };
    if is_text {
        return digits(value);
    }
    let (SortValue::I64(least), SortValue::I64(most)) = (
        outermost(snapshot, field, true)?,
        outermost(snapshot, field, false)?,
    ) else {
        return None;
    };
    let number = match value {
        SortValue::I64(_) | SortValue::U64(_) | SortValue::F64(_) => whole(value),
        _ => return None,
    };
    (number < least || number > most).then(|| SortValue::I64(number.clamp(least, most)))
}

/// A number as a text, as it would be written in JSON.
fn digits(number: &SortValue) -> Option<SortValue> {
    let text = match number {
        SortValue::I64(number) => number.to_string(),
        SortValue::U64(number) => number.to_string(),
        // This way a whole one keeps its point.
        SortValue::F64(number) => format!("{number:?}"),
        _ => return None,
    };
    Some(SortValue::Str(text))
}

/// What a text in place of missing values means to a field of numbers or addresses; `None` where it is what it is.
///
/// # Errors
/// When it is no such value.
fn read(
    snapshot: &Snapshot,
    field: SortedField<'_>,
    text: &str,
) -> Result<Option<SortValue>, QueryError> {
    let Some(mapped) = snapshot.mapping.field(field.0) else {
        return Ok(None);
    };
    if let FieldKind::Ip = mapped.kind {
        let wrong = || QueryError::illegal(format!("'{text}' is not an IP string literal."));
        let address = parse_address(text).ok_or_else(wrong)?;
        return Ok(Some(SortValue::Ip(address)));
    }
    if !is_numeric(&mapped.kind) {
        return Ok(None);
    }
    let float = || text.trim().parse().map(SortValue::F64);
    let unsigned = || text.parse().map(SortValue::U64);
    let read = text.parse().map(SortValue::I64);
    let value = read.or_else(|_| unsigned()).or_else(|_| float());
    let value = value.map_err(|_| QueryError::illegal(format!("For input string: \"{text}\"")))?;
    let fit = fitted(snapshot, field, &value);
    Ok(Some(fit.unwrap_or(value)))
}
