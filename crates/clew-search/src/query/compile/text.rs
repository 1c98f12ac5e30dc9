//! Queries on analyzed text: words, phrases, and words in several fields.

use std::collections::HashMap;

use clew_analysis::{Token, is_analyzer, query_tokens};
use clew_platform::stopped;
use clew_query::{
    FieldBoost, FrequentWords, Match, MatchPhrase, MinimumShouldMatch, MultiMatch, MultiMatchKind,
    Operator, Pattern, Query, QueryError, Term,
};
use clew_schema::{FieldKind, FloatKind, IntegerKind, KeywordStyle, MappedField, Mapping};
use tantivy::Term as IndexTerm;
use tantivy::query::{BooleanQuery, Occur};
use tantivy::schema::Field;

use super::completion::as_input;
use super::compound::{all, any, check_tie_breaker, dis_max, required};
use super::phrase::in_a_row;
use super::terms::no_pattern_field;
use super::token_graph::{TokenPlace, places};
use super::{Compiler, Node};
use crate::query::literal::text_of;

/// The error of a query that has too many, be they ways through the synonyms of a text.
pub(super) const TOO_MANY_CLAUSES: QueryError = QueryError::TooManyClauses {
    max: super::CLAUSES_MAX,
};

/// Longest text that is cut into words for a query, in bytes: a longer one has more words than a query may have clauses, and while they
/// are counted each of them takes more than a hundred bytes.
pub(crate) const TEXT_BYTES_MAX: usize = 1 << 20;

/// Terms that one word may stand for, in one segment.
pub(super) const EXPANSIONS_MAX: usize = 1024;

impl<'a> Compiler<'a> {
    pub(super) fn matches(&mut self, clause: &Match, factor: f32) -> Result<Node, QueryError> {
        let boost = clause.boost * factor;
        if clause.fuzziness.is_some()
            && let Err(error) = self.check_fuzzy(&clause.field)
        {
            return leniently(Err(error), clause.lenient);
        }
        if clause.field == "_id" {
            let found = super::ids(&[text_of(&clause.text)], boost);
            return leniently(found, clause.lenient);
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
            if let FieldKind::Completion(mapping) = &mapped.kind {
                let input = as_input(mapping, &text_of(&clause.text));
                return self.scored_input((mapped, field), &input, boost);
            }
            let term = Term {
                field: clause.field.clone(),
                value: clause.text.clone(),
                case_insensitive: false,
                boost: clause.boost,
            };
            return leniently(self.term(&term, factor), clause.lenient);
        };
        if let Err(error) = must_be_indexed(mapped) {
            return leniently(Err(error), clause.lenient);
        }
        let analyzer = query_analyzer(mapped, clause.analyzer.as_deref());
        let tokens = tokens_of(analyzer, &text_of(&clause.text))?;
        if tokens.is_empty() {
            return Ok(self.without_words(clause.zero_terms_all, boost));
        }
        self.count_clauses(tokens.len())?;
        if let Some(frequent) = &clause.frequent {
            return self.rare_words((clause, frequent), (mapped, field), &tokens, boost);
        }
        let places = places(&tokens).ok_or(TOO_MANY_CLAUSES)?;
        let mut nodes = Vec::with_capacity(places.len());
        for place in &places {
            nodes.push(self.at_place(clause, (mapped, field), place, boost)?);
        }
        Ok(combined(
            nodes,
            clause.operator,
            clause.minimum_should_match.as_ref(),
        ))
    }

    /// What stands at one place of a text.
    fn at_place(
        &mut self,
        clause: &Match,
        (mapped, field): (&MappedField, Field),
        place: &TokenPlace,
        boost: f32,
    ) -> Result<Node, QueryError> {
        match place {
            TokenPlace::Words(words) => match (&words[..], &clause.fuzziness) {
                ([word], Some(fuzziness)) => {
                    self.nearby_terms((mapped, field), word, fuzziness, boost)
                }
                _ => self.same_words(mapped, field, words, boost),
            },
            TokenPlace::Ways(ways) => {
                let mut nodes = Vec::with_capacity(ways.len());
                for way in ways {
                    self.count_clauses(way.len())?;
                    nodes.push(if way.len() > 1 && clause.synonym_phrases {
                        let terms = in_a_row(field, way);
                        self.phrase_of(mapped, terms, 0, boost)?
                    } else {
                        let mut words = Vec::with_capacity(way.len());
                        for word in way {
                            let word = TokenPlace::Words(vec![word.clone()]);
                            words.push(self.at_place(clause, (mapped, field), &word, boost)?);
                        }
                        all(words)
                    });
                }
                Ok(any(nodes, 1))
            }
        }
    }

    /// A match whose frequent words only add to the scores of what the rare ones find. Where there are no rare ones,
    /// all must be there, unless it was said how many: a frequent word by itself finds too much.
    fn rare_words(
        &mut self,
        (clause, common): (&Match, &FrequentWords),
        (mapped, field): (&MappedField, Field),
        tokens: &[Token],
        boost: f32,
    ) -> Result<Node, QueryError> {
        let snapshot = self.context.snapshot;
        let rows = snapshot.readers.iter();
        let rows = rows.map(|reader| u64::from(reader.max_doc())).sum();
        let (mut rare, mut frequent) = (Vec::new(), Vec::new());
        for token in tokens {
            let docs = snapshot.doc_freq(&IndexTerm::from_field_text(field, &token.text))?;
            let node = self.word(mapped, field, &token.text, boost)?;
            // A lone word is no clause beside others.
            match tokens.len() > 1 && common.include(docs, rows) {
                true => frequent.push(node),
                false => rare.push(node),
            }
        }
        let minimum = common.minimum_should_match.as_ref();
        if frequent.is_empty() {
            let minimum = clause.minimum_should_match.as_ref();
            return Ok(combined(rare, clause.operator, minimum));
        }
        if rare.is_empty() {
            let wanted = minimum.map_or(0, |minimum| minimum.resolve(frequent.len()));
            return Ok(match common.operator {
                Operator::Or if wanted > 0 => any(frequent, wanted),
                Operator::Or | Operator::And => all(frequent),
            });
        }
        let rare = combined(rare, clause.operator, clause.minimum_should_match.as_ref());
        Ok(helped(rare, combined(frequent, common.operator, minimum)))
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

    pub(super) fn bool_prefix(&mut self, clause: &Match, factor: f32) -> Result<Node, QueryError> {
        let boost = clause.boost * factor;
        let Some((mapped, field)) = self.field(&clause.field) else {
            return Ok(Node::nothing());
        };
        let is_keyword = matches!(
            mapped.kind,
            FieldKind::Keyword {
                style: KeywordStyle::Keyword,
                ..
            }
        );
        if is_keyword
            && mapped.indexed
            && clause.analyzer.is_none()
            && !mapped.settings.split_queries
        {
            // Its only word is the last one.
            let beginning = Pattern {
                boost: clause.boost,
                ..Pattern::new(clause.field.as_str(), text_of(&clause.text))
            };
            return self.prefix(&beginning, factor);
        }
        let FieldKind::Text { .. } = &mapped.kind else {
            if let FieldKind::Completion(mapping) = &mapped.kind
                && !as_input(mapping, &text_of(&clause.text)).is_empty()
            {
                return Err(no_pattern_field(&mapped.path, "prefix", "completion"));
            }
            return self.matches(clause, factor);
        };
        must_be_indexed(mapped)?;
        let analyzer = query_analyzer(mapped, clause.analyzer.as_deref());
        let text = text_of(&clause.text);
        let tokens = tokens_of(analyzer, &text)?;
        let is_cut = tokens.last().is_some_and(|last| last.end == text.len());
        self.count_clauses(tokens.len())?;
        let places = places(&tokens).ok_or(TOO_MANY_CLAUSES)?;
        let Some((last, first)) = places.split_last() else {
            return Ok(Node::nothing());
        };
        let mut nodes = Vec::with_capacity(places.len());
        for place in first {
            nodes.push(self.at_place(clause, (mapped, field), place, boost)?);
        }
        let whole = Match {
            fuzziness: None,
            ..clause.clone()
        };
        nodes.push(match last {
            // A last word with something behind it, be it a space, is a whole one, and so are words that
            // stand for each other.
            TokenPlace::Words(words) if is_cut && words.len() == 1 => {
                self.beginning((field, words[0].as_bytes()), boost)?
            }
            last => self.at_place(&whole, (mapped, field), last, boost)?,
        });
        Ok(combined(
            nodes,
            clause.operator,
            clause.minimum_should_match.as_ref(),
        ))
    }

    pub(super) fn multi_match(
        &mut self,
        multi: &MultiMatch,
        factor: f32,
    ) -> Result<Node, QueryError> {
        let fields = search_fields(&multi.fields, &self.context.snapshot.mapping);
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
        if let Some(tie_breaker) = multi.tie_breaker.filter(|_| nodes.len() > 1) {
            check_tie_breaker(tie_breaker)?;
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

    /// Words count as clauses like queries do.
    pub(super) fn count_clauses(&mut self, words: usize) -> Result<(), QueryError> {
        self.clauses += words.saturating_sub(1);
        if self.clauses > super::CLAUSES_MAX {
            return Err(TOO_MANY_CLAUSES);
        }
        Ok(())
    }
}

/// The fields that patterns stand for, each once; no patterns stand for every field with values. Of a name that is there
/// several times the last boost counts; the boosts of patterns that stand for one field are multiplied.
pub(crate) fn search_fields(wanted: &[FieldBoost], mapping: &Mapping) -> Vec<FieldBoost> {
    let all = [FieldBoost {
        field: "*".to_string(),
        boost: 1.0,
    }];
    let wanted = if wanted.is_empty() { &all } else { wanted };
    let named = wanted.iter().enumerate();
    let last: HashMap<&str, usize> = named.map(|(at, one)| (one.field.as_str(), at)).collect();
    let mut fields = Boosted::default();
    for (at, FieldBoost { field, boost }) in wanted.iter().enumerate() {
        if last.get(field.as_str()) != Some(&at) {
            continue;
        }
        // There may be as many patterns as fit into a body, and each is held against all fields there are.
        if stopped() {
            break;
        }
        if !field.contains('*') {
            fields.add(field, *boost);
            continue;
        }
        let Ok(pattern) = crate::query::automaton::Wildcard::parse(field, false) else {
            continue;
        };
        let matching = mapping
            .fields()
            .iter()
            .filter(|have| {
                let has_words = !matches!(
                    have.kind,
                    FieldKind::Vector(_)
                        | FieldKind::SparseVector
                        | FieldKind::Binary { .. }
                        | FieldKind::GeoShape
                        | FieldKind::Float(FloatKind::RankFeature)
                        | FieldKind::Integer(IntegerKind::Murmur3)
                        | FieldKind::Percolator
                        | FieldKind::RankFeatures
                );
                has_words && !have.settings.hidden && pattern.matches(&have.path)
            })
            .map(|have| have.path.as_str());
        let aliases = mapping.aliases();
        let aliases = aliases.map(|(alias, _)| alias);
        let derived = mapping
            .derived()
            .iter()
            .map(|derived| derived.path.as_str());
        // Who means all fields does not mean what scripts would make of all documents.
        let others = aliases.chain(derived);
        let others = others.filter(|other| field != "*" && pattern.matches(other));
        for path in matching.chain(others) {
            fields.add(path, *boost);
        }
    }
    fields.fields
}

/// Fields with their boosts, each once.
#[derive(Default)]
struct Boosted {
    fields: Vec<FieldBoost>,
    places: HashMap<String, usize>,
}

impl Boosted {
    fn add(&mut self, field: &str, boost: f32) {
        let known = self.places.get(field);
        if let Some(known) = known.and_then(|at| self.fields.get_mut(*at)) {
            known.boost *= boost;
            return;
        }
        self.places.insert(field.to_string(), self.fields.len());
        self.fields.push(FieldBoost {
            field: field.to_string(),
            boost,
        });
    }
}

/// Values that do not fit match nothing when leniency was asked for.
pub(super) fn leniently(node: Result<Node, QueryError>, lenient: bool) -> Result<Node, QueryError> {
    match node {
        Err(
            QueryError::Create { .. }
            | QueryError::Date(_)
            | QueryError::Illegal { .. }
            | QueryError::Unmapped { .. },
        ) if lenient => Ok(Node::nothing()),
        other => other,
    }
}

/// The documents of one node, with the scores that another one adds to some.
fn helped(node: Node, help: Node) -> Node {
    if node.is_nothing() || help.is_nothing() {
        return node;
    }
    let parts = vec![(Occur::Must, node.query), (Occur::Should, help.query)];
    Node {
        query: Box::new(BooleanQuery::new(parts)),
        constant: None,
        ranked: None,
        set: None,
        ..node
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
        .or_else(|| mapped.search_analyzer())
        .unwrap_or(own)
}

/// The words of a text.
///
/// # Errors
/// When there is no such analyzer, or the text is too long.
pub(super) fn tokens_of(analyzer: &str, text: &str) -> Result<Vec<Token>, QueryError> {
    if !is_analyzer(analyzer) {
        return Err(QueryError::unmapped(format!(
            "[match] analyzer [{analyzer}] not found"
        )));
    }
    if text.len() > TEXT_BYTES_MAX {
        return Err(TOO_MANY_CLAUSES);
    }
    Ok(query_tokens(analyzer, text))
}
