//! What parts of analyzers must say, and how far their numbers may be apart. It is asked for where an index is made or an
//! analyzer put together; what is kept already is read as it is.

use std::collections::BTreeSet;

use serde_json::Value;

use super::char_filter::unescaped;
use super::lower_case::LowerCase;
use super::part::Part;

/// Longest terms that a tokenizer may be asked for, in UTF-16 units.
const TOKEN_LENGTH_LIMIT: i64 = 1_048_576;

/// How far the longest and the shortest pieces of words may be apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartLimits {
    /// Of `ngram`, in letters.
    pub ngram_diff: i64,
    /// Of `shingle`, in words; single words count as one more.
    pub shingle_diff: i64,
}

impl Default for PartLimits {
    fn default() -> Self {
        PartLimits {
            ngram_diff: 1,
            shingle_diff: 3,
        }
    }
}

/// Says what a part by its name alone, without parameters, lacks.
pub(super) fn check_name(key: &str, name: &str) -> Result<(), String> {
    let wants = match key {
        "filter" => matches!(
            name,
            "condition"
                | "dictionary_decompounder"
                | "hunspell"
                | "hyphenation_decompounder"
                | "keep"
                | "keep_types"
                | "keyword_marker"
                | "pattern_capture"
                | "pattern_replace"
                | "predicate_token_filter"
                | "stemmer_override"
                | "synonym"
                | "synonym_graph"
        ),
        "char_filter" => matches!(name, "mapping" | "pattern_replace"),
        _ => false,
    };
    if wants {
        return Err("Analysis settings required - can't instantiate analysis factory".to_string());
    }
    Ok(())
}

/// Whether a part changes letters one by one, as parts of normalizers must.
pub(super) fn is_of_letters(key: &str, part: &Value) -> bool {
    let kind = Part::new(part).type_name();
    match key {
        "char_filter" => matches!(kind, "mapping" | "pattern_replace"),
        _ => matches!(
            kind,
            "arabic_normalization"
                | "asciifolding"
                | "bengali_normalization"
                | "cjk_width"
                | "decimal_digit"
                | "elision"
                | "german_normalization"
                | "hindi_normalization"
                | "icu_folding"
                | "icu_normalizer"
                | "indic_normalization"
                | "lowercase"
                | "persian_normalization"
                | "scandinavian_folding"
                | "scandinavian_normalization"
                | "serbian_normalization"
                | "sorani_normalization"
                | "trim"
                | "uppercase"
        ),
    }
}

/// Files that parts may name for their words. There are none here: with a list of its own in their place, a part would
/// do something else than it was told.
const FILES: [&str; 11] = [
    "articles_path",
    "common_words_path",
    "keep_words_path",
    "keywords_path",
    "mappings_path",
    "protected_words_path",
    "rules_path",
    "stem_exclusion_path",
    "stopwords_path",
    "type_table_path",
    "word_list_path",
];

/// Refuses a part, or an analyzer, that reads words from a file.
fn without_file(part: &Part<'_>) -> Result<(), String> {
    match FILES.iter().find(|file| part.is_given(file)) {
        Some(file) => Err(format!(
            "IOException while reading {file}: file not readable"
        )),
        None => Ok(()),
    }
}

/// Checks a part, `filter`, `tokenizer` or `char_filter` by its key, or an `analyzer`.
///
/// # Errors
/// A reason in OpenSearch's words, when a parameter is missing or out of bounds.
pub(super) fn check(key: &str, part: &Value, limits: PartLimits) -> Result<(), String> {
    let part = Part::new(part);
    without_file(&part)?;
    match (key, part.type_name()) {
        ("filter" | "tokenizer", "ngram" | "nGram") => pieces(&part, Some(limits.ngram_diff)),
        ("filter" | "tokenizer", "edge_ngram" | "edgeNGram") => pieces(&part, None),
        ("filter", _) => filter(&part, limits),
        ("tokenizer", "path_hierarchy" | "PathHierarchy") => {
            one_letter(&part, "delimiter")?;
            one_letter(&part, "replacement")
        }
        (
            "tokenizer",
            kind @ ("standard" | "classic" | "uax_url_email" | "whitespace" | "char_group"),
        ) => token_length(&part, kind),
        ("char_filter", "mapping") if !has(&part, &["mappings", "mappings_path"]) => Err(
            "mapping requires either `mappings` or `mappings_path` to be configured".to_string(),
        ),
        ("char_filter", "mapping") => mappings(&part),
        _ => Ok(()),
    }
}

/// Rules of which each replaces a text of its own. What is no rule is told where it is read.
fn mappings(part: &Part<'_>) -> Result<(), String> {
    let mut before = BTreeSet::new();
    for rule in part.lines("mappings").unwrap_or_default() {
        let from = rule.rsplit_once("=>");
        let Some(from) = from.and_then(|(from, _)| unescaped(from.trim())) else {
            continue;
        };
        if from.is_empty() {
            return Err("cannot match the empty string".to_string());
        }
        if before.contains(&from) {
            return Err(format!("match \"{from}\" was already added"));
        }
        before.insert(from);
    }
    Ok(())
}

fn filter(part: &Part<'_>, limits: PartLimits) -> Result<(), String> {
    let wrong = match part.type_name() {
        "shingle" => return shingles(part, limits.shingle_diff),
        "lowercase" => {
            let language = part.text("language");
            return match language.filter(|language| LowerCase::named(language).is_none()) {
                Some(other) => Err(format!("language [{other}] not support for lower case")),
                None => Ok(()),
            };
        }
        "truncate" if !has(part, &["length"]) => "length parameter must be provided",
        "truncate" if number(part, "length", 1) < 1 => "length parameter must be a positive number",
        "elision" if !has(part, &["articles", "articles_path"]) => {
            "elision filter requires [articles] or [articles_path] setting"
        }
        "synonym" | "synonym_graph" if !has(part, &["synonyms", "synonyms_path"]) => {
            "synonym requires either `synonyms` or `synonyms_path` to be configured"
        }
        "keyword_marker" => {
            let has_words = has(part, &["keywords", "keywords_path"]);
            match (has_words, has(part, &["keywords_pattern"])) {
                (true, true) => {
                    "cannot specify both `keywords_pattern` and `keywords` or `keywords_path`"
                }
                (false, false) => {
                    "keyword filter requires either `keywords`, `keywords_path`, or `keywords_pattern` to be configured"
                }
                _ => return Ok(()),
            }
        }
        "limit" if number(part, "max_token_count", 1) < 1 => {
            "maxTokenCount must be greater than zero"
        }
        "length" if number(part, "min", 0) < 0 => {
            "minimum length must be greater than or equal to zero"
        }
        "length" if number(part, "max", i64::MAX) < number(part, "min", 0) => {
            "maximum length must not be greater than minimum length"
        }
        "condition" if part.list("filter").is_none_or(|filters| filters.is_empty()) => {
            "Empty list of filters provided to tokenfilter [condition]"
        }
        "hunspell" | "hyphenation_decompounder" => return without_files(part),
        "fingerprint" => {
            let separator = part.text("separator").unwrap_or_else(|| " ".to_string());
            if separator.chars().count() == 1 {
                return Ok(());
            }
            return Err(format!(
                "Setting [separator] must be a single, non-null character. [{separator}] was provided."
            ));
        }
        _ => return Ok(()),
    };
    Err(wrong.to_string())
}

/// What a filter by dictionaries that lie in files lacks: there are no such files here.
fn without_files(part: &Part<'_>) -> Result<(), String> {
    let kind = part.type_name();
    let names = ["locale", "language", "lang"];
    let locale = names.iter().find_map(|name| part.text(name));
    Err(match (kind, locale) {
        ("hunspell", Some(locale)) => {
            format!("Failed to load hunspell dictionary for locale: {locale}")
        }
        ("hunspell", None) => {
            "missing [locale | language | lang] configuration for hunspell token filter".to_string()
        }
        _ if !has(part, &["word_list", "word_list_path"]) => format!(
            "word_list must be provided for [{kind}], either as a path to a file, or directly"
        ),
        _ if !has(part, &["hyphenation_patterns_path"]) => {
            "hyphenation_patterns_path is a required setting.".to_string()
        }
        _ => "Exception while reading hyphenation_patterns_path.".to_string(),
    })
}

/// Pieces of words, whose lengths may be so far apart.
fn pieces(part: &Part<'_>, diff_max: Option<i64>) -> Result<(), String> {
    let min = number(part, "min_gram", 1);
    let max = number(part, "max_gram", 2);
    let diff = max.saturating_sub(min);
    if let Some(most) = diff_max.filter(|most| diff > *most) {
        return Err(format!(
            "The difference between max_gram and min_gram in NGram Tokenizer must be less than or equal to: [{most}] but \
             was [{diff}]. This limit can be set by changing the [index.max_ngram_diff] index level setting."
        ));
    }
    if min < 1 {
        return Err("minGram must be greater than zero".to_string());
    }
    // Alone, `max_gram` has no default below `min_gram` here.
    if has(part, &["max_gram"]) && min > max {
        return Err("minGram must not be greater than maxGram".to_string());
    }
    Ok(())
}

fn shingles(part: &Part<'_>, diff_max: i64) -> Result<(), String> {
    let max = number(part, "max_shingle_size", 2);
    let min = number(part, "min_shingle_size", 2);
    let words = i64::from(part.flag("output_unigrams", true)?);
    let diff = max.saturating_sub(min).saturating_add(words);
    if diff > diff_max {
        return Err(format!(
            "In Shingle TokenFilter the difference between max_shingle_size and min_shingle_size (and +1 if outputting \
             unigrams) must be less than or equal to: [{diff_max}] but was [{diff}]. This limit can be set by changing the \
             [index.max_shingle_diff] index level setting."
        ));
    }
    let wrong = if max < 2 {
        "Max shingle size must be >= 2"
    } else if min < 2 {
        "Min shingle size must be >= 2"
    } else if min > max {
        "Min shingle size must be <= max shingle size"
    } else {
        return Ok(());
    };
    Err(wrong.to_string())
}

/// How long a tokenizer lets its terms be.
fn token_length(part: &Part<'_>, kind: &str) -> Result<(), String> {
    let most = number(part, "max_token_length", 1);
    let is_too_long = most > TOKEN_LENGTH_LIMIT;
    Err(match kind {
        "whitespace" | "char_group" if most < 1 || is_too_long => format!(
            "maxTokenLen must be greater than 0 and less than {TOKEN_LENGTH_LIMIT} passed: {most}"
        ),
        "whitespace" | "char_group" => return Ok(()),
        _ if most < 1 => "maxTokenLength must be greater than zero".to_string(),
        "standard" | "uax_url_email" if is_too_long => {
            format!("maxTokenLength may not exceed {TOKEN_LENGTH_LIMIT}")
        }
        _ => return Ok(()),
    })
}

fn one_letter(part: &Part<'_>, key: &str) -> Result<(), String> {
    match part.text(key) {
        Some(text) if text.chars().count() != 1 => Err(format!("{key} must be a one char value")),
        _ => Ok(()),
    }
}

/// Whether a part has one of these parameters.
fn has(part: &Part<'_>, keys: &[&str]) -> bool {
    keys.iter().any(|key| part.is_given(key))
}

/// A number; what is none is told by those who read it.
fn number(part: &Part<'_>, key: &str, usual: i64) -> i64 {
    let written = part.text(key);
    written.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[cfg(test)]
mod tests;
