//! Neighbours among nested objects: as many documents as were asked for, by the nearest object of each.

use std::collections::BTreeMap;

use clew_platform::Pace;
use clew_query::{KnnQuery, QueryError, unless_stopped};
use tantivy::DocId;

use super::VectorStage;
use crate::query::resolver::SegmentHits;
use crate::segments::{Scope, SegmentBits};

/// Most nested objects that are asked for at a time; more cannot be asked of a shard.
const OBJECTS_MAX: usize = 10_000;

impl VectorStage<'_> {
    /// The nearest objects so that `k` different documents have one: more are asked for as long as
    /// too few documents are among them. Of each document the nearest object stays.
    pub(super) fn nearest_objects(
        &self,
        knn: &KnnQuery,
        path: &str,
        filter: Option<&[SegmentBits]>,
    ) -> Result<Vec<SegmentHits>, QueryError> {
        let mut objects = self.living_objects(path);
        if let Some(filter) = filter {
            for (at, bits) in objects.iter_mut().enumerate() {
                *bits = self.admitted(at, bits, &filter[at]);
            }
        }
        // Sets that were left half done are good for nothing.
        unless_stopped()?;
        let all: usize = objects.iter().map(|bits| bits.count() as usize).sum();
        let Some(wanted) = knn.k else {
            return self.knn.resolve(knn, Some(&objects));
        };
        let mut asked = wanted;
        loop {
            let query = KnnQuery {
                k: Some(asked),
                ..knn.clone()
            };
            let found = self.knn.resolve(&query, Some(&objects))?;
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
        let snapshot = self.snapshot;
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
        self.knn.resolve(&exactly, Some(&wanted))
    }

    /// The nested objects of a path that belong to living documents, one set per segment.
    fn living_objects(&self, path: &str) -> Vec<SegmentBits> {
        let snapshot = self.snapshot;
        let mut pace = Pace::default();
        let living = snapshot.readers.iter().enumerate().map(|(at, reader)| {
            let mut bits = SegmentBits::empty(reader.max_doc());
            let blocks = snapshot.blocks(at);
            let rows = blocks.and_then(|blocks| blocks.of(Scope::Nested(path)));
            if let (Some(blocks), Some(rows)) = (blocks, rows) {
                let alive = reader.alive_bitset();
                let lives = |row: &u32| {
                    let root = blocks.root_of(*row);
                    root.is_some_and(|root| alive.is_none_or(|alive| alive.is_alive(root)))
                };
                let rows = rows.iter().take_while(|_| !pace.is_over());
                rows.filter(lives).for_each(|row| bits.insert(row));
            }
            bits
        });
        living.collect()
    }

    /// The objects that a filter lets through: itself or the document around it.
    fn admitted(&self, segment: usize, objects: &SegmentBits, filter: &SegmentBits) -> SegmentBits {
        let reader = &self.snapshot.readers[segment];
        let mut bits = SegmentBits::empty(reader.max_doc());
        let blocks = self.snapshot.blocks(segment);
        let mut pace = Pace::default();
        for row in objects.iter().take_while(|_| !pace.is_over()) {
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
            let blocks = self.snapshot.blocks(segment);
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
        let mut hits = vec![SegmentHits::new(); self.snapshot.readers.len()];
        for (score, segment, row) in best.into_iter().take(wanted) {
            hits[segment].push((row, score));
        }
        for segment in &mut hits {
            segment.sort_unstable_by_key(|(row, _)| *row);
        }
        hits
    }
}
