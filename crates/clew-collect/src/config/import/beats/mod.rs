//! Filebeat's configuration as a whole, and its inputs.

mod cloud;
mod discover;
mod files;
mod modules;
mod outputs;
mod processors;
mod tls;

use serde_json::{Map, Value, json};

use super::conditions::only_if;
use super::keys::{Keys, is_off};
use super::{ConfigError, Notes, Part, bytes, kafka_clients, let_in, processor, texts};
use files::{file, parsers_of_messages};

pub(super) use cloud::address as address_of_cloud;
pub(super) use tls::of_output as tls_of_output;

/// Where an event says which ingest pipeline it wants.
const PIPELINE: &str = "@metadata.pipeline";

/// Where an event says which index its input names, as it is written there.
const INDEX: &str = "@metadata.raw_index";

/// Converts a whole configuration.
pub(super) fn convert(
    tree: Value,
    notes: &mut Notes<'_>,
) -> Result<Map<String, Value>, ConfigError> {
    if modules::is_list(&tree) {
        let mut inputs = Vec::new();
        modules::inputs(items(tree), &[], &mut inputs, notes);
        return Ok(Map::from_iter([("inputs".to_owned(), inputs.into())]));
    }
    let is_of_pipelines = tree
        .get(0)
        .is_some_and(|first| first.get("pipeline.id").is_some());
    let Some(mut root) = Keys::new(tree, Vec::new()) else {
        return Err(notes.source.error("", None, why_none(is_of_pipelines)));
    };
    let mut config = Map::new();
    config.extend(registry(&mut root).map(|path| ("registry".to_owned(), path.into())));
    let name = root.take_text("name");
    config.extend(name.map(|name| ("host".to_owned(), name.into())));
    let mut processors = Vec::new();
    common_fields(&mut root, &mut processors, notes);
    let of_all = processors.len();
    let path = root.path_of("processors");
    let given = root.take("processors");
    processors::convert(given, &path, &mut processors, notes);
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
    discover::inputs(&mut root, &mut inputs, notes);
    let path = root.path_of("filebeat.modules");
    let given = items(root.take("filebeat.modules").unwrap_or_default());
    modules::inputs(given, &path, &mut inputs, notes);
    give_way(&mut processors[..of_all], &inputs);
    let of_inputs = indexes_of(&inputs, &processors);
    let mut outputs = outputs::outputs(&mut root, &of_inputs, &mut config, notes);
    let is_chosen = |input: &Value| {
        let steps = input["processors"].as_array();
        steps.is_some_and(|steps| steps.iter().any(|step| step["add"]["field"] == PIPELINE))
    };
    if inputs.iter().any(is_chosen) {
        outputs.iter_mut().for_each(ask_for_pipeline);
    }
    config.insert("inputs".to_owned(), inputs.into());
    if !processors.is_empty() {
        config.insert("processors".to_owned(), processors.into());
    }
    config.insert("outputs".to_owned(), outputs.into());
    tell_elsewhere(&mut root, notes);
    root.tell_rest(notes);
    Ok(config)
}

/// The file that stands for the folder of a Filebeat's registry, if that is named.
fn registry(root: &mut Keys) -> Option<String> {
    let data = root.take_text("path.data");
    // A Filebeat's own folders are no variables here.
    let data = data.as_deref().unwrap_or("/var/lib/filebeat");
    let path = root.take_text("filebeat.registry.path")?;
    let path = path.replace("${path.data}", data);
    Some(format!("{}/clew-registry.json", path.trim_end_matches('/')))
}

/// What is said in another place here, and where.
const ELSEWHERE: [(&str, &str); 7] = [
    ("filebeat.config.inputs", FOLDER),
    ("filebeat.config.modules", FOLDER),
    (
        "queue.disk",
        "the [buffer] of an output keeps what waits for it",
    ),
    ("http", FIGURES),
    ("monitoring", FIGURES),
    (
        "setup",
        "templates, policies and dashboards are given to the server, not by who sends to it",
    ),
    ("logging", "what goes on is told on standard error"),
];
/// How a Filebeat runs, which changes nothing of what becomes of lines.
const RUNNING: [&str; 11] = [
    "queue.mem",
    "max_procs",
    "path",
    "filebeat.registry",
    "filebeat.overwrite_pipelines",
    "filebeat.shutdown_timeout",
    "seccomp",
    "instrumentation",
    "features",
    "timestamp",
    "keystore",
];
const FOLDER: &str = "files of a folder are carried over one by one";
const FIGURES: &str = "figures are shown with [metrics]";

/// Tells of what is said in another place, unless it is off.
fn tell_elsewhere(root: &mut Keys, notes: &mut Notes<'_>) {
    for key in RUNNING {
        root.take(key);
    }
    for (key, reason) in ELSEWHERE {
        let path = root.path_of(key);
        let given = root.take(key);
        if given.is_some_and(|given| !is_off(key, &given)) {
            notes.tell(&path, reason);
        }
    }
}

/// Has the fields that all events get give way to those of the same name that inputs give theirs, which come first here.
fn give_way(of_all: &mut [Value], inputs: &[Value]) {
    let steps = inputs
        .iter()
        .filter_map(|input| input["processors"].as_array())
        .flatten();
    let given: Vec<&str> = steps
        .filter_map(|step| step["add"]["field"].as_str())
        .collect();
    for step in of_all {
        let field = step["add"]["field"].as_str().map(str::to_owned);
        if let Some(field) = field.filter(|field| given.contains(&field.as_str())) {
            only_if(step, json!({"not": {"has_fields": [field]}}));
        }
    }
}

/// The indexes that inputs and processors name for events, with the condition that holds for those.
fn indexes_of(inputs: &[Value], processors: &[Value]) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    let of_inputs = inputs
        .iter()
        .filter_map(|input| input["processors"].as_array());
    for step in of_inputs.flatten().chain(processors) {
        let index = &step["add"]["value"];
        let is_known = found.iter().any(|known| known["index"] == *index);
        if step["add"]["field"] == INDEX && !is_known {
            found.push(json!({"index": index, "when": {"equals": {INDEX: index}}}));
        }
    }
    found
}

/// Why a text is no configuration.
fn why_none(is_of_pipelines: bool) -> String {
    let reason = match is_of_pipelines {
        true => {
            "is a list of Logstash's pipelines: each of the files that its [path.config] name is imported by itself"
        }
        false => "must be a mapping of keys to values",
    };
    reason.to_owned()
}

/// Has an output ask for the pipeline that an event's input names before its own.
fn ask_for_pipeline(output: &mut Value) {
    if output["type"] != "opensearch" {
        return;
    }
    let asked = format!("{{{{{PIPELINE}}}}}");
    let template = match output["pipeline"].as_str() {
        None => asked,
        Some(own) => format!("{{{{^{PIPELINE}}}}}{own}{{{{/{PIPELINE}}}}}{asked}"),
    };
    output["pipeline"] = template.into();
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
        "journald" => {
            journal(id, &mut keys, &mut input, notes);
            parsers_of_messages(&mut keys, &mut processors, notes);
        }
        "http_endpoint" => {
            let address = keys
                .take_text("listen_address")
                .unwrap_or_else(|| "127.0.0.1".to_owned());
            let port = keys
                .take_text("listen_port")
                .unwrap_or_else(|| "8000".to_owned());
            input.insert("type".to_owned(), "http".into());
            input.insert("listen".to_owned(), format!("{address}:{port}").into());
            if keys.take_text("prefix").as_deref() != Some(".") {
                let reason = "objects are events themselves here, and not inside of [json] or another [prefix]";
                notes.tell(&keys.path, reason);
            }
            let tls = tls::of_input(&mut keys, "ssl", notes);
            input.extend(tls.map(|tls| ("tls".to_owned(), tls)));
            if keys.take_flag("basic_auth") == Some(true) {
                let login = let_in(&mut keys, "username", "password");
                input.extend(login.map(|login| ("authentication".to_owned(), login)));
            }
        }
        "kafka" => {
            kafka(&mut keys, &mut input, notes);
            parsers_of_messages(&mut keys, &mut processors, notes);
        }
        other => {
            let reason = format!("no input does what [{other}] does");
            notes.tell(&keys.path, reason);
            return None;
        }
    }
    common_fields(&mut keys, &mut processors, notes);
    pipeline(&mut keys, &mut processors, notes);
    let path = keys.path_of("processors");
    let given = keys.take("processors");
    processors::convert(given, &path, &mut processors, notes);
    if !processors.is_empty() {
        input.insert("processors".to_owned(), processors.into());
    }
    keys.tell_rest(notes);
    Some(Value::Object(input))
}

/// The ingest pipeline and the index that an input wants for its events, which outputs ask for then.
fn pipeline(keys: &mut Keys, processors: &mut Vec<Value>, notes: &mut Notes<'_>) {
    let path = keys.path_of("pipeline");
    match keys.take_text("pipeline") {
        None => {}
        Some(template) if template.contains("%{") => {
            notes.tell(&path, "only the name of a pipeline has a counterpart");
        }
        Some(name) => processors.push(processor(
            "add",
            [("field", PIPELINE.into()), ("value", name.into())],
        )),
    }
    if let Some(index) = keys.take_text("index") {
        let parts = [("field", INDEX.into()), ("value", index.into())];
        processors.push(processor("add", parts));
    }
}

/// Topics of Kafka.
fn kafka(keys: &mut Keys, input: &mut Map<String, Value>, notes: &mut Notes<'_>) {
    let hosts = texts(keys.take("hosts").unwrap_or_default());
    let offset = match keys.take_text("initial_offset").as_deref() {
        Some("newest") => "latest",
        _ => "earliest",
    };
    let topics = texts(keys.take("topics").unwrap_or_default());
    for (key, value) in [
        ("type", "kafka".into()),
        ("parse", "plain".into()),
        ("brokers", hosts.join(",").into()),
        ("topics", topics.into()),
        ("offset_reset", offset.into()),
    ] {
        input.insert(key.to_owned(), value);
    }
    kafka_clients::of_beats(keys, notes).put(input);
    let group = keys.take("group_id");
    input.extend(group.map(|group| ("group_id".to_owned(), group)));
    // Of the way the client connects and waits: the library's own is as good.
    for key in ["version", "connect_backoff", "max_wait_time"] {
        keys.take(key);
    }
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
    let path = keys.path_of("include_matches");
    let matches = keys.take("include_matches.match");
    let matches = matches.or_else(|| keys.take("include_matches"));
    if matches.as_ref().is_some_and(Value::is_object) {
        notes.tell(
            &path,
            "has a counterpart only where it is a list of `FIELD=value` and `+`",
        );
    }
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
    let since = keys.take_text("since");
    match keys.take_text("seek").as_deref() {
        Some("tail") => {
            input.insert("start_at".to_owned(), "end".into());
        }
        Some("since") => input.extend(since.map(|since| ("since".to_owned(), since.into()))),
        _ => {}
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

/// The socket of this machine that an input listens at, whose keys begin so.
fn socket(begin: &str, keys: &mut Keys) -> Option<String> {
    let kind = keys.take_text(&format!("{begin}socket_type"));
    let scheme = match kind.as_deref() {
        Some("datagram") => "unixgram",
        _ => "unix",
    };
    let path = keys.take_text(&format!("{begin}path"))?;
    Some(format!("{scheme}://{path}"))
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
        tcp.or(udp).or_else(|| socket("protocol.unix.", keys))
    } else if kind == "unix" {
        socket("", keys)
    } else {
        keys.take_text("host")
            .map(|host| format!("{kind}://{host}"))
    };
    input.insert("type".to_owned(), "syslog".into());
    match listen {
        Some(listen) => {
            // An address, since names are not asked for.
            let listen = listen.replace("localhost:", "127.0.0.1:");
            let listen = listen.replace("//:", "//0.0.0.0:");
            input.insert("listen".to_owned(), listen.into());
        }
        None => notes.tell(&keys.path, "has no address to listen at"),
    }
    let place = match kind {
        "syslog" => "protocol.tcp.ssl",
        _ => "ssl",
    };
    let tls = tls::of_input(keys, place, notes);
    input.extend(tls.map(|tls| ("tls".to_owned(), tls)));
    match kind {
        // Their names are `hostname`, `process.program` and those in `syslog`.
        "syslog" => notes.tell(
            &keys.path,
            "the fields are those of the parser [syslog], of the Elastic Common Schema",
        ),
        _ => {
            input.insert("parse".to_owned(), "plain".into());
        }
    }
    told_apart(kind, keys, notes);
    let mut longest = keys.take("max_message_size");
    for protocol in ["tcp", "udp", "unix"] {
        let own = keys.take(&format!("protocol.{protocol}.max_message_size"));
        longest = longest.or(own);
    }
    if let Some(longest) = longest.as_ref().and_then(bytes) {
        input.insert("line_bytes_max".to_owned(), longest.into());
    }
}

/// How messages are told apart: lines, and those with their lengths in front, by what comes.
fn told_apart(kind: &str, keys: &mut Keys, notes: &mut Notes<'_>) {
    let begin = match kind {
        // Both forms of messages are known without being named.
        "syslog" => {
            keys.take("format");
            "protocol.tcp."
        }
        _ => "",
    };
    let key = format!("{begin}framing");
    let path = keys.path_of(&key);
    match keys.take_text(&key).as_deref() {
        None | Some("delimiter" | "rfc6587") => {}
        Some(other) => notes.tell(&path, format!("messages are never parted by [{other}]")),
    }
    let key = format!("{begin}line_delimiter");
    let path = keys.path_of(&key);
    if keys.take_text(&key).is_some_and(|end| end != "\n") {
        notes.tell(&path, "messages end with their lines");
    }
}

#[cfg(test)]
mod tests;
