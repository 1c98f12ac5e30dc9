//! Filters of structs, of instants and of fields that were added, against tables and counting.

use std::collections::BTreeSet;

use clew_engine::Engine;
use serde_json::{Value, json};

use super::oracle::{engine_for, found};
use crate::collection::Collection;
use crate::expr::{Templates, lower, parse};
use crate::instant::parse_instant;

fn collection() -> Collection {
    let part = |name: &str, data_type: &str| {
        json!({"id": 1, "name": format!("clips[{name}]"), "path": format!("clips.{name}"), "data_type": data_type,
               "nullable": true})
    };
    let clips = json!({"id": 1, "name": "clips", "nullable": true,
        "parts": [part("text", "VarChar"), part("n", "Int64"), part("seen", "Bool")]});
    serde_json::from_value(json!({
        "id": 1, "dynamic": false, "consistency_level": 0, "shards": 1, "partitions": {"_default": 1}, "loaded": true,
        "updated_ms": 0, "properties": {"timezone": "America/New_York"},
        "fields": [
            {"id": 1, "name": "id", "data_type": "Int64", "is_primary": true},
            {"id": 2, "name": "at", "data_type": "Timestamptz", "nullable": true},
            {"id": 3, "name": "n", "data_type": "Int64", "default": 5, "is_added": true},
            {"id": 4, "name": "f", "data_type": "Double", "default": 0.5, "is_added": true, "nullable": true},
            {"id": 5, "name": "s", "data_type": "VarChar", "default": "word", "is_added": true},
            {"id": 6, "name": "b", "data_type": "Bool", "default": true, "is_added": true},
            {"id": 7, "name": "made", "data_type": "Timestamptz", "default": 0, "is_added": true},
            {"id": 8, "name": "t", "data_type": "VarChar", "default": "A Word beyond words", "is_added": true,
             "params": {"max_length": "99", "enable_analyzer": "true", "enable_match": "true"}},
        ],
        "structs": [clips],
    }))
    .unwrap()
}

fn instant(text: &str) -> i64 {
    parse_instant(text, &collection().zone()).unwrap()
}

async fn ids(engine: &Engine, text: &str) -> BTreeSet<i64> {
    let parsed = parse(text).unwrap();
    let query = lower(&parsed, &collection(), &Templates::default());
    let query = query.unwrap_or_else(|error| panic!("{text}: {error}"));
    found(engine, query).await
}

fn refused(text: &str, code: i32, said: &str) {
    let parsed = parse(text).unwrap();
    let error = lower(&parsed, &collection(), &Templates::default()).unwrap_err();
    assert_eq!(error.code(), code, "{text}: {error}");
    assert!(error.to_string().contains(said), "{text}: {error}");
}

async fn check(rows: &[Value], table: &[(&str, &[i64])]) {
    let engine = engine_for(&collection(), rows, 2);
    for (text, expected) in table {
        let expected: BTreeSet<i64> = expected.iter().copied().collect();
        assert_eq!(ids(&engine, text).await, expected, "{text}");
    }
}

#[tokio::test]
async fn words_are_looked_for_in_the_defaults_of_fields_that_were_added() {
    let rows = [
        json!({"id": 0}),
        json!({"id": 1, "t": "another"}),
        json!({"id": 2, "t": "word"}),
    ];
    check(
        &rows,
        &[
            ("text_match(t, 'word')", &[0, 2]),
            ("text_match(t, 'another none')", &[1]),
            ("not text_match(t, 'another')", &[0, 2]),
            ("not text_match(t, 'beyond')", &[1, 2]),
            ("text_match(t, 'a beyond', minimum_should_match=2)", &[0]),
            ("text_match(t, 'a none', minimum_should_match=2)", &[]),
            ("phrase_match(t, 'a word')", &[0]),
            ("phrase_match(t, 'word a')", &[]),
            ("phrase_match(t, 'a beyond')", &[]),
            ("phrase_match(t, 'a beyond', 1)", &[0]),
            ("text_match(t, 'word') and id < 2", &[0]),
        ],
    )
    .await;
}

#[tokio::test]
async fn instants_are_compared_in_the_zone_of_their_collection() {
    let rows = [
        // The last second before an hour that there was not, and the first behind it.
        json!({"id": 0, "at": instant("2025-03-09T01:59:59")}),
        json!({"id": 1, "at": instant("2025-03-09T03:00:00")}),
        json!({"id": 2}),
        // An hour that there was twice.
        json!({"id": 3, "at": instant("2025-11-02T01:30:00-04:00")}),
        json!({"id": 4, "at": instant("2025-11-02T01:30:00-05:00")}),
        json!({"id": 5, "at": instant("1890-05-06T07:08:09.123456Z")}),
    ];
    check(
        &rows,
        &[
            ("at == ISO '2025-03-09T07:00:00Z'", &[1]),
            ("at >= ISO '2025-03-09T03:00:00'", &[1, 3, 4]),
            // In the gap the later offset is not there yet: the moment is an hour on.
            ("at >= ISO '2025-03-09T02:30:00'", &[3, 4]),
            ("at > ISO '2025-03-09T02:00:00-05:00'", &[3, 4]),
            // Of two moments of one name the first is meant.
            ("at == ISO '2025-11-02T01:30:00'", &[3]),
            ("at != ISO '2025-11-02T01:30:00'", &[0, 1, 4, 5]),
            ("not (at < iso '1900-01-01')", &[0, 1, 3, 4]),
            ("at == ISO '1890-05-06 07:08:09.123456Z'", &[5]),
            ("ISO '2025-03-09' <= at < ISO '2025-03-10'", &[0, 1]),
            ("at is null", &[2]),
            ("at is not null and at < ISO '2000-01-01'", &[5]),
            ("at + INTERVAL 'PT1S' == ISO '2025-03-09T07:00:00Z'", &[0]),
            ("at - INTERVAL 'PT1H' == ISO '2025-11-02T05:30:00Z'", &[4]),
            ("ISO '2025-03-10T06:59:59Z' == at + interval 'P1D'", &[0]),
            (
                "at + INTERVAL 'P1Y2M' > ISO '2026-12-31T00:00:00Z'",
                &[3, 4],
            ),
            (
                "ISO '2025-10-02T05:30:00Z' >= at - INTERVAL 'P1M'",
                &[0, 1, 3, 5],
            ),
            ("at in [1, 2] or at == ISO '2025-03-09T07:00:00Z'", &[1]),
            ("made == ISO '1970-01-01T00:00:00Z'", &[0, 1, 2, 3, 4, 5]),
            ("made + INTERVAL 'PT1S' <= ISO '1970-01-01T00:00:00Z'", &[]),
        ],
    )
    .await;
    refused("at > ISO 'never'", 1100, "'never'");
    refused("at > ISO '2025-02-30'", 1100, "'2025-02-30'");
    refused(
        "at + INTERVAL 'a while' > ISO '2025-01-01'",
        1100,
        "'a while'",
    );
    refused(
        "at + INTERVAL 'P9000Y' > ISO '2025-01-01'",
        1100,
        "outside the years",
    );
    refused("n > ISO '2025-01-01'", 1100, "timestamptz");
    refused("at + n > ISO '2025-01-01'", 1100, "timestamptz");
    refused("at > INTERVAL 'P1D'", 1100, "INTERVAL");
}

#[tokio::test]
async fn rows_from_before_a_field_have_its_default() {
    let rows = [
        json!({"id": 0}),
        json!({"id": 1, "n": 5, "f": 0.5, "s": "word", "b": true}),
        json!({"id": 2, "n": 7, "f": 2.0, "s": "x", "b": false}),
    ];
    check(
        &rows,
        &[
            ("n == 5", &[0, 1]),
            ("n != 5", &[2]),
            ("not (n == 5)", &[2]),
            ("n in [5, 6]", &[0, 1]),
            ("n not in [5, 6]", &[2]),
            ("n > 6", &[2]),
            ("6 > n", &[0, 1]),
            ("4 < n < 6", &[0, 1]),
            ("n + 1 == 6", &[0, 1]),
            ("n is null", &[]),
            ("n is not null", &[0, 1, 2]),
            ("f is null", &[]),
            ("f < 1", &[0, 1]),
            ("n * f == 2.5", &[0, 1]),
            ("n > f and f > 1", &[2]),
            ("s == 'word'", &[0, 1]),
            ("s like 'wo%'", &[0, 1]),
            ("starts_with(s, 'wo')", &[0, 1]),
            ("not starts_with(s, 'wo')", &[2]),
            ("empty(s)", &[]),
            ("starts_with(s, s)", &[0, 1, 2]),
            ("not (s like 'wo%')", &[2]),
            ("s =~ '^w'", &[0, 1]),
            ("b", &[0, 1]),
            ("not b", &[2]),
            ("b == false or n == 5", &[0, 1, 2]),
        ],
    )
    .await;
}

/// What a struct has, and a condition of it as it is written and as it is computed.
type Clip = (&'static str, i64, bool);
type Condition = (&'static str, fn(&Clip) -> bool);

const CONDITIONS: [Condition; 15] = [
    ("$[n] > 2", |clip| clip.1 > 2),
    ("$[seen]", |clip| clip.2),
    ("$[text] == 'a' && $[n] != 3", |clip| {
        clip.0 == "a" && clip.1 != 3
    }),
    ("not ($[text] in ['a', 'c'])", |clip| clip.0 == "b"),
    ("$[text] like 'b%' || $[n] == 5", |clip| {
        clip.0 == "b" || clip.1 == 5
    }),
    ("1 < $[n] <= 4", |clip| clip.1 > 1 && clip.1 <= 4),
    ("$[text] =~ '^a?$|x'", |clip| clip.0 == "a"),
    ("$[text] !~ '[a-a]'", |clip| clip.0 != "a"),
    // What no index answers is tested of each struct by itself.
    ("$[n] + 1 > 4", |clip| clip.1 + 1 > 4),
    ("not ($[n] * 2 - 1 == 5)", |clip| clip.1 * 2 - 1 != 5),
    ("$[n] % 2 == 1 && $[seen]", |clip| clip.1 % 2 == 1 && clip.2),
    ("$[text] == 'c' || $[n] * $[n] < 10", |clip| {
        clip.0 == "c" || clip.1 * clip.1 < 10
    }),
    ("$[n] / 2 == 2 && $[text] in ['a', 'c']", |clip| {
        clip.1 / 2 == 2 && clip.0 != "b"
    }),
    ("$[text] =~ '(?m)^a$'", |clip| clip.0 == "a"),
    (r"not ($[text] =~ '\\bb') && ($[n] & 1) == 1", |clip| {
        clip.0 != "b" && clip.1 & 1 == 1
    }),
];

/// A function of structs as it is written, and whether it holds for so many of so many that match.
type Call = (String, Box<dyn Fn(usize, usize) -> bool>);

fn calls(condition: &str) -> Vec<Call> {
    let mut all: Vec<Call> = Vec::new();
    for any in ["element_filter", "match_any"] {
        all.push((
            format!("{any}(clips, {condition})"),
            Box::new(|count, _| count > 0),
        ));
    }
    let every = format!("MATCH_ALL(clips, {condition})");
    all.push((every, Box::new(|count, of| count == of)));
    for wanted in 0..5 {
        let call = |how: &str| format!("match_{how}(clips, {condition}, threshold={wanted})");
        if wanted > 0 {
            all.push((call("least"), Box::new(move |count, _| count >= wanted)));
        }
        all.push((call("most"), Box::new(move |count, _| count <= wanted)));
        all.push((call("exact"), Box::new(move |count, _| count == wanted)));
    }
    all
}

#[tokio::test]
async fn structs_are_counted_one_by_one() {
    let lists: [Option<&[Clip]>; 7] = [
        Some(&[("a", 1, true), ("b", 2, false)]),
        Some(&[]),
        None,
        Some(&[("a", 3, true), ("a", 4, true), ("b", 5, true)]),
        // What one has and another has is not what one has.
        Some(&[("a", 3, false), ("b", 1, true)]),
        Some(&[("c", 5, false)]),
        Some(&[
            ("b", 3, true),
            ("b", 4, true),
            ("b", 5, true),
            ("b", 1, false),
        ]),
    ];
    let row = |(id, list): (usize, &Option<&[Clip]>)| {
        let one = |clip: &Clip| json!({"text": clip.0, "n": clip.1, "seen": clip.2});
        let clips = list.map(|list| list.iter().map(one).collect::<Vec<Value>>());
        json!({"id": id, "clips": clips})
    };
    let rows: Vec<Value> = lists.iter().enumerate().map(row).collect();
    let engine = engine_for(&collection(), &rows, 3);
    for (condition, holds) in CONDITIONS {
        for (call, is_met) in calls(condition) {
            for (text, negated) in [(call.clone(), false), (format!("not {call}"), true)] {
                let meets = |list: &[Clip]| {
                    let count = list.iter().filter(|clip| holds(clip)).count();
                    is_met(count, list.len()) != negated
                };
                // Of no list nothing is known.
                let expected = (0..)
                    .zip(&lists)
                    .filter(|(_, list)| list.is_some_and(meets));
                let expected: BTreeSet<i64> = expected.map(|(id, _)| id).collect();
                assert_eq!(ids(&engine, &text).await, expected, "{text}");
            }
        }
    }
}

#[tokio::test]
async fn lists_of_structs_have_lengths_and_values() {
    let clip = |(text, n): (&str, i64)| json!({"text": text, "n": n, "seen": true});
    let row = |(id, list): (usize, Option<&[(&str, i64)]>)| {
        let clips = list.map(|list| list.iter().copied().map(clip).collect::<Vec<Value>>());
        json!({"id": id, "clips": clips})
    };
    let lists: [Option<&[(&str, i64)]>; 5] = [
        Some(&[("a", 1), ("b", 2)]),
        Some(&[]),
        None,
        Some(&[("a", 3)]),
        Some(&[("b", 1), ("c", 2), ("c", 3)]),
    ];
    let rows: Vec<Value> = lists.into_iter().enumerate().map(row).collect();
    check(
        &rows,
        &[
            ("array_length(clips) == 1", &[3]),
            ("array_length(clips[n]) == 2", &[0]),
            ("array_length(clips) == 0", &[1]),
            ("array_length(clips) != 0", &[0, 3, 4]),
            ("not (array_length(clips) == 0)", &[0, 3, 4]),
            ("array_length(clips) >= 2", &[0, 4]),
            ("2 < array_length(clips)", &[4]),
            ("array_length(clips) < 2", &[1, 3]),
            ("array_length(clips) <= 0", &[1]),
            ("array_length(clips) == -1", &[]),
            ("array_length(clips) > -1", &[0, 1, 3, 4]),
            ("1 <= array_length(clips) <= 2", &[0, 3]),
            ("array_contains(clips[text], 'a')", &[0, 3]),
            ("not array_contains(clips[text], 'a')", &[1, 4]),
            ("json_contains(clips[n], 2)", &[0, 4]),
            ("array_contains(clips[n], 2.5)", &[]),
            ("array_contains_any(clips[n], [1, 3])", &[0, 3, 4]),
            ("array_contains_any(clips[n], [])", &[]),
            ("ARRAY_CONTAINS_ALL(clips[n], [1, 2])", &[0, 4]),
            ("array_contains_all(clips[n], [1, 7])", &[]),
            ("array_contains_all(clips[n], [])", &[0, 1, 3, 4]),
            ("clips is null", &[2]),
            ("clips[text] is not null", &[0, 1, 3, 4]),
            ("id > 0 and array_contains(clips[text], 'b')", &[4]),
        ],
    )
    .await;
}

/// Conditions of structs, and what is said of them.
const UNASKABLE: [(&str, &str); 25] = [
    (
        "match_any(clips, $[no] == 1)",
        "array field not found: clips[no], error: field clips[no] not exist",
    ),
    (
        "match_any(clips, match_all(clips, $[n] == 1))",
        "nested MATCH_ALL is not supported, already inside match expression for field: clips",
    ),
    (
        "element_filter(clips, element_filter(clips, $[n] == 1))",
        "nested ElementFilter is not supported, already inside ElementFilter for field: clips",
    ),
    ("match_any(clips, n == 1)", "scalar fields"),
    ("match_any(n, $[n] == 1)", "no field of structs"),
    ("match_any(clips)", "a condition"),
    ("match_any(clips, $[n] == 1, threshold=1)", "no such option"),
    ("match_least(clips, $[n] == 1)", "threshold"),
    (
        "match_least(clips, $[n] == 1, threshold=-1)",
        "must be positive, got: -1",
    ),
    (
        "match_least(clips, $[n] == 1, threshold=0)",
        "count in MATCH_LEAST must be positive, got: 0",
    ),
    (
        "match_exact(clips, $[n] == 1, threshold=-2)",
        "count in MATCH_EXACT cannot be negative, got: -2",
    ),
    (
        "match_most(clips, $[n] == 1, threshold='a')",
        "threshold must be a whole number from 0",
    ),
    (
        "match_any(clips, $[text] + 1 == 2)",
        "cannot calculate with",
    ),
    ("match_any(clips, $[n] / 0 == 2)", "division by zero"),
    ("match_any(clips, $[n] > $[text])", "not supported"),
    ("array_length(clips) == 'a'", "cannot be compared"),
    ("array_length(clips) + 1 == 2", "field clips not exist"),
    ("array_contains(clips[n], 'a')", "clips[n]"),
    ("array_contains(clips, 1)", "field clips not exist"),
    (
        "array_contains(clips[0][n], 1)",
        "only supported on json or array fields now, got: Int64",
    ),
    (
        "clips[0][n] in [1, 'a']",
        "value 'string_val:\"a\"' in list cannot be casted to Int64",
    ),
    ("clips[n] == 1", "can not comparisons array fields directly"),
    (
        "clips[no] is null",
        "struct field not found: clips[no], error: field clips[no] not exist",
    ),
    ("clips[0] == 1", "field clips not exist"),
    (
        "$[n] == 1",
        "$[n] syntax can only be used inside ElementFilter or MATCH_*",
    ),
];

#[test]
fn conditions_that_no_struct_can_be_asked_are_named() {
    for (text, said) in UNASKABLE {
        refused(text, 1100, said);
    }
}

#[test]
fn only_json_has_keys_and_only_lists_have_lengths() {
    let collection = super::oracle::collection();
    for (text, said) in [
        ("exists l", "only supportted on json field, got:Int64"),
        ("exists a[0]", "only supportted on json field, got:Array"),
        ("exists j", "only supportted on json key"),
        ("exists $meta", "only supportted on json key"),
        ("exists 1", "only supported on single fields now"),
        ("exists {x}", "only supported on single fields now"),
        (
            "array_length(l) == 1",
            "array_length operation are only supported on json or array fields now, got: Int64",
        ),
    ] {
        let parsed = parse(text).unwrap();
        let error = lower(&parsed, &collection, &Templates::default()).unwrap_err();
        assert_eq!(error.code(), 1100, "{text}: {error}");
        assert!(error.to_string().contains(said), "{text}: {error}");
    }
}
