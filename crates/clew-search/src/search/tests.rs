//! Scores against the formula, pruned searches against full ones, sorting against a loop.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

use clew_platform::{CancellationToken, RealClock};
use clew_query::{
    Bool, FieldBoost, KnnQuery, Match, MatchPhrase, Missing, MultiMatch, MultiMatchKind, Operator,
    Order, Query, QueryError, SortKey, SortValue, Term, compare_rows,
};
use serde_json::json;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::{DocId, SegmentReader};

use super::fixture::{Doc, Random, random_docs, run, shard, snapshot};
use super::*;
use crate::query::matching;
use crate::query::{KnnResolver, SegmentHits, VectorAnswers, VectorStage};
use crate::segments::SegmentBits;
use crate::snapshot::Snapshot;

fn body(doc: &Doc) -> Option<&Vec<String>> {
    Some(&doc.body).filter(|words| !words.is_empty())
}
fn title(doc: &Doc) -> Option<&Vec<String>> {
    doc.title.as_ref()
}
type Words = fn(&Doc) -> Option<&Vec<String>>;

/// BM25 from its definition, over all documents that have the field, dead ones included.
fn bm25(docs: &[Vec<Doc>], words: Words, term: &str, doc: &Doc) -> f64 {
    let all: Vec<&Vec<String>> = docs.iter().flatten().filter_map(words).collect();
    let count = all.len() as f64;
    let tokens: usize = all.iter().map(|words| words.len()).sum();
    let with = all
        .iter()
        .filter(|words| words.iter().any(|w| w == term))
        .count() as f64;
    let Some(own) = words(doc) else { return 0.0 };
    let frequency = own.iter().filter(|w| *w == term).count() as f64;
    let length = u32::try_from(own.len()).unwrap();
    let stored = FieldNormReader::id_to_fieldnorm(FieldNormReader::fieldnorm_to_id(length));
    let idf = (1.0 + (count - with + 0.5) / (with + 0.5)).ln();
    let norm = 1.2 * (0.25 + 0.75 * f64::from(stored) / (tokens as f64 / count));
    idf * 2.2 * frequency / (frequency + norm)
}

fn check_scores(snapshot: &Snapshot, docs: &[Vec<Doc>], query: &Query, want: &dyn Fn(&Doc) -> f64) {
    let request = ShardRequest {
        limit: 10_000,
        track_total: TrackTotal::Exact,
        ..ShardRequest::new(query)
    };
    let result = run(snapshot, request);
    let wanted = docs
        .iter()
        .flatten()
        .filter(|d| !d.dead && want(d) > 0.0)
        .count();
    assert_eq!(result.hits.len(), wanted, "{query:?}");
    assert!(wanted > 0, "the test needs hits");
    for hit in &result.hits {
        let want = want(&docs[hit.segment][hit.doc as usize]);
        let have = f64::from(hit.score.unwrap());
        assert!(
            (have / want - 1.0).abs() < 1e-5,
            "{query:?}: {have} is not {want}"
        );
    }
    let falling = result.hits.windows(2).all(|pair| {
        let place = |hit: &ShardHit| (hit.segment, hit.doc);
        match pair[0].score.unwrap().total_cmp(&pair[1].score.unwrap()) {
            Ordering::Greater => true,
            Ordering::Equal => place(&pair[0]) < place(&pair[1]),
            Ordering::Less => false,
        }
    });
    assert!(falling, "{query:?}");
}

#[test]
fn scores_are_bm25_over_the_documents_that_have_the_field() {
    let (snapshot, docs) = shard(3);
    let all = docs.clone();
    let score = move |words: Words, term: &str, doc: &Doc| bm25(&all, words, term, doc);
    for term in ["w0", "w1", "w7", "w30"] {
        check_scores(&snapshot, &docs, &Query::matches("body", term), &|d| {
            score(body, term, d)
        });
        check_scores(&snapshot, &docs, &Query::matches("title", term), &|d| {
            score(title, term, d)
        });
    }
    let boosted = Query::Match(Match {
        boost: 3.0,
        ..Match::new("title", "w2 w5")
    });
    check_scores(&snapshot, &docs, &boosted, &|d| {
        3.0 * (score(title, "w2", d) + score(title, "w5", d))
    });
    let both = Query::MultiMatch(MultiMatch {
        fields: vec![FieldBoost::parse("title^2"), FieldBoost::parse("body")],
        clause: Match::new("", "w3"),
        kind: MultiMatchKind::BestFields,
        slop: 0,
        tie_breaker: Some(0.25),
    });
    check_scores(&snapshot, &docs, &both, &|d| {
        let (a, b) = (2.0 * score(title, "w3", d), score(body, "w3", d));
        a.max(b) + 0.25 * a.min(b)
    });
    let nested = Query::Bool(Bool {
        must: vec![Query::matches("body", "w1"), Query::match_all()],
        should: vec![Query::Bool(Bool {
            should: vec![Query::matches("body", "w2")],
            boost: 4.0,
            ..Bool::default()
        })],
        filter: vec![Query::matches("body", "w0")],
        boost: 0.5,
        ..Bool::default()
    });
    check_scores(&snapshot, &docs, &nested, &|d| {
        let has = |w: &str| d.body.iter().any(|x| x == w);
        if !has("w0") || !has("w1") {
            return 0.0;
        }
        0.5 * (score(body, "w1", d) + 1.0) + 2.0 * score(body, "w2", d)
    });
}

#[test]
fn keyword_terms_score_by_their_rarity_and_filters_by_their_boost() {
    let (snapshot, docs) = shard(3);
    let tags: Words = |doc| Some(&doc.tags).filter(|tags| !tags.is_empty());
    let all: Vec<&Vec<String>> = docs.iter().flatten().filter_map(tags).collect();
    let (count, values) = (
        all.len() as f64,
        all.iter().map(|t| t.len()).sum::<usize>() as f64,
    );
    let with = all
        .iter()
        .filter(|t| t.contains(&"Tag3".to_string()))
        .count() as f64;
    let idf = (1.0 + (count - with + 0.5) / (with + 0.5)).ln();
    check_scores(&snapshot, &docs, &Query::term("tags", "Tag3"), &|d| {
        // No norms: the length is one; a document may hold the value twice, which has no effect.
        let has = d.tags.contains(&"Tag3".to_string());
        let norm = 1.2 * (0.25 + 0.75 * count / values);
        if has { idf * 2.2 / (1.0 + norm) } else { 0.0 }
    });
    let number = Query::Term(Term {
        field: "count".into(),
        value: json!(3),
        case_insensitive: false,
        boost: 2.5,
    });
    check_scores(&snapshot, &docs, &number, &|d| {
        if d.count == Some(3) { 2.5 } else { 0.0 }
    });
}

/// Every hit, by a full scan that cannot prune.
fn exhaustive(snapshot: &Snapshot, query: &Query) -> Vec<ShardHit> {
    let request = ShardRequest {
        limit: 100_000,
        track_total: TrackTotal::Exact,
        min_score: Some(f32::MIN),
        ..ShardRequest::new(query)
    };
    run(snapshot, request).hits
}

fn same_hits(have: &[ShardHit], want: &[ShardHit], what: &str) {
    assert_eq!(have.len(), want.len(), "{what}");
    for (have, want) in have.iter().zip(want) {
        let (a, b) = (have.score.unwrap(), want.score.unwrap());
        assert!((a - b).abs() <= 1e-5 * b.abs(), "{what}: {have:?} {want:?}");
    }
}

#[test]
fn pruned_searches_find_what_full_ones_find() {
    // Enough documents for several blocks of postings, in segments of very different lengths.
    let docs = random_docs(&mut Random(11), &[2_000, 3_000, 1_500]);
    let snapshot = snapshot(&docs);
    let mut random = Random(5);
    for round in 0..150 {
        let words: Vec<String> = (0..1 + random.below(3))
            .map(|_| format!("w{}", random.skewed(40)))
            .collect();
        let clause = Match {
            operator: if random.below(3) == 0 {
                Operator::And
            } else {
                Operator::Or
            },
            boost: [1.0, 2.0, 0.3][random.below(3)],
            ..Match::new(["body", "title"][random.below(2)], words.join(" "))
        };
        let query = match random.below(4) {
            0 => Query::Bool(Bool {
                must: vec![Query::Match(clause)],
                should: vec![Query::matches("title", "w1")],
                ..Bool::default()
            }),
            1 => Query::Bool(Bool {
                should: vec![Query::Match(clause), Query::matches("body", "w4")],
                ..Bool::default()
            }),
            _ => Query::Match(clause),
        };
        let all = exhaustive(&snapshot, &query);
        for track_total in [TrackTotal::No, TrackTotal::UpTo(100), TrackTotal::Exact] {
            let limit = 1 + random.below(20);
            let request = ShardRequest {
                limit,
                track_total,
                ..ShardRequest::new(&query)
            };
            let result = run(&snapshot, request);
            let what = format!("round {round}, {track_total:?}, {query:?}");
            same_hits(&result.hits, &all[..limit.min(all.len())], &what);
            let count = all.len() as u64;
            let want = match track_total {
                TrackTotal::No => Total {
                    value: 0,
                    relation: Relation::Gte,
                },
                TrackTotal::UpTo(100) if count > 100 => Total {
                    value: 100,
                    relation: Relation::Gte,
                },
                _ => Total {
                    value: count,
                    relation: Relation::Eq,
                },
            };
            assert_eq!(result.total, want, "{what}");
        }
    }
}

#[test]
fn searches_go_on_after_a_score_and_below_it() {
    let (snapshot, _) = shard(3);
    let query = Query::matches("body", "w1 w7");
    let all = exhaustive(&snapshot, &query);
    let after = [SortValue::Score(all[9].score.unwrap())];
    let sort = [SortKey::Score { order: Order::Desc }];
    let request = ShardRequest {
        sort: &sort,
        search_after: Some(&after),
        ..ShardRequest::new(&query)
    };
    let rest: Vec<ShardHit> = all
        .into_iter()
        .filter(|hit| {
            hit.score.unwrap()
                < match after[0] {
                    SortValue::Score(s) => s,
                    _ => 0.0,
                }
        })
        .take(10)
        .collect();
    same_hits(&run(&snapshot, request).hits, &rest, "after");
}

fn number_key(path: &str, order: Order, missing: Missing) -> SortKey {
    SortKey::Field {
        path: path.into(),
        order,
        missing,
        mode: None,
        unmapped_ok: false,
        nested: None,
        numeric: None,
    }
}

fn values(doc: &Doc, key: &SortKey) -> SortValue {
    let SortKey::Field { path, order, .. } = key else {
        return SortValue::Null;
    };
    let found = match path.as_str() {
        "count" => doc.count.map(SortValue::I64),
        "price" => doc.price.map(SortValue::F64),
        "at" => doc.at.map(SortValue::I64),
        "flag" => doc.flag.map(|flag| SortValue::I64(flag.into())),
        "ip" => doc.ip.map(SortValue::Ip),
        _ => match order {
            Order::Asc => doc.tags.iter().min(),
            Order::Desc => doc.tags.iter().max(),
        }
        .map(|tag| SortValue::Str(tag.clone())),
    };
    found.unwrap_or_else(|| outermost(key))
}

/// What a document without a number is shown to have.
fn outermost(key: &SortKey) -> SortValue {
    let SortKey::Field {
        path,
        order,
        missing: missing @ (Missing::First | Missing::Last),
        ..
    } = key
    else {
        return SortValue::Null;
    };
    let least = (*missing == Missing::First) == (*order == Order::Asc);
    let whole = |low, high| SortValue::I64(if least { low } else { high });
    match path.as_str() {
        "count" | "flag" => whole(i32::MIN.into(), i32::MAX.into()),
        "at" => whole(i64::MIN, i64::MAX),
        "price" if least => SortValue::F64(f64::NEG_INFINITY),
        "price" => SortValue::F64(f64::INFINITY),
        _ => SortValue::Null,
    }
}

#[test]
fn sorting_orders_like_a_loop_and_pages_do_not_overlap() {
    let (snapshot, docs) = shard(9);
    let query = Query::match_all();
    for keys in sort_cases() {
        let mut rows: Vec<(Vec<SortValue>, usize, DocId)> = Vec::new();
        for (segment, docs) in docs.iter().enumerate() {
            for (number, doc) in (0..).zip(docs).filter(|(_, doc)| !doc.dead) {
                let row = keys.iter().map(|key| values(doc, key)).collect();
                rows.push((row, segment, number));
            }
        }
        rows.sort_by(|a, b| compare_rows(&keys, &a.0, &b.0));
        let live = rows.len() as u64;
        let mut after: Option<Vec<SortValue>> = None;
        for page in 0..4 {
            let request = ShardRequest {
                sort: &keys,
                limit: 25,
                search_after: after.as_deref(),
                ..ShardRequest::new(&query)
            };
            let result = run(&snapshot, request);
            assert_eq!(result.total.value, live);
            let want: Vec<_> = match &after {
                None => rows.iter().take(25).collect(),
                Some(after) => rows
                    .iter()
                    .filter(|row| compare_rows(&keys, &row.0, after).is_gt())
                    .take(25)
                    .collect(),
            };
            let have: Vec<(usize, DocId)> = result
                .hits
                .iter()
                .map(|hit| (hit.segment, hit.doc))
                .collect();
            let want: Vec<(usize, DocId)> = want.iter().map(|row| (row.1, row.2)).collect();
            assert_eq!(have, want, "page {page} of {keys:?}");
            match result.hits.last() {
                Some(last) => after = Some(last.sort.clone()),
                None => break,
            }
        }
    }
}

fn sort_cases() -> Vec<Vec<SortKey>> {
    use Order::{Asc, Desc};
    let mut cases = Vec::new();
    for path in ["count", "price", "at", "flag", "ip", "tags"] {
        for order in [Asc, Desc] {
            for missing in [Missing::First, Missing::Last] {
                cases.push(vec![
                    number_key(path, order, missing),
                    number_key("price", Desc, Missing::Last),
                ]);
            }
        }
    }
    cases.push(vec![number_key(
        "tags",
        Asc,
        Missing::Value(SortValue::Str("Tag5x".into())),
    )]);
    cases.push(vec![number_key(
        "count",
        Desc,
        Missing::Value(SortValue::I64(0)),
    )]);
    cases.push(vec![
        number_key("tags", Desc, Missing::Last),
        number_key("count", Asc, Missing::First),
    ]);
    cases
}

#[test]
fn fields_without_values_to_sort_by_are_refused() {
    let (snapshot, _) = shard(9);
    let query = Query::match_all();
    for path in ["body", "nothing"] {
        let keys = [SortKey::field(path, Order::Asc)];
        let request = ShardRequest {
            sort: &keys,
            ..ShardRequest::new(&query)
        };
        assert!(
            search(&snapshot, request, &VectorAnswers::default()).is_err(),
            "{path}"
        );
    }
    let keys = [SortKey::Field {
        path: "nothing".into(),
        order: Order::Asc,
        missing: Missing::Last,
        mode: None,
        unmapped_ok: true,
        nested: None,
        numeric: None,
    }];
    let request = ShardRequest {
        sort: &keys,
        ..ShardRequest::new(&query)
    };
    let result = run(&snapshot, request);
    assert_eq!(result.hits[0].sort, [SortValue::Null]);
    assert_eq!(result.hits.len(), 10);
}

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
fn a_minimum_score_leaves_out_what_scores_less() {
    let (snapshot, _) = shard(9);
    let query = Query::matches("body", "w1 w7");
    let all = exhaustive(&snapshot, &query);
    let bar = all[7].score.unwrap();
    let request = ShardRequest {
        min_score: Some(bar),
        limit: 1_000,
        ..ShardRequest::new(&query)
    };
    let result = run(&snapshot, request);
    let want = all.iter().filter(|hit| hit.score.unwrap() >= bar).count();
    assert_eq!((result.hits.len(), result.total.value), (want, want as u64));
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
fn phrases_score_by_the_sum_of_their_words() {
    let (snapshot, docs) = shard(3);
    let query = Query::MatchPhrase(MatchPhrase::new("body", "w0 w1"));
    let all: Vec<&Vec<String>> = docs.iter().flatten().filter_map(body).collect();
    let count = all.len() as f64;
    let average = all.iter().map(|words| words.len()).sum::<usize>() as f64 / count;
    let idf = |term: &str| {
        let with = all
            .iter()
            .filter(|words| words.iter().any(|w| w == term))
            .count() as f64;
        (1.0 + (count - with + 0.5) / (with + 0.5)).ln()
    };
    check_scores(&snapshot, &docs, &query, &|doc| {
        let found = doc
            .body
            .windows(2)
            .filter(|at| at[0] == "w0" && at[1] == "w1")
            .count() as f64;
        let length = u32::try_from(doc.body.len()).unwrap();
        let stored = FieldNormReader::id_to_fieldnorm(FieldNormReader::fieldnorm_to_id(length));
        let norm = 1.2 * (0.25 + 0.75 * f64::from(stored) / average);
        (idf("w0") + idf("w1")) * 2.2 * found / (found + norm)
    });
}

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

#[test]
fn postings_of_simple_queries_are_told_before_they_run() {
    let (snapshot, docs) = shard(7);
    type Values = fn(&Doc) -> &Vec<String>;
    let with = |field: Values, word: &str| {
        let has = |doc: &&Doc| field(doc).iter().any(|own| own == word);
        docs.iter().flatten().filter(has).count() as u64
    };
    let (words, tags): (Values, Values) = (|doc| &doc.body, |doc| &doc.tags);
    let (first, second) = {
        let mut some = docs.iter().flatten().filter(|doc| doc.body.len() > 1);
        let doc = some.next().expect("some document has two words");
        (doc.body[0].clone(), doc.body[1].clone())
    };
    let tag = docs.iter().flatten().find_map(|doc| doc.tags.first());
    let tag = tag.expect("some document has a tag").clone();
    let term = |field: &str, value: &str| {
        Query::Term(Term {
            field: field.into(),
            value: json!(value),
            case_insensitive: false,
            boost: 1.0,
        })
    };
    let text = format!("{first} {second} unheard");
    let both = Query::Bool(Bool {
        must: vec![Query::Match(Match::new("body", text))],
        filter: vec![term("tags", &tag)],
        ..Bool::default()
    });
    let of_words = with(words, &first) + with(words, &second);
    let cases = [
        (term("tags", "unheard"), Some(0)),
        (term("tags", &tag), Some(with(tags, &tag))),
        (both, Some(of_words + with(tags, &tag))),
        (Query::MatchNone, Some(0)),
        (Query::MatchAll { boost: 1.0 }, None),
        (Query::Bool(Bool::default()), None),
        (Query::Match(Match::new("body", "w ".repeat(17))), None),
        (term("count", "1"), None),
    ];
    for (query, expected) in cases {
        let told = crate::query::postings_max(&snapshot, &query);
        assert_eq!(told, expected, "{query:?}");
    }
}
