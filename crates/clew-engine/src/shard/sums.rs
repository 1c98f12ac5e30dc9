//! The sums of a file's blocks, which are written behind its last byte: by them every byte is checked before it is
//! first read, without reading the file as a whole. Layout: `docs/formats/segment.md`.

use std::io::{self, Write};
use std::ops::Range;

use clew_platform::bring_in;
use crc_fast::{CrcAlgorithm, Digest};
use tantivy::directory::{AntiCallToken, TerminatingWrite};

/// A smaller block is checked sooner when it is first touched (16 KiB of cached pages 1.7 µs, 64 KiB 10 µs) but has a
/// larger table: this one takes a byte for 4 KiB of the file.
pub(super) const BLOCK_BYTES: usize = 16 << 10;
const SUM_BYTES: usize = 4;
const MAGIC: [u8; 8] = *b"CLEWSUM1";
/// Bytes of the file before the sums, bytes of a block, the sum of all that, the magic word.
const TRAILER_BYTES: usize = 8 + 4 + SUM_BYTES + MAGIC.len();

/// CRC-32C.
fn sum_of(bytes: &[u8]) -> u32 {
    narrow(crc_fast::checksum(CrcAlgorithm::Crc32Iscsi, bytes))
}

/// A CRC of 32 bits comes in 64.
pub(super) fn narrow(crc: u64) -> u32 {
    u32::try_from(crc).expect("a sum of 32 bits")
}

/// Writes a file, and the sums of its blocks behind it.
pub(super) struct Summed<W> {
    out: W,
    sums: Vec<u8>,
    /// What the block has so far that is being written.
    block: Digest,
    block_bytes: usize,
    written: u64,
}

impl<W> Summed<W> {
    pub(super) fn new(out: W) -> Self {
        Summed {
            out,
            sums: Vec::new(),
            block: Digest::new(CrcAlgorithm::Crc32Iscsi),
            block_bytes: 0,
            written: 0,
        }
    }

    fn add(&mut self, mut bytes: &[u8]) {
        self.written += bytes.len() as u64;
        while !bytes.is_empty() {
            let room = BLOCK_BYTES - self.block_bytes;
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            bytes = later;
            if now.len() == BLOCK_BYTES {
                self.sums.extend_from_slice(&sum_of(now).to_le_bytes());
                continue;
            }
            self.block.update(now);
            self.block_bytes += now.len();
            if self.block_bytes == BLOCK_BYTES {
                self.end_block();
            }
        }
    }

    fn end_block(&mut self) {
        let sum = narrow(self.block.finalize_reset());
        self.sums.extend_from_slice(&sum.to_le_bytes());
        self.block_bytes = 0;
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.add(&bytes[..count]);
        Ok(count)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: TerminatingWrite> TerminatingWrite for Summed<W> {
    fn terminate_ref(&mut self, token: AntiCallToken) -> io::Result<()> {
        if self.block_bytes > 0 {
            self.end_block();
        }
        let mut end = std::mem::take(&mut self.sums);
        end.extend_from_slice(&self.written.to_le_bytes());
        let block_bytes = u32::try_from(BLOCK_BYTES).expect("blocks are small");
        end.extend_from_slice(&block_bytes.to_le_bytes());
        end.extend_from_slice(&sum_of(&end).to_le_bytes());
        end.extend_from_slice(&MAGIC);
        self.out.write_all(&end)?;
        self.out.terminate_ref(token)
    }
}

/// Where the sums of a file lie.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    table: Range<usize>,
    block_bytes: usize,
    /// Of the table: as it stands for every byte of the file, it tells one file from another.
    pub(super) of_all: u32,
}

impl Sums {
    /// Those of a file; `None` when what ends it is not what was written, or cannot be read.
    pub(super) fn parse(file: &[u8]) -> Option<Self> {
        let end_bytes = file.len().div_ceil(BLOCK_BYTES) * SUM_BYTES + TRAILER_BYTES;
        bring_in(&file[file.len().saturating_sub(end_bytes)..]).ok()?;
        let (rest, magic) = file.split_last_chunk()?;
        let (rest, of_all) = rest.split_last_chunk()?;
        let of_all = u32::from_le_bytes(*of_all);
        let (before, block_bytes) = rest.split_last_chunk()?;
        let (before, body) = before.split_last_chunk()?;
        let body = usize::try_from(u64::from_le_bytes(*body)).ok()?;
        let block_bytes = usize::try_from(u32::from_le_bytes(*block_bytes)).ok()?;
        let sums = body.checked_div(block_bytes)? + usize::from(!body.is_multiple_of(block_bytes));
        let fits = body.checked_add(sums.checked_mul(SUM_BYTES)?)? == before.len();
        let is_sound = fits && *magic == MAGIC && sum_of(&rest[body..]) == of_all;
        is_sound.then_some(Sums {
            table: body..before.len(),
            block_bytes,
            of_all,
        })
    }

    /// The number of bytes of the file that are read, those before the sums.
    pub(super) fn body_bytes(&self) -> usize {
        self.table.start
    }

    /// The number of blocks.
    pub(super) fn count(&self) -> usize {
        self.table.len() / SUM_BYTES
    }

    /// The blocks that have bytes of a range.
    pub(super) fn blocks(&self, range: &Range<usize>) -> Range<usize> {
        if range.is_empty() {
            return 0..0;
        }
        range.start / self.block_bytes..(range.end - 1) / self.block_bytes + 1
    }

    /// Where a block lies.
    pub(super) fn place(&self, block: usize) -> Range<usize> {
        let start = block * self.block_bytes;
        start..(start + self.block_bytes).min(self.body_bytes())
    }

    /// What is wrong with a block's bytes: "are not those that were written". Nothing, where they are.
    pub(super) fn wrong(&self, file: &[u8], block: usize) -> Option<String> {
        let at = self.table.start + block * SUM_BYTES;
        let (bytes, sum) = (&file[self.place(block)], &file[at..at + SUM_BYTES]);
        if let Err(error) = bring_in(bytes).and_then(|()| bring_in(sum)) {
            return Some(format!("cannot be read: {error}"));
        }
        let holds = sum == sum_of(bytes).to_le_bytes();
        (!holds).then(|| "are not those that were written".to_string())
    }
}

/// Whether a whole file is as it was written.
pub(super) fn is_sound(file: &[u8]) -> bool {
    let sums = Sums::parse(file);
    sums.is_some_and(|sums| (0..sums.count()).all(|block| sums.wrong(file, block).is_none()))
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;
    use proptest::prelude::*;

    use super::*;

    /// A disk that takes only a part of what is large.
    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(40_000);
            self.0.lock().extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl TerminatingWrite for Memory {
        fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is read of a file that was written in pieces, and the file.
    pub(in crate::shard) fn written(pieces: &[usize]) -> (Vec<u8>, Vec<u8>) {
        let memory = Memory::default();
        let mut out = Summed::new(memory.clone());
        let mut body = Vec::new();
        for (n, piece) in pieces.iter().enumerate() {
            let bytes: Vec<u8> = (0..*piece)
                .map(|at| ((at * 31 + n) % 251).try_into().unwrap())
                .collect();
            out.write_all(&bytes).unwrap();
            body.extend(bytes);
        }
        out.terminate().unwrap();
        let file = memory.0.lock().clone();
        (body, file)
    }

    fn pieces() -> impl Strategy<Value = Vec<usize>> {
        let piece = prop_oneof![
            0..300_usize,
            Just(BLOCK_BYTES),
            Just(BLOCK_BYTES - 1),
            0..70_000_usize
        ];
        proptest::collection::vec(piece, 0..8)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_file_is_what_was_written_and_its_sums(pieces in pieces()) {
            let (body, file) = written(&pieces);
            let sums = Sums::parse(&file).expect("it was written so");
            prop_assert_eq!(&file[..sums.body_bytes()], &body[..]);
            prop_assert_eq!(sums.count(), body.len().div_ceil(BLOCK_BYTES));
            prop_assert_eq!(file.len(), body.len() + sums.count() * SUM_BYTES + TRAILER_BYTES);
            prop_assert!((0..sums.count()).all(|block| sums.wrong(&file, block).is_none()));
            let (_, same) = written(&[&pieces[..], &[0]].concat());
            prop_assert_eq!(same, file);
        }

        #[test]
        fn one_bit_is_told_by_the_sums_or_by_one_block(
            pieces in pieces(), at in any::<prop::sample::Index>(), bit in 0..8_u32,
        ) {
            let (body, mut file) = written(&pieces);
            let at = at.index(file.len());
            file[at] ^= 1 << bit;
            match Sums::parse(&file) {
                None => prop_assert!(at >= body.len()),
                Some(sums) => {
                    let damaged: Vec<usize> = (0..sums.count()).filter(|block| sums.wrong(&file, *block).is_some()).collect();
                    prop_assert_eq!(damaged.len(), 1);
                    prop_assert!(sums.place(damaged[0]).contains(&at));
                    prop_assert_eq!(sums.blocks(&(at..at + 1)), damaged[0]..damaged[0] + 1);
                }
            }
        }

        #[test]
        fn a_file_that_is_cut_or_longer_has_no_sums(pieces in pieces(), cut in any::<prop::sample::Index>(), more in 1..40_usize) {
            let (_, file) = written(&pieces);
            prop_assert!(Sums::parse(&file[..cut.index(file.len())]).is_none());
            prop_assert!(Sums::parse(&[&file[..], &vec![7; more]].concat()).is_none());
        }
    }
}
