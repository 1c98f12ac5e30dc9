//! Orders.

use super::*;

use clew_query::Unmapped;

#[test]
fn sort_takes_names_objects_and_arrays() {
    let a = |order| SortKey::field("a", order);
    for (json, want) in [
        (json!("a"), vec![a(Order::Asc)]),
        (json!("a:desc"), vec![SortKey::field("a:desc", Order::Asc)]),
        (json!({"a": "desc"}), vec![a(Order::Desc)]),
        (
            json!(["_score", {"a": "asc"}]),
            vec![SortKey::Score { order: Order::Desc }, a(Order::Asc)],
        ),
        (
            json!([{"_score": {"order": "asc"}}, "_doc"]),
            vec![
                SortKey::Score { order: Order::Asc },
                SortKey::Doc { order: Order::Asc },
            ],
        ),
        (
            json!({"a": {"order": "desc", "missing": "_first", "unmapped_type": "long",
                "mode": "MIN"}}),
            vec![SortKey::Field {
                path: "a".into(),
                order: Order::Desc,
                missing: Missing::First,
                mode: Some(SortMode::Min),
                unmapped: Unmapped::Long,
                nested: None,
                numeric: None,
            }],
        ),
        (
            json!([{"a": {"missing": 7}}]),
            vec![SortKey::Field {
                path: "a".into(),
                order: Order::Asc,
                missing: Missing::Value(SortValue::I64(7)),
                mode: None,
                unmapped: Unmapped::Refused,
                nested: None,
                numeric: None,
            }],
        ),
        (json!(5), vec![SortKey::field("5", Order::Asc)]),
        (Value::Null, vec![]),
    ] {
        assert_eq!(parse_sort(&json), Ok(want), "{json}");
    }
    for json in [
        json!([5]),
        json!([[]]),
        json!({"a": "up"}),
        json!({"a": {"mode": "mad"}}),
    ] {
        assert!(parse_sort(&json).is_err(), "{json}");
    }
}

#[test]
fn what_is_wrong_with_a_sort_or_a_number_is_told_by_the_member_that_has_it() {
    use DslErrorKind::{IllegalArgument, NumberFormat, XContentParse};
    let no_order = "No enum constant org.opensearch.search.sort.SortOrder.UP";
    let chain = |error: DslError| {
        let mut told = vec![(error.kind, error.reason)];
        let mut within = error.within;
        while let Some(error) = within {
            told.push((error.kind, error.reason));
            within = error.within;
        }
        told
    };
    for (json, want) in [
        (json!({"a": "up"}), vec![(IllegalArgument, no_order)]),
        (
            json!({"a": {"order": "up"}}),
            vec![
                (XContentParse, "[field_sort] failed to parse field [order]"),
                (IllegalArgument, no_order),
            ],
        ),
        (
            json!({"_score": {"nope": 1}}),
            vec![(XContentParse, "[_score] unknown field [nope]")],
        ),
        (
            json!({"_score": {"order": "asc", "missing": "_first"}}),
            vec![(XContentParse, "[_score] unknown field [missing]")],
        ),
    ] {
        let told = chain(parse_sort(&json).unwrap_err());
        let told: Vec<_> = told
            .iter()
            .map(|(kind, reason)| (*kind, reason.as_str()))
            .collect();
        assert_eq!(told, want, "{json}");
    }
    for (json, want) in [
        (
            json!({"term": {"a": {"value": 1, "boost": "x"}}}),
            vec![(NumberFormat, "For input string: \"x\"")],
        ),
        (
            json!({"bool": {"boost": "x"}}),
            vec![
                (XContentParse, "[bool] failed to parse field [boost]"),
                (NumberFormat, "For input string: \"x\""),
            ],
        ),
    ] {
        let told = chain(parse_query(&json).unwrap_err());
        let told: Vec<_> = told
            .iter()
            .map(|(kind, reason)| (*kind, reason.as_str()))
            .collect();
        assert_eq!(told, want, "{json}");
    }
}
