//! Between which values the documents of a segment lie under a sort key, as a whole and in ranges of documents, so
//! that a search that is sorted passes over documents that come too late without looking at each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use tantivy::columnar::{Cardinality, Column};
use tantivy::index::SegmentId;
use tantivy::{DocId, f64_to_u64, i64_to_u64};

use super::cursor::{KeyCursor, Slot, Source};
use super::sort::{Mode, Order};
use clew_query::QueryError;

/// Documents of a range.
pub(super) const RANGE: DocId = 4096;

/// Between which values some documents lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// The least value and the greatest; `None` when there are no values.
    places: Option<(u128, u128)>,
    /// Whether a document may have no value.
    has_missing: bool,
}

impl Span {
    fn of<V: Copy + PartialOrd + std::fmt::Debug + Send + Sync + 'static>(
        column: &Column<V>,
        docs: std::ops::Range<DocId>,
        place: impl Fn(V) -> u64,
    ) -> Self {
        let mut span = Span {
            places: None,
            has_missing: false,
        };
        for doc in docs {
            let mut is_missing = true;
            for value in column.values_for_doc(doc) {
                let place = u128::from(place(value));
                let (low, high) = span.places.unwrap_or((place, place));
                span.places = Some((low.min(place), high.max(place)));
                is_missing = false;
            }
            span.has_missing |= is_missing;
        }
        span
    }

    fn of_column<V: Copy + PartialOrd + std::fmt::Debug + Send + Sync + 'static>(
        column: &Column<V>,
        place: impl Fn(V) -> u64,
    ) -> Self {
        let ends = || {
            (
                place(column.min_value()).into(),
                place(column.max_value()).into(),
            )
        };
        Span {
            places: (column.values.num_vals() > 0).then(ends),
            has_missing: column.get_cardinality() != Cardinality::Full,
        }
    }
}

impl KeyCursor {
    /// Between which values some documents lie; `None` where the key is not one of single numbers.
    pub(super) fn span(&self, docs: std::ops::Range<DocId>) -> Option<Span> {
        if !self.takes_one_value() {
            return None;
        }
        match &self.source {
            Source::Whole(column) => Some(Span::of(column, docs, i64_to_u64)),
            Source::Unsigned(column) => Some(Span::of(column, docs, |value| value)),
            Source::Float(column, _) => Some(Span::of(column, docs, f64_to_u64)),
            _ => None,
        }
    }

    /// The same of all documents, from what is written with the column.
    pub(super) fn whole_span(&self) -> Option<Span> {
        if !self.takes_one_value() {
            return None;
        }
        match &self.source {
            Source::Whole(column) => Some(Span::of_column(column, i64_to_u64)),
            Source::Unsigned(column) => Some(Span::of_column(column, |value| value)),
            Source::Float(column, _) => Some(Span::of_column(column, f64_to_u64)),
            _ => None,
        }
    }

    /// Whether a document is sorted by one of its own values.
    fn takes_one_value(&self) -> bool {
        self.objects.is_none() && matches!(self.mode, Mode::Min | Mode::Max)
    }

    /// The first slot that a document of a span can have.
    pub(super) fn first_slot(&self, span: &Span) -> Result<Slot, QueryError> {
        let first = span.places.map(|(low, high)| {
            self.ordered(match self.order {
                Order::Asc => low,
                Order::Desc => high,
            })
        });
        match first {
            Some(first) if span.has_missing => Ok(first.min(self.missing_slot()?)),
            Some(first) => Ok(first),
            None => self.missing_slot(),
        }
    }
}

/// A column of a segment.
pub(super) type ColumnOf = (SegmentId, String);

/// The spans of the ranges of columns that are sorted by. They are made once as many documents were looked at for
/// sorting as there are, so making them at most doubles the work.
#[derive(Debug, Default)]
pub(super) struct Spans(Mutex<BTreeMap<ColumnOf, Entry>>);

#[derive(Clone, Debug)]
enum Entry {
    /// So many documents were looked at.
    Looked(u64),
    Made(Arc<[Span]>),
}

impl Spans {
    /// The spans of a column's ranges, once it is time; `make` makes them.
    pub(super) fn of(
        &self,
        column: &ColumnOf,
        docs: DocId,
        make: impl FnOnce() -> Option<Vec<Span>>,
    ) -> Option<Arc<[Span]>> {
        match self.0.lock().get(column) {
            Some(Entry::Made(spans)) => return Some(spans.clone()),
            Some(Entry::Looked(looked)) if *looked >= u64::from(docs) => {}
            _ => return None,
        }
        let made: Arc<[Span]> = make()?.into();
        self.0
            .lock()
            .insert(column.clone(), Entry::Made(made.clone()));
        Some(made)
    }

    /// So many more documents were looked at.
    pub(super) fn looked(&self, column: ColumnOf, docs: u64) {
        let mut known = self.0.lock();
        if let Entry::Looked(looked) = known.entry(column).or_insert(Entry::Looked(0)) {
            *looked += docs;
        }
    }

    /// Forgets the segments that are gone.
    pub(super) fn keep(&self, living: &BTreeSet<SegmentId>) {
        self.0
            .lock()
            .retain(|(segment, _), _| living.contains(segment));
    }
}
