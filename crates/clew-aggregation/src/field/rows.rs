//! Values of a block of documents.

use tantivy::DocId;

/// Values of a block of documents, in the documents' order; a document's values are sorted.
#[derive(Default)]
pub(crate) struct Rows {
    /// Whose value it is: a place in the block.
    pub(crate) entries: Vec<u32>,
    pub(crate) values: Vec<u64>,
    pub(super) docs: Vec<DocId>,
    pub(super) row_ids: Vec<u32>,
}

/// Whether a document's equal values count once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    Kept,
    Dropped,
}

impl Rows {
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.values.clear();
    }

    pub(super) fn sort_each(&mut self, repeats: Repeats) {
        let mut start = 0;
        let mut kept = 0;
        while start < self.entries.len() {
            let entry = self.entries[start];
            let mut end = start + 1;
            while self.entries.get(end) == Some(&entry) {
                end += 1;
            }
            self.values[start..end].sort_unstable();
            let mut previous = None;
            for at in start..end {
                let value = self.values[at];
                if previous == Some(value) && repeats == Repeats::Dropped {
                    continue;
                }
                previous = Some(value);
                // `kept` never passes `at`, so nothing unread is overwritten.
                self.entries[kept] = entry;
                self.values[kept] = value;
                kept += 1;
            }
            start = end;
        }
        self.entries.truncate(kept);
        self.values.truncate(kept);
    }

    pub(super) fn fill_missing(&mut self, count: u32, missing: u64) {
        if self.entries.len() >= count as usize
            && self.entries.first() == Some(&0)
            && self.entries.windows(2).all(|pair| pair[1] - pair[0] <= 1)
            && self.entries.last() == Some(&(count - 1))
        {
            return;
        }
        let entries = std::mem::take(&mut self.entries);
        let values = std::mem::take(&mut self.values);
        let mut present = entries.into_iter().zip(values).peekable();
        for place in 0..count {
            let mut any = false;
            while let Some((entry, value)) = present.next_if(|(entry, _)| *entry == place) {
                self.entries.push(entry);
                self.values.push(value);
                any = true;
            }
            if !any {
                self.entries.push(place);
                self.values.push(missing);
            }
        }
    }
}
