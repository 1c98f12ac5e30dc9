//! Filebeat's processors, and the conditions on which they are done, which have the same words as ours.

mod conditions;
mod decoded;
mod failures;
mod members;
mod replaced;
mod tokens;

use serde_json::{Map, Value, json};

use super::INDEX;
use super::files::overwrite;
use crate::config::import::branches::decide_once;
use crate::config::import::conditions::only_if;
use crate::config::import::dates::java_formats;
use crate::config::import::fingerprints::{Absent, Digest, Hash};
use crate::config::import::keys::Keys;
use crate::config::import::{
    Notes, ONLY_NAMES, Part, bytes, fingerprints, names_of_container, processor, programs, texts,
};
use failures::{complain, complaint, error_message, go_on_after_failure};
use members::{added, dropped, included, moves};
use replaced::replace;
use tokens::dissect;

pub(super) use conditions::condition;
pub(super) use decoded::syslog;
pub(super) use failures::error_steps;

/// Converts a list of processors.
pub(super) fn convert(
    given: Option<Value>,
    path: &[Part],
    out: &mut Vec<Value>,
    notes: &mut Notes<'_>,
) {
    let Some(Value::Array(items)) = given else {
        return;
    };
    for (number, item) in items.into_iter().enumerate() {
        let mut path = path.to_vec();
        path.push(Part::Item(number));
        let Value::Object(members) = item else {
            notes.tell(&path, "is no processor");
            continue;
        };
        if members.contains_key("if") {
            branches(members, &path, out, notes);
            continue;
        }
        for (name, parameters) in members {
            let mut path = path.clone();
            path.push(Part::Key(name.clone()));
            let (name, parameters) = undotted(name, parameters);
            let parameters = if parameters.is_object() {
                parameters
            } else {
                json!({})
            };
            let keys = Keys::new(parameters, path).unwrap_or_default();
            one(&name, keys, out, notes);
        }
    }
}

/// `if`, `then` and `else`: processors that are asked for the condition when the turn of each comes.
fn branches(
    mut members: Map<String, Value>,
    path: &[Part],
    out: &mut Vec<Value>,
    notes: &mut Notes<'_>,
) {
    let asked = condition(members.remove("if").unwrap_or_default(), path, notes);
    let otherwise = json!({"not": asked});
    let mut arms = Vec::new();
    for (key, asked) in [("then", asked), ("else", otherwise)] {
        let mut path = path.to_vec();
        path.push(Part::Key(key.to_owned()));
        let given = members.remove(key).map(|given| match given {
            Value::Array(items) => Value::Array(items),
            one => Value::Array(vec![one]),
        });
        let first = out.len();
        convert(given, &path, out, notes);
        for step in &mut out[first..] {
            only_if(step, asked.clone());
        }
        arms.push((asked, first..out.len()));
    }
    decide_once(out, &arms);
}

/// `drop_event.when.equals.a: b` as `drop_event` with what is behind the first point inside.
fn undotted(name: String, value: Value) -> (String, Value) {
    match name.split_once('.') {
        Some((first, rest)) => (first.to_owned(), json!({rest: value})),
        None => (name, value),
    }
}

fn one(name: &str, mut keys: Keys, out: &mut Vec<Value>, notes: &mut Notes<'_>) {
    let condition = keys
        .take("when")
        .map(|when| condition(when, &keys.path, notes));
    let first = out.len();
    if name == "add_kubernetes_metadata" {
        let parts = [
            "kubernetes.pod.name",
            "kubernetes.namespace",
            "kubernetes.container.name",
            "container.id",
        ];
        let mut step = names_of_container(parts);
        if let Some(condition) = condition {
            only_if(&mut step, condition);
        }
        out.push(step);
        notes.tell(&keys.path, ONLY_NAMES);
        return;
    }
    let goes_on = keys.take_flag("fail_on_error") == Some(false);
    let is_known = converted(name, (&mut keys, goes_on), out, notes);
    if !is_known {
        let reason = match name {
            "add_host_metadata"
            | "add_cloud_metadata"
            | "add_docker_metadata"
            | "add_process_metadata"
            | "add_observer_metadata" => {
                "has no counterpart: events have `host.name`, and what `add` gives them"
            }
            _ => "has no counterpart",
        };
        notes.tell(&keys.path, reason);
        return;
    }
    let fails_quietly = keys.take_flag("ignore_failure").unwrap_or(false) || goes_on;
    for processor in &mut out[first..] {
        if let Some(condition) = &condition {
            only_if(processor, condition.clone());
        }
        if let Some((step, told)) = complaint(name).filter(|_| !fails_quietly) {
            complain(processor, step, told);
        }
        go_on_after_failure(processor, fails_quietly);
    }
    if let Some(condition) = condition {
        let steps = first..out.len();
        decide_once(out, &[(condition, steps)]);
    }
    keys.tell_rest(notes);
}

/// Adds what a processor becomes, which says whether the event goes on where it fails; false if it has no counterpart.
fn converted(
    name: &str,
    (keys, goes_on): (&mut Keys, bool),
    out: &mut Vec<Value>,
    notes: &mut Notes<'_>,
) -> bool {
    match name {
        "add_fields" => added(keys, "fields", out),
        "add_labels" => added(keys, "labels", out),
        "add_tags" => {
            let target = keys
                .take_text("target")
                .unwrap_or_else(|| "tags".to_owned());
            let tags = texts(keys.take("tags").unwrap_or_default());
            out.push(processor(
                "append",
                [("field", target.into()), ("value", tags.into())],
            ));
        }
        "drop_event" => out.push(processor("drop", [])),
        "drop_fields" => dropped(keys, out, notes),
        "include_fields" => included(keys, out, notes),
        "rename" | "copy_fields" | "convert" => moves(name, (keys, goes_on), out, notes),
        "dissect" => dissect(keys, out, notes),
        "decode_json_fields" => decoded_json(keys, out),
        "truncate_fields" => truncated(keys, out),
        "lowercase" | "uppercase" => {
            let is_quiet = keys.take_flag("ignore_missing").unwrap_or(false);
            for field in fields(keys) {
                let parts = [("field", field.into()), ("ignore_missing", is_quiet.into())];
                out.push(processor(name, parts));
            }
        }
        "fingerprint" => fingerprint(keys, out, notes),
        "urldecode" => decoded::url((keys, goes_on), out),
        "rate_limit" => rate_limit(keys, out),
        "replace" => replace((keys, goes_on), out),
        "timestamp" => timestamp(keys, out, notes),
        "syslog" => syslog(keys, out, notes),
        "add_id" => id(keys, out, notes),
        "add_locale" if keys.take_text("format").as_deref() != Some("abbreviation") => {
            out.push(programs::offset_from_utc("event.timezone"));
        }
        "add_formatted_index" => {
            let index = keys.take_text("index").unwrap_or_default();
            let parts = [("field", INDEX.into()), ("value", index.into())];
            out.push(processor("add", parts));
        }
        "decode_cef" => decoded::cef(keys, out, notes),
        "decode_base64_field" => decoded::by_function("decode_base64", keys, out),
        "decompress_gzip_field" => decoded::by_function("decode_gzip", keys, out),
        "decode_duration" => decoded::duration(keys, out),
        "decode_xml" => decoded::xml(keys, out),
        "move_fields" => decoded::moved(keys, out, notes),
        "decode_csv_fields" => programs::decoded_csv(keys, out),
        "extract_array" => programs::extracted((keys, goes_on), out),
        "append" => programs::appended(keys, out),
        "community_id" => community_id(keys, out),
        "registered_domain" => programs::registered(keys, out),
        "add_network_direction" => direction(keys, out),
        _ => return false,
    }
    true
}

/// `truncate_fields`, by bytes or by characters.
fn truncated(keys: &mut Keys, out: &mut Vec<Value>) {
    let mut parts = json!({"field": fields(keys)});
    if let Some(longest) = keys.take("max_bytes").as_ref().and_then(bytes) {
        parts["max_bytes"] = longest.into();
    }
    if let Some(longest) = keys.take("max_characters") {
        parts["max_characters"] = longest;
    }
    // What is not there is passed over, and what is no text stays.
    keys.take("ignore_missing");
    out.push(json!({"truncate": parts}));
}

/// `add_id`, of which events need none for themselves.
fn id(keys: &mut Keys, out: &mut Vec<Value>, notes: &mut Notes<'_>) {
    keys.take("type");
    match keys.take_text("target_field") {
        Some(target) if !target.starts_with("@metadata.") => {
            out.push(programs::uuid(&target, true));
        }
        _ => notes.tell(
            &keys.path,
            "is left out: events have ids here, by which those that are sent twice are known",
        ),
    }
}

/// `fingerprint`, of the fields in the order of their names.
fn fingerprint(keys: &mut Keys, out: &mut Vec<Value>, notes: &mut Notes<'_>) {
    let target = keys
        .take_text("target_field")
        .unwrap_or_else(|| "fingerprint".to_owned());
    let path = keys.path_of("fields");
    let mut names = fields(keys);
    names.sort_unstable();
    names.dedup();
    if names.iter().any(|name| name == "@timestamp") {
        let reason = "a time is written with all of its milliseconds, [.100]: values of some are others than there";
        notes.tell(&path, reason);
    }
    let passes_over = keys.take_flag("ignore_missing") == Some(true);
    let path = keys.path_of("method");
    let method = keys.take_text("method");
    let hash = Hash::of_name(method.as_deref().unwrap_or("sha256")).unwrap_or_else(|| {
        notes.tell(&path, "has no counterpart: values are those of [sha256]");
        Hash::Sha2("SHA-256")
    });
    let path = keys.path_of("encoding");
    let encoding = keys.take_text("encoding").map(|one| one.to_lowercase());
    if !matches!(encoding.as_deref(), None | Some("hex" | "base64")) {
        notes.tell(&path, "has no counterpart: values are written as [hex]");
    }
    let digest = Digest {
        hash,
        key: None,
        is_base64: encoding.as_deref() == Some("base64"),
    };
    let sources: Vec<_> = names
        .iter()
        .map(|name| (name.clone(), name.clone()))
        .collect();
    let mut step = fingerprints::of_all(&sources, Absent::PassedOver, &target, &digest);
    if !passes_over {
        only_if(&mut step, json!({"has_fields": names}));
    }
    out.push(step);
}

/// The numbers of a connection, in no document.
const SPELLED: &str = "@metadata.spelled";

/// `community_id`, of the fields of the schema unless others are named.
fn community_id(keys: &mut Keys, out: &mut Vec<Value>) {
    let target = keys.take_text("target");
    let mut parts = json!({
        "target_field": target.unwrap_or_else(|| "network.community_id".to_owned()),
        "ignore_missing": true, "ignore_failure": true,
    });
    for (theirs, ours, usual) in [
        ("source_ip", "source_ip_field", "source.ip"),
        ("source_port", "source_port_field", "source.port"),
        ("destination_ip", "destination_ip_field", "destination.ip"),
        (
            "destination_port",
            "destination_port_field",
            "destination.port",
        ),
        ("transport", "protocol_field", "network.transport"),
        ("icmp_type", "icmp_type_field", "icmp.type"),
        ("icmp_code", "icmp_code_field", "icmp.code"),
        (
            "iana_number",
            "iana_protocol_number_field",
            "network.iana_number",
        ),
    ] {
        let field = keys.take_text(&format!("fields.{theirs}"));
        let field = field.unwrap_or_else(|| usual.to_owned());
        if matches!(theirs, "source_ip" | "destination_ip" | "transport") {
            parts[ours] = field.into();
            continue;
        }
        // A text that spells a number, as out of a dissect, is one there.
        let number = format!("{SPELLED}.{theirs}");
        out.push(json!({"convert": {
            "field": field, "target_field": number, "type": "integer", "ignore_missing": true,
        }}));
        if theirs.starts_with("icmp") {
            out.push(json!({"add": {"field": number, "value": 0, "override": false}}));
        }
        parts[ours] = number.into();
    }
    if let Some(seed) = keys.take("seed") {
        parts["seed"] = seed;
    }
    out.push(json!({"community_id": parts}));
    out.push(json!({"remove": {"field": SPELLED, "ignore_missing": true}}));
}

/// `add_network_direction`: which side of a connection is inside.
fn direction(keys: &mut Keys, out: &mut Vec<Value>) {
    let mut field = |key: &str, usual: &str| {
        let given = keys.take_text(key);
        given.unwrap_or_else(|| usual.to_owned())
    };
    let source = field("source", "source.ip");
    let destination = field("destination", "destination.ip");
    let target = field("target", "network.direction");
    let networks = texts(keys.take("internal_networks").unwrap_or_default());
    let is_inside = |field: &str| json!({"network": {field: networks}});
    // What is no address is on no side.
    let is_address = |field: &str| json!({"network": {field: ["0.0.0.0/0", "::/0"]}});
    let addresses = json!({"and": [is_address(&source), is_address(&destination)]});
    let (from, to) = (is_inside(&source), is_inside(&destination));
    for (direction, condition) in [
        ("internal", json!({"and": [from, to]})),
        ("outbound", json!({"and": [from, {"not": to}]})),
        ("inbound", json!({"and": [{"not": from}, to]})),
        ("external", json!({"not": {"or": [from, to]}})),
    ] {
        let mut step = json!({"add": {"field": target, "value": direction, "if": condition}});
        only_if(&mut step, addresses.clone());
        out.push(step);
    }
}

fn rate_limit(keys: &mut Keys, out: &mut Vec<Value>) {
    let mut parts = json!({"limit": keys.take_text("limit").unwrap_or_default()});
    if let Some(fields) = keys.take("fields") {
        parts["fields"] = texts(fields).into();
    }
    out.push(json!({"rate_limit": parts}));
}

fn field(keys: &mut Keys) -> String {
    keys.take_text("field")
        .unwrap_or_else(|| "message".to_owned())
}

fn fields(keys: &mut Keys) -> Vec<String> {
    texts(keys.take("fields").unwrap_or_default())
}

/// A text of JSON in which those inside of it have been read, in no document.
const DEEPER: &str = "@metadata.deeper";

/// How deep texts of JSON are looked for inside each other.
const DEEPER_MAX: u64 = 8;

fn decoded_json(keys: &mut Keys, out: &mut Vec<Value>) {
    let depth = keys.take("max_depth").and_then(|depth| depth.as_u64());
    let levels = depth.unwrap_or(1).saturating_sub(1).min(DEEPER_MAX);
    let lists = keys.take_flag("process_array") == Some(true);
    let tells = keys.take_flag("add_error_key") == Some(true);
    let fields = texts(keys.take("fields").unwrap_or_else(|| json!(["message"])));
    let target = keys.take_text("target");
    let overwrites = overwrite(keys.take_flag("overwrite_keys"));
    let id = keys.take_text("document_id");
    keys.take("expand_keys");
    for field in fields {
        let mut parts = json!({"field": field});
        if levels > 0 {
            out.push(programs::deeper_json(
                (field.as_str(), DEEPER),
                levels,
                lists,
            ));
            parts["field"] = DEEPER.into();
        }
        if tells {
            // What Beats says but for the reason, of which field, and what was in it.
            let data = json!({"copy": {"source_field": field, "target_field": "error.data"}});
            let name = json!({"add": {"field": "error.field", "value": field}});
            parts["on_failure"] = json!([error_message("parsing input as JSON"), data, name]);
        }
        let inside = match target.as_deref() {
            Some("") => {
                parts["add_to_root"] = true.into();
                parts["overwrite"] = overwrites.clone();
                String::new()
            }
            target => {
                let target = target.unwrap_or(&field);
                parts["target_field"] = target.into();
                format!("{target}.")
            }
        };
        // What is not there is passed over in silence.
        parts["if"] = json!({"has_fields": [field]});
        out.push(json!({ "json": parts }));
        if levels > 0 {
            out.push(json!({"remove": {"field": DEEPER, "ignore_missing": true}}));
        }
        if let Some(id) = &id {
            out.push(json!({"rename": {
                "field": format!("{inside}{id}"), "target_field": "@metadata._id", "ignore_missing": true,
            }}));
        }
    }
}

fn timestamp(keys: &mut Keys, out: &mut Vec<Value>, notes: &mut Notes<'_>) {
    let target = keys
        .take_text("target_field")
        .unwrap_or_else(|| "@timestamp".to_owned());
    let path = keys.path_of("layouts");
    let mut formats = Vec::new();
    for layout in texts(keys.take("layouts").unwrap_or_default()) {
        match java_formats(&layout) {
            Some(patterns) => formats.extend(patterns),
            None => notes.tell(
                &path,
                format!("the layout [{layout}] has to be written as a pattern"),
            ),
        }
    }
    keys.take("test");
    let field = field(keys);
    let mut parts = json!({"field": field, "formats": formats, "target_field": target});
    if let Some(zone) = keys.take_text("timezone") {
        parts["timezone"] = zone.into();
    }
    let mut step = json!({"date": parts});
    if keys.take_flag("ignore_missing") == Some(true) {
        only_if(&mut step, json!({"has_fields": [field]}));
    }
    out.push(step);
}

/// `from` and `to` of each item of `fields`.
fn pairs(keys: &mut Keys) -> Vec<(String, String)> {
    let Some(Value::Array(items)) = keys.take("fields") else {
        return Vec::new();
    };
    let pair = |item: Value| {
        let text = |key: &str| item.get(key).and_then(Value::as_str).map(str::to_owned);
        let from = text("from")?;
        Some((from.clone(), text("to").unwrap_or(from)))
    };
    items.into_iter().filter_map(pair).collect()
}
