//! Kinds of numbers that a field may hold.

use serde::{Deserialize, Serialize};

/// Width of an integer field; the column is i64 for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntegerKind {
    /// 64 bits.
    Long,
    /// 32 bits.
    Integer,
    /// 16 bits.
    Short,
    /// 8 bits.
    Byte,
    /// 32 bits, and the value is not what the document has but how many tokens that makes.
    TokenCount,
    /// How many documents a document stands for: 64 bits, never searched.
    DocumentCount,
    /// 64 bits, and the value is not what the document has but a hash of it; never searched.
    Murmur3,
}

impl IntegerKind {
    /// Least and greatest value, and what such a number is called in errors.
    pub fn limits(self) -> (i64, i64, &'static str) {
        match self {
            IntegerKind::Long | IntegerKind::DocumentCount | IntegerKind::Murmur3 => {
                (i64::MIN, i64::MAX, "a long")
            }
            IntegerKind::Integer | IntegerKind::TokenCount => {
                (i32::MIN.into(), i32::MAX.into(), "an integer")
            }
            IntegerKind::Short => (i16::MIN.into(), i16::MAX.into(), "a short"),
            IntegerKind::Byte => (i8::MIN.into(), i8::MAX.into(), "a byte"),
        }
    }
}

/// Precision of a floating-point field; the column is f64 for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FloatKind {
    /// 64 bits.
    Double,
    /// 32 bits.
    Float,
    /// 16 bits.
    Half,
    /// So many steps between whole numbers.
    Scaled {
        /// How many.
        factor: f64,
    },
    /// 32 bits of a positive number that can only be searched by its weight.
    RankFeature,
}

impl FloatKind {
    /// The nearest number that a field of this kind can hold; infinite when it is too large.
    pub fn nearest(self, number: f64) -> f64 {
        match self {
            FloatKind::Double => number,
            FloatKind::Float => f64::from(narrow(number)),
            FloatKind::Half => half::f16::from_f32(narrow(number)).to_f64(),
            FloatKind::Scaled { factor } => (number * factor).round() / factor,
            // Nine bits of mantissa, as relevance features are kept.
            FloatKind::RankFeature => {
                f64::from(f32::from_bits(narrow(number).to_bits() & 0xFFFF_8000))
            }
        }
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "rounding to the field's precision is the purpose"
)]
fn narrow(number: f64) -> f32 {
    number as f32
}
