//! Nearest-neighbour clauses: the filter is run here, the neighbours are the resolver's.

use std::collections::BTreeMap;
use std::sync::Arc;

use clew_query::{KnnQuery, QueryError};
use clew_schema::FieldKind;
use tantivy::DocId;

use super::{Compiler, Node, Plan};
use crate::query::leaf::ScoredDocs;
use crate::query::matching_plan_of_rows;
use crate::query::resolver::SegmentHits;
use crate::segments::SegmentBits;

/// Most nested objects that are asked for at a time; more cannot be asked of a shard.
const OBJECTS_MAX: usize = 10_000;

impl Compiler<'_> {
    pub(super) fn knn(&mut self, knn: &KnnQuery, factor: f32) -> Result<Node, QueryError> {
        let snapshot = self.context.snapshot;
        match snapshot.mapping.field(&knn.field) {
            Some(field) if matches!(field.kind, FieldKind::Vector(_)) => {}
            Some(_) => {
                return Err(QueryError::create(format!(
                    "Field '{}' is not knn_vector type.",
                    knn.field
                )));
            }
            None => return Ok(Node::nothing()),
        }
        let filter = match &knn.filter {
            Some(filter) => {
                let node = self.node(filter, 1.0)?;
                let plan = Plan {
                    query: node.query,
                    scored_fields: Vec::new(),
                    at_least: node.at_least,
                    exact: node.exact,
                    constant: node.constant,
                    ranked: None,
                    set: None,
                };
                Some(matching_plan_of_rows(
                    snapshot,
                    &plan,
                    self.scope.is_some(),
                )?)
            }
            None => None,
        };
        let found = match self.living_objects() {
            None => self.context.knn.resolve(knn, filter.as_deref())?,
            Some(objects) => self.knn_of_objects(knn, objects, filter.as_deref())?,
        };
        let at_least = found.iter().map(|hits| hits.len() as u64).sum();
        let hits = snapshot
            .readers
            .iter()
            .map(|reader| reader.segment_id())
            .zip(found)
            .collect();
        Ok(Node {
            at_least,
            exact: true,
            ..Node::scored(Box::new(ScoredDocs(Arc::new(hits))), factor * knn.boost)
        })
    }
}

impl Compiler<'_> {
    /// The nearest objects so that `k` different documents have one: more are asked for as long as
    /// too few documents are among them. Of each document the nearest object stays.
    fn knn_of_objects(
        &self,
        knn: &KnnQuery,
        mut objects: Vec<SegmentBits>,
        filter: Option<&[SegmentBits]>,
    ) -> Result<Vec<SegmentHits>, QueryError> {
        if let Some(filter) = filter {
            for (at, bits) in objects.iter_mut().enumerate() {
                *bits = self.admitted(at, bits, &filter[at]);
            }
        }
        let all: usize = objects.iter().map(|bits| bits.count() as usize).sum();
        let Some(wanted) = knn.k else {
            return self.context.knn.resolve(knn, Some(&objects));
        };
        let mut asked = wanted;
        loop {
            let query = KnnQuery {
                k: Some(asked),
                ..knn.clone()
            };
            let found = self.context.knn.resolve(&query, Some(&objects))?;
            let total: usize = found.iter().map(Vec::len).sum();
            let best = self.best_of_each(found);
            let is_all = total < asked || asked >= all || asked >= OBJECTS_MAX;
            if best.len() >= wanted || is_all {
                let first = self.first(best, wanted);
                return if knn.expand_nested {
                    self.all_of_same(knn, &objects, &first)
                } else {
                    Ok(first)
                };
            }
            asked = (asked * 4).min(all).min(OBJECTS_MAX);
        }
    }

    /// All objects of the documents that these objects are in, with their own scores.
    fn all_of_same(
        &self,
        knn: &KnnQuery,
        objects: &[SegmentBits],
        found: &[SegmentHits],
    ) -> Result<Vec<SegmentHits>, QueryError> {
        let snapshot = self.context.snapshot;
        let mut wanted = Vec::with_capacity(found.len());
        for (at, hits) in found.iter().enumerate() {
            let mut bits = SegmentBits::empty(snapshot.readers[at].max_doc());
            if let Some(blocks) = snapshot.blocks(at) {
                for root in hits.iter().filter_map(|(row, _)| blocks.root_of(*row)) {
                    let rows = blocks.first_row(root)..root;
                    let rows = rows.filter(|row| objects[at].contains(*row));
                    rows.for_each(|row| bits.insert(row));
                }
            }
            wanted.push(bits);
        }
        let count: usize = wanted.iter().map(|bits| bits.count() as usize).sum();
        let exactly = KnnQuery {
            k: Some(count.clamp(1, OBJECTS_MAX)),
            ef_search: None,
            probes: None,
            target_recall: Some(1.0),
            oversample: None,
            ..knn.clone()
        };
        self.context.knn.resolve(&exactly, Some(&wanted))
    }

    /// The objects that a filter lets through: itself or the document around it.
    fn admitted(&self, segment: usize, objects: &SegmentBits, filter: &SegmentBits) -> SegmentBits {
        let reader = &self.context.snapshot.readers[segment];
        let mut bits = SegmentBits::empty(reader.max_doc());
        let blocks = self.context.snapshot.blocks(segment);
        for row in objects.iter() {
            let root = blocks.and_then(|blocks| blocks.root_of(row));
            if filter.contains(row) || root.is_some_and(|root| filter.contains(root)) {
                bits.insert(row);
            }
        }
        bits
    }

    /// The best object of each document, best first: score, segment, row.
    fn best_of_each(&self, found: Vec<SegmentHits>) -> Vec<(f32, usize, DocId)> {
        let mut best: BTreeMap<(usize, DocId), (f32, DocId)> = BTreeMap::new();
        for (segment, hits) in found.into_iter().enumerate() {
            let blocks = self.context.snapshot.blocks(segment);
            for (row, score) in hits {
                let Some(root) = blocks.and_then(|blocks| blocks.root_of(row)) else {
                    continue;
                };
                let known = best.entry((segment, root)).or_insert((score, row));
                if score > known.0 {
                    *known = (score, row);
                }
            }
        }
        let best = best.into_iter();
        let mut best: Vec<_> = best
            .map(|((segment, _), (score, row))| (score, segment, row))
            .collect();
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        best
    }

    fn first(&self, best: Vec<(f32, usize, DocId)>, wanted: usize) -> Vec<SegmentHits> {
        let mut hits = vec![SegmentHits::new(); self.context.snapshot.readers.len()];
        for (score, segment, row) in best.into_iter().take(wanted) {
            hits[segment].push((row, score));
        }
        for segment in &mut hits {
            segment.sort_unstable_by_key(|(row, _)| *row);
        }
        hits
    }
}
