//! Counts relatives once all documents were seen: the families that buckets noted are looked up in
//! every segment, and what is inside the aggregation runs over the documents found there.

use clew_query::AggError;
use tantivy::DocId;

use super::collect::{Segment, Subs};
use super::key::number_of;
use super::limits::Account;
use super::partial::{Buckets, Partial};
use super::plan::{Op, Plan};
use super::plan_join::wants_scores;
use super::plan_relatives::{Family, FamilySegment};

/// Documents handed on at a time.
const BLOCK_DOCS: usize = 2_048;

/// Counts the relatives of every aggregation that wants some, outer ones first.
pub(crate) fn fill(
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
                count(plan, (family, members), buckets, account)?;
            }
        }
        fill(&plan.subs, &mut buckets.subs, account)?;
    }
    Ok(())
}

fn count(
    plan: &Plan,
    (family, members): (&Family, Vec<Vec<u32>>),
    buckets: &mut Buckets,
    account: &mut Account,
) -> Result<(), AggError> {
    let mut of_member: Vec<(u32, u32)> = members
        .into_iter()
        .enumerate()
        .flat_map(|(bucket, members)| {
            let bucket = number_of(bucket);
            members.into_iter().map(move |member| (member, bucket))
        })
        .collect();
    of_member.sort_unstable();
    // Several children of one parent lead to it, and count it once.
    of_member.dedup();
    for (ord, segment) in family.segments.iter().enumerate() {
        let pairs = pairs_in(segment, &of_member);
        account.charge(pairs.len() * size_of::<(DocId, u32)>())?;
        if pairs.is_empty() {
            continue;
        }
        account.turn_to(&segment.reader)?;
        if wants_scores(&plan.subs) {
            account.make_scores(segment.reader.max_doc())?;
            pairs
                .iter()
                .for_each(|(doc, _)| account.set_score(*doc, 1.0));
        }
        let segment = Segment {
            reader: &segment.reader,
            ord,
        };
        let mut subs = Subs::open(segment, plan)?;
        for block in pairs.chunks(BLOCK_DOCS) {
            for (doc, bucket) in block {
                buckets.counts[*bucket as usize] += 1;
                if !subs.is_empty() {
                    subs.push(*doc, *bucket);
                }
            }
            subs.flush(account)?;
        }
        for (mine, found) in buckets.subs.iter_mut().zip(subs.finish(account)?) {
            mine.merge(found, None)?;
        }
    }
    Ok(())
}

/// The documents of a segment that buckets want, in order, each with a bucket.
fn pairs_in(segment: &FamilySegment, of_member: &[(u32, u32)]) -> Vec<(DocId, u32)> {
    let mut pairs = Vec::new();
    let mut wanted = &segment.wanted[..];
    for buckets in of_member.chunk_by(|a, b| a.0 == b.0) {
        let member = buckets[0].0;
        let before = wanted.partition_point(|(number, _)| *number < member);
        wanted = &wanted[before..];
        let docs = wanted.iter().take_while(|(number, _)| *number == member);
        for (_, doc) in docs {
            pairs.extend(buckets.iter().map(|(_, bucket)| (*doc, *bucket)));
        }
    }
    pairs.sort_unstable();
    pairs
}
