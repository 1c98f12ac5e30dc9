//! Languages: the analyzers that go by their names, their stop words and stemmers.
//!
//! Stemmers are Snowball's, or light ones where Lucene's analyzer of a language has such a one.

use serde_json::{Value, json};
use tantivy::tokenizer::{Language, StopWordFilter};

use super::filter::Filter;
use super::light::Light;
use super::snowball::Snowball;

/// Languages with an analyzer of their own.
pub(super) const LANGUAGES: [&str; 34] = [
    "arabic",
    "armenian",
    "basque",
    "bengali",
    "brazilian",
    "bulgarian",
    "catalan",
    "cjk",
    "czech",
    "danish",
    "dutch",
    "english",
    "estonian",
    "finnish",
    "french",
    "german",
    "greek",
    "hindi",
    "hungarian",
    "indonesian",
    "irish",
    "italian",
    "latvian",
    "lithuanian",
    "norwegian",
    "persian",
    "portuguese",
    "romanian",
    "russian",
    "sorani",
    "spanish",
    "swedish",
    "thai",
    "turkish",
];

/// Languages whose articles lean on the next word, with an apostrophe.
const ELISIONS: [(&str, &[&str]); 4] = [
    ("catalan", &["d", "l", "m", "n", "s", "t"]),
    ("french", &ARTICLES),
    ("irish", &["d", "m", "b"]),
    (
        "italian",
        &[
            "c", "l", "all", "dall", "dell", "nell", "sull", "coll", "pell", "gl", "agl", "dagl",
            "degl", "negl", "sugl", "un", "m", "t", "s", "v", "d",
        ],
    ),
];

/// Articles that French joins to words.
pub(super) const ARTICLES: [&str; 13] = [
    "l", "m", "t", "qu", "n", "s", "j", "d", "c", "jusqu", "quoiqu", "lorsqu", "puisqu",
];

/// The parts of a language's analyzer; `stopwords` in place of its own where they are given.
pub(super) fn parts(
    language: &str,
    stopwords: Option<&Value>,
    exclusions: Option<&Value>,
) -> Value {
    let mut filters = before_stopping(language);
    match stopwords {
        Some(given) => filters.push(json!({"type": "stop", "stopwords": given})),
        None if stop_words(language).is_some() => {
            filters.push(json!({"type": "stop", "stopwords": format!("_{language}_")}));
        }
        None => {}
    }
    if language == "arabic" {
        filters.push(json!({"type": "arabic_normalization"}));
    }
    if let Some(words) = exclusions {
        // What is left out of stemming is written as the text has it.
        let spelled = |filter: &Value| filter["type"] == "indic_normalization";
        let at = filters.iter().position(spelled).unwrap_or(filters.len());
        filters.insert(at, json!({"type": "keyword_marker", "keywords": words}));
    }
    if language == "german" {
        filters.push(json!({"type": "german_normalization"}));
    }
    let stemmer = match language {
        "french" | "german" | "italian" | "portuguese" | "spanish" => format!("light_{language}"),
        other => other.to_string(),
    };
    if !matches!(language, "cjk" | "persian" | "thai") {
        filters.push(json!({"type": "stemmer", "language": stemmer}));
    }
    let tokenizer = if language == "thai" {
        "thai"
    } else {
        "standard"
    };
    let mut parts = json!({"tokenizer": {"type": tokenizer}, "filter": filters});
    if language == "persian" {
        // What joins no letters parts words.
        let apart = json!({"type": "mapping", "mappings": ["\\u200C=>\\u0020"]});
        parts["char_filter"] = json!([apart]);
    }
    parts
}

/// The parts of the analyzer `snowball`: a stemmer by its name, with the stop words of a few languages unless others are given.
pub(super) fn snowball_parts(language: &str, stopwords: Option<&Value>) -> Value {
    let mut filters = Vec::new();
    if matches!(language, "English" | "Porter" | "Lovins") {
        filters.push(json!({"type": "stemmer", "language": "possessive_english"}));
    }
    filters.push(json!({"type": "lowercase"}));
    let own = match language {
        "English" => Some("_english_"),
        "Dutch" => Some("_dutch_"),
        "German" | "German2" => Some("_german_"),
        "French" => Some("_french_"),
        _ => None,
    };
    if let Some(words) = stopwords.cloned().or_else(|| own.map(Value::from)) {
        filters.push(json!({"type": "stop", "stopwords": words}));
    }
    filters.push(json!({"type": "snowball", "language": language}));
    json!({"tokenizer": {"type": "standard"}, "filter": filters})
}

/// What is made of words before any is left out.
fn before_stopping(language: &str) -> Vec<Value> {
    let mut filters = Vec::new();
    if language == "english" {
        filters.push(json!({"type": "stemmer", "language": "possessive_english"}));
    }
    if language == "irish" {
        // What stands before a word with a hyphen.
        let before = ["h", "n", "t"];
        filters.push(json!({"type": "stop", "stopwords": before, "ignore_case": true}));
    }
    if let Some((_, articles)) = ELISIONS.iter().find(|(name, _)| *name == language) {
        filters.push(json!({"type": "elision", "articles": articles, "articles_case": true}));
    }
    let more: &[&str] = match language {
        "turkish" => &["apostrophe"],
        "cjk" => &["cjk_width"],
        "sorani" => &["sorani_normalization"],
        _ => &[],
    };
    filters.extend(more.iter().map(|kind| json!({"type": kind})));
    filters.push(json!({"type": "lowercase", "language": language}));
    let more: &[&str] = match language {
        "cjk" => &["cjk_bigram"],
        "arabic" | "sorani" | "thai" => &["decimal_digit"],
        "bengali" => &[
            "decimal_digit",
            "indic_normalization",
            "bengali_normalization",
        ],
        "hindi" => &[
            "decimal_digit",
            "indic_normalization",
            "hindi_normalization",
        ],
        "persian" => &[
            "decimal_digit",
            "arabic_normalization",
            "persian_normalization",
        ],
        _ => &[],
    };
    filters.extend(more.iter().map(|kind| json!({"type": kind})));
    filters
}

/// Words of a language that say little; `None` where there is no list.
pub(super) fn stop_words(language: &str) -> Option<StopWordFilter> {
    StopWordFilter::new(match language {
        "danish" => Language::Danish,
        "dutch" => Language::Dutch,
        "english" => Language::English,
        "finnish" => Language::Finnish,
        "french" => Language::French,
        "german" => Language::German,
        "hungarian" => Language::Hungarian,
        "italian" => Language::Italian,
        "norwegian" => Language::Norwegian,
        "portuguese" => Language::Portuguese,
        "russian" => Language::Russian,
        "spanish" => Language::Spanish,
        "swedish" => Language::Swedish,
        other => {
            let words = super::stop_words::list(other)?;
            let words = words.split_whitespace().map(str::to_string);
            return Some(StopWordFilter::remove(words));
        }
    })
}

/// The stemmer of a language, under the names that stemmers go by.
pub(super) fn stemmer(name: &str) -> Result<Filter, String> {
    let lower = name.to_lowercase();
    let name = match lower.as_str() {
        "dutchkp" => "kp".to_string(),
        _ => in_words(&lower).unwrap_or(lower),
    };
    if name == "possessive_english" {
        return Ok(Filter::Possessive);
    }
    if let Some(stemmer) = Light::named(&name) {
        return Ok(Filter::LightStem(stemmer));
    }
    snowball(match name.as_str() {
        // What is called English is Porter's first algorithm; his second is `porter2`.
        "porter2" => "english",
        "dutch_kp" => "kp",
        light if light.starts_with("light_") || light.starts_with("minimal_") => {
            return Err(format!("the stemmer [{name}] is not known"));
        }
        other => other,
    })
}

/// The name of today of a stemmer that is called as those were first: `lightgerman` is `light_german`.
fn in_words(name: &str) -> Option<String> {
    ["light", "minimal", "possessive"].iter().find_map(|kind| {
        let language = name.strip_prefix(*kind)?;
        let is_joined = language.starts_with(|letter: char| letter.is_ascii_lowercase());
        is_joined.then(|| format!("{kind}_{language}"))
    })
}

/// Snowball's stemmer of this name.
pub(super) fn snowball(name: &str) -> Result<Filter, String> {
    Snowball::named(name).map(Filter::Stem)
}

#[cfg(test)]
mod tests;
