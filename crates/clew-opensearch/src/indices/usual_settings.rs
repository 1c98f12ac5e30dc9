//! What the settings of an index are that nobody gave: `include_defaults`. They are those that are acted on, with the
//! values in force, and those that clients of OpenSearch look for and that hold here as OpenSearch has them. What tells of
//! Lucene's files and merges alone is left out: nothing here is so.

use std::collections::BTreeMap;
use std::time::Duration;

use clew_engine::{Block, Index, IndexSettings, TranslogDurability};

use crate::indices::analyze::{TOKENS_MAX, TOKENS_MAX_SETTING, part_limits};
use crate::indices::settings::{BLOCKS, ROUTING_SLOTS, SPACE_TYPE};
use crate::search::usual_limits;
use crate::state::slow_log;

/// Values that no type has, because nothing but their being given changes what an index does.
const PLAIN: [(&str, &str); 24] = [
    ("index.auto_expand_replicas", "false"),
    ("index.codec", "default"),
    ("index.default_pipeline", "_none"),
    ("index.final_pipeline", "_none"),
    ("index.format", "0"),
    ("index.knn", "false"),
    (SPACE_TYPE, "l2"),
    ("index.mapper.dynamic", "true"),
    ("index.priority", "1"),
    ("index.queries.cache.enabled", "true"),
    ("index.query.default_field", "[\"*\"]"),
    ("index.query.parse.allow_unmapped_fields", "true"),
    ("index.query_string.lenient", "false"),
    ("index.requests.cache.enable", "true"),
    ("index.routing.allocation.enable", "all"),
    ("index.routing.allocation.total_shards_per_node", "-1"),
    ("index.routing.rebalance.enable", "all"),
    ("index.routing_partition_size", "1"),
    ("index.search.default_pipeline", "_none"),
    ("index.sort.field", "[]"),
    ("index.sort.missing", "[]"),
    ("index.sort.mode", "[]"),
    ("index.sort.order", "[]"),
    ("index.write.wait_for_active_shards", "1"),
];

/// The settings that nobody gave this index, flat, in order.
pub(super) fn unset(index: &Index) -> BTreeMap<String, String> {
    let settings = index.settings();
    let blocks = index.blocks();
    let is_given = |name: &str| {
        let block = name.strip_prefix(BLOCKS);
        let is_set = |set: &Block| block == Some(set.name());
        settings.given.contains_key(name) || blocks.iter().any(is_set)
    };
    all(&settings).filter(|(name, _)| !is_given(name)).collect()
}

/// All settings that are told of, with the values that are in force.
fn all(settings: &IndexSettings) -> impl Iterator<Item = (String, String)> {
    let named = |(name, value): (&str, String)| (name.to_string(), value);
    let plain = PLAIN.map(|(name, value)| (name.to_string(), value.to_string()));
    let bounds = usual_limits().map(|(name, value)| (name.to_string(), value.to_string()));
    let blocks = Block::ALL.map(|block| (format!("{BLOCKS}{}", block.name()), "false".to_string()));
    typed(settings)
        .into_iter()
        .map(named)
        .chain(plain)
        .chain(bounds)
        .chain(blocks)
        .chain(slow_log::usual())
}

/// Those that have a place of their own among the settings.
fn typed(settings: &IndexSettings) -> Vec<(&'static str, String)> {
    let refresh = settings.refresh_interval;
    let durability = match settings.durability {
        TranslogDurability::Request => "REQUEST",
        TranslogDurability::Async => "ASYNC",
    };
    let mapping = &settings.mapping_limits;
    let parts = part_limits(&settings.given);
    let slots = settings.routing_slots.unwrap_or(settings.shards);
    let refresh = refresh.map_or("-1".to_string(), shown_time);
    let flush = shown_bytes(settings.flush_threshold_bytes);
    let malformed = mapping.ignores_malformed;
    vec![
        ("index.refresh_interval", refresh),
        (
            "index.max_result_window",
            settings.max_result_window.to_string(),
        ),
        ("index.translog.durability", durability.to_string()),
        (
            "index.translog.sync_interval",
            shown_time(settings.sync_interval),
        ),
        ("index.translog.flush_threshold_size", flush),
        (
            "index.knn.algo_param.ef_search",
            settings.ef_search.to_string(),
        ),
        ("index.hidden", settings.hidden.to_string()),
        (ROUTING_SLOTS, slots.to_string()),
        (TOKENS_MAX_SETTING, TOKENS_MAX.to_string()),
        ("index.max_ngram_diff", parts.ngram_diff.to_string()),
        ("index.max_shingle_diff", parts.shingle_diff.to_string()),
        ("index.mapping.ignore_malformed", malformed.to_string()),
        (
            "index.mapping.total_fields.limit",
            mapping.fields_max.to_string(),
        ),
        ("index.mapping.depth.limit", mapping.depth_max.to_string()),
        (
            "index.mapping.nested_fields.limit",
            mapping.nested_fields_max.to_string(),
        ),
        (
            "index.mapping.nested_objects.limit",
            mapping.nested_objects_max.to_string(),
        ),
        (
            "index.mapping.field_name_length.limit",
            mapping.name_chars_max.to_string(),
        ),
    ]
}

/// A time in the largest unit that shows it whole.
fn shown_time(time: Duration) -> String {
    let millis = time.as_millis();
    let units = [
        (86_400_000, "d"),
        (3_600_000, "h"),
        (60_000, "m"),
        (1000, "s"),
    ];
    let whole = |(size, _): &&(u128, &str)| millis > 0 && millis.is_multiple_of(*size);
    match units.iter().find(whole) {
        Some((size, unit)) => format!("{}{unit}", millis / size),
        None => format!("{millis}ms"),
    }
}

/// A size in the largest unit that shows it whole.
fn shown_bytes(bytes: u64) -> String {
    let units = [
        (1 << 40, "tb"),
        (1 << 30, "gb"),
        (1 << 20, "mb"),
        (1 << 10, "kb"),
    ];
    let whole = |(size, _): &&(u64, &str)| bytes > 0 && bytes.is_multiple_of(*size);
    match units.iter().find(whole) {
        Some((size, unit)) => format!("{}{unit}", bytes / size),
        None => format!("{bytes}b"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_shown_whole() {
        for (millis, want) in [(1000, "1s"), (1500, "1500ms"), (120_000, "2m"), (0, "0ms")] {
            assert_eq!(shown_time(Duration::from_millis(millis)), want);
        }
        for (bytes, want) in [
            (512 << 20, "512mb"),
            (1025, "1025b"),
            (0, "0b"),
            (1 << 30, "1gb"),
        ] {
            assert_eq!(shown_bytes(bytes), want);
        }
    }

    #[test]
    fn limits_of_searches_and_mappings_are_told_where_nobody_gave_them() {
        let told: BTreeMap<String, String> = all(&IndexSettings::default()).collect();
        for (name, want) in [
            ("index.max_terms_count", "65536"),
            ("index.max_inner_result_window", "100"),
            ("index.mapping.total_fields.limit", "1000"),
            ("index.blocks.write", "false"),
            ("index.default_pipeline", "_none"),
            ("index.query.default_field", "[\"*\"]"),
        ] {
            assert_eq!(told.get(name).map(String::as_str), Some(want), "{name}");
        }
    }
}
