//! Queries on a field of which all documents have the same, by the mapping or as the name of their index: they match
//! every document or none.

use clew_query::{FieldQuery, Pattern, Query, QueryError, Range, Term};
use clew_schema::{FieldKind, glob};
use serde_json::Value;

use super::fuzzy::no_words;
use super::text::leniently;
use super::{Compiler, Node};
use crate::query::automaton::Wildcard;
use crate::query::literal::text_of;
use crate::query::regexp::Regexp;
use crate::snapshot::INDEX_FIELD;

impl Compiler<'_> {
    /// The answer, if the query is on such a field.
    pub(super) fn on_constant(
        &self,
        query: &Query,
        factor: f32,
    ) -> Result<Option<Node>, QueryError> {
        let Some(query) = query.on_field() else {
            return Ok(None);
        };
        let snapshot = self.context.snapshot;
        let mapped = snapshot.mapping.field(query.field());
        let value = match mapped.map(|mapped| &mapped.kind) {
            Some(FieldKind::Constant { value }) => value.as_deref(),
            None if query.field() == INDEX_FIELD => snapshot.index_name(),
            None => return self.on_rows(query, factor),
            Some(_) => return Ok(None),
        };
        let like_words = match &query {
            FieldQuery::Match(clause) if clause.fuzziness.is_some() => Some(clause.lenient),
            FieldQuery::Fuzzy(..) => Some(false),
            _ => None,
        };
        if let Some(lenient) = like_words {
            let path = query.field();
            let kind = mapped.map_or(path, |mapped| mapped.kind.type_name());
            return leniently(Err(no_words(path, kind)), lenient).map(Some);
        }
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
fn matches(query: FieldQuery<'_>, have: &str) -> Result<(bool, f32), QueryError> {
    Ok(match query {
        FieldQuery::Match(clause) | FieldQuery::BoolPrefix(clause) => {
            (is_meant(&clause.text, have), clause.boost)
        }
        FieldQuery::Phrase(phrase) => (is_meant(&phrase.text, have), phrase.boost),
        FieldQuery::PhrasePrefix(phrase) => {
            (have.starts_with(&text_of(&phrase.text)), phrase.boost)
        }
        FieldQuery::Term(term) => (is_equal(term, have), term.boost),
        FieldQuery::Terms(_, values, boost) => {
            (values.iter().any(|value| is_meant(value, have)), boost)
        }
        FieldQuery::Exists(_, boost) => (true, boost),
        FieldQuery::Prefix(pattern) => {
            let wanted = Wildcard::prefix(&pattern.value, pattern.case_insensitive)?;
            (wanted.matches(have), pattern.boost)
        }
        FieldQuery::Wildcard(pattern) => {
            let wanted = Wildcard::parse(&pattern.value, pattern.case_insensitive)?;
            (wanted.matches(have), pattern.boost)
        }
        FieldQuery::Regexp(pattern) => (is_expression(pattern, have)?, pattern.boost),
        FieldQuery::Range(range) => (is_between(range, have), range.boost),
        // Words like one were refused before.
        FieldQuery::Fuzzy(..) | FieldQuery::TermsSet(_) => (false, 1.0),
    })
}

/// A star stands for anything in each word that is looked for in such a field, as in OpenSearch.
fn is_meant(wanted: &Value, have: &str) -> bool {
    glob::matches(&text_of(wanted), have)
}

fn is_equal(term: &Term, have: &str) -> bool {
    is_meant(&term.value, have)
        || term.case_insensitive
            && glob::matches(&text_of(&term.value).to_lowercase(), &have.to_lowercase())
}

fn is_expression(pattern: &Pattern, have: &str) -> Result<bool, QueryError> {
    let expression = Regexp::new(&pattern.value, pattern.regexp_options())?;
    Ok(expression.matches(have))
}

pub(super) fn is_between(range: &Range, have: &str) -> bool {
    let holds = |end: &Option<Value>, fits: fn(&str, &str) -> bool| {
        let end = end.as_ref().filter(|end| !end.is_null());
        end.is_none_or(|end| fits(have, &text_of(end)))
    };
    holds(&range.gt, |have, end| have > end)
        && holds(&range.gte, |have, end| have >= end)
        && holds(&range.lt, |have, end| have < end)
        && holds(&range.lte, |have, end| have <= end)
}
