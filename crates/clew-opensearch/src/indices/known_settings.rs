//! Which settings of indexes there are: a name that is mistyped must not pass for a setting that holds. What of these
//! is acted on is said in `settings`; the others are OpenSearch's own, kept and shown again because clients that were
//! made for it send them.

use serde_json::Value;

use crate::http::error::ApiError;
use crate::http::setting_values::Flat;
use crate::http::suggestion::close_names;
use crate::indices::kept_values;

/// Names at this similarity or above are worth proposing.
const CLOSE: f32 = 0.7;

/// Settings that can change while the index is open.
const DYNAMIC: &[&str] = &[
    "index.aggregation.streaming.max_estimated_bucket_count",
    "index.aggregation.streaming.min_cardinality_ratio",
    "index.aggregation.streaming.min_estimated_bucket_count",
    "index.aggregation.streaming.min_segment_size",
    "index.allocation.max_retries",
    "index.analyze.max_token_count",
    "index.auto_expand_replicas",
    "index.auto_expand_search_replicas",
    "index.auto_force_merge.enabled",
    "index.blocks.metadata",
    "index.blocks.read",
    "index.blocks.read_only",
    "index.blocks.read_only_allow_delete",
    "index.blocks.search_only",
    "index.blocks.write",
    "index.bulk.adaptive_shard_selection.enabled",
    "index.check_pending_flush.enabled",
    "index.compound_format",
    "index.default_pipeline",
    "index.derived_source.translog.enabled",
    "index.final_pipeline",
    "index.flush_after_merge",
    "index.gc_deletes",
    "index.hidden",
    "index.highlight.max_analyzed_offset",
    "index.indexing.slowlog.level",
    "index.indexing.slowlog.reformat",
    "index.indexing.slowlog.source",
    "index.indexing.slowlog.threshold.index.debug",
    "index.indexing.slowlog.threshold.index.info",
    "index.indexing.slowlog.threshold.index.trace",
    "index.indexing.slowlog.threshold.index.warn",
    "index.knn.advanced.approximate_threshold",
    "index.knn.advanced.filtered_exact_search_threshold",
    "index.knn.algo_param.ef_search",
    "index.knn.disk.vector.shard_level_rescoring_disabled",
    "index.knn.faiss.efficient_filter.disable_exact_search",
    "index.knn.memory_optimized_search",
    "index.knn.remote_index_build.enabled",
    "index.knn.remote_index_build.size.min",
    "index.knn.remote_index_build.size_threshold",
    "index.mapper.dynamic",
    "index.mapping.depth.limit",
    "index.mapping.dimension_fields.limit",
    "index.mapping.field_name_length.limit",
    "index.mapping.nested_fields.limit",
    "index.mapping.nested_objects.limit",
    "index.mapping.total_fields.limit",
    "index.max_adjacency_matrix_filters",
    "index.max_docvalue_fields_search",
    "index.max_inner_result_window",
    "index.max_nested_query_depth",
    "index.max_ngram_diff",
    "index.max_refresh_listeners",
    "index.max_regex_length",
    "index.max_rescore_window",
    "index.max_result_window",
    "index.max_script_fields",
    "index.max_shingle_diff",
    "index.max_slices_per_pit",
    "index.max_slices_per_scroll",
    "index.max_terms_count",
    "index.merge.log_byte_size_policy.max_merge_segment",
    "index.merge.log_byte_size_policy.max_merge_segment_forced_merge",
    "index.merge.log_byte_size_policy.max_merged_docs",
    "index.merge.log_byte_size_policy.merge_factor",
    "index.merge.log_byte_size_policy.min_merge",
    "index.merge.log_byte_size_policy.no_cfs_ratio",
    "index.merge.policy.deletes_pct_allowed",
    "index.merge.policy.expunge_deletes_allowed",
    "index.merge.policy.floor_segment",
    "index.merge.policy.max_merge_at_once",
    "index.merge.policy.max_merge_at_once_explicit",
    "index.merge.policy.max_merged_segment",
    "index.merge.policy.reclaim_deletes_weight",
    "index.merge.policy.segments_per_tier",
    "index.merge.reorder",
    "index.merge.scheduler.auto_throttle",
    "index.merge.scheduler.max_force_merge_mb_per_sec",
    "index.merge.scheduler.max_merge_count",
    "index.merge.scheduler.max_thread_count",
    "index.merge_on_flush.enabled",
    "index.merge_on_flush.max_full_flush_merge_wait_time",
    "index.merge_on_flush.policy",
    "index.number_of_replicas",
    "index.number_of_search_only_replicas",
    "index.number_of_search_replicas",
    "index.optimize_auto_generated_id",
    "index.optimize_doc_id_lookup.fuzzy_set.enabled",
    "index.optimize_doc_id_lookup.fuzzy_set.false_positive_probability",
    "index.periodic_flush_interval",
    "index.priority",
    "index.query.default_field",
    "index.query.derived_field.enabled",
    "index.query.max_nested_depth",
    "index.refresh_interval",
    "index.remote_store.translog.buffer_interval",
    "index.remote_store.translog.keep_extra_gen",
    "index.requests.cache.enable",
    "index.routing.allocation.enable",
    "index.routing.allocation.total_primary_shards_per_node",
    "index.routing.allocation.total_remote_capable_primary_shards_per_node",
    "index.routing.allocation.total_remote_capable_shards_per_node",
    "index.routing.allocation.total_shards_per_node",
    "index.routing.rebalance.enable",
    "index.search.concurrent.max_slice_count",
    "index.search.concurrent_segment_search.enabled",
    "index.search.concurrent_segment_search.mode",
    "index.search.default_pipeline",
    "index.search.idle.after",
    "index.search.slowlog.level",
    "index.search.slowlog.threshold.fetch.debug",
    "index.search.slowlog.threshold.fetch.info",
    "index.search.slowlog.threshold.fetch.trace",
    "index.search.slowlog.threshold.fetch.warn",
    "index.search.slowlog.threshold.query.debug",
    "index.search.slowlog.threshold.query.info",
    "index.search.slowlog.threshold.query.trace",
    "index.search.slowlog.threshold.query.warn",
    "index.search.star_tree_index.enabled",
    "index.search.throttled",
    "index.soft_deletes.retention.operations",
    "index.soft_deletes.retention_lease.period",
    "index.translog.durability",
    "index.translog.flush_threshold_size",
    "index.translog.generation_threshold_size",
    "index.translog.read_forward",
    "index.translog.retention.age",
    "index.translog.retention.size",
    "index.translog.sync_interval",
    "index.unassigned.node_left.delayed_timeout",
    "index.unreferenced_file_cleanup.enabled",
    "index.verified_before_close",
    "index.warmer.enabled",
    "index.write.wait_for_active_shards",
];

/// Settings that an index is created with, or that can change while it is closed.
const FIXED: &[&str] = &[
    "index.allocation.existing_shards_allocator",
    "index.append_only.enabled",
    "index.codec",
    "index.codec.compression_level",
    "index.codec.qatmode",
    "index.composite_index",
    "index.composite_index.max_fields",
    "index.composite_store.type",
    "index.context.created_version",
    "index.context.current_version",
    "index.context_aware.enabled",
    "index.context_aware.max_retry_on_lookup_map_acquisition_exception",
    "index.correlation",
    "index.data_path",
    "index.derived_source.enabled",
    "index.fielddata.cache",
    "index.force_memory_term_dictionary",
    "index.format",
    "index.knn",
    "index.knn.algo_param.ef_construction",
    "index.knn.algo_param.m",
    "index.knn.derived_source.enabled",
    super::settings::SPACE_TYPE,
    "index.load_fixed_bitset_filters_eagerly",
    "index.lock.lock_factor",
    "index.mapping.coerce",
    "index.mapping.ignore_malformed",
    "index.merge.enabled",
    "index.merge.policy",
    "index.number_of_routing_shards",
    "index.number_of_shards",
    "index.percolator.map_unmapped_fields_as_text",
    "index.queries.cache.enabled",
    "index.query.parse.allow_unmapped_fields",
    "index.query_string.lenient",
    "index.recovery.type",
    "index.replication.type",
    "index.resize.source.name",
    "index.resize.source.uuid",
    "index.routing_partition_size",
    "index.shard.check_on_startup",
    "index.soft_deletes.enabled",
    "index.sort.field",
    "index.sort.missing",
    "index.sort.mode",
    "index.sort.order",
    "index.sparse",
    "index.store.data_locality",
    "index.store.factory",
    "index.store.fs.fs_lock",
    "index.store.hybrid.mmap.extensions",
    "index.store.hybrid.nio.extensions",
    "index.store.preload",
    "index.store.stats_refresh_interval",
    "index.store.type",
    "index.use_compound_file",
    "index.warm",
];

/// Before settings whose other half somebody chooses, or that belong to a part that answers for them itself.
const DYNAMIC_GROUPS: &[&str] = &[
    "index.neural_search.",
    "index.opendistro.",
    "index.plugins.",
    "index.routing.allocation.exclude.",
    "index.routing.allocation.include.",
    "index.routing.allocation.initial_recovery.",
    "index.routing.allocation.require.",
    "index.segment_replication.",
    "index.uuid",
    "index.creation_date",
    "index.history.uuid",
    "index.provided_name",
    "index.version.",
    super::settings::PRIVATE,
];

/// The same of settings that an open index keeps.
const FIXED_GROUPS: &[&str] = &[
    "index.analysis.",
    "index.composite_index.star_tree.",
    "index.remote_store.",
    "index.searchable_snapshot.",
    "index.store.crypto.",
    super::settings::SIMILARITY,
];

/// Settings that an index has of itself, beside those of its version.
const MANAGED: [&str; 4] = [
    "index.uuid",
    "index.creation_date",
    "index.history.uuid",
    "index.provided_name",
];

/// Settings that an index keeps for good, beside those of its order.
const FINAL: [&str; 4] = [
    "index.number_of_shards",
    "index.number_of_routing_shards",
    "index.routing_partition_size",
    "index.soft_deletes.enabled",
];

/// Refuses settings of an index that there are not, and values that those which are only kept cannot have.
///
/// # Errors
/// The first of them, in the words of OpenSearch, with names that are close to it.
pub(crate) fn check(settings: &Flat) -> Result<(), ApiError> {
    match settings.keys().find(|name| !is_known(name)) {
        Some(name) => Err(ApiError::illegal_argument(unknown(name))),
        None => kept_values::check(settings),
    }
}

/// The same of the settings that a part of templates keeps, and of what is acted on in them.
///
/// # Errors
/// As [`check`].
pub(crate) fn check_component(settings: Option<&Value>) -> Result<(), ApiError> {
    check_kept(&kept(settings))
}

/// The same of the settings that a template keeps, where the refusal names the template.
///
/// # Errors
/// As [`check`].
pub(crate) fn check_template(name: &str, settings: Option<&Value>) -> Result<(), ApiError> {
    let flat = kept(settings);
    check_names(name, &flat)?;
    check_kept(&flat).map_err(|error| refused(name, &[error.reason()]))
}

/// The same of settings as templates keep them.
fn check_kept(settings: &Flat) -> Result<(), ApiError> {
    check(settings)?;
    super::settings::create(settings).map(drop)
}

/// Refuses settings that there are not, all of them at once.
fn check_names(name: &str, settings: &Flat) -> Result<(), ApiError> {
    let names = settings.keys().filter(|setting| !is_known(setting));
    let reasons: Vec<String> = names.map(|setting| unknown(setting)).collect();
    match reasons.is_empty() {
        true => Ok(()),
        false => Err(refused(name, &reasons)),
    }
}

/// The refusal of a template.
fn refused(name: &str, reasons: &[String]) -> ApiError {
    let reasons = (1..).zip(reasons);
    let reasons: String = reasons
        .map(|(number, reason)| format!("{number}: {reason};"))
        .collect();
    let reason = format!("index_template [{name}] invalid, cause [Validation Failed: {reasons}]");
    ApiError::bad_request("invalid_index_template_exception", reason)
}

/// The settings of a template as it keeps them: flat, as texts.
fn kept(settings: Option<&Value>) -> Flat {
    let settings = settings.and_then(Value::as_object).into_iter().flatten();
    let settings = settings.map(|(name, value)| (name.clone(), value.as_str().map(String::from)));
    settings.collect()
}

/// Whether an index has the setting of itself.
pub(crate) fn is_managed(name: &str) -> bool {
    MANAGED.contains(&name) || name.starts_with("index.version.")
}

/// Whether an index keeps the setting for good.
pub(crate) fn is_final(name: &str) -> bool {
    FINAL.contains(&name) || name.starts_with("index.sort.")
}

/// Whether an index has to be closed before the setting can change.
pub(crate) fn is_fixed(name: &str) -> bool {
    let is_of_group = || FIXED_GROUPS.iter().any(|group| name.starts_with(group));
    FIXED.contains(&name) || is_of_group() && !DYNAMIC.contains(&name)
}

fn is_known(name: &str) -> bool {
    // A pattern takes away all settings that it fits.
    name.contains('*')
        || DYNAMIC.contains(&name)
        || is_fixed(name)
        || DYNAMIC_GROUPS.iter().any(|group| name.starts_with(group))
}

fn unknown(name: &str) -> String {
    let known: Vec<&str> = DYNAMIC.iter().chain(FIXED).copied().collect();
    let close = close_names(name, &known, CLOSE);
    match close.as_str() {
        "" => format!(
            "unknown setting [{name}] please check that any required plugins are installed, or check \
             the breaking changes documentation for removed settings"
        ),
        close => format!("unknown setting [{name}]{close}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(name: &str) -> Option<String> {
        let flat = Flat::from([(name.to_string(), Some("1".to_string()))]);
        check(&flat).err().map(|error| error.reason())
    }

    #[test]
    fn settings_that_there_are_not_are_refused_with_those_that_are_close() {
        for name in [
            "index.number_of_shards",
            "index.knn.algo_param.ef_search",
            "index.analysis.analyzer.mine.type",
            "index.similarity.mine.type",
            "index.routing.allocation.include._id",
            "index.plugins.index_state_management.policy_id",
            "index.number_of_search_replicas",
            "index.auto_expand_search_replicas",
            "index.neural_search.semantic_ingest_batch_size",
            "index.derived_source.translog.enabled",
            "index.store.crypto.key_provider",
            "index.blocks.*",
        ] {
            assert_eq!(refused(name), None, "{name}");
        }
        // These change while an index is open.
        assert!(!is_fixed("index.mapper.dynamic"));
        assert!(!is_fixed("index.optimize_auto_generated_id"));
        assert_eq!(
            refused("index.number_of_replica").as_deref(),
            Some(
                "unknown setting [index.number_of_replica] did you mean any of [index.number_of_replicas, index.number_of_search_replicas]?"
            )
        );
        let reason = refused("index.foo").unwrap_or_default();
        assert!(reason.starts_with("unknown setting [index.foo] please check"));
        assert!(refused("index.lifecycle.name").is_some());
        let reason = refused("index.knn.algo_param.ef_serch").unwrap_or_default();
        assert!(
            reason.contains("[index.knn.algo_param.ef_search"),
            "{reason}"
        );
    }

    #[test]
    fn templates_are_refused_by_their_names() {
        assert!(check_template("t", Some(&json!({"index.refresh_interval": "1s"}))).is_ok());
        let refused = check_template("t", Some(&json!({"index.foo.bar": "1"})));
        let reason = refused.map_err(|error| error.reason());
        let begin = "index_template [t] invalid, cause [Validation Failed: 1: unknown setting";
        assert!(reason.is_err_and(|reason| reason.starts_with(begin)));
    }

    #[test]
    fn every_setting_stands_in_one_list() {
        assert!(DYNAMIC.iter().all(|name| !is_fixed(name)));
    }
}
