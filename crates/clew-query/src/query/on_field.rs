//! Queries on the values of one field, as what rewrites or answers them by themselves sees them.

#![warn(clippy::wildcard_enum_match_arm)]

use serde_json::Value;

use super::tree::{Pattern, Query, Range, Term, TermsSet};
use super::words::{Fuzziness, Match, MatchPhrase};

/// A query on the values of just one field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldQuery<'q> {
    /// [`Query::Match`].
    Match(&'q Match),
    /// [`Query::MatchBoolPrefix`].
    BoolPrefix(&'q Match),
    /// [`Query::MatchPhrase`].
    Phrase(&'q MatchPhrase),
    /// [`Query::MatchPhrasePrefix`].
    PhrasePrefix(&'q MatchPhrase),
    /// [`Query::Term`].
    Term(&'q Term),
    /// [`Query::Terms`].
    Terms(&'q str, &'q [Value], f32),
    /// [`Query::TermsSet`].
    TermsSet(&'q TermsSet),
    /// [`Query::Range`].
    Range(&'q Range),
    /// [`Query::Exists`].
    Exists(&'q str, f32),
    /// [`Query::Prefix`].
    Prefix(&'q Pattern),
    /// [`Query::Wildcard`].
    Wildcard(&'q Pattern),
    /// [`Query::Regexp`].
    Regexp(&'q Pattern),
    /// [`Query::Fuzzy`].
    Fuzzy(&'q str, &'q str, Fuzziness, f32),
}

impl<'q> FieldQuery<'q> {
    /// The field's path, as the query names it.
    pub fn field(&self) -> &'q str {
        match self {
            FieldQuery::Match(clause) | FieldQuery::BoolPrefix(clause) => &clause.field,
            FieldQuery::Phrase(phrase) | FieldQuery::PhrasePrefix(phrase) => &phrase.field,
            FieldQuery::Term(term) => &term.field,
            FieldQuery::TermsSet(terms) => &terms.field,
            FieldQuery::Range(range) => &range.field,
            FieldQuery::Prefix(pattern)
            | FieldQuery::Wildcard(pattern)
            | FieldQuery::Regexp(pattern) => &pattern.field,
            FieldQuery::Terms(field, ..)
            | FieldQuery::Exists(field, _)
            | FieldQuery::Fuzzy(field, ..) => field,
        }
    }

    /// The factor on its score.
    pub fn boost(&self) -> f32 {
        match self {
            FieldQuery::Match(clause) | FieldQuery::BoolPrefix(clause) => clause.boost,
            FieldQuery::Phrase(phrase) | FieldQuery::PhrasePrefix(phrase) => phrase.boost,
            FieldQuery::Term(term) => term.boost,
            FieldQuery::TermsSet(terms) => terms.boost,
            FieldQuery::Range(range) => range.boost,
            FieldQuery::Prefix(pattern)
            | FieldQuery::Wildcard(pattern)
            | FieldQuery::Regexp(pattern) => pattern.boost,
            FieldQuery::Terms(_, _, boost)
            | FieldQuery::Exists(_, boost)
            | FieldQuery::Fuzzy(_, _, _, boost) => *boost,
        }
    }
}

impl Query {
    /// The query as one on the values of a field, if it is that and nothing else.
    pub fn on_field(&self) -> Option<FieldQuery<'_>> {
        Some(match self {
            Query::Match(clause) => FieldQuery::Match(clause),
            Query::MatchBoolPrefix(clause) => FieldQuery::BoolPrefix(clause),
            Query::MatchPhrase(phrase) => FieldQuery::Phrase(phrase),
            Query::MatchPhrasePrefix(phrase) => FieldQuery::PhrasePrefix(phrase),
            Query::Term(term) => FieldQuery::Term(term),
            Query::Terms {
                field,
                values,
                boost,
            } => FieldQuery::Terms(field, values, *boost),
            Query::TermsSet(terms) => FieldQuery::TermsSet(terms),
            Query::Range(range) => FieldQuery::Range(range),
            Query::Exists { field, boost } => FieldQuery::Exists(field, *boost),
            Query::Prefix(pattern) => FieldQuery::Prefix(pattern),
            Query::Wildcard(pattern) => FieldQuery::Wildcard(pattern),
            Query::Regexp(pattern) => FieldQuery::Regexp(pattern),
            Query::Fuzzy {
                field,
                value,
                fuzziness,
                boost,
            } => FieldQuery::Fuzzy(field, value, *fuzziness, *boost),
            Query::MatchAll { .. }
            | Query::MatchNone
            | Query::MultiMatch(_)
            | Query::TermsOf(_)
            | Query::Ids { .. }
            | Query::QueryString(_)
            | Query::Bool(_)
            | Query::ConstantScore { .. }
            | Query::DisMax { .. }
            | Query::Boosting(_)
            | Query::Intervals(_)
            | Query::Geo(_)
            | Query::FunctionScore(_)
            | Query::DistanceFeature(_)
            | Query::RankFeature(_)
            | Query::SparseVector(_)
            | Query::MoreLikeThis(_)
            | Query::VectorScore(_)
            | Query::Named { .. }
            | Query::Knn(_)
            | Query::Nested(_)
            | Query::Related(_)
            | Query::Percolate(_)
            | Query::Predicate(_)
            | Query::Derived(_)
            | Query::Lenient(_) => return None,
        })
    }
}
