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
        let given = part.list("stopwords");
        let given = given.unwrap_or_else(|| vec!["_english_".to_string()]);
        Ok(StopWords {
            removes_last: part.flag("remove_trailing", true)?,
            ..StopWords::of(given, part.flag("ignore_case", false)?)
        })
    }

    /// Words and names of lists.
    pub(super) fn of(given: Vec<String>, ignore_case: bool) -> Self {
        let mut stop = StopWords {
            words: BTreeSet::new(),
            lists: Vec::new(),
            ignore_case,
            removes_last: true,
        };
        for word in given {
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
        stop
    }

    /// The other terms, each at its place.
    pub(super) fn without(&self, mut terms: Vec<Term>) -> Vec<Term> {
        let last = if self.removes_last { 0 } else { terms.len() };
        let listed = self.among(&terms);
        let mut listed = (1..).zip(listed);
        terms.retain(|_| {
            let term = listed.next();
            term.is_none_or(|(at, is_listed)| at == last || !is_listed)
        });
        terms
    }

    /// Which of the terms are among the words.
    pub(super) fn among(&self, terms: &[Term]) -> Vec<bool> {
        // A list tells its words only by what it lets through.
        let lists = self.lists.iter().cloned();
        let mut lists: Vec<_> = lists
            .map(|list| list.transform(RawTokenizer::default()))
            .collect();
        let is_listed = |term: &Term| {
            let text = &term.token.text;
            let lower;
            let listed = if self.ignore_case {
                lower = text.to_lowercase();
                &lower
            } else {
                text
            };
            has(&self.words, text, self.ignore_case)
                || lists
                    .iter_mut()
                    .any(|list| !list.token_stream(listed).advance())
        };
        terms.iter().map(is_listed).collect()
    }
}
