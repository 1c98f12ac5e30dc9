//! `cross_fields`: each word in any of the fields, as if they were one.
//!
//! Fields that are analyzed alike are one group. In a group a word is as frequent as in the field
//! that has it most often, so that it does not score more where it happens to be rare.

use tantivy::Term as IndexTerm;

use super::compound::dis_max;
use super::text::{combined, leniently, must_be_indexed, query_analyzer, tokens_of};
use super::{Compiler, Node};
use crate::mapping::{FieldKind, MappedField};
use crate::query::error::QueryError;
use crate::query::literal::text_of;
use crate::query::tree::{FieldBoost, Match, MultiMatch};

/// One field of a group.
struct Member<'a> {
    mapped: &'a MappedField,
    boost: f32,
}

/// A word in one field.
struct Occurrence<'a> {
    mapped: &'a MappedField,
    term: IndexTerm,
    boost: f32,
    frequency: u64,
}

impl<'a> Compiler<'a> {
    pub(super) fn cross_fields(
        &mut self,
        multi: &MultiMatch,
        fields: &[FieldBoost],
        factor: f32,
    ) -> Result<Node, QueryError> {
        let tie_breaker = multi.tie_breaker.unwrap_or(0.0);
        let mut groups: Vec<(String, Vec<Member<'a>>)> = Vec::new();
        let mut nodes = Vec::new();
        for FieldBoost { field, boost } in fields {
            let Some((mapped, _)) = self.field(field) else {
                continue;
            };
            let FieldKind::Text { .. } = &mapped.kind else {
                let clause = Match {
                    field: field.clone(),
                    boost: multi.clause.boost * boost,
                    lenient: multi.clause.lenient || multi.fields.is_empty(),
                    ..multi.clause.clone()
                };
                nodes.push(leniently(self.matches(&clause, factor), clause.lenient)?);
                continue;
            };
            must_be_indexed(mapped)?;
            let analyzer = query_analyzer(mapped, multi.clause.analyzer.as_deref());
            let boost = *boost;
            let member = Member { mapped, boost };
            match groups.iter_mut().find(|(known, _)| known == analyzer) {
                Some((_, members)) => members.push(member),
                None => groups.push((analyzer.to_string(), vec![member])),
            }
        }
        for (analyzer, members) in groups {
            nodes.push(self.group(multi, (&analyzer, &members), factor)?);
        }
        Ok(dis_max(nodes, tie_breaker))
    }

    fn group(
        &mut self,
        multi: &MultiMatch,
        (analyzer, members): (&str, &[Member<'a>]),
        factor: f32,
    ) -> Result<Node, QueryError> {
        let tokens = tokens_of(analyzer, &text_of(&multi.clause.text))?;
        let boost = multi.clause.boost * factor;
        if tokens.is_empty() {
            return Ok(if multi.clause.zero_terms_all {
                self.everything(boost)
            } else {
                Node::nothing()
            });
        }
        self.count_clauses(tokens.len().saturating_mul(members.len()))?;
        let tie_breaker = multi.tie_breaker.unwrap_or(0.0);
        let mut words = Vec::with_capacity(tokens.len());
        for token in tokens {
            let blended = self.blended(members, &token.text)?;
            let mut nodes = Vec::with_capacity(blended.len());
            for one in blended {
                let boost = one.boost * boost;
                nodes.push(self.blended_term(one.mapped, one.term, one.frequency, boost)?);
            }
            words.push(dis_max(nodes, tie_breaker));
        }
        let minimum = multi.clause.minimum_should_match.as_ref();
        Ok(combined(words, multi.clause.operator, minimum))
    }

    /// The word in each field that has it. The more frequent a field has it, the lower it counts
    /// by one, which lets the field where the word is at home win.
    fn blended(
        &self,
        members: &[Member<'a>],
        word: &str,
    ) -> Result<Vec<Occurrence<'a>>, QueryError> {
        let snapshot = self.context.snapshot;
        let mut found = Vec::with_capacity(members.len());
        for member in members {
            let Some((_, field)) = self.field(&member.mapped.path) else {
                continue;
            };
            let term = IndexTerm::from_field_text(field, word);
            found.push(Occurrence {
                mapped: member.mapped,
                frequency: snapshot.doc_freq(&term)?,
                term,
                boost: member.boost,
            });
        }
        if found.len() > 1 {
            let mut docs = snapshot.live_docs() + snapshot.dead_docs();
            for one in &found {
                docs = docs.min(snapshot.statistics(one.mapped)?.tokens);
            }
            found.sort_by_key(|one| std::cmp::Reverse(one.frequency));
            let mut before = found[0].frequency;
            let mut adjusted = before.min(docs);
            for one in found.iter_mut().filter(|one| one.frequency > 0) {
                if before > one.frequency {
                    adjusted += 1;
                }
                before = one.frequency;
                one.frequency = adjusted.min(docs);
            }
        }
        found.retain(|one| one.frequency > 0);
        Ok(found)
    }
}
