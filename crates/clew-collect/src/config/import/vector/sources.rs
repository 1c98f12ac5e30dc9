//! Vector's sources as inputs.

use serde_json::{Value, json};

use super::Component;
use crate::config::import::keys::Keys;
use crate::config::import::patterns::expression;
use crate::config::import::told::Told;
use crate::config::import::{kafka_clients, names_of_container, texts};
use crate::frame::Encoding;

/// What a source becomes, and whether its events are lines; `steps` gets what is done with them first.
pub(super) fn source(
    mut one: Component,
    steps: &mut Vec<Value>,
    told: &mut Told,
) -> Option<(Value, bool)> {
    let (line, place) = (one.line, one.place.clone());
    let kind = one.kind.clone();
    let keys = &mut one.keys;
    let mut is_of_lines = true;
    let input = match kind.as_str() {
        "file" => file(keys, (line, &place, told)),
        "stdin" => {
            decoded(keys, steps, (line, &place, told));
            json!({"type": "stdin", "parse": "plain"})
        }
        "journald" => {
            is_of_lines = false;
            journal(keys, (line, &place, told))
        }
        "syslog" => {
            let listen = listen(keys, "tcp", "0.0.0.0:514");
            let mut input = json!({"type": "syslog", "listen": listen});
            secured(keys, &mut input);
            input
        }
        "socket" => {
            let listen = listen(keys, "tcp", "0.0.0.0:9000");
            let mut input = json!({"type": "syslog", "listen": listen, "parse": "plain"});
            secured(keys, &mut input);
            decoded(keys, steps, (line, &place, told));
            input
        }
        "http" | "http_server" => {
            is_of_lines = false;
            http(keys, "0.0.0.0:80", (line, &place, told))
        }
        "opentelemetry" => {
            is_of_lines = false;
            let address = keys.take_text("http.address");
            let grpc = keys.take_text("grpc.address");
            if address.is_some() && grpc.is_some() && address != grpc {
                told.tell(line, &place, "both protocols are spoken at [http.address]");
            }
            json!({"type": "http", "listen": address.or(grpc).unwrap_or_else(|| "0.0.0.0:4318".to_owned())})
        }
        "kafka" => {
            let input = kafka(keys);
            decoded(keys, steps, (line, &place, told));
            input
        }
        "docker_logs" | "kubernetes_logs" => {
            if kind == "kubernetes_logs" {
                steps.push(names_of_container([
                    "kubernetes.pod_name",
                    "kubernetes.pod_namespace",
                    "kubernetes.container_name",
                    "kubernetes.container_id",
                ]));
            }
            let mut input = containers(&kind, (line, &place, told));
            multiline(keys, &mut input, (line, &place, told));
            input
        }
        _ => {
            told.tell(line, &place, "has no counterpart");
            return None;
        }
    };
    one.tell_rest(told);
    Some((input, is_of_lines))
}

/// Topics of Kafka.
fn kafka(keys: &mut Keys) -> Value {
    let topics = texts(keys.take("topics").unwrap_or_default());
    let brokers = keys.take_text("bootstrap_servers").unwrap_or_default();
    let mut input =
        json!({"type": "kafka", "brokers": brokers, "topics": topics, "parse": "plain"});
    if let Some(group) = keys.take_text("group_id") {
        input["group_id"] = group.into();
    }
    if let Some(reset) = keys.take_text("auto_offset_reset") {
        input["offset_reset"] = reset.into();
    }
    kafka_clients::of_vector(keys).put_in(&mut input);
    input
}

fn file(keys: &mut Keys, (line, place, told): (usize, &str, &mut Told)) -> Value {
    let paths = texts(keys.take("include").unwrap_or_default());
    let mut input = json!({"type": "file", "paths": paths, "parse": "plain"});
    let excluded = texts(keys.take("exclude").unwrap_or_default());
    if !excluded.is_empty() {
        input["exclude"] = excluded.into();
    }
    let end = keys.take_flag("start_at_beginning") == Some(false);
    if keys.take_text("read_from").as_deref() == Some("end") || end {
        input["start_at"] = "end".into();
    }
    let older = keys.take("ignore_older_secs");
    if let Some(older) = older.or_else(|| keys.take("ignore_older")) {
        input["ignore_older_s"] = older;
    }
    if let Some(longest) = keys.take("max_line_bytes").and_then(|bytes| bytes.as_u64()) {
        input["line_bytes_max"] = longest.max(1 << 10).into();
    }
    if let Some(written) = keys.take_text("encoding.charset") {
        match Encoding::named(&written.to_ascii_lowercase()) {
            Some(encoding) => input["encoding"] = encoding.name().into(),
            None => told.tell(line, place, format!("no encoding is called [{written}]")),
        }
    }
    multiline(keys, &mut input, (line, place, told));
    input
}

/// Carries over how lines are joined.
fn multiline(keys: &mut Keys, input: &mut Value, (line, place, told): (usize, &str, &mut Told)) {
    match keys.take_keys("multiline").map(joined) {
        None => {}
        Some(Ok(rule)) => input["multiline"] = rule,
        Some(Err(reason)) => told.tell(line, place, reason),
    }
}

/// How lines are joined.
fn joined(mut keys: Keys) -> Result<Value, String> {
    let mode = keys.take_text("mode").unwrap_or_default();
    let rule = match mode.as_str() {
        "halt_before" => "start",
        "halt_with" => "end",
        "continue_through" => "continue",
        "continue_past" => "goes_on",
        other => {
            return Err(format!(
                "[multiline.mode] is [{other}], which has no counterpart"
            ));
        }
    };
    let pattern = keys.take_text("condition_pattern");
    let pattern = pattern.ok_or_else(|| "[multiline] has no [condition_pattern]".to_owned())?;
    let mut joined = json!({rule: expression(&pattern)});
    if let Some(timeout) = keys.take("timeout_ms") {
        joined["timeout_ms"] = timeout;
    }
    Ok(joined)
}

fn journal(keys: &mut Keys, (line, place, told): (usize, &str, &mut Told)) -> Value {
    let mut input = json!({"type": "journald"});
    let units = texts(keys.take("include_units").unwrap_or_default());
    if !units.is_empty() {
        input["units"] = units.into();
    }
    if let Some(Value::Object(matches)) = keys.take("include_matches") {
        let one = |(field, values): (String, Value)| {
            let values = texts(values).into_iter();
            values
                .map(|value| format!("{field}={value}"))
                .collect::<Vec<_>>()
        };
        let matches: Vec<String> = matches.into_iter().flat_map(one).collect();
        input["matches"] = matches.into();
    }
    if keys.take_flag("current_boot_only").unwrap_or(true) {
        input["boot"] = true.into();
    }
    if keys.take_flag("since_now") == Some(true) {
        input["start_at"] = "end".into();
    }
    for (key, own) in [
        ("journal_directory", "directory"),
        ("journalctl_path", "program"),
    ] {
        if let Some(path) = keys.take_text(key) {
            input[own] = path.into();
        }
    }
    for key in ["exclude_units", "exclude_matches"] {
        let given = keys.take(key).unwrap_or_default();
        if given.as_array().is_some_and(|items| !items.is_empty()) || given.is_object() {
            told.tell(line, place, format!("[{key}] has no counterpart"));
        }
    }
    input
}

/// Where it listens.
fn listen(keys: &mut Keys, usual_mode: &str, usual_address: &str) -> String {
    let mode = keys.take_text("mode");
    let mode = mode.as_deref().unwrap_or(usual_mode);
    let address = keys.take_text("address");
    let path = keys.take_text("path").unwrap_or_default();
    keys.take("max_length");
    let address = address.unwrap_or_else(|| usual_address.to_owned());
    match mode {
        "udp" => format!("udp://{address}"),
        "unix" | "unix_stream" => format!("unix://{path}"),
        "unix_datagram" => format!("unixgram://{path}"),
        _ => format!("tcp://{address}"),
    }
}

/// Carries over how connections are secured.
fn secured(keys: &mut Keys, input: &mut Value) {
    let Some(mut given) = keys.take_keys("tls") else {
        return;
    };
    let is_on = given.take_flag("enabled").unwrap_or(true);
    let names = [
        ("crt_file", "certificate"),
        ("key_file", "key"),
        ("ca_file", "client_ca"),
    ];
    for (key, own) in names {
        if let Some(file) = given.take_text(key).filter(|_| is_on) {
            input["tls"][own] = file.into();
        }
    }
}

/// JSON in lines becomes fields, beside what the line has already.
fn decoded(keys: &mut Keys, steps: &mut Vec<Value>, (line, place, told): (usize, &str, &mut Told)) {
    match keys.take_text("decoding.codec").as_deref() {
        None | Some("bytes" | "syslog") => {}
        Some("json") => steps.push(json!({"json": {
            "field": "message", "add_to_root": true, "ignore_failure": true,
        }})),
        Some(other) => {
            told.tell(
                line,
                place,
                format!("[decoding.codec {other}] has no counterpart"),
            );
        }
    }
}

fn http(keys: &mut Keys, usual: &str, (line, place, told): (usize, &str, &mut Told)) -> Value {
    let address = keys.take_text("address");
    let mut input = json!({"type": "http", "listen": address.unwrap_or_else(|| usual.to_owned())});
    secured(keys, &mut input);
    if let Some(mut auth) = keys.take_keys("auth") {
        match (auth.take_text("username"), auth.take_text("password")) {
            (Some(user), Some(password)) => {
                input["authentication"] = json!([{"user": user, "password": password}]);
            }
            _ => told.tell(line, place, "[auth] has no counterpart"),
        }
    }
    if let Some(path) = keys.take_text("path").filter(|path| path != "/") {
        told.tell(
            line,
            place,
            format!("[path {path}]: every address is listened at"),
        );
    }
    for key in ["strict_path", "method", "response_code", "path_key"] {
        keys.take(key);
    }
    input
}

/// What runtimes of containers write.
fn containers(kind: &str, (line, place, told): (usize, &str, &mut Told)) -> Value {
    let (path, wrapping) = match kind {
        "docker_logs" => ("/var/lib/docker/containers/*/*-json.log", "docker"),
        _ => ("/var/log/containers/*.log", "container"),
    };
    let reason = format!(
        "the files of all containers are read, [{path}], without what only a server knows of them"
    );
    told.tell(line, place, reason);
    json!({"type": "file", "paths": [path], "parse": "plain", "wrapping": wrapping})
}
