//! How texts are cut into words: Milvus' analyzers in the parts that ours are made of.

mod by_row;
mod tokenizer;

use clew_analysis::{Analysis, java_pattern};
use clew_schema::AnalyzerChoice;
use serde_json::{Map, Value, json};

use crate::collection::{Collection, Field};
use crate::error::{MilvusError, Result};

pub(crate) use by_row::RowAnalyzers;
use tokenizer::{alphanumeric, tokenizer_of};

/// The analyzer of fields that say nothing else.
const STANDARD: &str = "standard";
/// What it is here: what Milvus calls so are runs of letters and digits, and no words by Unicode's rules.
const USUAL: &str = "alphanumeric";

/// The name of a field's analyzer in its index; of several, that of rows which choose none of the others.
///
/// # Errors
/// When it has several that are not as Milvus takes them.
pub(super) fn name_of(field: &Field) -> Result<String> {
    if let Some(several) = RowAnalyzers::of(field)? {
        return Ok(several.usual(field));
    }
    Ok(match own_params(field) {
        Some(_) => format!("milvus_{}", field.name),
        None => USUAL.to_string(),
    })
}

/// Which analyzer the texts of a row go through, where a field has several.
///
/// # Errors
/// When they are not as Milvus takes them.
pub(super) fn choice_of(field: &Field) -> Result<Option<AnalyzerChoice>> {
    let several = RowAnalyzers::of(field)?;
    Ok(several.map(|several| several.choice(field)))
}

/// What a field says of its analyzer, unless that is the usual one.
fn own_params(field: &Field) -> Option<&String> {
    let params = field.params.get("analyzer_params")?;
    let said: Option<Value> = serde_json::from_str(params).ok();
    let is_usual = said == Some(json!({})) || said == Some(json!({"type": STANDARD}));
    (!is_usual).then_some(params)
}

/// The analyzers of a collection's fields.
///
/// # Errors
/// For parts that there is nothing like here.
pub(crate) fn analysis(collection: &Collection) -> Result<Analysis> {
    let mut all = Settings::default();
    for field in &collection.fields {
        all.add_of_field(collection, field)?;
    }
    all.read()
}

/// The analyzers of an index, of which this is said, with those of a field that comes to its collection later; nothing where
/// that has none but the usual one. What the index has stays as it is: its rows were cut by that.
///
/// # Errors
/// As [`analysis`], and where the index has another analyzer of the name.
pub(crate) fn with_late_analysis(
    source: &Value,
    collection: &Collection,
    field: &Field,
) -> Result<Option<Value>> {
    let mut own = Settings::default();
    own.add_of_field(collection, field)?;
    if own.analyzers.is_empty() {
        return Ok(None);
    }
    let added = own.read()?;
    let mut whole = source.as_object().cloned().unwrap_or_default();
    for (section, parts) in added.source().as_object().into_iter().flatten() {
        let there = whole.entry(section.clone()).or_insert_with(|| json!({}));
        let (Some(there), Some(parts)) = (there.as_object_mut(), parts.as_object()) else {
            continue;
        };
        for (name, part) in parts {
            let known = there.entry(name.clone()).or_insert_with(|| part.clone());
            if known != part {
                return Err(MilvusError::Unsupported(format!(
                    "another analyzer of the name {name}, which the index has from a field before,"
                )));
            }
        }
    }
    Ok(Some(whole.into()))
}

/// An analyzer by itself, and its name.
///
/// # Errors
/// As [`analysis`].
pub(crate) fn analyzer_settings(params: &str) -> Result<(Analysis, String)> {
    const NAME: &str = "asked";
    let mut all = Settings::default();
    let params = if params.is_empty() { "{}" } else { params };
    all.add(NAME, &parsed(params)?)?;
    Ok((all.read()?, NAME.to_string()))
}

/// Parameters that are written as JSON.
fn parsed(params: &str) -> Result<Value> {
    serde_json::from_str(params).map_err(|error| {
        MilvusError::invalid(format!("analyzer_params are no JSON object: {error}"))
    })
}

#[derive(Default)]
struct Settings {
    analyzers: Map<String, Value>,
    char_filters: Map<String, Value>,
    tokenizers: Map<String, Value>,
    filters: Map<String, Value>,
}

impl Settings {
    fn read(self) -> Result<Analysis> {
        if self.analyzers.is_empty() {
            return Ok(Analysis::default());
        }
        let mut settings = json!({"analyzer": self.analyzers, "filter": self.filters});
        if !self.tokenizers.is_empty() {
            settings["tokenizer"] = self.tokenizers.into();
        }
        if !self.char_filters.is_empty() {
            settings["char_filter"] = self.char_filters.into();
        }
        Analysis::read(&settings).map_err(MilvusError::invalid)
    }

    /// Adds the analyzers of a field. Without words nobody asks how they would be cut.
    fn add_of_field(&mut self, collection: &Collection, field: &Field) -> Result<()> {
        if !field.flag("enable_analyzer") {
            return Ok(());
        }
        if let Some(several) = RowAnalyzers::of(field)? {
            several.check(collection)?;
            for (name, params) in several.named(field) {
                self.add(&name, params)?;
            }
        } else if let Some(params) = own_params(field) {
            self.add(&name_of(field)?, &parsed(params)?)?;
        }
        Ok(())
    }

    fn add(&mut self, name: &str, params: &Value) -> Result<()> {
        let parts = parts_of(params)?;
        let names = named(name, parts.filters, &mut self.filters);
        let char_names = named(name, parts.char_filters, &mut self.char_filters);
        let tokenizer = match parts.tokenizer {
            own @ Value::Object(_) => {
                self.tokenizers.insert(name.to_string(), own);
                json!(name)
            }
            known => known,
        };
        let mut analyzer = json!({"type": "custom", "tokenizer": tokenizer, "filter": names});
        if !char_names.is_empty() {
            analyzer["char_filter"] = char_names.into();
        }
        self.analyzers.insert(name.to_string(), analyzer);
        Ok(())
    }
}

/// Puts the definitions of an analyzer's parts of a kind among all of that kind, and gives their names.
fn named(analyzer: &str, parts: Vec<Value>, all: &mut Map<String, Value>) -> Vec<String> {
    let named = parts.into_iter().enumerate().map(|(at, part)| {
        let name = format!("{analyzer}_{at}");
        all.insert(name.clone(), part);
        name
    });
    named.collect()
}

/// What an analyzer is made of here.
struct Parts {
    /// Definitions.
    char_filters: Vec<Value>,
    /// A name, or a definition.
    tokenizer: Value,
    /// Definitions.
    filters: Vec<Value>,
}

/// The parts of an analyzer.
fn parts_of(params: &Value) -> Result<Parts> {
    let params = params
        .as_object()
        .ok_or_else(|| MilvusError::invalid("analyzer_params are no JSON object"))?;
    // Nothing said is the analyzer, not its tokenizer alone.
    let built_in = match params.is_empty() {
        true => Some(STANDARD),
        false => params.get("type").and_then(Value::as_str),
    };
    let (tokenizer, mut filters) = match built_in {
        None => {
            let is_known = |key: &str| matches!(key, "tokenizer" | "char_filter" | "filter");
            if let Some(other) = params.keys().find(|key| !is_known(key.as_str())) {
                return Err(MilvusError::invalid(format!(
                    "unknown analyzer option key: {other}"
                )));
            }
            let tokenizer = match params.get("tokenizer") {
                None => alphanumeric(),
                Some(part) => tokenizer_of(part)?,
            };
            let filters = match params.get("filter") {
                None => Vec::new(),
                Some(Value::Array(filters)) => filters.clone(),
                Some(_) => return Err(MilvusError::invalid("filter params should be a list")),
            };
            (tokenizer, filters)
        }
        Some(name) => built_in_parts(name)?,
    };
    if built_in.is_some()
        && let Some(words) = params.get("stop_words")
    {
        filters.push(json!({"type": "stop", "stop_words": words}));
    }
    let char_filters = match (params.get("char_filter"), built_in) {
        (None, _) => Vec::new(),
        (Some(said), None) => char_filters_of(said)?,
        (Some(_), Some(_)) => {
            return Err(MilvusError::invalid(
                "char_filter cannot be used with build-in analyzer type",
            ));
        }
    };
    let filters = filters.iter().map(filters_of);
    let filters: Vec<Vec<Value>> = filters.collect::<Result<_>>()?;
    Ok(Parts {
        char_filters,
        tokenizer,
        filters: filters.concat(),
    })
}

/// The tokenizer of one of Milvus' own analyzers, and its filters as Milvus writes them.
fn built_in_parts(name: &str) -> Result<(Value, Vec<Value>)> {
    let stemmer = |language: &str| json!({"type": "stemmer", "language": language});
    let stop = |list: &str| json!({"type": "stop", "stop_words": [list]});
    let [lower, digits] = ["lowercase", "decimaldigit"].map(Value::from);
    Ok(match name {
        STANDARD => (alphanumeric(), vec![lower]),
        "english" => (
            alphanumeric(),
            vec![lower, stemmer("english"), stop("_english_")],
        ),
        "chinese" => (
            tokenizer_of(&json!("jieba"))?,
            vec![json!("cnalphanumonly")],
        ),
        "arabic" => (
            alphanumeric(),
            vec![
                lower,
                digits,
                json!("arabic_normalization"),
                stemmer("arabic"),
                stop("_arabic_"),
            ],
        ),
        "thai" => (
            tokenizer_of(&json!("thai"))?,
            vec![lower, digits, stop("_thai_")],
        ),
        other => {
            return Err(MilvusError::invalid(format!(
                "unknown build-in analyzer type: {other}"
            )));
        }
    })
}

/// A part that is named alone, or with its options.
fn part_name(part: Option<&Value>) -> Option<&str> {
    let part = part?;
    part.as_str().or_else(|| part.get("type")?.as_str())
}

/// Leaves out words that match a pattern as wholes: they become empty, and empty ones go.
fn without(pattern: &str) -> Vec<Value> {
    vec![
        json!({"type": "pattern_replace", "pattern": pattern, "replacement": ""}),
        json!({"type": "length", "min": 1}),
    ]
}

/// Leaves out words in which nothing matches a pattern, in the same way.
fn with(pattern: &str) -> Vec<Value> {
    vec![
        json!({
            "type": "pattern_replace",
            "pattern": format!("^((?s:.*?)(?:{pattern})(?s:.*))$|^(?s:.+)$"),
            "replacement": "$1",
        }),
        json!({"type": "length", "min": 1}),
    ]
}

/// Takes words apart that are made of words of a list and nothing else; others stay as they are.
fn compounds(filter: &Value) -> Result<Value> {
    let list = filter.get("word_list").and_then(Value::as_array);
    let words = list.into_iter().flatten().map(Value::as_str);
    let words: Option<Vec<&str>> = words.collect();
    let mut words = words.unwrap_or_default();
    words.retain(|word| !word.is_empty());
    if words.is_empty() {
        return Err(MilvusError::invalid(
            "decompounder filter requires word_list, a list of strings",
        ));
    }
    // Of several words that begin alike the longest is the part.
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let words: Vec<String> = words.into_iter().map(literally).collect();
    let any = words.join("|");
    // What is no such word is passed over as a whole; of one that is, each part is followed by others up to the end.
    let pattern = format!("^(?!(?:{any})+$).*$|({any})(?=(?:{any})*$)");
    Ok(json!({"type": "pattern_capture", "preserve_original": false, "patterns": [pattern]}))
}

/// A text as a pattern that matches it and nothing else.
fn literally(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for letter in text.chars() {
        if !letter.is_alphanumeric() {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

/// What is replaced in a text before it is cut.
fn char_filters_of(said: &Value) -> Result<Vec<Value>> {
    let all = said
        .as_array()
        .ok_or_else(|| MilvusError::invalid("char_filter params should be array"))?;
    let one = |part: &Value| match part.get("type").and_then(Value::as_str) {
        Some("mapping") => match part.get("mappings") {
            Some(Value::Array(rules)) if rules.iter().all(Value::is_string) => {
                Ok(json!({"type": "mapping", "mappings": rules}))
            }
            _ => Err(MilvusError::invalid(
                "mapping char_filter mappings must be array",
            )),
        },
        Some(other) => Err(MilvusError::invalid(format!(
            "unsupported char_filter type: {other}"
        ))),
        None => Err(MilvusError::invalid("char_filter type must be set")),
    };
    all.iter().map(one).collect()
}

/// Our filters that are one of Milvus'.
fn filters_of(filter: &Value) -> Result<Vec<Value>> {
    let name =
        part_name(Some(filter)).ok_or_else(|| MilvusError::invalid("a filter has no type"))?;
    let option = |name: &str| filter.get(name).cloned();
    let one = match name {
        "alphanumonly" => return Ok(without(r"^.*[^A-Za-z0-9].*$")),
        // One such letter is enough, as in Milvus.
        "cncharonly" => return Ok(with(r"\p{IsHan}")),
        "cnalphanumonly" => return Ok(with(r"[A-Za-z0-9\p{IsHan}]")),
        "removepunct" => return Ok(without(r"^(?s:.*)[\p{P}\p{IsWhiteSpace}](?s:.*)$")),
        "decimaldigit" => json!({"type": "decimal_digit"}),
        "arabic_normalization" => json!({"type": name}),
        "regex" => {
            let pattern = filter.get("expr").and_then(Value::as_str);
            let pattern =
                pattern.ok_or_else(|| MilvusError::invalid("regex filter requires expr"))?;
            java_pattern(pattern).map_err(|error| {
                MilvusError::invalid(format!("expr of a regex filter is no pattern: {error}"))
            })?;
            return Ok(with(pattern));
        }
        "decompounder" if filter.get("word_list_file").is_none() => compounds(filter)?,
        "synonym" if filter.get("synonyms_file").is_none() => json!({
            "type": "synonym",
            "synonyms": option("synonyms").unwrap_or_else(|| json!([])),
            "expand": option("expand").unwrap_or(Value::Bool(true)),
        }),
        "lowercase" | "asciifolding" => json!({"type": name}),
        "stop" => {
            let words = option("stop_words").unwrap_or_else(|| json!(["_english_"]));
            let are_texts = |words: &Vec<Value>| words.iter().all(Value::is_string);
            if !words.as_array().is_some_and(are_texts) {
                return Err(MilvusError::invalid(
                    "stop_words should be a list of strings",
                ));
            }
            json!({"type": "stop", "stopwords": words})
        }
        "stemmer" => {
            json!({"type": "stemmer", "language": option("language").unwrap_or_else(|| json!("english"))})
        }
        // Milvus counts bytes.
        "length" => match filter.get("max").and_then(Value::as_u64) {
            Some(max) => json!({"type": "byte_length", "max": max}),
            None => {
                return Err(MilvusError::invalid(
                    "length max param was none or not uint",
                ));
            }
        },
        other => return Err(MilvusError::Unsupported(format!("filter {other}"))),
    };
    Ok(vec![one])
}

#[cfg(test)]
mod tests;
