//! Queries on analyzed text: words, phrases, and words in several fields.

use tantivy::query::{PhraseQuery, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{SegmentReader, Term as IndexTerm};

use super::compound::{all, any, dis_max, required};
use super::{Compiler, Node};
use crate::analysis::{Token, is_analyzer, tokens};
use crate::mapping::{FieldKind, FloatKind, MappedField, TextStyle};
use crate::query::automaton::Nearby;
use crate::query::constant::{AnyWithPrefix, Borrowed, knows, prefix_end};
use crate::query::error::QueryError;
use crate::query::leaf::{LeafStatistics, Scored};
use crate::query::literal::text_of;
use crate::query::minimum::MinimumShouldMatch;
use crate::query::near::Near;
use crate::query::phrase::{MovingPhrase, PhrasePlace};
use crate::query::source_phrase::SourcePhrase;
use crate::query::tree::{
    FieldBoost, Fuzziness, Match, MatchPhrase, MultiMatch, MultiMatchKind, Operator, Query, Term,
};
use crate::ranked::{Ranked, Shape, Weight, WordIn, idf};
use crate::search::{FoundTerm, Snapshot};

impl<'a> Compiler<'a> {
    pub(super) fn matches(&mut self, clause: &Match, factor: f32) -> Result<Node, QueryError> {
        let boost = clause.boost * factor;
        if clause.field == "_id" {
            return Ok(super::ids(&[text_of(&clause.text)], boost));
        }
        let Some((mapped, field)) = self.field(&clause.field) else {
            return Ok(Node::nothing());
        };
        let FieldKind::Text { .. } = &mapped.kind else {
            if let (Some(fuzziness), FieldKind::Keyword { .. }) = (&clause.fuzziness, &mapped.kind)
            {
                return self.fuzzy(&clause.field, &text_of(&clause.text), fuzziness, boost);
            }
            if mapped.settings.split_queries {
                return self.split_on_spaces(clause, factor);
            }
            let term = Term {
                field: clause.field.clone(),
                value: clause.text.clone(),
                case_insensitive: false,
                boost: clause.boost,
            };
            return leniently(self.term(&term, factor), clause.lenient);
        };
        must_be_indexed(mapped)?;
        let analyzer = query_analyzer(mapped, clause.analyzer.as_deref());
        let tokens = tokens_of(analyzer, &text_of(&clause.text))?;
        if tokens.is_empty() {
            return Ok(self.without_words(clause.zero_terms_all, boost));
        }
        self.count_clauses(tokens.len())?;
        let mut nodes = Vec::with_capacity(tokens.len());
        for token in &tokens {
            nodes.push(match &clause.fuzziness {
                Some(fuzziness) => {
                    self.nearby_terms((mapped, field), &token.text, fuzziness, boost)?
                }
                None => self.word(mapped, field, &token.text, boost)?,
            });
        }
        Ok(combined(
            nodes,
            clause.operator,
            clause.minimum_should_match.as_ref(),
        ))
    }

    /// A match on a keyword, each word of its text by itself.
    fn split_on_spaces(&mut self, clause: &Match, factor: f32) -> Result<Node, QueryError> {
        let text = text_of(&clause.text);
        let words: Vec<&str> = text.split_whitespace().collect();
        self.count_clauses(words.len())?;
        let mut nodes = Vec::with_capacity(words.len());
        for word in words {
            let term = Term {
                field: clause.field.clone(),
                value: word.into(),
                case_insensitive: false,
                boost: clause.boost,
            };
            nodes.push(self.term(&term, factor)?);
        }
        Ok(combined(
            nodes,
            clause.operator,
            clause.minimum_should_match.as_ref(),
        ))
    }

    /// One term with BM25's score; where a field keeps no frequencies all matches score the same.
    pub(super) fn word(
        &mut self,
        mapped: &MappedField,
        field: Field,
        word: &str,
        boost: f32,
    ) -> Result<Node, QueryError> {
        if is_match_only(mapped) {
            return self.counted_term(IndexTerm::from_field_text(field, word), boost);
        }
        self.scored_term(mapped, IndexTerm::from_field_text(field, word), boost)
    }

    pub(super) fn scored_term(
        &mut self,
        mapped: &MappedField,
        term: IndexTerm,
        boost: f32,
    ) -> Result<Node, QueryError> {
        let found = self.context.snapshot.find(&term)?;
        let frequency = found.frequency();
        self.term_with_frequency(mapped, (term, found), frequency, boost)
    }

    /// A term of a field that scores as if it were in `frequency` documents, where it scores.
    pub(super) fn blended_term(
        &mut self,
        mapped: &MappedField,
        term: IndexTerm,
        frequency: u64,
        boost: f32,
    ) -> Result<Node, QueryError> {
        if is_match_only(mapped) {
            return self.counted_term(term, boost);
        }
        let found = self.context.snapshot.find(&term)?;
        let own = found.frequency();
        let node = self.term_with_frequency(mapped, (term, found), frequency, boost)?;
        let dead = self.context.snapshot.dead_docs();
        Ok(Node {
            at_least: own.saturating_sub(dead),
            exact: dead == 0 && own == frequency,
            ..node
        })
    }

    /// A term that scores as if it were in `frequency` documents.
    fn term_with_frequency(
        &mut self,
        mapped: &MappedField,
        (term, found): (IndexTerm, FoundTerm),
        frequency: u64,
        boost: f32,
    ) -> Result<Node, QueryError> {
        if frequency == 0 {
            return Ok(Node::nothing());
        }
        let snapshot = self.context.snapshot;
        let boost = boost * snapshot.term_factor();
        if matches!(mapped.kind, FieldKind::Text { .. }) {
            self.scored_fields.insert(term.field());
        }
        let field = snapshot.statistics(mapped)?;
        let ranked = snapshot.ranked_word(mapped, &term, found)?.map(|word| {
            let docs = field.docs.max(frequency);
            let weight = Weight::new(idf(frequency, docs), boost);
            Ranked::new(Shape::Any(vec![WordIn { weight, ..word }]))
        });
        let statistics = LeafStatistics {
            field,
            frequencies: vec![(term.clone(), frequency)],
        };
        let inner = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
        let dead = snapshot.dead_docs();
        Ok(Node {
            at_least: frequency.saturating_sub(dead),
            exact: dead == 0,
            ranked,
            ..Node::scored(Box::new(Scored { inner, statistics }), boost)
        })
    }

    /// One term of a field that counts neither how often a value is there nor how many there are:
    /// all its documents have one score.
    #[allow(
        clippy::cast_precision_loss,
        reason = "the formula is 32 bits wide wherever it is used"
    )]
    pub(super) fn even_term(
        &self,
        mapped: &MappedField,
        term: IndexTerm,
        boost: f32,
    ) -> Result<Node, QueryError> {
        let snapshot = self.context.snapshot;
        let frequency = snapshot.doc_freq(&term)?;
        let statistics = snapshot.statistics(mapped)?;
        let docs = statistics.docs.max(frequency).max(1);
        let idf = (1.0 + ((docs - frequency) as f32 + 0.5) / (frequency as f32 + 0.5)).ln();
        let length_mean = statistics.tokens.max(1) as f32 / docs as f32;
        let norm = 1.2 * (0.25 + 0.75 / length_mean);
        self.counted_term(term, boost * idf * 2.2 / (1.0 + norm))
    }

    pub(super) fn phrase(&mut self, phrase: &MatchPhrase, factor: f32) -> Result<Node, QueryError> {
        let Some((mapped, field, tokens)) = self.phrase_tokens(phrase)? else {
            return self.matches(&as_match(phrase), factor);
        };
        let boost = phrase.boost * factor;
        if tokens.is_empty() {
            return Ok(self.without_words(phrase.zero_terms_all, boost));
        }
        let terms = positioned(field, &tokens);
        self.phrase_of(mapped, terms, phrase.slop, boost)
    }

    /// What a text means of which its analyzer leaves nothing.
    fn without_words(&self, all: bool, boost: f32) -> Node {
        if all {
            self.everything(boost)
        } else {
            Node::nothing()
        }
    }

    fn phrase_of(
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
        if slop > 0 {
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
            frequencies.push((term.clone(), one.frequency()));
            found.push(one);
        }
        let statistics = LeafStatistics {
            field: snapshot.statistics(mapped)?,
            frequencies,
        };
        let ranked = match slop {
            0 => ranked_phrase((snapshot, mapped), &statistics, (&terms, found), boost)?,
            _ => None,
        };
        let inner = Box::new(PhraseQuery::new_with_offset_and_slop(terms, slop));
        Ok(Node {
            ranked,
            ..Node::scored(Box::new(Scored { inner, statistics }), boost)
        })
    }

    /// A phrase whose words may be moved, or one of whose places several words may take.
    #[allow(
        clippy::cast_precision_loss,
        reason = "the formula is 32 bits wide wherever it is used"
    )]
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
        let statistics = snapshot.statistics(mapped)?;
        let mut idf = 0.0_f32;
        for place in &mut places {
            let mut known = Vec::with_capacity(place.terms.len());
            for term in std::mem::take(&mut place.terms) {
                let frequency = snapshot.doc_freq(&term)?;
                if frequency > 0 {
                    let others = statistics.docs.max(frequency) - frequency;
                    idf += (1.0 + (others as f32 + 0.5) / (frequency as f32 + 0.5)).ln();
                    known.push(term);
                }
            }
            if known.is_empty() {
                return Ok(Node::nothing());
            }
            place.terms = known;
        }
        let length_mean = statistics.tokens.max(1) as f32 / statistics.docs.max(1) as f32;
        let query = MovingPhrase {
            field,
            places,
            slop,
            idf,
            length_mean,
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
        Ok(Some((mapped, field, tokens)))
    }

    pub(super) fn phrase_prefix(
        &mut self,
        phrase: &MatchPhrase,
        factor: f32,
    ) -> Result<Node, QueryError> {
        let Some((mapped, field, tokens)) = self.phrase_tokens(phrase)? else {
            return self.matches(&as_match(phrase), factor);
        };
        let boost = phrase.boost * factor;
        let Some((last, first)) = tokens.split_last() else {
            return Ok(self.without_words(phrase.zero_terms_all, boost));
        };
        let mut completions = self.words_with_prefix(field, &last.text)?;
        completions.truncate(phrase.max_expansions.max(1));
        let completed = |word: &String| IndexTerm::from_field_text(field, word);
        if first.is_empty() || is_match_only(mapped) {
            let mut nodes = Vec::with_capacity(completions.len());
            for word in &completions {
                let mut terms = positioned(field, first);
                terms.push((last.position, completed(word)));
                nodes.push(self.phrase_of(mapped, terms, phrase.slop, boost)?);
            }
            return Ok(if is_match_only(mapped) {
                dis_max(nodes, 0.0)
            } else {
                any(nodes, 1)
            });
        }
        let place = |(offset, term)| PhrasePlace {
            offset,
            terms: vec![term],
        };
        let mut places: Vec<PhrasePlace> =
            positioned(field, first).into_iter().map(place).collect();
        places.push(PhrasePlace {
            offset: last.position,
            terms: completions.iter().map(completed).collect(),
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

    pub(super) fn bool_prefix(&mut self, clause: &Match, factor: f32) -> Result<Node, QueryError> {
        let boost = clause.boost * factor;
        let Some((mapped, field)) = self.field(&clause.field) else {
            return Ok(Node::nothing());
        };
        let FieldKind::Text { .. } = &mapped.kind else {
            return self.matches(clause, factor);
        };
        must_be_indexed(mapped)?;
        let analyzer = query_analyzer(mapped, clause.analyzer.as_deref());
        let text = text_of(&clause.text);
        let tokens = tokens_of(analyzer, &text)?;
        let Some((last, first)) = tokens.split_last() else {
            return Ok(Node::nothing());
        };
        self.count_clauses(tokens.len())?;
        let mut nodes = Vec::with_capacity(tokens.len());
        for token in first {
            nodes.push(match &clause.fuzziness {
                Some(fuzziness) => {
                    self.nearby_terms((mapped, field), &token.text, fuzziness, boost)?
                }
                None => self.word(mapped, field, &token.text, boost)?,
            });
        }
        // A last word with something behind it, be it a space, is a whole one.
        nodes.push(if last.end == text.len() {
            let prefix = last.text.as_bytes().to_vec();
            Node::set(AnyWithPrefix { field, prefix }, boost)
        } else {
            self.word(mapped, field, &last.text, boost)?
        });
        Ok(combined(
            nodes,
            clause.operator,
            clause.minimum_should_match.as_ref(),
        ))
    }

    pub(super) fn fuzzy(
        &mut self,
        path: &str,
        word: &str,
        fuzziness: &Fuzziness,
        boost: f32,
    ) -> Result<Node, QueryError> {
        let Some((mapped, field)) = self.field(path) else {
            return Ok(Node::nothing());
        };
        match mapped.kind {
            FieldKind::Text { .. } | FieldKind::Keyword { .. } => {
                must_be_indexed(mapped)?;
                self.nearby_terms((mapped, field), word, fuzziness, boost)
            }
            _ => Err(QueryError::create(format!(
                "Can only use fuzzy queries on keyword and text fields - not on [{path}] which is \
                 of type [{}]",
                mapped.kind.type_name()
            ))),
        }
    }

    /// The nearest terms; all score as if they were as frequent as the most frequent of them, and
    /// less the farther they are.
    fn nearby_terms(
        &mut self,
        (mapped, field): (&MappedField, Field),
        word: &str,
        fuzziness: &Fuzziness,
        boost: f32,
    ) -> Result<Node, QueryError> {
        let length = word.chars().count();
        if fuzziness.edits(length) == 0 {
            return self.word(mapped, field, word, boost);
        }
        let mut frequencies = Vec::new();
        for (distance, text) in self.nearby_words(field, word, fuzziness)? {
            let term = IndexTerm::from_field_text(field, &text);
            let found = self.context.snapshot.find(&term)?;
            let shorter = length.min(text.chars().count()).max(1);
            frequencies.push((term, found, similarity(distance, shorter)));
        }
        let most = frequencies
            .iter()
            .map(|(_, found, _)| found.frequency())
            .max();
        let most = most.unwrap_or(0);
        let mut nodes = Vec::with_capacity(frequencies.len());
        for (term, found, similarity) in frequencies {
            let own = found.frequency();
            let node = if is_match_only(mapped) {
                self.counted_term(term, boost)?
            } else {
                self.term_with_frequency(mapped, (term, found), most, boost * similarity)?
            };
            let dead = self.context.snapshot.dead_docs();
            nodes.push(Node {
                at_least: own.saturating_sub(dead),
                exact: dead == 0 && own == most,
                ..node
            });
        }
        Ok(any(nodes, 1))
    }

    /// The nearest words of all segments, with their distances.
    fn nearby_words(
        &self,
        field: Field,
        word: &str,
        fuzziness: &Fuzziness,
    ) -> Result<Vec<(u8, String)>, QueryError> {
        let snapshot = self.context.snapshot;
        let near = Near::new(word, fuzziness);
        let mut found: Vec<(u8, String)> = Vec::new();
        for (segment, reader) in snapshot.readers.iter().enumerate() {
            if !knows(reader, field) {
                continue;
            }
            let mut put = |distance: u8, term: &[u8]| {
                found.push((distance, String::from_utf8_lossy(term).into_owned()));
            };
            match (&near, snapshot.files(segment)) {
                (Some(near), Some(files)) => {
                    if let Some(dictionary) = files.dictionary(field)? {
                        near.find(&dictionary, &mut put);
                    }
                }
                _ => nearby_by_table(reader, field, &Nearby::new(word, fuzziness), &mut put)?,
            }
        }
        found.sort();
        found.dedup();
        found.truncate(fuzziness.max_expansions.clamp(1, EXPANSIONS_MAX));
        Ok(found)
    }

    pub(super) fn multi_match(
        &mut self,
        multi: &MultiMatch,
        factor: f32,
    ) -> Result<Node, QueryError> {
        let fields = self.search_fields(&multi.fields);
        let lenient = multi.clause.lenient || multi.fields.is_empty();
        if multi.kind == MultiMatchKind::CrossFields {
            return self.cross_fields(multi, &fields, factor);
        }
        let mut nodes = Vec::with_capacity(fields.len());
        for FieldBoost { field, boost } in fields {
            let clause = Match {
                field: field.clone(),
                boost: multi.clause.boost * boost,
                lenient,
                ..multi.clause.clone()
            };
            let phrase = MatchPhrase {
                zero_terms_all: clause.zero_terms_all,
                slop: multi.slop,
                text: clause.text.clone(),
                analyzer: clause.analyzer.clone(),
                boost: clause.boost,
                ..MatchPhrase::new(field, "")
            };
            let query = match multi.kind {
                MultiMatchKind::Phrase => Query::MatchPhrase(phrase),
                MultiMatchKind::PhrasePrefix => Query::MatchPhrasePrefix(phrase),
                MultiMatchKind::BoolPrefix => Query::MatchBoolPrefix(clause),
                _ => Query::Match(clause),
            };
            nodes.push(leniently(self.node(&query, factor), lenient)?);
        }
        let additive = matches!(
            multi.kind,
            MultiMatchKind::MostFields | MultiMatchKind::BoolPrefix
        );
        Ok(match multi.tie_breaker {
            None if additive => any(nodes, 1),
            tie_breaker => dis_max(
                nodes,
                tie_breaker.unwrap_or(if additive { 1.0 } else { 0.0 }),
            ),
        })
    }

    /// The fields that patterns stand for; no patterns stand for every field with values.
    pub(super) fn search_fields(&self, wanted: &[FieldBoost]) -> Vec<FieldBoost> {
        let all = [FieldBoost {
            field: "*".to_string(),
            boost: 1.0,
        }];
        let wanted = if wanted.is_empty() { &all } else { wanted };
        let mut fields: Vec<FieldBoost> = Vec::new();
        for FieldBoost { field, boost } in wanted {
            if !field.contains('*') {
                fields.push(FieldBoost {
                    field: field.clone(),
                    boost: *boost,
                });
                continue;
            }
            let Ok(pattern) = crate::query::automaton::Wildcard::parse(field, false) else {
                continue;
            };
            let matching = self
                .context
                .snapshot
                .mapping
                .fields()
                .iter()
                .filter(|have| {
                    let has_words = !matches!(
                        have.kind,
                        FieldKind::Vector(_)
                            | FieldKind::Binary { .. }
                            | FieldKind::Completion(_)
                            | FieldKind::Float(FloatKind::RankFeature)
                            | FieldKind::RankFeatures
                    );
                    has_words && !have.settings.hidden && pattern.matches(&have.path)
                })
                .map(|have| have.path.as_str());
            let aliases = self.context.snapshot.mapping.aliases();
            let aliases = aliases.map(|(alias, _)| alias);
            let aliases = aliases.filter(|alias| field != "*" && pattern.matches(alias));
            fields.extend(matching.chain(aliases).map(|path| FieldBoost {
                field: path.to_string(),
                boost: *boost,
            }));
        }
        fields
    }

    /// Words count as clauses like queries do.
    pub(super) fn count_clauses(&mut self, words: usize) -> Result<(), QueryError> {
        self.clauses += words.saturating_sub(1);
        if self.clauses > super::CLAUSES_MAX {
            return Err(QueryError::TooManyClauses {
                max: super::CLAUSES_MAX,
            });
        }
        Ok(())
    }
}

/// Tells the words of a segment that are near, and their distances.
fn nearby_by_table(
    reader: &SegmentReader,
    field: Field,
    automaton: &Nearby,
    put: &mut dyn FnMut(u8, &[u8]),
) -> Result<(), QueryError> {
    let inverted = reader.inverted_index(field)?;
    let mut stream = inverted.terms().search(Borrowed(automaton)).into_stream()?;
    while stream.advance() {
        let distance = std::str::from_utf8(stream.key())
            .ok()
            .and_then(|term| automaton.distance(term));
        if let Some(distance) = distance {
            put(distance, stream.key());
        }
    }
    Ok(())
}

/// The phrase as ranking reads it, when its field keeps positions.
fn ranked_phrase(
    (snapshot, mapped): (&Snapshot, &MappedField),
    statistics: &LeafStatistics,
    (terms, found): (&[(usize, IndexTerm)], Vec<FoundTerm>),
    boost: f32,
) -> Result<Option<Ranked>, QueryError> {
    let docs = statistics.field.docs;
    let docs = statistics
        .frequencies
        .iter()
        .map(|(_, count)| *count)
        .fold(docs, u64::max);
    let mut words = Vec::with_capacity(terms.len());
    let mut rarity = 0.0;
    for ((position, term), found) in terms.iter().zip(found) {
        rarity += idf(found.frequency(), docs);
        let Some(word) = snapshot.ranked_word(mapped, term, found)? else {
            return Ok(None);
        };
        words.push((u32::try_from(*position).unwrap_or(u32::MAX), word));
    }
    let schema = snapshot.stub().schema();
    let has_positions = words.iter().all(|(_, word)| {
        let kind = schema.get_field_entry(word.term.field()).field_type();
        kind.get_index_record_option()
            .is_some_and(IndexRecordOption::has_positions)
    });
    let weight = Weight::new(rarity, boost);
    Ok(has_positions.then(|| Ranked::new(Shape::Phrase(words, weight))))
}

/// A text field and the tokens of a phrase on it.
type PhraseTokens<'a> = (&'a MappedField, Field, Vec<Token>);

/// Terms that one word may stand for, in one segment.
const EXPANSIONS_MAX: usize = 1024;

/// Values that do not fit match nothing when leniency was asked for.
pub(super) fn leniently(node: Result<Node, QueryError>, lenient: bool) -> Result<Node, QueryError> {
    match node {
        Err(QueryError::Create { .. } | QueryError::Date(_) | QueryError::Illegal { .. })
            if lenient =>
        {
            Ok(Node::nothing())
        }
        other => other,
    }
}

/// Words joined. A lone word is no clause that could be counted; where all are wanted none is
/// optional, so that no number of optional ones is ever reached.
pub(super) fn combined(
    nodes: Vec<Node>,
    operator: Operator,
    minimum: Option<&MinimumShouldMatch>,
) -> Node {
    if nodes.len() == 1 {
        return any(nodes, 1);
    }
    match operator {
        Operator::And if minimum.is_some_and(|minimum| minimum.resolve(0) > 0) => Node::nothing(),
        Operator::And => all(nodes),
        Operator::Or => {
            let required = required(minimum, nodes.len());
            any(nodes, required)
        }
    }
}

fn is_match_only(mapped: &MappedField) -> bool {
    matches!(
        mapped.kind,
        FieldKind::Text {
            style: TextStyle::MatchOnly,
            ..
        }
    )
}

pub(super) fn must_be_indexed(mapped: &MappedField) -> Result<(), QueryError> {
    if mapped.indexed {
        return Ok(());
    }
    Err(QueryError::create(format!(
        "Cannot search on field [{}] since it is not indexed.",
        mapped.path
    )))
}

/// The analyzer of a query's text: the query's own, else the field's for queries, else the field's.
pub(crate) fn query_analyzer<'a>(mapped: &'a MappedField, wanted: Option<&'a str>) -> &'a str {
    let own = match &mapped.kind {
        FieldKind::Text { analyzer, .. } => analyzer,
        _ => "keyword",
    };
    wanted
        .map(|name| mapped.analysis.resolved(name))
        .or(mapped.settings.search_analyzer.as_deref())
        .unwrap_or(own)
}

pub(super) fn tokens_of(analyzer: &str, text: &str) -> Result<Vec<Token>, QueryError> {
    if !is_analyzer(analyzer) {
        return Err(QueryError::create(format!(
            "[match] analyzer [{analyzer}] not found"
        )));
    }
    Ok(tokens(analyzer, text))
}

fn as_match(phrase: &MatchPhrase) -> Match {
    Match {
        text: phrase.text.clone(),
        boost: phrase.boost,
        ..Match::new(&phrase.field, "")
    }
}

fn positioned(field: Field, tokens: &[Token]) -> Vec<(usize, IndexTerm)> {
    tokens
        .iter()
        .map(|token| {
            (
                token.position,
                IndexTerm::from_field_text(field, &token.text),
            )
        })
        .collect()
}

/// One for the same word, less for each edit.
#[allow(
    clippy::cast_precision_loss,
    reason = "a word's length is far below a float's precision"
)]
fn similarity(distance: u8, shorter: usize) -> f32 {
    (1.0 - f32::from(distance) / shorter as f32).max(0.0)
}
