//! Where texts are cut: Milvus' tokenizers as ours are written.

use serde_json::{Map, Value, json};

use super::{literally, part_name, parts_of};
use crate::error::{MilvusError, Result};

/// Longest word that may be asked for, in characters; here words are cut at 255 in any case.
const TOKEN_LENGTH_MAX: u64 = 1_048_576;

/// Our tokenizer that is one of Milvus'.
pub(super) fn tokenizer_of(part: &Value) -> Result<Value> {
    let name = part_name(Some(part)).ok_or_else(|| {
        MilvusError::invalid("tokenizer should be a name, or an object with a type")
    })?;
    match name {
        "standard" => standard(part),
        "whitespace" => Ok(json!(name)),
        "char_group" => Ok(match delimiters(part)?.as_slice() {
            [] => json!({"type": "keyword"}),
            any => json!({"type": "pattern", "pattern": format!("(?:{})+", any.join("|"))}),
        }),
        "ngram" => pieces(part),
        "icu" => Ok(json!({"type": "icu_segments"})),
        "thai" => Ok(json!({"type": "icu_words"})),
        "jieba" => jieba(part),
        "language_identifier" => by_language(part),
        "lindera" => Err(lindera(part)),
        "grpc" => Err(MilvusError::Unsupported(format!("tokenizer {name}"))),
        other => Err(MilvusError::invalid(format!(
            "unsupported tokenizer: {other}"
        ))),
    }
}

/// Runs of letters and digits: what Milvus' own words are.
pub(super) fn alphanumeric() -> Value {
    json!({"type": "alphanumeric"})
}

/// Such words, or those of Unicode's annex 29 where these are asked for.
fn standard(part: &Value) -> Result<Value> {
    const LENGTH: &str = "max_token_length";
    let wrong = |said: String| MilvusError::invalid(format!("standard tokenizer {said}"));
    let by_unicode = match part.get("uax29") {
        None => false,
        Some(said) => said
            .as_bool()
            .ok_or_else(|| wrong("uax29 must be a boolean".to_string()))?,
    };
    let length = part.get(LENGTH);
    match (by_unicode, length) {
        (false, Some(_)) => Err(wrong(format!("{LENGTH} requires uax29 to be true"))),
        (false, None) => Ok(alphanumeric()),
        (true, None) => Ok(json!({"type": "rule_words"})),
        (true, Some(length)) => {
            let length = length
                .as_u64()
                .ok_or_else(|| wrong(format!("{LENGTH} must be a positive integer")))?;
            match (1..=TOKEN_LENGTH_MAX).contains(&length) {
                true => Ok(json!({"type": "rule_words", "max_token_length": length})),
                false => Err(wrong(format!(
                    "{LENGTH} must be between 1 and {TOKEN_LENGTH_MAX}"
                ))),
            }
        }
    }
}

/// Why there is no tokenizer by Lindera's dictionaries: what is wrong with what is asked for, or that none of them is built in.
fn lindera(part: &Value) -> MilvusError {
    const KINDS: [&str; 5] = ["ipadic", "ipadic-neologd", "unidic", "ko-dic", "cc-cedict"];
    if part.is_string() {
        return MilvusError::invalid("lindera tokenizer must be costum");
    }
    match part.get("dict_kind").map(Value::as_str) {
        None => MilvusError::invalid("lindera tokenizer dict_kind must be set"),
        Some(None) => MilvusError::invalid("lindera tokenizer dict kind should be string"),
        Some(Some(kind)) if KINDS.contains(&kind) => MilvusError::Unsupported(format!(
            "the dictionary {kind} of the tokenizer lindera, which is not built in,"
        )),
        Some(Some(other)) => {
            MilvusError::invalid(format!("unsupported lindera dict type: {other}"))
        }
    }
}

/// Words of Chinese, by jieba's dictionary or by words that are given.
fn jieba(part: &Value) -> Result<Value> {
    let mut tokenizer = json!({"type": "jieba"});
    if part.get("extra_dict_file").is_some() {
        return Err(MilvusError::Unsupported(
            "extra_dict_file of the tokenizer jieba".into(),
        ));
    }
    if let Some(given) = part.get("dict") {
        let words = given
            .as_array()
            .ok_or_else(|| MilvusError::invalid("jieba tokenizer dict must be array"))?;
        let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
        let mut words = words
            .ok_or_else(|| MilvusError::invalid("jieba tokenizer dict item must be string"))?;
        words.retain(|word| !word.is_empty());
        let of_system = |word: &&&str| matches!(**word, "_default_" | "_extend_default_");
        let systems = words.iter().filter(of_system).count();
        if systems > 1 {
            return Err(MilvusError::invalid(
                "jieba tokenizer dict can only set one system dict",
            ));
        }
        if words.contains(&"_extend_default_") || (systems == 1 && words.len() > 1) {
            // Each such analyzer would hold a copy of the dictionary.
            return Err(MilvusError::Unsupported(
                "a dict of the tokenizer jieba with _extend_default_, or with words beside _default_,".into(),
            ));
        }
        tokenizer["dict"] = json!(words);
    }
    match part.get("mode").map(Value::as_str) {
        None => {}
        Some(Some(mode @ ("exact" | "search"))) => tokenizer["mode"] = json!(mode),
        Some(Some(_)) => {
            return Err(MilvusError::invalid(
                "jieba tokenizer mode must be \"exact\" or \"search\"",
            ));
        }
        Some(None) => {
            return Err(MilvusError::invalid("jieba tokenizer mode must be string"));
        }
    }
    match part.get("hmm") {
        None => {}
        Some(Value::Bool(guesses)) => tokenizer["hmm"] = json!(guesses),
        // Milvus calls it so.
        Some(_) => return Err(MilvusError::invalid("jieba tokenizer mode must be boolean")),
    }
    Ok(tokenizer)
}

/// What the analyzer of a text's language makes of it.
fn by_language(part: &Value) -> Result<Value> {
    let identifier = part.get("identifier");
    let kind = match identifier {
        None => "whatlang",
        Some(said) => part_name(Some(said))
            .ok_or_else(|| MilvusError::invalid("identifier params must be string or dict"))?,
    };
    match kind {
        "whatlang" => {}
        // Its models are hundreds of megabytes.
        "lingua" => return Err(MilvusError::Unsupported("the identifier lingua".into())),
        other => {
            return Err(MilvusError::invalid(format!(
                "unknown identifier type: {other}"
            )));
        }
    }
    let confidence = identifier.and_then(|said| said.get("confidence"));
    if confidence.is_some_and(|given| !given.is_number()) {
        return Err(MilvusError::invalid("confidence must be float"));
    }
    let given = part
        .get("analyzers")
        .ok_or_else(|| MilvusError::invalid("analyzers must be set"))?;
    let given = given
        .as_object()
        .ok_or_else(|| MilvusError::invalid("analyzers must be dict"))?;
    let mut analyzers = Map::new();
    for (name, params) in given {
        if !params.is_object() {
            return Err(MilvusError::invalid(format!(
                "sub analyzer {name:?} params must be dict"
            )));
        }
        let parts = parts_of(params)?;
        let tokenizer = match parts.tokenizer {
            Value::String(name) => json!({"type": name}),
            own => own,
        };
        let (before, behind) = (parts.char_filters, parts.filters);
        let own = json!({"char_filter": before, "tokenizer": tokenizer, "filter": behind});
        analyzers.insert(name.clone(), own);
    }
    if !analyzers.contains_key("default") {
        return Err(MilvusError::invalid(
            "default sub analyzer for language identifier analyzer must be set",
        ));
    }
    let names = part.get("mapping").cloned().unwrap_or_else(|| json!({}));
    if !names
        .as_object()
        .is_some_and(|names| names.values().all(Value::is_string))
    {
        return Err(MilvusError::invalid("mapping must be dict"));
    }
    Ok(json!({
        "type": "by_language",
        "analyzers": analyzers,
        "mapping": names,
        "confidence": confidence.cloned().unwrap_or_else(|| json!(0)),
    }))
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
