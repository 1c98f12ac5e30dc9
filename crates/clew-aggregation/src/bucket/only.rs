//! What aggregations have in common that make one bucket for each of their parent's.

use clew_query::AggError;

use crate::bucket::InParent;
use crate::order::Property;
use crate::reduce::{Budget, results_of};
use crate::result::{AggResult, NamedResult, SingleKind};

/// The only bucket inside one of the parent's: how many documents, and what was computed over them.
pub(crate) fn only_bucket(
    of: InParent<'_>,
    budget: &mut Budget<'_>,
) -> Result<(u64, Vec<NamedResult>), AggError> {
    let number = of.node.numbers(of.parent).first().copied();
    let count = number.map_or(0, |number| of.buckets.counts[number as usize]);
    Ok((count, results_of(&of.node.subs, number, budget)?))
}

/// The number of the only bucket that an order's path names.
pub(crate) fn only_count(name: Option<&str>) -> Option<Property> {
    matches!(name, None | Some("_count" | "doc_count")).then_some(Property::Count)
}

/// The result of an aggregation that is nothing but this bucket.
pub(crate) fn single_result(
    of: InParent<'_>,
    kind: SingleKind,
    budget: &mut Budget<'_>,
) -> Result<AggResult, AggError> {
    let (doc_count, subs) = only_bucket(of, budget)?;
    Ok(AggResult::Single {
        kind,
        doc_count,
        subs,
    })
}
