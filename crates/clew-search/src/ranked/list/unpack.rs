//! A block of documents and frequencies out of its packed form.

use bitpacking::{BitPacker, BitPacker4x};
use tantivy::TERMINATED;

use super::{BLOCK, BYTES_A_BIT, List, Loaded, STRICT, WIDTH_MASK};
use crate::ranked::layout::{WIDTH, read_docs, read_frequencies};

impl List<'_> {
    /// What is wanted of the current block, out of its packed form.
    pub(super) fn decompress(&mut self, wanted: Loaded) {
        self.sum_up();
        if self.block >= self.blocks {
            self.load_tail();
            return;
        }
        let packer = BitPacker4x::new();
        let bytes = &self.data[self.offset..];
        let entry = &self.entries[self.block * self.layout.size..][..self.layout.size];
        let (bits, strict) = (entry[WIDTH] & WIDTH_MASK, entry[WIDTH] & STRICT != 0);
        if self.loaded == Loaded::Nothing {
            if strict {
                let before = (self.last_before > 0).then_some(self.last_before);
                packer.decompress_strictly_sorted(before, bytes, &mut self.docs, bits);
            } else {
                packer.decompress_sorted(self.last_before, bytes, &mut self.docs, bits);
            }
            self.len = BLOCK;
            self.loaded = Loaded::Docs;
        }
        if wanted == Loaded::Frequencies {
            if let Some(at) = self.layout.frequencies {
                let bytes = &bytes[usize::from(bits) * BYTES_A_BIT..];
                packer.decompress(bytes, &mut self.frequencies, entry[at]);
                if strict {
                    self.frequencies.iter_mut().for_each(|one| *one += 1);
                }
            } else {
                self.frequencies.fill(1);
            }
            self.loaded = Loaded::Frequencies;
        }
    }

    fn load_tail(&mut self) {
        let len = self.tail_len();
        let bytes = self.data.get(self.offset..).unwrap_or_default();
        let bytes = read_docs(bytes, self.last_before, &mut self.docs[..len]);
        self.docs[len..].fill(TERMINATED);
        if self.layout.frequencies.is_some() && !bytes.is_empty() {
            read_frequencies(bytes, &mut self.frequencies[..len]);
        } else {
            self.frequencies.fill(1);
        }
        self.len = len;
        self.loaded = Loaded::Frequencies;
    }
}
