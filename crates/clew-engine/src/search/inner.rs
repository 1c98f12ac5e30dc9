//! Hits inside hits: nested objects, relatives by a `join` field, and how an object is shown.

use bytes::Bytes;
use clew_platform::Reservation;
use clew_query::{Query, QueryError};
use clew_schema::Mapping;
use clew_search::{
    CompileContext, InnerFound, InnerRequest, Kin, Scope, ShardHit, ShardRequest, Stopwatch,
    TrackTotal, VectorAnswers, explain_inside, inner_hits, kin_of,
};
use parking_lot::Mutex;
use serde_json::Value;
use tantivy::DocId;

use super::times::unless_stopped;
use crate::base::error::EngineError;
use crate::search::fetch::{Lookup, explained_bytes, fetch, timed};
use crate::search::pinned::PinnedShard;
use crate::search::request::{Hit, InnerHits, InnerResult, MatchedQuery, NestedStep, Within};
use crate::shard::SegmentView;

/// Fills in what is wanted from inside hits, which lie at `places`: target, segment, row.
pub(super) fn fill(
    targets: &[&PinnedShard],
    wanted: &[InnerHits],
    places: &[(usize, usize, DocId)],
    hits: &mut [Hit],
    outer: Lookup<'_>,
) -> Result<(), EngineError> {
    for (at, target) in targets.iter().enumerate() {
        let here: Vec<usize> = (0..places.len()).filter(|i| places[*i].0 == at).collect();
        if here.is_empty() {
            continue;
        }
        let parents: Vec<(usize, DocId)> =
            here.iter().map(|i| (places[*i].1, places[*i].2)).collect();
        let inside = Inside {
            target,
            now_ms: outer.now_ms,
            memory: outer.memory,
            watch: outer.watch,
        };
        let found = target.telling(|| inside.all(wanted, &parents, Scope::Documents))?;
        for (i, found) in here.into_iter().zip(found) {
            hits[i].inner = found;
        }
    }
    Ok(())
}

struct Inside<'a> {
    target: &'a PinnedShard,
    now_ms: i64,
    memory: &'a Mutex<Reservation>,
    watch: Option<&'a Stopwatch>,
}

impl Inside<'_> {
    /// One list per parent, with one result per wish.
    fn all(
        &self,
        wanted: &[InnerHits],
        parents: &[(usize, DocId)],
        around: Scope<'_>,
    ) -> Result<Vec<Vec<InnerResult>>, EngineError> {
        let mut all: Vec<Vec<InnerResult>> = vec![Vec::new(); parents.len()];
        for wish in wanted {
            for (of_parent, result) in all.iter_mut().zip(self.one(wish, parents, around)?) {
                of_parent.push(result);
            }
        }
        Ok(all)
    }

    fn one(
        &self,
        wish: &InnerHits,
        parents: &[(usize, DocId)],
        around: Scope<'_>,
    ) -> Result<Vec<InnerResult>, EngineError> {
        let path = match &wish.within {
            Within::Nested(path) => path,
            Within::Kin(kin) => return self.kin(wish, kin, (parents, around)),
            // Groups reach over shards: they are searched for when all hits are known.
            Within::Group { .. } => return Ok(vec![InnerResult::default(); parents.len()]),
        };
        let snapshot = &self.target.view.snapshot;
        if wish.ignore_unmapped && !snapshot.mapping.is_nested(path) {
            return Ok(vec![InnerResult::default(); parents.len()]);
        }
        let (found, took) = timed(self.watch, || self.nested(wish, path, (parents, around)));
        let mut results = Vec::with_capacity(parents.len());
        for found in found? {
            let hits = found.hits.get(wish.from..).unwrap_or_default();
            let looked_for = took.filter(|_| results.is_empty());
            results.push(InnerResult {
                total: found.total,
                max_score: found.max_score,
                hits: self.fetch(wish, hits)?,
                looked_for,
            });
        }
        Ok(results)
    }

    /// The nested objects of each document.
    fn nested(
        &self,
        wish: &InnerHits,
        path: &str,
        (parents, around): (&[(usize, DocId)], Scope<'_>),
    ) -> Result<Vec<InnerFound>, QueryError> {
        let knn = self.target.knn();
        let stage = knn.stage(self.now_ms);
        let mut vectors = VectorAnswers::default();
        stage.add_order(&mut vectors, &wish.sort)?;
        stage.add(&mut vectors, &wish.query, Some(path))?;
        let context = CompileContext {
            snapshot: &self.target.view.snapshot,
            now_ms: self.now_ms,
            vectors: &vectors,
        };
        let request = InnerRequest {
            path,
            around,
            query: &wish.query,
            sort: &wish.sort,
            limit: wish.from.saturating_add(wish.size),
        };
        inner_hits(&context, &request, parents)
    }

    /// The relatives of each document, which are in the same shard.
    fn kin(
        &self,
        wish: &InnerHits,
        kin: &Kin,
        (parents, around): (&[(usize, DocId)], Scope<'_>),
    ) -> Result<Vec<InnerResult>, EngineError> {
        let snapshot = &self.target.view.snapshot;
        let knn = self.target.knn();
        let stage = knn.stage(self.now_ms);
        let mut vectors = VectorAnswers::default();
        let mut results = Vec::with_capacity(parents.len());
        for parent in parents {
            let (found, looked_for) = timed(self.watch, || {
                let of_parent = match around {
                    Scope::Documents => kin_of(snapshot, kin, *parent)?,
                    Scope::Nested(_) => None,
                };
                let Some(filter) = of_parent else {
                    return Ok(None);
                };
                let request = ShardRequest {
                    filter: Some(&filter),
                    sort: &wish.sort,
                    limit: wish.from.saturating_add(wish.size),
                    track_total: TrackTotal::Exact,
                    now_ms: self.now_ms,
                    ..ShardRequest::new(&wish.query)
                };
                stage.add_order(&mut vectors, &wish.sort)?;
                stage.add(&mut vectors, &wish.query, None)?;
                clew_search::search(snapshot, request, &vectors).map(Some)
            });
            let Some(found) = found? else {
                results.push(InnerResult::default());
                continue;
            };
            let hits = found.hits.get(wish.from..).unwrap_or_default();
            results.push(InnerResult {
                total: found.total.value,
                max_score: found.max_score,
                hits: self.fetch(wish, hits)?,
                looked_for,
            });
        }
        Ok(results)
    }

    fn fetch(&self, wish: &InnerHits, found: &[ShardHit]) -> Result<Vec<Hit>, EngineError> {
        let lookup = Lookup {
            source: wish.source,
            // Vectors of nested objects stay in the source.
            vectors: !matches!(wish.within, Within::Nested(_)),
            explained: None,
            now_ms: self.now_ms,
            memory: self.memory,
            watch: self.watch,
        };
        let read = |hit| {
            unless_stopped()?;
            fetch(self.target, hit, lookup)
        };
        let hits = found.iter().map(read);
        let mut hits = hits.collect::<Result<Vec<_>, _>>()?;
        self.tell(wish, found, &mut hits)?;
        if !wish.inner.is_empty() {
            let parents: Vec<_> = found.iter().map(|hit| (hit.segment, hit.doc)).collect();
            let around = match &wish.within {
                Within::Nested(path) => Scope::Nested(path),
                _ => Scope::Documents,
            };
            let inner = self.all(&wish.inner, &parents, around)?;
            for (hit, inner) in hits.iter_mut().zip(inner) {
                hit.inner = inner;
            }
        }
        Ok(hits)
    }
}

impl Inside<'_> {
    /// Says of hits which named queries they match, and where their scores come from where that is asked for.
    fn tell(
        &self,
        wish: &InnerHits,
        found: &[ShardHit],
        hits: &mut [Hit],
    ) -> Result<(), EngineError> {
        let named = wish.query.all().filter_map(|query| match query {
            Query::Named { name, query } => Some((name, &**query)),
            _ => None,
        });
        let named: Vec<(&String, &Query)> = named.collect();
        if named.is_empty() && !wish.explain {
            return Ok(());
        }
        let path = match &wish.within {
            Within::Nested(path) => Some(path.as_str()),
            Within::Kin(_) | Within::Group { .. } => None,
        };
        let knn = self.target.knn();
        let mut vectors = VectorAnswers::default();
        let stage = knn.stage(self.now_ms);
        stage.add(&mut vectors, &wish.query, path)?;
        let context = CompileContext {
            snapshot: &self.target.view.snapshot,
            now_ms: self.now_ms,
            vectors: &vectors,
        };
        for (found, hit) in found.iter().zip(hits) {
            unless_stopped()?;
            let place = (found.segment, found.doc);
            for (name, query) in &named {
                if explain_inside(&context, query, path, place)?.is_some() {
                    hit.matched_queries.push(MatchedQuery {
                        name: (*name).clone(),
                        score: None,
                    });
                }
            }
            if wish.explain {
                hit.explanation = explain_inside(&context, &wish.query, path, place)?;
                let bytes = hit.explanation.as_ref().map_or(0, explained_bytes);
                self.memory.lock().grow(bytes)?;
            }
        }
        Ok(())
    }
}

/// The document that a row belongs to, and the way to it when it is a nested object.
pub(crate) fn document_of(
    segment: &SegmentView,
    mapping: &Mapping,
    row: DocId,
) -> (DocId, Vec<NestedStep>) {
    let Some(blocks) = segment.blocks() else {
        return (row, Vec::new());
    };
    let mut steps = Vec::new();
    let mut at = row;
    while let Some(path) = blocks.path_of(at) {
        let around = mapping.nested_parent(path);
        let scope = Scope::from(around);
        let field = match around {
            Some(around) => path.get(around.len() + 1..).unwrap_or(path),
            None => path,
        };
        steps.push(NestedStep {
            field: field.to_string(),
            offset: blocks.offset(path, scope, at),
        });
        match blocks.of(scope).and_then(|rows| rows.next_from(at)) {
            Some(outer) => at = outer,
            None => break,
        }
    }
    steps.reverse();
    (at, steps)
}

/// The part of a source that some steps lead to; all of it without steps.
pub(crate) fn part_of(source: Bytes, steps: &[NestedStep]) -> Option<Bytes> {
    if steps.is_empty() {
        return Some(source);
    }
    let whole: Value = serde_json::from_slice(&source).ok()?;
    let mut at = &whole;
    for step in steps {
        let mut found = Vec::new();
        collect(at, &step.field, &mut found);
        at = found.get(step.offset)?;
    }
    serde_json::to_vec(at).ok().map(Bytes::from)
}

/// The objects at a dotted path, through arrays.
fn collect<'v>(value: &'v Value, path: &str, found: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, path, found)),
        Value::Object(_) if path.is_empty() => found.push(value),
        Value::Object(members) => {
            if let Some(member) = members.get(path) {
                return collect(member, "", found);
            }
            for (at, _) in path.match_indices('.') {
                if let Some(member) = members.get(&path[..at]) {
                    collect(member, &path[at + 1..], found);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_found_through_objects_and_arrays() {
        let source =
            Bytes::from_static(br#"{"o":{"a":[{"b":{"x":1}},null,{"b":[{"x":2},{"x":3}]}]}}"#);
        let step = |field: &str, offset| NestedStep {
            field: field.to_string(),
            offset,
        };
        let part = |steps: &[NestedStep]| part_of(source.clone(), steps);
        assert_eq!(part(&[]), Some(source.clone()));
        assert_eq!(
            part(&[step("o.a", 1), step("b", 1)]).as_deref(),
            Some(&br#"{"x":3}"#[..])
        );
        assert_eq!(
            part(&[step("o.a", 0)]).as_deref(),
            Some(&br#"{"b":{"x":1}}"#[..])
        );
        assert_eq!(part(&[step("o.a", 2)]), None);
    }
}
