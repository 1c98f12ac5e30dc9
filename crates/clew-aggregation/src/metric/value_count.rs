//! `value_count`: how many values there are.

use clew_query::AggError;
use clew_query::aggregation::Source;

use crate::collect::{Block, Collect, Planned, Segment};
use crate::counted::Partial;
use crate::field::column::ValueColumn;
use crate::field::context::AggContext;
use crate::field::rows::{Repeats, Rows};
use crate::field::values::plan_values;
use crate::field::{ValueKind, ValuePlan};
use crate::limits::{Account, grow};
use crate::metric::{InBucket, Metric, SHAPE, of_bucket};
use crate::order::Property;
use crate::reduce::Budget;
use crate::result::AggResult;

/// Nothing is said but whose values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueCountPlan;

/// The plan of `value_count`.
///
/// # Errors
/// [`AggError`] when the field cannot serve.
pub(crate) fn plan_value_count(
    source: &Source,
    context: &AggContext<'_>,
) -> Result<(ValuePlan, ValueCountPlan), AggError> {
    let values = plan_values(source, "value_count", context)?;
    Ok((values, ValueCountPlan))
}

/// How many values there are.
pub(crate) struct ValueCount {
    column: ValueColumn,
    rows: Rows,
    counts: Vec<u64>,
    repeats: Repeats,
}

impl ValueCount {
    pub(crate) fn open(segment: Segment<'_>, plan: &dyn Planned) -> Result<Self, AggError> {
        // A document's keywords, addresses, ranges and bytes are a set; its numbers, and what a script makes, are a list.
        let repeats = match plan.values().kind {
            _ if plan.values().made.is_some() => Repeats::Kept,
            ValueKind::Keyword | ValueKind::Ip | ValueKind::Range(_) | ValueKind::Bytes => {
                Repeats::Dropped
            }
            _ => Repeats::Kept,
        };
        Ok(ValueCount {
            column: ValueColumn::open(segment.reader, plan.values())?,
            rows: Rows::default(),
            counts: Vec::new(),
            repeats,
        })
    }
}

impl Collect for ValueCount {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        if self.column.is_empty() {
            return Ok(());
        }
        self.column
            .read_scored(block.docs, account, self.repeats, &mut self.rows)?;
        for entry in &self.rows.entries {
            let parent = block.parents[*entry as usize];
            grow(&mut self.counts, parent, account)?;
            self.counts[parent as usize] += 1;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &mut Account) -> Result<Partial, AggError> {
        Ok(Partial::Counts(self.counts))
    }
}

impl Metric for ValueCountPlan {
    fn open(&self, segment: Segment<'_>, plan: &dyn Planned) -> Result<Box<dyn Collect>, AggError> {
        Ok(Box::new(ValueCount::open(segment, plan)?))
    }

    fn empty(&self) -> Partial {
        Partial::Counts(Vec::new())
    }

    fn result(&self, of: InBucket<'_>, _: &mut Budget<'_>) -> AggResult {
        let Partial::Counts(counts) = of.partial else {
            unreachable!("{SHAPE}");
        };
        AggResult::ValueCount(of_bucket(counts, of.bucket).copied().unwrap_or(0))
    }

    fn property(&self, name: Option<&str>) -> Option<Property> {
        matches!(name, None | Some("value")).then_some(Property::Count)
    }

    fn profiled_as(&self) -> &'static str {
        "ValueCountAggregator"
    }
}
