//! What the numbers of a stored vector are: their type, their bounds, and rows of them.

use bytemuck::{AnyBitPattern, NoUninit};
use half::{bf16, f16};
use serde::{Deserialize, Serialize};

use crate::VectorError;

/// Type of a stored number.
///
/// Vectors come and go as `f32`, whatever is stored: [`Element::F16`] and [`Element::Bf16`] round
/// them, [`Element::I8`] takes whole numbers, and [`Element::Bit`] eight dimensions per number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Element {
    /// IEEE 754 single precision, 4 bytes.
    #[default]
    F32,
    /// IEEE 754 half precision, 2 bytes: 11 bits of precision, up to 65,504.
    F16,
    /// The upper half of a single precision number, 2 bytes: 8 bits of precision, the range of `f32`.
    Bf16,
    /// Whole numbers from -128 to 127, 1 byte.
    I8,
    /// One bit per dimension. Eight dimensions come as one number from -128 to 127, whose highest bit
    /// is the first of them; the dimension is a multiple of eight.
    Bit,
}

impl Element {
    /// Every type.
    pub const ALL: [Element; 5] = [
        Element::F32,
        Element::F16,
        Element::Bf16,
        Element::I8,
        Element::Bit,
    ];

    /// Numbers of a vector of `dimension` dimensions, as it comes and goes.
    pub fn numbers(self, dimension: usize) -> usize {
        match self {
            Element::Bit => dimension / 8,
            Element::F32 | Element::F16 | Element::Bf16 | Element::I8 => dimension,
        }
    }

    /// Size of a stored vector.
    pub fn row_bytes(self, dimension: usize) -> usize {
        self.number_bytes() * self.numbers(dimension)
    }

    /// Size of a stored number.
    pub fn number_bytes(self) -> usize {
        match self {
            Element::F32 => 4,
            Element::F16 | Element::Bf16 => 2,
            Element::I8 | Element::Bit => 1,
        }
    }

    /// Name of the type, as errors have it.
    pub fn name(self) -> &'static str {
        match self {
            Element::F32 => "float",
            Element::F16 => "float16",
            Element::Bf16 => "bfloat16",
            Element::I8 => "byte",
            Element::Bit => "binary",
        }
    }

    /// The number that stands for the type in files and logs.
    pub fn code(self) -> u8 {
        match self {
            Element::F32 => 0,
            Element::F16 => 1,
            Element::Bf16 => 2,
            Element::I8 => 3,
            Element::Bit => 4,
        }
    }

    /// The type that a number of [`Element::code`] stands for.
    pub fn from_code(code: u8) -> Option<Self> {
        Element::ALL.get(usize::from(code)).copied()
    }

    /// Whether a vector can be kept as this type alone: every number fits, and one that has a
    /// direction still has one when it was rounded, which the space of cosines asks for. O(numbers).
    pub fn keeps(self, vector: &[f32]) -> bool {
        let mut buffer = Vec::new();
        let is_zero = |numbers: &[f32]| numbers.iter().all(|&value| value == 0.0);
        self.check(vector).is_ok() && (is_zero(vector) || !is_zero(self.round(vector, &mut buffer)))
    }

    /// Appends the numbers of a vector as this type has them, little endian, rounded as a column
    /// rounds them; meant for vectors that [`Element::keeps`]. O(numbers).
    pub fn encode(self, vector: &[f32], out: &mut Vec<u8>) {
        let numbers = vector.iter();
        match self {
            Element::F32 => out.extend(numbers.flat_map(|value| value.to_le_bytes())),
            Element::F16 => {
                out.extend(numbers.flat_map(|&value| f16::from_f32(value).to_le_bytes()))
            }
            Element::Bf16 => {
                out.extend(numbers.flat_map(|&value| bf16::from_f32(value).to_le_bytes()));
            }
            Element::I8 | Element::Bit => {
                out.extend(numbers.map(|&value| whole(value).cast_unsigned()));
            }
        }
    }

    /// Reads what [`Element::encode`] wrote; what is behind the last whole number is left out.
    /// O(numbers).
    pub fn decode(self, bytes: &[u8]) -> Vec<f32> {
        let (pairs, fours) = (bytes.as_chunks().0, bytes.as_chunks().0);
        match self {
            Element::F32 => fours.iter().map(|&four| f32::from_le_bytes(four)).collect(),
            Element::F16 => pairs
                .iter()
                .map(|&pair| f16::from_le_bytes(pair).to_f32())
                .collect(),
            Element::Bf16 => pairs
                .iter()
                .map(|&pair| bf16::from_le_bytes(pair).to_f32())
                .collect(),
            Element::I8 | Element::Bit => bytes
                .iter()
                .map(|&byte| f32::from(byte.cast_signed()))
                .collect(),
        }
    }

    /// What becomes of a number that is stored; `None` when it stays what it is.
    pub(crate) fn rounding(self) -> Option<fn(f32) -> f32> {
        match self {
            Element::F16 => Some(|value| f16::from_f32(value).to_f32()),
            Element::Bf16 => Some(|value| bf16::from_f32(value).to_f32()),
            Element::F32 | Element::I8 | Element::Bit => None,
        }
    }

    /// The vector as it will come back, made in `buffer` if it is another.
    pub(crate) fn round<'a>(self, vector: &'a [f32], buffer: &'a mut Vec<f32>) -> &'a [f32] {
        let Some(round) = self.rounding() else {
            return vector;
        };
        buffer.clear();
        buffer.extend(vector.iter().map(|&value| round(value)));
        buffer
    }

    /// Checks that every number can be stored; they are finite.
    pub(crate) fn check(self, vector: &[f32]) -> Result<(), VectorError> {
        let fits = |value: f32| match self {
            Element::F32 => true,
            Element::F16 => f16::from_f32(value).is_finite(),
            Element::Bf16 => bf16::from_f32(value).is_finite(),
            Element::I8 | Element::Bit => value.fract() == 0.0 && (-128.0..=127.0).contains(&value),
        };
        match vector.iter().position(|&value| !fits(value)) {
            None => Ok(()),
            Some(position) => Err(VectorError::OutOfRange {
                position,
                value: vector[position],
                element: self.name(),
            }),
        }
    }
}

/// Rows of stored numbers, one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Values<'a> {
    F32(&'a [f32]),
    F16(&'a [f16]),
    Bf16(&'a [bf16]),
    I8(&'a [i8]),
    Bit(&'a [u8]),
}

impl<'a> Values<'a> {
    /// Sees bytes as numbers, in place.
    pub(crate) fn cast(element: Element, bytes: &'a [u8]) -> Result<Self, VectorError> {
        Ok(match element {
            Element::F32 => Values::F32(cast(bytes)?),
            Element::F16 => Values::F16(cast(bytes)?),
            Element::Bf16 => Values::Bf16(cast(bytes)?),
            Element::I8 => Values::I8(cast(bytes)?),
            Element::Bit => Values::Bit(bytes),
        })
    }

    /// The row that starts at number `start` as `f32`, through `buffer` if need be; `buffer` is as
    /// long as the row.
    #[inline]
    pub(crate) fn floats<'b>(self, start: usize, buffer: &'b mut [f32]) -> &'b [f32]
    where
        'a: 'b,
    {
        fn fill<T: Copy>(row: &[T], buffer: &mut [f32], to_f32: impl Fn(T) -> f32) {
            for (slot, &value) in buffer.iter_mut().zip(row) {
                *slot = to_f32(value);
            }
        }
        let span = start..start + buffer.len();
        match self {
            Values::F32(values) => return &values[span],
            Values::F16(values) => fill(&values[span], buffer, f16::to_f32),
            Values::Bf16(values) => fill(&values[span], buffer, bf16::to_f32),
            Values::I8(values) => fill(&values[span], buffer, f32::from),
            Values::Bit(values) => {
                fill(&values[span], buffer, |byte| f32::from(byte.cast_signed()))
            }
        }
        buffer
    }
}

/// Bytes as numbers, in place.
pub(crate) fn cast<T: AnyBitPattern + NoUninit>(bytes: &[u8]) -> Result<&[T], VectorError> {
    bytemuck::try_cast_slice(bytes).map_err(|_| VectorError::Misaligned {
        multiple_bytes: align_of::<T>(),
    })
}

/// Rows in the making.
#[derive(Debug)]
pub(crate) enum OwnedValues {
    F32(Vec<f32>),
    F16(Vec<f16>),
    Bf16(Vec<bf16>),
    I8(Vec<i8>),
    Bit(Vec<u8>),
}

impl OwnedValues {
    pub(crate) fn new(element: Element) -> Self {
        match element {
            Element::F32 => OwnedValues::F32(Vec::new()),
            Element::F16 => OwnedValues::F16(Vec::new()),
            Element::Bf16 => OwnedValues::Bf16(Vec::new()),
            Element::I8 => OwnedValues::I8(Vec::new()),
            Element::Bit => OwnedValues::Bit(Vec::new()),
        }
    }

    /// Makes room for so many numbers.
    pub(crate) fn reserve_exact(&mut self, numbers: usize) {
        match self {
            OwnedValues::F32(values) => values.reserve_exact(numbers),
            OwnedValues::F16(values) => values.reserve_exact(numbers),
            OwnedValues::Bf16(values) => values.reserve_exact(numbers),
            OwnedValues::I8(values) => values.reserve_exact(numbers),
            OwnedValues::Bit(values) => values.reserve_exact(numbers),
        }
    }

    /// Adds a row that passed [`Element::check`].
    pub(crate) fn push(&mut self, vector: &[f32]) {
        let numbers = vector.iter();
        match self {
            OwnedValues::F32(values) => values.extend_from_slice(vector),
            OwnedValues::F16(values) => values.extend(numbers.map(|&value| f16::from_f32(value))),
            OwnedValues::Bf16(values) => values.extend(numbers.map(|&value| bf16::from_f32(value))),
            OwnedValues::I8(values) => values.extend(numbers.map(|&value| whole(value))),
            OwnedValues::Bit(values) => {
                values.extend(numbers.map(|&value| whole(value).cast_unsigned()));
            }
        }
    }

    pub(crate) fn view(&self) -> Values<'_> {
        match self {
            OwnedValues::F32(values) => Values::F32(values),
            OwnedValues::F16(values) => Values::F16(values),
            OwnedValues::Bf16(values) => Values::Bf16(values),
            OwnedValues::I8(values) => Values::I8(values),
            OwnedValues::Bit(values) => Values::Bit(values),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            OwnedValues::F32(values) => bytemuck::cast_slice(values),
            OwnedValues::F16(values) => bytemuck::cast_slice(values),
            OwnedValues::Bf16(values) => bytemuck::cast_slice(values),
            OwnedValues::I8(values) => bytemuck::cast_slice(values),
            OwnedValues::Bit(values) => values,
        }
    }

    pub(crate) fn capacity_bytes(&self) -> usize {
        match self {
            OwnedValues::F32(values) => 4 * values.capacity(),
            OwnedValues::F16(values) => 2 * values.capacity(),
            OwnedValues::Bf16(values) => 2 * values.capacity(),
            OwnedValues::I8(values) => values.capacity(),
            OwnedValues::Bit(values) => values.capacity(),
        }
    }
}

/// A whole number that passed [`Element::check`].
#[allow(clippy::cast_possible_truncation, reason = "the value was checked")]
pub(crate) fn whole(value: f32) -> i8 {
    value as i8
}

#[cfg(test)]
mod tests;
