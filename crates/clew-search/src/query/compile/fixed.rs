//! Queries on a field whose value is the mapping's: they match every document or none.

#![warn(clippy::wildcard_enum_match_arm)]

use clew_query::{Pattern, Query, QueryError, Range, Term};
use clew_schema::FieldKind;
use serde_json::Value;

use super::{Compiler, Node};
use crate::query::automaton::{Nearby, Wildcard};
use crate::query::literal::text_of;
use crate::query::regexp::Regexp;

/// The field of a query that has just one.
pub(crate) fn field_of(query: &Query) -> Option<&str> {
    match query {
        Query::Match(clause) | Query::MatchBoolPrefix(clause) => Some(&clause.field),
        Query::MatchPhrase(phrase) | Query::MatchPhrasePrefix(phrase) => Some(&phrase.field),
        Query::Term(term) => Some(&term.field),
        Query::Range(range) => Some(&range.field),
        Query::Prefix(pattern) | Query::Wildcard(pattern) | Query::Regexp(pattern) => {
            Some(&pattern.field)
        }
        Query::Terms { field, .. } | Query::Exists { field, .. } | Query::Fuzzy { field, .. } => {
            Some(field)
        }
        Query::TermsSet(terms) => Some(&terms.field),
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
        | Query::Lenient(_) => None,
    }
}

impl Compiler<'_> {
    /// The answer, if the query is on such a field.
    pub(super) fn on_constant(
        &self,
        query: &Query,
        factor: f32,
    ) -> Result<Option<Node>, QueryError> {
        let mapped = field_of(query).and_then(|path| self.context.snapshot.mapping.field(path));
        let Some(FieldKind::Constant { value }) = mapped.map(|mapped| &mapped.kind) else {
            return Ok(None);
        };
        let (matches, boost) = match value {
            Some(value) => matches(query, value)?,
            None => (false, 1.0),
        };
        Ok(Some(if matches {
            self.everything(boost * factor)
        } else {
            Node::nothing()
        }))
    }
}

/// Whether the value is what the query asks for, and the query's factor.
fn matches(query: &Query, have: &str) -> Result<(bool, f32), QueryError> {
    Ok(match query {
        Query::Match(clause) | Query::MatchBoolPrefix(clause) => {
            (text_of(&clause.text) == have, clause.boost)
        }
        Query::MatchPhrase(phrase) => (text_of(&phrase.text) == have, phrase.boost),
        Query::MatchPhrasePrefix(phrase) => {
            (have.starts_with(&text_of(&phrase.text)), phrase.boost)
        }
        Query::Term(term) => (is_equal(term, have)?, term.boost),
        Query::Terms { values, boost, .. } => {
            (values.iter().any(|value| text_of(value) == have), *boost)
        }
        Query::Exists { boost, .. } => (true, *boost),
        Query::Prefix(pattern) => {
            let wanted = Wildcard::literal(&pattern.value, true, pattern.case_insensitive)?;
            (wanted.matches(have), pattern.boost)
        }
        Query::Wildcard(pattern) => {
            let wanted = Wildcard::parse(&pattern.value, pattern.case_insensitive)?;
            (wanted.matches(have), pattern.boost)
        }
        Query::Regexp(pattern) => (is_expression(pattern, have)?, pattern.boost),
        Query::Fuzzy {
            value,
            fuzziness,
            boost,
            ..
        } => (
            Nearby::new(value, fuzziness).distance(have).is_some(),
            *boost,
        ),
        Query::Range(range) => (is_between(range, have), range.boost),
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
        | Query::TermsSet(_)
        | Query::VectorScore(_)
        | Query::Named { .. }
        | Query::Knn(_)
        | Query::Nested(_)
        | Query::Related(_)
        | Query::Percolate(_)
        | Query::Lenient(_) => (false, 1.0),
    })
}

fn is_equal(term: &Term, have: &str) -> Result<bool, QueryError> {
    let wanted = text_of(&term.value);
    Ok(wanted == have
        || term.case_insensitive && Wildcard::literal(&wanted, false, true)?.matches(have))
}

fn is_expression(pattern: &Pattern, have: &str) -> Result<bool, QueryError> {
    let expression = Regexp::new(&pattern.value, pattern.regexp_options())?;
    Ok(expression.matches(have))
}

fn is_between(range: &Range, have: &str) -> bool {
    let holds = |end: &Option<Value>, fits: fn(&str, &str) -> bool| {
        let end = end.as_ref().filter(|end| !end.is_null());
        end.is_none_or(|end| fits(have, &text_of(end)))
    };
    holds(&range.gt, |have, end| have > end)
        && holds(&range.gte, |have, end| have >= end)
        && holds(&range.lt, |have, end| have < end)
        && holds(&range.lte, |have, end| have <= end)
}
