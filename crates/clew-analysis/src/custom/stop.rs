//! Words that are left out: those of settings, and those of languages.

use std::collections::BTreeSet;

use tantivy::tokenizer::{RawTokenizer, StopWordFilter, TokenFilter, TokenStream, Tokenizer};

use super::filter::has;
use super::part::Part;
use super::{Term, language};

/// Words that are left out.
#[derive(Clone)]
pub(super) struct StopWords {
    words: BTreeSet<String>,
    /// Those of languages.
    lists: Vec<StopWordFilter>,
    ignore_case: bool,
    /// Whether the last word of a text stays: a user may still be typing it.
    removes_last: bool,
}

impl StopWords {
    pub(super) fn compile(part: &Part<'_>) -> Result<Self, String> {
        let mut stop = StopWords {
            words: BTreeSet::new(),
            lists: Vec::new(),
            ignore_case: part.flag("ignore_case", false)?,
            removes_last: part.flag("remove_trailing", true)?,
        };
        let given = part.list("stopwords");
        for word in given.unwrap_or_else(|| vec!["_english_".to_string()]) {
            match word
                .strip_prefix('_')
                .and_then(|rest| rest.strip_suffix('_'))
            {
                Some("none") => {}
                // What names no list is a word like others.
                list => match list.and_then(language::stop_words) {
                    Some(list) => stop.lists.push(list),
                    None => {
                        stop.words.insert(word);
                    }
                },
            }
        }
        Ok(stop)
    }

    /// The other terms, each at its place.
    pub(super) fn without(&self, mut terms: Vec<Term>) -> Vec<Term> {
        // A list tells its words only by what it lets through.
        let lists = self.lists.iter().cloned();
        let mut lists: Vec<_> = lists
            .map(|list| list.transform(RawTokenizer::default()))
            .collect();
        let last = if self.removes_last { 0 } else { terms.len() };
        let mut at = 0;
        terms.retain(|term| {
            at += 1;
            let text = &term.token.text;
            let lower;
            let listed = if self.ignore_case {
                lower = text.to_lowercase();
                &lower
            } else {
                text
            };
            at == last
                || !has(&self.words, text, self.ignore_case)
                    && lists
                        .iter_mut()
                        .all(|list| list.token_stream(listed).advance())
        });
        terms
    }
}
