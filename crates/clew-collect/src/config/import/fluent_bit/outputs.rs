//! Fluent Bit's outputs.

use serde_json::{Value, json};

use super::parsers::path;
use super::syntax::Section;
use super::tell_rest;
use crate::config::import::beats::address_of_cloud;
use crate::config::import::dates::dates_of;
use crate::config::import::told::Told;
use crate::config::import::{kafka_clients, put_login};

/// What an output becomes; `last` gets the steps that it wants to be done when all others are.
pub(super) fn output(
    mut section: Section,
    last: &mut Vec<Value>,
    told: &mut Told,
) -> Option<Value> {
    let (line, place) = (section.line, section.place());
    let output = match section.name.to_ascii_lowercase().as_str() {
        "es" | "opensearch" => elasticsearch(&mut section, last, told),
        "http" => http(&mut section, (line, &place, told)),
        "file" => {
            let folder = section.take("path").unwrap_or_else(|| ".".to_owned());
            let name = section
                .take("file")
                .unwrap_or_else(|| "fluent-bit.json".to_owned());
            section.take("mkdir");
            let format = section.take("format");
            if let Some(format) =
                format.filter(|format| !matches!(format.as_str(), "plain" | "out_file"))
            {
                let reason = format!("[format {format}]: events are written as JSON");
                told.tell(line, &place, reason);
            }
            json!({"type": "file", "path": format!("{}/{name}", folder.trim_end_matches('/'))})
        }
        "stdout" => {
            for key in ["format", "json_date_key", "json_date_format"] {
                section.take(key);
            }
            json!({"type": "stdout"})
        }
        "kafka" => kafka(&mut section, (line, &place, told)),
        _ => {
            told.tell(line, &place, "has no counterpart");
            return None;
        }
    };
    tell_rest(section, told);
    Some(output)
}

/// The address of a server, and how its connections are secured.
fn address(section: &mut Section, port: &str, path: &str) -> (String, Option<Value>) {
    let host = section
        .take("host")
        .unwrap_or_else(|| "127.0.0.1".to_owned());
    let port = section.take("port").unwrap_or_else(|| port.to_owned());
    let is_secured = section.take_flag("tls") == Some(true);
    let mut tls = json!({});
    if section.take_flag("tls.verify") == Some(false) {
        tls["verification"] = "none".into();
    } else if section.take_flag("tls.verify_hostname") == Some(false) {
        tls["verification"] = "certificate".into();
    }
    for (key, own) in [
        ("tls.ca_file", "ca"),
        ("tls.crt_file", "certificate"),
        ("tls.key_file", "key"),
    ] {
        if let Some(file) = section.take(key) {
            tls[own] = file.into();
        }
    }
    let scheme = if is_secured { "https" } else { "http" };
    let url = format!("{scheme}://{host}:{port}{path}");
    let is_given = is_secured && tls != json!({});
    (url, is_given.then_some(tls))
}

fn elasticsearch(section: &mut Section, last: &mut Vec<Value>, told: &mut Told) -> Value {
    let (line, place) = (section.line, section.place());
    let root = section.take("path").unwrap_or_default();
    let (mut url, tls) = address(section, "9200", root.trim_end_matches('/'));
    if let Some(cloud) = cloud(section, (line, &place, told)) {
        url = cloud;
    }
    let mut output = json!({"type": "opensearch", "url": url});
    if let Some(tls) = tls {
        output["tls"] = tls;
    }
    let index = section
        .take("index")
        .unwrap_or_else(|| "fluent-bit".to_owned());
    output["index"] = dates_of(&with_keys(&index)).into();
    let prefix = section
        .take("logstash_prefix")
        .unwrap_or_else(|| "logstash".to_owned());
    let separator = section
        .take("logstash_prefix_separator")
        .unwrap_or_else(|| "-".to_owned());
    let format = section
        .take("logstash_dateformat")
        .unwrap_or_else(|| "%Y.%m.%d".to_owned());
    let by = section.take("logstash_prefix_key");
    if section.take_flag("logstash_format") == Some(true) {
        let prefix = match by.map(|key| path(&key)) {
            Some(key) => format!("{{{{{key}}}}}{{{{^{key}}}}}{prefix}{{{{/{key}}}}}"),
            None => prefix,
        };
        let date = dates_of(&format);
        output["index"] = format!("{prefix}{separator}{date}").into();
    }
    if let Some(pipeline) = section.take("pipeline") {
        output["pipeline"] = pipeline.into();
    }
    if let Some(key) = section.take("http_api_key") {
        output["api_key"] = key.into();
    }
    let login = login(section);
    if let Some(reason) = put_login(&mut output, login) {
        told.tell(line, &place, reason);
    }
    if section.take("compress").as_deref() == Some("gzip") {
        output["compression"] = "gzip".into();
    }
    if let Some(key) = section.take("id_key") {
        last.push(json!({"copy": {
            "source_field": path(&key), "target_field": "@metadata._id", "ignore_missing": true,
        }}));
    }
    match section.take("write_operation").as_deref() {
        None | Some("create" | "index") => {}
        Some(other) => {
            let reason = format!("[write_operation {other}]: documents are created here");
            told.tell(line, &place, reason);
        }
    }
    time_key(section, "time_key", (line, &place, told));
    // Events have ids of their own, and types are none.
    for key in ["generate_id", "time_key_format", "current_time_index"] {
        section.take(key);
    }
    output
}

/// The address of a cloud, where one is named.
fn cloud(section: &mut Section, (line, place, told): (usize, &str, &mut Told)) -> Option<String> {
    let id = section.take("cloud_id")?;
    let address = address_of_cloud(&id);
    if address.is_none() {
        let reason = "[cloud_id] is no `NAME:` and the base64 of `DOMAIN$ID`";
        told.tell(line, place, reason);
    }
    address
}

/// A user and a password, of a cloud or of the server.
fn login(section: &mut Section) -> (Option<String>, Option<String>) {
    let of_cloud = section.take("cloud_auth");
    match of_cloud.as_deref().and_then(|login| login.split_once(':')) {
        Some((user, password)) => (Some(user.to_owned()), Some(password.to_owned())),
        None => (section.take("http_user"), section.take("http_passwd")),
    }
}

/// A name with keys of events in it, `app-$kubernetes['namespace_name']`, as a template: a key ends where its last bracket does, or its
/// letters do.
fn with_keys(written: &str) -> String {
    let mut out = String::new();
    let mut rest = written;
    while let Some((before, behind)) = rest.split_once('$') {
        out.push_str(before);
        let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
        let mut end = behind
            .find(|letter| !is_letter(letter))
            .unwrap_or(behind.len());
        while end > 0 && behind[end..].starts_with("['") {
            let Some(length) = behind[end..].find("']") else {
                break;
            };
            end += length + 2;
        }
        match end {
            0 => out.push('$'),
            end => out.push_str(&format!("{{{{{}}}}}", path(&behind[..end]))),
        }
        rest = &behind[end..];
    }
    out + rest
}

/// Tells where an event's time would be in another field.
fn time_key(section: &mut Section, key: &str, (line, place, told): (usize, &str, &mut Told)) {
    let named = section.take(key);
    if let Some(name) = named.filter(|name| name != "@timestamp" && name != "false") {
        let reason = format!("[{key} {name}]: the time is in [@timestamp]");
        told.tell(line, place, reason);
    }
}

fn http(section: &mut Section, (line, place, told): (usize, &str, &mut Told)) -> Value {
    let uri = section.take("uri").unwrap_or_else(|| "/".to_owned());
    let (url, tls) = address(section, "80", &uri);
    let mut output = json!({"type": "http", "url": url});
    if let Some(tls) = tls {
        output["tls"] = tls;
    }
    for header in section.take_all("header") {
        if let Some((name, value)) = header.split_once(char::is_whitespace) {
            output["headers"][name] = value.trim().into();
        }
    }
    if section.take("compress").as_deref() == Some("gzip") {
        output["compression"] = "gzip".into();
    }
    time_key(section, "json_date_key", (line, place, told));
    section.take("json_date_format");
    written_as(section, (line, place, told));
    output
}

/// Tells of what is written otherwise than as lines of JSON, if it says so.
fn written_as(section: &mut Section, (line, place, told): (usize, &str, &mut Told)) {
    let format = section.take("format");
    if let Some(format) = format.filter(|format| !format.starts_with("json")) {
        let reason = format!("[format {format}]: lines of JSON are sent");
        told.tell(line, place, reason);
    }
}

fn kafka(section: &mut Section, (line, place, told): (usize, &str, &mut Told)) -> Value {
    let topics = section
        .take("topics")
        .unwrap_or_else(|| "fluent-bit".to_owned());
    let topic = topics.split(',').next().unwrap_or_default().trim();
    if topic.len() < topics.trim().len() {
        told.tell(line, place, "events go to the first topic only");
    }
    let mut output = json!({"type": "kafka", "brokers": section.take("brokers"), "topic": topic});
    if let Some(key) = section.take("message_key_field") {
        output["key"] = format!("{{{{{}}}}}", path(&key)).into();
    } else if let Some(key) = section.take("message_key") {
        output["key"] = key.into();
    }
    time_key(section, "timestamp_key", (line, place, told));
    section.take("timestamp_format");
    written_as(section, (line, place, told));
    kafka_clients::of_fluent_bit(section.take_below("rdkafka.")).put_in(&mut output);
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_keys_of_events_in_them() {
        for (written, expected) in [
            ("logs", "logs"),
            ("app-$team-%Y", "app-{{team}}-%Y"),
            (
                "$kubernetes['labels']['app']_x",
                "{{kubernetes.labels.app}}_x",
            ),
            ("$a['b", "{{a}}['b"),
            ("a$", "a$"),
            ("${ENV}", "${ENV}"),
        ] {
            assert_eq!(with_keys(written), expected, "{written}");
        }
    }
}
