//! Which shard a document goes to, exactly as OpenSearch decides it, so that documents with one
//! routing key land together and figures per shard can be compared.

use clew_platform::murmur3_32;

/// The shard of a routing key: murmur3 (32 bits, x86 variant, seed 0) of the key's UTF-16 little
/// endian bytes, reduced over a fixed number of routing slots that each shard owns an equal
/// share of.
pub(crate) fn shard_of(key: &str, shard_count: u32, slots: u32) -> u32 {
    let hash = i64::from(hash_of(key).cast_signed());
    let slot = u32::try_from(hash.rem_euclid(i64::from(slots))).expect("below the slot count");
    slot / (slots / shard_count)
}

/// The hash of a key: of short ones of ASCII, which nearly all are, without a place on the heap.
fn hash_of(key: &str) -> u32 {
    let mut units = [0; 2 * SHORT_KEY];
    match units.get_mut(..2 * key.len()) {
        Some(units) if key.is_ascii() => {
            for (unit, byte) in units.chunks_exact_mut(2).zip(key.bytes()) {
                unit[0] = byte;
            }
            murmur3_32(units, 0)
        }
        _ => {
            let units: Vec<u8> = key.encode_utf16().flat_map(u16::to_le_bytes).collect();
            murmur3_32(&units, 0)
        }
    }
}

/// Bytes of a short key: more than ids that are made here have, and those that are UUIDs.
const SHORT_KEY: usize = 64;

/// The number of slots: the shard count doubled until just above 512, so that an index can later
/// be split by doubling (at most 1024 for a power of two).
pub(crate) fn routing_slots(shard_count: u32) -> u32 {
    let log2_shards = 32 - (shard_count - 1).leading_zeros();
    shard_count << 10u32.saturating_sub(log2_shards).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_keys_are_hashed_alike() {
        let of_units = |key: &str| {
            let units: Vec<u8> = key.encode_utf16().flat_map(u16::to_le_bytes).collect();
            murmur3_32(&units, 0)
        };
        let long = "x".repeat(SHORT_KEY + 1);
        for key in ["", "a", "é", "a\u{1F600}", &long[1..], &long] {
            assert_eq!(hash_of(key), of_units(key), "{key}");
        }
    }

    #[test]
    fn every_shard_gets_its_share() {
        for shard_count in [1, 2, 3, 5, 18, 64, 1024] {
            let mut counts = vec![0u32; shard_count as usize];
            for i in 0..shard_count * 200 {
                counts
                    [shard_of(&i.to_string(), shard_count, routing_slots(shard_count)) as usize] +=
                    1;
            }
            assert!(
                counts.iter().all(|&n| (100..400).contains(&n)),
                "{shard_count}: {counts:?}"
            );
        }
    }
}
