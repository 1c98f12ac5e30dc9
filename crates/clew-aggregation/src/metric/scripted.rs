//! `scripted_metric`: what scripts gather of documents. The documents of each bucket are noted first; once a shard's were all
//! seen, and only the buckets that it reports are left, the scripts go through them bucket by bucket.

use std::sync::Arc;

use clew_platform::Pace;
use clew_query::aggregation::ScriptedMetricSpec;
use clew_query::{AggError, ScriptState, go_on_reducing, json_bytes, sorted_in_time};
use clew_search::{OpenValueScript, ValueScript};
use serde_json::Value;
use tantivy::{DocId, SegmentReader};

use crate::collect::{Block, Collect, Level, Planned, Segment};
use crate::counted::{Gathered, Partial};
use crate::field::ValuePlan;
use crate::field::context::AggContext;
use crate::field::segments::Segments;
use crate::limits::{Account, grow};
use crate::metric::{InBucket, Metric, SHAPE, Seen, of_bucket};
use crate::order::Property;
use crate::reduce::Budget;
use crate::result::AggResult;

/// The scripts under a mapping, and the segments of the shard.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedPlan(Arc<Scripts>);

#[derive(Debug)]
struct Scripts {
    spec: ScriptedMetricSpec,
    map: ValueScript,
    readers: Vec<SegmentReader>,
    segments: Segments,
    now_ms: i64,
    /// Memory of what the shard answers, in bytes.
    bytes_max: usize,
}

/// The plan of one.
///
/// # Errors
/// [`AggError`] where there are no segments.
pub(crate) fn plan_scripted(
    spec: &ScriptedMetricSpec,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, ScriptedPlan), AggError> {
    let snapshot = context.snapshot;
    let snapshot = snapshot.ok_or_else(|| AggError::invalid("[scripted_metric] needs a search"))?;
    let scripts = Scripts {
        spec: spec.clone(),
        map: ValueScript::new(&spec.map, context.mapping, context.index, context.now_ms),
        readers: snapshot.readers.clone(),
        segments: Segments::of(context),
        now_ms: context.now_ms,
        bytes_max: context.limits.memory_bytes_max,
    };
    Ok((ValuePlan::none(), ScriptedPlan(Arc::new(scripts))))
}

/// Notes the documents of each bucket.
struct Noted {
    segment: u32,
    buckets: Vec<Gathered>,
}

impl Collect for Noted {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        // A list takes up to twice as much as is in it.
        account.charge(block.docs.len() * 2 * size_of::<(u32, DocId, f32)>())?;
        for (doc, parent) in block.docs.iter().zip(block.parents) {
            grow(&mut self.buckets, *parent, account)?;
            let bucket = &mut self.buckets[*parent as usize];
            bucket.docs.push((self.segment, *doc, account.score(*doc)));
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &mut Account) -> Result<Partial, AggError> {
        Ok(Partial::Scripted(self.buckets))
    }
}

impl Scripts {
    /// Has the scripts see the documents of all buckets of a shard.
    fn see(&self, buckets: &mut Vec<Gathered>, level: Level) -> Result<(), AggError> {
        if level == Level::Root && buckets.is_empty() {
            buckets.push(Gathered::default());
        }
        let open = self.readers.iter().map(|reader| self.map.open(reader));
        let open: tantivy::Result<Vec<OpenValueScript>> = open.collect();
        let open = open.map_err(|source| AggError::Column {
            field: String::new(),
            source,
        })?;
        let mut pace = Pace::of_blocks();
        let mut wanted_bytes = 0;
        for (at, bucket) in buckets.iter_mut().enumerate() {
            let mut docs = std::mem::take(&mut bucket.docs);
            // Arrays grow in steps: what has no documents is no bucket, but for the outermost.
            if docs.is_empty() && (level == Level::Nested || at > 0) {
                continue;
            }
            // All of a shard may be in one bucket.
            docs = sorted_in_time(docs, |a, b| (a.0, a.1).cmp(&(b.0, b.1)))?;
            let answer = self.answer(&docs, &open, &mut pace)?;
            wanted_bytes += json_bytes(&answer);
            if wanted_bytes > self.bytes_max {
                return Err(AggError::TooLarge {
                    wanted_bytes,
                    max_bytes: self.bytes_max,
                });
            }
            bucket.answers.push(answer);
        }
        Ok(())
    }

    /// What the scripts make of the documents of a bucket.
    fn answer<'s>(
        &'s self,
        docs: &[(u32, DocId, f32)],
        open: &'s [OpenValueScript],
        pace: &mut Pace,
    ) -> Result<Value, AggError> {
        let mut state: ScriptState<'s> = ScriptState::begin()?;
        if let Some(init) = &self.spec.init {
            state.prepare(init, self.now_ms)?;
        }
        for (segment, doc, score) in docs {
            go_on_reducing(pace)?;
            if let Some(open) = open.get(*segment as usize) {
                open.gather((*doc, *score), &mut state)?;
            }
        }
        Ok(state.end(&self.spec.combine, self.now_ms)?)
    }

    /// Makes one value of what all shards answered, for each bucket.
    fn join(&self, buckets: &mut [Gathered]) -> Result<(), AggError> {
        let mut pace = Pace::of_blocks();
        for bucket in buckets.iter_mut().filter(|one| !one.answers.is_empty()) {
            go_on_reducing(&mut pace)?;
            let answers = Value::Array(std::mem::take(&mut bucket.answers));
            bucket.answers = vec![self.spec.reduce.join(&answers, self.now_ms)?];
        }
        Ok(())
    }
}

impl Metric for ScriptedPlan {
    fn open(&self, segment: Segment<'_>, _: &dyn Planned) -> Result<Box<dyn Collect>, AggError> {
        let place = self.0.segments.place(segment.reader);
        Ok(Box::new(Noted {
            segment: u32::try_from(place).unwrap_or(u32::MAX),
            buckets: Vec::new(),
        }))
    }

    fn empty(&self) -> Partial {
        Partial::Scripted(Vec::new())
    }

    fn result(&self, of: InBucket<'_>, _: &mut Budget<'_>) -> AggResult {
        let Partial::Scripted(buckets) = of.partial else {
            unreachable!("{SHAPE}");
        };
        let bucket = of_bucket(buckets, of.bucket);
        let value = bucket.and_then(|bucket| bucket.answers.first());
        AggResult::Scripted(value.cloned().unwrap_or(Value::Null))
    }

    fn property(&self, _: Option<&str>) -> Option<Property> {
        None
    }

    fn conclude(&self, partial: &mut Partial, seen: Seen) -> Result<(), AggError> {
        let Partial::Scripted(buckets) = partial else {
            unreachable!("{SHAPE}");
        };
        match seen {
            Seen::Shard(level) => self.0.see(buckets, level),
            Seen::All => self.0.join(buckets),
        }
    }

    fn wants_scores(&self) -> bool {
        self.0.map.sees_score()
    }

    fn profiled_as(&self) -> &'static str {
        "ScriptedMetricAggregator"
    }
}
