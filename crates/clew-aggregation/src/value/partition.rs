//! Divides terms into parts by their hashes, so that a client can ask for all terms part by part.
//! The hashes are those that OpenSearch uses, as clients may keep lists of parts: MurmurHash3
//! (Austin Appleby) of text, and a mix of the bits of numbers (the finalizer of the same family).

use clew_platform::murmur3_32;
use tantivy::columnar::MonotonicallyMappableToU64;

use crate::value::key::Key;

/// The seed of the hashes of text.
const SEED: u32 = 31;

/// The part that a term belongs to, of so many.
pub(crate) fn part_of(key: &Key, count: u32) -> u32 {
    let hash = match key {
        Key::Str(text) => i64::from(murmur3_32(text.as_bytes(), SEED).cast_signed()),
        Key::Ip(address) => i64::from(murmur3_32(&address.octets(), SEED).cast_signed()),
        Key::I64(value) | Key::Date(value) => mix(value.cast_unsigned()),
        Key::U64(value) => mix(*value),
        // As the bits that sort like the number.
        Key::F64(value) => mix(value.to_u64() ^ (1 << 63)),
        Key::Bool(value) => mix(u64::from(*value)),
        Key::Null | Key::Tuple(_) => 0,
    };
    u32::try_from(hash.rem_euclid(i64::from(count.max(1)))).unwrap_or(0)
}

fn mix(value: u64) -> i64 {
    let value = (value ^ (value >> 32)).wrapping_mul(0x4cd6_944c_5cc2_0b6d);
    let value = (value ^ (value >> 29)).wrapping_mul(0xfc12_c5b1_9d32_59e9);
    (value ^ (value >> 32)).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_in_one_part_and_stay_there() {
        assert_eq!(part_of(&Key::Str("abc".into()), 2), 1);
        assert_eq!(part_of(&Key::Str("bcd".into()), 2), 0);
        let parts = (0..1_000).map(|value| part_of(&Key::I64(value), 3));
        let mut sizes = [0_u32; 3];
        parts.for_each(|part| sizes[part as usize] += 1);
        assert!(
            sizes.iter().all(|size| (250..420).contains(size)),
            "{sizes:?}"
        );
    }
}
