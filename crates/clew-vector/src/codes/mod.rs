//! Small codes that stand in for vectors during a walk, which is bound by the bytes it reads.
//!
//! Every code is made of a vector's *residual*: the vector (at unit length for
//! [`crate::Space::Cosine`]) minus the column's centre, turned by a seeded rotation, so that every
//! dimension carries about the same share. An image keeps rotated codes of one to eight bits;
//! those of [`bit`] and [`byte`] live only while a graph is built.

mod frame;
mod rotation;

mod bit;
mod byte;
mod rotated;

pub(crate) use bit::{BitCodes, BitProbe, pitch_bytes as bit_pitch_bytes};
pub(crate) use byte::{ByteCodes, ByteFacts, Pairing};
pub(crate) use frame::{Frame, Residual};
pub(crate) use rotated::{Encoder, FACTORS, RotatedCodes, RotatedProbe, RotatedQuery, pitch_bytes};

#[cfg(test)]
mod tests;
