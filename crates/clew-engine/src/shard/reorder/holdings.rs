//! What the documents of a segment hold, read from its own postings: of each text and keyword field the terms
//! that are neither rare nor everywhere. Rare ones cost bits only once, and what half of the documents have
//! says nothing about which of them are alike.

use clew_schema::Mapping;
use clew_search::Blocks;
use tantivy::postings::TermInfo;
use tantivy::schema::{Field, IndexRecordOption, Type};
use tantivy::{DocId, InvertedIndexReader, SegmentReader};

use super::bisection::Holdings;

/// Terms of fewer documents are left out.
const DOCS_MIN: u32 = 16;

/// The documents of a segment as they are moved: each with the nested objects before it.
pub(super) struct Units {
    /// One more than the last row of each; `None` when each is one row.
    ends: Option<Vec<DocId>>,
    count: DocId,
}

impl Units {
    pub(super) fn of(blocks: Option<&Blocks>, rows: DocId) -> Self {
        let Some(blocks) = blocks else {
            return Units {
                ends: None,
                count: rows,
            };
        };
        let mut ends = Vec::new();
        let mut next = blocks.root_of(0);
        while let Some(root) = next {
            ends.push(root + 1);
            next = blocks.root_of(root + 1);
        }
        let count = DocId::try_from(ends.len()).expect("there are fewer documents than rows");
        let ends = Some(ends);
        Units { ends, count }
    }

    pub(super) fn count(&self) -> DocId {
        self.count
    }

    /// The rows of documents in an order, as their old numbers.
    pub(super) fn rows(&self, order: Vec<DocId>) -> Vec<DocId> {
        let Some(ends) = &self.ends else {
            return order;
        };
        let start = |unit: usize| unit.checked_sub(1).map_or(0, |before| ends[before]);
        let rows = order.into_iter().map(|unit| unit as usize);
        rows.flat_map(|unit| start(unit)..ends[unit]).collect()
    }

    /// The document of each row.
    fn of_rows(&self) -> Option<Vec<u32>> {
        let ends = self.ends.as_ref()?;
        let mut of_rows = Vec::with_capacity(ends.last().map_or(0, |end| *end as usize));
        for (unit, &end) in (0..).zip(ends) {
            of_rows.resize(end as usize, unit);
        }
        Some(of_rows)
    }
}

/// The terms to look at, and how many postings they have.
pub(super) struct Terms {
    fields: Vec<Field>,
    docs_max: DocId,
    count: usize,
    postings: usize,
}

impl Terms {
    /// Reads the dictionaries.
    pub(super) fn choose(reader: &SegmentReader, units: &Units) -> tantivy::Result<Self> {
        let schema = reader.schema();
        let is_text = |field: &Field| {
            let entry = schema.get_field_entry(*field);
            *field != Mapping::ID
                && entry.is_indexed()
                && entry.field_type().value_type() == Type::Str
        };
        let mut terms = Terms {
            fields: schema
                .fields()
                .map(|(field, _)| field)
                .filter(is_text)
                .collect(),
            docs_max: units.count() / 2,
            count: 0,
            postings: 0,
        };
        let (mut count, mut postings) = (0, 0);
        terms.for_each(reader, |_, info| {
            count += 1;
            postings += info.doc_freq as usize;
            Ok(())
        })?;
        (terms.count, terms.postings) = (count, postings);
        Ok(terms)
    }

    /// Memory that it takes to find the order.
    pub(super) fn memory_needed(&self, units: &Units, rows: DocId) -> usize {
        if u32::try_from(self.postings).is_err() {
            // They have no numbers, so no memory is enough.
            return usize::MAX;
        }
        let found = Holdings::memory_needed(units.count() as usize, self.postings, self.count);
        // Where documents end, and the document of each row; the new order of rows, both ways.
        found + rows as usize * 4 * size_of::<u32>()
    }

    /// What the documents hold.
    pub(super) fn holdings(
        &self,
        reader: &SegmentReader,
        units: &Units,
    ) -> tantivy::Result<Holdings> {
        let of_rows = units.of_rows();
        let unit_of = |row: DocId| of_rows.as_ref().map_or(row, |units| units[row as usize]);
        // First their numbers, a place further; then the starts move on as the places are filled.
        let mut starts = vec![0_u32; units.count() as usize + 2];
        self.for_each_unit(reader, unit_of, |_, unit| starts[unit as usize + 2] += 1)?;
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut held = vec![0; end as usize];
        self.for_each_unit(reader, unit_of, |kind, unit| {
            let place = &mut starts[unit as usize + 1];
            held[*place as usize] = kind;
            *place += 1;
        })?;
        starts.pop();
        Ok(Holdings::new(starts, held, self.count))
    }

    /// Each term once with each document that has it.
    fn for_each_unit(
        &self,
        reader: &SegmentReader,
        unit_of: impl Fn(DocId) -> u32,
        mut visit: impl FnMut(u32, u32),
    ) -> tantivy::Result<()> {
        let mut kind = 0;
        self.for_each(reader, |index, info| {
            let mut block =
                index.read_block_postings_from_terminfo(info, IndexRecordOption::Basic)?;
            let mut last = None;
            while block.block_len() > 0 {
                for &row in block.docs() {
                    let unit = unit_of(row);
                    if last.replace(unit) != Some(unit) {
                        visit(kind, unit);
                    }
                }
                block.advance();
            }
            kind += 1;
            Ok(())
        })
    }

    /// The terms in the order of the dictionaries.
    fn for_each(
        &self,
        reader: &SegmentReader,
        mut visit: impl FnMut(&InvertedIndexReader, &TermInfo) -> tantivy::Result<()>,
    ) -> tantivy::Result<()> {
        for &field in &self.fields {
            let index = reader.inverted_index(field)?;
            let mut stream = index.terms().stream()?;
            while let Some((_, info)) = stream.next() {
                if (DOCS_MIN..=self.docs_max).contains(&info.doc_freq) {
                    visit(&index, info)?;
                }
            }
        }
        Ok(())
    }
}
