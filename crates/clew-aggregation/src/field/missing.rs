//! What stands in for the values that documents lack, as it is read for each kind of values. Where it is a number with a
//! fraction, whole numbers are read as such numbers, too: a column of them is shown so (`widened`).

use clew_query::AggError;
use clew_query::aggregation::{Scalar, Source};
use tantivy::columnar::column_values::{StrictlyMonotonicFn, monotonic_map_column};
use tantivy::columnar::{Column, MonotonicallyMappableToU64};

use crate::field::ValueKind;
use crate::field::values::{bound_number, key_of, text_of, whole};
use crate::value::format::ValueFormat;
use crate::value::key::Key;

/// The kind that values have with what stands in for them, where a request says so, as a key of that kind.
///
/// # Errors
/// [`AggError`] in OpenSearch's words when it cannot be read as such a value.
pub(super) fn stand_in(
    source: &Source,
    kind: ValueKind,
    format: &ValueFormat,
    now_ms: i64,
) -> Result<(ValueKind, Option<Key>), AggError> {
    let Some(scalar) = &source.missing else {
        return Ok((kind, None));
    };
    let is_number = matches!(
        kind,
        ValueKind::Long | ValueKind::Double | ValueKind::Unsigned
    );
    match (kind, scalar) {
        (_, Scalar::Boolean(_)) if is_number => Err(AggError::invalid(format!(
            "For input string: \"{}\"",
            text_of(scalar)
        ))),
        (ValueKind::Boolean, scalar) => match text_of(scalar).as_str() {
            "true" => Ok((kind, Some(Key::I64(1)))),
            "false" => Ok((kind, Some(Key::I64(0)))),
            other => Err(AggError::invalid(format!(
                "Cannot parse boolean [{other}], expected either [true] or [false]"
            ))),
        },
        (ValueKind::Long, Scalar::Float(_) | Scalar::Unsigned(_) | Scalar::Text(_)) => {
            number_for_whole(scalar)
        }
        // A number below zero is the one of the same 64 bits.
        (ValueKind::Unsigned, Scalar::Integer(value)) => {
            let bits = u64::from_ne_bytes(value.to_ne_bytes());
            Ok((kind, Some(Key::U64(bits))))
        }
        (kind, scalar) => Ok((kind, Some(key_of(scalar, kind, format, now_ms)?))),
    }
}

/// A number that stands in for whole ones: as one of them if it is one.
#[allow(
    clippy::cast_precision_loss,
    reason = "a number beyond 2^53 is whole, and the same one where the two are equal"
)]
fn number_for_whole(scalar: &Scalar) -> Result<(ValueKind, Option<Key>), AggError> {
    // The way through a floating-point number would lose the last digits.
    if let Scalar::Text(text) = scalar
        && let Ok(value) = text.parse::<i64>()
    {
        return Ok((ValueKind::Long, Some(Key::I64(value))));
    }
    let number = bound_number(scalar)?;
    let value = whole(number);
    Ok(if (value as f64).total_cmp(&(number + 0.0)).is_eq() {
        (ValueKind::Long, Some(Key::I64(value)))
    } else {
        (ValueKind::Double, Some(Key::F64(number)))
    })
}

/// A column of whole numbers as one of floating-point numbers.
pub(super) fn widened(column: Column<u64>) -> Column<u64> {
    Column {
        values: monotonic_map_column(column.values, Widened),
        index: column.index,
    }
}

/// Whole numbers of a column, which are floating-point numbers to whoever reads it. Their order stays.
struct Widened;

impl StrictlyMonotonicFn<u64, u64> for Widened {
    #[allow(
        clippy::cast_precision_loss,
        reason = "metrics compute in floating point, as their clients expect"
    )]
    fn mapping(&self, raw: u64) -> u64 {
        (i64::from_u64(raw) as f64).to_u64()
    }

    fn inverse(&self, raw: u64) -> u64 {
        whole(f64::from_u64(raw)).to_u64()
    }
}

#[cfg(test)]
mod tests {
    use clew_query::aggregation::Scalar;

    use super::*;

    fn read(scalar: Scalar, kind: ValueKind) -> Result<(ValueKind, Option<Key>), String> {
        let source = Source {
            missing: Some(scalar),
            ..Source::field("n")
        };
        let read = stand_in(&source, kind, &ValueFormat::Raw, 0);
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn a_fraction_in_place_of_whole_numbers_stays_one() {
        let text = |text: &str| Scalar::Text(text.to_string());
        for (scalar, kind, key) in [
            (Scalar::Integer(5), ValueKind::Long, Key::I64(5)),
            (Scalar::Float(5.0), ValueKind::Long, Key::I64(5)),
            (Scalar::Float(2.7), ValueKind::Double, Key::F64(2.7)),
            (Scalar::Float(1e30), ValueKind::Double, Key::F64(1e30)),
            (text("5"), ValueKind::Long, Key::I64(5)),
            (text("-2.5"), ValueKind::Double, Key::F64(-2.5)),
        ] {
            let shown = format!("{scalar:?}");
            let want = Ok((kind, Some(key)));
            assert_eq!(read(scalar, ValueKind::Long), want, "{shown}");
        }
    }

    #[test]
    fn a_number_below_zero_stands_in_for_unsigned_ones_by_its_bits() {
        for (number, key) in [(-1, u64::MAX), (i64::MIN, 1 << 63), (7, 7)] {
            let read = read(Scalar::Integer(number), ValueKind::Unsigned);
            assert_eq!(read, Ok((ValueKind::Unsigned, Some(Key::U64(key)))));
        }
        let text = read(Scalar::Text("-1".into()), ValueKind::Unsigned);
        assert!(text.is_err(), "{text:?}");
    }

    #[test]
    fn truths_stand_in_for_truths_alone() {
        for (scalar, kind, want) in [
            (
                Scalar::Boolean(true),
                ValueKind::Long,
                "For input string: \"true\"",
            ),
            (
                Scalar::Integer(1),
                ValueKind::Boolean,
                "Cannot parse boolean [1], expected either [true] or [false]",
            ),
        ] {
            assert_eq!(read(scalar, kind), Err(want.to_string()));
        }
        let truth = read(Scalar::Text("true".into()), ValueKind::Boolean);
        assert_eq!(truth, Ok((ValueKind::Boolean, Some(Key::I64(1)))));
    }

    #[test]
    fn whole_numbers_keep_their_order_as_floating_point_ones() {
        for number in [-3_i64, 0, 7, 1 << 40] {
            let wide = Widened.mapping(number.to_u64());
            assert_eq!(f64::from_u64(wide).to_string(), number.to_string());
            assert_eq!(Widened.inverse(wide), number.to_u64());
        }
    }
}
