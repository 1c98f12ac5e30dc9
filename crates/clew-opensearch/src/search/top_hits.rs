//! How the documents of `top_hits` aggregations are shown: like hits of the search around them.

use std::sync::Arc;

use clew_aggregation::{Attached, NamedAgg, TopHitsResult};
use clew_engine::Hit;
use clew_query::Query;
use clew_search::{Relation, Total};
use serde_json::Value;

use super::inner::InnerSpec;
use super::lookup::{Queries, Visit};
use super::request::{Output, Spec};
use super::response::{HitWriter, write_score, write_total};
use crate::aggs::for_each_top_hits;
use crate::http::error::ApiError;
use crate::http::json_writer::JsonWriter;

/// What the search around the aggregations says that holds for their documents too.
pub(super) struct Around {
    /// What is wanted from inside the hits.
    pub(super) inner: Arc<Vec<InnerSpec>>,
    pub(super) query: Option<Query>,
    pub(super) total_as_int: bool,
}

/// How the documents of one aggregation are shown.
#[derive(Clone)]
struct Shown(Output);

/// Reads how top hits are to be shown, and lets the aggregations hand that on to their results.
pub(super) fn attach(aggs: &mut [NamedAgg], around: &Around) -> Result<(), ApiError> {
    for_each_top_hits(aggs, &mut |top| {
        let mut spec = Spec::empty();
        spec.query.clone_from(&around.query);
        let members = top.body.as_object();
        for (key, value) in members.into_iter().flatten() {
            spec.read_member(key, value, &[])?;
        }
        let mut output = spec.finish(None)?.output;
        output.inner = around.inner.clone();
        output.total_as_int = around.total_as_int;
        top.attached = Some(Attached(Arc::new(Shown(output))));
        Ok(())
    })
}

/// Visits the queries that say how documents are shown.
pub(super) fn each_query(aggs: &mut [NamedAgg], visit: &mut Visit<'_>) -> Result<(), ApiError> {
    for_each_top_hits(aggs, &mut |top| {
        let attached = top.attached.as_ref();
        if let Some(shown) = attached.and_then(|one| one.0.downcast_ref::<Shown>()) {
            let mut shown = shown.clone();
            shown.0.each(visit)?;
            top.attached = Some(Attached(Arc::new(shown)));
        }
        Ok(())
    })
}

/// The `hits` of one result.
pub(crate) fn render_top_hits(result: &TopHitsResult) -> Value {
    let shown = result.attached.as_ref();
    let Some(Shown(output)) = shown.and_then(|shown| shown.0.downcast_ref()) else {
        return Value::Null;
    };
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
    let writer = HitWriter::new(output, output, "");
    for top in &result.hits {
        let document = top.document.as_ref();
        if let Some(hit) = document.and_then(|document| document.0.downcast_ref::<Hit>()) {
            // A text that is too long to be analyzed is refused where hits are the search's own.
            if writer.write(&mut json, hit).is_err() {
                return Value::Null;
            }
        }
    }
    json.end_array().end_object();
    serde_json::from_slice(&json.into_bytes()).unwrap_or_default()
}
