//! The `.source` file of a segment: the JSON of each document, in blocks that are compressed on their own, so that a hit
//! costs the unpacking of one block. Layout: `docs/formats/segment.md`.
//!
//! New documents are compressed by LZ4 at memory speed. A merge compresses them with Zstandard and a dictionary, which
//! is trained on some of them: what documents share, such as the names of their fields, is then in no block, so blocks
//! can be small. On 31.9 MB of descriptions of packages (500 bytes each) blocks of 1 KiB with a dictionary of 32 KiB
//! take 10.1 MB and 3 µs to unpack, of 2 KiB 9.1 MB and 4.3 µs, blocks of 4 KiB without one 10.4 MB and 7.5 µs.

mod codec;
mod members;
mod packed;
#[cfg(test)]
mod tests;
mod writer;

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tantivy::index::SegmentComponent;
use tantivy::{DocId, SegmentReader, TantivyError};

use crate::checked::CheckedBytes;
use codec::Decoder;
pub use members::each_member;
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
    /// Checked but for the blocks and the columns, which are where they are read.
    bytes: CheckedBytes,
    decoder: Decoder,
    footer: Footer,
    /// Whether the columns were checked.
    has_columns: AtomicBool,
}

/// What the end of a file of sources says of the rest.
struct Footer {
    codec: u64,
    dictionary: Range<usize>,
    /// Both columns.
    columns: Range<usize>,
    blocks: usize,
    docs: DocId,
    /// Bytes of all sources.
    plain_bytes: u64,
    /// The first document of each block.
    firsts: Packed,
    /// Where each block begins.
    starts: Packed,
}

impl Footer {
    /// The footer that begins at a place; `None` when it is none.
    fn parse(footer: &[u8], at: usize) -> Option<Self> {
        let (numbers, rest) = footer.split_at_checked(FOOTER_NUMBERS * 8)?;
        let (headers, magic) = rest.split_at_checked(2 * Packed::HEADER_BYTES)?;
        if magic != MAGIC {
            return None;
        }
        let (numbers, _) = numbers.as_chunks();
        let mut numbers = numbers.iter().map(|number| u64::from_le_bytes(*number));
        let codec = numbers.next()?;
        let mut place = || usize::try_from(numbers.next()?).ok();
        let (dictionary, columns, blocks) = (place()?, place()?, place()?);
        let docs = DocId::try_from(numbers.next()?).ok()?;
        let (headers, _) = headers.as_chunks();
        let (firsts, next) = Packed::open(headers.first()?, blocks, columns, at)?;
        let (starts, _) = Packed::open(headers.get(1)?, blocks, next, at)?;
        Some(Footer {
            codec,
            dictionary: dictionary..columns,
            columns: columns..at,
            blocks,
            docs,
            plain_bytes: numbers.next()?,
            firsts,
            starts,
        })
    }
}

impl Sources {
    /// Opens a segment's sources; O(1) in their number.
    ///
    /// # Errors
    /// When the file is missing or damaged.
    pub fn open(reader: &SegmentReader) -> tantivy::Result<Arc<Self>> {
        let bytes = CheckedBytes::open(reader.open_read(source_component())?)?;
        let sources = Self::parse(bytes)?;
        if sources.footer.docs != reader.max_doc() {
            return Err(damaged());
        }
        Ok(Arc::new(sources))
    }

    fn parse(bytes: CheckedBytes) -> tantivy::Result<Self> {
        let end = bytes.len().checked_sub(FOOTER_BYTES).ok_or_else(damaged)?;
        let footer = Footer::parse(bytes.get(end..bytes.len())?, end).ok_or_else(damaged)?;
        let decoder = Decoder::new(footer.codec, bytes.get(footer.dictionary.clone())?);
        Ok(Sources {
            bytes,
            decoder: decoder.ok_or_else(damaged)?,
            footer,
            has_columns: AtomicBool::new(false),
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

    fn dictionary(&self) -> io::Result<&[u8]> {
        self.bytes.get(self.footer.dictionary.clone())
    }

    /// The file with its columns checked.
    fn columns(&self) -> io::Result<Columns<'_>> {
        if !self.has_columns.load(Ordering::Relaxed) {
            self.bytes.check(self.footer.columns.clone())?;
            self.has_columns.store(true, Ordering::Relaxed);
        }
        Ok(Columns {
            footer: &self.footer,
            bytes: self.bytes.unchecked(),
        })
    }
}

/// Where the blocks are, and what they hold.
struct Columns<'a> {
    footer: &'a Footer,
    /// Of the file; the columns are checked.
    bytes: &'a [u8],
}

impl Columns<'_> {
    /// The first document of a block, or the number of documents after the last one.
    fn first(&self, block: usize) -> DocId {
        let inside = block < self.footer.blocks;
        let first = inside.then(|| self.footer.firsts.get(self.bytes, block));
        first.map_or(self.footer.docs, |first| {
            DocId::try_from(first).unwrap_or(DocId::MAX)
        })
    }

    /// The block that has a document.
    fn block_of(&self, doc: DocId) -> Option<usize> {
        let (mut low, mut high) = (0, self.footer.blocks);
        while low < high {
            let middle = low.midpoint(high);
            if self.first(middle) <= doc {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low.checked_sub(1).filter(|_| doc < self.footer.docs)
    }

    /// Where a block begins.
    fn start(&self, block: usize) -> Option<usize> {
        usize::try_from(self.footer.starts.get(self.bytes, block)).ok()
    }

    /// Where a block lies; `None` when it cannot be there.
    fn place(&self, block: usize) -> Option<Range<usize>> {
        let end = match block + 1 {
            next if next < self.footer.blocks => self.start(next)?,
            _ => self.footer.dictionary.start,
        };
        Some(self.start(block)?..end)
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
            self.docs = self.unpack(doc)?;
        }
        let at = (doc - self.docs.start) as usize;
        Ok(&self.plain[self.bounds[at]..self.bounds[at + 1]])
    }

    /// Unpacks the block that has a document and says which ones it has.
    fn unpack(&mut self, doc: DocId) -> tantivy::Result<Range<DocId>> {
        let columns = self.sources.columns()?;
        let block = columns.block_of(doc).ok_or_else(damaged)?;
        let docs = columns.first(block)..columns.first(block + 1);
        let place = columns.place(block).ok_or_else(damaged)?;
        let packed = self.sources.bytes.get(place)?;
        let unpacked = self.sources.decoder.unpack(packed, &mut self.plain);
        unpacked.ok_or_else(damaged)?;
        self.find_bounds(&docs).ok_or_else(damaged)?;
        Ok(docs)
    }

    /// Finds where the sources begin in the block that was unpacked.
    fn find_bounds(&mut self, docs: &Range<DocId>) -> Option<()> {
        self.bounds.clear();
        self.bounds.push(0);
        let (mut rest, mut end) = (self.plain.as_slice(), 0_usize);
        for _ in docs.clone() {
            end = end.checked_add(take_length(&mut rest)?)?;
            self.bounds.push(end);
        }
        let start = self.plain.len() - rest.len();
        self.bounds.iter_mut().for_each(|bound| *bound += start);
        (end == rest.len()).then_some(())
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
