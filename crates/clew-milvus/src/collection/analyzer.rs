//! How texts are cut into words: Milvus' analyzers in the parts that ours are made of.

use clew_analysis::{Analysis, java_pattern};
use serde_json::{Map, Value, json};

use crate::collection::{Collection, Field};
use crate::error::{MilvusError, Result};

/// The analyzer of fields that say nothing else.
const STANDARD: &str = "standard";

/// The name of a field's analyzer in its index.
pub(super) fn name_of(field: &Field) -> String {
    match own_params(field) {
        Some(_) => format!("milvus_{}", field.name),
        None => STANDARD.to_string(),
    }
}

/// What a field says of its analyzer, unless that is the usual one.
fn own_params(field: &Field) -> Option<&String> {
    let params = field.params.get("analyzer_params")?;
    let said: Option<Value> = serde_json::from_str(params).ok();
    let is_usual = said == Some(json!({})) || said == Some(json!({"type": STANDARD}));
    (!is_usual).then_some(params)
}

/// Refuses an analyzer of a field that comes later, as those of an index are made with it.
///
/// # Errors
/// Where it is not the usual one.
pub(super) fn check_late_analyzer(field: &Field) -> Result<()> {
    check_single(field)?;
    match own_params(field) {
        Some(_) if field.flag("enable_analyzer") => Err(MilvusError::Unsupported(format!(
            "analyzer_params of the field {}, which is added later,",
            field.name
        ))),
        _ => Ok(()),
    }
}

/// Refuses analyzers that go by the row.
fn check_single(field: &Field) -> Result<()> {
    match field.params.contains_key("multi_analyzer_params") {
        true => Err(MilvusError::Unsupported(format!(
            "multi_analyzer_params of the field {}",
            field.name
        ))),
        false => Ok(()),
    }
}

/// The analyzers of a collection's fields.
///
/// # Errors
/// For parts that there is nothing like here.
pub(crate) fn analysis(collection: &Collection) -> Result<Analysis> {
    let mut all = Settings::default();
    for field in &collection.fields {
        check_single(field)?;
        if let Some(params) = own_params(field) {
            all.add(&name_of(field), params)?;
        }
    }
    all.read()
}

/// An analyzer by itself, and its name.
///
/// # Errors
/// As [`analysis`].
pub(crate) fn analyzer_settings(params: &str) -> Result<(Analysis, String)> {
    const NAME: &str = "asked";
    let mut all = Settings::default();
    all.add(NAME, if params.is_empty() { "{}" } else { params })?;
    Ok((all.read()?, NAME.to_string()))
}

#[derive(Default)]
struct Settings {
    analyzers: Map<String, Value>,
    filters: Map<String, Value>,
}

impl Settings {
    fn read(self) -> Result<Analysis> {
        if self.analyzers.is_empty() {
            return Ok(Analysis::default());
        }
        let settings = json!({"analyzer": self.analyzers, "filter": self.filters});
        Analysis::read(&settings).map_err(MilvusError::invalid)
    }

    fn add(&mut self, name: &str, params: &str) -> Result<()> {
        let params: Map<String, Value> = serde_json::from_str(params).map_err(|error| {
            MilvusError::invalid(format!("analyzer_params are no JSON object: {error}"))
        })?;
        let stop_words = params.get("stop_words");
        // Nothing said is the analyzer, not its tokenizer alone.
        let built_in = match params.is_empty() {
            true => Some("standard"),
            false => params.get("type").and_then(Value::as_str),
        };
        let (tokenizer, mut filters) = match built_in {
            None => {
                let tokenizer = match params.get("tokenizer") {
                    None => "standard",
                    part => part_name(part).ok_or_else(|| {
                        MilvusError::invalid("tokenizer should be a name, or an object with a type")
                    })?,
                };
                let filters = match params.get("filter") {
                    None => Vec::new(),
                    Some(Value::Array(filters)) => filters.clone(),
                    Some(_) => return Err(MilvusError::invalid("filter params should be a list")),
                };
                (tokenizer, filters)
            }
            Some("standard") => ("standard", vec![json!("lowercase")]),
            Some("english") => (
                "standard",
                vec![
                    json!("lowercase"),
                    json!({"type": "stemmer", "language": "english"}),
                    json!({"type": "stop", "stop_words": ["_english_"]}),
                ],
            ),
            Some(other) => return Err(MilvusError::Unsupported(format!("analyzer {other}"))),
        };
        if built_in.is_some()
            && let Some(words) = stop_words
        {
            filters.push(json!({"type": "stop", "stop_words": words}));
        }
        if !matches!(tokenizer, "standard" | "whitespace") {
            return Err(MilvusError::Unsupported(format!("tokenizer {tokenizer}")));
        }
        let mut names = Vec::new();
        for filter in &filters {
            for own in filters_of(filter)? {
                let own_name = format!("{name}_{}", names.len());
                self.filters.insert(own_name.clone(), own);
                names.push(own_name);
            }
        }
        let analyzer = json!({"type": "custom", "tokenizer": tokenizer, "filter": names});
        self.analyzers.insert(name.to_string(), analyzer);
        Ok(())
    }
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

/// Our filters that are one of Milvus'.
fn filters_of(filter: &Value) -> Result<Vec<Value>> {
    let name =
        part_name(Some(filter)).ok_or_else(|| MilvusError::invalid("a filter has no type"))?;
    let option = |name: &str| filter.get(name).cloned();
    let one = match name {
        "alphanumonly" => return Ok(without(r"^.*[^A-Za-z0-9].*$")),
        "cncharonly" => return Ok(without(r"^.*[^\u4E00-\u9FFF].*$")),
        "cnalphanumonly" => return Ok(without(r"^.*[^A-Za-z0-9\u4E00-\u9FFF].*$")),
        "removepunct" => return Ok(without(r"^\p{P}+$")),
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
        "length" => {
            json!({"type": "length", "min": 0, "max": option("max").unwrap_or_else(|| json!(40))})
        }
        other => return Err(MilvusError::Unsupported(format!("filter {other}"))),
    };
    Ok(vec![one])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(params: &Value, text: &str) -> Vec<String> {
        let (analysis, name) = analyzer_settings(&params.to_string()).unwrap();
        let analyzer = analysis.analyzer(&name).unwrap();
        let tokens = clew_analysis::tokens(&analyzer, text);
        tokens.into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn patterns_say_which_words_stay_and_synonyms_stand_beside_them() {
        let by = |filter: Value| json!({"tokenizer": "standard", "filter": [filter]});
        for (pattern, want) in [
            ("(", None),
            ("^(?!a)[a-z]", Some(vec!["xyz"])),
            ("^[a-z]+$", Some(vec!["abc", "xyz"])),
            ("(?i)B", Some(vec!["abc", "AB1"])),
            ("(b|1)", Some(vec!["abc", "AB1"])),
        ] {
            let params = by(json!({"type": "regex", "expr": pattern}));
            match want {
                Some(want) => assert_eq!(words(&params, "abc AB1 xyz"), want, "{pattern}"),
                None => assert!(analyzer_settings(&params.to_string()).is_err(), "{pattern}"),
            }
        }
        assert!(analyzer_settings(&by(json!({"type": "regex"})).to_string()).is_err());
        let params = by(json!({"type": "synonym", "synonyms": ["quick, fast"]}));
        assert_eq!(words(&params, "quick fox"), ["quick", "fast", "fox"]);
    }

    #[test]
    fn words_are_taken_apart_that_are_made_of_others() {
        let by = |filter: Value| json!({"tokenizer": "whitespace", "filter": [filter]});
        let list = ["dampf", "schiff", "fahrt", "brot", "c.d", "schifffahrt"];
        let params = by(json!({"type": "decompounder", "word_list": list}));
        for (text, want) in [
            ("dampfschiff", vec!["dampf", "schiff"]),
            ("dampfschifffahrt", vec!["dampf", "schifffahrt"]),
            ("brotdampf xdampf", vec!["brot", "dampf", "xdampf"]),
            ("dampfx fahrt", vec!["dampfx", "fahrt"]),
            ("c.dbrot cxdbrot", vec!["c.d", "brot", "cxdbrot"]),
        ] {
            assert_eq!(words(&params, text), want, "{text}");
        }
        for wrong in [
            json!({}),
            json!({"word_list": []}),
            json!({"word_list": [1]}),
        ] {
            let mut filter = wrong.clone();
            filter["type"] = json!("decompounder");
            let refused = analyzer_settings(&by(filter).to_string());
            let refused = refused.err().unwrap();
            assert_eq!(refused.code(), 1100, "{wrong}");
        }
    }

    #[test]
    fn parts_that_are_none_are_refused() {
        for wrong in [
            json!({"tokenizer": 123}),
            json!({"tokenizer": null}),
            json!({"tokenizer": []}),
            json!({"tokenizer": {"type": null}}),
            json!({"filter": "lowercase"}),
            json!({"filter": [{"type": null}]}),
            json!({"filter": [{"type": "stop", "stop_words": "the"}]}),
            json!({"filter": [{"type": "stop", "stop_words": [1]}]}),
            json!({"type": "standard", "stop_words": "the"}),
        ] {
            let refused = analyzer_settings(&wrong.to_string());
            assert_eq!(refused.err().unwrap().code(), 1100, "{wrong}");
        }
        let none = json!({"type": "standard", "stop_words": []});
        assert_eq!(words(&none, "the Fox"), ["the", "fox"]);
    }

    #[test]
    fn nothing_said_is_the_usual_analyzer() {
        for (params, want) in [
            (json!({}), ["hello", "there"]),
            (json!({"type": "standard"}), ["hello", "there"]),
            (json!({"tokenizer": "standard"}), ["Hello", "There"]),
        ] {
            assert_eq!(words(&params, "Hello There"), want, "{params}");
            let field = Field {
                params: [("analyzer_params".to_string(), params.to_string())].into(),
                ..Field::named("text", crate::collection::DataType::VarChar)
            };
            assert_eq!(name_of(&field) == STANDARD, want == ["hello", "there"]);
        }
    }

    #[test]
    fn filters_keep_the_words_that_milvus_own_keep() {
        for (filter, want) in [
            ("alphanumonly", vec!["hello", "abc1"]),
            ("cncharonly", vec!["中文"]),
            ("cnalphanumonly", vec!["hello", "abc1", "中文", "a中"]),
            (
                "removepunct",
                vec!["hello", "wor-ld", "abc1", "中文", "a中", "éa"],
            ),
        ] {
            let params = json!({"tokenizer": "whitespace", "filter": [filter]}).to_string();
            let (analysis, name) = analyzer_settings(&params).unwrap();
            let name = analysis.analyzer(&name).unwrap();
            let tokens = clew_analysis::tokens(&name, "hello , wor-ld !? abc1 中文 a中 éa");
            let words: Vec<String> = tokens.into_iter().map(|token| token.text).collect();
            assert_eq!(words, want, "{filter}");
        }
    }
}
