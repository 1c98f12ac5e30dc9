//! Logstash's codecs of inputs: how events are told apart and read.

use clew_ingest::grok_patterns;
use serde_json::{Map, Value, json};

use super::filters::csv;
use super::patterns::{Patterns, of_folders};
use super::{keys, path};
use crate::config::import::LINE;
use crate::config::import::conditions::parameters;
use crate::config::import::keys::Keys;
use crate::config::import::patterns::expression;
use crate::config::import::told::Told;
use crate::frame::Encoding;

/// What an input's codec becomes: settings of the input, or steps in front of all others.
pub(super) fn codec(
    given: Option<Value>,
    input: &mut Value,
    processors: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) {
    let (name, settings) = match given {
        Some(Value::String(name)) => (name, Map::new()),
        Some(Value::Object(members)) => match members.into_iter().next() {
            Some((name, Value::Object(settings))) => (name, settings),
            _ => return,
        },
        _ => return,
    };
    let mut keys = keys(settings);
    match name.as_str() {
        "plain" | "line" => plain(&mut keys, input, (line, place, told)),
        "json" | "json_lines" => {
            if input["type"] != "http" {
                let mut read = match keys.take_text("target") {
                    Some(target) => json!({"field": LINE, "target_field": path(&target)}),
                    None => json!({"field": LINE, "add_to_root": true}),
                };
                // The line gives way to what is in it, and stays where it is none. Pipelines ask for the tag.
                read["on_failure"] = json!([
                    {"rename": {"field": LINE, "target_field": "message"}},
                    {"append": {"field": "tags", "value": ["_jsonparsefailure"]}},
                ]);
                processors.push(json!({"rename": {"field": "message", "target_field": LINE}}));
                processors.push(json!({"json": read}));
            }
            // JSON has one.
            keys.take("charset");
        }
        // The parser has the names of the schema.
        "cef" => input["parse"] = "cef".into(),
        "csv" => cells(&mut keys, processors, (line, place, told)),
        "multiline" if input["type"] == "file" => {
            multiline(&mut keys, input, (line, place, told));
        }
        "multiline" => {
            let reason = "lines that are sent are not joined: only files have [multiline]";
            told.tell(line, place, reason);
            return;
        }
        other => {
            told.tell(
                line,
                place,
                format!("the codec [{other}] has no counterpart"),
            );
            return;
        }
    }
    told.tell_rest(line, &format!("{place}.codec"), &keys.into_rest());
}

/// Lines of cells, which give way to them, as lines of JSON do.
fn cells(
    keys: &mut Keys,
    processors: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) {
    if keys.take_flag("autodetect_column_names") == Some(true) {
        let reason = "[autodetect_column_names]: a line tells nothing of the next, so that [columns] names them";
        told.tell(line, place, reason);
    }
    keys.take("charset");
    let mut steps = vec![json!({"rename": {"field": "message", "target_field": LINE}})];
    csv(LINE.to_owned(), keys, &mut steps, (line, place, told));
    if let Some(parameters) = steps.get_mut(1).and_then(parameters) {
        parameters.shift_remove("ignore_failure");
        let failed = json!([
            {"rename": {"field": LINE, "target_field": "message"}},
            {"append": {"field": "tags", "value": ["_csvparsefailure"]}},
        ]);
        parameters.insert("on_failure".to_owned(), failed);
    }
    processors.append(&mut steps);
}

/// Lines as they are, in an encoding.
fn plain(keys: &mut Keys, input: &mut Value, (line, place, told): (usize, &str, &mut Told)) {
    let charset = keys.take_text("charset").unwrap_or_default();
    let encoding = match charset.as_str() {
        "" | "US-ASCII" => Some(Encoding::Utf8),
        other => Encoding::named(other),
    };
    match encoding {
        Some(Encoding::Utf8) => {}
        Some(encoding) if input["type"] == "file" => {
            input["encoding"] = encoding.name().into();
        }
        _ => told.tell(
            line,
            place,
            format!("[charset => {charset}] is read as UTF-8"),
        ),
    }
}

/// Lines of files that are joined.
fn multiline(keys: &mut Keys, input: &mut Value, (line, place, told): (usize, &str, &mut Told)) {
    let folders = of_folders(keys, (line, place, told));
    let pattern = keys.take_text("pattern").unwrap_or_default();
    let pattern = expanded(&pattern, &folders, 0);
    let negate = keys.take_flag("negate").unwrap_or(false);
    let is_next = keys.take_text("what").as_deref() == Some("next");
    let Some(pattern) = pattern else {
        let reason = "only a [multiline] of regular expressions has a counterpart";
        told.tell(line, place, reason);
        return;
    };
    // With the next line goes what fits, or else all up to what fits.
    let rule = match (is_next, negate) {
        (false, true) => "start",
        (false, false) => "continue",
        (true, false) => "goes_on",
        (true, true) => "end",
    };
    input["multiline"] = json!({rule: pattern});
    if let Some(lines) = keys.take("max_lines") {
        input["multiline"]["lines_max"] = lines;
    }
    let interval = keys.take("auto_flush_interval");
    if let Some(seconds) = interval.as_ref().and_then(Value::as_u64) {
        input["multiline"]["timeout_ms"] = seconds.saturating_mul(1_000).into();
    }
    // An event that is too long goes on in the next one.
    for key in ["max_bytes", "multiline_tag"] {
        keys.take(key);
    }
}

/// A pattern with those that it names put in, `^%{TIMESTAMP_ISO8601}`, as a regular expression; nothing if one of them is not
/// known, or has what such expressions do not have here. Groups that give nothing back are as good as others.
fn expanded(pattern: &str, own: &Patterns, depth: usize) -> Option<String> {
    const DEPTH_MAX: usize = 16;
    if depth > DEPTH_MAX {
        return None;
    }
    let known = grok_patterns();
    let mut out = String::new();
    let mut rest = pattern;
    while let Some((before, behind)) = rest.split_once("%{") {
        let (name, behind) = behind.split_once('}')?;
        let name = name.split(':').next()?;
        out.push_str(before);
        let named = own.get(name).map(String::as_str);
        let named = named.or_else(|| known.get(name).copied())?;
        out.push_str(&format!("(?:{})", expanded(named, own, depth + 1)?));
        rest = behind;
    }
    let out = expression(&(out + rest).replace("(?>", "(?:"));
    regex::Regex::new(&out).ok().map(|_| out)
}
