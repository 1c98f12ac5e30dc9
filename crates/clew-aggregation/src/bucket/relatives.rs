//! `children` and `parent`: who belongs to whom in a shard, for aggregations that go from documents to their children or
//! to their parents.
//!
//! Parents get numbers that mean the same in every segment: the places of their ids among all ids of the shard, in order.
//! Relatives may lie in other segments, so a segment only notes which families the documents of each bucket belong to;
//! they are counted once all were seen, and what is inside runs over the documents found.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::sync::Arc;

use clew_query::aggregation::{Generation, RelativesSpec};
use clew_query::{AggError, Query, QueryError};
use clew_search::{
    CompileContext, JoinRelation, SegmentBits, Snapshot, VectorAnswers, matching_within,
};
use tantivy::columnar::{Column, StrColumn};
use tantivy::{DocId, SegmentReader};

use crate::bucket::only::{only_count, single_result};
use crate::bucket::{AskedBuckets, Asking, BucketAgg, BucketPlan, InParent, Opening};
use crate::collect::slots::Slots;
use crate::collect::{BLOCK_DOCS, Block, Collect, Level, Planned, Segment};
use crate::counted::Partial;
use crate::counted::buckets::Buckets;
use crate::field::ValuePlan;
use crate::field::context::AggContext;
use crate::limits::{Account, grow};
use crate::order::Property;
use crate::reduce::Budget;
use crate::result::{AggResult, SingleKind};
use crate::value::key::{Key, KeyTable, number_of};

pub(crate) struct Relatives {
    family: Option<Arc<Family>>,
    ord: usize,
    slots: Slots,
    /// Per bucket: numbers of parents.
    members: Vec<Vec<u32>>,
    subs: Vec<Partial>,
}

impl Relatives {
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &dyn Planned,
        relatives: &RelativesPlan,
    ) -> Self {
        Relatives {
            family: relatives.family.clone(),
            ord: segment.ord,
            slots: Slots::for_range(Some((0, 0)), Level::Nested),
            members: Vec::new(),
            subs: plan.empty_subs(),
        }
    }

    fn number(&self, doc: DocId) -> Option<u32> {
        self.family.as_ref()?.segments.get(self.ord)?.number(doc)
    }
}

impl Collect for Relatives {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        for (doc, parent) in block.docs.iter().zip(block.parents) {
            if let Some(member) = self.number(*doc) {
                let bucket = self.slots.number(*parent, 0, account)?;
                grow(&mut self.members, bucket, account)?;
                account.charge(size_of::<u32>())?;
                self.members[bucket as usize].push(member);
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        let (parents, keys) = self.slots.into_parts();
        let mut members = self.members;
        members.truncate(keys.len());
        account.charge_keys(keys.len())?;
        let counts = vec![0; keys.len()];
        let keys = keys.iter().map(|_| Key::I64(0)).collect();
        let table = KeyTable::of_distinct(parents, keys);
        Ok(Partial::Buckets(Buckets {
            members,
            ..Buckets::of(table, counts, self.subs)
        }))
    }
}

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

impl AskedBuckets for RelativesSpec {
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        let family = Family::of(self.way, &self.kind, asking.context)?;
        let plan = RelativesPlan {
            way: self.way,
            family: family.map(Arc::new),
        };
        Ok((ValuePlan::none(), plan.into()))
    }

    fn takes_pages(&self) -> bool {
        true
    }
}

impl BucketAgg for RelativesPlan {
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Collect>, AggError> {
        let Opening { segment, plan, .. } = opening;
        Ok(Box::new(Relatives::open(segment, plan, self)))
    }

    fn result(&self, of: InParent<'_>, budget: &mut Budget<'_>) -> Result<AggResult, AggError> {
        let kind = match self.way {
            Generation::Children => SingleKind::Children,
            Generation::Parents => SingleKind::Parents,
        };
        single_result(of, kind, budget)
    }

    fn profiled_as(&self, _: &ValuePlan) -> &'static str {
        match self.way {
            Generation::Children => "ParentToChildrenAggregator",
            Generation::Parents => "ChildrenToParentAggregator",
        }
    }

    fn property(&self, name: Option<&str>) -> Option<Property> {
        only_count(name)
    }

    fn count_late(
        &self,
        plan: &dyn Planned,
        buckets: &mut Buckets,
        account: &mut Account,
    ) -> Result<(), AggError> {
        let members = std::mem::take(&mut buckets.members);
        match &self.family {
            Some(family) => count_relatives(plan, (family, members), buckets, account),
            None => Ok(()),
        }
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
        vectors: &VectorAnswers::default(),
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

fn count_relatives(
    plan: &dyn Planned,
    (family, members): (&Family, Vec<Vec<u32>>),
    buckets: &mut Buckets,
    account: &mut Account,
) -> Result<(), AggError> {
    let mut of_member: Vec<(u32, u32)> = members
        .into_iter()
        .enumerate()
        .flat_map(|(bucket, members)| {
            let bucket = number_of(bucket);
            members.into_iter().map(move |member| (member, bucket))
        })
        .collect();
    of_member.sort_unstable();
    // Several children of one parent lead to it, and count it once.
    of_member.dedup();
    for (ord, segment) in family.segments.iter().enumerate() {
        let pairs = pairs_in(segment, &of_member);
        account.charge(pairs.len() * size_of::<(DocId, u32)>())?;
        if pairs.is_empty() {
            continue;
        }
        account.turn_to(&segment.reader)?;
        if plan.subs_want_scores() {
            account.make_scores(segment.reader.max_doc())?;
            pairs
                .iter()
                .for_each(|(doc, _)| account.set_score(*doc, 1.0));
        }
        let segment = Segment {
            reader: &segment.reader,
            ord,
        };
        let mut subs = plan.open_subs(segment)?;
        for block in pairs.chunks(BLOCK_DOCS) {
            for (doc, bucket) in block {
                buckets.counts[*bucket as usize] += 1;
                if !subs.is_empty() {
                    subs.push(*doc, *bucket);
                }
            }
            subs.flush(account)?;
        }
        for (mine, found) in buckets.subs.iter_mut().zip(subs.finish(account)?) {
            mine.merge(found, None)?;
        }
    }
    Ok(())
}

/// The documents of a segment that buckets want, in order, each with a bucket.
fn pairs_in(segment: &FamilySegment, of_member: &[(u32, u32)]) -> Vec<(DocId, u32)> {
    let mut pairs = Vec::new();
    let mut wanted = &segment.wanted[..];
    for buckets in of_member.chunk_by(|a, b| a.0 == b.0) {
        let member = buckets[0].0;
        let before = wanted.partition_point(|(number, _)| *number < member);
        wanted = &wanted[before..];
        let docs = wanted.iter().take_while(|(number, _)| *number == member);
        for (_, doc) in docs {
            pairs.extend(buckets.iter().map(|(_, bucket)| (*doc, *bucket)));
        }
    }
    pairs.sort_unstable();
    pairs
}
