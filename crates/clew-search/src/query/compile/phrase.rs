//! Words at places of their own: phrases, and phrases whose last word is still being typed.

use std::sync::Arc;

use clew_analysis::Token;
use clew_query::{Match, MatchPhrase, QueryError};
use clew_schema::{
    FieldKind, MappedField,
    similarity::{Counted, Similarity},
};
use tantivy::Term as IndexTerm;
use tantivy::query::PhraseQuery;
use tantivy::schema::{Field, IndexRecordOption};

use super::compound::{any, dis_max};
use super::scored::is_match_only;
use super::text::{EXPANSIONS_MAX, TOO_MANY_CLAUSES, must_be_indexed, query_analyzer, tokens_of};
use super::token_graph::{is_graph, ways};
use super::{Compiler, Node};
use crate::query::constant::{knows, prefix_end};
use crate::query::leaf::{LeafStatistics, Scored};
use crate::query::literal::text_of;
use crate::query::phrase::{MovingPhrase, PhrasePlace};
use crate::query::source_phrase::SourcePhrase;
use crate::ranked::{FoundWord, Ranked, Shape, Weight, idf};
use crate::snapshot::Snapshot;

/// Words of a phrase. The list of each is open, some KB, in each segment that is searched, and all of them are moved for
/// each document.
const WORDS_MAX: usize = 8192;

impl<'a> Compiler<'a> {
    pub(super) fn phrase(&mut self, phrase: &MatchPhrase, factor: f32) -> Result<Node, QueryError> {
        let Some((mapped, field, tokens)) = self.phrase_tokens(phrase)? else {
            return self.matches(&as_match(phrase), factor);
        };
        self.check_no_beginnings(mapped, "phrase")?;
        if let Some(beside) = self.among_neighbours(mapped, phrase, &tokens) {
            return self.phrase(&beside, factor);
        }
        let boost = phrase.boost * factor;
        if tokens.is_empty() {
            return Ok(self.without_words(phrase.zero_terms_all, boost));
        }
        let places = positioned(field, &tokens);
        if places.len() > 1 {
            must_keep_positions(mapped)?;
        }
        let is_plain = places.iter().all(|place| place.terms.len() == 1);
        if is_graph(&tokens) && phrase.slop == 0 && !is_match_only(mapped) {
            return self.graph_phrase((mapped, field), &tokens, boost);
        }
        if is_graph(&tokens) || !is_plain && is_match_only(mapped) {
            let ways = ways(&tokens).ok_or(TOO_MANY_CLAUSES)?;
            let mut nodes = Vec::with_capacity(ways.len());
            for way in &ways {
                self.count_clauses(way.len())?;
                nodes.push(self.phrase_of(mapped, in_a_row(field, way), phrase.slop, boost)?);
            }
            return Ok(any(nodes, 1));
        }
        if places.len() == 1 {
            let words: Vec<String> = by_place(&tokens)
                .into_iter()
                .flat_map(|(_, words)| words)
                .collect();
            return self.same_words(mapped, field, &words, boost);
        }
        if !is_plain {
            return self.moving_phrase(mapped, places, phrase.slop, boost);
        }
        let first = |place: PhrasePlace| Some((place.offset, place.terms.into_iter().next()?));
        let terms = places.into_iter().filter_map(first).collect();
        self.phrase_of(mapped, terms, phrase.slop, boost)
    }

    /// What a text means of which its analyzer leaves nothing.
    pub(super) fn without_words(&self, all: bool, boost: f32) -> Node {
        if all {
            self.everything(boost)
        } else {
            Node::nothing()
        }
    }

    /// Words at places of their own.
    pub(super) fn phrase_of(
        &mut self,
        mapped: &MappedField,
        mut terms: Vec<(usize, IndexTerm)>,
        slop: u32,
        boost: f32,
    ) -> Result<Node, QueryError> {
        match terms.len() {
            0 => return Ok(Node::nothing()),
            1 if is_match_only(mapped) => return self.counted_term(terms.remove(0).1, boost),
            1 => return self.scored_term(mapped, terms.remove(0).1, boost),
            _ => {}
        }
        if is_match_only(mapped) {
            let mapping = &self.context.snapshot.mapping;
            return Ok(Node::set(
                SourcePhrase::new(mapping, mapped, terms, slop),
                boost,
            ));
        }
        // Only as usual is a phrase's score what tantivy gives.
        let is_usual =
            self.similarity(mapped) == Similarity::USUAL && mapped.counted() == Counted::ALL;
        if slop > 0 || !is_usual {
            let place = |(offset, term)| PhrasePlace {
                offset,
                terms: vec![term],
            };
            let places = terms.into_iter().map(place).collect();
            return self.moving_phrase(mapped, places, slop, boost);
        }
        let snapshot = self.context.snapshot;
        let boost = boost * snapshot.term_factor();
        let mut frequencies = Vec::with_capacity(terms.len());
        let mut found = Vec::with_capacity(terms.len());
        for (_, term) in &terms {
            let one = snapshot.find(term)?;
            if one.frequency() == 0 {
                return Ok(Node::nothing());
            }
            let docs = snapshot.docs_weighed(term, one.frequency())?;
            frequencies.push((term.clone(), docs));
            found.push(one);
        }
        let statistics = LeafStatistics {
            field: snapshot.statistics(mapped)?,
            frequencies,
        };
        let ranked = match self.ranks {
            true => ranked_phrase((snapshot, mapped), &statistics, (&terms, found), boost)?,
            false => None,
        };
        let inner = Box::new(PhraseQuery::new_with_offset(terms));
        Ok(Node {
            ranked,
            ..Node::scored(Box::new(Scored { inner, statistics }), boost)
        })
    }

    /// A phrase whose words may be moved, or one of whose places several words may take.
    fn moving_phrase(
        &self,
        mapped: &MappedField,
        mut places: Vec<PhrasePlace>,
        slop: u32,
        boost: f32,
    ) -> Result<Node, QueryError> {
        let Some((_, field)) = self.field(&mapped.path) else {
            return Ok(Node::nothing());
        };
        let snapshot = self.context.snapshot;
        let boost = boost * snapshot.term_factor();
        let mut every = Vec::new();
        for place in &mut places {
            let mut known = Vec::with_capacity(place.terms.len());
            for term in std::mem::take(&mut place.terms) {
                if snapshot.doc_freq(&term)? > 0 {
                    known.push(term);
                }
            }
            if known.is_empty() {
                return Ok(Node::nothing());
            }
            every.extend(known.iter().cloned());
            place.terms = known;
        }
        let weigher = Arc::new(self.weigher(mapped, &every)?);
        let query = MovingPhrase {
            field,
            places,
            slop,
            weigher,
        };
        Ok(Node::scored(Box::new(query), boost))
    }

    /// The tokens of a phrase on a text field; `None` when the field holds no analyzed text.
    fn phrase_tokens(&self, phrase: &MatchPhrase) -> Result<Option<PhraseTokens<'a>>, QueryError> {
        let Some((mapped, field)) = self.field(&phrase.field) else {
            return Ok(None);
        };
        let FieldKind::Text { .. } = &mapped.kind else {
            return Ok(None);
        };
        must_be_indexed(mapped)?;
        let wanted = phrase.analyzer.as_deref();
        let wanted = wanted.or(mapped.settings.search_quote_analyzer.as_deref());
        let analyzer = query_analyzer(mapped, wanted);
        let tokens = tokens_of(analyzer, &text_of(&phrase.text))?;
        if tokens.len() > WORDS_MAX {
            let found = tokens.len();
            let reason = format!("a phrase may have [{WORDS_MAX}] words, this one has [{found}]");
            return Err(QueryError::illegal(reason));
        }
        Ok(Some((mapped, field, tokens)))
    }

    /// Refuses a phrase that is still being typed on a field whose values are whole.
    pub(super) fn check_begun(&self, phrase: &MatchPhrase) -> Result<(), QueryError> {
        let (mapping, path) = (&self.context.snapshot.mapping, phrase.field.as_str());
        let (path, kind) = match mapping.field(path) {
            Some(mapped) if is_whole(&mapped.kind) => {
                (mapped.path.as_str(), mapped.kind.type_name())
            }
            Some(_) => return Ok(()),
            None if matches!(path, "_id" | "_index") => (path, path),
            None => match mapping.flat_above(path) {
                Some(flat) => (path, flat.kind.type_name()),
                None => return Ok(()),
            },
        };
        Err(QueryError::create(format!(
            "Can only use phrase prefix queries on text fields - not on [{path}] which is of type \
             [{kind}]"
        )))
    }

    pub(super) fn phrase_prefix(
        &mut self,
        phrase: &MatchPhrase,
        factor: f32,
    ) -> Result<Node, QueryError> {
        let Some((mapped, field, tokens)) = self.phrase_tokens(phrase)? else {
            return self.matches(&as_match(phrase), factor);
        };
        self.check_no_beginnings(mapped, "phrase prefix")?;
        if let Some(beside) = self.among_neighbours(mapped, phrase, &tokens) {
            return self.phrase_prefix(&beside, factor);
        }
        if let Some(begun) = self.begun_neighbours(mapped, phrase, &tokens, factor)? {
            return Ok(begun);
        }
        let boost = phrase.boost * factor;
        if tokens.is_empty() {
            return Ok(self.without_words(phrase.zero_terms_all, boost));
        }
        if by_place(&tokens).len() > 1 {
            must_keep_positions(mapped)?;
        }
        let ways: Vec<Vec<(usize, Vec<String>)>> = if is_graph(&tokens) || is_match_only(mapped) {
            let ways = ways(&tokens).ok_or(TOO_MANY_CLAUSES)?;
            let alone = |way: Vec<String>| way.into_iter().map(|word| vec![word]).enumerate();
            ways.into_iter().map(|way| alone(way).collect()).collect()
        } else {
            vec![by_place(&tokens)]
        };
        let mut nodes = Vec::with_capacity(ways.len());
        for way in &ways {
            self.count_clauses(way.len())?;
            nodes.push(self.begun_phrase((mapped, field), phrase, way, boost)?);
        }
        Ok(match nodes.len() {
            1 => nodes.remove(0),
            _ => any(nodes, 1),
        })
    }

    /// A phrase whose last word is still being typed.
    fn begun_phrase(
        &mut self,
        (mapped, field): (&MappedField, Field),
        phrase: &MatchPhrase,
        words: &[(usize, Vec<String>)],
        boost: f32,
    ) -> Result<Node, QueryError> {
        let Some(((offset, last), first)) = words.split_last() else {
            return Ok(Node::nothing());
        };
        let mut completions = Vec::new();
        for word in last {
            completions.extend(self.words_with_prefix(field, word)?);
        }
        completions.truncate(phrase.max_expansions.max(1));
        self.count_expanded(completions.len())?;
        let term = |word: &String| IndexTerm::from_field_text(field, word);
        if first.is_empty() || is_match_only(mapped) {
            let mut nodes = Vec::with_capacity(completions.len());
            for word in &completions {
                let each = first.iter().flat_map(|(offset, words)| {
                    words.iter().map(move |word| (*offset, term(word)))
                });
                let mut terms: Vec<(usize, IndexTerm)> = each.collect();
                terms.push((*offset, term(word)));
                nodes.push(self.phrase_of(mapped, terms, phrase.slop, boost)?);
            }
            return Ok(if is_match_only(mapped) {
                dis_max(nodes, 0.0)
            } else {
                any(nodes, 1)
            });
        }
        let place = |(offset, words): &(usize, Vec<String>)| PhrasePlace {
            offset: *offset,
            terms: words.iter().map(term).collect(),
        };
        let mut places: Vec<PhrasePlace> = first.iter().map(place).collect();
        places.push(PhrasePlace {
            offset: *offset,
            terms: completions.iter().map(term).collect(),
        });
        self.moving_phrase(mapped, places, phrase.slop, boost)
    }

    /// The words of all segments with this beginning, in order.
    fn words_with_prefix(&self, field: Field, prefix: &str) -> Result<Vec<String>, QueryError> {
        let mut words = std::collections::BTreeSet::new();
        for reader in &self.context.snapshot.readers {
            if !knows(reader, field) {
                continue;
            }
            let inverted = reader.inverted_index(field)?;
            let mut range = inverted.terms().range().ge(prefix);
            if let Some(end) = prefix_end(prefix.as_bytes()) {
                range = range.lt(end);
            }
            let mut stream = range.into_stream()?;
            let mut left = EXPANSIONS_MAX;
            while left > 0 && stream.advance() {
                words.insert(String::from_utf8_lossy(stream.key()).into_owned());
                left -= 1;
            }
        }
        Ok(words.into_iter().collect())
    }
}

/// The phrase as ranking reads it, when its field keeps positions.
fn ranked_phrase(
    (snapshot, mapped): (&Snapshot, &MappedField),
    statistics: &LeafStatistics,
    (terms, found): (&[(usize, IndexTerm)], Vec<FoundWord>),
    boost: f32,
) -> Result<Option<Ranked>, QueryError> {
    let docs = statistics.field.docs;
    let counts = statistics.frequencies.iter().map(|(_, count)| *count);
    let docs = counts.clone().fold(docs, u64::max);
    let rarity = counts.map(|count| idf(count, docs)).sum();
    let weight = Weight::new(rarity, boost);
    let mut words = Vec::with_capacity(terms.len());
    for ((position, term), found) in terms.iter().zip(found) {
        let Some(word) = snapshot.ranked_word(mapped, (term.field(), found), weight)? else {
            return Ok(None);
        };
        words.push((u32::try_from(*position).unwrap_or(u32::MAX), word));
    }
    let schema = snapshot.stub().schema();
    let has_positions = words.iter().all(|(_, word)| {
        let kind = schema.get_field_entry(word.field.field).field_type();
        kind.get_index_record_option()
            .is_some_and(IndexRecordOption::has_positions)
    });
    Ok(has_positions.then(|| Ranked::new(Shape::Phrase(words, weight))))
}

/// Refuses a phrase on a text whose words have no places.
fn must_keep_positions(mapped: &MappedField) -> Result<(), QueryError> {
    if mapped.keeps_positions() {
        return Ok(());
    }
    Err(QueryError::create(format!(
        "field:[{}] was indexed without position data; cannot run PhraseQuery",
        mapped.path
    )))
}

/// A text field and the tokens of a phrase on it.
type PhraseTokens<'a> = (&'a MappedField, Field, Vec<Token>);

/// Whether a value of a field is one word, whatever its text.
fn is_whole(kind: &FieldKind) -> bool {
    match kind {
        FieldKind::Keyword { .. }
        | FieldKind::Integer(_)
        | FieldKind::Unsigned
        | FieldKind::Float(_)
        | FieldKind::Boolean
        | FieldKind::Date { .. }
        | FieldKind::DateNanos { .. }
        | FieldKind::Constant { .. }
        | FieldKind::Range { .. }
        | FieldKind::Flat
        | FieldKind::Ip
        | FieldKind::GeoPoint => true,
        // What is asked of these is read as text first, or refused for what they are.
        FieldKind::Text { .. }
        | FieldKind::Binary { .. }
        | FieldKind::RankFeatures
        | FieldKind::GeoShape
        | FieldKind::Completion(_)
        | FieldKind::Percolator
        | FieldKind::Vector(_)
        | FieldKind::SparseVector => false,
    }
}

fn as_match(phrase: &MatchPhrase) -> Match {
    Match {
        text: phrase.text.clone(),
        boost: phrase.boost,
        ..Match::new(&phrase.field, "")
    }
}

/// The words at each place, each once.
fn by_place(tokens: &[Token]) -> Vec<(usize, Vec<String>)> {
    let mut places: Vec<(usize, Vec<String>)> = Vec::new();
    for token in tokens {
        match places.last_mut() {
            Some((offset, words)) if *offset == token.position => {
                if !words.contains(&token.text) {
                    words.push(token.text.clone());
                }
            }
            _ => places.push((token.position, vec![token.text.clone()])),
        }
    }
    places
}

fn positioned(field: Field, tokens: &[Token]) -> Vec<PhrasePlace> {
    let places = by_place(tokens).into_iter();
    let terms = |(offset, words): (usize, Vec<String>)| PhrasePlace {
        offset,
        terms: in_a_row(field, &words)
            .into_iter()
            .map(|(_, term)| term)
            .collect(),
    };
    places.map(terms).collect()
}

/// Words one directly behind the other.
pub(super) fn in_a_row(field: Field, words: &[String]) -> Vec<(usize, IndexTerm)> {
    let term = |word: &String| IndexTerm::from_field_text(field, word);
    words.iter().map(term).enumerate().collect()
}
