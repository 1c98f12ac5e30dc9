//! Whether other threads are asked to help with the segments of a shard.

use super::request::ShardRequest;
use super::run::Run;
use super::threads::Threads;
use crate::query::matches_max;
use crate::snapshot::Snapshot;

/// The threads that may help to look at all matches.
pub(super) fn helpers<'a>(run: &Run<'_>, request: &ShardRequest<'a>) -> Option<&'a dyn Threads> {
    // Nothing is looked up for those that could not help with any number.
    helpers_with(u64::MAX, run.snapshot, request)?;
    let bound = |query| matches_max(run.snapshot, query);
    let known = || {
        let filter = request.filter.and_then(bound);
        bound(request.query).into_iter().chain(filter).min()
    };
    let matches = run.plan.matches_exactly().or_else(known);
    helpers_with(matches.unwrap_or(u64::MAX), run.snapshot, request)
}

/// The threads that may help to look at so many documents, where enough of them lie in segments beside the largest.
pub(super) fn helpers_with<'a>(
    documents: u64,
    snapshot: &Snapshot,
    request: &ShardRequest<'a>,
) -> Option<&'a dyn Threads> {
    let threads = request.threads?;
    let sizes = snapshot.readers.iter();
    let sizes = sizes.map(|reader| u64::from(reader.max_doc()));
    let (all, largest) = (sizes.clone().sum::<u64>(), sizes.max()?);
    let others = all - largest;
    // They lie everywhere alike, as far as is known.
    let shareable = u128::from(documents.min(all)) * u128::from(others) / u128::from(all.max(1));
    (others > 0 && shareable >= u128::from(threads.worthwhile_docs())).then_some(threads)
}
