//! Divides terms into parts by their hashes, so that a client can ask for all terms part by part.
//! The hashes are those that OpenSearch uses, as clients may keep lists of parts: MurmurHash3
//! (Austin Appleby) of text, and a mix of the bits of numbers (the finalizer of the same family).

use tantivy::columnar::MonotonicallyMappableToU64;

use crate::value::key::Key;

/// The seed of the hashes of text.
const SEED: u32 = 31;

/// The part that a term belongs to, of so many.
pub(crate) fn part_of(key: &Key, count: u32) -> u32 {
    let hash = match key {
        Key::Str(text) => i64::from(murmur(text.as_bytes()).cast_signed()),
        Key::Ip(address) => i64::from(murmur(&address.octets()).cast_signed()),
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

fn murmur(bytes: &[u8]) -> u32 {
    let scramble = |word: u32| {
        word.wrapping_mul(0xcc9e_2d51)
            .rotate_left(15)
            .wrapping_mul(0x1b87_3593)
    };
    let (words, rest) = bytes.as_chunks::<4>();
    let mut hash = SEED;
    for word in words {
        hash ^= scramble(u32::from_le_bytes(*word));
        hash = hash
            .rotate_left(13)
            .wrapping_mul(5)
            .wrapping_add(0xe654_6b64);
    }
    let mut last = [0_u8; 4];
    last[..rest.len()].copy_from_slice(rest);
    hash ^= scramble(u32::from_le_bytes(last));
    hash ^= u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
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
