//! Long expressions become queries that the engine takes.

use clew_platform::CancellationToken;
use clew_query::{Bool, Query};
use serde_json::json;

use super::oracle::collection;
use crate::error::MilvusError;
use crate::expr::{Templates, lower, memory_bytes, parse};
use crate::proto::{
    LongArray, TemplateArrayValue, TemplateValue, template_array_value, template_value,
};

fn lowered(text: &str) -> crate::error::Result<Query> {
    lower(&parse(text)?, &collection(), &Templates::default())
}

fn list(count: usize) -> String {
    let numbers: Vec<String> = (0..count).map(|number| number.to_string()).collect();
    format!("[{}]", numbers.join(","))
}

#[test]
fn a_chain_on_one_field_is_one_clause() {
    let chain: Vec<String> = (0..1_500).map(|number| format!("l == {number}")).collect();
    let values = (0..1_500).map(|number| json!(number)).collect();
    let expected = Query::Terms {
        field: "l".to_string(),
        values,
        boost: 1.0,
    };
    assert_eq!(lowered(&chain.join(" or ")).unwrap(), expected);
    assert_eq!(lowered(&format!("l in {}", list(1_500))).unwrap(), expected);
    let chain: Vec<String> = (0..1_500).map(|number| format!("l != {number}")).collect();
    let expected = Query::Bool(Bool {
        must_not: vec![expected],
        ..Bool::default()
    });
    assert_eq!(lowered(&chain.join(" and ")).unwrap(), expected);
}

#[test]
fn a_longer_list_is_several_clauses() {
    let query = lowered(&format!("l in {}", list(150_000))).unwrap();
    let parts: Vec<usize> = query
        .all()
        .filter_map(|query| match query {
            Query::Terms { values, .. } => Some(values.len()),
            _ => None,
        })
        .collect();
    assert_eq!(parts, [65_536, 65_536, 18_928]);
}

#[test]
fn more_conditions_than_clauses_are_one_test() {
    let chain = |count: usize| {
        let parts: Vec<String> = (0..count).map(|n| format!("l > {n} and d < {n}")).collect();
        parts.join(" or ")
    };
    let clauses = |query: &Query| query.all().count();
    assert!(clauses(&lowered(&chain(300)).unwrap()) > 600);
    assert_eq!(clauses(&lowered(&chain(600)).unwrap()), 1);
    let words: Vec<String> = (0..1_200)
        .map(|n| format!("text_match(t, 'w{n}')"))
        .collect();
    let told = lowered(&words.join(" or "))
        .err()
        .map(|error| error.to_string());
    let told = told.unwrap_or_default();
    assert!(
        told.contains("the expression has more than 1000 conditions"),
        "{told}"
    );
}

#[test]
fn conditions_as_deep_as_the_engine_goes_are_clauses() {
    let deep = |levels: usize| {
        (0..levels).fold("l > 1".to_string(), |inner, level| match level % 2 {
            0 => format!("(l > {level} and {inner})"),
            _ => format!("(l < {level} or {inner})"),
        })
    };
    assert!(lowered(&deep(20)).unwrap().all().count() > 1);
    assert_eq!(lowered(&deep(60)).unwrap().all().count(), 1);
}

/// What is wrong, the place that is told of it, and the words.
const REFUSED: &[(&str, &str, &str)] = &[
    ("a == 1", "1:0", "can not comparisons array fields directly"),
    (
        "l > 1 and a == j",
        "1:10",
        "can not comparisons array fields directly",
    ),
    (
        "a in [1]",
        "1:0",
        "can not comparisons array fields directly",
    ),
    (
        "w like 'x'",
        "1:0",
        "can not comparisons array fields directly",
    ),
    (
        "a + 1 > 2",
        "1:0",
        "can not comparisons array fields directly",
    ),
    ("a", "1:0", "can not comparisons array fields directly"),
    (
        "t == 1",
        "1:0",
        "comparisons between VarChar and Int64 are not supported",
    ),
    (
        "l in ['x']",
        "1:0",
        "value 'string_val:\"x\"' in list cannot be casted to Int64",
    ),
    (
        "l in [1, 2.5]",
        "1:0",
        "value 'float_val:2.5' in list cannot be casted to Int64",
    ),
    (
        "l in (b)",
        "1:6",
        "value '(b)' in list cannot be a non-const expression",
    ),
    (
        "l like 'x'",
        "1:0",
        "like operation on non-string or no-json field is unsupported",
    ),
    (
        "a[0] like 'x'",
        "1:0",
        "like operation on non-string or no-json field is unsupported",
    ),
    (
        "(l + 1) like 'x'",
        "1:3",
        "like operation on complicated expr is unsupported",
    ),
    (
        "l =~ 'x'",
        "1:0",
        "regex match on non-string or non-json field is unsupported",
    ),
    (
        "l !~ 'x'",
        "1:0",
        "regex match on non-string or non-json field is unsupported",
    ),
    (
        "t like l",
        "1:7",
        "like pattern should be a string literal or template variable",
    ),
    (
        r"t like '%a\\\\\\'",
        "1:7",
        "Invalid LIKE pattern: trailing backslash with nothing to escape",
    ),
    (
        "t =~ 5",
        "1:5",
        "regex pattern should be a string literal or template variable",
    ),
    (
        "text_match(t, l)",
        "1:14",
        "text_match query should be a string literal or template variable",
    ),
    (
        "text_match(t, 'a', minimum_should_match=0)",
        "1:40",
        "minimum_should_match should be >= 1, got 0",
    ),
    (
        "text_match(t, 'a', minimum_should_match=1001)",
        "1:40",
        "minimum_should_match should be <= 1000, got 1001",
    ),
    (
        "phrase_match(t, 'a b', 'c')",
        "1:23",
        "\"slop\" should be a const integer expression with \"uint32\" value",
    ),
    (
        "phrase_match(t, 'a b', 4294967296)",
        "1:23",
        "\"slop\" exceeds the range of \"uint32\"",
    ),
    (
        "json_contains_all(j, 1)",
        "1:21",
        "ContainsAll operation element must be an array",
    ),
    (
        "array_contains_any(a, 1)",
        "1:22",
        "ContainsAny operation element must be an array",
    ),
    (
        "l > 1 and l",
        "1:10",
        "'and' can only be used between boolean expressions",
    ),
    (
        "l or l > 1",
        "1:0",
        "'or' can only be used between boolean expressions",
    ),
    (
        "not l",
        "1:4",
        "not op can only be applied on boolean expression",
    ),
    (
        "not (l > 1 and d)",
        "1:15",
        "'and' can only be used between boolean expressions",
    ),
    ("t + 1 > 2", "1:0", "cannot calculate with field t"),
    ("b > true", "1:0", "comparisons of order are not supported"),
    ("l", "1:0", "predicate is not a boolean expression"),
    ("1 + 1", "1:2", "predicate is not a boolean expression"),
    ("12 - l", "1:3", "predicate is not a boolean expression"),
    ("t - 1", "1:0", "cannot calculate with field t"),
    ("l | l == 1", "1:6", "a comparison cannot be compared"),
    (
        "l[0] == 1",
        "1:0",
        "Int64 data type not supported accessed with []",
    ),
    (
        "array_contains(l, 1)",
        "1:15",
        "only supported on json or array fields",
    ),
    ("l == {x}", "1:5", "variable name {x} is not found"),
    (
        "(l > 1) == (l < 5)",
        "1:3",
        "a comparison cannot be compared",
    ),
    ("f(l)", "1:0", "function f(int64_t) not found"),
    ("f()", "1:0", "function f() not found"),
    ("f(x, l)", "1:0", "function f(json, int64_t) not found"),
    (
        "array_contains(a, 'x')",
        "1:18",
        "cannot cast value to Int64: incompatible source type",
    ),
    ("l == NULL", "1:5", "NULL literal is not supported"),
    ("l in [1, Null]", "1:9", "NULL literal is not supported"),
    ("null is null", "1:0", "NULL literal is not supported"),
    (
        "a[0] is null",
        "1:0",
        "IsNull/IsNotNull operations are not supported on array element access",
    ),
    (
        "array_length(NULL) > 0",
        "1:13",
        "NULL literal is not supported",
    ),
    ("NULL['x'] == 1", "1:0", "NULL literal is not supported"),
    (
        "text_match_fuzzy(t, 'a', max_edit_distance=3)",
        "1:43",
        "max_edit_distance should be in [0, 2], got 3",
    ),
    (
        "text_match_fuzzy(t, 'a', minimum_should_match=1)",
        "1:46",
        "expected max_edit_distance",
    ),
    (
        "text_match_fuzzy(t, 'a')",
        "1:0",
        "text_match_fuzzy takes one option, max_edit_distance",
    ),
    (
        "starts_with(l, 'a')",
        "1:0",
        "function starts_with(int64_t, varChar) not found",
    ),
    ("empty(l)", "1:0", "function empty(int64_t) not found"),
    (
        "empty(t, t)",
        "1:0",
        "function empty(varChar, varChar) not found",
    ),
    (
        "t == l",
        "1:2",
        "comparisons between VarChar and Int64 are not supported",
    ),
];

#[test]
fn whole_arrays_and_wrong_kinds_are_refused() {
    for (text, place, reason) in REFUSED {
        let told = lowered(text).err().map(|error| error.to_string());
        let told = told.unwrap_or_else(|| panic!("{text} was taken"));
        let is_alone = *reason == "predicate is not a boolean expression";
        let placed = told.ends_with(&format!("line {place}"));
        assert!(placed || is_alone, "{text}: {told}");
        assert!(told.contains(reason), "{text}: {told}");
    }
}

#[test]
fn a_negated_match_leaves_out_rows_without_a_text() {
    let query = lowered("not (text_match(t, 'x'))").unwrap();
    let exists = Query::Exists {
        field: "t".to_string(),
        boost: 1.0,
    };
    assert!(query.children().contains(&&exists), "{query:?}");
}

#[test]
fn expressions_are_read_for_somebody_alone() {
    let text = format!("l in {}", list(2_000));
    let parsed = parse(&text).unwrap();
    let token = CancellationToken::new();
    token.cancel("the client has gone");
    let _entered = token.enter();
    assert!(matches!(parse(&text), Err(MilvusError::Unavailable(_))));
    let lowered = lower(&parsed, &collection(), &Templates::default());
    assert!(matches!(lowered, Err(MilvusError::Unavailable(_))));
}

#[test]
fn a_list_beside_an_expression_is_booked_wherever_that_names_it() {
    let data = template_array_value::Data::LongData(LongArray {
        data: vec![1; 10_000],
    });
    let list = TemplateArrayValue { data: Some(data) };
    let val = Some(template_value::Val::ArrayVal(list));
    let values = [("t".to_string(), TemplateValue { val })].into();
    let once = memory_bytes("l in {t}", &values);
    assert!(once > 1_000_000);
    assert_eq!(memory_bytes("l in {t} or d in { t }", &values), 2 * once);
}
