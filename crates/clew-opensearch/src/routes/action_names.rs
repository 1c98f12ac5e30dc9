//! What OpenSearch calls its endpoints where it counts them (`_nodes/usage`).

/// The name of what answers a path.
pub(super) fn action_name(endpoint: &str, path: &str) -> String {
    // Documents that are to get an id of their own are counted by themselves.
    if path == "/{index}/_doc" {
        return "document_create_action_auto_id".to_string();
    }
    let known = NAMES.iter().find(|(name, _)| *name == endpoint);
    match known {
        Some((_, action)) => (*action).to_string(),
        None => format!("{}_action", endpoint.replace("::", "_")),
    }
}

/// Endpoints, and what OpenSearch calls them. Those that it does not have are called by what answers them.
const NAMES: &[(&str, &str)] = &[
    ("aliases::get", "get_aliases_action"),
    ("aliases::update", "indices_aliases_action"),
    ("aliases::put", "index_put_alias_action"),
    ("aliases::delete", "index_delete_aliases_action"),
    ("cat::list", "cat_action"),
    ("cat::indices", "cat_indices_action"),
    ("cat::shards", "cat_shards_action"),
    ("cat::count", "cat_count_action"),
    ("cat::health", "cat_health_action"),
    ("cat::nodes", "cat_nodes_action"),
    ("cat::attributes", "cat_node_attrs_action"),
    ("cat::plugins", "cat_plugins_action"),
    ("cat::allocation", "cat_allocation_action"),
    ("cat::tasks", "cat_tasks_action"),
    ("cat::segments", "cat_segments_action"),
    ("cat::pit_segments", "cat_pit_segments_action"),
    ("cat::all_pit_segments", "cat_pit_segments_action"),
    ("cat::cluster_manager", "cat_cluster_manager_action"),
    ("cat::pending_tasks", "cat_pending_cluster_tasks_action"),
    ("cat::field_data", "cat_fielddata_action"),
    ("cat::thread_pool", "cat_threadpool_action"),
    ("cat::aliases", "cat_alias_action"),
    ("cat::templates", "cat_templates_action"),
    ("cat::recovery", "cat_recovery_action"),
    ("cat::segment_replication", "cat_segment_replication_action"),
    ("cat::repositories", "cat_repositories_action"),
    ("cat::snapshots", "cat_snapshot_action"),
    ("cat::list_help", "list_action"),
    ("cat::list_indices", "list_indices_action"),
    ("cat::list_shards", "list_shards_action"),
    ("root::info", "main_action"),
    ("whole::stats", "cluster_stats_action"),
    ("cluster_state::state", "cluster_state_action"),
    ("whole::workload_stats", "wlm_stats_action"),
    ("cluster_health::health", "cluster_health_action"),
    (
        "cluster_settings_endpoints::get",
        "cluster_get_settings_action",
    ),
    (
        "cluster_settings_endpoints::put",
        "cluster_update_settings_action",
    ),
    ("node_stats::stats", "nodes_stats_action"),
    ("nodes::info", "nodes_info_action"),
    ("nodes::usage", "nodes_usage_action"),
    ("nodes::reload_secure_settings", "nodes_reload_action"),
    ("hot_threads::get", "nodes_hot_threads_action"),
    ("knn_plugin::warmup", "knn_warmup_action"),
    ("knn_plugin::clear_cache", "knn_clear_cache_action"),
    ("knn_plugin::search_models", "knn_search_model_action"),
    ("knn_plugin::train", "knn_train_model_action"),
    ("knn_plugin::no_model", "knn_get_model_action"),
    ("knn_plugin::stats", "knn_stats_action"),
    ("allocation::explain", "cluster_allocation_explain_action"),
    ("allocation::reroute", "cluster_reroute_action"),
    ("voting::add", "add_voting_config_exclusions_action"),
    ("voting::clear", "clear_voting_config_exclusions_action"),
    ("whole::pending_tasks", "pending_cluster_tasks_action"),
    ("whole::remote_info", "remote_cluster_info_action"),
    ("whole::dangling", "list_dangling_indices_action"),
    ("task_endpoints::list", "list_tasks_action"),
    ("task_endpoints::get", "get_task_action"),
    ("task_endpoints::cancel", "cancel_tasks_action"),
    ("task_endpoints::rethrottle", "rethrottle_action"),
    ("resize::clone", "clone_index_action"),
    ("resize::shrink", "shrink_index_action"),
    ("resize::split", "split_index_action"),
    ("rollover::rollover", "rollover_index_action"),
    ("data_streams::create", "create_data_stream_action"),
    ("data_streams::get", "get_data_streams_action"),
    ("data_streams::delete", "delete_data_stream_action"),
    ("data_streams::stats", "data_stream_stats_action"),
    ("bulk::bulk", "bulk_action"),
    ("document_write::index", "document_index_action"),
    ("document_write::create", "document_create_action"),
    ("document_write::delete", "document_delete_action"),
    ("document_write::update", "document_update_action"),
    ("document::get", "document_get_action"),
    ("document::source", "document_get_source_action"),
    ("mget::mget", "document_mget_action"),
    ("by_query::delete", "delete_by_query_action"),
    ("by_query::update", "update_by_query_action"),
    ("by_query::reindex", "reindex_action"),
    ("index_admin::create", "create_index_action"),
    ("index_admin::delete", "delete_index_action"),
    ("index_admin::get", "get_indices_action"),
    ("index_admin::exists", "get_indices_action"),
    ("index_mapping::put", "put_mapping_action"),
    ("index_mapping::get", "get_mapping_action"),
    ("index_mapping::get_fields", "get_field_mapping_action"),
    ("index_settings::put", "update_settings_action"),
    ("index_settings::get", "get_settings_action"),
    ("index_state::open", "open_index_action"),
    ("index_state::close", "close_index_action"),
    ("index_state::add_block", "add_index_block_action"),
    ("resolve_index::get", "resolve_index_action"),
    ("shard_stores::get", "indices_shard_stores_action"),
    ("shard_stores::upgrade", "upgrade_action"),
    ("shard_stores::upgrade_status", "upgrade_status_action"),
    ("search_shards::get", "cluster_search_shards_action"),
    ("validate::validate", "validate_query_action"),
    ("validate::explain_hit", "explain_action"),
    ("analyze::analyze", "analyze_action"),
    ("term_vectors::one", "document_term_vectors_action"),
    ("term_vectors::many", "document_multi_term_vectors_action"),
    ("search::search_template", "search_template_action"),
    ("search::render_template", "render_search_template_action"),
    ("search::msearch_template", "multi_search_template_action"),
    ("maintenance::refresh", "refresh_action"),
    ("maintenance::flush", "flush_action"),
    ("maintenance::synced_flush", "synced_flush_action"),
    ("maintenance::clear_cache", "clear_indices_cache_action"),
    ("maintenance::force_merge", "force_merge_action"),
    ("stats::get", "indices_stats_action"),
    ("index_recovery::get", "recovery_action"),
    ("segments::get", "indices_segments_action"),
    ("search_pipeline::put", "search_put_pipeline_action"),
    ("search_pipeline::get", "search_get_pipeline_action"),
    ("search_pipeline::delete", "search_delete_pipeline_action"),
    ("scripts::put", "put_stored_script_action"),
    ("scripts::get", "get_stored_scripts_action"),
    ("scripts::delete", "delete_stored_script_action"),
    ("scripts::contexts", "script_context_action"),
    ("scripts::painless_contexts", "_scripts_painless_context"),
    ("scripts::languages", "script_language_action"),
    ("ingest::put", "ingest_put_pipeline_action"),
    ("ingest::get", "ingest_get_pipeline_action"),
    ("ingest::delete", "ingest_delete_pipeline_action"),
    ("ingest::simulate", "ingest_simulate_pipeline_action"),
    ("field_caps::field_caps", "field_capabilities_action"),
    ("search::search", "search_action"),
    ("search::msearch", "msearch_action"),
    ("search::count", "count_action"),
    ("search::rank_eval", "rank_eval_action"),
    ("search::next_page", "search_scroll_action"),
    ("search::clear_scroll", "clear_scroll_action"),
    ("search::create_pit", "create_pit_action"),
    ("search::list_pits", "get_all_pit_action"),
    ("search::delete_all_pits", "delete_pit_action"),
    ("search::delete_pit", "delete_pit_action"),
    ("snapshots::repository_get", "get_repositories_action"),
    ("snapshots::repository_put", "put_repository_action"),
    ("snapshots::repository_delete", "delete_repository_action"),
    ("snapshots::repository_verify", "verify_repository_action"),
    ("snapshots::repository_cleanup", "cleanup_repository_action"),
    ("snapshots::create", "create_snapshot_action"),
    ("snapshots::get", "get_snapshots_action"),
    ("snapshots::delete", "delete_snapshot_action"),
    ("snapshots::clone", "clone_snapshot_action"),
    ("snapshots::restore", "restore_snapshot_action"),
    ("snapshots::status", "snapshot_status_action"),
    ("templates::legacy_put", "put_index_template_action"),
    ("templates::legacy_get", "get_index_template_action"),
    ("templates::legacy_delete", "delete_index_template_action"),
    ("templates::component_put", "put_component_template_action"),
    ("templates::component_get", "get_component_template_action"),
    (
        "templates::component_delete",
        "delete_component_template_action",
    ),
    (
        "templates::index_put",
        "put_composable_index_template_action",
    ),
    (
        "templates::index_get",
        "get_composable_index_template_action",
    ),
    (
        "templates::index_delete",
        "delete_composable_index_template_action",
    ),
    (
        "templates::simulate_index",
        "simulate_index_template_action",
    ),
    ("templates::simulate_template", "simulate_template_action"),
    ("whole::remote_store_stats", "remote_store_stats"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::routes::own_groups;

    #[test]
    fn names_are_of_endpoints_that_there_are_and_stand_once() {
        let endpoints: BTreeSet<&str> = own_groups()
            .flat_map(|group| group.endpoints)
            .map(|endpoint| endpoint.name)
            .collect();
        let mut seen = BTreeSet::new();
        for (endpoint, _) in NAMES {
            assert!(endpoints.contains(endpoint), "{endpoint}");
            assert!(seen.insert(endpoint), "{endpoint}");
        }
        assert_eq!(action_name("search::search", "/_search"), "search_action");
        assert_eq!(
            action_name("recall::measure", "/{index}/_recall"),
            "recall_measure_action"
        );
        let of = |path| action_name("document_write::index", path);
        assert_ne!(of("/{index}/_doc"), of("/{index}/_doc/{id}"));
    }
}
