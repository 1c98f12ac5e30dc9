//! Who belongs to whom in a shard, for aggregations that go from documents to their children or to
//! their parents.
//!
//! Parents get numbers that mean the same in every segment: the places of their ids among all ids
//! of the shard, in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::sync::Arc;

use clew_query::{AggError, Query, QueryError};
use clew_search::{CompileContext, JoinRelation, NoKnn, SegmentBits, Snapshot, matching_within};
use tantivy::columnar::{Column, StrColumn};
use tantivy::{DocId, SegmentReader};

use super::collector::AggContext;
use clew_query::aggregation::Generation;

/// A change from documents to their relatives.
#[derive(Clone, Debug)]
pub(crate) struct RelativesPlan {
    pub(crate) way: Generation,
    /// `None` where the kind of documents is not mapped.
    pub(crate) family: Option<Arc<Family>>,
}

/// One relation in all segments of a shard.
pub(crate) struct Family {
    pub(crate) segments: Vec<FamilySegment>,
}

impl fmt::Debug for Family {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Family({} segments)", self.segments.len())
    }
}

/// One relation in a segment.
pub(crate) struct FamilySegment {
    pub(crate) reader: SegmentReader,
    /// The documents that may be given.
    given: SegmentBits,
    ids: Option<Ids>,
    /// The documents that come, with the numbers of their parents, ascending.
    pub(crate) wanted: Vec<(u32, DocId)>,
}

struct Ids {
    column: Column<u64>,
    /// By the segment's own number of an id: that of the shard.
    numbers: Vec<u32>,
}

impl Ids {
    fn of(&self, doc: DocId) -> Option<u32> {
        let ord = self.column.first(doc)?;
        self.numbers.get(usize::try_from(ord).ok()?).copied()
    }
}

impl FamilySegment {
    /// The number of the parent that a given document belongs to, or is.
    pub(crate) fn number(&self, doc: DocId) -> Option<u32> {
        let ids = self.ids.as_ref()?;
        self.given.contains(doc).then(|| ids.of(doc))?
    }
}

impl RelativesPlan {
    /// From parents to the children of a kind, or back.
    pub(crate) fn new(
        way: Generation,
        child: &str,
        context: &AggContext<'_>,
    ) -> Result<Self, AggError> {
        let family = Family::of(way, child, context);
        let family = family.map_err(|error| AggError::Query(Box::new(error)))?;
        Ok(RelativesPlan {
            way,
            family: family.map(Arc::new),
        })
    }
}

impl Family {
    fn of(
        way: Generation,
        child: &str,
        context: &AggContext<'_>,
    ) -> Result<Option<Self>, QueryError> {
        let (Some(snapshot), None) = (context.snapshot, context.scope) else {
            return Ok(None);
        };
        let Some((join, relations)) = context.mapping.join() else {
            return Ok(None);
        };
        let Some(parent) = relations.parent_of(child) else {
            return Ok(None);
        };
        let Some(relation) = JoinRelation::of(context.mapping, parent) else {
            return Ok(None);
        };
        let of_kind = |kind: &str| documents(&join.path, kind, snapshot, context.now_ms);
        let (parents, children) = (of_kind(parent)?, of_kind(child)?);
        let (given, wanted) = match way {
            Generation::Children => (parents, children),
            Generation::Parents => (children, parents),
        };
        let path = relation.ids.column();
        let columns = snapshot.readers.iter();
        let columns = columns.map(|reader| reader.fast_fields().str(&path));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let numbers = shared_numbers(&columns)?;
        let parts = snapshot.readers.iter().zip(columns).zip(numbers);
        let segments = parts.zip(given.into_iter().zip(wanted));
        let segments = segments.map(|(((reader, column), numbers), (given, wanted))| {
            let ids = column.map(|column| Ids {
                column: column.ords().clone(),
                numbers,
            });
            let of = |doc| Some((ids.as_ref()?.of(doc)?, doc));
            let mut wanted: Vec<_> = wanted.iter().filter_map(of).collect();
            wanted.sort_unstable();
            FamilySegment {
                reader: reader.clone(),
                given,
                ids,
                wanted,
            }
        });
        Ok(Some(Family {
            segments: segments.collect(),
        }))
    }
}

/// The living documents of a kind.
fn documents(
    join: &str,
    kind: &str,
    snapshot: &Snapshot,
    now_ms: i64,
) -> Result<Vec<SegmentBits>, QueryError> {
    let context = CompileContext {
        snapshot,
        now_ms,
        knn: &NoKnn,
    };
    matching_within(&context, &Query::term(join, kind), None)
}

/// For each column and each of its terms: the term's place among those of all columns.
fn shared_numbers(columns: &[Option<StrColumn>]) -> Result<Vec<Vec<u32>>, QueryError> {
    let mut numbers: Vec<Vec<u32>> = vec![Vec::new(); columns.len()];
    let mut streams = Vec::with_capacity(columns.len());
    let mut heads = BinaryHeap::new();
    for (at, column) in columns.iter().enumerate() {
        let mut stream = match column {
            Some(column) => Some(column.dictionary().stream()?),
            None => None,
        };
        if let Some(stream) = &mut stream
            && stream.advance()
        {
            heads.push(Reverse((stream.key().to_vec(), at)));
        }
        streams.push(stream);
    }
    let mut next = 0_u32;
    let mut last: Option<Vec<u8>> = None;
    while let Some(Reverse((term, at))) = heads.pop() {
        let is_new = last.as_ref().is_none_or(|last| *last != term);
        if is_new {
            next = next.checked_add(1).ok_or_else(|| {
                QueryError::illegal("a shard has too many parents to aggregate over")
            })?;
        }
        numbers[at].push(next - 1);
        last = Some(term);
        if let Some(Some(stream)) = streams.get_mut(at)
            && stream.advance()
        {
            heads.push(Reverse((stream.key().to_vec(), at)));
        }
    }
    Ok(numbers)
}
