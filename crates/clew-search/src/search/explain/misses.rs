//! Why a document does not match, clause by clause.

use clew_query::{Bool, IntervalScoring, Match, Query, QueryError};
use clew_schema::{FieldKind, text_of};

use super::{Explained, Explainer, FAILURE, describe_filter, required};
use crate::query::{describe, query_analyzer, query_string_tree, search_fields};

impl Explainer<'_> {
    /// Why the document does not match a query; that it does not is known.
    pub(super) fn miss(&self, query: &Query) -> Result<Explained, QueryError> {
        let mapping = &self.context.snapshot.mapping;
        let reason = match query {
            Query::Named { query, .. } | Query::Lenient(query) => return self.miss(query),
            Query::Derived(scope) => return self.miss(&scope.query),
            Query::FunctionScore(scored) => return self.miss(&scored.query),
            Query::Boosting(boosting) => return self.miss(&boosting.positive),
            Query::Bool(clauses) => return self.missed_clauses(clauses),
            Query::QueryString(string) => {
                let fields = search_fields(&string.fields, mapping);
                return self.miss(&query_string_tree(string, &fields, mapping)?);
            }
            Query::Match(clause) if self.has_several_words(clause) => "No matching clauses",
            Query::Match(_) => "no matching term",
            Query::Term(term) => match mapping.field(&term.field).map(|field| &field.kind) {
                Some(FieldKind::Text { .. } | FieldKind::Keyword { .. }) => "no matching term",
                _ => return Ok(self.no_match(query)),
            },
            Query::MatchPhrase(_) | Query::MatchPhrasePrefix(_) => "no matching terms",
            Query::Intervals(intervals) => match intervals.scoring {
                IntervalScoring::Proximity => "no matching intervals",
                IntervalScoring::Words => "no matching term",
            },
            Query::DisMax { .. } => "No matching clause",
            Query::MoreLikeThis(_) | Query::MatchBoolPrefix(_) => "No matching clauses",
            Query::Nested(_) => "Not a match",
            other => return Ok(self.no_match(other)),
        };
        Ok(Explained::new(0.0, reason, Vec::new()))
    }

    fn no_match(&self, query: &Query) -> Explained {
        let reason = format!("{} doesn't match id {}", describe(query), self.doc);
        Explained::new(0.0, reason, Vec::new())
    }

    fn has_several_words(&self, clause: &Match) -> bool {
        let mapped = self.context.snapshot.mapping.field(&clause.field);
        mapped.is_some_and(|mapped| {
            let analyzer = query_analyzer(mapped, clause.analyzer.as_deref());
            matches!(mapped.kind, FieldKind::Text { .. })
                && clew_analysis::tokens(analyzer, &text_of(&clause.text)).len() > 1
        })
    }

    fn missed_clauses(&self, clauses: &Bool) -> Result<Explained, QueryError> {
        let parts = [&clauses.must, &clauses.should];
        let mut scored = parts.iter().flat_map(|part| part.iter());
        if let (Some(only), None) = (scored.next(), scored.next())
            && clauses.filter.is_empty()
            && clauses.must_not.is_empty()
        {
            return self.miss(only);
        }
        let mut details = Vec::new();
        let mut has_failed = false;
        for clause in &clauses.must {
            details.push(match self.node(clause)? {
                Some(matched) => matched,
                None => {
                    has_failed = true;
                    self.lacking(clause)?
                }
            });
        }
        for clause in &clauses.must_not {
            if let Some(matched) = self.node(clause)? {
                has_failed = true;
                let reason = format!("match on prohibited clause ({})", describe(clause));
                details.push(Explained::new(0.0, reason, vec![matched]));
            }
        }
        for clause in &clauses.should {
            details.extend(self.node(clause)?);
        }
        for clause in &clauses.filter {
            details.push(match self.node(clause)? {
                Some(_) => required(Explained::new(1.0, describe_filter(clause), Vec::new())),
                None => {
                    has_failed = true;
                    self.lacking(clause)?
                }
            });
        }
        let reason = match (has_failed, details.is_empty()) {
            (true, _) => FAILURE.to_string(),
            (false, true) => "No matching clauses".to_string(),
            (false, false) => {
                let minimum = clauses.minimum_should_match.as_ref();
                let minimum = minimum.map_or(1, |minimum| minimum.resolve(clauses.should.len()));
                format!("Failure to match minimum number of optional clauses: {minimum}")
            }
        };
        Ok(Explained::new(0.0, reason, details))
    }

    /// A clause that must match and does not.
    pub(super) fn lacking(&self, clause: &Query) -> Result<Explained, QueryError> {
        let reason = format!("no match on required clause ({})", describe(clause));
        Ok(Explained::new(0.0, reason, vec![self.miss(clause)?]))
    }
}
