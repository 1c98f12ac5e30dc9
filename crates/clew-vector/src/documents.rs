//! Documents that have several vectors each: their rows lie one after the other.
//!
//! Only columns made with [`crate::ColumnOptions::multi`] have these; everywhere else a row is a
//! document, and nothing here is asked.

use std::ops::Range;
use std::sync::OnceLock;

/// The documents of a column where one may have several rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Documents<'a> {
    /// Document of each row, ascending.
    pub(crate) docs: &'a [u32],
    /// Number of documents, once somebody has counted them.
    pub(crate) counted: &'a OnceLock<usize>,
}

impl Documents<'_> {
    /// Number of documents. Reads all their numbers the first time.
    pub(crate) fn count(&self) -> usize {
        *self
            .counted
            .get_or_init(|| self.docs.chunk_by(|a, b| a == b).count())
    }

    /// All rows of the document that `row` belongs to; none when there is no such row. Looks at each
    /// of them.
    pub(crate) fn rows_at(&self, row: u32) -> Range<u32> {
        let Some(&doc) = self.docs.get(row as usize) else {
            return row..row;
        };
        let (before, behind) = self.docs.split_at(row as usize);
        let before = before.iter().rev().take_while(|&&other| other == doc);
        let behind = behind.iter().take_while(|&&other| other == doc);
        row - number(before.count())..row + number(behind.count())
    }
}

/// The rows of a document among ascending documents of rows; empty when it has none.
pub(crate) fn rows_of(docs: &[u32], doc: u32) -> Range<usize> {
    let start = docs.partition_point(|&other| other < doc);
    let behind = docs.get(start..).unwrap_or_default();
    let len = behind.iter().take_while(|&&other| other == doc).count();
    start..start + len
}

fn number(rows: usize) -> u32 {
    u32::try_from(rows).expect("a column holds at most 2^30 rows")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_document_lie_together() {
        let (docs, counted) = ([2, 2, 2, 5, 9, 9], OnceLock::new());
        let documents = Documents {
            docs: &docs,
            counted: &counted,
        };
        assert_eq!(documents.count(), 3);
        let at: Vec<_> = (0..7).map(|row| documents.rows_at(row)).collect();
        assert_eq!(at, [0..3, 0..3, 0..3, 3..4, 4..6, 4..6, 6..6]);
        let of: Vec<_> = [0, 2, 3, 5, 9, 10].map(|doc| rows_of(&docs, doc)).to_vec();
        assert_eq!(of, [0..0, 0..3, 3..3, 3..4, 4..6, 6..6]);
        assert_eq!(rows_of(&[], 1), 0..0);
    }
}
