//! How the configuration is read: the tree of the file, over it what variables say, then all of it held against the defaults,
//! which know every key. What is wrong is told with its file and line, or its variable, the key, the value and what would be
//! right. Other `CLEW_` variables belong to scripts around the server and are left alone.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use clew_collect::config::line_of;
use serde_json::{Map, Value};

use super::Config;

/// Variables of this form set keys; `__` separates sections.
const PREFIX: &str = "CLEW_";

/// The key whose value nobody is shown.
const SECRET: &str = "access.root_password";

/// A section, or all of them.
type Tree = Map<String, Value>;

impl Config {
    /// Reads the file, if one is given, and the variables.
    pub(crate) fn load(
        file: Option<&Path>,
        variables: impl Iterator<Item = (String, String)>,
    ) -> anyhow::Result<Config> {
        let defaults = serde_json::to_value(Config::default()).expect("plain fields");
        let mut origins = Origins::default();
        let mut tree = Tree::new();
        if let Some(path) = file {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path);
            let text = text.with_context(|| format!("cannot read {name}"))?;
            tree = tree_of(&text).with_context(|| name.clone())?;
            origins.file = Some((name, text));
        }
        let mut others = HashMap::new();
        for (name, value) in variables {
            let path = name.strip_prefix(PREFIX);
            if let Some(path) = path.filter(|path| path.contains("__") || *path == "DATA") {
                let key = path.to_lowercase().replace("__", ".");
                set(&mut tree, &key, of_variable(&key, value, &defaults))
                    .with_context(|| format!("in the variable {name}"))?;
                origins.variables.insert(key, name);
            } else if name.starts_with("OTEL_") {
                others.insert(name, value);
            }
        }
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
        config.tracing = config
            .tracing
            .with_variables(|name| others.get(name).cloned())?;
        config.engine.check()?;
        Ok(config)
    }
}

/// Where keys come from.
#[derive(Default)]
struct Origins {
    /// The file's name, and its text.
    file: Option<(String, String)>,
    /// The variables that set a key, by the key.
    variables: BTreeMap<String, String>,
}

impl Origins {
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
                put(&mut tree, &key, value)?;
            }
        }
        Some(_) => bail!("the configuration must be a mapping of keys"),
    }
    Ok(tree)
}

/// Puts a value where its key belongs; sections are joined.
fn put(tree: &mut Tree, key: &str, value: Value) -> anyhow::Result<()> {
    if let Some((first, rest)) = key.split_once('.') {
        return put(section(tree, first)?, rest, value);
    }
    match value {
        Value::Object(members) => {
            let inner = section(tree, key)?;
            for (key, value) in members {
                put(inner, &key, value)?;
            }
        }
        Value::Null => {
            tree.entry(key).or_insert(Value::Null);
        }
        value => {
            let before = tree.insert(key.to_string(), value);
            if before.is_some_and(|before| !before.is_null()) {
                bail!("[{key}] is there twice");
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

/// A variable's value: a text where one belongs, a YAML scalar or list elsewhere. An empty one is none.
fn of_variable(key: &str, text: String, defaults: &Value) -> Value {
    if text.is_empty() {
        return Value::Null;
    }
    match at(defaults, key) {
        Some(Value::String(_)) => Value::String(text),
        _ => serde_yaml_ng::from_str(&text).unwrap_or(Value::String(text)),
    }
}

/// Every key of a tree, as `section.key`, sections included.
fn keys_of(tree: &Tree) -> Vec<String> {
    let mut keys = Vec::new();
    for (key, value) in tree {
        keys.push(key.clone());
        let inner = value.as_object().map(keys_of).unwrap_or_default();
        keys.extend(inner.iter().map(|inner| format!("{key}.{inner}")));
    }
    keys
}

fn check_keys(tree: &Tree, defaults: &Value, origins: &Origins) -> anyhow::Result<()> {
    let known = keys_of(defaults.as_object().expect("a struct is an object"));
    for key in keys_of(tree) {
        if !known.contains(&key) {
            let nearest = known
                .iter()
                .min_by_key(|candidate| strsim::damerau_levenshtein(candidate, &key))
                .expect("there are keys");
            let origin = origins.of(&key);
            bail!("{origin}unknown configuration key [{key}], did you mean [{nearest}]?");
        }
    }
    Ok(())
}

/// Takes out keys without a value, which mean the default, and makes texts of numbers and flags where texts belong, as in
/// `watermark_low: 0.85`; not of a password, of which YAML may have read another number than was written.
fn tidy(tree: &mut Tree, defaults: &Value) {
    tree.retain(|_, value| !value.is_null());
    for (key, value) in tree.iter_mut() {
        let Some(default) = defaults.get(key.as_str()) else {
            continue;
        };
        let is_text = default.is_string() && !SECRET.ends_with(key.as_str());
        if is_text && (value.is_number() || value.is_boolean()) {
            *value = Value::String(value.to_string());
        } else if let Some(inner) = value.as_object_mut() {
            tidy(inner, default);
        }
    }
}

/// What is wrong with the first key whose value cannot be read, all others having their defaults.
fn wrong_value(tree: &Tree, origins: &Origins) -> Option<String> {
    let whole = Value::Object(tree.clone());
    keys_of(tree).into_iter().find_map(|key| {
        let value = at(&whole, &key)?;
        if value.as_object().is_some_and(|members| !members.is_empty()) {
            return None;
        }
        let mut alone = Tree::new();
        set(&mut alone, &key, value.clone()).ok()?;
        let read: Result<Config, _> = serde_json::from_value(Value::Object(alone));
        let (origin, wanted) = (origins.of(&key), wanted(&read.err()?));
        Some(match (key.as_str(), value) {
            (SECRET, _) => format!("{origin}[{key}] {wanted}: put it into quotes"),
            (_, Value::String(text)) => format!("{origin}[{key}] is [{text}], {wanted}"),
            _ => format!("{origin}[{key}] is [{value}], {wanted}"),
        })
    })
}

/// What a value would have to be, in people's words.
fn wanted(error: &serde_json::Error) -> String {
    let text = error.to_string();
    if text.starts_with("data did not match") {
        return "must be a list, or one text with commas".to_string();
    }
    let Some((_, wanted)) = text.rsplit_once("expected ") else {
        return text;
    };
    let wanted = match wanted {
        "usize" | "u64" => "a whole number, 0 or more",
        "f64" => "a number",
        "a boolean" => "`true` or `false`",
        "a string" | "path string" => "a text",
        "socket address" => "an address with a port, as `127.0.0.1:9200`",
        "string or map" => "one of the names that the documentation lists",
        kind if kind.starts_with("struct ") => "a mapping of keys",
        other => other,
    };
    format!("must be {wanted}")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::EngineConfig;
    use super::*;

    fn load(yaml: &str, variables: &[(&str, &str)]) -> anyhow::Result<Config> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("clew.yaml");
        std::fs::write(&path, yaml).unwrap();
        let variables = variables
            .iter()
            .map(|(k, v)| ((*k).to_string(), (*v).to_string()));
        Config::load(Some(&path), variables)
    }

    #[test]
    fn variables_win_over_the_file_and_the_file_over_defaults() {
        let yaml = "data: /x\nhttp:\n  body_bytes_max: 5\n  address: 127.0.0.1:1\n";
        let config = load(
            yaml,
            &[("CLEW_HTTP__BODY_BYTES_MAX", "7"), ("CLEW_BIN", "1")],
        )
        .unwrap();
        assert_eq!(config.data, PathBuf::from("/x"));
        assert_eq!(config.http.body_bytes_max, 7);
        assert_eq!(config.http.address.port(), 1);
        assert_eq!(config.engine, EngineConfig::default());
    }

    #[test]
    fn names_are_a_list_or_a_text_with_commas() {
        let yaml = "http:\n  hosts_allowed: [a, '*.b']\n";
        let variables = [("CLEW_HTTP__CORS__ALLOW_ORIGIN", "http://a, http://b")];
        let http = load(yaml, &variables).unwrap().http;
        assert_eq!(http.hosts_allowed, ["a", "*.b"]);
        assert_eq!(http.cors.allow_origin, ["http://a", "http://b"]);
        let pattern = [("CLEW_HTTP__CORS__ALLOW_ORIGIN", "/http:..a{1,2}/")];
        let http = load("", &pattern).unwrap().http;
        assert_eq!(http.cors.allow_origin, ["/http:..a{1,2}/"]);
    }

    #[test]
    fn a_password_is_a_text_and_is_not_shown() {
        let yaml = "access:\n  authentication: true\n";
        let config = load(yaml, &[("CLEW_ACCESS__ROOT_PASSWORD", "012345")]).unwrap();
        assert!(config.access.authentication);
        assert_eq!(config.access.root_password.0, "012345");
        let shown = serde_json::to_string(&config).unwrap() + &format!("{config:?}");
        assert!(!shown.contains("012345") && shown.contains("***"));
    }

    #[test]
    fn an_empty_file_means_the_defaults() {
        assert_eq!(load("", &[]).unwrap(), Config::default());
    }

    #[test]
    fn a_buffer_that_would_hold_a_few_documents_is_refused() {
        let set = |value: &str| load("", &[("CLEW_ENGINE__WRITE_BUFFER_BYTES", value)]);
        for small in ["0", "1", "8388607"] {
            let error = set(small).unwrap_err().to_string();
            let words = format!("is [{small}], must be at least [8388608]");
            assert!(error.contains(&words), "{error}");
        }
        assert_eq!(set("8388608").unwrap().engine.write_buffer_bytes, 8 << 20);
    }

    #[test]
    fn more_writers_of_a_shard_than_memory_is_meant_for_are_refused() {
        let set = |value: &str| load("", &[("CLEW_ENGINE__SHARD_WRITERS", value)]);
        let error = set("65").unwrap_err().to_string();
        let words = "[engine.shard_writers] is [65], may be [64] at most";
        assert!(error.contains(words), "{error}");
        for writers in [0, 1, 64] {
            let config = set(&writers.to_string()).unwrap();
            assert_eq!(config.engine.shard_writers, writers);
        }
    }

    #[test]
    fn an_unknown_key_names_the_nearest() {
        for (yaml, nearest) in [
            ("http:\n  adress: 127.0.0.1:1\n", "[http.address]"),
            ("datta: x\n", "[data]"),
            ("log:\n  retention_byte: 1\n", "[log.retention_bytes]"),
            (
                "http:\n  cors:\n    allow-origin: x\n",
                "[http.cors.allow_origin]",
            ),
        ] {
            let error = load(yaml, &[]).unwrap_err().to_string();
            assert!(error.contains(nearest), "{error}");
        }
        let error = load("", &[("CLEW_ENGINE__SEARCH_TREADS", "1")])
            .unwrap_err()
            .to_string();
        assert!(error.contains("[engine.search_threads]"), "{error}");
    }

    /// What a file of this text is refused with.
    fn refused(yaml: &str, variables: &[(&str, &str)]) -> String {
        format!("{:#}", load(yaml, variables).unwrap_err())
    }

    #[test]
    fn a_wrong_value_is_told_with_its_place_and_what_would_be_right() {
        for (yaml, told) in [
            (
                "data: x\nhttp:\n  body_bytes_max: lots\n",
                "line 3: [http.body_bytes_max] is [lots], must be a whole number, 0 or more",
            ),
            (
                "http:\n  body_bytes_max: -5\n",
                "line 2: [http.body_bytes_max] is [-5], must be a whole number, 0 or more",
            ),
            (
                "http: 5\n",
                "line 1: [http] is [5], must be a mapping of keys",
            ),
            (
                "http.address: x\n",
                "line 1: [http.address] is [x], invalid socket address",
            ),
            (
                "profile: {heap: maybe}\n",
                "[profile.heap] is [maybe], must be `true` or `false`",
            ),
            (
                "\nlogging:\n  format: xml\n",
                "line 3: [logging.format] is [xml], must be `text` or `json`",
            ),
            (
                "tracing.sample_ratio: much\n",
                "[tracing.sample_ratio] is [much], must be a number",
            ),
            (
                "http: {cors: {allow_origin: 5}}\n",
                "must be a list, or one text with commas",
            ),
            ("a: 1\n", "line 1: unknown configuration key [a]"),
            (
                "data: x\nhttp:\n  adress: y\n",
                "line 3: unknown configuration key [http.adress]",
            ),
            ("data: x\ndata: y\n", "is not valid YAML: duplicate entry"),
            (
                "http.address: 127.0.0.1:1\nhttp: {address: 127.0.0.1:2}\n",
                "[address] is there twice",
            ),
            ("- 1\n", "must be a mapping of keys"),
        ] {
            let refused = refused(yaml, &[]);
            assert!(refused.contains(told), "{yaml}: {refused}");
        }
        for (variable, value, told) in [
            (
                "CLEW_HTTP__BODY_BYTES_MAX",
                "lots",
                "in the variable CLEW_HTTP__BODY_BYTES_MAX: [http.body_bytes_max] is [lots]",
            ),
            (
                "CLEW_NONE__SUCH",
                "1",
                "in the variable CLEW_NONE__SUCH: unknown configuration key [none]",
            ),
        ] {
            // The same key stands in the file, with a value that is right.
            let refused = refused("http:\n  body_bytes_max: 7\n", &[(variable, value)]);
            assert!(refused.starts_with(told), "{refused}");
        }
        let secret = refused("access: {root_password: 12345678}\n", &[]);
        assert!(
            secret.contains("[access.root_password] must be a text"),
            "{secret}"
        );
        assert!(!secret.contains("1234"), "{secret}");
    }

    #[test]
    fn keys_may_have_dots_and_no_value_and_numbers_be_texts() {
        let yaml = "http.cors.enabled: true\nhttp:\n  body_bytes_max: 5\nengine:\ndata:\ndisk: {watermark_low: 0.85}\n";
        let config = load(yaml, &[("CLEW_TRACING__SERVICE_NAME", "007")]).unwrap();
        assert!(config.http.cors.enabled);
        assert_eq!(config.http.body_bytes_max, 5);
        assert_eq!(config.data, Config::default().data);
        assert_eq!(config.disk.watermark_low, "0.85");
        assert_eq!(config.tracing.service_name, "007");
        let emptied = load("data: x\n", &[("CLEW_DATA", "")]).unwrap();
        assert_eq!(emptied.data, Config::default().data);
    }

    #[test]
    fn folders_of_snapshots_are_a_list_or_a_text_with_commas() {
        let folders = ["/a/", "/b/"].map(PathBuf::from);
        let given = load("", &[("CLEW_SNAPSHOTS__PATHS", "/a/, /b/")]).unwrap();
        assert_eq!(given.snapshots.paths, folders);
        let listed = load("snapshots:\n  paths: [/a/, /b/]\n", &[]).unwrap();
        assert_eq!(listed.snapshots.paths, folders);
    }
}
