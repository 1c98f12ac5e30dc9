//! A query that only says which documents are left, and the name its answer is kept under.

use std::fmt::{self, Write};
use std::sync::Arc;

use clew_query::{Bool, Query};

/// Longest name of an answer that is kept: long lists of values seldom come again.
const NAME_BYTES_MAX: usize = 4096;

/// A filter whose answer depends on nothing but a segment and the mapping.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    pub(crate) query: Arc<Query>,
    pub(crate) name: Arc<str>,
}

impl Filter {
    /// `None` when the answer depends on something else: the time, other segments, other clauses.
    pub(crate) fn of(query: &Query) -> Option<Self> {
        if !is_constant(query) {
            return None;
        }
        Some(Filter {
            name: Name::of(query)?.into(),
            query: Arc::new(query.clone()),
        })
    }
}

/// A name while it is written, which a list of millions of values ends at once.
struct Name(String);

impl Name {
    fn of(query: &Query) -> Option<String> {
        let mut name = Name(String::new());
        write!(name, "{query:?}").ok()?;
        Some(name.0)
    }
}

impl Write for Name {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        if self.0.len() + more.len() > NAME_BYTES_MAX {
            return Err(fmt::Error);
        }
        self.0.push_str(more);
        Ok(())
    }
}

fn is_constant(query: &Query) -> bool {
    match query {
        Query::Term(_) | Query::Terms { .. } | Query::Exists { .. } | Query::MatchAll { .. } => {
            true
        }
        Query::Range(range) => {
            let bounds = [&range.gt, &range.gte, &range.lt, &range.lte];
            // Dates may be written relative to the time of the search.
            let mut bounds = bounds.into_iter().flatten();
            bounds.all(|bound| bound.as_str().is_none_or(|text| !text.contains("now")))
        }
        Query::ConstantScore { filter, .. } => is_constant(filter),
        Query::Bool(Bool {
            must,
            should,
            filter,
            must_not,
            ..
        }) => [must, should, filter, must_not]
            .into_iter()
            .flatten()
            .all(is_constant),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_no_longer_than_they_may_be() {
        let named = |count: usize| {
            let either = (0..count).map(|number| Query::term("tag", number));
            Name::of(&Query::Bool(Bool {
                should: either.collect(),
                ..Bool::default()
            }))
        };
        let (one, few) = (named(1).unwrap(), named(2).unwrap());
        assert!(one != few && few.len() <= NAME_BYTES_MAX);
        assert_eq!(named(1_000), None);
        let mut name = Name(String::new());
        let long = "x".repeat(NAME_BYTES_MAX);
        assert!(write!(name, "{:?}", [&long, &long]).is_err());
        assert!(name.0.len() <= NAME_BYTES_MAX);
    }
}
