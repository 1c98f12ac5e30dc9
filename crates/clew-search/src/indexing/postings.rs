//! The postings of a field's terms, as the files of a segment have them. Byte for byte what tantivy's own `FieldSerializer` writes,
//! by its parts: that one also builds an automaton of the terms, which `automaton.rs` does faster, and for each term, however
//! rare, a table by which the best of a full block is found; these took 4 % of what indexing a document does.

use std::io;

use tantivy::DocId;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::positions::PositionSerializer;
use tantivy::postings::TermInfo;
use tantivy::postings::serializer::PostingsSerializer;
use tantivy::schema::IndexRecordOption;
use tantivy::termdict::TermDictionaryBuilder;

/// Documents of a full block of postings.
const BLOCK_DOCS: u32 = 128;

/// Writes terms one after the other, in their order.
pub(super) struct PostingsWriter<'o> {
    record: IndexRecordOption,
    /// Occurrences of a document, on average.
    average_norm: f32,
    norms: Option<FieldNormReader>,
    /// What writes terms that fill no block.
    rare: PostingsSerializer,
    postings: &'o mut Vec<u8>,
    positions: Option<PositionSerializer<&'o mut Vec<u8>>>,
    /// Where the first term's postings begin.
    start: usize,
    last: TermInfo,
    infos: TermDictionaryBuilder<Vec<u8>>,
}

impl<'o> PostingsWriter<'o> {
    /// Writes terms that have so many occurrences in all to these two files, postings and positions.
    pub(super) fn new(
        record: IndexRecordOption,
        occurrences: u64,
        norms: Option<FieldNormReader>,
        (postings, positions): (&'o mut Vec<u8>, &'o mut Vec<u8>),
    ) -> io::Result<Self> {
        let average = |norms: &FieldNormReader| occurrences as f32 / norms.num_docs() as f32;
        postings.extend_from_slice(&occurrences.to_le_bytes());
        Ok(PostingsWriter {
            record,
            average_norm: norms.as_ref().map_or(0.0, average),
            norms,
            rare: PostingsSerializer::new(0.0, record, None),
            start: postings.len(),
            postings,
            positions: record
                .has_positions()
                .then(|| PositionSerializer::new(positions)),
            last: TermInfo::default(),
            infos: TermDictionaryBuilder::create(Vec::new())?,
        })
    }

    /// Writes the next term: its documents, how often each has it, and how far each occurrence is from the one before it in its
    /// document.
    pub(super) fn write(&mut self, docs: &[(DocId, u32)], deltas: &[u32]) -> io::Result<()> {
        let count = u32::try_from(docs.len()).map_err(io::Error::other)?;
        let mut frequent;
        let out = if count < BLOCK_DOCS {
            &mut self.rare
        } else {
            // One that has written a full block would go on behind that block's last document.
            let norms = self.norms.clone();
            frequent = PostingsSerializer::new(self.average_norm, self.record, norms);
            &mut frequent
        };
        out.new_term(count, self.record.has_freq());
        for (doc, frequency) in docs {
            out.write_doc(*doc, *frequency);
        }
        out.close_term(count, self.postings)?;

        self.last.doc_freq = count;
        self.last.postings_range.start = self.last.postings_range.end;
        self.last.postings_range.end = self.postings.len() - self.start;
        if let Some(positions) = &mut self.positions {
            positions.write_positions_delta(deltas);
            positions.close_term()?;
            self.last.positions_range.start = self.last.positions_range.end;
            let end = usize::try_from(positions.written_bytes());
            self.last.positions_range.end = end.map_err(io::Error::other)?;
        }
        self.infos.insert_value(&self.last)
    }

    /// Ends the field: a dictionary that says where the postings of each term are, by its number, and has no terms.
    pub(super) fn close(self) -> io::Result<Vec<u8>> {
        if let Some(positions) = self.positions {
            positions.close()?;
        }
        self.infos.finish()
    }
}

#[cfg(test)]
mod tests;
