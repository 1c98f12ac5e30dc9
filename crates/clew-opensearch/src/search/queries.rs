//! Where a search has queries: its own, and those beside and inside it.

use super::lookup::{Queries, Visit};
use super::output::Output;
use super::request::Spec;
use crate::http::error::ApiError;

impl Queries for Output {
    fn each(&mut self, visit: &mut Visit<'_>) -> Result<(), ApiError> {
        if let Some(highlight) = &mut self.highlight {
            highlight.each(visit)?;
        }
        self.top_hits.each(visit)?;
        let mut inner = self.inner.iter_mut();
        inner.try_for_each(|spec| spec.each(visit))
    }
}

impl Queries for Spec {
    fn each(&mut self, visit: &mut Visit<'_>) -> Result<(), ApiError> {
        self.query.each(visit)?;
        self.post_filter.each(visit)?;
        for query in self.hybrid.iter_mut().flat_map(|all| &mut all.queries) {
            query.for_each_mut(visit)?;
        }
        for round in &mut self.control.rescore {
            round.query.for_each_mut(visit)?;
        }
        for key in &mut self.sort {
            key.for_each_query_mut(visit)?;
        }
        for agg in &mut self.aggs {
            agg.for_each_query_mut(visit)?;
        }
        for spec in self.collapse.iter_mut().flat_map(|all| &mut all.inner) {
            spec.each(visit)?;
        }
        self.output.each(visit)
    }
}
