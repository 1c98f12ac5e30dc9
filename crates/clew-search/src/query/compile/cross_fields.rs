//! `cross_fields`: each word in any of the fields, as if they were one.
//!
//! Fields whose analyzers of queries have one name are one group, in which the index's own goes by another name than the same
//! one that a field asks for. In a group a word is as frequent as in the field
//! that has it most often, so that it does not score more where it happens to be rare.

use clew_query::{FieldBoost, Match, MultiMatch, QueryError};
use clew_schema::{FieldKind, MappedField, similarity::Similarity};
use tantivy::Term as IndexTerm;

use super::compound::{any, dis_max};
use super::phrase::in_a_row;
use super::scored::Blend;
use super::text::{
    TOO_MANY_CLAUSES, combined, leniently, must_be_indexed, query_analyzer, tokens_of,
};
use super::token_graph::{TokenPlace, places};
use super::{Compiler, Node};
use crate::query::literal::text_of;

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
    blend: Blend,
}

/// Whether the analyzer is the index's own, which neither the query nor the field asks for.
fn is_of_index(multi: &MultiMatch, mapped: &MappedField, analyzer: &str) -> bool {
    multi.clause.analyzer.is_none()
        && mapped.search_analyzer().is_none()
        && analyzer == mapped.analysis.default_analyzer()
}

impl<'a> Compiler<'a> {
    pub(super) fn cross_fields(
        &mut self,
        multi: &MultiMatch,
        fields: &[FieldBoost],
        factor: f32,
    ) -> Result<Node, QueryError> {
        let tie_breaker = multi.tie_breaker.unwrap_or(0.0);
        let mut groups: Vec<((bool, String), Vec<Member<'a>>)> = Vec::new();
        let mut nodes = Vec::new();
        for FieldBoost { field, boost } in fields {
            let Some((mapped, _)) = self.field(field) else {
                continue;
            };
            let lenient = multi.clause.lenient || multi.fields.is_empty();
            let FieldKind::Text { .. } = &mapped.kind else {
                let clause = Match {
                    field: field.clone(),
                    boost: multi.clause.boost * boost,
                    lenient,
                    ..multi.clause.clone()
                };
                nodes.push(leniently(self.matches(&clause, factor), lenient)?);
                continue;
            };
            if let Err(error) = must_be_indexed(mapped) {
                nodes.push(leniently(Err(error), lenient)?);
                continue;
            }
            let analyzer = query_analyzer(mapped, multi.clause.analyzer.as_deref());
            let key = (is_of_index(multi, mapped, analyzer), analyzer.to_string());
            let boost = *boost;
            let member = Member { mapped, boost };
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, members)) => members.push(member),
                None => groups.push((key, vec![member])),
            }
        }
        for ((_, analyzer), members) in groups {
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
        for place in places(&tokens).ok_or(TOO_MANY_CLAUSES)? {
            words.push(match place {
                TokenPlace::Words(same) => {
                    self.blended_words(members, &same, (boost, tie_breaker))?
                }
                TokenPlace::Ways(ways) => {
                    let mut nodes = Vec::with_capacity(ways.len());
                    for way in &ways {
                        nodes.push(self.way_in_fields(members, way, (boost, tie_breaker))?);
                    }
                    any(nodes, 1)
                }
            });
        }
        let minimum = multi.clause.minimum_should_match.as_ref();
        Ok(combined(words, multi.clause.operator, minimum))
    }

    /// Words that stand for each other, in any of the fields.
    fn blended_words(
        &mut self,
        members: &[Member<'a>],
        words: &[String],
        (boost, tie_breaker): (f32, f32),
    ) -> Result<Node, QueryError> {
        if let ([member], Some((mapped, field))) = (
            members,
            members.first().and_then(|one| self.field(&one.mapped.path)),
        ) {
            return self.same_words(mapped, field, words, member.boost * boost);
        }
        let blended = self.blended(members, words)?;
        let mut nodes = Vec::with_capacity(blended.len());
        for one in blended {
            let boost = one.boost * boost;
            nodes.push(self.blended_term(one.mapped, one.term, one.blend, boost)?);
        }
        Ok(dis_max(nodes, tie_breaker))
    }

    /// The words of a synonym, in a row in one of the fields.
    fn way_in_fields(
        &mut self,
        members: &[Member<'a>],
        way: &[String],
        (boost, tie_breaker): (f32, f32),
    ) -> Result<Node, QueryError> {
        if way.len() == 1 {
            return self.blended_words(members, way, (boost, tie_breaker));
        }
        self.count_clauses(way.len().saturating_mul(members.len()))?;
        let mut nodes = Vec::with_capacity(members.len());
        for member in members {
            let Some((mapped, field)) = self.field(&member.mapped.path) else {
                continue;
            };
            let boost = member.boost * boost;
            nodes.push(self.phrase_of(mapped, in_a_row(field, way), 0, boost)?);
        }
        Ok(dis_max(nodes, tie_breaker))
    }

    /// The words in each field that has them. The more frequent a field has it, the lower it counts
    /// by one, which lets the field where the word is at home win.
    fn blended(
        &self,
        members: &[Member<'a>],
        words: &[String],
    ) -> Result<Vec<Occurrence<'a>>, QueryError> {
        let snapshot = self.context.snapshot;
        let mut found = Vec::with_capacity(members.len());
        let each = words
            .iter()
            .flat_map(|word| members.iter().map(move |member| (word, member)));
        for (word, member) in each {
            let Some((_, field)) = self.field(&member.mapped.path) else {
                continue;
            };
            let term = IndexTerm::from_field_text(field, word);
            let docs = snapshot.docs_weighed(&term, snapshot.doc_freq(&term)?)?;
            found.push(Occurrence {
                mapped: member.mapped,
                term,
                boost: member.boost,
                blend: Blend {
                    docs,
                    occurrences: None,
                },
            });
        }
        if found.len() > 1 {
            self.even_out(&mut found)?;
        }
        found.retain(|one| one.blend.docs > 0);
        Ok(found)
    }
    /// Makes the word as frequent in each field as where it is most frequent.
    fn even_out(&self, found: &mut [Occurrence<'_>]) -> Result<(), QueryError> {
        let snapshot = self.context.snapshot;
        let mut docs = snapshot.rows_weighed();
        for one in found.iter() {
            docs = docs.min(snapshot.statistics(one.mapped)?.tokens);
        }
        found.sort_by_key(|one| std::cmp::Reverse(one.blend.docs));
        let mut before = found[0].blend.docs;
        let mut adjusted = before.min(docs);
        for one in found.iter_mut().filter(|one| one.blend.docs > 0) {
            if before > one.blend.docs {
                adjusted += 1;
            }
            before = one.blend.docs;
            one.blend.docs = adjusted.min(docs);
        }
        let mut similarities = found.iter().map(|one| self.similarity(one.mapped));
        if similarities.any(Similarity::counts_occurrences) {
            let (mut sum, mut tokens) = (0, u64::MAX);
            for one in found.iter().filter(|one| one.blend.docs > 0) {
                let own = snapshot.occurrences(&one.term, &snapshot.find(&one.term)?)?;
                sum += own.max(one.blend.docs);
                tokens = tokens.min(snapshot.statistics(one.mapped)?.tokens);
            }
            for one in found {
                one.blend.occurrences = Some(sum.min(tokens));
            }
        }
        Ok(())
    }
}
