//! What aggregations are read as, and how they are refused.

use super::*;

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
            "Aggregation definition for [a] starts with a value",
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
        (
            json!({"range": {"field": "x", "ranges": []}}),
            IllegalArgument,
            "No [ranges] specified for the [a]",
        ),
    ] {
        check_refused(body, kind, start);
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
