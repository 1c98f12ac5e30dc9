//! Logstash's outputs.

use serde_json::{Value, json};

use super::named_fields::by_fields;
use super::syntax::Plugin;
use super::{keys, path};
use crate::config::import::beats::address_of_cloud;
use crate::config::import::conditions::only_if;
use crate::config::import::keys::Keys;
use crate::config::import::told::Told;
use crate::config::import::{kafka_clients, put_login, texts, with_port};

/// What an output becomes; `last` gets the steps that it wants to be done when all others are.
pub(super) fn output(
    plugin: Plugin,
    condition: Option<&Value>,
    last: &mut Vec<Value>,
    told: &mut Told,
) -> Option<Value> {
    let (line, place) = (plugin.line, format!("output.{}", plugin.name));
    let mut keys = keys(plugin.settings);
    let mut steps = Vec::new();
    let mut output = match plugin.name.as_str() {
        "elasticsearch" | "opensearch" => {
            elasticsearch(&mut keys, &mut steps, (line, &place, told))
        }
        "file" => {
            let path = keys.take_text("path").unwrap_or_default();
            if path.contains("%{") {
                told.tell(
                    line,
                    &place,
                    format!("[path] depends on the event, [{path}]: one file is written to"),
                );
            }
            json!({"type": "file", "path": path})
        }
        "stdout" => json!({"type": "stdout"}),
        "http" => {
            for (key, usual) in [("http_method", "post"), ("format", "json")] {
                let given = keys
                    .take_text(key)
                    .filter(|given| !given.starts_with(usual));
                if let Some(given) = given {
                    let reason = format!("[{key} => {given}]: lines of JSON are sent by POST");
                    told.tell(line, &place, reason);
                }
            }
            let mut output =
                json!({"type": "http", "url": keys.take_text("url").unwrap_or_default()});
            if let Some(headers) = keys.take("headers") {
                output["headers"] = headers;
            }
            output
        }
        "kafka" => kafka(&mut keys),
        _ => {
            told.tell(line, &place, "has no counterpart");
            return None;
        }
    };
    codec(&plugin.name, keys.take("codec"), (line, &place, told));
    for mut step in steps {
        if let Some(condition) = condition {
            only_if(&mut step, condition.clone());
        }
        last.push(step);
    }
    if let Some(condition) = condition {
        output["when"] = condition.clone();
    }
    told.tell_rest(line, &place, &keys.into_rest());
    Some(output)
}

/// What is told of how events are written, which is as lines of JSON here.
fn codec(plugin: &str, given: Option<Value>, (line, place, told): (usize, &str, &mut Told)) {
    let name = match given {
        Some(Value::String(name)) => Some(name),
        Some(Value::Object(members)) => members.into_iter().next().map(|(name, _)| name),
        _ => None,
    };
    match (plugin, name.as_deref()) {
        // No codec is asked there.
        ("elasticsearch" | "opensearch" | "http", _)
        | (_, Some("json" | "json_lines" | "rubydebug")) => {}
        ("kafka", None) => {
            let reason = "has no [codec], and so writes time, host and message there: messages are documents of JSON here";
            told.tell(line, place, reason);
        }
        (_, Some(name)) => {
            let reason =
                format!("the codec [{name}] has no counterpart: lines of JSON are written");
            told.tell(line, place, reason);
        }
        (_, None) => {}
    }
}

fn kafka(keys: &mut Keys) -> Value {
    let brokers = texts(keys.take("bootstrap_servers").unwrap_or_default()).join(",");
    let topic = keys.take_text("topic_id").unwrap_or_default();
    let mut output = json!({
        "type": "kafka", "brokers": brokers, "topic": by_fields(&topic).unwrap_or(topic),
    });
    if let Some(key) = keys.take_text("message_key") {
        output["key"] = by_fields(&key).unwrap_or(key).into();
    }
    if let Some(compression) = keys.take_text("compression_type") {
        output["compression"] = compression.into();
    }
    let client = kafka_clients::of_java(keys);
    if let Value::Object(members) = &mut output {
        client.put(members);
    }
    for key in ["acks", "batch_size", "linger_ms", "retries"] {
        keys.take(key);
    }
    output
}

fn elasticsearch(
    keys: &mut Keys,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) -> Value {
    let url = url(keys, (line, place, told));
    let mut output = json!({"type": "opensearch", "url": url, "index": "logstash-%{+yyyy.MM.dd}"});
    for key in ["index", "pipeline", "routing"] {
        let Some(written) = keys.take_text(key) else {
            continue;
        };
        match by_fields(&written) {
            Some(template) => output[key] = template.into(),
            None => {
                let reason = "has a %{ without its }";
                told.tell(line, place, format!("[{key}], [{written}], {reason}"));
            }
        }
    }
    if keys.take_flag("data_stream") == Some(true) {
        let mut part = |key: &str, usual: &str| {
            let given = keys.take_text(&format!("data_stream_{key}"));
            given.unwrap_or_else(|| usual.to_owned())
        };
        let (kind, dataset) = (part("type", "logs"), part("dataset", "generic"));
        let namespace = part("namespace", "default");
        output["index"] = format!("{kind}-{dataset}-{namespace}").into();
    }
    kept_by_server(keys, &mut output, (line, place, told));
    document_ids(keys, steps, (line, place, told));
    tls(keys, &mut output);
    if keys.take_flag("http_compression") == Some(true)
        || keys
            .take("compression_level")
            .is_some_and(|level| level != 0)
    {
        output["compression"] = "gzip".into();
    }
    if let Some(key) = keys.take_text("api_key") {
        output["api_key"] = key.into();
    }
    let mut login = (keys.take_text("user"), keys.take_text("password"));
    let of_cloud = keys.take_text("cloud_auth");
    if let Some((user, password)) = of_cloud.as_deref().and_then(|login| login.split_once(':')) {
        login = (Some(user.to_owned()), Some(password.to_owned()));
    }
    // As the plugin of OpenSearch has it.
    if keys.take_text("auth_type.type").as_deref() == Some("basic") {
        login.0 = keys.take_text("auth_type.user").or(login.0);
        login.1 = keys.take_text("auth_type.password").or(login.1);
    }
    if let Some(reason) = put_login(&mut output, login) {
        told.tell(line, place, reason);
    }
    for key in [
        "manage_template",
        "template_name",
        "template_overwrite",
        "ilm_enabled",
        "ecs_compatibility",
    ] {
        keys.take(key);
    }
    output
}

/// What a server is told beside documents: the alias that it rolls over, where events are written to then, and its template.
fn kept_by_server(
    keys: &mut Keys,
    output: &mut Value,
    (line, place, told): (usize, &str, &mut Told),
) {
    if let Some(alias) = keys.take_text("ilm_rollover_alias") {
        output["index"] = by_fields(&alias).unwrap_or(alias).into();
        keys.take("ilm_pattern");
        if let Some(policy) = keys.take_text("ilm_policy") {
            let reason = format!("[ilm_policy => {policy}]: policies are put to the server");
            told.tell(line, place, reason);
        }
    }
    if let Some(template) = keys.take_text("template") {
        let reason = format!("[template => {template}]: templates are put to the server");
        told.tell(line, place, reason);
    }
}

/// The address of a cloud, or that of the first host.
fn url(keys: &mut Keys, (line, place, told): (usize, &str, &mut Told)) -> String {
    let cloud = keys.take_text("cloud_id");
    if let Some(address) = cloud.as_deref().and_then(address_of_cloud) {
        return address;
    }
    if let Some(cloud) = cloud {
        let reason = format!("[cloud_id => {cloud}] is no `NAME:` and the base64 of `DOMAIN$ID`");
        told.tell(line, place, reason);
    }
    let hosts = keys.take("hosts");
    let hosts = texts(hosts.unwrap_or_else(|| json!(["127.0.0.1:9200"])));
    if hosts.len() > 1 {
        told.tell(line, place, "events go to the first of [hosts] only");
    }
    let host = hosts.into_iter().next().unwrap_or_default();
    let is_secured = [keys.take_flag("ssl"), keys.take_flag("ssl_enabled")].contains(&Some(true));
    let (scheme, host) = host.split_once("://").unwrap_or(("http", host.as_str()));
    let scheme = if is_secured { "https" } else { scheme };
    let url = with_port(&format!("{scheme}://{host}"));
    match keys.take_text("path").unwrap_or_default().trim_matches('/') {
        "" => url,
        below => format!("{}/{below}", url.trim_end_matches('/')),
    }
}

/// `document_id` and `action`: what processors put in `@metadata` is the event's.
fn document_ids(
    keys: &mut Keys,
    steps: &mut Vec<Value>,
    (line, place, told): (usize, &str, &mut Told),
) {
    let action = keys.take_text("action");
    let action = action.as_deref().unwrap_or("index");
    if !matches!(action, "index" | "create") {
        let reason = format!(
            "[action => {action}]: events are created, or take the place of what has their id"
        );
        told.tell(line, place, reason);
    }
    let Some(id) = keys.take_text("document_id") else {
        return;
    };
    // What senders name keeps its name.
    if id == "%{[@metadata][_id]}" {
        return;
    }
    let Some(template) = by_fields(&id) else {
        told.tell(
            line,
            place,
            format!("[document_id], [{id}], has a %{{ without its }}"),
        );
        return;
    };
    if id.contains("%{+") {
        let reason =
            format!("[document_id], [{id}], has a date in it, which stays as it is written");
        told.tell(line, place, reason);
    }
    let mut own = vec![json!({"set": {"field": "@metadata._id", "value": template}})];
    if action == "index" {
        own.push(json!({"add": {"field": "@metadata.op_type", "value": action}}));
    }
    // An event that lacks what it is named by gets an id of its own.
    let named = id.split("%{").skip(1);
    let named = named.filter_map(|part| Some(part.split_once('}')?.0));
    let named: Vec<String> = named
        .filter(|name| !name.starts_with('+'))
        .map(path)
        .collect();
    for mut step in own {
        if !named.is_empty() {
            only_if(&mut step, json!({"has_fields": named}));
        }
        steps.push(step);
    }
}

/// Certificates, where the address asks for them.
fn tls(keys: &mut Keys, output: &mut Value) {
    let mut tls = serde_json::Map::new();
    let authorities = keys
        .take("ssl_certificate_authorities")
        .or_else(|| keys.take("cacert"));
    if let Some(authorities) = authorities {
        tls.insert("ca".to_owned(), texts(authorities).into());
    }
    for (from, to) in [("ssl_certificate", "certificate"), ("ssl_key", "key")] {
        if let Some(file) = keys.take(from) {
            tls.insert(to.to_owned(), file);
        }
    }
    let is_unverified = keys.take_flag("ssl_certificate_verification") == Some(false);
    let mode = keys.take_text("ssl_verification_mode");
    if is_unverified || mode.as_deref() == Some("none") {
        tls.insert("verification".to_owned(), "none".into());
        // Who verifies nothing has no use for authorities, which are refused here.
        tls.shift_remove("ca");
    }
    let is_secured = output["url"]
        .as_str()
        .is_some_and(|url| url.starts_with("https://"));
    if is_secured && !tls.is_empty() {
        output["tls"] = tls.into();
    }
}
