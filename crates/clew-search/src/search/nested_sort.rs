//! Documents ordered by values of the nested objects inside them.
//!
//! Which objects count is found once for a search; a key then carries them along.

use std::sync::Arc;

use clew_query::{NestedSort, QueryError, SortKey};
use tantivy::index::SegmentId;
use tantivy::{DocId, SegmentReader};

use super::cursor::KeyCursor;
use crate::query::CompileContext;
use crate::query::matching_within;
use crate::segments::SegmentBits;
use crate::segments::{Blocks, Scope};
use crate::snapshot::Snapshot;

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

/// The objects that each key of an order is about, where it is about any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SortObjects(Vec<Option<Found>>);

impl SortObjects {
    /// Looks for the objects in a shard; `scope` is what is ordered, whole documents or nested objects of this path.
    ///
    /// # Errors
    /// When a path is none of nested objects, or their filter cannot be run.
    pub fn find(
        keys: &[SortKey],
        context: &CompileContext<'_>,
        scope: Option<&str>,
    ) -> Result<Self, QueryError> {
        let mut objects = Vec::new();
        for (at, key) in keys.iter().enumerate() {
            let SortKey::Field {
                nested: Some(nested),
                ..
            } = key
            else {
                continue;
            };
            let (path, rows) = rows(nested, context)?;
            let readers = context.snapshot.readers.iter().enumerate();
            let segments = readers.zip(rows).map(|((at, reader), rows)| FoundIn {
                segment: reader.segment_id(),
                rows,
                blocks: context.snapshot.blocks(at).cloned(),
            });
            objects.resize(at, None);
            objects.push(Some(Found {
                segments: Arc::new(segments.collect()),
                around: scope.map(str::to_string),
                is_own: scope == Some(path.as_str()),
                max: max_children(nested),
            }));
        }
        Ok(SortObjects(objects))
    }

    /// The order that these belong to.
    pub fn of<'a>(&'a self, keys: &'a [SortKey]) -> SortOrder<'a> {
        SortOrder {
            keys,
            objects: &self.0,
        }
    }
}

/// The keys of an order, and the objects that they are about.
#[derive(Clone, Copy)]
pub struct SortOrder<'a> {
    keys: &'a [SortKey],
    /// May be shorter than the keys.
    objects: &'a [Option<Found>],
}

impl std::ops::Deref for SortOrder<'_> {
    type Target = [SortKey];

    fn deref(&self) -> &[SortKey] {
        self.keys
    }
}

impl SortOrder<'_> {
    /// A cursor for each key; `base` is where the segment's documents begin.
    ///
    /// # Errors
    /// When a field cannot be sorted by.
    pub fn cursors(
        self,
        snapshot: &Snapshot,
        reader: &SegmentReader,
        base: u64,
    ) -> Result<Vec<KeyCursor>, QueryError> {
        (0..self.keys.len())
            .map(|at| self.cursor(at, snapshot, reader, base))
            .collect()
    }

    /// The cursor of one key.
    ///
    /// # Errors
    /// When its field cannot be sorted by.
    pub(crate) fn cursor(
        self,
        at: usize,
        snapshot: &Snapshot,
        reader: &SegmentReader,
        base: u64,
    ) -> Result<KeyCursor, QueryError> {
        let cursor = KeyCursor::open(&self.keys[at], snapshot, reader, base)?;
        match (&self.keys[at], self.objects.get(at)) {
            (
                SortKey::Field {
                    nested: Some(_), ..
                },
                found,
            ) => Ok(cursor.about(Objects::open(found.cloned().flatten(), reader)?)),
            _ => Ok(cursor),
        }
    }
}

/// The objects of a shard that count, by the segments' places.
fn rows(
    nested: &NestedSort,
    context: &CompileContext<'_>,
) -> Result<(String, Vec<SegmentBits>), QueryError> {
    let snapshot = context.snapshot;
    if !snapshot.mapping.is_nested(&nested.path) {
        return Err(QueryError::unmapped(format!(
            "[nested] failed to find nested object under path [{}]",
            nested.path
        )));
    }
    let matching = match &nested.filter {
        None => None,
        Some(filter) => Some(matching_within(context, filter, Some(&nested.path))?),
    };
    let mut own_rows = Vec::with_capacity(snapshot.readers.len());
    for (at, reader) in snapshot.readers.iter().enumerate() {
        let mut bits = SegmentBits::empty(reader.max_doc());
        let blocks = snapshot.blocks(at);
        let own = blocks.and_then(|blocks| blocks.of(Scope::Nested(&nested.path)));
        for row in own.into_iter().flat_map(SegmentBits::iter) {
            if matching.as_ref().is_none_or(|all| all[at].contains(row)) {
                bits.insert(row);
            }
        }
        own_rows.push(bits);
    }
    let Some(inner) = &nested.inner else {
        return Ok((nested.path.clone(), own_rows));
    };
    let (path, inside) = rows(inner, context)?;
    let mut kept = Vec::with_capacity(own_rows.len());
    for (at, bits) in inside.into_iter().enumerate() {
        let reader = &snapshot.readers[at];
        let mut found = SegmentBits::empty(reader.max_doc());
        let outer = snapshot.blocks(at);
        let outer = outer.and_then(|blocks| blocks.of(Scope::Nested(&nested.path)));
        for row in bits.iter() {
            let around = outer.and_then(|outer| outer.next_from(row));
            if around.is_some_and(|around| own_rows[at].contains(around)) {
                found.insert(row);
            }
        }
        kept.push(found);
    }
    Ok((path, kept))
}

/// The most objects of a document that count.
fn max_children(nested: &NestedSort) -> usize {
    let inner = nested.inner.as_deref().map_or(usize::MAX, max_children);
    nested.max_children.unwrap_or(usize::MAX).min(inner)
}

/// The objects of one segment that a key is about.
pub(super) struct Objects {
    found: Found,
    /// The segment's place in what was found.
    place: usize,
}

impl Objects {
    /// Those of a key whose objects were looked for.
    fn open(found: Option<Found>, reader: &SegmentReader) -> Result<Self, QueryError> {
        let id = reader.segment_id();
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
