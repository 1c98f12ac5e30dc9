use serde_json::json;

use super::*;

#[track_caller]
fn told(key: &str, part: Value, reason: &str) {
    let said = check(key, &part, PartLimits::default()).err();
    let said = said.unwrap_or_default();
    let is_told = said.starts_with(reason) && said.is_empty() == reason.is_empty();
    assert!(is_told, "{part}: {said}");
}

#[test]
fn what_parts_must_say_is_told() {
    for (part, reason) in [
        (
            json!({"type": "truncate"}),
            "length parameter must be provided",
        ),
        (json!({"type": "truncate", "length": 3}), ""),
        (json!({"type": "lowercase", "language": "irish"}), ""),
        (json!({"type": "lowercase"}), ""),
        (
            json!({"type": "lowercase", "language": "dutch"}),
            "language [dutch] not support",
        ),
        (
            json!({"type": "condition", "filter": []}),
            "Empty list of filters",
        ),
        (json!({"type": "condition", "filter": ["lowercase"]}), ""),
        (json!({"type": "elision"}), "elision filter requires"),
        (json!({"type": "synonym"}), "synonym requires either"),
        (json!({"type": "synonym_graph", "synonyms": []}), ""),
        (json!({"type": "keyword_marker"}), "keyword filter requires"),
        (
            json!({"type": "keyword_marker", "keywords": "a", "keywords_pattern": "b"}),
            "cannot specify both",
        ),
        (
            json!({"type": "limit", "max_token_count": 0}),
            "maxTokenCount must be",
        ),
        (
            json!({"type": "length", "min": 3, "max": "2"}),
            "maximum length",
        ),
        (
            json!({"type": "fingerprint", "separator": ""}),
            "Setting [separator]",
        ),
    ] {
        told("filter", part, reason);
    }
    told(
        "char_filter",
        json!({"type": "mapping"}),
        "mapping requires",
    );
    told("char_filter", json!({"type": "html_strip"}), "");
    let path = json!({"type": "path_hierarchy", "delimiter": "ab"});
    told("tokenizer", path, "delimiter must be");
    for (kind, length, reason) in [
        ("standard", 0, "maxTokenLength must be greater than zero"),
        (
            "standard",
            2_000_000,
            "maxTokenLength may not exceed 1048576",
        ),
        ("classic", 2_000_000, ""),
        (
            "char_group",
            -1,
            "maxTokenLen must be greater than 0 and less than 1048576 passed: -1",
        ),
        ("whitespace", 5, ""),
    ] {
        let part = json!({"type": kind, "max_token_length": length});
        told("tokenizer", part, reason);
    }
}

#[test]
fn mappings_of_characters_replace_each_text_once() {
    for (rules, reason) in [
        (json!(["a=>b", "b => c", "\\u0061b => d"]), ""),
        (
            json!(["a => b", "\\u0061=>c"]),
            "match \"a\" was already added",
        ),
        (json!(["=> b"]), "cannot match the empty string"),
    ] {
        let part = json!({"type": "mapping", "mappings": rules});
        told("char_filter", part, reason);
    }
}

#[test]
fn filters_by_files_say_what_they_lack() {
    for (part, reason) in [
        (
            json!({"type": "stop", "stopwords_path": "x"}),
            "IOException while reading stopwords_path: file not readable",
        ),
        (
            json!({"type": "keep", "keep_words": ["a"], "keep_words_path": "x"}),
            "IOException while reading keep_words_path",
        ),
        (json!({"type": "hunspell"}), "missing [locale |"),
        (
            json!({"type": "hunspell", "lang": "de"}),
            "Failed to load hunspell dictionary for locale: de",
        ),
        (
            json!({"type": "hyphenation_decompounder"}),
            "word_list must be provided",
        ),
        (
            json!({"type": "hyphenation_decompounder", "word_list": ["a"]}),
            "hyphenation_patterns_path is a required setting.",
        ),
        (
            json!({"type": "hyphenation_decompounder", "word_list": ["a"], "hyphenation_patterns_path": "x"}),
            "Exception while reading hyphenation_patterns_path.",
        ),
    ] {
        told("filter", part, reason);
    }
}

#[test]
fn lengths_are_not_too_far_apart() {
    for (part, reason) in [
        (
            json!({"type": "shingle", "max_shingle_size": 6}),
            "In Shingle TokenFilter",
        ),
        (
            json!({"type": "shingle", "max_shingle_size": 5, "output_unigrams": false}),
            "",
        ),
        (
            json!({"type": "shingle", "max_shingle_size": 1}),
            "Max shingle size",
        ),
        (
            json!({"type": "ngram", "max_gram": 4}),
            "The difference between max_gram",
        ),
        (
            json!({"type": "ngram", "min_gram": "3", "max_gram": "4"}),
            "",
        ),
        (
            json!({"type": "edge_ngram", "min_gram": 1, "max_gram": 20}),
            "",
        ),
        (
            json!({"type": "edge_ngram", "min_gram": 3, "max_gram": 2}),
            "minGram must not be",
        ),
    ] {
        told("filter", part, reason);
    }
}
