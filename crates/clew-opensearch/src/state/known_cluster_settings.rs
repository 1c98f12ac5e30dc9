//! Which settings of the whole cluster there are: a name that is mistyped must not pass for a setting that holds. What
//! of these is acted on is said in `cluster_settings`; the others are OpenSearch's own, kept and shown again because
//! clients that were made for it send them.

use crate::http::error::ApiError;
use crate::http::setting_kinds::{SettingKind as Kind, check_value};
use crate::state::cluster_settings::{Changes, Kept};

use Kind::{Any, Bool, Bytes, Rate, Time, Whole, Word};

/// Settings that can change while the cluster runs.
const DYNAMIC: &[(&str, Kind)] = &[
    ("action.auto_create_index", Any),
    ("action.destructive_requires_name", Bool),
    ("action.search.shard_count.limit", Whole(1)),
    ("cluster.allocator.gateway.batch_size", Whole(1)),
    ("cluster.application_templates.enabled", Bool),
    ("cluster.auto_shrink_voting_configuration", Bool),
    ("cluster.blocks.create_index", Bool),
    ("cluster.blocks.create_index.auto_release", Bool),
    ("cluster.blocks.read_only", Bool),
    ("cluster.blocks.read_only_allow_delete", Bool),
    ("cluster.default.index.refresh_interval", Time),
    ("cluster.default_number_of_replicas", Whole(0)),
    ("cluster.follower_lag.timeout", Time),
    ("cluster.fault_detection.follower_check.interval", Time),
    ("cluster.fault_detection.follower_check.timeout", Time),
    ("cluster.fault_detection.leader_check.interval", Time),
    ("cluster.fault_detection.leader_check.timeout", Time),
    ("cluster.filecache.remote_data_ratio", Any),
    ("cluster.ignore_dot_indexes", Bool),
    ("cluster.ignore_weighted_routing", Bool),
    ("cluster.index.restrict.replication.type", Bool),
    ("cluster.indices.close.enable", Bool),
    ("cluster.indices.tombstones.size", Whole(0)),
    ("cluster.info.update.interval", Any),
    ("cluster.info.update.timeout", Time),
    ("cluster.ingest.max_number_processors", Whole(1)),
    ("cluster.max_shards_per_node", Whole(1)),
    ("cluster.max_remote_capable_shards_per_node", Whole(-1)),
    ("cluster.max_voting_config_exclusions", Whole(1)),
    ("cluster.migration.direction", Any),
    ("cluster.minimum.index.refresh_interval", Time),
    ("cluster.milvus.request.slowlog.level", Any),
    ("cluster.milvus.request.slowlog.threshold.debug", Time),
    ("cluster.milvus.request.slowlog.threshold.info", Time),
    ("cluster.milvus.request.slowlog.threshold.trace", Time),
    ("cluster.milvus.request.slowlog.threshold.warn", Time),
    ("cluster.no_cluster_manager_block", Any),
    ("cluster.no_master_block", Any),
    (
        "cluster.persistent_tasks.allocation.enable",
        Word(
            "cluster.persistent_tasks.allocation.enable",
            &["all", "none"],
        ),
    ),
    ("cluster.persistent_tasks.allocation.recheck_interval", Time),
    ("cluster.publish.timeout", Time),
    ("cluster.remote_store.translog.buffer_interval", Time),
    ("cluster.remote_store.translog.max_readers", Whole(-1)),
    (
        "cluster.routing.allocation.allow_rebalance",
        Word(
            "allow_rebalance",
            &["always", "indices_primaries_active", "indices_all_active"],
        ),
    ),
    ("cluster.routing.allocation.awareness.attributes", Any),
    ("cluster.routing.allocation.awareness.balance", Bool),
    ("cluster.routing.allocation.balance.index", Any),
    ("cluster.routing.allocation.balance.prefer_primary", Bool),
    ("cluster.routing.allocation.balance.shard", Any),
    ("cluster.routing.allocation.balance.threshold", Any),
    (
        "cluster.routing.allocation.balanced_shards_allocator.allocator_timeout",
        Time,
    ),
    (
        "cluster.routing.allocation.cluster_concurrent_rebalance",
        Whole(-1),
    ),
    (
        "cluster.routing.allocation.cluster_concurrent_recoveries",
        Whole(-1),
    ),
    ("cluster.routing.allocation.disk.include_relocations", Bool),
    ("cluster.routing.allocation.disk.reroute_interval", Time),
    ("cluster.routing.allocation.disk.threshold_enabled", Any),
    (
        "cluster.routing.allocation.disk.watermark.enable_for_single_data_node",
        Bool,
    ),
    ("cluster.routing.allocation.disk.watermark.flood_stage", Any),
    ("cluster.routing.allocation.disk.watermark.high", Any),
    ("cluster.routing.allocation.disk.watermark.low", Any),
    (
        "cluster.routing.allocation.enable",
        Word(
            "allocation.enable",
            &["all", "primaries", "new_primaries", "none"],
        ),
    ),
    (
        "cluster.routing.allocation.existing_shards_allocator.batch_enabled",
        Bool,
    ),
    (
        "cluster.routing.allocation.load_awareness.allow_unassigned_primaries",
        Bool,
    ),
    (
        "cluster.routing.allocation.load_awareness.flat_skew",
        Whole(0),
    ),
    (
        "cluster.routing.allocation.load_awareness.provisioned_capacity",
        Whole(-1),
    ),
    ("cluster.routing.allocation.load_awareness.skew_factor", Any),
    ("cluster.routing.allocation.move.primary_first", Bool),
    (
        "cluster.routing.allocation.primary_constraint.threshold",
        Whole(0),
    ),
    (
        "cluster.routing.allocation.remote_primary.ignore_throttle",
        Bool,
    ),
    (
        "cluster.routing.allocation.node_concurrent_incoming_recoveries",
        Whole(0),
    ),
    (
        "cluster.routing.allocation.node_concurrent_outgoing_recoveries",
        Whole(0),
    ),
    (
        "cluster.routing.allocation.node_concurrent_recoveries",
        Whole(0),
    ),
    (
        "cluster.routing.allocation.node_initial_primaries_recoveries",
        Whole(0),
    ),
    (
        "cluster.routing.allocation.node_initial_replicas_recoveries",
        Whole(0),
    ),
    ("cluster.routing.allocation.rebalance.primary.buffer", Any),
    ("cluster.routing.allocation.rebalance.primary.enable", Bool),
    ("cluster.routing.allocation.same_shard.host", Bool),
    (
        "cluster.routing.allocation.shard_movement_strategy",
        Word(
            "ShardMovementStrategy",
            &["primary_first", "replica_first", "no_preference"],
        ),
    ),
    (
        "cluster.routing.allocation.shard_state.reroute.priority",
        Any,
    ),
    (
        "cluster.routing.allocation.shards_batch_gateway_allocator.batch_size",
        Whole(1),
    ),
    (
        "cluster.routing.allocation.shards_batch_gateway_allocator.primary_allocator_timeout",
        Time,
    ),
    (
        "cluster.routing.allocation.shards_batch_gateway_allocator.replica_allocator_timeout",
        Time,
    ),
    (
        "cluster.routing.allocation.total_primary_shards_per_node",
        Whole(-1),
    ),
    (
        "cluster.routing.allocation.total_remote_capable_primary_shards_per_node",
        Whole(-1),
    ),
    (
        "cluster.routing.allocation.total_remote_capable_shards_per_node",
        Whole(-1),
    ),
    (
        "cluster.routing.allocation.total_shards_per_node",
        Whole(-1),
    ),
    ("cluster.routing.allocation.total_shards_limit", Whole(-1)),
    ("cluster.routing.ignore_weighted_routing", Bool),
    (
        "cluster.routing.rebalance.enable",
        Word(
            "rebalance.enable",
            &["all", "primaries", "replicas", "none"],
        ),
    ),
    ("cluster.routing.search_only.strict", Bool),
    ("cluster.routing.search_replica.strict", Bool),
    ("cluster.routing.use_adaptive_replica_selection", Bool),
    ("cluster.routing.weighted.default_weight", Any),
    ("cluster.routing.weighted.fail_open", Bool),
    ("cluster.routing.weighted.strict", Bool),
    ("cluster.search.ignore_awareness_attributes", Bool),
    ("cluster.search.request.slowlog.level", Any),
    ("cluster.search.request.slowlog.threshold.debug", Time),
    ("cluster.search.request.slowlog.threshold.info", Time),
    ("cluster.search.request.slowlog.threshold.trace", Time),
    ("cluster.search.request.slowlog.threshold.warn", Time),
    (
        "cluster.service.slow_cluster_manager_task_logging_threshold",
        Time,
    ),
    ("cluster.service.slow_master_task_logging_threshold", Time),
    ("cluster.service.slow_task_logging_threshold", Time),
    ("cluster.snapshot.info.max_concurrent_fetches", Whole(1)),
    ("cluster.snapshot.async-deletion.enable", Bool),
    ("cluster.snapshot.shard.path.prefix", Any),
    ("cluster_manager.throttling.retry.base.delay", Time),
    ("cluster_manager.throttling.retry.max.delay", Time),
    ("compatibility.override_main_response_version", Bool),
    ("gateway.slow_write_logging_threshold", Time),
    ("indices.breaker.fielddata.limit", Any),
    ("indices.breaker.fielddata.overhead", Any),
    ("indices.breaker.request.limit", Any),
    ("indices.breaker.request.overhead", Any),
    ("indices.breaker.total.limit", Any),
    ("indices.cache.cleanup_interval", Time),
    ("indices.fielddata.cache.size", Any),
    ("indices.id_field_data.enabled", Bool),
    ("indices.mapping.dynamic_timeout", Time),
    ("indices.mapping.max_in_flight_updates", Whole(1)),
    ("indices.query.bool.max_clause_count", Whole(1)),
    ("indices.query.max_clause_count", Whole(1)),
    ("indices.recovery.chunk_size", Bytes),
    ("indices.recovery.internal_action_long_timeout", Time),
    ("indices.recovery.internal_action_retry_timeout", Time),
    ("indices.recovery.internal_action_timeout", Time),
    ("indices.recovery.internal_remote_upload_timeout", Time),
    ("indices.recovery.max_bytes_per_sec", Bytes),
    ("indices.recovery.max_concurrent_file_chunks", Whole(1)),
    ("indices.recovery.max_concurrent_operations", Whole(1)),
    (
        "indices.recovery.max_concurrent_remote_store_streams",
        Whole(1),
    ),
    ("indices.recovery.recovery_activity_timeout", Time),
    ("indices.recovery.retry_delay_network", Time),
    ("indices.recovery.retry_delay_state_sync", Time),
    ("indices.replication.initial_retry_backoff_bound", Time),
    ("indices.replication.max_bytes_per_sec", Bytes),
    ("indices.replication.retry_timeout", Time),
    ("indices.requests.cache.maximum_cacheable_size", Whole(0)),
    ("indices.requests.cache.size", Any),
    ("ingest.geoip.max_cache_size", Any),
    ("monitor.fs.health.enabled", Bool),
    ("monitor.fs.health.healthy_timeout_threshold", Time),
    ("monitor.fs.health.slow_path_logging_threshold", Time),
    ("network.breaker.inflight_requests.limit", Any),
    ("network.breaker.inflight_requests.overhead", Any),
    (
        "opensearch.notifications.general.filter_by_backend_roles",
        Bool,
    ),
    ("point_in_time.init.keep_alive", Time),
    ("point_in_time.max_keep_alive", Any),
    ("remote_store.moving_average_window_size", Whole(5)),
    ("script.cache.expire", Time),
    ("script.cache.max_size", Whole(0)),
    ("script.disable_max_compilations_rate", Bool),
    ("script.max_compilations_rate", Rate),
    ("script.max_size_in_bytes", Whole(0)),
    ("search.allow_expensive_queries", Any),
    ("search.cancel_after_time_interval", Any),
    ("search.concurrent.max_slice_count", Whole(0)),
    ("search.concurrent_segment_search.enabled", Bool),
    (
        "search.concurrent_segment_search.mode",
        Word("CONCURRENT_SEGMENT_SEARCH_MODE", &["auto", "all", "none"]),
    ),
    ("search.default_allow_partial_results", Bool),
    ("search.default_keep_alive", Time),
    ("search.default_search_timeout", Any),
    ("search.derived_field.enabled", Bool),
    (
        "search.dynamic_pruning.cardinality_aggregation.max_allowed_cardinality",
        Whole(0),
    ),
    ("search.keyword_index_or_doc_values_enabled", Bool),
    ("search.low_level_cancellation", Bool),
    ("search.max_aggregation_rewrite_filters", Whole(0)),
    ("search.max_buckets", Whole(0)),
    ("search.max_keep_alive", Any),
    ("search.max_open_pit_context", Whole(0)),
    ("search.max_open_scroll_context", Whole(0)),
    ("search.max_query_string_length", Whole(1)),
    ("search.max_query_string_length_monitor_only", Bool),
    ("search.phase_took_enabled", Bool),
    ("search.query.max_query_string_length", Whole(1)),
    ("search.request_stats_enabled", Bool),
    ("snapshot.max_concurrent_operations", Whole(1)),
    ("snapshot.max_shallow_delete_interval", Time),
    ("snapshot.max_shards_allowed_in_status_api", Whole(1)),
    ("snapshot.shallow_snapshot_cleanup.enabled", Bool),
    ("task_resource_consumers.enabled", Bool),
    ("task_resource_tracking.enabled", Bool),
    ("transport.slow_operation_logging_threshold", Time),
    ("transport.tracer.exclude", Any),
    ("transport.tracer.include", Any),
    ("http.tracer.exclude", Any),
    ("http.tracer.include", Any),
];

/// Before settings whose other half somebody chooses, or of which there are many, or that belong to a plugin or to a
/// part of Clew that answers for them itself.
const DYNAMIC_GROUPS: &[&str] = &[
    "admission_control.",
    "archived.",
    "asynchronous_search.",
    "cluster.auto_release.",
    "cluster.fault_detection.",
    "cluster.metadata.",
    "cluster.mappings.",
    "cluster.remote.",
    "cluster.remote_store.",
    "cluster.routing.allocation.awareness.force.",
    "cluster.routing.allocation.exclude.",
    "cluster.routing.allocation.include.",
    "cluster.routing.allocation.require.",
    "cluster.thread_pool.",
    "cluster_manager.throttling.thresholds.",
    "indexing_pressure.",
    "indices.composite_index.",
    "indices.requests.cache.",
    "indices.time_series_index.",
    "knn.",
    "logger.",
    "node.resource.tracker.",
    "opendistro.",
    "opendistro_",
    "opensearch.",
    "plugins.",
    "remote_store.",
    "repository.",
    "script.context.",
    "search.insights.",
    "search.pipeline.",
    "search.query.metrics.",
    "search.top_queries.",
    "search_backpressure.",
    "segrep.",
    "shard_indexing_pressure.",
    "task_cancellation.",
    "telemetry.",
    "wlm.",
];

/// Before settings that a node is started with.
const FIXED_GROUPS: &[&str] = &[
    "bootstrap.",
    "cache.recycler.",
    "cluster.election.",
    "cluster.initial_",
    "cluster.join.",
    "cluster.name",
    "cluster.nodes.reconnect_interval",
    "discovery.",
    "gateway.",
    "http.",
    "indices.breaker.",
    "indices.memory.",
    "indices.queries.cache.",
    "indices.replication.",
    "indices.store.",
    "ingest.grok.",
    "monitor.",
    "network.",
    "node.",
    "path.",
    "processors",
    "reindex.",
    "repositories.",
    "resource.reload.",
    "rest.action.multi.allow_explicit_index",
    "script.",
    "search.keep_alive_interval",
    "thread_pool.",
    "transport.",
];

/// Refuses changes of settings that there are not, that only a start of the node changes, and values that none of them
/// has. `of_kind` is `transient` or `persistent`. What is `kept` can always be taken away, whatever it is.
///
/// # Errors
/// The first of them, in the words of OpenSearch.
pub(crate) fn check(of_kind: &str, changes: &Changes, kept: &Kept) -> Result<(), ApiError> {
    for (name, text) in changes {
        let taken_away = text.is_none() && (kept.contains_key(name) || name.ends_with('*'));
        if taken_away {
            continue;
        }
        let Some(kind) = kind_of(name) else {
            let why = if is_fixed(name) {
                "not dynamically updateable"
            } else {
                "not recognized"
            };
            let reason = format!("{of_kind} setting [{name}], {why}");
            return Err(ApiError::illegal_argument(reason));
        };
        if let Some(text) = text {
            check_value(name, text.trim_matches('"'), kind)?;
        }
    }
    Ok(())
}

/// What the values of a setting have to be that can change.
fn kind_of(name: &str) -> Option<Kind> {
    let listed = DYNAMIC.iter().find(|(known, _)| *known == name);
    let of_group = || DYNAMIC_GROUPS.iter().any(|group| name.starts_with(group));
    match listed {
        Some((_, kind)) => Some(*kind),
        None => of_group().then_some(Any),
    }
}

fn is_fixed(name: &str) -> bool {
    FIXED_GROUPS.iter().any(|group| name.starts_with(group))
}

#[cfg(test)]
mod tests;
