//! Between which values the documents of a segment lie under a sort key, as a whole and in ranges of documents, so
//! that a search that is sorted passes over documents that come too late without looking at each.

use clew_query::{Order, QueryError, SortMode};
use tantivy::{DocId, f64_to_u64, i64_to_u64};

use super::cursor::{KeyCursor, Slot};
use super::key_source::KeySource;
use crate::segments::Span;

impl KeyCursor {
    /// Between which values some documents lie; `None` where the key is not one of single numbers.
    pub(super) fn span(&self, docs: std::ops::Range<DocId>) -> Option<Span> {
        if !self.takes_one_value() {
            return None;
        }
        match &self.source {
            KeySource::Whole(column) => Some(Span::of(column, docs, i64_to_u64)),
            KeySource::Unsigned(column) => Some(Span::of(column, docs, |value| value)),
            KeySource::Float(column, _) => Some(Span::of(column, docs, f64_to_u64)),
            _ => None,
        }
    }

    /// The same of all documents, from what is written with the column.
    pub(super) fn whole_span(&self) -> Option<Span> {
        if !self.takes_one_value() {
            return None;
        }
        match &self.source {
            KeySource::Whole(column) => Some(Span::of_column(column, i64_to_u64)),
            KeySource::Unsigned(column) => Some(Span::of_column(column, |value| value)),
            KeySource::Float(column, _) => Some(Span::of_column(column, f64_to_u64)),
            _ => None,
        }
    }

    /// Whether a document is sorted by one of its own values.
    fn takes_one_value(&self) -> bool {
        self.objects.is_none() && matches!(self.mode, SortMode::Min | SortMode::Max)
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
