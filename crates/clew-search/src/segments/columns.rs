//! Columns of numbers that searches have opened. To open one costs a step for each 512 values of its segment, which is more
//! than what a search for a short span of time reads of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use parking_lot::RwLock;
use tantivy::SegmentReader;
use tantivy::columnar::{Column, ColumnType, DynamicColumn, HasAssociatedColumnType};
use tantivy::index::SegmentId;

use super::span::Spans;

/// Columns that are kept open; all are let go when there are more. A column takes a few hundred bytes, and a tenth of a byte for
/// each value.
const OPENED_MAX: usize = 4096;
/// Columns of numbers; their order is that of the numbers' places.
const NUMBERS: [ColumnType; 4] = [
    ColumnType::U64,
    ColumnType::I64,
    ColumnType::F64,
    ColumnType::DateTime,
];

/// What is kept of a shard's columns of numbers.
#[derive(Default)]
pub(crate) struct Columns {
    opened: RwLock<BTreeMap<SegmentId, HashMap<String, Opened>>>,
    /// Between which values their documents lie.
    pub(crate) spans: Spans,
}

/// A column as it was asked for; none where no document of the segment has a value.
#[derive(Clone, Default)]
struct Opened {
    typed: Option<Option<DynamicColumn>>,
    places: Option<Option<Column<u64>>>,
}

impl std::fmt::Debug for Columns {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Columns({:?})", self.spans)
    }
}

impl Columns {
    /// A column by its type.
    pub(crate) fn of<T>(
        &self,
        reader: &SegmentReader,
        name: &str,
    ) -> tantivy::Result<Option<Column<T>>>
    where
        T: HasAssociatedColumnType,
        DynamicColumn: Into<Option<Column<T>>> + From<Column<T>>,
    {
        if let Some(known) = self.known(reader, name, |opened| opened.typed.clone()) {
            return Ok(known.and_then(Into::into));
        }
        let column = reader.fast_fields().column_opt::<T>(name)?;
        let kept = column.clone().map(DynamicColumn::from);
        self.keep_open(reader, name, |opened| opened.typed = Some(kept));
        Ok(column)
    }

    /// A column of numbers of any type as their places in their order.
    pub(crate) fn places(
        &self,
        reader: &SegmentReader,
        name: &str,
    ) -> tantivy::Result<Option<Column<u64>>> {
        if let Some(known) = self.known(reader, name, |opened| opened.places.clone()) {
            return Ok(known);
        }
        let columns = reader.fast_fields();
        let column = columns.u64_lenient_for_type(Some(&NUMBERS), name)?;
        let column = column.map(|(column, _)| column);
        self.keep_open(reader, name, |opened| opened.places = Some(column.clone()));
        Ok(column)
    }

    fn known<C>(
        &self,
        reader: &SegmentReader,
        name: &str,
        of: impl Fn(&Opened) -> Option<C>,
    ) -> Option<C> {
        let opened = self.opened.read();
        of(opened.get(&reader.segment_id())?.get(name)?)
    }

    fn keep_open(&self, reader: &SegmentReader, name: &str, keep: impl FnOnce(&mut Opened)) {
        let mut opened = self.opened.write();
        if opened.values().map(HashMap::len).sum::<usize>() >= OPENED_MAX {
            opened.clear();
        }
        let segment = opened.entry(reader.segment_id()).or_default();
        keep(segment.entry(name.to_owned()).or_default());
    }

    /// Lets go of the segments that are gone.
    pub(crate) fn keep(&self, living: &BTreeSet<SegmentId>) {
        self.opened.write().retain(|id, _| living.contains(id));
        self.spans.keep(living);
    }
}
