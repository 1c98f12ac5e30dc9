//! Random expressions over random documents: what the engine finds is what the interpreter says.

use std::collections::BTreeSet;
use std::sync::Arc;

use clew_engine::{
    Access, Action, Engine, EngineOptions, IndexSettings, OpType, Purpose, SearchRequest,
    WriteOperation,
};
use clew_platform::{RealClock, SimDisk};
use clew_query::Query;
use clew_schema::Mapping;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

use super::interpreter::holds;
use super::printed::placeless;
use crate::collection::{Collection, mapping_spec};
use crate::expr::{Templates, lower, parse};

const DOCUMENTS: usize = 300;
const EXPRESSIONS: usize = 1_500;

/// A collection with a field of each kind.
pub(super) fn collection() -> Collection {
    let fields: Vec<Value> = [
        json!({"name": "id", "data_type": "Int64", "is_primary": true}),
        json!({"name": "i", "data_type": "Int16", "nullable": true}),
        json!({"name": "l", "data_type": "Int64"}),
        json!({"name": "d", "data_type": "Double", "nullable": true}),
        json!({"name": "f", "data_type": "Float", "nullable": true}),
        json!({"name": "t", "data_type": "VarChar", "nullable": true, "params": {"enable_match": "true"}}),
        json!({"name": "s", "data_type": "VarChar"}),
        json!({"name": "b", "data_type": "Bool", "nullable": true}),
        json!({"name": "j", "data_type": "Json", "nullable": true}),
        json!({"name": "a", "data_type": "Array", "element_type": "Int64", "nullable": true}),
        json!({"name": "w", "data_type": "Array", "element_type": "VarChar"}),
    ]
    .into_iter()
    .enumerate()
    .map(|(at, mut field)| {
        field["id"] = json!(100 + at);
        field
    })
    .collect();
    serde_json::from_value(json!({
        "id": 1, "fields": fields, "dynamic": true, "consistency_level": 0, "shards": 1,
        "partitions": {"_default": 1}, "loaded": true, "updated_ms": 0,
    }))
    .unwrap()
}

fn text() -> impl Strategy<Value = String> {
    "[ab%é]{0,3}"
}

fn scalar() -> BoxedStrategy<Value> {
    prop_oneof![
        Just(Value::Null),
        (-3_i64..6).prop_map(Value::from),
        (-6_i64..12).prop_map(|half| json!(f64::from(i32::try_from(half).unwrap()) / 2.0)),
        text().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
    ]
    .boxed()
}

/// What a JSON field has: anything, and often an object with members that expressions ask for.
fn inside() -> BoxedStrategy<Value> {
    let list = prop::collection::vec(scalar(), 0..4).prop_map(Value::from);
    let any = prop_oneof![scalar(), list.clone()];
    prop_oneof![
        1 => any.clone(),
        3 => (any.clone(), list, any).prop_map(|(k, n, o)| json!({"k": k, "n": n, "o": {"k": o}})),
    ]
    .boxed()
}

fn document() -> impl Strategy<Value = Value> {
    let number = -3_i64..6;
    let half = (-6_i32..12).prop_map(|half| f64::from(half) / 2.0);
    let tenth = (-3_i32..6).prop_map(|tenth| f64::from(tenth) / 10.0);
    let numbers = (
        prop::option::of(number.clone()),
        number.clone(),
        prop::option::of(half),
        prop::option::of(tenth),
    );
    let texts = (
        prop::option::of(text()),
        text(),
        prop::option::of(any::<bool>()),
    );
    let lists = (
        prop::option::of(prop::collection::vec(number, 0..4)),
        prop::collection::vec(text(), 0..4),
    );
    let dynamic = (scalar(), inside());
    (numbers, texts, lists, inside(), dynamic).prop_map(
        |((i, l, d, f), (t, s, b), (a, w), j, (x, y))| {
            let all = json!({
                "i": i, "l": l, "d": d, "f": f, "t": t, "s": s, "b": b, "j": j, "a": a, "w": w,
                "$meta": {"x": x, "y": y},
            });
            // A value that is null is left out by some, and written by others.
            match l % 2 {
                0 => all,
                _ => all
                    .as_object()
                    .unwrap()
                    .iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect::<Map<_, _>>()
                    .into(),
            }
        },
    )
}

fn quoted(text: &str) -> String {
    format!("'{text}'")
}

/// A value as it is written.
fn literal() -> BoxedStrategy<String> {
    prop_oneof![
        3 => (-4_i64..7).prop_map(|number| number.to_string()),
        1 => (-7_i32..13).prop_map(|half| format!("{:?}", f64::from(half) / 2.0)),
        2 => text().prop_map(|text| quoted(&text)),
        1 => any::<bool>().prop_map(|value| value.to_string()),
    ]
    .boxed()
}

fn number() -> BoxedStrategy<String> {
    prop_oneof![
        3 => (-4_i64..7).prop_map(|number| number.to_string()),
        1 => (-7_i32..13).prop_map(|half| format!("{:?}", f64::from(half) / 2.0)),
        1 => prop::sample::select(vec!["40000", "-40000", "1e30", "9223372036854775807"]).prop_map(String::from),
    ]
    .boxed()
}

/// A number that a list beside a whole number may have.
fn whole() -> BoxedStrategy<String> {
    prop_oneof![
        3 => (-4_i64..7).prop_map(|number| number.to_string()),
        1 => one_of(&["40000", "-40000", "9223372036854775807"]),
    ]
    .boxed()
}

fn one_of(words: &[&str]) -> BoxedStrategy<String> {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    prop::sample::select(words).boxed()
}

fn list(item: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let items = prop::collection::vec(item, 0..4);
    items
        .prop_map(|items| format!("[{}]", items.join(", ")))
        .boxed()
}

/// A value inside JSON, the dynamic field or an array.
fn deep() -> BoxedStrategy<String> {
    one_of(&[
        "j",
        "j['k']",
        "j['n']",
        "j['n'][0]",
        "j['o']['k']",
        "j['o']['k'][1]",
        "x",
        "y['k']",
        "y['n'][1]",
        "y",
        "$meta['x']",
        "missing",
    ])
}

/// A key of JSON or of the dynamic field.
fn key() -> BoxedStrategy<String> {
    one_of(&[
        "j['k']",
        "j['n'][0]",
        "j['o']['k']",
        "x",
        "y['n']",
        "missing",
    ])
}

fn comparison() -> BoxedStrategy<String> {
    let order = || one_of(&["==", "!=", "<", "<=", ">", ">="]);
    let numeric = || one_of(&["id", "i", "l", "d", "a[0]"]);
    let by = one_of(&["-2", "-1", "1", "2", "3", "4"]);
    let count = (numeric(), one_of(&["+", "-", "*", "/", "%"]), by)
        .prop_map(|(field, operator, value)| format!("{field} {operator} {value}"));
    let tenth = (-4_i32..7).prop_map(|tenth| format!("{:?}", f64::from(tenth) / 10.0));
    let texts = text().prop_map(|text| quoted(&text));
    let sides = prop_oneof![
        (numeric(), number()),
        (number(), numeric()),
        (count, number()),
        (numeric(), numeric()),
        (one_of(&["f"]), tenth),
        (one_of(&["t", "s", "w[0]"]), texts),
        (one_of(&["t"]), one_of(&["s", "j['k']"])),
        (deep(), literal()),
        (literal(), deep()),
        (
            one_of(&["array_length(a)", "array_length(w)", "array_length(j['n'])"]),
            number()
        ),
        (one_of(&["i + l", "d - i", "l * d", "l / i"]), number()),
    ];
    let equal = (
        one_of(&["b"]),
        one_of(&["==", "!="]),
        one_of(&["true", "false"]),
    );
    let ranges = (number(), numeric(), number()).prop_map(|(a, f, b)| format!("{a} < {f} <= {b}"));
    prop_oneof![
        8 => (sides, order()).prop_map(|((left, right), order)| format!("{left} {order} {right}")),
        1 => equal.prop_map(|(left, order, right)| format!("{left} {order} {right}")),
        1 => ranges,
    ]
    .boxed()
}

fn condition() -> BoxedStrategy<String> {
    let texts = || text().prop_map(|text| quoted(&text)).boxed();
    let within = prop_oneof![
        (one_of(&["i", "l", "id"]), list(whole())),
        (one_of(&["d"]), list(number())),
        (one_of(&["t", "s"]), list(texts())),
        (one_of(&["b"]), list(one_of(&["true", "false"]))),
        (deep(), list(literal())),
        (one_of(&["i + 1", "l % 3"]), list(number())),
    ];
    let any = one_of(&[
        "i", "l", "d", "f", "t", "s", "b", "j", "a", "w", "j['k']", "x", "y['n']",
    ]);
    let pattern = "[ab%_é]{0,4}".prop_map(|pattern| quoted(&pattern));
    let contains = prop_oneof![
        (one_of(&["array_contains(a", "ARRAY_CONTAINS(a"]), number()),
        (one_of(&["array_contains(w"]), texts()),
        (
            one_of(&["array_contains_all(a", "array_contains_any(a"]),
            list(number())
        ),
        (
            one_of(&["array_contains_all(w", "array_contains_any(w"]),
            list(texts())
        ),
        (
            one_of(&[
                "json_contains(j['n']",
                "json_contains(y['n']",
                "json_contains(j"
            ]),
            literal()
        ),
        (
            one_of(&["json_contains_all(j['n']", "json_contains_any(y['n']"]),
            list(literal())
        ),
    ];
    prop_oneof![
        6 => comparison(),
        2 => (within, one_of(&["in", "not in"])).prop_map(|((value, list), word)| format!("{value} {word} {list}")),
        1 => (any, one_of(&["is null", "is not null"])).prop_map(|(value, word)| format!("{value} {word}")),
        1 => key().prop_map(|path| format!("exists {path}")),
        1 => (one_of(&["t", "s", "j['k']", "x", "w[0]"]), pattern).prop_map(|(text, pattern)| format!("{text} like {pattern}")),
        2 => contains.prop_map(|(call, wanted)| format!("{call}, {wanted})")),
        1 => one_of(&["b", "x", "j['k']", "true", "false"]),
    ]
    .boxed()
}

fn expression() -> impl Strategy<Value = String> {
    condition().prop_recursive(4, 16, 3, |inner| {
        let parts = prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            3 => (parts, any::<bool>()).prop_map(|(parts, all)| {
                let joined = parts.join(if all { ") and (" } else { ") or (" });
                format!("({joined})")
            }),
            1 => inner.prop_map(|inner| format!("not ({inner})")),
        ]
    })
}

pub(super) fn engine_of(documents: &[Value], at_once: usize) -> Engine {
    engine_for(&collection(), documents, at_once)
}

/// An engine with the rows of a collection.
pub(super) fn engine_for(collection: &Collection, documents: &[Value], at_once: usize) -> Engine {
    let options = EngineOptions::new("/data");
    let disk = Arc::new(SimDisk::new());
    let engine = Engine::start(options, disk, Arc::new(RealClock::new())).unwrap();
    let access = Access::everything();
    let mapping = Mapping::from_spec(mapping_spec(collection).unwrap()).unwrap();
    let created = engine.create_index(&access, "c", IndexSettings::default(), mapping);
    created.unwrap();
    let index = engine.open_exactly("c", &access, Purpose::Read).unwrap();
    // Some are written twice, and there is more than one segment.
    for part in documents.chunks(at_once) {
        for times in 0..2 {
            let some = part.iter().filter(|one| times == 0 || one["l"] == json!(3));
            let operations = some.map(|one| WriteOperation {
                index: "c".into(),
                require_alias: false,
                id: Some(one["id"].to_string()),
                routing: None,
                action: Action::index(one.to_string(), OpType::Index),
                condition: None,
            });
            let written = engine.write(&access, operations.collect());
            for outcome in &written.results {
                outcome.as_ref().unwrap();
            }
            engine.refresh(&index).unwrap();
        }
    }
    engine
}

pub(super) async fn found(engine: &Engine, query: Query) -> BTreeSet<i64> {
    let access = Access::everything();
    let index = engine.open_exactly("c", &access, Purpose::Read).unwrap();
    let request = SearchRequest {
        size: DOCUMENTS,
        ..SearchRequest::new(engine.pin(&[index]).unwrap(), query)
    };
    let response = engine.search(request).await.unwrap();
    response
        .hits
        .iter()
        .map(|hit| hit.id.parse().unwrap())
        .collect()
}

#[tokio::test]
async fn the_engine_finds_what_the_interpreter_says() {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let documents: Vec<Value> = (0..DOCUMENTS)
        .map(|id| {
            let mut made = document().new_tree(&mut runner).unwrap().current();
            made["id"] = json!(id);
            made
        })
        .collect();
    let (engine, collection) = (engine_of(&documents, DOCUMENTS / 3), collection());
    let mut wrong = Vec::new();
    for _ in 0..EXPRESSIONS {
        let text = expression().new_tree(&mut runner).unwrap().current();
        let parsed = parse(&text).unwrap();
        let templates = Templates::default();
        let query = lower(&parsed, &collection, &templates)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        let tested = crate::expr::lower::by_document(&parsed.expr, &collection, &templates);
        let expr = placeless(parsed.expr);
        let expected: BTreeSet<i64> = documents
            .iter()
            .filter(|document| holds(&expr, &collection, document) == Some(true))
            .map(|document| document["id"].as_i64().unwrap())
            .collect();
        for (way, query) in [("clauses", query), ("a test", tested.unwrap())] {
            let found = found(&engine, query).await;
            let Some(differs) = found.symmetric_difference(&expected).next() else {
                continue;
            };
            let first = &documents[usize::try_from(*differs).unwrap()];
            let which = if found.contains(differs) {
                "too much"
            } else {
                "missing"
            };
            wrong.push(format!("{text}\n  as {way}, {which}: {first}"));
        }
    }
    wrong.sort_by_key(String::len);
    wrong.truncate(12);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
