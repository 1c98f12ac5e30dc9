//! Documents with as many of some terms as each of them wants.

use std::collections::BTreeMap;
use std::sync::Arc;

use clew_platform::{CancellationToken, Pace, Reservation};
use clew_query::{go_on_in_set, hold_in_set, unless_stopped_in_set};
use tantivy::columnar::Column;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, SegmentReader};
use tantivy_common::BitSet;

use super::constant::{DocumentSet, FoundDocs, knows};
use super::function::query::lives;
use super::function::script::{CompiledScript, OpenScript};

/// What a document takes in a tree, with how many terms it has.
const COUNT_BYTES: usize = 24;

/// Documents with at least as many of the terms as they want, and with one of them.
#[derive(Debug)]
pub(crate) struct Covered {
    pub(crate) field: Field,
    pub(crate) terms: Vec<Vec<u8>>,
    pub(crate) wanted: TermsWanted,
}

/// What says how many of the terms a document wants.
#[derive(Debug)]
pub(crate) enum TermsWanted {
    /// The least number of a column.
    Column(String),
    /// A script.
    Script(Arc<CompiledScript>),
}

impl DocumentSet for Covered {
    fn find(&self, reader: &SegmentReader) -> tantivy::Result<FoundDocs> {
        let wanted = self.wanted.open(reader)?;
        if !knows(reader, self.field) || matches!(wanted, OpenWanted::Column(None)) {
            return Ok(FoundDocs::Nothing);
        }
        let mut bits = BitSet::with_max_value(reader.max_doc());
        let mut pace = Pace::of_blocks();
        let (counts, _memory) = self.counts(reader)?;
        for (doc, count) in counts {
            go_on_in_set(&mut pace)?;
            let wanted = match &wanted {
                OpenWanted::Column(column) => column
                    .as_ref()
                    .and_then(|column| column.values_for_doc(doc).min()),
                OpenWanted::Script(script) => by_script(script, reader, doc)?,
            };
            // At least one term must match whatever is said.
            if wanted.is_some_and(|wanted| count >= wanted.max(1)) {
                bits.insert(doc);
            }
        }
        Ok(FoundDocs::Bits(bits))
    }
}

impl Covered {
    /// How many of the terms each document has that has any, and the memory that these are booked on.
    fn counts(
        &self,
        reader: &SegmentReader,
    ) -> tantivy::Result<(BTreeMap<DocId, i64>, Vec<Reservation>)> {
        let inverted = reader.inverted_index(self.field)?;
        let mut counts: BTreeMap<DocId, i64> = BTreeMap::new();
        let mut memory = Vec::new();
        let mut pace = Pace::of_blocks();
        for term in &self.terms {
            let Some(info) = inverted.terms().get(term)? else {
                continue;
            };
            let known = counts.len();
            let mut block =
                inverted.read_block_postings_from_terminfo(&info, IndexRecordOption::Basic)?;
            while !block.docs().is_empty() {
                go_on_in_set(&mut pace)?;
                for doc in block.docs() {
                    *counts.entry(*doc).or_default() += 1;
                }
                block.advance();
            }
            memory.extend(hold_in_set((counts.len() - known) * COUNT_BYTES)?);
        }
        Ok((counts, memory))
    }
}

enum OpenWanted {
    /// None where no document of the segment says anything.
    Column(Option<Column<i64>>),
    Script(Box<OpenScript>),
}

impl TermsWanted {
    fn open(&self, reader: &SegmentReader) -> tantivy::Result<OpenWanted> {
        Ok(match self {
            TermsWanted::Column(name) => OpenWanted::Column(reader.fast_fields().column_opt(name)?),
            TermsWanted::Script(script) => {
                let script = OpenScript::new(script.clone(), reader)?;
                OpenWanted::Script(Box::new(script))
            }
        })
    }
}

/// How many a script wants of a document; a failure ends the search, unless the document is deleted.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a count loses its fraction, and the cast saturates"
)]
fn by_script(
    script: &OpenScript,
    reader: &SegmentReader,
    doc: DocId,
) -> tantivy::Result<Option<i64>> {
    match script.checked(doc, 0.0) {
        Ok(wanted) => Ok(Some(wanted as i64)),
        Err(error) if lives(reader, doc) => {
            CancellationToken::current().fail(error);
            unless_stopped_in_set()?;
            Ok(None)
        }
        Err(_) => Ok(None),
    }
}
