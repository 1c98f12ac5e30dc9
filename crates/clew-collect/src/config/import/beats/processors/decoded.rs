//! Filebeat's processors that take the text of a field apart, by a parser or by a program.

use serde_json::{Value, json};

use super::field;
use super::members::all_or_none;
use crate::config::import::conditions::only_if;
use crate::config::import::keys::Keys;
use crate::config::import::{Notes, processor, programs};

/// The processor `syslog`, and the parser of that name.
pub(in super::super) fn syslog(keys: &mut Keys, out: &mut Vec<Value>, notes: &mut Notes<'_>) {
    let step = parse_step("syslog", keys);
    for key in ["format", "overwrite_keys", "log_errors", "add_error_key"] {
        keys.take(key);
    }
    let reason =
        "the fields are those of the parser [syslog], and the whole line stays in its field";
    notes.tell(&keys.path, reason);
    out.push(step);
}

/// The step that takes a field apart with a parser.
fn parse_step(format: &str, keys: &mut Keys) -> Value {
    let mut parts = json!({"field": field(keys), "format": format});
    if let Some(zone) = keys.take_text("timezone").filter(|zone| zone != "Local") {
        parts["timezone"] = zone.into();
    }
    if keys.take_flag("ignore_missing") == Some(true) {
        parts["ignore_missing"] = true.into();
    }
    json!({ "parse": parts })
}

/// `decode_cef`, whose names the parser has.
pub(super) fn cef(keys: &mut Keys, out: &mut Vec<Value>, notes: &mut Notes<'_>) {
    out.push(parse_step("cef", keys));
    if let Some(target) = keys.take_text("target_field").filter(|name| name != "cef") {
        let parts = [
            ("field", "cef".into()),
            ("target_field", target.into()),
            ("ignore_missing", true.into()),
            ("ignore_failure", true.into()),
        ];
        out.push(processor("rename", parts));
    }
    let path = keys.path_of("ecs");
    if keys.take_flag("ecs") == Some(false) {
        notes.tell(&path, "fields of the Elastic Common Schema are there, too");
    }
    for key in ["ignore_empty_values", "id"] {
        keys.take(key);
    }
}

/// `decode_base64_field` and `decompress_gzip_field`: what a function makes of a text.
pub(super) fn by_function(function: &str, keys: &mut Keys, out: &mut Vec<Value>) {
    keys.take("ignore_missing");
    let from = keys.take_text("field.from").unwrap_or_default();
    let to = keys.take_text("field.to").unwrap_or_else(|| from.clone());
    out.push(programs::called(function, &from, &to));
}

/// `urldecode`, of all fields or of none.
pub(super) fn url((keys, goes_on): (&mut Keys, bool), out: &mut Vec<Value>) {
    let is_quiet = keys.take_flag("ignore_missing").unwrap_or(false);
    let (first, pairs) = (out.len(), super::pairs(keys));
    let needed: Vec<String> = pairs.iter().map(|(from, _)| from.clone()).collect();
    out.extend(pairs.into_iter().map(|(from, to)| {
        json!({"urldecode": {"field": from, "target_field": to, "ignore_missing": is_quiet}})
    }));
    if needed.len() > 1 && !is_quiet && !goes_on {
        all_or_none("urldecode", json!({"has_fields": needed}), first, out);
    }
}

/// `decode_xml`.
pub(super) fn xml(keys: &mut Keys, out: &mut Vec<Value>) {
    keys.take("ignore_missing");
    let from = field(keys);
    let lowers = keys.take_flag("to_lower").unwrap_or(true);
    let mut parts = json!({"field": from, "lowercase": lowers, "ignore_failure": true});
    let inside = match keys.take_text("target_field") {
        Some(to) if to.is_empty() => {
            parts["add_to_root"] = true.into();
            String::new()
        }
        to => {
            let to = to.unwrap_or_else(|| from.clone());
            parts["target_field"] = to.as_str().into();
            format!("{to}.")
        }
    };
    // What is there gives way.
    keys.take("overwrite_keys");
    let mut step = json!({"xml": parts});
    only_if(&mut step, json!({"has_fields": [from]}));
    out.push(step);
    if let Some(id) = keys.take_text("document_id") {
        out.push(json!({"rename": {
            "field": format!("{inside}{id}"), "target_field": "@metadata._id", "ignore_missing": true,
        }}));
    }
}

/// `decode_duration`, in the unit that it asks for.
pub(super) fn duration(keys: &mut Keys, out: &mut Vec<Value>) {
    let unit = match keys.take_text("format").as_deref() {
        Some("seconds") => "s",
        Some("minutes") => "m",
        Some("hours") => "h",
        _ => "ms",
    };
    // What it cannot do keeps none of the next from being done.
    let parts = [
        ("field", field(keys).into()),
        ("unit", unit.into()),
        ("ignore_failure", true.into()),
    ];
    out.push(processor("duration", parts));
}

/// `move_fields`: fields of one object as fields of another.
pub(super) fn moved(keys: &mut Keys, out: &mut Vec<Value>, notes: &mut Notes<'_>) {
    let from = keys.take_text("from").unwrap_or_default();
    let to = keys.take_text("to").unwrap_or_default();
    keys.take("ignore_missing");
    let path = keys.path_of("fields");
    let fields = super::fields(keys);
    if fields.is_empty() {
        notes.tell(&path, "names no fields: each has to be named here");
    }
    for field in fields {
        let inside = match from.as_str() {
            "" => field.clone(),
            from => format!("{from}.{field}"),
        };
        let parts = [
            ("field", inside.into()),
            ("target_field", format!("{to}{field}").into()),
            ("ignore_missing", true.into()),
            ("ignore_failure", true.into()),
        ];
        out.push(processor("rename", parts));
    }
}
