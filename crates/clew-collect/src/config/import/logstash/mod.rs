//! Logstash's pipelines: inputs, filters and outputs that have a counterpart. A branch becomes a condition of each step in it,
//! or of a mark, where one of its steps may change what it looks at.

mod codecs;
mod common;
mod conditions;
mod file_path;
mod filters;
mod grok;
mod key_values;
mod lookups;
mod mutate;
mod named_fields;
mod names;
mod outputs;
mod patterns;
mod schema;
mod syntax;
mod xml;

use serde_json::{Map, Value, json};

use super::branches::decide_once;
use super::conditions::together;
use super::keys::Keys;
use super::told::Told;
use super::{ConfigError, LeftOut, kafka_clients, let_in, texts};
use codecs::codec;
use conditions::{asks_for_items, never_holds, written};
use file_path::give_path;
use grok::over_lines;
use outputs::output;
use syntax::{Condition, Plugin, SectionPart, parse};

/// Converts a pipeline.
pub(super) fn convert(
    name: &str,
    text: &str,
    told: &mut Told,
) -> Result<Map<String, Value>, ConfigError> {
    let sections = parse(text).map_err(|(line, reason)| ConfigError {
        file: name.to_owned(),
        line: Some(line),
        place: String::new(),
        reason,
    })?;
    let mut inputs: Vec<Value> = Vec::new();
    let (mut processors, mut outputs) = (Vec::new(), Vec::new());
    // What outputs want to be done, when all filters are.
    let mut last = Vec::new();
    for (section, items) in sections {
        match section.as_str() {
            "input" => each(items, None, told, &mut |plugin, _, told| {
                inputs.extend(input(plugin, told));
            }),
            "filter" => filters(items, None, &mut processors, told),
            _ => each(items, None, told, &mut |plugin, condition, told| {
                outputs.extend(output(plugin, condition, &mut last, told));
            }),
        }
    }
    processors.append(&mut last);
    give_path(text, &mut inputs);
    if inputs.iter().any(|input| input.get("multiline").is_some()) {
        over_lines(&mut processors);
    }
    let mut config = Map::new();
    config.insert("inputs".to_owned(), inputs.into());
    if !processors.is_empty() {
        config.insert("processors".to_owned(), processors.into());
    }
    config.insert("outputs".to_owned(), outputs.into());
    Ok(config)
}

/// What is done with each plugin, and under which condition.
type Done<'d> = dyn FnMut(Plugin, Option<&Value>, &mut Told) + 'd;

fn each(items: Vec<SectionPart>, condition: Option<&Value>, told: &mut Told, done: &mut Done<'_>) {
    for item in items {
        match item {
            SectionPart::Plugin(plugin) => done(plugin, condition, told),
            SectionPart::Branches(branches) => {
                for (all, items) in arms(branches, condition, told) {
                    each(items, all.as_ref(), told, done);
                }
            }
        }
    }
}

/// What filters become.
fn filters(
    items: Vec<SectionPart>,
    condition: Option<&Value>,
    out: &mut Vec<Value>,
    told: &mut Told,
) {
    for item in items {
        match item {
            SectionPart::Plugin(plugin) => filters::convert(plugin, condition, out, told),
            SectionPart::Branches(branches) => {
                let mut taken = Vec::new();
                for (all, items) in arms(branches, condition, told) {
                    let first = out.len();
                    filters(items, all.as_ref(), out, told);
                    taken.extend(all.map(|all| (all, first..out.len())));
                }
                decide_once(out, &taken);
            }
        }
    }
}

/// Branches, each with what has to hold for it: its own condition, and none of those before it.
fn arms(
    branches: Vec<(Option<Condition>, Vec<SectionPart>)>,
    condition: Option<&Value>,
    told: &mut Told,
) -> Vec<(Option<Value>, Vec<SectionPart>)> {
    let mut before: Vec<Value> = condition.cloned().into_iter().collect();
    let mut arms = Vec::new();
    for (own, items) in branches {
        let wrong = own.as_ref().and_then(|own| match own {
            own if never_holds(own) => {
                Some("compares what is not compared here, which never holds")
            }
            own if asks_for_items(own) => {
                Some("asks for an item of a list by its number, which no field is here")
            }
            _ => None,
        });
        if let Some(reason) = wrong {
            told.left_out.push(LeftOut {
                line: first_line(&items),
                place: "if".to_owned(),
                reason: reason.to_owned(),
            });
        }
        let own = own.map(|own| written(&own));
        let all = together(before.iter().cloned().chain(own.clone()).collect());
        arms.push((all, items));
        before.extend(own.map(|own| json!({"not": own})));
    }
    arms
}

/// The line of the first plugin among items.
fn first_line(items: &[SectionPart]) -> Option<usize> {
    items.iter().find_map(|item| match item {
        SectionPart::Plugin(plugin) => Some(plugin.line),
        SectionPart::Branches(branches) => branches.iter().find_map(|(_, items)| first_line(items)),
    })
}

/// A reference to a field: `[a][b]` is `a.b`.
fn path(reference: &str) -> String {
    let inside = reference
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    inside.map_or_else(|| reference.to_owned(), |inside| inside.replace("][", "."))
}

/// Settings, to be taken out one by one.
fn keys(settings: Map<String, Value>) -> Keys {
    Keys::new(Value::Object(settings), Vec::new()).unwrap_or_default()
}

/// What an input becomes: none, one, or two where it listens in two ways.
fn input(plugin: Plugin, told: &mut Told) -> Vec<Value> {
    let (line, place) = (plugin.line, format!("input.{}", plugin.name));
    let mut keys = keys(plugin.settings);
    let mut input = json!({"type": "file", "parse": "plain"});
    let host = keys
        .take_text("host")
        .unwrap_or_else(|| "0.0.0.0".to_owned());
    let port = keys.take_text("port");
    let address =
        |port: Option<String>| format!("{host}:{}", port.unwrap_or_else(|| "514".to_owned()));
    match plugin.name.as_str() {
        "file" => file(&mut keys, &mut input, (line, &place, told)),
        "stdin" => input["type"] = "stdin".into(),
        "tcp" | "udp" if keys.take_text("mode").is_none_or(|mode| mode == "server") => {
            input["type"] = "syslog".into();
            input["listen"] = format!("{}://{}", plugin.name, address(port)).into();
        }
        "syslog" => {
            input = json!({"type": "syslog", "listen": format!("tcp://{}", address(port))});
            // Both forms of messages are known without being named.
            keys.take("grok_pattern");
        }
        "http" => {
            let port = port.unwrap_or_else(|| "8080".to_owned());
            input = json!({"type": "http", "listen": format!("{host}:{port}")});
            if let Some(login) = let_in(&mut keys, "user", "password") {
                input["authentication"] = login;
            }
        }
        "beats" | "elastic_agent" => {
            let port = port.unwrap_or_else(|| "5044".to_owned());
            input = json!({"type": "http", "listen": format!("{host}:{port}")});
            told.tell(
                line,
                &place,
                "speaks another protocol: Beats reach this input by their output.elasticsearch",
            );
        }
        "kafka" => input = kafka(&mut keys),
        "unix" if keys.take_text("mode").is_none_or(|mode| mode == "server") => {
            let path = keys.take_text("path").unwrap_or_default();
            input = json!({"type": "syslog", "parse": "plain", "listen": format!("unix://{path}")});
        }
        _ => {
            told.tell(line, &place, "has no counterpart");
            return Vec::new();
        }
    }
    secured(&mut keys, &mut input);
    let mut processors = Vec::new();
    codec(
        keys.take("codec"),
        &mut input,
        &mut processors,
        (line, &place, told),
    );
    if let Some(kind) = keys.take_text("type") {
        processors.push(json!({"add": {"field": "type", "value": kind, "override": false}}));
    }
    processors.append(&mut common::common(&mut keys, (line, &place, told)));
    if !processors.is_empty() {
        input["processors"] = processors.into();
    }
    told.tell_rest(line, &place, &keys.into_rest());
    match plugin.name.as_str() {
        "syslog" => in_both_ways(input),
        _ => vec![input],
    }
}

/// An input for connections, and the same for datagrams.
fn in_both_ways(input: Value) -> Vec<Value> {
    let mut other = input.clone();
    let address = input["listen"].as_str().unwrap_or_default();
    other["listen"] = address.replacen("tcp://", "udp://", 1).into();
    vec![input, other]
}

/// Topics of Kafka, which are read from their end if nothing else is said.
fn kafka(keys: &mut Keys) -> Value {
    let text = |keys: &mut Keys, key: &str, usual: &str| {
        let given = keys.take_text(key);
        given.unwrap_or_else(|| usual.to_owned())
    };
    let topics = match keys.take_text("topics_pattern") {
        Some(pattern) => vec![format!("^{}", pattern.trim_start_matches('^'))],
        None => texts(keys.take("topics").unwrap_or_else(|| "logstash".into())),
    };
    keys.take("consumer_threads");
    let client = kafka_clients::of_java(keys);
    let mut input = json!({
        "type": "kafka", "parse": "plain", "topics": topics,
        "brokers": text(keys, "bootstrap_servers", "localhost:9092"),
        "group_id": text(keys, "group_id", "logstash"),
        "offset_reset": text(keys, "auto_offset_reset", "latest"),
    });
    if let Value::Object(members) = &mut input {
        client.put(members);
    }
    input
}

/// How connections to an input are secured, by the names that plugins and their versions have for it.
fn secured(keys: &mut Keys, input: &mut Value) {
    let flags = ["ssl_enabled", "ssl_enable", "ssl"];
    let is_on: Vec<bool> = flags.iter().filter_map(|key| keys.take_flag(key)).collect();
    let old = keys.take_text("ssl_cert");
    let certificate = keys.take_text("ssl_certificate").or(old);
    let mut tls = Map::new();
    let authorities = texts(keys.take("ssl_certificate_authorities").unwrap_or_default());
    let asked = keys.take_text("ssl_verify_mode");
    let asked = keys.take_text("ssl_client_authentication").or(asked);
    let asked = asked.map(|asked| match asked.as_str() {
        "peer" => "optional".to_owned(),
        "force_peer" => "required".to_owned(),
        _ => asked,
    });
    let authorities = (!authorities.is_empty()).then(|| authorities.into());
    for (key, value) in [
        ("certificate", certificate.map(Value::from)),
        ("key", keys.take("ssl_key")),
        ("client_ca", authorities),
        ("client_authentication", asked.map(Value::from)),
    ] {
        tls.extend(value.map(|value| (key.to_owned(), value)));
    }
    if is_on.contains(&true) && !tls.is_empty() {
        input["tls"] = tls.into();
    }
}

/// Seconds of a number of them, or of a time as `2 weeks`, `1.5 d` or `90 s`.
fn seconds(written: &Value) -> Option<u64> {
    let text = match written {
        Value::String(text) => text.trim(),
        number => return number.as_u64(),
    };
    let end = text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.'));
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = match unit.trim() {
        "w" | "week" | "weeks" => 604_800.0,
        "d" | "day" | "days" => 86_400.0,
        "h" | "hour" | "hours" => 3_600.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "" | "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "ms" | "msec" | "msecs" | "millis" => 0.001,
        _ => return None,
    };
    let seconds = number.parse::<f64>().ok()? * unit;
    // Of a time that is longer than any file is old all are read.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast to a smaller number takes the nearest one, and none is below zero"
    )]
    let whole = seconds.ceil() as u64;
    Some(whole)
}

/// What reads files, from their end if nothing else is said.
fn file(keys: &mut Keys, input: &mut Value, (line, place, told): (usize, &str, &mut Told)) {
    input["paths"] = texts(keys.take("path").unwrap_or_default()).into();
    if let Some(excluded) = keys.take("exclude") {
        input["exclude"] = texts(excluded).into();
    }
    // Files that are read once are read from their beginning in any case.
    let is_whole = keys.take_text("mode").as_deref() == Some("read");
    let start = keys.take_text("start_position");
    if !is_whole && start.as_deref() != Some("beginning") {
        input["start_at"] = "end".into();
    }
    if let Some(age) = keys.take("ignore_older") {
        match seconds(&age) {
            Some(age) => input["ignore_older_s"] = age.into(),
            None => {
                let age = texts(age).concat();
                told.tell(line, place, format!("[ignore_older => {age}] is no time"));
            }
        }
    }
    // Lines end so in any case.
    if keys
        .take_text("delimiter")
        .is_some_and(|end| !matches!(end.as_str(), "\n" | "\\n"))
    {
        told.tell(line, place, "[delimiter]: lines end with a line feed");
    }
    for key in [
        "sincedb_path",
        "sincedb_write_interval",
        "stat_interval",
        "discover_interval",
        "close_older",
    ] {
        keys.take(key);
    }
}

#[cfg(test)]
mod tests;
