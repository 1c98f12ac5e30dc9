//! Documents with as many of some terms as they say themselves.

use clew_query::{QueryError, Term, TermsSet};
use clew_schema::FieldKind;

use super::compound::{all, any};
use super::{Compiler, Node};
use crate::query::constant::Covered;

impl Compiler<'_> {
    /// Documents with as many of the terms as a field of theirs says.
    pub(super) fn terms_set(&mut self, query: &TermsSet, factor: f32) -> Result<Node, QueryError> {
        let Some((mapped, field)) = self.field(&query.field) else {
            return Ok(Node::nothing());
        };
        let snapshot = self.context.snapshot;
        let Some(minimum) = snapshot.mapping.field(&query.minimum_field) else {
            return Err(QueryError::create(format!(
                "failed to find minimum_should_match field [{}]",
                query.minimum_field
            )));
        };
        if !matches!(minimum.kind, FieldKind::Integer(_)) {
            return Err(QueryError::create(format!(
                "minimum_should_match field [{}] must be of a whole-number type",
                query.minimum_field
            )));
        }
        let Some(terms) = super::terms::dictionary_terms(mapped, field, &query.terms)? else {
            return Err(QueryError::create(format!(
                "[terms_set] needs a field with a dictionary of terms, not [{}] of type [{}]",
                query.field,
                mapped.kind.type_name()
            )));
        };
        self.count_clauses(query.terms.len())?;
        let covered = Covered {
            field,
            terms,
            minimum: minimum.column(),
            minimum_max: match query.at_most_all {
                true => i64::try_from(query.terms.len()).unwrap_or(i64::MAX),
                false => i64::MAX,
            },
        };
        let mut scoring = Vec::with_capacity(query.terms.len());
        for value in &query.terms {
            let term = Term {
                field: query.field.clone(),
                value: value.clone(),
                case_insensitive: false,
                boost: query.boost,
            };
            scoring.push(self.term(&term, factor)?);
        }
        Ok(all(vec![any(scoring, 1), Node::set(covered, 0.0)]))
    }
}
