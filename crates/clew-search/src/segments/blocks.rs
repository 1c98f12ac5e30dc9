//! Nested objects as rows of a segment: they lie directly before the document or the nested object
//! that they are part of, so that the next row of its kind is every object's parent.
//!
//! To everyone else these rows are deleted documents; only what asks here sees them.

use std::collections::BTreeMap;
use std::ops::Range;

use tantivy::DocId;

use super::bits::SegmentBits;

/// Which rows are meant: the documents, or the objects of one nested path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'a> {
    /// Whole documents.
    Documents,
    /// The objects of a nested path.
    Nested(&'a str),
}

impl<'a> From<Option<&'a str>> for Scope<'a> {
    fn from(path: Option<&'a str>) -> Self {
        path.map_or(Scope::Documents, Scope::Nested)
    }
}

/// The rows of one segment by what they are, deleted ones included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks {
    count: u32,
    roots: SegmentBits,
    paths: BTreeMap<String, SegmentBits>,
}

impl Blocks {
    /// For a segment of `count` rows, each of which must be [pushed](Blocks::push).
    pub fn new(count: u32) -> Self {
        Blocks {
            count,
            roots: SegmentBits::empty(count),
            paths: BTreeMap::new(),
        }
    }

    /// Says what a row is: an object of a nested path, or a document.
    pub fn push(&mut self, row: DocId, nested: Option<&str>) {
        match nested {
            None => self.roots.insert(row),
            Some(path) => match self.paths.get_mut(path) {
                Some(rows) => rows.insert(row),
                None => {
                    let mut rows = SegmentBits::empty(self.count);
                    rows.insert(row);
                    self.paths.insert(path.to_string(), rows);
                }
            },
        }
    }

    /// The documents.
    pub fn roots(&self) -> &SegmentBits {
        &self.roots
    }

    /// The rows of a scope; `None` when there are none.
    pub fn of(&self, scope: Scope<'_>) -> Option<&SegmentBits> {
        match scope {
            Scope::Documents => Some(&self.roots),
            Scope::Nested(path) => self.paths.get(path),
        }
    }

    /// What a row is.
    pub fn path_of(&self, row: DocId) -> Option<&str> {
        let mut paths = self.paths.iter();
        paths
            .find(|(_, rows)| rows.contains(row))
            .map(|(path, _)| path.as_str())
    }

    /// The first row of a document: that of its first nested object, or its own.
    pub fn first_row(&self, doc: DocId) -> DocId {
        self.roots.last_before(doc).map_or(0, |before| before + 1)
    }

    /// The document that a row belongs to.
    pub fn root_of(&self, row: DocId) -> Option<DocId> {
        self.roots.next_from(row)
    }

    /// The rows in front of a row that are part of it, given the rows of its own kind.
    pub fn inside(&self, own: &SegmentBits, row: DocId) -> Range<DocId> {
        // Whatever ends before this row and is not part of it: a sibling, or another document.
        let sibling = own.last_before(row).map_or(0, |before| before + 1);
        sibling.max(self.first_row(row))..row
    }

    /// The place of an object among its siblings, given the path around its own.
    pub fn offset(&self, path: &str, around: Scope<'_>, row: DocId) -> usize {
        let (Some(own), Some(outer)) = (self.of(Scope::Nested(path)), self.of(around)) else {
            return 0;
        };
        let Some(parent) = outer.next_from(row) else {
            return 0;
        };
        let first = self.inside(outer, parent).start;
        (first..row).filter(|before| own.contains(*before)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two documents: one with two objects of `a`, the second of which has two of `a.b`; one alone.
    fn blocks() -> Blocks {
        let mut blocks = Blocks::new(6);
        let rows = [Some("a"), Some("a.b"), Some("a.b"), Some("a"), None, None];
        for (row, nested) in (0..).zip(rows) {
            blocks.push(row, nested);
        }
        blocks
    }

    #[test]
    fn rows_belong_to_the_next_of_the_kind_around_them() {
        let blocks = blocks();
        assert_eq!(blocks.first_row(4), 0);
        assert_eq!(blocks.first_row(5), 5);
        assert_eq!(blocks.root_of(1), Some(4));
        assert_eq!(blocks.path_of(2), Some("a.b"));
        assert_eq!(blocks.path_of(4), None);
        let a = blocks.of(Scope::Nested("a")).expect("there are some");
        assert_eq!(blocks.inside(a, 3), 1..3);
        assert_eq!(blocks.inside(a, 0), 0..0);
        assert_eq!(blocks.inside(blocks.roots(), 4), 0..4);
        assert_eq!(blocks.inside(blocks.roots(), 5), 5..5);
    }

    #[test]
    fn offsets_count_siblings() {
        let blocks = blocks();
        assert_eq!(blocks.offset("a", Scope::Documents, 0), 0);
        assert_eq!(blocks.offset("a", Scope::Documents, 3), 1);
        assert_eq!(blocks.offset("a.b", Scope::Nested("a"), 1), 0);
        assert_eq!(blocks.offset("a.b", Scope::Nested("a"), 2), 1);
    }

    #[test]
    fn bits_are_found_forwards_and_backwards() {
        let mut bits = SegmentBits::empty(200);
        for doc in [3, 64, 130] {
            bits.insert(doc);
        }
        let next: Vec<_> = [0, 3, 4, 65, 131].map(|doc| bits.next_from(doc)).to_vec();
        assert_eq!(next, [Some(3), Some(3), Some(64), Some(130), None]);
        let before: Vec<_> = [3, 4, 64, 65, 200]
            .map(|doc| bits.last_before(doc))
            .to_vec();
        assert_eq!(before, [None, Some(3), Some(3), Some(64), Some(130)]);
    }
}
