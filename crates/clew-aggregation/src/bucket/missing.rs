//! `missing`: the documents without a value.

use clew_query::AggError;
use clew_query::aggregation::Source;

use crate::bucket::only::{only_bucket, only_count};
use crate::bucket::{AskedBuckets, Asking, BucketAgg, BucketPlan, InParent, Opening};
use crate::collect::places::Places;
use crate::collect::{Block, Collect, Planned, Segment};
use crate::counted::Partial;
use crate::field::ValuePlan;
use crate::field::column::ValueColumn;
use crate::field::values::plan_values;
use crate::limits::Account;
use crate::order::Property;
use crate::reduce::Budget;
use crate::result::AggResult;

pub(crate) struct Missing {
    column: ValueColumn,
    without: Vec<u32>,
    places: Places,
}

impl Missing {
    pub(crate) fn open(segment: Segment<'_>, plan: &dyn Planned) -> Result<Self, AggError> {
        Ok(Missing {
            column: ValueColumn::open(segment.reader, plan.values())?,
            without: Vec::new(),
            places: Places::open(segment, plan)?,
        })
    }
}

impl Collect for Missing {
    fn collect(&mut self, block: Block<'_>, account: &mut Account) -> Result<(), AggError> {
        self.column
            .without_value(block.docs, account, &mut self.without)?;
        for entry in &self.without {
            let of = (block.docs[*entry as usize], block.parents[*entry as usize]);
            self.places.add(of, 0, account)?;
        }
        self.places.flush(account)
    }

    fn finish(self: Box<Self>, account: &mut Account) -> Result<Partial, AggError> {
        self.places.finish(account)
    }
}

/// Nothing is said but whose values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MissingPlan;

impl AskedBuckets for Source {
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        let values = plan_values(self, "missing", asking.context)?;
        Ok((values, MissingPlan.into()))
    }

    fn factory_name(&self) -> &'static str {
        "MissingAggregatorFactory"
    }
}

impl BucketAgg for MissingPlan {
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Collect>, AggError> {
        let Opening { segment, plan, .. } = opening;
        Ok(Box::new(Missing::open(segment, plan)?))
    }

    fn result(&self, of: InParent<'_>, budget: &mut Budget<'_>) -> Result<AggResult, AggError> {
        let (doc_count, subs) = only_bucket(of, budget)?;
        Ok(AggResult::Missing { doc_count, subs })
    }

    fn profiled_as(&self, _: &ValuePlan) -> &'static str {
        "MissingAggregator"
    }

    fn property(&self, name: Option<&str>) -> Option<Property> {
        only_count(name)
    }
}
