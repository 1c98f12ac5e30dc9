//! A plan as collectors, orders, results and pipelines see it.

use clew_query::AggError;

use crate::bucket::Feed;
use crate::collect::{Level, Planned, Segment, Subs};
use crate::counted::Partial;
use crate::counted::buckets::Buckets;
use crate::field::ValuePlan;
use crate::order::Property;
use crate::order::path::Ordered;
use crate::pipeline::{Piped, PipelinePlan};
use crate::reduce::{Budget, Node, Reduced};
use crate::result::AggResult;
use crate::tree::open::open_all;
use crate::tree::results::result_of;
use crate::tree::{Op, Plan, wants_scores};

impl Planned for Plan {
    fn values(&self) -> &ValuePlan {
        &self.values
    }

    fn open_subs(&self, segment: Segment<'_>) -> Result<Subs, AggError> {
        Ok(Subs::of(open_all(segment, &self.subs, Level::Nested)?))
    }

    fn empty_subs(&self) -> Vec<Partial> {
        self.subs.iter().map(Plan::empty).collect()
    }

    fn subs_want_scores(&self) -> bool {
        wants_scores(&self.subs)
    }
}

impl Ordered for Plan {
    fn name(&self) -> &str {
        &self.name
    }

    fn property(&self, name: Option<&str>) -> Option<Property> {
        match &self.op {
            Op::Bucket(bucket) => bucket.as_bucket().property(name),
            Op::Metric(metric) => metric.as_metric().property(name),
        }
    }

    fn inside(&self) -> Option<Vec<&dyn Ordered>> {
        // What has many buckets has no number of its own.
        let is_single = matches!(self.op, Op::Bucket(_)) && self.property(None).is_some();
        is_single.then(|| self.subs.iter().map(|sub| sub as &dyn Ordered).collect())
    }

    fn is_metric(&self) -> bool {
        matches!(self.op, Op::Metric(_))
    }
}

impl Reduced for Plan {
    fn name(&self) -> &str {
        &self.name
    }

    fn result(
        &self,
        node: &Node<'_>,
        parent: Option<u32>,
        budget: &mut Budget<'_>,
    ) -> Result<AggResult, AggError> {
        result_of(self, node, parent, budget)
    }
}

impl Piped for Plan {
    fn subs(&self) -> &[Plan] {
        &self.subs
    }

    fn pipelines(&self) -> &[PipelinePlan] {
        &self.pipelines
    }
}

impl Plan {
    /// Nothing counted.
    pub(crate) fn empty(&self) -> Partial {
        match &self.op {
            Op::Bucket(_) => Partial::Buckets(Buckets {
                subs: self.subs.iter().map(Plan::empty).collect(),
                ..Buckets::default()
            }),
            Op::Metric(metric) => metric.as_metric().empty(),
        }
    }

    /// Which documents it counts.
    pub(crate) fn feed(&self) -> Feed {
        match &self.op {
            Op::Bucket(bucket) => bucket.as_bucket().feed(),
            Op::Metric(_) => Feed::Matches,
        }
    }
}
