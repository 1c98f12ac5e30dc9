//! What else is in the groups of collapsed hits: one search over the same shards for each hit and
//! wish.

use std::sync::atomic::{AtomicBool, Ordering};

use clew_platform::{Reservation, stopped};
use clew_query::{Bool, Query, SortValue, Term};
use clew_search::TrackTotal;
use parking_lot::Mutex;
use serde_json::Value;

use crate::base::error::EngineError;
use crate::node::engine::Inner;
use crate::search::fetch::timed;
use crate::search::request::{
    Collapse, Hit, InnerHits, InnerResult, SearchControl, SearchRequest, Within,
};

impl Inner {
    /// Adds to each hit what is wanted of its group, of which nothing is found once the time is up; whether it was not.
    pub(super) fn fill_groups(
        &self,
        request: &SearchRequest,
        collapse: &Collapse,
        hits: &mut [Hit],
        memory: &Mutex<Reservation>,
    ) -> Result<bool, EngineError> {
        let in_time = AtomicBool::new(true);
        let watch = self.stopwatch(request);
        let found = |hit: &Hit| {
            let query = in_group(&request.query, &collapse.field, hit.group.as_ref());
            let found = collapse.inner.iter().map(|wish| {
                if stopped() {
                    in_time.store(false, Ordering::Relaxed);
                    return Ok(InnerResult::default());
                }
                let search = || self.search(&of_group(request, query.clone(), wish));
                let (found, looked_for) = timed(watch.as_ref(), search);
                let found = found?;
                memory.lock().grow(found.memory.bytes())?;
                if found.timed_out {
                    in_time.store(false, Ordering::Relaxed);
                }
                Ok(InnerResult {
                    total: found.total.map_or(0, |total| total.value),
                    max_score: found.max_score,
                    hits: found.hits,
                    looked_for,
                })
            });
            found.collect::<Result<Vec<_>, EngineError>>()
        };
        let all = self.pool.each(hits.len(), |at| found(&hits[at]));
        for (hit, found) in hits.iter_mut().zip(all) {
            hit.inner.extend(found?);
        }
        Ok(in_time.into_inner())
    }
}

/// The search that finds what is wanted of one group.
fn of_group(request: &SearchRequest, query: Query, wish: &InnerHits) -> SearchRequest {
    let field = match &wish.within {
        Within::Group { collapse } => collapse.clone(),
        Within::Nested(_) | Within::Kin(_) => None,
    };
    SearchRequest {
        parts: request.parts.clone(),
        post_filter: request.post_filter.clone(),
        sort: wish.sort.clone(),
        from: wish.from,
        size: wish.size,
        track_total: TrackTotal::Exact,
        source: wish.source,
        vectors: request.vectors,
        control: SearchControl {
            slice: request.control.slice,
            weighed_together: request.control.weighed_together,
            explain: wish.explain,
            collapse: field.map(|field| Collapse {
                field,
                inner: Vec::new(),
            }),
            ..SearchControl::default()
        },
        // Its time is that of the search around it.
        ..SearchRequest::new(request.pinned.clone(), query)
    }
}

/// What the documents of a group match.
fn in_group(query: &Query, field: &str, group: Option<&SortValue>) -> Query {
    let mut both = Bool {
        must: vec![query.clone()],
        ..Bool::default()
    };
    match group.and_then(as_json) {
        Some(value) => both.filter.push(Query::Term(Term {
            field: field.to_string(),
            value,
            case_insensitive: false,
            boost: 1.0,
        })),
        None => both.must_not.push(Query::Exists {
            field: field.to_string(),
            boost: 1.0,
        }),
    }
    Query::Bool(both)
}

fn as_json(value: &SortValue) -> Option<Value> {
    match value {
        SortValue::I64(number) => Some(Value::from(*number)),
        SortValue::U64(number) => Some(Value::from(*number)),
        SortValue::F64(number) => Some(Value::from(*number)),
        SortValue::F32(number) => Some(Value::from(f64::from(*number))),
        SortValue::Str(text) => Some(Value::from(text.as_str())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_without_a_value_are_a_group() {
        let all = Query::match_all();
        let Query::Bool(none) = in_group(&all, "f", Some(&SortValue::Null)) else {
            panic!("a group is two conditions");
        };
        assert_eq!((none.filter.len(), none.must_not.len()), (0, 1));
        let Query::Bool(some) = in_group(&all, "f", Some(&SortValue::I64(3))) else {
            panic!("a group is two conditions");
        };
        assert_eq!(some.filter, [Query::term("f", 3)]);
    }
}
