//! Conditions of steps.

use serde_json::{Map, Value, json};

/// Conditions that all have to hold.
pub(super) fn together(mut conditions: Vec<Value>) -> Option<Value> {
    match conditions.len() {
        0 => None,
        1 => Some(conditions.remove(0)),
        _ => Some(json!({"and": conditions})),
    }
}

/// A condition that holds where none of some fields is there.
pub(super) fn none_of<'a>(fields: impl IntoIterator<Item = &'a str>) -> Value {
    let there = fields
        .into_iter()
        .map(|field| json!({"has_fields": [field]}));
    json!({"not": {"or": there.collect::<Vec<Value>>()}})
}

/// Asks for a condition before a step, beside the one that it may have.
pub(super) fn only_if(step: &mut Value, condition: Value) {
    if let Some(parameters) = parameters(step) {
        let own = parameters.shift_remove("if");
        let both = together(std::iter::once(condition).chain(own).collect());
        parameters.extend(both.map(|both| ("if".to_owned(), both)));
    }
}

/// The parameters of a step.
pub(super) fn parameters(step: &mut Value) -> Option<&mut Map<String, Value>> {
    let (_, parameters) = step.as_object_mut()?.iter_mut().next()?;
    parameters.as_object_mut()
}

/// Whether what says the same may be of another kind, which is not equal in Beats and in Logstash: a text that spells a number, and that number.
pub(super) fn depends_on_kind(wanted: &Value) -> bool {
    match wanted {
        Value::String(text) => {
            text.parse::<f64>().is_ok() || matches!(text.as_str(), "true" | "false")
        }
        other => !other.is_null(),
    }
}
