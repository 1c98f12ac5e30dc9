//! Queries on analyzed text: words, phrases, and words in several fields.

use tantivy::Term as IndexTerm;
use tantivy::query::{PhraseQuery, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};

use super::compound::{all, any, dis_max, required};
use super::{Compiler, Node};
use crate::analysis::{Token, is_analyzer, tokens};
use crate::mapping::{FieldKind, MappedField, TextStyle};
use crate::query::automaton::Nearby;
use crate::query::constant::{AnyWithPrefix, Borrowed, knows, prefix_end};
use crate::query::error::QueryError;
use crate::query::leaf::{LeafStatistics, Scored};
use crate::query::literal::text_of;
use crate::query::source_phrase::SourcePhrase;
use crate::query::tree::{
    FieldBoost, Fuzziness, Match, MatchPhrase, MultiMatch, MultiMatchKind, Operator, Query, Term,
};

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
            return Ok(if clause.zero_terms_all {
                self.everything(boost)
            } else {
                Node::nothing()
            });
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
        Ok(match clause.operator {
            Operator::And => all(nodes),
            Operator::Or => {
                let minimum = required(clause.minimum_should_match.as_ref(), nodes.len());
                any(nodes, minimum)
            }
        })
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
        Ok(match clause.operator {
            Operator::And => all(nodes),
            Operator::Or => {
                let minimum = required(clause.minimum_should_match.as_ref(), nodes.len());
                any(nodes, minimum)
            }
        })
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
        let frequency = self.context.snapshot.doc_freq(&term)?;
        self.term_with_frequency(mapped, term, frequency, boost)
    }

    /// A term that scores as if it were in `frequency` documents.
    fn term_with_frequency(
        &mut self,
        mapped: &MappedField,
        term: IndexTerm,
        frequency: u64,
        boost: f32,
    ) -> Result<Node, QueryError> {
        if frequency == 0 {
            return Ok(Node::nothing());
        }
        let snapshot = self.context.snapshot;
        if matches!(mapped.kind, FieldKind::Text { .. }) {
            self.scored_fields.insert(term.field());
        }
        let statistics = LeafStatistics {
            field: snapshot.statistics(mapped)?,
            frequencies: vec![(term.clone(), frequency)],
        };
        let inner = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
        let dead = snapshot.dead_docs();
        Ok(Node {
            at_least: frequency.saturating_sub(dead),
            exact: dead == 0,
            ..Node::scored(
                Box::new(Scored { inner, statistics }),
                boost * snapshot.term_factor(),
            )
        })
    }

    pub(super) fn phrase(&mut self, phrase: &MatchPhrase, factor: f32) -> Result<Node, QueryError> {
        let Some((mapped, field, tokens)) = self.phrase_tokens(phrase)? else {
            return self.matches(&as_match(phrase), factor);
        };
        let terms = positioned(field, &tokens);
        self.phrase_of(mapped, terms, phrase.slop, phrase.boost * factor)
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
        let snapshot = self.context.snapshot;
        let mut frequencies = Vec::with_capacity(terms.len());
        for (_, term) in &terms {
            let frequency = snapshot.doc_freq(term)?;
            if frequency == 0 {
                return Ok(Node::nothing());
            }
            frequencies.push((term.clone(), frequency));
        }
        let statistics = LeafStatistics {
            field: snapshot.statistics(mapped)?,
            frequencies,
        };
        let inner = Box::new(PhraseQuery::new_with_offset_and_slop(terms, slop));
        Ok(Node::scored(
            Box::new(Scored { inner, statistics }),
            boost * snapshot.term_factor(),
        ))
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
        let Some((last, first)) = tokens.split_last() else {
            return Ok(Node::nothing());
        };
        let boost = phrase.boost * factor;
        let mut completions = self.words_with_prefix(field, &last.text)?;
        completions.truncate(phrase.max_expansions.max(1));
        let mut nodes = Vec::with_capacity(completions.len());
        for word in completions {
            let mut terms = positioned(field, first);
            terms.push((last.position, IndexTerm::from_field_text(field, &word)));
            nodes.push(self.phrase_of(mapped, terms, phrase.slop, boost)?);
        }
        Ok(dis_max(nodes, 0.0))
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
        let tokens = tokens_of(analyzer, &text_of(&clause.text))?;
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
        let prefix = last.text.as_bytes().to_vec();
        nodes.push(Node::set(AnyWithPrefix { field, prefix }, boost));
        Ok(match clause.operator {
            Operator::And => all(nodes),
            Operator::Or => {
                let minimum = required(clause.minimum_should_match.as_ref(), nodes.len());
                any(nodes, minimum)
            }
        })
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
        let automaton = Nearby::new(word, fuzziness);
        let mut found: Vec<(u8, String)> = Vec::new();
        for reader in &self.context.snapshot.readers {
            if !knows(reader, field) {
                continue;
            }
            let inverted = reader.inverted_index(field)?;
            let mut stream = inverted
                .terms()
                .search(Borrowed(&automaton))
                .into_stream()?;
            while stream.advance() {
                let term = String::from_utf8_lossy(stream.key());
                if let Some(distance) = automaton.distance(&term) {
                    found.push((distance, term.into_owned()));
                }
            }
        }
        found.sort();
        found.dedup();
        found.truncate(fuzziness.max_expansions.clamp(1, EXPANSIONS_MAX));
        let mut frequencies = Vec::with_capacity(found.len());
        for (distance, text) in found {
            let term = IndexTerm::from_field_text(field, &text);
            let frequency = self.context.snapshot.doc_freq(&term)?;
            let shorter = length.min(text.chars().count()).max(1);
            frequencies.push((term, frequency, similarity(distance, shorter)));
        }
        let most = frequencies.iter().map(|(_, count, _)| *count).max();
        let most = most.unwrap_or(0);
        let mut nodes = Vec::with_capacity(frequencies.len());
        for (term, own, similarity) in frequencies {
            let node = if is_match_only(mapped) {
                self.counted_term(term, boost)?
            } else {
                self.term_with_frequency(mapped, term, most, boost * similarity)?
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

    /// Each word in any of the fields.
    fn cross_fields(
        &mut self,
        multi: &MultiMatch,
        fields: &[FieldBoost],
        factor: f32,
    ) -> Result<Node, QueryError> {
        let tokens = tokens_of("standard", &text_of(&multi.clause.text))?;
        self.count_clauses(tokens.len().saturating_mul(fields.len()))?;
        let mut words = Vec::with_capacity(tokens.len());
        for token in tokens {
            let mut nodes = Vec::with_capacity(fields.len());
            for field in fields {
                let clause = Match {
                    lenient: true,
                    boost: multi.clause.boost * field.boost,
                    ..Match::new(&field.field, &token.text)
                };
                nodes.push(self.matches(&clause, factor)?);
            }
            words.push(dis_max(nodes, multi.tie_breaker.unwrap_or(0.0)));
        }
        Ok(match multi.clause.operator {
            Operator::And => all(words),
            Operator::Or => {
                let minimum = required(multi.clause.minimum_should_match.as_ref(), words.len());
                any(words, minimum)
            }
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
                            | FieldKind::Range { .. }
                            | FieldKind::Completion(_)
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

/// A text field and the tokens of a phrase on it.
type PhraseTokens<'a> = (&'a MappedField, Field, Vec<Token>);

/// Terms that one word may stand for, in one segment.
const EXPANSIONS_MAX: usize = 1024;

/// Values that do not fit match nothing when leniency was asked for.
pub(super) fn leniently(node: Result<Node, QueryError>, lenient: bool) -> Result<Node, QueryError> {
    match node {
        Err(QueryError::Create { .. } | QueryError::Illegal { .. }) if lenient => {
            Ok(Node::nothing())
        }
        other => other,
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
