//! How blocks are compressed: LZ4 (the plain length in four bytes, then the block) or Zstandard's frames.

use std::cell::RefCell;
use std::io;

use lz4_flex::block::{CompressTable, compress_into_with_table};
use zstd::bulk::Compressor;
use zstd::zstd_safe::{CParameter, DCtx, DDict, compress_bound, get_frame_content_size};

/// A longer block is damaged: it has one document beyond its usual size, and these are limited.
const PLAIN_BYTES_MAX: usize = (1 << 30) + (1 << 20);
/// What a packed byte becomes at most: it lengthens a run of LZ4 by 255, and a block of Zstandard, 128 KiB, takes four bytes or more.
const LZ4_GROWTH: usize = 255;
const ZSTD_GROWTH: usize = 1 << 15;
/// Of Zstandard: level 6 takes more than three times as long for sources that are 4 % smaller.
const LEVEL: i32 = 3;

thread_local! {
    /// To make one takes longer than to unpack a block.
    static CONTEXT: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
}

pub(super) enum Decoder {
    Lz4,
    Zstd(Option<DDict<'static>>),
}

impl Decoder {
    /// The one that a file names by number, with its dictionary, if that is whole.
    pub(super) fn new(codec: u64, dictionary: &[u8]) -> Option<Self> {
        match (codec, dictionary) {
            (0, []) => Some(Decoder::Lz4),
            (1, []) => Some(Decoder::Zstd(None)),
            (1, trained) => DDict::try_create(trained).map(|trained| Decoder::Zstd(Some(trained))),
            _ => None,
        }
    }

    /// Unpacks a block into a buffer, which it replaces; `None` when the block is damaged.
    pub(super) fn unpack(&self, packed: &[u8], plain: &mut Vec<u8>) -> Option<()> {
        plain.clear();
        let Decoder::Zstd(dictionary) = self else {
            let (length, packed) = packed.split_first_chunk()?;
            let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
            plain.resize(possible(length, packed, LZ4_GROWTH)?, 0);
            let unpacked = lz4_flex::block::decompress_into(packed, plain).ok()?;
            return (unpacked == length).then_some(());
        };
        let length = usize::try_from(get_frame_content_size(packed).ok()??).ok()?;
        plain.reserve(possible(length, packed, ZSTD_GROWTH)?);
        let unpacked = CONTEXT.with_borrow_mut(|context| match dictionary {
            Some(dictionary) => context.decompress_using_ddict(plain, packed, dictionary),
            None => context.decompress(plain, packed),
        });
        (unpacked.ok()? == length).then_some(())
    }
}

/// The length that a block says it has, if its bytes can become so many.
fn possible(length: usize, packed: &[u8], growth: usize) -> Option<usize> {
    let most = packed.len().saturating_mul(growth);
    (length <= most.min(PLAIN_BYTES_MAX)).then_some(length)
}

pub(super) enum Encoder {
    /// With what it remembers of a block, which is as large as two of them.
    Lz4(CompressTable),
    Zstd {
        context: Compressor<'static>,
        dictionary: Vec<u8>,
    },
}

impl Encoder {
    pub(super) fn lz4() -> Self {
        Encoder::Lz4(CompressTable::small())
    }

    /// Zstandard with a dictionary, which may be empty.
    pub(super) fn zstd(dictionary: Vec<u8>) -> io::Result<Self> {
        let mut context = Compressor::with_dictionary(LEVEL, &dictionary)?;
        context.set_parameter(CParameter::DictIdFlag(false))?;
        Ok(Encoder::Zstd {
            context,
            dictionary,
        })
    }

    /// The number of the codec, and its dictionary.
    pub(super) fn named(&self) -> (u64, &[u8]) {
        match self {
            Encoder::Lz4(_) => (0, &[]),
            Encoder::Zstd { dictionary, .. } => (1, dictionary),
        }
    }

    /// A block is packed when it has so many bytes.
    pub(super) fn block_bytes(&self) -> usize {
        match self {
            Encoder::Zstd { dictionary, .. } if !dictionary.is_empty() => 1 << 10,
            _ => 4 << 10,
        }
    }

    /// Packs a block into a buffer, which it replaces.
    pub(super) fn pack(&mut self, plain: &[u8], packed: &mut Vec<u8>) -> io::Result<()> {
        packed.clear();
        match self {
            Encoder::Lz4(table) => {
                let length = u32::try_from(plain.len()).map_err(io::Error::other)?;
                packed.extend_from_slice(&length.to_le_bytes());
                let start = packed.len();
                let most = lz4_flex::block::get_maximum_output_size(plain.len());
                packed.resize(start + most, 0);
                let compressed = compress_into_with_table(plain, &mut packed[start..], table);
                packed.truncate(start + compressed.map_err(io::Error::other)?);
            }
            Encoder::Zstd { context, .. } => {
                packed.reserve(compress_bound(plain.len()));
                context.compress_to_buffer(plain, packed)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_room_is_made_for_more_than_a_block_can_become() {
        for mut encoder in [Encoder::lz4(), Encoder::zstd(Vec::new()).unwrap()] {
            let (codec, _) = encoder.named();
            let decoder = Decoder::new(codec, &[]).unwrap();
            for length in [1, 100, 1 << 20] {
                let (mut packed, mut plain) = (Vec::new(), Vec::new());
                encoder.pack(&vec![0; length], &mut packed).unwrap();
                decoder.unpack(&packed, &mut plain).unwrap();
                assert_eq!(plain, vec![0; length]);
            }
        }
        let claimed = [&(1_u32 << 30).to_le_bytes()[..], &[0; 20]].concat();
        let mut plain = Vec::new();
        assert_eq!(Decoder::Lz4.unpack(&claimed, &mut plain), None);
        assert_eq!(plain.capacity(), 0);
    }
}
