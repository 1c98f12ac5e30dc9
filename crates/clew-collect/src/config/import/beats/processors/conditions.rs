//! The conditions of Beats, which have the same words as ours.

use serde_json::{Map, Value, json};

use super::undotted;
use crate::config::import::conditions::depends_on_kind;
use crate::config::import::patterns::expression;
use crate::config::import::{Notes, Part};

/// A condition. Bounds of ranges may be written with dots, `http.code.gte: 400`.
pub(in crate::config::import) fn condition(
    when: Value,
    path: &[Part],
    notes: &mut Notes<'_>,
) -> Value {
    let Value::Object(members) = when else {
        notes.tell(path, "its condition is no mapping");
        return json!({"has_fields": []});
    };
    let mut all: Vec<Value> = Vec::new();
    for (name, what) in members {
        let (name, what) = undotted(name, what);
        let what = match (name.as_str(), what) {
            ("and" | "or", Value::Array(items)) => {
                let items = items.into_iter();
                items.map(|item| condition(item, path, notes)).collect()
            }
            ("not", inner) => condition(inner, path, notes),
            ("range", Value::Object(fields)) => Value::Object(range(fields)),
            ("regexp", Value::Object(fields)) => fields
                .into_iter()
                .map(|(field, pattern)| {
                    let pattern = pattern
                        .as_str()
                        .map_or(pattern.clone(), |one| expression(one).into());
                    (field, pattern)
                })
                .collect(),
            ("contains", Value::Object(fields)) if fields.values().any(Value::is_array) => {
                let reason = "a list is in no field by [contains], there as here: it never holds";
                notes.tell(path, reason);
                all.push(json!({"not": {"has_fields": []}}));
                continue;
            }
            ("equals", Value::Object(fields)) => {
                let fields = fields.into_iter();
                let (exact, alike): (Map<String, Value>, Map<String, Value>) =
                    fields.partition(|(_, wanted)| depends_on_kind(wanted));
                let parts = [("equals", alike), ("is", exact)].into_iter();
                let parts = parts.filter(|(_, fields)| !fields.is_empty());
                all.extend(parts.map(|(name, fields)| json!({name: fields})));
                continue;
            }
            ("contains" | "regexp" | "network" | "has_fields", what) => what,
            (other, _) => {
                notes.tell(
                    path,
                    format!("no condition is called [{other}]: it never holds"),
                );
                all.push(json!({"not": {"has_fields": []}}));
                continue;
            }
        };
        all.push(Value::Object(Map::from_iter([(name, what)])));
    }
    match all.len() {
        1 => all.remove(0),
        _ => json!({"and": all}),
    }
}

fn range(fields: Map<String, Value>) -> Map<String, Value> {
    let mut out: Map<String, Value> = Map::new();
    for (name, bound) in fields {
        let split = name.rsplit_once('.');
        match split.filter(|(_, last)| matches!(*last, "gt" | "gte" | "lt" | "lte")) {
            Some((field, kind)) if !bound.is_object() => {
                let bounds = out.entry(field).or_insert_with(|| json!({}));
                bounds[kind] = bound;
            }
            _ => {
                out.insert(name, bound);
            }
        }
    }
    // A text that spells a number is between no bounds there.
    for bounds in out.values_mut().filter(|bounds| bounds.is_object()) {
        bounds["numbers_only"] = true.into();
    }
    out
}
