//! What the analyzers of an index must say when it is made. One that is kept already is read as it is.

use serde_json::Value;

use super::part::Part;
use super::required::{self, PartLimits};
use super::settings::{Analysis, compiled_alone, defined, is_unknown, members, names};
use crate::java_pattern::in_one_definition;

/// Filters that OpenSearch has and that are not here. An index may define one, as long as no analyzer of it has it.
const LACKING: [&str; 2] = ["delimited_term_freq", "kstem"];

impl Analysis {
    /// Checks what parts of the object `analysis` must say, and how far their numbers are apart, for an index that is made.
    ///
    /// # Errors
    /// A reason in OpenSearch's words.
    pub fn check(source: &Value, limits: PartLimits) -> Result<(), String> {
        for key in ["char_filter", "tokenizer", "filter", "analyzer"] {
            for (_, part) in members(source, key) {
                required::check(key, part, limits)?;
            }
        }
        let _definition = in_one_definition();
        for key in ["char_filter", "tokenizer", "filter"] {
            for (name, part) in members(source, key) {
                is_readable(key, name, part)?;
            }
        }
        for (name, body) in members(source, "analyzer") {
            if name.starts_with('_') {
                return Err(format!(
                    "analyzer name must not start with '_'. got \"{name}\""
                ));
            }
            let kind = body.get("type").and_then(Value::as_str);
            if kind.is_none_or(|kind| kind == "custom") {
                are_known(source, name, body, &["tokenizer", "char_filter", "filter"])?;
            }
        }
        for (name, body) in members(source, "normalizer") {
            if let Some(kind) = body.get("type").and_then(Value::as_str)
                && !matches!(kind, "custom" | "lowercase")
            {
                return Err(format!("Unknown normalizer type [{kind}] for [{name}]"));
            }
            if body.get("tokenizer").is_some() {
                return Err(format!(
                    "Custom normalizer [{name}] cannot configure a tokenizer"
                ));
            }
            are_known(source, name, body, &["char_filter", "filter"])?;
            for (key, what) in [("char_filter", "char filter"), ("filter", "filter")] {
                for part in names(body.get(key)) {
                    let defined = defined(source, key, &part);
                    if !required::is_of_letters(key, &defined) {
                        return Err(format!(
                            "Custom normalizer [{name}] may not use {what} [{part}]"
                        ));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Refuses a part that cannot be read, also where no analyzer has it. Those that are made of others, or read their rules as those
/// before them leave words, are looked at with the analyzers that have them.
fn is_readable(key: &str, name: &str, part: &Value) -> Result<(), String> {
    let kind = Part::new(part).type_name();
    let depends = matches!(
        kind,
        "" | "condition" | "multiplexer" | "synonym" | "synonym_graph"
    );
    if depends || LACKING.contains(&kind) {
        return Ok(());
    }
    let read = compiled_alone(key, part);
    if is_unknown(&read) {
        return Err(format!("Unknown {key} type [{kind}] for [{name}]"));
    }
    read.map(|_| ())
}

/// Whether the parts that an analyzer or a normalizer names are there, by definition or by their names.
fn are_known(source: &Value, name: &str, body: &Value, keys: &[&str]) -> Result<(), String> {
    for key in keys {
        for part in names(body.get(*key)) {
            let own = source.get(*key).and_then(|parts| parts.get(&part));
            if own.is_none() && (required::check_name(key, &part).is_err() || !is_known(key, &part))
            {
                return Err(format!(
                    "Custom Analyzer [{name}] failed to find {key} under name [{part}]"
                ));
            }
        }
    }
    Ok(())
}

/// Whether there is a part of a name without any definition.
fn is_known(key: &str, name: &str) -> bool {
    let part = defined(&Value::Null, key, name);
    !is_unknown(&compiled_alone(key, &part))
}
