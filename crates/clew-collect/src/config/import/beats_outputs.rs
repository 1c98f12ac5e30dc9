//! Filebeat's outputs.

use serde_json::{Map, Value, json};

use super::keys::Keys;
use super::{Notes, beats_tls, named_by_fields, object, texts};

/// Converts all outputs of a configuration.
pub(super) fn outputs(
    root: &mut Keys,
    config: &mut Map<String, Value>,
    notes: &mut Notes<'_>,
) -> Vec<Value> {
    let mut outputs = Vec::new();
    if let Some(keys) = root.take_keys("output.elasticsearch") {
        outputs.extend(elasticsearch(keys, config, notes));
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
        keys.tell_rest(notes);
        outputs.push(output);
    }
    if let Some(mut keys) = root.take_keys("output.console")
        && keys.take_flag("enabled") != Some(false)
    {
        keys.take("pretty");
        keys.tell_rest(notes);
        outputs.push(object([("type", "stdout".into())]));
    }
    outputs
}

fn elasticsearch(
    mut keys: Keys,
    config: &mut Map<String, Value>,
    notes: &mut Notes<'_>,
) -> Option<Value> {
    if keys.take_flag("enabled") == Some(false) {
        return None;
    }
    let url = url(&mut keys, notes);
    let mut output = object([("type", "opensearch".into()), ("url", url.into())]);
    for key in ["index", "pipeline"] {
        let path = keys.path_of(key);
        let Some(written) = keys.take_text(key) else {
            continue;
        };
        match named_by_fields(&written) {
            Some(template) => output[key] = template.into(),
            None => notes.tell(&path, format!("[{written}] has a %{{ without its }}")),
        }
    }
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
    let password = keys.take_text("password");
    if keys.take_text("username").is_some() || password.is_some() {
        notes.tell(
            &path,
            "a login is taken from the variable CLEW_LOGIN (`user:password`)",
        );
    }
    if keys
        .take("compression_level")
        .is_none_or(|level| level != 0)
    {
        output["compression"] = "gzip".into();
    }
    if let Some(lines) = keys.take("bulk_max_size") {
        config.insert("batch_lines_max".to_owned(), lines);
    }
    if let Some(tls) = beats_tls::of_output(&mut keys, notes)
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
    ] {
        keys.take(key);
    }
    keys.tell_rest(notes);
    Some(output)
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
    let protocol = keys
        .take_text("protocol")
        .unwrap_or_else(|| "http".to_owned());
    let url = if host.contains("://") {
        host
    } else {
        format!("{protocol}://{host}")
    };
    let has_port = url
        .rsplit_once("://")
        .is_some_and(|(_, host)| host.contains(':'));
    match has_port {
        true => url,
        false => format!("{url}:9200"),
    }
}
