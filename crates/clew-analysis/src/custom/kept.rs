//! Which terms are kept, and which of them stemmers leave alone because their stem is given.

use std::collections::{BTreeMap, BTreeSet};

use super::Term;
use super::part::Part;

/// Words, whose case may not matter.
#[derive(Clone)]
pub(super) struct Words {
    words: BTreeSet<String>,
    ignore_case: bool,
}

impl Words {
    pub(super) fn new(words: Vec<String>, ignore_case: bool) -> Self {
        let lowered = |word: String| {
            if ignore_case {
                crate::stream::lower(&word)
            } else {
                word
            }
        };
        Words {
            words: words.into_iter().map(lowered).collect(),
            ignore_case,
        }
    }

    pub(super) fn has(&self, text: &str) -> bool {
        if self.ignore_case {
            self.words.contains(&crate::stream::lower(text))
        } else {
            self.words.contains(text)
        }
    }
}

/// One filter of these.
#[derive(Clone)]
pub(super) enum Kept {
    /// `keep`: nothing but these words.
    Words(Words),
    /// `keep_types`: terms of these kinds alone, or all but them.
    Kinds {
        kinds: BTreeSet<String>,
        keeps: bool,
    },
    /// `stemmer_override`: stems by words.
    Stems(BTreeMap<String, String>),
}

impl Kept {
    /// The filter of a part; `None` where its type is none of these.
    ///
    /// # Errors
    /// A reason in OpenSearch's words, when a parameter is missing or makes no sense.
    pub(super) fn compile(part: &Part<'_>) -> Result<Option<Self>, String> {
        Ok(Some(match part.type_name() {
            "keep" => {
                let words = part.list("keep_words").ok_or(
                    "keep requires either `keep_words` or `keep_words_path` to be configured",
                )?;
                Kept::Words(Words::new(words, part.flag("keep_words_case", false)?))
            }
            "keep_types" => {
                let kinds = part.list("types");
                let kinds = kinds.ok_or("keep_types requires `types` to be configured")?;
                let keeps = match part.text("mode").as_deref() {
                    None | Some("include") => true,
                    Some("exclude") => false,
                    Some(other) => {
                        return Err(format!(
                            "`keep_types` tokenfilter mode can only be [include] or [exclude] but was [{other}]."
                        ));
                    }
                };
                Kept::Kinds {
                    kinds: kinds.into_iter().collect(),
                    keeps,
                }
            }
            "stemmer_override" => {
                let rules = part.lines("rules").ok_or(
                    "stemmer override filter requires either `rules` or `rules_path` to be configured",
                )?;
                Kept::Stems(stems(&rules)?)
            }
            _ => return Ok(None),
        }))
    }

    pub(super) fn apply(&self, mut terms: Vec<Term>) -> Vec<Term> {
        match self {
            Kept::Words(words) => terms.retain(|term| words.has(&term.token.text)),
            Kept::Kinds { kinds, keeps } => {
                terms.retain(|term| kinds.contains(term.kind) == *keeps);
            }
            Kept::Stems(stems) => {
                for term in terms.iter_mut().filter(|term| !term.is_keyword) {
                    if let Some(stem) = stems.get(&term.token.text) {
                        term.token.text.clone_from(stem);
                        term.is_keyword = true;
                    }
                }
            }
        }
        terms
    }
}

/// Rules like `running, runs => run`.
fn stems(rules: &[String]) -> Result<BTreeMap<String, String>, String> {
    let mut stems = BTreeMap::new();
    for (at, rule) in rules.iter().enumerate() {
        let invalid = || format!("Line [{}]: Invalid keyword override rule: {rule}", at + 1);
        let (words, stem) = rule.split_once("=>").ok_or_else(invalid)?;
        let stem = stem.trim();
        let words: Vec<&str> = words.split(',').map(str::trim).collect();
        if stem.is_empty() || stem.contains("=>") || words.contains(&"") {
            return Err(invalid());
        }
        for word in words {
            stems.insert(word.to_string(), stem.to_string());
        }
    }
    Ok(stems)
}

/// Without terms that were there before; their places go with them, unless terms of other places may be the same.
pub(super) fn unique(mut terms: Vec<Term>, only_same_position: bool) -> Vec<Term> {
    let mut seen = BTreeSet::new();
    if only_same_position {
        terms.retain(|term| seen.insert((term.token.position, term.token.text.clone())));
        return terms;
    }
    let mut gone = 0;
    let mut before = None;
    terms.retain_mut(|term| {
        let place = term.token.position;
        let step = before.map_or(place + 1, |before| place.saturating_sub(before));
        before = Some(place);
        let is_new = seen.insert((0, term.token.text.clone()));
        if !is_new {
            gone += step;
        }
        term.token.position = place.saturating_sub(gone);
        is_new
    });
    terms
}

/// All terms as one, each once and in their order; nothing where that is longer than it may be.
pub(super) fn fingerprint(terms: Vec<Term>, separator: &str, max: usize) -> Vec<Term> {
    let words: BTreeSet<&str> = terms.iter().map(|term| term.token.text.as_str()).collect();
    let text = words.into_iter().collect::<Vec<_>>().join(separator);
    let end = terms.last().map_or(0, |term| term.token.offset_to);
    let Some(mut term) = terms
        .into_iter()
        .next()
        .filter(|_| text.encode_utf16().count() <= max)
    else {
        return Vec::new();
    };
    term.token.text = text;
    term.kind = "fingerprint";
    term.token.offset_from = 0;
    term.token.offset_to = end;
    vec![term]
}
