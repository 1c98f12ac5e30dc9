//! Where a document's score comes from, as a tree: the query's clauses that match, and for terms
//! the figures of BM25.

use std::borrow::Borrow;

use clew_analysis::tokens;
use clew_query::{Match, MultiMatch, Query, QueryError};
use clew_schema::{FieldKind, text_of};
use serde_json::Value;
use tantivy::query::{EnableScoring, Weight};
use tantivy::{DocId, SegmentReader};

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

/// What a phrase's scorer calls itself.
const PHRASE: &str = "Phrase Scorer";
/// What the number of a term's occurrences is called.
const FREQUENCY: &str = "freq, occurrences of term within document";

/// Figures of a scorer as Lucene tells them, whose words tools take apart, with the boosts around them made part of their
/// own; `None` where every match scores the same.
fn in_lucenes_words(mut figures: Explained, boost: f32) -> Option<Explained> {
    let description = figures.description.as_str();
    let factor = boost_of(description);
    let is_phrase = description == PHRASE;
    let is_around = factor.is_some() || is_phrase || description == "BooleanClause. sum of ...";
    if is_around
        && figures.details.len() == 1
        && let Some(inner) = figures.details.pop()
    {
        let mut worded = in_lucenes_words(inner, boost * factor.unwrap_or(1.0))?;
        worded.value = figures.value;
        return Some(match is_phrase {
            true => with_phrase_frequency(worded),
            false => worded,
        });
    }
    match description {
        "Const" | "constant" => None,
        "TermQuery, product of..." => Some(scored(figures, boost)),
        _ => {
            let details = std::mem::take(&mut figures.details).into_iter();
            let worded = details.filter_map(|detail| in_lucenes_words(detail, boost));
            figures.details = worded.collect();
            Some(figures)
        }
    }
}

/// By how much a boost multiplies what it stands around.
fn boost_of(description: &str) -> Option<f32> {
    let rest = description.strip_prefix("Boost x")?;
    rest.split(' ').next()?.parse().ok()
}

/// The score of a term or a phrase by BM25.
fn scored(figures: Explained, boost: f32) -> Explained {
    let details = figures.details.into_iter();
    let details: Vec<Explained> = details.map(|detail| renamed(detail, boost)).collect();
    let mut inner = details.iter().flat_map(|detail| &detail.details);
    let frequency = inner.find(|detail| detail.description == FREQUENCY);
    let frequency = frequency.map_or(0.0, |detail| detail.value);
    let description = format!("score(freq={frequency:?}), computed as boost * idf * tf from:");
    Explained::new(figures.value, description, details)
}

/// A figure of BM25 and those that it is made of, by Lucene's names.
fn renamed(mut figure: Explained, boost: f32) -> Explained {
    let name = match figure.description.as_str() {
        "(K1+1)" => {
            figure.value *= boost;
            Some("boost")
        }
        "idf, computed as log(1 + (N - n + 0.5) / (n + 0.5))" => {
            Some("idf, computed as log(1 + (N - n + 0.5) / (n + 0.5)) from:")
        }
        "n, number of docs containing this term" => Some("n, number of documents containing term"),
        "N, total number of docs" => Some("N, total number of documents with field"),
        "freq / (freq + k1 * (1 - b + b * dl / avgdl))" => {
            Some("tf, computed as freq / (freq + k1 * (1 - b + b * dl / avgdl)) from:")
        }
        _ => None,
    };
    if let Some(name) = name {
        figure.description = name.to_string();
    }
    let details = std::mem::take(&mut figure.details).into_iter();
    figure.details = details.map(|detail| renamed(detail, boost)).collect();
    figure
}

/// Of a phrase's score: what occurs is the phrase.
fn with_phrase_frequency(mut score: Explained) -> Explained {
    for figure in &mut score.details {
        for detail in &mut figure.details {
            if detail.description == FREQUENCY {
                detail.description = format!("phraseFreq={:?}", detail.value);
            }
        }
    }
    score
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a scorer tells it.
    fn told(value: f32, description: &str, details: Vec<Explained>) -> Explained {
        Explained::new(value, description, details)
    }

    fn term() -> Explained {
        let tf = "freq / (freq + k1 * (1 - b + b * dl / avgdl))";
        let idf = "idf, computed as log(1 + (N - n + 0.5) / (n + 0.5))";
        let details = vec![
            told(2.0, "(K1+1)", vec![]),
            told(0.5, idf, vec![told(3.0, "N, total number of docs", vec![])]),
            told(0.25, tf, vec![told(2.0, FREQUENCY, vec![])]),
        ];
        told(0.25, "TermQuery, product of...", details)
    }

    #[test]
    fn scores_of_terms_are_told_as_lucene_does() {
        let boosted = told(0.75, "Boost x3 of ...", vec![term()]);
        let clause = told(0.75, "BooleanClause. sum of ...", vec![boosted]);
        let worded = in_lucenes_words(clause, 1.0).unwrap();
        let tf = "tf, computed as freq / (freq + k1 * (1 - b + b * dl / avgdl)) from:";
        let idf = "idf, computed as log(1 + (N - n + 0.5) / (n + 0.5)) from:";
        let documents = told(3.0, "N, total number of documents with field", vec![]);
        let details = vec![
            told(6.0, "boost", vec![]),
            told(0.5, idf, vec![documents]),
            told(0.25, tf, vec![told(2.0, FREQUENCY, vec![])]),
        ];
        let score = "score(freq=2.0), computed as boost * idf * tf from:";
        assert_eq!(worded, told(0.75, score, details));
    }

    #[test]
    fn phrases_occur_as_such_and_constants_have_no_figures() {
        let phrase = told(0.25, PHRASE, vec![term()]);
        let worded = in_lucenes_words(phrase, 1.0).unwrap();
        assert_eq!(worded.details[2].details[0].description, "phraseFreq=2.0");
        let constant = told(1.0, "Const", vec![]);
        let clause = told(1.0, "BooleanClause. sum of ...", vec![constant]);
        assert_eq!(in_lucenes_words(clause, 1.0), None);
        // What nobody knows stays as it is told.
        let other = told(1.0, "nearest neighbour", vec![]);
        assert_eq!(in_lucenes_words(other.clone(), 1.0), Some(other));
    }
}
