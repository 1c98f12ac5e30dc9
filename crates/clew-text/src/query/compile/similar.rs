//! The words that say most about a text, and documents that have them.

use std::collections::{BTreeMap, BTreeSet};

use tantivy::Term as IndexTerm;
use tantivy::schema::Field;

use super::compound::{all, any};
use super::text::{must_be_indexed, query_analyzer, tokens_of};
use super::{Compiler, Node};
use crate::mapping::{FieldKind, MappedField};
use crate::query::constant::Covered;
use crate::query::error::QueryError;
use crate::query::literal::text_of;
use crate::query::similar::{LikeItem, MoreLikeThis, texts_at};
use crate::query::tree::{Term, TermsSet};

/// A word, in how many documents it is, and how much it says.
struct Weighted<'a> {
    mapped: &'a MappedField,
    term: IndexTerm,
    weight: f32,
}

impl<'a> Compiler<'a> {
    pub(super) fn more_like_this(
        &mut self,
        query: &MoreLikeThis,
        factor: f32,
    ) -> Result<Node, QueryError> {
        let mut nodes = Vec::new();
        let fields = self.similar_fields(query)?;
        // A word of a text is looked for where it is most frequent, one of a document in its field.
        if let Some((first, _)) = fields.first()
            && query.like.iter().any(is_text)
        {
            let words = self.weighted_words((query, true), first, &fields)?;
            nodes.push(self.any_word(query, vec![words], factor)?);
        }
        if !query.like.iter().all(is_text) {
            let mut words = Vec::with_capacity(fields.len());
            for field in &fields {
                let own = std::slice::from_ref(field);
                words.push(self.weighted_words((query, false), field.0, own)?);
            }
            nodes.push(self.any_word(query, words, factor)?);
        }
        Ok(any(nodes, 1))
    }

    /// As many of the weightiest words as are asked for; those of each list by themselves.
    fn any_word(
        &mut self,
        query: &MoreLikeThis,
        lists: Vec<Vec<Weighted<'a>>>,
        factor: f32,
    ) -> Result<Node, QueryError> {
        let mut nodes = Vec::new();
        for mut words in lists {
            words.sort_by(|a, b| b.weight.total_cmp(&a.weight));
            words.truncate(query.choice.query_terms_max);
            // As OpenSearch has it, by the least weighty one that is kept.
            let least = words.last().map_or(1.0, |word| word.weight);
            self.count_clauses(words.len())?;
            for word in words {
                let boost = if query.boost_terms > 0.0 {
                    query.boost_terms * word.weight / least
                } else {
                    1.0
                };
                let boost = boost * query.boost * factor;
                nodes.push(self.scored_term(word.mapped, word.term, boost)?);
            }
        }
        if nodes.is_empty() {
            return Ok(Node::nothing());
        }
        let minimum = query.minimum_should_match.resolve(nodes.len()).max(1);
        Ok(any(nodes, minimum))
    }

    fn similar_fields(
        &self,
        query: &MoreLikeThis,
    ) -> Result<Vec<(&'a MappedField, Field)>, QueryError> {
        let has_words = |mapped: &MappedField| {
            matches!(
                mapped.kind,
                FieldKind::Text { .. } | FieldKind::Keyword { .. }
            )
        };
        if query.fields.is_empty() {
            let mapping = &self.context.snapshot.mapping;
            let paths = mapping
                .fields()
                .iter()
                .filter(|mapped| has_words(mapped) && mapped.indexed && !mapped.multi_field)
                .map(|mapped| mapped.path.as_str());
            return Ok(paths.filter_map(|path| self.field(path)).collect());
        }
        let mut fields = Vec::with_capacity(query.fields.len());
        for path in &query.fields {
            let Some((mapped, field)) = self.field(path) else {
                continue;
            };
            if !has_words(mapped) {
                return Err(QueryError::create(format!(
                    "more_like_this only supports text/keyword fields: [{path}]"
                )));
            }
            must_be_indexed(mapped)?;
            fields.push((mapped, field));
        }
        Ok(fields)
    }

    /// The words of the texts that count, with what they say.
    #[allow(
        clippy::cast_precision_loss,
        reason = "weights only order words and need no more precision than a score"
    )]
    fn weighted_words(
        &self,
        (query, of_texts): (&MoreLikeThis, bool),
        mapped: &MappedField,
        fields: &[(&'a MappedField, Field)],
    ) -> Result<Vec<Weighted<'a>>, QueryError> {
        let like = query.like.iter().filter(|item| is_text(item) == of_texts);
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for word in words(query, mapped, like)? {
            *counts.entry(word).or_default() += 1;
        }
        let unwanted: BTreeSet<String> = words(query, mapped, query.unlike.iter())?
            .into_iter()
            .collect();
        let snapshot = self.context.snapshot;
        let docs = snapshot.live_docs() + snapshot.dead_docs();
        let choice = &query.choice;
        let mut found = Vec::new();
        for (word, count) in counts {
            if count < choice.term_freq_min || unwanted.contains(&word) || !choice.takes(&word) {
                continue;
            }
            let mut most: Option<(&'a MappedField, IndexTerm, u64)> = None;
            for (mapped, field) in fields {
                let term = IndexTerm::from_field_text(*field, &word);
                let frequency = snapshot.doc_freq(&term)?;
                if most.as_ref().is_none_or(|(_, _, most)| frequency > *most) {
                    most = Some((*mapped, term, frequency));
                }
            }
            let Some((mapped, term, frequency)) = most else {
                continue;
            };
            if frequency == 0 || frequency < choice.doc_freq_min || frequency > choice.doc_freq_max
            {
                continue;
            }
            let rarity = ((docs + 1) as f32 / (frequency + 1) as f32).ln() + 1.0;
            found.push(Weighted {
                mapped,
                term,
                weight: count as f32 * rarity,
            });
        }
        Ok(found)
    }

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

fn is_text(item: &LikeItem) -> bool {
    matches!(item, LikeItem::Text(_))
}

/// The words of texts and documents, as often as they are there.
fn words<'i>(
    query: &MoreLikeThis,
    mapped: &MappedField,
    items: impl Iterator<Item = &'i LikeItem>,
) -> Result<Vec<String>, QueryError> {
    let analyzer = query_analyzer(mapped, query.analyzer.as_deref());
    let mut found = Vec::new();
    let mut read = |text: &str| -> Result<(), QueryError> {
        found.extend(
            tokens_of(analyzer, text)?
                .into_iter()
                .map(|token| token.text),
        );
        Ok(())
    };
    for item in items {
        match item {
            LikeItem::Text(text) => read(text)?,
            LikeItem::Document(document) => {
                let mut texts = Vec::new();
                texts_at(document, &mapped.path, &mut texts);
                for text in texts {
                    read(&text_of(text))?;
                }
            }
        }
    }
    Ok(found)
}
