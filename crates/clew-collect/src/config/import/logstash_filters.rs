//! Logstash's filters as processors.

use serde_json::{Map, Value, json};

use super::keys::Keys;
use super::logstash::{Told, keys, path};
use super::logstash_syntax::Plugin;
use super::texts;

/// Adds what a filter becomes.
pub(super) fn convert(
    plugin: Plugin,
    condition: Option<&Value>,
    out: &mut Vec<Value>,
    told: &mut Told,
) {
    let (line, place) = (plugin.line, format!("filter.{}", plugin.name));
    let mut keys = keys(plugin.settings);
    let mut steps = Vec::new();
    let is_known = match plugin.name.as_str() {
        "mutate" => {
            mutate(&mut keys, &mut steps);
            true
        }
        name => one(name, &mut keys, &mut steps, (line, &place, told)),
    };
    if !is_known {
        told.tell(line, &place, "has no counterpart");
        return;
    }
    common(&mut keys, plugin_tag(&plugin.name), &mut steps);
    for step in &mut steps {
        if let Some(condition) = condition
            && let Some((_, Value::Object(parameters))) =
                step.as_object_mut().and_then(|step| step.iter_mut().next())
        {
            parameters.insert("if".to_owned(), condition.clone());
        }
    }
    out.append(&mut steps);
    told.tell_rest(line, &place, &keys.into_rest());
}

/// The tag of an event that a filter could not take.
fn plugin_tag(name: &str) -> Option<&'static str> {
    match name {
        "grok" => Some("_grokparsefailure"),
        "dissect" => Some("_dissectfailure"),
        "date" => Some("_dateparsefailure"),
        "json" => Some("_jsonparsefailure"),
        "csv" => Some("_csvparsefailure"),
        _ => None,
    }
}

/// What every plugin has: fields and tags that are added and removed, and the tag of a failure, after which the event goes on.
pub(super) fn common(keys: &mut Keys, tag: Option<&str>, steps: &mut Vec<Value>) {
    let tags = keys.take("tag_on_failure").map(texts);
    let tags = tags.or_else(|| tag.map(|tag| vec![tag.to_owned()]));
    if let Some(tags) = tags {
        for step in steps.iter_mut() {
            if let Some((_, parameters)) =
                step.as_object_mut().and_then(|step| step.iter_mut().next())
            {
                parameters["on_failure"] = json!([{"append": {"field": "tags", "value": tags}}]);
            }
        }
    }
    if let Some(Value::Object(fields)) = keys.take("add_field") {
        steps.extend(fields.into_iter().map(|(name, value)| set(&name, value)));
    }
    if let Some(tags) = keys.take("add_tag").or_else(|| keys.take("tags")) {
        steps.push(json!({"append": {"field": "tags", "value": texts(tags)}}));
    }
    if let Some(fields) = keys.take("remove_field") {
        let fields: Vec<String> = texts(fields).iter().map(|field| path(field)).collect();
        steps.push(json!({"remove": {"field": fields, "ignore_missing": true}}));
    }
}

/// A field that gets a value, in which others may be named.
fn set(name: &str, value: Value) -> Value {
    match value {
        Value::String(text) if text.contains("%{") => {
            json!({"set": {"field": path(name), "value": template(&text)}})
        }
        value => json!({"add": {"field": path(name), "value": value}}),
    }
}

/// `%{[a][b]}` as `{{a.b}}`.
fn template(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("%{") {
        let Some((name, behind)) = behind.split_once('}') else {
            break;
        };
        out.push_str(before);
        out.push_str(&format!("{{{{{}}}}}", path(name)));
        rest = behind;
    }
    out + rest
}

/// `mutate`, in the order in which Logstash does it.
fn mutate(keys: &mut Keys, steps: &mut Vec<Value>) {
    fn of(keys: &mut Keys, key: &str) -> Map<String, Value> {
        match keys.take(key) {
            Some(Value::Object(fields)) => fields,
            _ => Map::new(),
        }
    }
    for (from, to) in of(keys, "rename") {
        let to = path(to.as_str().unwrap_or_default());
        steps.push(
            json!({"rename": {"field": path(&from), "target_field": to, "ignore_missing": true}}),
        );
    }
    for key in ["update", "replace"] {
        for (name, value) in of(keys, key) {
            let mut step = set(&name, value);
            if key == "update" {
                let is_there = json!({"has_fields": [path(&name)]});
                if let Some((_, parameters)) =
                    step.as_object_mut().and_then(|s| s.iter_mut().next())
                {
                    parameters["if"] = is_there;
                }
            }
            steps.push(step);
        }
    }
    for (name, kind) in of(keys, "convert") {
        let kind = match kind.as_str().unwrap_or_default() {
            "integer" | "integer_eu" => "long",
            "float" | "float_eu" => "double",
            "boolean" => "boolean",
            _ => "string",
        };
        steps
            .push(json!({"convert": {"field": path(&name), "type": kind, "ignore_missing": true}}));
    }
    let gsub = texts(keys.take("gsub").unwrap_or_default());
    for three in gsub.chunks_exact(3) {
        steps.push(json!({"gsub": {"field": path(&three[0]), "pattern": three[1], "replacement": three[2], "ignore_missing": true}}));
    }
    for (key, name) in [
        ("uppercase", "uppercase"),
        ("lowercase", "lowercase"),
        ("strip", "trim"),
    ] {
        for field in texts(keys.take(key).unwrap_or_default()) {
            steps.push(json!({name: {"field": path(&field), "ignore_missing": true}}));
        }
    }
    for (name, separator) in of(keys, "split") {
        steps.push(json!({"split": {"field": path(&name), "separator": separator, "ignore_missing": true}}));
    }
    for (name, separator) in of(keys, "join") {
        steps.push(json!({"join": {"field": path(&name), "separator": separator}}));
    }
    for (from, to) in of(keys, "copy") {
        let to = path(to.as_str().unwrap_or_default());
        steps.push(json!({"copy": {"source_field": path(&from), "target_field": to, "ignore_missing": true}}));
    }
}

/// Adds what another filter becomes; false if it has no counterpart.
fn one(
    name: &str,
    keys: &mut Keys,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) -> bool {
    let source = |keys: &mut Keys| {
        path(
            &keys
                .take_text("source")
                .unwrap_or_else(|| "message".to_owned()),
        )
    };
    match name {
        "grok" => grok(keys, steps),
        "dissect" => dissect(keys, steps),
        "date" => return date(keys, steps),
        "json" => {
            keys.take("skip_on_invalid_json");
            let mut parts = json!({"field": source(keys)});
            match keys.take_text("target") {
                Some(target) => parts["target_field"] = path(&target).into(),
                None => parts["add_to_root"] = true.into(),
            }
            steps.push(json!({"json": parts}));
        }
        "kv" => key_values(source(keys), keys, steps),
        "csv" => {
            let columns = texts(keys.take("columns").unwrap_or_default());
            let separator = keys
                .take_text("separator")
                .unwrap_or_else(|| ",".to_owned());
            steps.push(json!({"csv": {"field": source(keys), "target_fields": columns, "separator": separator}}));
        }
        "drop" => {
            if let Some(share) = keys.take("percentage") {
                told.tell(line, place, format!("[percentage => {share}] drops everything here: [sample] lets one of so many through"));
            }
            steps.push(json!({"drop": {}}));
        }
        "urldecode" => {
            let field = keys
                .take_text("field")
                .unwrap_or_else(|| "message".to_owned());
            steps.push(json!({"urldecode": {"field": path(&field)}}));
        }
        "useragent" => {
            let target = keys
                .take_text("target")
                .unwrap_or_else(|| "user_agent".to_owned());
            steps.push(
                json!({"user_agent": {"field": source(keys), "target_field": path(&target)}}),
            );
        }
        "truncate" => {
            let fields: Vec<String> =
                texts(keys.take("fields").unwrap_or_else(|| json!(["message"])));
            let longest = keys.take("length_bytes").unwrap_or_else(|| json!(1 << 20));
            let fields: Vec<String> = fields.iter().map(|field| path(field)).collect();
            steps.push(json!({"truncate": {"field": fields, "max_bytes": longest}}));
        }
        _ => return false,
    }
    true
}

fn date(keys: &mut Keys, steps: &mut Vec<Value>) -> bool {
    let given = texts(keys.take("match").unwrap_or_default());
    let Some((field, formats)) = given.split_first() else {
        return false;
    };
    let target = keys
        .take_text("target")
        .unwrap_or_else(|| "@timestamp".to_owned());
    keys.take("locale");
    let mut parts =
        json!({"field": path(field), "formats": formats, "target_field": path(&target)});
    if let Some(zone) = keys.take("timezone") {
        parts["timezone"] = zone;
    }
    steps.push(json!({"date": parts}));
    true
}

fn dissect(keys: &mut Keys, steps: &mut Vec<Value>) {
    if let Some(Value::Object(mapping)) = keys.take("mapping") {
        for (field, pattern) in mapping {
            steps.push(json!({"dissect": {"field": path(&field), "pattern": dotted(pattern.as_str().unwrap_or_default())}}));
        }
    }
    if let Some(Value::Object(kinds)) = keys.take("convert_datatype") {
        for (field, kind) in kinds {
            let kind = if kind == "int" { "long" } else { "double" };
            steps.push(
                json!({"convert": {"field": path(&field), "type": kind, "ignore_missing": true}}),
            );
        }
    }
}

fn key_values(source: String, keys: &mut Keys, steps: &mut Vec<Value>) {
    let split = keys
        .take_text("field_split")
        .unwrap_or_else(|| " ".to_owned());
    let value_split = keys
        .take_text("value_split")
        .unwrap_or_else(|| "=".to_owned());
    let mut parts = json!({"field": source, "field_split": split, "value_split": value_split});
    for (from, to) in [
        ("target", "target_field"),
        ("prefix", "prefix"),
        ("include_keys", "include_keys"),
        ("exclude_keys", "exclude_keys"),
    ] {
        if let Some(value) = keys.take(from) {
            parts[to] = value;
        }
    }
    steps.push(json!({"kv": parts}));
}

fn grok(keys: &mut Keys, steps: &mut Vec<Value>) {
    let definitions = keys.take("pattern_definitions");
    for key in [
        "overwrite",
        "break_on_match",
        "named_captures_only",
        "keep_empty_captures",
        "timeout_millis",
    ] {
        keys.take(key);
    }
    let given = match keys.take("match") {
        Some(Value::Object(fields)) => fields,
        // The older way of writing it: a list of a field and its pattern.
        Some(Value::Array(items)) => {
            let items = texts(Value::Array(items));
            let pairs = items.chunks_exact(2);
            pairs
                .map(|pair| (pair[0].clone(), pair[1].clone().into()))
                .collect()
        }
        _ => Map::new(),
    };
    for (field, patterns) in given {
        let patterns: Vec<String> = texts(patterns)
            .iter()
            .map(|pattern| dotted(pattern))
            .collect();
        let mut parts = json!({"field": path(&field), "patterns": patterns});
        if let Some(definitions) = &definitions {
            parts["pattern_definitions"] = definitions.clone();
        }
        steps.push(json!({"grok": parts}));
    }
}

/// References in a pattern, `%{WORD:[a][b]}`, as paths.
fn dotted(pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some((before, behind)) = rest.split_once("%{") {
        out.push_str(before);
        out.push_str("%{");
        let end = behind.find('}').unwrap_or(behind.len());
        out.push_str(&behind[..end].replace("][", ".").replace(['[', ']'], ""));
        rest = &behind[end..];
    }
    out + rest
}
