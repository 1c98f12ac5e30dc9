//! Whether a step is done.

use super::*;

#[test]
fn conditions_say_whether_a_step_is_done() {
    let holds = |condition: Json, line: &str| {
        let steps = json!([
            {"dissect": {"field": "message", "pattern": "%{a} %{b.c}"}},
            {"drop": {"if": condition}},
        ]);
        run(steps, line).starts_with("dropped")
    };
    let table = [
        (json!({"equals": {"a": "x"}}), true),
        (json!({"equals": {"a": "x", "b.c": 8}}), false),
        (json!({"equals": {"b.c": 7}}), true),
        (json!({"contains": {"message": "x 7"}}), true),
        (json!({"contains": {"none": "x"}}), false),
        (json!({"regexp": {"a": "^[x-z]$"}}), true),
        (json!({"range": {"b.c": {"gte": 7, "lt": 8}}}), true),
        (json!({"range": {"b.c": {"gt": 7}}}), false),
        (json!({"range": {"b.c.gte": 7, "b.c.lt": 8}}), true),
        (json!({"range": {"b.c.gte": 7, "b.c.lt": 7}}), false),
        (json!({"range": {"a": {"gt": 0}}}), false),
        (json!({"network": {"a": "private"}}), false),
        (json!({"has_fields": ["a", "b", "b.c"]}), true),
        (json!({"has_fields": ["b.d"]}), false),
        (json!({"not": {"has_fields": ["b.d"]}}), true),
        (
            json!({"and": [{"equals": {"a": "x"}}, {"equals": {"b.c": "7"}}]}),
            true,
        ),
        (
            json!({"or": [{"equals": {"a": "y"}}, {"equals": {"b.c": "8"}}]}),
            false,
        ),
    ];
    for (condition, expected) in table {
        assert_eq!(holds(condition.clone(), "x 7"), expected, "{condition}");
    }
}

#[test]
fn what_spells_a_value_equals_it_and_is_another() {
    let line = r#"{"text":"200","number":200,"fraction":1.5,"truth":true,"word":"true","list":[200],"none":null}"#;
    let table = [
        (json!({"equals": {"text": 200}}), true),
        (json!({"range": {"text": {"gte": 200}}}), true),
        (
            json!({"range": {"text": {"gte": 200, "numbers_only": true}}}),
            false,
        ),
        (
            json!({"range": {"number": {"gte": 200, "numbers_only": true}}}),
            true,
        ),
        (
            json!({"range": {"list": {"gte": 200, "numbers_only": true}}}),
            false,
        ),
        (json!({"is": {"text": 200}}), false),
        (json!({"is": {"text": "200"}}), true),
        (json!({"equals": {"number": "200"}}), true),
        (json!({"is": {"number": "200"}}), false),
        (json!({"is": {"number": 200}}), true),
        (json!({"is": {"number": 201}}), false),
        (json!({"is": {"fraction": 1.5}}), true),
        (json!({"is": {"truth": true}}), true),
        (json!({"is": {"truth": "true"}}), false),
        (json!({"is": {"word": true}}), false),
        (json!({"is": {"list": 200}}), false),
        (json!({"is": {"none": 200}}), false),
        (json!({"is": {"missing": "200"}}), false),
        (json!({"not": {"is": {"made": 7}}}), false),
        (json!({"is": {"made": "7"}}), false),
    ];
    for (condition, expected) in table {
        let steps = json!([
            {"json": {"field": "message", "add_to_root": true}},
            {"add": {"field": "made", "value": "7"}},
            {"convert": {"field": "made", "type": "long"}},
            {"drop": {"if": condition}},
        ]);
        let is_dropped = run(steps, line).starts_with("dropped");
        assert_eq!(is_dropped, expected, "{condition}");
    }
}

#[test]
fn conditions_on_lists_look_at_each_item() {
    let line =
        r#"{"tags":["application","b\"c","[x]"],"codes":[200,404.0],"none":[],"text":"[\"app\"]"}"#;
    let table = [
        (json!({"contains": {"tags": "app"}}), true),
        (json!({"contains": {"tags": "b\"c"}}), true),
        (json!({"contains": {"tags": "\",\""}}), false),
        (json!({"regexp": {"tags": "^app.*n$"}}), true),
        (json!({"regexp": {"tags": "^app$"}}), false),
        (json!({"regexp": {"none": ""}}), false),
        (json!({"includes": {"tags": "app"}}), false),
        (json!({"includes": {"tags": "application"}}), true),
        (json!({"includes": {"tags": "[x]"}}), true),
        (json!({"includes": {"codes": 404}}), true),
        (json!({"includes": {"codes": "200"}}), true),
        (json!({"includes": {"codes": 20}}), false),
        (json!({"includes": {"text": "app"}}), true),
        (json!({"includes": {"missing": "app"}}), false),
    ];
    for (condition, expected) in table {
        let steps = json!([
            {"json": {"field": "message", "add_to_root": true}},
            {"drop": {"if": condition}},
        ]);
        let is_dropped = run(steps, line).starts_with("dropped");
        assert_eq!(is_dropped, expected, "{condition}");
    }
}

#[test]
fn conditions_compare_two_fields() {
    let line = r#"{"a":"x","b":"x","n":9,"m":"10","list":["x",9],"text":"a box","f":9.0}"#;
    let table = [
        (json!({"compare": {"a": {"eq": "b"}}}), true),
        (json!({"compare": {"a": {"eq": "n"}}}), false),
        (json!({"compare": {"n": {"eq": "f"}}}), true),
        (json!({"compare": {"none": {"eq": "nothing"}}}), true),
        (json!({"compare": {"a": {"eq": "nothing"}}}), false),
        // Numbers, though one of them is a text.
        (json!({"compare": {"m": {"gt": "n"}}}), true),
        (json!({"compare": {"n": {"gte": "f", "lte": "f"}}}), true),
        (json!({"compare": {"n": {"lt": "f"}}}), false),
        (json!({"compare": {"text": {"lt": "a"}}}), true),
        (json!({"compare": {"none": {"gte": "nothing"}}}), false),
        (json!({"compare": {"a": {"in": "list"}}}), true),
        (json!({"compare": {"n": {"in": "list"}}}), true),
        (json!({"compare": {"text": {"in": "list"}}}), false),
        (json!({"compare": {"a": {"in": "text"}}}), true),
        (json!({"compare": {"none": {"in": "text"}}}), false),
        (json!({"not": {"compare": {"a": {"in": "none"}}}}), true),
    ];
    for (condition, expected) in table {
        let steps = json!([
            {"json": {"field": "message", "add_to_root": true}},
            {"drop": {"if": condition}},
        ]);
        let is_dropped = run(steps, line).starts_with("dropped");
        assert_eq!(is_dropped, expected, "{condition}");
    }
}
