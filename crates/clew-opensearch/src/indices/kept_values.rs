//! Which values settings of an index may have that it keeps as texts: what OpenSearch would refuse is not kept as if it held.

use crate::http::error::ApiError;
use crate::http::setting_kinds::{SettingKind, check_value};
use crate::http::setting_values::Flat;

use SettingKind::{Active, AtLeast, Bool, Bytes, Choice, Copies, Named, Time, Whole, Within, Word};

/// What these settings' values are.
const KINDS: &[(&str, SettingKind)] = &[
    ("index.allocation.max_retries", Whole(0)),
    ("index.analyze.max_token_count", Whole(1)),
    ("index.append_only.enabled", Bool),
    ("index.auto_expand_replicas", Copies),
    (
        "index.fielddata.cache",
        Named(
            &["node", "none"],
            ("failed to parse [", "] must be one of [node,none]"),
        ),
    ),
    ("index.gc_deletes", Time),
    ("index.hidden", Bool),
    ("index.highlight.max_analyzed_offset", Whole(1)),
    ("index.knn", Bool),
    ("index.load_fixed_bitset_filters_eagerly", Bool),
    ("index.max_adjacency_matrix_filters", Whole(2)),
    ("index.max_docvalue_fields_search", Whole(0)),
    ("index.max_inner_result_window", Whole(1)),
    ("index.max_ngram_diff", Whole(0)),
    ("index.max_refresh_listeners", Whole(0)),
    ("index.max_regex_length", Whole(1)),
    ("index.max_rescore_window", Whole(1)),
    ("index.max_script_fields", Whole(0)),
    ("index.max_shingle_diff", Whole(0)),
    ("index.max_slices_per_scroll", Whole(1)),
    ("index.max_terms_count", Whole(1)),
    (
        "index.merge.policy",
        Named(
            &["tiered", "log_byte_size", "default"],
            (
                "The setting has unsupported policy specified: ",
                ". Please use one of: tiered, log_byte_size, default",
            ),
        ),
    ),
    (
        "index.merge.policy.deletes_pct_allowed",
        Within("5.0", "50.0"),
    ),
    ("index.merge.policy.floor_segment", Bytes),
    ("index.merge.policy.max_merged_segment", Bytes),
    ("index.merge.policy.segments_per_tier", Within("2.0", "")),
    ("index.merge.scheduler.auto_throttle", Bool),
    ("index.merge.scheduler.max_thread_count", Whole(1)),
    ("index.percolator.map_unmapped_fields_as_text", Bool),
    ("index.priority", Whole(0)),
    ("index.queries.cache.enabled", Bool),
    ("index.query.max_nested_depth", Whole(1)),
    (
        "index.replication.type",
        Named(
            &["DOCUMENT", "SEGMENT"],
            ("Could not parse ReplicationStrategy for [", "]"),
        ),
    ),
    ("index.requests.cache.enable", Bool),
    (
        "index.routing.allocation.enable",
        Word(
            "allocation.enable",
            &["all", "primaries", "new_primaries", "none"],
        ),
    ),
    (
        "index.routing.rebalance.enable",
        Word(
            "rebalance.enable",
            &["all", "primaries", "replicas", "none"],
        ),
    ),
    ("index.routing_partition_size", Whole(1)),
    ("index.search.idle.after", Time),
    (
        "index.shard.check_on_startup",
        Choice(&["true", "false", "checksum"]),
    ),
    ("index.soft_deletes.enabled", Bool),
    ("index.soft_deletes.retention_lease.period", Time),
    (
        "index.store.type",
        Named(
            &[
                "",
                "fs",
                "niofs",
                "mmapfs",
                "simplefs",
                "hybridfs",
                "remote_snapshot",
            ],
            ("Unknown store type [", "]"),
        ),
    ),
    ("index.translog.flush_threshold_size", AtLeast(56)),
    ("index.unassigned.node_left.delayed_timeout", Time),
    ("index.warmer.enabled", Bool),
    ("index.write.wait_for_active_shards", Active),
];

/// Refuses values that settings cannot have.
///
/// # Errors
/// The first of them, in the words of OpenSearch.
pub(crate) fn check(settings: &Flat) -> Result<(), ApiError> {
    for (name, kind) in KINDS {
        if let Some(Some(text)) = settings.get(*name) {
            check_value(name, text, *kind)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, text: &str) -> Option<String> {
        let flat = Flat::from([(format!("index.{name}"), Some(text.to_string()))]);
        check(&flat).err().map(|error| error.reason())
    }

    #[test]
    fn values_that_settings_can_have_are_kept() {
        for (name, text) in [
            ("auto_expand_replicas", "0-all"),
            ("auto_expand_replicas", "0-1"),
            ("auto_expand_replicas", "false"),
            ("gc_deletes", "1h"),
            ("knn", "true"),
            ("max_ngram_diff", "0"),
            ("merge.policy.max_merged_segment", "1.5gb"),
            ("routing.allocation.enable", "all"),
            ("shard.check_on_startup", "checksum"),
            ("unassigned.node_left.delayed_timeout", "0"),
            ("merge.policy.segments_per_tier", "2.5"),
            ("replication.type", "SEGMENT"),
            ("store.type", "hybridfs"),
            ("translog.flush_threshold_size", "512mb"),
            ("write.wait_for_active_shards", "all"),
            ("no_setting", "x"),
        ] {
            assert_eq!(refused(name, text), None, "{name}: {text}");
        }
        let usual = Flat::from([("index.knn".to_string(), None)]);
        assert!(check(&usual).is_ok());
    }

    #[test]
    fn others_are_refused_in_the_words_of_opensearch() {
        #[rustfmt::skip]
        let rows = [
            ("max_ngram_diff", "x", "Failed to parse value [x] for setting [index.max_ngram_diff]"),
            ("max_adjacency_matrix_filters", "1", "Failed to parse value [1] for setting [index.max_adjacency_matrix_filters] must be >= 2"),
            ("knn", "1", "Failed to parse value [1] as only [true] or [false] are allowed."),
            ("gc_deletes", "x", "failed to parse setting [index.gc_deletes] with value [x] as a time value: unit is missing or unrecognized"),
            ("merge.policy.max_merged_segment", "1.5x", "failed to parse setting [index.merge.policy.max_merged_segment] with value [1.5x] as a size in bytes: unit is missing or unrecognized"),
            ("shard.check_on_startup", "x", "unknown value for [index.shard.check_on_startup] must be one of [true, false, checksum] but was: x"),
            ("routing.allocation.enable", "x", "Illegal allocation.enable value [X]"),
            ("fielddata.cache", "x", "failed to parse [x] must be one of [node,none]"),
            ("merge.policy", "x", "The setting has unsupported policy specified: x. Please use one of: tiered, log_byte_size, default"),
            ("merge.policy.segments_per_tier", "1", "Failed to parse value [1] for setting [index.merge.policy.segments_per_tier] must be >= 2.0"),
            ("merge.policy.deletes_pct_allowed", "60", "Failed to parse value [60] for setting [index.merge.policy.deletes_pct_allowed] must be <= 50.0"),
            ("merge.policy.deletes_pct_allowed", "x", "Failed to parse value [x] for setting [index.merge.policy.deletes_pct_allowed]"),
            ("replication.type", "x", "Could not parse ReplicationStrategy for [x]"),
            ("store.type", "x", "Unknown store type [x]"),
            ("translog.flush_threshold_size", "1b", "failed to parse value [1b] for setting [index.translog.flush_threshold_size], must be >= [56b]"),
            ("write.wait_for_active_shards", "x", "cannot parse ActiveShardCount[x]"),
            ("auto_expand_replicas", "all", "failed to parse [index.auto_expand_replicas] from value: [all] at index -1"),
            ("auto_expand_replicas", "0-x", "failed to parse [index.auto_expand_replicas] from value: [0-x] at index 1"),
            ("auto_expand_replicas", "1-0", "[index.auto_expand_replicas] minReplicas must be =< maxReplicas but wasn't 1 > 0"),
        ];
        for (name, text, reason) in rows {
            assert_eq!(refused(name, text).as_deref(), Some(reason));
        }
    }
}
