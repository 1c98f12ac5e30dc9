//! Fluent Bit's configurations: inputs, each with the filters that take its tag, and outputs, with a condition where they do not
//! take all of them. A line is in `message`, which is `log` there: a name that other fields of files are inside of here.

mod filters;
mod joining;
mod outputs;
mod parsers;
mod processors;
mod syntax;
mod tags;

use serde_json::{Map, Value, json};

use super::conditions::only_if;
use super::told::Told;
use super::{ConfigError, LeftOut, Source, bytes, duration_ms, kafka_clients};
use crate::frame::Encoding;
use filters::filter;
use joining::{joined, joined_as_before};
use outputs::output;
use parsers::{Parsers, Raw};
use syntax::{Kind, Section, classic, yaml};
use tags::{Reach, Tag};

/// Where an event's tag is while outputs ask for it, in no document.
const TAG: &str = "@metadata.tag";

pub(super) use syntax::is_one;

/// Converts a configuration, of sections or in YAML.
pub(super) fn convert(
    name: &str,
    text: &str,
    told: &mut Told,
) -> Result<Map<String, Value>, ConfigError> {
    let mut sections = classic(text, told);
    if sections.is_empty() {
        *told = Told::default();
        sections = yaml(&Source::new(name, text), told)?;
    }
    Ok(of_sections(sections, told))
}

fn of_sections(sections: Vec<Section>, told: &mut Told) -> Map<String, Value> {
    let mut config = Map::new();
    let (mut inputs, mut filters, mut outputs) = (Vec::new(), Vec::new(), Vec::new());
    let mut parsers = Parsers::default();
    for section in sections {
        match section.kind {
            Kind::Service => service(section, &mut config),
            Kind::Input => inputs.push(section),
            Kind::Filter => filters.push(section),
            Kind::Output => outputs.push(section),
            Kind::Parser | Kind::MultilineParser => parsers.add(section),
        }
    }
    let (mut tags, mut read) = (Vec::new(), Vec::new());
    for (number, mut section) in inputs.into_iter().enumerate() {
        let usual = format!("{}.{number}", section.name);
        let tag = section.take("tag").unwrap_or(usual);
        let (mut steps, processors) = (Vec::new(), std::mem::take(&mut section.processors));
        let Some(mut input) = input(section, &parsers, &mut steps, told) else {
            continue;
        };
        let tag = Tag::new(tag, &input["paths"]);
        for processor in processors {
            filter(processor, &parsers, &mut steps, told);
        }
        for one in &filters {
            filtered((one, &tag), &parsers, (&mut input, &mut steps), told);
        }
        input["processors"] = steps.into();
        tags.push(tag);
        read.push(input);
    }
    for one in &filters {
        if tags.iter().all(|tag| tag.reach(one) == Reach::None) {
            told.tell(one.line, &one.place(), TAKES_NONE);
        }
    }
    without_own_host(&mut read);
    let (written, last) = routed(outputs, &tags, &mut read, told);
    for input in &mut read {
        if input["processors"] == json!([])
            && let Value::Object(input) = input
        {
            input.shift_remove("processors");
        }
    }
    config.insert("inputs".to_owned(), read.into());
    if !last.is_empty() {
        config.insert("processors".to_owned(), last.into());
    }
    config.insert("outputs".to_owned(), written.into());
    // What is told of a filter is told for each of its inputs.
    let mut left_out: Vec<LeftOut> = Vec::new();
    for one in std::mem::take(&mut told.left_out) {
        if !left_out.contains(&one) {
            left_out.push(one);
        }
    }
    told.left_out = left_out;
    config
}

/// Takes the name of the machine, `host.name`, from events where a parser may call something else `host`: a Fluent Bit says nothing of
/// the machine, and a field that is an object in some documents and a text in others is refused by servers.
fn without_own_host(inputs: &mut [Value]) {
    let says_host = |input: &Value| {
        let steps = input["processors"].as_array().into_iter().flatten();
        let mut steps = steps.map(|step| (&step["regex"]["pattern"], &step["kv"]["value_split"]));
        steps.any(|(pattern, split)| {
            let has_group = pattern.as_str().is_some_and(|one| one.contains("(?<host>"));
            // Labels have any names, and this one mostly.
            has_group || split.is_string()
        })
    };
    if !inputs.iter().any(says_host) {
        return;
    }
    for input in inputs {
        // What is sent as a document, and an entry of a journal, says itself where it is from.
        if input["type"] == "http" || input["type"] == "journald" {
            continue;
        }
        if let Some(steps) = input["processors"].as_array_mut() {
            steps.insert(
                0,
                json!({"remove": {"field": "host", "ignore_missing": true}}),
            );
        }
    }
}

/// What is told of a section that is for no event.
const TAKES_NONE: &str = "takes no input's tag, and is left out";

/// Adds what a filter becomes to an input, if it takes its tag.
fn filtered(
    (section, tag): (&Section, &Tag),
    parsers: &Parsers,
    (input, steps): (&mut Value, &mut Vec<Value>),
    told: &mut Told,
) {
    let condition = match tag.reach(section) {
        Reach::None => return,
        Reach::All => None,
        Reach::Some(condition) => Some(condition),
    };
    if section.name.eq_ignore_ascii_case("multiline") {
        joined(section.clone(), parsers, (input, condition.as_ref()), told);
        return;
    }
    let first = steps.len();
    filter(section.clone(), parsers, steps, told);
    if let Some(condition) = condition {
        for step in steps.iter_mut().skip(first) {
            only_if(step, condition.clone());
        }
    }
}

/// Outputs, and what they want to be done last; inputs are marked if one of the outputs asks for it.
fn routed(
    outputs: Vec<Section>,
    tags: &[Tag],
    inputs: &mut [Value],
    told: &mut Told,
) -> (Vec<Value>, Vec<Value>) {
    let (mut written, mut last) = (Vec::new(), Vec::new());
    let mut asks_for_tags = false;
    for section in outputs {
        let reached = tags.iter().map(|tag| (tag, tag.reach(&section)));
        let taken: Vec<(&Tag, Reach)> =
            reached.filter(|(_, reach)| *reach != Reach::None).collect();
        let (line, place) = (section.line, section.place());
        let Some(mut output) = output(section, &mut last, told) else {
            continue;
        };
        if taken.is_empty() {
            told.tell(line, &place, TAKES_NONE);
            continue;
        }
        let is_all = taken.iter().all(|(_, reach)| *reach == Reach::All);
        if taken.len() < tags.len() || !is_all {
            asks_for_tags = true;
            let any: Vec<Value> = taken
                .into_iter()
                .map(|(tag, reach)| {
                    let is_tag = json!({"equals": {TAG: tag.written}});
                    match reach {
                        Reach::Some(files) => json!({"and": [is_tag, files]}),
                        Reach::All | Reach::None => is_tag,
                    }
                })
                .collect();
            output["when"] = json!({"or": any});
        }
        written.push(output);
    }
    for (input, tag) in inputs.iter_mut().zip(tags).filter(|_| asks_for_tags) {
        if let Some(steps) = input["processors"].as_array_mut() {
            steps.push(json!({"add": {"field": TAG, "value": tag.written}}));
        }
    }
    (written, last)
}

/// What concerns the whole: the page of metrics, where there is one.
fn service(mut section: Section, config: &mut Map<String, Value>) {
    if section.take_flag("http_server") != Some(true) {
        return;
    }
    let host = section.take("http_listen");
    let host = host.unwrap_or_else(|| "0.0.0.0".to_owned());
    let port = section.take("http_port");
    let port = port.unwrap_or_else(|| "2020".to_owned());
    let listen = json!({"listen": format!("{host}:{port}")});
    config.insert("metrics".to_owned(), listen);
}

/// What an input becomes, and the steps that are its own.
fn input(
    mut section: Section,
    parsers: &Parsers,
    steps: &mut Vec<Value>,
    told: &mut Told,
) -> Option<Value> {
    let (line, place) = (section.line, section.place());
    let address = |section: &mut Section, port: &str| {
        let host = section.take("listen");
        let port = section.take("port").unwrap_or_else(|| port.to_owned());
        format!("{}:{port}", host.as_deref().unwrap_or("0.0.0.0"))
    };
    let mut input = match section.name.to_ascii_lowercase().as_str() {
        "tail" => tail(&mut section, parsers, steps, told),
        "stdin" => json!({"type": "stdin", "parse": "plain"}),
        "systemd" => journal(&mut section),
        "syslog" => syslog(&mut section),
        name @ ("tcp" | "udp") => {
            let listen = format!("{name}://{}", address(&mut section, "5170"));
            if section.take("format").is_none_or(|format| format == "json") {
                steps.push(json!({"json": {
                    "field": "message", "add_to_root": true, "ignore_failure": true,
                }}));
            }
            json!({"type": "syslog", "listen": listen, "parse": "plain"})
        }
        "http" => json!({"type": "http", "listen": address(&mut section, "9880")}),
        "opentelemetry" => json!({"type": "http", "listen": address(&mut section, "4318")}),
        "elasticsearch" => json!({"type": "http", "listen": address(&mut section, "9200")}),
        "kafka" => {
            let topics = section.take("topics").unwrap_or_default();
            let topics: Vec<&str> = topics.split(',').map(str::trim).collect();
            let mut input = json!({
                "type": "kafka", "brokers": section.take("brokers"), "topics": topics, "parse": "plain",
            });
            if let Some(group) = section.take("group_id") {
                input["group_id"] = group.into();
            }
            kafka_clients::of_fluent_bit(section.take_below("rdkafka.")).put_in(&mut input);
            input
        }
        _ => {
            told.tell(line, &place, "has no counterpart");
            return None;
        }
    };
    if input.get("listen").is_some() {
        secured(&mut section, &mut input);
    }
    if let Some(name) = section.take("parser") {
        parsers.parse("message", (&[name], Raw::Gone), steps, (line, &place, told));
    }
    tell_rest(section, told);
    Some(input)
}

/// Tells of entries that nobody has taken.
fn tell_rest(mut section: Section, told: &mut Told) {
    // Of how much is kept where, how often things are looked at, and how logs are written.
    const NOTHING_LOST: [&str; 25] = [
        "alias",
        "db",
        "db.sync",
        "db.locking",
        "db.journal_mode",
        "mem_buf_limit",
        "refresh_interval",
        "rotate_wait",
        "skip_long_lines",
        "skip_empty_lines",
        "buffer_chunk_size",
        "buffer_size",
        "inotify_watcher",
        "chunk_size",
        "retry_limit",
        "workers",
        "log_level",
        "log_suppress_interval",
        "suppress_type_name",
        "replace_dots",
        "trace_error",
        "trace_output",
        "time_key",
        "time_key_nanos",
        "type",
    ];
    let (line, place) = (section.line, section.place());
    for (key, _) in section.take_rest() {
        let is_nothing = NOTHING_LOST.contains(&key.as_str());
        if !is_nothing && !key.starts_with("storage.") && !key.starts_with("net.") {
            told.tell(line, &place, format!("[{key}] has no counterpart"));
        }
    }
}

/// Files, from their end if nothing else is said.
fn tail(
    section: &mut Section,
    parsers: &Parsers,
    steps: &mut Vec<Value>,
    told: &mut Told,
) -> Value {
    let list = |section: &mut Section, key: &str| -> Vec<String> {
        let given = section.take_all(key);
        let parts = given.iter().flat_map(|given| given.split(','));
        let parts = parts.map(|part| part.trim().to_owned());
        parts.filter(|part| !part.is_empty()).collect()
    };
    let mut input = json!({"type": "file", "paths": list(section, "path"), "parse": "plain"});
    let excluded = list(section, "exclude_path");
    if !excluded.is_empty() {
        input["exclude"] = excluded.into();
    }
    if section.take_flag("read_from_head") != Some(true) {
        input["start_at"] = "end".into();
    }
    if let Some(age) = section.take("ignore_older") {
        let age = match age
            .strip_suffix('d')
            .and_then(|days| days.parse::<u64>().ok())
        {
            Some(days) => Some(days.saturating_mul(86_400)),
            None => duration_ms(&age.into()).map(|ms| ms / 1_000),
        };
        input["ignore_older_s"] = age.into();
    }
    if let Some(longest) = section
        .take("buffer_max_size")
        .and_then(|size| bytes(&size.into()))
    {
        input["line_bytes_max"] = longest.max(1 << 16).into();
    }
    let encoding = section
        .take("generic.encoding")
        .or_else(|| section.take("unicode.encoding"));
    if let Some(written) = encoding.filter(|name| !name.eq_ignore_ascii_case("auto")) {
        match encoding_of(&written) {
            Some(encoding) => input["encoding"] = encoding.name().into(),
            None => {
                let reason = format!("no encoding is called [{written}]");
                told.tell(section.line, &section.place(), reason);
            }
        }
    }
    for parser in list(section, "multiline.parser") {
        parsers.join(&parser, &mut input, (section.line, &section.place(), told));
    }
    joined_as_before(section, parsers, &mut input, told);
    // The line's own name, and where its place in the file goes.
    section.take("key");
    for (key, field) in [("path_key", "log.file.path"), ("offset_key", "log.offset")] {
        if let Some(name) = section.take(key) {
            steps.push(json!({"copy": {"source_field": field, "target_field": name, "ignore_missing": true}}));
        }
    }
    input
}

/// How a listener is secured.
fn secured(section: &mut Section, input: &mut Value) {
    if section.take_flag("tls") != Some(true) {
        return;
    }
    let asks = section.take_flag("tls.verify_client_cert") == Some(true);
    for (key, own, is_asked) in [
        ("tls.crt_file", "certificate", true),
        ("tls.key_file", "key", true),
        ("tls.ca_file", "client_ca", asks),
    ] {
        if let Some(file) = section.take(key).filter(|_| is_asked) {
            input["tls"][own] = file.into();
        }
    }
    section.take("tls.verify");
}

/// An encoding by the names that it has there: `ShiftJIS`, `UHC`, `Win1251`.
fn encoding_of(written: &str) -> Option<Encoding> {
    let name = written.to_ascii_lowercase();
    match (name.as_str(), name.strip_prefix("win")) {
        ("shiftjis", _) => Encoding::named("shift_jis"),
        ("uhc", _) => Encoding::named("euc-kr"),
        (_, Some(page)) => Encoding::named(&format!("cp{page}")),
        (name, None) => Encoding::named(name),
    }
}

fn journal(section: &mut Section) -> Value {
    let mut input = json!({"type": "journald"});
    let filters = section.take_all("systemd_filter");
    if !filters.is_empty() {
        input["matches"] = filters.into();
    }
    if let Some(folder) = section.take("path") {
        input["directory"] = folder.into();
    }
    if section.take_flag("read_from_tail") == Some(true) {
        input["start_at"] = "end".into();
    }
    // Names are without underscores in front, and small.
    for key in [
        "strip_underscores",
        "lowercase",
        "max_fields",
        "max_entries",
    ] {
        section.take(key);
    }
    input
}

fn syslog(section: &mut Section) -> Value {
    let mode = section
        .take("mode")
        .unwrap_or_else(|| "unix_udp".to_owned());
    let host = section.take("listen");
    let host = host.unwrap_or_else(|| "0.0.0.0".to_owned());
    let port = section.take("port").unwrap_or_else(|| "5140".to_owned());
    let path = section.take("path").unwrap_or_default();
    let listen = match mode.to_ascii_lowercase().as_str() {
        "tcp" => format!("tcp://{host}:{port}"),
        "udp" => format!("udp://{host}:{port}"),
        "unix_tcp" => format!("unix://{path}"),
        _ => format!("unixgram://{path}"),
    };
    // Both forms of messages are known without being named.
    section.take("parser");
    json!({"type": "syslog", "listen": listen})
}

#[cfg(test)]
mod tests;
