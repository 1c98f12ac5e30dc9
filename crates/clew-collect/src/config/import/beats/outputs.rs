//! Filebeat's outputs.

use serde_json::{Map, Value, json};

use super::cloud::Cloud;
use super::processors::condition;
use super::{cloud, tls};
use crate::config::import::conditions::together;
use crate::config::import::keys::Keys;
use crate::config::import::{
    Notes, Part, kafka_clients, named_by_fields, object, put_login, texts, with_port,
};

/// Converts all outputs of a configuration. `of_inputs` are the indexes that inputs name for their events, each with the
/// condition that holds for those.
pub(super) fn outputs(
    root: &mut Keys,
    of_inputs: &[Value],
    config: &mut Map<String, Value>,
    notes: &mut Notes<'_>,
) -> Vec<Value> {
    let mut outputs = Vec::new();
    let elastic = root.take_keys("output.elasticsearch");
    let cloud = cloud::take(root, notes);
    let keys = match cloud.is_empty() {
        true => elastic,
        false => Some(elastic.unwrap_or_default()),
    };
    if let Some(keys) = keys {
        outputs.extend(elasticsearch((keys, cloud), of_inputs, config, notes));
    }
    if let Some(keys) = root.take_keys("output.kafka") {
        outputs.append(&mut kafka(keys, notes));
    }
    for name in ["output.logstash", "output.redis"] {
        if let Some(mut keys) = root.take_keys(name)
            && keys.take_flag("enabled") != Some(false)
        {
            let reason = "speaks a protocol that no output has: [type: http] sends lines of JSON";
            notes.tell(&keys.path, reason);
        }
    }
    if let Some(mut keys) = root.take_keys("output.file")
        && keys.take_flag("enabled") != Some(false)
    {
        let folder = keys.take_text("path").unwrap_or_default();
        let name = keys
            .take_text("filename")
            .unwrap_or_else(|| "filebeat".to_owned());
        let mut output = object([
            ("type", "file".into()),
            ("path", format!("{folder}/{name}").into()),
        ]);
        if let Some(kilobytes) = keys
            .take("rotate_every_kb")
            .and_then(|value| value.as_u64())
        {
            output["rotate_bytes"] = kilobytes.saturating_mul(1_024).into();
        }
        if let Some(files) = keys.take("number_of_files") {
            output["files_kept"] = files;
        }
        keys.take("codec.json");
        keys.tell_rest(notes);
        outputs.push(output);
    }
    if let Some(mut keys) = root.take_keys("output.console")
        && keys.take_flag("enabled") != Some(false)
    {
        keys.take("pretty");
        keys.take("codec.json");
        keys.tell_rest(notes);
        outputs.push(object([("type", "stdout".into())]));
    }
    outputs
}

/// A name of a Filebeat's in our words; nothing where a field in it does not end. What a Filebeat says of itself is told, but for
/// where it is, which events have as `host.name`.
fn template(written: &str, path: &[Part], notes: &mut Notes<'_>) -> Option<String> {
    let mut template = named_by_fields(written)?;
    for theirs in ["agent.name", "agent.hostname", "beat.name", "beat.hostname"] {
        template = template.replace(&format!("{{{{{theirs}}}}}"), "{{host.name}}");
    }
    // A version in the middle of a name would leave two signs behind each other.
    let whole = template.len();
    for version in ["{{agent.version}}", "{{beat.version}}"] {
        for part in [format!("{version}-"), format!("-{version}")] {
            template = template.replace(&part, "");
        }
    }
    if template.len() < whole {
        notes.tell(
            path,
            "has the version of a Filebeat in it, which is left out",
        );
    }
    if ["{{agent.", "{{beat."]
        .iter()
        .any(|own| template.contains(own))
    {
        let reason = "names what only a Filebeat says of itself: it is empty here, unless [add] gives it to events";
        notes.tell(path, reason);
    }
    Some(template)
}

fn kafka(mut keys: Keys, notes: &mut Notes<'_>) -> Vec<Value> {
    if keys.take_flag("enabled") == Some(false) {
        return Vec::new();
    }
    let brokers = texts(keys.take("hosts").unwrap_or_default()).join(",");
    let mut output = object([("type", "kafka".into()), ("brokers", brokers.into())]);
    for key in ["topic", "key"] {
        if let Some(written) = keys.take_text(key) {
            let path = keys.path_of(key);
            output[key] = template(&written, &path, notes).unwrap_or(written).into();
        }
    }
    if let Some(compression) = keys.take_text("compression") {
        output["compression"] = compression.into();
    }
    let client = kafka_clients::of_beats(&mut keys, notes);
    if let Value::Object(members) = &mut output {
        client.put(members);
    }
    // All replicas in sync acknowledge, and who has no key is spread.
    for key in ["required_acks", "version", "worker"] {
        keys.take(key);
    }
    for spread in ["round_robin", "random"] {
        keys.take(&format!("partition.{spread}"));
    }
    keys.take("partition.hash.random");
    keys.take("partition.hash.reachable_only");
    if let Some(longest) = keys.take("max_message_bytes") {
        output["properties"]["message.max.bytes"] = longest;
    }
    let path = keys.path_of("topics");
    let outputs = match keys.take("topics") {
        Some(Value::Array(given)) => {
            let mut all = chosen(output, "topic", (&given, &path), notes);
            // Where no topic is for all others, they go nowhere.
            all.retain(|one| one.get("topic").is_some());
            all
        }
        _ => vec![output],
    };
    keys.tell_rest(notes);
    outputs
}

/// Outputs of which the first whose condition holds has its own index or pipeline, and those that others have.
fn chosen(
    output: Value,
    key: &str,
    (given, path): (&[Value], &[Part]),
    notes: &mut Notes<'_>,
) -> Vec<Value> {
    let mut outputs = Vec::new();
    // What has to hold for the next one.
    let mut before: Vec<Value> = output.get("when").cloned().into_iter().collect();
    for (number, item) in given.iter().enumerate() {
        let mut path = path.to_vec();
        path.push(Part::Item(number));
        let Some(mut item) = Keys::new(item.clone(), path.clone()) else {
            notes.tell(&path, "is no mapping");
            continue;
        };
        let variants = variants(&mut item, key, notes);
        item.tell_rest(notes);
        for (name, own) in variants {
            let mut one = output.clone();
            one[key] = template(&name, &path, notes).unwrap_or(name).into();
            let all = before.iter().cloned().chain(own.clone()).collect();
            if let Some(all) = together(all) {
                one["when"] = all;
            }
            outputs.push(one);
            match own {
                Some(own) => before.push(json!({"not": own})),
                // None comes behind it.
                None => return outputs,
            }
        }
    }
    let mut rest = output;
    if let Some(all) = together(before) {
        rest["when"] = all;
    }
    outputs.push(rest);
    outputs
}

/// What an item names, and the condition that holds then: by its `mappings` the value of a field names several, and others by its
/// `default`.
fn variants(item: &mut Keys, key: &str, notes: &mut Notes<'_>) -> Vec<(String, Option<Value>)> {
    let path = item.path.clone();
    let own = item.take("when").map(|when| condition(when, &path, notes));
    let name = item.take_text(key).unwrap_or_default();
    let template = named_by_fields(&name).unwrap_or_default();
    let field = template
        .strip_prefix("{{")
        .and_then(|rest| rest.strip_suffix("}}"))
        .filter(|field| !field.contains(['{', '}']));
    let Some(field) = field else {
        return vec![(name, own)];
    };
    let Some(Value::Object(mappings)) = item.take("mappings") else {
        return vec![(name, own)];
    };
    let mut variants = Vec::new();
    for (value, mapped) in mappings {
        let is_one = json!({"equals": {field: value}});
        let condition = together(own.iter().cloned().chain([is_one]).collect());
        variants.extend(texts(mapped).pop().map(|mapped| (mapped, condition)));
    }
    variants.extend(item.take_text("default").map(|usual| (usual, own)));
    variants
}

fn elasticsearch(
    (mut keys, cloud): (Keys, Cloud),
    of_inputs: &[Value],
    config: &mut Map<String, Value>,
    notes: &mut Notes<'_>,
) -> Vec<Value> {
    if keys.take_flag("enabled") == Some(false) {
        return Vec::new();
    }
    let own = url(&mut keys, notes);
    let url = cloud.url.unwrap_or(own);
    // What Filebeat has there by itself, with its version in between.
    let mut output = object([
        ("type", "opensearch".into()),
        ("url", url.into()),
        ("index", "filebeat-%{+yyyy.MM.dd}".into()),
    ]);
    for key in ["index", "pipeline"] {
        let path = keys.path_of(key);
        let Some(written) = keys.take_text(key) else {
            continue;
        };
        match template(&written, &path, notes) {
            Some(template) => output[key] = template.into(),
            None => notes.tell(&path, format!("[{written}] has a %{{ without its }}")),
        }
    }
    credentials(&mut output, &mut keys, cloud.login, notes);
    if keys
        .take("compression_level")
        .is_none_or(|level| level != 0)
    {
        output["compression"] = "gzip".into();
    }
    if let Some(lines) = keys.take("bulk_max_size") {
        config.insert("batch_lines_max".to_owned(), lines);
    }
    if let Some(tls) = tls::of_output(&mut keys, notes)
        && output["url"]
            .as_str()
            .is_some_and(|url| url.starts_with("https://"))
    {
        output["tls"] = tls;
    }
    for key in [
        "worker",
        "workers",
        "loadbalance",
        "timeout",
        "max_retries",
        "backoff",
        "preset",
        "escape_html",
        "allow_older_versions",
        "idle_connection_timeout",
        "proxy_disable",
    ] {
        keys.take(key);
    }
    let outputs = choices(output, of_inputs, &mut keys, notes);
    keys.tell_rest(notes);
    outputs
}

/// Who an output says that it is.
fn credentials(
    output: &mut Value,
    keys: &mut Keys,
    of_cloud: Option<(String, String)>,
    notes: &mut Notes<'_>,
) {
    if let Some(key) = keys.take_text("api_key") {
        // Beats write `id:key`, the header is the base64 of it.
        let encoded = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &key);
        output["api_key"] = if key.contains(':') {
            encoded.into()
        } else {
            key.into()
        };
    }
    let path = keys.path_of("username");
    let own = (keys.take_text("username"), keys.take_text("password"));
    let login = of_cloud.map_or(own, |(user, password)| (Some(user), Some(password)));
    if let Some(reason) = put_login(output, login) {
        notes.tell(&path, reason);
    }
}

/// An output, or several if inputs, `indices` or `pipelines` choose what differs.
fn choices(
    output: Value,
    of_inputs: &[Value],
    keys: &mut Keys,
    notes: &mut Notes<'_>,
) -> Vec<Value> {
    let path = keys.path_of("index");
    let mut outputs = chosen(output, "index", (of_inputs, &path), notes);
    for (list, key) in [("indices", "index"), ("pipelines", "pipeline")] {
        let path = keys.path_of(list);
        let Some(Value::Array(given)) = keys.take(list) else {
            continue;
        };
        let before = std::mem::take(&mut outputs);
        for (number, output) in before.into_iter().enumerate() {
            // The index that an input names goes before others.
            match key == "index" && number < of_inputs.len() {
                true => outputs.push(output),
                false => outputs.append(&mut chosen(output, key, (&given, &path), notes)),
            }
        }
    }
    outputs
}

/// The address of the first host.
fn url(keys: &mut Keys, notes: &mut Notes<'_>) -> String {
    let path = keys.path_of("hosts");
    let hosts = texts(
        keys.take("hosts")
            .unwrap_or_else(|| json!(["localhost:9200"])),
    );
    if hosts.len() > 1 {
        notes.tell(&path, "events go to the first host only");
    }
    let host = hosts.into_iter().next().unwrap_or_default();
    if host.starts_with("${") {
        let reason = "the [url] is whole, http://HOST:PORT, whatever of it is in the variable";
        notes.tell(&path, reason);
    }
    let below = keys.take_text("path").unwrap_or_default();
    let below = below.trim_matches('/');
    let protocol = keys
        .take_text("protocol")
        .unwrap_or_else(|| "http".to_owned());
    let url = if host.contains("://") {
        host
    } else {
        format!("{protocol}://{host}")
    };
    let url = with_port(&url);
    match below {
        "" => url,
        below => format!("{}/{below}", url.trim_end_matches('/')),
    }
}
