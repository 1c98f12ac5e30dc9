//! What becomes of an event where one of Filebeat's processors fails: it goes on, and says so where it does in Beats.

use serde_json::{Value, json};

use crate::config::import::beats::files::inside;
use crate::config::import::processor;

/// The step that fails where a processor of Beats does, and what that says of it in the event, but for the reason.
pub(super) fn complaint(name: &str) -> Option<(&'static str, &'static str)> {
    Some(match name {
        "copy_fields" => ("copy", "Failed to copy fields in copy_fields processor"),
        "rename" => ("rename", "Failed to rename fields in processor"),
        "replace" => ("gsub", "Failed to replace fields in processor"),
        "urldecode" => (
            "urldecode",
            "failed to decode fields in urldecode processor",
        ),
        "decode_base64_field" => ("vrl", "failed to decode base64 fields in processor"),
        "decompress_gzip_field" => (
            "vrl",
            "Failed to decompress field in decompress_gzip_field processor",
        ),
        "decode_xml" => ("xml", "failed in decode_xml"),
        _ => return None,
    })
}

/// Has a step that is of this kind tell in the event that it failed.
pub(super) fn complain(processor: &mut Value, step: &str, told: &str) {
    if let Some(parameters) = processor.get_mut(step).and_then(Value::as_object_mut) {
        parameters.shift_remove("ignore_failure");
        parameters.insert("on_failure".to_owned(), json!([error_message(told)]));
    }
}

/// The step that says what went wrong.
pub(super) fn error_message(told: &str) -> Value {
    processor(
        "add",
        [("field", "error.message".into()), ("value", told.into())],
    )
}

/// Has an event go on to what comes next where a step fails, as it does in Beats, with the flag that they give one that they
/// could not take apart.
pub(super) fn go_on_after_failure(processor: &mut Value, is_quiet: bool) {
    /// Those that may fail.
    const FALLIBLE: [&str; 11] = [
        "dissect",
        "json",
        "date",
        "convert",
        "rename",
        "copy",
        "gsub",
        "parse",
        "lowercase",
        "uppercase",
        "urldecode",
    ];
    let Some((name, parameters)) = processor
        .as_object_mut()
        .and_then(|one| one.iter_mut().next())
    else {
        return;
    };
    if parameters.get("on_failure").is_some() {
        return;
    }
    if name == "dissect" {
        let flag = json!({"append": {"field": "log.flags", "value": ["dissect_parsing_error"]}});
        parameters["on_failure"] = json!([flag]);
    } else if is_quiet || FALLIBLE.contains(&name.as_str()) {
        parameters["ignore_failure"] = true.into();
    }
}

/// The steps that say that a line is no JSON, as Beats do where they are asked to, but for the reason: in the object that it would
/// have become.
pub(in super::super) fn error_steps(target: &str) -> Vec<Value> {
    let added = [
        ("error.message", "Error decoding JSON"),
        ("error.type", "json"),
    ];
    let add = |(name, value): (&str, &str)| {
        let field = inside(target, name);
        processor("add", [("field", field.into()), ("value", value.into())])
    };
    added.into_iter().map(add).collect()
}
