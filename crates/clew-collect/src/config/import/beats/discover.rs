//! Filebeat's autodiscovery: what it would read of each container that comes is read of all containers that there are, since files are
//! found by patterns here, without asking who runs them.

use serde_json::{Value, json};

use super::{input, items};
use crate::config::import::keys::{Keys, truth};
use crate::config::import::{Notes, Part};

/// The inputs of the providers.
pub(super) fn inputs(root: &mut Keys, inputs: &mut Vec<Value>, notes: &mut Notes<'_>) {
    let path = root.path_of("filebeat.autodiscover.providers");
    let given = root.take("filebeat.autodiscover.providers");
    for (number, given) in items(given.unwrap_or_default()).into_iter().enumerate() {
        let mut path = path.clone();
        path.push(Part::Item(number));
        match Keys::new(given, path.clone()) {
            Some(keys) => provider(keys, inputs, notes),
            None => notes.tell(&path, "is no provider"),
        }
    }
}

fn provider(mut keys: Keys, inputs: &mut Vec<Value>, notes: &mut Notes<'_>) {
    let kind = keys.take_text("type").unwrap_or_default();
    let files = match kind.as_str() {
        "kubernetes" => "/var/log/containers/*.log",
        "docker" => "/var/lib/docker/containers/*/*.log",
        other => {
            let reason = format!("nothing tells of what [{other}] would find");
            notes.tell(&keys.path, reason);
            return;
        }
    };
    let is_kubernetes = kind == "kubernetes";
    // Of the way it asks.
    for key in [
        "node",
        "host",
        "scope",
        "namespace",
        "resource",
        "kube_config",
        "add_resource_metadata",
        "unique",
        "labels.dedot",
        "annotations.dedot",
        "cleanup_timeout",
        "ssl",
    ] {
        keys.take(key);
    }
    if keys.take_flag("hints.enabled") == Some(true) {
        let path = keys.path_of("hints");
        let given = keys.take("hints.default_config").unwrap_or_default();
        let given = match given.is_object() {
            true => given,
            false => json!({"type": "container", "paths": [files]}),
        };
        if truth(&given["enabled"]) == Some(false) {
            notes.tell(
                &path,
                "containers are read that ask for it, and no hints are read here",
            );
        } else {
            notes.tell(
                &path,
                "hints of containers are not read: all are read alike",
            );
            inputs.extend(of_containers(given, &path, is_kubernetes, notes));
        }
    }
    templates(&mut keys, is_kubernetes, inputs, notes);
    keys.tell_rest(notes);
}

/// What is read of the containers that a condition holds for.
fn templates(keys: &mut Keys, is_kubernetes: bool, inputs: &mut Vec<Value>, notes: &mut Notes<'_>) {
    let path = keys.path_of("templates");
    for (number, template) in items(keys.take("templates").unwrap_or_default())
        .into_iter()
        .enumerate()
    {
        let mut path = path.clone();
        path.push(Part::Item(number));
        let Some(mut template) = Keys::new(template, path.clone()) else {
            notes.tell(&path, "is no template");
            continue;
        };
        let asked = template.path_of("condition");
        if template.take("condition").is_some() {
            notes.tell(
                &asked,
                "is not asked: all files that fit the paths are read",
            );
        }
        let path = template.path_of("config");
        for given in items(template.take("config").unwrap_or_default()) {
            inputs.extend(of_containers(given, &path, is_kubernetes, notes));
        }
        template.tell_rest(notes);
    }
}

/// An input that is told what a container is called, for all of them.
fn of_containers(
    mut given: Value,
    path: &[Part],
    is_kubernetes: bool,
    notes: &mut Notes<'_>,
) -> Option<Value> {
    if given.get("module").is_some() {
        notes.tell(path, "a module reads its own files, and none of containers");
        return None;
    }
    // Of names of files any will do.
    for key in ["paths", "containers", "containers.ids"] {
        if let Some(names) = given.get_mut(key) {
            for_all(names);
        }
    }
    if is_kubernetes && given.is_object() {
        let mut processors = vec![json!({"add_kubernetes_metadata": {}})];
        processors.extend(items(given["processors"].take()));
        given["processors"] = processors.into();
    }
    input(Keys::new(given, path.to_vec())?, notes)
}

/// Puts patterns in the places of what is known of one container, `${data.container.id}`.
fn for_all(value: &mut Value) {
    match value {
        Value::String(text) => *text = any_for_data(text),
        Value::Array(items) => items.iter_mut().for_each(for_all),
        Value::Object(members) => members.values_mut().for_each(for_all),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn any_for_data(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${data.")
        && let Some((_, behind)) = behind.split_once('}')
    {
        out.push_str(before);
        if !out.ends_with('*') {
            out.push('*');
        }
        rest = behind;
    }
    out + rest
}
