//! What a field's mapping would say if it said everything: `include_defaults` of the mapping API.

use serde_json::{Map, Value, json};

/// The mapping with the parameters that it leaves out, as they are then.
pub(crate) fn filled(mapping: &Value) -> Value {
    let type_name = mapping
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let mut shown = Map::new();
    let mut add = |more: Value| {
        if let Value::Object(more) = more {
            shown.extend(more);
        }
    };
    add(json!({"type": type_name, "boost": 1.0, "index": true, "store": false}));
    add(of_type(type_name));
    if let Value::Object(own) = mapping {
        shown.extend(own.clone());
    }
    Value::Object(shown)
}

fn of_type(type_name: &str) -> Value {
    match type_name {
        "text" | "match_only_text" => json!({
            "similarity": "BM25", "eager_global_ordinals": false, "fielddata": false,
            "index_options": "positions", "index_phrases": false, "index_prefixes": null,
            "norms": true, "term_vector": "no", "analyzer": "default",
            "search_analyzer": "default", "search_quote_analyzer": "default",
            "position_increment_gap": -1, "fielddata_frequency_filter": {
                "min": 0.0, "max": 2147483647.0, "min_segment_size": 0,
            },
        }),
        "keyword" | "wildcard" => json!({
            "doc_values": true, "similarity": "BM25", "eager_global_ordinals": false,
            "ignore_above": 2147483647, "index_options": "docs", "norms": false,
            "normalizer": "default", "null_value": null, "split_queries_on_whitespace": false,
        }),
        "long" | "integer" | "short" | "byte" | "double" | "float" | "half_float"
        | "scaled_float" | "unsigned_long" => json!({
            "doc_values": true, "coerce": true, "ignore_malformed": false, "null_value": null,
        }),
        "date" | "date_nanos" => json!({
            "doc_values": true, "format": clew_schema::DATE_FORMAT_DEFAULT, "locale": "",
            "ignore_malformed": false, "null_value": null,
        }),
        "boolean" => json!({"doc_values": true, "null_value": null}),
        "ip" => json!({"doc_values": true, "ignore_malformed": false, "null_value": null}),
        _ => json!({}),
    }
}
