//! What aggregations cost a shard: how long each took and over how many documents.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::bucket::ProfileDetails;
use crate::collect::timed::add;
use crate::counted::Partial;
use crate::tree::{Op, Plan};

/// What one aggregation cost a shard; what is inside it is counted too.
#[derive(Clone, Debug, PartialEq)]
pub struct AggProfile {
    /// Its name.
    pub name: String,
    /// What OpenSearch calls that which counts so.
    pub kind: &'static str,
    /// Finding its fields and checking what it asks, once for each shard.
    pub planning: Duration,
    /// Opening columns, once for each segment.
    pub opening: Duration,
    /// Counting documents.
    pub collecting: Duration,
    /// Making buckets of what was counted, once for each segment.
    pub building: Duration,
    /// What is done once all documents were seen: counting what only then is known, and cutting to what a shard reports. Told
    /// of the outermost aggregations, with what is inside of them.
    pub late: Duration,
    /// How often that was done: once for each of the outermost.
    pub lates: u64,
    /// Joining what the segments hold. Told of the outermost, as the line before.
    pub reducing: Duration,
    /// How often: once for each segment.
    pub reductions: u64,
    /// Segments looked at.
    pub segments: u64,
    /// Documents counted; one in several buckets of the aggregation around counts for each.
    pub docs: u64,
    /// Buckets made, of which a shard reports the best only.
    pub buckets: u64,
    /// What values the buckets are of, where they are of values.
    pub strategy: Option<&'static str>,
    /// Whether some values are left out, where that can be asked for.
    pub has_filter: Option<bool>,
    /// What is inside it.
    pub children: Vec<AggProfile>,
}

/// Notes how many buckets there are, before a shard cuts them to what it reports.
pub(crate) fn count_buckets(plans: &[Plan], partials: &[Partial]) {
    for (plan, partial) in plans.iter().zip(partials) {
        if let (Some(figures), Partial::Buckets(buckets)) = (&plan.figures, partial) {
            add(&figures.buckets, buckets.counts.len() as u64);
            count_buckets(&plan.subs, &buckets.subs);
        }
    }
}

/// What aggregations cost; nothing of those that nobody asked about.
pub(crate) fn profiles(plans: &[Plan]) -> Vec<AggProfile> {
    let profile = |plan: &Plan| {
        let figures = plan.figures.as_ref()?;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let time = |counter: &AtomicU64| Duration::from_nanos(read(counter));
        let (kind, details) = match &plan.op {
            Op::Bucket(bucket) => {
                let bucket = bucket.as_bucket();
                (
                    bucket.profiled_as(&plan.values),
                    bucket.profile_details(&plan.values),
                )
            }
            Op::Metric(metric) => (metric.as_metric().profiled_as(), ProfileDetails::default()),
        };
        Some(AggProfile {
            name: plan.name.clone(),
            kind,
            planning: time(&figures.planning_ns),
            opening: time(&figures.opening_ns),
            collecting: time(&figures.collecting_ns),
            building: time(&figures.building_ns),
            late: time(&figures.late_ns),
            lates: read(&figures.lates),
            reducing: time(&figures.reducing_ns),
            reductions: read(&figures.reductions),
            segments: read(&figures.segments),
            docs: read(&figures.docs),
            buckets: read(&figures.buckets),
            strategy: details.strategy,
            has_filter: details.has_filter,
            children: profiles(&plan.subs),
        })
    };
    plans.iter().filter_map(profile).collect()
}
