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
    pub fn all(&self) -> impl Iterator<Item = &Query> {
        let mut inside: Vec<&Query> = Vec::new();
        let (mut next, mut visited) = (Some(self), 0);
        std::iter::from_fn(move || {
            let query = next?;
            add_children!(query, inside);
            next = inside.get(visited).copied();
            visited += 1;
            Some(query)
        })
    }

    /// Visits this query and all inside it, the outer ones first; each may be replaced.
    ///
    /// # Errors
    /// The first that `visit` has.
    pub fn for_each_mut<E>(
        &mut self,
        visit: &mut dyn FnMut(&mut Query) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut left: Vec<&mut Query> = Vec::new();
        let mut next = Some(self);
        while let Some(query) = next {
            visit(query)?;
            add_children!(query, left, mut);
            next = left.pop();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
