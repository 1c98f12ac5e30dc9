//! How many postings a query reads and how many documents it matches at most, told before it runs where that is
//! easy.

use clew_query::{Bool, Operator, Query};
use clew_schema::{FieldKind, KeywordStyle};
use serde_json::Value;
use tantivy::Term as IndexTerm;

use super::terms::keyword_text;
use super::text::{query_analyzer, tokens_of};
use crate::query::literal::text_of;
use crate::snapshot::Snapshot;

/// Terms that are looked up; telling must stay cheap beside what it is told for.
const TERMS_MAX: usize = 16;

/// The postings that a query reads at most, when it is made of exact values, words, ids and `bool`
/// alone, and of few; `None` for every other query. Costs a lookup for each term and segment.
pub fn postings_max(snapshot: &Snapshot, query: &Query) -> Option<u64> {
    let mut looked_up = 0;
    reads(snapshot, query, &mut looked_up)
}

fn reads(snapshot: &Snapshot, query: &Query, looked_up: &mut usize) -> Option<u64> {
    match query {
        Query::MatchNone => Some(0),
        Query::Term(_) | Query::Match(_) => {
            let frequencies = frequencies(snapshot, query, looked_up)?;
            Some(frequencies.into_iter().fold(0, u64::saturating_add))
        }
        Query::Ids { values, .. } if values.len() <= TERMS_MAX => u64::try_from(values.len()).ok(),
        Query::ConstantScore { filter, .. } => reads(snapshot, filter, looked_up),
        Query::Bool(clauses) => of_clauses(snapshot, clauses, looked_up),
        _ => None,
    }
}

fn of_clauses(snapshot: &Snapshot, clauses: &Bool, looked_up: &mut usize) -> Option<u64> {
    // Without one of these everything may match.
    if clauses.must.is_empty() && clauses.filter.is_empty() && clauses.should.is_empty() {
        return None;
    }
    let Bool {
        must,
        should,
        must_not,
        filter,
        ..
    } = clauses;
    [must, should, must_not, filter]
        .into_iter()
        .flatten()
        .try_fold(0_u64, |sum, clause| {
            Some(sum.saturating_add(reads(snapshot, clause, looked_up)?))
        })
}

/// The documents that a query matches at most, deleted ones included, as far as its words tell; `None` where all may
/// match. Costs what [`postings_max`] costs.
pub(crate) fn matches_max(snapshot: &Snapshot, query: &Query) -> Option<u64> {
    let mut looked_up = 0;
    matches(snapshot, query, &mut looked_up)
}

fn matches(snapshot: &Snapshot, query: &Query, looked_up: &mut usize) -> Option<u64> {
    match query {
        Query::Match(words) if words.operator == Operator::And => {
            frequencies(snapshot, query, looked_up)?.into_iter().min()
        }
        Query::ConstantScore { filter: inner, .. } | Query::Named { query: inner, .. } => {
            matches(snapshot, inner, looked_up)
        }
        Query::Bool(clauses) => {
            let mut bound = |clause| matches(snapshot, clause, looked_up);
            if clauses.must.is_empty() && clauses.filter.is_empty() {
                return clauses
                    .should
                    .iter()
                    .try_fold(0_u64, |sum, clause| {
                        Some(sum.saturating_add(bound(clause)?))
                    })
                    .filter(|_| !clauses.should.is_empty());
            }
            let needed = clauses.must.iter().chain(&clauses.filter);
            needed.filter_map(bound).min()
        }
        other => reads(snapshot, other, looked_up),
    }
}

/// In how many documents each term of a query is; `None` for queries that are not made of terms.
fn frequencies(snapshot: &Snapshot, query: &Query, looked_up: &mut usize) -> Option<Vec<u64>> {
    match query {
        Query::Term(term) if !term.case_insensitive => {
            listed(snapshot, (&term.field, None), &term.value, looked_up)
        }
        Query::Match(words) if words.fuzziness.is_none() && !words.zero_terms_all => {
            let field = (words.field.as_str(), Some(words.analyzer.as_deref()));
            listed(snapshot, field, &words.text, looked_up)
        }
        _ => None,
    }
}

/// The postings of each of a value's terms; with an analyzer's name where a text is taken apart into words.
fn listed(
    snapshot: &Snapshot,
    (path, analyzer): (&str, Option<Option<&str>>),
    value: &Value,
    looked_up: &mut usize,
) -> Option<Vec<u64>> {
    let mapped = snapshot.mapping.field(path)?;
    let field = snapshot.searchable(mapped)?;
    let words = match (&mapped.kind, analyzer) {
        (FieldKind::Text { .. }, Some(wanted)) => {
            let tokens = tokens_of(query_analyzer(mapped, wanted), &text_of(value)).ok()?;
            tokens.into_iter().map(|token| token.text).collect()
        }
        (FieldKind::Keyword { style, .. }, _)
            if *style == KeywordStyle::Wildcard || mapped.settings.split_queries =>
        {
            return None;
        }
        (FieldKind::Text { .. } | FieldKind::Keyword { .. }, _) => {
            vec![keyword_text(mapped, value)]
        }
        _ => return None,
    };
    *looked_up += words.len();
    if !mapped.indexed || *looked_up > TERMS_MAX {
        return None;
    }
    let frequency = |word: &String| {
        let frequency = snapshot.doc_freq(&IndexTerm::from_field_text(field, word));
        frequency.ok()
    };
    words.iter().map(frequency).collect()
}
