//! Which documents may be hits: the living ones that match the user's filter.

use std::ops::{Range, RangeInclusive};

use crate::documents::rows_of;

/// Documents that may be hits, as a set of bits by document id.
#[derive(Debug, Clone, Copy)]
pub struct Filter<'a> {
    /// Bit `doc % 64` of word `doc / 64`; a document beyond the end is not in the set.
    pub bits: &'a [u64],
    /// Number of bits set: the planner's measure of how selective the filter is.
    pub count: usize,
}

impl Filter<'_> {
    #[inline]
    pub(crate) fn contains(&self, doc: u32) -> bool {
        let word = self.bits.get(doc as usize / 64).copied();
        word.unwrap_or_default() >> (doc % 64) & 1 == 1
    }
}

/// A filter seen from the rows of a column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowFilter<'a> {
    pub(crate) filter: Filter<'a>,
    /// Document of each row; `None` when row and document are the same number.
    pub(crate) docs: Option<&'a [u32]>,
    /// Whether several rows in a row may have the same document.
    pub(crate) repeated: bool,
    pub(crate) row_count: usize,
}

impl<'a> RowFilter<'a> {
    #[inline]
    pub(crate) fn passes(&self, row: u32) -> bool {
        let doc = match self.docs {
            None => row,
            Some(docs) => match docs.get(row as usize) {
                Some(&doc) => doc,
                None => return false,
            },
        };
        self.filter.contains(doc)
    }

    /// No more rows than this can pass.
    fn survivors_max(&self) -> usize {
        match self.repeated {
            // A single document may have them all.
            true if self.filter.count > 0 => self.row_count,
            _ => self.filter.count.min(self.row_count),
        }
    }

    /// About how many rows pass. Exact when every document has a vector; otherwise by a sample, as
    /// counting would cost as much as a search.
    pub(crate) fn survivors_expected(&self) -> usize {
        const SAMPLE_ROWS: usize = 256;
        let Some(docs) = self.docs.filter(|docs| docs.len() > SAMPLE_ROWS) else {
            return self.survivors_max();
        };
        let sample = docs.iter().step_by(docs.len() / SAMPLE_ROWS);
        let size = sample.len();
        let passing = sample.filter(|&&doc| self.filter.contains(doc)).count();
        (passing.max(1) * (self.row_count / size + 1)).min(self.survivors_max())
    }

    /// Every row of a range that passes, in order.
    pub(crate) fn for_each_row(&self, rows: Range<u32>, mut visit: impl FnMut(u32)) {
        let end = u32::try_from(self.row_count).unwrap_or(u32::MAX);
        let rows = rows.start..rows.end.min(end);
        if rows.is_empty() {
            return;
        }
        // Looking up few documents among many rows is cheaper than asking every row.
        const LOOKUP_ROWS: usize = 16;
        match self.docs {
            Some(docs) if self.filter.count.saturating_mul(LOOKUP_ROWS) < docs.len() => {
                let Some(docs) = docs.get(rows.start as usize..rows.end as usize) else {
                    return;
                };
                let (Some(&first), Some(&last)) = (docs.first(), docs.last()) else {
                    return;
                };
                if self.repeated {
                    self.for_each_doc(first..=last, |doc| {
                        let found = rows_of(docs, doc);
                        let first = rows.start + u32::try_from(found.start).unwrap_or(u32::MAX);
                        (first..).take(found.len()).for_each(&mut visit);
                    });
                    return;
                }
                self.for_each_doc(first..=last, |doc| {
                    if let Ok(offset) = docs.binary_search(&doc) {
                        visit(rows.start + u32::try_from(offset).unwrap_or(u32::MAX));
                    }
                });
            }
            Some(_) => rows.filter(|&row| self.passes(row)).for_each(visit),
            None => self.for_each_doc(rows.start..=rows.end - 1, visit),
        }
    }

    /// Every document of a range that passes, in order.
    fn for_each_doc(&self, docs: RangeInclusive<u32>, mut visit: impl FnMut(u32)) {
        let (first, last) = (*docs.start(), *docs.end());
        let words = self.filter.bits.iter().take(last as usize / 64 + 1);
        let words = words.skip(first as usize / 64);
        for (&word, base) in words.zip((first / 64 * 64..).step_by(64)) {
            let mut left = word;
            while left != 0 {
                let doc = base + left.trailing_zeros();
                left &= left - 1;
                if docs.contains(&doc) {
                    visit(doc);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows_passing(bits: &[u64], docs: Option<&[u32]>, row_count: usize) -> Vec<u32> {
        let repeated = docs.is_some_and(|docs| !docs.is_sorted_by(|a, b| a < b));
        let count = bits.iter().map(|word| word.count_ones() as usize).sum();
        let rows = RowFilter {
            filter: Filter { bits, count },
            docs,
            repeated,
            row_count,
        };
        let mut seen = Vec::new();
        // In ranges, as several threads ask; the last one goes beyond the end.
        for first in (0..=u32::try_from(row_count).unwrap()).step_by(17) {
            rows.for_each_row(first..first + 17, |row| seen.push(row));
        }
        let all: Vec<u32> = (0_u32..)
            .take(row_count)
            .filter(|&row| rows.passes(row))
            .collect();
        assert_eq!(seen, all, "listing and asking disagree");
        assert!(seen.len() <= rows.survivors_max());
        seen
    }

    #[test]
    fn rows_of_a_full_column_are_its_documents() {
        assert_eq!(rows_passing(&[0b1010, 1], None, 65), [1, 3, 64]);
        assert_eq!(rows_passing(&[u64::MAX, u64::MAX], None, 3), [0, 1, 2]);
        assert_eq!(rows_passing(&[], None, 3), []);
    }

    #[test]
    fn all_rows_of_a_document_pass_with_it() {
        // Seven rows each, so that some lie in two of the ranges asked for.
        let docs: Vec<u32> = (0..700).map(|row| row / 7 * 3).collect();
        let mut bits = vec![0_u64; 5];
        bits[0] |= 1 << 6 | 1 << 7;
        bits[297 / 64] |= 1 << (297 % 64);
        let expected: Vec<u32> = (14..21).chain(693..700).collect();
        assert_eq!(rows_passing(&bits, Some(&docs), 700), expected);
        assert_eq!(rows_passing(&[u64::MAX; 5], Some(&docs), 700).len(), 700);
        assert_eq!(rows_passing(&[1 << 3], Some(&[3; 40]), 40).len(), 40);
    }

    #[test]
    fn rows_of_a_sparse_column_are_found_by_lookup_and_by_sweep() {
        let docs: Vec<u32> = (0..100).map(|row| row * 7 + 2).collect();
        let mut bits = vec![0_u64; 12];
        bits[9 / 64] |= 1 << 9;
        bits[695 / 64] |= 1 << (695 % 64);
        bits[0] |= 1;
        assert_eq!(rows_passing(&bits, Some(&docs), 100), [1, 99]);
        assert_eq!(rows_passing(&[u64::MAX; 12], Some(&docs), 100).len(), 100);
    }
}
