//! The words that say most about a text, and documents that have them.

use std::collections::{BTreeMap, BTreeSet};

use clew_platform::Pace;
use clew_query::{LikeDocument, LikeItem, MoreLikeThis, QueryError, go_on};
use clew_schema::{FieldKind, KeywordStyle, MappedField, Mapping, TextStyle, values_at};
use tantivy::Term as IndexTerm;
use tantivy::schema::Field;

use super::compound::any;
use super::text::{TEXT_BYTES_MAX, must_be_indexed, query_analyzer, tokens_of};
use super::{Compiler, Node};
use crate::query::literal::text_of;
use crate::snapshot::Snapshot;

/// A document brings its fields along, a text does not.
const WITHOUT_FIELDS: &str = "[more_like_this] query cannot infer the field to analyze the free text, you should update \
    the [index.query.default_field] index setting to a field that exists in the mapping or set the [fields] option in the \
    query.";

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
        for item in query.like.iter().chain(&query.unlike) {
            if let LikeItem::Named(named) = item {
                return Err(named.document.not_read());
            }
        }
        if query.fields.is_empty() && query.like.iter().any(is_text) {
            return Err(QueryError::create(WITHOUT_FIELDS));
        }
        let mut nodes = Vec::new();
        let fields = self.similar_fields(query)?;
        let first = fields.first().map(|(mapped, _)| *mapped);
        // A word of a text is looked for where it is most frequent, one of a document in its field.
        if let Some(first) = first
            && query.like.iter().any(is_text)
        {
            let words = self.weighted_words(query, Wanted::Texts, (first, &fields))?;
            nodes.push(self.any_word(query, vec![words], factor)?);
        }
        if !query.like.iter().all(is_text) {
            let mut words = Vec::with_capacity(fields.len());
            for field in &fields {
                let is_first = first.is_some_and(|first| first.id == field.0.id);
                let own = (field.0, std::slice::from_ref(field));
                words.push(self.weighted_words(query, Wanted::Documents { is_first }, own)?);
            }
            if query.like.iter().any(is_made_up) {
                let beside = self.every_field();
                let beside = beside.iter().filter(|(other, _)| {
                    let mut known = fields.iter();
                    known.all(|(mapped, _)| mapped.id != other.id)
                });
                for field in beside {
                    let own = (field.0, std::slice::from_ref(field));
                    words.push(self.weighted_words(query, Wanted::MadeUp, own)?);
                }
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
            // Boosts are measured by the word that says least of those that are looked for.
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

    /// The fields of words that can be searched.
    fn every_field(&self) -> Vec<(&'a MappedField, Field)> {
        let snapshot: &'a Snapshot = self.context.snapshot;
        let fields = snapshot.mapping.fields().iter();
        let fields =
            fields.filter(|mapped| has_words(mapped) && mapped.indexed && !mapped.settings.hidden);
        fields
            .filter_map(|mapped| Some((mapped, snapshot.searchable(mapped)?)))
            .collect()
    }

    fn similar_fields(
        &self,
        query: &MoreLikeThis,
    ) -> Result<Vec<(&'a MappedField, Field)>, QueryError> {
        if query.fields.is_empty() {
            return Ok(self.every_field());
        }
        let mut fields = Vec::with_capacity(query.fields.len());
        for path in &query.fields {
            let Some((mapped, field)) = self.field(path) else {
                continue;
            };
            if !may_be_named(mapped) {
                if query.passes_over_others {
                    continue;
                }
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
        query: &MoreLikeThis,
        wanted: Wanted,
        (mapped, fields): (&MappedField, &[(&'a MappedField, Field)]),
    ) -> Result<Vec<Weighted<'a>>, QueryError> {
        let mapping: &Mapping = &self.context.snapshot.mapping;
        let like = query.like.iter().filter(|item| wanted.likes(item));
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for word in words(query, (mapping, mapped), like)? {
            *counts.entry(word).or_default() += 1;
        }
        let documents = !query.like.iter().all(is_text);
        let unlike = query.unlike.iter();
        let unlike = unlike.filter(|item| wanted.unlikes(item, documents));
        let unwanted: BTreeSet<String> = words(query, (mapping, mapped), unlike)?
            .into_iter()
            .collect();
        let snapshot = self.context.snapshot;
        let docs = snapshot.live_docs() + snapshot.dead_docs();
        let choice = &query.choice;
        let (mut found, mut pace) = (Vec::new(), Pace::default());
        for (word, count) in counts {
            go_on(&mut pace)?;
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
}

/// What is looked at of what to be like.
#[derive(Clone, Copy)]
enum Wanted {
    Texts,
    /// Documents, in a field that was asked for.
    Documents {
        /// Whether it was the first.
        is_first: bool,
    },
    /// Documents of no index, in a field that was not asked for.
    MadeUp,
}

impl Wanted {
    fn likes(self, item: &LikeItem) -> bool {
        match self {
            Wanted::Texts => is_text(item),
            Wanted::Documents { .. } => !is_text(item),
            Wanted::MadeUp => is_made_up(item),
        }
    }

    /// Unwanted texts are about the first field, and unwanted documents count only where something
    /// should be like a document.
    fn unlikes(self, item: &LikeItem, documents: bool) -> bool {
        match self {
            Wanted::Texts => is_text(item) || documents,
            Wanted::Documents { is_first } => is_first || !is_text(item),
            Wanted::MadeUp => is_made_up(item),
        }
    }
}

fn has_words(mapped: &MappedField) -> bool {
    matches!(
        mapped.kind,
        FieldKind::Text { .. } | FieldKind::Keyword { .. }
    )
}

/// Whether a field may be asked for by its name: of texts and keywords that are nothing else.
fn may_be_named(mapped: &MappedField) -> bool {
    match &mapped.kind {
        FieldKind::Text { style, .. } => *style == TextStyle::Full,
        FieldKind::Keyword { style, .. } => *style == KeywordStyle::Keyword,
        _ => false,
    }
}

fn is_text(item: &LikeItem) -> bool {
    matches!(item, LikeItem::Text(_))
}

fn is_made_up(item: &LikeItem) -> bool {
    matches!(
        item,
        LikeItem::Document(LikeDocument {
            is_stored: false,
            ..
        })
    )
}

/// The words of texts and documents, as often as they are there.
fn words<'i>(
    query: &MoreLikeThis,
    (mapping, mapped): (&Mapping, &MappedField),
    items: impl Iterator<Item = &'i LikeItem>,
) -> Result<Vec<String>, QueryError> {
    let mut found = Vec::new();
    let mut read = |analyzer: &str, text: &str| -> Result<(), QueryError> {
        // What it is about the beginning of a long text tells.
        let tokens = tokens_of(analyzer, &text[..text.floor_char_boundary(TEXT_BYTES_MAX)])?;
        found.extend(tokens.into_iter().map(|token| token.text));
        Ok(())
    };
    for item in items {
        match item {
            LikeItem::Text(text) => {
                read(query_analyzer(mapped, query.analyzer.as_deref()), text)?;
            }
            LikeItem::Named(named) => return Err(named.document.not_read()),
            LikeItem::Document(like) => {
                let mut texts = Vec::new();
                for path in mapping.source_paths(mapped) {
                    values_at(&like.document, &path, &mut texts);
                }
                let analyzer = like.analyzers.get(&mapped.path).map(String::as_str);
                let analyzer = document_analyzer(mapped, analyzer);
                for text in texts {
                    read(analyzer, &text_of(text))?;
                }
            }
        }
    }
    Ok(found)
}

/// The analyzer of a document's text: the item's, else the field's.
fn document_analyzer<'a>(mapped: &'a MappedField, wanted: Option<&'a str>) -> &'a str {
    match (wanted, &mapped.kind) {
        (Some(name), _) => mapped.analysis.resolved(name),
        (None, FieldKind::Text { analyzer, .. }) => analyzer,
        _ => "keyword",
    }
}
