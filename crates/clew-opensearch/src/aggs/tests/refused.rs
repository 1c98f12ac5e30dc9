//! Aggregations that are refused.

use super::*;

#[test]
fn what_is_wrong_with_a_value_is_within_the_setting_that_has_it() {
    let number = "number_format_exception";
    let illegal = "illegal_argument_exception";
    for (body, setting, within) in [
        (
            json!({"terms": {"field": "x", "size": "few"}}),
            "[terms] failed to parse field [size]",
            number,
        ),
        (
            json!({"terms": {"field": "x", "size": 0}}),
            "[terms] failed to parse field [size]",
            illegal,
        ),
        (
            json!({"histogram": {"field": "x", "interval": "wide"}}),
            "[histogram] failed to parse field [interval]",
            number,
        ),
        (
            json!({"date_histogram": {"field": "x", "calendar_interval": "2d"}}),
            "[date_histogram] failed to parse field [calendar_interval]",
            illegal,
        ),
        (
            json!({"percentiles": {"field": "x", "keyed": "maybe"}}),
            "[percentiles] failed to parse field [keyed]",
            illegal,
        ),
        (
            json!({"filter": {"bool": {"must": {"nope": {}}}}}),
            "[bool] failed to parse field [must]",
            "parsing_exception",
        ),
    ] {
        let told = ApiError::from(refusal(body)).cause();
        assert_eq!(told["type"], "x_content_parse_exception", "{told}");
        assert_eq!(told["reason"], setting);
        assert_eq!(told["caused_by"]["type"], within, "{told}");
    }
}

#[test]
fn a_model_refuses_settings_that_it_has_not() {
    for (model, settings, within) in [
        (
            "linear",
            json!({"pad": true, "type": "mult", "period": 2}),
            "Unrecognized parameter(s): [[pad, period, type]]",
        ),
        (
            "ewma",
            json!({"alpha": -1}),
            "Parameter [alpha] must be between 0-1 inclusive.  Providedvalue was [-1.0]",
        ),
        (
            "holt_winters",
            json!({"type": 5}),
            "Parameter [type] must be a String, type `Integer` provided instead",
        ),
        (
            "holt_winters",
            json!({"pad": "yes"}),
            "Parameter [pad] must be a boolean, type `String` provided instead",
        ),
    ] {
        let average = json!({"buckets_path": "m", "model": model, "minimize": true, "predict": 2, "settings": settings});
        let told = ApiError::from(refusal(json!({"moving_avg": average})));
        let body: Value = serde_json::from_slice(&told.body()).unwrap();
        let reason = format!("Could not parse settings for model [{model}].");
        assert_eq!(body["error"]["root_cause"][0]["reason"], reason.as_str());
        assert_eq!(
            body["error"]["caused_by"],
            json!({"type": "parse_exception", "reason": within})
        );
    }
    for (setting, reason) in [
        (
            json!({"predict": 0}),
            "[predict] value must be a positive integer.  Value supplied was [0] in [a].",
        ),
        (
            json!({"model": "holt_winters", "settings": {"period": 3}}),
            "Field [window] must be at least twice as large as the period when using Holt-Winters.  \
             Value provided was [5], which is less than (2*period) == 6",
        ),
    ] {
        let told = refusal(json!({"moving_avg": setting}));
        assert_eq!(told.reason, reason);
    }
}

#[test]
fn scripts_over_what_was_found_are_refused_when_it_is_put_together() {
    let named = json!({"buckets_path": {"a": "m"}, "script": "x +"});
    let window = json!({"buckets_path": "m", "window": 2, "script": "x +"});
    for (body, phase) in [
        (json!({"bucket_script": named}), json!("fetch")),
        (json!({"bucket_selector": named}), json!("fetch")),
        (json!({"moving_fn": window}), json!("fetch")),
        (json!({"sum": {"script": "x +"}}), Value::Null),
    ] {
        let told = ApiError::from(refusal(body.clone()));
        let told: Value = serde_json::from_slice(&told.body()).unwrap();
        assert_eq!(told["error"]["phase"], phase, "{body}");
    }
}

#[test]
fn wrong_requests_are_refused_in_known_words() {
    use AggDslErrorKind::{IllegalArgument, Parsing, Script, XContentParse};
    for (body, kind, start) in [
        (
            json!({"term": {"field": "x"}}),
            Parsing,
            "Unknown aggregation type [term] did you mean [terms]?",
        ),
        (
            json!({"foo": {"field": "x"}}),
            Parsing,
            "Unknown aggregation type [foo]",
        ),
        (json!({}), Parsing, "Missing definition for aggregation [a]"),
        (
            json!(3),
            Parsing,
            "Aggregation definition for [a starts with a [VALUE_NUMBER]",
        ),
        (
            json!({"terms": 3}),
            Parsing,
            "Expected [START_OBJECT] under [terms]",
        ),
        (
            json!({"terms": {"field": "x"}, "avg": {"field": "x"}}),
            Parsing,
            "Found two aggregation type definitions in [a]: [terms] and [avg]",
        ),
        (
            json!({"terms": {}}),
            IllegalArgument,
            "Required one of fields [field, script]",
        ),
        (
            json!({"sum": {"script": {"source": "doc['x'].value *"}}}),
            Script,
            "compile error",
        ),
        (
            json!({"terms": {"field": "x", "size": 0}}),
            IllegalArgument,
            "[size] must be greater than 0",
        ),
        (
            json!({"terms": {"field": "x", "size": -1}}),
            IllegalArgument,
            "[size] must be greater than",
        ),
        (
            json!({"terms": {"field": "x", "sizes": 1}}),
            XContentParse,
            "[terms] unknown field [sizes]",
        ),
        (
            json!({"terms": {"field": {}}}),
            XContentParse,
            "[terms] field doesn't support values of type: START_OBJECT",
        ),
        (
            json!({"terms": {"field": "x", "order": {"_count": "up"}}}),
            Parsing,
            "Unknown order direction [up]",
        ),
    ] {
        check_refused(body, kind, start);
    }
}

#[test]
fn numbers_are_refused_where_texts_and_objects_are_asked_for() {
    for (body, what) in [
        (
            json!({"scripted_metric": {"map_script": 0}}),
            "[scripted_metric] map_script",
        ),
        (json!({"composite": {"sources": 3}}), "[composite] sources"),
        (
            json!({"auto_date_histogram": {"field": "x", "minimum_interval": 1}}),
            "[auto_date_histogram] minimum_interval",
        ),
    ] {
        let told = format!("{what} doesn't support values of type: VALUE_NUMBER");
        check_refused(body, AggDslErrorKind::XContentParse, &told);
    }
}

#[test]
fn wrong_intervals_are_refused_in_known_words() {
    use AggDslErrorKind::IllegalArgument;
    for (body, kind, start) in [
        (
            json!({"date_histogram": {"field": "x"}}),
            IllegalArgument,
            "Invalid interval specified, must be non-null and non-empty",
        ),
        (
            json!({"date_histogram": {"field": "x", "calendar_interval": "day", "fixed_interval": "1d"}}),
            IllegalArgument,
            "Cannot use [fixed_interval] with [calendar_interval] configuration option.",
        ),
        (
            json!({"date_histogram": {"field": "x", "calendar_interval": "2d"}}),
            IllegalArgument,
            "The supplied interval [2d] could not be parsed as a calendar interval.",
        ),
        (
            json!({"date_histogram": {"field": "x", "fixed_interval": "2x"}}),
            IllegalArgument,
            "failed to parse setting [date_histogram.fixedInterval] with value [2x] as a time value",
        ),
        (
            json!({"date_histogram": {"field": "x", "fixed_interval": "1M"}}),
            IllegalArgument,
            "failed to parse setting [date_histogram.fixedInterval] with value [1M] as a time value",
        ),
        (
            json!({"date_histogram": {"field": "x", "fixed_interval": "0s"}}),
            IllegalArgument,
            "Zero or negative time interval not supported",
        ),
        (
            json!({"histogram": {"field": "x", "interval": 0}}),
            IllegalArgument,
            "[interval] must be >0",
        ),
    ] {
        check_refused(body, kind, start);
    }
}

#[test]
fn unknown_settings_are_told_before_those_that_are_missing() {
    for (kind, settings) in [
        ("avg", json!({})),
        ("histogram", json!({"field": "x"})),
        ("date_histogram", json!({"field": "x"})),
        ("range", json!({"field": "x"})),
        ("percentile_ranks", json!({"field": "x"})),
        ("weighted_avg", json!({})),
        ("adjacency_matrix", json!({})),
        ("composite", json!({})),
        ("multi_terms", json!({})),
        ("scripted_metric", json!({})),
        ("moving_fn", json!({"buckets_path": "b"})),
        ("bucket_script", json!({})),
        ("bucket_sort", json!({})),
        ("cumulative_sum", json!({})),
    ] {
        let mut settings = settings;
        settings["nope"] = json!(1);
        let error = refusal(json!({ kind: settings }));
        assert_eq!(error.reason, format!("[{kind}] unknown field [nope]"));
    }
    for (kind, told) in [
        ("nested", "Unexpected token VALUE_NUMBER in [a]."),
        ("filters", "Unknown key for a VALUE_NUMBER in [a]: [nope]."),
        ("avg_bucket", "Unexpected token VALUE_NUMBER [nope] in [a]"),
    ] {
        assert_eq!(refusal(json!({ kind: {"nope": 1} })).reason, told);
    }
}

#[test]
fn what_is_missing_is_told_in_the_words_of_each_reader() {
    use AggDslErrorKind::{IllegalArgument, Parsing};
    for (body, kind, told) in [
        (
            json!({"moving_fn": {}}),
            IllegalArgument,
            "Required [buckets_path, script, window]",
        ),
        (
            json!({"bucket_script": {"buckets_path": "b"}}),
            IllegalArgument,
            "Required [script]",
        ),
        (
            json!({"cumulative_sum": {}}),
            IllegalArgument,
            "Required [buckets_path]",
        ),
        (
            json!({"bucket_selector": {}}),
            Parsing,
            "Missing required field [buckets_path] for bucket_selector aggregation [a]",
        ),
        (
            json!({"parent": {}}),
            Parsing,
            "Missing [child_type] field for parent aggregation [a]",
        ),
        (
            json!({"avg_bucket": {"buckets_path": "b", "gap_policy": "x"}}),
            Parsing,
            "Invalid gap policy: [x], accepted values: [insert_zeros, skip]",
        ),
        (
            json!({"top_hits": {"size": -1}}),
            IllegalArgument,
            "[size] must be greater than or equal to 0. Found [-1] in [a]",
        ),
        (
            json!({"nested": {"path": 1}}),
            Parsing,
            "Unexpected token VALUE_NUMBER in [a].",
        ),
        (
            json!({"filters": {"filters": 1}}),
            Parsing,
            "Unknown key for a VALUE_NUMBER in [a]: [filters].",
        ),
    ] {
        let error = refusal(body);
        assert_eq!((error.kind, error.reason.as_str()), (kind, told));
    }
}

#[test]
fn what_is_wrong_inside_a_setting_is_told_of_the_setting_too() {
    for (body, outer, inner) in [
        (
            json!({"range": {"field": "x", "ranges": [{"nope": 1}]}}),
            "[range] failed to parse field [ranges]",
            "[range] unknown field [nope]",
        ),
        (
            json!({"ip_range": {"field": "x", "ranges": [{"mask": "10.0.0.0/33"}]}}),
            "[ip_range] failed to parse field [ranges]",
            "Illegal prefix length [33] in [10.0.0.0/33]. Must be 0-32 for IPv4 ranges, 0-128 for IPv6 ranges",
        ),
        (
            json!({"ip_range": {"field": "x", "ranges": [{"mask": "10.0.0.0"}]}}),
            "[ip_range] failed to parse field [ranges]",
            "Expected [ip/prefix] but was [10.0.0.0]",
        ),
        (
            json!({"geohash_grid": {"field": "x", "precision": -1}}),
            "[geohash_grid] failed to parse field [precision]",
            "Invalid geohash aggregation precision of -1. Must be between 1 and 12.",
        ),
        (
            json!({"geotile_grid": {"field": "x", "precision": -1}}),
            "[geotile_grid] failed to parse field [precision]",
            "Invalid geotile_grid precision of -1. Must be between 0 and 29.",
        ),
        (
            json!({"ip_range": {"field": "x", "ranges": [{"from": "x"}]}}),
            "[ip_range] failed to parse field [ranges]",
            "'x' is not an IP string literal.",
        ),
        (
            json!({"percentiles": {"field": "x", "tdigest": {"nope": 1}}}),
            "[percentiles] failed to parse field [tdigest]",
            "[tdigest] unknown field [nope]",
        ),
        (
            json!({"histogram": {"field": "x", "interval": 1, "hard_bounds": {"nope": 1}}}),
            "[histogram] failed to parse field [hard_bounds]",
            "[double_bounds] unknown field [nope]",
        ),
        (
            json!({"weighted_avg": {"value": {"nope": 1}}}),
            "[weighted_avg] failed to parse field [value]",
            "[field_config] unknown field [nope]",
        ),
        (
            json!({"multi_terms": {"terms": [{"field": "x"}]}}),
            "[multi_terms] failed to parse field [terms]",
            "multi term aggregation must has at least 2 terms. Found [1] in [a] Use terms \
             aggregation for single term aggregation",
        ),
        (
            json!({"percentile_ranks": {"field": "x", "values": []}}),
            "Failed to build [percentile_ranks] after last required field arrived",
            "[values] must not be an empty array: [a]",
        ),
        (
            json!({"cardinality": {"field": "x", "precision_threshold": "x"}}),
            "[cardinality] failed to parse field [precision_threshold]",
            "For input string: \"x\"",
        ),
    ] {
        let error = refusal(body);
        let within = error.within.expect("what is wrong inside");
        assert_eq!(
            (error.reason.as_str(), within.reason.as_str()),
            (outer, inner)
        );
    }
}

#[test]
fn wrong_names_and_too_deep_nesting_are_refused() {
    let error = parse_aggs(&json!({"a[b]": {"avg": {"field": "x"}}})).unwrap_err();
    assert!(
        error.reason.starts_with("Invalid aggregation name [a[b]]"),
        "{error}"
    );
    let mut deep = json!({"avg": {"field": "x"}});
    for _ in 0..100 {
        deep = json!({"terms": {"field": "x"}, "aggs": {"a": deep}});
    }
    assert_eq!(refusal(deep).kind, AggDslErrorKind::IllegalArgument);
}
