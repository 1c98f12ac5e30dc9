//! What a shard does once its segments are merged: of each parent's terms it keeps only the best,
//! and notes how wrong counts may be because of that.

use super::key::number_of;
use super::order::Comparison;
use super::partial::{Buckets, DROPPED, LeftOut, Partial};
use super::plan::{By, Op, Plan, TermsPlan};
use super::plan_chain::CompositePlan;
use clew_query::aggregation::Direction;

/// Cuts every terms aggregation to its shard size, outer ones first: what is dropped takes along
/// what is nested in it.
pub(crate) fn cut_terms(plans: &[Plan], partials: &mut [Partial], parent_count: usize) {
    for (plan, partial) in plans.iter().zip(partials) {
        let Partial::Buckets(buckets) = partial else {
            continue;
        };
        match &plan.op {
            Op::Terms(terms) | Op::MultiTerms { terms, .. } | Op::Grid { terms, .. } => {
                add_unmatched(buckets, parent_count);
                cut(terms, buckets, parent_count);
            }
            Op::Composite(composite) => cut_page(composite, buckets, parent_count),
            Op::DateHistogram(_)
            | Op::Histogram(_)
            | Op::Range(_)
            | Op::Missing
            | Op::Moments(_)
            | Op::Extended { .. }
            | Op::ValueCount
            | Op::Join(_)
            | Op::Relatives(_)
            | Op::TopHits(_)
            | Op::Cardinality { .. }
            | Op::Quantiles(_)
            | Op::WeightedAvg { .. }
            | Op::Filters(_)
            | Op::Global
            | Op::Sample(_)
            | Op::Matrix { .. }
            | Op::AutoDate(_)
            | Op::GeoBounds { .. }
            | Op::GeoCentroid
            | Op::Clusters { .. } => {}
        }
        cut_terms(&plan.subs, &mut buckets.subs, buckets.table.len());
    }
}

/// Terms that no document matched have buckets too, where they are asked for.
fn add_unmatched(buckets: &mut Buckets, parent_count: usize) {
    let universe = std::mem::take(&mut buckets.universe).into_parts().1;
    for parent in 0..parent_count {
        for key in &universe {
            let (number, _) = buckets.table.number(number_of(parent), key.clone());
            if number as usize == buckets.counts.len() {
                buckets.counts.push(0);
            }
        }
    }
}

/// Keeps the buckets that are marked.
fn retain(buckets: &mut Buckets, keep: &[bool]) {
    let mut next = 0_u32;
    let number = |kept: &bool| {
        if !kept {
            return DROPPED;
        }
        next += 1;
        next - 1
    };
    let numbers: Vec<u32> = keep.iter().map(number).collect();
    if numbers.contains(&DROPPED) {
        buckets.renumber(&numbers, None);
    }
}

/// Only the first combinations behind the page before can be on this page. Combinations are ordered
/// by nothing but themselves, so this loses nothing.
fn cut_page(composite: &CompositePlan, buckets: &mut Buckets, parent_count: usize) {
    let by_parent = buckets.by_parent();
    let mut keep = vec![false; buckets.table.len()];
    for parent in 0..parent_count {
        for number in composite.page(buckets, by_parent.of_parent(number_of(parent))) {
            keep[number as usize] = true;
        }
    }
    retain(buckets, &keep);
}

fn cut(terms: &TermsPlan, buckets: &mut Buckets, parent_count: usize) {
    let by_parent = buckets.by_parent();
    let comparison = Comparison::new(buckets, &terms.order);
    let mut keep = vec![false; buckets.table.len()];
    let mut left_out = Vec::with_capacity(parent_count);
    let mut errors = Vec::with_capacity(parent_count);
    for parent in 0..parent_count {
        let mut numbers = by_parent.of_parent(number_of(parent)).to_vec();
        let count = numbers.len();
        if count > terms.shard_size {
            numbers
                .select_nth_unstable_by(terms.shard_size - 1, |a, b| comparison.of_buckets(*a, *b));
        }
        let (kept, dropped) = numbers.split_at(count.min(terms.shard_size));
        let counts_of = |list: &[u32]| -> Vec<u64> {
            list.iter().map(|n| buckets.counts[*n as usize]).collect()
        };
        let mut of_parent = LeftOut {
            shards: 1,
            documents: counts_of(dropped).iter().sum(),
            ..LeftOut::default()
        };
        if kept.len() == terms.shard_size {
            match (terms.order[0].by, terms.order[0].direction) {
                (By::Key | By::Score(_), _) => {}
                (By::Count, Direction::Descending) => {
                    of_parent.error = counts_of(kept).into_iter().min().unwrap_or(0);
                }
                _ => of_parent.unbounded = true,
            }
        }
        for number in kept {
            keep[*number as usize] = true;
        }
        errors.push(of_parent.error);
        left_out.push(of_parent);
    }
    retain(buckets, &keep);
    buckets.reported = buckets
        .table
        .parents()
        .iter()
        .map(|parent| errors[*parent as usize])
        .collect();
    buckets.left_out = left_out;
}
