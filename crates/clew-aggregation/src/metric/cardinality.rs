//! `cardinality`: how many distinct values there are.

use clew_query::AggError;
use clew_query::aggregation::CardinalitySpec;

use crate::collect::{Block, Collect, Planned, Segment};
use crate::counted::{Partial, Sketches};
use crate::field::ValuePlan;
use crate::field::column::ValueColumn;
use crate::field::context::AggContext;
use crate::field::rows::Rows;
use crate::field::values::plan_values;
use crate::limits::Account;
use crate::metric::{InBucket, Metric, SHAPE, each_value, of_bucket};
use crate::numbers::sketch::{Sketch, hash_key};
use crate::order::Property;
use crate::reduce::Budget;
use crate::result::AggResult;

/// Up to how many values are counted exactly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CardinalityPlan {
    pub(crate) threshold: usize,
}

/// The plan of `cardinality`.
///
/// # Errors
/// [`AggError`] when the field cannot serve.
pub(crate) fn plan_cardinality(
    spec: &CardinalitySpec,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, CardinalityPlan), AggError> {
    let values = plan_values(&spec.source, "cardinality", context)?;
    let threshold = spec.precision_threshold as usize;
    Ok((values, CardinalityPlan { threshold }))
}

/// How many distinct values there are. Values are told apart within the segment first; what is
/// hashed is the value itself, so that equal ones of other segments are known again.
pub(crate) struct Cardinality {
    field: String,
    column: ValueColumn,
    rows: Rows,
    /// Pairs of bucket and number; the first `sorted` are in order and distinct.
    pairs: Vec<(u32, u64)>,
    sorted: usize,
    threshold: usize,
}

/// Pairs are told apart when this many have come in since the last time.
const PAIRS_UNSORTED_MIN: usize = 4_096;

impl Cardinality {
    pub(crate) fn open(
        segment: Segment<'_>,
        plan: &dyn Planned,
        threshold: usize,
    ) -> Result<Self, AggError> {
        Ok(Cardinality {
            field: plan.values().field.clone(),
            column: ValueColumn::open(segment.reader, plan.values())?,
            rows: Rows::default(),
            pairs: Vec::new(),
            sorted: 0,
            threshold,
        })
    }

    fn tidy(&mut self) {
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.sorted = self.pairs.len();
    }

    /// The hash of each distinct number, in the numbers' order.
    fn hashes(&self, sorted: &[u64]) -> Result<Vec<u64>, AggError> {
        let mut hashes = Vec::with_capacity(sorted.len());
        self.column.each_key(&self.field, sorted, |key| {
            hashes.push(hash_key(&key));
            Ok(())
        })?;
        Ok(hashes)
    }
}

impl Collect for Cardinality {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        let before = self.pairs.capacity();
        let pairs = &mut self.pairs;
        each_value(
            &self.column,
            &mut self.rows,
            (block, &mut *account),
            |parent, raw, _| {
                pairs.push((parent, raw));
                Ok(())
            },
        )?;
        if self.pairs.len() > self.sorted * 2 + PAIRS_UNSORTED_MIN {
            self.tidy();
        }
        account.charge((self.pairs.capacity() - before) * size_of::<(u32, u64)>())
    }

    fn finish(mut self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        self.tidy();
        // Numbers, their hashes, and the hashes that buckets remember.
        account.charge(3 * self.pairs.len() * size_of::<u64>())?;
        let mut numbers: Vec<u64> = self.pairs.iter().map(|(_, raw)| *raw).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let hashes = self.hashes(&numbers)?;
        let buckets = self
            .pairs
            .last()
            .map_or(0, |(parent, _)| *parent as usize + 1);
        account.charge(buckets * (size_of::<Sketch>() + Sketch::HEAP_BYTES_MIN))?;
        let mut sketches = vec![Sketch::default(); buckets];
        for (parent, raw) in &self.pairs {
            if let Ok(at) = numbers.binary_search(raw) {
                sketches[*parent as usize].add(hashes[at], self.threshold);
            }
        }
        for sketch in &mut sketches {
            sketch.tidy(self.threshold);
        }
        Ok(Partial::Distinct(Sketches {
            sketches,
            threshold: self.threshold,
        }))
    }
}

impl Metric for CardinalityPlan {
    fn open(&self, segment: Segment<'_>, plan: &dyn Planned) -> Result<Box<dyn Collect>, AggError> {
        Ok(Box::new(Cardinality::open(segment, plan, self.threshold)?))
    }

    fn empty(&self) -> Partial {
        Partial::Distinct(Sketches {
            sketches: Vec::new(),
            threshold: self.threshold,
        })
    }

    fn result(&self, of: InBucket<'_>, _: &mut Budget<'_>) -> AggResult {
        let Partial::Distinct(sketches) = of.partial else {
            unreachable!("{SHAPE}");
        };
        let sketch = of_bucket(&sketches.sketches, of.bucket);
        AggResult::Cardinality(sketch.map_or(0, Sketch::count))
    }

    fn property(&self, name: Option<&str>) -> Option<Property> {
        matches!(name, None | Some("value")).then_some(Property::Count)
    }

    fn profiled_as(&self) -> &'static str {
        "CardinalityAggregator"
    }
}
