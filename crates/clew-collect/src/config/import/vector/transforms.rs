//! Vector's transforms as processors. Programs see the names that events have there: `.timestamp` and `.file`.

use serde_json::{Value, json};

use super::Component;
use crate::config::import::conditions::together;
use crate::config::import::keys::Keys;
use crate::config::import::told::Told;
use crate::config::import::{programs, texts};

/// How a transform stands to what it reads.
pub(super) struct Reads {
    /// Whether others read the same events.
    pub(super) is_shared: bool,
    /// Whether they are lines as they were read.
    pub(super) is_of_lines: bool,
    /// Under which condition events are for it.
    pub(super) when: Option<Value>,
}

/// The names by which its events go on, and under which condition one is among them.
type Made = Vec<(String, Option<Value>)>;

/// Adds what a transform becomes.
pub(super) fn transform(
    mut one: Component,
    reads: &Reads,
    steps: &mut Vec<Value>,
    told: &mut Told,
) -> Made {
    let (line, place) = (one.line, one.place.clone());
    let mut drops = true;
    let mut made = vec![(one.name.clone(), reads.when.clone())];
    let kind = one.kind.clone();
    match kind.as_str() {
        "remap" => steps.extend(remap(&mut one, reads, told)),
        "filter" => match condition(one.keys.take("condition")) {
            Ok(written) if reads.is_shared => {
                drops = false;
                let mark = mark(&one.name);
                steps.push(marking(&written, &mark, reads));
                made = vec![(one.name.clone(), Some(is_marked(&mark)))];
            }
            Ok(written) => steps.push(kept(&written, reads)),
            Err(reason) => told.tell(line, &place, reason),
        },
        "route" | "swimlanes" | "exclusive_route" => {
            drops = false;
            made = routed(&mut one, reads, steps, told);
        }
        "dedupe" => steps.extend(dedupe(&mut one, told)),
        "sample" => steps.extend(sample(&mut one.keys, (line, &place, told))),
        "throttle" => steps.push(throttle(&mut one.keys, (line, &place, told))),
        _ => {
            told.tell(line, &place, "has no counterpart: events pass through it");
            return made;
        }
    }
    if drops && reads.is_shared {
        let reason =
            "changes and drops events for all that read them, not for those behind it alone";
        told.tell(line, &place, reason);
    }
    one.tell_rest(told);
    made
}

/// A name for a mark of what came through a transform, in no document.
fn mark(name: &str) -> String {
    let letters = name
        .chars()
        .map(|letter| match letter.is_ascii_alphanumeric() {
            true => letter,
            false => '_',
        });
    format!("passed_{}", letters.collect::<String>())
}

fn is_marked(mark: &str) -> Value {
    json!({"equals": {(format!("@metadata.{mark}")): true}})
}

/// A condition's program.
fn condition(given: Option<Value>) -> Result<String, String> {
    match given {
        Some(Value::String(written)) => Ok(written),
        Some(Value::Object(mut members)) => {
            let kind = members.get("type").and_then(Value::as_str);
            match (kind.unwrap_or("vrl").to_owned(), members.remove("source")) {
                (kind, Some(Value::String(written))) if kind == "vrl" => Ok(written),
                (kind, _) => Err(format!("[condition] of type [{kind}] has no counterpart")),
            }
        }
        _ => Err("has no [condition]".to_owned()),
    }
}

/// A program in which `.timestamp` is the time of the event, and `.file` where it was read.
fn program(source: &str, reads: &Reads) -> String {
    let mut out = String::new();
    let has_time = names_whole(source, ".timestamp");
    let is_replaced = source.lines().any(|line| {
        let line = line.trim_start();
        [". =", ".=", ". |=", "., "]
            .iter()
            .any(|begin| line.starts_with(begin))
    });
    if is_replaced {
        out.push_str("time_of_event = .@timestamp\n");
    }
    if has_time {
        out.push_str(".timestamp = timestamp(.@timestamp) ?? now()\n");
    }
    if reads.is_of_lines && names_whole(source, ".message") {
        out.push_str(".message = string(.message) ?? \"\"\n");
    }
    if names_whole(source, ".file") {
        out.push_str(".file = .log.file.path\n");
    }
    out.push_str(source.trim_end());
    out.push('\n');
    if has_time {
        out.push_str("if is_timestamp(.timestamp) { .@timestamp = del(.timestamp) }\n");
    }
    if is_replaced {
        out.push_str("if !exists(.@timestamp) { .@timestamp = time_of_event }\n");
    }
    out
}

/// Whether a program names a field of the event itself, and nothing inside it.
fn names_whole(source: &str, field: &str) -> bool {
    source.match_indices(field).any(|(at, _)| {
        let behind = source[at + field.len()..].chars().next();
        !behind.is_some_and(|letter| matches!(letter, '.' | '_') || letter.is_alphanumeric())
    })
}

fn remap(one: &mut Component, reads: &Reads, told: &mut Told) -> Option<Value> {
    let (line, place) = (one.line, one.place.clone());
    let mut step = json!({"vrl": {}});
    let parameters = &mut step["vrl"];
    match (one.keys.take_text("source"), one.keys.take_text("file")) {
        (Some(source), _) => {
            if names_whole(&source, ".host") {
                told.tell(line, &place, "[.host] is [.host.name] here");
            }
            parameters["source"] = program(&source, reads).into();
        }
        (None, Some(file)) => {
            let reason = "a program in a file sees the names that events have here: [.@timestamp], [.log.file.path]";
            told.tell(line, &place, reason);
            parameters["file"] = file.into();
        }
        (None, None) => {
            told.tell(line, &place, "has no [source]");
            return None;
        }
    }
    for key in ["drop_on_abort", "drop_on_error"] {
        if let Some(flag) = one.keys.take_flag(key) {
            parameters[key] = flag.into();
        }
    }
    if let Some(zone) = one.keys.take_text("timezone") {
        parameters["timezone"] = zone.into();
    }
    if one.keys.take_flag("reroute_dropped") == Some(true) {
        told.tell(
            line,
            &place,
            "[reroute_dropped]: what is dropped goes nowhere here",
        );
    }
    Some(step)
}

/// Drops what a condition does not hold for; what it cannot be asked of, too.
fn kept(written: &str, reads: &Reads) -> Value {
    let source = format!(
        "is_kept = {{\n{}\n}}\nif !is_kept {{ abort }}",
        written.trim()
    );
    json!({"vrl": {"source": program(&source, reads), "drop_on_error": true}})
}

/// Marks what a condition holds for.
fn marking(written: &str, mark: &str, reads: &Reads) -> Value {
    let source = format!(
        "if {{\n{}\n}} {{ .@metadata.{mark} = true }}",
        written.trim()
    );
    json!({"vrl": {"source": program(&source, reads), "ignore_failure": true}})
}

/// `route` and `exclusive_route`: each event has the marks of the conditions that hold for it, or of the first.
fn routed(one: &mut Component, reads: &Reads, steps: &mut Vec<Value>, told: &mut Told) -> Made {
    let (line, place) = (one.line, one.place.clone());
    let is_exclusive = one.kind == "exclusive_route";
    let routes: Vec<(String, Option<Value>)> = match one.keys.take("routes") {
        Some(Value::Array(items)) => {
            let name = |item: &Value| Some(item.get("name")?.as_str()?.to_owned());
            let route = |item: &Value| Some((name(item)?, item.get("condition").cloned()));
            items.iter().filter_map(route).collect()
        }
        _ => {
            let given = one.keys.take("route").or_else(|| one.keys.take("lanes"));
            let given = given.as_ref().and_then(Value::as_object);
            given.map_or_else(Vec::new, |routes| {
                let routes = routes.iter();
                routes
                    .map(|(name, route)| (name.clone(), Some(route.clone())))
                    .collect()
            })
        }
    };
    one.keys.take("reroute_unmatched");
    let mut made = Made::new();
    let mut marks: Vec<Value> = Vec::new();
    for (route, written) in routes {
        let name = format!("{}.{route}", one.name);
        let mark = mark(&name);
        match condition(written) {
            Ok(written) => {
                let mut step = marking(&written, &mark, reads);
                if is_exclusive && !marks.is_empty() {
                    step["vrl"]["if"] = json!({"not": {"or": marks}});
                }
                steps.push(step);
                marks.push(is_marked(&mark));
                made.push((name, Some(is_marked(&mark))));
            }
            Err(reason) => told.tell(line, &place, format!("[{route}] {reason}")),
        }
    }
    let others = match marks.is_empty() {
        true => None,
        false => Some(json!({"not": {"or": marks}})),
    };
    let when = reads.when.clone().into_iter().chain(others).collect();
    made.push((format!("{}._unmatched", one.name), together(when)));
    made
}

/// The name of a field here.
pub(super) fn field(name: &str) -> String {
    let name = name.trim().trim_start_matches('.');
    match name {
        "timestamp" => "@timestamp".to_owned(),
        "host" => "host.name".to_owned(),
        "file" => "log.file.path".to_owned(),
        other => other.to_owned(),
    }
}

fn dedupe(one: &mut Component, told: &mut Told) -> Option<Value> {
    let (line, place) = (one.line, one.place.clone());
    one.keys.take("cache");
    if one.keys.take("fields.ignore").is_some() {
        told.tell(
            line,
            &place,
            "[fields.ignore] has no counterpart: it has to say [fields.match]",
        );
        return None;
    }
    let given = texts(one.keys.take("fields.match").unwrap_or_default());
    let fields: Vec<String> = match given.is_empty() {
        true => ["timestamp", "host", "message"].map(field).to_vec(),
        false => given.iter().map(|name| field(name)).collect(),
    };
    let reason = "what was seen is remembered for an hour, and not by its number";
    told.tell(line, &place, reason);
    Some(json!({"dedupe": {"fields": fields, "window_s": 3600}}))
}

fn sample(keys: &mut Keys, (line, place, told): (usize, &str, &mut Told)) -> Option<Value> {
    for key in ["key_field", "exclude", "group_by"] {
        if keys.take(key).is_some() {
            told.tell(line, place, format!("[{key}] has no counterpart"));
        }
    }
    let rate = keys.take("rate").and_then(|rate| rate.as_u64());
    let ratio = keys.take("ratio").and_then(|ratio| ratio.as_f64());
    let step = match (rate, ratio) {
        (Some(rate), _) => json!({"sample": {"one_in": rate}}),
        (None, Some(ratio)) => programs::sampled(ratio),
        (None, None) => {
            told.tell(line, place, "has neither [rate] nor [ratio]");
            return None;
        }
    };
    Some(step)
}

fn throttle(keys: &mut Keys, (line, place, told): (usize, &str, &mut Told)) -> Value {
    let limit = keys.take("threshold").and_then(|limit| limit.as_u64());
    let window = keys.take("window_secs").and_then(|window| window.as_u64());
    let unit = match window {
        None | Some(1) => "s",
        Some(60) => "m",
        Some(3600) => "h",
        Some(other) => {
            let reason = format!("[window_secs {other}] is read as a second");
            told.tell(line, place, reason);
            "s"
        }
    };
    if keys.take("exclude").is_some() {
        told.tell(line, place, "[exclude] has no counterpart");
    }
    let mut step = json!({"rate_limit": {"limit": format!("{}/{unit}", limit.unwrap_or(1))}});
    if let Some(key) = keys.take_text("key_field") {
        let name = key.replace("{{", "").replace("}}", "");
        step["rate_limit"]["fields"] = json!([field(&name)]);
    }
    step
}
