//! Documents like given texts: what a protocol asks for.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use serde_json::Value;

use super::minimum::MinimumShouldMatch;
use super::named::LikeNamed;

/// Documents with the words that say most about some texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Whether fields without words are passed over, which are refused otherwise.
    #[serde(default)]
    pub passes_over_others: bool,
    /// Factor on the score.
    pub boost: f32,
}

/// A text, or a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LikeItem {
    /// A text for every field.
    Text(String),
    /// A document of an index; what it holds takes its place.
    Named(LikeNamed),
    /// A document, whose fields are compared with the same fields.
    Document(LikeDocument),
}

/// A document to be like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
