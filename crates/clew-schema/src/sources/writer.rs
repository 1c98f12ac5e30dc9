//! Writes sources, one after the other or from those of other segments.

use std::io::{self, Write};
use std::sync::Arc;

use tantivy::{DocId, SegmentReader};

use super::codec::Encoder;
use super::{FOOTER_BYTES, MAGIC, Packed, Sources, put_length};

/// Of a dictionary: larger ones make sources 3 % smaller at most.
const DICTIONARY_BYTES: usize = 32 << 10;
/// Of the sources that a dictionary is trained on, at most; a merge of 32 MB of sources takes 0.7 s with it.
const SAMPLE_BYTES_MAX: u64 = 1 << 20;
/// One of so many sources is among those at least: a dictionary that is trained on 64 KB of 3 MB in 15 ms makes these 1 %
/// larger than one that is trained on 1 MB of them in 0.1 s.
const SAMPLED_ONE_OF: u64 = 8;
/// Segments with fewer bytes of sources do without, and unpack three times as much for each hit that is shown.
const TRAINED_BYTES_MIN: u64 = 512 << 10;
/// Of one of them.
const SAMPLE_SOURCE_BYTES: usize = 8 << 10;

/// Writes the sources of a segment in the order of its documents.
pub struct SourceWriter<W> {
    out: W,
    encoder: Encoder,
    /// Lengths of the sources in the block that is being filled, and the sources.
    lengths: Vec<u8>,
    bodies: Vec<u8>,
    packed: Vec<u8>,
    written: u64,
    docs: DocId,
    plain_bytes: u64,
    firsts: Vec<u64>,
    starts: Vec<u64>,
    /// The first document of the block that is being filled.
    first: DocId,
}

impl<W: Write> SourceWriter<W> {
    /// For new documents.
    pub fn new(out: W) -> Self {
        Self::with(out, Encoder::lz4())
    }

    pub(super) fn with(out: W, encoder: Encoder) -> Self {
        SourceWriter {
            out,
            encoder,
            lengths: Vec::new(),
            bodies: Vec::new(),
            packed: Vec::new(),
            written: 0,
            docs: 0,
            plain_bytes: 0,
            firsts: Vec::new(),
            starts: Vec::new(),
            first: 0,
        }
    }

    /// Memory that it takes.
    pub fn memory_bytes(&self) -> usize {
        let index = self.firsts.capacity() + self.starts.capacity();
        index * size_of::<u64>() + self.bodies.capacity() + self.packed.capacity()
    }

    /// The next document's source; empty when it has none.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn push(&mut self, source: &[u8]) -> io::Result<()> {
        put_length(source.len(), &mut self.lengths);
        self.bodies.extend_from_slice(source);
        self.plain_bytes += source.len() as u64;
        self.docs += 1;
        if self.bodies.len() + self.lengths.len() >= self.encoder.block_bytes() {
            self.end_block()?;
        }
        Ok(())
    }

    fn end_block(&mut self) -> io::Result<()> {
        if self.lengths.is_empty() {
            return Ok(());
        }
        self.lengths.append(&mut self.bodies);
        self.encoder.pack(&self.lengths, &mut self.packed)?;
        self.lengths.clear();
        self.firsts.push(u64::from(self.first));
        self.starts.push(self.written);
        self.out.write_all(&self.packed)?;
        self.written += self.packed.len() as u64;
        self.first = self.docs;
        Ok(())
    }

    /// All sources of a segment, which were compressed in the same way: block by block as they are.
    fn stack(&mut self, sources: &Sources) -> io::Result<()> {
        self.end_block()?;
        let columns = sources.columns()?;
        let footer = &sources.footer;
        let blocks = sources.bytes.get(0..footer.dictionary.start)?;
        for block in 0..footer.blocks {
            self.firsts
                .push(u64::from(self.docs) + footer.firsts.get(columns.bytes, block));
            self.starts
                .push(self.written + footer.starts.get(columns.bytes, block));
        }
        self.out.write_all(blocks)?;
        self.written += blocks.len() as u64;
        self.docs += footer.docs;
        self.first = self.docs;
        self.plain_bytes += footer.plain_bytes;
        Ok(())
    }

    /// Writes what is left, and gives the file back.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.end_block()?;
        let (codec, dictionary) = self.encoder.named();
        let firsts = Packed::of(self.firsts.iter().copied());
        let starts = Packed::of(self.starts.iter().copied());
        let columns = self.written + dictionary.len() as u64;
        let blocks = self.firsts.len() as u64;
        let docs = u64::from(self.docs);
        let mut end = Vec::with_capacity(dictionary.len() + FOOTER_BYTES);
        end.extend_from_slice(dictionary);
        firsts.write(self.firsts.iter().copied(), &mut end);
        starts.write(self.starts.iter().copied(), &mut end);
        for number in [codec, self.written, columns, blocks, docs, self.plain_bytes] {
            end.extend_from_slice(&number.to_le_bytes());
        }
        end.extend_from_slice(&firsts.header());
        end.extend_from_slice(&starts.header());
        end.extend_from_slice(&MAGIC);
        self.out.write_all(&end)?;
        Ok(self.out)
    }
}

/// Writes the sources of the living documents of some segments in their order. The dictionary of the largest of them
/// that has one is taken over, and with it the blocks of all segments that have the same and lost no document; else one
/// is trained.
///
/// # Errors
/// When a file cannot be written, or is damaged.
pub fn merge_sources<W: Write>(readers: &[SegmentReader], out: W) -> tantivy::Result<W> {
    let sources = readers.iter().map(Sources::open);
    let sources: Vec<Arc<Sources>> = sources.collect::<tantivy::Result<_>>()?;
    let trained = sources
        .iter()
        .filter(|one| !one.footer.dictionary.is_empty());
    let dictionary = match trained.max_by_key(|one| one.footer.plain_bytes) {
        Some(largest) => largest.dictionary()?.to_vec(),
        None => train(readers, &sources)?,
    };
    let mut writer = SourceWriter::with(out, Encoder::zstd(dictionary)?);
    for (reader, sources) in readers.iter().zip(&sources) {
        let is_same = sources.merged() && sources.dictionary()? == writer.encoder.named().1;
        if is_same && !reader.has_deletes() {
            writer.stack(sources)?;
            continue;
        }
        let mut cursor = sources.cursor();
        for doc in reader.doc_ids_alive() {
            writer.push(cursor.get(doc)?)?;
        }
    }
    Ok(writer.finish()?)
}

/// Writes the sources of a merged segment in another order, given by their old places.
///
/// # Errors
/// When a file cannot be written, or is damaged.
pub fn reorder_sources<W: Write>(
    reader: &SegmentReader,
    order: &[DocId],
    out: W,
) -> tantivy::Result<W> {
    let sources = Sources::open(reader)?;
    let encoder = Encoder::zstd(sources.dictionary()?.to_vec())?;
    let mut writer = SourceWriter::with(out, encoder);
    let mut cursor = sources.cursor();
    for &doc in order {
        writer.push(cursor.get(doc)?)?;
    }
    Ok(writer.finish()?)
}

/// A dictionary from documents in equal distances; empty when there is too little to train one on.
fn train(readers: &[SegmentReader], sources: &[Arc<Sources>]) -> tantivy::Result<Vec<u8>> {
    let plain_bytes: u64 = sources.iter().map(|one| one.footer.plain_bytes).sum();
    let Some(step) = sample_step(plain_bytes) else {
        return Ok(Vec::new());
    };
    let (mut samples, mut sizes) = (Vec::new(), Vec::new());
    for (reader, sources) in readers.iter().zip(sources) {
        let mut cursor = sources.cursor();
        for doc in reader.doc_ids_alive().step_by(step) {
            let source = cursor.get(doc)?;
            let sample = &source[..source.len().min(SAMPLE_SOURCE_BYTES)];
            samples.extend_from_slice(sample);
            sizes.push(sample.len());
        }
    }
    // Too few of them, or nothing that they share: blocks do without.
    Ok(zstd::dict::from_continuous(&samples, &sizes, DICTIONARY_BYTES).unwrap_or_default())
}

/// One of how many documents a dictionary is trained on; none where there are too few.
fn sample_step(plain_bytes: u64) -> Option<usize> {
    let step = SAMPLED_ONE_OF.max(plain_bytes / SAMPLE_BYTES_MAX);
    let is_enough = plain_bytes >= TRAINED_BYTES_MIN;
    is_enough.then(|| usize::try_from(step).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_grows_with_the_sources_up_to_a_bound() {
        assert_eq!(sample_step(TRAINED_BYTES_MIN - 1), None);
        assert_eq!(sample_step(TRAINED_BYTES_MIN), Some(8));
        assert_eq!(sample_step(8 << 20), Some(8));
        assert_eq!(sample_step(32 << 20), Some(32));
    }
}
