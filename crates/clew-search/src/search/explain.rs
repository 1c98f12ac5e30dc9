//! Where a document's score comes from, as a tree: the query's clauses that match, and for terms
//! the figures of BM25.

use clew_analysis::tokens;
use clew_query::{Match, Query, QueryError};
use clew_schema::{FieldKind, text_of};
use serde_json::Value;
use tantivy::query::{EnableScoring, Weight};
use tantivy::{DocId, SegmentReader};

use super::rescore::score_of;
use crate::query::{CompileContext, VectorAnswers, describe, plan};
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
        if let Query::Named { query, .. } = query {
            return self.node(query);
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
                        let detail = Explained::new(0.0, describe(clause), Vec::new());
                        details.push(Explained::new(
                            0.0,
                            "match on required clause, product of:",
                            vec![Explained::new(0.0, "# clause", Vec::new()), detail],
                        ));
                    }
                }
                summed(score, details, clauses.boost)
            }
            Query::DisMax { queries, .. } => {
                let mut details = Vec::new();
                for clause in queries {
                    details.extend(self.node(clause)?);
                }
                Explained::new(score, "max plus tie_breaker times others of:", details)
            }
            Query::Match(clause) => self.terms(score, query, clause, &*weight)?,
            Query::MatchAll { .. } => Explained::new(score, "*:*", Vec::new()),
            Query::ConstantScore { filter, .. } => Explained::new(
                score,
                format!("ConstantScore({})", describe(filter)),
                vec![],
            ),
            leaf => self.leaf(score, leaf, &*weight),
        };
        Ok(Some(explained))
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
            term.boost = clause.boost;
            details.extend(self.node(&Query::Match(term))?);
        }
        Ok(summed(score, details, 1.0))
    }

    fn leaf(&self, score: f32, query: &Query, weight: &dyn Weight) -> Explained {
        // Of several clauses some may have gone past the document, which then must not be sought.
        let figures = (!is_joined(query))
            .then(|| weight.explain(self.reader, self.doc).ok())
            .flatten()
            .and_then(|explanation| serde_json::to_value(&explanation).ok());
        let details = figures.as_ref().map(|figures| vec![read(figures)]);
        Explained::new(
            score,
            format!("weight({} in {}), result of:", describe(query), self.doc),
            details.unwrap_or_default(),
        )
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

/// Reads the figures that the scorer gives.
fn read(figures: &Value) -> Explained {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "it was printed from 32 bits"
    )]
    let value = figures["value"].as_f64().unwrap_or_default() as f32;
    let details = figures["details"].as_array();
    Explained {
        value,
        description: figures["description"].as_str().unwrap_or("").to_string(),
        details: details.into_iter().flatten().map(read).collect(),
    }
}
