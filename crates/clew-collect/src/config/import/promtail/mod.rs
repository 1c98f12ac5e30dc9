//! Promtail's configurations: what is scraped, and the stages that its lines go through. What stages extract is in `extracted` until
//! all of them are done, labels are in `labels`, and the line is `message`. Loki itself is not written to.

mod selectors;
mod stages;

use serde_json::{Map, Value, json};

use super::keys::Keys;
use super::told::Told;
use super::{ConfigError, Part, Source, duration_ms, kafka_clients};
use stages::{EXTRACTED, Stages};

/// Whether a text looks like a configuration of a Promtail.
pub(super) fn is_one(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("scrape_configs:"))
}

/// Converts a whole configuration.
///
/// # Errors
/// When it is no mapping.
pub(super) fn convert(
    source: &Source<'_>,
    told: &mut Told,
) -> Result<Map<String, Value>, ConfigError> {
    let Some(mut root) = Keys::new(source.raw_tree()?, Vec::new()) else {
        let reason = "must be a mapping of keys to values".to_owned();
        return Err(source.error("", None, reason));
    };
    let mut config = Map::new();
    if let Some(file) = root.take_text("positions.filename") {
        let folder = file.rsplit_once('/').map_or(".", |(folder, _)| folder);
        config.insert(
            "registry".to_owned(),
            format!("{folder}/clew-registry.json").into(),
        );
    }
    if let Some(port) = root.take_text("server.http_listen_port") {
        let host = root.take_text("server.http_listen_address");
        let host = host.filter(|host| !host.is_empty());
        let listen = format!("{}:{port}", host.as_deref().unwrap_or("0.0.0.0"));
        // Zero is a port that nobody asks.
        if port != "0" {
            config.insert("metrics".to_owned(), json!({ "listen": listen }));
        }
    }
    let mut processors = Vec::new();
    for client in list(root.take("clients").or_else(|| root.take("client"))) {
        let labels = client.get("external_labels").and_then(Value::as_object);
        for (name, value) in labels.into_iter().flatten() {
            processors.push(json!({"add": {"field": label(name), "value": value}}));
        }
    }
    let line = source.line_of(&[Part::Key("clients".to_owned())]);
    let reason = "Loki is not written to: events go to a Clew, and its address has to be put in";
    told.tell(line.unwrap_or(1), "clients", reason);
    let mut inputs = Vec::new();
    for (number, given) in list(root.take("scrape_configs")).into_iter().enumerate() {
        let path = [Part::Key("scrape_configs".to_owned()), Part::Item(number)];
        if let Some(keys) = Keys::new(given, path.to_vec()) {
            scraped(keys, source, &mut inputs, told);
        }
    }
    for key in ["server", "positions", "global", "limits_config", "tracing"] {
        root.take(key);
    }
    for key in root.into_rest().keys() {
        told.tell(1, key, "has no counterpart");
    }
    config.insert("inputs".to_owned(), inputs.into());
    if !processors.is_empty() {
        config.insert("processors".to_owned(), processors.into());
    }
    config.insert("outputs".to_owned(), json!([{"type": "clew"}]));
    Ok(config)
}

/// The items of a list; of one value that.
fn list(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(items)) => items,
        None | Some(Value::Null) => Vec::new(),
        Some(one) => vec![one],
    }
}

/// The field of a label.
fn label(name: &str) -> String {
    format!("labels.{name}")
}

/// Adds the inputs of one job.
fn scraped(mut keys: Keys, source: &Source<'_>, inputs: &mut Vec<Value>, told: &mut Told) {
    let path = keys.path.clone();
    let line = source.line_of(&path).unwrap_or(1);
    let job = keys.take_text("job_name").unwrap_or_default();
    let place = format!("scrape_configs.{job}");
    let mut stages = Stages::new(source, told);
    let list_of_stages = list(keys.take("pipeline_stages"));
    let stages_path = [&path[..], &[Part::Key("pipeline_stages".to_owned())]].concat();
    stages.add(list_of_stages, &stages_path, None);
    let (multiline, wrapping, mut steps) = (stages.multiline, stages.wrapping, stages.steps);
    if !steps.is_empty() {
        steps.push(json!({"remove": {"field": EXTRACTED, "ignore_missing": true}}));
    }
    let relabelled = relabelled(&mut keys, (line, &place, told));
    let read = read_from(keys, (line, &place, told));
    for (mut input, mut labels) in read {
        if input["type"] == "file" {
            if let Some(multiline) = &multiline {
                input["multiline"] = multiline.clone();
            }
            if let Some(wrapping) = wrapping {
                input["wrapping"] = wrapping.into();
            }
        }
        if input["type"] == "journald" {
            labels.extend(relabelled.iter().cloned());
        }
        labels.extend(steps.iter().cloned());
        if !labels.is_empty() {
            input["processors"] = labels.into();
        }
        inputs.push(input);
    }
}

/// What a job reads from, each with the steps of its labels.
fn read_from(
    mut keys: Keys,
    (line, place, told): (usize, &str, &mut Told),
) -> Vec<(Value, Vec<Value>)> {
    let mut read = Vec::new();
    for config in list(keys.take("static_configs")) {
        read.extend(files(&config));
    }
    if let Some(journal) = keys.take_keys("journal") {
        read.push(journal_of(journal));
    }
    if let Some(mut syslog) = keys.take_keys("syslog") {
        let address = syslog.take_text("listen_address").unwrap_or_default();
        let labels = syslog.take("labels").unwrap_or_default();
        let protocol = syslog.take_text("listen_protocol");
        let protocol = protocol.as_deref().unwrap_or("tcp");
        let mut input = json!({"type": "syslog", "listen": format!("{protocol}://{address}")});
        for (theirs, ours) in [
            ("cert_file", "certificate"),
            ("key_file", "key"),
            ("ca_file", "client_ca"),
        ] {
            if let Some(file) = syslog.take_text(&format!("tls_config.{theirs}")) {
                input["tls"][ours] = file.into();
            }
        }
        syslog.take("idle_timeout");
        if syslog.take_flag("use_incoming_timestamp") == Some(false) {
            let reason = "[syslog.use_incoming_timestamp]: events have the time that they say";
            told.tell(line, place, reason);
        }
        rest_of("syslog", syslog, (line, place, told));
        read.push((input, labelled(&labels)));
    }
    if let Some(mut kafka) = keys.take_keys("kafka") {
        let brokers = list(kafka.take("brokers"));
        let brokers: Vec<&str> = brokers.iter().filter_map(Value::as_str).collect();
        let mut input = json!({
            "type": "kafka", "brokers": brokers.join(","), "topics": list(kafka.take("topics")), "parse": "plain",
        });
        if let Some(group) = kafka.take_text("group_id") {
            input["group_id"] = group.into();
        }
        kafka_clients::of_promtail(&mut kafka).put_in(&mut input);
        let labels = kafka.take("labels").unwrap_or_default();
        for key in ["version", "assignor"] {
            kafka.take(key);
        }
        rest_of("kafka", kafka, (line, place, told));
        read.push((input, labelled(&labels)));
    }
    for key in ["docker_sd_configs", "kubernetes_sd_configs"] {
        if keys.take(key).is_some() {
            let (path, wrapping) = match key {
                "docker_sd_configs" => ("/var/lib/docker/containers/*/*-json.log", "docker"),
                _ => ("/var/log/containers/*.log", "container"),
            };
            let reason = format!(
                "[{key}]: the files of all containers are read, [{path}], without what only a server knows of them"
            );
            told.tell(line, place, reason);
            let input =
                json!({"type": "file", "paths": [path], "parse": "plain", "wrapping": wrapping});
            read.push((input, Vec::new()));
        }
    }
    for key in keys.into_rest().keys() {
        told.tell(line, place, format!("[{key}] has no counterpart"));
    }
    read
}

/// Tells of keys of a source that nobody has taken.
fn rest_of(source: &str, keys: Keys, (line, place, told): (usize, &str, &mut Told)) {
    for key in keys.into_rest().keys() {
        told.tell(line, place, format!("[{source}.{key}] has no counterpart"));
    }
}

/// Labels as steps that add them.
fn labelled(labels: &Value) -> Vec<Value> {
    let labels = labels.as_object().into_iter().flatten();
    let shown = labels.filter(|(name, _)| !name.starts_with("__"));
    shown
        .map(|(name, value)| json!({"add": {"field": label(name), "value": value}}))
        .collect()
}

/// Files of a static configuration, with what labels them.
fn files(config: &Value) -> Option<(Value, Vec<Value>)> {
    let labels = config.get("labels")?;
    let path = labels.get("__path__")?.as_str()?;
    // Braces stand for several patterns.
    let paths = alternatives(path);
    let mut input = json!({"type": "file", "paths": paths, "parse": "plain"});
    if let Some(excluded) = labels.get("__path_exclude__").and_then(Value::as_str) {
        input["exclude"] = alternatives(excluded).into();
    }
    Some((input, labelled(labels)))
}

/// `a{b,c}d` as `abd` and `acd`.
fn alternatives(pattern: &str) -> Vec<String> {
    let parts = pattern.split_once('{').and_then(|(before, behind)| {
        let (inside, behind) = behind.split_once('}')?;
        Some((before, inside, behind))
    });
    match parts {
        None => vec![pattern.to_owned()],
        Some((before, inside, behind)) => {
            let each = inside.split(',');
            each.map(|one| format!("{before}{one}{behind}")).collect()
        }
    }
}

fn journal_of(mut journal: Keys) -> (Value, Vec<Value>) {
    let mut input = json!({"type": "journald"});
    if let Some(folder) = journal.take_text("path") {
        input["directory"] = folder.into();
    }
    if let Some(matches) = journal.take_text("matches") {
        let matches: Vec<&str> = matches.split_whitespace().collect();
        input["matches"] = matches.into();
    }
    let age = journal.take("max_age").unwrap_or_else(|| "7h".into());
    if let Some(ms) = duration_ms(&age) {
        input["since"] = format!("-{}s", ms / 1_000).into();
    }
    let labels = journal.take("labels").unwrap_or_default();
    (input, labelled(&labels))
}

/// Labels of the journal's entries that are named anew; others are told.
fn relabelled(keys: &mut Keys, (line, place, told): (usize, &str, &mut Told)) -> Vec<Value> {
    let mut steps = Vec::new();
    for rule in list(keys.take("relabel_configs")) {
        let text = |key: &str| rule.get(key).and_then(Value::as_str);
        let sources = rule.get("source_labels").and_then(Value::as_array);
        let source = match sources.map(Vec::as_slice) {
            Some([one]) => one
                .as_str()
                .and_then(|name| name.strip_prefix("__journal_")),
            _ => None,
        };
        let is_plain = text("regex").is_none() && matches!(text("action"), None | Some("replace"));
        match (source, text("target_label")) {
            (Some(field), Some(target)) if is_plain => {
                // Fields are there without underscores in front.
                let field = format!("journald.{}", field.trim_start_matches('_'));
                steps.push(json!({"copy": {
                    "source_field": field, "target_field": label(target), "ignore_missing": true,
                }}));
            }
            _ => {
                let named = text("target_label").or_else(|| text("action"));
                let reason = format!(
                    "a rule of [relabel_configs], of [{}], has no counterpart",
                    named.unwrap_or("replace")
                );
                told.tell(line, place, reason);
            }
        }
    }
    steps
}

#[cfg(test)]
mod tests;
