//! Documents whose shapes lie to a given one as wanted, found in a column of shapes.

use clew_platform::Pace;
use clew_query::{go_on_in_set, unless_stopped_in_set};
use clew_schema::geo::AskedShape;
use tantivy::SegmentReader;
use tantivy::columnar::BytesColumn;
use tantivy::schema::Field;

use super::constant::{DocumentSet, FoundDocs, knows, tested};

/// Documents by the shapes in a column. Costs the bytes of all its shapes, of most of which the bounds alone are looked at.
#[derive(Debug)]
pub(crate) struct ShapesInArea {
    pub(crate) field: Field,
    pub(crate) column: String,
    pub(crate) asked: AskedShape,
}

impl ShapesInArea {
    /// What becomes of each value of the column, by its number; `None` of pieces, which a document has several of.
    fn judgements(&self, column: &BytesColumn) -> tantivy::Result<Vec<Option<bool>>> {
        let mut found = Vec::with_capacity(column.num_terms());
        let mut terms = column.dictionary().stream()?;
        let mut pace = Pace::of_blocks();
        while terms.advance() {
            go_on_in_set(&mut pace)?;
            let judged = self.asked.judge(terms.key(), &mut || pace.is_over());
            found.push(judged);
        }
        unless_stopped_in_set()?;
        Ok(found)
    }

    /// Whether the values of a document lie as wanted; `judged` says so of each, as far as it can.
    fn fits(
        &self,
        (column, judged): (&BytesColumn, &[Option<bool>]),
        ords: &[u64],
    ) -> tantivy::Result<bool> {
        let mut verdicts = Vec::with_capacity(ords.len());
        let mut pieces = Vec::new();
        for ord in ords {
            let judgement = usize::try_from(*ord).ok().and_then(|ord| judged.get(ord));
            match judgement {
                Some(Some(verdict)) => verdicts.push(*verdict),
                Some(None) => {
                    let mut piece = Vec::new();
                    column.ord_to_bytes(*ord, &mut piece)?;
                    pieces.push(piece);
                }
                None => {}
            }
        }
        if !pieces.is_empty() {
            let mut pace = Pace::of_blocks();
            let judged = self.asked.judge_pieces(pieces, &mut || pace.is_over());
            unless_stopped_in_set()?;
            verdicts.push(judged);
        }
        Ok(match self.asked.is_about_all() {
            true => !verdicts.is_empty() && verdicts.iter().all(|verdict| *verdict),
            false => verdicts.contains(&true),
        })
    }
}

impl DocumentSet for ShapesInArea {
    fn find(&self, reader: &SegmentReader) -> tantivy::Result<FoundDocs> {
        if !knows(reader, self.field) {
            return Ok(FoundDocs::Nothing);
        }
        let Some(column) = reader.fast_fields().bytes(&self.column)? else {
            return Ok(FoundDocs::Nothing);
        };
        let judged = self.judgements(&column)?;
        let mut ords = Vec::new();
        tested(reader.max_doc(), Pace::default(), |doc| {
            ords.clear();
            ords.extend(column.ords().values_for_doc(doc));
            Ok(!ords.is_empty() && self.fits((&column, judged.as_slice()), &ords)?)
        })
    }
}
