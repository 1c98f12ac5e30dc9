//! Where a document's score comes from, as a tree: the query's clauses that match, and for terms
//! the figures of BM25.

mod decay;
mod features;
mod functions;
mod misses;
mod nested;
mod words;

use std::borrow::Borrow;

use clew_analysis::{Token, tokens};
use clew_query::{Bool, IntervalScoring, Intervals, Match, MultiMatch, Query, QueryError};
use clew_schema::{FieldKind, text_of};
use tantivy::query::{EnableScoring, Weight};
use tantivy::{DocId, SegmentReader};

use self::words::{in_lucenes_words, read};
use super::rescore::score_of;
use crate::query::{
    CompileContext, VectorAnswers, WHOLE_DOCUMENT, describe, describe_unboosted, in_each_field,
    may_find_objects, plan_part, query_analyzer, query_string_tree, search_fields,
};
use crate::snapshot::Snapshot;

/// A number and what it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// The number.
    pub value: f32,
    /// What it is.
    pub description: String,
    /// What it was computed from.
    pub details: Vec<Explained>,
}

impl Explained {
    /// A number and what it is made of.
    pub fn new(value: f32, description: impl Into<String>, details: Vec<Explained>) -> Self {
        Explained {
            value,
            description: description.into(),
            details,
        }
    }
}

/// Explains a document's score; `None` when it does not match.
///
/// # Errors
/// When the query does not fit the mapping, or reading fails.
pub fn explain(
    snapshot: &Snapshot,
    query: &Query,
    vectors: &VectorAnswers,
    now_ms: i64,
    place: (usize, DocId),
) -> Result<Option<Explained>, QueryError> {
    let Some(explainer) = Explainer::of(snapshot, vectors, now_ms, place) else {
        return Ok(None);
    };
    explainer.node(query)
}

/// Explains what an object of a nested path, or a document where there is none, scores by a query over such; `None` when it does
/// not match.
///
/// # Errors
/// As [`explain`].
pub fn explain_inside(
    context: &CompileContext<'_>,
    query: &Query,
    path: Option<&str>,
    place: (usize, DocId),
) -> Result<Option<Explained>, QueryError> {
    let (snapshot, vectors) = (context.snapshot, context.vectors);
    let Some(explainer) = Explainer::of(snapshot, vectors, context.now_ms, place) else {
        return Ok(None);
    };
    let inside = Explainer {
        scope: path,
        ..explainer
    };
    inside.node(query)
}

/// Explains the score of a document by the query of a search, which finds whole documents alone; `None` when it does not
/// match.
///
/// # Errors
/// As [`explain`].
pub fn explain_search(
    snapshot: &Snapshot,
    query: &Query,
    vectors: &VectorAnswers,
    now_ms: i64,
    place: (usize, DocId),
) -> Result<Option<Explained>, QueryError> {
    let explained = explain(snapshot, query, vectors, now_ms, place)?;
    Ok(
        explained.map(|told| match may_find_objects(query, &snapshot.mapping) {
            true => of_rows(told, WHOLE_DOCUMENT),
            false => told,
        }),
    )
}

/// Why a document does not match the query of a search; `None` where there is no such document.
///
/// # Errors
/// As [`explain`].
pub fn explain_miss(
    snapshot: &Snapshot,
    query: &Query,
    vectors: &VectorAnswers,
    now_ms: i64,
    place: (usize, DocId),
) -> Result<Option<Explained>, QueryError> {
    let Some(explainer) = Explainer::of(snapshot, vectors, now_ms, place) else {
        return Ok(None);
    };
    if !may_find_objects(query, &snapshot.mapping) {
        return explainer.miss(query).map(Some);
    }
    let is_whole = Explained::new(1.0, WHOLE_DOCUMENT, Vec::new());
    let details = vec![explainer.lacking(query)?, required(is_whole)];
    Ok(Some(Explained::new(0.0, FAILURE, details)))
}

/// What is told where a clause that must match does not, or one that must not does.
const FAILURE: &str = "Failure to meet condition(s) of required/prohibited clause(s)";

/// An explanation together with the clause that leaves whole documents only, or objects of a path, as OpenSearch adds it.
fn of_rows(told: Explained, which: &str) -> Explained {
    if told.description == "*:*" {
        return constant(told.value, which);
    }
    let clause = required(Explained::new(1.0, which, Vec::new()));
    Explained::new(told.value, "sum of:", vec![told, clause])
}

/// A score that does not depend on how something matches.
fn constant(score: f32, matched: &str) -> Explained {
    let mut description = format!("ConstantScore({matched})");
    if (score - 1.0).abs() > f32::EPSILON {
        description.push_str(&format!("^{score:?}"));
    }
    Explained::new(score, description, Vec::new())
}

/// A clause that must match and whose score does not count, which no constant stands around.
fn describe_filter(clause: &Query) -> String {
    match clause {
        Query::Named { query, .. } => describe_filter(query),
        Query::ConstantScore { filter, .. } => describe(filter),
        Query::Exists { field, .. } => format!("FieldExistsQuery [field={field}]"),
        other => describe(other),
    }
}

/// A clause that must match and adds nothing.
fn required(matched: Explained) -> Explained {
    Explained::new(
        0.0,
        "match on required clause, product of:",
        vec![Explained::new(0.0, "# clause", Vec::new()), matched],
    )
}

#[derive(Clone, Copy)]
struct Explainer<'a> {
    context: CompileContext<'a>,
    /// The place of the segment in the snapshot.
    segment: usize,
    reader: &'a SegmentReader,
    /// The row: a document, or an object of `scope`.
    doc: DocId,
    scope: Option<&'a str>,
    /// What the queries around multiply scores with.
    factor: f32,
}

impl<'a> Explainer<'a> {
    /// Of a document at its place; `None` where there is none.
    fn of(
        snapshot: &'a Snapshot,
        vectors: &'a VectorAnswers,
        now_ms: i64,
        (segment, doc): (usize, DocId),
    ) -> Option<Self> {
        Some(Explainer {
            context: CompileContext {
                snapshot,
                now_ms,
                vectors,
            },
            segment,
            reader: snapshot.readers.get(segment)?,
            doc,
            scope: None,
            factor: 1.0,
        })
    }

    /// The same of what is inside a query that has a boost.
    fn boosted(self, boost: f32) -> Self {
        let factor = self.factor * boost;
        Explainer { factor, ..self }
    }
}

impl Explainer<'_> {
    fn weight(&self, query: &Query) -> Result<Box<dyn Weight>, QueryError> {
        let plan = plan_part(query, &self.context, (self.scope, self.factor))?;
        let scoring = EnableScoring::enabled_from_searcher(self.context.snapshot.stub());
        Ok(plan.query.weight(scoring)?)
    }

    /// The document's score by a query alone; `None` when it does not match.
    fn score(&self, query: &Query) -> Result<Option<f32>, QueryError> {
        score_of(&*self.weight(query)?, self.reader, self.doc)
    }

    fn node(&self, query: &Query) -> Result<Option<Explained>, QueryError> {
        match query {
            Query::Named { query, .. } => return self.node(query),
            // It is compiled from what it reads as.
            Query::QueryString(string) => {
                let mapping = &self.context.snapshot.mapping;
                let fields = search_fields(&string.fields, mapping);
                return self.node(&query_string_tree(string, &fields, mapping)?);
            }
            _ => {}
        }
        let weight = self.weight(query)?;
        let Some(score) = score_of(&*weight, self.reader, self.doc)? else {
            return Ok(None);
        };
        let explained = match query {
            Query::FunctionScore(scored) => self.functions(score, scored)?,
            Query::Boosting(boosting) => self.lowered(score, query, boosting)?,
            Query::RankFeature(feature) => self.feature(score, feature)?,
            Query::Intervals(intervals) if intervals.scoring == IntervalScoring::Proximity => {
                self.intervals(score, intervals, &*weight)
            }
            Query::Bool(clauses) => self.clauses(score, clauses)?,
            Query::DisMax {
                queries,
                tie_breaker,
                boost,
            } => self.boosted(*boost).best(score, queries, *tie_breaker)?,
            Query::Nested(nested) => self.nested(score, nested)?,
            Query::MultiMatch(multi) => match self.in_fields(score, multi)? {
                Some(explained) => explained,
                None => self.leaf(score, query, &*weight),
            },
            // That matches, so that there is nothing in it that does not fit.
            Query::Lenient(inner) => match self.node(inner)? {
                Some(explained) => explained,
                None => self.leaf(score, inner, &*weight),
            },
            Query::Match(clause) => self.terms(score, query, clause, &*weight)?,
            Query::MatchAll { .. } => Explained::new(score, "*:*", Vec::new()),
            Query::ConstantScore { filter, .. } => constant(score, &describe(filter)),
            leaf => self.leaf(score, leaf, &*weight),
        };
        Ok(Some(explained))
    }

    /// The clauses that match; those that only must are told to add nothing.
    fn clauses(&self, score: f32, clauses: &Bool) -> Result<Explained, QueryError> {
        let mut details = Vec::new();
        let scored = self.boosted(clauses.boost);
        for clause in clauses.must.iter().chain(&clauses.should) {
            details.extend(scored.node(clause)?);
        }
        for clause in &clauses.filter {
            if self.node(clause)?.is_some() {
                let detail = Explained::new(1.0, describe_filter(clause), Vec::new());
                details.push(required(detail));
            }
        }
        let parts = [
            &clauses.must,
            &clauses.should,
            &clauses.filter,
            &clauses.must_not,
        ];
        let count: usize = parts.iter().map(|part| part.len()).sum();
        Ok(summed(score, details, count == 1))
    }

    /// A text in several fields; `None` where it is not looked for in each of them by itself.
    fn in_fields(&self, score: f32, multi: &MultiMatch) -> Result<Option<Explained>, QueryError> {
        // What does not fit one of the fields is looked for in the others alone.
        let fitting = |one| Query::Lenient(Box::new(one));
        match in_each_field(multi, &self.context.snapshot.mapping) {
            Some(Query::DisMax {
                queries,
                tie_breaker,
                boost,
            }) => {
                let queries = queries.into_iter().map(fitting);
                let inside = self.boosted(boost);
                inside.best(score, queries, tie_breaker).map(Some)
            }
            Some(only) => self.node(&fitting(only)),
            None => Ok(None),
        }
    }

    /// The best of several queries, and so much of what the others give.
    fn best<Q: Borrow<Query>>(
        &self,
        score: f32,
        queries: impl IntoIterator<Item = Q>,
        tie_breaker: f32,
    ) -> Result<Explained, QueryError> {
        let mut details = Vec::new();
        for one in queries {
            details.extend(self.node(one.borrow())?);
        }
        let description = match tie_breaker > 0.0 {
            true => format!("max plus {tie_breaker:?} times others of:"),
            false => "max of:".to_string(),
        };
        Ok(Explained::new(score, description, details))
    }

    /// A match of several terms is the sum of what they give.
    fn terms(
        &self,
        score: f32,
        query: &Query,
        clause: &Match,
        weight: &dyn Weight,
    ) -> Result<Explained, QueryError> {
        let analyzer = match self.context.snapshot.mapping.field(&clause.field) {
            Some(mapped) if matches!(mapped.kind, FieldKind::Text { .. }) => {
                query_analyzer(mapped, clause.analyzer.as_deref())
            }
            _ => return Ok(self.leaf(score, query, weight)),
        };
        let found = tokens(analyzer, &text_of(&clause.text));
        if found.len() < 2 || clause.fuzziness.is_some() || have_synonyms(&found) {
            return Ok(self.leaf(score, query, weight));
        }
        let mut details = Vec::new();
        for token in found {
            // As the analyzer made it, which would not make the same of it again.
            let mut term = Match::new(clause.field.clone(), token.text);
            term.analyzer = Some("keyword".to_string());
            term.weighed = clause.weighed;
            term.boost = clause.boost;
            details.extend(self.node(&Query::Match(term))?);
        }
        Ok(summed(score, details, false))
    }

    /// Words by where they stand, which score by how often that is.
    fn intervals(&self, score: f32, intervals: &Intervals, weight: &dyn Weight) -> Explained {
        let told = weight.explain(self.reader, self.doc).ok();
        let told = told.and_then(|told| serde_json::to_value(&told).ok());
        let frequency = told.and_then(|told| figure(&read(&told), "frequency"));
        let query = describe_unboosted(&Query::Intervals(intervals.clone()));
        let details = vec![
            Explained::new(
                intervals.boost * self.factor,
                "w, weight of this function",
                Vec::new(),
            ),
            Explained::new(1.0, PIVOT, Vec::new()),
            Explained::new(
                frequency.unwrap_or_default(),
                format!("S, the sloppy frequency of the interval query {query}"),
                Vec::new(),
            ),
        ];
        let description =
            "Saturation function on interval frequency, computed as w * S / (S + k) from:";
        Explained::new(score, description, details)
    }

    fn leaf(&self, score: f32, query: &Query, weight: &dyn Weight) -> Explained {
        let described = describe_unboosted(query);
        // Of several clauses some may have gone past the document, which then must not be sought.
        let figures = (!is_joined(query))
            .then(|| weight.explain(self.reader, self.doc).ok())
            .flatten()
            .and_then(|explanation| serde_json::to_value(&explanation).ok());
        let Some(figures) = figures else {
            let description = format!("weight({described} in {}), result of:", self.doc);
            return Explained::new(score, description, Vec::new());
        };
        let Some(detail) = in_lucenes_words(read(&figures), 1.0) else {
            return Explained::new(score, described, Vec::new());
        };
        let by = match detail.description.starts_with("score(") {
            true => " [PerFieldSimilarity]",
            false => "",
        };
        let description = format!("weight({described} in {}){by}, result of:", self.doc);
        Explained::new(score, description, vec![detail])
    }
}

/// Whether a query is compiled into several that are joined.
fn is_joined(query: &Query) -> bool {
    match query {
        Query::MultiMatch(_)
        | Query::QueryString(_)
        | Query::MatchBoolPrefix(_)
        | Query::MatchPhrasePrefix(_)
        | Query::MoreLikeThis(_)
        | Query::Fuzzy { .. }
        | Query::Boosting(_) => true,
        Query::Match(clause) => clause.fuzziness.is_some(),
        _ => false,
    }
}

/// What a figure in an explanation is called that half the weight comes with.
const PIVOT: &str = "k, pivot feature value that would give a score contribution equal to w/2";

/// A figure by its name, in an explanation or in one that it stands around.
fn figure(told: &Explained, name: &str) -> Option<f32> {
    if told.description == name {
        return Some(told.value);
    }
    told.details.iter().find_map(|detail| figure(detail, name))
}

/// Whether several words stand at one place.
fn have_synonyms(found: &[Token]) -> bool {
    found
        .windows(2)
        .any(|pair| matches!(pair, [one, next] if one.position == next.position))
}

/// The sum of what clauses give; one that is alone is told by itself.
fn summed(score: f32, mut details: Vec<Explained>, is_alone: bool) -> Explained {
    match details.pop() {
        Some(only) if is_alone && details.is_empty() => only,
        last => {
            details.extend(last);
            Explained::new(score, "sum of:", details)
        }
    }
}
