//! Results as clients expect them.

use std::collections::BTreeMap;

use clew_aggregation::{
    AggResult, Bucket, BucketExtra, ExtendedStats, HistogramResult, Key, Metric, NamedResult,
    RangeBucket, RangeEnd, Stats, TermsKind, TermsResult, TopHitsResult, ValueFormat,
};
use clew_query::aggregation::EndKind;
use clew_schema::DateFormat;
use jiff::tz::TimeZone;

use super::*;

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
fn texts_of_truths_and_of_numbers_without_a_sign_are_none_but_of_deviations() {
    let extended = |format| ExtendedStats {
        stats: stats(Some((0.0, 1.0, 0.5, 1.0)), format),
        sum_of_squares: Some(1.0),
        variance: Some(0.25),
        variance_sampling: Some(f64::NAN),
        sigma: 2.0,
    };
    let results = [
        named(
            "b",
            AggResult::ExtendedStats(extended(ValueFormat::Boolean)),
        ),
        named(
            "u",
            AggResult::ExtendedStats(extended(ValueFormat::Unsigned)),
        ),
    ];
    let shown = render_aggs(&results, as_it_is(false)).unwrap();
    for (of, name, text) in [
        ("b", "min_as_string", json!(false)),
        ("b", "sum_as_string", json!(true)),
        ("b", "variance_as_string", json!(true)),
        ("b", "std_deviation_as_string", json!("true")),
        ("u", "max_as_string", json!(1.0)),
        ("u", "variance_sampling_as_string", json!("NaN")),
        ("u", "std_deviation_as_string", json!("0.5")),
    ] {
        assert_eq!(shown[of][name], text, "{of} {name}");
    }
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
    let result = |buckets, keyed, kind, format| AggResult::Range {
        buckets,
        keyed,
        kind,
        format,
    };
    let number = |number| Some(RangeEnd::Number(number));
    let plain = vec![
        range("*-50.0", None, number(50.0)),
        range("50.0-100.0", number(50.0), number(100.0)),
    ];
    let dated = vec![range("new", number(1_767_225_600_000.0), None)];
    let truths = vec![range("true-*", number(1.0), None)];
    let near = RangeEnd::Address("10.0.0.0".to_string());
    let near = vec![range("near", Some(near), None)];
    check_json(
        &[
            named(
                "r",
                result(plain, false, EndKind::Numbers, ValueFormat::Raw),
            ),
            named("d", result(dated, true, EndKind::Dates, dates())),
            named(
                "b",
                result(truths, false, EndKind::Numbers, ValueFormat::Boolean),
            ),
            named(
                "i",
                result(near, false, EndKind::Addresses, ValueFormat::Raw),
            ),
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
            "b": {"buckets": [
                {"key": "true-*", "from": 1.0, "from_as_string": true, "doc_count": 1},
            ]},
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
