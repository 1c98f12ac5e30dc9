//! Aggregations as they are asked for, and as they are shown.

mod refused;
mod shown;

use std::num::NonZeroI64;

use clew_query::aggregation::{
    AggSpec, CalendarUnit, DateInterval, Direction, IncludeExclude, NamedAgg, OrderKey, Scalar,
};
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
fn an_empty_definition_of_sub_aggregations_is_none() {
    for body in [
        json!({"avg": {"field": "n"}, "aggs": {}}),
        json!({"aggs": {}, "avg": {"field": "n"}, "aggregations": {}}),
    ] {
        assert!(matches!(parse_one(body), AggSpec::Avg(_)));
    }
}

#[test]
fn terms_are_understood() {
    let spec = parse_one(json!({"terms": {
        "field": "tag", "size": 5, "shard_size": 50, "min_doc_count": 2, "missing": "N/A",
        "order": [{"avg_price": "desc"}, {"_key": "asc"}],
        "include": "a.*", "exclude": "ab", "show_term_doc_count_error": true,
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
    let excluded = IncludeExclude::Pattern("ab".to_string());
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
