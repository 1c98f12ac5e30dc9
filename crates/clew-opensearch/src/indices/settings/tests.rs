use super::*;
use crate::http::setting_values::unflatten;
use serde_json::json;

fn parsed(settings: Value) -> Result<IndexSettings, ApiError> {
    create(&flatten(settings.as_object().unwrap()).unwrap())
}

#[test]
fn every_way_of_writing_a_setting_means_the_same() {
    for settings in [
        json!({"index": {"number_of_shards": 3, "translog": {"durability": "ASYNC"}}}),
        json!({"number_of_shards": "3", "translog.durability": "async"}),
        json!({"index.number_of_shards": 3, "index": {"translog.durability": "async"}}),
    ] {
        let settings = parsed(settings).unwrap();
        assert_eq!(settings.shards, 3);
        assert_eq!(settings.durability, TranslogDurability::Async);
        assert_eq!(settings.given["index.number_of_shards"], "3");
    }
}

#[test]
fn a_vector_workload_is_understood_and_shown_again() {
    let settings = parsed(json!({"index": {
            "replication": {"type": "DOCUMENT"}, "refresh_interval": "0s",
            "number_of_shards": "18",
            "translog": {"flush_threshold_size": "1gb", "sync_interval": "30s",
                         "durability": "async"},
            "knn.algo_param": {"ef_search": "64"}, "provided_name": "msmarco", "knn": "true",
            "number_of_replicas": "0"}}))
    .unwrap();
    assert_eq!(settings.shards, 18);
    assert_eq!(settings.refresh_interval, None);
    assert_eq!(settings.flush_threshold_bytes, 1 << 30);
    assert_eq!(settings.sync_interval, Duration::from_secs(30));
    assert_eq!(settings.ef_search, 64);
    let given = settings.given.iter().map(|(k, v)| (k.as_str(), v.as_str()));
    let shown = Value::Object(unflatten(given));
    assert_eq!(shown["index"]["replication"]["type"], "DOCUMENT");
    assert_eq!(shown["index"]["knn"], "true");
    assert_eq!(shown["index"]["knn.algo_param"]["ef_search"], "64");
}

#[test]
fn values_out_of_bounds_are_refused() {
    for settings in [
        json!({"number_of_shards": 0}),
        json!({"number_of_shards": 1025}),
        json!({"number_of_shards": "many"}),
        json!({"refresh_interval": "1x"}),
        json!({"translog.durability": "never"}),
        json!({"translog.sync_interval": "1ms"}),
        json!({"translog.flush_threshold_size": "1"}),
        json!({"max_result_window": 0}),
        json!({"mapping.depth.limit": 0}),
        json!({"mapping.nested_fields.limit": "few"}),
        json!({"number_of_shards": 4, "number_of_routing_shards": 2}),
        json!({"number_of_shards": 4, "number_of_routing_shards": 6}),
        json!({"refresh_interval": "99999999999999999d"}),
    ] {
        let text = settings.to_string();
        assert!(parsed(settings).is_err(), "{text}");
    }
}

#[test]
fn null_brings_the_default_back_and_shards_never_change() {
    let current = parsed(json!({"refresh_interval": "30s", "x.y": 1})).unwrap();
    let flat = flatten(json!({"refresh_interval": null}).as_object().unwrap()).unwrap();
    let updated = update(&current, &flat, "i", "u").unwrap();
    assert_eq!(
        updated.refresh_interval,
        IndexSettings::default().refresh_interval
    );
    assert_eq!(updated.given.get("index.refresh_interval"), None);
    assert_eq!(updated.given["index.x.y"], "1");
    for fixed in ["number_of_shards", "number_of_routing_shards"] {
        let flat = flatten(json!({fixed: 2}).as_object().unwrap()).unwrap();
        assert!(update(&current, &flat, "i", "u").is_err(), "{fixed}");
    }
}

#[test]
fn settings_of_before_they_were_typed_mean_what_they_did() {
    let words = [
        ("index.hidden", "true"),
        ("index.merge.reorder", "true"),
        ("index.number_of_routing_shards", "8"),
        ("index.mapping.depth.limit", "7"),
        ("index.mapping.nested_fields.limit", "many"),
        ("index.clew.data_stream", "logs"),
        ("index.blocks.write", "true"),
        ("index.priority", "5"),
    ];
    let given = words.map(|(name, text)| (name.to_string(), text.to_string()));
    let mut settings = IndexSettings {
        blocks: vec![Block::Write],
        given: given.into(),
        ..IndexSettings::default()
    };
    read_untyped(&mut settings);
    assert!(settings.hidden);
    assert_eq!(settings.merge_order, MergeOrder::Similar);
    assert_eq!(settings.routing_slots, Some(8));
    let limits = settings.mapping_limits;
    let usual = MappingLimits::default();
    assert_eq!(limits.depth_max, 7);
    assert_eq!(limits.nested_fields_max, usual.nested_fields_max);
    assert_eq!(settings.data_stream.as_deref(), Some("logs"));
    assert_eq!(settings.blocks, [Block::Write]);
    assert_eq!(settings.given["index.priority"], "5");
    assert!(!settings.given.contains_key("index.clew.data_stream"));
}
