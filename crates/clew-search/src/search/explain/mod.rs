//! Where a document's score comes from, as a tree: the query's clauses that match, and for terms
//! the figures of BM25.

mod words;

use std::borrow::Borrow;

use clew_analysis::tokens;
use clew_query::{Match, MultiMatch, Query, QueryError};
use clew_schema::{FieldKind, text_of};
use tantivy::query::{EnableScoring, Weight};
use tantivy::{DocId, SegmentReader};

use self::words::{in_lucenes_words, read};
use super::rescore::score_of;
use crate::query::{
    CompileContext, VectorAnswers, describe, describe_unboosted, in_each_field, plan,
    query_string_tree, search_fields,
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
    let Some(reader) = snapshot.readers.get(place.0) else {
        return Ok(None);
    };
    let explainer = Explainer {
        context: CompileContext {
            snapshot,
            now_ms,
            vectors,
        },
        reader,
        doc: place.1,
    };
    explainer.node(query)
}

struct Explainer<'a> {
    context: CompileContext<'a>,
    reader: &'a SegmentReader,
    doc: DocId,
}

impl Explainer<'_> {
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
        let plan = plan(query, &self.context)?;
        let scoring = EnableScoring::enabled_from_searcher(self.context.snapshot.stub());
        let weight = plan.query.weight(scoring)?;
        let Some(score) = score_of(&*weight, self.reader, self.doc)? else {
            return Ok(None);
        };
        let explained = match query {
            Query::Bool(clauses) => {
                let mut details = Vec::new();
                for clause in clauses.must.iter().chain(&clauses.should) {
                    details.extend(self.node(clause)?);
                }
                for clause in &clauses.filter {
                    if self.node(clause)?.is_some() {
                        let detail = Explained::new(1.0, describe(clause), Vec::new());
                        details.push(Explained::new(
                            0.0,
                            "match on required clause, product of:",
                            vec![Explained::new(0.0, "# clause", Vec::new()), detail],
                        ));
                    }
                }
                summed(score, details, clauses.boost)
            }
            Query::DisMax {
                queries,
                tie_breaker,
                ..
            } => self.best(score, queries, *tie_breaker)?,
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
            Query::ConstantScore { filter, boost } => {
                let mut description = format!("ConstantScore({})", describe(filter));
                if (boost - 1.0).abs() > f32::EPSILON {
                    description.push_str(&format!("^{boost:?}"));
                }
                Explained::new(score, description, Vec::new())
            }
            leaf => self.leaf(score, leaf, &*weight),
        };
        Ok(Some(explained))
    }

    /// A text in several fields; `None` where it is not looked for in each of them by itself.
    fn in_fields(&self, score: f32, multi: &MultiMatch) -> Result<Option<Explained>, QueryError> {
        // What does not fit one of the fields is looked for in the others alone.
        let fitting = |one| Query::Lenient(Box::new(one));
        match in_each_field(multi, &self.context.snapshot.mapping) {
            Some(Query::DisMax {
                queries,
                tie_breaker,
                ..
            }) => {
                let queries = queries.into_iter().map(fitting);
                self.best(score, queries, tie_breaker).map(Some)
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
                clause.analyzer.as_deref().unwrap_or("standard")
            }
            _ => return Ok(self.leaf(score, query, weight)),
        };
        let found = tokens(analyzer, &text_of(&clause.text));
        if found.len() < 2 || clause.fuzziness.is_some() {
            return Ok(self.leaf(score, query, weight));
        }
        let mut details = Vec::new();
        for token in found {
            let mut term = Match::new(clause.field.clone(), token.text);
            term.weighed = clause.weighed;
            term.boost = clause.boost;
            details.extend(self.node(&Query::Match(term))?);
        }
        Ok(summed(score, details, 1.0))
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

fn summed(score: f32, mut details: Vec<Explained>, boost: f32) -> Explained {
    if (boost - 1.0).abs() > f32::EPSILON {
        details.push(Explained::new(boost, "boost", Vec::new()));
        return Explained::new(score, "product of sum and boost:", details);
    }
    if let ([_], Some(only)) = (details.as_slice(), details.first())
        && (only.value - score).abs() <= f32::EPSILON * score.abs()
        && let Some(only) = details.pop()
    {
        return only;
    }
    Explained::new(score, "sum of:", details)
}
