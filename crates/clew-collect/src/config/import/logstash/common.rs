//! What every plugin of a Logstash does for the events that it took: fields and tags that come and go.

use serde_json::{Value, json};

use super::filters::pairs;
use super::named_fields::{set, template};
use super::path;
use crate::config::import::conditions::parameters;
use crate::config::import::keys::Keys;
use crate::config::import::texts;
use crate::config::import::told::Told;

/// What every plugin has: fields and tags that are added and removed once it has done its work.
pub(super) fn common(keys: &mut Keys, (line, place, told): (usize, &str, &mut Told)) -> Vec<Value> {
    let mut steps = Vec::new();
    let mut tags = Vec::new();
    for (name, value) in pairs(keys.take("add_field")) {
        match path(&name).as_str() {
            // Those that are there stay.
            "tags" => tags.append(&mut texts(value)),
            _ => {
                set(&name, value, &mut steps, (line, place, told));
                beside_what_is_there(&mut steps);
            }
        }
    }
    let given = keys.take("add_tag").or_else(|| keys.take("tags"));
    tags.append(&mut texts(given.unwrap_or_default()));
    if !tags.is_empty() {
        let tags: Vec<String> = tags
            .iter()
            .map(|tag| template(tag, &mut steps, (line, place, told)))
            .collect();
        let names_fields = tags.iter().any(|tag| tag.contains("{{"));
        let mut step = json!({"append": {"field": "tags", "value": tags}});
        if names_fields {
            step["append"]["keep_references"] = true.into();
        }
        steps.push(step);
    }
    if let Some(tags) = keys.take("remove_tag") {
        let (named, fixed): (Vec<String>, Vec<String>) =
            texts(tags).into_iter().partition(|tag| tag.contains("%{"));
        for tag in named {
            let reason = format!("[remove_tag] is not told by other fields, as [{tag}] is");
            told.tell(line, place, reason);
        }
        if !fixed.is_empty() {
            steps.push(json!({"remove_item": {"field": "tags", "value": fixed}}));
        }
    }
    if let Some(fields) = keys.take("remove_field") {
        let (named, fixed): (Vec<String>, Vec<String>) = texts(fields)
            .into_iter()
            .partition(|field| field.contains("%{"));
        for field in named {
            let reason = format!("[remove_field] is not told by other fields, as [{field}] is");
            told.tell(line, place, reason);
        }
        let fields: Vec<String> = fixed.iter().map(|field| path(field)).collect();
        if !fields.is_empty() {
            steps.push(json!({"remove": {"field": fields, "ignore_missing": true}}));
        }
    }
    steps
}

/// Has the last step, which gives a field a value, leave what is there: both are a list then. Of a name that other fields tell
/// nothing is known.
fn beside_what_is_there(steps: &mut Vec<Value>) {
    let Some(parameters) = steps.last_mut().and_then(parameters) else {
        return;
    };
    let field = parameters.get("field").cloned().unwrap_or_default();
    if field.as_str().is_none_or(|field| field.contains("{{")) {
        return;
    }
    let mut appended = parameters.clone();
    appended.insert("if".to_owned(), json!({"has_fields": [field]}));
    parameters.insert("override".to_owned(), false.into());
    let before = steps.len() - 1;
    steps.insert(before, json!({ "append": appended }));
}
