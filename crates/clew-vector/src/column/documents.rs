//! A column by document: which there are, and what was pushed for each.

use std::borrow::Cow;
use std::ops::{Deref, Range};

use crate::column::format::SectionKind;
use crate::documents::rows_of;
use crate::element::Values;
use crate::{Column, VectorError};

impl<B: Deref<Target = [u8]> + Clone + Send + Sync> Column<B> {
    /// Number of documents that have a vector. Of a column where they may have several, the first call
    /// reads the numbers of all, and fails when they are damaged.
    pub fn doc_count(&self) -> Result<usize, VectorError> {
        match self.view()?.documents {
            Some(documents) => {
                self.integrity().touch_rows()?;
                Ok(documents.count())
            }
            None => Ok(self.len()),
        }
    }

    /// The vector of a document, as it was pushed but for the rounding of [`crate::Element`], the first
    /// one of several; `None` when it has none. Fails when the image is damaged there.
    pub fn vector(&self, doc: u32) -> Result<Option<Cow<'_, [f32]>>, VectorError> {
        let rows = self.rows_of(doc)?;
        let first = rows.start..rows.end.min(rows.start + 1);
        let vector = self.floats(first)?;
        Ok((!rows.is_empty()).then_some(vector))
    }

    /// All vectors of a document, one after the other in the order they were pushed, as
    /// [`Column::vector`] has them; empty when it has none. Fails when the image is damaged there.
    pub fn vectors(&self, doc: u32) -> Result<Cow<'_, [f32]>, VectorError> {
        self.floats(self.rows_of(doc)?)
    }

    fn rows_of(&self, doc: u32) -> Result<Range<usize>, VectorError> {
        self.integrity().touch_rows()?;
        Ok(match self.docs_section() {
            Some(docs) => rows_of(docs, doc),
            None => match usize::try_from(doc) {
                Ok(row) if row < self.len() => row..row + 1,
                _ => 0..0,
            },
        })
    }

    /// The vectors of consecutive rows.
    pub(crate) fn floats(&self, rows: Range<usize>) -> Result<Cow<'_, [f32]>, VectorError> {
        for row in rows.clone() {
            let row = u32::try_from(row).expect("the header limits the number of rows");
            self.integrity().touch_vector(row)?;
        }
        let options = &self.header.options;
        let numbers = options.element.numbers(options.dimension);
        let span = rows.start * numbers..rows.end * numbers;
        match Values::cast(options.element, self.section(SectionKind::Vectors))? {
            Values::F32(values) => Ok(values[span].into()),
            values => {
                let mut vectors = vec![0.0; span.len()];
                values.floats(span.start, &mut vectors);
                Ok(vectors.into())
            }
        }
    }

    /// The documents that have a vector, ascending, each once.
    pub fn docs(&self) -> impl Iterator<Item = u32> {
        self.docs_with_counts().map(|(doc, _)| doc)
    }

    /// Each document that has a vector, and how many it has.
    pub(crate) fn docs_with_counts(&self) -> impl Iterator<Item = (u32, usize)> {
        let docs = self.docs_section();
        let unnumbered = if docs.is_some() { 0 } else { self.len() };
        let unnumbered =
            u32::try_from(unnumbered).expect("the header limits the number of vectors");
        let runs = docs.unwrap_or_default().chunk_by(|a, b| a == b);
        let runs = runs.map(|run| (run[0], run.len()));
        runs.chain((0..unnumbered).map(|row| (row, 1)))
    }
}
