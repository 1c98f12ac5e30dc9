use std::collections::BTreeMap;
use std::num::NonZeroI64;

use clew_aggregation::{
    AggResult, Bucket, BucketExtra, ExtendedStats, HistogramResult, Key, Metric, NamedResult,
    RangeBucket, RangeEnd, Stats, TermsKind, TermsResult, TopHitsResult, ValueFormat,
};
use clew_query::aggregation::{
    AggSpec, CalendarUnit, DateInterval, Direction, EndKind, IncludeExclude, NamedAgg, OrderKey,
    Scalar,
};
use clew_schema::DateFormat;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::*;
use crate::http::error::ApiError;

fn parse_one(body: Value) -> AggSpec {
    let mut aggs = parse_aggs(&json!({"a": body})).unwrap().aggs;
    aggs.remove(0).spec
}

fn refusal(body: Value) -> AggDslError {
    parse_aggs(&json!({"a": body})).unwrap_err()
}

fn check_refused(body: Value, kind: AggDslErrorKind, start: &str) {
    let told = ApiError::from(refusal(body.clone())).cause();
    // What is wrong with a value is within what says of which setting it is.
    let mut cause = &told;
    while cause["type"] == "x_content_parse_exception" && cause["caused_by"].is_object() {
        cause = &cause["caused_by"];
    }
    assert_eq!(cause["type"], kind.type_name(), "{body}: {told}");
    let reason = cause["reason"].as_str().unwrap_or_default();
    assert!(reason.starts_with(start), "{body}: {told}");
}

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
fn terms_are_understood() {
    let spec = parse_one(json!({"terms": {
        "field": "tag", "size": 5, "shard_size": 50, "min_doc_count": 2, "missing": "N/A",
        "order": [{"avg_price": "desc"}, {"_key": "asc"}],
        "include": "a.*", "exclude": ["ab"], "show_term_doc_count_error": true,
        "execution_hint": "map", "collect_mode": "breadth_first",
    }}));
    let AggSpec::Terms(terms) = spec else {
        panic!("not terms");
    };
    assert_eq!(terms.source.field, "tag");
    assert_eq!(terms.source.missing, Some(Scalar::Text("N/A".to_string())));
    assert_eq!(
        (terms.size, terms.shard_size, terms.min_doc_count),
        (5, Some(50), 2)
    );
    assert_eq!(
        terms.order[0].key,
        OrderKey::Metric("avg_price".to_string())
    );
    assert_eq!(terms.order[0].direction, Direction::Descending);
    assert_eq!(terms.order[1].key, OrderKey::Key);
    assert_eq!(
        terms.filter.include,
        Some(IncludeExclude::Pattern("a.*".to_string()))
    );
    let excluded = IncludeExclude::Values(vec![Scalar::Text("ab".to_string())]);
    assert_eq!(terms.filter.exclude, Some(excluded));
    assert!(terms.show_error);
}

#[test]
fn intervals_of_time_are_understood() {
    let interval = |body: Value| {
        let mut settings = json!({"field": "at"});
        for (key, value) in body.as_object().unwrap() {
            settings[key] = value.clone();
        }
        match parse_one(json!({"date_histogram": settings})) {
            AggSpec::DateHistogram(spec) => (spec.interval, spec.offset_ms),
            other => panic!("{other:?}"),
        }
    };
    let fixed = |ms| DateInterval::Fixed {
        step_ms: NonZeroI64::new(ms).unwrap(),
    };
    let calendar = DateInterval::Calendar;
    for (body, expected) in [
        (
            json!({"calendar_interval": "month"}),
            calendar(CalendarUnit::Month),
        ),
        (
            json!({"calendar_interval": "1M"}),
            calendar(CalendarUnit::Month),
        ),
        (
            json!({"calendar_interval": "1m"}),
            calendar(CalendarUnit::Minute),
        ),
        (
            json!({"calendar_interval": "1q"}),
            calendar(CalendarUnit::Quarter),
        ),
        (json!({"fixed_interval": "30d"}), fixed(30 * 86_400_000)),
        (json!({"fixed_interval": "90m"}), fixed(5_400_000)),
        (json!({"fixed_interval": "500ms"}), fixed(500)),
        (json!({"interval": "day"}), calendar(CalendarUnit::Day)),
        (json!({"interval": "12h"}), fixed(43_200_000)),
        (json!({"interval": 60_000}), fixed(60_000)),
    ] {
        assert_eq!(interval(body.clone()).0, expected, "{body}");
    }
    let moved = json!({"calendar_interval": "day", "offset": "+6h"});
    assert_eq!(interval(moved).1, 6 * 3_600_000);
    let moved = json!({"calendar_interval": "day", "offset": "-30m"});
    assert_eq!(interval(moved).1, -1_800_000);
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
            "Expected [ip/prefix] but was [10.0.0.0/33]",
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

#[test]
fn sub_aggregations_and_meta_are_kept() {
    let ParsedAggs { aggs, shown } = parse_aggs(&json!({
        "outer": {
            "terms": {"field": "tag"},
            "meta": {"color": "blue"},
            "aggregations": {"inner": {"avg": {"field": "price"}}},
        },
    }))
    .unwrap();
    let [NamedAgg { name, subs, .. }] = &aggs[..] else {
        panic!("not one");
    };
    assert_eq!((name.as_str(), subs[0].name.as_str()), ("outer", "inner"));
    assert_eq!(json!(shown.meta), json!({"outer": {"color": "blue"}}));
}

fn named(name: &str, result: AggResult) -> NamedResult {
    NamedResult {
        name: name.to_string(),
        result,
    }
}

fn bucket(key: Key, doc_count: u64, subs: Vec<NamedResult>) -> Bucket {
    Bucket {
        key,
        doc_count,
        doc_count_error: Some(0),
        subs,
        extra: BucketExtra::None,
    }
}

fn terms(kind: TermsKind, buckets: Vec<Bucket>, format: ValueFormat) -> TermsResult {
    TermsResult {
        kind,
        buckets,
        doc_count_error_upper_bound: Some(0),
        sum_other_doc_count: 0,
        show_error: false,
        rare: false,
        format,
    }
}

fn dates() -> ValueFormat {
    ValueFormat::Date {
        format: DateFormat::default(),
        zone: TimeZone::UTC,
    }
}

/// Also the order of members is compared, as text.
fn check_json(results: &[NamedResult], expected: &Value) {
    let rendered = render_aggs(results, as_it_is(false)).unwrap();
    assert_eq!(
        serde_json::to_string_pretty(&rendered).unwrap(),
        serde_json::to_string_pretty(expected).unwrap()
    );
}

#[test]
fn terms_look_as_clients_expect() {
    let max = Metric {
        value: Some(3.0),
        format: ValueFormat::Raw,
    };
    let mut first = bucket(
        Key::Str("a".into()),
        3,
        vec![named("m", AggResult::Max(max))],
    );
    first.doc_count_error = Some(2);
    let result = TermsResult {
        sum_other_doc_count: 7,
        show_error: true,
        doc_count_error_upper_bound: None,
        ..terms(TermsKind::Text, vec![first], ValueFormat::Raw)
    };
    check_json(
        &[named("t", AggResult::Terms(result))],
        &json!({
            "t": {
                "doc_count_error_upper_bound": -1,
                "sum_other_doc_count": 7,
                "buckets": [{
                    "key": "a", "doc_count": 3, "doc_count_error_upper_bound": 2,
                    "m": {"value": 3.0},
                }],
            },
        }),
    );
}

#[test]
fn keys_that_are_no_strings_have_a_text_where_their_type_has_one() {
    let flags = vec![bucket(Key::Bool(true), 2, vec![])];
    let numbers = vec![bucket(Key::F64(2.0), 2, vec![])];
    let times = vec![bucket(Key::Date(1_767_225_600_000), 1, vec![])];
    let ips = vec![bucket(
        Key::Ip("::ffff:10.0.0.1".parse().unwrap()),
        1,
        vec![],
    )];
    check_json(
        &[
            named(
                "f",
                AggResult::Terms(terms(TermsKind::Integer, flags, ValueFormat::Boolean)),
            ),
            named(
                "n",
                AggResult::Terms(terms(TermsKind::Float, numbers, ValueFormat::Raw)),
            ),
            named(
                "d",
                AggResult::Terms(terms(TermsKind::Integer, times, dates())),
            ),
            named(
                "i",
                AggResult::Terms(terms(TermsKind::Text, ips, ValueFormat::Raw)),
            ),
        ],
        &json!({
            "f": {
                "doc_count_error_upper_bound": 0, "sum_other_doc_count": 0,
                "buckets": [{"key": 1, "key_as_string": "true", "doc_count": 2}],
            },
            "n": {
                "doc_count_error_upper_bound": 0, "sum_other_doc_count": 0,
                "buckets": [{"key": 2.0, "doc_count": 2}],
            },
            "d": {
                "doc_count_error_upper_bound": 0, "sum_other_doc_count": 0,
                "buckets": [{
                    "key": 1_767_225_600_000_i64,
                    "key_as_string": "2026-01-01T00:00:00.000Z",
                    "doc_count": 1,
                }],
            },
            "i": {
                "doc_count_error_upper_bound": 0, "sum_other_doc_count": 0,
                "buckets": [{"key": "10.0.0.1", "doc_count": 1}],
            },
        }),
    );
}

#[test]
fn histograms_look_as_clients_expect() {
    let histogram = |key, keyed, format| HistogramResult {
        buckets: vec![bucket(key, 4, vec![])],
        keyed,
        format,
    };
    let day = || Key::Date(1_767_225_600_000);
    check_json(
        &[
            named(
                "d",
                AggResult::DateHistogram(histogram(day(), false, dates())),
            ),
            named(
                "k",
                AggResult::DateHistogram(histogram(day(), true, dates())),
            ),
            named(
                "h",
                AggResult::Histogram(histogram(Key::F64(0.0), false, ValueFormat::Raw)),
            ),
            named(
                "x",
                AggResult::Histogram(histogram(Key::F64(50.0), true, ValueFormat::Raw)),
            ),
        ],
        &json!({
            "d": {"buckets": [{
                "key_as_string": "2026-01-01T00:00:00.000Z",
                "key": 1_767_225_600_000_i64, "doc_count": 4,
            }]},
            "k": {"buckets": {"2026-01-01T00:00:00.000Z": {
                "key_as_string": "2026-01-01T00:00:00.000Z",
                "key": 1_767_225_600_000_i64, "doc_count": 4,
            }}},
            "h": {"buckets": [{"key": 0.0, "doc_count": 4}]},
            "x": {"buckets": {"50.0": {"key": 50.0, "doc_count": 4}}},
        }),
    );
}

#[test]
fn metrics_look_as_clients_expect() {
    let metric = |value, format| Metric { value, format };
    check_json(
        &[
            named("a", AggResult::Avg(metric(None, ValueFormat::Raw))),
            named("s", AggResult::Sum(metric(Some(0.0), ValueFormat::Raw))),
            named(
                "m",
                AggResult::Max(metric(Some(1_767_225_600_000.0), dates())),
            ),
            named("v", AggResult::ValueCount(7)),
            named("c", AggResult::Cardinality(3)),
        ],
        &json!({
            "a": {"value": null},
            "s": {"value": 0.0},
            "m": {"value": 1_767_225_600_000.0, "value_as_string": "2026-01-01T00:00:00.000Z"},
            "v": {"value": 7},
            "c": {"value": 3},
        }),
    );
}

fn stats(values: Option<(f64, f64, f64, f64)>, format: ValueFormat) -> Stats {
    Stats {
        count: u64::from(values.is_some()),
        min: values.map(|v| v.0),
        max: values.map(|v| v.1),
        avg: values.map(|v| v.2),
        sum: values.map_or(0.0, |v| v.3),
        format,
    }
}

#[test]
fn stats_of_nothing_are_null() {
    check_json(
        &[
            named("s", AggResult::Stats(stats(None, dates()))),
            named(
                "t",
                AggResult::Stats(stats(Some((1.0, 1.0, 1.0, 1.0)), ValueFormat::Raw)),
            ),
        ],
        &json!({
            "s": {"count": 0, "min": null, "max": null, "avg": null, "sum": 0.0},
            "t": {"count": 1, "min": 1.0, "max": 1.0, "avg": 1.0, "sum": 1.0},
        }),
    );
}

#[test]
fn extended_stats_show_bounds_on_both_sides() {
    let extended = ExtendedStats {
        stats: stats(Some((3.0, 3.0, 3.0, 3.0)), ValueFormat::Raw),
        sum_of_squares: Some(9.0),
        variance: Some(4.0),
        variance_sampling: Some(f64::NAN),
        sigma: 2.0,
    };
    check_json(
        &[named("e", AggResult::ExtendedStats(extended))],
        &json!({"e": {
            "count": 1, "min": 3.0, "max": 3.0, "avg": 3.0, "sum": 3.0,
            "sum_of_squares": 9.0,
            "variance": 4.0, "variance_population": 4.0, "variance_sampling": "NaN",
            "std_deviation": 2.0, "std_deviation_population": 2.0,
            "std_deviation_sampling": "NaN",
            "std_deviation_bounds": {
                "upper": 7.0, "lower": -1.0,
                "upper_population": 7.0, "lower_population": -1.0,
                "upper_sampling": "NaN", "lower_sampling": "NaN",
            },
        }}),
    );
}

#[test]
fn ranges_are_named_by_their_ends() {
    let range = |name: &str, from, to| RangeBucket {
        name: Key::Str(name.into()),
        from,
        to,
        doc_count: 1,
        subs: Vec::new(),
    };
    let result = |buckets, keyed, kind| AggResult::Range {
        buckets,
        keyed,
        kind,
    };
    let number = |number| Some(RangeEnd::Number(number, None));
    let plain = vec![
        range("*-50.0", None, number(50.0)),
        range("50.0-100.0", number(50.0), number(100.0)),
    ];
    let day = RangeEnd::Number(
        1_767_225_600_000.0,
        Some("2026-01-01T00:00:00.000Z".to_string()),
    );
    let dated = vec![range("new", Some(day), None)];
    let near = RangeEnd::Address("10.0.0.0".to_string());
    let near = vec![range("near", Some(near), None)];
    check_json(
        &[
            named("r", result(plain, false, EndKind::Numbers)),
            named("d", result(dated, true, EndKind::Dates)),
            named("i", result(near, false, EndKind::Addresses)),
        ],
        &json!({
            "r": {"buckets": [
                {"key": "*-50.0", "to": 50.0, "doc_count": 1},
                {"key": "50.0-100.0", "from": 50.0, "to": 100.0, "doc_count": 1},
            ]},
            "d": {"buckets": {"new": {
                "from": 1_767_225_600_000.0,
                "from_as_string": "2026-01-01T00:00:00.000Z",
                "doc_count": 1,
            }}},
            "i": {"buckets": [{"key": "near", "from": "10.0.0.0", "doc_count": 1}]},
        }),
    );
}

#[test]
fn typed_keys_name_the_type_at_every_level() {
    let inner = named("n", AggResult::ValueCount(1));
    let buckets = vec![bucket(Key::Str("a".into()), 1, vec![inner])];
    let outer = AggResult::Terms(terms(TermsKind::Text, buckets, ValueFormat::Raw));
    let meta = BTreeMap::from([("t".to_string(), json!({"x": 1}))]);
    let how = Rendering {
        meta: &meta,
        ..as_it_is(true)
    };
    let rendered = render_aggs(&[named("t", outer)], how).unwrap();
    assert_eq!(rendered["sterms#t"]["meta"], json!({"x": 1}));
    assert_eq!(
        rendered["sterms#t"]["buckets"][0]["value_count#n"],
        json!({"value": 1})
    );
}

#[test]
fn top_hits_are_found_by_the_names_on_the_way_to_them() {
    let hits = json!({"top_hits": {"size": 1, "_source": false, "sort": ["price"]}});
    let parsed = parse_aggs(&json!({
        "hits": {"top_hits": {"version": true}},
        "t": {"aggs": {"hits": hits, "u": {"aggs": {"hits": {"top_hits": {}}},
            "terms": {"field": "b"}}}, "terms": {"field": "a"}},
    }))
    .unwrap();
    let shown = json!(parsed.shown.top_hits);
    let expected = json!({
        "hits": {"version": true},
        "t>hits": {"_source": false, "sort": ["price"]},
        "t>u>hits": {},
    });
    assert_eq!(shown, expected);

    let hits = || {
        let found = TopHitsResult {
            total: 1,
            max_score: None,
            hits: 0..1,
        };
        named("hits", AggResult::TopHits(found))
    };
    let inner = vec![bucket(Key::Str("b".into()), 1, vec![hits()])];
    let inner = AggResult::Terms(terms(TermsKind::Text, inner, ValueFormat::Raw));
    let outer = vec![bucket(
        Key::Str("a".into()),
        1,
        vec![hits(), named("u", inner)],
    )];
    let outer = AggResult::Terms(terms(TermsKind::Text, outer, ValueFormat::Raw));
    let results = [hits(), named("t", outer)];
    let rendered = render_aggs(&results, as_it_is(true)).unwrap();
    assert_eq!(rendered["top_hits#hits"]["hits"], "hits");
    let bucket = &rendered["sterms#t"]["buckets"][0];
    assert_eq!(bucket["top_hits#hits"]["hits"], "t>hits");
    let bucket = &bucket["sterms#u"]["buckets"][0];
    assert_eq!(bucket["top_hits#hits"]["hits"], "t>u>hits");

    let refuses = |path: &AggPath<'_>, _: &TopHitsResult| match path.to_string() {
        inner if inner == "t>u>hits" => Err(ApiError::illegal_argument("too long")),
        outer => Ok(json!(outer)),
    };
    let error = render_aggs(&results, Rendering::new(false, &NOTHING, &refuses));
    assert_eq!(error.unwrap_err().reason(), "too long");
}

static NOTHING: BTreeMap<String, Value> = BTreeMap::new();

fn as_it_is(typed_keys: bool) -> Rendering<'static> {
    Rendering::new(typed_keys, &NOTHING, &|path, _| Ok(json!(path.to_string())))
}
