//! Logstash's filters that make one field of others: `translate`, by a table, and `fingerprint`.

use clew_schema::text_of;
use serde_json::{Value, json};

use super::keys::Keys;
use super::logstash::{Told, path};
use super::logstash_filters::{only_if, pairs, set};
use super::texts;

/// `translate`, whose dictionary becomes the table of a `lookup`; false if it names none.
pub(super) fn translate(
    keys: &mut Keys,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) -> bool {
    let source = keys.take_text("source").or_else(|| keys.take_text("field"));
    let target = keys
        .take_text("target")
        .or_else(|| keys.take_text("destination"));
    let source = path(source.as_deref().unwrap_or("message"));
    let target = path(target.as_deref().unwrap_or("translation"));
    if keys.take_flag("exact") == Some(false) || keys.take_flag("regex") == Some(true) {
        let reason = "only whole values are looked up, not parts of them, and no expressions";
        told.tell(line, place, reason);
    }
    let replaces = keys.take_flag("override").unwrap_or(source == target);
    let mut lookup = json!({"field": source, "ignore_missing": true});
    if let Some(file) = keys.take_text("dictionary_path") {
        keys.take("refresh_interval");
        let reason = format!(
            "[dictionary_path => {file}]: a table is a CSV file whose first line is [key,{target}]"
        );
        told.tell(line, place, reason);
        lookup["file"] = file.into();
    } else {
        let dictionary = pairs(keys.take("dictionary"));
        if dictionary.is_empty() {
            return false;
        }
        let rows = dictionary
            .iter()
            .map(|(key, value)| format!("{},{}\n", cell(key), cell(&text_of(value))));
        let rows: String = rows.collect();
        lookup["csv"] = format!("key,{}\n{rows}", cell(&target)).into();
    }
    let mut step = json!({ "lookup": lookup });
    let is_new = json!({"not": {"has_fields": [target]}});
    if !replaces {
        only_if(&mut step, is_new.clone());
    }
    steps.push(step);
    if let Some(fallback) = keys.take("fallback") {
        if source == target {
            let reason = "[fallback]: a value that is in no dictionary stays as it is";
            told.tell(line, place, reason);
        } else {
            let mut step = set(&target, fallback);
            only_if(
                &mut step,
                json!({"and": [{"has_fields": [source]}, is_new]}),
            );
            steps.push(step);
        }
    }
    true
}

/// A cell of a table.
fn cell(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\"").replace('\n', " "))
}

/// `fingerprint`: a value that is the same for the same fields, though not the one that Logstash makes.
pub(super) fn fingerprint(
    keys: &mut Keys,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) {
    let mut sources = texts(keys.take("source").unwrap_or_else(|| json!(["message"])));
    let target = keys
        .take_text("target")
        .unwrap_or_else(|| "fingerprint".to_owned());
    let joins = keys.take_flag("concatenate_sources").unwrap_or(false);
    let has_all = keys.take_flag("concatenate_all_fields").unwrap_or(false);
    let method = keys.take_text("method");
    let mut parts = json!({"target_field": path(&target), "ignore_missing": true});
    match method.as_deref().unwrap_or("SHA1") {
        "SHA256" => parts["hash_method"] = "SHA-256@2.16.0".into(),
        "MD5" => parts["hash_method"] = "MD5@2.16.0".into(),
        "SHA1" => {}
        other => {
            let reason = format!("[method => {other}]: values are those of SHA-1");
            told.tell(line, place, reason);
        }
    }
    keys.take("base64encode");
    if keys.take("key").is_some() {
        told.tell(line, place, "[key]: values have no key");
    }
    if has_all {
        parts["exclude_fields"] = json!(["@timestamp", "host", "log"]);
    } else {
        // Without being put together, each takes the place of the one before it.
        if !joins {
            let last = sources.pop();
            sources = last.into_iter().collect();
        }
        let sources: Vec<String> = sources.iter().map(|source| path(source)).collect();
        parts["fields"] = sources.into();
    }
    steps.push(json!({ "fingerprint": parts }));
}

/// The condition of a `cidr`: one of the addresses is in one of the networks.
pub(super) fn within_networks(keys: &mut Keys) -> Value {
    let networks = texts(keys.take("network").unwrap_or_default());
    let addresses = texts(keys.take("address").unwrap_or_default());
    let any = addresses.iter().map(|address| {
        let field = address
            .strip_prefix("%{")
            .and_then(|name| name.strip_suffix('}'));
        json!({"network": {path(field.unwrap_or(address)): networks}})
    });
    json!({"or": any.collect::<Vec<Value>>()})
}
