//! `multi_terms`: the most frequent combinations of values.

use clew_query::AggError;
use clew_query::aggregation::{Direction, MissingOrder, MultiTermsSpec};

use crate::bucket::chain::{Link, Step};
use crate::bucket::terms::{TermsPlan, TermsShape};
use crate::field::TermSets;
use crate::field::context::AggContext;
use crate::field::values::plan_values;
use crate::order::path::{Ordered, order_or_count, plan_order};

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
pub(crate) fn plan_multi_terms(
    spec: &MultiTermsSpec,
    context: &AggContext<'_>,
    subs: &[impl Ordered],
) -> Result<MultiTermsPlan, AggError> {
    let links = spec.sources.iter().map(|source| {
        Ok(Link {
            name: source.field.clone(),
            values: plan_values(source, "terms", context)?,
            step: Step::Value,
            missing_bucket: false,
            direction: Direction::Ascending,
            missing_order: MissingOrder::Default,
        })
    });
    let links = links.collect::<Result<Vec<_>, AggError>>()?;
    let order = order_or_count(plan_order(&spec.order, subs)?);
    let size = spec.size as usize;
    let shard_size = spec
        .shard_size
        .map_or(size + size / 2 + 10, |asked| asked as usize);
    let terms = TermsPlan {
        size,
        shard_size: shard_size.max(size),
        min_doc_count: spec.min_doc_count,
        order,
        filter: TermSets::default(),
        show_error: spec.show_error,
        shape: TermsShape::Plain,
    };
    Ok(MultiTermsPlan { links, terms })
}
