//! Which words of a document a query was about, shown in pieces of its text.
//!
//! The text comes from the source and is analyzed again: the index keeps no offsets. Whatever a
//! query matches by (terms, prefixes, patterns, phrases) is looked for in those words.

mod between;
mod fast;
mod fragments;
mod in_a_row;
mod intervals;
mod spans;
mod synonyms;
#[cfg(test)]
mod tests;
mod wanted;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use clew_analysis::{Token, tokens};
use clew_platform::stopped;
use clew_query::Query;
use clew_schema::{FieldKind, MappedField, Mapping, TextStyle, text_of};
use serde_json::Value;

pub use fast::{Boundary, FastOptions};
use fragments::PiecesFound;
use wanted::{FieldWanted, Wanted, marks, wanted};

/// How fields are highlighted.
#[derive(Clone, Debug, PartialEq)]
pub struct HighlightOptions {
    /// Characters of a piece, about; pieces end with their sentence.
    pub fragment_size: usize,
    /// Most pieces; 0 means the whole text in one.
    pub fragments_max: usize,
    /// What stands before a word.
    pub before: String,
    /// What stands behind it.
    pub after: String,
    /// Only words that the query wants in this very field.
    pub same_field: bool,
    /// Characters of the beginning that are shown when nothing is found.
    pub no_match_size: usize,
    /// The best piece first, else the first one.
    pub best_first: bool,
    /// Whether the text is escaped for HTML.
    pub escape: bool,
    /// Pieces are single words and what is between them, however large a piece may be.
    pub by_word: bool,
    /// Only words that begin before so many characters (of 16 bits) are looked for; whatever the length of a field is
    /// then, it is not refused.
    pub analyzed_max: Option<usize>,
    /// Texts are analyzed whatever the index keeps of their words, end where what is looked through does, and are cut at
    /// words alone, wherever sentences end: those pieces come first that have the most different words.
    pub plain: bool,
    /// Whether the last of the pieces that are cut so may be shorter than half of their size.
    pub ends_short: bool,
    /// What is looked for instead of the search's query.
    pub query: Option<Query>,
    /// How pieces are made as the fast vector highlighter makes them, if they are.
    pub fast: Option<FastOptions>,
}

impl Default for HighlightOptions {
    fn default() -> Self {
        HighlightOptions {
            fragment_size: 100,
            fragments_max: 5,
            before: "<em>".to_string(),
            after: "</em>".to_string(),
            same_field: true,
            no_match_size: 0,
            best_first: false,
            by_word: false,
            escape: false,
            analyzed_max: None,
            plain: false,
            ends_short: false,
            query: None,
            fast: None,
        }
    }
}

/// A field, or a pattern of fields, and how it is highlighted.
#[derive(Clone, Debug, PartialEq)]
pub struct HighlightField {
    /// The path, which may hold `*`.
    pub pattern: String,
    /// How.
    pub options: HighlightOptions,
}

/// Why a document is not highlighted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HighlightError {
    /// A field is longer than texts may be that are analyzed.
    #[error("the length of field [{field}] has exceeded [{max}]")]
    TooLong {
        /// The field's path.
        field: String,
        /// The limit, in characters of 16 bits.
        max: usize,
    },
    /// The request wants more of a field than texts may be long that are analyzed.
    #[error("more than [{max}] characters are asked for")]
    TooMuch {
        /// The limit, in characters of 16 bits.
        max: usize,
    },
    /// Pieces are to be smaller than what belongs around their first word.
    #[error("pieces of [{size}] characters are too small, they need [{least}]")]
    TooSmall {
        /// The size that is asked for.
        size: usize,
        /// The least that there may be.
        least: usize,
    },
    /// Pieces are to lie around phrases of a field that keeps no vectors of its words with their places.
    #[error("field [{field}] keeps no places of its words in vectors")]
    NoVectors {
        /// The name that was asked for.
        field: String,
    },
    /// Nobody waits for the result any more.
    #[error("the search was stopped")]
    Stopped,
}

/// What is highlighted, made ready for any number of documents of one mapping.
pub struct Highlighter<'a> {
    mapping: Arc<Mapping>,
    fields: Vec<Prepared<'a>>,
    /// Characters (of 16 bits) of a field that is analyzed.
    analyzed_max: usize,
}

struct Prepared<'a> {
    /// The field's number in the mapping.
    field: usize,
    /// The name that was asked for, which may be another one of the field.
    name: String,
    options: &'a HighlightOptions,
    wanted: Vec<FieldWanted>,
}

impl<'a> Highlighter<'a> {
    /// Takes the query apart. Fields that hold no text are left out.
    pub fn new(
        mapping: Arc<Mapping>,
        query: &Query,
        fields: &'a [HighlightField],
        analyzed_max: usize,
    ) -> Self {
        let mut prepared: Vec<Prepared<'a>> = Vec::new();
        let mut taken = BTreeSet::new();
        let of_search = OnceCell::new();
        // There may be as many patterns as fit into a body, and each is held against all fields there are.
        for HighlightField { pattern, options } in fields.iter().take_while(|_| !stopped()) {
            let own = options.query.as_ref().map(|own| wanted(own, &mapping));
            let all = match &own {
                Some(own) => own,
                None => of_search.get_or_init(|| wanted(query, &mapping)),
            };
            for (number, name) in named(pattern, &mapping) {
                let field = &mapping.fields()[number];
                // A pattern means those alone that can be looked through so.
                let is_meant = options.fast.is_none() || !pattern.contains('*');
                if !(is_meant || keeps_vectors(field)) || !taken.insert(name.clone()) {
                    continue;
                }
                let here = |one: &&FieldWanted| {
                    (!options.same_field || one.is_for(&field.path)) && is_shown(one, options)
                };
                prepared.push(Prepared {
                    field: number,
                    name,
                    options,
                    wanted: all.iter().filter(here).cloned().collect(),
                });
            }
        }
        Highlighter {
            mapping,
            fields: prepared,
            analyzed_max,
        }
    }

    /// The pieces of each field that has any.
    ///
    /// # Errors
    /// [`HighlightError`].
    pub fn highlight(&self, source: &Value) -> Result<Vec<(String, Vec<String>)>, HighlightError> {
        let mut shown = Vec::new();
        for prepared in &self.fields {
            let field = &self.mapping.fields()[prepared.field];
            let mut texts = plain_texts(source, self.source_path(field));
            if let FieldKind::Keyword {
                ignore_above: Some(max),
                ..
            } = field.kind
            {
                let max = usize::try_from(max).unwrap_or(usize::MAX);
                texts.retain(|text| length(text) <= max);
            }
            let pieces = prepared.pieces(field, &texts, self.analyzed_max)?;
            if stopped() {
                return Err(HighlightError::Stopped);
            }
            if !pieces.is_empty() {
                shown.push((prepared.name.clone(), pieces));
            }
        }
        Ok(shown)
    }

    /// Where a field's values stand in the source.
    fn source_path<'f>(&self, field: &'f MappedField) -> &'f str {
        if !field.multi_field {
            return &field.path;
        }
        let parent = field.path.rsplit_once('.').map(|(parent, _)| parent);
        parent
            .filter(|parent| self.mapping.field(parent).is_some())
            .unwrap_or(&field.path)
    }
}

/// Whether a highlighter looks for something: where pieces are made of the vectors of words none looks for the words of
/// `intervals`, and where texts are cut at words for none of their patterns.
fn is_shown(wanted: &FieldWanted, options: &HighlightOptions) -> bool {
    match (wanted.is_of_rule(), options.fast.is_some(), options.plain) {
        (false, ..) | (true, false, false) => true,
        (true, true, _) => false,
        (true, false, true) => matches!(wanted.what(), Wanted::Term(_)),
    }
}

impl Prepared<'_> {
    fn pieces(
        &self,
        field: &MappedField,
        texts: &[String],
        analyzed_max: usize,
    ) -> Result<Vec<String>, HighlightError> {
        if self.options.fast.is_some() && !keeps_vectors(field) {
            let field = self.name.clone();
            return Err(HighlightError::NoVectors { field });
        }
        let wanted = self.options.analyzed_max;
        if wanted.is_some_and(|wanted| wanted > analyzed_max) {
            return Err(HighlightError::TooMuch { max: analyzed_max });
        }
        // What the index knows of words needs no look at the text, however far it was to go.
        let is_known = !self.options.plain && keeps_offsets(field);
        let mut left = match is_known {
            true => usize::MAX,
            false => wanted.unwrap_or(analyzed_max),
        };
        let cut = wanted
            .filter(|_| self.options.plain)
            .map(|most| beginnings(texts, most));
        let texts = cut.as_deref().unwrap_or(texts);
        let mut found = PiecesFound::new(self.options);
        let mut of_values = Vec::new();
        for text in texts {
            let analyzed = beginning(text, left);
            if analyzed.len() < text.len() && wanted.is_none() {
                return Err(HighlightError::TooLong {
                    field: field.path.clone(),
                    max: analyzed_max,
                });
            }
            let words = words(field, analyzed);
            if self.options.fast.is_some() {
                of_values.push(words);
            } else {
                let marks = marks(&words, &self.wanted);
                found.add(text, &words, &marks);
            }
            if stopped() {
                return Err(HighlightError::Stopped);
            }
            // One more character stands between two values.
            left = left.saturating_sub(length(analyzed) + 1);
        }
        match &self.options.fast {
            Some(fast) => {
                let how = (self.options, fast);
                fast::pieces(how, (texts, &of_values), &self.wanted)
            }
            None => Ok(found.finish(texts)),
        }
    }
}

fn words(field: &MappedField, text: &str) -> Vec<Token> {
    match &field.kind {
        FieldKind::Text { analyzer, .. } => tokens(analyzer, text),
        _ => tokens("keyword", text),
    }
}

/// A place in a text, in bytes and in characters of 16 bits.
#[derive(Default)]
struct Place {
    byte: usize,
    units: usize,
}

impl Place {
    /// The characters before a byte: counted from the last one that was asked for.
    fn units_before(&mut self, text: &str, byte: usize) -> usize {
        let between = |range: Range<usize>| length(&text[range]);
        self.units = if byte >= self.byte {
            self.units + between(self.byte..byte)
        } else {
            self.units.saturating_sub(between(byte..self.byte))
        };
        self.byte = byte;
        self.units
    }
}

/// Writes a text, escaped for HTML if that is asked for.
fn push_text(written: &mut String, text: &str, escape: bool) {
    if !escape {
        written.push_str(text);
        return;
    }
    for character in text.chars() {
        match character {
            '"' => written.push_str("&quot;"),
            '&' => written.push_str("&amp;"),
            '<' => written.push_str("&lt;"),
            '>' => written.push_str("&gt;"),
            '\'' => written.push_str("&#x27;"),
            '/' => written.push_str("&#x2F;"),
            other => written.push(other),
        }
    }
}

/// Characters of 16 bits, in which Java counts.
fn length(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.chars().map(char::len_utf16).sum()
}

/// At most so many characters of 16 bits of a text.
fn beginning(text: &str, most: usize) -> &str {
    // No character takes fewer bytes than it has of these.
    if text.len() <= most {
        return text;
    }
    let mut left = most;
    let end = text.char_indices().find(|(_, character)| {
        let own = character.len_utf16();
        let fits = own <= left;
        left = left.saturating_sub(own);
        !fits
    });
    end.map_or(text, |(end, _)| &text[..end])
}

/// The same of several texts, between which one more character stands.
fn beginnings(texts: &[String], most: usize) -> Vec<String> {
    let mut left = most;
    let cut = |text: &String| {
        let beginning = beginning(text, left);
        left = left.saturating_sub(length(beginning) + 1);
        beginning.to_string()
    };
    texts.iter().map(cut).collect()
}

/// Whether the index is asked to keep where a field's words stand in its texts, which are not analyzed again then.
fn keeps_offsets(field: &MappedField) -> bool {
    let kept = |name: &str| field.settings.shown.get(name).and_then(Value::as_str);
    let with_vectors = kept("term_vector").is_some_and(|kept| kept.contains("offsets"));
    kept("index_options") == Some("offsets") || with_vectors
}

/// Whether a field keeps vectors of its words with all that tells where they stand.
fn keeps_vectors(field: &MappedField) -> bool {
    let kept = field.settings.shown.get("term_vector");
    let kept = kept.and_then(Value::as_str).unwrap_or_default();
    kept.starts_with("with_positions_offsets")
}

/// The fields that a name or pattern means: their numbers, and the names that were meant. A pattern means fields of text
/// only.
fn named(pattern: &str, mapping: &Mapping) -> Vec<(usize, String)> {
    let is_pattern = pattern.contains('*');
    let is_meant = |name: &str, field: &MappedField| {
        if !is_pattern {
            return pattern == name && !field.kind.is_vector();
        }
        // Of fields for typing none is meant, as in OpenSearch.
        let text = match &field.kind {
            FieldKind::Text { style, .. } => !matches!(style, TextStyle::AsYouType { .. }),
            kind => matches!(kind, FieldKind::Keyword { .. }),
        };
        text && !field.settings.hidden && clew_schema::glob::matches(pattern, name)
    };
    let fields = mapping.fields();
    let own = fields.iter().enumerate();
    let own = own.map(|(number, field)| (number, field.path.as_str()));
    let others = mapping.aliases().filter_map(|(alias, path)| {
        let number = fields.iter().position(|field| field.path == path)?;
        Some((number, alias))
    });
    own.chain(others)
        .filter(|&(number, name)| is_meant(name, &fields[number]))
        .map(|(number, name)| (number, name.to_string()))
        .collect()
}

/// The scalars at a dotted path of a document as texts, through arrays; a name with the dots in it stands for itself alone.
pub fn plain_texts(source: &Value, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    collect(source, path, &mut found);
    found
}

fn collect(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, path, found)),
        Value::Object(members) => {
            if let Some(member) = members.get(path) {
                collect(member, "", found);
                return;
            }
            for (at, _) in path.match_indices('.') {
                if let Some(member) = members.get(&path[..at]) {
                    collect(member, &path[at + 1..], found);
                }
            }
        }
        Value::Null => {}
        plain if path.is_empty() => found.push(text_of(plain)),
        _ => {}
    }
}
