//! Filebeat's configuration as a whole, and its inputs.

use serde_json::{Map, Value, json};

use super::keys::Keys;
use super::{
    ConfigError, Notes, Part, beats_modules, beats_outputs, beats_processors, beats_tls, bytes,
    duration_ms, processor, texts,
};

/// Converts a whole configuration.
pub(super) fn convert(
    tree: Value,
    notes: &mut Notes<'_>,
) -> Result<Map<String, Value>, ConfigError> {
    if beats_modules::is_list(&tree) {
        let mut inputs = Vec::new();
        beats_modules::inputs(items(tree), &[], &mut inputs, notes);
        return Ok(Map::from_iter([("inputs".to_owned(), inputs.into())]));
    }
    let Some(mut root) = Keys::new(tree, Vec::new()) else {
        let reason = "must be a mapping of keys to values".to_owned();
        return Err(notes.source.error("", None, reason));
    };
    let mut config = Map::new();
    let registry = root.take_text("filebeat.registry.path");
    if let Some(path) = registry {
        let path = format!("{}/clew-registry.json", path.trim_end_matches('/'));
        config.insert("registry".to_owned(), path.into());
    }
    if let Some(name) = root.take_text("name") {
        config.insert("host".to_owned(), name.into());
    }
    let mut processors = Vec::new();
    common_fields(&mut root, &mut processors, notes);
    let path = root.path_of("processors");
    let given = root.take("processors");
    beats_processors::convert(given, &path, &mut processors, notes);
    let (given, path) = match root.take("filebeat.inputs") {
        Some(given) => (given, "filebeat.inputs"),
        None => (
            root.take("filebeat.prospectors").unwrap_or_default(),
            "filebeat.prospectors",
        ),
    };
    let path = root.path_of(path);
    let mut inputs = Vec::new();
    for (number, given) in items(given).into_iter().enumerate() {
        let mut path = path.clone();
        path.push(Part::Item(number));
        let Some(keys) = Keys::new(given, path.clone()) else {
            notes.tell(&path, "is no input");
            continue;
        };
        inputs.extend(input(keys, notes));
    }
    let path = root.path_of("filebeat.modules");
    let given = items(root.take("filebeat.modules").unwrap_or_default());
    beats_modules::inputs(given, &path, &mut inputs, notes);
    let outputs = beats_outputs::outputs(&mut root, &mut config, notes);
    config.insert("inputs".to_owned(), inputs.into());
    if !processors.is_empty() {
        config.insert("processors".to_owned(), processors.into());
    }
    config.insert("outputs".to_owned(), outputs.into());
    root.tell_rest(notes);
    Ok(config)
}

fn items(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        Value::Null => Vec::new(),
        one => vec![one],
    }
}

/// `fields`, `fields_under_root` and `tags`, of an input or of all.
fn common_fields(keys: &mut Keys, processors: &mut Vec<Value>, notes: &mut Notes<'_>) {
    let at_root = keys.take_flag("fields_under_root").unwrap_or(false);
    let path = keys.path_of("fields");
    match keys.take("fields") {
        None => {}
        Some(Value::Object(fields)) => {
            for (name, value) in fields {
                let name = if at_root {
                    name
                } else {
                    format!("fields.{name}")
                };
                processors.push(processor("add", [("field", name.into()), ("value", value)]));
            }
        }
        Some(_) => notes.tell(&path, "is no mapping"),
    }
    if let Some(tags) = keys.take("tags") {
        let tags = texts(tags);
        processors.push(processor(
            "append",
            [("field", "tags".into()), ("value", tags.into())],
        ));
    }
}

fn input(mut keys: Keys, notes: &mut Notes<'_>) -> Option<Value> {
    if keys.take_flag("enabled") == Some(false) {
        notes.tell(&keys.path, "is not enabled, and left out");
        return None;
    }
    let kind = keys.take_text("type").unwrap_or_else(|| "log".to_owned());
    let id = keys.take("id");
    let mut input = Map::new();
    let mut processors = Vec::new();
    match kind.as_str() {
        "log" | "filestream" | "container" | "docker" => {
            file(&kind, &mut keys, &mut input, &mut processors, notes);
        }
        "stdin" => {
            input.insert("type".to_owned(), "stdin".into());
            input.insert("parse".to_owned(), "plain".into());
        }
        "syslog" | "tcp" | "udp" | "unix" => sent(&kind, &mut keys, &mut input, notes),
        "journald" => journal(id, &mut keys, &mut input, notes),
        "http_endpoint" => {
            let address = keys
                .take_text("listen_address")
                .unwrap_or_else(|| "127.0.0.1".to_owned());
            let port = keys
                .take_text("listen_port")
                .unwrap_or_else(|| "8000".to_owned());
            input.insert("type".to_owned(), "http".into());
            input.insert("listen".to_owned(), format!("{address}:{port}").into());
            let tls = beats_tls::of_input(&mut keys, "ssl", notes);
            input.extend(tls.map(|tls| ("tls".to_owned(), tls)));
        }
        other => {
            let reason = format!("no input does what [{other}] does");
            notes.tell(&keys.path, reason);
            return None;
        }
    }
    common_fields(&mut keys, &mut processors, notes);
    let path = keys.path_of("processors");
    let given = keys.take("processors");
    beats_processors::convert(given, &path, &mut processors, notes);
    if !processors.is_empty() {
        input.insert("processors".to_owned(), processors.into());
    }
    keys.tell_rest(notes);
    Some(Value::Object(input))
}

/// What reads files.
fn file(
    kind: &str,
    keys: &mut Keys,
    input: &mut Map<String, Value>,
    processors: &mut Vec<Value>,
    notes: &mut Notes<'_>,
) {
    which_files(kind, keys, input, notes);
    let longest = keys
        .take("message_max_bytes")
        .or_else(|| keys.take("max_bytes"));
    if let Some(longest) = longest.as_ref().and_then(bytes) {
        input.insert("line_bytes_max".to_owned(), longest.into());
    }
    encoding(keys, input, notes);
    if matches!(kind, "container" | "docker") {
        container(keys, input, processors);
    }
    if let Some(multiline) = keys.take_keys("multiline") {
        input.extend(multiline_of(multiline, notes).map(|one| ("multiline".to_owned(), one)));
    }
    json_of(keys.take_keys("json"), processors, notes);
    parsers(keys, input, processors, notes);
    for (key, is_kept) in [("include_lines", true), ("exclude_lines", false)] {
        let patterns = texts(keys.take(key).unwrap_or_default());
        if patterns.is_empty() {
            continue;
        }
        let any: Vec<Value> = patterns
            .iter()
            .map(|pattern| json!({"regexp": {"message": pattern}}))
            .collect();
        let any = json!({"or": any});
        let condition = if is_kept { json!({"not": any}) } else { any };
        processors.insert(0, processor("drop", [("if", condition)]));
    }
    // Of the way Filebeat looks and closes: files are followed here, and given up when they are gone.
    for key in LOOKING {
        keys.take(key);
    }
}

const LOOKING: [&str; 20] = [
    "close_inactive",
    "close_renamed",
    "close_removed",
    "close_eof",
    "close_timeout",
    "clean_inactive",
    "clean_removed",
    "scan_frequency",
    "harvester_buffer_size",
    "harvester_limit",
    "backoff",
    "max_backoff",
    "backoff_factor",
    "close.on_state_change",
    "close.reader",
    "file_identity",
    "prospector.scanner",
    "recursive_glob",
    "take_over",
    "rotation",
];

/// Paths, what is left out of them, and where reading begins.
fn which_files(kind: &str, keys: &mut Keys, input: &mut Map<String, Value>, notes: &mut Notes<'_>) {
    let mut set = |key: &str, value: Value| input.insert(key.to_owned(), value);
    set("type", "file".into());
    let mut paths = texts(keys.take("paths").unwrap_or_default());
    if kind == "docker" {
        let ids = texts(keys.take("containers.ids").unwrap_or_default());
        let path = |id: &String| format!("/var/lib/docker/containers/{id}/*.log");
        paths.extend(ids.iter().map(path));
    }
    set("paths", paths.into());
    set("parse", "plain".into());
    let path = keys.path_of("exclude_files");
    let excluded = keys
        .take("prospector.scanner.exclude_files")
        .or_else(|| keys.take("exclude_files"));
    if let Some(excluded) = excluded {
        let mut globs = Vec::new();
        for pattern in texts(excluded) {
            match as_glob(&pattern) {
                Some(glob) => globs.push(glob),
                None => {
                    let reason = "is no pattern of names: [exclude] takes those";
                    notes.tell(&path, format!("[{pattern}] {reason}"));
                }
            }
        }
        set("exclude", globs.into());
    }
    if let Some(age) = keys.take("ignore_older").as_ref().and_then(duration_ms) {
        set("ignore_older_s", (age / 1_000).into());
    }
    if keys.take_flag("tail_files") == Some(true) {
        set("start_at", "end".into());
    }
}

fn encoding(keys: &mut Keys, input: &mut Map<String, Value>, notes: &mut Notes<'_>) {
    let path = keys.path_of("encoding");
    let encoding = match keys.take_text("encoding").as_deref() {
        // What has a mark is told by it.
        None | Some("plain" | "utf-8" | "utf-16le-bom" | "utf-16be-bom" | "utf-16-bom") => return,
        Some("latin1" | "iso8859-1" | "iso-8859-1") => "latin-1",
        Some("utf-16le") => "utf-16le",
        Some("utf-16be") => "utf-16be",
        Some(other) => {
            notes.tell(&path, format!("no encoding is called [{other}]"));
            return;
        }
    };
    input.insert("encoding".to_owned(), encoding.into());
}

fn parsers(
    keys: &mut Keys,
    input: &mut Map<String, Value>,
    processors: &mut Vec<Value>,
    notes: &mut Notes<'_>,
) {
    let path = keys.path_of("parsers");
    let given = items(keys.take("parsers").unwrap_or_default());
    for (number, parser) in given.into_iter().enumerate() {
        let mut path = path.clone();
        path.push(Part::Item(number));
        let Some(mut parser) = Keys::new(parser, path) else {
            continue;
        };
        if let Some(multiline) = parser.take_keys("multiline") {
            input.extend(multiline_of(multiline, notes).map(|one| ("multiline".to_owned(), one)));
        } else if let Some(given) = parser.take("container") {
            let given = Keys::new(given, parser.path_of("container"));
            let mut keys = given.unwrap_or_default();
            container(&mut keys, input, processors);
            keys.tell_rest(notes);
        } else if let Some(mut keys) = parser.take_keys("syslog") {
            beats_processors::syslog(&mut keys, processors, notes);
            keys.tell_rest(notes);
        } else {
            json_of(parser.take_keys("ndjson"), processors, notes);
        }
        parser.tell_rest(notes);
    }
}

/// What a container's runtime wraps lines in, and of which of its streams they are.
fn container(keys: &mut Keys, input: &mut Map<String, Value>, processors: &mut Vec<Value>) {
    input.insert("wrapping".to_owned(), "container".into());
    keys.take("format");
    if let Some(stream) = keys.take_text("stream").filter(|stream| stream != "all") {
        let others = json!({"not": {"equals": {"stream": stream}}});
        processors.push(processor("drop", [("if", others)]));
    }
}

/// `\.gz$` as `*.gz`, `^debug` as `debug*`; nothing for patterns that are not so plain.
fn as_glob(pattern: &str) -> Option<String> {
    let (start, rest) = match pattern.strip_prefix('^') {
        Some(rest) => ("", rest),
        None => ("*", pattern),
    };
    let (rest, end) = match rest.strip_suffix('$') {
        Some(rest) => (rest, ""),
        None => (rest, "*"),
    };
    let plain = rest.replace("\\.", ".").replace(".*", "*");
    let is_plain = !plain.contains(|letter: char| "\\[](){}?+|^$".contains(letter));
    let glob = format!("{start}{plain}{end}").replace("**", "*");
    // An unescaped point is any letter, which is mostly meant as a point.
    is_plain.then_some(glob)
}

fn multiline_of(mut keys: Keys, notes: &mut Notes<'_>) -> Option<Value> {
    keys.take("type");
    let pattern = keys.take_text("pattern");
    let negate = keys.take_flag("negate").unwrap_or(false);
    let is_after = keys.take_text("match").is_none_or(|place| place == "after");
    let mut multiline = Map::new();
    let Some(pattern) = pattern.filter(|_| is_after) else {
        notes.tell(
            &keys.path,
            "only [pattern] with [match: after] has a counterpart",
        );
        return None;
    };
    let rule = if negate { "start" } else { "continue" };
    multiline.insert(rule.to_owned(), pattern.into());
    if let Some(lines) = keys.take("max_lines") {
        multiline.insert("lines_max".to_owned(), lines);
    }
    if let Some(timeout) = keys.take("timeout").as_ref().and_then(duration_ms) {
        multiline.insert("timeout_ms".to_owned(), timeout.into());
    }
    keys.tell_rest(notes);
    Some(Value::Object(multiline))
}

/// `json` of an input, or its parser `ndjson`.
fn json_of(keys: Option<Keys>, processors: &mut Vec<Value>, notes: &mut Notes<'_>) {
    let Some(mut keys) = keys else {
        return;
    };
    let at_root = keys.take_flag("keys_under_root").unwrap_or(false);
    let target = keys.take_text("target");
    keys.take("overwrite_keys");
    keys.take("add_error_key");
    keys.take("ignore_decoding_error");
    let field = ("field", "message".into());
    processors.push(match target {
        Some(target) if !target.is_empty() => {
            processor("json", [field, ("target_field", target.into())])
        }
        None if !at_root => processor("json", [field, ("target_field", "json".into())]),
        _ => processor("json", [field, ("add_to_root", true.into())]),
    });
    keys.tell_rest(notes);
}

/// The system's journal.
fn journal(
    id: Option<Value>,
    keys: &mut Keys,
    input: &mut Map<String, Value>,
    notes: &mut Notes<'_>,
) {
    input.insert("type".to_owned(), "journald".into());
    input.extend(id.map(|id| ("id".to_owned(), id)));
    let matches = keys
        .take("include_matches.match")
        .or_else(|| keys.take("include_matches"));
    for (key, given) in [
        ("units", keys.take("units")),
        ("identifiers", keys.take("syslog_identifiers")),
        ("matches", matches),
    ] {
        let given = texts(given.unwrap_or_default());
        if !given.is_empty() {
            input.insert(key.to_owned(), given.into());
        }
    }
    if keys.take_text("seek").as_deref() == Some("tail") {
        input.insert("start_at".to_owned(), "end".into());
    }
    let path = keys.path_of("paths");
    match &texts(keys.take("paths").unwrap_or_default())[..] {
        [] => {}
        [folder] => {
            input.insert("directory".to_owned(), folder.as_str().into());
        }
        _ => notes.tell(&path, "several folders need several inputs"),
    }
}

/// What is sent to over sockets.
fn sent(kind: &str, keys: &mut Keys, input: &mut Map<String, Value>, notes: &mut Notes<'_>) {
    let listen = if kind == "syslog" {
        let tcp = keys
            .take_text("protocol.tcp.host")
            .map(|host| format!("tcp://{host}"));
        let udp = keys
            .take_text("protocol.udp.host")
            .map(|host| format!("udp://{host}"));
        tcp.or(udp)
    } else if kind == "unix" {
        keys.take_text("path").map(|path| format!("unix://{path}"))
    } else {
        keys.take_text("host")
            .map(|host| format!("{kind}://{host}"))
    };
    input.insert("type".to_owned(), "syslog".into());
    match listen {
        Some(listen) => {
            // An address, since names are not asked for.
            let listen = listen.replace("localhost:", "127.0.0.1:");
            input.insert("listen".to_owned(), listen.into());
        }
        None => notes.tell(&keys.path, "has no address to listen at"),
    }
    let place = match kind {
        "syslog" => "protocol.tcp.ssl",
        _ => "ssl",
    };
    let tls = beats_tls::of_input(keys, place, notes);
    input.extend(tls.map(|tls| ("tls".to_owned(), tls)));
    if kind != "syslog" {
        input.insert("parse".to_owned(), "plain".into());
    }
    if let Some(longest) = keys.take("max_message_size").as_ref().and_then(bytes) {
        input.insert("line_bytes_max".to_owned(), longest.into());
    }
}
