//! Neighbours among other clauses.

use super::*;

/// Neighbours that are simply given.
struct Neighbours(Vec<SegmentHits>);

impl Neighbours {
    fn answers(&self, snapshot: &Snapshot, query: &Query) -> VectorAnswers {
        let stage = VectorStage {
            snapshot,
            now_ms: 0,
            knn: self,
        };
        stage.answers(query).unwrap()
    }
}

impl KnnResolver for Neighbours {
    fn resolve(
        &self,
        _query: &KnnQuery,
        filter: Option<&[SegmentBits]>,
    ) -> Result<Vec<SegmentHits>, QueryError> {
        let mut hits = self.0.clone();
        if let Some(filter) = filter {
            for (segment, bits) in hits.iter_mut().zip(filter) {
                segment.retain(|(doc, _)| bits.contains(*doc));
            }
        }
        Ok(hits)
    }
    fn products(
        &self,
        _field: clew_schema::FieldId,
        _query: &[clew_vector::SparseEntry],
    ) -> Result<Vec<SegmentHits>, QueryError> {
        Ok(self.0.clone())
    }
    fn each_vector(
        &self,
        _field: clew_schema::FieldId,
        _docs: &[SegmentBits],
        _each: &mut dyn FnMut(usize, tantivy::DocId, &[f32]),
    ) -> Result<(), QueryError> {
        Ok(())
    }

    fn vector_docs(&self, _field: clew_schema::FieldId) -> Result<Vec<SegmentBits>, QueryError> {
        Ok(self
            .0
            .iter()
            .map(|hits| {
                let mut bits = SegmentBits::empty(1_000);
                hits.iter().for_each(|(doc, _)| bits.insert(*doc));
                bits
            })
            .collect())
    }
}

#[test]
fn neighbours_join_other_clauses_with_their_scores() {
    let (snapshot, docs) = shard(3);
    let given: Vec<SegmentHits> = docs
        .iter()
        .map(|docs| {
            (0..)
                .step_by(3)
                .zip(docs.iter().step_by(3))
                .map(|(n, _)| (n, 1.0 / (n as f32 + 1.0)))
        })
        .map(|hits| hits.collect())
        .collect();
    let flagged = |doc: &Doc| doc.flag == Some(true);
    let alive: Vec<SegmentHits> = given
        .iter()
        .zip(&docs)
        .map(|(hits, docs)| {
            hits.iter()
                .copied()
                .filter(|(doc, _)| !docs[*doc as usize].dead)
                .collect()
        })
        .collect();
    let knn = KnnQuery {
        field: "vector".into(),
        vector: vec![0.0, 1.0],
        k: Some(100),
        ef_search: None,
        probes: None,
        target_recall: None,
        oversample: None,
        expand_nested: false,
        ignore_unmapped: false,
        filter: Some(Box::new(Query::term("flag", true))),
        min_score: None,
        max_distance: None,
        boost: 2.0,
    };
    let query = Query::Bool(Bool {
        should: vec![Query::Knn(knn), Query::matches("body", "w3")],
        ..Bool::default()
    });
    let request = ShardRequest {
        limit: 1_000,
        track_total: TrackTotal::Exact,
        ..ShardRequest::new(&query)
    };
    let vectors = Neighbours(alive).answers(&snapshot, &query);
    let result = search(&snapshot, request, &vectors).unwrap();
    let want = |segment: usize, number: u32| -> Option<f64> {
        let doc = &docs[segment][number as usize];
        let near = (number.is_multiple_of(3) && flagged(doc)).then(|| 2.0 / f64::from(number + 1));
        let text = Some(bm25(&docs, body, "w3", doc)).filter(|score| *score > 0.0);
        (!doc.dead && (near.is_some() || text.is_some()))
            .then(|| near.unwrap_or(0.0) + text.unwrap_or(0.0))
    };
    let wanted = docs
        .iter()
        .enumerate()
        .flat_map(|(segment, docs)| (0..docs.len()).map(move |n| (segment, n)))
        .filter(|(segment, n)| want(*segment, u32::try_from(*n).unwrap()).is_some())
        .count();
    assert_eq!(result.total.value, wanted as u64);
    assert_eq!(result.hits.len(), wanted);
    for hit in &result.hits {
        let want = want(hit.segment, hit.doc).unwrap();
        assert!((f64::from(hit.score.unwrap()) / want - 1.0).abs() < 1e-5);
    }
}

#[test]
fn neighbours_of_a_field_without_vectors_are_refused() {
    let (snapshot, _) = shard(3);
    let found = |field: &str, ignore_unmapped: bool| {
        let query = Query::Knn(KnnQuery {
            field: field.into(),
            vector: vec![0.0],
            k: Some(1),
            ef_search: None,
            probes: None,
            target_recall: None,
            oversample: None,
            expand_nested: false,
            ignore_unmapped,
            filter: None,
            min_score: None,
            max_distance: None,
            boost: 1.0,
        });
        let request = ShardRequest::new(&query);
        let result = search(&snapshot, request, &VectorAnswers::default());
        result.map(|result| result.hits.len()).ok()
    };
    assert_eq!(found("body", false), None);
    assert_eq!(found("body", true), None);
    assert_eq!(found("gone", false), None);
    assert_eq!(found("gone", true), Some(0));
}
