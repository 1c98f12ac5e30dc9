//! Analyzers that an index's settings put together: character filters, a tokenizer, token filters.
//!
//! A composed analyzer is known by a name that says all of it: the user's name, a zero byte, and its
//! parts as JSON. So a field, a segment's schema and a query that have the name have the analyzer,
//! and two analyzers are the same when their names are.

mod addresses;
mod beside;
mod by_language;
mod char_filter;
mod chosen;
mod cjk;
mod classes;
mod classic;
mod entities;
mod filter;
mod flat_graph;
mod html;
mod jieba;
mod kept;
mod language;
mod letters;
mod light;
mod lower_case;
mod made;
mod min_hash;
mod part;
mod replaced;
mod required;
mod room;
mod segments;
mod settings;
mod shingle;
mod snowball;
mod stop;
mod stop_words;
mod synonyms;
mod thai;
mod token_letter;
mod token_pieces;
mod token_script;
mod tokenizer;
mod unicode;
mod ways;
mod words;

use std::sync::Arc;

use clew_platform::KeptReady;
use serde_json::{Value, json};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

pub use html::strip_html;
pub use required::PartLimits;
pub use room::{size_room, take_left_out};
pub use settings::Analysis;

use char_filter::{CharFilter, Filtered};
use filter::Filter;
use language::LANGUAGES;
use part::Part;
use room::{MADE_BYTES_MAX, Room, leave_out};
use shingle::Behind;
use tokenizer::Cutter;

use crate::java_pattern::in_one_turn;

/// Between an analyzer's name and its parts.
const SEPARATOR: char = '\0';

/// Analyzers that are kept ready.
const READY_MAX: usize = 1000;

/// An analyzer in parts.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    char_filters: Vec<CharFilter>,
    cutter: Cutter,
    filters: Vec<Filter>,
}

/// A term on its way through the filters.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    pub(super) token: Token,
    /// Whether stemmers leave it as it is.
    pub(super) is_keyword: bool,
    /// What Lucene calls a term of its kind.
    pub(super) kind: &'static str,
}

impl Term {
    /// As it is told; `tells_keywords` where something in the analyzer asks for them.
    pub(super) fn shown(&self, tells_keywords: bool) -> super::Token {
        let keyword = tells_keywords.then_some(self.is_keyword);
        super::Token::new(&self.token, self.kind, keyword)
    }
}

impl Chain {
    /// Puts the parts together.
    ///
    /// # Errors
    /// A reason, when a part is unknown or its parameters make no sense.
    pub(super) fn compile(parts: &Value) -> Result<Chain, String> {
        let list = |key: &str| {
            let items = parts.get(key).and_then(Value::as_array);
            items.map(Vec::as_slice).unwrap_or_default()
        };
        let char_filters = list("char_filter").iter().map(CharFilter::compile);
        let mut chain = Chain {
            char_filters: char_filters.collect::<Result<_, _>>()?,
            cutter: Cutter::compile(parts.get("tokenizer").unwrap_or(&Value::Null))?,
            filters: Vec::new(),
        };
        for part in list("filter") {
            // Synonyms are read as the filters before them leave words.
            let filter = Filter::compile(&Part::new(part), &chain)?;
            chain.filters.push(filter);
        }
        Ok(chain)
    }

    /// Whether a term may be as long as a text.
    pub(super) fn makes_long_terms(&self) -> bool {
        let joins = |filter: &Filter| matches!(filter, Filter::Fingerprint { .. });
        self.cutter.makes_long_terms() || self.filters.iter().any(joins)
    }

    /// The terms of a text.
    pub(super) fn run(&self, text: &str) -> Vec<Term> {
        self.run_told(text, None)
    }

    /// The same; `told` gets a copy of them as they are behind the tokenizer, and behind each filter.
    fn run_told(&self, text: &str, mut told: Option<&mut dyn FnMut(Vec<Term>)>) -> Vec<Term> {
        let _turn = in_one_turn();
        let room = Room::for_text(text.len());
        let mut filtered = Filtered::new(text);
        for filter in &self.char_filters {
            // Each may lengthen it by as much.
            if filtered.text.len() > text.len().saturating_add(MADE_BYTES_MAX) {
                leave_out();
                break;
            }
            filtered = filter.apply(filtered);
        }
        let mut terms: Vec<Term> = self
            .cutter
            .cut(&filtered.text)
            .into_iter()
            .map(|token| Term {
                kind: self.cutter.kind(&token.text),
                token,
                is_keyword: false,
            })
            .collect();
        room.cut(&mut terms);
        if let Some(told) = told.as_deref_mut() {
            told(in_text(terms.clone(), text, &filtered));
        }
        let mut behind = Behind {
            places: 0,
            end: filtered.text.len(),
            text: Some((text, &filtered)),
        };
        for filter in &self.filters {
            let last = last_place(&terms);
            terms = filter.apply(terms, behind);
            room.cut(&mut terms);
            if filter.leaves_places() {
                behind.places += last.saturating_sub(last_place(&terms));
            }
            if let Some(told) = told.as_deref_mut() {
                told(in_text(terms.clone(), text, &filtered));
            }
        }
        in_text(terms, text, &filtered)
    }

    /// Whether the lengths of terms say nothing of ways through the text.
    pub(super) fn hides_ways(&self) -> bool {
        self.filters.iter().any(Filter::hides_ways)
    }

    /// Whether a filter asks which terms stemmers leave alone, or says it.
    pub(super) fn tells_keywords(&self) -> bool {
        self.filters.iter().any(Filter::tells_keywords)
    }

    /// The text after each filter of characters.
    pub(super) fn filtered(&self, text: &str) -> Vec<String> {
        let mut filtered = Filtered::new(text);
        let mut steps = Vec::with_capacity(self.char_filters.len());
        for filter in &self.char_filters {
            filtered = filter.apply(filtered);
            steps.push(filtered.text.clone());
        }
        steps
    }

    /// A value as one term, as normalizers leave it.
    pub(super) fn normalize(&self, text: &str) -> String {
        let mut terms = self.run(text);
        match terms.len() {
            0 => String::new(),
            _ => terms.swap_remove(0).token.text,
        }
    }
}

/// Terms where they stand in the text, and in the order of their positions.
fn in_text(mut terms: Vec<Term>, text: &str, filtered: &Filtered) -> Vec<Term> {
    // Filters make letters longer and shorter: a place may have come to lie inside of one of the text's.
    let place = |place: usize| text.floor_char_boundary(filtered.origin(place));
    for term in &mut terms {
        term.token.offset_from = place(term.token.offset_from);
        term.token.offset_to = place(term.token.offset_to);
    }
    // Sorting takes half of their memory again, and mostly they are in order.
    if !terms.is_sorted_by_key(|term| term.token.position) {
        terms.sort_by_key(|term| term.token.position);
    }
    terms
}

/// The highest place of terms in order, from 1 on; 0 without any.
fn last_place(terms: &[Term]) -> usize {
    terms.last().map_or(0, |term| term.token.position + 1)
}

/// The analyzer of a name, if it is composed or one of those that are always there.
pub(super) fn chain(name: &str) -> Option<Arc<Chain>> {
    static READY: KeptReady<Arc<Chain>> = KeptReady::new(READY_MAX);
    if let Some(ready) = READY.get(name, |ready| Some(ready.clone())) {
        return Some(ready);
    }
    let parts = match name.split_once(SEPARATOR) {
        Some((_, parts)) => serde_json::from_str(parts).ok()?,
        None => usual(name)?,
    };
    let chain = Arc::new(Chain::compile(&parts).ok()?);
    READY.keep(name, chain.clone());
    Some(chain)
}

/// What the user calls an analyzer.
pub fn shown_name(name: &str) -> &str {
    name.split_once(SEPARATOR).map_or(name, |(shown, _)| shown)
}

/// The name of an analyzer with more filters behind its own; `None` when there is no such analyzer.
pub fn with_filters(name: &str, more: &[Value]) -> Option<String> {
    let standing = || match name {
        "standard" => Some(json!({
            "tokenizer": {"type": "standard"}, "filter": [{"type": "lowercase"}],
        })),
        "simple" => Some(json!({"tokenizer": {"type": "lowercase"}})),
        "alphanumeric" => Some(json!({
            "tokenizer": {"type": "alphanumeric"}, "filter": [{"type": "lowercase"}],
        })),
        "whitespace" | "keyword" => Some(json!({"tokenizer": {"type": name}})),
        _ => usual(name),
    };
    let mut parts: Value = match name.split_once(SEPARATOR) {
        Some((_, parts)) => serde_json::from_str(parts).ok()?,
        None => standing()?,
    };
    let filters = parts.as_object_mut()?.entry("filter").or_insert(json!([]));
    filters.as_array_mut()?.extend(more.iter().cloned());
    Some(full_name(shown_name(name), &parts))
}

/// What of a text counts in its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthOf {
    /// Words, of which those of one place are one.
    Places,
    /// Words, those of one place each.
    Words,
    /// Words that differ, each once.
    Distinct,
}

/// The part of a name that says what counts in a length.
const LENGTH: &str = "length";

/// What it says of words that count each, and of those that differ.
const COUNTS: [(LengthOf, &str); 2] = [(LengthOf::Words, "each"), (LengthOf::Distinct, "distinct")];

/// The name of the same analyzer for fields in whose lengths this counts; `None` where its own name says it, which is so of
/// analyzers that put no two words at one place unless words that differ are to count.
pub fn counting(name: &str, length: LengthOf) -> Option<String> {
    let (_, value) = COUNTS.into_iter().find(|(counts, _)| *counts == length)?;
    let composed = match length {
        LengthOf::Distinct => with_filters(name, &[])?,
        LengthOf::Places | LengthOf::Words => name.to_string(),
    };
    let (shown, parts) = composed.split_once(SEPARATOR)?;
    let mut parts: Value = serde_json::from_str(parts).ok()?;
    parts.as_object_mut()?.insert(LENGTH.into(), value.into());
    Some(full_name(shown, &parts))
}

/// What counts in the lengths of a field whose analyzer goes by this name.
pub fn length_of(name: &str) -> LengthOf {
    let parts = name.split_once(SEPARATOR);
    let parts: Option<Value> = parts.and_then(|(_, parts)| serde_json::from_str(parts).ok());
    let said = parts.as_ref().and_then(|parts| parts.get(LENGTH)?.as_str());
    let counts = COUNTS.into_iter().find(|(_, value)| said == Some(*value));
    counts.map_or(LengthOf::Places, |(length, _)| length)
}

/// Whether a name says all of an analyzer that is put together.
pub(super) fn is_composed(name: &str) -> bool {
    name.contains(SEPARATOR) && chain(name).is_some()
}

/// What a composed analyzer does to a text, step by step.
pub(super) fn explained(name: &str, text: &str) -> Option<super::Parts> {
    let (_, source) = name.split_once(SEPARATOR)?;
    let source: Value = serde_json::from_str(source).ok()?;
    let kind = |part: &Value| Part::new(part).type_name().to_string();
    let list = |key: &str| source.get(key).and_then(Value::as_array).cloned();
    let chain = chain(name)?;
    let mut steps: Vec<Vec<super::Token>> = Vec::with_capacity(chain.filters.len() + 1);
    let mut tell = |terms: Vec<Term>| {
        // Only filters that were met so far ask for keywords.
        let mut met = chain.filters[..steps.len()].iter();
        let tells_keywords = met.any(Filter::tells_keywords);
        steps.push(
            terms
                .iter()
                .map(|term| term.shown(tells_keywords))
                .collect(),
        );
    };
    chain.run_told(text, Some(&mut tell));
    let mut steps = steps.into_iter();
    let char_kinds = list("char_filter").unwrap_or_default();
    let filter_kinds = list("filter").unwrap_or_default();
    let texts = chain.filtered(text);
    Some(super::Parts {
        char_filters: char_kinds.iter().map(kind).zip(texts).collect(),
        tokenizer: (kind(&source["tokenizer"]), steps.next().unwrap_or_default()),
        filters: filter_kinds.iter().map(kind).zip(steps).collect(),
    })
}

fn full_name(name: &str, parts: &Value) -> String {
    format!("{name}{SEPARATOR}{parts}")
}

/// The parts of analyzers that need no settings.
fn usual(name: &str) -> Option<Value> {
    Some(match name {
        "stop" => json!({"tokenizer": {"type": "lowercase"}, "filter": [{"type": "stop"}]}),
        "pattern" => json!({
            "tokenizer": {"type": "pattern"}, "filter": [{"type": "lowercase"}],
        }),
        // Not a language of its own: the name is an old one.
        "chinese" => json!({"tokenizer": {"type": "standard"}, "filter": [
            {"type": "lowercase"}, {"type": "stop"},
        ]}),
        "fingerprint" => json!({"tokenizer": {"type": "standard"}, "filter": [
            {"type": "lowercase"}, {"type": "asciifolding"}, {"type": "fingerprint"},
        ]}),
        "classic" => json!({"tokenizer": {"type": "classic"}, "filter": [
            {"type": "classic"}, {"type": "lowercase"}, {"type": "stop"},
        ]}),
        "snowball" => language::snowball_parts("English", None),
        name if LANGUAGES.contains(&name) => language::parts(name, None, None),
        _ => return None,
    })
}

/// A composed analyzer as tantivy uses it.
#[derive(Clone)]
pub(super) struct ChainTokenizer(pub(super) Arc<Chain>);

impl Tokenizer for ChainTokenizer {
    type TokenStream<'a> = Terms;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Terms {
        Terms {
            terms: self.0.run(text),
            next: 0,
        }
    }
}

/// Terms that are all known.
pub(super) struct Terms {
    terms: Vec<Term>,
    next: usize,
}

impl TokenStream for Terms {
    fn advance(&mut self) -> bool {
        let has_more = self.next < self.terms.len();
        self.next += usize::from(has_more);
        has_more
    }

    fn token(&self) -> &Token {
        &self.terms[self.next.saturating_sub(1)].token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.terms[self.next.saturating_sub(1)].token
    }
}

#[cfg(test)]
mod tests;
