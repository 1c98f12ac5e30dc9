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
                    None => json!(STANDARD),
                    Some(part) => tokenizer_of(part)?,
                };
                let filters = match params.get("filter") {
                    None => Vec::new(),
                    Some(Value::Array(filters)) => filters.clone(),
                    Some(_) => return Err(MilvusError::invalid("filter params should be a list")),
                };
                (tokenizer, filters)
            }
            Some("standard") => (json!(STANDARD), vec![json!("lowercase")]),
            Some("english") => (
                json!(STANDARD),
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
        let mut names = Vec::new();
        for filter in &filters {
            for own in filters_of(filter)? {
                let own_name = format!("{name}_{}", names.len());
                self.filters.insert(own_name.clone(), own);
                names.push(own_name);
            }
        }
        let tokenizer = match tokenizer {
            own @ Value::Object(_) => {
                self.tokenizers.insert(name.to_string(), own);
                json!(name)
            }
            known => known,
        };
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

/// Our tokenizer that is one of Milvus'.
fn tokenizer_of(part: &Value) -> Result<Value> {
    let name = part_name(Some(part)).ok_or_else(|| {
        MilvusError::invalid("tokenizer should be a name, or an object with a type")
    })?;
    match name {
        "standard" | "whitespace" => Ok(json!(name)),
        "char_group" => Ok(match delimiters(part)?.as_slice() {
            [] => json!({"type": "keyword"}),
            any => json!({"type": "pattern", "pattern": format!("(?:{})+", any.join("|"))}),
        }),
        "ngram" => pieces(part),
        other => Err(MilvusError::Unsupported(format!("tokenizer {other}"))),
    }
}

/// Patterns of what parts words: characters, and groups of them by their names.
fn delimiters(part: &Value) -> Result<Vec<String>> {
    let given = part
        .get("delimiters")
        .ok_or_else(|| MilvusError::invalid("char group tokenizer delimiters can't be empty"))?;
    let given = given
        .as_array()
        .ok_or_else(|| MilvusError::invalid("char group tokenizer delimiters must be a vector"))?;
    let one = |delimiter: &Value| -> Result<String> {
        let name = delimiter.as_str().ok_or_else(|| {
            MilvusError::invalid("char group tokenizer delimiter in delimiters must be string")
        })?;
        let group = match name {
            "whitespace" => r"\p{IsWhiteSpace}",
            "letter" => r"\p{IsAlphabetic}",
            "digit" | "ascii_digit" => "[0-9]",
            "punctuation" => r"\p{P}",
            "symbol" => r"\p{S}",
            "ascii_whitespace" => r"[ \t\n\f\r]",
            "ascii_letter" => "[A-Za-z]",
            "ascii_punctuation" => r"\p{Punct}",
            one if one.chars().count() == 1 => return Ok(literally(one)),
            other => {
                return Err(MilvusError::invalid(format!(
                    "{other} not a char or name of build-in char group"
                )));
            }
        };
        Ok(group.to_string())
    };
    given.iter().map(one).collect()
}

/// Pieces of words, of so many characters, from everywhere in them or from their beginnings.
fn pieces(part: &Value) -> Result<Value> {
    let length = |name: &str| part.get(name).and_then(Value::as_u64);
    let (Some(min), Some(max)) = (length("min_gram"), length("max_gram")) else {
        return Err(MilvusError::invalid(
            "ngram tokenizer requires min_gram and max_gram",
        ));
    };
    if min == 0 {
        return Err(MilvusError::invalid("min_gram must be greater than 0"));
    }
    if min > max {
        return Err(MilvusError::invalid(
            "min_gram must not be greater than max_gram",
        ));
    }
    let is_prefix = part.get("prefix_only").and_then(Value::as_bool);
    let kind = match is_prefix.unwrap_or_default() {
        true => "edge_ngram",
        false => "ngram",
    };
    let mut tokenizer = json!({"type": kind, "min_gram": min, "max_gram": max});
    for name in ["token_chars", "custom_token_chars"] {
        if let Some(given) = part.get(name) {
            tokenizer[name] = given.clone();
        }
    }
    Ok(tokenizer)
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
    fn words_lie_between_delimiters_or_are_cut_in_pieces() {
        let group = |delimiters: Value| json!({"type": "char_group", "delimiters": delimiters});
        for (tokenizer, text, want) in [
            (
                group(json!(["o", "punctuation", "digit"])),
                "testotest,test1test",
                vec!["test"; 4],
            ),
            (
                group(json!(["=", ";", "-"])),
                "key=value;;a-b c",
                vec!["key", "value", "a", "b c"],
            ),
            (
                group(json!(["。", "\n", "]"])),
                "一。二\nx]y",
                vec!["一", "二", "x", "y"],
            ),
            (
                group(json!(["symbol", "whitespace"])),
                "a+b\u{a0}c€d",
                vec!["a", "b", "c", "d"],
            ),
            (group(json!(["letter"])), "1é2a3", vec!["1", "2", "3"]),
            (
                group(json!(["ascii_letter", "ascii_punctuation"])),
                "1é2a3.4。",
                vec!["1é2", "3", "4。"],
            ),
            (
                group(json!(["ascii_whitespace", "ascii_digit"])),
                "a\tb1c\u{a0}d",
                vec!["a", "b", "c\u{a0}d"],
            ),
            (group(json!([])), "a b", vec!["a b"]),
            (
                json!({"type": "ngram", "min_gram": 2, "max_gram": 3}),
                "abcd",
                vec!["ab", "abc", "bc", "bcd", "cd"],
            ),
            (
                json!({"type": "ngram", "min_gram": 1, "max_gram": 2, "prefix_only": true,
                       "token_chars": ["letter", "custom"], "custom_token_chars": "-"}),
                "ab -c",
                vec!["a", "ab", "-", "-c"],
            ),
        ] {
            assert_eq!(
                words(&json!({"tokenizer": tokenizer}), text),
                want,
                "{tokenizer}"
            );
        }
    }

    #[test]
    fn delimiters_and_pieces_that_are_none_are_refused() {
        let group = |delimiters: Value| json!({"type": "char_group", "delimiters": delimiters});
        for (wrong, said) in [
            (json!({"type": "char_group"}), "delimiters can't be empty"),
            (json!("char_group"), "delimiters can't be empty"),
            (group(json!("=")), "must be a vector"),
            (group(json!([1])), "must be string"),
            (
                group(json!(["=="])),
                "== not a char or name of build-in char group",
            ),
            (group(json!([""])), "not a char"),
            (
                json!({"type": "ngram", "min_gram": 2}),
                "requires min_gram and max_gram",
            ),
            (
                json!({"type": "ngram", "min_gram": 0, "max_gram": 2}),
                "greater than 0",
            ),
            (
                json!({"type": "ngram", "min_gram": 3, "max_gram": 2}),
                "not be greater than max_gram",
            ),
            (
                json!({"type": "ngram", "min_gram": 1, "max_gram": 2, "token_chars": ["vowel"]}),
                "vowel",
            ),
        ] {
            let refused = analyzer_settings(&json!({"tokenizer": wrong}).to_string());
            let refused = refused.err().unwrap();
            assert_eq!(refused.code(), 1100, "{wrong}");
            assert!(refused.to_string().contains(said), "{wrong}: {refused}");
        }
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
