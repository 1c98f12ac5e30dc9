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

/// What shows something takes.
pub(super) const READ: &[&str] = &[
    "wait_for_metadata_version",
    "wait_for_timeout",
    "wait_for_completion",
    "after_glsn",
    "allow_no_indices",
    "expand_wildcards",
    "ignore_unavailable",
    "ignore_throttled",
    "local",
    "flat_settings",
    "include_defaults",
    "include_type_name",
    "timeout",
    "name",
    "features",
    "master_timeout",
    "cluster_manager_timeout",
];

/// What changes indexes or the cluster takes.
pub(super) const ADMIN: &[&str] = &[
    "master_timeout",
    "cluster_manager_timeout",
    "timeout",
    "wait_for_active_shards",
    "include_type_name",
    "write_index_only",
    "preserve_existing",
    "allow_no_indices",
    "expand_wildcards",
    "ignore_unavailable",
    "ignore_throttled",
    "flat_settings",
    "include_defaults",
    "local",
    "wait_for_completion",
    "task_execution_timeout",
];

/// What keeps indexes in order takes.
pub(super) const MAINTENANCE: &[&str] = &[
    "allow_no_indices",
    "expand_wildcards",
    "ignore_unavailable",
    "ignore_throttled",
    "force",
    "wait_if_ongoing",
    "max_num_segments",
    "only_expunge_deletes",
    "flush",
    "wait_for_completion",
    "primary_only",
    "only_ancient_segments",
    "fielddata",
    "fields",
    "query",
    "request",
    "file",
];

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
pub(super) const SEARCH: &[&str] = of_searches![
    "max_concurrent_searches",
    "phase_took",
    "cancel_after_time_interval"
];

/// An asynchronous search takes.
pub(super) const ASYNCHRONOUS_SEARCH: &[&str] = of_searches![
    "wait_for_completion_timeout",
    "keep_on_completion",
    "keep_alive"
];
