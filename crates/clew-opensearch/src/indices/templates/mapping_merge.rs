//! Mappings on top of each other. Composable templates replace a field as a whole and merge
//! objects; legacy templates fill in whatever the stronger mapping leaves open.

use serde_json::{Map, Value};

use crate::http::error::ApiError;

/// Objects inside objects that are merged; deeper ones than any mapping may have.
const DEPTH_MAX: usize = 100;

/// Puts a mapping on top of another, as composable templates do.
pub(crate) fn overlay(below: &mut Map<String, Value>, above: &Value) -> Result<(), ApiError> {
    let Some(above) = above.as_object() else {
        return Ok(());
    };
    for (key, value) in above {
        match key.as_str() {
            "properties" => {
                let fields = expand_dots(value, 0)?;
                let merged = below
                    .entry(key.clone())
                    .or_insert_with(|| Value::Object(Map::new()));
                overlay_fields("", merged, fields, 0)?;
            }
            "dynamic_templates" => overlay_dynamic(below, value),
            "_meta" => {
                let mut merged = value.clone();
                if let Some(old) = below.get(key) {
                    fill(&mut merged, old, 0)?;
                }
                below.insert(key.clone(), merged);
            }
            _ => {
                below.insert(key.clone(), value.clone());
            }
        }
    }
    Ok(())
}

/// `a.b` in a list of fields is the field `b` of the object `a`.
fn expand_dots(fields: &Value, depth: usize) -> Result<Map<String, Value>, ApiError> {
    check_depth(depth)?;
    let mut expanded = Map::new();
    for (name, field) in fields.as_object().into_iter().flatten() {
        let mut field = field.clone();
        if let Some(inner) = field.get("properties").filter(|inner| inner.is_object()) {
            let inner = expand_dots(inner, depth + 1)?;
            field["properties"] = Value::Object(inner);
        }
        let mut parts = name.split('.').rev();
        let leaf = parts.next().unwrap_or_default().to_string();
        if name.split('.').count() > DEPTH_MAX {
            check_depth(DEPTH_MAX + 1)?;
        }
        let (mut name, mut value) = (leaf, field);
        for parent in parts {
            let inner = Map::from_iter([(name, value)]);
            value = Value::Object(Map::from_iter([(
                "properties".to_string(),
                Value::Object(inner),
            )]));
            name = parent.to_string();
        }
        match expanded.get_mut(&name) {
            None => {
                expanded.insert(name, value);
            }
            Some(old) => overlay_field(&name, old, value, depth)?,
        }
    }
    Ok(expanded)
}

fn overlay_fields(
    path: &str,
    below: &mut Value,
    above: Map<String, Value>,
    depth: usize,
) -> Result<(), ApiError> {
    check_depth(depth)?;
    let Some(below) = below.as_object_mut() else {
        return Ok(());
    };
    for (name, field) in above {
        let path = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        match below.get_mut(&name) {
            None => {
                below.insert(name, field);
            }
            Some(old) => overlay_field(&path, old, field, depth)?,
        }
    }
    Ok(())
}

fn overlay_field(
    path: &str,
    below: &mut Value,
    above: Value,
    depth: usize,
) -> Result<(), ApiError> {
    match (is_object(below), is_object(&above)) {
        (true, true) => {}
        (false, true) => {
            return Err(ApiError::illegal_argument(format!(
                "can't merge a non object mapping [{path}] with an object mapping"
            )));
        }
        _ => {
            *below = above;
            return Ok(());
        }
    }
    let (Some(old), Value::Object(new)) = (below.as_object_mut(), above) else {
        return Ok(());
    };
    for (key, value) in new {
        match value {
            Value::Object(fields) if key == "properties" => {
                let inner = old.entry(key).or_insert_with(|| Value::Object(Map::new()));
                overlay_fields(path, inner, fields, depth + 1)?;
            }
            value => {
                old.insert(key, value);
            }
        }
    }
    Ok(())
}

fn is_object(field: &Value) -> bool {
    match field.get("type").and_then(Value::as_str) {
        None => true,
        Some(kind) => kind == "object" || kind == "nested",
    }
}

/// A dynamic template replaces the one of its name where that stands; others come after.
fn overlay_dynamic(below: &mut Map<String, Value>, above: &Value) {
    let old = below.remove("dynamic_templates");
    let mut merged = match old {
        Some(Value::Array(old)) => old,
        _ => Vec::new(),
    };
    for template in above.as_array().into_iter().flatten() {
        let name = template.as_object().and_then(|one| one.keys().next());
        let place = merged
            .iter()
            .position(|old| name.is_some_and(|name| old.get(name).is_some()));
        match place {
            Some(place) => merged[place] = template.clone(),
            None => merged.push(template.clone()),
        }
    }
    below.insert("dynamic_templates".to_string(), Value::Array(merged));
}

/// Fills in what a mapping leaves open, as legacy templates do.
pub(crate) fn fill(mapping: &mut Value, defaults: &Value, depth: usize) -> Result<(), ApiError> {
    check_depth(depth)?;
    match (mapping, defaults) {
        (Value::Object(mapping), Value::Object(defaults)) => {
            for (key, value) in defaults {
                match mapping.get_mut(key) {
                    None => {
                        mapping.insert(key.clone(), value.clone());
                    }
                    Some(own) => fill(own, value, depth + 1)?,
                }
            }
        }
        (Value::Array(items), Value::Array(defaults)) if named(items) && named(defaults) => {
            fill_named(items, defaults, depth)?;
        }
        _ => {}
    }
    Ok(())
}

/// Whether every item is an object with one member: a list of named things.
fn named(items: &[Value]) -> bool {
    items
        .iter()
        .all(|item| item.as_object().is_some_and(|item| item.len() == 1))
}

/// Things of the defaults come first, those with the same name filled in there.
fn fill_named(items: &mut Vec<Value>, defaults: &[Value], depth: usize) -> Result<(), ApiError> {
    let mut merged = Vec::with_capacity(items.len() + defaults.len());
    for default in defaults {
        let name = default.as_object().and_then(|one| one.keys().next());
        let own = items
            .iter()
            .position(|item| name.is_some_and(|name| item.get(name).is_some()));
        match own {
            None => merged.push(default.clone()),
            Some(place) => {
                let mut item = items.remove(place);
                fill(&mut item, default, depth + 1)?;
                merged.push(item);
            }
        }
    }
    merged.append(items);
    *items = merged;
    Ok(())
}

fn check_depth(depth: usize) -> Result<(), ApiError> {
    if depth > DEPTH_MAX {
        return Err(ApiError::illegal_argument(format!(
            "mappings are nested deeper than [{DEPTH_MAX}] levels"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn overlaid(mappings: &[Value]) -> Value {
        let mut merged = Map::new();
        for mapping in mappings {
            overlay(&mut merged, mapping).unwrap();
        }
        Value::Object(merged)
    }

    #[test]
    fn objects_merge_and_fields_are_replaced() {
        let merged = overlaid(&[
            json!({"properties": {"a.x": {"type": "keyword", "ignore_above": 5}, "b": {"type": "long"}}}),
            json!({"properties": {"a": {"properties": {"y": {"type": "long"}}}, "a.x": {"type": "text"}}}),
            json!({"dynamic": false, "properties": {"a": {"dynamic": true}}}),
        ]);
        assert_eq!(
            merged,
            json!({"dynamic": false, "properties": {
                "a": {"dynamic": true, "properties": {"x": {"type": "text"}, "y": {"type": "long"}}},
                "b": {"type": "long"},
            }})
        );
    }

    #[test]
    fn an_object_cannot_stand_over_a_field() {
        let mut merged = Map::new();
        overlay(&mut merged, &json!({"properties": {"a": {"type": "long"}}})).unwrap();
        let over = json!({"properties": {"a.b": {"type": "long"}}});
        assert!(overlay(&mut merged, &over).is_err());
    }

    #[test]
    fn dynamic_templates_are_known_by_their_names() {
        let merged = overlaid(&[
            json!({"dynamic_templates": [{"a": {"v": 1}}, {"b": {"v": 1}}]}),
            json!({"dynamic_templates": [{"c": {"v": 2}}, {"a": {"v": 2}}]}),
        ]);
        let want = json!([{"a": {"v": 2}}, {"b": {"v": 1}}, {"c": {"v": 2}}]);
        assert_eq!(merged["dynamic_templates"], want);
    }

    #[test]
    fn defaults_fill_in_what_is_open() {
        let mut mapping = json!({"properties": {"a": {"type": "text"}},
            "dynamic_templates": [{"s": {"match": "x"}}]});
        let defaults = json!({"dynamic": "strict",
            "properties": {"a": {"type": "keyword", "store": true}, "b": {"type": "long"}},
            "dynamic_templates": [{"t": {"match": "y"}}]});
        fill(&mut mapping, &defaults, 0).unwrap();
        assert_eq!(
            mapping,
            json!({"dynamic": "strict",
                "properties": {"a": {"type": "text", "store": true}, "b": {"type": "long"}},
                "dynamic_templates": [{"t": {"match": "y"}}, {"s": {"match": "x"}}]})
        );
    }

    #[test]
    fn deep_mappings_are_refused() {
        let mut deep = json!({"type": "keyword"});
        for _ in 0..DEPTH_MAX + 2 {
            deep = json!({"properties": {"a": deep}});
        }
        assert!(overlay(&mut Map::new(), &deep).is_err());
        assert!(fill(&mut deep.clone(), &deep, 0).is_err());
    }
}
