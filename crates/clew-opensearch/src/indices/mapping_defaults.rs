//! What a field's mapping would say if it said everything: `include_defaults` of the mapping API.

use serde_json::{Map, Value, json};

/// The mapping with the parameters that it leaves out, as they are then; of its multi-fields, too.
pub(crate) fn filled(mapping: &Value) -> Value {
    let type_name = mapping
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let mut shown = match of_type(type_name) {
        Value::Object(usual) => usual,
        _ => Map::new(),
    };
    if let Value::Object(own) = mapping {
        shown.extend(own.clone());
    }
    // Queries go through what documents go through, unless it is said otherwise.
    for (key, own) in [
        ("search_analyzer", "analyzer"),
        ("search_quote_analyzer", "search_analyzer"),
    ] {
        if mapping.get(key).is_none()
            && shown.contains_key(key)
            && let Some(own) = shown.get(own).cloned()
        {
            shown.insert(key.to_string(), own);
        }
    }
    if let Some(Value::Object(multi_fields)) = shown.get_mut("fields") {
        for field in multi_fields.values_mut() {
            *field = filled(field);
        }
    }
    Value::Object(shown)
}

/// The parameters of a type; nothing of those that have none of their own.
fn of_type(type_name: &str) -> Value {
    match type_name {
        "text" | "match_only_text" => text(),
        "keyword" => json!({
            "boost": 1.0, "index": true, "store": false, "meta": {}, "doc_values": true,
            "similarity": null, "eager_global_ordinals": false, "ignore_above": 2147483647,
            "index_options": "docs", "norms": false, "normalizer": "default", "null_value": null,
            "split_queries_on_whitespace": false,
        }),
        "wildcard" => json!({
            "meta": {}, "doc_values": false, "ignore_above": 2147483647, "normalizer": "default",
            "null_value": null,
        }),
        "search_as_you_type" => json!({
            "index": true, "store": false, "meta": {}, "doc_values": false, "max_shingle_size": 3,
            "analyzer": "default", "search_analyzer": "default",
            "search_quote_analyzer": "default", "similarity": null, "index_options": "positions",
            "norms": true, "term_vector": "no",
        }),
        "long" | "integer" | "short" | "byte" | "double" | "float" | "half_float"
        | "scaled_float" | "unsigned_long" => json!({
            "index": true, "store": false, "meta": {}, "doc_values": true, "coerce": true,
            "ignore_malformed": false, "null_value": null,
        }),
        "token_count" => json!({
            "index": true, "store": false, "meta": {}, "doc_values": true, "null_value": null,
            "enable_position_increments": true,
        }),
        "date" | "date_nanos" => json!({
            "boost": 1.0, "index": true, "store": false, "meta": {}, "doc_values": true,
            "format": clew_schema::DATE_FORMAT_DEFAULT, "locale": "", "ignore_malformed": false,
            "null_value": null,
        }),
        "boolean" => json!({
            "boost": 1.0, "index": true, "store": false, "meta": {}, "doc_values": true,
            "null_value": null,
        }),
        "ip" => json!({
            "index": true, "store": false, "meta": {}, "doc_values": true,
            "ignore_malformed": false, "null_value": null,
        }),
        "integer_range" | "long_range" | "float_range" | "double_range" | "date_range"
        | "ip_range" => json!({
            "boost": 1.0, "index": true, "store": false, "meta": {}, "doc_values": true,
            "coerce": true, "ignore_malformed": false,
        }),
        "binary" => json!({"store": false, "meta": {}, "doc_values": false}),
        "completion" => json!({
            "analyzer": "simple", "search_analyzer": "simple", "preserve_separators": true,
            "preserve_position_increments": true, "max_input_length": 50, "meta": {},
        }),
        "rank_feature" | "rank_features" => json!({"positive_score_impact": true, "meta": {}}),
        "percolator" => json!({"meta": {}}),
        "flat_object" => json!({
            "boost": 1.0, "index": true, "store": false, "meta": {}, "doc_values": true,
        }),
        "geo_point" => json!({
            "boost": 1.0, "index": true, "store": false, "meta": {}, "doc_values": true,
            "ignore_malformed": false, "ignore_z_value": true, "null_value": null,
        }),
        "geo_shape" => json!({
            "boost": 1.0, "index": true, "store": false, "meta": {}, "doc_values": true,
            "ignore_malformed": false, "ignore_z_value": true, "coerce": false,
            "orientation": "RIGHT",
        }),
        _ => json!({}),
    }
}

fn text() -> Value {
    json!({
        "boost": 1.0, "index": true, "store": false, "meta": {}, "similarity": null,
        "eager_global_ordinals": false, "fielddata": false, "index_options": "positions",
        "index_phrases": false, "index_prefixes": null, "norms": true, "term_vector": "no",
        "analyzer": "default", "search_analyzer": "default", "search_quote_analyzer": "default",
        "position_increment_gap": -1, "fielddata_frequency_filter": {
            "min": 0.0, "max": 2147483647.0, "min_segment_size": 0,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_their_multi_fields_have_what_their_types_have_and_no_more() {
        let raw = json!({"type": "keyword", "ignore_above": 10});
        let shown = filled(&json!({"type": "text", "analyzer": "simple", "fields": {"raw": raw}}));
        for key in ["analyzer", "search_analyzer", "search_quote_analyzer"] {
            assert_eq!(shown[key], "simple", "{key}");
        }
        assert_eq!(shown["boost"], 1.0);
        assert_eq!(shown["fields"]["raw"]["ignore_above"], 10);
        assert_eq!(shown["fields"]["raw"]["index_options"], "docs");
        let number = filled(&json!({"type": "integer"}));
        assert_eq!(number["coerce"], true);
        assert_eq!(number.get("boost"), None);
        let alias = json!({"type": "alias", "path": "n"});
        assert_eq!(filled(&alias), alias);
    }
}
