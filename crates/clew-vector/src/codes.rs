//! Small codes that stand in for vectors during a walk, which is bound by the bytes it reads.
//!
//! Every code is made of a vector's *residual*: the vector (at unit length for
//! [`crate::Space::Cosine`]) minus the column's centre, turned by a seeded rotation, so that every
//! dimension carries about the same share. An image keeps 4-bit codes; codes of one bit and of one
//! byte live only while a graph is built.

mod frame;
mod rotation;

mod bit;
mod byte;
mod nibble;

pub(crate) use bit::{BitCodes, BitProbe};
pub(crate) use byte::{ByteCodes, ByteFacts, Pairing};
pub(crate) use frame::{Frame, Residual};
pub(crate) use nibble::{Encoder, FACTORS, NibbleCodes, NibbleProbe, NibbleQuery, pitch_bytes};
