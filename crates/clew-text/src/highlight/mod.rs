//! Which words of a document a query was about, shown in pieces of its text.
//!
//! The text comes from the source and is analyzed again: the index keeps no offsets. Whatever a
//! query matches by (terms, prefixes, patterns, phrases) is looked for in those words.

mod fragments;
mod wanted;

use serde_json::Value;

use crate::analysis::{Token, tokens};
use crate::mapping::{FieldKind, MappedField, Mapping};
use crate::query::Query;

use fragments::Found;
use wanted::{FieldWanted, marks, wanted};

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
    /// What is looked for instead of the search's query.
    pub query: Option<Query>,
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
            query: None,
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

/// What is highlighted, made ready for any number of documents of one mapping.
pub struct Highlighter<'a> {
    mapping: &'a Mapping,
    fields: Vec<Prepared<'a>>,
}

struct Prepared<'a> {
    field: &'a MappedField,
    options: &'a HighlightOptions,
    wanted: Vec<FieldWanted>,
}

impl<'a> Highlighter<'a> {
    /// Takes the query apart. Fields that hold no text are left out.
    pub fn new(mapping: &'a Mapping, query: &Query, fields: &'a [HighlightField]) -> Self {
        let mut prepared: Vec<Prepared<'a>> = Vec::new();
        for HighlightField { pattern, options } in fields {
            let all = wanted(options.query.as_ref().unwrap_or(query), mapping);
            for field in mapping.fields() {
                let known = prepared.iter().any(|have| have.field.path == field.path);
                if known || !is_named(pattern, field) {
                    continue;
                }
                let here = |one: &&FieldWanted| !options.same_field || one.is_for(&field.path);
                prepared.push(Prepared {
                    field,
                    options,
                    wanted: all.iter().filter(here).cloned().collect(),
                });
            }
        }
        Highlighter {
            mapping,
            fields: prepared,
        }
    }

    /// The pieces of each field that has any.
    pub fn highlight(&self, source: &Value) -> Vec<(String, Vec<String>)> {
        let mut shown = Vec::new();
        for prepared in &self.fields {
            let path = &prepared.field.path;
            let pieces = prepared.pieces(&texts(source, self.source_path(prepared.field)));
            if !pieces.is_empty() {
                shown.push((path.clone(), pieces));
            }
        }
        shown
    }

    /// Where a field's values stand in the source.
    fn source_path(&self, field: &'a MappedField) -> &'a str {
        if !field.multi_field {
            return &field.path;
        }
        let parent = field.path.rsplit_once('.').map(|(parent, _)| parent);
        parent
            .filter(|parent| self.mapping.field(parent).is_some())
            .unwrap_or(&field.path)
    }
}

impl Prepared<'_> {
    fn pieces(&self, texts: &[String]) -> Vec<String> {
        let mut found = Found::new(self.options);
        for text in texts {
            let words = self.words(text);
            let marks = marks(&words, &self.wanted);
            found.add(text, &words, &marks);
        }
        found.finish(texts)
    }

    fn words(&self, text: &str) -> Vec<Token> {
        match &self.field.kind {
            FieldKind::Text { analyzer, .. } => tokens(analyzer, text),
            _ => tokens("keyword", text),
        }
    }
}

/// Whether a field is meant by a name or pattern. A pattern means fields of text only.
fn is_named(pattern: &str, field: &MappedField) -> bool {
    if !pattern.contains('*') {
        return pattern == field.path && !matches!(field.kind, FieldKind::Vector(_));
    }
    let text = matches!(
        field.kind,
        FieldKind::Text { .. } | FieldKind::Keyword { .. }
    );
    text && wildcard(pattern.as_bytes(), field.path.as_bytes())
}

/// Whether a text fits a pattern with `*`.
fn wildcard(pattern: &[u8], text: &[u8]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((b'*', rest)) => (0..=text.len()).any(|skip| wildcard(rest, &text[skip..])),
        Some((first, rest)) => text
            .split_first()
            .is_some_and(|(have, text)| have == first && wildcard(rest, text)),
    }
}

/// The plain values at a path.
fn texts(source: &Value, path: &str) -> Vec<String> {
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
        plain if path.is_empty() => found.push(match plain {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{Match, MatchPhrase, Pattern, QueryString};
    use serde_json::json;

    fn mapping() -> Mapping {
        let mut mapping = Mapping::new();
        mapping
            .merge_opensearch(&json!({"properties": {
                "text": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
                "other": {"type": "text"},
            }}))
            .unwrap();
        mapping
    }

    fn shown(query: &Query, options: HighlightOptions, source: &Value) -> Vec<String> {
        let fields = [HighlightField {
            pattern: "text".to_string(),
            options,
        }];
        let mapping = mapping();
        let highlighter = Highlighter::new(&mapping, query, &fields);
        let mut found = highlighter.highlight(source);
        found.pop().map(|(_, pieces)| pieces).unwrap_or_default()
    }

    fn check(query: &Query, expected: &[&str]) {
        let source = json!({"text": "The quick brown fox is brown."});
        assert_eq!(shown(query, HighlightOptions::default(), &source), expected);
    }

    #[test]
    fn words_of_every_kind_of_query_are_marked() {
        check(
            &Query::Match(Match::new("text", "Quick FOX")),
            &["The <em>quick</em> brown <em>fox</em> is brown."],
        );
        check(
            &Query::MatchPhrase(MatchPhrase::new("text", "quick brown")),
            &["The <em>quick</em> <em>brown</em> fox is brown."],
        );
        check(
            &Query::Prefix(Pattern::new("text", "bro")),
            &["The quick <em>brown</em> fox is <em>brown</em>."],
        );
        check(
            &Query::Wildcard(Pattern::new("text", "f?x")),
            &["The quick brown <em>fox</em> is brown."],
        );
        let mut query = QueryString::new("text:qu* AND NOT text:fox");
        query.lenient = true;
        check(
            &Query::QueryString(query),
            &["The <em>quick</em> brown fox is brown."],
        );
        check(&Query::Match(Match::new("other", "quick")), &[]);
        // In any order, as far apart as the slop allows.
        let near = |slop| {
            Query::MatchPhrase(MatchPhrase {
                slop,
                ..MatchPhrase::new("text", "fox quick")
            })
        };
        check(
            &near(1),
            &["The <em>quick</em> brown <em>fox</em> is brown."],
        );
        check(&near(0), &[]);
        check(
            &Query::Regexp(Pattern::new("text", "f@x")),
            &["The quick brown <em>fox</em> is brown."],
        );
    }

    #[test]
    fn what_a_pattern_finds_counts_as_one_word() {
        let source = json!({"text": "Ab cd. Ae ef ag. Ax ax ax."});
        let one = HighlightOptions {
            fragments_max: 1,
            fragment_size: 5,
            best_first: true,
            ..HighlightOptions::default()
        };
        let pieces = shown(&Query::Prefix(Pattern::new("text", "a")), one, &source);
        assert_eq!(pieces, ["<em>Ax</em> <em>ax</em>"]);
    }

    #[test]
    fn long_texts_are_shown_in_pieces() {
        let source = json!({"text": ["One fox sat. Two dogs ran. A fox and a fox met.", "No fox"]});
        let query = Query::Match(Match::new("text", "fox"));
        let pieces = shown(&query, HighlightOptions::default(), &source);
        assert_eq!(
            pieces,
            [
                "One <em>fox</em> sat. Two dogs ran. A <em>fox</em> and a <em>fox</em> met.",
                "No <em>fox</em>"
            ]
        );
        let short = HighlightOptions {
            fragment_size: 20,
            ..HighlightOptions::default()
        };
        let pieces = shown(&query, short.clone(), &source);
        assert_eq!(
            pieces[..2],
            [
                "One <em>fox</em> sat.",
                "A <em>fox</em> and a <em>fox</em> met."
            ]
        );
        let best = HighlightOptions {
            fragments_max: 1,
            best_first: true,
            ..short
        };
        let pieces = shown(&query, best, &source);
        assert_eq!(pieces, ["A <em>fox</em> and a <em>fox</em> met."]);
        let whole = HighlightOptions {
            fragments_max: 0,
            ..HighlightOptions::default()
        };
        assert_eq!(shown(&query, whole, &source).len(), 2);
    }

    #[test]
    fn without_a_match_the_beginning_can_be_shown() {
        let options = HighlightOptions {
            no_match_size: 8,
            ..HighlightOptions::default()
        };
        let query = Query::Match(Match::new("text", "cat"));
        let pieces = shown(&query, options, &json!({"text": "Two dogs ran away"}));
        // The space behind them is a word of its own to those who cut, and is not shown.
        assert_eq!(pieces, ["Two dogs"]);
    }
}
