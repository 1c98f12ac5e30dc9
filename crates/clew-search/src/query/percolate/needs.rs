//! Which words a document must have for a query to be worth a try.
//!
//! For every query a set of words is found so that whatever matches has at least one of them. Of
//! conditions that must all hold the one with the fewest words is taken.

use std::collections::BTreeSet;

use clew_analysis::tokens;
use clew_query::{
    Bool, FieldBoost, Match, MatchPhrase, MultiMatch, MultiMatchKind, Operator, Query,
};
use clew_schema::{FieldKind, MappedField, Mapping};

use super::matcher::has_words;
use crate::query::{dictionary_terms, query_analyzer, query_string_tree, text_of};

/// More words than this are not worth looking for.
const WORDS_MAX: usize = 4096;
/// Longer words are cut here, on both sides.
const WORD_BYTES_MAX: usize = 512;

/// What a document must have for a query to match it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing that could be looked up: the query must always be tried.
    Nothing,
    /// At least one of these words; with none of them it never matches.
    AnyOf(BTreeSet<String>),
}

impl Needs {
    /// Takes a query apart.
    pub fn of(query: &Query, mapping: &Mapping) -> Self {
        match query {
            Query::MatchNone => Needs::AnyOf(BTreeSet::new()),
            Query::Term(term) if !term.case_insensitive => {
                terms(mapping, &term.field, std::slice::from_ref(&term.value))
            }
            Query::Terms { field, values, .. } => terms(mapping, field, values),
            Query::Match(clause) => words(mapping, clause),
            Query::MatchPhrase(phrase) => words(mapping, &all_of(phrase)),
            Query::MultiMatch(multi) => in_any_field(mapping, multi),
            Query::QueryString(query) if are_named(&query.fields) => {
                match query_string_tree(query, &query.fields, mapping) {
                    Ok(tree) => Needs::of(&tree, mapping),
                    Err(_) => Needs::Nothing,
                }
            }
            Query::Bool(clauses) => of_bool(clauses, mapping),
            Query::DisMax { queries, .. } => any(queries, mapping),
            Query::ConstantScore { filter: inner, .. }
            | Query::Named { query: inner, .. }
            | Query::Lenient(inner) => Needs::of(inner, mapping),
            Query::Boosting(boosting) => Needs::of(&boosting.positive, mapping),
            Query::FunctionScore(function) => Needs::of(&function.query, mapping),
            Query::Nested(nested) => Needs::of(&nested.query, mapping),
            _ => Needs::Nothing,
        }
    }

    /// One of two conditions holds.
    fn or(self, other: Needs) -> Needs {
        match (self, other) {
            (Needs::AnyOf(mut words), Needs::AnyOf(more)) => {
                words.extend(more);
                if words.len() > WORDS_MAX {
                    return Needs::Nothing;
                }
                Needs::AnyOf(words)
            }
            _ => Needs::Nothing,
        }
    }

    /// Both of two conditions hold.
    fn and(self, other: Needs) -> Needs {
        match (self, other) {
            (Needs::AnyOf(words), Needs::AnyOf(others)) => {
                Needs::AnyOf(if others.len() < words.len() {
                    others
                } else {
                    words
                })
            }
            (Needs::Nothing, other) => other,
            (words, Needs::Nothing) => words,
        }
    }
}

/// A word of a field as it is looked up: text as it is, other terms by their bytes.
pub(super) fn term_key(field: &MappedField, term: &[u8]) -> String {
    let number = field.id.get();
    match std::str::from_utf8(term) {
        Ok(text) if is_text(field) => {
            let mut end = text.len().min(WORD_BYTES_MAX);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            format!("{number}:{}", &text[..end])
        }
        _ => {
            let mut key = format!("{number}:");
            for byte in term.iter().take(WORD_BYTES_MAX) {
                key.push_str(&format!("{byte:02x}"));
            }
            key
        }
    }
}

fn is_text(field: &MappedField) -> bool {
    matches!(
        field.kind,
        FieldKind::Text { .. } | FieldKind::Keyword { .. } | FieldKind::Flat
    )
}

/// The field, if its values are words.
fn field_of<'m>(mapping: &'m Mapping, path: &str) -> Option<&'m MappedField> {
    mapping
        .field(path)
        .filter(|field| has_words(&field.kind, field.indexed))
}

fn terms(mapping: &Mapping, path: &str, values: &[serde_json::Value]) -> Needs {
    let Some(mapped) = field_of(mapping, path) else {
        return Needs::Nothing;
    };
    let Some(field) = mapped.field else {
        return Needs::Nothing;
    };
    match dictionary_terms(mapped, field, values) {
        Ok(Some(terms)) if terms.len() <= WORDS_MAX => {
            let keys = terms.iter().map(|term| term_key(mapped, term));
            Needs::AnyOf(keys.collect())
        }
        _ => Needs::Nothing,
    }
}

fn words(mapping: &Mapping, clause: &Match) -> Needs {
    let Some(mapped) = field_of(mapping, &clause.field) else {
        return Needs::Nothing;
    };
    if clause.fuzziness.is_some() || clause.zero_terms_all {
        return Needs::Nothing;
    }
    if !matches!(mapped.kind, FieldKind::Text { .. }) {
        if mapped.settings.split_queries {
            return Needs::Nothing;
        }
        return terms(mapping, &clause.field, std::slice::from_ref(&clause.text));
    }
    let analyzer = query_analyzer(mapped, clause.analyzer.as_deref());
    let found = tokens(analyzer, &text_of(&clause.text));
    let mut places: Vec<usize> = found.iter().map(|token| token.position).collect();
    places.sort_unstable();
    let each_alone = places.windows(2).all(|pair| pair[0] != pair[1])
        && found.iter().all(|token| token.length <= 1);
    let mut keys: Vec<String> = found
        .iter()
        .map(|token| term_key(mapped, token.text.as_bytes()))
        .collect();
    if clause.operator == Operator::And && each_alone {
        // All must be there: the longest is likely the rarest.
        keys.sort_by_key(|key| std::cmp::Reverse(key.len()));
        keys.truncate(1);
    }
    if keys.len() > WORDS_MAX {
        return Needs::Nothing;
    }
    Needs::AnyOf(keys.into_iter().collect())
}

fn all_of(phrase: &MatchPhrase) -> Match {
    Match {
        text: phrase.text.clone(),
        operator: Operator::And,
        analyzer: phrase.analyzer.clone(),
        ..Match::new(&phrase.field, "")
    }
}

/// Whether fields are named, and none by a pattern.
fn are_named(fields: &[FieldBoost]) -> bool {
    !fields.is_empty() && fields.iter().all(|one| !one.field.contains('*'))
}

fn in_any_field(mapping: &Mapping, multi: &MultiMatch) -> Needs {
    let plain = matches!(
        multi.kind,
        MultiMatchKind::BestFields
            | MultiMatchKind::MostFields
            | MultiMatchKind::Phrase
            | MultiMatchKind::CrossFields
    );
    let named = are_named(&multi.fields);
    if !plain || !named {
        return Needs::Nothing;
    }
    let mut needs = Needs::AnyOf(BTreeSet::new());
    for field in &multi.fields {
        let clause = Match {
            field: field.field.clone(),
            // Words of one text may be spread over fields.
            operator: Operator::Or,
            ..multi.clause.clone()
        };
        needs = needs.or(words(mapping, &clause));
    }
    needs
}

fn any(queries: &[Query], mapping: &Mapping) -> Needs {
    let mut needs = Needs::AnyOf(BTreeSet::new());
    for query in queries {
        needs = needs.or(Needs::of(query, mapping));
    }
    needs
}

fn of_bool(clauses: &Bool, mapping: &Mapping) -> Needs {
    let mut needs = Needs::Nothing;
    for query in clauses.must.iter().chain(&clauses.filter) {
        needs = needs.and(Needs::of(query, mapping));
    }
    let free = clauses.must.is_empty() && clauses.filter.is_empty();
    let one_is_due = match &clauses.minimum_should_match {
        None => free,
        Some(minimum) => minimum.resolve(clauses.should.len()) > 0,
    };
    if one_is_due && !clauses.should.is_empty() {
        needs = needs.and(any(&clauses.should, mapping));
    }
    needs
}
