//! Words that stand for each other.

use std::collections::BTreeMap;

use super::part::Part;
use super::{Chain, Term};

/// Rules of one filter.
const RULES_MAX: usize = 100_000;

/// What sequences of words are replaced by.
#[derive(Clone, Debug, Default)]
pub(super) struct Synonyms {
    rules: BTreeMap<Vec<String>, Vec<Vec<String>>>,
    /// Words of the longest sequence.
    longest: usize,
}

impl Synonyms {
    /// Reads rules, whose words are analyzed as those of texts are by then.
    pub(super) fn compile(part: &Part<'_>, before: &Chain) -> Result<Self, String> {
        if part.text("synonyms_path").is_some() {
            return Err("[synonyms_path] is not supported, use [synonyms]".to_string());
        }
        let lines = part.lines("synonyms").unwrap_or_default();
        if lines.len() > RULES_MAX {
            return Err(format!("at most {RULES_MAX} synonyms are allowed"));
        }
        let expand = part.flag("expand", true)?;
        let mut synonyms = Synonyms::default();
        for line in lines.iter().map(|line| line.trim()) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let read = |side: &str| -> Vec<Vec<String>> {
                let words = |one: &str| -> Vec<String> {
                    let terms = before.run(one.trim());
                    terms.into_iter().map(|term| term.token.text).collect()
                };
                let all = side.split(',').map(words);
                all.filter(|words| !words.is_empty()).collect()
            };
            match line.split_once("=>") {
                Some((from, to)) => {
                    let to = read(to);
                    for from in read(from) {
                        synonyms.add(from, to.clone());
                    }
                }
                None => {
                    let all = read(line);
                    let to = if expand {
                        all.clone()
                    } else {
                        all.iter().take(1).cloned().collect()
                    };
                    for from in all {
                        synonyms.add(from, to.clone());
                    }
                }
            }
        }
        Ok(synonyms)
    }

    fn add(&mut self, from: Vec<String>, to: Vec<Vec<String>>) {
        self.longest = self.longest.max(from.len());
        let have = self.rules.entry(from).or_default();
        for words in to {
            if !have.contains(&words) {
                have.push(words);
            }
        }
    }

    pub(super) fn apply(&self, terms: Vec<Term>) -> Vec<Term> {
        let mut out = Vec::with_capacity(terms.len());
        let mut at = 0;
        while at < terms.len() {
            let found = (1..=self.longest.min(terms.len() - at))
                .rev()
                .find_map(|length| {
                    let words = &terms[at..at + length];
                    let words: Vec<String> = words.iter().map(|t| t.token.text.clone()).collect();
                    Some((length, self.rules.get(&words)?))
                });
            let Some((length, replacements)) = found else {
                out.push(terms[at].clone());
                at += 1;
                continue;
            };
            for words in replacements {
                for (step, word) in words.iter().enumerate() {
                    // Words of the text stay where they are as far as there are as many.
                    let origin = &terms[at + step.min(length - 1)];
                    let mut term = origin.clone();
                    if term.token.text != *word {
                        term.kind = "SYNONYM";
                    }
                    term.token.text = word.clone();
                    term.token.position = terms[at].token.position + step;
                    out.push(term);
                }
            }
            at += length;
        }
        out.sort_by_key(|term| term.token.position);
        out
    }
}
