//! Lists of URI parameters that endpoints of several areas take.

use crate::http::params::of_worded_queries;

/// What every endpoint takes.
pub(crate) const COMMON_PARAMS: &[&str] = &[
    "pretty",
    "human",
    "error_trace",
    "filter_path",
    "format",
    "request_timeout",
];

/// How long the cluster's manager is waited for.
pub(super) const MANAGER: &[&str] = &["master_timeout", "cluster_manager_timeout"];

/// What changes indexes or the cluster takes.
pub(super) const CHANGE: &[&str] = &["master_timeout", "cluster_manager_timeout", "timeout"];

/// Which indexes a name means.
pub(super) const INDICES: &[&str] = &[
    "allow_no_indices",
    "expand_wildcards",
    "ignore_unavailable",
    "ignore_throttled",
];

/// What is shown of indexes once they have reached a position.
pub(super) const AFTER: &[&str] = &["after_glsn"];

/// What clients of old say, and what says nothing any more.
pub(super) const OF_OLD: &[&str] = &["include_type_name"];

/// What every search takes, and more.
macro_rules! of_searches {
    ($($more:literal),*) => {
        of_worded_queries![
            "after_glsn",
            "from",
            "size",
            "sort",
            "_source",
            "_source_includes",
            "_source_excludes",
            "stored_fields",
            "docvalue_fields",
            "track_total_hits",
            "track_scores",
            "timeout",
            "terminate_after",
            "explain",
            "version",
            "seq_no_primary_term",
            "search_type",
            "scroll",
            "batched_reduce_size",
            "pre_filter_shard_size",
            "max_concurrent_shard_requests",
            "ccs_minimize_roundtrips",
            "allow_partial_search_results",
            "preference",
            "routing",
            "request_cache",
            "expand_wildcards",
            "ignore_throttled",
            "ignore_unavailable",
            "allow_no_indices",
            "rest_total_hits_as_int",
            "typed_keys",
            "stats",
            "min_score",
            "search_pipeline",
            "verbose_pipeline",
            "include_named_queries_score",
            "suggest_field",
            "suggest_mode",
            "suggest_size",
            "suggest_text",
            $($more),*
        ]
    };
}

/// A search takes.
pub(super) const SEARCH: &[&str] = of_searches!["phase_took", "cancel_after_time_interval"];

/// Several searches together take.
pub(super) const OF_SEVERAL: &[&str] = &[
    "ccs_minimize_roundtrips",
    "max_concurrent_searches",
    "rest_total_hits_as_int",
    "routing",
    "search_type",
    "typed_keys",
];

/// What several searches take for each of them.
pub(super) const OF_EACH: &[&str] = &[
    "cancel_after_time_interval",
    "max_concurrent_shard_requests",
    "pre_filter_shard_size",
];

/// An asynchronous search takes.
pub(super) const ASYNCHRONOUS_SEARCH: &[&str] = of_searches![
    "wait_for_completion_timeout",
    "keep_on_completion",
    "keep_alive"
];
