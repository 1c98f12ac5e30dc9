//! Vector's sinks as outputs.

use serde_json::{Value, json};

use super::Component;
use super::transforms::field;
use crate::config::import::dates::dates_of;
use crate::config::import::keys::Keys;
use crate::config::import::told::Told;
use crate::config::import::{kafka_clients, put_login, texts, with_port};

/// What a sink becomes.
pub(super) fn sink(mut one: Component, told: &mut Told) -> Option<Value> {
    let (line, place) = (one.line, one.place.clone());
    let kind = one.kind.clone();
    let keys = &mut one.keys;
    let mut output = match kind.as_str() {
        "elasticsearch" => elasticsearch(keys, (line, &place, told)),
        "file" => file(keys, (line, &place, told)),
        "console" => {
            keys.take("target");
            json!({"type": "stdout"})
        }
        "http" => http(keys, (line, &place, told)),
        "kafka" => kafka(keys),
        "blackhole" => return None,
        _ => {
            told.tell(line, &place, "has no counterpart");
            return None;
        }
    };
    if keys.take_text("buffer.type").as_deref() == Some("disk") && output.get("url").is_some() {
        let bytes = keys.take("buffer.max_size").and_then(|size| size.as_u64());
        let mut buffer = json!({"folder": format!("/var/lib/clew/buffer-{}", one.name)});
        if let Some(bytes) = bytes {
            buffer["bytes_max"] = bytes.into();
        }
        if keys.take_text("buffer.when_full").as_deref() == Some("drop_newest") {
            told.tell(
                line,
                &place,
                "[buffer.when_full]: a full buffer makes senders wait",
            );
        }
        output["buffer"] = buffer;
    }
    keys.take("buffer");
    encoding(keys, (line, &place, told));
    one.tell_rest(told);
    Some(output)
}

/// Tells of how events are written, which is as objects of JSON with all of their fields.
fn encoding(keys: &mut Keys, (line, place, told): (usize, &str, &mut Told)) {
    if let Some(codec) = keys
        .take_text("encoding.codec")
        .filter(|codec| codec != "json")
    {
        let reason = format!("[encoding.codec {codec}]: events are written as JSON");
        told.tell(line, place, reason);
    }
    for key in ["only_fields", "except_fields"] {
        if keys.take(&format!("encoding.{key}")).is_some() {
            let reason = format!("[encoding.{key}]: events are written with all of their fields");
            told.tell(line, place, reason);
        }
    }
    let times = keys.take_text("encoding.timestamp_format");
    if let Some(times) = times.filter(|times| times != "rfc3339") {
        let reason = format!("[encoding.timestamp_format {times}]: times are written as RFC 3339");
        told.tell(line, place, reason);
    }
}

/// A template of fields, and the letters of a date in it, in our words.
fn template(written: &str) -> String {
    fields_of(&dates_of(written))
}

/// A template with the names that fields have here.
fn fields_of(written: &str) -> String {
    let mut out = String::new();
    let mut rest = written;
    while let Some((before, behind)) = rest.split_once("{{") {
        let Some((name, behind)) = behind.split_once("}}") else {
            break;
        };
        out.push_str(before);
        out.push_str(&format!("{{{{{}}}}}", field(name)));
        rest = behind;
    }
    out + rest
}

/// Carries over how connections are secured.
fn secured(keys: &mut Keys, output: &mut Value) {
    let Some(mut given) = keys.take_keys("tls") else {
        return;
    };
    let url = output["url"].as_str().unwrap_or_default();
    if !url.starts_with("https://") {
        return;
    }
    let names = [
        ("ca_file", "ca"),
        ("crt_file", "certificate"),
        ("key_file", "key"),
    ];
    for (key, own) in names {
        if let Some(file) = given.take_text(key) {
            output["tls"][own] = file.into();
        }
    }
    if given.take_flag("verify_certificate") == Some(false) {
        output["tls"]["verification"] = "none".into();
    } else if given.take_flag("verify_hostname") == Some(false) {
        output["tls"]["verification"] = "certificate".into();
    }
}

fn elasticsearch(keys: &mut Keys, (line, place, told): (usize, &str, &mut Told)) -> Value {
    let endpoints = texts(keys.take("endpoints").unwrap_or_default());
    if endpoints.len() > 1 {
        told.tell(line, place, "events go to the first of [endpoints] only");
    }
    let url = endpoints.into_iter().next();
    let url = url.or_else(|| keys.take_text("endpoint"));
    let url = url.unwrap_or_else(|| "http://127.0.0.1:9200".to_owned());
    let mut output = json!({"type": "opensearch", "url": with_port(url.trim_end_matches('/'))});
    secured(keys, &mut output);
    let index = match keys.take_text("mode").as_deref() {
        Some("data_stream") => {
            let mut part = |key: &str, usual: &str| {
                let given = keys.take_text(&format!("data_stream.{key}"));
                template(&given.unwrap_or_else(|| usual.to_owned()))
            };
            let (kind, dataset) = (part("type", "logs"), part("dataset", "generic"));
            format!("{kind}-{dataset}-{}", part("namespace", "default"))
        }
        _ => {
            let given = keys
                .take_text("bulk.index")
                .or_else(|| keys.take_text("index"));
            template(&given.unwrap_or_else(|| "vector-%Y.%m.%d".to_owned()))
        }
    };
    output["index"] = index.into();
    if let Some(pipeline) = keys.take_text("pipeline") {
        output["pipeline"] = template(&pipeline).into();
    }
    if keys.take_text("compression").as_deref() == Some("gzip") {
        output["compression"] = "gzip".into();
    }
    match keys.take_text("auth.strategy").as_deref() {
        None => {}
        Some("basic") => {
            let login = (keys.take_text("auth.user"), keys.take_text("auth.password"));
            if let Some(reason) = put_login(&mut output, login) {
                told.tell(line, place, reason);
            }
        }
        Some(other) => told.tell(
            line,
            place,
            format!("[auth.strategy {other}] has no counterpart"),
        ),
    }
    if keys.take_text("id_key").is_some() {
        let reason = "[id_key]: an event's own id is what a step puts into [@metadata._id]";
        told.tell(line, place, reason);
    }
    for key in [
        "auth",
        "data_stream",
        "bulk",
        "metrics",
        "opensearch_service_type",
    ] {
        keys.take(key);
    }
    output
}

fn file(keys: &mut Keys, (line, place, told): (usize, &str, &mut Told)) -> Value {
    let path = keys.take_text("path").unwrap_or_default();
    if path.contains("{{") || path.contains('%') {
        let reason = format!("[path] depends on the event, [{path}]: one file is written to");
        told.tell(line, place, reason);
    }
    let mut output = json!({"type": "file", "path": path});
    if let Some(written @ ("gzip" | "zstd")) = keys.take_text("compression").as_deref() {
        told.tell(
            line,
            place,
            "[compression]: files are compressed when they are renamed",
        );
        output["compression"] = written.into();
    }
    output
}

fn http(keys: &mut Keys, (line, place, told): (usize, &str, &mut Told)) -> Value {
    let url = keys.take_text("uri").unwrap_or_default();
    if url.contains("{{") {
        let reason = format!("[uri] depends on the event, [{url}]: one address is sent to");
        told.tell(line, place, reason);
    }
    let method = keys.take_text("method");
    if let Some(method) = method.filter(|method| method != "post") {
        told.tell(line, place, format!("[method {method}]: events are posted"));
    }
    let mut output = json!({"type": "http", "url": url});
    secured(keys, &mut output);
    let headers = keys.take("request.headers");
    if let Some(headers) = headers.or_else(|| keys.take("headers")) {
        output["headers"] = headers;
    }
    if let Some(written @ ("gzip" | "zstd")) = keys.take_text("compression").as_deref() {
        output["compression"] = written.into();
    }
    match keys.take_text("auth.strategy").as_deref() {
        None => {}
        Some("bearer") => {
            let token = keys.take_text("auth.token").unwrap_or_default();
            output["headers"]["Authorization"] = format!("Bearer {token}").into();
        }
        Some(other) => {
            let reason = format!("[auth.strategy {other}] has to be a header [Authorization]");
            told.tell(line, place, reason);
        }
    }
    keys.take("auth");
    output
}

fn kafka(keys: &mut Keys) -> Value {
    let topic = keys.take_text("topic").unwrap_or_default();
    let brokers = keys.take_text("bootstrap_servers").unwrap_or_default();
    let mut output = json!({"type": "kafka", "brokers": brokers, "topic": template(&topic)});
    if let Some(key) = keys.take_text("key_field") {
        output["key"] = format!("{{{{{}}}}}", field(&key)).into();
    }
    if let Some(compression) = keys.take_text("compression") {
        output["compression"] = compression.into();
    }
    kafka_clients::of_vector(keys).put_in(&mut output);
    output
}
