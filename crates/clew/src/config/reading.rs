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
mod tests;
