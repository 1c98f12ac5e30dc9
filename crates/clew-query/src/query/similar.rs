//! Documents like given texts: what a protocol asks for.

use std::collections::BTreeMap;

use serde_json::Value;

use super::minimum::MinimumShouldMatch;
use super::named::LikeNamed;

/// Documents with the words that say most about some texts.
#[derive(Clone, Debug, PartialEq)]
pub struct MoreLikeThis {
    /// Field paths; none means every field of words.
    pub fields: Vec<String>,
    /// What they should be like.
    pub like: Vec<LikeItem>,
    /// Words in here do not count.
    pub unlike: Vec<LikeItem>,
    /// Which words count.
    pub choice: WordChoice,
    /// How many of the words must be found.
    pub minimum_should_match: MinimumShouldMatch,
    /// The factor on each word's weight; 0 weighs all words the same.
    pub boost_terms: f32,
    /// Another analyzer than the fields'.
    pub analyzer: Option<String>,
    /// Factor on the score.
    pub boost: f32,
}

/// A text, or a document.
#[derive(Clone, Debug, PartialEq)]
pub enum LikeItem {
    /// A text for every field.
    Text(String),
    /// A document of an index; what it holds takes its place.
    Named(LikeNamed),
    /// A document, whose fields are compared with the same fields.
    Document(LikeDocument),
}

/// A document to be like.
#[derive(Clone, Debug, PartialEq)]
pub struct LikeDocument {
    /// Its content.
    pub document: Value,
    /// Whether it is one of an index; of one that is not, all fields of words count, whichever are
    /// asked for.
    pub is_stored: bool,
    /// The analyzers of fields, where they are not the fields' own.
    pub analyzers: BTreeMap<String, String>,
}

/// Which words count.
#[derive(Clone, Debug, PartialEq)]
pub struct WordChoice {
    /// At most so many of each field, the weightiest first.
    pub query_terms_max: usize,
    /// In the texts at least so often.
    pub term_freq_min: u64,
    /// In at least so many documents.
    pub doc_freq_min: u64,
    /// In at most so many documents.
    pub doc_freq_max: u64,
    /// At least so many characters.
    pub word_length_min: usize,
    /// At most so many characters; 0 means any.
    pub word_length_max: usize,
    /// None of these.
    pub stop_words: Vec<String>,
}

impl Default for WordChoice {
    fn default() -> Self {
        WordChoice {
            query_terms_max: 25,
            term_freq_min: 2,
            doc_freq_min: 5,
            doc_freq_max: u64::MAX,
            word_length_min: 0,
            word_length_max: 0,
            stop_words: Vec::new(),
        }
    }
}

impl WordChoice {
    /// Whether a word is long and short enough, and none to be passed over.
    pub fn takes(&self, word: &str) -> bool {
        let length = word.chars().count();
        length >= self.word_length_min
            && (self.word_length_max == 0 || length <= self.word_length_max)
            && !self.stop_words.iter().any(|stop| stop == word)
    }
}

/// The texts at a path of a document, in arrays too.
pub fn texts_at<'a>(document: &'a Value, path: &str, found: &mut Vec<&'a Value>) {
    match document {
        Value::Array(values) => {
            for value in values {
                texts_at(value, path, found);
            }
        }
        Value::Object(object) => {
            if let Some(value) = object.get(path) {
                texts_at(value, "", found);
            }
            for (at, _) in path.match_indices('.') {
                if let Some(inner) = object.get(&path[..at]) {
                    texts_at(inner, &path[at + 1..], found);
                }
            }
        }
        Value::Null => {}
        scalar if path.is_empty() => found.push(scalar),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_found_through_arrays_and_dots() {
        let document = json!({
            "a": { "b": ["x", { "c": "no" }], "b.c": "y" },
            "a.b": "z",
        });
        let find = |path: &str| {
            let mut found = Vec::new();
            texts_at(&document, path, &mut found);
            found.into_iter().cloned().collect::<Vec<_>>()
        };
        assert_eq!(find("a.b"), [json!("z"), json!("x")]);
        assert_eq!(find("a.b.c"), [json!("y"), json!("no")]);
        assert!(find("q").is_empty());
    }
}
