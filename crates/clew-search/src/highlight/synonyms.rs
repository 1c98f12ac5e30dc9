//! Texts with synonyms of several words: what stands in a row for one word is looked for as a phrase, not word by word.

use clew_analysis::Token;

use super::wanted::{Reader, Wanted};
use crate::query::{TokenPlace, places, ways};

impl Reader<'_> {
    /// The words of a text. What has more ways than a query may have clauses is refused before anything is found.
    pub(super) fn synonyms(&mut self, field: &str, tokens: &[Token], are_phrases: bool) {
        for place in places(tokens).unwrap_or_default() {
            match place {
                TokenPlace::Ways(ways) if are_phrases => {
                    for way in ways {
                        self.way(field, way, 0);
                    }
                }
                TokenPlace::Ways(ways) => {
                    for word in ways.into_iter().flatten() {
                        self.push(field, Wanted::Term(word));
                    }
                }
                TokenPlace::Words(words) => {
                    for word in words {
                        self.push(field, Wanted::Term(word));
                    }
                }
            }
        }
    }

    /// The ways through a phrase, each of which is one.
    pub(super) fn synonym_phrases(&mut self, field: &str, tokens: &[Token], slop: usize) {
        for way in ways(tokens).unwrap_or_default() {
            self.way(field, way, slop);
        }
    }

    fn way(&mut self, field: &str, terms: Vec<String>, slop: usize) {
        let what = match terms.as_slice() {
            [] => return,
            [only] => Wanted::Term(only.clone()),
            _ => Wanted::Phrase {
                terms,
                slop,
                open: false,
            },
        };
        self.push(field, what);
    }
}
