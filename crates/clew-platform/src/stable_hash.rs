//! Hashes that every build on every machine makes alike, for what is kept on disk or was promised to clients. Nobody who
//! chooses what is hashed is kept from finding collisions.

/// What [`fnv1a_64`] begins with.
pub const FNV1A_64: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a (Fowler, Noll, Vo) with 64 bits: the hash of what stood before, or [`FNV1A_64`], with these bytes behind it.
#[inline]
pub fn fnv1a_64(before: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(before, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// FNV-1a with 32 bits.
#[inline]
pub fn fnv1a_32(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash: u32, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

/// The checksum of zip and Ethernet, bit by bit: about 10 ns for each byte, for texts that are short.
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            let divides = crc & 1 == 1;
            crc >>= 1;
            if divides {
                crc ^= 0xedb8_8320;
            }
        }
    }
    !crc
}

/// Java's hash of a text, whose letters are those of UTF-16.
pub fn java_hash(text: &str) -> u32 {
    text.encode_utf16().fold(0, |hash: u32, unit| {
        hash.wrapping_mul(31).wrapping_add(u32::from(unit))
    })
}

/// Austin Appleby's `MurmurHash3_x86_32`. Costs about a nanosecond for each 4 bytes.
pub fn murmur3_32(bytes: &[u8], seed: u32) -> u32 {
    let scramble = |word: u32| {
        word.wrapping_mul(0xcc9e_2d51)
            .rotate_left(15)
            .wrapping_mul(0x1b87_3593)
    };
    let (words, tail) = bytes.as_chunks::<4>();
    let mut hash = seed;
    for word in words {
        hash ^= scramble(u32::from_le_bytes(*word));
        hash = hash
            .rotate_left(13)
            .wrapping_mul(5)
            .wrapping_add(0xe654_6b64);
    }
    // Of a whole word that is zero behind the tail nothing is added: zero scrambled is zero.
    let mut last = [0; 4];
    last[..tail.len()].copy_from_slice(tail);
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
    fn hashes_are_the_published_ones() {
        for (text, narrow, wide) in [
            ("", 0x811c_9dc5, 0xcbf2_9ce4_8422_2325),
            ("a", 0xe40c_292c, 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0xbf9c_f968, 0x8594_4171_f739_67e8),
        ] {
            assert_eq!(fnv1a_32(text.as_bytes()), narrow, "{text}");
            assert_eq!(fnv1a_64(FNV1A_64, text.as_bytes()), wide, "{text}");
        }
        for (text, seed, hash) in [
            ("", 0, 0),
            ("", 1, 0x514e_28b7),
            ("test", 0, 0xba6b_d213),
            ("test", 0x9747_b28c, 0x704b_81dc),
            ("Hello, world!", 0, 0xc036_3e43),
            (
                "The quick brown fox jumps over the lazy dog",
                0,
                0x2e4f_f723,
            ),
        ] {
            assert_eq!(murmur3_32(text.as_bytes(), seed), hash, "{text} {seed}");
        }
    }

    #[test]
    fn a_text_may_be_hashed_in_parts() {
        let begun = fnv1a_64(FNV1A_64, b"foo");
        assert_eq!(fnv1a_64(begun, b"bar"), fnv1a_64(FNV1A_64, b"foobar"));
    }
}
