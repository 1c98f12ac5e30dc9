//! Of each parent's terms a shard keeps only the best, and notes how wrong counts may be because of that.

use clew_platform::Pace;
use clew_query::aggregation::Direction;
use clew_query::{AggError, go_on_reducing};

use crate::bucket::terms::TermsPlan;
use crate::counted::buckets::{Buckets, LeftOut, retain};
use crate::order::{By, Comparison};
use crate::value::key::number_of;

/// Cuts the terms of so many parents to those that a shard reports.
///
/// # Errors
/// Once the request is over.
pub(crate) fn cut_terms(
    terms: &TermsPlan,
    buckets: &mut Buckets,
    parent_count: usize,
) -> Result<(), AggError> {
    add_unmatched(buckets, parent_count)?;
    cut(terms, buckets, parent_count)
}

/// Terms that no document matched have buckets too, where they are asked for.
fn add_unmatched(buckets: &mut Buckets, parent_count: usize) -> Result<(), AggError> {
    let mut pace = Pace::default();
    let universe = std::mem::take(&mut buckets.universe).into_parts().1;
    for parent in 0..parent_count {
        for key in &universe {
            go_on_reducing(&mut pace)?;
            let (number, _) = buckets.table.number(number_of(parent), key.clone());
            if number as usize == buckets.counts.len() {
                buckets.counts.push(0);
            }
        }
    }
    Ok(())
}

fn cut(terms: &TermsPlan, buckets: &mut Buckets, parent_count: usize) -> Result<(), AggError> {
    let by_parent = buckets.by_parent()?;
    let comparison = Comparison::new(buckets, &terms.order)?;
    let mut keep = vec![false; buckets.table.len()];
    let mut left_out = Vec::with_capacity(parent_count);
    let mut errors = Vec::with_capacity(parent_count);
    // Parents have some tens of terms as a rule; one that has many is a step of its own.
    let mut pace = Pace::of_blocks();
    for parent in 0..parent_count {
        go_on_reducing(&mut pace)?;
        let mut numbers = by_parent.of_parent(number_of(parent)).to_vec();
        // What too few documents have takes no place from others, and is told as left out.
        let mut of_few = 0;
        numbers.retain(|number| {
            let count = buckets.counts[*number as usize];
            let is_enough = count >= terms.shard_min_doc_count;
            of_few += if is_enough { 0 } else { count };
            is_enough
        });
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
            documents: of_few + counts_of(dropped).iter().sum::<u64>(),
            ..LeftOut::default()
        };
        if kept.len() == terms.shard_size {
            match (&terms.order[0].by, terms.order[0].direction) {
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
    retain(buckets, &keep)?;
    buckets.reported = buckets
        .table
        .parents()
        .iter()
        .map(|parent| errors[*parent as usize])
        .collect();
    buckets.left_out = left_out;
    Ok(())
}
