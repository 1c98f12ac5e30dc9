//! Rules over words, made rules over terms.

use std::collections::BTreeSet;
use std::sync::Arc;

use clew_analysis::Token;
use clew_query::{
    IntervalMode, IntervalRelation, IntervalRule, IntervalScoring, Intervals, QueryError,
    RegexpOptions, Script, unless_stopped,
};
use clew_schema::{FieldKind, MappedField, TextStyle};
use tantivy::Term as IndexTerm;
use tantivy::schema::Field;
use tantivy_fst::Automaton;

use super::scored::is_match_only;
use super::text::{TOO_MANY_CLAUSES, must_be_indexed, query_analyzer, tokens_of};
use super::token_graph::{TokenPlace, is_graph, places};
use super::{Compiler, Node};
use crate::query::automaton::{Nearby, Wildcard};
use crate::query::constant::{Borrowed, knows};
use crate::query::interval::joined::{joined, joined_for};
use crate::query::interval::query::{IntervalQuery, Scoring};
use crate::query::interval::source::{IntervalSource, TermSource};
use crate::query::regexp::Regexp;

/// Words that a pattern may stand for.
const EXPANSIONS_MAX: usize = 128;
/// Rules of one query.
const RULES_MAX: usize = 1024;
/// How deep rules may be nested.
const DEPTH_MAX: usize = 30;

/// The field whose words a rule is about, and how much is left of what a query may ask.
#[derive(Clone, Copy)]
struct Scope<'a> {
    mapped: &'a MappedField,
    field: Field,
    scoring: IntervalScoring,
    depth: usize,
}

/// The refusal of a field whose words stand in no places that rules could be about.
fn no_intervals(mapped: &MappedField) -> QueryError {
    QueryError::create(format!(
        "Can only use interval queries on text fields - not on [{}] which is of type [{}]",
        mapped.path,
        mapped.kind.type_name()
    ))
}

impl<'a> Compiler<'a> {
    pub(super) fn intervals(&mut self, query: &Intervals, factor: f32) -> Result<Node, QueryError> {
        let Some(scope) = self.interval_field(&query.field, query.scoring, 0)? else {
            return Ok(Node::nothing());
        };
        let source = self.interval_rule(&query.rule, scope)?;
        let scoring = match query.scoring {
            IntervalScoring::Proximity => Scoring::Proximity,
            IntervalScoring::Words => self.word_scoring(&source, (scope.mapped, scope.field))?,
        };
        let query_node = IntervalQuery { source, scoring };
        Ok(Node::scored(Box::new(query_node), query.boost * factor))
    }

    fn interval_field(
        &self,
        path: &str,
        scoring: IntervalScoring,
        depth: usize,
    ) -> Result<Option<Scope<'a>>, QueryError> {
        let Some((mapped, field)) = self.field(path) else {
            return Ok(None);
        };
        let FieldKind::Text { style, .. } = &mapped.kind else {
            let reason = match scoring {
                IntervalScoring::Proximity => return Err(no_intervals(mapped)),
                IntervalScoring::Words => format!(
                    "field \"{path}\" was indexed without position data; cannot run span queries \
                     on a field of type [{}]",
                    mapped.kind.type_name()
                ),
            };
            return Err(QueryError::create(reason));
        };
        if matches!(style, TextStyle::AsYouType { .. }) && scoring == IntervalScoring::Proximity {
            return Err(no_intervals(mapped));
        }
        let has_places = *style != TextStyle::MatchOnly && mapped.keeps_positions();
        if !has_places && scoring == IntervalScoring::Proximity {
            return Err(QueryError::create(format!(
                "Cannot create intervals over field [{path}] with no positions indexed"
            )));
        }
        must_be_indexed(mapped)?;
        Ok(Some(Scope {
            mapped,
            field,
            scoring,
            depth,
        }))
    }

    fn word_scoring(
        &self,
        source: &TermSource,
        (mapped, field): (&MappedField, Field),
    ) -> Result<Scoring, QueryError> {
        let terms = source.terms();
        Ok(Scoring::Words {
            field,
            weigher: Arc::new(self.weigher(mapped, &terms)?),
        })
    }

    /// A phrase some places of which several words may take.
    pub(super) fn graph_phrase(
        &self,
        (mapped, field): (&MappedField, Field),
        tokens: &[Token],
        boost: f32,
    ) -> Result<Node, QueryError> {
        let sources = text_sources(field, tokens)?;
        let source = joined(sources, IntervalMode::Ordered, Some(0));
        let scoring = self.word_scoring(&source, (mapped, field))?;
        let boost = boost * self.context.snapshot.term_factor();
        let query = IntervalQuery { source, scoring };
        Ok(Node::scored(Box::new(query), boost))
    }

    fn interval_rules(
        &mut self,
        rules: &[IntervalRule],
        scope: Scope<'a>,
    ) -> Result<Vec<TermSource>, QueryError> {
        let mut sources = Vec::with_capacity(rules.len());
        for rule in rules {
            sources.push(self.interval_rule(rule, scope)?);
        }
        Ok(sources)
    }

    fn interval_rule(
        &mut self,
        rule: &IntervalRule,
        scope: Scope<'a>,
    ) -> Result<TermSource, QueryError> {
        self.clauses += 1;
        if self.clauses > RULES_MAX {
            return Err(QueryError::TooManyClauses { max: RULES_MAX });
        }
        let scope = Scope {
            depth: scope.depth + 1,
            ..scope
        };
        if scope.depth > DEPTH_MAX {
            return Err(QueryError::TooDeep { max: DEPTH_MAX });
        }
        Ok(match rule {
            IntervalRule::Match {
                text,
                analyzer,
                mode,
                max_gaps,
            } => {
                let analyzer = query_analyzer(scope.mapped, analyzer.as_deref());
                let tokens = tokens_of(analyzer, text)?;
                self.count_clauses(tokens.len())?;
                let sources = text_sources(scope.field, &tokens)?;
                joined(sources, *mode, *max_gaps)
            }
            IntervalRule::AllOf {
                rules,
                mode,
                max_gaps,
            } => {
                let sources = self.interval_rules(rules, scope)?;
                joined_for(scope.scoring, sources, *mode, *max_gaps)
            }
            IntervalRule::AnyOf(rules) => IntervalSource::Any(self.interval_rules(rules, scope)?),
            IntervalRule::Related {
                rule,
                relation,
                filter,
            } => {
                let filter = self.interval_rule(filter, scope)?;
                related(self.interval_rule(rule, scope)?, *relation, &filter)
            }
            IntervalRule::Extended {
                rule,
                before,
                after,
            } => IntervalSource::Extended {
                source: Box::new(self.interval_rule(rule, scope)?),
                before: *before,
                after: *after,
            },
            IntervalRule::First { rule, end } => self
                .interval_rule(rule, scope)?
                .each(|source| IntervalSource::First(Box::new(source), *end)),
            IntervalRule::Scripted { rule, script } => self.scripted(rule, script, scope)?,
            IntervalRule::InField { field, rule } => {
                match self.interval_field(field, scope.scoring, scope.depth)? {
                    Some(scope) => self.interval_rule(rule, scope)?,
                    None => IntervalSource::nothing(),
                }
            }
            IntervalRule::Normalized { analyzer, rule } => {
                let analyzer = query_analyzer(scope.mapped, analyzer.as_deref());
                let rule = normalized(rule, analyzer);
                IntervalSource::Words(self.interval_words(&rule, scope.field)?)
            }
            word => self.placed_words(word, scope)?,
        })
    }

    /// The words that a rule stands for, which are refused where their field keeps no places of them.
    fn placed_words(
        &self,
        rule: &IntervalRule,
        scope: Scope<'a>,
    ) -> Result<TermSource, QueryError> {
        let words = self.interval_words(rule, scope.field)?;
        let mapped = scope.mapped;
        if mapped.keeps_positions() && !is_match_only(mapped) {
            return Ok(IntervalSource::Words(words));
        }
        for term in &words {
            if self.context.snapshot.doc_freq(term)? > 0 {
                let text = String::from_utf8_lossy(term.serialized_value_bytes());
                let reason = format!(
                    "field \"{}\" was indexed without position data; cannot run SpanTermQuery \
                     (term={text})",
                    mapped.path
                );
                return Err(QueryError::State { reason });
            }
        }
        Ok(IntervalSource::Words(words))
    }

    /// The intervals of a rule that a script holds of; it is asked of each alternative.
    fn scripted(
        &mut self,
        rule: &IntervalRule,
        script: &Script,
        scope: Scope<'a>,
    ) -> Result<TermSource, QueryError> {
        let script = Arc::new(script.clone());
        let held = |source| IntervalSource::Scripted(Box::new(source), Arc::clone(&script));
        Ok(self.interval_rule(rule, scope)?.each(held))
    }

    /// The terms that a pattern stands for.
    fn interval_words(
        &self,
        rule: &IntervalRule,
        field: Field,
    ) -> Result<Vec<IndexTerm>, QueryError> {
        match rule {
            IntervalRule::Word(word) => Ok(vec![IndexTerm::from_field_text(field, word)]),
            IntervalRule::Prefix(prefix, ignore_case) => {
                let automaton = Wildcard::prefix(prefix, *ignore_case)?;
                self.expanded(field, &automaton, prefix)
            }
            IntervalRule::Wildcard(pattern, ignore_case) => {
                let automaton = Wildcard::parse(pattern, *ignore_case)?;
                self.expanded(field, &automaton, pattern)
            }
            IntervalRule::Regexp(pattern, ignore_case) => {
                let options = RegexpOptions {
                    ignore_case: *ignore_case,
                    ..RegexpOptions::default()
                };
                let automaton = Regexp::new(pattern, options)?;
                self.expanded(field, &automaton, pattern)
            }
            IntervalRule::Fuzzy(word, fuzziness) => {
                self.expanded(field, &Nearby::new(word, fuzziness), word)
            }
            _ => Ok(Vec::new()),
        }
    }

    fn expanded<A: Automaton>(
        &self,
        field: Field,
        automaton: &A,
        pattern: &str,
    ) -> Result<Vec<IndexTerm>, QueryError>
    where
        A::State: Clone,
    {
        let mut terms = BTreeSet::new();
        for reader in &self.context.snapshot.readers {
            if !knows(reader, field) {
                continue;
            }
            let inverted = reader.inverted_index(field)?;
            let dictionary = inverted.terms();
            let mut stream = dictionary.search(Borrowed::new(automaton)).into_stream()?;
            while stream.advance() {
                let word = String::from_utf8_lossy(stream.key());
                terms.insert(IndexTerm::from_field_text(field, &word));
                if terms.len() > EXPANSIONS_MAX {
                    return Err(QueryError::illegal(format!(
                        "Automaton [{pattern}] expanded to too many terms (limit {EXPANSIONS_MAX})"
                    )));
                }
            }
        }
        unless_stopped()?;
        Ok(terms.into_iter().collect())
    }
}

/// The rule's text as an analyzer would spell it.
fn normalized(rule: &IntervalRule, analyzer: &str) -> IntervalRule {
    if matches!(analyzer, "whitespace" | "keyword") {
        return rule.clone();
    }
    match rule.clone() {
        IntervalRule::Prefix(text, ignore_case) => {
            IntervalRule::Prefix(text.to_lowercase(), ignore_case)
        }
        IntervalRule::Wildcard(text, ignore_case) => {
            IntervalRule::Wildcard(text.to_lowercase(), ignore_case)
        }
        IntervalRule::Fuzzy(text, fuzziness) => IntervalRule::Fuzzy(text.to_lowercase(), fuzziness),
        other => other,
    }
}

/// The words of a text, and the ways through its synonyms of several words.
fn text_sources(field: Field, tokens: &[Token]) -> Result<Vec<TermSource>, QueryError> {
    if !is_graph(tokens) {
        return Ok(words(field, tokens));
    }
    let term = |word: &String| IndexTerm::from_field_text(field, word);
    let alone = |word: &String| IntervalSource::Words(vec![term(word)]);
    let way = |way: &Vec<String>| {
        let words = way.iter().map(alone).collect();
        joined(words, IntervalMode::Ordered, Some(0))
    };
    let places = places(tokens).ok_or(TOO_MANY_CLAUSES)?;
    let source = |place: &TokenPlace| match place {
        TokenPlace::Words(words) => IntervalSource::Words(words.iter().map(term).collect()),
        TokenPlace::Ways(ways) => IntervalSource::Any(ways.iter().map(way).collect()),
    };
    Ok(places.iter().map(source).collect())
}

/// A source whose intervals have something to do with a filter's.
fn related(source: TermSource, relation: IntervalRelation, filter: &TermSource) -> TermSource {
    let related =
        |source| IntervalSource::Related(Box::new(source), relation, Box::new(filter.clone()));
    // Only here alternatives are not looked at each by itself.
    if relation == IntervalRelation::Overlapping {
        related(source)
    } else {
        source.each(related)
    }
}

/// The words of a text; those at one position are alternatives, and a position left out before a
/// word belongs to it.
fn words(field: Field, tokens: &[Token]) -> Vec<TermSource> {
    let mut sources: Vec<TermSource> = Vec::new();
    let mut last: Option<usize> = None;
    let is_only = tokens.len() == 1;
    for token in tokens {
        let term = IndexTerm::from_field_text(field, &token.text);
        if last == Some(token.position)
            && let Some(IntervalSource::Words(terms)) = sources.last_mut()
        {
            terms.push(term);
            continue;
        }
        // What is left out before the only word does not count.
        let first = if is_only { 0 } else { token.position };
        let skipped = last.map_or(first, |last| token.position.saturating_sub(last + 1));
        last = Some(token.position);
        let word = IntervalSource::Words(vec![term]);
        sources.push(match u32::try_from(skipped) {
            Ok(0) | Err(_) => word,
            Ok(before) => IntervalSource::Extended {
                source: Box::new(word),
                before,
                after: 0,
            },
        });
    }
    sources
}
