//! Configurations of other shippers, written anew as ours as far as they have a counterpart; what has none is told with its place.
//! A folder for each shipper, and beside them what several have: branches, conditions, dates, expressions, programs in place of steps
//! that are missing here, and clients of Kafka.

mod beats;
mod branches;
mod conditions;
mod dates;
mod fingerprints;
mod fluent_bit;
mod kafka_clients;
mod keys;
mod logstash;
mod patterns;
mod programs;
mod promtail;
mod told;
mod toml;
mod vector;

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::source::{Part, Source, written};
use super::{CollectConfig, ConfigError, InputConfig};
use crate::options::Mode;
use told::Told;

/// What a configuration became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Our configuration, as YAML.
    pub config: String,
    /// What is not in it.
    pub left_out: Vec<LeftOut>,
}

#[cfg(test)]
impl Imported {
    /// What is left out, in words.
    fn told(&self) -> Vec<String> {
        self.left_out.iter().map(ToString::to_string).collect()
    }
}

/// Something that could not be carried over, or only nearly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The line, counted from 1, if it is known.
    pub line: Option<usize>,
    /// The key, with those it is inside of.
    pub place: String,
    /// Why.
    pub reason: String,
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if !self.place.is_empty() {
            write!(f, "[{}] ", self.place)?;
        }
        f.write_str(&self.reason)
    }
}

/// Reads the configuration of a Filebeat.
///
/// # Errors
/// When it is no YAML, or no mapping.
pub fn import_filebeat(name: &str, text: &str) -> Result<Imported, ConfigError> {
    let source = Source::new(name, text);
    let tree = source.raw_tree()?;
    let mut notes = Notes::new(&source);
    let config = beats::convert(tree, &mut notes)?;
    Ok(finished(&config, notes.left_out))
}

/// Reads the files of a folder, or a file, that a configuration names, as one text; nothing where that cannot be.
pub type ReadFolder = fn(&str) -> Option<String>;

/// Reads a pipeline of a Logstash, and with `folders` the patterns that it names.
///
/// # Errors
/// What is wrong with how it is written.
pub fn import_logstash(
    name: &str,
    text: &str,
    folders: ReadFolder,
) -> Result<Imported, ConfigError> {
    let mut told = Told {
        folders: Some(folders),
        ..Told::default()
    };
    let config = logstash::convert(name, text, &mut told)?;
    Ok(finished(&config, told.left_out))
}

/// A pipeline whose folders are not there.
#[cfg(test)]
fn import_pipeline(name: &str, text: &str) -> Result<Imported, ConfigError> {
    fn nothing(_: &str) -> Option<String> {
        None
    }
    import_logstash(name, text, nothing)
}

/// Reads a configuration of a Fluent Bit, of sections or in YAML.
///
/// # Errors
/// When it is no YAML where it has no sections, or no mapping.
pub fn import_fluent_bit(name: &str, text: &str) -> Result<Imported, ConfigError> {
    let mut told = Told::default();
    let config = fluent_bit::convert(name, text, &mut told)?;
    Ok(finished(&config, told.left_out))
}

/// Whether a text looks like a configuration of a Fluent Bit.
pub fn is_of_fluent_bit(text: &str) -> bool {
    fluent_bit::is_one(text)
}

/// Reads a configuration of a Vector, in YAML or TOML.
///
/// # Errors
/// When it is neither, or no mapping.
pub fn import_vector(name: &str, text: &str) -> Result<Imported, ConfigError> {
    let mut told = Told::default();
    let config = vector::convert(name, text, &mut told)?;
    Ok(finished(&config, told.left_out))
}

/// Whether a text looks like a configuration of a Vector.
pub fn is_of_vector(text: &str) -> bool {
    vector::is_one(text)
}

/// Reads the configuration of a Promtail.
///
/// # Errors
/// When it is no YAML, or no mapping.
pub fn import_promtail(name: &str, text: &str) -> Result<Imported, ConfigError> {
    let mut told = Told::default();
    let config = promtail::convert(&Source::new(name, text), &mut told)?;
    Ok(finished(&config, told.left_out))
}

/// Whether a text looks like a configuration of a Promtail.
pub fn is_of_promtail(text: &str) -> bool {
    promtail::is_one(text)
}

/// What is told of a reference to what a shipper knows, or to another of its settings.
const NO_VARIABLE: &str =
    "is known to its shipper, and no variable: what it stands for is put in by hand";

/// Writes the configuration, and tells what is still wrong with it.
fn finished(config: &Map<String, Value>, mut left_out: Vec<LeftOut>) -> Imported {
    let config = serde_yaml_ng::to_string(config).expect("a tree of texts and numbers");
    // Variables stand for themselves: whether they are set is not asked here. No variable of an environment has dots.
    let known_there = RefCell::new(BTreeSet::new());
    let variable = |name: &str| {
        if name.contains('.') {
            known_there.borrow_mut().insert(name.to_owned());
        }
        Some(format!("${{{name}}}"))
    };
    let parsed = CollectConfig::parse("", &config, &variable);
    let wrong = match parsed.map(CollectConfig::check) {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(error) => Some(format!("[{}] {}", error.place, error.reason)),
    };
    left_out.sort_by_key(|one| one.line);
    left_out.extend(known_there.take().into_iter().map(|name| LeftOut {
        line: None,
        place: format!("${{{name}}}"),
        reason: NO_VARIABLE.to_owned(),
    }));
    left_out.extend(wrong.map(|reason| LeftOut {
        line: None,
        place: String::new(),
        reason: format!("what is printed has to be completed: {reason}"),
    }));
    Imported { config, left_out }
}

impl CollectConfig {
    /// Compiles what it says, as a run would.
    fn check(mut self) -> Result<(), crate::CollectError> {
        // Certificates and secrets are where it will run.
        self.inputs.iter_mut().for_each(InputConfig::forget_files);
        let options = self.options(Mode::Once)?;
        options.validate()?;
        for list in &options.processors {
            crate::planned::Planned::compile(list, &options.outputs)?;
        }
        Ok(())
    }
}

/// Who an input lets in: one with a name and a password, which stand at these keys.
fn let_in(keys: &mut keys::Keys, name: &str, password: &str) -> Option<Value> {
    let user = keys.take_text(name)?;
    let password = keys.take_text(password).unwrap_or_default();
    Some(serde_json::json!([{"user": user, "password": password}]))
}

/// The step that reads what the name of a container's file says, `POD_NAMESPACE_CONTAINER-ID.log`; each part goes where its
/// shipper has it.
fn names_of_container([pod, namespace, container, id]: [&str; 4]) -> Value {
    let pattern = format!(
        r"/(?<{pod}>[^/_]+)_(?<{namespace}>[^/_]+)_(?<{container}>[^/]+)-(?<{id}>[0-9a-f]{{64}})\.log$"
    );
    serde_json::json!({"regex": {
        "field": "log.file.path", "pattern": pattern, "ignore_failure": true,
        "if": {"contains": {"log.file.path": "/containers/"}},
    }})
}

/// What is told of everything else that Kubernetes knows of a container.
const ONLY_NAMES: &str = "names of pod, namespace and container are read from the file's; labels and annotations, which only a server knows, have no counterpart";

/// What is told of a configuration that is read.
struct Notes<'s> {
    source: &'s Source<'s>,
    left_out: Vec<LeftOut>,
}

impl<'s> Notes<'s> {
    fn new(source: &'s Source<'s>) -> Self {
        Notes {
            source,
            left_out: Vec::new(),
        }
    }

    /// The line of a place, whose keys with dots may be written inside each other, at any of their dots.
    fn line_of(&self, path: &[Part]) -> Option<usize> {
        self.source.line_of_dotted(path)
    }

    /// Tells of a place.
    fn tell(&mut self, path: &[Part], reason: impl Into<String>) {
        self.left_out.push(LeftOut {
            line: self.line_of(path),
            place: written(path),
            reason: reason.into(),
        });
    }
}

/// An object of JSON with these members.
fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members.into_iter();
    Value::Object(
        members
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

/// The line while what is in it takes its place, in no document.
const LINE: &str = "@metadata.line";

/// Gives an output its login; what is told where it has a half of one.
fn put_login(
    output: &mut Value,
    (user, password): (Option<String>, Option<String>),
) -> Option<&'static str> {
    match (user, password) {
        (None, None) => None,
        (Some(user), Some(password)) => {
            let login = object([("user", user.into()), ("password", password.into())]);
            output["authentication"] = login;
            None
        }
        _ => Some("a login is taken from the variable CLEW_LOGIN (`user:password`)"),
    }
}

/// A processor: its name and its parameters.
fn processor<const N: usize>(name: &str, parameters: [(&str, Value); N]) -> Value {
    object([(name, object(parameters))])
}

/// The texts of a text or a list of them.
fn texts(value: Value) -> Vec<String> {
    let text = |value| match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    match value {
        Value::Array(items) => items.into_iter().filter_map(text).collect(),
        one => text(one).into_iter().collect(),
    }
}

/// A name of an index or a pipeline, `%{[agent.name]}`, `%{[agent.name]:other}` or `%{[agent][name]}`, as `{{agent.name}}`; dates,
/// `%{+yyyy}` or `%{{yyyy}}`, as `%{+yyyy}`. Nothing where one of them does not end.
fn named_by_fields(written: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = written;
    while let Some((before, behind)) = rest.split_once("%{") {
        out.push_str(before);
        // A date, as a Logstash since the eighth generation may have it.
        if let Some(inner) = behind.strip_prefix('{') {
            let (date, behind) = inner.split_once("}}")?;
            out.push_str(&format!("%{{+{date}}}"));
            rest = behind;
            continue;
        }
        let (field, behind) = behind.split_once('}')?;
        let (name, usual) = match field.split_once("]:") {
            Some((name, usual)) => (name, Some(usual)),
            None => (field, None),
        };
        if field.starts_with('+') {
            out.push_str(&format!("%{{{field}}}"));
        } else {
            let name = name.trim_start_matches('[').trim_end_matches(']');
            let name = name.replace("][", ".");
            out.push_str(&format!("{{{{{name}}}}}"));
            if let Some(usual) = usual {
                out.push_str(&format!("{{{{^{name}}}}}{usual}{{{{/{name}}}}}"));
            }
        }
        rest = behind;
    }
    Some(out + rest)
}

/// An address with Elasticsearch's port where it names none.
fn with_port(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    // Behind a login, and behind the brackets of an address of IPv6.
    let end = host.rsplit(['@', ']']).next().unwrap_or(host);
    match end.contains(':') {
        true => url.to_owned(),
        false => format!("{scheme}://{host}:9200{path}"),
    }
}

/// Milliseconds of `10s`, `5m`, `1h30m`, `250ms`; a number alone is seconds.
fn duration_ms(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Number(number) => return Some(number.as_u64()?.saturating_mul(1_000)),
        Value::String(text) => text.trim(),
        _ => return None,
    };
    let (mut sum, mut rest) = (0_u64, text);
    loop {
        let (number, behind) = number_and_unit(rest)?;
        let next = behind.find(|letter: char| letter.is_ascii_digit());
        let (unit, more) = behind.split_at(next.unwrap_or(behind.len()));
        let unit = match unit {
            "ms" => 1,
            "s" | "" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        sum = sum.saturating_add(number.saturating_mul(unit));
        if more.is_empty() {
            return Some(sum);
        }
        rest = more;
    }
}

/// What stands before and behind the end of a text's first digits.
fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit());
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    Some((number.parse().ok()?, unit))
}

/// Bytes of `1024`, `10KiB`, `10MB`.
fn bytes(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Number(number) => return number.as_u64(),
        Value::String(text) => text.trim(),
        _ => return None,
    };
    let (number, unit) = number_and_unit(text)?;
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" | "kib" | "k" => 1 << 10,
        "mb" | "mib" | "m" => 1 << 20,
        "gb" | "gib" | "g" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(unit)
}
