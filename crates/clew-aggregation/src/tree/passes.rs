//! What is done to all buckets of a shard, or of all shards, once they are counted.

use clew_query::AggError;
use clew_search::SegmentBits;
use tantivy::SegmentReader;

use crate::bucket::auto_date::joined_dates;
use crate::bucket::composite::cut_page;
use crate::bucket::grid::GridPlan;
use crate::bucket::multi_terms::MultiTermsPlan;
use crate::bucket::relatives::count_relatives;
use crate::bucket::significant::{SignificantPlan, count_column, count_words};
use crate::bucket::terms::{TermsShape, add_unmatched, cut};
use crate::bucket::variable_width::{ClustersPlan, joined_clusters};
use crate::counted::Partial;
use crate::limits::Account;
use crate::tree::{Op, Plan};

/// Joins the intervals of every such histogram, at any depth.
pub(crate) fn settle(plans: &[Plan], partials: Vec<Partial>) -> Result<Vec<Partial>, AggError> {
    let one = |(plan, partial): (&Plan, Partial)| match partial {
        Partial::Buckets(mut buckets) => {
            match &plan.op {
                Op::AutoDate(auto) => buckets = joined_dates(auto, plan, buckets)?,
                Op::Clusters(ClustersPlan { target, .. }) => {
                    buckets = joined_clusters(*target, plan, buckets)?
                }
                _ => {}
            }
            buckets.subs = settle(&plan.subs, buckets.subs)?;
            Ok(Partial::Buckets(buckets))
        }
        other => Ok(other),
    };
    plans.iter().zip(partials).map(one).collect()
}

/// Counts the relatives of every aggregation that wants some, outer ones first.
pub(crate) fn fill_relatives(
    plans: &[Plan],
    partials: &mut [Partial],
    account: &mut Account,
) -> Result<(), AggError> {
    for (plan, partial) in plans.iter().zip(partials) {
        let Partial::Buckets(buckets) = partial else {
            continue;
        };
        if let Op::Relatives(relatives) = &plan.op {
            let members = std::mem::take(&mut buckets.members);
            if let Some(family) = &relatives.family {
                count_relatives(plan, (family, members), buckets, account)?;
            }
        }
        fill_relatives(&plan.subs, &mut buckets.subs, account)?;
    }
    Ok(())
}

/// Cuts every terms aggregation to its shard size, outer ones first: what is dropped takes along
/// what is nested in it.
pub(crate) fn cut_terms(plans: &[Plan], partials: &mut [Partial], parent_count: usize) {
    for (plan, partial) in plans.iter().zip(partials) {
        let Partial::Buckets(buckets) = partial else {
            continue;
        };
        match &plan.op {
            Op::Terms(terms)
            | Op::MultiTerms(MultiTermsPlan { terms, .. })
            | Op::Grid(GridPlan { terms, .. }) => {
                add_unmatched(buckets, parent_count);
                cut(terms, buckets, parent_count);
            }
            Op::Composite(composite) => cut_page(composite, buckets, parent_count),
            Op::DateHistogram(_)
            | Op::Histogram(_)
            | Op::Range(_)
            | Op::Missing
            | Op::Metric(_)
            | Op::Join(_)
            | Op::Relatives(_)
            | Op::TopHits(_)
            | Op::Filters(_)
            | Op::Global
            | Op::Sample(_)
            | Op::AutoDate(_)
            | Op::Clusters(_) => {}
        }
        cut_terms(&plan.subs, &mut buckets.subs, buckets.table.len());
    }
}

/// Whether any aggregation needs a background.
pub(crate) fn wants_background(plans: &[Plan]) -> bool {
    plans
        .iter()
        .any(|plan| significant(plan).is_some() || wants_background(&plan.subs))
}

fn significant(plan: &Plan) -> Option<&SignificantPlan> {
    match &plan.op {
        Op::Terms(terms) => match &terms.shape {
            TermsShape::Significant(significant) => Some(significant),
            _ => None,
        },
        _ => None,
    }
}

/// Counts the background of the terms that were seen, over all segments of a shard.
///
/// # Errors
/// [`AggError::Column`] when a column cannot be read.
pub(crate) fn fill_backgrounds(
    plans: &[Plan],
    partials: &mut [Partial],
    readers: &[SegmentReader],
) -> Result<(), AggError> {
    for (plan, partial) in plans.iter().zip(partials) {
        let Partial::Buckets(buckets) = partial else {
            continue;
        };
        if let Some(significant) = significant(plan) {
            buckets.background.with = vec![0; buckets.table.len()];
            buckets.background.all = 0;
            for (ord, reader) in readers.iter().enumerate() {
                let documents = match &significant.background {
                    Some(sets) => sets.get(ord).cloned(),
                    None => None,
                };
                let documents = documents.unwrap_or_else(|| SegmentBits::alive(reader));
                match &significant.words {
                    Some(words) => count_words(words, buckets, reader, &documents),
                    None => count_column(plan, buckets, reader, &documents),
                }?;
            }
        }
        fill_backgrounds(&plan.subs, &mut buckets.subs, readers)?;
    }
    Ok(())
}
