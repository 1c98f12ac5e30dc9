//! Terms beside a term: the words that it is made of, what patterns find in it, pairs with its neighbours, and what
//! several chains of filters make of it.

use std::collections::BTreeSet;
use std::ops::Range;

use tantivy::tokenizer::Token;

use super::filter::Filter;
use super::part::Part;
use super::room::Room;
use super::shingle::Behind;
use super::stop::StopWords;
use super::unicode::ascii_folded;
use super::{Chain, Term};
use crate::java_pattern::{JavaPattern, each_match, java_pattern};

/// Longest word that is looked for parts, in characters; longer ones are left as they are.
const COMPOUND_MAX: usize = 255;
/// Most patterns of a `pattern_capture`, and most chains of a `multiplexer`.
const LIST_MAX: usize = 100;
/// The parameter in which the settings hand over the filters that a `multiplexer` names.
pub(super) const CHAINS: &str = "chains";

/// One filter of these.
#[derive(Clone)]
pub(super) enum Beside {
    /// `keyword_repeat`: each term twice, once for stemmers and once not.
    Twice,
    /// `dictionary_decompounder`.
    Compounds(Compounds),
    /// `common_grams`.
    Pairs(CommonPairs),
    /// `pattern_capture`.
    Groups(Groups),
    /// `multiplexer`.
    Chains {
        chains: Vec<Vec<Filter>>,
        keeps_term: bool,
    },
}

impl Beside {
    /// The filter of a part; `None` where its type is none of these. `before` is what terms went through before it.
    ///
    /// # Errors
    /// A reason in OpenSearch's words, when a parameter is missing or makes no sense.
    pub(super) fn compile(part: &Part<'_>, before: &Chain) -> Result<Option<Self>, String> {
        Ok(Some(match part.type_name() {
            "keyword_repeat" => Beside::Twice,
            "dictionary_decompounder" => Beside::Compounds(Compounds::compile(part)?),
            "common_grams" => Beside::Pairs(CommonPairs::compile(part)?),
            "pattern_capture" => Beside::Groups(Groups::compile(part)?),
            "multiplexer" => Beside::chains(part, before)?,
            _ => return Ok(None),
        }))
    }

    fn chains(part: &Part<'_>, before: &Chain) -> Result<Self, String> {
        let written = part.inner(CHAINS);
        if written.len() > LIST_MAX {
            return Err(format!("[multiplexer] takes {LIST_MAX} chains at most"));
        }
        let mut chains = Vec::with_capacity(written.len());
        for chain in written {
            let mut filters = Vec::new();
            for filter in chain.as_array().into_iter().flatten() {
                let filter = Part::new(filter);
                if filter.type_name() == "multiplexer" {
                    return Err("a [multiplexer] cannot be part of another one".to_string());
                }
                filters.push(Filter::compile(&filter, before)?);
            }
            chains.push(filters);
        }
        Ok(Beside::Chains {
            chains,
            keeps_term: part.flag("preserve_original", true)?,
        })
    }

    pub(super) fn apply(&self, terms: Vec<Term>) -> Vec<Term> {
        match self {
            Beside::Twice => twice(terms),
            Beside::Compounds(compounds) => {
                let keeps_term = true;
                with_parts(terms, keeps_term, |text| compounds.parts(text))
            }
            Beside::Groups(groups) => {
                with_parts(terms, groups.keeps_term, |text| groups.found(text))
            }
            Beside::Pairs(pairs) => pairs.apply(&terms),
            Beside::Chains { chains, keeps_term } => through(chains, *keeps_term, terms),
        }
    }
}

/// Each term in ASCII, and as it was where that is another.
pub(super) fn folded_beside(terms: Vec<Term>) -> Vec<Term> {
    let mut out = Vec::with_capacity(terms.len());
    for term in terms {
        let text = ascii_folded(&term.token.text);
        if text != term.token.text {
            let mut ascii = term.clone();
            ascii.token.text = text;
            out.push(ascii);
        }
        out.push(term);
    }
    out
}

fn twice(terms: Vec<Term>) -> Vec<Term> {
    let mut out = Vec::with_capacity(terms.len() * 2);
    for term in terms {
        let mut kept = term.clone();
        kept.is_keyword = true;
        out.push(kept);
        out.push(term);
    }
    out
}

/// The terms, each with parts of its text behind it at the same place; or the parts alone, where there are any.
fn with_parts(
    terms: Vec<Term>,
    keeps_term: bool,
    parts: impl Fn(&str) -> Vec<Range<usize>>,
) -> Vec<Term> {
    let mut out = Vec::with_capacity(terms.len());
    let mut room = Room::for_terms(&terms);
    for term in terms {
        let found = parts(&term.token.text).into_iter();
        let found: Vec<Term> = found
            .take_while(|range| room.takes(range.len()))
            .map(|range| with_text(&term, term.token.text[range].to_string()))
            .collect();
        if keeps_term || found.is_empty() {
            out.push(term);
        }
        out.extend(found);
    }
    out
}

/// A term with another text.
fn with_text(term: &Term, text: String) -> Term {
    Term {
        token: Token {
            text,
            offset_from: term.token.offset_from,
            offset_to: term.token.offset_to,
            position: term.token.position,
            position_length: term.token.position_length,
        },
        is_keyword: term.is_keyword,
        kind: term.kind,
    }
}

/// What each chain makes of each term by itself; of equal terms at one place the first.
fn through(chains: &[Vec<Filter>], keeps_term: bool, terms: Vec<Term>) -> Vec<Term> {
    let mut out = Vec::with_capacity(terms.len());
    for term in terms {
        let mut made = Vec::new();
        for chain in chains {
            let mut own = vec![term.clone()];
            for filter in chain {
                own = filter.apply(own, Behind::default());
            }
            made.extend(own);
        }
        let mut seen = BTreeSet::new();
        let whole = keeps_term.then_some(term);
        let all = whole.into_iter().chain(made);
        out.extend(all.filter(|term| seen.insert((term.token.position, term.token.text.clone()))));
    }
    out
}

/// Words of a list inside of longer ones.
#[derive(Clone)]
pub(super) struct Compounds {
    words: BTreeSet<String>,
    word_min: usize,
    sizes: Range<usize>,
    only_longest: bool,
}

impl Compounds {
    fn compile(part: &Part<'_>) -> Result<Self, String> {
        let words = part.list("word_list").ok_or(
            "word_list must be provided for [dictionary_decompounder], either as a path to a file, or directly",
        )?;
        let min = part.number("min_subword_size", 2, 1..=COMPOUND_MAX)?;
        let max = part.number("max_subword_size", 15, 1..=COMPOUND_MAX)?;
        Ok(Compounds {
            words: words.into_iter().collect(),
            word_min: part.number("min_word_size", 5, 0..=usize::MAX)?,
            sizes: min..max + 1,
            only_longest: part.flag("only_longest_match", false)?,
        })
    }

    /// Where words of the list lie, by their beginnings and then by length.
    fn parts(&self, word: &str) -> Vec<Range<usize>> {
        let mut places: Vec<usize> = word.char_indices().map(|(at, _)| at).collect();
        let length = places.len();
        if length < self.word_min || length > COMPOUND_MAX {
            return Vec::new();
        }
        places.push(word.len());
        let mut found = Vec::new();
        for start in 0..length {
            let mut longest = None;
            for size in self.sizes.clone() {
                let Some(end) = places.get(start + size) else {
                    break;
                };
                let range = places[start]..*end;
                if !self.words.contains(&word[range.clone()]) {
                    continue;
                }
                if self.only_longest {
                    longest = Some(range);
                } else {
                    found.push(range);
                }
            }
            found.extend(longest);
        }
        found
    }
}

/// Pairs of words, one of which is a common one.
#[derive(Clone)]
pub(super) struct CommonPairs {
    words: StopWords,
    /// Whether words that are in a pair are left out, as queries want it.
    only_pairs: bool,
}

impl CommonPairs {
    fn compile(part: &Part<'_>) -> Result<Self, String> {
        let words = part.list("common_words").filter(|words| !words.is_empty()).ok_or(
            "missing or empty [common_words] or [common_words_path] configuration for common_grams token filter",
        )?;
        Ok(CommonPairs {
            words: StopWords::of(words, part.flag("ignore_case", false)?),
            only_pairs: part.flag("query_mode", false)?,
        })
    }

    fn apply(&self, terms: &[Term]) -> Vec<Term> {
        let common = self.words.among(terms);
        let is_common = |at: usize| common.get(at).is_some_and(|common| *common);
        let mut out = Vec::with_capacity(terms.len());
        let mut was_paired = false;
        for (at, term) in terms.iter().enumerate() {
            let next = terms.get(at + 1);
            let pair = next.filter(|_| is_common(at) || is_common(at + 1));
            let is_inside = pair.is_some() || next.is_none() && was_paired;
            if !(self.only_pairs && is_inside) {
                out.push(term.clone());
            }
            if let Some(next) = pair {
                let text = format!("{}_{}", term.token.text, next.token.text);
                let mut both = with_text(term, text);
                both.token.offset_to = next.token.offset_to;
                both.token.position_length = if self.only_pairs { 1 } else { 2 };
                both.kind = "gram";
                out.push(both);
            }
            was_paired = pair.is_some();
        }
        out
    }
}

/// What groups of patterns match.
#[derive(Clone)]
pub(super) struct Groups {
    patterns: Vec<JavaPattern>,
    keeps_term: bool,
}

impl Groups {
    fn compile(part: &Part<'_>) -> Result<Self, String> {
        let written = part
            .lines("patterns")
            .ok_or("required setting 'patterns' is missing for token filter [pattern_capture]")?;
        if written.len() > LIST_MAX {
            return Err(format!(
                "[pattern_capture] takes {LIST_MAX} patterns at most"
            ));
        }
        let mut patterns = Vec::with_capacity(written.len());
        for pattern in &written {
            patterns.push(java_pattern(pattern).map_err(|error| error.to_string())?);
        }
        Ok(Groups {
            patterns,
            keeps_term: part.flag("preserve_original", true)?,
        })
    }

    /// What all groups match, by where it begins and then by pattern.
    fn found(&self, text: &str) -> Vec<Range<usize>> {
        let mut lists = Vec::with_capacity(self.patterns.len());
        for pattern in &self.patterns {
            lists.push(self.groups(pattern, text).into_iter().peekable());
        }
        let mut found = Vec::new();
        loop {
            let heads = lists.iter_mut().enumerate();
            let starts = heads.filter_map(|(at, list)| Some((list.peek()?.start, at)));
            let Some((_, first)) = starts.min() else {
                return found;
            };
            found.extend(lists[first].next());
        }
    }

    /// What the groups of one pattern match, but for nothing and for the whole text where that is kept anyway.
    fn groups(&self, pattern: &JavaPattern, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        // What takes too many steps has no more groups, from where that shows.
        let _ = each_match(text, pattern, usize::MAX, |_, places| {
            let groups = (1..pattern.group_count()).filter_map(|group| places.get(group));
            found.extend(groups.filter(|range| {
                !(range.is_empty() || self.keeps_term && range.len() == text.len())
            }));
            true
        });
        found
    }
}
