//! The ids of a segment's documents as values: they have no column of their own, so that one is made for each search.

use std::sync::Arc;

use clew_platform::Pace;
use clew_search::{Ids, Regexp};
use tantivy::SegmentReader;
use tantivy::columnar::column_values::VecColumn;
use tantivy::columnar::{Column, ColumnIndex};

use crate::value::key::Key;

/// The name of the field, and of its column.
pub(super) const ID_FIELD: &str = "_id";

/// What a column and the ranks behind it take for each document.
pub(super) const BYTES_PER_DOC: usize = size_of::<u64>() + size_of::<u32>();

/// What the numbers of such a column mean: ranks among the ids of the segment.
pub(super) struct IdRanks(Ids);

impl IdRanks {
    /// Reads the ids of a segment, which takes as long as there are documents, and twelve bytes for each. A nested
    /// object has the id of the document that it is part of, which lies behind it.
    pub(super) fn read(reader: &SegmentReader) -> tantivy::Result<(Column<u64>, Self)> {
        let ids = Ids::read(reader)?;
        let mut rank = 0;
        let backwards = (0..reader.max_doc()).rev().map(|doc| {
            rank = ids.rank(doc).map_or(rank, u64::from);
            rank
        });
        let mut ranks: Vec<u64> = backwards.collect();
        ranks.reverse();
        let column = Column {
            index: ColumnIndex::Full,
            values: Arc::new(VecColumn::from(ranks)),
        };
        Ok((column, IdRanks(ids)))
    }

    /// The number of an id; none where the segment lacks it.
    pub(super) fn raw_of(&self, id: &str) -> tantivy::Result<Option<u64>> {
        let (rank, found) = self.0.before(id)?;
        Ok(found.then_some(rank))
    }

    /// The id of a number.
    pub(super) fn key(&self, raw: u64) -> std::io::Result<Key> {
        let id = self.0.id(raw).map_err(std::io::Error::other)?;
        Ok(Key::Str(id.into()))
    }

    /// The numbers of the ids that a pattern fits.
    pub(super) fn matching(&self, pattern: &Regexp) -> tantivy::Result<Vec<u64>> {
        let mut list = Vec::new();
        let mut pace = Pace::default();
        for raw in 0..self.0.count() {
            if pace.is_over() {
                break;
            }
            if pattern.matches(&self.0.id(raw)?) {
                list.push(raw);
            }
        }
        Ok(list)
    }
}
