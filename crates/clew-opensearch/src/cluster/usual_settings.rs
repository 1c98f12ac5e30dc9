//! What settings of the cluster are that nobody gave: `include_defaults`. They are those that are acted on, and those of
//! where shards lie that hold on one node as they do in OpenSearch. All others are kept and shown when they are given, and
//! change nothing: a default of theirs would promise what does not hold.

use clew_aggregation::AggLimits;

use crate::http::memory_stats;
use crate::state::api::Api;
use crate::state::cluster_settings::{Both, Kept};
use crate::state::disk_settings;

/// Values that no type has, because only another value that is given changes what is done.
const PLAIN: [(&str, &str); 22] = [
    ("action.auto_create_index", "true"),
    ("action.destructive_requires_name", "false"),
    ("cluster.indices.close.enable", "true"),
    ("cluster.milvus.request.slowlog.level", "TRACE"),
    ("cluster.milvus.request.slowlog.threshold.debug", "-1"),
    ("cluster.milvus.request.slowlog.threshold.info", "-1"),
    ("cluster.milvus.request.slowlog.threshold.trace", "-1"),
    ("cluster.milvus.request.slowlog.threshold.warn", "-1"),
    ("cluster.routing.allocation.enable", "all"),
    ("cluster.routing.rebalance.enable", "all"),
    ("cluster.search.request.slowlog.level", "TRACE"),
    ("cluster.search.request.slowlog.threshold.debug", "-1"),
    ("cluster.search.request.slowlog.threshold.info", "-1"),
    ("cluster.search.request.slowlog.threshold.trace", "-1"),
    ("cluster.search.request.slowlog.threshold.warn", "-1"),
    ("compatibility.override_main_response_version", "false"),
    ("point_in_time.max_keep_alive", "24h"),
    ("search.allow_expensive_queries", "true"),
    ("search.cancel_after_time_interval", "-1"),
    ("search.default_search_timeout", "-1"),
    ("search.derived_field.enabled", "true"),
    ("search.max_keep_alive", "24h"),
];

/// The settings that nobody gave, by name.
pub(super) fn unset(api: &Api, both: &Both) -> Kept {
    let plain = PLAIN.map(|(name, text)| (name, text.to_string()));
    let buckets = AggLimits::default().buckets_max.to_string();
    let memory = memory_stats::shown_defaults(api.engine.memory_limits());
    let disk = disk_settings::shown_defaults(api.cluster_settings.disk_defaults());
    let all = plain
        .into_iter()
        .chain([("search.max_buckets", buckets)])
        .chain(memory)
        .chain(disk);
    let unset = all.filter(|(name, _)| both.given(name).is_none());
    unset.map(|(name, text)| (name.to_string(), text)).collect()
}
