//! Counts distinct values: exactly in a small sorted set, and beyond its bound by HyperLogLog with
//! 2^14 registers (standard error 0.8 %), read with Ertl's estimator, which needs no tables.

use std::hash::{DefaultHasher, Hasher};

use crate::value::key::Key;
use serde::{Deserialize, Serialize};

const REGISTER_BITS: u32 = 14;

const REGISTERS: usize = 1 << REGISTER_BITS;

const RANK_MAX: u32 = 64 - REGISTER_BITS + 1;

/// The distinct values seen in one bucket, by their hashes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Sketch {
    /// All hashes; the first `sorted` are in order and distinct.
    Exact { hashes: Vec<u64>, sorted: usize },
    /// The highest rank seen per register.
    Estimate(#[serde(with = "registers")] Box<[u8; REGISTERS]>),
}

/// Registers as one string of bytes, as serde knows no arrays of that length.
mod registers {
    use serde::de::{Error, SeqAccess, Visitor};
    use serde::{Deserializer, Serializer};

    use super::REGISTERS;

    type Registers = Box<[u8; REGISTERS]>;

    pub(super) fn serialize<S: Serializer>(
        registers: &Registers,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        out.serialize_bytes(&registers[..])
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Registers, D::Error> {
        input.deserialize_byte_buf(Bytes)
    }

    struct Bytes;

    impl<'de> Visitor<'de> for Bytes {
        type Value = Registers;

        fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(out, "{REGISTERS} bytes")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Registers, E> {
            let whole = Box::<[u8]>::from(bytes).try_into();
            whole.map_err(|_| E::invalid_length(bytes.len(), &self))
        }

        /// Formats without strings of bytes write a list.
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Registers, A::Error> {
            let mut bytes = Vec::with_capacity(REGISTERS);
            while let Some(byte) = list.next_element()? {
                if bytes.len() == REGISTERS {
                    return Err(A::Error::invalid_length(REGISTERS + 1, &self));
                }
                bytes.push(byte);
            }
            self.visit_bytes(&bytes)
        }
    }
}

impl Default for Sketch {
    fn default() -> Self {
        Sketch::Exact {
            hashes: Vec::new(),
            sorted: 0,
        }
    }
}

/// The hash of a value's bytes: the same for equal values of all segments and shards.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// The same for a number.
fn hash_number(value: u64) -> u64 {
    hash_bytes(&value.to_le_bytes())
}

/// The same for a key of any kind.
pub(crate) fn hash_key(key: &Key) -> u64 {
    match key {
        Key::Str(text) => hash_bytes(text.as_bytes()),
        Key::Ip(address) => hash_bytes(&address.octets()),
        Key::F64(value) => hash_number(value.to_bits()),
        Key::I64(value) | Key::Date(value) => hash_number(value.cast_unsigned()),
        Key::U64(value) => hash_number(*value),
        Key::Bool(value) => hash_number(u64::from(*value)),
        Key::Null => hash_number(0),
        Key::Tuple(keys) => keys
            .iter()
            .map(hash_key)
            .fold(0, |all, one| hash_number(all ^ one)),
    }
}

impl Sketch {
    /// What the first value takes: a list grows from four.
    pub(crate) const HEAP_BYTES_MIN: usize = 4 * size_of::<u64>();

    /// Adds a value; above `threshold` distinct ones counting turns into estimating.
    pub(crate) fn add(&mut self, hash: u64, threshold: usize) {
        match self {
            Sketch::Estimate(registers) => register(registers, hash),
            Sketch::Exact { hashes, sorted } => {
                if hashes.last() == Some(&hash) {
                    return;
                }
                hashes.push(hash);
                // The unsorted tail grows in proportion, so that sorting costs little per value.
                if hashes.len() > *sorted * 2 + 64 {
                    self.tidy(threshold);
                }
            }
        }
    }

    /// Sorts what came in, and gives up exactness above the threshold.
    pub(crate) fn tidy(&mut self, threshold: usize) {
        let Sketch::Exact { hashes, sorted } = self else {
            return;
        };
        hashes.sort_unstable();
        hashes.dedup();
        *sorted = hashes.len();
        if hashes.len() > threshold {
            let mut registers = Box::new([0_u8; REGISTERS]);
            for hash in hashes.iter() {
                register(&mut registers, *hash);
            }
            *self = Sketch::Estimate(registers);
        }
    }

    pub(crate) fn merge(&mut self, other: Sketch, threshold: usize) {
        match (&mut *self, other) {
            (_, Sketch::Exact { hashes, .. }) => {
                for hash in hashes {
                    self.add(hash, threshold);
                }
            }
            (Sketch::Estimate(mine), Sketch::Estimate(theirs)) => {
                for (mine, theirs) in mine.iter_mut().zip(theirs.iter()) {
                    *mine = (*mine).max(*theirs);
                }
            }
            (Sketch::Exact { hashes, .. }, Sketch::Estimate(mut registers)) => {
                for hash in hashes.iter() {
                    register(&mut registers, *hash);
                }
                *self = Sketch::Estimate(registers);
            }
        }
    }

    /// How many distinct values there were.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Sketch::Exact { hashes, .. } => {
                let mut hashes = hashes.clone();
                hashes.sort_unstable();
                hashes.dedup();
                hashes.len() as u64
            }
            Sketch::Estimate(registers) => estimate(registers),
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Sketch::Exact { hashes, .. } => hashes.capacity() * size_of::<u64>(),
            Sketch::Estimate(_) => REGISTERS,
        }
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the index has 14 bits and the rank is at most 51"
)]
fn register(registers: &mut [u8; REGISTERS], hash: u64) {
    let index = (hash >> (64 - REGISTER_BITS)) as usize;
    let rank = ((hash << REGISTER_BITS).leading_zeros() + 1).min(RANK_MAX);
    registers[index] = registers[index].max(rank as u8);
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of registers are small and the estimate is positive"
)]
fn estimate(registers: &[u8; REGISTERS]) -> u64 {
    let mut histogram = [0_u32; RANK_MAX as usize + 1];
    for rank in registers {
        histogram[*rank as usize] += 1;
    }
    let m = REGISTERS as f64;
    let mut z = m * tau(1.0 - f64::from(histogram[RANK_MAX as usize]) / m);
    for count in histogram[1..RANK_MAX as usize].iter().rev() {
        z = 0.5 * (z + f64::from(*count));
    }
    z += m * sigma(f64::from(histogram[0]) / m);
    (m * m / (2.0 * std::f64::consts::LN_2 * z)).round() as u64
}

/// What registers still at 0 contribute.
fn sigma(share: f64) -> f64 {
    if share >= 1.0 {
        return f64::INFINITY;
    }
    let (mut x, mut y, mut z) = (share, 1.0, share);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z <= before {
            return z;
        }
    }
}

/// What registers at the highest rank contribute.
fn tau(share: f64) -> f64 {
    if share <= 0.0 || share >= 1.0 {
        return 0.0;
    }
    let (mut x, mut y, mut z) = (share, 1.0, 1.0 - share);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x) * (1.0 - x) * y;
        if z >= before {
            return z / 3.0;
        }
    }
}
