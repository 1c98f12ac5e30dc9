//! Compressed blocks: the plain length in four bytes, then what the codec made of them.

use crate::options::Compression;

/// Longest plain block: an entry of the highest limit with its headers, or a block's usual size.
const PLAIN_BYTES_MAX: usize = (1 << 30) + (1 << 20);
/// Zstandard's fastest level of the usual ones: a log must not wait for a better one.
const ZSTD_LEVEL: i32 = 1;
const LENGTH_BYTES: usize = 4;
/// What a stored byte becomes at most: it lengthens a run of LZ4 by 255, and a block of Zstandard, 128 KiB, takes four bytes or more.
const LZ4_GROWTH: usize = 255;
const ZSTD_GROWTH: usize = 1 << 15;

/// Compresses a plain block. The result may be longer than the block.
pub(crate) fn compress(compression: Compression, plain: &[u8]) -> Vec<u8> {
    let length = u32::try_from(plain.len()).expect("blocks are limited");
    let mut stored = length.to_le_bytes().to_vec();
    match compression {
        Compression::None => stored.extend_from_slice(plain),
        Compression::Lz4 => stored.extend_from_slice(&lz4_flex::block::compress(plain)),
        Compression::Zstd => {
            let compressed = zstd::bulk::compress(plain, ZSTD_LEVEL);
            stored.extend_from_slice(&compressed.expect("the codec allocates what it needs"));
        }
    }
    stored
}

/// Restores a block into a buffer, which it replaces; says why it cannot.
pub(crate) fn decompress(
    compression: Compression,
    stored: &[u8],
    plain: &mut Vec<u8>,
) -> Result<(), &'static str> {
    const DAMAGED: &str = "compressed block cannot be restored";
    let (length, stored) = stored.split_first_chunk::<LENGTH_BYTES>().ok_or(DAMAGED)?;
    let length = u32::from_le_bytes(*length) as usize;
    let growth = match compression {
        Compression::None => return Err(DAMAGED),
        Compression::Lz4 => LZ4_GROWTH,
        Compression::Zstd => ZSTD_GROWTH,
    };
    if length > PLAIN_BYTES_MAX.min(stored.len().saturating_mul(growth)) {
        return Err("compressed block claims an impossible length");
    }
    plain.clear();
    plain.resize(length, 0);
    let restored = match compression {
        Compression::None => return Err(DAMAGED),
        Compression::Lz4 => lz4_flex::block::decompress_into(stored, plain).ok(),
        Compression::Zstd => zstd::bulk::decompress_to_buffer(stored, plain).ok(),
    };
    if restored == Some(length) {
        Ok(())
    } else {
        Err(DAMAGED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_and_damaged_ones_do_not() {
        let plain: Vec<u8> = (0..5000u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
        let mut restored = vec![1; 3];
        for compression in [Compression::Lz4, Compression::Zstd] {
            let stored = compress(compression, &plain);
            assert!(stored.len() < plain.len());
            decompress(compression, &stored, &mut restored).unwrap();
            assert_eq!(restored, plain);
            for end in [0, 3, 4, stored.len() - 1] {
                decompress(compression, &stored[..end], &mut restored).unwrap_err();
            }
            let mut longer = stored;
            longer[3] = 0xff;
            decompress(compression, &longer, &mut restored).unwrap_err();
        }
    }

    #[test]
    fn no_room_is_made_for_more_than_a_block_can_become() {
        for compression in [Compression::Lz4, Compression::Zstd] {
            for length in [1, 100, 1 << 20] {
                let (plain, mut restored) = (vec![0; length], Vec::new());
                let mut stored = compress(compression, &plain);
                decompress(compression, &stored, &mut restored).unwrap();
                assert_eq!(restored, plain);
                stored[..LENGTH_BYTES].copy_from_slice(&(1_u32 << 30).to_le_bytes());
                let mut claimed = Vec::new();
                decompress(compression, &stored, &mut claimed).unwrap_err();
                assert_eq!(claimed.capacity(), 0);
            }
        }
    }
}
