//! How the documents of `top_hits` aggregations are shown: like hits of the search around them. Where they
//! stand in the request's tree says which is which; the engine hears nothing of it.

use std::collections::BTreeMap;

use clew_aggregation::TopHitsResult;
use clew_engine::SearchResponse;
use clew_query::Query;
use clew_search::{Relation, Total};
use serde_json::{Map, Value};

use super::derived::DerivedFields;
use super::hits::{HitWriter, write_score, write_total};
use super::inner::InnerSpec;
use super::lookup::{Queries, Visit};
use super::output::Output;
use super::profile::FetchNotes;
use super::request::Spec;
use crate::aggs::AggPath;
use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;

/// What the search around the aggregations says that holds for their documents too.
pub(super) struct Around<'a> {
    /// What is wanted from inside the hits.
    pub(super) inner: &'a [InnerSpec],
    pub(super) query: &'a Option<Query>,
    pub(super) total_as_int: bool,
    /// Fields that scripts make.
    pub(super) derived: &'a DerivedFields,
}

/// How the documents of each `top_hits` of a request are shown, by the path there.
#[derive(Clone, Debug, Default)]
pub(super) struct ShownTopHits(BTreeMap<String, Output>);

impl ShownTopHits {
    /// Reads how documents are to be shown.
    pub(super) fn read(
        bodies: &BTreeMap<String, Map<String, Value>>,
        around: &Around<'_>,
    ) -> Result<Self, ApiError> {
        let mut all = BTreeMap::new();
        for (path, body) in bodies {
            let mut spec = Spec::empty();
            spec.query.clone_from(around.query);
            for (key, value) in body {
                spec.read_member(key, value, &[])?;
            }
            spec.finish(None)?;
            let mut output = spec.output;
            output.inner = around.inner.to_vec();
            output.total_as_int = around.total_as_int;
            output.derived = around.derived.clone();
            all.insert(path.clone(), output);
        }
        Ok(ShownTopHits(all))
    }

    /// Whether texts of documents are looked through for what was searched.
    pub(super) fn analyzes_texts(&self) -> bool {
        self.0.values().any(|output| output.highlight.is_some())
    }

    /// Whether documents of some of them say where their score comes from.
    pub(super) fn explains(&self) -> bool {
        self.0.values().any(|output| output.explain)
    }

    /// The `hits` of the result at a path of a node's answer, which has the documents of all results. What they cost is noted where somebody asks.
    pub(super) fn render(
        &self,
        path: &AggPath<'_>,
        result: &TopHitsResult,
        (response, node): (&SearchResponse, &str),
        notes: Option<&FetchNotes>,
    ) -> Result<Value, ApiError> {
        let purpose = notes.map(|_| format!("fetch_top_hits_aggregation[{}]", path.name()));
        let fetching = notes.zip(purpose.as_deref());
        let fetching = fetching.map(|(notes, purpose)| notes.of(purpose));
        let path = path.to_string();
        let output = self.0.get(&path);
        let output = output.ok_or_else(|| {
            ApiError::internal(format!("nothing says how the hits of [{path}] are shown"))
        })?;
        let hits = response.top_hits.get(result.hits.clone()).ok_or_else(|| {
            ApiError::internal(format!("the hits of [{path}] are not in the answer"))
        })?;
        let mut json = JsonWriter::with_capacity(1024);
        json.begin_object();
        let total = Total {
            value: result.total,
            relation: Relation::Eq,
        };
        write_total(&mut json, Some(total), output.total_as_int);
        json.key("max_score");
        write_score(&mut json, result.max_score);
        json.key("hits").begin_array();
        let writer = HitWriter::new(output, output, node, response.now_ms).noting(fetching);
        for hit in hits {
            writer.write(&mut json, hit)?;
        }
        json.end_array().end_object();
        serde_json::from_slice(&json.into_bytes()).map_err(|error| {
            ApiError::internal(format!("the hits of [{path}] are no JSON: {error}"))
        })
    }
}

impl Queries for ShownTopHits {
    fn each(&mut self, visit: &mut Visit<'_>) -> Result<(), ApiError> {
        let mut all = self.0.values_mut();
        all.try_for_each(|output| output.each(visit))
    }
}
