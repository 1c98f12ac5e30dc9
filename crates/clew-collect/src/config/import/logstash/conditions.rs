//! Conditions of a Logstash in our words, and which of them have none.

use serde_json::{Value, json};

use super::syntax::{Condition, Operand};
use crate::config::import::conditions::depends_on_kind;
use crate::config::import::patterns::expression;

/// Whether a comparison in it is none of a field and a value, or of two fields.
pub(super) fn never_holds(condition: &Condition) -> bool {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => parts.iter().any(never_holds),
        Condition::Not(inner) => never_holds(inner),
        Condition::There(_) => false,
        Condition::Compared(Operand::Field(_), sign, Operand::Field(_)) => relation(sign).is_none(),
        Condition::Compared(Operand::Field(_), sign, Operand::Value(value)) => {
            is_beyond(sign, value)
        }
        Condition::Compared(left, _, right) => !matches!(
            (left, right),
            (Operand::Field(_), Operand::Value(_) | Operand::Regex(_))
                | (Operand::Value(_), Operand::Field(_))
        ),
    }
}

/// Whether a field is compared with a list as a whole, or is to stand before or behind what spells no number.
fn is_beyond(sign: &str, value: &Value) -> bool {
    match sign {
        "in" | "not in" => false,
        "<" | "<=" | ">" | ">=" => !bound(value).is_number(),
        _ => value.is_array() || value.is_object(),
    }
}

/// The number that a text spells; anything else as it is.
fn bound(value: &Value) -> Value {
    let spelled = value
        .as_str()
        .and_then(|text| serde_json::from_str::<Value>(text).ok())
        .filter(Value::is_number);
    spelled.unwrap_or_else(|| value.clone())
}

/// Whether it asks for an item of a list, `[a][0]`, by a number that may count from the end.
pub(super) fn asks_for_items(condition: &Condition) -> bool {
    let is_number = |part: &str| {
        let digits = part.strip_prefix('-').unwrap_or(part);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_item = |field: &String| field.split('.').skip(1).any(is_number);
    let is_one = |operand: &Operand| matches!(operand, Operand::Field(field) if is_item(field));
    match condition {
        Condition::And(parts) | Condition::Or(parts) => parts.iter().any(asks_for_items),
        Condition::Not(inner) => asks_for_items(inner),
        Condition::There(field) => is_item(field),
        Condition::Compared(left, _, right) => is_one(left) || is_one(right),
    }
}

/// What a sign between two fields asks for, and whether it asks for the opposite.
fn relation(sign: &str) -> Option<(&'static str, bool)> {
    Some(match sign {
        "==" => ("eq", false),
        "!=" => ("eq", true),
        ">" => ("gt", false),
        ">=" => ("gte", false),
        "<" => ("lt", false),
        "<=" => ("lte", false),
        "in" => ("in", false),
        "not in" => ("in", true),
        _ => return None,
    })
}

/// A condition in our words.
pub(super) fn written(condition: &Condition) -> Value {
    let all = |parts: &[Condition]| parts.iter().map(written).collect::<Vec<_>>();
    match condition {
        Condition::And(parts) => json!({"and": all(parts)}),
        Condition::Or(parts) => json!({"or": all(parts)}),
        Condition::Not(inner) => json!({"not": written(inner)}),
        // There is something, and it is not `false`.
        Condition::There(field) => json!({"and": [
            {"regexp": {field: "(?s)."}}, {"not": {"equals": {field: false}}},
        ]}),
        Condition::Compared(left, sign, right) => match host_with_name(left, right) {
            None => compared(left, sign, right),
            Some((other_left, other_right)) => {
                let both = [
                    compared(left, sign, right),
                    compared(&other_left, sign, &other_right),
                ];
                match sign.as_str() {
                    "!=" | "!~" | "not in" => json!({"and": both}),
                    _ => json!({"or": both}),
                }
            }
        },
    }
}

/// The sides of a comparison of `host` with something else than a field, with the name of the machine in its place: a Logstash without
/// the schema has it in `host` itself.
fn host_with_name(left: &Operand, right: &Operand) -> Option<(Operand, Operand)> {
    let name = || Operand::Field("host.name".to_owned());
    match (left, right) {
        (_, Operand::Field(_)) if matches!(left, Operand::Field(_)) => None,
        (Operand::Field(field), other) if field == "host" => Some((name(), other.clone())),
        (other, Operand::Field(field)) if field == "host" => Some((other.clone(), name())),
        _ => None,
    }
}

fn compared(left: &Operand, sign: &str, right: &Operand) -> Value {
    if let (Operand::Field(field), Operand::Field(other), Some((word, is_opposite))) =
        (left, right, relation(sign))
    {
        let condition = json!({"compare": {field: {word: other}}});
        return match is_opposite {
            true => json!({ "not": condition }),
            false => condition,
        };
    }
    let (field, value, is_turned) = match (left, right) {
        (Operand::Field(field), Operand::Value(value)) => (field, value.clone(), false),
        (Operand::Field(field), Operand::Regex(pattern)) => (field, json!(pattern), false),
        (Operand::Value(value), Operand::Field(field)) => (field, value.clone(), true),
        // Two values are compared by nothing here.
        _ => return json!({"not": {"has_fields": []}}),
    };
    if !is_turned && is_beyond(sign, &value) {
        return json!({"not": {"has_fields": []}});
    }
    let is = |word: &str, value: &Value| json!({word: {field: value}});
    let same = |value: &Value| match depends_on_kind(value) {
        true => is("is", value),
        false => is("equals", value),
    };
    match (sign, is_turned) {
        ("==", _) => same(&value),
        ("!=", _) => json!({"not": same(&value)}),
        ("=~", _) => is("regexp", &matched(&value)),
        ("!~", _) => json!({"not": is("regexp", &matched(&value))}),
        ("in", true) => is("includes", &value),
        ("not in", true) => json!({"not": is("includes", &value)}),
        ("in", false) if value.is_string() => is("within", &value),
        ("not in", false) if value.is_string() => json!({"not": is("within", &value)}),
        ("in" | "not in", false) => {
            let items = value.as_array().cloned().unwrap_or_else(|| vec![value]);
            let any: Vec<Value> = items.iter().map(same).collect();
            match sign {
                "in" => json!({"or": any}),
                _ => json!({"not": {"or": any}}),
            }
        }
        (order, is_turned) => {
            let word = match (order, is_turned) {
                ("<", false) | (">", true) => "lt",
                ("<=", false) | (">=", true) => "lte",
                (">", false) | ("<", true) => "gt",
                _ => "gte",
            };
            json!({"range": {field: {word: bound(&value)}}})
        }
    }
}

/// What a field is matched with, as an expression of ours.
fn matched(value: &Value) -> Value {
    value.as_str().map(expression).into()
}
