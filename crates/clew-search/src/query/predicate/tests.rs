use clew_query::Comparison;
use serde_json::json;

use super::*;

fn field(name: &str) -> Operand {
    Operand::Field {
        name: name.to_string(),
        steps: Vec::new(),
    }
}

fn holds(test: Test, document: &Value) -> Option<bool> {
    Compiled::of(&test).unwrap().holds(document)
}

#[test]
fn what_is_unknown_stays_unknown() {
    let document = json!({"a": 1});
    let less =
        |name: &str| Test::Compare(Comparison::Less, field(name), Operand::Literal(json!(5)));
    assert_eq!(holds(less("a"), &document), Some(true));
    assert_eq!(holds(less("b"), &document), None);
    assert_eq!(holds(Test::Not(Box::new(less("b"))), &document), None);
    assert_eq!(
        holds(Test::Or(vec![less("b"), less("a")]), &document),
        Some(true)
    );
    assert_eq!(
        holds(Test::And(vec![less("b"), less("a")]), &document),
        None
    );
    let not_a = Test::Not(Box::new(less("a")));
    assert_eq!(
        holds(Test::And(vec![less("b"), not_a]), &document),
        Some(false)
    );
    assert_eq!(holds(Test::Exists(field("b")), &document), Some(false));
}

#[test]
fn among_values_of_other_kinds_alone_it_is_unknown() {
    for (own, values, want) in [
        (json!(2), json!([2, 3]), Some(true)),
        (json!(4), json!([2, 3]), Some(false)),
        (json!("2"), json!([2, 3]), None),
        (json!([2]), json!([2, 3]), None),
        (json!("b"), json!([2, "a"]), Some(false)),
        (json!("b"), json!([]), Some(false)),
        (json!(null), json!([2]), None),
    ] {
        let among = Test::OneOf(field("a"), values.as_array().cloned().unwrap());
        let not = Test::Not(Box::new(among.clone()));
        let document = json!({ "a": own });
        assert_eq!(holds(among, &document), want, "{own} {values}");
        assert_eq!(holds(not, &document), want.map(|is| !is), "{own} {values}");
    }
}

#[test]
fn patterns_describe_whole_texts() {
    let document = json!({"t": "50% of a\nline"});
    let like = |pattern: &str| Test::Text(field("t"), TextPattern::Like(pattern.to_string()));
    assert_eq!(holds(like("50\\%%line"), &document), Some(true));
    assert_eq!(holds(like("50\\% of _%"), &document), Some(true));
    assert_eq!(holds(like("of"), &document), Some(false));
    let regex = Test::Text(field("t"), TextPattern::Regex("o[f]".to_string()));
    assert_eq!(holds(regex, &document), Some(true));
    let wrong = Test::Text(field("t"), TextPattern::Regex("(".to_string()));
    assert!(Compiled::of(&wrong).is_err());
}

#[test]
fn shapes_lie_as_they_should_or_it_is_unknown() {
    let document = json!({"at": "POINT (1 1)", "other": "no shape"});
    let within = |name: &str| {
        let square = "POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))".to_string();
        let relation = clew_query::PlanarRelation::Within;
        Test::Shape(
            field(name),
            clew_query::ShapeTest::Relates(relation, square),
        )
    };
    assert_eq!(holds(within("at"), &document), Some(true));
    assert_eq!(
        holds(Test::Not(Box::new(within("at"))), &document),
        Some(false)
    );
    assert_eq!(holds(within("other"), &document), None);
    assert_eq!(holds(within("none"), &document), None);
}

#[test]
fn lists_contain_values() {
    let document = json!({"l": [1, "x", [2]]});
    let contains = |values: Vec<Value>, all: bool| Test::Contains {
        list: field("l"),
        values,
        all,
    };
    assert_eq!(
        holds(contains(vec![json!(1), json!("x")], true), &document),
        Some(true)
    );
    assert_eq!(
        holds(contains(vec![json!(1), json!("y")], true), &document),
        Some(false)
    );
    assert_eq!(
        holds(contains(vec![json!(1), json!("y")], false), &document),
        Some(true)
    );
    assert_eq!(
        holds(contains(vec![json!([2])], true), &document),
        Some(true)
    );
}
