//! What is collected of a shard, of several, and of one that comes after another.

use clew_platform::FixedClock;

use super::*;

#[derive(Default)]
struct Collected {
    segment: usize,
    docs: Vec<(usize, DocId)>,
}

impl DocVisitor for Collected {
    fn segment(&mut self, ord: usize, _reader: &SegmentReader) -> Result<(), QueryError> {
        self.segment = ord;
        Ok(())
    }
    fn collect(&mut self, docs: &[DocId]) -> Result<(), QueryError> {
        self.docs
            .extend(docs.iter().map(|doc| (self.segment, *doc)));
        Ok(())
    }
}

#[test]
fn visitors_see_every_match_and_hits_pass_the_post_filter() {
    let (snapshot, docs) = shard(9);
    let query = Query::matches("body", "w1 w2");
    let post = Query::term("flag", true);
    for limit in [0, 5] {
        let mut visitor = Collected::default();
        let request = ShardRequest {
            post_filter: Some(&post),
            visitor: Some(&mut visitor),
            limit,
            ..ShardRequest::new(&query)
        };
        let result = run(&snapshot, request);
        let mut all: Vec<(usize, DocId)> = exhaustive(&snapshot, &query)
            .iter()
            .map(|hit| (hit.segment, hit.doc))
            .collect();
        all.sort_unstable();
        assert_eq!(visitor.docs, all);
        let passes = |place: &(usize, DocId)| docs[place.0][place.1 as usize].flag == Some(true);
        assert_eq!(
            result.total.value,
            all.iter().filter(|p| passes(p)).count() as u64
        );
        assert_eq!(result.hits.len(), limit);
        assert!(
            result
                .hits
                .iter()
                .all(|hit| passes(&(hit.segment, hit.doc)))
        );
    }
}

#[test]
fn an_expired_search_says_so() {
    let (snapshot, _) = shard(9);
    let query = Query::matches("body", "w1");
    let token = CancellationToken::new();
    let at_once = token.until(Arc::new(RealClock::new()), Duration::ZERO);
    let timed_out = at_once.enter();
    let request = || ShardRequest::new(&query);
    let result = search(&snapshot, request(), &VectorAnswers::default()).unwrap();
    assert!(result.timed_out && result.hits.is_empty());
    assert_eq!(
        result.total,
        Total {
            value: 0,
            relation: Relation::Gte
        }
    );
    // What a filter leaves is not half known.
    assert!(matches!(
        matching(&snapshot, &query, &VectorAnswers::default(), 0),
        Err(QueryError::Stopped)
    ));
    drop(timed_out);
    token.cancel("by user request");
    let _cancelled = token.enter();
    let refused = search(&snapshot, request(), &VectorAnswers::default());
    assert!(matches!(refused, Err(QueryError::Stopped)));
}

/// Has time for no document.
struct Late(Arc<FixedClock>);

impl DocVisitor for Late {
    fn segment(&mut self, _ord: usize, _reader: &SegmentReader) -> Result<(), QueryError> {
        Ok(())
    }
    fn collect(&mut self, _docs: &[DocId]) -> Result<(), QueryError> {
        self.0.advance(Duration::from_secs(1));
        Err(QueryError::Stopped)
    }
}

#[test]
fn what_was_counted_of_a_block_without_time_for_all_of_it_is_not_all() {
    let snapshot = snapshot(&random_docs(&mut Random(9), &[300]));
    let query = Query::matches("body", "w1 w2");
    let clock = Arc::new(FixedClock::default());
    let token = CancellationToken::new().until(clock.clone(), Duration::from_millis(1));
    let _entered = token.enter();
    let mut visitor = Late(clock);
    let request = ShardRequest {
        visitor: Some(&mut visitor),
        ..ShardRequest::new(&query)
    };
    let result = search(&snapshot, request, &VectorAnswers::default()).unwrap();
    assert!(result.timed_out && result.total.value > 0);
    assert_eq!(result.total.relation, Relation::Gte);
}

#[test]
fn hits_of_several_shards_merge_into_one_order() {
    let (first, second) = (shard(1).0, shard(2).0);
    let query = Query::matches("body", "w1 w5");
    let results = || {
        [&first, &second]
            .map(|snapshot| {
                run(
                    snapshot,
                    ShardRequest {
                        limit: 30,
                        ..ShardRequest::new(&query)
                    },
                )
            })
            .to_vec()
    };
    let track = TrackTotal::UpTo(10_000);
    let merged = merge_hits(results(), &[], 5..15, track);
    let mut all: Vec<(usize, ShardHit)> = results()
        .into_iter()
        .enumerate()
        .flat_map(|(shard, result)| result.hits.into_iter().map(move |hit| (shard, hit)))
        .collect();
    all.sort_by(|a, b| b.1.score.unwrap().total_cmp(&a.1.score.unwrap()));
    let want: Vec<(usize, ShardHit)> = all[5..15].to_vec();
    let have: Vec<(usize, ShardHit)> = merged
        .hits
        .into_iter()
        .map(|hit| (hit.shard, hit.hit))
        .collect();
    assert_eq!(have, want);
    let for_nobody = results();
    let token = CancellationToken::new();
    token.cancel("by user request");
    let entered = token.enter();
    let merged_for_nobody = merge_hits(for_nobody, &[], 5..15, track);
    assert!(merged_for_nobody.hits.is_empty());
    drop(entered);
    let sum: u64 = results().iter().map(|result| result.total.value).sum();
    assert_eq!(
        merged.total,
        Total {
            value: sum,
            relation: Relation::Eq
        }
    );
    assert_eq!(merged.max_score, all[0].1.score);
}

#[test]
fn the_successor_of_a_snapshot_counts_the_same() {
    let (snapshot, _) = shard(3);
    let field = snapshot.mapping.field("title").unwrap().clone();
    let counted = snapshot.statistics(&field).unwrap();
    let mut readers = snapshot.readers.clone();
    let gone = readers.remove(0);
    let next = snapshot.successor(snapshot.mapping.clone(), readers, snapshot.stub().clone());
    let alone = Snapshot::new(
        snapshot.mapping.clone(),
        vec![gone],
        snapshot.stub().clone(),
    );
    let rest = next.statistics(&field).unwrap();
    let first = alone.statistics(&field).unwrap();
    assert!(first.docs > 0 && rest.docs > 0);
    assert_eq!(counted.docs, rest.docs + first.docs);
    assert_eq!(counted.tokens, rest.tokens + first.tokens);
}
