//! `analysis` of an index's settings: the analyzers and normalizers that it names.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::beside::CHAINS;
use super::chosen::CHOSEN;
use super::language::{self, LANGUAGES};
use super::part::Part;
use super::required::{self, PartLimits};
use super::{Chain, full_name, usual};
use crate::POSITION_GAP;
use crate::java_pattern::in_one_definition;

/// Most analyzers and normalizers of one index.
const NAMES_MAX: usize = 1000;

/// Most positions between two values, as fields may have them.
const POSITION_GAP_MAX: usize = 1_000_000;

/// The analyzers and normalizers of an index.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Analysis {
    /// As the settings have it.
    source: Value,
    /// Full names by the names that mappings use.
    analyzers: BTreeMap<String, String>,
    normalizers: BTreeMap<String, String>,
}

impl Analysis {
    /// Reads the object `analysis`, whose values may be text.
    ///
    /// # Errors
    /// A reason in OpenSearch's words, when a part is unknown or missing.
    pub fn read(source: &Value) -> Result<Analysis, String> {
        let _definition = in_one_definition();
        Analysis::read_all(source)
    }

    fn read_all(source: &Value) -> Result<Analysis, String> {
        let mut analysis = Analysis {
            source: source.clone(),
            ..Analysis::default()
        };
        for (name, body) in members(source, "analyzer") {
            let parts = analyzer_parts(source, name, body)?;
            Chain::compile(&parts).map_err(|reason| format!("{reason} for [{name}]"))?;
            analysis
                .analyzers
                .insert(name.clone(), full_name(name, &parts));
        }
        for (name, body) in members(source, "normalizer") {
            let mut parts = composed(source, name, body, "Normalizer")?;
            parts["tokenizer"] = json!({"type": "keyword"});
            Chain::compile(&parts).map_err(|reason| format!("{reason} for [{name}]"))?;
            analysis
                .normalizers
                .insert(name.clone(), full_name(name, &parts));
        }
        if analysis.analyzers.len() + analysis.normalizers.len() > NAMES_MAX {
            return Err(format!("at most {NAMES_MAX} analyzers are allowed"));
        }
        Ok(analysis)
    }

    /// The same of an index that is there already. What was taken when it was made and is not any more is left out, and a
    /// tokenizer is `standard` then, so that an index can be opened whatever it was made with.
    pub fn kept(source: &Value) -> Analysis {
        if let Ok(analysis) = Analysis::read_all(source) {
            return analysis;
        }
        let mut analysis = Analysis {
            source: source.clone(),
            ..Analysis::default()
        };
        for (name, body) in members(source, "analyzer") {
            let parts = analyzer_parts(source, name, body).unwrap_or_default();
            let full = full_name(name, &readable(parts, "standard"));
            analysis.analyzers.insert(name.clone(), full);
        }
        for (name, body) in members(source, "normalizer") {
            let mut parts = composed(source, name, body, "Normalizer").unwrap_or_default();
            parts["tokenizer"] = json!({"type": "keyword"});
            let full = full_name(name, &readable(parts, "keyword"));
            analysis.normalizers.insert(name.clone(), full);
        }
        analysis
    }

    /// What it was read from; null when there is nothing.
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// The name that says all of an analyzer of the index; other names stay as they are.
    pub fn resolved<'n>(&'n self, name: &'n str) -> &'n str {
        match self.analyzers.get(name) {
            Some(full) => full.as_str(),
            // Every index has a `default`.
            None if name == "default" => "standard",
            None => name,
        }
    }

    /// The name that says all of an analyzer; `None` when there is no such analyzer.
    pub fn analyzer(&self, name: &str) -> Option<String> {
        if let Some(full) = self.analyzers.get(name) {
            return Some(full.clone());
        }
        // Every index has a `default`.
        let name = if name == "default" { "standard" } else { name };
        crate::is_analyzer(name).then(|| name.to_string())
    }

    /// The name of an analyzer that a request puts together from parts: `tokenizer`, `filter` and
    /// `char_filter`, each a name or a definition. Without a tokenizer it is a normalizer.
    ///
    /// # Errors
    /// A reason in OpenSearch's words, when a part is unknown or its parameters make no sense.
    pub fn assembled(&self, wanted: &Value, limits: PartLimits) -> Result<String, String> {
        let _definition = in_one_definition();
        let mut parts = json!({});
        for key in ["char_filter", "tokenizer", "filter"] {
            let each = |part: &Value| match part {
                Value::String(name) => {
                    let part = named(&self.source, key, name);
                    let own = self.source.get(key).and_then(|parts| parts.get(name));
                    if own.is_none() {
                        required::check_name(key, name)?;
                    }
                    // Known by its type alone, or else unknown.
                    if is_unknown(&compiled_alone(key, &part)) {
                        return Err(format!("failed to find global {key} under [{name}]"));
                    }
                    Ok(part)
                }
                definition => {
                    required::check(key, definition, limits)?;
                    let kind = Part::new(definition).type_name();
                    if kind.is_empty() {
                        return Err(format!(
                            "Missing [type] setting for anonymous {key}: {}",
                            in_texts(definition)
                        ));
                    }
                    let part = with_chains(&self.source, definition.clone());
                    let read = compiled_alone(key, &part);
                    // Not where a filter within it is the unknown one.
                    let is_itself = |reason: String| reason.contains(&format!("[{kind}]"));
                    if is_unknown(&read) && read.is_err_and(is_itself) {
                        return Err(format!("failed to find global {key} under [{kind}]"));
                    }
                    Ok(part)
                }
            };
            parts[key] = match wanted.get(key) {
                Some(Value::Array(items)) => items.iter().map(each).collect::<Result<_, _>>()?,
                Some(one) if key == "tokenizer" => each(one)?,
                Some(one) => json!([each(one)?]),
                None if key == "tokenizer" => json!({"type": "keyword"}),
                None => json!([]),
            };
        }
        Chain::compile(&parts)?;
        if wanted.get("tokenizer").is_none()
            && let Some(name) = self.beyond_letters(wanted.get("filter"))
        {
            return Err(format!("Custom normalizer may not use filter [{name}]"));
        }
        Ok(full_name("_anonymous_", &parts))
    }

    /// The name of the first of these filters that does more than change letters, which normalizers have none of.
    fn beyond_letters(&self, filters: Option<&Value>) -> Option<String> {
        let filters = match filters? {
            Value::Array(filters) => filters.as_slice(),
            one => std::slice::from_ref(one),
        };
        filters.iter().find_map(|filter| {
            let (name, defined) = match filter {
                Value::String(name) => (name.clone(), defined(&self.source, "filter", name)),
                definition => {
                    let kind = Part::new(definition).type_name();
                    (format!("__anonymous__{kind}"), definition.clone())
                }
            };
            (!required::is_of_letters("filter", &defined)).then_some(name)
        })
    }

    /// The analyzer of text fields that name none.
    pub fn default_analyzer(&self) -> String {
        self.analyzer("default")
            .unwrap_or_else(|| "standard".to_string())
    }

    /// The analyzer of queries on text fields that name none for these, where the index has one.
    pub fn default_search(&self) -> Option<&str> {
        self.analyzers.get("default_search").map(String::as_str)
    }

    /// Positions between two values of a text field that names this analyzer, unless the field says otherwise: those of
    /// an analyzer in parts, else the usual ones.
    pub fn position_gap(&self, name: &str) -> usize {
        let own = self.source.get("analyzer").and_then(|all| all.get(name));
        let own = own.map(Part::new);
        let in_parts = own.filter(|own| matches!(own.type_name(), "" | "custom"));
        let written = in_parts.and_then(|own| own.text("position_increment_gap"));
        let written = written.and_then(|text| text.parse::<usize>().ok());
        written
            .filter(|gap| *gap <= POSITION_GAP_MAX)
            .unwrap_or(POSITION_GAP)
    }

    /// The name that says all of a normalizer; `None` when there is no such normalizer.
    pub fn normalizer(&self, name: &str) -> Option<String> {
        if let Some(full) = self.normalizers.get(name) {
            return Some(full.clone());
        }
        crate::is_normalizer(name).then(|| name.to_string())
    }
}

/// A definition as OpenSearch shows settings, whose values are texts.
fn in_texts(definition: &Value) -> Value {
    let text = |(key, value): (&String, &Value)| match value {
        Value::Number(_) | Value::Bool(_) => (key.clone(), value.to_string().into()),
        other => (key.clone(), other.clone()),
    };
    match definition {
        Value::Object(members) => Value::Object(members.iter().map(text).collect()),
        other => other.clone(),
    }
}

pub(super) fn members<'v>(
    source: &'v Value,
    key: &str,
) -> impl Iterator<Item = (&'v String, &'v Value)> {
    source
        .get(key)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

/// A part in an analyzer of its own.
pub(super) fn compiled_alone(key: &str, part: &Value) -> Result<Chain, String> {
    Chain::compile(&match key {
        "tokenizer" => json!({ key: part }),
        _ => json!({"tokenizer": {"type": "keyword"}, key: [part]}),
    })
}

/// Parts without those that cannot be read; `tokenizer` is in the place of one that cannot.
fn readable(mut parts: Value, tokenizer: &str) -> Value {
    if Chain::compile(&parts).is_ok() {
        return parts;
    }
    for key in ["char_filter", "filter"] {
        if let Some(Value::Array(items)) = parts.get_mut(key) {
            items.retain(|part| compiled_alone(key, part).is_ok());
        }
    }
    let cutter = parts.get("tokenizer").cloned().unwrap_or_default();
    if compiled_alone("tokenizer", &cutter).is_err() {
        parts["tokenizer"] = json!({"type": tokenizer});
    }
    // Some are read as those before them leave words.
    if Chain::compile(&parts).is_err() {
        parts = json!({"tokenizer": {"type": tokenizer}});
    }
    parts
}

/// Whether a part was not read because there is none of its type.
pub(super) fn is_unknown(read: &Result<Chain, String>) -> bool {
    read.as_ref()
        .is_err_and(|reason| reason.starts_with("Unknown ") && reason.contains(" type ["))
}

/// The parts of an analyzer that the settings name.
fn analyzer_parts(source: &Value, name: &str, body: &Value) -> Result<Value, String> {
    let kind = body.get("type").and_then(Value::as_str).unwrap_or("custom");
    let stop = || {
        let mut part = Map::new();
        part.insert("type".to_string(), json!("stop"));
        let words = body.get("stopwords").cloned().unwrap_or(json!("_none_"));
        part.insert("stopwords".to_string(), words);
        Value::Object(part)
    };
    Ok(match kind {
        "custom" => {
            let mut parts = composed(source, name, body, "Analyzer")?;
            let tokenizer = body
                .get("tokenizer")
                .and_then(Value::as_str)
                .ok_or_else(|| {
                    format!(
                        "analyzer [{name}] must specify either an analyzer type, or a tokenizer"
                    )
                })?;
            parts["tokenizer"] = named(source, "tokenizer", tokenizer);
            parts
        }
        "standard" => {
            let mut tokenizer = json!({"type": "standard"});
            if let Some(most) = body.get("max_token_length") {
                tokenizer["max_token_length"] = most.clone();
            }
            json!({"tokenizer": tokenizer, "filter": [{"type": "lowercase"}, stop()]})
        }
        "simple" => json!({"tokenizer": {"type": "lowercase"}}),
        "whitespace" | "keyword" => json!({"tokenizer": {"type": kind}}),
        "pattern" => {
            let mut tokenizer = json!({"type": "pattern"});
            for key in ["pattern", "flags"] {
                if let Some(value) = body.get(key) {
                    tokenizer[key] = value.clone();
                }
            }
            let is_lower = body
                .get("lowercase")
                .is_none_or(|v| v != "false" && v != false);
            let lower = is_lower.then(|| json!({"type": "lowercase"}));
            let filters: Vec<Value> = lower.into_iter().chain([stop()]).collect();
            json!({"tokenizer": tokenizer, "filter": filters})
        }
        "stop" => match body.get("stopwords") {
            Some(_) => json!({"tokenizer": {"type": "lowercase"}, "filter": [stop()]}),
            None => usual("stop").unwrap_or_default(),
        },
        "fingerprint" => fingerprint_parts(body, stop()),
        "snowball" => {
            let language = body.get("language").and_then(Value::as_str);
            language::snowball_parts(language.unwrap_or("English"), body.get("stopwords"))
        }
        name if LANGUAGES.contains(&name) => {
            language::parts(name, body.get("stopwords"), body.get("stem_exclusion"))
        }
        other => {
            usual(other).ok_or_else(|| format!("Unknown analyzer type [{other}] for [{name}]"))?
        }
    })
}

/// The parts of an analyzer of the type `fingerprint`, with its filter of stop words.
fn fingerprint_parts(body: &Value, stop: Value) -> Value {
    let mut fingerprint = json!({"type": "fingerprint"});
    for key in ["separator", "max_output_size"] {
        if let Some(value) = body.get(key) {
            fingerprint[key] = value.clone();
        }
    }
    let filters = vec![
        json!({"type": "lowercase"}),
        json!({"type": "asciifolding"}),
        stop,
        fingerprint,
    ];
    json!({"tokenizer": {"type": "standard"}, "filter": filters})
}

/// The filters of an analyzer or normalizer, each with its parameters.
fn composed(source: &Value, name: &str, body: &Value, what: &str) -> Result<Value, String> {
    let mut parts = json!({});
    for key in ["char_filter", "filter"] {
        let mut found = Vec::new();
        for part in names(body.get(key)) {
            let filter = named(source, key, &part);
            if filter
                .get("type")
                .and_then(Value::as_str)
                .is_none_or(str::is_empty)
            {
                return Err(format!(
                    "Custom {what} [{name}] failed to find {key} under name [{part}]"
                ));
            }
            found.push(filter);
        }
        parts[key] = Value::Array(found);
    }
    Ok(parts)
}

/// A part that the settings define, else the one that goes by that name without parameters.
fn named(source: &Value, key: &str, name: &str) -> Value {
    with_chains(source, defined(source, key, name))
}

pub(super) fn defined(source: &Value, key: &str, name: &str) -> Value {
    let defined = source.get(key).and_then(|parts| parts.get(name));
    defined.cloned().unwrap_or_else(|| match (key, name) {
        // By its name alone it makes shorter pieces than as a type.
        ("filter", "edge_ngram") => json!({"type": name, "max_gram": 1}),
        // Its own articles are there in any case.
        ("filter", "elision") => json!({"type": name, "articles_case": true}),
        _ => json!({"type": name}),
    })
}

/// A `multiplexer` with the filters that it names, one list for each of its chains, and a `condition` with its; other
/// parts as they are.
fn with_chains(source: &Value, mut part: Value) -> Value {
    match part.get("type").and_then(Value::as_str) {
        Some("multiplexer") => {}
        Some("condition") => {
            let filters = names(part.get("filter")).into_iter();
            let filters: Value = filters
                .map(|name| defined(source, "filter", &name))
                .collect();
            part[CHOSEN] = filters;
            return part;
        }
        _ => return part,
    }
    let chain = |list: &String| -> Value {
        let filters = list.split(',').map(str::trim);
        let filters = filters.filter(|name| !name.is_empty());
        filters
            .map(|name| defined(source, "filter", name))
            .collect()
    };
    let chains: Value = names(part.get("filters")).iter().map(chain).collect();
    part[CHAINS] = chains;
    part
}

pub(super) fn names(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(items)) => {
            let texts = items.iter().filter_map(Value::as_str);
            texts.map(String::from).collect()
        }
        Some(Value::String(text)) => text
            .split(',')
            .map(|name| name.trim().to_string())
            .collect(),
        _ => Vec::new(),
    }
}
