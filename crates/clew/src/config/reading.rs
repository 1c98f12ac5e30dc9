//! How the configuration is read: the tree of the file, over it what variables say, then all of it held against the defaults,
//! which know every key. What is wrong is told with its file and line, or its variable, the key, the value and what would be
//! right. Other `CLEW_` variables belong to scripts around the server and are left alone.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use clew_collect::config::line_of;
use serde_json::{Map, Value};

use super::Config;
use super::bounds::unworkable;
use crate::given_file;

/// Variables of this form set keys; `__` separates sections.
const PREFIX: &str = "CLEW_";

/// What OpenTelemetry's own variables begin with.
const OPENTELEMETRY: &str = "OTEL_";

/// What some of these say where nothing else does.
const OPENTELEMETRY_KEYS: [(&str, &str); 5] = [
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "tracing.otlp.endpoint"),
    ("OTEL_EXPORTER_OTLP_CERTIFICATE", "tracing.otlp.tls.ca"),
    (
        "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
        "tracing.otlp.tls.certificate",
    ),
    ("OTEL_EXPORTER_OTLP_CLIENT_KEY", "tracing.otlp.tls.key"),
    ("OTEL_TRACES_SAMPLER_ARG", "tracing.sample_ratio"),
];

/// The key whose value nobody is shown.
const SECRET: &str = "access.root_password";

/// A section, or all of them.
type Tree = Map<String, Value>;

impl Config {
    /// Reads the file, if one is given, and the variables of this process. Says also where the keys come from, for what is found wrong with
    /// them only later.
    ///
    /// # Errors
    /// What cannot be read, is no key, or is a value that cannot be.
    pub(crate) fn load(file: Option<&Path>) -> anyhow::Result<(Config, Origins)> {
        Config::read(file, variables()?)
    }

    fn read(
        file: Option<&Path>,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> anyhow::Result<(Config, Origins)> {
        let defaults = serde_json::to_value(Config::default()).expect("plain fields");
        let mut origins = Origins::default();
        let mut tree = Tree::new();
        if let Some(path) = file {
            let name = path.display().to_string();
            let text = given_file::read_text(path, given_file::CONFIG_BYTES_MAX)?;
            tree = tree_of(&text).with_context(|| name.clone())?;
            origins.file = Some((name, text));
        }
        let mut others = HashMap::new();
        for (name, value) in variables {
            if let Some(key) = key_of(&name) {
                set(&mut tree, &key, of_variable(&key, value, &defaults))
                    .with_context(|| format!("in the variable {name}"))?;
                origins.variables.insert(key, name);
            } else {
                others.insert(name, value);
            }
        }
        origins.add_opentelemetrys(&others, &tree);
        check_keys(&tree, &defaults, &origins)?;
        tidy(&mut tree, &defaults);
        let read: Result<Config, _> = serde_json::from_value(Value::Object(tree.clone()));
        let mut config = read.map_err(|error| {
            let wrong = wrong_value(&tree, &origins);
            wrong.map_or_else(
                || anyhow!("in the configuration: {error}"),
                |wrong| anyhow!(wrong),
            )
        })?;
        let tracing = config
            .tracing
            .with_variables(|name| others.get(name).cloned());
        config.tracing = tracing.map_err(|error| anyhow!(origins.before(&error.to_string())))?;
        if let Some(wrong) = unworkable(&config, &defaults) {
            bail!(origins.before(&wrong));
        }
        Ok((config, origins))
    }
}

/// The key that a variable of this name sets, if any.
fn key_of(variable: &str) -> Option<String> {
    let path = variable.strip_prefix(PREFIX)?;
    let sets = path.contains("__") || path == "DATA";
    sets.then(|| path.to_lowercase().replace("__", "."))
}

/// The variables of this process that mean something here. Others need not even be UTF-8.
fn variables() -> anyhow::Result<Vec<(String, String)>> {
    let is_ours = |name: &String| key_of(name).is_some() || name.starts_with(OPENTELEMETRY);
    let mut ours = Vec::new();
    for (name, value) in std::env::vars_os() {
        let Some(name) = name.into_string().ok().filter(is_ours) else {
            continue;
        };
        match value.into_string() {
            Ok(value) => ours.push((name, value)),
            Err(_) => bail!("in the variable {name}: the value is not UTF-8"),
        }
    }
    Ok(ours)
}

/// Where keys come from.
#[derive(Default)]
pub(crate) struct Origins {
    /// The file's name, and its text.
    file: Option<(String, String)>,
    /// The variables that set a key, by the key.
    variables: BTreeMap<String, String>,
}

impl Origins {
    /// Notes which of OpenTelemetry's variables set a key that nothing else does.
    fn add_opentelemetrys(&mut self, variables: &HashMap<String, String>, tree: &Tree) {
        let tree = Value::Object(tree.clone());
        for (name, key) in OPENTELEMETRY_KEYS {
            if variables.contains_key(name) && at(&tree, key).is_none_or(Value::is_null) {
                self.variables
                    .entry(key.to_owned())
                    .or_insert_with(|| name.to_owned());
            }
        }
    }

    /// What stands before what is wrong with a key.
    fn of(&self, key: &str) -> String {
        let of_variable = |variable: &String| format!("in the variable {variable}: ");
        if let Some(variable) = self.variables.get(key) {
            return of_variable(variable);
        }
        if let Some((name, text)) = &self.file
            && let Some(line) = line_of(text, key)
        {
            return format!("{name}, line {line}: ");
        }
        // A section that only a variable has.
        let inside = self.variables.iter().find(|(set, _)| {
            let rest = set.strip_prefix(key);
            rest.is_some_and(|rest| rest.starts_with('.'))
        });
        inside.map_or_else(String::new, |(_, variable)| of_variable(variable))
    }

    /// What is wrong with a key, behind where that comes from, if it begins with the key: `[section.key] ...`.
    pub(crate) fn placed(&self, wrong: &anyhow::Error) -> anyhow::Error {
        anyhow!(self.before(&format!("{wrong:#}")))
    }

    /// What is wrong with a key, `[section.key] ...`, behind where that comes from.
    fn before(&self, wrong: &str) -> String {
        let key = wrong
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'));
        let origin = key.map(|(key, _)| self.of(key)).unwrap_or_default();
        origin + wrong
    }
}

/// The tree of a file's text; keys with dots stand for those inside each other.
fn tree_of(text: &str) -> anyhow::Result<Tree> {
    // Of a key that is there twice all values but the last would be lost without a word; this reader refuses it.
    let wrong = "is not valid YAML";
    let _: Option<serde_yaml_ng::Value> = serde_yaml_ng::from_str(text).context(wrong)?;
    let read: Option<Value> = serde_yaml_ng::from_str(text).context(wrong)?;
    let mut tree = Tree::new();
    match read {
        None | Some(Value::Null) => {}
        Some(Value::Object(members)) => {
            for (key, value) in members {
                put(&mut tree, "", &key, value)?;
            }
        }
        Some(_) => bail!("the configuration must be a mapping of keys"),
    }
    Ok(tree)
}

/// Puts a value where its key belongs, inside of a section that is called so; sections are joined.
fn put(tree: &mut Tree, inside: &str, key: &str, value: Value) -> anyhow::Result<()> {
    let path = |key: &str| match inside {
        "" => key.to_string(),
        inside => format!("{inside}.{key}"),
    };
    if let Some((first, rest)) = key.split_once('.') {
        return put(section(tree, first)?, &path(first), rest, value);
    }
    match value {
        Value::Object(members) => {
            let inner = section(tree, key)?;
            for (member, value) in members {
                put(inner, &path(key), &member, value)?;
            }
        }
        Value::Null => {
            tree.entry(key).or_insert(Value::Null);
        }
        value => {
            let before = tree.insert(key.to_string(), value);
            if before.is_some_and(|before| !before.is_null()) {
                bail!("[{}] is there twice", path(key));
            }
        }
    }
    Ok(())
}

/// Sets a key, whatever it was before.
fn set(tree: &mut Tree, key: &str, value: Value) -> anyhow::Result<()> {
    match key.split_once('.') {
        Some((first, rest)) => set(section(tree, first)?, rest, value),
        None => {
            tree.insert(key.to_string(), value);
            Ok(())
        }
    }
}

/// A section, made if it is not there.
fn section<'t>(tree: &'t mut Tree, key: &str) -> anyhow::Result<&'t mut Tree> {
    let inner = tree.entry(key).or_insert(Value::Null);
    if inner.is_null() {
        *inner = Value::Object(Tree::new());
    }
    let inner = inner.as_object_mut();
    inner.ok_or_else(|| anyhow!("[{key}] has a value, and keys inside of it, too"))
}

/// What is at a key.
fn at<'t>(tree: &'t Value, key: &str) -> Option<&'t Value> {
    let mut names = key.split('.');
    names.try_fold(tree, |inner, name| inner.get(name))
}

/// A variable's value: a text where one belongs, YAML elsewhere. An empty one is none.
fn of_variable(key: &str, text: String, defaults: &Value) -> Value {
    if text.is_empty() {
        return Value::Null;
    }
    match at(defaults, key) {
        // One without a default is a path.
        Some(Value::String(_) | Value::Null) => Value::String(text),
        // A text with commas, which YAML may take for a number, or for a mapping.
        Some(Value::Array(_)) if !text.trim_start().starts_with('[') => Value::String(text),
        _ => serde_yaml_ng::from_str(&text).unwrap_or(Value::String(text)),
    }
}

/// Every key of a tree, as `section.key`, sections included, with what it has.
fn entries_of(tree: &Tree) -> Vec<(String, &Value)> {
    let mut entries = Vec::new();
    for (key, value) in tree {
        entries.push((key.clone(), value));
        let inside = value.as_object().map(entries_of).unwrap_or_default();
        let inside = inside.into_iter();
        entries.extend(inside.map(|(inner, value)| (format!("{key}.{inner}"), value)));
    }
    entries
}

fn check_keys(tree: &Tree, defaults: &Value, origins: &Origins) -> anyhow::Result<()> {
    let known = entries_of(defaults.as_object().expect("a struct is an object"));
    for (key, value) in entries_of(tree) {
        let behind = key.strip_prefix(SECRET);
        if behind.is_some_and(|behind| behind.starts_with('.')) {
            // Part of the password, if it was written as `{secret}`.
            bail!(wrong_secret(origins));
        }
        let origin = origins.of(&key);
        let Some((_, default)) = known.iter().find(|(name, _)| *name == key) else {
            let names = known.iter().map(|(name, _)| name);
            let nearest = names
                .min_by_key(|name| strsim::damerau_levenshtein(name, &key))
                .expect("there are keys");
            bail!("{origin}unknown configuration key [{key}], did you mean [{nearest}]?");
        };
        // A list would be taken for the values of its keys. It is not shown: a password may be in it.
        if default.is_object() && !value.is_object() && !value.is_null() {
            bail!("{origin}[{key}] must be a mapping of keys");
        }
    }
    Ok(())
}

/// Takes out keys without a value or with an empty text, which mean the default, and makes texts of numbers and flags where texts
/// belong, as in `watermark_low: 0.85`, and numbers and flags of texts where those do; nothing of a password, of which YAML may
/// have read another number than was written.
fn tidy(tree: &mut Tree, defaults: &Value) {
    tree.retain(|key, value| {
        // An empty text in the place of a list is an empty list.
        let is_list = defaults.get(key.as_str()).is_some_and(Value::is_array);
        !value.is_null() && (is_list || *value != "")
    });
    for (key, value) in tree.iter_mut() {
        let Some(default) = defaults.get(key.as_str()) else {
            continue;
        };
        let is_plain = |value: &Value| value.is_number() || value.is_boolean();
        let is_secret = SECRET.ends_with(key.as_str());
        if default.is_string() && !is_secret && is_plain(value) {
            *value = Value::String(value.to_string());
        } else if let Some(inner) = value.as_object_mut() {
            tidy(inner, default);
        } else if let Value::String(text) = value
            && is_plain(default)
            && let Ok(read) = serde_yaml_ng::from_str::<Value>(text)
            && is_plain(&read)
        {
            *value = read;
        }
    }
}

/// What is wrong with the first key whose value cannot be read, all others having their defaults.
fn wrong_value(tree: &Tree, origins: &Origins) -> Option<String> {
    entries_of(tree).into_iter().find_map(|(key, value)| {
        if value.as_object().is_some_and(|members| !members.is_empty()) {
            return None;
        }
        let mut alone = Tree::new();
        set(&mut alone, &key, value.clone()).ok()?;
        let read: Result<Config, _> = serde_json::from_value(Value::Object(alone));
        let (origin, wanted) = (origins.of(&key), wanted(&read.err()?));
        Some(match value {
            _ if key == SECRET => wrong_secret(origins),
            Value::String(text) => format!("{origin}[{key}] is [{text}], {wanted}"),
            _ => format!("{origin}[{key}] is [{value}], {wanted}"),
        })
    })
}

/// What is wrong with a password that YAML does not take for a text.
fn wrong_secret(origins: &Origins) -> String {
    let origin = origins.of(SECRET);
    format!("{origin}[{SECRET}] must be a text: put it into quotes")
}

/// What an address has to be.
pub(crate) const ADDRESS: &str = "an address with a port, as `127.0.0.1:9200`";

/// What a value would have to be, in people's words.
fn wanted(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if text.starts_with("data did not match") {
        return "must be a list, or one text with commas".to_string();
    }
    if text.starts_with("invalid socket address") {
        return format!("must be {ADDRESS}");
    }
    let Some((_, wanted)) = text.rsplit_once("expected ") else {
        return text;
    };
    let wanted = match wanted {
        "usize" | "u64" => "a whole number, 0 or more",
        "f64" => "a number",
        "a boolean" => "`true` or `false`",
        "a string" | "path string" => "a text",
        "socket address" => ADDRESS,
        "string or map" => "one of the names that the documentation lists",
        other => other,
    };
    format!("must be {wanted}")
}

#[cfg(test)]
mod tests;
