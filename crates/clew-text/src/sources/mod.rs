//! The `.source` file of a segment: the JSON of each document, in blocks that are compressed on their own, so that a hit
//! costs the unpacking of one block. Layout: `docs/formats/segment.md`.
//!
//! New documents are compressed by LZ4 at memory speed. A merge compresses them with Zstandard and a dictionary, which
//! is trained on some of them: what documents share, such as the names of their fields, is then in no block, so blocks
//! can be small. On 31.9 MB of descriptions of packages (500 bytes each) blocks of 1 KiB with a dictionary of 32 KiB
//! take 10.1 MB and 3 µs to unpack, of 2 KiB 9.1 MB and 4.3 µs, blocks of 4 KiB without one 10.4 MB and 7.5 µs.

mod codec;
mod packed;
#[cfg(test)]
mod tests;
mod writer;

use std::ops::Range;
use std::sync::Arc;

use tantivy::directory::OwnedBytes;
use tantivy::index::SegmentComponent;
use tantivy::{DocId, SegmentReader, TantivyError};

use codec::Decoder;
pub use packed::Packed;
pub use writer::{SourceWriter, merge_sources, reorder_sources};

const MAGIC: [u8; 8] = *b"CLEWSRC1";
/// Codec, where the dictionary and the columns begin, number of blocks and of documents, bytes of all sources.
const FOOTER_NUMBERS: usize = 6;
/// The numbers, two columns, the magic word.
const FOOTER_BYTES: usize = FOOTER_NUMBERS * 8 + 2 * Packed::HEADER_BYTES + MAGIC.len();

/// The file of a segment that has its sources.
pub fn source_component() -> SegmentComponent {
    SegmentComponent::Custom("source".into())
}

fn damaged() -> TantivyError {
    TantivyError::InternalError("the file of sources is damaged".into())
}

/// The sources of a segment's documents, open.
pub struct Sources {
    bytes: OwnedBytes,
    decoder: Decoder,
    dictionary: Range<usize>,
    blocks: usize,
    docs: DocId,
    /// Bytes of all sources.
    plain_bytes: u64,
    /// The first document of each block.
    firsts: Packed,
    /// Where each block begins.
    starts: Packed,
}

impl Sources {
    /// Opens a segment's sources; O(1) in their number.
    ///
    /// # Errors
    /// When the file is missing or damaged.
    pub fn open(reader: &SegmentReader) -> tantivy::Result<Arc<Self>> {
        let bytes = reader.open_read(source_component())?.read_bytes()?;
        let sources = Self::parse(bytes).ok_or_else(damaged)?;
        if sources.docs != reader.max_doc() {
            return Err(damaged());
        }
        Ok(Arc::new(sources))
    }

    fn parse(bytes: OwnedBytes) -> Option<Self> {
        let end = bytes.len().checked_sub(FOOTER_BYTES)?;
        let (numbers, rest) = bytes[end..].split_at(FOOTER_NUMBERS * 8);
        let (headers, magic) = rest.split_at(2 * Packed::HEADER_BYTES);
        if magic != MAGIC {
            return None;
        }
        let (numbers, _) = numbers.as_chunks();
        let mut numbers = numbers.iter().map(|number| u64::from_le_bytes(*number));
        let codec = numbers.next()?;
        let mut place = || usize::try_from(numbers.next()?).ok();
        let (dictionary, columns, blocks) = (place()?..0, place()?, place()?);
        let dictionary = dictionary.start..columns;
        let docs = DocId::try_from(numbers.next()?).ok()?;
        let (headers, _) = headers.as_chunks();
        let (firsts, next) = Packed::open(headers.first()?, blocks, columns, end)?;
        let (starts, _) = Packed::open(headers.get(1)?, blocks, next, end)?;
        let decoder = Decoder::new(codec, bytes.get(dictionary.clone())?)?;
        Some(Sources {
            decoder,
            dictionary,
            blocks,
            docs,
            plain_bytes: numbers.next()?,
            firsts,
            starts,
            bytes,
        })
    }

    /// Whether a merge wrote them.
    pub fn merged(&self) -> bool {
        !matches!(self.decoder, Decoder::Lz4)
    }

    /// Reads sources.
    pub fn cursor(self: &Arc<Self>) -> SourceCursor {
        SourceCursor {
            sources: self.clone(),
            docs: 0..0,
            plain: Vec::new(),
            bounds: Vec::new(),
        }
    }

    fn dictionary(&self) -> &[u8] {
        &self.bytes[self.dictionary.clone()]
    }

    /// The first document of a block, or the number of documents after the last one.
    fn first(&self, block: usize) -> DocId {
        let inside = block < self.blocks;
        let first = inside.then(|| self.firsts.get(&self.bytes, block));
        first.map_or(self.docs, |first| {
            DocId::try_from(first).unwrap_or(DocId::MAX)
        })
    }

    /// The block that has a document.
    fn block_of(&self, doc: DocId) -> Option<usize> {
        let (mut low, mut high) = (0, self.blocks);
        while low < high {
            let middle = low.midpoint(high);
            if self.first(middle) <= doc {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low.checked_sub(1).filter(|_| doc < self.docs)
    }

    /// A block as it lies in the file; `None` when it is not there.
    fn packed(&self, block: usize) -> Option<&[u8]> {
        let place = |block| usize::try_from(self.starts.get(&self.bytes, block)).ok();
        let end = match block + 1 {
            next if next < self.blocks => place(next)?,
            _ => self.dictionary.start,
        };
        self.bytes.get(place(block)?..end)
    }
}

/// Reads the sources of a segment; a block is unpacked once when they are read in order.
pub struct SourceCursor {
    sources: Arc<Sources>,
    /// The documents of the block that is unpacked.
    docs: Range<DocId>,
    plain: Vec<u8>,
    /// Where the sources begin in the block, and where the last one ends.
    bounds: Vec<usize>,
}

impl SourceCursor {
    /// A document's source, empty when it has none.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn get(&mut self, doc: DocId) -> tantivy::Result<&[u8]> {
        if !self.docs.contains(&doc) {
            // Until the block is whole there is none.
            self.docs = 0..0;
            self.docs = self.unpack(doc).ok_or_else(damaged)?;
        }
        let at = (doc - self.docs.start) as usize;
        Ok(&self.plain[self.bounds[at]..self.bounds[at + 1]])
    }

    /// Unpacks the block that has a document and says which ones it has.
    fn unpack(&mut self, doc: DocId) -> Option<Range<DocId>> {
        let block = self.sources.block_of(doc)?;
        let docs = self.sources.first(block)..self.sources.first(block + 1);
        let packed = self.sources.packed(block)?;
        self.sources.decoder.unpack(packed, &mut self.plain)?;
        self.bounds.clear();
        self.bounds.push(0);
        let (mut rest, mut end) = (self.plain.as_slice(), 0_usize);
        for _ in docs.clone() {
            end = end.checked_add(take_length(&mut rest)?)?;
            self.bounds.push(end);
        }
        let start = self.plain.len() - rest.len();
        self.bounds.iter_mut().for_each(|bound| *bound += start);
        (end == rest.len()).then_some(docs)
    }
}

/// Appends a length: seven bits a byte, the lowest first, the eighth set in all but the last.
fn put_length(mut length: usize, out: &mut Vec<u8>) {
    while length >= 0x80 {
        out.push(length.to_le_bytes()[0] | 0x80);
        length >>= 7;
    }
    out.push(length.to_le_bytes()[0]);
}

fn take_length(rest: &mut &[u8]) -> Option<usize> {
    let mut length = 0;
    for shift in (0..usize::BITS).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        length |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(length);
        }
    }
    None
}
