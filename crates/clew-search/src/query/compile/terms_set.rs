//! Documents with as many of some terms as they say themselves.

use std::sync::Arc;

use clew_query::{QueryError, ScriptPurpose, Term, TermsMinimum, TermsSet};
use clew_schema::FieldKind;

use super::compound::{all, any};
use super::{Compiler, Node};
use crate::query::covered::{Covered, TermsWanted};
use crate::query::function::script::CompiledScript;

impl Compiler<'_> {
    /// Documents with as many of the terms as a field of theirs, or a script, says.
    pub(super) fn terms_set(&mut self, query: &TermsSet, factor: f32) -> Result<Node, QueryError> {
        let Some((mapped, field)) = self.field(&query.field) else {
            return Ok(Node::nothing());
        };
        let wanted = self.wanted(&query.minimum)?;
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
            wanted,
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

    /// What says how many of the terms a document wants.
    fn wanted(&self, minimum: &TermsMinimum) -> Result<TermsWanted, QueryError> {
        let mapping = &self.context.snapshot.mapping;
        let path = match minimum {
            TermsMinimum::Field(path) => path,
            TermsMinimum::Script(script) => {
                // It makes a number, as one that orders does.
                let purpose = ScriptPurpose::Order;
                let known = (Vec::new(), self.context.now_ms);
                let script = CompiledScript::new(script, purpose, mapping, known);
                let script = script.over(self.context.snapshot)?;
                return Ok(TermsWanted::Script(Arc::new(script)));
            }
        };
        let Some(field) = mapping.field(path) else {
            return Err(QueryError::create(format!(
                "failed to find minimum_should_match field [{path}]"
            )));
        };
        if !matches!(field.kind, FieldKind::Integer(_)) {
            return Err(QueryError::create(format!(
                "minimum_should_match field [{path}] must be of a whole-number type"
            )));
        }
        Ok(TermsWanted::Column(field.column()))
    }
}
