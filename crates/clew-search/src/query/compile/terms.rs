//! Queries on exact values and on the term dictionary.

use std::sync::Arc;

use clew_analysis::normalize;
use clew_query::{Pattern, QueryError, Term};
use clew_schema::{
    FieldKind, FloatKind, IntegerKind, KeywordStyle, MappedField, Mapping, TextStyle,
};
use serde_json::Value;
use tantivy::Term as IndexTerm;
use tantivy::schema::Field;

use super::text::must_be_indexed;
use super::{Compiler, Node};
use crate::query::automaton::Wildcard;
use crate::query::constant::{
    AnyAccepted, AnyTerm, AnyWithPrefix, GivenDocs, HasColumn, HasTokens,
};
use crate::query::literal::{self, text_of};
use crate::query::regexp::Regexp;

/// Values of a terms query.
const TERMS_MAX: usize = 65_536;

impl<'a> Compiler<'a> {
    pub(super) fn term(&mut self, term: &Term, factor: f32) -> Result<Node, QueryError> {
        let boost = term.boost * factor;
        if term.field == "_id" {
            return super::ids(&[text_of(&term.value)], boost);
        }
        if term.case_insensitive {
            self.check_has_case(&term.field)?;
        }
        let Some((mapped, field)) = self.field_of_values(&term.field)? else {
            check_searched(&term.field)?;
            return Ok(self.not_a_term_field(&term.field));
        };
        if mapped.kind.is_never_searched() {
            return Err(not_searchable(mapped));
        }
        match &mapped.kind {
            FieldKind::Text { .. } | FieldKind::Keyword { .. } | FieldKind::Flat => {
                let text = keyword_text(mapped, &term.value);
                if term.case_insensitive {
                    must_be_indexed(mapped)?;
                    // Of no letters there is no other case, and nothing is found.
                    if text.is_empty() {
                        return Ok(Node::nothing());
                    }
                    let automaton = Wildcard::in_any_case(&text)?;
                    return Ok(accepted(field, automaton, boost));
                }
                if !mapped.indexed {
                    return self.equal_in_column(mapped, &term.value, boost);
                }
                if matches!(
                    mapped.kind,
                    FieldKind::Keyword {
                        style: KeywordStyle::Wildcard,
                        ..
                    }
                ) {
                    return self.counted_term(IndexTerm::from_field_text(field, &text), boost);
                }
                self.word(mapped, field, &text, boost)
            }
            FieldKind::Boolean if mapped.indexed => {
                let truth = i64::from(literal::boolean(&term.value)?);
                self.even_term(mapped, IndexTerm::from_field_i64(field, truth), boost)
            }
            FieldKind::Integer(kind) if mapped.indexed => {
                let Some(number) = literal::integer(&term.value, *kind)? else {
                    return Ok(Node::nothing());
                };
                self.counted_term(IndexTerm::from_field_i64(field, number), boost)
            }
            FieldKind::Unsigned if mapped.indexed => {
                let Some(number) = literal::unsigned(&term.value)? else {
                    return Ok(Node::nothing());
                };
                self.counted_term(IndexTerm::from_field_u64(field, number), boost)
            }
            FieldKind::RankFeatures | FieldKind::Percolator => Err(not_searchable(mapped)),
            FieldKind::Completion(_) => {
                self.scored_input((mapped, field), &text_of(&term.value), boost)
            }
            _ => self.equal_in_column(mapped, &term.value, boost),
        }
    }

    /// Refuses to pass over the case of values that have no letters.
    fn check_has_case(&self, path: &str) -> Result<(), QueryError> {
        let mapped = self.context.snapshot.mapping.field(path);
        match mapped.filter(|mapped| is_without_letters(&mapped.kind)) {
            Some(mapped) => Err(QueryError::unmapped(format!(
                "[{}] field which is of type [{}], does not support case insensitive term queries",
                mapped.path,
                mapped.kind.type_name()
            ))),
            None => Ok(()),
        }
    }

    /// The field at a path and its tantivy field, as of others; one of bytes, which need not be in any index, is refused.
    fn field_of_values(&self, path: &str) -> Result<Option<(&'a MappedField, Field)>, QueryError> {
        let snapshot = self.context.snapshot;
        let Some(mapped) = snapshot.mapping.field(path) else {
            return Ok(None);
        };
        if matches!(mapped.kind, FieldKind::Binary { .. }) {
            return Err(not_searchable(mapped));
        }
        Ok(snapshot.searchable(mapped).map(|field| (mapped, field)))
    }

    /// One term whose documents all score the same, and how many they are.
    pub(super) fn counted_term(&self, term: IndexTerm, score: f32) -> Result<Node, QueryError> {
        let field = term.field();
        let terms = vec![term.serialized_value_bytes().to_vec()];
        let frequency = self.context.snapshot.doc_freq(&term)?;
        let dead = self.context.snapshot.dead_docs();
        Ok(Node {
            at_least: frequency.saturating_sub(dead),
            exact: dead == 0,
            ..Node::set(AnyTerm { field, terms }, score)
        })
    }

    fn not_a_term_field(&self, path: &str) -> Node {
        // A vector field has no values to compare, an unmapped one no documents.
        debug_assert!(self.field(path).is_none());
        Node::nothing()
    }

    pub(super) fn terms(
        &mut self,
        path: &str,
        values: &[Value],
        score: f32,
    ) -> Result<Node, QueryError> {
        if values.len() > TERMS_MAX {
            return Err(QueryError::create(format!(
                "The number of terms [{}] used in the Terms Query request has exceeded the \
                 allowed maximum of [{TERMS_MAX}].",
                values.len()
            )));
        }
        if path == "_id" {
            let ids: Vec<String> = values.iter().map(text_of).collect();
            return super::ids(&ids, score);
        }
        let Some((mapped, field)) = self.field_of_values(path)? else {
            check_searched(path)?;
            return Ok(Node::nothing());
        };
        if let (FieldKind::Boolean, true, [value, others @ ..]) =
            (&mapped.kind, mapped.indexed, values)
            && others.iter().all(|other| text_of(other) == text_of(value))
        {
            let truth = i64::from(literal::boolean(value)?);
            return self.even_term(mapped, IndexTerm::from_field_i64(field, truth), score);
        }
        if mapped.indexed
            && let Some(terms) = dictionary_terms(mapped, field, values)?
        {
            return Ok(Node::set(AnyTerm { field, terms }, score));
        }
        let (mut terms, mut others) = (Vec::new(), Vec::new());
        for value in values {
            match address_term(mapped, field, value)? {
                Some(term) => terms.push(term),
                None => others.push(value),
            }
        }
        // Each of them is a clause that looks at the whole column.
        if mapped.date_format().is_some() {
            self.count_clauses(others.len())?;
        }
        let mut nodes = Vec::with_capacity(others.len() + 1);
        if !terms.is_empty() {
            nodes.push(Node::set(AnyTerm { field, terms }, 1.0));
        }
        for value in others {
            nodes.push(self.equal_in_column(mapped, value, 1.0)?);
        }
        Ok(super::rescored(super::compound::any(nodes, 1), score))
    }

    pub(super) fn exists(&self, path: &str, score: f32) -> Result<Node, QueryError> {
        if path == "_source" {
            return Err(QueryError::create("The _source field is not searchable"));
        }
        if is_of_every_document(path) {
            return Ok(self.everything(score));
        }
        check_searched(path)?;
        let fields = fields_with_values(path, &self.context.snapshot.mapping)?;
        let mut nodes = Vec::with_capacity(fields.len());
        for field in fields {
            nodes.push(self.has_value(field, score)?);
        }
        if nodes.len() == 1 {
            return Ok(nodes.remove(0));
        }
        Ok(super::rescored(super::compound::any(nodes, 1), score))
    }

    fn has_value(&self, mapped: &MappedField, score: f32) -> Result<Node, QueryError> {
        let snapshot = self.context.snapshot;
        if mapped.kind.is_vector() {
            let docs = self.context.vectors.present(mapped.id).to_vec();
            return Ok(Node::set(GivenDocs(docs), score));
        }
        if mapped.kind == FieldKind::RankFeatures {
            return Err(QueryError::create(
                "[rank_features] fields do not support [exists] queries",
            ));
        }
        if matches!(mapped.kind, FieldKind::Constant { .. }) {
            return Ok(self.everything(score));
        }
        let Some(field) = snapshot.searchable(mapped) else {
            return Ok(Node::nothing());
        };
        Ok(match mapped.kind {
            // These have terms, and neither lengths nor columns.
            FieldKind::Text {
                style: TextStyle::MatchOnly,
                ..
            }
            | FieldKind::Completion(_) => self.beginning((field, &[]), score)?,
            FieldKind::Text { .. } => Node::set(HasTokens(field), score),
            _ => Node::set(HasColumn(mapped.column()), score),
        })
    }

    pub(super) fn prefix(&mut self, pattern: &Pattern, factor: f32) -> Result<Node, QueryError> {
        let score = pattern.boost * factor;
        let Some(field) = self.pattern_field(&pattern.field, "prefix")? else {
            return Ok(Node::nothing());
        };
        let pattern = &self.normalized(pattern);
        let scores_words = self.scores_words(pattern);
        if scores_words || pattern.case_insensitive {
            let automaton = Wildcard::prefix(&pattern.value, pattern.case_insensitive)?;
            return match scores_words {
                true => self.scored_pattern(pattern, &automaton, score),
                false => Ok(accepted(field, automaton, score)),
            };
        }
        self.beginning((field, pattern.value.as_bytes()), score)
    }

    /// Words that begin so.
    pub(super) fn beginning(
        &self,
        (field, prefix): (Field, &[u8]),
        score: f32,
    ) -> Result<Node, QueryError> {
        let set = AnyWithPrefix {
            field,
            prefix: prefix.to_vec(),
            searched: self.context.snapshot.searched(field)?,
        };
        Ok(Node::set(set, score))
    }

    pub(super) fn wildcard(&mut self, pattern: &Pattern, factor: f32) -> Result<Node, QueryError> {
        let score = pattern.boost * factor;
        if pattern.field == "_id" {
            let automaton = Wildcard::parse(&pattern.value, pattern.case_insensitive)?;
            return Ok(accepted(clew_schema::Mapping::ID, automaton, score));
        }
        let Some(field) = self.pattern_field(&pattern.field, "wildcard")? else {
            return Ok(Node::nothing());
        };
        let pattern = &self.normalized(pattern);
        let scores_words = self.scores_words(pattern);
        if pattern.value == "*" && !scores_words {
            return self.exists(&pattern.field, score);
        }
        let automaton = Wildcard::parse(&pattern.value, pattern.case_insensitive)?;
        if scores_words {
            return self.scored_pattern(pattern, &automaton, score);
        }
        Ok(accepted(field, automaton, score))
    }

    pub(super) fn regexp(&mut self, pattern: &Pattern, factor: f32) -> Result<Node, QueryError> {
        let score = pattern.boost * factor;
        let Some(field) = self.pattern_field(&pattern.field, "regexp")? else {
            return Ok(Node::nothing());
        };
        let automaton = Regexp::new(&pattern.value, pattern.regexp_options());
        let automaton = automaton.map_err(|error| match error {
            QueryError::Illegal { reason } => QueryError::create(reason),
            other => other,
        })?;
        if self.scores_words(pattern) {
            return self.scored_pattern(pattern, &automaton, score);
        }
        let automaton = Arc::new(automaton);
        Ok(Node::set(AnyAccepted { field, automaton }, score))
    }

    /// Whether the words of a pattern are to score, and are words.
    fn scores_words(&self, pattern: &Pattern) -> bool {
        let mapped = self.context.snapshot.mapping.field(&pattern.field);
        let are_words = mapped.is_some_and(|mapped| {
            matches!(
                mapped.kind,
                FieldKind::Text { .. }
                    | FieldKind::Keyword {
                        style: KeywordStyle::Keyword,
                        ..
                    }
            )
        });
        are_words && pattern.rewrite.scores_words()
    }

    /// The pattern as the field's terms are written.
    fn normalized(&self, pattern: &Pattern) -> Pattern {
        let mapped = self.context.snapshot.mapping.field(&pattern.field);
        let normalizer = mapped.and_then(|mapped| mapped.settings.normalizer.as_deref());
        Pattern {
            value: match normalizer {
                Some(normalizer) => normalize(normalizer, &pattern.value),
                None => pattern.value.clone(),
            },
            ..pattern.clone()
        }
    }

    /// The tantivy field of a field with a dictionary of words.
    fn pattern_field(&self, path: &str, kind: &str) -> Result<Option<Field>, QueryError> {
        let Some((mapped, field)) = self.field(path) else {
            if path == "_id" {
                return Err(no_pattern_field(path, kind, path));
            }
            check_searched(path)?;
            return Ok(None);
        };
        match mapped.kind {
            FieldKind::Text { .. } | FieldKind::Keyword { .. } | FieldKind::Flat => {
                must_be_indexed(mapped)?;
                Ok(Some(field))
            }
            _ => Err(no_pattern_field(path, kind, mapped.kind.type_name())),
        }
    }
}

/// Whether the values of a field are no texts.
fn is_without_letters(kind: &FieldKind) -> bool {
    matches!(
        kind,
        FieldKind::Integer(_)
            | FieldKind::Unsigned
            | FieldKind::Float(_)
            | FieldKind::Date { .. }
            | FieldKind::DateNanos { .. }
            | FieldKind::Ip
            | FieldKind::GeoPoint
            | FieldKind::GeoShape
            | FieldKind::Range { .. }
            | FieldKind::Binary { .. }
    )
}

pub(super) fn no_pattern_field(path: &str, query: &str, type_name: &str) -> QueryError {
    QueryError::unmapped(format!(
        "Can only use {query} queries on keyword and text fields - not on [{path}] which is of \
         type [{type_name}]"
    ))
}

/// Refuses what stands beside the fields of a document and is kept where no query looks, so that nobody takes it for
/// something that no document has.
pub(super) fn check_searched(path: &str) -> Result<(), QueryError> {
    match path {
        "_seq_no" | "_version" => Err(QueryError::create(format!(
            "The {path} field is not searchable"
        ))),
        _ => Ok(()),
    }
}

fn is_of_every_document(path: &str) -> bool {
    matches!(path, "_id" | "_index" | "_source" | "_seq_no" | "_version")
}

/// The fields that are asked for when documents are to have a value at a path, which may be a pattern.
pub(crate) fn fields_with_values<'m>(
    path: &str,
    mapping: &'m Mapping,
) -> Result<Vec<&'m MappedField>, QueryError> {
    if is_of_every_document(path) {
        return Ok(Vec::new());
    }
    if let Some(field) = mapping.field(path) {
        return Ok(vec![field]);
    }
    let below = format!("{path}.");
    let pattern = Wildcard::parse(path, false)?;
    let named = |field: &&MappedField| {
        field.path.starts_with(&below) || path.contains('*') && pattern.matches(&field.path)
    };
    Ok(mapping.fields().iter().filter(named).collect())
}

/// A value as the field's terms have it.
pub(super) fn keyword_text(mapped: &MappedField, value: &Value) -> String {
    let text = text_of(value);
    match &mapped.settings.normalizer {
        Some(normalizer) => normalize(normalizer, &text),
        None => text,
    }
}

pub(super) fn not_searchable(mapped: &MappedField) -> QueryError {
    if matches!(
        mapped.kind,
        FieldKind::RankFeatures | FieldKind::Float(FloatKind::RankFeature)
    ) {
        let type_name = mapped.kind.type_name();
        return QueryError::create(format!("Queries on [{type_name}] fields are not supported"));
    }
    if mapped.kind == FieldKind::Percolator {
        return QueryError::unmapped(
            "Percolator fields are not searchable directly, use a percolate query instead",
        );
    }
    let path = &mapped.path;
    if mapped.kind == FieldKind::Integer(IntegerKind::Murmur3) {
        return QueryError::create(format!("Murmur3 fields are not searchable: [{path}]"));
    }
    QueryError::unmapped("Binary fields do not support searching")
}

fn accepted(field: Field, automaton: Wildcard, score: f32) -> Node {
    let automaton = Arc::new(automaton);
    Node::set(AnyAccepted { field, automaton }, score)
}

/// The term of an address in the dictionary; a network has none, nor has a field that is not indexed.
fn address_term(
    mapped: &MappedField,
    field: Field,
    value: &Value,
) -> Result<Option<Vec<u8>>, QueryError> {
    if mapped.kind != FieldKind::Ip || !mapped.indexed {
        return Ok(None);
    }
    let (first, last) = literal::network(value)?;
    let term = IndexTerm::from_field_ip_addr(field, first);
    Ok((first == last).then(|| term.serialized_value_bytes().to_vec()))
}

/// The values' bytes in the dictionary; `None` when the field has no dictionary for them.
pub(crate) fn dictionary_terms(
    mapped: &MappedField,
    field: Field,
    values: &[Value],
) -> Result<Option<Vec<Vec<u8>>>, QueryError> {
    if mapped.kind.is_never_searched() {
        return Err(not_searchable(mapped));
    }
    let mut terms = Vec::with_capacity(values.len());
    for value in values {
        let term = match &mapped.kind {
            FieldKind::Text { .. } | FieldKind::Keyword { .. } | FieldKind::Flat => {
                IndexTerm::from_field_text(field, &keyword_text(mapped, value))
            }
            FieldKind::Unsigned => match literal::unsigned(value)? {
                Some(number) => IndexTerm::from_field_u64(field, number),
                None => continue,
            },
            FieldKind::Boolean => {
                IndexTerm::from_field_i64(field, i64::from(literal::boolean(value)?))
            }
            FieldKind::Integer(kind) => match literal::integer(value, *kind)? {
                Some(number) => IndexTerm::from_field_i64(field, number),
                None => continue,
            },
            _ => return Ok(None),
        };
        terms.push(term.serialized_value_bytes().to_vec());
    }
    Ok(Some(terms))
}
