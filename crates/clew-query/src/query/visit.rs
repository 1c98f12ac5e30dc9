//! Walks over the query tree. Where queries have others inside is known here and nowhere else.

#![warn(clippy::wildcard_enum_match_arm)]

use super::related::Related;
use super::tree::Query;

/// Adds the queries directly inside one to a list; with `mut` they can be changed.
macro_rules! add_children {
    ($query:expr, $found:expr $(, $mut:tt)?) => {
        match $query {
            Query::Bool(clauses) => {
                $found.extend(& $($mut)? clauses.must);
                $found.extend(& $($mut)? clauses.should);
                $found.extend(& $($mut)? clauses.must_not);
                $found.extend(& $($mut)? clauses.filter);
            }
            Query::DisMax { queries, .. } => $found.extend(queries),
            Query::ConstantScore { filter: inner, .. }
            | Query::Named { query: inner, .. }
            | Query::Lenient(inner) => $found.push(inner),
            Query::Boosting(boosting) => {
                $found.push(& $($mut)? boosting.positive);
                $found.push(& $($mut)? boosting.negative);
            }
            Query::FunctionScore(function) => {
                let function = & $($mut)? **function;
                $found.push(& $($mut)? function.query);
                for one in & $($mut)? function.functions {
                    $found.extend(& $($mut)? one.filter);
                }
            }
            Query::VectorScore(scored) => $found.push(& $($mut)? scored.query),
            Query::Related(related) => match & $($mut)? related.way {
                Related::Child { query, .. } | Related::Parent { query, .. } => $found.push(query),
                Related::ParentId(_) => {}
            },
            Query::Nested(nested) => $found.push(& $($mut)? nested.query),
            Query::Derived(scope) => $found.push(& $($mut)? scope.query),
            Query::Knn(knn) => {
                if let Some(filter) = & $($mut)? knn.filter {
                    $found.push(filter);
                }
            }
            Query::Predicate(predicate) => {
                let predicate = & $($mut)? **predicate;
                if let Some(within) = & $($mut)? predicate.within {
                    $found.push(within);
                }
            }
            Query::MatchAll { .. }
            | Query::MatchNone
            | Query::Match(_)
            | Query::MatchPhrase(_)
            | Query::MatchPhrasePrefix(_)
            | Query::MatchBoolPrefix(_)
            | Query::MultiMatch(_)
            | Query::Term(_)
            | Query::Terms { .. }
            | Query::TermsOf(_)
            | Query::Range(_)
            | Query::Exists { .. }
            | Query::Ids { .. }
            | Query::Prefix(_)
            | Query::Wildcard(_)
            | Query::Regexp(_)
            | Query::Fuzzy { .. }
            | Query::QueryString(_)
            | Query::Intervals(_)
            | Query::Geo(_)
            | Query::DistanceFeature(_)
            | Query::RankFeature(_)
            | Query::SparseVector(_)
            | Query::MoreLikeThis(_)
            | Query::TermsSet(_)
            | Query::Percolate(_) => {}
        }
    };
}

impl Query {
    /// The queries directly inside this one.
    pub fn children(&self) -> Vec<&Query> {
        let mut found: Vec<&Query> = Vec::new();
        add_children!(self, found);
        found
    }

    /// This query and all inside it, the outer ones first.
    pub fn all(&self) -> Vec<&Query> {
        let mut found: Vec<&Query> = vec![self];
        let mut next = 0;
        while let Some(query) = found.get(next).copied() {
            add_children!(query, found);
            next += 1;
        }
        found
    }

    /// Visits this query and all inside it, the outer ones first; each may be replaced.
    ///
    /// # Errors
    /// The first that `visit` has.
    pub fn for_each_mut<E>(
        &mut self,
        visit: &mut dyn FnMut(&mut Query) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut left: Vec<&mut Query> = vec![self];
        while let Some(query) = left.pop() {
            visit(query)?;
            add_children!(query, left, mut);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{
        Bool, BoostMode, Boosting, FunctionKind, FunctionScore, JoinScore, KnnQuery, NestedQuery,
        RelatedQuery, ScoreFunction, ScoreMode,
    };

    fn neighbours(filter: Query) -> Query {
        Query::Knn(KnnQuery {
            field: "v".to_string(),
            vector: vec![1.0],
            k: Some(1),
            ef_search: None,
            probes: None,
            target_recall: None,
            oversample: None,
            expand_nested: false,
            ignore_unmapped: false,
            filter: Some(Box::new(filter)),
            min_score: None,
            max_distance: None,
            boost: 1.0,
        })
    }

    fn relatives(leaf: &mut impl FnMut() -> Query) -> Vec<Query> {
        let score = JoinScore::None;
        let child = Related::Child {
            query: Box::new(leaf()),
            score,
            min: 0,
            max: 1,
        };
        let query = Box::new(leaf());
        let related = |way| {
            Query::Related(RelatedQuery {
                kind: "k".to_string(),
                way,
                ignore_unmapped: false,
                boost: 1.0,
            })
        };
        vec![related(child), related(Related::Parent { query, score })]
    }

    /// A query of every kind that has others inside, each with terms of its own.
    fn everything() -> Query {
        let mut number = 0;
        let mut leaf = || {
            number += 1;
            Query::term("f", number)
        };
        let function = FunctionScore {
            query: Box::new(leaf()),
            functions: vec![ScoreFunction {
                filter: Some(leaf()),
                weight: None,
                kind: FunctionKind::Constant,
            }],
            score_mode: ScoreMode::default(),
            boost_mode: BoostMode::default(),
            max_boost: 1.0,
            min_score: None,
            boost: 1.0,
        };
        let boosting = Boosting {
            positive: Box::new(leaf()),
            negative: Box::new(leaf()),
            negative_boost: 0.5,
            boost: 1.0,
        };
        let nested = NestedQuery {
            path: "n".to_string(),
            query: Box::new(leaf()),
            score: JoinScore::None,
            ignore_unmapped: false,
            boost: 1.0,
        };
        Query::Bool(Bool {
            must: vec![
                Query::ConstantScore {
                    filter: Box::new(leaf()),
                    boost: 1.0,
                },
                Query::FunctionScore(Box::new(function)),
            ],
            should: vec![
                neighbours(leaf()),
                Query::Nested(nested),
                Query::Boosting(boosting),
            ],
            must_not: relatives(&mut leaf),
            filter: vec![Query::DisMax {
                queries: vec![Query::Lenient(Box::new(leaf()))],
                tie_breaker: 0.0,
                boost: 1.0,
            }],
            ..Bool::default()
        })
    }

    #[test]
    fn every_query_inside_is_visited_once_and_can_be_replaced() {
        let mut query = everything();
        let terms = |query: &Query| {
            let all = query.all();
            all.iter()
                .filter(|one| matches!(one, Query::Term(_)))
                .count()
        };
        assert_eq!(terms(&query), 10);
        let all = query.all().len();
        let mut visited = 0;
        let replaced: Result<(), ()> = query.for_each_mut(&mut |one| {
            visited += 1;
            if matches!(one, Query::Term(_)) {
                *one = Query::MatchNone;
            }
            Ok(())
        });
        assert_eq!((replaced, visited), (Ok(()), all));
        assert_eq!(terms(&query), 0);
    }
}
