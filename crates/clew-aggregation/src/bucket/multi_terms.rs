//! `multi_terms`: the most frequent combinations of values.

use clew_query::AggError;
use clew_query::aggregation::{Direction, MissingOrder, MultiTermsSpec};

use crate::bucket::chain::{Chain, Link, LinkStep, adopt_links, shown_tuple};
use crate::bucket::cut::cut_terms;
use crate::bucket::shown_terms::terms_result;
use crate::bucket::terms::{TermsPlan, TermsShape, shard_size};
use crate::bucket::{AskedBuckets, Asking, BucketAgg, BucketPlan, InParent, Opening};
use crate::collect::Collect;
use crate::counted::buckets::Buckets;
use crate::field::context::AggContext;
use crate::field::rows::Repeats;
use crate::field::values::plan_values;
use crate::field::{TermSets, ValuePlan};
use crate::order::PlannedOrder;
use crate::order::path::{Ordered, order_or_count, plan_order};
use crate::reduce::Budget;
use crate::result::AggResult;

/// Combinations of several sources' values.
#[derive(Clone, Debug)]
pub(crate) struct MultiTermsPlan {
    pub(crate) links: Vec<Link>,
    pub(crate) terms: TermsPlan,
}

/// The plan of a `multi_terms` aggregation.
///
/// # Errors
/// [`AggError`] naming what is wrong.
fn plan_multi_terms(
    spec: &MultiTermsSpec,
    context: &AggContext<'_>,
    subs: &[&dyn Ordered],
) -> Result<MultiTermsPlan, AggError> {
    let links = spec.sources.iter().map(|source| {
        Ok(Link {
            name: source.field.clone(),
            values: plan_values(source, "terms", context)?,
            step: LinkStep::Value,
            missing_bucket: false,
            repeats: Repeats::Dropped,
            direction: Direction::Ascending,
            missing_order: MissingOrder::Default,
        })
    });
    let links = links.collect::<Result<Vec<_>, AggError>>()?;
    let order = order_or_count(plan_order(&spec.order, subs)?);
    let size = spec.size as usize;
    let terms = TermsPlan {
        size,
        shard_size: shard_size(spec.shard_size, size),
        min_doc_count: spec.min_doc_count,
        shard_min_doc_count: spec.shard_min_doc_count.min(spec.min_doc_count),
        order,
        filter: TermSets::default(),
        show_error: spec.show_error,
        shape: TermsShape::Plain,
    };
    Ok(MultiTermsPlan { links, terms })
}

impl AskedBuckets for MultiTermsSpec {
    fn plan(&self, asking: &Asking<'_>) -> Result<(ValuePlan, BucketPlan), AggError> {
        let plan = plan_multi_terms(self, asking.context, asking.subs)?;
        Ok((ValuePlan::none(), plan.into()))
    }

    fn factory_name(&self) -> &'static str {
        "MultiTermsAggregationFactory"
    }
}

impl BucketAgg for MultiTermsPlan {
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Collect>, AggError> {
        let Opening { segment, plan, .. } = opening;
        Ok(Box::new(Chain::open(segment, plan, &self.links)?))
    }

    fn bytes_per_doc(&self) -> usize {
        let links = self.links.iter();
        links.map(|link| link.values.bytes_per_doc()).sum()
    }

    fn result(&self, of: InParent<'_>, budget: &mut Budget<'_>) -> Result<AggResult, AggError> {
        let mut terms = terms_result(of, &self.terms, budget)?;
        for bucket in &mut terms.buckets {
            bucket.key = shown_tuple(&bucket.key, &self.links);
        }
        let formats = self.links.iter().map(|link| link.values.format.clone());
        Ok(AggResult::MultiTerms {
            terms,
            formats: formats.collect(),
        })
    }

    fn profiled_as(&self, _: &ValuePlan) -> &'static str {
        "MultiTermsAggregator"
    }

    fn order(&self) -> Option<&[PlannedOrder]> {
        Some(&self.terms.order)
    }

    fn cut(&self, buckets: &mut Buckets, parent_count: usize) -> Result<(), AggError> {
        cut_terms(&self.terms, buckets, parent_count)
    }

    fn adopt(&mut self, theirs: &Self) {
        adopt_links(&mut self.links, &theirs.links);
    }
}
