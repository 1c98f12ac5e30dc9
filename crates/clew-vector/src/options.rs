//! The settings of a column and the limits of what it stores.

use clew_kernels::CodeBits;
use serde::{Deserialize, Serialize};

use crate::error::within;
use crate::{Element, IvfOptions, Method, Space, VectorError};

/// Largest dimension of a vector. Squared distances of as many bytes still fit into an `i32`, in which
/// kernels add them up; protocols may allow less.
pub const DIMENSION_MAX: usize = 32_768;
/// Largest number of links per vector; beyond it a graph is slower than a scan.
pub const M_MAX: u16 = 512;
/// Largest beam of the graph builder.
pub const EF_CONSTRUCTION_MAX: u16 = 4_096;
/// Most vectors in one column: a walk keeps two marks beside each row number in 32 bits.
pub const VECTORS_MAX: usize = 1 << 30;

const M_MIN: u16 = 2;
const EF_CONSTRUCTION_MIN: u16 = 2;

/// Longest vector: the squared distance of two of them still fits into an `f32`.
pub(crate) const NORM_SQUARED_MAX: f64 = f32::MAX as f64 / 8.0;
/// Shortest vector with a direction: the product of two of them is still a normal `f32`.
const DIRECTION_SQUARED_MIN: f64 = f32::MIN_POSITIVE as f64 * 1e6;

/// Shape of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HnswOptions {
    /// Links per vector on the upper levels; the lowest level keeps twice as many.
    pub m: u16,
    /// Candidates considered for a new vector's links.
    pub ef_construction: u16,
}

impl Default for HnswOptions {
    fn default() -> Self {
        HnswOptions {
            m: 16,
            ef_construction: 100,
        }
    }
}

impl HnswOptions {
    /// Checks the bounds of both options.
    pub fn validate(&self) -> Result<(), VectorError> {
        within("m", self.m.into(), (M_MIN.into(), M_MAX.into()))?;
        let bounds = (EF_CONSTRUCTION_MIN.into(), EF_CONSTRUCTION_MAX.into());
        within("ef_construction", self.ef_construction.into(), bounds)
    }
}

/// Settings of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnOptions {
    /// Dimensions of a vector.
    pub dimension: usize,
    /// How vectors are compared.
    pub space: Space,
    /// What vectors are stored as.
    pub element: Element,
    /// Shape of the graph, when there is one.
    pub hnsw: HnswOptions,
    /// Bits per dimension of the codes that a graph is walked by: fewer take less memory, and more
    /// candidates have to be measured exactly.
    #[serde(with = "bits_of_codes")]
    pub code_bits: CodeBits,
    /// What the column is searched through when it is large.
    pub method: Method,
    /// Whether that is what it is searched through in any case. Else a column of [`Method::Graph`] is given lists where
    /// searches through them are measured to be faster, when it is built; efforts mean what they mean for the graph.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact_structure: bool,
    /// Whether a document may have several vectors, pushed one after the other. Searches then give
    /// each document once, by its nearest vector. With [`Method::Lists`] such a column is scanned.
    pub multi: bool,
}

/// The width of codes is written as a number of bits.
mod bits_of_codes {
    use clew_kernels::CodeBits;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[allow(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde hands out references"
    )]
    pub(super) fn serialize<S: Serializer>(bits: &CodeBits, to: S) -> Result<S::Ok, S::Error> {
        bits.count().serialize(to)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<CodeBits, D::Error> {
        let count = u8::deserialize(from)?;
        let mut widths = CodeBits::ALL.into_iter();
        widths
            .find(|bits| bits.count() == count)
            .ok_or_else(|| D::Error::custom(format!("codes of {count} bits are not known")))
    }
}

impl ColumnOptions {
    /// Vectors of `dimension` numbers in a space, and the usual choices for all else.
    pub fn new(dimension: usize, space: Space) -> Self {
        ColumnOptions {
            dimension,
            space,
            element: Element::F32,
            hnsw: HnswOptions::default(),
            code_bits: CodeBits::default(),
            method: Method::default(),
            exact_structure: false,
            multi: false,
        }
    }

    /// Settings of its lists, were it given any.
    pub(crate) fn list_options(&self) -> IvfOptions {
        match self.method {
            Method::Lists(options) => options,
            Method::Graph => IvfOptions::default(),
        }
    }

    /// Checks the bounds of every option.
    pub fn validate(&self) -> Result<(), VectorError> {
        within("dimension", self.dimension, (1, DIMENSION_MAX))?;
        let (space, element) = (self.space, self.element);
        if space.is_binary() != (element == Element::Bit) {
            let (space, element) = (space.name(), element.name());
            return Err(VectorError::SpaceOfElement { space, element });
        }
        if element == Element::Bit && !self.dimension.is_multiple_of(8) {
            let dimension = self.dimension;
            return Err(VectorError::PartialByte { dimension });
        }
        if let Some(bits) = space.slot_bits()
            && !self.dimension.is_multiple_of(bits)
        {
            let dimension = self.dimension;
            return Err(VectorError::PartialSlot { dimension, bits });
        }
        if let Method::Lists(lists) = self.method {
            if element == Element::Bit {
                let element = element.name();
                return Err(VectorError::ListsOfElement { element });
            }
            lists.validate()?;
        }
        self.hnsw.validate()
    }
}

/// Checks that `vector` may be stored in, or searched for in, a column with these options: it has the
/// dimension, and neither a number nor its length is out of bounds, before and after rounding. Which
/// space the column has makes no difference, so that one may be given another. O(dimension).
pub fn validate(vector: &[f32], options: &ColumnOptions) -> Result<(), VectorError> {
    norm_squared(vector, options).map(|_| ())
}

/// Refuses a vector without a direction in a space that compares directions, for those who want none
/// there. A column takes it: its cosine with any other is 0. O(dimension).
pub fn check_direction(vector: &[f32], space: Space) -> Result<(), VectorError> {
    if space == Space::Cosine && squared(vector) < DIRECTION_SQUARED_MIN {
        let space = space.name();
        return Err(VectorError::ZeroVector { space });
    }
    Ok(())
}

/// Checks a vector as [`validate`] does; the proof is its squared length.
pub(crate) fn norm_squared(vector: &[f32], options: &ColumnOptions) -> Result<f64, VectorError> {
    let expected = options.element.numbers(options.dimension);
    if vector.len() != expected {
        let actual = vector.len();
        return Err(VectorError::DimensionMismatch { expected, actual });
    }
    let given = squared(vector);
    if !given.is_finite() {
        let position = vector
            .iter()
            .position(|x| !x.is_finite())
            .unwrap_or_default();
        return Err(VectorError::NotFinite { position });
    }
    options.element.check(vector)?;
    let rounded = match options.element.rounding() {
        Some(round) => squared_rounded(vector, round),
        None => given,
    };
    let longer = given.max(rounded);
    if longer > NORM_SQUARED_MAX {
        return Err(VectorError::TooLong {
            norm: longer.sqrt(),
        });
    }
    Ok(given)
}

/// The squared length of a vector.
pub(crate) fn squared(vector: &[f32]) -> f64 {
    squared_rounded(vector, |value| value)
}

/// The squared length of what becomes of a vector whose numbers are rounded. Several sums at once, as one would wait for
/// each addition.
fn squared_rounded(vector: &[f32], round: impl Fn(f32) -> f32) -> f64 {
    const LANES: usize = 8;
    let square = |value: f32| f64::from(round(value)).powi(2);
    let mut sums = [0.0; LANES];
    let (blocks, rest) = vector.as_chunks::<LANES>();
    for block in blocks {
        for (sum, &value) in sums.iter_mut().zip(block) {
            *sum += square(value);
        }
    }
    let rest: f64 = rest.iter().map(|&value| square(value)).sum();
    sums.iter().sum::<f64>() + rest
}

/// One over the length of a vector whose squared length passed [`norm_squared`]; 0 for one without a
/// direction, so that its product with any other is 0.
#[allow(
    clippy::cast_possible_truncation,
    reason = "rounds; the checked range fits into f32"
)]
pub(crate) fn inverse_norm(squared: f64) -> f32 {
    if squared < DIRECTION_SQUARED_MIN {
        return 0.0;
    }
    (1.0 / squared.sqrt()) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_that_fits_fits_again_when_it_was_rounded_and_in_every_space() {
        // The longest, and one that rounding to eight bits makes longer.
        let longest = NORM_SQUARED_MAX.sqrt();
        #[allow(clippy::cast_possible_truncation, reason = "rounds")]
        let near = [0.999, 1.0, 1.001].map(|share| (longest * share) as f32);
        let small = [0.0, 1e-40, 1e-20, 1e-9, 65_504.0, 65_519.0, 3.39e38];
        for value in near.into_iter().chain(small) {
            for element in [Element::F32, Element::F16, Element::Bf16] {
                let fits = |vector: &[f32]| {
                    let spaces = [Space::L2, Space::Cosine, Space::InnerProduct];
                    let fits = spaces.map(|space| {
                        let options = ColumnOptions {
                            element,
                            ..ColumnOptions::new(2, space)
                        };
                        validate(vector, &options).is_ok()
                    });
                    assert_eq!(fits, [fits[0]; 3], "{element:?} {vector:?}");
                    fits[0]
                };
                let vector = [value, -0.0];
                if fits(&vector) {
                    let mut buffer = Vec::new();
                    let rounded = element.round(&vector, &mut buffer);
                    assert!(fits(rounded), "{element:?} {vector:?} as {rounded:?}");
                }
            }
        }
    }

    #[test]
    fn only_directions_are_asked_for_a_direction() {
        let check = |vector: &[f32], space| check_direction(vector, space).is_ok();
        assert!(check(&[0.0, 0.0], Space::L2) && check(&[0.0, 1e-9], Space::Cosine));
        assert!(!check(&[0.0, -0.0], Space::Cosine) && !check(&[1e-30, 0.0], Space::Cosine));
        assert_eq!(inverse_norm(0.0).to_bits(), 0.0_f32.to_bits());
        assert_eq!(inverse_norm(4.0).to_bits(), 0.5_f32.to_bits());
    }
}
