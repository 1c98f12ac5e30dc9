//! Between which values the documents of a segment lie, as a whole and in ranges of documents, once it pays to know.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use tantivy::DocId;
use tantivy::columnar::{Cardinality, Column};
use tantivy::index::SegmentId;

/// Documents of a range.
pub(crate) const RANGE: DocId = 4096;

/// Between which values some documents lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// The least value and the greatest; `None` when there are no values.
    pub(crate) places: Option<(u128, u128)>,
    /// Whether a document may have no value.
    pub(crate) has_missing: bool,
}

impl Span {
    pub(crate) fn of<V: Copy + PartialOrd + std::fmt::Debug + Send + Sync + 'static>(
        column: &Column<V>,
        docs: std::ops::Range<DocId>,
        place: impl Fn(V) -> u64,
    ) -> Self {
        let mut span = Span {
            places: None,
            has_missing: false,
        };
        if column.get_cardinality() == Cardinality::Full {
            let mut values = vec![column.min_value(); docs.len()];
            column.values.get_range(docs.start.into(), &mut values);
            let places = values.into_iter().map(|value| u128::from(place(value)));
            span.places = places.fold(None, |ends, place| {
                let (low, high) = ends.unwrap_or((place, place));
                Some((low.min(place), high.max(place)))
            });
            return span;
        }
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

    pub(crate) fn of_column<V: Copy + PartialOrd + std::fmt::Debug + Send + Sync + 'static>(
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

/// A column of a segment, by its name.
pub(crate) type ColumnOf<'a> = (SegmentId, &'a str);

/// The spans of the ranges of columns that are sorted by or that ranges are asked for of. They are made once as many
/// documents were looked at for that as there are, so making them at most doubles the work.
#[derive(Debug, Default)]
pub(crate) struct Spans(Mutex<BTreeMap<SegmentId, HashMap<String, Entry>>>);

#[derive(Clone, Debug)]
enum Entry {
    /// So many documents were looked at.
    Looked(u64),
    Made(Arc<[Span]>),
}

impl Spans {
    /// The spans of a column's ranges, once it is time; `make` makes them.
    pub(crate) fn of(
        &self,
        (segment, column): ColumnOf<'_>,
        docs: DocId,
        make: impl FnOnce() -> Option<Vec<Span>>,
    ) -> Option<Arc<[Span]>> {
        let known = self.0.lock();
        match known.get(&segment).and_then(|known| known.get(column)) {
            Some(Entry::Made(spans)) => return Some(spans.clone()),
            Some(Entry::Looked(looked)) if *looked >= u64::from(docs) => {}
            _ => return None,
        }
        drop(known);
        let made: Arc<[Span]> = make()?.into();
        let mut known = self.0.lock();
        let known = known.entry(segment).or_default();
        known.insert(column.to_owned(), Entry::Made(made.clone()));
        Some(made)
    }

    /// So many more documents were looked at.
    pub(crate) fn looked(&self, (segment, column): ColumnOf<'_>, docs: u64) {
        let mut known = self.0.lock();
        let known = known.entry(segment).or_default();
        match known.get_mut(column) {
            None => drop(known.insert(column.to_owned(), Entry::Looked(docs))),
            Some(Entry::Looked(looked)) => *looked += docs,
            Some(Entry::Made(_)) => {}
        }
    }

    /// Forgets the segments that are gone.
    pub(crate) fn keep(&self, living: &BTreeSet<SegmentId>) {
        self.0.lock().retain(|segment, _| living.contains(segment));
    }
}
