//! Collects sparse vectors in memory and writes them with their inverted index as one image.

use std::io::Write;

use bytemuck::cast_slice;

use crate::image::{laid_out, pad};
use crate::sparse::format::{Counts, HEADER_BYTES, Header, SectionKind};
use crate::sparse::integrity::sums;
use crate::sparse::postings::{BLOCK_LEN, Block};
use crate::sparse::{NONZEROS_MAX, SparseEntry, validate_sparse};
use crate::{VECTORS_MAX, VectorError};

/// A column of sparse vectors in the making.
#[derive(Debug, Default)]
pub struct SparseColumnBuilder {
    docs: Vec<u32>,
    /// Where the entries of each row end.
    ends: Vec<u32>,
    entries: Vec<SparseEntry>,
}

impl SparseColumnBuilder {
    /// An empty column.
    pub fn new() -> Self {
        SparseColumnBuilder::default()
    }

    /// The same with room for what is known to come.
    pub fn with_room(rows: usize, weights: usize) -> Self {
        SparseColumnBuilder {
            docs: Vec::with_capacity(rows),
            ends: Vec::with_capacity(rows),
            entries: Vec::with_capacity(weights),
        }
    }

    /// Adds the vector of a document: entries by strictly ascending dimension, as
    /// [`validate_sparse`] wants them. Documents come in strictly ascending order; those without a
    /// vector are left out. A refused vector leaves the builder as it was.
    ///
    /// Columns are merged by pushing their vectors in the new order.
    pub fn push(&mut self, doc: u32, vector: &[SparseEntry]) -> Result<(), VectorError> {
        validate_sparse(vector)?;
        if let Some(&previous) = self.docs.last()
            && doc <= previous
        {
            return Err(VectorError::DocOrder { previous, doc });
        }
        if self.docs.len() == VECTORS_MAX {
            return Err(VectorError::TooManyVectors { max: VECTORS_MAX });
        }
        let full = VectorError::TooManyWeights { max: NONZEROS_MAX };
        let end = self.entries.len() + vector.len();
        let end = u32::try_from(end).ok().filter(|_| end <= NONZEROS_MAX);
        self.ends.push(end.ok_or(full)?);
        self.docs.push(doc);
        self.entries.extend_from_slice(vector);
        Ok(())
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.docs.len()
    }

    /// True when no vector was pushed.
    pub fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// Memory held.
    pub fn mem_bytes(&self) -> usize {
        (self.docs.capacity() + self.ends.capacity()) * size_of::<u32>()
            + self.entries.capacity() * size_of::<SparseEntry>()
    }

    /// Writes the column as one image.
    ///
    /// Sorts all weights by dimension, which takes about 17 bytes of memory for each beside what the
    /// builder holds. The same vectors give the same image.
    pub fn write(self, out: &mut dyn Write) -> Result<(), VectorError> {
        let starts: Vec<u32> = std::iter::once(0)
            .chain(self.ends.iter().copied())
            .collect();
        let rows = starts.windows(2).map(|pair| {
            let range = pair[0] as usize..pair[1] as usize;
            &self.entries[range]
        });
        let lengths: Vec<f32> = rows.map(length).collect();
        let inverted = Inverted::build(&starts, &self.entries, &lengths);
        let sums = sums(cast_slice(&self.entries), &inverted.postings);
        let mut sections: Vec<(SectionKind, &[u8])> = vec![
            (SectionKind::Starts, cast_slice(&starts)),
            (SectionKind::Lengths, cast_slice(&lengths)),
            (SectionKind::Terms, cast_slice(&inverted.terms)),
            (SectionKind::TermBlocks, cast_slice(&inverted.term_blocks)),
            (SectionKind::Counts, cast_slice(&inverted.counts)),
            (SectionKind::Blocks, cast_slice(&inverted.blocks)),
            (SectionKind::Postings, &inverted.postings),
            (SectionKind::Sums, cast_slice(&sums)),
        ];
        // Strictly ascending from 0 without a gap is the same as having the last in its own place.
        let last = self.docs.last();
        if last.is_some_and(|&doc| doc as usize + 1 != self.docs.len()) {
            sections.push((SectionKind::Docs, cast_slice(&self.docs)));
        }
        sections.push((SectionKind::Entries, cast_slice(&self.entries)));
        let counts = Counts {
            rows: self.docs.len(),
            entries: self.entries.len(),
            terms: inverted.terms.len(),
            blocks: inverted.blocks.len() - 1,
            postings_bytes: inverted.postings.len() as u64,
        };
        write_image(counts, &sections, out)
    }
}

/// Sum of a row's weights: the length of a document whose weights count words.
#[allow(clippy::cast_possible_truncation, reason = "rounds once, at the end")]
fn length(row: &[SparseEntry]) -> f32 {
    let sum: f64 = row.iter().map(|entry| f64::from(entry.weight)).sum();
    sum as f32
}

fn write_image(
    counts: Counts,
    sections: &[(SectionKind, &[u8])],
    out: &mut dyn Write,
) -> Result<(), VectorError> {
    let kinds = sections.iter().map(|(kind, bytes)| (*kind as u32, *bytes));
    let (table, image_bytes) = laid_out(HEADER_BYTES, kinds);
    let header = Header {
        counts,
        image_bytes,
        sections: table,
    };
    out.write_all(&header.encode())?;
    let mut written = HEADER_BYTES;
    for (_, bytes) in sections {
        out.write_all(bytes)?;
        written += bytes.len();
        pad(out, &mut written)?;
    }
    Ok(())
}

/// An inverted index in the making.
struct Inverted {
    terms: Vec<u32>,
    term_blocks: Vec<u32>,
    counts: Vec<u32>,
    blocks: Vec<Block>,
    postings: Vec<u8>,
}

impl Inverted {
    fn build(starts: &[u32], entries: &[SparseEntry], lengths: &[f32]) -> Self {
        let mut inverted = Inverted {
            terms: Vec::new(),
            term_blocks: vec![0],
            counts: Vec::new(),
            blocks: Vec::new(),
            postings: Vec::new(),
        };
        // Zeros add nothing to any score, so they have no postings.
        let mut keys: Vec<u64> = (0_u64..)
            .zip(entries)
            .filter(|(_, entry)| entry.weight > 0.0)
            .map(|(at, entry)| u64::from(entry.dimension) << 32 | at)
            .collect();
        keys.sort_unstable();
        let row_of_entry = row_of_entry(starts, entries.len());
        let mut list = Vec::new();
        for term in keys.chunk_by(|a, b| a >> 32 == b >> 32) {
            list.clear();
            list.extend(term.iter().map(|&key| {
                let at = usize::try_from(key & u64::from(u32::MAX)).expect("32 bits");
                (row_of_entry[at], entries[at].weight)
            }));
            let dimension = u32::try_from(term[0] >> 32).expect("32 bits");
            inverted.push_term(dimension, &list, lengths);
        }
        inverted.blocks.push(Block::end(&inverted.postings));
        inverted
    }

    fn push_term(&mut self, dimension: u32, list: &[(u32, f32)], lengths: &[f32]) {
        let count = |len: usize| u32::try_from(len).expect("no more than weights in the column");
        let mut previous = None;
        for block in list.chunks(BLOCK_LEN) {
            let (rows, weights): (Vec<u32>, Vec<f32>) = block.iter().copied().unzip();
            let length_min = rows.iter().map(|&row| lengths[row as usize]);
            let length_min = length_min.fold(f32::INFINITY, f32::min);
            let rows_and_weights = (rows.as_slice(), weights.as_slice());
            let block = Block::encode(previous, rows_and_weights, length_min, &mut self.postings);
            previous = Some(block.last_row);
            self.blocks.push(block);
        }
        self.terms.push(dimension);
        self.counts.push(count(list.len()));
        self.term_blocks.push(count(self.blocks.len()));
    }
}

fn row_of_entry(starts: &[u32], entry_count: usize) -> Vec<u32> {
    let mut rows = Vec::with_capacity(entry_count);
    for (row, pair) in (0_u32..).zip(starts.windows(2)) {
        rows.resize(pair[1] as usize, row);
    }
    rows
}
