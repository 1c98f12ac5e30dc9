//! Documents ordered by values of the nested objects inside them.
//!
//! Which objects count is found once for a search; a key then carries them along.

use std::sync::Arc;

use tantivy::index::SegmentId;
use tantivy::{DocId, SegmentReader};

use super::bits::SegmentBits;
use super::blocks::{Blocks, Scope};
use super::matching::matching_within;
use super::sort::SortKey;
use crate::query::{CompileContext, Query, QueryError};

/// The nested objects whose values a document is ordered by.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedSort {
    /// Their path.
    pub path: String,
    /// Which of them count.
    pub filter: Option<Query>,
    /// How many of a document's at most, in their order.
    pub max_children: Option<usize>,
    /// Objects inside these, which are the ones that are meant.
    pub inner: Option<Box<NestedSort>>,
    /// Which rows they are, once they were looked for.
    found: Option<Found>,
}

/// The rows that count in a shard.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    segments: Arc<Vec<FoundIn>>,
    /// What is ordered: whole documents, or nested objects of this path.
    around: Option<String>,
    /// Whether the objects that are ordered are themselves the ones that count.
    is_own: bool,
    max: usize,
}

/// The same in a segment.
#[derive(Clone, Debug, PartialEq)]
struct FoundIn {
    segment: SegmentId,
    rows: SegmentBits,
    blocks: Option<Arc<Blocks>>,
}

impl NestedSort {
    /// All objects of a path.
    pub fn new(path: impl Into<String>) -> Self {
        NestedSort {
            path: path.into(),
            filter: None,
            max_children: None,
            inner: None,
            found: None,
        }
    }

    /// The objects of a shard that count, by the segments' places.
    fn rows(&self, context: &CompileContext<'_>) -> Result<(String, Vec<SegmentBits>), QueryError> {
        let snapshot = context.snapshot;
        if !snapshot.mapping.is_nested(&self.path) {
            return Err(QueryError::create(format!(
                "[nested] failed to find nested object under path [{}]",
                self.path
            )));
        }
        let matching = match &self.filter {
            None => None,
            Some(filter) => Some(matching_within(context, filter, Some(&self.path))?),
        };
        let mut rows = Vec::with_capacity(snapshot.readers.len());
        for (at, reader) in snapshot.readers.iter().enumerate() {
            let mut bits = SegmentBits::empty(reader.max_doc());
            let blocks = snapshot.blocks(at);
            let own = blocks.and_then(|blocks| blocks.of(Scope::Nested(&self.path)));
            for row in own.into_iter().flat_map(SegmentBits::iter) {
                if matching.as_ref().is_none_or(|all| all[at].contains(row)) {
                    bits.insert(row);
                }
            }
            rows.push(bits);
        }
        let Some(inner) = &self.inner else {
            return Ok((self.path.clone(), rows));
        };
        let (path, inside) = inner.rows(context)?;
        let mut kept = Vec::with_capacity(rows.len());
        for (at, bits) in inside.into_iter().enumerate() {
            let reader = &snapshot.readers[at];
            let mut found = SegmentBits::empty(reader.max_doc());
            let outer = snapshot.blocks(at);
            let outer = outer.and_then(|blocks| blocks.of(Scope::Nested(&self.path)));
            for row in bits.iter() {
                let around = outer.and_then(|outer| outer.next_from(row));
                if around.is_some_and(|around| rows[at].contains(around)) {
                    found.insert(row);
                }
            }
            kept.push(found);
        }
        Ok((path, kept))
    }

    fn max(&self) -> usize {
        let inner = self.inner.as_ref().map_or(usize::MAX, |inner| inner.max());
        self.max_children.unwrap_or(usize::MAX).min(inner)
    }
}

/// The keys with the objects that they are about, where they are about any; `None` when none is.
pub(crate) fn with_objects(
    keys: &[SortKey],
    context: &CompileContext<'_>,
    scope: Option<&str>,
) -> Result<Option<Vec<SortKey>>, QueryError> {
    let about_objects = |key: &SortKey| {
        matches!(
            key,
            SortKey::Field {
                nested: Some(_),
                ..
            }
        )
    };
    if !keys.iter().any(about_objects) {
        return Ok(None);
    }
    let mut keys = keys.to_vec();
    for key in &mut keys {
        let SortKey::Field {
            nested: Some(nested),
            ..
        } = key
        else {
            continue;
        };
        let (path, rows) = nested.rows(context)?;
        let readers = context.snapshot.readers.iter().enumerate();
        let segments = readers.zip(rows).map(|((at, reader), rows)| FoundIn {
            segment: reader.segment_id(),
            rows,
            blocks: context.snapshot.blocks(at).cloned(),
        });
        nested.found = Some(Found {
            segments: Arc::new(segments.collect()),
            around: scope.map(str::to_string),
            is_own: scope == Some(path.as_str()),
            max: nested.max(),
        });
    }
    Ok(Some(keys))
}

/// The objects of one segment that a key is about.
pub(super) struct Objects {
    found: Found,
    /// The segment's place in what was found.
    place: usize,
}

impl Objects {
    /// Those of a key whose objects were looked for.
    pub(super) fn open(nested: &NestedSort, reader: &SegmentReader) -> Result<Self, QueryError> {
        let id = reader.segment_id();
        let found = nested.found.clone();
        let place = found.as_ref().and_then(|found| {
            let mut segments = found.segments.iter();
            segments.position(|known| known.segment == id)
        });
        match (found, place) {
            (Some(found), Some(place)) => Ok(Objects { found, place }),
            _ => Err(QueryError::illegal(
                "an order by nested objects is not possible here",
            )),
        }
    }

    /// The rows of a document's objects, in their order.
    pub(super) fn of(&self, doc: DocId) -> impl Iterator<Item = DocId> + '_ {
        let here = &self.found.segments[self.place];
        let range = match (&here.blocks, self.found.is_own) {
            (_, true) => doc..doc + 1,
            (None, false) => doc..doc,
            (Some(blocks), false) => {
                let around = Scope::from(self.found.around.as_deref());
                match blocks.of(around) {
                    Some(own) => blocks.inside(own, doc),
                    None => doc..doc,
                }
            }
        };
        let mut next = range.start;
        let rows = std::iter::from_fn(move || {
            let row = here.rows.next_from(next).filter(|row| *row < range.end)?;
            next = row + 1;
            Some(row)
        });
        rows.take(self.found.max)
    }
}
