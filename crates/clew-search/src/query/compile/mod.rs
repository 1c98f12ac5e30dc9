//! From the query tree to tantivy's queries, under one shard's mapping and statistics.
//!
//! Boosts are multiplied down to the leaves, because tantivy prunes only bare term scorers. Every
//! node also carries what is known without running it: how many documents match at least, and
//! whether they all score the same.

mod completion;
mod compound;
mod cross_fields;
mod derived;
mod feature;
mod fixed;
mod flat;
mod function;
mod fuzzy;
mod geo;
mod interval;
mod nested;
mod percolate;
mod phrase;
mod predicate;
mod range;
mod reads;
mod relatives;
mod rewritten;
mod rows;
mod scored;
mod script;
mod similar;
mod terms;
mod terms_set;
mod text;
mod token_graph;
mod typing;
mod vectors;

pub(crate) use compound::is_none;
pub(crate) use feature::TOKENS_MAX;
pub(crate) use reads::matches_max;
pub use reads::postings_max;
pub(crate) use relatives::has_relatives;
pub(crate) use script::{measure_clause, measured_field};
pub(crate) use terms::{dictionary_terms, fields_with_values};
pub(crate) use text::{TEXT_BYTES_MAX, query_analyzer, search_fields};
pub(crate) use token_graph::{TokenPlace, is_graph, places, ways};

use std::collections::BTreeSet;
use std::sync::Arc;

use clew_query::{Bm25, Query, QueryError, unless_stopped};
use clew_schema::{DerivedField, MappedField};
use tantivy::query::{BoostQuery, ConstScoreQuery, EmptyQuery, Query as TantivyQuery};
use tantivy::schema::Field;

use super::constant::{ConstantQuery, DocumentSet, Everything};
use crate::query::profile::{QueryRecorder, Recording, Steps, Timed};
use crate::query::vectors::VectorAnswers;
use crate::ranked::Ranked;
use crate::snapshot::Snapshot;

/// How deep queries may be nested.
pub(crate) const DEPTH_MAX: usize = 30;
/// How many leaves a query may have.
pub(crate) const CLAUSES_MAX: usize = 1024;
/// How many words of a dictionary a query may stand for where each is scored by itself. A word takes some 2.5 KB.
const EXPANDED_MAX: usize = 16 * CLAUSES_MAX;

/// What a query is compiled against.
#[derive(Clone, Copy)]
pub struct CompileContext<'a> {
    /// The shard's segments.
    pub snapshot: &'a Snapshot,
    /// Milliseconds since the epoch that `now` means.
    pub now_ms: i64,
    /// What its clauses that need vectors have found.
    pub vectors: &'a VectorAnswers,
}

/// A compiled query and what is known of it.
#[derive(Debug)]
pub struct Plan {
    /// The query for tantivy.
    pub query: Box<dyn TantivyQuery>,
    /// Fields whose norms enter the score; pruning depends on their average lengths.
    pub(crate) scored_fields: Vec<Field>,
    /// Live documents that match, at least.
    pub(crate) at_least: u64,
    /// Whether `at_least` is the exact number.
    pub(crate) exact: bool,
    /// The score of every match, when it is the same.
    pub(crate) constant: Option<f32>,
    /// The same query as ranking reads it from the postings, when it can and is to.
    pub(crate) ranked: Option<Ranked>,
    /// The documents themselves, when they all score the same and posting lists make them up.
    pub(crate) set: Option<Arc<dyn DocumentSet>>,
    /// The steps of the query as a whole, where they are recorded.
    pub(crate) steps: Option<Arc<Steps>>,
}

impl Plan {
    /// The number of live documents that match, when it is known without running the query.
    pub(crate) fn matches_exactly(&self) -> Option<u64> {
        self.exact.then_some(self.at_least)
    }

    /// Whether it is known without running the query that nothing matches.
    pub(crate) fn is_nothing(&self) -> bool {
        is_empty(&*self.query, self.matches_exactly())
    }
}

/// The tantivy query for `query`.
///
/// # Errors
/// When the query does not fit the mapping, is too large, or statistics cannot be read.
pub fn compile(
    query: &Query,
    context: &CompileContext<'_>,
) -> Result<Box<dyn TantivyQuery>, QueryError> {
    plan(query, context).map(|plan| plan.query)
}

/// The tantivy query for `query` and what is known of it.
///
/// # Errors
/// As [`compile`].
pub fn plan(query: &Query, context: &CompileContext<'_>) -> Result<Plan, QueryError> {
    plan_nested(query, context, None)
}

/// The same for a query over the nested objects of a path; rows that are none of these may match
/// too.
pub(crate) fn plan_nested(
    query: &Query,
    context: &CompileContext<'_>,
    scope: Option<&str>,
) -> Result<Plan, QueryError> {
    plan_part(query, context, (scope, 1.0))
}

/// The same for a part of a query, whose scores what stands around it multiplies.
pub(crate) fn plan_part(
    query: &Query,
    context: &CompileContext<'_>,
    part: (Option<&str>, f32),
) -> Result<Plan, QueryError> {
    planned(query, context, (part, false), None)
}

/// The same as [`plan`], whose steps are noted by a recorder if there is one; `ranks` says that its best hits are wanted, which
/// may be read from the postings.
pub(crate) fn plan_recorded(
    query: &Query,
    context: &CompileContext<'_>,
    (ranks, recorder): (bool, Option<&QueryRecorder>),
) -> Result<Plan, QueryError> {
    let recording = recorder.map(|recorder| Recording::new(recorder.watch().clone()));
    planned(query, context, ((None, 1.0), ranks), recording)
}

fn planned(
    query: &Query,
    context: &CompileContext<'_>,
    ((scope, factor), ranks): ((Option<&str>, f32), bool),
    recording: Option<Recording>,
) -> Result<Plan, QueryError> {
    let mut compiler = Compiler {
        context: *context,
        clauses: 0,
        expanded: 0,
        depth: 0,
        scored_fields: BTreeSet::new(),
        scope: scope.map(str::to_string),
        ranks,
        recording,
        derived: Vec::new(),
        beside: Vec::new(),
        weights: None,
    };
    let node = compiler.node(query, factor)?;
    Ok(Plan {
        steps: compiler.recording.and_then(Recording::root),
        query: node.query,
        scored_fields: compiler.scored_fields.into_iter().collect(),
        at_least: node.at_least,
        exact: node.exact,
        constant: node.constant,
        ranked: node.ranked,
        set: node.set,
    })
}

fn is_empty(query: &dyn TantivyQuery, matches: Option<u64>) -> bool {
    matches == Some(0) && query.is::<EmptyQuery>()
}

/// A compiled part of a query.
pub(super) struct Node {
    query: Box<dyn TantivyQuery>,
    at_least: u64,
    exact: bool,
    constant: Option<f32>,
    ranked: Option<Ranked>,
    set: Option<Arc<dyn DocumentSet>>,
}

impl Node {
    fn nothing() -> Self {
        Node {
            query: Box::new(EmptyQuery),
            at_least: 0,
            exact: true,
            constant: Some(0.0),
            ranked: None,
            set: None,
        }
    }

    /// A tantivy query whose matches score 1, with another score.
    fn constant(query: impl TantivyQuery, score: f32) -> Self {
        Node {
            query: Box::new(ConstScoreQuery::new(Box::new(query), score)),
            at_least: 0,
            exact: false,
            constant: Some(score),
            ranked: None,
            set: None,
        }
    }

    fn set(set: impl DocumentSet, score: f32) -> Self {
        let set: Arc<dyn DocumentSet> = Arc::new(set);
        Node {
            set: Some(set.clone()),
            ..Node::constant(ConstantQuery(set), score)
        }
    }

    fn is_nothing(&self) -> bool {
        is_empty(&*self.query, self.exact.then_some(self.at_least))
    }

    /// A query that scores; `boost` is applied here.
    fn scored(query: Box<dyn TantivyQuery>, boost: f32) -> Self {
        let query = if (boost - 1.0).abs() < f32::EPSILON {
            query
        } else {
            Box::new(BoostQuery::new(query, boost))
        };
        Node {
            query,
            at_least: 0,
            exact: false,
            constant: None,
            ranked: None,
            set: None,
        }
    }
}

pub(super) struct Compiler<'a> {
    context: CompileContext<'a>,
    clauses: usize,
    /// Words that were found for its leaves.
    expanded: usize,
    depth: usize,
    scored_fields: BTreeSet<Field>,
    /// The path whose nested objects are searched; `None` at whole documents.
    scope: Option<String>,
    /// Whether its parts are told as ranking reads them, too, which nobody else asks for.
    ranks: bool,
    /// The steps of what was compiled so far, where they are wanted.
    recording: Option<Recording>,
    /// The derived fields that what is around brings, the innermost last.
    derived: Vec<Arc<[DerivedField]>>,
    /// What documents must match as well, besides what is compiled: scripts need not look at others.
    beside: Vec<Query>,
    /// How the query that is being compiled wants its words weighed, if not as their fields have it.
    weights: Option<Bm25>,
}

impl<'a> Compiler<'a> {
    fn node(&mut self, query: &Query, factor: f32) -> Result<Node, QueryError> {
        unless_stopped()?;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(QueryError::TooDeep { max: DEPTH_MAX });
        }
        let node = match &self.recording {
            None => self.dispatch(query, factor),
            Some(_) => self.recorded(query, factor),
        };
        self.depth -= 1;
        node
    }

    /// Compiles a part of a query whose steps are noted. What only says how something else is meant is no part.
    fn recorded(&mut self, query: &Query, factor: f32) -> Result<Node, QueryError> {
        if matches!(query, Query::Lenient(_)) {
            return self.dispatch(query, factor);
        }
        let since = self.recording.as_mut().map(Recording::begin);
        let node = self.dispatch(query, factor);
        let recording = self.recording.as_mut();
        let steps = since.and_then(|since| Some(recording?.end(query, since)));
        let node = node?;
        Ok(match steps {
            // Whether nothing matches is seen by the query's type.
            Some(steps) if !node.is_nothing() => Node {
                query: Box::new(Timed::new(node.query, steps)),
                ..node
            },
            _ => node,
        })
    }

    fn dispatch(&mut self, query: &Query, factor: f32) -> Result<Node, QueryError> {
        match query {
            Query::Bool(clauses) => self.bool(clauses, factor),
            Query::ConstantScore { filter, boost } => {
                let filter = self.node(filter, 1.0)?;
                Ok(rescored(filter, boost * factor))
            }
            Query::DisMax {
                queries,
                tie_breaker,
                boost,
            } => {
                let nodes = self.nodes(queries, boost * factor)?;
                compound::check_tie_breaker(*tie_breaker)?;
                Ok(compound::dis_max(nodes, *tie_breaker))
            }
            Query::Boosting(boosting) => self.boosting(boosting, factor),
            Query::QueryString(query) => {
                let mapping = &self.context.snapshot.mapping;
                let fields = search_fields(&query.fields, mapping);
                let tree = super::query_string::tree(query, &fields, mapping)?;
                self.node(&tree, factor)
            }
            Query::MultiMatch(multi) => {
                self.weighed(multi.clause.weighed, |own| own.multi_match(multi, factor))
            }
            Query::Nested(nested) => self.nested(nested, factor),
            Query::Related(related) => self.related(related, factor),
            Query::FunctionScore(query) => self.function_score(query, factor),
            Query::VectorScore(query) => self.vector_score(query, factor),
            Query::Named { query, .. } => self.dispatch(query, factor),
            Query::Derived(scope) => self.within_derived(scope, factor),
            Query::Lenient(inner) => text::leniently(self.node(inner, factor), true),
            leaf => {
                self.clauses += 1;
                if self.clauses > CLAUSES_MAX {
                    return Err(QueryError::TooManyClauses { max: CLAUSES_MAX });
                }
                self.leaf(leaf, factor)
            }
        }
    }

    #[warn(clippy::wildcard_enum_match_arm)]
    fn leaf(&mut self, query: &Query, factor: f32) -> Result<Node, QueryError> {
        if let Query::MatchPhrasePrefix(phrase) = query {
            self.check_begun(phrase)?;
        }
        if let Some(node) = self.on_constant(query, factor)? {
            return Ok(node);
        }
        if let Some(node) = self.on_derived(query, factor)? {
            return Ok(node);
        }
        if let Some(query) = flat::on_leaf(&self.context.snapshot.mapping, query) {
            return self.node(&query, factor);
        }
        match query {
            Query::MatchAll { boost } => Ok(self.everything(boost * factor)),
            Query::Match(clause) => self.weighed(clause.weighed, |own| own.matches(clause, factor)),
            Query::MatchPhrase(phrase) => self.phrase(phrase, factor),
            Query::MatchPhrasePrefix(phrase) => self.phrase_prefix(phrase, factor),
            Query::MatchBoolPrefix(clause) => {
                self.weighed(clause.weighed, |own| own.bool_prefix(clause, factor))
            }
            Query::Term(term) => self.term(term, factor),
            Query::Terms {
                field,
                values,
                boost,
            } => self.terms(field, values, boost * factor),
            Query::TermsOf(terms) => Err(terms.document.not_read()),
            Query::Range(range) => self.range(range, factor),
            Query::Exists { field, boost } => self.exists(field, boost * factor),
            Query::Ids { values, boost } => ids(values, boost * factor),
            Query::Prefix(pattern) => self.prefix(pattern, factor),
            Query::Wildcard(pattern) => self.wildcard(pattern, factor),
            Query::Regexp(pattern) => self.regexp(pattern, factor),
            Query::Fuzzy {
                field,
                value,
                fuzziness,
                boost,
            } => self.fuzzy(field, value, fuzziness, boost * factor),
            Query::Knn(knn) => self.knn(knn, factor),
            Query::Percolate(percolate) => self.percolate(percolate, factor),
            Query::Predicate(predicate) => self.predicate(predicate, factor),
            Query::Geo(geo) => self.geo(geo, factor),
            Query::RankFeature(feature) => self.rank_feature(feature, factor),
            Query::SparseVector(vector) => self.sparse_vector(vector, factor),
            Query::DistanceFeature(feature) => self.distance_feature(feature, factor),
            Query::MoreLikeThis(similar) => self.more_like_this(similar, factor),
            Query::TermsSet(terms) => self.terms_set(terms, factor),
            Query::Intervals(intervals) => self.intervals(intervals, factor),
            Query::MatchNone => Ok(Node::nothing()),
            Query::Bool(_)
            | Query::ConstantScore { .. }
            | Query::DisMax { .. }
            | Query::Boosting(_)
            | Query::QueryString(_)
            | Query::MultiMatch(_)
            | Query::Nested(_)
            | Query::Related(_)
            | Query::FunctionScore(_)
            | Query::VectorScore(_)
            | Query::Named { .. }
            | Query::Derived(_)
            | Query::Lenient(_) => self.dispatch(query, factor),
        }
    }

    /// Counts words that a leaf stands for.
    fn count_expanded(&mut self, words: usize) -> Result<(), QueryError> {
        self.expanded = self.expanded.saturating_add(words);
        if self.expanded > EXPANDED_MAX {
            return Err(QueryError::TooManyClauses { max: EXPANDED_MAX });
        }
        Ok(())
    }

    fn nodes(&mut self, queries: &[Query], factor: f32) -> Result<Vec<Node>, QueryError> {
        queries
            .iter()
            .map(|query| self.node(query, factor))
            .collect()
    }

    /// The mapped field and its tantivy field; `None` when no document can have it.
    fn field(&self, path: &str) -> Option<(&'a MappedField, Field)> {
        let snapshot: &'a Snapshot = self.context.snapshot;
        let mapped = snapshot.mapping.field(path)?;
        Some((mapped, snapshot.searchable(mapped)?))
    }

    fn everything(&self, score: f32) -> Node {
        Node {
            at_least: self.context.snapshot.live_docs(),
            exact: true,
            ..Node::set(Everything, score)
        }
    }
}

/// The same documents, all with one score.
fn rescored(node: Node, score: f32) -> Node {
    if node.is_nothing() {
        return node;
    }
    Node {
        query: Box::new(ConstScoreQuery::new(node.query, score)),
        constant: Some(score),
        ranked: None,
        ..node
    }
}

fn ids(values: &[String], score: f32) -> Result<Node, QueryError> {
    if values.iter().any(String::is_empty) {
        return Err(QueryError::create("Ids can't be empty"));
    }
    let terms = values.iter().map(|id| id.as_bytes().to_vec()).collect();
    let field = clew_schema::Mapping::ID;
    Ok(Node::set(super::constant::AnyTerm { field, terms }, score))
}
