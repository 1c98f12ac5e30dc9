//! A set of rows, one bit each.

/// Rows below a fixed number.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowSet {
    words: Vec<u64>,
    row_count: usize,
}

impl RowSet {
    /// An empty set of rows `0..row_count`.
    pub(crate) fn new(row_count: usize) -> Self {
        RowSet {
            words: vec![0; row_count.div_ceil(64)],
            row_count,
        }
    }

    #[inline]
    pub(crate) fn contains(&self, row: u32) -> bool {
        let word = self.words.get(row as usize / 64).copied();
        word.unwrap_or_default() >> (row % 64) & 1 == 1
    }

    /// Puts a row in; says whether it is new, `None` when there can be no such row.
    #[inline]
    pub(crate) fn insert(&mut self, row: u32) -> Option<bool> {
        if row as usize >= self.row_count {
            return None;
        }
        let (word, bit) = (&mut self.words[row as usize / 64], 1 << (row % 64));
        let fresh = *word & bit == 0;
        *word |= bit;
        Some(fresh)
    }

    pub(crate) fn size_bytes(&self) -> usize {
        self.words.len() * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_new_once_and_must_exist() {
        let mut set = RowSet::new(65);
        assert_eq!((set.insert(64), set.insert(64)), (Some(true), Some(false)));
        assert_eq!((set.insert(65), set.insert(u32::MAX)), (None, None));
        assert!(set.contains(64) && !set.contains(0) && !set.contains(65));
        assert_eq!(set.size_bytes(), 16);
    }
}
